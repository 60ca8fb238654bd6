/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c -- an executable as gprof sees it: functions, and calls in them. */
#include "src/symbols/names/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/symbols/elf/elf_file.h"

bool
program_is_one(const char *path)
{
	unsigned char magic[4];
	struct stat status;
	bool is_one;
	int descriptor;

	/* A pipe's writer would notice that it is opened and closed again. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return false;
	is_one = read(descriptor, magic, 4) == 4 &&
	    memcmp(magic, "\177ELF", 4) == 0;
	close(descriptor);
	return is_one;
}

void
program_free(struct program *program)
{
	if (program == NULL)
		return;
	program_functions_free(&program->functions);
	static_calls_free(&program->calls);
	free(program);
}

struct program *
program_read(const char *path, const struct symbol_search *search,
             struct names *names, struct error *error)
{
	struct program *program = memory_array(1, sizeof *program, error);
	struct elf_file file;
	int result = -1;

	if (program == NULL)
		return NULL;
	if (elf_file_open(&file, path) != ELF_FILE_OPEN) {
		error_set(error, "%s: cannot be read as a program", path);
		program_free(program);
		return NULL;
	}
	program->pointer_size = gelf_getclass(file.elf) == ELFCLASS32 ? 4 : 8;
	if (program_functions_read(&program->functions, &file, path, search,
	                           names, error) == 0)
		result = static_calls_find(&program->calls,
		                           &program->functions, &file, error);
	elf_file_close(&file);
	if (result == 0)
		return program;
	program_free(program);
	return NULL;
}
