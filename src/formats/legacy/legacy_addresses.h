/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy_addresses.h -- addresses of a text profile, and what it calls them.
 *
 * Each address becomes a location of a pprof profile, whose id is known at
 * once.  Addresses that the text does not name are looked up in the files of
 * its memory map.
 */
#ifndef CPPROF_FORMATS_LEGACY_ADDRESSES_H
#define CPPROF_FORMATS_LEGACY_ADDRESSES_H

#include "src/base/error.h"
#include "src/formats/memory_map.h"
#include "src/formats/line_text.h"
#include "src/formats/pprof/pprof_builder.h"

struct legacy_addresses;

/* Freed with legacy_addresses_free; NULL with *error set. */
struct legacy_addresses *legacy_addresses_new(struct error *error);
void legacy_addresses_free(struct legacy_addresses *addresses);

/* The location of an address, never 0; 0 with *error set. */
uint64_t legacy_addresses_add(struct legacy_addresses *addresses,
                              uint64_t address, struct error *error);

/*
 * Names one level of an address that was added: the function there, or an
 * inlined call; innermost first, the levels of an address one after the other.
 * The first names stay: an address that was named before the last
 * legacy_addresses_end_names keeps its names, and a level that repeats the
 * first one is the next activation of a recursion.  line: 0 unknown; file may
 * be empty.  0, or -1 with *error set.
 */
int legacy_addresses_name(struct legacy_addresses *addresses,
                          struct pprof_builder *builder, uint64_t address,
                          struct line_text name, struct line_text file,
                          uint64_t line, struct error *error);
void legacy_addresses_end_names(struct legacy_addresses *addresses);

/* Whether an address has a name. */
bool legacy_addresses_is_named(const struct legacy_addresses *addresses,
                               uint64_t address);

/*
 * Enters all locations and the map's mappings into the builder.  program: the
 * Enters all locations and the map's mappings into the builder.  program: the
 * whole path of the file of all addresses if the map is empty; may be NULL.
 * *n_unnamed: addresses that have neither a name nor a file.  0, or -1 with
 * *error set.
 */
int legacy_addresses_finish(struct legacy_addresses *addresses,
                            struct memory_map *map, const char *program,
                            struct pprof_builder *builder,
                            uint64_t *n_unnamed, struct error *error);

#endif
