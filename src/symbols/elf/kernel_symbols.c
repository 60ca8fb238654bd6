/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_symbols.c -- adds the kernel's symbols to a symbol table.
 *
 * /proc/kallsyms has a line for each symbol, without its size.  The kernel's
 * own come first, by address; then those of modules in any order, with a tab
 * and "[name]" at the end.  Where the kernel hides addresses they are all zero.
 */
#include "src/symbols/elf/elf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "src/base/memory.h"

enum { BLOCK = 1 << 20, TEXT_MAX = 1 << 28, ID_SIZE = 20, NAME_MAX = 64 };

bool
is_kernel_path(const char *path)
{
	return strcmp(path, KERNEL_PATH) == 0;
}

bool
is_kernel_module_path(const char *path)
{
	size_t n;

	if (path[0] != '[' || is_kernel_path(path) ||
	    strcmp(path, "[vdso]") == 0)
		return false;
	n = strspn(path + 1, "abcdefghijklmnopqrstuvwxyz"
	           "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return n > 0 && n < NAME_MAX && strcmp(path + 1 + n, "]") == 0;
}

/* Copies the build-id among the notes in a file; its size in bytes, or 0. */
static size_t
kernel_symbols_read_build_id(const char *path, unsigned char *id, size_t max)
{
	static const unsigned char head[] = { 4, 0, 0, 0, 20, 0, 0, 0,
		3, 0, 0, 0, 'G', 'N', 'U', 0 };
	FILE *file = fopen(path, "re");
	unsigned char notes[4096];
	const unsigned char *note;
	size_t n;

	if (file == NULL)
		return 0;
	n = fread(notes, 1, sizeof notes, file);
	fclose(file);
	note = memmem(notes, n, head, sizeof head);
	if (note == NULL || max < ID_SIZE ||
	    (size_t)(notes + n - note) < sizeof head + ID_SIZE)
		return 0;
	memcpy(id, note + sizeof head, ID_SIZE);
	return ID_SIZE;
}

size_t
kernel_build_id(const char *release, unsigned char *id, size_t max)
{
	struct utsname running;

	if (release != NULL && (uname(&running) != 0 ||
	                        strcmp(running.release, release) != 0))
		return 0;
	return kernel_symbols_read_build_id("/sys/kernel/notes", id, max);
}

/* The length of the name in "[name]". */
static int
name_length(const char *path)
{
	return (int)strlen(path) - 2;
}

/* The same for a loaded module, by its path "[name]". */
static size_t
kernel_module_build_id(const char *path, unsigned char *id, size_t max)
{
	char notes[NAME_MAX + 64];

	snprintf(notes, sizeof notes,
	         "/sys/module/%.*s/notes/.note.gnu.build-id",
	         name_length(path), path + 1);
	return kernel_symbols_read_build_id(notes, id, max);
}

static bool
is_running(const struct module_file *module)
{
	unsigned char id[ID_SIZE];
	size_t size = is_kernel_path(module->path) ?
	    kernel_build_id(NULL, id, sizeof id) :
	    kernel_module_build_id(module->path, id, sizeof id);

	return size > 0 && size == module->build_id_size &&
	    memcmp(id, module->build_id, size) == 0;
}

/* Returns the end of a hexadecimal number, which may wrap around. */
static const char *
kernel_symbols_take_number(const char *at, uint64_t *number)
{
	*number = 0;
	for (;; at++) {
		if (*at >= '0' && *at <= '9')
			*number = *number << 4 | (uint64_t)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			*number = *number << 4 | (uint64_t)(*at - 'a' + 10);
		else
			return at;
	}
}

/* "ffffffff81000000 T _text"; whether that is a symbol of code. */
static bool
kernel_symbols_read_line(const char *line, struct symbol *symbol)
{
	const char *end;

	*symbol = (struct symbol){ .limit = UINT64_MAX };
	end = kernel_symbols_take_number(line, &symbol->start);
	if (symbol->start == 0 || end[0] != ' ' || end[1] == '\0' ||
	    strchr("tTwW", end[1]) == NULL || end[2] != ' ')
		return false;
	symbol->is_local = end[1] == 't';
	symbol->name = end + 3;
	return true;
}

/* The address of _text; 0: unknown. */
static uint64_t
find_base(const char *line, const char *end)
{
	struct symbol symbol;

	for (; line < end; line += strlen(line) + 1)
		if (kernel_symbols_read_line(line, &symbol) &&
		    strcmp(symbol.name, "_text") == 0)
			return symbol.start;
	return 0;
}

/* Replaces the end of each line, and the first tab in it, by a NUL. */
static void
kernel_symbols_end_lines(char *text, size_t size)
{
	char *end = text + size, *stop;

	for (char *line = text; line < end; line = stop + 1) {
		char *tab;

		stop = memchr(line, '\n', (size_t)(end - line));
		if (stop == NULL)
			stop = end;
		else
			*stop = '\0';
		tab = memchr(line, '\t', (size_t)(stop - line));
		if (tab != NULL)
			*tab = '\0';
	}
}

/* base: where addresses count from; 0: from _text. */
static int
kernel_symbols_add_text(struct symbol_table *table, char *text, size_t size,
                        uint64_t base, struct error *error)
{
	const char *line, *end;
	int result = 0;

	kernel_symbols_end_lines(text, size);
	line = symbol_table_keep(table, text, size, error);
	if (line == NULL)
		return -1;
	end = line + size;
	if (base == 0)
		base = find_base(line, end);
	for (; base != 0 && result == 0 && line < end;
	     line += strlen(line) + 1) {
		struct symbol symbol;

		if (!kernel_symbols_read_line(line, &symbol))
			continue;
		symbol.start -= base;
		result = symbol_table_add(table, &symbol, error);
	}
	return result;
}

