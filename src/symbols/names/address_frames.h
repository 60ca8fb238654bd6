/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_frames.h -- makes a profile's frames from program addresses.
 *
 * A reader adds every address it reads and gets the number of its frame.  At
 * the end each distinct address is looked up once, module by module, and the
 * frames are added to the profile.
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
 * The number of the frame of an address: in a module of the profile, as
 * module_symbols.h defines it (of a caller: the return address minus 1); or
 * with NO_MODULE, in the process.  Expected O(1).  UINT32_MAX with *error set
 * for want of memory.
 */
uint32_t address_frames_add(struct address_frames *frames, uint32_t module,
                            uint64_t address, struct error *error);

/* Likewise the frame that has only a name, one of the profile's names. */
uint32_t address_frames_add_name(struct address_frames *frames, uint32_t name,
                                 struct error *error);

/*
 * Uses the names that a recording keeps, before the modules' files are
 * searched, and the lines that it keeps; NULL: none.  They must live until
 * address_frames_finish.
 */
void address_frames_use(struct address_frames *frames,
                        const struct kept_names *kept);

/*
 * From now on, addresses in no module are code that a single process made at
 * run time.  Its names come from the kept names or from the map, either of
 * which may be NULL; without a name the code is "[jit]".  Both must live as
 * long.
 */
void address_frames_use_jit(struct address_frames *frames,
                            const struct kept_range *kept,
                            const struct jit_map *jit);

/*
 * Adds all frames under their numbers to a profile that has none yet.  A frame
 * has one location, whose function is
 * - the symbol's demangled name;
 * - outside of every symbol "module+0xoffset": the start of the function if the
 *   module's unwind tables have it, else the address itself;
 * - in a module without symbols that is in brackets, "[kernel]", its path;
 * - in a module whose file is another build, "[module]";
 * - without a module "0xaddress", or see address_frames_use_jit.
 *
 * Warns in the profile of modules whose file is missing, unreadable or another
 * build: of a few one by one, of the rest with their number; but not if an
 * earlier profile got the module from the same cache.  modules: reads the
 * symbols; NULL: a cache for this call only.  0, or -1 with *error set for want
 * of memory or after Ctrl-C.
 */
int address_frames_finish(struct address_frames *frames,
                          struct profile *profile,
                          struct module_cache *modules, struct error *error);

#endif
