/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/report.c -- the profile as one page to share. */
#include <inttypes.h>
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/command/reporting.h"
#include "src/shell/terminal/terminal.h"

static const struct argument report_arguments[] = {
	{ "FILE.html", &arg_file, 0, "the page to write" },
	ARGUMENTS_END
};

static int
report_prepare(struct session *session, const struct arguments *arguments,
               struct file_answer *file, struct error *error)
{
	const char *name = arguments->values[0].words[0];
	const char *ending = strrchr(name, '.');

	if (ending == NULL || (strcmp(ending, ".html") != 0 &&
	                       strcmp(ending, ".htm") != 0))
		return error_set(error, "%.200s: a report's name ends in "
		                 ".html", name);
	file->path = name;
	return session_need_profile(session, error);
}

static int
write_report(struct session *session, const struct arguments *arguments,
             struct writer *writer, struct error *error)
{
	uint64_t left_out = 0;

	(void)arguments;
	if (report_write(session, writer, &left_out, error) != 0)
		return -1;
	if (left_out > 0)
		message_note("the smallest %" PRIu64 " row%s had no room in "
		             "the report", left_out, left_out == 1 ? "" : "s");
	return 0;
}

const struct command command_report = {
	.name = "report",
	.group = GROUP_FILES,
	.summary = "writes one HTML page to share: findings, functions, picture",
	.description =
	    "Writes a page of less than 1 MB that needs no other file and no "
	    "network: what explain says, the functions with their callers, "
	    "callees, times and source lines on a click, the call paths as a "
	    "picture with search and zoom, the timeline, threads and "
	    "processes, how the profile was recorded and what was lost. After "
	    "base, it has the comparison, too.\n\n"
	    "The page has the rows of the commands that it names, with their "
	    "standard errors (see noise), so its numbers are those of the "
	    "prompt. Root, resource, steps and groups apply; threshold and "
	    "limit do not. If a part exceeds its room, its smallest rows are "
	    "left out, and the page says how many.\n\n"
	    "It can be used by keyboard and with a screen reader. Names are "
	    "shown as text, whatever they contain, and the page loads "
	    "nothing. It contains names of functions and files, lines of "
	    "source code, the command line and the host: read it before you "
	    "send it. If writing fails, FILE.html stays as it was.",
	.example = "report forms.html",
	.arguments = report_arguments,
	.prepare = report_prepare,
	.write = write_report,
};
