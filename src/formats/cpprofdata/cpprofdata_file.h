/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_file.h -- the parts of a collector's file, found and bounded.
 *
 * Everything that lib/cpprofdata.h and doc/cpprofdata.md ("What a reader must
 * check", 1 to 3) let a file promise is checked here: what is found lies in
 * the file and has been published.  What records say is not checked.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_FILE_H
#define CPPROF_FORMATS_CPPROFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"
#include "src/formats/source.h"

/* What a reader knows: those below are types of chunks. */
enum { CPPROFDATA_N_TYPES = CPPROFDATA_NAMED_PROCESSES + 1 };

/* Records of one type that lie together. */
struct cpprofdata_run {
	uint64_t first;		/* number of the first */
	uint64_t n;
	uint64_t n_before;	/* records in earlier runs of the type */
	size_t offset;		/* where in the file */
	uint32_t owner;
};

struct cpprofdata_runs {
	struct cpprofdata_run *items;	/* by number */
	size_t n, capacity;
	uint64_t next;		/* the number behind all */
	size_t record_size;
};

struct cpprofdata_file {
	const char *name;	/* for messages; the source's */
	const unsigned char *bytes;	/* likewise */
	struct cpprofdata_header header;	/* in this machine's order */
	uint32_t n_named;	/* resources up to the first without a name:
				 * that and those behind it count nothing */
	struct cpprofdata_runs runs[CPPROFDATA_N_TYPES];	/* by type;
				 * those without record_size are skipped */
	size_t n_briefs;	/* struct cpprofdata_brief behind the header,
				 * and no runs */
	struct error damage;	/* why what follows was not read, if set */
};

/*
 * Finds the parts.  A file whose header is damaged is an error; one that is
 * cut or damaged behind it gives what comes before, and says so in `damage`.
 * 0, to be followed by cpprofdata_file_close, or -1 with *error set.
 */
int cpprofdata_file_open(struct cpprofdata_file *file, struct source *source,
                         struct error *error);

/* Likewise of a file of names, which no other is, nor is it another. */
int cpprofdata_file_open_names(struct cpprofdata_file *file,
                               struct source *source, struct error *error);
void cpprofdata_file_close(struct cpprofdata_file *file);

/*
 * Whether an entry of a recording's directory has the name of a process's file;
 * *pid, unless NULL, is the number in it.
 */
bool cpprofdata_is_file_name(const char *entry, uint64_t *pid);

/* How many records of a type there are. */
uint64_t cpprofdata_runs_count(const struct cpprofdata_runs *runs);

/*
 * Calls `each` for all records of a type, in the order of their numbers, with
 * the record's bytes in the file.  Ends with -1, *error set, where that does.
 */
int cpprofdata_file_each(const struct cpprofdata_file *file,
                         enum cpprofdata_chunk_type type,
                         int (*each)(void *context, const unsigned char *bytes,
                                     struct error *error),
                         void *context, struct error *error);

/*
 * The run that has record `number`, or NULL where there is no such record.
 * O(log runs).
 */
const struct cpprofdata_run *
cpprofdata_runs_find(const struct cpprofdata_runs *runs, uint64_t number);

/*
 * The string of a number, in place; at most the first *length <= max bytes of
 * it.  The empty string where the number is no string's.
 */
const char *cpprofdata_string(const struct cpprofdata_file *file,
                              uint64_t number, size_t max, size_t *length);

/*
 * A copy of a path or another text of up to some thousand bytes, which the
 * caller frees; NULL with *error set.
 */
char *cpprofdata_copy_string(const struct cpprofdata_file *file,
                             uint64_t number, struct error *error);

#endif
