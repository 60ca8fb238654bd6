/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_sources.c -- the source files of code that is shown. */
#include "src/shell/command/resolve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/symbols/lines/address_lines.h"

/* Files that a note names. */
enum { LISTED = 3 };

/* ---- reading ---- */

void
code_sources_free(struct code_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++) {
		source_file_free(&sources->sources[i]->file);
		free(sources->sources[i]);
	}
	free(sources->sources);
}

/* Whether the profile has a line of the file in that module. */
static bool
is_file_of(const struct profile *profile, uint32_t module, uint32_t file)
{
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; frame->module == module &&
		     k < frame->n_locations; k++)
			if (profile->locations[frame->first_location +
			                       k].file == file)
				return true;
	}
	return false;
}

/*
 * Whether the debug information of a module has that digest of the file.  Only
 * of builds that are known: others may be of anybody.
 */
static bool
code_sources_is_compiled(void *context, const char *path,
                         const unsigned char digest[MD5_DIGEST_LENGTH])
{
	const struct code_sources *sources = context;
	const struct session *session = sources->session;
	const struct profile *profile = session->subject->profile;
	const uint32_t file = names_find(profile->names, path, strlen(path));
	unsigned char compiled[MD5_DIGEST_LENGTH];

	for (uint32_t i = 0; file != NO_NAME && i < profile->n_modules; i++) {
		const struct module_file wanted =
		    module_file_of(&profile->modules[i],
		    (struct symbol_search){ .root = session->symfs });

		if (wanted.build_id_size > 0 && is_file_of(profile, i, file) &&
		    source_digest_find(&wanted, path, compiled) &&
		    memcmp(compiled, digest, MD5_DIGEST_LENGTH) == 0)
			return true;
	}
	return false;
}

/* A module that has a line of the file, and whose build is known; or NULL. */
static const struct module *
code_sources_build(const struct code_sources *sources, const char *path)
{
	const struct profile *profile = sources->session->subject->profile;
	const uint32_t file = names_find(profile->names, path, strlen(path));

	for (uint32_t i = 0; file != NO_NAME && i < profile->n_modules; i++)
		if (profile->modules[i].build_id_size > 0 &&
		    is_file_of(profile, i, file))
			return &profile->modules[i];
	return NULL;
}

static bool
code_sources_fetch(void *context, const char *path, char *found)
{
	const struct code_sources *sources = context;
	const struct module *module = code_sources_build(sources, path);

	return module != NULL && debug_files_get_source(sources->session,
	                                                module, path, found);
}

struct code_source *
code_sources_read(struct code_sources *sources, const char *name,
                  struct error *error)
{
	const struct session *session = sources->session;
	const struct source_search search = {
		.directories = (const char *const *)session->directories,
		.n_directories = session->n_directories,
		.root = session->symfs,
		.was_recorded_here =
		    session->subject->profile->was_recorded_here,
		.is_compiled = code_sources_is_compiled,
		.fetch = code_sources_fetch,
		.context = sources,
	};
	struct code_source *source;

	for (size_t i = 0; i < sources->n; i++)
		if (strcmp(sources->sources[i]->name, name) == 0)
			return sources->sources[i];
	if (memory_grow(&sources->sources, &sources->capacity,
	                sources->n + 1, sizeof *sources->sources, error) != 0)
		return NULL;
	source = memory_array(1, sizeof *source, error);
	if (source == NULL)
		return NULL;
	source->name = name;
	sources->sources[sources->n++] = source;
	return source_file_read(&source->file, name, &search, error) == 0 ?
	       source : NULL;
}

/* ---- notes ---- */

