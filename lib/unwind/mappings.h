/* SPDX-License-Identifier: MIT */
/* mappings.h -- code that the program itself has mapped from files.
 *
 * The loader does not know it.  node, for example, maps the functions of V8 a
 * second time from its own file, near the code that it compiles; and programs
 * have loaders of their own.
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_UNWIND_MAPPINGS_H
#define CPPROF_UNWIND_MAPPINGS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPINGS_MAX_BUILD_ID 32

/* A file that is mapped but that the loader has not loaded.  Never changes. */
struct mapped_file {
	char path[4096];
	uint64_t size, mtime_ns, inode;
	unsigned char build_id[MAPPINGS_MAX_BUILD_ID];
	size_t build_id_size;		/* 0: none */
};

/*
 * Executable memory, [start, end).  `object` is what the loader says of the
 * same code: address + to_object is the address of the same instruction there.
 * If the loader has not loaded the file, `object` has only its unwind tables
 * (a copy; NULL: none), and address + to_file is the address in the ELF file.
 */
struct mapping {
	uint64_t start, end;
	uint64_t to_object;
	struct dl_find_object object;
	const struct mapped_file *file;	/* NULL: loaded by the loader */
	uint64_t to_file;
};

/*
 * Finds the mapping of a file that contains an address unknown to the loader.
 * False if there is none: code that was made at run time.  Reads the process's
 * list of mappings now and then, for at most about one percent of the time.
 */
bool mappings_find(uint64_t address, struct mapping *mapping);

/*
 * As _dl_find_object, but also finds such mappings.  Then *shift is what to add
 * to the address for the object's tables, otherwise 0.
 */
bool mappings_find_object(uint64_t address, struct dl_find_object *object,
    uint64_t *shift);

#endif
