/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_features.c -- what perf recorded about events, files and the machine. */
#include "src/formats/perf/perf_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/symbols/elf/elf_file.h"

enum { BUILD_IDS_MAX = 1 << 20, COMMAND_MAX = 65536, UPDATE_NAME = 2 };

void
perf_features_free(struct perf_features *features)
{
	for (size_t i = 0; i < features->n_build_ids; i++)
		free(features->build_ids[i].path);
	free(features->build_ids);
	free(features->host);
	free(features->release);
	free(features->command);
}

/* Takes a size and a string, which may be shorter; "" if `in` fails. */
static const char *
perf_features_take_string(struct bytes *in, size_t *length)
{
	uint64_t size = bytes_number(in, 4);
	const char *text = bytes_take(in, (size_t)size);

	*length = text != NULL ? strnlen(text, (size_t)size) : 0;
	return text != NULL ? text : "";
}

/* ---- build-ids ---- */

/* { header, pid, id[24], path } */
static int
add_build_id(struct perf_features *features, const unsigned char *bytes,
             size_t size, uint16_t misc, struct error *error)
{
	enum { ID_AT = PERF_HEADER_SIZE + 4, PATH_AT = ID_AT + 24 };
	struct perf_build_id *build_id;
	char path[128];

	if (size <= PATH_AT || features->n_build_ids >= BUILD_IDS_MAX)
		return error_set(error, "expected the build-id of a file");
	if (memory_grow(&features->build_ids, &features->build_ids_capacity,
	                features->n_build_ids + 1,
	                sizeof *features->build_ids, error) != 0)
		return -1;
	build_id = &features->build_ids[features->n_build_ids];
	build_id->size = sizeof build_id->id;
	if ((misc & PERF_MISC_BUILD_ID_SIZE) != 0 &&
	    bytes[ID_AT + 20] <= sizeof build_id->id)
		build_id->size = bytes[ID_AT + 20];
	memcpy(build_id->id, bytes + ID_AT, sizeof build_id->id);
	build_id->path = memory_text((const char *)bytes + PATH_AT,
	    strnlen((const char *)bytes + PATH_AT, size - PATH_AT), error);
	if (build_id->path == NULL)
		return -1;
	/* Our name for it is shorter. */
	if ((misc & PERF_MODE_MASK) == PERF_MODE_KERNEL &&
	    perf_is_kernel_module(build_id->path, path, sizeof path))
		snprintf(build_id->path, strlen(build_id->path) + 1, "%s",
		         path);
	features->n_build_ids++;
	return 0;
}

/* ---- events ---- */

/* All events once more, in the same order, with their names. */
static int
name_events(struct perf_events *events, const unsigned char *bytes,
            size_t size, struct error *error)
{
	struct bytes in = bytes_of(bytes, size);
	uint64_t n = bytes_number(&in, 4);
	uint64_t attr_size = bytes_number(&in, 4);

	for (uint64_t i = 0; i < n && !bytes_failed(&in); i++) {
		const char *name;
		uint64_t n_ids;
		size_t length;

		bytes_take(&in, (size_t)attr_size);
		n_ids = bytes_number(&in, 4);
		name = perf_features_take_string(&in, &length);
		bytes_take(&in, (size_t)n_ids * 8);
		if (!bytes_failed(&in) && i < events->n &&
		    perf_events_set_name(events, (uint32_t)i, name, length,
		                         error) != 0)
			return -1;
	}
	if (bytes_failed(&in))
		return error_set(error, "expected names of events");
	return 0;
}

/* { header, attr, ids }: an event in a pipe. */
static int
perf_features_add_event(struct perf_events *events,
                        const struct perf_record *record, struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	const unsigned char *attr;
	uint64_t size;
	uint32_t event;

	bytes_take(&in, PERF_HEADER_SIZE + 4);
	size = bytes_number(&in, 4);
	in.offset = PERF_HEADER_SIZE;
	attr = size <= PERF_ATTR_SIZE_MAX ? bytes_take(&in, (size_t)size) :
	       NULL;
	if (attr == NULL || bytes_failed(&in))
		return error_set(error, "expected an event");
	event = perf_events_add(events, attr, (size_t)size, error);
	while (event != UINT32_MAX && in.size - in.offset >= 8)
		if (perf_events_add_id(events, bytes_number(&in, 8), event,
		                       error) != 0)
			return -1;
	return event != UINT32_MAX ? 0 : -1;
}

/* { header, kind, id, name } */
static int
update_event(struct perf_events *events, const struct perf_record *record,
             struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	uint64_t kind;
	uint32_t event;

	bytes_take(&in, PERF_HEADER_SIZE);
	kind = bytes_number(&in, 8);
	event = perf_events_find(events, bytes_number(&in, 8));
	if (bytes_failed(&in))
		return error_set(error, "an event update is malformed");
	if (kind != UPDATE_NAME || event == UINT32_MAX)
		return 0;
	return perf_events_set_name(events, event,
	    (const char *)in.data + in.offset, in.size - in.offset, error);
}

/* ---- the machine ---- */

