/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/list.c -- source lines with their hits. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/shell/command/argument_kinds.h"
#include "src/shell/command/code_argument.h"
#include "src/shell/command/function_code.h"
#include "src/shell/command/resolve_code.h"
#include "src/symbols/lines/source_digest.h"
#include "src/symbols/lines/source_file.h"
#include "src/views/list.h"

/* Files that a note names. */
enum { LISTED = 3 };

static const struct argument list_arguments[] = {
	{ "FUNCTION|FILE:LINE|FILE", &arg_code, 0,
	  "the code to list; of FILE, the end of its path is enough" },
	ARGUMENTS_END
};

/* The source files of the listed code, in the order of the hits' lines. */
struct sources {
	struct listed_file *files;	/* [n] */
	struct source_file **read;	/* [n], NULL: no file is known */
	uint32_t n;
};

static void
sources_free(struct sources *sources)
{
	for (uint32_t i = 0; sources->read != NULL && i < sources->n; i++)
		if (sources->read[i] != NULL) {
			source_file_free(sources->read[i]);
			free(sources->read[i]);
		}
	free(sources->read);
	free(sources->files);
}

static int
read_source(const struct session *session, struct sources *sources,
            uint32_t i, struct error *error)
{
	const struct source_search search = {
		.directories = (const char *const *)session->directories,
		.n_directories = session->n_directories,
		.root = session->symfs,
	};
	const struct names *names = session->profile->names;
	struct listed_file *file = &sources->files[i];

	if (file->file == NO_NAME)
		return 0;
	sources->read[i] = memory_array(1, sizeof **sources->read, error);
	if (sources->read[i] == NULL ||
	    source_file_read(sources->read[i], names_text(names, file->file),
	                     &search, error) != 0)
		return -1;
	if (sources->read[i]->state == SOURCE_READ)
		file->text = &sources->read[i]->text;
	return 0;
}

