/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/granularity.c -- what the names in paths are. */
#include "src/shell/command/arguments.h"

/* In the order of enum granularity. */
static const char *const granularity_choices[] = {
	"function", "module", "file", "line", "callsite", "address", NULL
};

static const struct argument granularity_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "what a name stands for (default: show the setting)" },
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
	    "Changes how frames are named, never totals. By module, all calls "
	    "within a program or library are one step. By file and by line, "
	    "names come from the source: line 118 of db.c is db.c:118. By "
	    "address, two places in one function have two names.\n\n"
	    "By callsite, a function that calls another is named with the "
	    "line of the call, such as main:42, or with the offset of the "
	    "call, main+0x1c, if the line is not known. Time that the "
	    "function spends in its own body is shown under its plain name.\n\n"
	    "Files and lines come from the profile. If the profile has only "
	    "addresses, they come from debug information, which is read once. "
	    "If they are not known, a frame is named by its module (by file) "
	    "or its function. If the profile has only names, the names stay "
	    "as they are.\n\n"
	    "A profile of calls without stacks (callgrind) records which "
	    "function was called from which line. By line and by callsite, "
	    "its paths therefore alternate between functions and lines: main, "
	    "db.c:118, read_record, db.c:20.\n\n"
	    "If the root does not occur among the new names, the default root "
	    "is used and a note says so.",
	.example = "granularity module",
	.arguments = granularity_arguments,
	.choices = granularity_choices,
	.get = granularity_get,
	.set = granularity_set,
};
