/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox.h -- the parts of Firefox's profiles, for the files of this folder.
 *
 * A thread's tables (columns by name) give frames, these stacks, and the
 * samples name the stacks.
 */
#ifndef CPPROF_FIREFOX_FIREFOX_H
#define CPPROF_FIREFOX_FIREFOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"
#include "src/symbols/names/program.h"

/* ---- firefox_tables.c ---- */

/*
 * The tables of a Firefox profile.
 *
 * A table is an object of columns, arrays of one length.  Rows refer to rows of
 * other tables by index: a stack to its caller and its frame, a frame to its
 * function, a function to its name.  Each thread has its own tables, or the
 * file has them in "shared": strings since version 56, all since version 60.
 * Sources: firefox-devtools/profiler, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md.
 */

/* In a column: null, or -1. */
#define NO_CELL UINT32_MAX
#define NO_ADDRESS UINT64_MAX

struct index_column {
	uint32_t *values;
	size_t n, capacity;
	uint64_t offset;		/* in the input */
};

struct address_column {
	uint64_t *values;
	size_t n, capacity;
};

/* Strings joined without gaps: string i is bytes [ends[i - 1], ends[i]). */
struct text_column {
	char *bytes;
	uint64_t *ends;
	size_t n_bytes, n, bytes_capacity, ends_capacity;
};

/* libraries: texts 2i and 2i + 1 are path and code id of library i. */
struct firefox_tables {
	bool has_stacks, has_sources, has_strings, has_libraries;
	struct index_column stack_frame, stack_prefix, stack_offset;
	struct index_column frame_function, frame_line, frame_library;
	struct address_column frame_address;
	struct index_column function_name, function_resource, function_file,
	    function_source, function_line;
	struct index_column resource_library;
	struct index_column source_file;
	struct text_column strings, libraries;
};

void firefox_tables_free(struct firefox_tables *tables);

/*
 * Reads the value of a key that is a table.  false: the key is none, and the
 * value has not been read.  Failures set *error, the reader's; so does a table
 * in the form that Firefox itself (Gecko) writes.
 */
bool firefox_tables_read_key(struct firefox_tables *tables,
                             struct json_reader *json,
                             const struct json_token *key,
                             struct error *error);

/* Sets the error for a table with a "schema", the form that Gecko writes. */
void firefox_fail_unprocessed(struct json_reader *json, uint64_t offset);

/* Reads a column of indices, the value of a key. */
void index_column_read(struct index_column *column, struct json_reader *json,
                       const char *what, struct error *error);

/*
 * Sets the reader's error for a row that is no index below n, and returns -1.
 * name: of the column, "funcTable.name".
 */
int index_column_fail(const struct index_column *column,
                      struct json_reader *json, const char *name, size_t row,
                      size_t n);

/* The value in a row, NO_CELL past the end of the column. */
static inline uint32_t
index_column_at(const struct index_column *column, size_t row)
{
	return row < column->n ? column->values[row] : NO_CELL;
}

/* String `row`, which must be below n; not ended by NUL. */
static inline const char *
text_column_at(const struct text_column *column, size_t row, size_t *length)
{
	uint64_t begin = row > 0 ? column->ends[row - 1] : 0;

	*length = (size_t)(column->ends[row] - begin);
	return *length > 0 ? column->bytes + begin : "";
}

/* ---- firefox_frames.c ---- */

/*
 * The frames of a Firefox profile, each with a label.
 *
 * Threads often have tables of their own, with the same frames in other rows.
 * Rows that say the same of a frame have one label, and become one frame of the
 * profile.
 */

struct firefox_frames;

/* Tables, and the labels of their frames; start with zeroes. */
struct frame_tables {
	const struct firefox_tables *frames;	/* and stacks, functions,
						 * resources */
	const struct firefox_tables *strings, *libraries, *sources;
	uint32_t *labels;		/* by frame; NO_LABEL: not yet */
	uint32_t *own_names;		/* by string; NO_NAME: not yet */
	uint32_t **names;		/* these, or those of shared strings */
};

/*
 * Starts on a profile without frames.  shared: the tables that threads have in
 * common, which may be read later.  json: gives the place of errors, and
 * whether the input is cut.  cache: of symbols; may be NULL.  All must outlive
 * the result, which firefox_frames_free frees.  NULL with *error set.
 */
struct firefox_frames *firefox_frames_new(struct profile *profile,
                                          const struct firefox_tables *shared,
                                          struct json_reader *json,
                                          struct module_cache *cache,
                                          struct error *error);
void firefox_frames_free(struct firefox_frames *frames);

/*
 * Begins with the frames of a thread's tables, or of the shared ones.  Strings,
 * libraries and sources that the thread has not are the shared ones.  All must
 * have been read.  0, or -1 with *error set; then frame_tables_free, too.
 */
int frame_tables_begin(struct frame_tables *tables,
                       struct firefox_frames *frames,
                       const struct firefox_tables *of, struct error *error);
