/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exporter.h -- writing a profile in another format.
 *
 * A row of exporters.def names a format, the ending of its files, and its
 * function. The outputs that pack bytes are writers as well
 * (src/base/writer.h).
 */
#ifndef CPPROF_FORMATS_EXPORTER_H
#define CPPROF_FORMATS_EXPORTER_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/profile/profile.h"

/* ---- exporter.c ---- */

/*
 * One row for each file format that profiles are written in.
 *
 * A new one is a file export_<row>.c and a line in exporters.def: the command
 * and its completion read the table.
 */

/*
 * What is written, borrowed.  Formats of names write the named stacks; formats
 * of addresses write the profile's frames, and no names but functions'.
 */
struct export_source {
	const struct profile *profile;
	const struct sample_tree *named;	/* its stacks as views name
						 * them; labels are names;
						 * NULL: it has a graph */
	enum inlines inlines;	/* which locations of a frame count */
	uint32_t resource;	/* the current one */
	bool has_groups;	/* of members (profile/fleet.h), which no
				 * format here holds */
	const char *symfs;	/* a directory with another machine's files, or
				 * NULL */
	struct text_buffer *remark;	/* for what an exporter has to say of
					 * the file, in one line; empty at
					 * first */
};

/* What a profile may have and a format may not hold. */
enum export_content {
	EXPORT_RESOURCES = 1 << 0,	/* more than the current one; and, with
					 * it, EXPORT_NAMES */
	EXPORT_UNITS = 1 << 1,		/* gticks and intervals */
	EXPORT_SAMPLES = 1 << 2,	/* raw samples, of one resource */
	EXPORT_SAMPLES_EACH = 1 << 3,	/* raw samples, of each of several */
	EXPORT_PATHS = 1 << 4,		/* call paths of more than two */
	EXPORT_ADDRESSES = 1 << 5,	/* modules and addresses in them */
	EXPORT_LINES = 1 << 6,		/* source files and lines */
	EXPORT_THREADS = 1 << 7,	/* more than one */
	EXPORT_PROCESSES = 1 << 8,	/* more than one */
	EXPORT_TALLIES = 1 << 9,	/* what the collector counted */
	EXPORT_ESTIMATES = 1 << 10,	/* that costs of calls are reckoned */
	EXPORT_RETURNS = 1 << 11,	/* how often calls were seen to end */
	EXPORT_CALL_SITES = 1 << 12,	/* calls whose lines are not known, by
					 * their addresses in functions */
	EXPORT_NAMES = 1 << 13,		/* what resources are called */
	EXPORT_LABELS = 1 << 14,	/* of samples */
	EXPORT_TIMES = 1 << 15,		/* when hits were counted */
	EXPORT_GROUPS = 1 << 16,	/* random ones of members */
};

struct exporter {
	const char *summary;		/* "one resource, for flame graphs" */
	bool is_binary;			/* not for a terminal */
	bool holds_graphs;		/* functions and calls as well, where
					 * the profile has no tree */
	unsigned carries;		/* enum export_content */

	/*
	 * Whether it has the resource's gtick and interval; NULL: any, if it
	 * carries units.
	 */
	bool (*holds_units)(const struct resource *resource);

	/*
	 * Writes the whole profile, streaming, in time and bytes of the
	 * format's own size.  *n_changed: names that the format cannot hold as
	 * they are.  0, or -1 with *error set; with *error unset where it is
	 * the writer that failed.
	 */
	int (*write)(const struct export_source *source,
	             struct writer *writer, uint64_t *n_changed,
	             struct error *error);
};

/* In the order of exporters.def; names end with NULL. */
extern const struct exporter *const exporters[];
extern const char *const exporter_names[];

/*
 * Adds what the profile has and the format does not hold, "threads, addresses";
 * nothing where it holds all.
 */
void exporter_add_losses(struct text_buffer *text,
                         const struct exporter *exporter,
                         const struct export_source *source);

/*
 * Called for node n by each exporter: looks now and then whether the user
 * pressed Ctrl-C or the writer failed.  0, or -1, *error as above.
 */
int export_may_go_on(uint32_t n, const struct writer *writer,
                     struct error *error);

/* Hits in gticks; 0, or -1 with *error set where that passes `most`. */
int export_gticks(const struct resource *resource, uint64_t hits,
                  uint64_t most, uint64_t *gticks, struct error *error);

/* Hands the text to the writer and empties it. */
int export_flush(struct text_buffer *text, struct writer *writer,
                 struct error *error);

/* ---- packer.c ---- */

/* A writer that packs what it is given. */

enum packer_kind { PACKER_GZIP, PACKER_ZSTD };

struct ZSTD_CCtx_s;

/* Put bytes to `in`; packed, with a checksum, they go `to`. */
struct packer {
	struct writer in;
	struct writer *to;
	enum packer_kind kind;
	z_stream gzip;
	struct ZSTD_CCtx_s *zstd;
};

/* On the heap; freed with packer_free. */
struct packer *packer_new(enum packer_kind kind, struct writer *to,
                          struct error *error);
void packer_free(struct packer *packer);

/* Ends the packed data.  Does not flush `to`, which keeps the first failure. */
void packer_finish(struct packer *packer);

#endif
