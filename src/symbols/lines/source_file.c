/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_file.c -- finds and reads the source files that a profile names.
 *
 * What is refused is refused after it was read, so that the reasons do not
 * depend on each other; no byte of it leaves this file.
 */
#include "src/symbols/lines/address_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/named_file.h"

/* Joins two parts of a path; whether the whole fits. */
static bool
source_file_join(char path[PATH_MAX], const char *directory, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", directory, name);

	return n >= 0 && n < PATH_MAX;
}

/* ---- whether a file may be read ---- */

/* What sources are called, by what follows the last point of their names, in
 * small letters. */
static const char *const source_file_endings[] = {
	"adb", "ads", "asm", "awk", "bas", "bash", "c", "c++", "cc", "cjs",
	"cl", "clj", "cljs", "cob", "coffee", "cpp", "cppm", "cr", "cs", "cu",
	"cuh", "cxx", "d", "dart", "def", "el", "elm", "erb", "erl", "ex",
	"exs", "f", "f03", "f08", "f77", "f90", "f95", "fish", "for", "fs",
	"fsx", "ftn", "gd", "glsl", "go", "groovy", "h", "h++", "hh", "hip",
	"hlsl", "hpp", "hrl", "hs", "hxx", "i", "ii", "inc", "inl", "ino",
	"ipp", "ispc", "ixx", "java", "jl", "js", "jsx", "ksh", "kt", "kts",
	"l", "lex", "lhs", "lisp", "ll", "lpp", "lua", "m", "metal", "mjs",
	"ml", "mli", "mll", "mly", "mm", "mod", "mpp", "mts", "nim", "nut",
	"odin", "p", "pas", "php", "phtml", "pl", "pm", "pp", "ps1", "pxd",
	"pxi", "py", "pyi", "pyw", "pyx", "r", "rb", "rkt", "rs", "s", "sc",
	"scala", "scm", "sh", "sql", "ss", "st", "sv", "svelte", "swift", "t",
	"tbl", "tcc", "tcl", "tpp", "ts", "tsx", "v", "vala", "vb", "vhd",
	"vhdl", "vue", "wat", "x", "y", "ypp", "yy", "zig", "zsh",
};

static bool
source_file_has_ending(const char *path)
{
	const char *name = last_component(path);
	const char *point = strrchr(name, '.');

	/* A name that begins with its only point is that of settings. */
	if (point == NULL || point == name)
		return false;
	for (size_t i = 0; i < sizeof source_file_endings /
	     sizeof *source_file_endings; i++)
		if (strcasecmp(point + 1, source_file_endings[i]) == 0)
			return true;
	return false;
}

/*
 * Scripts, and headers of C++, may have names without ending, or with one that
 * says something else: tool-3.11, run.cgi.
 */
static bool
source_file_says_so(const char *bytes, size_t size)
{
	const char *end = memchr(bytes, '\n', size);
	const size_t n = end != NULL ? (size_t)(end - bytes) : size;

	return (n > 2 && bytes[0] == '#' && bytes[1] == '!') ||
	    memmem(bytes, n, "-*- C++ -*-", 11) != NULL;
}

static bool
source_file_looks_so(const struct source_file *source, const char *bytes,
                     size_t size)
{
	return memchr(bytes, '\0', size) == NULL &&
	    (source_file_has_ending(source->real_path) ||
	     source_file_says_so(bytes, size));
}

/* Whether the user said so, or works there. */
static bool
source_file_is_in_place(const struct source_file *source,
                        const struct source_search *search)
{
	for (size_t i = 0; i < search->n_directories; i++)
		if (named_file_is_below(source->real_path,
		                        search->directories[i]))
			return true;
	return (search->root != NULL &&
	        named_file_is_below(source->real_path, search->root)) ||
	    named_file_is_below(source->real_path, ".");
}

/* ---- reading ---- */