/* Reads the files of the lines.  0, or -1 with *error set. */
static int
sources_read(struct sources *sources, const struct session *session,
             const struct code_hits *hits, struct error *error)
{
	sources->files = memory_array(hits->n, sizeof *sources->files, error);
	sources->read = memory_array(hits->n, sizeof *sources->read, error);
	if (sources->files == NULL || sources->read == NULL)
		return -1;
	for (uint32_t i = 0; i < hits->n; i++) {
		uint32_t file = hits->lines[i].file;

		if (i > 0 && file == hits->lines[i - 1].file)
			continue;
		sources->files[sources->n++].file = file;
		if (read_source(session, sources, sources->n - 1, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- where the function begins and ends ---- */

/* Beyond it, lines of all the function's code would take too long to read. */
enum { DEBUG_BYTES_MOST = 32 << 20 };

/* The file whose lines are looked for, and the first and last of them. */
struct extent {
	const char *file;
	uint32_t first, last;
};

static int
take_line(void *context, size_t instruction, const struct location *chain,
          size_t n, const struct names *names, struct error *error)
{
	struct extent *extent = context;

	(void)instruction;
	(void)n;
	(void)error;
	if (chain[0].line == 0 || chain[0].file == NO_NAME ||
	    strcmp(names_text(names, chain[0].file), extent->file) != 0)
		return 0;
	if (extent->first == 0 || chain[0].line < extent->first)
		extent->first = chain[0].line;
	if (chain[0].line > extent->last)
		extent->last = chain[0].line;
	return 0;
}

/*
 * Finds the first and the last line that the function has code for, in the file
 * with most of its hits.  They stay unknown if its code or its debug
 * information is not at hand.
 */
static int
find_extent(struct session *session, uint32_t function,
            struct listed_file *file, struct error *error)
{
	struct extent extent = {
		.file = names_text(session->profile->names, file->file),
	};
	struct function_code code;
	int status = function_code_read(&code, session, function, error);

	if (status == 0)
		status = function_code_lines(&code, session, DEBUG_BYTES_MOST,
		                             take_line, &extent, error);
	function_code_free(&code);
	file->first = extent.first;
	file->last = extent.last;
	return status;
}

/* ---- notes about the files ---- */

/* The module that has a line of the file; NO_MODULE: none is known. */
static uint32_t
module_with(const struct session *session, const struct code_set *set,
            uint32_t file)
{
	const struct profile *profile = session->profile;

	for (uint32_t i = 0; set->tree != NULL && i < profile->n_locations;
	     i++)
		if (profile->locations[i].file == file &&
		    set->frame[i] != UINT32_MAX)
			return profile->frames[set->frame[i]].module;
	return NO_MODULE;
}

/* Whether the program was built before the source file was changed. */
static bool
is_newer(const struct session *session, const struct module *module,
         const struct source_file *source)
{
	struct stat status;

	/* A copy below symfs may have another time. */
	return session->symfs == NULL && stat(module->path, &status) == 0 &&
	    source->mtime_ns > (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	                       (uint64_t)status.st_mtim.tv_nsec;
}

/*
 * "source: /src/db.c", and whether it is not what was compiled: by its digest
 * if debug information has that, else by its age.
 */
static int
note_found(const struct session *session, const struct code_set *set,
           uint32_t file, const struct source_file *source,
           struct table *table, struct error *error)
{
	const struct profile *profile = session->profile;
	uint32_t number = module_with(session, set, file);
	unsigned char digest[MD5_SIZE];
	const char *doubt = "";

	if (number != NO_MODULE) {
		const struct module *module = &profile->modules[number];
		const struct module_file wanted = module_file_of(module,
		    (struct symbol_search){ .root = session->symfs });

		if (source_digest_find(&wanted, names_text(profile->names,
		                       file), digest)) {
			if (memcmp(digest, source->digest, MD5_SIZE) != 0)
				doubt = ", which is not what was compiled "
				    "(by its MD5): lines may not match";
		} else if (is_newer(session, module, source)) {
			doubt = table_text(table, error, ", which is newer "
			    "than %s: lines may not match",
			    profile_module_name(profile, number));
		}
	}
	return doubt == NULL ? -1 : table_add_header(table, error,
	    "source: %s%s", source->path, doubt);
}

/* Where sources are searched, in words. */
static const char *
searched(const struct session *session, struct table *table,
         struct error *error)
{
	const char *text = "";

	for (size_t i = 0; text != NULL && i < session->n_directories; i++)
		text = table_text(table, error, "%s%s%s", text,
		                  i == 0 ? "" : ", ",
		                  session->directories[i]);
	if (text != NULL && session->symfs != NULL)
		text = table_text(table, error, "%s%s%s", text,
		                  *text == '\0' ? "" : ", ", session->symfs);
	if (text == NULL)
		return NULL;
	return *text == '\0' ? "" : table_text(table, error,
	                                       ", nor in %s", text);
}

/* One line for all files that were not found or cannot be read. */
static int
note_missing(const struct session *session, const struct sources *sources,
             enum source_state state, struct table *table,
             struct error *error)
{
	const char *list = "", *where;
	uint32_t n = 0;

	for (uint32_t i = 0; i < sources->n; i++) {
		if (sources->read[i] == NULL ||
		    sources->read[i]->state != state)
			continue;
		if (n++ < LISTED)
			list = table_text(table, error, "%s%s%s", list,
			    n == 1 ? "" : ", ",
			    state == SOURCE_UNREADABLE ?
			    sources->read[i]->path :
			    names_text(session->profile->names,
			               sources->files[i].file));
		if (list == NULL)
			return -1;
	}
	if (n == 0)
		return 0;
	if (n > LISTED)
		list = table_text(table, error, "%s and %u more", list,
		                  n - LISTED);
	if (list == NULL)
		return -1;
	if (state == SOURCE_UNREADABLE)
		return table_add_header(table, error,
		                        "source cannot be read: %s", list);
	where = searched(session, table, error);
	return where == NULL ? -1 : table_add_header(table, error,
	    "source not found: %s%s; say where it is with \"directories DIR\"",
	    list, where);
}

static int
add_notes(const struct session *session, const struct code_set *set,
          const struct sources *sources, struct table *table,
          struct error *error)
{
	for (uint32_t i = 0; i < sources->n; i++)
		if (sources->files[i].text != NULL &&
		    sources->files[i].has_rows &&
		    note_found(session, set, sources->files[i].file,
		               sources->read[i], table, error) != 0)
			return -1;
	if (note_missing(session, sources, SOURCE_MISSING, table,
	                 error) != 0)
		return -1;
	return note_missing(session, sources, SOURCE_UNREADABLE, table, error);
}

/* ---- the command ---- */

/* Whether debug information has inlined calls of the function that are not
 * among the names. */
static bool
has_hidden_copies(const struct session *session, uint32_t function)
{
	const struct profile *profile = session->profile;
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
has_lines(const struct code_hits *hits)
{
	for (uint32_t i = 0; i < hits->n; i++)
		if (hits->lines[i].line > 0)
			return true;
	return false;
}

static int
show(struct session *session, const struct code_set *set,
     struct listing *listing, struct table *table, struct error *error)
{
	const struct view_request request = session_request(session);
	struct sources sources = { 0 };
	int status = sources_read(&sources, session, listing->hits, error);

	if (status == 0 && listing->scope.function != NO_NAME &&
	    sources.n > 0 && sources.files[0].text != NULL &&
	    session->profile->tree != NULL)
		status = find_extent(session, listing->scope.function,
		                     &sources.files[0], error);
	listing->has_hidden_copies = has_hidden_copies(session,
	    listing->scope.function);
	listing->files = sources.files;
	listing->n_files = sources.n;
	if (status == 0)
		status = view_list(&request, listing, table, error);
	if (status == 0)
		status = add_notes(session, set, &sources, table, error);
	sources_free(&sources);
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
	    (session->profile->tree != NULL &&
	     session_read_lines(session, error) != 0) ||
	    resolve_code(session->profile, CODE_FUNCTIONS_AND_FILES,
	                 arguments->values[0].text, &listing.scope,
	                 &listing.line, error) != 0 ||
	    session_code(session, &set, error) != 0)
		return -1;
	status = code_hits_find(&hits, &set, &listing.scope, error);
	if (status == 0)
		status = has_lines(&hits) ?
		         show(session, &set, &listing, table, error) :
		         code_explain_no_lines(session,
		             listing.scope.function, error);
	code_hits_free(&hits);
	return status;
}

const struct command command_list = {
	.name = "list",
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
