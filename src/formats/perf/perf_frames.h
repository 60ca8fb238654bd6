/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_frames.h -- frames of the addresses in perf's samples. */
#ifndef CPPROF_FORMATS_PERF_FRAMES_H
#define CPPROF_FORMATS_PERF_FRAMES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_spaces.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

struct perf_frames;

/* As perf_spaces_new; freed with perf_frames_free. */
struct perf_frames *perf_frames_new(struct profile *profile,
                                    struct perf_spaces *spaces,
                                    struct module_cache *modules,
                                    struct error *error);
void perf_frames_free(struct perf_frames *frames);

/*
 * The frame of an address of a process, whose space this is: in a file, by the
 * map that a runtime wrote for code it made, or "[unknown]".  Expected O(1).
 * UINT32_MAX with *error set.
 */
uint32_t perf_frames_user(struct perf_frames *frames, uint32_t pid,
                          struct perf_space *space, uint64_t address,
                          struct error *error);

/* Likewise of the kernel. */
uint32_t perf_frames_kernel(struct perf_frames *frames, uint64_t address,
                            struct error *error);

/* The frame that has no more than a name. */
uint32_t perf_frames_name(struct perf_frames *frames, const char *name,
                          struct error *error);

/*
 * Enters all frames into the profile, once the build-ids of its modules are
 * known; 0, or -1 with *error set.
 */
int perf_frames_finish(struct perf_frames *frames, struct error *error);

#endif
