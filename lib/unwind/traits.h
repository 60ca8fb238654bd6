/* SPDX-License-Identifier: MIT */
/* traits.h -- what the code of a load module does with return addresses.
 *
 * Most code leaves them alone, but the loader, unwinders and some runtimes do
 * not.  A module is examined once, when its code is first seen.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.  The
 * module must not be unloaded meanwhile.
 */
#ifndef CPPROF_TRAITS_H
#define CPPROF_TRAITS_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#define TRAIT_READS_RETURN 1u	/* reads its own return address */
#define TRAIT_UNWINDS 2u	/* reads the return addresses of all frames */

/*
 * The traits of the code at an address, which lies in `object`.
 */
unsigned traits_find(uint64_t address, const struct dl_find_object *object);

/*
 * Whether the code from `start` to `end` is where functions that makecontext
 * starts return to.  It goes on to the next context or ends the program, so its
 * frame is outermost, although the C library's unwind tables do not say so.
 */
bool traits_ends_context(uint64_t start, uint64_t end);

/*
 * The program headers of a module, and in *n their number; it may be 0.
 */
const ElfW(Phdr) *traits_headers(const struct dl_find_object *object,
    size_t *n);

/*
 * Whether an address lies in an executable segment of a module.
 */
bool traits_is_code(uint64_t address);

/*
 * Whether a module seen so far forbids trampolines in the whole process: it has
 * a hidden unwinder of its own, or walks the stack, for example to collect
 * garbage.
 */
bool traits_forbid_trampoline(void);

/*
 * Forgets the traits of all modules.  To be called after modules were unloaded,
 * since others may take over their link maps' addresses.
 */
void traits_new_epoch(void);

/*
 * Examines all modules that were loaded with the program.  Before the first
 * sample.
 */
void traits_begin(void);

/*
 * Whether a loaded module runs Go.  Most of Go's code runs on stacks too small
 * for a signal, and makes system calls without the C library.  From the
 * constructor.
 */
bool traits_have_go(void);

/* Whether the program itself is of Go, with C.  From the constructor. */
bool traits_program_is_go(void);

/* Whether the module at an address, which has called this library, runs Go. */
bool traits_is_go(const void *address);

/*
 * The first module seen so far that has a CPython interpreter; NULL: none.  A
 * module is seen before the walk of a stack leaves its first frame there.
 */
const struct link_map *traits_python(void);

/* The address of its _PyRuntime; not defined unless traits_python is not NULL. */
void *traits_python_runtime(void);

/*
 * Likewise whether greenlet was seen, the library that runs Python code on stacks
 * which it copies away and back; and whether an address lies in it.
 */
bool traits_have_greenlet(void);
bool traits_is_greenlet(uint64_t address);

/*
 * The address of a symbol that a module defines, NULL if it does not.  Takes no
 * lock.
 */
void *traits_symbol(const struct link_map *map, const char *name);

/* ---- section.c ---- */

/*
 * Where the program has a section of data that is at least so long; NULL: nowhere.
 * Reads the program's file, so from the constructor.
 */
void *traits_section(const struct link_map *program, const char *name,
    size_t size);

#endif
