/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_spaces.h -- what is mapped where in the processes that perf watched.
 *
 * Records of mappings, symbols, commands and forks change it as time passes;
 * samples are looked up in it as it is when their turn comes.
 */
#ifndef CPPROF_FORMATS_PERF_SPACES_H
#define CPPROF_FORMATS_PERF_SPACES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_records.h"
#include "src/formats/perf/perf_space.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

/* No space has this version. */
enum { PERF_NO_VERSION };

struct perf_spaces;

/*
 * modules as in struct read_options; both must outlive the result, which is
 * freed with perf_spaces_free.  NULL with *error set.
 */
struct perf_spaces *perf_spaces_new(struct profile *profile,
                                    struct module_cache *modules,
                                    struct error *error);
void perf_spaces_free(struct perf_spaces *spaces);

/*
 * Does what a record says if it is one of those; 0, or -1 with *error set to
 * what was expected, without file and offset.
 */
int perf_spaces_apply(struct perf_spaces *spaces,
                      const struct perf_record *record, struct error *error);

/* The space of a process, the spaces'; NULL with *error set. */
struct perf_space *perf_spaces_of(struct perf_spaces *spaces, uint32_t pid,
                                  struct error *error);

/*
 * An address of a mapping in its module, as module_symbols.h defines it; the
 * module is not NO_MODULE.
 */
uint64_t perf_spaces_address(struct perf_spaces *spaces, struct perf_map *map,
                             uint64_t address);

/*
 * The thread of the profile that a sample is of, under the name that it has by
 * now; entered if new.  UINT32_MAX with *error set.
 */
uint32_t perf_spaces_thread(struct perf_spaces *spaces, uint32_t pid,
                            uint32_t tid, struct error *error);

/* Whether anything was said of a process so far. */
bool perf_spaces_has(const struct perf_spaces *spaces, uint32_t pid);

/* What the kernel has loaded and made apart from itself; the spaces'. */
struct perf_space *perf_spaces_kernel_space(struct perf_spaces *spaces);

/*
 * The module that stands for the kernel; *base becomes where it was loaded,
 * from which its addresses count.  NO_MODULE: no record has said that yet, as
 * with `perf record --tail-synthesize`, or *error is set.
 */
uint32_t perf_spaces_kernel(struct perf_spaces *spaces, uint64_t *base,
                            struct error *error);

/* Whether mappings were left out because there were too many. */
bool perf_spaces_overflowed(const struct perf_spaces *spaces);

#endif
