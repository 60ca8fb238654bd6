/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_spaces.c -- what is mapped where in the processes that perf watched.
 *
 * A child shares its parent's space until one of them changes it.  All maps
 * that were ever copied are counted, so that a file of forks cannot take
 * memory out of proportion.
 */
#include "src/formats/perf/perf_spaces.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/perf/perf_modules.h"
#include "src/formats/perf/perf_tasks.h"
#include "src/symbols/elf/kernel_symbols.h"

enum {
	MAPS_MAX = 1 << 22,
	PATH_SIZE = 128,	/* of a module of the kernel */
	BUILD_ID_SIZE = 20,
};

struct perf_spaces {
	struct perf_tasks tasks;
	struct perf_modules modules;
	uint64_t kernel_base;		/* address of _text; 0: unknown */
	struct perf_space kernel;	/* modules and code made at run time */
	uint32_t version;
	size_t n_maps;			/* ever made */
	bool has_overflowed;
};

struct perf_spaces *
perf_spaces_new(struct profile *profile, struct module_cache *modules,
                struct error *error)
{
	struct perf_spaces *spaces = memory_array(1, sizeof *spaces, error);

	if (spaces == NULL)
		return NULL;
	spaces->tasks.profile = profile;
	spaces->modules = (struct perf_modules){ .profile = profile,
		.cache = modules, .files = names_new(error) };
	spaces->version = PERF_NO_VERSION + 1;
	spaces->kernel.version = spaces->version;
	if (spaces->modules.files == NULL) {
		free(spaces);
		return NULL;
	}
	return spaces;
}

static void
let_go(struct perf_space *space)
{
	if (space == NULL || --space->n_users > 0)
		return;
	free(space->maps);
	free(space);
}

void
perf_spaces_free(struct perf_spaces *spaces)
{
	if (spaces == NULL)
		return;
	for (size_t i = 0; i < spaces->tasks.n_processes; i++)
		let_go(spaces->tasks.processes[i].space);
	free(spaces->kernel.maps);
	perf_tasks_free(&spaces->tasks);
	perf_modules_free(&spaces->modules);
	free(spaces);
}

bool
perf_spaces_overflowed(const struct perf_spaces *spaces)
{
	return spaces->has_overflowed;
}

/* ---- spaces ---- */

static struct perf_space *
new_space(struct perf_spaces *spaces, struct error *error)
{
	struct perf_space *space = memory_array(1, sizeof *space, error);

	if (space == NULL)
		return NULL;
	space->n_users = 1;
	space->version = ++spaces->version;
	return space;
}

struct perf_space *
perf_spaces_of(struct perf_spaces *spaces, uint32_t pid, struct error *error)
{
	struct perf_process *process = perf_tasks_process(&spaces->tasks, pid,
	                                                  error);

	if (process == NULL)
		return NULL;
	if (process->space == NULL)
		process->space = new_space(spaces, error);
	return process->space;
}

/* The process's space for it alone. */
static struct perf_space *
own_space(struct perf_spaces *spaces, uint32_t pid, struct error *error)
{
	struct perf_space *shared = perf_spaces_of(spaces, pid, error), *own;

	if (shared == NULL || shared->n_users == 1)
		return shared;
	own = new_space(spaces, error);
	if (own == NULL)
		return NULL;
	spaces->n_maps += shared->n;
	if (spaces->n_maps > MAPS_MAX)
		spaces->has_overflowed = true;
	else if (memory_grow(&own->maps, &own->capacity, shared->n,
	                     sizeof *own->maps, error) == 0)
		own->n = shared->n;
	if (own->n > 0)
		memcpy(own->maps, shared->maps, own->n * sizeof *own->maps);
	let_go(shared);
	perf_tasks_process(&spaces->tasks, pid, error)->space = own;
	return own;
}

/* A new mapping takes the place of what was there. */
static int
insert_map(struct perf_spaces *spaces, struct perf_space *space,
           const struct perf_map *map, struct error *error)
{
	if (++spaces->n_maps > MAPS_MAX) {
		spaces->has_overflowed = true;
		return 0;
	}
	space->version = ++spaces->version;
	return perf_space_insert(space, map, error);
}

uint32_t
perf_spaces_thread(struct perf_spaces *spaces, uint32_t pid, uint32_t tid,
                   struct error *error)
{
	return perf_tasks_thread(&spaces->tasks, pid, tid, error);
}