void frame_tables_free(struct frame_tables *tables);

/*
 * The label of a row of the frames, which must be there.  Of a cut input, rows
 * that refer to what is missing are "[unknown]"; else an index that is out of
 * range is an error.  NO_LABEL with *error set.
 */
uint32_t firefox_frames_label(struct firefox_frames *frames,
                              struct frame_tables *tables, uint32_t row,
                              struct error *error);

/* The label of a frame that is only a name; likewise. */
uint32_t firefox_frames_add_name(struct firefox_frames *frames,
                                 const char *name, struct error *error);

/*
 * Enters all frames into the profile and returns them by label, the caller's to
 * free; NULL with *error set.  A function that has only an address for a name,
 * as samply leaves it, gets the symbol of its library at that address if there
 * is one.
 */
uint32_t *firefox_frames_finish(struct firefox_frames *frames,
                                struct error *error);

/* ---- firefox_thread.c ---- */

/* One thread of a Firefox profile, with its samples. */

/* What weights are, "weightType". */
enum firefox_weight { WEIGHT_SAMPLES, WEIGHT_TIME, WEIGHT_BYTES,
                      N_FIREFOX_WEIGHTS };

/* Weights are kept in millionths: of milliseconds these are nanoseconds. */
enum { WEIGHT_POWER = 6, WEIGHT_ONE = 1000000 };
/* CPU deltas in thousandths: of microseconds these are nanoseconds. */
enum { DELTA_POWER = 3, DELTA_ONE = 1000 };
/* Times, from milliseconds to nanoseconds. */
enum { TIME_POWER = 6 };

/* A sample without a time. */
#define NO_TIME UINT64_MAX

/* One sample, of a thread whose samples have times. */
struct firefox_sample {
	uint64_t time_ns;		/* from the start of the profile, or
					 * NO_TIME */
	uint64_t weight, cpu;		/* as in its charge */
	size_t charge;
};

/* The sums of all samples with one stack. */
struct firefox_charge {
	uint32_t stack;			/* a row; NO_CELL: without a stack */
	uint64_t weight;		/* by WEIGHT_POWER */
	uint64_t cpu;			/* by DELTA_POWER */
	uint64_t n_samples;
};

/* Start with zeroes. */
struct firefox_thread {
	char *name, *process_name;	/* NULL: unknown */
	char *pid, *tid;		/* as in the file; NULL: likewise */
	struct firefox_tables tables;	/* of its own */
	enum firefox_weight weight;
	bool has_allocations;		/* which are not read */
	struct firefox_charge *charges;
	size_t n_charges, charges_capacity;
	struct firefox_sample *samples;	/* [n_samples], in their order; none if
					 * they have no times */
	size_t n_samples, samples_capacity;
	uint64_t offset;		/* of its samples */
	uint64_t weight_below_zero, cpu_below_zero;	/* offset + 1 of the
					 * first such number; 0: none */
};

void firefox_thread_free(struct firefox_thread *thread);

/* Reads a thread whose object is open; failures set *error, the reader's. */
void firefox_thread_read(struct firefox_thread *thread,
                         struct json_reader *json, struct error *error);

/* ---- firefox_tree.c ---- */

/* The threads of a Firefox profile as a sample tree. */

/* "meta", which is about all threads. */
struct firefox_meta {
	uint64_t interval_ns;		/* between samples; 0: unknown */
	uint64_t start_ns;		/* since 1970; 0: unknown */
	enum { CPU_UNKNOWN, CPU_NS, CPU_US, CPU_CYCLES,
	       N_CPU_UNITS } cpu_unit;
	const char *product;		/* NULL: unknown */
};

struct firefox_tree;

/*
 * Begins with a reader whose profile has no frames.  shared, the tables that
 * threads have in common, and meta may be read later.  json: the reader's,
 * names the place of errors.  All must outlive the result, which
 * firefox_tree_free frees.  NULL with *error set.
 */
struct firefox_tree *firefox_tree_new(struct reader *reader,
                                      const struct firefox_tables *shared,
                                      const struct firefox_meta *meta,
                                      struct json_reader *json,
                                      struct error *error);
void firefox_tree_free(struct firefox_tree *tree);

/*
 * Enters the samples of a thread.  By now meta must have been read, and all
 * tables that the thread's stacks refer to.  Rows that a cut input lacks become
 * "[unknown]"; else an index that is out of range is an error.  0, or -1 with
 * *error set, which must be the one of json.
 */
int firefox_tree_add(struct firefox_tree *tree,
                     const struct firefox_thread *thread, struct error *error);

/* The number of samples entered so far. */
uint64_t firefox_tree_count(const struct firefox_tree *tree);

/* Gives tree and frames to the profile, after which nothing can be added. */
int firefox_tree_finish(struct firefox_tree *tree, struct error *error);

#endif
