/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_functions.c -- names and lines of functions that an interpreter
 * ran.
 *
 * A function is named as its programmer calls it, with its file:
 * "Parser.parse (app.py)".  Of a file in a directory where Python looks for
 * modules, the path from there is shown, as in
 * "JSONDecoder.decode (json/decoder.py)"; of any other the file's name alone.  A
 * function without a name of its own, or one of several of one name in a file,
 * is shown with its first line, "<lambda> (app.py:7)".
 *
 * The line of an instruction is in the line table of its code object, whose
 * entries each cover some instructions: CPython, Objects/locations.md.  The
 * tables are untrusted.
 */
#include "src/formats/cpprofdata/cpprofdata_internal.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/cpprofdata/interpreted.h"

enum {
	FUNCTION_TEXT_MAX = 4096,
	UNIT_SIZE = 2,			/* bytes of an instruction */

	/* The first byte of an entry: 1, its kind, its length - 1. */
	ENTRY_BEGINS = 0x80,
	ENTRY_KIND_SHIFT = 3, ENTRY_KIND_MASK = 15, ENTRY_LENGTH_MASK = 7,
	ENTRY_ONE_LINE = 10,		/* to 12: so many lines - 10 further */
	ENTRY_NO_COLUMNS = 13,		/* a signed number of lines follows */
	ENTRY_LONG = 14,		/* likewise */
	ENTRY_NONE = 15,		/* no line */

	NUMBER_BITS = 6, NUMBER_GOES_ON = 64,
};

/* The instructions from `begin` to that of the next entry, in bytes. */
struct interpreted_line {
	uint32_t begin, line;		/* line 0: none */
};

struct interpreted_function {
	bool is_read;
	uint32_t name, file, module;	/* of the profile */
	uint32_t first_line;
	struct interpreted_line *lines;
	size_t n_lines;
};

struct interpreted_functions {
	const struct cpprofdata_file *file;
	struct profile *profile;
	struct names *modules;		/* by path; number - first_module */
	uint32_t first_module;
	const char *directory;		/* of the process */
	struct interpreted_function *functions;		/* [n] */
	size_t n;
};

struct interpreted_functions *
interpreted_functions_new(const struct cpprofdata_file *file,
                          struct profile *profile, struct error *error)
{
	struct interpreted_functions *functions = memory_array(1,
	    sizeof *functions, error);

	if (functions == NULL)
		return NULL;
	functions->file = file;
	functions->profile = profile;
	functions->first_module = profile->n_modules;
	functions->n = cpprofdata_runs_count(
	    &file->runs[CPPROFDATA_FUNCTIONS]);
	functions->functions = memory_array(functions->n,
	                                    sizeof *functions->functions,
	                                    error);
	functions->modules = names_new(error);
	functions->directory = cpprofdata_copy_string(file,
	    file->header.directory, error);
	if (!error->is_set)
		return functions;
	interpreted_functions_free(functions);
	return NULL;
}

void
interpreted_functions_free(struct interpreted_functions *functions)
{
	if (functions == NULL)
		return;
	for (size_t i = 0; i < functions->n && functions->functions != NULL;
	     i++)
		free(functions->functions[i].lines);
	free(functions->functions);
	names_free(functions->modules);
	free((char *)functions->directory);
	free(functions);
}

/* ---- line tables ---- */

/* A signed number of 6 bits a byte, the lowest first; *at moves behind it. */
static int64_t
take_number(const unsigned char *table, size_t size, size_t *at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	while (*at < size && (table[*at] & ENTRY_BEGINS) == 0) {
		const unsigned char byte = table[(*at)++];

		if (shift < 32)
			number |= (uint64_t)(byte & (NUMBER_GOES_ON - 1)) <<
			    shift;
		shift += NUMBER_BITS;
		if ((byte & NUMBER_GOES_ON) == 0)
			break;
	}
	return (number & 1) != 0 ? -(int64_t)(number >> 1) :
	    (int64_t)(number >> 1);
}

