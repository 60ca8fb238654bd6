/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_file.h -- the collector's files, for the program
 * (doc/cpprofdata.md).
 *
 * lib/cpprofdata.h has their layout. record uses these functions, too: to
 * count what was sampled, and to keep the names of what is gone later.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_FILE_H
#define CPPROF_FORMATS_CPPROFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/formats/source.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/lines/address_lines.h"
#include "src/symbols/names/address_frames.h"

/* ---- cpprofdata_file.c ---- */

/*
 * Finds the parts of a collector's file and checks their bounds.
 *
 * This implements checks 1 to 3 of "What a reader must check" in
 * doc/cpprofdata.md: everything found lies in the file and has been published.
 * The contents of records are not checked.
 */

/* The chunk types that a reader knows are below this number. */
enum { CPPROFDATA_N_TYPES = CPPROFDATA_NAMED_ORIGINS + 1 };

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
 * Finds the parts.  A damaged header is an error; a file that is cut short or
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

/* Likewise that of a file of what a process's Java virtual machine compiled. */
bool cpprofdata_is_jit_name(const char *entry, uint64_t *pid);

/* What is known of a resource of the file; NULL: nothing. */
const struct count_kind *cpprofdata_count_kind(
    const struct cpprofdata_file *file, uint32_t resource);

/* The number of records of a type. */
uint64_t cpprofdata_runs_count(const struct cpprofdata_runs *runs);

/*
 * Goes through the records of a type in the order of their numbers: start with
 * { 0 }.  bytes: the file's.  false: there is no other record.
 */
struct cpprofdata_record {
	const unsigned char *bytes;	/* in the file */
	uint64_t number;
	uint64_t index;			/* among the records of its type */
	uint32_t owner;
	size_t run;			/* where the next one is */
	uint64_t n_done;
};

bool cpprofdata_next(const struct cpprofdata_runs *runs,
                     const unsigned char *bytes,
                     struct cpprofdata_record *record);

/*
 * The run with record `number`; NULL if there is no such record.  O(log runs).
 */
const struct cpprofdata_run *
cpprofdata_runs_find(const struct cpprofdata_runs *runs, uint64_t number);

/* How many records of that type come before it in the file; or UINT32_MAX. */
uint32_t cpprofdata_index_of(const struct cpprofdata_runs *runs,
                             uint32_t number);

/* The bytes of a record in the file; NULL if there is no such record. */
const unsigned char *cpprofdata_record_at(const struct cpprofdata_file *file,
                                          enum cpprofdata_chunk_type type,
                                          uint64_t number);

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

/* The size of a chunk with n records. */
uint64_t cpprofdata_chunk_size(uint64_t n, size_t record_size);

/*
 * Write its header; and, after the records, zeros up to the end of its last
 * page.  first: the number of the first record.
 */
void cpprofdata_begin_chunk(struct writer *writer, uint32_t type,
                            uint64_t first, uint64_t n, size_t record_size,
                            uint32_t owner);
void cpprofdata_end_chunk(struct writer *writer, uint64_t n,
                          size_t record_size);

/* ---- cpprofdata_process.c ---- */

/*
 * The process of a recording: whether it still runs, when it ended, and what
 * its threads waited for.
 *
 * The collector writes where a thread waits when the wait begins, and charges
 * its time when it ends.  Waits that were still going on when the process
 * ended, in whatever way, or that are going on now, are charged here.
 */

/*
 * Whether the process has the file mapped, so that it may still grow.  False
 * if that is unknown: a process of another machine or another user.
 */
bool cpprofdata_is_written_by(const char *path, uint64_t pid);

/*
 * Records in a file that its process has ended without recording its end; does
 * nothing if it runs, or its end is recorded.
 */
void cpprofdata_note_gone(const char *path);

/*
 * Records in a file that its process runs now, if it keeps waits; false if it
 * keeps none, so that this is not needed.
 */
bool cpprofdata_note_seen(const char *path);

/*
 * Finds out whether the process still runs, and up to when its threads are
 * charged: its end, or now.  If it was killed unobserved, its last sign of
 * life counts as its end, which is not `seen`.
 */
struct cpprofdata_end {
	bool is_running;
	bool is_seen;
	uint64_t mono_ns;	/* on the clock of the waits; 0: unknown */
	uint64_t utc_ns;	/* since 1970; 0: unknown */
};

struct cpprofdata_end cpprofdata_find_end(const struct cpprofdata_file *file);

/* Hits of one resource to be charged to one place. */
struct cpprofdata_charge {
	uint32_t resource;
	uint32_t node;		/* record, or CPPROFDATA_NO_NODE */
	bool is_wait;		/* a call that has not returned; otherwise time
				 * without a sample so far */
	uint64_t hits;
	uint64_t begin_ns, end_ns;	/* when; on the clock of the waits */
};

enum { CPPROFDATA_CHARGES_MAX = CPPROFDATA_MAX_RESOURCES + 1 };

/*
 * The charges still due for thread record `number`, up to `end`; returns their
 * number.  *waits: whether it is in a call.
 */
size_t cpprofdata_wait_charges(const struct cpprofdata_file *file,
                               const struct cpprofdata_end *end,
                               uint32_t number,
                               struct cpprofdata_charge *charges, bool *waits);

/* ---- names_file.c ---- */

/*
 * The kept names of a recording's addresses: a file beside those of its
 * processes, or chunks in a file written by `export`.
 */

/*
 * Reads the names in a source, freed with kept_names_free.  Nothing in it is
 * trusted: what is invalid is left out, and *damage describes the first such
 * thing.  NULL with *error set if the source is no file of names, or memory
 * runs out.
 */
struct kept_names *names_file_read(struct source *source, struct error *damage,
                                   struct error *error);

