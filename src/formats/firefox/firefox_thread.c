/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_thread.c -- one thread of a Firefox profile, with its samples.
 *
 * Samples are columns: {"stack": [...], "weight": [...] or null, "weightType",
 * "threadCPUDelta": [...], "time" or "timeDeltas": [...], ...}.  When the
 * object ends, the samples of each stack are summed up, since a few stacks have
 * most samples.  Samples with times are kept as well, until the stacks have
 * nodes.
 */
#include "src/formats/firefox/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"

/* Numbers from 0 on. */
struct firefox_amounts {
	uint64_t *values;
	size_t n, capacity;
	bool is_there;
};

struct thread_reading {
	struct firefox_thread *thread;
	struct json_reader *json;
	struct error *error;
	struct index_column stacks;
	struct firefox_amounts weights, deltas;
	struct firefox_amounts times;		/* ns, or NO_TIME */
};

void
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

/* ---- columns ---- */

/*
 * Reads a column of amounts; null counts as 0, and so does one below zero, of
 * which *below_zero then tells.  what: "an array of weights".
 */
static void
read_amounts(struct thread_reading *reading, struct firefox_amounts *amounts,
             int power, const char *what, uint64_t *below_zero)
{
	struct json_token token;

	amounts->n = 0;
	if (!json_open_array(reading->json, what))
		return;
	amounts->is_there = true;
	while (json_next_element(reading->json, &token)) {
		struct decimal decimal = { .digits = 0 };
		int64_t number;

		if (token.type != JSON_NULL && !json_decimal(&token, &decimal))
			json_fail(reading->json, token.offset, "expected %s",
			          what);
		else if (!decimal_scale(decimal, power, &number, NULL))
			json_fail(reading->json, token.offset,
			          "a number that exceeds 63 bits");
		else if (memory_grow(&amounts->values, &amounts->capacity,
		                     amounts->n + 1, sizeof *amounts->values,
		                     reading->error) == 0)
			amounts->values[amounts->n++] = number < 0 ? 0 :
			                                (uint64_t)number;
		if (!reading->error->is_set && number < 0 && *below_zero == 0)
			*below_zero = token.offset + 1;
	}
}

/*
 * Reads a column of times in milliseconds, or of the differences between them.
 * One that is before the start, or none, is unknown; the next difference counts
 * from the last known time.
 */
static void
firefox_thread_read_times(struct thread_reading *reading, bool are_deltas)
{
	struct firefox_amounts *times = &reading->times;
	struct json_token token;
	int64_t time = 0;

	times->n = 0;
	if (!json_open_array(reading->json, "an array of times"))
		return;
	times->is_there = true;
	while (json_next_element(reading->json, &token)) {
		struct decimal decimal;
		int64_t number, next = -1;

		if (token.type != JSON_NUMBER && token.type != JSON_NULL) {
			json_fail(reading->json, token.offset,
			          "expected an array of times");
			return;
		}
		if (json_decimal(&token, &decimal) &&
		    decimal_scale(decimal, TIME_POWER, &number, NULL) &&
		    (!are_deltas ||
		     !__builtin_add_overflow(time, number, &number)))
			time = next = number;
		if (memory_grow(&times->values, &times->capacity, times->n + 1,
		                sizeof *times->values, reading->error) != 0)
			return;
		times->values[times->n++] = next < 0 ? NO_TIME :
		                            (uint64_t)next;
	}
}

static void
read_weight_type(struct thread_reading *reading)
{
	struct json_token token;

	if (!json_next(reading->json, &token))
		return;
	if (token.type == JSON_NULL || json_is(&token, "samples"))
		reading->thread->weight = WEIGHT_SAMPLES;
	else if (json_is(&token, "tracing-ms"))
		reading->thread->weight = WEIGHT_TIME;
	else if (json_is(&token, "bytes"))
		reading->thread->weight = WEIGHT_BYTES;
	else
		json_fail(reading->json, token.offset, "expected a type of "
		          "weights: samples, tracing-ms or bytes");
}

/* ---- sums by stack ---- */

static int
firefox_thread_add_sample(struct thread_reading *reading,
                          struct id_table *stacks, size_t sample)
{
	struct firefox_thread *thread = reading->thread;
	uint32_t stack = reading->stacks.values[sample];
	uint32_t number = id_table_add(stacks, stack, reading->error);
	struct firefox_charge *charge;
	uint64_t weight = WEIGHT_ONE, cpu = 0;

