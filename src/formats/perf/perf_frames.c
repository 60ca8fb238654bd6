/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_frames.c -- frames of the addresses in perf's samples.
 *
 * The same few thousand addresses come again and again: a table of the last
 * frame of each hash of address and space answers most questions.
 */
#include "src/formats/perf/perf_frames.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/id_table.h"
#include "src/symbols/names/address_frames.h"
#include "src/symbols/names/jit_map.h"
#include "src/symbols/elf/kernel_symbols.h"

enum { RECENT_BITS = 15 };

struct perf_frames {
	struct profile *profile;
	struct perf_spaces *spaces;
	struct module_cache *modules;
	struct address_frames *addresses;
	uint32_t kernel;		/* a module, NO_MODULE until it is
					 * known where it was loaded */
	uint64_t kernel_base;
	struct id_table pids;		/* numbers index: */
	struct jit_map **maps;
	size_t n_maps, maps_capacity;
	struct recent {
		uint64_t address;
		uint32_t version;	/* of the space; PERF_NO_VERSION */
		uint32_t frame;
	} recent[1 << RECENT_BITS];
};

struct perf_frames *
perf_frames_new(struct profile *profile, struct perf_spaces *spaces,
                struct module_cache *modules, struct error *error)
{
	struct perf_frames *frames = memory_array(1, sizeof *frames, error);

	if (frames == NULL)
		return NULL;
	frames->profile = profile;
	frames->spaces = spaces;
	frames->modules = modules;
	frames->kernel = NO_MODULE;
	frames->addresses = address_frames_new(error);
	if (frames->addresses == NULL) {
		free(frames);
		return NULL;
	}
	return frames;
}

void
perf_frames_free(struct perf_frames *frames)
{
	if (frames == NULL)
		return;
	for (size_t i = 0; i < frames->n_maps; i++)
		jit_map_free(frames->maps[i]);
	free(frames->maps);
	id_table_free(&frames->pids);
	address_frames_free(frames->addresses);
	free(frames);
}

uint32_t
perf_frames_name(struct perf_frames *frames, const char *name,
                 struct error *error)
{
	uint32_t number = names_add(frames->profile->names, name,
	                            strlen(name), error);

	return number == NO_NAME ? UINT32_MAX :
	    address_frames_add_name(frames->addresses, number, error);
}

/* What a process wrote of its code; NULL with *error set. */
static struct jit_map *
find_jit_map(struct perf_frames *frames, uint32_t pid, struct error *error)
{
	struct symbol_search search = module_cache_search(frames->modules);
	uint32_t number = id_table_add(&frames->pids, pid, error);

	if (number == NO_ID)
		return NULL;
	if (number == frames->n_maps) {
		if (memory_grow(&frames->maps, &frames->maps_capacity,
		                frames->n_maps + 1, sizeof(struct jit_map *),
		                error) != 0)
			return NULL;
		frames->maps[frames->n_maps++] = NULL;
	}
	if (frames->maps[number] == NULL)
		frames->maps[number] = jit_map_new(&search, pid, error);
	return frames->maps[number];
}

static uint32_t
look_up(struct perf_frames *frames, uint32_t pid,
        const struct perf_space *space, uint64_t address,
        struct error *error)
{
	struct perf_map *map = perf_space_find(space, address);
	const struct jit_map *jit;
	const char *name = NULL;

	if (map != NULL && map->module != NO_MODULE)
		return address_frames_add(frames->addresses, map->module,
		    perf_spaces_address(frames->spaces, map, address), error);
	if (map != NULL) {
		jit = find_jit_map(frames, pid, error);
		if (jit == NULL)
			return UINT32_MAX;
		name = jit_map_find(jit, address);
	}
	return perf_frames_name(frames, name != NULL ? name : "[unknown]",
	                        error);
}

/* Where the frame of an address was put, if it was. */
static struct recent *
recent_of(struct perf_frames *frames, uint64_t address, uint32_t version)
{
	uint64_t hash = (address ^ (uint64_t)version << 40) *
	                0x9e3779b97f4a7c15;

	return &frames->recent[hash >> (64 - RECENT_BITS)];
}

uint32_t
perf_frames_user(struct perf_frames *frames, uint32_t pid,
                 struct perf_space *space, uint64_t address,
                 struct error *error)
{
	struct recent *recent = recent_of(frames, address, space->version);

	if (recent->address == address && recent->version == space->version)
		return recent->frame;
	*recent = (struct recent){ address, space->version,
		look_up(frames, pid, space, address, error) };
	return recent->frame;
}

static uint32_t
look_up_kernel(struct perf_frames *frames, const struct perf_space *space,
               uint64_t address, struct error *error)
{
	const struct perf_map *map = perf_space_find(space, address);

	if (map != NULL && map->module != NO_MODULE)
		return address_frames_add(frames->addresses, map->module,
		    address - map->start + map->offset, error);
	if (map != NULL && map->name != NO_NAME)
		return address_frames_add_name(frames->addresses, map->name,
		                               error);
	if (frames->kernel == NO_MODULE)
		frames->kernel = perf_spaces_kernel(frames->spaces,
		    &frames->kernel_base, error);
	if (frames->kernel == NO_MODULE)
		return error->is_set ? UINT32_MAX :
		       perf_frames_name(frames, KERNEL_PATH, error);
	return address_frames_add(frames->addresses, frames->kernel,
	                          address - frames->kernel_base, error);
}

uint32_t
perf_frames_kernel(struct perf_frames *frames, uint64_t address,
                   struct error *error)
{
	const struct perf_space *space = perf_spaces_kernel_space(
	    frames->spaces);
	struct recent *recent = recent_of(frames, address, space->version);

	if (recent->address == address && recent->version == space->version)
		return recent->frame;
	*recent = (struct recent){ address, space->version,
		look_up_kernel(frames, space, address, error) };
	return recent->frame;
}

/* One line for all processes. */
static int
warn_of_maps(struct perf_frames *frames, struct error *error)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < frames->n_maps; i++) {
		const char *problem = frames->maps[i] == NULL ? NULL :
		    jit_map_problem(frames->maps[i]);

		if (problem != NULL && n++ == 0)
			first = problem;
	}
	if (n == 0)
		return 0;
	if (n == 1)
		return profile_warn(frames->profile, error, "code made at run "
		    "time may lack names: %s", first);
	return profile_warn(frames->profile, error, "code made at run time "
	    "may lack names: %s, and likewise %zu more", first, n - 1);
}

int
perf_frames_finish(struct perf_frames *frames, struct error *error)
{
	if (warn_of_maps(frames, error) != 0)
		return -1;
	return address_frames_finish(frames->addresses, frames->profile,
	                             frames->modules, error);
}
