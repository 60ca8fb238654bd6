/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/export.c -- the profile as a file for other tools. */
#include <inttypes.h>

#include "src/base/new_file.h"
#include "src/formats/exporter.h"
#include "src/shell/command/argument_kinds.h"
#include "src/shell/terminal/message.h"

static const struct argument export_arguments[] = {
	{ "FORMAT", &arg_choice, 0, "the format to write" },
	{ "FILE", &arg_file, ARG_OPTIONAL,
	  "the file to write (default: standard output, > or |)" },
	ARGUMENTS_END
};

/* What is written, until it is. */
struct export {
	struct session *session;
	size_t format;		/* index into exporters */
};

/* Says in one line what a reader of the file will not find. */
static void
note_losses(const struct export *export, const struct export_source *source,
            uint64_t n_changed)
{
	struct text_buffer losses = { 0 };

	exporter_add_losses(&losses, exporters[export->format], source);
	if (n_changed > 0)
		text_add_format(&losses, "%s%" PRIu64 " name%s as %s",
		                losses.length > 0 ? ", " : "", n_changed,
		                n_changed == 1 ? "" : "s",
		                n_changed == 1 ? "it is" : "they are");
	if (losses.length > 0)
		message_note("%s cannot represent: %s",
		             exporter_names[export->format],
		             text_string(&losses));
	text_free(&losses);
}

static int
write_export(void *write_source, struct writer *writer, struct error *error)
{
	const struct export *export = write_source;
	const struct session *session = export->session;
	struct export_source source = {
		.profile = session->profile,
		.named = session->naming.tree,
		.inlines = session->settings.naming.inlines,
		.resource = session->resource,
	};
	uint64_t n_changed;

	if (exporters[export->format]->write(&source, writer, &n_changed,
	                                     error) != 0)
		return -1;
	note_losses(export, &source, n_changed);
	return 0;
}

/* A file that is there whole or, where that fails, as it was. */
static int
write_file(struct export *export, const char *name, struct error *error)
{
	struct new_file file;
	int written, closed;

	if (new_file_open(&file, name, error) != 0)
		return -1;
	written = write_export(export, &file.writer, error);
	closed = new_file_close(&file, written == 0, error);
	return written != 0 && error->is_set ? -1 : closed;
}

static int
export_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	const struct value *file = &arguments->values[1];
	struct export export = { session, arguments->values[0].count };
	struct export *kept;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (session->profile->tree == NULL &&
	    !exporters[export.format]->holds_graphs)
		return error_set(error, "this profile has calls and no "
		                 "stacks, which are what %s holds",
		                 exporter_names[export.format]);
	if (exporters[export.format]->carries & EXPORT_LINES &&
	    session_read_lines(session, error) != 0)
		return -1;
	if (file->is_given)
		return write_file(&export, file->words[0], error);
	kept = arena_alloc(&table->arena, sizeof *kept, error);
	if (kept == NULL)
		return -1;
	*kept = export;
	table->write = write_export;
	table->write_source = kept;
	table->is_binary = exporters[export.format]->is_binary;
	return 0;
}

const struct command command_export = {
	.name = "export",
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
	    "cpprofdata: the format that record writes, with addresses.\n\n"
	    "An export contains the whole profile, whatever the root, "
	    "threshold and limit. One line lists what the format cannot "
	    "represent. If an export to FILE fails, FILE stays as it was; "
	    "with >, the file contains what was written before the failure.",
	.example = "export collapsed | head -1",
	.arguments = export_arguments,
	.choices = exporter_names,
	.run = export_run,
};