bool
perf_spaces_has(const struct perf_spaces *spaces, uint32_t pid)
{
	return id_table_find(&spaces->tasks.pids, pid) != NO_ID;
}

struct perf_space *
perf_spaces_kernel_space(struct perf_spaces *spaces)
{
	return &spaces->kernel;
}

uint32_t
perf_spaces_kernel(struct perf_spaces *spaces, uint64_t *base,
                   struct error *error)
{
	*base = spaces->kernel_base;
	if (*base == 0)
		return NO_MODULE;
	return perf_modules_find(&spaces->modules, KERNEL_PATH,
	                         (const unsigned char *)"", 0, error);
}

uint64_t
perf_spaces_address(struct perf_spaces *spaces, struct perf_map *map,
                    uint64_t address)
{
	return perf_modules_address(&spaces->modules, map, address);
}

/* ---- records ---- */

/* The rest of a record as text, which ends in it. */
static const char *
take_text(struct bytes *in)
{
	const char *text = (const char *)in->data + in->offset;
	size_t left = in->size - in->offset;

	if (memchr(text, '\0', left) == NULL)
		in->failed = true;
	return bytes_failed(in) ? "" : text;
}

/* What a record of a mapping says. */
struct mapping {
	struct perf_map map;
	uint32_t pid;
	const unsigned char *id;
	size_t id_size;
	const char *path;
};

static int
read_mapping(const struct perf_record *record, struct mapping *mapping,
             struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	struct perf_map *map = &mapping->map;

	*mapping = (struct mapping){ .map.module = NO_MODULE,
		.map.name = NO_NAME, .id = (const unsigned char *)"" };
	bytes_take(&in, PERF_HEADER_SIZE);
	mapping->pid = (uint32_t)bytes_number(&in, 4);
	bytes_take(&in, 4);
	map->start = bytes_number(&in, 8);
	map->end = map->start + bytes_number(&in, 8);
	map->offset = bytes_number(&in, 8);
	if (record->type == PERF_MMAP2 &&
	    (record->misc & PERF_MISC_MMAP_BUILD_ID) != 0) {
		mapping->id_size = bytes_number(&in, 4) & 0xff;
		mapping->id = bytes_take(&in, BUILD_ID_SIZE);
		bytes_take(&in, 8);
	} else if (record->type == PERF_MMAP2) {
		bytes_take(&in, 32);
	}
	mapping->path = take_text(&in);
	if (bytes_failed(&in) || mapping->id_size > BUILD_ID_SIZE)
		return error_set(error, "expected a mapping");
	return 0;
}

/* Guests have processes of their own, by the number of the machine. */
static bool
is_guest(const struct perf_record *record)
{
	uint16_t mode = record->misc & PERF_MODE_MASK;

	return mode == PERF_MODE_GUEST_KERNEL || mode == PERF_MODE_GUEST_USER;
}

/* The kernel, its offset being where the text begins, or one of its modules. */
static int
apply_kernel_map(struct perf_spaces *spaces, struct mapping *mapping,
                 struct error *error)
{
	char path[PATH_SIZE];

	if (strncmp(mapping->path, "[kernel.kallsyms]", 17) == 0) {
		spaces->kernel_base = mapping->map.offset;
		spaces->kernel.version = ++spaces->version;
	}
	if (!perf_modules_of_kernel(mapping->path, path, sizeof path) ||
	    mapping->map.end <= mapping->map.start)
		return 0;
	mapping->map.offset = 0;
	mapping->map.module = perf_modules_find(&spaces->modules, path,
	    mapping->id, mapping->id_size, error);
	return mapping->map.module != NO_MODULE ?
	    insert_map(spaces, &spaces->kernel, &mapping->map, error) : -1;
}

/*
 * Code that the kernel has made, such as programs of BPF, or has removed:
 * { header, address, size, type, flags, name }.
 */
