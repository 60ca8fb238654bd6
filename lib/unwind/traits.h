/* SPDX-License-Identifier: MIT */
/* traits.h -- what a load module's code does with return addresses.
 *
 * Most code leaves them alone; the loader, unwinders and some runtimes do
 * not.  A module is looked at once, when code of it is first met.
 */
#ifndef CPPROF_TRAITS_H
#define CPPROF_TRAITS_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAIT_READS_RETURN 1u	/* a function that looks at its own */
#define TRAIT_UNWINDS 2u	/* reads everyone's */

/*
 * Traits of the code at an address, which lies in that object.
 * Async-signal-safe, any thread.
 */
unsigned traits_find(uint64_t address, const struct dl_find_object *object);

/*
 * Whether code lies at an address, in a segment that may be executed.
 * Async-signal-safe, any thread.
 */
bool traits_is_code(uint64_t address);

/*
 * Whether some module met so far forbids trampolines in the whole process:
 * it has an unwinder of its own that no one can see, or walks the stack to
 * collect garbage.  Async-signal-safe, any thread.
 */
bool traits_forbid_trampoline(void);

/* After modules were unloaded: others may be taken for them.  Any thread. */
void traits_new_epoch(void);

/*
 * Meets all modules that were loaded with the program.  Before the first
 * sample; async-signal-safe.
 */
void traits_begin(void);

/*
 * Whether a module that is loaded now runs Go: most of its code is on stacks
 * too small for a signal, and makes system calls itself.  From the
 * constructor.
 */
bool traits_have_go(void);

/* Whether the module at an address, which calls us, does.  Any thread. */
bool traits_is_go(const void *address);

/*
 * The address of a symbol that a module defines, NULL if it does not.  Takes
 * no lock: the module must not be unloaded meanwhile.  Async-signal-safe.
 */
void *traits_symbol(const struct link_map *map, const char *name);

#endif
