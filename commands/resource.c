/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/resource.c -- the resource that views show. */
#include <string.h>

#include "src/shell/command/command.h"

extern const struct command command_resource;

static const struct argument resource_arguments[] = {
	{ "NAME", &arg_resource, ARG_OPTIONAL,
	  "the new resource (default: list all)" },
	ARGUMENTS_END
};

static const char *
resource_get(const struct session *session, const struct command *setting,
             struct arena *arena, struct error *error)
{
	const struct resource *resource = session_resource(session);

	(void)setting;
	if (resource == NULL)
		return "";
	return setting_word(resource->name, strlen(resource->name), arena,
	                    error);
}

static int
resource_set(struct session *session, const struct command *setting,
             const struct value *value, struct error *error)
{
	(void)setting;
	return session_set_resource(session, (uint32_t)value->count, error);
}

static int
resource_run(struct session *session, const struct arguments *arguments,
             struct table *table, struct error *error)
{
	const struct profile *profile = session->subject->profile;
	int status = 0;

	if (arguments->values[0].is_given)
		return resource_set(session, &command_resource,
		                    &arguments->values[0], error);
	if (session_need_profile(session, error) != 0)
		return -1;
	table->schema = "cpprof.resources/1";
	table_add_column(table, "current", " ", CELL_FLAG);
	table_add_column(table, "hits", "hits", CELL_COUNT);
	table_add_column(table, "gtick", "gtick", CELL_TEXT);
	table_add_column(table, "interval", "interval", CELL_COUNT);
	table_add_column(table, "name", "resource", CELL_TEXT);
	for (uint32_t r = 0; status == 0 && r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];
		uint64_t samples, hits = profile_hits(profile, r, &samples);
		struct cell cells[] = {
			cell_flag(r == session->subject->resource),
			cell_count(hits),
			cell_text(resource->gtick),
			cell_count(resource->interval),
			cell_text(resource->name),
		};

		status = table_add_row(table, cells, error);
	}
	return status;
}

const struct command command_resource = {
	.name = "resource",
	.words = COMMAND_WORDS(SHORT("res"), /* pprof */ MEANS("sample_index")),
	.group = GROUP_SETTINGS,
	.summary = "the resource that views show; without NAME, lists all",
	.description =
	    "Every view shows one resource, such as time, page faults or "
	    "bytes read. If a profile has several, one may show where a "
	    "program is slow and another why. A unique prefix of the name is "
	    "enough.",
	.example = "resource Real Time",
	.arguments = resource_arguments,
	.run = resource_run,
	.get = resource_get,
	.set = resource_set,
};
