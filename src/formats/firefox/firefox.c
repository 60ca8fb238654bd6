/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox.c -- "processed" profiles of profiler.firefox.com and samply.
 *
 * {"meta", "libs", "shared", "threads": [...]}.  A thread's tables (columns by
 * name) give frames, these stacks, and its samples name the stacks.  A thread
 * with tables of its own, as all had before version 56, is entered when it ends.
 * Other threads wait for "shared"; of their samples only the sums are kept.
 *
 * Threads often have tables of their own, with the same frames in other rows.
 * Rows that say the same of a frame have one label.  The tree is built with
 * labels; at the end the profile gets all frames, and labels become theirs.
 *
 * Of an input that is cut short, rows that refer to what is missing are
 * "[unknown]"; else an index that is out of range is an error.
 * Sources: firefox-devtools/profiler, src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"
#include "src/symbols/names/address_frames.h"
#include "src/symbols/names/program.h"

enum {
	ROWS_A_STEP = 1 << 14,		/* between two checks for an interrupt */
	/* Weights are kept in millionths: of milliseconds these are
	 * nanoseconds.  CPU deltas in thousandths: of microseconds these are
	 * nanoseconds.  Times are milliseconds in the file. */
	WEIGHT_POWER = 6, WEIGHT_ONE = 1000000,
	DELTA_POWER = 3, DELTA_ONE = 1000,
	TIME_POWER = 6,
};

/* In a column of indices, and in one of addresses: null, or -1. */
#define NO_CELL UINT32_MAX
#define NO_ADDRESS UINT64_MAX
/* A sample without a time. */
#define NO_TIME UINT64_MAX

/* ---- what the file has ---- */

enum firefox_column_kind { INDICES, LINES, ADDRESSES };

struct firefox_column {
	uint32_t *indices;		/* [n], or of lines */
	uint64_t *numbers;		/* [n], of any other column */
	size_t n, capacity;
	uint64_t offset;		/* in the input */
	bool is_there;
};

/* The columns of tables that are read; all others are skipped. */
enum firefox_column_place {
	STACK_FRAME, STACK_PREFIX, STACK_OFFSET,
	FRAME_FUNCTION, FRAME_LINE, FRAME_LIBRARY, FRAME_ADDRESS,
	FUNCTION_NAME, FUNCTION_RESOURCE, FUNCTION_FILE, FUNCTION_SOURCE,
	FUNCTION_LINE,
	RESOURCE_LIBRARY,
	SOURCE_FILE,
	N_FIREFOX_COLUMNS
};

static const struct {
	const char *table, *name, *what;
	enum firefox_column_kind kind;
} firefox_columns[N_FIREFOX_COLUMNS] = {
	[STACK_FRAME] = { "stackTable", "frame",
		"an array of frames' indices", INDICES },
	[STACK_PREFIX] = { "stackTable", "prefix",
		"an array of stacks' indices", INDICES },
	[STACK_OFFSET] = { "stackTable", "prefixOffset",
		"an array of stacks' distances", INDICES },
	[FRAME_FUNCTION] = { "frameTable", "func",
		"an array of functions' indices", INDICES },
	[FRAME_LINE] = { "frameTable", "line", "an array of lines", LINES },
	[FRAME_LIBRARY] = { "frameTable", "lib",
		"an array of libraries' indices", INDICES },
	[FRAME_ADDRESS] = { "frameTable", "address", "an array of addresses",
		ADDRESSES },
	[FUNCTION_NAME] = { "funcTable", "name",
		"an array of strings' indices", INDICES },
	[FUNCTION_RESOURCE] = { "funcTable", "resource",
		"an array of resources' indices", INDICES },
	[FUNCTION_FILE] = { "funcTable", "fileName",
		"an array of strings' indices", INDICES },
	[FUNCTION_SOURCE] = { "funcTable", "source",
		"an array of sources' indices", INDICES },
	[FUNCTION_LINE] = { "funcTable", "lineNumber", "an array of lines",
		LINES },
	[RESOURCE_LIBRARY] = { "resourceTable", "lib",
		"an array of libraries' indices", INDICES },
	[SOURCE_FILE] = { "sources", "filename",
		"an array of strings' indices", INDICES },
};

/* Strings joined without gaps: string i is bytes [ends[i - 1], ends[i]). */
struct text_column {
	char *bytes;
	uint64_t *ends;
	size_t n_bytes, n, bytes_capacity, ends_capacity;
};

/*
 * The tables of a thread, or those in "shared": strings since version 56, all
 * since version 60.  A table is an object of columns, arrays of one length.
 * Rows refer to rows of other tables by index: a stack to its caller and its
 * frame, a frame to its function, a function to its name.
 */
struct firefox_tables {
	bool has_stacks, has_sources, has_strings, has_libraries;
	struct firefox_column columns[N_FIREFOX_COLUMNS];
	struct text_column strings;
	struct text_column libraries;	/* texts 2i and 2i + 1 are path and code
					 * id of library i */
};

/* What weights are, "weightType", and what "threadCPUDelta" counts. */
enum firefox_weight { WEIGHT_SAMPLES, WEIGHT_TIME, WEIGHT_BYTES,
                      N_FIREFOX_WEIGHTS };
enum firefox_cpu_unit { CPU_UNKNOWN, CPU_NS, CPU_US, CPU_CYCLES,
                        N_CPU_UNITS };

/* Their resources. */
static const struct firefox_kind {
	const char *name, *gtick;
} firefox_weights[N_FIREFOX_WEIGHTS] = {
	[WEIGHT_SAMPLES] = { "samples", "" },
	[WEIGHT_TIME] = { "time", "nanosecond" },
	[WEIGHT_BYTES] = { "bytes", "byte" },
}, firefox_cpu_units[N_CPU_UNITS] = {
	[CPU_UNKNOWN] = { "cpu", "" },
	[CPU_NS] = { "cpu", "nanosecond" },
	[CPU_US] = { "cpu", "nanosecond" },
	[CPU_CYCLES] = { "cpu-cycles", "cycle" },
};

/* The sums of all samples with one stack. */
struct firefox_charge {
	uint32_t stack;			/* a row; NO_CELL: without a stack */
	uint64_t weight;		/* by WEIGHT_POWER */
	uint64_t cpu;			/* by DELTA_POWER */
	uint64_t n_samples;
};

