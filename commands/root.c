/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/root.c -- the function that paths begin with or end in. */
#include "src/shell/command/command.h"

extern const struct command command_root;

static const struct argument root_arguments[] = {
	{ "FUNCTION", &arg_functions, ARG_OPTIONAL,
	  "the new root (default: show the root)" },
	ARGUMENTS_END
};

static const char *
root_get(const struct session *session, const struct command *setting,
         struct arena *arena, struct error *error)
{
	const struct subject *subject = session->subject;
	const struct names *names;

	(void)setting;
	if (subject->root == NO_NAME)
		return "";
	names = subject->profile->names;
	return setting_word(names_text(names, subject->root),
	                    names_length(names, subject->root), arena, error);
}

static int
root_set(struct session *session, const struct command *setting,
         const struct value *value, struct error *error)
{
	const struct subject *subject = session->subject;

	(void)setting;
	if (value->n_names == 1)
		return session_set_root(session, value->names[0], error);
	if (subject->root == NO_NAME)
		return error_set(error, "%.60s matches %zu functions; there "
		                 "is still no root", value->text,
		                 value->n_names);
	return error_set(error, "%.60s matches %zu functions; the root is "
	                 "still %.200s", value->text, value->n_names,
	                 names_text(subject->profile->names, subject->root));
}

/* Lists the functions that match a pattern, so that the user can choose. */
static int
root_list_functions(const struct session *session, const struct value *value,
                    struct table *table, struct error *error)
{
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);

	if (paths == NULL)
		return -1;
	paths->names = session->subject->profile->names;
	table->schema = "cpprof.functions/1";
	table->is_plain = true;
	table_add_column(table, "path", "function", CELL_NAME);
	for (size_t i = 0; i < value->n_names; i++) {
		struct cell cell = cell_name(paths, value->names[i]);

		if (table_add_row(table, &cell, error) != 0)
			return -1;
	}
	return 0;
}

static int
root_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *value = &arguments->values[0];

	if (!value->is_given) {
		if (session_need_profile(session, error) != 0)
			return -1;
		if (session->subject->root == NO_NAME) {
			const struct cell cells[] = {
				cell_text("root"),
				{ .kind = CELL_EMPTY, .text = "none" },
			};

			/*
			 * As setting_show, which leaves out what has no value.
			 */
			table->schema = "cpprof.settings/1";
			table->is_plain = true;
			table_add_column(table, "name", "name", CELL_TEXT);
			table_add_column(table, "value", "value", CELL_TEXT);
			return table_add_row(table, cells, error);
		}
		return setting_show(session, &command_root, table, error);
	}
	if (value->n_names > 1 &&
	    root_list_functions(session, value, table, error) != 0)
		return -1;
	return root_set(session, &command_root, value, error);
}

const struct command command_root = {
	.name = "root",
	.words = COMMAND_WORDS(
	    SHORT("ro"), /* pprof */ TYPE("show_from", "root FUNCTION")),
	.group = GROUP_SETTINGS,
	.summary = "the function that paths begin with (down) or end in (up)",
	.description =
	    "Any function of the profile can be the root. The default is main "
	    "if it is on nine tenths of the hits of the current resource, "
	    "or the outermost function if all stacks begin with the same one. "
	    "Otherwise there is no root until you choose one: flame draws all "
	    "stacks, and down lists the outermost functions.\n\n"
	    "A pattern that matches one function selects it. A pattern that "
	    "matches several lists them and leaves the root as it was; in a "
	    "script this is an error.",
	.example = "root db_read_record",
	.arguments = root_arguments,
	.run = root_run,
	.get = root_get,
	.set = root_set,
};