/* Adds the kernel's symbols. */
static int
kernel_symbols_add_file(struct symbol_table *table, FILE *file,
                        struct error *error)
{
	char *text = NULL;
	size_t size = 0, capacity = 0, n;
	int result;

	do {
		if (memory_grow(&text, &capacity, size + BLOCK, 1,
		                error) != 0) {
			free(text);
			return -1;
		}
		n = fread(text + size, 1, BLOCK, file);
		size += n;
	} while (n > 0 && size < TEXT_MAX);
	result = kernel_symbols_add_text(table, text, size, 0, error);
	free(text);
	return result;
}

/* Adds the lines of one module, with path "[name]", that was loaded at base. */
static int
add_lines_of_module(struct symbol_table *table, FILE *file, const char *path,
                    uint64_t base, struct error *error)
{
	char *text = NULL, *line = NULL;
	size_t size = 0, capacity = 0, line_capacity = 0;
	ssize_t n;
	int result = 0;

	while (result == 0 && size < TEXT_MAX &&
	       (n = getline(&line, &line_capacity, file)) > 0) {
		const char *tab = memchr(line, '\t', (size_t)n);

		if (tab == NULL || strncmp(tab + 1, path, strlen(path)) != 0)
			continue;
		result = memory_grow(&text, &capacity, size + (size_t)n, 1,
		                     error);
		if (result == 0)
			memcpy(text + size, line, (size_t)n);
		size += (size_t)n;
	}
	if (result == 0 && size > 0)
		result = kernel_symbols_add_text(table, text, size, base,
		                                 error);
	free(text);
	free(line);
	return result;
}

static FILE *
open_below(const char *root, const char *path)
{
	char *whole;
	FILE *file;

	if (asprintf(&whole, "%s%s", root, path) < 0)
		return NULL;
	file = fopen(whole, "re");
	free(whole);
	return file;
}

/*
 * Opens the file below the root of the search, or else this machine's.  *root:
 * the root of the file that was opened.
 */
static FILE *
open_symbols(const struct module_file *module, const char **root,
             enum module_file_state *state)
{
	FILE *file = NULL;

	*state = MODULE_FILE_OPEN;
	*root = module->search.root;
	if (*root != NULL)
		file = open_below(*root, "/proc/kallsyms");
	if (file != NULL)
		return file;
	if (!is_running(module)) {
		*state = MODULE_FILE_DIFFERS;
		return NULL;
	}
	*root = "";
	file = open_below(*root, "/proc/kallsyms");
	if (file == NULL)
		*state = MODULE_FILE_UNREADABLE;
	return file;
}

/*
 * Where the module of a path "[name]" was loaded, 0: unknown.  From a line such
 * as "ext4 1019904 1 - Live 0xffffffffc0a01000".
 */
static uint64_t
find_module_base(const char *root, const char *path)
{
	FILE *file = open_below(root, "/proc/modules");
	size_t n = (size_t)name_length(path), capacity = 0;
	char *line = NULL;
	uint64_t base = 0;

	while (base == 0 && file != NULL &&
	       getline(&line, &capacity, file) > 0) {
		const char *address = strstr(line, " 0x");

		if (strncmp(line, path + 1, n) == 0 && line[n] == ' ' &&
		    address != NULL)
			kernel_symbols_take_number(address + 3, &base);
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return base;
}

int
kernel_symbols_add(struct symbol_table *table,
                   const struct module_file *module,
                   enum module_file_state *state, struct error *error)
{
	const char *root;
	FILE *file = open_symbols(module, &root, state);
	int result = 0;

	if (file == NULL)
		return 0;
	if (is_kernel_path(module->path)) {
		result = kernel_symbols_add_file(table, file, error);
	} else {
		uint64_t base = find_module_base(root, module->path);

		if (base != 0)
			result = add_lines_of_module(table, file,
			    module->path, base, error);
	}
	fclose(file);
	return result;
}

uint64_t
kernel_base(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	struct symbol symbol = { 0 };
	char *line = NULL;
	size_t capacity = 0;
	uint64_t base = 0;

	while (base == 0 && file != NULL &&
	       getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0000000000000000 ", 17) == 0 &&
		    strstr(line, " _text") != NULL)
			break;
		if (kernel_symbols_read_line(line, &symbol) &&
		    strcmp(symbol.name, "_text") == 0)
			base = symbol.start;
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return base;
}

bool
kernel_module_next(struct kernel_module *module)
{
	char *line = NULL, name[NAME_MAX];
	size_t capacity = 0;
	bool found = false;

	if (module->file == NULL)
		module->file = fopen("/proc/modules", "re");
	while (!found && module->file != NULL &&
	       getline(&line, &capacity, module->file) > 0) {
		const char *address = strstr(line, " 0x");
		unsigned long size;

		if (address == NULL ||
		    sscanf(line, "%63s %lu", name, &size) != 2)
			continue;
		kernel_symbols_take_number(address + 3, &module->start);
		module->size = size;
		snprintf(module->path, sizeof module->path, "[%s]", name);
		found = module->start != 0 && module->size != 0 &&
		    is_kernel_module_path(module->path);
	}
	free(line);
	if (found)
		module->build_id_size = kernel_module_build_id(module->path,
		    module->build_id, sizeof module->build_id);
	else if (module->file != NULL)
		fclose(module->file);
	return found;
}
