/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_machine.c -- the processes that perf watched, and what they had mapped.
 *
 * A process or thread is added to the profile with its first sample, and again
 * when it changes its name: from then on it runs another program.
 *
 * A child shares its parent's space until one of them changes it.  Every map
 * that is made or copied counts towards MAPS_MAX, so that a file full of forks
 * cannot take memory out of proportion.
 */
#include "src/formats/perf/perf_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/formats/reader.h"
#include "src/symbols/elf/elf_file.h"

enum {
	MAPS_MAX = 1 << 22,
	PATH_SIZE = 128,	/* of a kernel module */
	BUILD_ID_SIZE = 20,
	NAME_SIZE = 64,		/* of a thread; the kernel's limit is 16 */
};

struct process_state {
	struct perf_space *space;	/* NULL: nothing is known of it */
	uint32_t pid, parent;
	uint32_t number;	/* in the profile, UINT32_MAX: not yet */
	bool continues;		/* after samples of another program */
	char program[NAME_SIZE];	/* of its last exec; empty: unknown */
};

struct machine_thread_state {
	uint32_t tid, pid;
	char name[NAME_SIZE];	/* empty: unknown */
	uint32_t number;	/* in the profile, UINT32_MAX: not yet */
};

/*
 * How far addresses in a module are from offsets in its file, for the part that
 * was mapped from `offset` on.  Most processes map a file in the same parts.
 */
struct machine_part {
	bool is_known;
	uint64_t offset, shift;
};

struct perf_machine {
	struct profile *profile;
	struct module_cache *cache;	/* may be NULL */

	struct id_table pids, tids;	/* their numbers index: */
	struct process_state *processes;
	struct machine_thread_state *threads;
	size_t n_processes, n_threads, processes_capacity, threads_capacity;

	struct names *files;		/* file i is module i of the profile */
	struct machine_part *parts; /* the last one of each module */
	size_t parts_capacity;

	struct perf_space kernel;	/* modules and code made at run time */
	uint64_t kernel_base;		/* address of _text; 0: unknown */
	uint32_t version;		/* of the space that changed last */
	size_t n_maps;			/* ever made */
	bool has_overflowed;
};

struct perf_machine *
perf_machine_new(struct profile *profile, struct module_cache *modules,
                 struct error *error)
{
	struct perf_machine *machine = memory_array(1, sizeof *machine, error);

	if (machine == NULL)
		return NULL;
	machine->profile = profile;
	machine->cache = modules;
	machine->files = names_new(error);
	machine->version = PERF_NO_VERSION + 1;
	machine->kernel.version = machine->version;
	if (machine->files == NULL) {
		free(machine);
		return NULL;
	}
	return machine;
}

static void
release_space(struct perf_space *space)
{
	if (space == NULL || --space->n_users > 0)
		return;
	free(space->maps);
	free(space);
}

void
perf_machine_free(struct perf_machine *machine)
{
	if (machine == NULL)
		return;
	for (size_t i = 0; i < machine->n_processes; i++)
		release_space(machine->processes[i].space);
	free(machine->kernel.maps);
	free(machine->processes);
	free(machine->threads);
	id_table_free(&machine->pids);
	id_table_free(&machine->tids);
	names_free(machine->files);
	free(machine->parts);
	free(machine);
}

bool
perf_machine_overflowed(const struct perf_machine *machine)
{
	return machine->has_overflowed;
}

/* ---- processes and threads ---- */

/* The process of a pid, valid until the next call; NULL with *error set. */
static struct process_state *
perf_machine_find_process(struct perf_machine *machine, uint32_t pid,
                          struct error *error)
{
	uint32_t number = id_table_add(&machine->pids, pid, error);

	if (number == NO_ID)
		return NULL;
	if (number == machine->n_processes) {
		if (memory_grow(&machine->processes,
		                &machine->processes_capacity,
		                machine->n_processes + 1,
		                sizeof *machine->processes, error) != 0)
			return NULL;
		machine->processes[machine->n_processes++] =
		    (struct process_state){ .pid = pid, .number = UINT32_MAX };
	}
	return &machine->processes[number];
}

