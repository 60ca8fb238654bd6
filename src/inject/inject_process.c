/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inject_process.c -- what is mapped in a process, and its memory.
 *
 * Files are opened through /proc/PID/root, since a process in a container has
 * its own.
 */
#include "src/inject/inject.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "src/base/memory.h"
#include "src/symbols/elf/elf_file.h"

static void
inject_process_clear(struct inject_process *process)
{
	for (size_t i = 0; i < process->n; i++)
		free(process->mappings[i].path);
	process->n = 0;
}

static int
inject_process_add(struct inject_process *process, const char *line,
                   struct error *error)
{
	struct inject_mapping mapping = { 0 };
	char rights[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
	           " %*s %" SCNu64 " %n", &mapping.start, &mapping.end, rights,
	           &mapping.offset, &mapping.inode, &at) < 5)
		return 0;
	mapping.is_code = rights[2] == 'x';
	if (memory_grow(&process->mappings, &process->capacity, process->n + 1,
	                sizeof *process->mappings, error) != 0)
		return -1;
	mapping.path = strndup(line + at, strcspn(line + at, "\n"));
	if (mapping.path == NULL)
		return error_out_of_memory(error);
	process->mappings[process->n++] = mapping;
	return 0;
}

int
inject_process_read(struct inject_process *process, struct error *error)
{
	char name[64], *line = NULL;
	size_t capacity = 0;
	int result = 0;
	FILE *file;

	inject_process_clear(process);
	snprintf(process->root, sizeof process->root, "/proc/%ld/root",
	         (long)process->pid);
	snprintf(name, sizeof name, "/proc/%ld/maps", (long)process->pid);
	file = fopen(name, "re");
	if (file == NULL && errno != ENOENT && errno != ESRCH)
		return error_set(error, "process %ld may not be traced: %s: "
		                 "%s; leave --inside out, to sample it from "
		                 "outside", (long)process->pid, name,
		                 strerror(errno));
	while (result == 0 && file != NULL &&
	       getline(&line, &capacity, file) > 0)
		result = inject_process_add(process, line, error);
	free(line);
	if (file != NULL)
		fclose(file);
	if (result == 0 && process->n == 0)
		return error_set(error, "process %ld has ended",
		                 (long)process->pid);
	return result;
}

void
inject_process_free(struct inject_process *process)
{
	inject_process_clear(process);
	free(process->mappings);
}

const struct inject_mapping *
inject_process_find(const struct inject_process *process, uint64_t address)
{
	size_t low = 0, high = process->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct inject_mapping *mapping =
		    &process->mappings[middle];

		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

bool
inject_mapping_is(const struct inject_mapping *mapping, const char *beginning)
{
	const char *slash = strrchr(mapping->path, '/');

	return slash != NULL &&
	    strncmp(slash + 1, beginning, strlen(beginning)) == 0;
}

const struct inject_mapping *
inject_process_module(const struct inject_process *process,
                      const char *beginning)
{
	for (size_t i = 0; i < process->n; i++)
		if (inject_mapping_is(&process->mappings[i], beginning))
			return &process->mappings[i];
	return NULL;
}

static bool
inject_process_open(const struct inject_process *process,
                    const struct inject_mapping *mapping,
                    struct elf_file *file)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s%s", process->root, mapping->path);
	if (elf_file_open(file, path) == ELF_FILE_OPEN)
		return true;
	/* A file that was replaced or removed since. */
	snprintf(path, sizeof path, "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64,
	         (long)process->pid, mapping->start, mapping->end);
	return elf_file_open(file, path) == ELF_FILE_OPEN;
}

/* What is added to addresses of the file: its first mapping is its start. */
static uint64_t
inject_process_bias(const struct inject_process *process,
                    const struct inject_mapping *mapping)
{
	for (size_t i = 0; i < process->n; i++)
		if (process->mappings[i].inode == mapping->inode &&
		    strcmp(process->mappings[i].path, mapping->path) == 0)
			return process->mappings[i].start -
			    process->mappings[i].offset;
	return mapping->start - mapping->offset;
}

uint64_t
inject_process_symbol(const struct inject_process *process,
                      const struct inject_mapping *mapping, const char *name)
{
	uint64_t address = 0, size;
	struct elf_file file;

	if (!inject_process_open(process, mapping, &file))
		return 0;
	if (elf_symbols_lookup(&file, SHT_DYNSYM, name, &address, &size))
		address += inject_process_bias(process, mapping);
	else
		address = 0;
	elf_file_close(&file);
	return address;
}

void
inject_process_function(const struct inject_process *process,
                        uint64_t address, char *name, size_t size)
{
	const struct inject_mapping *mapping =
	    inject_process_find(process, address);
	struct error error = { 0 };
	struct symbol_table *table;
	const struct symbol *symbol;
	struct elf_file file;

	*name = '\0';
	if (mapping == NULL || !inject_process_open(process, mapping, &file))
		return;
	table = symbol_table_new(&error);
	if (table != NULL &&
	    elf_symbols_add(table, &file, SHT_DYNSYM, &error) == 0 &&
	    symbol_table_sort(table, &error) == 0) {
		symbol = symbol_table_find(table, address -
		    inject_process_bias(process, mapping));
		if (symbol != NULL)
			snprintf(name, size, "%s", symbol->name);
	}
	symbol_table_free(table);
	elf_file_close(&file);
}

bool
inject_read(pid_t pid, uint64_t from, void *to, size_t size)
{
	const struct iovec local = { to, size };
	const struct iovec remote = { (void *)(uintptr_t)from, size };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) ==
	    (ssize_t)size;
}

bool
inject_write(pid_t pid, uint64_t to, const void *from, size_t size)
{
	const struct iovec local = { (void *)(uintptr_t)from, size };
	const struct iovec remote = { (void *)(uintptr_t)to, size };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) ==
	    (ssize_t)size;
}