/* One sample, of a thread whose samples have times. */
struct firefox_sample {
	uint64_t time_ns;		/* from the start of the profile, or
					 * NO_TIME */
	uint64_t weight, cpu;		/* as in its charge */
	size_t charge;
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

/* The columns of a thread's samples, until the object ends. */
struct firefox_samples {
	struct firefox_column stacks, weights, deltas;
	struct firefox_column times;	/* ns, or NO_TIME */
};

/* A frame.  It has no padding, since its bytes are a key. */
struct known_frame {
	uint64_t address;		/* in the module; 0: no module */
	uint32_t module;
	uint32_t function;		/* a name; NO_NAME: the address's */
	uint32_t file, line;
};

_Static_assert(sizeof(struct known_frame) == 24, "its bytes are a key");

/* The stacks of a thread, or the shared ones, for the tree. */
struct firefox_stacks {
	const struct firefox_tables *tables;	/* of stacks, frames, functions
						 * and resources */
	const struct firefox_tables *strings, *libraries, *sources;
	uint32_t *labels;		/* by frame; NO_LABEL: not yet */
	uint32_t *own_names;		/* by string; NO_NAME: not yet */
	uint32_t *names;		/* these, or those of shared strings */
	uint32_t *parent, *label;	/* [rows.n] */
	struct stack_rows rows;
};

struct firefox {
	struct reader reader;
	struct json_reader *json;
	struct error *error;		/* the JSON reader's, too */

	/* "meta", which is about all threads. */
	bool has_meta;
	uint64_t interval_ns;		/* between samples; 0: unknown */
	uint64_t start_ns;		/* since 1970; 0: unknown */
	enum firefox_cpu_unit cpu_unit;
	const char *product;		/* NULL: unknown */

	struct firefox_tables shared;
	struct firefox_thread *waiting;		/* threads */
	size_t n_waiting, waiting_capacity;
	uint64_t n_allocating;			/* threads */

	/* Frames. */
	struct names *modules;		/* module i, by path and code id */
	uint64_t *bases;		/* of module i: its first segment */
	size_t bases_capacity;
	struct names *known;		/* known_frame i, as bytes; i is its
					 * label */
	uint32_t *shared_names;		/* by shared string; NO_NAME: not yet */

	/* The tree. */
	struct firefox_stacks common;		/* of the shared tables */
	bool has_common;
	uint32_t n_merged;			/* threads in the last section */
	struct names *pids;			/* process i, by its text */
	uint32_t resources[N_FIREFOX_WEIGHTS];	/* + 1; 0: none yet */
	uint32_t cpu;				/* likewise */
	uint64_t n_samples, n_rounded;
};

static void
firefox_column_free(struct firefox_column *column)
{
	free(column->indices);
	free(column->numbers);
}

static void
firefox_tables_free(struct firefox_tables *tables)
{
	for (size_t i = 0; i < N_FIREFOX_COLUMNS; i++)
		firefox_column_free(&tables->columns[i]);
	free(tables->strings.bytes);
	free(tables->strings.ends);
	free(tables->libraries.bytes);
	free(tables->libraries.ends);
}

static void
firefox_thread_free(struct firefox_thread *thread)
{
	free(thread->name);
	free(thread->process_name);
	free(thread->pid);
	free(thread->tid);
	free(thread->charges);
	free(thread->samples);
	firefox_tables_free(&thread->tables);
}

static void
firefox_stacks_free(struct firefox_stacks *stacks)
{
	stack_rows_free(&stacks->rows);
	free(stacks->labels);
	free(stacks->own_names);
	free(stacks->parent);
	free(stacks->label);
}

/* ---- reading tables ---- */

/* The index in a row, NO_CELL past the end of the column. */
static uint32_t
firefox_index_at(const struct firefox_tables *tables,
                 enum firefox_column_place place, size_t row)
{
	const struct firefox_column *column = &tables->columns[place];

	return row < column->n ? column->indices[row] : NO_CELL;
}

/* String `row`, which must be below n; not ended by NUL. */
static const char *
text_column_at(const struct text_column *column, size_t row, size_t *length)
{
	uint64_t begin = row > 0 ? column->ends[row - 1] : 0;

	*length = (size_t)(column->ends[row] - begin);
	return *length > 0 ? column->bytes + begin : "";
}

/* Sets the error for a row that is no index below n. */
static void
firefox_fail_index(struct firefox *firefox, const struct firefox_tables *tables,
                   enum firefox_column_place place, size_t row, size_t n)
{
	const struct firefox_column *column = &tables->columns[place];
	const char *table = firefox_columns[place].table;
	const char *name = firefox_columns[place].name;

	if (column->indices[row] == NO_CELL)
		json_fail(firefox->json, column->offset, "%s.%s[%zu] is null, "
		          "expected an index below %zu", table, name, row, n);
	else
		json_fail(firefox->json, column->offset, "%s.%s[%zu] is %"
		          PRIu32 " of %zu", table, name, row,
		          column->indices[row], n);
}

/* Sets the error for a table with a "schema", the form that Gecko writes. */
static void
firefox_fail_unprocessed(struct firefox *firefox, uint64_t offset)
{
	json_fail(firefox->json, offset, "an unprocessed profile of Firefox "
	          "(Gecko); open it at profiler.firefox.com and save it there");
}

static int
firefox_add_number(struct firefox *firefox, struct firefox_column *column,
                   uint64_t number)
{
	if (memory_grow(&column->numbers, &column->capacity, column->n + 1,
	                sizeof *column->numbers, firefox->error) != 0)
		return -1;
	column->numbers[column->n++] = number;
	return 0;
}

/*
 * Reads a column of a table, the value of a key.  Lines refer to no table, so a
 * wrong value is no error but no line.
 */
static void
firefox_read_column(struct firefox *firefox, struct firefox_column *column,
                    enum firefox_column_kind kind, const char *what)
{
	struct json_token token;
	uint64_t most = kind == ADDRESSES ? INT64_MAX : NO_CELL - 1, number;