/* Likewise a thread. */
static struct machine_thread_state *
perf_machine_find_thread(struct perf_machine *machine, uint32_t pid,
                         uint32_t tid, struct error *error)
{
	uint32_t number = id_table_add(&machine->tids,
	                               (uint64_t)pid << 32 | tid, error);

	if (number == NO_ID)
		return NULL;
	if (number == machine->n_threads) {
		if (memory_grow(&machine->threads, &machine->threads_capacity,
		                machine->n_threads + 1,
		                sizeof *machine->threads, error) != 0)
			return NULL;
		machine->threads[machine->n_threads++] =
		    (struct machine_thread_state){ .tid = tid, .pid = pid,
			.number = UINT32_MAX };
	}
	return &machine->threads[number];
}

/*
 * The name of a process's program: the one that it had when it was executed, or
 * its main thread's, or that of one of its threads.
 */
static const char *
program_name(const struct perf_machine *machine,
             const struct process_state *process,
             const struct machine_thread_state *thread)
{
	uint32_t number = id_table_find(&machine->tids,
	                                (uint64_t)process->pid << 32 |
	                                process->pid);

	if (process->program[0] != '\0')
		return process->program;
	return number != NO_ID && machine->threads[number].name[0] != '\0' ?
	       machine->threads[number].name : thread->name;
}

uint32_t
perf_machine_thread(struct perf_machine *machine, uint32_t pid, uint32_t tid,
                    struct error *error)
{
	struct machine_thread_state *state = perf_machine_find_thread(machine,
	                                                              pid, tid,
	                                                              error);
	struct process_state *owner;
	struct thread thread = { .tid = tid };

	if (state == NULL)
		return UINT32_MAX;
	if (state->number != UINT32_MAX)
		return state->number;
	if (state->name[0] == '\0' && tid == 0)	/* the idle processor */
		strcpy(state->name, "swapper");
	else if (state->name[0] == '\0')	/* perf's name for an unknown one */
		snprintf(state->name, sizeof state->name, ":%u", tid);
	owner = perf_machine_find_process(machine, pid, error);
	if (owner == NULL)
		return UINT32_MAX;
	if (owner->number == UINT32_MAX) {
		const struct process process = { .pid = pid,
			.program = program_name(machine, owner, state),
			.parent_pid = owner->parent,
			.continues = owner->continues };

		owner->number = profile_add_process(machine->profile, &process,
		                                    error);
		if (owner->number == UINT32_MAX)
			return UINT32_MAX;
	}
	thread.name = state->name;
	thread.process = owner->number;
	state->number = profile_add_thread(machine->profile, &thread, error);
	return state->number;
}

bool
perf_machine_has(const struct perf_machine *machine, uint32_t pid)
{
	return id_table_find(&machine->pids, pid) != NO_ID;
}

/* ---- modules ---- */

/* Whether perf uses this path for memory that is not a file's. */
static bool
is_no_file(const char *path)
{
	static const char *const beginnings[] = { "//anon", "[anon", "[heap]",
		"[stack", "/dev/zero", "/anon_hugepage", "/memfd:", "/SYSV",
		NULL };

	for (size_t i = 0; beginnings[i] != NULL; i++)
		if (strncmp(path, beginnings[i],
		            strlen(beginnings[i])) == 0)
			return true;
	return *path == '\0';
}

bool
perf_is_kernel_module(const char *path, char *place, size_t size)
{
	const char *name = strrchr(path, '/'), *end;

	name = name != NULL ? name + 1 : path;
	end = strstr(name, ".ko");
	if (path[0] == '[') {
		name = path + 1;
		end = strchr(name, ']');
		if (strncmp(path, "[kernel.", 8) == 0 ||
		    strncmp(path, "[guest.", 7) == 0)
			return false;
	} else if (end != NULL && end[3] != '\0' && end[3] != '.') {
		return false;
	}
	if (end == NULL || end == name || (size_t)(end - name) + 3 > size)
		return false;
	snprintf(place, size, "[%.*s]", (int)(end - name), name);
	for (char *at = place; *at != '\0'; at++)
		if (*at == '-')
			*at = '_';
	return is_kernel_module_path(place);
}

/*
 * The module of a file, by its path and build-id[id_size], added if new;
 * NO_MODULE with *error set.
 */
