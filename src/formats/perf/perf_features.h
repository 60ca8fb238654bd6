/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_features.h -- what perf says about events, files and the machine.
 *
 * In a file it stands in sections behind the data, in a pipe in records.
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
	char *host, *release, *command;	/* NULL: not told */
};

void perf_features_free(struct perf_features *features);

/*
 * Each takes what is known of it and passes over the rest; 0, or -1 with
 * *error set to what was expected.
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
 * Gives modules without a build-id the one that is known of their path, and
 * processes their host; 0 or -1.
 */
int perf_features_apply(struct perf_features *features,
                        struct profile *profile, struct error *error);

#endif
