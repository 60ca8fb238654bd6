/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/list.c -- source lines with their hits. */
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/shell/command/command.h"
#include "src/shell/command/resolve.h"
#include "src/views/code/code.h"

static const struct argument list_arguments[] = {
	{ "FUNCTION|FILE:LINE|FILE", &arg_code, 0,
	  "the code to list; of FILE, the end of its path is enough" },
	ARGUMENTS_END
};

/*
 * The files of the lines, in their order, to be freed; each is read.  NULL with
 * *error set.
 */
static struct listed_file *
list_files(struct code_sources *sources, const struct code_hits *hits,
           uint32_t *n, struct error *error)
{
	const struct names *names = sources->session->subject->profile->names;
	struct listed_file *files = memory_array(hits->n, sizeof *files,
	                                         error);

	*n = 0;
	for (uint32_t i = 0; files != NULL && i < hits->n; i++) {
		struct listed_file file = { .file = hits->lines[i].file };
		const struct code_source *source;

		if (i > 0 && file.file == hits->lines[i - 1].file)
			continue;
		if (file.file != NO_NAME) {
			source = code_sources_read(sources,
			    names_text(names, file.file), error);
			if (source == NULL)
				break;
			if (source->file.state == SOURCE_READ)
				file.text = &source->file.text;
		}
		files[(*n)++] = file;
	}
	if (!error->is_set)
		return files;
	free(files);
	return NULL;
}

/* Notes which files have rows. */
static int
mark_shown(struct code_sources *sources, const struct listing *listing,
           struct error *error)
{
	const struct names *names = sources->session->subject->profile->names;

	for (uint32_t i = 0; i < listing->n_files; i++) {
		const struct listed_file *file = &listing->files[i];
		struct code_source *source;

		if (!file->has_rows || file->file == NO_NAME)
			continue;
		source = code_sources_read(sources, names_text(names,
		                           file->file), error);
		if (source == NULL)
			return -1;
		source->is_shown = true;
	}
	return 0;
}

/* Whether debug information has inlined calls of the function that are not
 * among the names. */
static bool
has_hidden_copies(const struct session *session, uint32_t function)
{
	const struct profile *profile = session->subject->profile;
	const struct naming_rule *rule = &session->settings.naming;

	if (function == NO_NAME || rule->inlines != INLINES_AUTO ||
	    rule->granularity != GRANULARITY_FUNCTION)
		return false;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 1; frame->is_deferred &&
		     k < frame->n_locations; k++)
			if (profile->locations[frame->first_location +
			                       k].function == function)
				return true;
	}
	return false;
}

static bool
list_has_lines(const struct code_hits *hits)
{
	for (uint32_t i = 0; i < hits->n; i++)
		if (hits->lines[i].line > 0)
			return true;
	return false;
}

static int
list_show(struct session *session, const struct code_set *set,
          struct listing *listing, struct table *table, struct error *error)
{
	const struct view_request request = session_request(session);
	const uint32_t function = listing->scope.function;
	const struct profile *profile = session->subject->profile;
	struct code_sources sources = { .session = session };
	struct listed_file *files = list_files(&sources, listing->hits,
	                                       &listing->n_files, error);
	int status = files != NULL ? 0 : -1;

	if (status == 0 && function != NO_NAME && listing->n_files > 0 &&
	    files[0].text != NULL && profile->tree != NULL)
		status = function_code_extent(session, function, names_text(
		    profile->names, files[0].file), &files[0].first,
		    &files[0].last, error);
	listing->has_hidden_copies = has_hidden_copies(session, function);
	listing->files = files;
	if (status == 0)
		status = view_list(&request, listing, table, error);
	if (status == 0)
		status = mark_shown(&sources, listing, error);
	if (status == 0)
		status = code_sources_describe(&sources, set, table, error);
	free(files);
	code_sources_free(&sources);
	return status;
}

static int
list_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	struct code_hits hits = { 0 };
	struct listing listing = { .hits = &hits };
	struct code_set set;
	int status;

	if (session_need_profile(session, error) != 0 ||
	    (session->subject->profile->tree != NULL &&
	     session_read_lines(session, error) != 0) ||
	    resolve_code(session, CODE_FUNCTIONS_AND_FILES,
	                 arguments->values[0].text, &listing.scope,
	                 &listing.line, error) != 0 ||
	    session_code(session, &set, error) != 0)
		return -1;
	status = code_hits_find(&hits, &set, &listing.scope, error);
	if (status == 0)
		status = list_has_lines(&hits) ?
		         list_show(session, &set, &listing, table, error) :
		         code_explain_no_lines(session,
		             listing.scope.function, error);
	code_hits_free(&hits);
	return status;
}

const struct command command_list = {
	.name = "list",
	.words = COMMAND_WORDS(
	    /* pprof */ MEANS("weblist"),
	    /* gdb */ TYPE("info line", "list FUNCTION"),
	    TYPE("info source", "list FUNCTION"),
	    /* perf */ MEANS("annotate")),
	.group = GROUP_ASK,
	.summary = "source lines of a function or file, with their hits",
	.description =
	    "For each line: self, the hits of its own code, and "
	    "self+descendants, the hits of the stacks that contain the line. "
	    "Each stack counts once for a line, however often recursion "
	    "repeats it, so no line has more hits than its function. The "
	    "percentage is that of self+descendants.\n\n"
	    "A call that the compiler inlined counts as a call: its hits "
	    "are in self+descendants of the line that calls it, and the "
	    "lines of its own code are shown by list with the inlined "
	    "function's name. With inlines off they are part of self of the "
	    "line that calls it.\n\n"
	    "Lines with less than the threshold's share of the listed code "
	    "are shown only beside others; ... stands for lines that were "
	    "left out, and threshold 0 shows all lines of a file. Lines come "
	    "from the profile or from debug information, which is read once. "
	    "directories says where source files are if they have moved. If a "
	    "source file is not what was compiled, by its MD5 where debug "
	    "information has that, or else is newer than the program, the "
	    "heading says so.",
	.example = "list copy_record",
	.arguments = list_arguments,
	.run = list_run,
};