	column->n = 0;
	column->offset = json_offset(firefox->json);
	if (!json_open_array(firefox->json, what))
		return;
	while (json_next_element(firefox->json, &token)) {
		if (column->n == 0)
			column->offset = token.offset;
		if (token.type == JSON_NULL ||
		    (token.type == JSON_NUMBER && token.length == 2 &&
		     memcmp(token.text, "-1", 2) == 0)) {
			number = NO_ADDRESS;
		} else if (!json_whole_number(&token, most, &number)) {
			number = NO_ADDRESS;
			if (kind == LINES)
				json_skip(firefox->json, &token);
			else
				json_fail(firefox->json, token.offset,
				          "expected %s", kind == ADDRESSES ?
				          "an address" : what);
		}
		if (kind == ADDRESSES)
			firefox_add_number(firefox, column, number);
		else if (memory_grow(&column->indices, &column->capacity,
		                     column->n + 1, sizeof *column->indices,
		                     firefox->error) == 0)
			column->indices[column->n++] = (uint32_t)number;
	}
}

static void
firefox_read_table(struct firefox *firefox, struct firefox_tables *tables,
                   const char *name, bool *is_there)
{
	struct json_token key;

	if (!json_open_object(firefox->json, "a table, an object"))
		return;
	if (is_there != NULL)
		*is_there = true;
	while (json_next_key(firefox->json, &key)) {
		size_t i = 0;

		while (i < N_FIREFOX_COLUMNS &&
		       (strcmp(firefox_columns[i].table, name) != 0 ||
		        !json_is(&key, firefox_columns[i].name)))
			i++;
		if (json_is(&key, "schema"))
			firefox_fail_unprocessed(firefox, key.offset);
		else if (i < N_FIREFOX_COLUMNS)
			firefox_read_column(firefox, &tables->columns[i],
			                    firefox_columns[i].kind,
			                    firefox_columns[i].what);
		else
			json_skip_value(firefox->json);
	}
}

static void
firefox_add_text(struct firefox *firefox, struct text_column *column,
                 const char *text, size_t length)
{
	if (memory_grow(&column->ends, &column->ends_capacity, column->n + 1,
	                sizeof *column->ends, firefox->error) != 0 ||
	    memory_grow(&column->bytes, &column->bytes_capacity,
	                column->n_bytes + length, 1, firefox->error) != 0)
		return;
	if (length > 0)
		memcpy(column->bytes + column->n_bytes, text, length);
	column->n_bytes += length;
	column->ends[column->n++] = column->n_bytes;
}

static void
firefox_read_strings(struct firefox *firefox, struct firefox_tables *tables)
{
	struct json_token token;

	tables->strings.n = tables->strings.n_bytes = 0;
	if (!json_open_array(firefox->json, "an array of strings"))
		return;
	tables->has_strings = true;
	while (json_next_element(firefox->json, &token)) {
		if (token.type == JSON_STRING || token.type == JSON_NULL)
			firefox_add_text(firefox, &tables->strings, token.text,
			                 token.length);
		else
			json_fail(firefox->json, token.offset,
			          "expected a string");
	}
}

static void
firefox_read_libraries(struct firefox *firefox, struct firefox_tables *tables)
{
	struct text_column *libraries = &tables->libraries;
	struct text_buffer path = { .length = 0 }, id = { .length = 0 };
	struct json_token token, key;

	libraries->n = libraries->n_bytes = 0;
	if (!json_next(firefox->json, &token) || token.type == JSON_NULL)
		return;
	if (token.type == JSON_STRING) {	/* an old form of Gecko */
		firefox_fail_unprocessed(firefox, token.offset);
		return;
	}
	if (token.type != JSON_ARRAY) {
		json_fail(firefox->json, token.offset,
		          "expected an array of libraries");
		return;
	}
	tables->has_libraries = true;
	while (json_next_object(firefox->json, &token, "a library, an "
	                        "object")) {
		text_clear(&path);
		text_clear(&id);
		while (json_next_key(firefox->json, &key)) {
			struct text_buffer *text =
			    json_is(&key, "path") ? &path :
			    json_is(&key, "codeId") ? &id : NULL;

			if (!json_get_value(firefox->json, &token) ||
			    text == NULL || token.type != JSON_STRING)
				continue;
			text_clear(text);
			text_add(text, token.text, token.length);
		}
		if (path.failed || id.failed)
			error_out_of_memory(firefox->error);
		if (firefox->error->is_set)
			break;
		firefox_add_text(firefox, libraries, path.bytes, path.length);
		firefox_add_text(firefox, libraries, id.bytes, id.length);
	}
	text_free(&path);
	text_free(&id);
}

/*
 * Reads the value of a key that is a table.  false: the key is none, and the
 * value has not been read.
 */
static bool
firefox_read_tables_key(struct firefox *firefox, struct firefox_tables *tables,
                        const struct json_token *key)
{
	const struct {
		const char *name;
		bool *is_there;
	} names[] = {
		{ "stackTable", &tables->has_stacks },
		{ "frameTable", NULL },
		{ "funcTable", NULL },
		{ "resourceTable", NULL },
		{ "sources", &tables->has_sources },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (json_is(key, names[i].name)) {
			firefox_read_table(firefox, tables, names[i].name,
			                   names[i].is_there);
			return true;
		}
	if (json_is(key, "stringArray"))
		firefox_read_strings(firefox, tables);
	else if (json_is(key, "libs"))
		firefox_read_libraries(firefox, tables);
	else
		return false;
	return true;
}

/* ---- reading a thread ---- */

/*
 * Reads a column of amounts; null counts as 0, and so does one below zero, of
 * which *below_zero then tells.  what: "an array of weights".
 */
static void
firefox_read_amounts(struct firefox *firefox, struct firefox_column *amounts,
                     int power, const char *what, uint64_t *below_zero)
{
	struct json_token token;

	amounts->n = 0;
	if (!json_open_array(firefox->json, what))
		return;
	amounts->is_there = true;
	while (json_next_element(firefox->json, &token)) {
		struct decimal decimal = { .digits = 0 };
		int64_t number;

		if (token.type != JSON_NULL && !json_decimal(&token, &decimal))
			json_fail(firefox->json, token.offset, "expected %s",
			          what);
		else if (!decimal_scale(decimal, power, &number, NULL))
			json_fail(firefox->json, token.offset,
			          "a number that exceeds 63 bits");
		else if (firefox_add_number(firefox, amounts, number < 0 ? 0 :
		                            (uint64_t)number) == 0 &&
		         number < 0 && *below_zero == 0)
			*below_zero = token.offset + 1;
	}
}

/*
 * Reads a column of times in milliseconds, or of the differences between them.
 * One that is before the start, or none, is unknown; the next difference counts
 * from the last known time.
 */
static void
firefox_read_times(struct firefox *firefox, struct firefox_column *times,
                   bool are_deltas)
{
	struct json_token token;
	int64_t time = 0;

	times->n = 0;
	if (!json_open_array(firefox->json, "an array of times"))
		return;
	while (json_next_element(firefox->json, &token)) {
		struct decimal decimal;
		int64_t number, next = -1;

		if (token.type != JSON_NUMBER && token.type != JSON_NULL) {
			json_fail(firefox->json, token.offset,
			          "expected an array of times");
			return;
		}
		if (json_decimal(&token, &decimal) &&
		    decimal_scale(decimal, TIME_POWER, &number, NULL) &&
		    (!are_deltas ||
		     !__builtin_add_overflow(time, number, &number)))
			time = next = number;
		firefox_add_number(firefox, times, next < 0 ? NO_TIME :
		                   (uint64_t)next);
	}
}

static void
firefox_read_weight_type(struct firefox *firefox, enum firefox_weight *weight)
{
	struct json_token token;

	if (!json_next(firefox->json, &token))
		return;
	if (token.type == JSON_NULL || json_is(&token, "samples"))
		*weight = WEIGHT_SAMPLES;
	else if (json_is(&token, "tracing-ms"))
		*weight = WEIGHT_TIME;
	else if (json_is(&token, "bytes"))
		*weight = WEIGHT_BYTES;
	else
		json_fail(firefox->json, token.offset, "expected a type of "
		          "weights: samples, tracing-ms or bytes");
}

/*
 * Sums up the samples of each stack, since a few stacks have most samples.
 * Samples with times are kept as well, until the stacks have nodes.  Of an
 * input that is cut short, there are as many as the shortest column has.
 */
static void
firefox_sum_up(struct firefox *firefox, struct firefox_thread *thread,
               const struct firefox_samples *samples, bool is_whole)
{
	const struct firefox_column *columns[] = { &samples->weights,
		&samples->deltas };
	size_t n = samples->stacks.n;
	struct id_table stacks = { 0 };

	for (size_t i = 0; i < 2; i++) {
		if (!columns[i]->is_there || columns[i]->n == n)
			continue;
		if (is_whole)
			json_fail(firefox->json, thread->offset,
			          "%zu samples have %zu %s", samples->stacks.n,
			          columns[i]->n, i == 0 ? "weights" :
			          "CPU deltas");
		else if (columns[i]->n < n)
			n = columns[i]->n;
	}
	for (size_t i = 0; i < n && !firefox->error->is_set; i++) {
		uint32_t stack = samples->stacks.indices[i];
		uint32_t number = id_table_add(&stacks, stack, firefox->error);
		struct firefox_charge *charge;
		uint64_t weight = WEIGHT_ONE, cpu = 0;

		if (number == NO_ID ||
		    memory_grow(&thread->charges, &thread->charges_capacity,
		                (size_t)number + 1, sizeof *thread->charges,
		                firefox->error) != 0)
			break;
		charge = &thread->charges[number];
		if (number == thread->n_charges) {
			*charge = (struct firefox_charge){ .stack = stack };
			thread->n_charges++;
		}
		if (samples->weights.is_there)
			weight = samples->weights.numbers[i];
		/* The first delta has no sample before it to count from. */
		if (samples->deltas.is_there && i > 0)
			cpu = samples->deltas.numbers[i];
		if (__builtin_add_overflow(charge->weight, weight,
		                           &charge->weight) ||
		    __builtin_add_overflow(charge->cpu, cpu, &charge->cpu)) {
			json_fail(firefox->json, thread->offset, "the sum of "
			          "a stack's samples exceeds 64 bits");
			break;
		}
		charge->n_samples++;
		if (i >= samples->times.n)
			continue;
		if (memory_grow(&thread->samples, &thread->samples_capacity,
		                thread->n_samples + 1, sizeof *thread->samples,
		                firefox->error) != 0)
			break;
		thread->samples[thread->n_samples++] = (struct firefox_sample){
			samples->times.numbers[i], weight, cpu, number
		};
	}
	id_table_free(&stacks);
}

/*
 * Samples are columns: {"stack": [...], "weight": [...] or null, "weightType",
 * "threadCPUDelta": [...], "time" or "timeDeltas": [...], ...}.
 */
static void
firefox_read_samples(struct firefox *firefox, struct firefox_thread *thread)
{
	struct firefox_samples samples = { .stacks.n = 0 };
	struct json_token key;

	if (!json_open_object(firefox->json, "samples, an object"))
		return;
	while (json_next_key(firefox->json, &key)) {
		thread->offset = key.offset;
		if (json_is(&key, "schema"))
			firefox_fail_unprocessed(firefox, key.offset);
		else if (json_is(&key, "stack"))
			firefox_read_column(firefox, &samples.stacks, INDICES,
			                    "an array of stacks' indices");
		else if (json_is(&key, "weight"))
			firefox_read_amounts(firefox, &samples.weights,
			                     WEIGHT_POWER,
			                     "an array of weights",
			                     &thread->weight_below_zero);
		else if (json_is(&key, "threadCPUDelta"))
			firefox_read_amounts(firefox, &samples.deltas,
			                     DELTA_POWER,
			                     "an array of CPU times",
			                     &thread->cpu_below_zero);
		else if (json_is(&key, "time") || json_is(&key, "timeDeltas"))
			firefox_read_times(firefox, &samples.times,
			                   json_is(&key, "timeDeltas"));
		else if (json_is(&key, "weightType"))
			firefox_read_weight_type(firefox, &thread->weight);
		else
			json_skip_value(firefox->json);
	}
	firefox_sum_up(firefox, thread, &samples, key.type == JSON_OBJECT_END);
	firefox_column_free(&samples.stacks);
	firefox_column_free(&samples.weights);
	firefox_column_free(&samples.deltas);
	firefox_column_free(&samples.times);
}

/* Reads a thread whose object is open. */
static void
firefox_read_thread(struct firefox *firefox, struct firefox_thread *thread)
{
	const struct {
		const char *key;
		char **text;
	} texts[] = {
		{ "name", &thread->name },
		{ "processName", &thread->process_name },
		{ "pid", &thread->pid },
		{ "tid", &thread->tid },
	};
	struct json_token key, token;

	while (json_next_key(firefox->json, &key)) {
		char **text = NULL;

		if (firefox_read_tables_key(firefox, &thread->tables, &key))
			continue;
		if (json_is(&key, "samples") && thread->n_charges == 0) {
			firefox_read_samples(firefox, thread);
			continue;
		}
		thread->has_allocations |= json_is(&key, "jsAllocations") ||
		    json_is(&key, "nativeAllocations");
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			if (json_is(&key, texts[i].key))
				text = texts[i].text;
		if (!json_get_value(firefox->json, &token) || text == NULL ||
		    (token.type != JSON_STRING && token.type != JSON_NUMBER))
			continue;
		free(*text);
		*text = memory_text(token.text, token.length, firefox->error);
	}
}

/* ---- frames ---- */

/*
 * The module of a library, added to the profile when it is new; libraries of
 * the same path and code id are one module.  NO_MODULE: the library has no
 * path, or *error is set.
 */
static uint32_t
firefox_find_module(struct firefox *firefox,
                    const struct text_column *libraries, uint32_t library)
{
	struct profile *profile = firefox->reader.profile;
	struct module_cache *cache = firefox->reader.options->modules;
	unsigned char id[sizeof profile->modules->build_id];
	size_t path_length, id_length, size = 0;
	const char *path = text_column_at(libraries, 2 * (size_t)library,
	                                  &path_length);
	const char *id_text = text_column_at(libraries, 2 * (size_t)library + 1,
	                                     &id_length);
	uint32_t n = names_count(firefox->modules), module;
	char *copy;

	path_length = strnlen(path, path_length);
	if (path_length == 0)
		return NO_MODULE;
	module = names_add_pair(firefox->modules, path, path_length, id_text,
	                        id_length, firefox->error);
	if (module == NO_NAME)
		return NO_MODULE;
	if (module < n)
		return module;
	for (; size < sizeof id && 2 * size + 1 < id_length &&
	     isxdigit((unsigned char)id_text[2 * size]) &&
	     isxdigit((unsigned char)id_text[2 * size + 1]); size++) {
		const char digits[3] = { id_text[2 * size],
			id_text[2 * size + 1], '\0' };

		id[size] = (unsigned char)strtoul(digits, NULL, 16);
	}
	if (2 * size != id_length)
		size = 0;
	copy = memory_text(path, path_length, firefox->error);
	if (copy != NULL &&
	    profile_add_module(profile, copy, id, (uint32_t)size,
	                       firefox->error) != NO_MODULE &&
	    memory_grow(&firefox->bases, &firefox->bases_capacity,
	                (size_t)module + 1, sizeof *firefox->bases,
	                firefox->error) == 0)
		firefox->bases[module] = module_cache_address(cache, copy, id,
		                                              size, 0);
	free(copy);
	return firefox->error->is_set ? NO_MODULE : module;
}

/* The label of a frame, new or not; NO_LABEL with *error set. */
static uint32_t
firefox_add_known(struct firefox *firefox, const struct known_frame *known)
{
	uint32_t number = names_add(firefox->known, (const char *)known,
	                            sizeof *known, firefox->error);

	return number == NO_NAME ? NO_LABEL : number;
}

/* The label of a frame that is only a name; likewise. */
static uint32_t
firefox_add_name(struct firefox *firefox, const char *name)
{
	struct known_frame known = { .module = NO_MODULE, .file = NO_NAME };

	known.function = names_add(firefox->reader.profile->names, name,
	                           strlen(name), firefox->error);
	return known.function == NO_NAME ? NO_LABEL :
	       firefox_add_known(firefox, &known);
}

/* The label for an index that is out of range. */
static uint32_t
firefox_miss_row(struct firefox *firefox, const struct firefox_tables *tables,
                 enum firefox_column_place place, size_t row, size_t n)
{
	if (json_is_cut_short(firefox->json))
		return firefox_add_name(firefox, "[unknown]");
	firefox_fail_index(firefox, tables, place, row, n);
	return NO_LABEL;
}

/* "0x1a2b", the name of a function without a symbol. */
static bool
firefox_is_address(const char *text, size_t length)
{
	if (length < 3 || text[0] != '0' || text[1] != 'x')
		return false;
	for (size_t i = 2; i < length; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* The label of a row of the frames; NO_LABEL with *error set. */
static uint32_t
firefox_make_label(struct firefox *firefox, struct firefox_stacks *stacks,
                   uint32_t frame)
{
	const struct firefox_tables *tables = stacks->tables, *files = tables;
	const struct text_column *strings = &stacks->strings->strings;
	struct names *names = firefox->reader.profile->names;
	const size_t n_functions = tables->columns[FUNCTION_NAME].n;
	const size_t n_libraries = stacks->libraries->libraries.n / 2;
	const struct firefox_column *addresses =
	    &tables->columns[FRAME_ADDRESS];
	struct known_frame known = { .module = NO_MODULE, .file = NO_NAME,
		.function = NO_NAME };
	uint32_t function, name, file_row, file, library, line, *known_name;
	enum firefox_column_place file_column = FUNCTION_FILE;
	const char *text;
	size_t length;

	function = tables->columns[FRAME_FUNCTION].indices[frame];
	if (function >= n_functions)
		return firefox_miss_row(firefox, tables, FRAME_FUNCTION, frame,
		                        n_functions);
	name = tables->columns[FUNCTION_NAME].indices[function];
	if (name >= strings->n)
		return firefox_miss_row(firefox, tables, FUNCTION_NAME,
		                        function, strings->n);
	file_row = function;
	if (tables->columns[FUNCTION_FILE].n == 0) {
		file_row = firefox_index_at(tables, FUNCTION_SOURCE, function);
		files = stacks->sources;
		file_column = SOURCE_FILE;
	}
	file = firefox_index_at(files, file_column, file_row);
	if (file != NO_CELL && file >= strings->n)
		return firefox_miss_row(firefox, files, file_column, file_row,
		                        strings->n);
	library = tables->columns[FRAME_LIBRARY].n > 0 ?
	    firefox_index_at(tables, FRAME_LIBRARY, frame) :
	    firefox_index_at(tables, RESOURCE_LIBRARY,
	        firefox_index_at(tables, FUNCTION_RESOURCE, function));
	if (library != NO_CELL && library >= n_libraries) {
		if (!json_is_cut_short(firefox->json)) {
			json_fail(firefox->json,
			          tables->columns[FRAME_FUNCTION].offset,
			          "frame %" PRIu32 " is of library %" PRIu32
			          " of %zu", frame, library, n_libraries);
			return NO_LABEL;
		}
		library = NO_CELL;
	}

	if (library != NO_CELL && frame < addresses->n &&
	    addresses->numbers[frame] != NO_ADDRESS)
		known.module = firefox_find_module(firefox,
		    &stacks->libraries->libraries, library);
	if (firefox->error->is_set)
		return NO_LABEL;
	if (known.module != NO_MODULE)
		known.address = firefox->bases[known.module] +
		                addresses->numbers[frame];
	text = text_column_at(strings, name, &length);
	if (known.module != NO_MODULE && firefox_is_address(text, length))
		return firefox_add_known(firefox, &known);

	/* Demangling is slow, so each string is demangled only once. */
	known_name = &stacks->names[name];
	if (*known_name == NO_NAME)
		*known_name = length == 0 ?
		    names_add(names, "(anonymous)", 11, firefox->error) :
		    demangle_and_add(names, text, length, firefox->error);
	known.function = *known_name;
	line = firefox_index_at(tables, FRAME_LINE, frame);
	if (line == NO_CELL)
		line = firefox_index_at(tables, FUNCTION_LINE, function);
	if (line != NO_CELL)
		known.line = line;
	if (file != NO_CELL) {
		text = text_column_at(strings, file, &length);
		if (length > 0)
			known.file = names_add(names, text, length,
			                       firefox->error);
	}
	return firefox->error->is_set ? NO_LABEL :
	       firefox_add_known(firefox, &known);
}

static struct known_frame
get_known(const struct firefox *firefox, uint32_t label)
{
	struct known_frame known;

	memcpy(&known, names_text(firefox->known, label), sizeof known);
	return known;
}

/*
 * Enters all frames into the profile and returns them by label, the caller's to
 * free; NULL with *error set.  A function that has only an address for a name,
 * as samply leaves it, gets the symbol of its library at that address if there
 * is one.
 */
static uint32_t *
firefox_finish_frames(struct firefox *firefox)
{
	struct profile *profile = firefox->reader.profile;
	uint32_t n = names_count(firefox->known);
	uint32_t *frames = memory_array(n, sizeof *frames, firefox->error);
	struct address_frames *addresses = address_frames_new(firefox->error);
	int result = frames != NULL && addresses != NULL ? 0 : -1;

	/* Frames without a name go first: address_frames.h counts from 0. */
	for (uint32_t i = 0; result == 0 && i < n; i++) {
		struct known_frame known = get_known(firefox, i);

		if (known.function != NO_NAME)
			continue;
		frames[i] = address_frames_add(addresses, known.module,
		                               known.address, firefox->error);
		result = frames[i] != UINT32_MAX ? 0 : -1;
	}
	if (result == 0)
		result = address_frames_finish(addresses, profile,
		                               firefox->reader.options->modules,
		                               firefox->error);
	for (uint32_t i = 0; result == 0 && i < n; i++) {
		struct known_frame known = get_known(firefox, i);
		const struct location location = {
			.function = known.function,
			.file = known.file,
			.line = known.line,
			.linkage = NO_NAME,
		};

		if (known.function == NO_NAME)
			continue;
		frames[i] = profile_add_frame(profile, known.module,
		    known.address, &location, 1, firefox->error);
		if (frames[i] == UINT32_MAX)
			result = -1;
		else	/* Inlined calls are frames of their own already. */
			profile->frames[frames[i]].has_debug_lines =
			    known.module != NO_MODULE;
	}
	address_frames_free(addresses);
	if (result == 0)
		return frames;
	free(frames);
	return NULL;
}

/* ---- stacks ---- */

/* n numbers, all of them UINT32_MAX: NO_LABEL, NO_NAME. */
static uint32_t *
unset_numbers(size_t n, struct error *error)
{
	uint32_t *numbers = memory_array(n, sizeof *numbers, error);

	if (numbers != NULL)
		memset(numbers, 0xff, n * sizeof *numbers);
	return numbers;
}

/*
 * Begins with the stacks of a thread, or of the shared tables; they and all
 * that they refer to must have been read.  If the input is cut short, only
 * complete rows; otherwise an invalid row is an error.  Strings, libraries and
 * sources that the thread has not are the shared ones.
 */
static int
firefox_stacks_begin(struct firefox *firefox, struct firefox_stacks *stacks,
                     const struct firefox_tables *tables)
{
	const struct firefox_tables *shared = &firefox->shared;
	const struct firefox_column *callers = &tables->columns[STACK_PREFIX];
	const size_t n_frames = tables->columns[FRAME_FUNCTION].n;
	size_t n = tables->columns[STACK_FRAME].n;
	const bool has_prefixes = callers->n > 0;
	uint32_t **names;

	if (!has_prefixes)
		callers = &tables->columns[STACK_OFFSET];
	if (n != callers->n && !json_is_cut_short(firefox->json)) {
		json_fail(firefox->json, tables->columns[STACK_FRAME].offset,
		          "%zu stacks have %zu callers", n, callers->n);
		return -1;
	}
	if (n > callers->n)
		n = callers->n;
	if (n >= NO_ROW)
		return error_set(firefox->error,
		                 "more than 4,294,967,294 stacks");
	stacks->tables = tables;
	stacks->strings = tables->has_strings ? tables : shared;
	stacks->libraries = tables->has_libraries ? tables : shared;
	stacks->sources = tables->has_sources ? tables : shared;
	stacks->parent = memory_array(n, sizeof *stacks->parent,
	                              firefox->error);
	stacks->label = memory_array(n, sizeof *stacks->label, firefox->error);
	stacks->rows = (struct stack_rows){ .parent = stacks->parent,
		.label = stacks->label, .n = (uint32_t)n };
	stacks->labels = unset_numbers(n_frames, firefox->error);
	names = stacks->strings == shared ? &firefox->shared_names :
	        &stacks->own_names;
	if (*names == NULL)
		*names = unset_numbers(stacks->strings->strings.n,
		                       firefox->error);
	stacks->names = *names;
	if (firefox->error->is_set)
		return -1;

	/* The callers' rows, of either form. */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t caller = callers->indices[i];

		if (caller != NO_CELL &&
		    (has_prefixes ? caller >= n : caller > i)) {
			firefox_fail_index(firefox, tables, has_prefixes ?
			                   STACK_PREFIX : STACK_OFFSET, i, n);
			return -1;
		}
		stacks->parent[i] = has_prefixes ? caller :
		    caller == NO_CELL || caller == 0 ? NO_ROW : i - caller;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = tables->columns[STACK_FRAME].indices[i];

		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, firefox->error) != 0)
			return -1;
		if (row >= n_frames) {
			stacks->label[i] = firefox_miss_row(firefox, tables,
			    STACK_FRAME, i, n_frames);
		} else {
			if (stacks->labels[row] == NO_LABEL)
				stacks->labels[row] = firefox_make_label(
				    firefox, stacks, row);
			stacks->label[i] = stacks->labels[row];
		}
		if (firefox->error->is_set)
			return -1;
	}
	return 0;
}

/* The node of a stack; NO_NODE with *error set. */
static uint32_t
firefox_find_node(struct firefox *firefox, struct firefox_stacks *stacks,
                  const struct firefox_thread *thread, uint32_t stack)
{
	struct stack_rows *rows = &stacks->rows;
	struct error why = { 0 };
	uint32_t node, label;

	if (stack == NO_CELL ||
	    (stack >= rows->n && firefox->reader.is_cut_short)) {
		label = firefox_add_name(firefox, stack == NO_CELL ?
		                         "[no stack]" : "[unknown]");
		return label == NO_LABEL ? NO_NODE :
		       reader_child(&firefox->reader, NO_NODE, label,
		                    firefox->error);
	}
	if (stack >= rows->n)
		json_fail(firefox->json, thread->offset, "a sample of stack %"
		          PRIu32 " of %" PRIu32, stack, rows->n);
	else if (reader_enter_row(&firefox->reader, rows, stack, &node,
	                          &why) != 0)
		json_pass(firefox->json,
		          stacks->tables->columns[STACK_FRAME].offset, &why);
	else
		return node;
	return NO_NODE;
}

/* ---- hits ---- */

static uint32_t
firefox_need_weight(struct firefox *firefox, enum firefox_weight weight,
                    struct error *error)
{
	const char *gtick = firefox_weights[weight].gtick;
	uint64_t interval = 1;

