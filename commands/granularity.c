/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/granularity.c -- what the names in paths are. */
#include "src/shell/arguments.h"

/* In the order of enum granularity. */
static const char *const granularity_choices[] = {
	"function", "module", "file", "line", "callsite", "address", NULL
};

static const struct argument granularity_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "what a name stands for (shows the current choice)" },
	ARGUMENTS_END
};

static const char *
granularity_get(const struct session *session, struct arena *arena,
                struct error *error)
{
	(void)arena;
	(void)error;
	return granularity_choices[session->settings.naming.granularity];
}

static int
granularity_set(struct session *session, const struct value *value,
                struct error *error)
{
	struct naming_rule rule = session->settings.naming;

	rule.granularity = (enum granularity)value->count;
	return session_set_naming(session, &rule, error);
}

const struct command command_granularity = {
	.name = "granularity",
	.summary = "what names in paths are: functions, lines, call sites, files",
	.description =
	    "Changes names, never totals. By module, each call within a "
	    "program or library is one step; by file and by line, names are "
	    "those of the source, as line 118 of db.c is db.c:118; by "
	    "address, two places of one function are two names.\n\n"
	    "By callsite, a function that calls another is named with the "
	    "line it calls from, such as main:42, or, where no line is known, "
	    "with the offset of the call, main+0x1c; time that it spends by "
	    "itself stands under its plain name.\n\n"
	    "Files and lines come from the profile or, if it has only "
	    "addresses, from debug information, which is then read, once. "
	    "Where they are not known, a name stays the module's (by file) "
	    "or the function's. Where the profile has only names, they "
	    "stay.\n\n"
	    "A profile of calls without stacks (callgrind) knows which "
	    "function was called from a line, so that by line and by callsite "
	    "functions stand between lines: main, db.c:118, read_record, "
	    "db.c:20.\n\n"
	    "A root that does not occur under the new names gives way to the "
	    "default one, and a note says so.",
	.example = "granularity module",
	.arguments = granularity_arguments,
	.choices = granularity_choices,
	.get = granularity_get,
	.set = granularity_set,
};
