/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_interpreters.c -- which processes have an interpreter of Python.
 *
 * An interpreter is found by the symbols of a module that a process has mapped.
 * What a module has is remembered by its number, since most processes have the
 * same modules; the mappings of a process are searched only when they have
 * changed.
 */
#include "src/sample/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/task.h"

/* Whether a module has an interpreter. */
struct interpreter_module {
	bool is_known, has_python;
	struct sample_python_symbols symbols;
};

struct sample_interpreters {
	struct sample_space space;
	struct sample_python *python;
	struct interpreter_module *modules;	/* [n_modules] by number */
	size_t modules_capacity, n_modules;
};

struct sample_interpreters *
sample_interpreters_new(const struct sample_space *space,
                        struct sample_python *python, struct error *error)
{
	struct sample_interpreters *interpreters = memory_array(1,
	    sizeof *interpreters, error);

	if (interpreters == NULL)
		return NULL;
	interpreters->space = *space;
	interpreters->python = python;
	return interpreters;
}

void
sample_interpreters_free(struct sample_interpreters *interpreters)
{
	if (interpreters == NULL)
		return;
	for (size_t i = 0; i < interpreters->n_modules; i++)
		free(interpreters->modules[i].symbols.index);
	free(interpreters->modules);
	free(interpreters);
}

/* The symbols of a module's interpreter; NULL: it has none. */
static const struct sample_python_symbols *
interpreter_symbols(struct sample_interpreters *interpreters, uint32_t number,
                    struct error *error)
{
	const struct sample_space *space = &interpreters->space;
	struct module_file own = module_file_of(
	    &space->profile->modules[number],
	    module_cache_search(space->modules));
	struct interpreter_module *known;
	struct elf_file file;

	if (memory_grow(&interpreters->modules,
	                &interpreters->modules_capacity, (size_t)number + 1,
	                sizeof *known, error) != 0)
		return NULL;
	while (interpreters->n_modules <= number)
		interpreters->modules[interpreters->n_modules++] =
		    (struct interpreter_module){ 0 };
	known = &interpreters->modules[number];
	if (!known->is_known &&
	    module_file_open(&own, &file) == MODULE_FILE_OPEN) {
		known->has_python = sample_python_symbols(&file,
		    &known->symbols, error) > 0;
		elf_file_close(&file);
	}
	known->is_known = true;
	return known->has_python ? &known->symbols : NULL;
}

/* name: of a file, or NULL. */
static bool
is_called_python(const char *name)
{
	return name != NULL && strstr(name, "python") != NULL;
}

/* Whether a module may have an interpreter: a program, or a library of one. */
static bool
interpreter_is_possible(const char *path)
{
	const char *name = strrchr(path, '/');

	if (name == NULL || path[0] != '/')
		return false;
	return is_called_python(name) || strstr(name, ".so") == NULL;
}

int
sample_interpreters_look(struct sample_interpreters *interpreters,
                         uint32_t pid, uint32_t *version,
                         struct sample_python_process **process,
                         bool *is_refused, struct error *error)
{
	const struct sample_space *whole = &interpreters->space;
	const struct perf_space *space = perf_machine_space(whole->machine,
	                                                    pid, error);

	*process = NULL;
	if (space == NULL)
		return -1;
	if (*version == space->version)
		return 0;
	*version = space->version;
	for (size_t i = 0; *process == NULL && i < space->n; i++) {
		struct perf_map *map = &space->maps[i];
		const struct sample_python_symbols *symbols;
		bool is_this_refused = false;

		if (map->module == NO_MODULE || !interpreter_is_possible(
		        whole->profile->modules[map->module].path))
			continue;
		symbols = interpreter_symbols(interpreters, map->module,
		                              error);
		if (symbols != NULL && !error->is_set)
			*process = sample_python_add(interpreters->python, pid,
			    symbols, map->start - perf_machine_address(
			        whole->machine, map, map->start),
			    &is_this_refused, error);
		if (error->is_set)
			return -1;
		*is_refused |= is_this_refused;
	}
	return 0;
}

bool
sample_interpreters_expect(pid_t pid)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/maps",
	         (long)task_of_process(pid));
	file = fopen(path, "re");
	while (file != NULL && !found &&
	       getline(&line, &capacity, file) > 0)
		found = is_called_python(strrchr(line, '/'));
	if (file != NULL)
		fclose(file);
	free(line);
	return found;
}