	if (weight == WEIGHT_SAMPLES && firefox->interval_ns > 0) {
		gtick = "nanosecond";
		interval = firefox->interval_ns;
	}
	return reader_need_resource(&firefox->reader,
	    &firefox->resources[weight], firefox_weights[weight].name, gtick,
	    interval, error);
}

static uint32_t
firefox_need_cpu(struct firefox *firefox, struct error *error)
{
	const struct firefox_kind *kind = &firefox_cpu_units[firefox->cpu_unit];

	return reader_need_resource(&firefox->reader, &firefox->cpu,
	                            kind->name, kind->gtick, 1, error);
}

/* The hits of a sum of weights, or of CPU deltas. */
static uint64_t
hits_of_weight(const struct firefox_thread *thread, uint64_t weight)
{
	if (thread->weight == WEIGHT_TIME)
		return weight;
	return weight / WEIGHT_ONE + (weight % WEIGHT_ONE >= WEIGHT_ONE / 2);
}

static uint64_t
hits_of_cpu(const struct firefox *firefox, uint64_t cpu)
{
	return firefox->cpu_unit == CPU_US ? cpu : cpu / DELTA_ONE;
}

static int
firefox_add_charge(struct firefox *firefox, const struct firefox_thread *thread,
                   const struct firefox_charge *charge, uint32_t node,
                   struct error *error)
{
	const uint64_t cpu = hits_of_cpu(firefox, charge->cpu);
	uint32_t resource = firefox_need_weight(firefox, thread->weight, error);