static uint32_t
perf_machine_find_module(struct perf_machine *machine, const char *path,
                         const unsigned char *id, size_t id_size,
                         struct error *error)
{
	uint32_t n = names_count(machine->files);
	uint32_t number = names_add_pair(machine->files, path, strlen(path),
	                                 id, id_size, error);

	if (number == NO_NAME)
		return NO_MODULE;
	if (number < n)
		return number;
	if (memory_grow(&machine->parts, &machine->parts_capacity,
	                (size_t)machine->profile->n_modules + 1,
	                sizeof *machine->parts, error) != 0)
		return NO_MODULE;
	machine->parts[machine->profile->n_modules].is_known = false;
	return profile_add_module(machine->profile, path, id,
	                          (uint32_t)id_size, error);
}

uint32_t
perf_machine_module(struct perf_machine *machine, const char *path,
                    struct error *error)
{
	return perf_machine_find_module(machine, path,
	                                (const unsigned char *)"", 0, error);
}

uint32_t
perf_machine_kernel(struct perf_machine *machine, uint64_t *base,
                    struct error *error)
{
	*base = machine->kernel_base;
	return *base == 0 ? NO_MODULE :
	    perf_machine_module(machine, KERNEL_PATH, error);
}

uint64_t
perf_machine_address(struct perf_machine *machine, struct perf_map *map,
                     uint64_t address)
{
	if (!map->has_bias) {
		const struct module *module =
		    &machine->profile->modules[map->module];
		struct machine_part *part = &machine->parts[map->module];
		uint64_t origin = map->offset - map->start;
		uint64_t offset = address + origin;

		if (!part->is_known || part->offset != map->offset)
			*part = (struct machine_part){ true, map->offset,
				module_cache_address(machine->cache,
				    module->path, module->build_id,
				    module->build_id_size, offset) - offset };
		map->has_bias = true;
		map->bias = origin + part->shift;
	}
	return address + map->bias;
}

/* ---- spaces ---- */

struct perf_space *
perf_machine_kernel_space(struct perf_machine *machine)
{
	return &machine->kernel;
}

/* The first mapping that ends after an address. */
static size_t
first_after(const struct perf_space *space, uint64_t address)
{
	return partition_point(space->n, i, space->maps[i].end <= address);
}

struct perf_map *
perf_space_find(const struct perf_space *space, uint64_t address)
{
	size_t i = first_after(space, address);

	return i < space->n && space->maps[i].start <= address ?
	    &space->maps[i] : NULL;
}

static struct perf_space *
new_space(struct perf_machine *machine, struct error *error)
{
	struct perf_space *space = memory_array(1, sizeof *space, error);

	if (space == NULL)
		return NULL;
	space->n_users = 1;
	space->version = ++machine->version;
	return space;
}

struct perf_space *
perf_machine_space(struct perf_machine *machine, uint32_t pid,
                   struct error *error)
{
	struct process_state *process = perf_machine_find_process(machine, pid,
	                                                          error);

	if (process == NULL)
		return NULL;
	if (process->space == NULL)
		process->space = new_space(machine, error);
	return process->space;
}

/* The process's space, to be changed: a copy of its own if it was shared. */
static struct perf_space *
unshare_space(struct perf_machine *machine, uint32_t pid, struct error *error)
{
	struct perf_space *shared = perf_machine_space(machine, pid, error);
	struct perf_space *own;

	if (shared == NULL || shared->n_users == 1)
		return shared;
	own = new_space(machine, error);
	if (own == NULL)
		return NULL;
	machine->n_maps += shared->n;
	if (machine->n_maps > MAPS_MAX)
		machine->has_overflowed = true;
	else if (memory_grow(&own->maps, &own->capacity, shared->n,
	                     sizeof *own->maps, error) == 0)
		own->n = shared->n;
	if (own->n > 0)
		memcpy(own->maps, shared->maps, own->n * sizeof *own->maps);
	release_space(shared);
	perf_machine_find_process(machine, pid, error)->space = own;
	return own;
}