size_t
line_table_decode(const unsigned char *table, size_t size,
                  uint32_t first_line, uint32_t *begins, uint32_t *lines)
{
	int64_t line = first_line;
	uint32_t begin = 0;
	size_t n = 0, at = 0;

	while (at < size) {
		const unsigned char byte = table[at++];
		const unsigned kind = byte >> ENTRY_KIND_SHIFT &
		    ENTRY_KIND_MASK;

		if ((byte & ENTRY_BEGINS) == 0)
			continue;	/* the rest of the entry before */
		if (kind == ENTRY_NO_COLUMNS || kind == ENTRY_LONG)
			line += take_number(table, size, &at);
		else if (kind >= ENTRY_ONE_LINE && kind < ENTRY_NO_COLUMNS)
			line += kind - ENTRY_ONE_LINE;
		begins[n] = begin;
		lines[n++] = kind == ENTRY_NONE || line < 0 ||
		    line > INT32_MAX ? 0 : (uint32_t)line;
		begin += ((byte & ENTRY_LENGTH_MASK) + 1) * UNIT_SIZE;
	}
	return n;
}

static int
interpreted_read_lines(struct interpreted_functions *functions,
                       struct interpreted_function *function,
                       const struct cpprofdata_function *record,
                       struct error *error)
{
	const struct cpprofdata_run *run = cpprofdata_runs_find(
	    &functions->file->runs[CPPROFDATA_LINES], le32toh(record->lines));
	size_t size = le32toh(record->lines_size);
	uint32_t *begins, *lines;

	if (run == NULL || size == 0 ||
	    size > run->n - (le32toh(record->lines) - run->first))
		return 0;
	begins = memory_array(size, sizeof *begins, error);
	lines = memory_array(size, sizeof *lines, error);
	if (!error->is_set)
		function->n_lines = line_table_decode(functions->file->bytes +
		    run->offset + (le32toh(record->lines) - run->first), size,
		    function->first_line, begins, lines);
	function->lines = memory_array(function->n_lines,
	                               sizeof *function->lines, error);
	for (size_t i = 0; !error->is_set && i < function->n_lines; i++)
		function->lines[i] = (struct interpreted_line){ begins[i],
			lines[i] };
	free(begins);
	free(lines);
	return error->is_set ? -1 : 0;
}

/*
 * Whether an instruction, as a node has it, says that the frame awaits what is
 * below it; if so, takes that off.
 */
static bool
interpreted_take_awaits(uint32_t *instruction)
{
	if (*instruction == CPPROFDATA_NO_INSTRUCTION ||
	    (*instruction & CPPROFDATA_AWAITS) == 0)
		return false;
	*instruction &= ~CPPROFDATA_AWAITS;
	return true;
}

/* The line of an instruction, without CPPROFDATA_AWAITS; 0: not known. */
static uint32_t
line_of(const struct interpreted_function *function, uint32_t instruction)
{
	size_t n;

	if (instruction == CPPROFDATA_NO_INSTRUCTION)
		return 0;
	if (instruction < CPPROFDATA_BEFORE_CODE)
		return function->first_line;
	instruction -= CPPROFDATA_BEFORE_CODE;
	n = partition_point(function->n_lines, i,
	                    function->lines[i].begin <= instruction);
	return n > 0 ? function->lines[n - 1].line : 0;
}

/* ---- names ---- */

const char *
interpreted_shown_path(const char *path)
{
	static const char *const roots[] = { "/site-packages/",
		"/dist-packages/", "/lib-dynload/" };
	const char *last = strrchr(path, '/'), *from = NULL;

	if (path[0] == '<' || last == NULL)
		return path;
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		const char *root = strstr(path, roots[i]);

		if (root != NULL)
			return root + strlen(roots[i]);
	}
	/* "/usr/lib/python3.11/json/decoder.py" */
	from = strstr(path, "/python3");
	if (from != NULL && (from = strchr(from + 1, '/')) != NULL &&
	    memmem(path, (size_t)(from - path), "/lib", 4) != NULL)
		return from + 1;
	if (strncmp(last, "/__", 3) == 0)
		while (last > path && last[-1] != '/')
			last--;
	else
		last++;
	return last;
}