	if (thread->weight != WEIGHT_TIME)
		firefox->n_rounded += charge->weight % WEIGHT_ONE != 0;
	if (resource == NO_RESOURCE ||
	    reader_add_hits(&firefox->reader, node, resource,
	                    hits_of_weight(thread, charge->weight),
	                    charge->n_samples, error) != 0)
		return -1;
	firefox->n_samples += charge->n_samples;
	if (cpu == 0)
		return 0;
	resource = firefox_need_cpu(firefox, error);
	return resource != NO_RESOURCE &&
	    reader_add_hits(&firefox->reader, node, resource, cpu,
	                    charge->n_samples, error) == 0 ? 0 : -1;
}

/* A charge that was added, and the sum of its samples so far. */
struct firefox_added {
	uint32_t node;
	uint64_t weight, cpu;
};

/*
 * Notes when the samples were taken.  Sums are rounded as those of the charges
 * are, so that what a sample adds to its sum has its time.
 */
static int
firefox_add_times(struct firefox *firefox, const struct firefox_thread *thread,
                  struct firefox_added *added)
{
	const uint32_t resource = firefox->resources[thread->weight] - 1;

	for (size_t i = 0; i < thread->n_samples; i++) {
		const struct firefox_sample *sample = &thread->samples[i];
		struct firefox_added *sum = &added[sample->charge];
		const uint64_t weight = hits_of_weight(thread, sum->weight);
		const uint64_t cpu = hits_of_cpu(firefox, sum->cpu);

		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, firefox->error) != 0)
			return -1;
		sum->weight += sample->weight;
		sum->cpu += sample->cpu;
		if (sample->time_ns == NO_TIME)
			continue;
		if (reader_add_time(&firefox->reader, sum->node, resource,
		        sample->time_ns,
		        hits_of_weight(thread, sum->weight) - weight, 1,
		        firefox->error) != 0 ||
		    (hits_of_cpu(firefox, sum->cpu) > cpu &&
		     reader_add_time(&firefox->reader, sum->node,
		        firefox->cpu - 1, sample->time_ns,
		        hits_of_cpu(firefox, sum->cpu) - cpu, 1,
		        firefox->error) != 0))
			return -1;
	}
	return 0;
}