/* The module that has a line of the file; NO_MODULE: none is known. */
static uint32_t
module_with(const struct profile *profile, const struct code_set *set,
            const char *name)
{
	uint32_t file = names_find(profile->names, name, strlen(name));

	for (uint32_t i = 0; set->tree != NULL && file != NO_NAME &&
	     i < profile->n_locations; i++)
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
 * "source: /src/db.c", and a warning if it is not the file that was compiled:
 * by its digest if debug information has that, else by its age.
 */
static int
note_found(const struct session *session, const struct code_set *set,
           const struct code_source *source, struct table *table,
           struct error *error)
{
	const struct profile *profile = session->subject->profile;
	uint32_t number = module_with(profile, set, source->name);
	unsigned char digest[MD5_DIGEST_LENGTH];
	const char *doubt = "";

	if (number != NO_MODULE) {
		const struct module *module = &profile->modules[number];
		const struct module_file wanted = module_file_of(module,
		    (struct symbol_search){ .root = session->symfs });

		if (source_digest_find(&wanted, source->name, digest)) {
			if (memcmp(digest, source->file.digest,
			           MD5_DIGEST_LENGTH) != 0)
				doubt = ", which is not what was compiled "
				    "(by its MD5): lines may not match";
		} else if (!source->file.is_fetched &&
		           is_newer(session, module, &source->file)) {
			doubt = table_text(table, error, ", which is newer "
			    "than %s: lines may not match",
			    profile_module_name(profile, number));
		}
	}
	return doubt == NULL ? -1 : table_add_header(table, error,
	    "source: %s%s%s", source->file.is_fetched ? source->name :
	    source->file.path, source->file.is_fetched ?
	    ", from a debuginfod server" : "", doubt);
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

/* The directory to name for a file, if all that is missing is that. */
static const char *
code_sources_directory(const struct code_source *source, struct table *table,
                       struct error *error)
{
	const char *path = source->file.real_path;
	const char *slash = strrchr(path, '/');

	return slash == NULL || slash == path ? "/" :
	    table_text(table, error, "%.*s", (int)(slash - path), path);
}

/*
 * One line for all files in a state in which they are not shown: which, why,
 * and what to do.
 */
static int
code_sources_note_missing(const struct code_sources *sources,
                          enum source_state state, struct table *table,
                          struct error *error)
{
	/* Only the user can name a directory where commands may not. */
	const char *start = sources->session->has_fixed_sources ?
	    "the user can start cpprof, or cpprof mcp, in that directory, or "
	    "with --directories" : NULL;
	const char *list = "", *where;
	const struct code_source *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sources->n; i++) {
		const struct code_source *source = sources->sources[i];

		if (source->file.state != state)
			continue;
		if (first == NULL)
			first = source;
		if (n++ < LISTED)
			list = table_text(table, error, "%s%s%s", list,
			    n == 1 ? "" : ", ", state == SOURCE_MISSING ?
			    source->name : source->file.path);
		if (list == NULL)
			return -1;
	}
	if (n == 0)
		return 0;
	if (n > LISTED)
		list = table_text(table, error, "%s and %zu more", list,
		                  n - LISTED);
	if (list == NULL)
		return -1;
	switch (state) {
	case SOURCE_UNREADABLE:
		return table_add_header(table, error,
		                        "source cannot be read: %s", list);
	case SOURCE_NOT_SOURCE:
		return table_add_header(table, error, "source not shown: %s; "
		    "only text files with the ending of a programming "
		    "language are, since the profile may name any file",
		    list);
	case SOURCE_ELSEWHERE:
		where = code_sources_directory(first, table, error);
		return where == NULL ? -1 : table_add_header(table, error,
		    "source not shown: %s; the profile was not recorded here, "
		    "and may name any file; if it is source of this program, "
		    "%s %s%s", list, start != NULL ? start :
		    "say so with \"directories", where,
		    start != NULL ? "" : "\"");
	default:
		where = searched(sources->session, table, error);
		return where == NULL ? -1 : table_add_header(table, error,
		    "source not found: %s%s; %s", list, where,
		    start != NULL ? "if it is elsewhere, the user can start "
		    "cpprof, or cpprof mcp, with --directories DIR" :
		    sources->session->settings.debuginfod == DEBUG_FILES_ON ||
		    !debug_files_may_turn_on(sources->session) ||
		    code_sources_build(sources, first->name) == NULL ?
		    "say where it is with \"directories DIR\"" :
		    "say where it is with \"directories DIR\", or ask "
		    "servers for it with \"debuginfod on\"");
	}
}

int
code_sources_describe(const struct code_sources *sources,
                      const struct code_set *set, struct table *table,
                      struct error *error)
{
	static const enum source_state refused[] = { SOURCE_MISSING,
		SOURCE_UNREADABLE, SOURCE_NOT_SOURCE, SOURCE_ELSEWHERE };

	for (size_t i = 0; i < sources->n; i++)
		if (sources->sources[i]->is_shown &&
		    sources->sources[i]->file.state == SOURCE_READ &&
		    note_found(sources->session, set, sources->sources[i],
		               table, error) != 0)
			return -1;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (code_sources_note_missing(sources, refused[i], table,
		                              error) != 0)
			return -1;
	return 0;
}