/* Whether a function has no name of its own, which says which one it is. */
static bool
is_nameless(const char *name, size_t length)
{
	static const char module[] = "<module>";

	return length > 0 && name[length - 1] == '>' &&
	    (length != sizeof module - 1 || memcmp(name, module, length) != 0);
}

static int
name_function(struct interpreted_functions *functions,
              struct interpreted_function *function, const char *name,
              size_t length, const char *path, struct error *error)
{
	struct names *names = functions->profile->names;
	char *absolute = NULL;
	uint32_t module;

	if (path[0] != '/' && path[0] != '<' && path[0] != '\0' &&
	    functions->directory[0] == '/') {
		while (strncmp(path, "./", 2) == 0)
			path += 2;
		if (asprintf(&absolute, "%s/%s", functions->directory,
		             path) < 0)
			return error_out_of_memory(error);
		path = absolute;
	}
	if (length == 0)
		function->name = names_add(names, "[python]",
		                           strlen("[python]"), error);
	else if (is_nameless(name, length) && function->first_line > 0)
		function->name = names_add_format(names, error,
		    "%.*s (%s:%" PRIu32 ")", (int)length, name,
		    interpreted_shown_path(path), function->first_line);
	else
		function->name = names_add_format(names, error, "%.*s (%s)",
		    (int)length, name, interpreted_shown_path(path));
	if (path[0] != '\0')
		function->file = names_add(names, path, strlen(path), error);
	module = names_add(functions->modules, path, strlen(path), error);
	if (!error->is_set && path[0] != '\0') {
		function->module = functions->first_module + module;
		if (function->module == functions->profile->n_modules)
			profile_add_module(functions->profile, path, NULL, 0,
			                   error);
	}
	free(absolute);
	return error->is_set ? -1 : 0;
}

static int
interpreted_read(struct interpreted_functions *functions,
                 struct interpreted_function *function, uint64_t number,
                 struct error *error)
{
	const unsigned char *bytes = cpprofdata_record_at(functions->file,
	    CPPROFDATA_FUNCTIONS, number);
	struct cpprofdata_function record = { 0 };
	size_t length;
	const char *name;
	char *path;
	int result;

	if (bytes != NULL)
		memcpy(&record, bytes, sizeof record);
	*function = (struct interpreted_function){
		.is_read = true, .file = NO_NAME, .module = NO_MODULE,
		.first_line = le32toh(record.first_line),
	};
	name = cpprofdata_string(functions->file, le32toh(record.name),
	                         FUNCTION_TEXT_MAX, &length);
	path = cpprofdata_copy_string(functions->file, le32toh(record.file),
	                              error);
	if (path == NULL)
		return -1;
	result = name_function(functions, function, name, length, path, error);
	free(path);
	if (result == 0 && le32toh(record.language) == CPPROFDATA_PYTHON)
		result = interpreted_read_lines(functions, function, &record, error);
	return result;
}

int
interpreted_functions_find(struct interpreted_functions *functions,
                           uint64_t offset, struct interpreted_frame *frame,
                           struct error *error)
{
	static struct interpreted_function unknown;
	const struct cpprofdata_runs *runs =
	    &functions->file->runs[CPPROFDATA_FUNCTIONS];
	const uint64_t number = offset >> 32;
	const struct cpprofdata_run *run = cpprofdata_runs_find(runs, number);
	struct interpreted_function *function = &unknown;
	uint32_t instruction = (uint32_t)offset;

	if (run != NULL)
		function = &functions->functions[run->n_before +
		    (number - run->first)];
	if ((run == NULL || !function->is_read) &&
	    interpreted_read(functions, function, number, error) != 0)
		return -1;
	frame->is_awaiting = interpreted_take_awaits(&instruction);
	frame->module = function->module;
	frame->first_line = function->first_line;
	frame->location = (struct location){
		.function = function->name,
		.file = function->file,
		.line = line_of(function, instruction),
		.linkage = NO_NAME,
		.start_line = function->first_line,
	};
	/* A line has 31 bits. */
	frame->key = (run != NULL ? number << 32 : UINT64_MAX << 32) |
	    (uint64_t)frame->is_awaiting << 31 | frame->location.line;
	return 0;
}
