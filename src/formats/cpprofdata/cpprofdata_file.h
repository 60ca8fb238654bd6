/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_file.h -- finds the parts of a collector's file and checks their
 * bounds.
 *
 * This implements checks 1 to 3 of "What a reader must check" in
 * doc/cpprofdata.md: everything found lies in the file and has been published.
 * The contents of records are not checked.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_FILE_H
#define CPPROF_FORMATS_CPPROFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"
#include "src/formats/source.h"

/* The chunk types that a reader knows are below this number. */
enum { CPPROFDATA_N_TYPES = CPPROFDATA_SLICES + 1 };

/* If the narrowest slices are wider, the file counts as one without. */
#define CPPROFDATA_SLICE_MAX_NS ((uint64_t)1 << 56)

/* Records of one type that lie together. */
struct cpprofdata_run {
	uint64_t first;		/* number of the first record */
	uint64_t n;
	uint64_t n_before;	/* records in earlier runs of the type */
	size_t offset;		/* offset in the file */
	uint32_t owner;
};

struct cpprofdata_runs {
	struct cpprofdata_run *items;	/* by number */
	size_t n, capacity;
	uint64_t next;		/* the number after the last */
	size_t record_size;
};

struct cpprofdata_file {
	const char *name;	/* for messages; belongs to the source */
	const unsigned char *bytes;	/* likewise */
	struct cpprofdata_header header;	/* in this machine's order */
	uint32_t n_named;	/* resources before the first without a name;
				 * that and later ones are unused */
	struct cpprofdata_runs runs[CPPROFDATA_N_TYPES];	/* by type;
								 * types
								 * without
								 * record_size
								 * are
								 * skipped */
	size_t n_briefs;	/* struct cpprofdata_brief after the header,
				 * instead of runs */
	struct error damage;	/* if set, why the rest was not read */
};

/*
 * Finds the parts.  A damaged header is an error; a file that is cut or
 * damaged after it gives what comes before, and sets `damage`.  0, to be
 * followed by cpprofdata_file_close, or -1 with *error set.
 */
int cpprofdata_file_open(struct cpprofdata_file *file, struct source *source,
                         struct error *error);

/*
 * Likewise for a file of names; any other file is an error, as is a file of
 * names above.
 */
int cpprofdata_file_open_names(struct cpprofdata_file *file,
                               struct source *source, struct error *error);
void cpprofdata_file_close(struct cpprofdata_file *file);

/*
 * Whether an entry of a recording's directory has the name of a process's
 * file; *pid, unless NULL, gets its pid.
 */
bool cpprofdata_is_file_name(const char *entry, uint64_t *pid);

/* The number of records of a type. */
uint64_t cpprofdata_runs_count(const struct cpprofdata_runs *runs);

/*
 * Calls `each` for all records of a type, in the order of their numbers, with
 * the record's bytes in the file.  Stops when `each` returns -1 with *error
 * set, and returns that.
 */
int cpprofdata_file_each(const struct cpprofdata_file *file,
                         enum cpprofdata_chunk_type type,
                         int (*each)(void *context, const unsigned char *bytes,
                                     struct error *error),
                         void *context, struct error *error);

/*
 * The run with record `number`; NULL if there is no such record.  O(log runs).
 */
const struct cpprofdata_run *
cpprofdata_runs_find(const struct cpprofdata_runs *runs, uint64_t number);

/*
 * The string with a number, in place, at most max bytes of it; sets *length.
 * The empty string if there is none with that number.
 */
const char *cpprofdata_string(const struct cpprofdata_file *file,
                              uint64_t number, size_t max, size_t *length);

/*
 * A copy of a path or another text, cut after some thousand bytes, which the
 * caller frees; NULL with *error set.
 */
char *cpprofdata_copy_string(const struct cpprofdata_file *file,
                             uint64_t number, struct error *error);

#endif
