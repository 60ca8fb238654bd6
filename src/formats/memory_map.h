/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_map.h -- what was mapped where, as profiles of gperftools end with it.
 *
 * Lines of /proc/PID/maps, or shorter ones:
 *
 *	00400000-00fcb000 r-xp 00000000 fe:00 123    /path
 *	00400000-00fcb000: /path (@1000) BUILDID
 *	build=/home/me
 *
 * In lines after the last one, "$build" means /home/me.  A line may have the
 * prefix of a log, and a path " (deleted)" behind it.  Other lines, and mappings
 * that hold no code, are skipped.
 * Source: google/pprof, profile/legacy_profile.go, parseProcMapsFromScanner and
 * remapMappingIDs.
 */
#ifndef CPPROF_FORMATS_MEMORY_MAP_H
#define CPPROF_FORMATS_MEMORY_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct memory_mapping {
	uint64_t start, limit, offset;
	const char *path, *build_id;	/* "" unknown */
};

struct memory_map;

/* An empty one, freed with memory_map_free; NULL with *error set. */
struct memory_map *memory_map_new(struct error *error);
void memory_map_free(struct memory_map *map);

/* Enters a line, without its end; 0, or -1 with *error set. */
int memory_map_add_line(struct memory_map *map, const char *line,
                        size_t length, struct error *error);

/*
 * All *n mappings, in order of address; no line may be added after the first
 * call.  They belong to the map.
 */
const struct memory_mapping *memory_map_all(struct memory_map *map,
                                            size_t *n);

/* Which of these has the address; SIZE_MAX: none.  After memory_map_all. */
size_t memory_map_find(const struct memory_map *map, uint64_t address);

#endif
