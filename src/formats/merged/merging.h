/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merging.h -- from inputs to the file of a merged profile.
 *
 * One input after the other is read, added and freed, so that memory holds the
 * sum and one input.
 */
#ifndef CPPROF_FORMATS_MERGING_H
#define CPPROF_FORMATS_MERGING_H

#include <stddef.h>

#include "src/base/error.h"
#include "src/base/writer.h"
#include "src/formats/format.h"
#include "src/profile/fleet.h"

struct merging;

/*
 * options: borrowed; should have a cache of modules.  key: what counts are kept
 * by, see fleet.h, borrowed; NULL: nothing.  Freed with merging_free; NULL
 * with *error set.
 */
struct merging *merging_new(const struct read_options *options,
                            const char *key, struct error *error);
void merging_free(struct merging *merging);

/* What became of an input. */
enum merged_input {
	MERGED_FAILED = -1,	/* *error says why; the sum is of no more use */
	MERGED_ADDED,
	MERGED_CUT_SHORT,	/* added as far as it goes, with a warning */
	MERGED_SKIPPED,		/* *error says why; the sum is as before */
};

/*
 * Reads an input, and calls warn for each warning.  NULL with *error set and
 * *result saying what became of it.
 */
struct profile *merging_load(const char *path,
                             const struct read_options *options,
                             void (*warn)(void *context, const char *text),
                             void *context, enum merged_input *result,
                             struct error *error);

/*
 * Adds what load_profiles reads at the path, with all its members if it is a
 * merged profile.  id: who it is; NULL: its content.  Calls warn for each
 * warning.
 */
enum merged_input merging_add(struct merging *merging, const char *path,
                              const char *id,
                              void (*warn)(void *context, const char *text),
                              void *context, struct error *error);

/* Inputs that are not in the sum, or only in part. */
struct merging_lack {
	uint64_t n_skipped, n_cut;
};

/*
 * 0 if all n inputs are wholly in the sum; else -1, with *error set to what
 * lacks in the output of that name.
 */
int merging_check_whole(const struct merging_lack *lack, size_t n,
                        const char *output, struct error *error);

/*
 * Adds what merging_write wrote as a merged profile.  name: who wrote it, for
 * messages.
 */
int merging_add_written(struct merging *merging, const char *name,
                        const void *bytes, size_t size, struct error *error);

/*
 * How many members merging_add added without counts by a key: profiles, if
 * there is no key, and the members of merged profiles that have none.
 */
uint64_t merging_without_key(const struct merging *merging);

/*
 * What the counts by the sum's key lack: *note is set to a line about members
 * that have none, n_without_key of all, or if there is no value at all.  0, or
 * -1 with *error set if a key was asked for, and all members are without.
 */
int merging_check_key(const struct merging *merging, uint64_t n_without_key,
                      struct error *note, struct error *error);

/*
 * From now on inputs that are in the sum already are skipped: their identities,
 * or those of their members, are values of the key "id" there.
 */
void merging_skip_known(struct merging *merging);

/* The sum so far; still the merging's. */
const struct fleet *merging_fleet(const struct merging *merging);

/*
 * The exporter that the name of a file asks for: "pprof" for .pb.gz and .pprof,
 * else NULL.
 */
const char *merging_exporter_of(const char *path);

/*
 * Writes the sum; afterwards nothing can be added.  exporter: the name of one
 * in exporters.def; NULL: the format of merged profiles.  0, or -1 with *error
 * set, or unset where the writer failed.
 */
int merging_write(struct merging *merging, const char *exporter,
                  struct writer *writer, struct error *error);

/*
 * Reads a file that merging_write wrote as a merged profile, as one resource
 * whose parts are its members (fleet_make_runs).  NULL with *error set.
 */
struct profile *merged_read_runs(const char *path, const char *resource,
                                 struct error *error);

#endif
