/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/export.c -- the profile as a file for other tools. */
#include <inttypes.h>

#include "src/formats/exporter.h"
#include "src/profile/fleet.h"
#include "src/shell/command/command.h"
#include "src/shell/session/session_left.h"
#include "src/shell/terminal/terminal.h"

static const struct argument export_arguments[] = {
	{ "FORMAT", &arg_choice, 0, "the format to write" },
	{ "FILE", &arg_file, ARG_OPTIONAL,
	  "the file to write (default: standard output, > or |)" },
	ARGUMENTS_END
};

static int
export_prepare(struct session *session, const struct arguments *arguments,
               struct file_answer *file, struct error *error)
{
	size_t format = arguments->values[0].count;
	const struct value *path = &arguments->values[1];

	if (session_need_profile(session, error) != 0)
		return -1;
	if (session->subject->profile->tree == NULL &&
	    !exporters[format]->holds_graphs)
		return error_set(error, "this profile has calls and no "
		                 "stacks, which are what %s holds",
		                 exporter_names[format]);
	if (exporters[format]->carries & EXPORT_LINES &&
	    session_read_lines(session, error) != 0)
		return -1;
	file->path = path->is_given ? path->words[0] : NULL;
	file->is_binary = exporters[format]->is_binary;
	return 0;
}

static int
export_write(struct session *session, const struct arguments *arguments,
             struct writer *writer, struct error *error)
{
	const struct subject *subject = session->subject;
	size_t format = arguments->values[0].count;
	struct whole_stacks whole;
	struct text_buffer remark = { 0 };
	uint64_t n_changed;
	int status = session_whole_stacks(session, &whole, error);
	const struct export_source source = {
		.profile = whole.profile,
		.named = whole.named,
		.inlines = session->settings.naming.inlines,
		.resource = subject->resource,
		.has_groups = subject->profile->fleet != NULL &&
		    subject->profile->fleet->n_members > 1,
		.symfs = session->symfs,
		.remark = &remark,
	};

	if (status == 0)
		status = exporters[format]->write(&source, writer, &n_changed,
		                                  error);
	if (status == 0) {
		struct text_buffer losses = { 0 };

		/* Says in one line what a reader of the file will not find. */
		exporter_add_losses(&losses, exporters[format], &source);
		if (n_changed > 0)
			text_add_format(&losses, "%s%" PRIu64 " name%s as %s",
			                losses.length > 0 ? ", " : "",
			                n_changed, n_changed == 1 ? "" : "s",
			                n_changed == 1 ? "it is" : "they are");
		if (losses.length > 0)
			message_note("%s cannot represent: %s",
			             exporter_names[format],
			             text_string(&losses));
		text_free(&losses);
	}
	if (status == 0 && remark.length > 0)
		message_note("%s", text_string(&remark));
	text_free(&remark);
	whole_stacks_free(&whole);
	return status;
}

const struct command command_export = {
	.name = "export",
	.words = COMMAND_WORDS(
	    SHORT("e"), /* pprof */ TYPE("dot", "export callgrind FILE"),
	    TYPE("kcachegrind", "export callgrind FILE"),
	    TYPE("callgrind", "export callgrind FILE"),
	    TYPE("proto", "export pprof FILE"),
	    TYPE("raw", "export cpprof-text"),
	    /* perf */ TYPE("script", "export collapsed")),
	.group = GROUP_FILES,
	.summary = "writes the profile as a file for other tools",
	.description =
	    "collapsed: the stacks as names, with their hits for the current "
	    "resource; the format that flame graph tools read. cpprof-text: "
	    "the same, with all resources and a header. speedscope: JSON for "
	    "speedscope. These three write the stacks as the views name them, "
	    "so granularity and inlines apply.\n\n"
	    "pprof: for go tool pprof and other readers of profile.proto. "
	    "callgrind: for KCachegrind and callgrind_annotate. Both contain "
	    "functions with their files and lines; pprof contains addresses "
	    "and modules as well. Of the settings, only inlines applies. "
	    "cpprofdata: the format that record writes, with addresses and "
	    "times; inlined functions that views leave out with inlines auto "
	    "are left out.\n\n"
	    "autofdo: the profile that clang -fprofile-sample-use reads, in "
	    "its text format; the program must have been built by clang with "
	    "-gline-tables-only -fdebug-info-for-profiling. A line says what "
	    "share of the hits has a place in it; without the program's file, "
	    "counts are hits and not estimates of executions. bolt: where the code of the "
	    "module with the most hits was sampled, which llvm-bolt -data "
	    "reads; its file is needed.\n\n"
	    "An export contains all that the steps of the refinement left, "
	    "whatever the root, threshold and limit, and always the start-up "
	    "frames. If a step makes groups, pprof, callgrind and cpprofdata "
	    "contain names instead of addresses and lines. One line lists "
	    "what the format cannot represent. Of a merged profile every "
	    "format has only the sum, without members and random groups: the "
	    "errors that noise on shows of the file, and what diff says of it, "
	    "are those of its samples alone, which understates how much the "
	    "members differ. "
	    "If an export to FILE fails, "
	    "FILE stays as it was; with >, the file contains what was written "
	    "before the failure.",
	.example = "export collapsed | head -1",
	.arguments = export_arguments,
	.choices = exporter_names,
	.prepare = export_prepare,
	.write = export_write,
};
