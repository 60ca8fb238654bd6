/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_frames.h -- a profile's frames from program addresses.
 *
 * A reader enters every address it meets and gets the number of its frame;
 * when all are known, each distinct one is looked up once, one module after
 * the other, and the frames are entered into the profile.
 */
#ifndef CPPROF_SYMBOLS_NAMES_ADDRESS_FRAMES_H
#define CPPROF_SYMBOLS_NAMES_ADDRESS_FRAMES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"
#include "src/symbols/names/jit_map.h"
#include "src/symbols/names/kept_names.h"
#include "src/symbols/names/module_cache.h"

struct address_frames;

/* An empty set, freed with address_frames_free; NULL with *error set. */
struct address_frames *address_frames_new(struct error *error);
void address_frames_free(struct address_frames *frames);

/*
 * The frame of an address: inside the ELF file of a module of the profile, as
 * module_symbols.h defines it (of a caller, the return address less one), or
 * with NO_MODULE an address of the process.  Expected O(1).  UINT32_MAX with
 * *error set for want of memory.
 */
uint32_t address_frames_add(struct address_frames *frames, uint32_t module,
                            uint64_t address, struct error *error);

/* The frame that is a bare name in the profile's names; likewise. */
uint32_t address_frames_add_name(struct address_frames *frames, uint32_t name,
                                 struct error *error);

/*
 * Says what a recording keeps of their names, which is used before modules'
 * files are looked at, and what it keeps of their lines; NULL: nothing.  It
 * must live until address_frames_finish.
 */
void address_frames_use(struct address_frames *frames,
                        const struct kept_names *kept);

/*
 * Says that addresses in no module are code that one process made at run time,
 * named "[jit]" where neither what is kept of it (may be NULL) nor its map (may
 * be NULL) has a name.  Both must live likewise.
 */
void address_frames_use_jit(struct address_frames *frames,
                            const struct kept_range *kept,
                            const struct jit_map *jit);

/*
 * Enters all frames, under the numbers that they have, into a profile that has
 * none yet, with one location each: the symbol's demangled name; outside of
 * every symbol "module+0xoffset", the offset being where the function starts if
 * the module's unwind tables know it, and else the address itself; without a
 * module "0xaddress", or what address_frames_use_jit says.  Of a module in
 * brackets, "[kernel]", that has no symbols the name is the module's, and so
 * "[module]" of one whose file is another build.
 *
 * A module whose file is missing, unreadable or another build gets a warning
 * in the profile, a few of them one by one, the rest as a count, unless an
 * earlier profile had it from the same cache.  modules: where symbols are
 * read, or NULL for a cache of this call's own.  0, or -1 with *error set for
 * want of memory or when interrupted.
 */
int address_frames_finish(struct address_frames *frames,
                          struct profile *profile,
                          struct module_cache *modules, struct error *error);

#endif
