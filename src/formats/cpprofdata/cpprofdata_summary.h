/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_summary.h -- the size of a recording, without resolving symbols.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_SUMMARY_H
#define CPPROF_FORMATS_CPPROFDATA_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"

/* Longer names are cut. */
struct cpprofdata_summary_source {
	char resource[24];
	char source[64];
	uint64_t n_files;	/* that have it from this source */
};

struct cpprofdata_summary_resource {
	char name[24];
	uint64_t n_samples;
	uint64_t hits;		/* in stacks */
	uint64_t lost;		/* hits that are in none, unless the process
				 * still runs and may sample them */
};

struct cpprofdata_summary {
	uint64_t n_processes;	/* each program that a process executed
				 * counts */
	uint64_t n_files;	/* of these, those with a file of their own */
	uint64_t n_briefs;	/* and those with a record in the brief file */
	uint64_t n_samples;	/* of all resources together */
	/* Each once, in the files' order; the first that fit. */
	struct cpprofdata_summary_resource resources[CPPROFDATA_MAX_RESOURCES];
	size_t n_resources;
	uint64_t n_lost;	/* samples lost because there was no room */
	uint64_t n_running;	/* files whose process has not ended */
	uint64_t n_by_ticks;	/* files with CPPROFDATA_CLOCK_GIVEN_UP */
	/* The sources of resources, each once; the first that fit. */
	struct cpprofdata_summary_source
	    sources[2 * CPPROFDATA_MAX_RESOURCES];
	size_t n_sources;
};

/*
 * Adds one of the collector's files to *summary.  O(bytes), without symbols.
 * 0, or -1 with *error set.
 */
int cpprofdata_summarise(const char *path, struct cpprofdata_summary *summary,
                         struct error *error);

#endif