/* Reads at most size bytes; returns their number. */
static size_t
source_file_read_bytes(int descriptor, char *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(descriptor, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* Decides by the contents, and keeps them if they may be shown. */
static int
source_file_take_bytes(struct source_file *source, const char *name,
                       const struct source_search *search, char *bytes,
                       size_t size, struct error *error)
{
	MD5_CTX md5;

	MD5Init(&md5);
	MD5Update(&md5, (const unsigned char *)bytes, size);
	MD5Final(source->digest, &md5);
	source->state = SOURCE_READ;
	if (!source_file_looks_so(source, bytes, size))
		source->state = SOURCE_NOT_SOURCE;
	else if (!source->is_fetched && !search->was_recorded_here &&
	         !source_file_is_in_place(source, search) &&
	         (search->is_compiled == NULL ||
	          !search->is_compiled(search->context, name, source->digest)))
		source->state = SOURCE_ELSEWHERE;
	if (source->state == SOURCE_READ)
		return text_lines_split(&source->text, bytes, size, error);
	free(bytes);
	return 0;
}

static int
source_file_read_file(struct source_file *source, const char *name,
                      const struct source_search *search, int descriptor,
                      const struct stat *status, struct error *error)
{
	size_t size;
	char *bytes;

	if (status->st_size > SOURCE_MAX ||
	    !named_file_real_path(descriptor, source->real_path))
		return 0;
	size = (size_t)status->st_size;
	bytes = memory_array(size + 1, 1, error);
	if (bytes == NULL)
		return -1;
	size = source_file_read_bytes(descriptor, bytes, size);
	source->mtime_ns = (uint64_t)status->st_mtim.tv_sec * 1000000000 +
	                   (uint64_t)status->st_mtim.tv_nsec;
	return source_file_take_bytes(source, name, search, bytes, size,
	                              error);
}

/* ---- searching ---- */

/* A search, and the first file that was found and may not be read. */
struct source_finding {
	struct source_file *source;
	const char *name;		/* in the profile */
	const struct source_search *search;
	struct source_file refused;
	struct error *error;
};

/* Reads a candidate; whether the search is over. */
static bool
source_file_try_path(struct source_finding *finding, const char *path)
{
	struct source_file *source = finding->source;
	enum named_file_state state;
	struct stat status;
	int descriptor;

	state = named_file_open(path, 0, &descriptor, &status);
	if (state == NAMED_FILE_MISSING || state == NAMED_FILE_IS_LINK)
		return false;
	source->state = SOURCE_UNREADABLE;
	if (source->path != path)
		snprintf(source->path, sizeof source->path, "%s", path);
	if (state == NAMED_FILE_OPEN) {
		source_file_read_file(source, finding->name, finding->search,
		                      descriptor, &status, finding->error);
		close(descriptor);
	}
	if (source->state == SOURCE_READ ||
	    source->state == SOURCE_UNREADABLE || finding->error->is_set)
		return true;
	if (finding->refused.state == SOURCE_MISSING)
		finding->refused = *source;
	return false;
}

/* The path without slashes at its start, then without each component. */
static bool
source_file_try_directory(struct source_finding *finding,
                          const char *directory)
{
	struct source_file *source = finding->source;
	const char *path = finding->name;

	while (*path != '\0') {
		path += strspn(path, "/");
		if (*path != '\0' &&
		    source_file_join(source->path, directory, path) &&
		    source_file_try_path(finding, source->path))
			return true;
		path += strcspn(path, "/");
	}
	return false;
}

static bool
source_file_find(struct source_finding *finding)
{
	const struct source_search *search = finding->search;
	struct source_file *source = finding->source;

	for (size_t i = 0; i < search->n_directories; i++)
		if (source_file_try_directory(finding, search->directories[i]))
			return true;
	if (search->root != NULL &&
	    source_file_join(source->path, search->root, finding->name) &&
	    source_file_try_path(finding, source->path))
		return true;
	if (strlen(finding->name) < sizeof source->path &&
	    source_file_try_path(finding, finding->name))
		return true;
	if (search->fetch == NULL || finding->error->is_set ||
	    !search->fetch(search->context, finding->name, source->path))
		return false;
	source->is_fetched = true;
	return source_file_try_path(finding, source->path);
}

int
source_file_read(struct source_file *source, const char *path,
                 const struct source_search *search, struct error *error)
{
	struct source_finding *finding = memory_array(1, sizeof *finding,
	                                              error);

	*source = (struct source_file){ .state = SOURCE_MISSING };
	if (finding == NULL)
		return -1;
	*finding = (struct source_finding){ .source = source, .name = path,
		.search = search, .refused = { .state = SOURCE_MISSING },
		.error = error };
	if (!source_file_find(finding))
		*source = finding->refused;
	free(finding);
	return error->is_set ? -1 : 0;
}

void
source_file_free(struct source_file *source)
{
	text_lines_free(&source->text);
}