static int
perf_features_set_text(char **text, const unsigned char *bytes, size_t size,
                       struct error *error)
{
	struct bytes in = bytes_of(bytes, size);
	size_t length;
	const char *string = perf_features_take_string(&in, &length);

	if (bytes_failed(&in))
		return error_set(error, "expected a name");
	free(*text);
	*text = memory_text(string, length, error);
	return *text != NULL ? 0 : -1;
}

/* The command line of perf itself. */
static int
set_command(struct perf_features *features, const unsigned char *bytes,
            size_t size, struct error *error)
{
	struct bytes in = bytes_of(bytes, size);
	uint64_t n = bytes_number(&in, 4);
	size_t used = 0, length;

	free(features->command);
	features->command = memory_array(COMMAND_MAX + 1, 1, error);
	if (features->command == NULL)
		return -1;
	for (uint64_t i = 0; i < n && !bytes_failed(&in); i++) {
		const char *word = perf_features_take_string(&in, &length);

		if (length + 1 > COMMAND_MAX - used)
			break;
		if (i > 0)
			features->command[used++] = ' ';
		memcpy(features->command + used, word, length);
		used += length;
	}
	return bytes_failed(&in) ? error_set(error, "expected a command") : 0;
}

/* ---- all of it ---- */

int
perf_features_section(struct perf_features *features,
                      struct perf_events *events, uint64_t feature,
                      const unsigned char *bytes, size_t size,
                      struct error *error)
{
	switch (feature) {
	case PERF_FEATURE_BUILD_ID:
		while (size >= PERF_HEADER_SIZE) {
			struct perf_record record = perf_record_at(bytes, 0);

			if (record.size > size ||
			    record.size < PERF_HEADER_SIZE)
				return error_set(error, "expected build-ids");
			if (add_build_id(features, bytes, record.size,
			                 record.misc, error) != 0)
				return -1;
			bytes += record.size;
			size -= record.size;
		}
		return 0;
	case PERF_FEATURE_HOSTNAME:
		return perf_features_set_text(&features->host, bytes, size,
		                              error);
	case PERF_FEATURE_RELEASE:
		return perf_features_set_text(&features->release, bytes, size,
		                              error);
	case PERF_FEATURE_COMMAND:
		return set_command(features, bytes, size, error);
	case PERF_FEATURE_EVENTS:
		return name_events(events, bytes, size, error);
	default:
		return 0;
	}
}

int
perf_features_record(struct perf_features *features,
                     struct perf_events *events,
                     const struct perf_record *record, struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	uint64_t feature;

	switch (record->type) {
	case PERF_ATTR:
		return perf_features_add_event(events, record, error);
	case PERF_EVENT_UPDATE:
		return update_event(events, record, error);
	case PERF_BUILD_ID:
		return add_build_id(features, record->bytes, record->size,
		                    record->misc, error);
	case PERF_FEATURE:
		bytes_take(&in, PERF_HEADER_SIZE);
		feature = bytes_number(&in, 8);
		if (bytes_failed(&in))
			return error_set(error, "expected a feature");
		return perf_features_section(features, events, feature,
		    in.data + in.offset, in.size - in.offset, error);
	default:
		return 0;
	}
}

/* With our name for the kernel. */
static const char *
path_of(const struct perf_build_id *build_id)
{
	return strncmp(build_id->path, "[kernel.kallsyms]", 17) == 0 ?
	    KERNEL_PATH : build_id->path;
}

static int
perf_features_compare_paths(const void *left, const void *right)
{
	return strcmp(path_of(left), path_of(right));
}

int
perf_features_apply(struct perf_features *features, struct profile *profile,
                    struct error *error)
{
	if (features->n_build_ids > 0)
		qsort(features->build_ids, features->n_build_ids,
		      sizeof *features->build_ids, perf_features_compare_paths);
	for (uint32_t i = 0; i < profile->n_modules; i++)
		if (profile->modules[i].build_id_size == 0) {
			const char *path = profile->modules[i].path;
			struct perf_build_id wanted = {
				.path = (char *)(uintptr_t)path };
			const struct perf_build_id *known = NULL;

			if (features->n_build_ids > 0)
				known = bsearch(&wanted, features->build_ids,
				                features->n_build_ids,
				                sizeof wanted,
				                perf_features_compare_paths);
			if (known != NULL) {
				memcpy(profile->modules[i].build_id, known->id,
				       known->size);
				profile->modules[i].build_id_size = known->size;
			} else if (features->release != NULL &&
			           is_kernel_path(profile->modules[i].path)) {
				profile->modules[i].build_id_size = (uint32_t)
				    kernel_build_id(
					features->release,
					profile->modules[i].build_id,
					sizeof profile->modules[i].build_id);
			}
		}
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		struct process *process = &profile->processes[i];

		if (features->host != NULL)
			process->host = arena_text(&profile->arena,
			    features->host, strlen(features->host), error);
		/* perf's own command line, so of the whole run. */
		if (features->command != NULL && i == 0)
			process->command = arena_text(&profile->arena,
			    features->command, strlen(features->command),
			    error);
	}
	return error->is_set ? -1 : 0;
}