/* Enters the samples of a thread, for the reader's current one. */
static int
firefox_add_samples(struct firefox *firefox,
                    const struct firefox_thread *thread,
                    struct firefox_stacks *stacks)
{
	struct error *error = firefox->error;
	struct firefox_added *added = memory_array(thread->n_charges,
	                                           sizeof *added, error);
	uint32_t resource;

	for (size_t i = 0; i < thread->n_charges && !error->is_set; i++) {
		const struct firefox_charge *charge = &thread->charges[i];
		struct error why = { 0 };

		added[i].node = firefox_find_node(firefox, stacks, thread,
		                                  charge->stack);
		if (added[i].node == NO_NODE || (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0))
			break;
		if (firefox_add_charge(firefox, thread, charge, added[i].node,
		                       &why) != 0)
			json_pass(firefox->json, thread->offset, &why);
	}
	if (!error->is_set)
		firefox_add_times(firefox, thread, added);
	if (!error->is_set && thread->weight_below_zero != 0) {
		resource = firefox_need_weight(firefox, thread->weight, error);
		if (resource != NO_RESOURCE)
			reader_note_below_zero(&firefox->reader, resource,
			    thread->weight_below_zero - 1, error);
	}
	if (!error->is_set && thread->cpu_below_zero != 0) {
		resource = firefox_need_cpu(firefox, error);
		if (resource != NO_RESOURCE)
			reader_note_below_zero(&firefox->reader, resource,
			    thread->cpu_below_zero - 1, error);
	}
	free(added);
	return error->is_set ? -1 : 0;
}