	if (number == NO_ID ||
	    memory_grow(&thread->charges, &thread->charges_capacity,
	                (size_t)number + 1, sizeof *thread->charges,
	                reading->error) != 0)
		return -1;
	charge = &thread->charges[number];
	if (number == thread->n_charges) {
		*charge = (struct firefox_charge){ .stack = stack };
		thread->n_charges++;
	}
	if (reading->weights.is_there)
		weight = reading->weights.values[sample];
	/* The first delta has no sample before it to count from. */
	if (reading->deltas.is_there && sample > 0)
		cpu = reading->deltas.values[sample];
	if (__builtin_add_overflow(charge->weight, weight, &charge->weight) ||
	    __builtin_add_overflow(charge->cpu, cpu, &charge->cpu)) {
		json_fail(reading->json, thread->offset,
		          "the sum of a stack's samples exceeds 64 bits");
		return -1;
	}
	charge->n_samples++;
	if (sample >= reading->times.n)
		return 0;
	if (memory_grow(&thread->samples, &thread->samples_capacity,
	                thread->n_samples + 1, sizeof *thread->samples,
	                reading->error) != 0)
		return -1;
	thread->samples[thread->n_samples++] = (struct firefox_sample){
		reading->times.values[sample], weight, cpu, number
	};
	return 0;
}

/* The number of samples; in a cut input, that of the shortest column. */
static size_t
firefox_thread_count_samples(struct thread_reading *reading, bool is_whole)
{
	size_t n = reading->stacks.n;
	const struct firefox_amounts *columns[] = { &reading->weights,
		&reading->deltas };

	for (size_t i = 0; i < 2; i++) {
		if (!columns[i]->is_there || columns[i]->n == n)
			continue;
		if (is_whole)
			json_fail(reading->json, reading->thread->offset,
			          "%zu samples have %zu %s", reading->stacks.n,
			          columns[i]->n, i == 0 ? "weights" :
			          "CPU deltas");
		else if (columns[i]->n < n)
			n = columns[i]->n;
	}
	return n;
}

static void
firefox_thread_sum_up(struct thread_reading *reading, bool is_whole)
{
	struct id_table stacks = { 0 };
	size_t n = firefox_thread_count_samples(reading, is_whole);

	for (size_t i = 0; i < n && !reading->error->is_set; i++)
		if (firefox_thread_add_sample(reading, &stacks, i) != 0)
			break;
	id_table_free(&stacks);
}

/* ---- the thread ---- */

static void
firefox_thread_read_samples(struct thread_reading *reading)
{
	struct json_token key;

	if (!json_open_object(reading->json, "samples, an object"))
		return;
	while (json_next_key(reading->json, &key)) {
		reading->thread->offset = key.offset;
		if (json_is(&key, "schema"))
			firefox_fail_unprocessed(reading->json, key.offset);
		else if (json_is(&key, "stack"))
			index_column_read(&reading->stacks, reading->json,
			                  "an array of stacks' indices",
			                  reading->error);
		else if (json_is(&key, "weight"))
			read_amounts(reading, &reading->weights, WEIGHT_POWER,
			             "an array of weights",
			             &reading->thread->weight_below_zero);
		else if (json_is(&key, "threadCPUDelta"))
			read_amounts(reading, &reading->deltas, DELTA_POWER,
			             "an array of CPU times",
			             &reading->thread->cpu_below_zero);
		else if (json_is(&key, "time") || json_is(&key, "timeDeltas"))
			firefox_thread_read_times(reading,
			                          json_is(&key, "timeDeltas"));
		else if (json_is(&key, "weightType"))
			read_weight_type(reading);
		else
			json_skip_value(reading->json);
	}
	firefox_thread_sum_up(reading, key.type == JSON_OBJECT_END);
}

/* A string or number as text. */
static void
firefox_thread_read_text(struct thread_reading *reading, char **text)
{
	struct json_token token;

	if (!json_get_value(reading->json, &token) ||
	    (token.type != JSON_STRING && token.type != JSON_NUMBER))
		return;
	free(*text);
	*text = memory_text(token.text, token.length, reading->error);
}

static void
firefox_thread_read_key(struct thread_reading *reading,
                        const struct json_token *key)
{
	struct firefox_thread *thread = reading->thread;

	if (firefox_tables_read_key(&thread->tables, reading->json, key,
	                            reading->error))
		return;
	if (json_is(key, "samples") && thread->n_charges == 0) {
		firefox_thread_read_samples(reading);
	} else if (json_is(key, "name")) {
		firefox_thread_read_text(reading, &thread->name);
	} else if (json_is(key, "processName")) {
		firefox_thread_read_text(reading, &thread->process_name);
	} else if (json_is(key, "pid")) {
		firefox_thread_read_text(reading, &thread->pid);
	} else if (json_is(key, "tid")) {
		firefox_thread_read_text(reading, &thread->tid);
	} else {
		thread->has_allocations |= json_is(key, "jsAllocations") ||
		    json_is(key, "nativeAllocations");
		json_skip_value(reading->json);
	}
}

void
firefox_thread_read(struct firefox_thread *thread, struct json_reader *json,
                    struct error *error)
{
	struct thread_reading reading = { .thread = thread, .json = json,
		.error = error };
	struct json_token key;

	while (json_next_key(json, &key))
		firefox_thread_read_key(&reading, &key);
	free(reading.stacks.values);
	free(reading.weights.values);
	free(reading.deltas.values);
	free(reading.times.values);
}