/* Adds a mapping, which replaces what it overlaps. */
static int
insert_map(struct perf_machine *machine, struct perf_space *space,
           const struct perf_map *map, struct error *error)
{
	struct perf_map by[3];	/* the map, and what it leaves of two others */
	size_t i, n = 0, n_by = 0;	/* by[n_by] replaces n maps from i on */

	if (++machine->n_maps > MAPS_MAX) {
		machine->has_overflowed = true;
		return 0;
	}
	space->version = ++machine->version;
	if (memory_grow(&space->maps, &space->capacity, space->n + 2,
	                sizeof *space->maps, error) != 0)
		return -1;
	i = first_after(space, map->start);
	if (i < space->n && space->maps[i].start < map->start) {
		by[n_by] = space->maps[i];
		by[n_by++].end = map->start;
	}
	by[n_by++] = *map;
	while (i + n < space->n && space->maps[i + n].end <= map->end)
		n++;
	if (i + n < space->n && space->maps[i + n].start < map->end) {
		struct perf_map *last = &by[n_by++];

		*last = space->maps[i + n++];
		last->offset += map->end - last->start;
		last->start = map->end;
	}
	memmove(space->maps + i + n_by, space->maps + i + n,
	        (space->n - i - n) * sizeof *space->maps);
	memcpy(space->maps + i, by, n_by * sizeof *by);
	space->n = space->n - n + n_by;
	return 0;
}

/* ---- records ---- */

/* The rest of a record as text, which must end inside the record. */
static const char *
perf_machine_take_text(struct bytes *in)
{
	const char *text = (const char *)in->data + in->offset;
	size_t left = in->size - in->offset;

	if (memchr(text, '\0', left) == NULL)
		in->failed = true;
	return bytes_failed(in) ? "" : text;
}

static int
apply_map(struct perf_machine *machine, const struct perf_record *record,
          struct error *error)
{
	uint16_t mode = record->misc & PERF_MODE_MASK;
	/* Guests have processes of their own, by the number of the machine. */
	bool is_guest = mode == PERF_MODE_GUEST_KERNEL ||
	                mode == PERF_MODE_GUEST_USER;
	struct perf_map map = { .module = NO_MODULE, .name = NO_NAME };
	const unsigned char *id = (const unsigned char *)"";
	struct bytes in = bytes_of(record->bytes, record->size);
	struct perf_space *space;
	const char *path;
	size_t id_size = 0;
	uint32_t pid;

	bytes_take(&in, PERF_HEADER_SIZE);
	pid = (uint32_t)bytes_number(&in, 4);
	bytes_take(&in, 4);
	map.start = bytes_number(&in, 8);
	map.end = map.start + bytes_number(&in, 8);
	map.offset = bytes_number(&in, 8);
	if (record->type == PERF_MMAP2 &&
	    (record->misc & PERF_MISC_MMAP_BUILD_ID) != 0) {
		id_size = bytes_number(&in, 4) & 0xff;
		id = bytes_take(&in, BUILD_ID_SIZE);
		bytes_take(&in, 8);
	} else if (record->type == PERF_MMAP2) {
		bytes_take(&in, 32);
	}
	path = perf_machine_take_text(&in);
	if (bytes_failed(&in) || id_size > BUILD_ID_SIZE)
		return error_set(error, "expected a mapping");
	if (pid == UINT32_MAX && !is_guest) {
		char place[PATH_SIZE];

		/*
		 * The kernel, whose offset is where its text begins, or one of
		 * its modules.
		 */
		if (strncmp(path, "[kernel.kallsyms]", 17) == 0) {
			machine->kernel_base = map.offset;
			machine->kernel.version = ++machine->version;
		}
		if (!perf_is_kernel_module(path, place, sizeof place) ||
		    map.end <= map.start)
			return 0;
		map.offset = 0;
		map.module = perf_machine_find_module(machine, place, id,
		                                      id_size, error);
		return map.module != NO_MODULE ?
		    insert_map(machine, &machine->kernel, &map, error) : -1;
	}
	if ((record->misc & PERF_MISC_MMAP_DATA) != 0 ||
	    map.end <= map.start || is_guest)
		return 0;		/* not code of a process here */
	if (!is_no_file(path)) {
		map.module = perf_machine_find_module(machine, path, id,
		                                      id_size, error);
		if (map.module == NO_MODULE)
			return -1;
	}
	space = unshare_space(machine, pid, error);
	return space != NULL ? insert_map(machine, space, &map, error) : -1;
}