/* Likewise the names within a file of samples; NULL also if it has none. */
struct kept_names *names_file_within(const struct cpprofdata_file *file,
                                     struct error *damage,
                                     struct error *error);

/* A process, and its addresses: codes[first] .. codes[first + n - 1]. */
struct named_process {
	uint32_t pid;
	uint64_t start_ns;
	size_t first, n;
};

/* An address of a process outside all modules, ascending. */
struct named_code {
	uint64_t address;
	uint32_t function;	/* a name of the profile; NO_NAME */
	uint32_t offset;	/* into the function, or NO_OFFSET */
	/* Its locations, outermost first; the first has no function. */
	uint32_t first_location, n_locations;
};

/* The names to keep. */
struct names_file {
	/*
	 * Frames with a module, their names, and lines if known; each module
	 * and address once.
	 */
	const struct profile *profile;
	/*
	 * [n_frames] The addresses under which frames are kept if their own
	 * are not unique.  Frames without a module are then kept, too, as
	 * those of the first process, except those that have 0 here.  NULL:
	 * frames are kept under their own addresses, and those without a
	 * module are not kept.
	 */
	const uint64_t *addresses;
	/* The source of lines, which knows which frames have none; or NULL. */
	const struct address_lines *lines;
	bool keeps_lines;	/* also keeps lines that came from another
				 * format instead of debug information */
	bool omits_deferred;	/* without the inlined functions of deferred
				 * frames (profile.h) */
	/* Code that processes generated at run time. */
	const struct named_process *processes;
	size_t n_processes;
	const struct named_code *codes;
	const struct location *code_locations;
	uint64_t named_ns;		/* when the samples were read; UTC
					 * since 1970 */
	uint64_t created_ns;		/* when the file of names was created,
					 * if `record` writes it; 0: unknown */
};

/*
 * Writes it; NULL: a file without names, which records that none are wanted.
 * 0, or -1 with *error set; the writer has errors of its own.
 */
int names_file_write(const struct names_file *names, struct writer *writer,
                     struct error *error);

/*
 * Only its chunks, for a file of samples, with strings numbered from
 * first_string.  Freed with names_chunks_free; NULL with *error set.
 */
struct names_chunks;
struct names_chunks *names_chunks_new(const struct names_file *names,
                                      uint64_t first_string,
                                      struct error *error);
void names_chunks_free(struct names_chunks *chunks);

/* Their size in bytes; names_chunks_write writes exactly as many. */
uint64_t names_chunks_size(const struct names_chunks *chunks);
void names_chunks_write(const struct names_chunks *chunks,
                        struct writer *writer);

/* ---- recording_names.c ---- */

/*
 * The names kept in a recording's directory.
 *
 * Beside the files of the processes there is one with the names of everything
 * that they sampled, so that the programs may be rebuilt or removed, and the
 * recording moved to another machine.
 */

/* The names of the directory that was read last. */
struct recording_names;

/* Freed with recording_names_free; NULL with *error set. */
struct recording_names *recording_names_new(struct error *error);
void recording_names_free(struct recording_names *names);

/*
 * *kept: the names beside a process's file, NULL if there are none; valid
 * until the next call.  Damage becomes a warning of the profile, once.
 */
int recording_names_beside(struct recording_names *names, const char *file,
                           struct profile *profile,
                           const struct kept_names **kept,
                           struct error *error);

/* Whether a path is that of a file of names, which is no profile by itself. */
bool recording_names_is_file(const char *path);

/*
 * Whether files[n] of one directory lack names that should be kept: there are
 * none, or samples were taken after they were written.
 */
bool recording_names_are_missing(const char *const *files, size_t n);

/*
 * Whether the recording that a process's file belongs to was made here, by this
 * user, and not copied or unpacked: `record` writes into the file of names when
 * the file system created it, to the nanosecond, which nobody can know before
 * or set afterwards.  Not every file system says when.
 */
bool recording_names_were_made_here(const char *file);

/* When a file was created, in ns since 1970; 0: the file system does not say.
 * directory, path: as for openat; an empty path: the descriptor itself. */
uint64_t recording_names_created_ns(int directory, const char *path);

/*
 * Finds names and lines of everything that files[n] of one directory have
 * sampled, and writes the directory's file of names.  Names kept already stay;
 * a file that cannot be read is skipped.  created_ns: see names_file.  0, or -1
 * with *error set if memory runs out or the user interrupts; the writer has
 * errors of its own.
 */
int recording_names_write(const char *const *files, size_t n,
                          const struct symbol_search *search,
                          uint64_t created_ns, const struct progress *progress,
                          struct writer *writer, struct error *error);

/* ---- cpprofdata_summary.c ---- */

/* The size of a recording, without resolving symbols. */

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
	uint64_t n_unfit;	/* samples whose Python frames did not fit the
				 * native ones */
	uint64_t n_unknown_python;	/* files with CPPROFDATA_UNKNOWN_PYTHON */
	uint64_t n_running;	/* files whose process has not ended */
	uint64_t n_by_ticks;	/* files with CPPROFDATA_CLOCK_GIVEN_UP */
	/* The sources of resources, each once; the first that fit. */
	struct cpprofdata_summary_source
	    sources[2 * CPPROFDATA_MAX_RESOURCES];
	size_t n_sources;
	/* Code ranges of each function whose calls were observed. */
	uint64_t n_places[CPPROFDATA_CALL_FUNCTIONS_MAX];
	size_t n_functions;	/* 0: of none, or there was no sample */
};

/* Adds one of the collector's files to *summary.  O(bytes), without symbols. */
int cpprofdata_summarise(const char *path, struct cpprofdata_summary *summary,
                         struct error *error);

#endif
