/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox.c -- "processed" profiles of profiler.firefox.com and samply.
 *
 * {"meta", "libs", "shared", "threads": [...]}.  A thread with tables of its
 * own, as all had before version 56, is entered when it ends.  Other threads
 * wait for "shared"; of their samples only the sums are kept.
 * Source: firefox-devtools/profiler, src/types/profile.ts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/firefox/firefox.h"
#include "src/formats/json/json_reader.h"

struct firefox {
	struct reader reader;
	struct json_reader *json;
	struct error *error;
	struct firefox_meta meta;
	bool has_meta;
	struct firefox_tables shared;
	struct firefox_tree *tree;
	struct firefox_thread *waiting;		/* threads */
	size_t n_waiting, waiting_capacity;
	uint64_t n_allocating;			/* threads */
};

/* ---- meta ---- */

/* Reads milliseconds as nanoseconds; 0: any other value. */
static uint64_t
read_ms(struct firefox *firefox)
{
	struct json_token token;
	struct decimal number;
	int64_t ns;

	return json_get_value(firefox->json, &token) &&
	       json_decimal(&token, &number) &&
	       decimal_scale(number, 6, &ns, NULL) && ns > 0 ?
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
		firefox->meta.cpu_unit = json_is(&token, "ns") ? CPU_NS :
		    json_is(&token, "\u00b5s") ? CPU_US :
		    json_is(&token, "variable CPU cycles") ? CPU_CYCLES :
		    CPU_UNKNOWN;
	}
}

static void
read_product(struct firefox *firefox)
{
	struct profile *profile = firefox->reader.profile;
	struct json_token token;

	if (json_get_value(firefox->json, &token) &&
	    token.type == JSON_STRING && token.length > 0)
		firefox->meta.product = arena_text(&profile->arena, token.text,
		    token.length, firefox->error);
}

static void
read_meta(struct firefox *firefox)
{
	struct json_token key;

	if (!json_open_object(firefox->json, "an object about the profile"))
		return;
	while (json_next_key(firefox->json, &key)) {
		if (json_is(&key, "interval"))
			firefox->meta.interval_ns = read_ms(firefox);
		else if (json_is(&key, "startTime"))
			firefox->meta.start_ns = read_ms(firefox);
		else if (json_is(&key, "sampleUnits"))
			firefox_read_units(firefox);
		else if (json_is(&key, "product"))
			read_product(firefox);
		else
			json_skip_value(firefox->json);
	}
	firefox->has_meta = true;
}

/* ---- threads ---- */

/* Whether everything that a thread's stacks refer to has been read. */
static bool
has_all_tables(const struct firefox *firefox,
               const struct firefox_tables *tables)
{
	return tables->has_stacks && tables->has_strings &&
	       (tables->has_libraries || firefox->shared.has_libraries);
}

static void
read_thread(struct firefox *firefox)
{
	struct firefox_thread thread = { .name = NULL };

	firefox_thread_read(&thread, firefox->json, firefox->error);
	firefox->n_allocating += thread.has_allocations;
	if (firefox->has_meta && has_all_tables(firefox, &thread.tables) &&
	    !firefox->error->is_set) {
		firefox_tree_add(firefox->tree, &thread, firefox->error);
	} else if (memory_grow(&firefox->waiting, &firefox->waiting_capacity,
	                       firefox->n_waiting + 1, sizeof thread,
	                       firefox->error) == 0) {
		firefox->waiting[firefox->n_waiting++] = thread;
		return;
	}
	firefox_thread_free(&thread);
}

static void
read_threads(struct firefox *firefox)
{
	struct json_token token;

	if (!json_open_array(firefox->json, "an array of threads"))
		return;
	while (json_next_object(firefox->json, &token, "a thread, an object"))
		read_thread(firefox);
}

/* ---- the file ---- */

static void
firefox_read_shared(struct firefox *firefox)
{
	struct json_token key;

	if (!json_open_object(firefox->json, "shared tables, an object"))
		return;
	while (json_next_key(firefox->json, &key))
		if (!firefox_tables_read_key(&firefox->shared, firefox->json,
		                             &key, firefox->error))
			json_skip_value(firefox->json);
}

static void
firefox_read_file(struct firefox *firefox)
{
	struct json_token key;

	if (!json_open_object(firefox->json, "an object"))
		return;
	while (json_next_key(firefox->json, &key)) {
		if (json_is(&key, "meta"))
			read_meta(firefox);
		else if (json_is(&key, "shared"))
			firefox_read_shared(firefox);
		else if (json_is(&key, "threads"))
			read_threads(firefox);
		else if (!json_is(&key, "libs") ||
		         !firefox_tables_read_key(&firefox->shared,
		                                  firefox->json, &key,
		                                  firefox->error))
			json_skip_value(firefox->json);
	}
	json_next(firefox->json, &key);
	for (size_t i = 0; i < firefox->n_waiting && !firefox->error->is_set;
	     i++)
		firefox_tree_add(firefox->tree, &firefox->waiting[i],
		                 firefox->error);
}

static int
firefox_finish(struct firefox *firefox, struct error *error)
{
	struct reader *reader = &firefox->reader;

	if (error->is_set)
		return -1;
	if (firefox_tree_count(firefox->tree) == 0)
		return reader_fail_empty(reader, error);
	if (reader_warn_cut_short(reader, ", but names may be missing",
	                          error) != 0)
		return -1;
	if (firefox->n_allocating > 0 &&
	    reader_warn(reader, error, "allocations are not read; threads that "
	                "have some: %" PRIu64, firefox->n_allocating) != 0)
		return -1;
	return firefox_tree_finish(firefox->tree, error);
}

static struct profile *
firefox_read(struct source *source, const struct read_options *options,
             struct error *error)
{
	struct firefox firefox = { .error = error };
	int result = reader_begin(&firefox.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		firefox.json = json_reader_new(&firefox.reader, error);
	if (firefox.json != NULL)
		firefox.tree = firefox_tree_new(&firefox.reader,
		    &firefox.shared, &firefox.meta, firefox.json, error);
	if (firefox.tree != NULL)
		firefox_read_file(&firefox);
	result = firefox.tree != NULL ? firefox_finish(&firefox, error) : -1;
	for (size_t i = 0; i < firefox.n_waiting; i++)
		firefox_thread_free(&firefox.waiting[i]);
	free(firefox.waiting);
	firefox_tree_free(firefox.tree);
	firefox_tables_free(&firefox.shared);
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