/*
 * Code that the kernel has made, such as programs of BPF, or has removed:
 * { header, address, size, type, flags, name }.
 */
static int
apply_kernel_symbol(struct perf_machine *machine,
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
	name = perf_machine_take_text(&in);
	if (bytes_failed(&in))
		return error_set(error, "expected a symbol of the kernel");
	if (map.end <= map.start)
		return 0;
	if ((flags & PERF_KSYMBOL_UNREGISTER) == 0) {
		map.name = names_add(machine->profile->names, name,
		                     strlen(name), error);
		if (map.name == NO_NAME)
			return -1;
	}
	return insert_map(machine, &machine->kernel, &map, error);
}

/* A thread has a name, perhaps because its process runs another program now. */
static int
apply_command(struct perf_machine *machine, const struct perf_record *record,
              struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	struct process_state *process;
	struct machine_thread_state *thread;
	struct perf_space *space;
	uint32_t pid, tid;
	const char *name;

	bytes_take(&in, PERF_HEADER_SIZE);
	pid = (uint32_t)bytes_number(&in, 4);
	tid = (uint32_t)bytes_number(&in, 4);
	name = perf_machine_take_text(&in);
	if (bytes_failed(&in))
		return error_set(error, "expected a command");
	thread = perf_machine_find_thread(machine, pid, tid, error);
	if (thread == NULL)
		return -1;
	if (strncmp(thread->name, name, sizeof thread->name - 1) != 0)
		thread->number = UINT32_MAX;
	snprintf(thread->name, sizeof thread->name, "%s", name);
	if ((record->misc & PERF_MISC_COMM_EXEC) == 0)
		return 0;
	/* Another program counts as another process. */
	thread->number = UINT32_MAX;
	space = unshare_space(machine, pid, error);
	if (space == NULL)
		return -1;
	process = perf_machine_find_process(machine, pid, error);
	process->continues = process->number != UINT32_MAX;
	process->number = UINT32_MAX;
	snprintf(process->program, sizeof process->program, "%s", name);
	space->n = 0;
	space->version = ++machine->version;
	return 0;
}

/* A process begins with its parent's mappings, a thread with its name. */
static int
apply_fork(struct perf_machine *machine, const struct perf_record *record,
           struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	uint32_t pid, parent_pid, tid, parent_tid;
	struct machine_thread_state *thread;
	char name[NAME_SIZE];

	bytes_take(&in, PERF_HEADER_SIZE);
	pid = (uint32_t)bytes_number(&in, 4);
	parent_pid = (uint32_t)bytes_number(&in, 4);
	tid = (uint32_t)bytes_number(&in, 4);
	parent_tid = (uint32_t)bytes_number(&in, 4);
	if (bytes_failed(&in))
		return error_set(error, "expected a fork");
	if (pid != parent_pid) {
		struct perf_space *space = perf_machine_space(machine,
		    parent_pid, error);
		struct process_state *child = perf_machine_find_process(
		    machine, pid, error), *parent;

		if (space == NULL || child == NULL)
			return -1;
		parent = perf_machine_find_process(machine, parent_pid, error);
		memcpy(child->program, parent->program, sizeof child->program);
		space->n_users++;
		release_space(child->space);
		child->space = space;
		child->parent = parent_pid;
		/* The pid may have been another process's. */
		child->number = UINT32_MAX;
		child->continues = false;
	}
	thread = perf_machine_find_thread(machine, parent_pid, parent_tid,
	                                  error);
	if (thread == NULL)
		return -1;
	memcpy(name, thread->name, sizeof name);
	thread = perf_machine_find_thread(machine, pid, tid, error);
	if (thread == NULL)
		return -1;
	memcpy(thread->name, name, sizeof name);
	thread->number = UINT32_MAX;
	return 0;
}

int
perf_machine_apply(struct perf_machine *machine,
                   const struct perf_record *record, struct error *error)
{
	switch (record->type) {
	case PERF_MMAP:
	case PERF_MMAP2:
		return apply_map(machine, record, error);
	case PERF_KSYMBOL:
		return apply_kernel_symbol(machine, record, error);
	case PERF_COMM:
		return apply_command(machine, record, error);
	case PERF_FORK:
		return apply_fork(machine, record, error);
	default:
		return 0;
	}
}