static int
apply_kernel_symbol(struct perf_spaces *spaces,
                    const struct perf_record *record, struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	struct perf_map map = { .module = NO_MODULE, .name = NO_NAME };
	const char *name;
	uint64_t flags;

	bytes_take(&in, PERF_HEADER_SIZE);
	map.start = bytes_number(&in, 8);
	map.end = map.start + bytes_number(&in, 4);
	bytes_take(&in, 2);
	flags = bytes_number(&in, 2);
	name = take_text(&in);
	if (bytes_failed(&in))
		return error_set(error, "expected a symbol of the kernel");
	if (map.end <= map.start)
		return 0;
	if ((flags & PERF_KSYMBOL_UNREGISTER) == 0) {
		map.name = names_add(spaces->modules.profile->names, name,
		                     strlen(name), error);
		if (map.name == NO_NAME)
			return -1;
	}
	return insert_map(spaces, &spaces->kernel, &map, error);
}

static int
apply_map(struct perf_spaces *spaces, const struct perf_record *record,
          struct error *error)
{
	struct mapping mapping;
	struct perf_space *space;

	if (read_mapping(record, &mapping, error) != 0)
		return -1;
	if (mapping.pid == UINT32_MAX && !is_guest(record))
		return apply_kernel_map(spaces, &mapping, error);
	if ((record->misc & PERF_MISC_MMAP_DATA) != 0 ||
	    mapping.map.end <= mapping.map.start || is_guest(record))
		return 0;		/* no code of a process here */
	if (!perf_modules_is_no_file(mapping.path)) {
		mapping.map.module = perf_modules_find(&spaces->modules,
		    mapping.path, mapping.id, mapping.id_size, error);
		if (mapping.map.module == NO_MODULE)
			return -1;
	}
	space = own_space(spaces, mapping.pid, error);
	return space != NULL ? insert_map(spaces, space, &mapping.map,
	                                  error) : -1;
}

/* A task has a name, perhaps because its process runs another program now. */
static int
apply_command(struct perf_spaces *spaces, const struct perf_record *record,
              struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	uint32_t pid, tid;
	struct perf_space *space;
	const char *name;

	bytes_take(&in, PERF_HEADER_SIZE);
	pid = (uint32_t)bytes_number(&in, 4);
	tid = (uint32_t)bytes_number(&in, 4);
	name = take_text(&in);
	if (bytes_failed(&in))
		return error_set(error, "expected a command");
	if (perf_tasks_rename(&spaces->tasks, pid, tid, name, error) != 0)
		return -1;
	if ((record->misc & PERF_MISC_COMM_EXEC) == 0)
		return 0;
	space = own_space(spaces, pid, error);
	if (space == NULL)
		return -1;
	space->n = 0;
	space->version = ++spaces->version;
	return 0;
}

/* The child process begins with what its parent has mapped. */
static int
share_space(struct perf_spaces *spaces, uint32_t pid, uint32_t parent,
            struct error *error)
{
	struct perf_space *space = perf_spaces_of(spaces, parent, error);
	struct perf_process *child = perf_tasks_process(&spaces->tasks, pid,
	                                                error);

	if (space == NULL || child == NULL)
		return -1;
	space->n_users++;
	let_go(child->space);
	child->space = space;
	child->parent = parent;
	child->number = UINT32_MAX;	/* even if the pid was another's */
	return 0;
}

static int
apply_fork(struct perf_spaces *spaces, const struct perf_record *record,
           struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	uint32_t pid, parent_pid, tid, parent_tid;

	bytes_take(&in, PERF_HEADER_SIZE);
	pid = (uint32_t)bytes_number(&in, 4);
	parent_pid = (uint32_t)bytes_number(&in, 4);
	tid = (uint32_t)bytes_number(&in, 4);
	parent_tid = (uint32_t)bytes_number(&in, 4);
	if (bytes_failed(&in))
		return error_set(error, "expected a fork");
	if (pid != parent_pid &&
	    share_space(spaces, pid, parent_pid, error) != 0)
		return -1;
	return perf_tasks_fork(&spaces->tasks, pid, tid, parent_pid,
	                       parent_tid, error);
}

int
perf_spaces_apply(struct perf_spaces *spaces,
                  const struct perf_record *record, struct error *error)
{
	switch (record->type) {
	case PERF_MMAP:
	case PERF_MMAP2:
		return apply_map(spaces, record, error);
	case PERF_KSYMBOL:
		return apply_kernel_symbol(spaces, record, error);
	case PERF_COMM:
		return apply_command(spaces, record, error);
	case PERF_FORK:
		return apply_fork(spaces, record, error);
	default:
		return 0;
	}
}