/* ---- threads ---- */

static uint64_t
firefox_number_of(const char *text)
{
	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* Adds a thread to the profile, and its process if that is new. */
static int
firefox_add_thread(struct firefox *firefox, const struct firefox_thread *from,
                   struct firefox_stacks *stacks)
{
	struct reader *reader = &firefox->reader;
	const char *pid = from->pid != NULL ? from->pid : "";
	struct process process = {
		.pid = firefox_number_of(pid),
		.program = from->process_name != NULL ? from->process_name :
		           firefox->product,
		.start_ns = firefox->start_ns,
	};
	struct thread thread = { .tid = firefox_number_of(from->tid),
		.name = from->name };
	uint32_t n = names_count(firefox->pids);

	thread.process = names_add(firefox->pids, pid, strlen(pid),
	                           firefox->error);
	if (thread.process == n)
		thread.process = profile_add_process(reader->profile, &process,
		                                     firefox->error);
	if (firefox->error->is_set)
		return -1;
	reader->thread = profile_add_thread(reader->profile, &thread,
	                                    firefox->error);
	if (reader->thread == NO_THREAD ||
	    firefox_add_samples(firefox, from, stacks) != 0)
		return -1;
	stack_rows_reset(&stacks->rows);
	return 0;
}

/*
 * Enters a thread.  By now meta must have been read, and all tables that the
 * thread's stacks refer to.
 *
 * Each thread gets its own nodes for the stacks that it shares with others, so
 * a small file could ask for any number of nodes.  When there are half as many
 * as it may have, all further threads share one set of nodes.
 */
static int
firefox_enter(struct firefox *firefox, const struct firefox_thread *thread)
{
	struct firefox_stacks own = { .parent = NULL };
	int result;

	if (thread->tables.has_stacks) {
		result = firefox_stacks_begin(firefox, &own, &thread->tables);
		if (result == 0)
			result = firefox_add_thread(firefox, thread, &own);
		firefox_stacks_free(&own);
		return result;
	}
	if (!firefox->has_common &&
	    firefox_stacks_begin(firefox, &firefox->common,
	                         &firefox->shared) != 0)
		return -1;
	firefox->has_common = true;
	if (firefox->n_merged == 0 && reader_count_nodes(&firefox->reader) <
	    source_most_nodes(firefox->reader.source) / 2)
		return firefox_add_thread(firefox, thread, &firefox->common);
	firefox->n_merged++;
	firefox->reader.thread = NO_THREAD;
	return firefox_add_samples(firefox, thread, &firefox->common);
}

static void
firefox_read_threads(struct firefox *firefox)
{
	struct json_token token;

	if (!json_open_array(firefox->json, "an array of threads"))
		return;
	while (json_next_object(firefox->json, &token,
	                        "a thread, an object")) {
		struct firefox_thread thread = { .name = NULL };

		firefox_read_thread(firefox, &thread);
		firefox->n_allocating += thread.has_allocations;
		if (firefox->has_meta && thread.tables.has_stacks &&
		    thread.tables.has_strings &&
		    (thread.tables.has_libraries ||
		     firefox->shared.has_libraries) &&
		    !firefox->error->is_set) {
			firefox_enter(firefox, &thread);
		} else if (memory_grow(&firefox->waiting,
		                       &firefox->waiting_capacity,
		                       firefox->n_waiting + 1, sizeof thread,
		                       firefox->error) == 0) {
			firefox->waiting[firefox->n_waiting++] = thread;
			continue;
		}
		firefox_thread_free(&thread);
	}
}

/* ---- the file ---- */

/* Reads milliseconds as nanoseconds; 0: any other value. */
static uint64_t
firefox_read_ms(struct firefox *firefox)
{
	struct json_token token;
	struct decimal number;
	int64_t ns;

	return json_get_value(firefox->json, &token) &&
	       json_decimal(&token, &number) &&
	       decimal_scale(number, TIME_POWER, &ns, NULL) && ns > 0 ?
	       (uint64_t)ns : 0;
}

static void
firefox_read_units(struct firefox *firefox)
{
	struct json_token key, token;

	if (!json_open_object(firefox->json, "units, an object"))
		return;
	while (json_next_key(firefox->json, &key)) {
		bool is_cpu = json_is(&key, "threadCPUDelta");

		if (!json_get_value(firefox->json, &token))
			return;
		if (!is_cpu || token.type != JSON_STRING)
			continue;
		firefox->cpu_unit = json_is(&token, "ns") ? CPU_NS :
		    json_is(&token, "\u00b5s") ? CPU_US :
		    json_is(&token, "variable CPU cycles") ? CPU_CYCLES :
		    CPU_UNKNOWN;
	}
}

static void
firefox_read_meta(struct firefox *firefox)
{
	struct json_token key, token;

	if (!json_open_object(firefox->json, "an object about the profile"))
		return;
	while (json_next_key(firefox->json, &key)) {
		bool is_product = json_is(&key, "product");

		if (json_is(&key, "interval"))
			firefox->interval_ns = firefox_read_ms(firefox);
		else if (json_is(&key, "startTime"))
			firefox->start_ns = firefox_read_ms(firefox);
		else if (json_is(&key, "sampleUnits"))
			firefox_read_units(firefox);
		else if (json_get_value(firefox->json, &token) && is_product &&
		         token.type == JSON_STRING && token.length > 0)
			firefox->product = arena_text(
			    &firefox->reader.profile->arena, token.text,
			    token.length, firefox->error);
	}
	firefox->has_meta = true;
}

static void
firefox_read_file(struct firefox *firefox)
{
	struct json_token key;

	if (!json_open_object(firefox->json, "an object"))
		return;
	while (json_next_key(firefox->json, &key)) {
		if (json_is(&key, "meta")) {
			firefox_read_meta(firefox);
		} else if (json_is(&key, "threads")) {
			firefox_read_threads(firefox);
		} else if (json_is(&key, "shared")) {
			if (!json_open_object(firefox->json,
			                      "shared tables, an object"))
				continue;
			while (json_next_key(firefox->json, &key))
				if (!firefox_read_tables_key(firefox,
				        &firefox->shared, &key))
					json_skip_value(firefox->json);
		} else if (!json_is(&key, "libs") ||
		           !firefox_read_tables_key(firefox,
		               &firefox->shared, &key)) {
			json_skip_value(firefox->json);
		}
	}
	json_next(firefox->json, &key);
	for (size_t i = 0; i < firefox->n_waiting && !firefox->error->is_set;
	     i++)
		firefox_enter(firefox, &firefox->waiting[i]);
}

static int
firefox_finish(struct firefox *firefox)
{
	struct reader *reader = &firefox->reader;
	struct error *error = firefox->error;
	struct sample_tree *tree;
	uint32_t *frames;

	if (error->is_set)
		return -1;
	if (firefox->n_samples == 0)
		return reader_fail_empty(reader, error);
	if (reader_warn_cut_short(reader, ", but names may be missing",
	                          error) != 0)
		return -1;
	if (firefox->n_allocating > 0 &&
	    reader_warn(reader, error, "allocations are not read; threads that "
	                "have some: %" PRIu64, firefox->n_allocating) != 0)
		return -1;
	if (firefox->n_merged > 0 &&
	    reader_warn(reader, error, "the last %" PRIu32 " threads are "
	                "shown as one: the file has too many that share their "
	                "stacks", firefox->n_merged) != 0)
		return -1;
	if (firefox->n_rounded > 0 &&
	    reader_warn(reader, error, "stacks whose weights were rounded to "
	                "whole numbers: %" PRIu64, firefox->n_rounded) != 0)
		return -1;
	frames = firefox_finish_frames(firefox);
	if (frames == NULL || reader_finish_stacks(reader, NULL, error) != 0) {
		free(frames);
		return -1;
	}
	tree = reader->profile->tree;
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		tree->label[i] = frames[tree->label[i]];
	free(frames);
	return reader_drop_below_zero(reader, NULL, error);
}

static struct profile *
firefox_read(struct source *source, const struct read_options *options,
             struct error *error)
{
	struct firefox firefox = { .error = error };
	int result = reader_begin(&firefox.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		firefox.json = json_reader_new(&firefox.reader, &firefox, error);
	firefox.modules = names_new(error);
	firefox.known = names_new(error);
	firefox.pids = names_new(error);
	if (!error->is_set)
		firefox_read_file(&firefox);
	result = firefox_finish(&firefox);
	for (size_t i = 0; i < firefox.n_waiting; i++)
		firefox_thread_free(&firefox.waiting[i]);
	free(firefox.waiting);
	firefox_stacks_free(&firefox.common);
	firefox_tables_free(&firefox.shared);
	names_free(firefox.modules);
	names_free(firefox.known);
	names_free(firefox.pids);
	free(firefox.bases);
	free(firefox.shared_names);
	json_reader_free(firefox.json);
	return reader_end(&firefox.reader, result);
}

static int
firefox_probe(const void *head, size_t size)
{
	static const char *const keys[] = {
		"meta.preprocessedProfileVersion", "meta.markerSchema",
		"meta.stackwalk", "meta.processType", "meta.interval",
		"threads[].stackTable", "threads[].frameTable",
		"threads[].samples.stack", "shared.stackTable",
		"shared.stringArray", NULL
	};
	static const char cleopatra[] = "\"profileJSONWithSymbolicationTable,";

	/* The form before Gecko's, with the same "meta", is foreign. */
	if (memmem(head, size < 256 ? size : 256, cleopatra,
	           sizeof cleopatra - 1) != NULL)
		return PROBE_NO;
	return json_probe(head, size, keys);
}

const struct format format_firefox = {
	.name = "Firefox profile",
	.summary = "what profiler.firefox.com and samply write",
	.probe = firefox_probe,
	.read = firefox_read,
};
