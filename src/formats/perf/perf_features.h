/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_features.h -- what perf recorded about events, files and the machine.
 *
 * A file has it in sections after the records, a pipe in records.
 */
#ifndef CPPROF_FORMATS_PERF_FEATURES_H
#define CPPROF_FORMATS_PERF_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_records.h"
#include "src/profile/profile.h"

/* Start with `{ 0 }`. */
struct perf_features {
	struct perf_build_id {
		char *path;
		unsigned char id[20];
		uint32_t size;
	} *build_ids;
	size_t n_build_ids, build_ids_capacity;
	char *host, *release, *command;	/* NULL: unknown */
};

void perf_features_free(struct perf_features *features);

/*
 * Each takes what it knows and ignores the rest.  0, or -1 with *error set to
 * what was expected.
 */
int perf_features_record(struct perf_features *features,
                         struct perf_events *events,
                         const struct perf_record *record,
                         struct error *error);
int perf_features_section(struct perf_features *features,
                          struct perf_events *events, uint64_t feature,
                          const unsigned char *bytes, size_t size,
                          struct error *error);

/*
 * Gives the modules that have no build-id the one that belongs to their path,
 * and the processes their host and command.  0, or -1 with *error set.
 */
int perf_features_apply(struct perf_features *features,
                        struct profile *profile, struct error *error);

#endif
