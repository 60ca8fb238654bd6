/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_machine.h -- the processes that perf watched, and what they had mapped.
 *
 * Records of mappings, kernel symbols, commands and forks change the machine as
 * time passes; a sample is looked up in it as it is when the sample's turn
 * comes.
 */
#ifndef CPPROF_FORMATS_PERF_MACHINE_H
#define CPPROF_FORMATS_PERF_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_records.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

/* Mapped code: bytes [start, end) are a file's from `offset` on. */
struct perf_map {
	uint64_t start, end, offset;
	uint32_t module;	/* NO_MODULE: code made at run time */
	uint32_t name;		/* in the kernel: the name of that code;
				 * NO_NAME: it was removed again */
	bool has_bias;
	uint64_t bias;		/* from addresses here to the module's own */
};

/* The address space of a process, shared with children until one changes it. */
struct perf_space {
	struct perf_map *maps;	/* [n] by address, without overlaps */
	size_t n, capacity;
	uint32_t n_users;
	uint32_t version;	/* changes with the space; no two spaces ever
				 * have the same */
};

/* No space has this version. */
enum { PERF_NO_VERSION };

struct perf_machine;

/*
 * modules: as in struct read_options.  It and the profile must outlive the
 * result, which perf_machine_free frees.  NULL with *error set.
 */
struct perf_machine *perf_machine_new(struct profile *profile,
                                      struct module_cache *modules,
                                      struct error *error);
void perf_machine_free(struct perf_machine *machine);

/*
 * Applies a record that changes the machine; ignores any other.  0, or -1 with
 * *error set to what was expected, without file and offset.
 */
int perf_machine_apply(struct perf_machine *machine,
                       const struct perf_record *record, struct error *error);

/* The space of a process, owned by the machine; NULL with *error set. */
struct perf_space *perf_machine_space(struct perf_machine *machine,
                                      uint32_t pid, struct error *error);

/* The kernel's modules and the code that it made at run time. */
struct perf_space *perf_machine_kernel_space(struct perf_machine *machine);

/* The mapping at an address, or NULL; valid until the space changes. */
struct perf_map *perf_space_find(const struct perf_space *space,
                                 uint64_t address);

/*
 * From an address in a mapping of a module to the module's own address, as
 * module_symbols.h defines it.
 */
uint64_t perf_machine_address(struct perf_machine *machine,
                              struct perf_map *map, uint64_t address);

/*
 * The module that stands for the kernel.  *base: where the kernel was loaded,
 * which is where its addresses count from.  NO_MODULE if no record has given
 * that so far (as with `perf record --tail-synthesize`), or with *error set.
 */
uint32_t perf_machine_kernel(struct perf_machine *machine, uint64_t *base,
                             struct error *error);

/*
 * The thread of the profile that a sample belongs to, under its current name;
 * added if new.  UINT32_MAX with *error set.
 */
uint32_t perf_machine_thread(struct perf_machine *machine, uint32_t pid,
                             uint32_t tid, struct error *error);

/* Whether any record has mentioned this process. */
bool perf_machine_has(const struct perf_machine *machine, uint32_t pid);

/* Whether mappings were left out because there were too many. */
bool perf_machine_overflowed(const struct perf_machine *machine);

/*
 * Whether perf's path is that of a loaded module of the kernel, "[ext4]" or
 * ".../ext4.ko.xz".  If so, writes our name for it, "[ext4]", to place[size].
 * Source: linux 6.12, tools/perf/util/dso.c, __kmod_path__parse.
 */
bool perf_is_kernel_module(const char *path, char *place, size_t size);

#endif
