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
#include "src/formats/firefox/firefox_tree.h"
#include "src/formats/format.h"
#include "src/formats/json/json_number.h"
#include "src/formats/json/json_probe.h"

struct reader {
	struct json_reader *json;
	struct error *error;
	struct profile *profile;
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
read_ms(struct reader *reader)
{
	struct json_token token;
	struct decimal number;
	int64_t ns;

	return json_get_value(reader->json, &token) &&
	       json_decimal(&token, &number) &&
	       decimal_scale(number, 6, &ns, NULL) && ns > 0 ?
	       (uint64_t)ns : 0;
}

static void
read_units(struct reader *reader)
{
	struct json_token key, token;

	if (!json_open_object(reader->json, "units, an object"))
		return;
	while (json_next_key(reader->json, &key)) {
		bool is_cpu = json_is(&key, "threadCPUDelta");

		if (!json_get_value(reader->json, &token))
			return;
		if (!is_cpu || token.type != JSON_STRING)
			continue;
		reader->meta.cpu_unit = json_is(&token, "ns") ? CPU_NS :
		    json_is(&token, "\u00b5s") ? CPU_US :
		    json_is(&token, "variable CPU cycles") ? CPU_CYCLES :
		    CPU_UNKNOWN;
	}
}

static void
read_product(struct reader *reader)
{
	struct json_token token;

	if (json_get_value(reader->json, &token) &&
	    token.type == JSON_STRING && token.length > 0)
		reader->meta.product = arena_text(&reader->profile->arena,
		    token.text, token.length, reader->error);
}

static void
read_meta(struct reader *reader)
{
	struct json_token key;

	if (!json_open_object(reader->json, "an object about the profile"))
		return;
	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "interval"))
			reader->meta.interval_ns = read_ms(reader);
		else if (json_is(&key, "startTime"))
			reader->meta.start_ns = read_ms(reader);
		else if (json_is(&key, "sampleUnits"))
			read_units(reader);
		else if (json_is(&key, "product"))
			read_product(reader);
		else
			json_skip_value(reader->json);
	}
	reader->has_meta = true;
}

/* ---- threads ---- */

/* Whether everything that a thread's stacks refer to has been read. */
static bool
has_all_tables(const struct reader *reader,
               const struct firefox_tables *tables)
{
	return tables->has_stacks && tables->has_strings &&
	       (tables->has_libraries || reader->shared.has_libraries);
}

static void
read_thread(struct reader *reader)
{
	struct firefox_thread thread = { .name = NULL };

	firefox_thread_read(&thread, reader->json, reader->error);
	reader->n_allocating += thread.has_allocations;
	if (reader->has_meta && has_all_tables(reader, &thread.tables) &&
	    !reader->error->is_set) {
		firefox_tree_add(reader->tree, &thread, reader->error);
	} else if (memory_grow(&reader->waiting, &reader->waiting_capacity,
	                       reader->n_waiting + 1, sizeof thread,
	                       reader->error) == 0) {
		reader->waiting[reader->n_waiting++] = thread;
		return;
	}
	firefox_thread_free(&thread);
}

static void
read_threads(struct reader *reader)
{
	struct json_token token;

	if (!json_open_array(reader->json, "an array of threads"))
		return;
	while (json_next_object(reader->json, &token, "a thread, an object"))
		read_thread(reader);
}

/* ---- the file ---- */

static void
read_shared(struct reader *reader)
{
	struct json_token key;

	if (!json_open_object(reader->json, "shared tables, an object"))
		return;
	while (json_next_key(reader->json, &key))
		if (!firefox_tables_read_key(&reader->shared, reader->json,
		                             &key, reader->error))
			json_skip_value(reader->json);
}

static void
read_file(struct reader *reader)
{
	struct json_token key;

	if (!json_open_object(reader->json, "an object"))
		return;
	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "meta"))
			read_meta(reader);
		else if (json_is(&key, "shared"))
			read_shared(reader);
		else if (json_is(&key, "threads"))
			read_threads(reader);
		else if (!json_is(&key, "libs") ||
		         !firefox_tables_read_key(&reader->shared,
		                                  reader->json, &key,
		                                  reader->error))
			json_skip_value(reader->json);
	}
	json_next(reader->json, &key);
	for (size_t i = 0; i < reader->n_waiting && !reader->error->is_set;
	     i++)
		firefox_tree_add(reader->tree, &reader->waiting[i],
		                 reader->error);
}

static int
warn(struct reader *reader, struct error *error)
{
	if (json_warn_cut(reader->json, reader->profile,
	                  ", but names may be missing", error) != 0)
		return -1;
	return reader->n_allocating == 0 ? 0 :
	    profile_warn(reader->profile, error, "%s: allocations are not "
	                 "read; threads that have some: %" PRIu64,
	                 json_source_name(reader->json), reader->n_allocating);
}

static int
finish(struct reader *reader, struct error *error)
{
	if (error->is_set)
		return -1;
	if (firefox_tree_count(reader->tree) == 0)
		return json_fail_empty(reader->json);
	return warn(reader, error) == 0 ?
	       firefox_tree_finish(reader->tree, error) : -1;
}

static void
reader_free(struct reader *reader)
{
	for (size_t i = 0; i < reader->n_waiting; i++)
		firefox_thread_free(&reader->waiting[i]);
	free(reader->waiting);
	firefox_tree_free(reader->tree);
	firefox_tables_free(&reader->shared);
	json_reader_free(reader->json);
	profile_free(reader->profile);
}

static struct profile *
firefox_read(struct source *source, const struct read_options *options,
             struct error *error)
{
	struct reader reader = { .error = error };
	struct profile *profile = NULL;

	reader.profile = profile_new(error);
	reader.json = json_reader_new(source, options->progress, error);
	if (reader.profile != NULL && reader.json != NULL)
		reader.tree = firefox_tree_new(reader.profile,
		    &reader.shared, &reader.meta, reader.json,
		    options->modules, error);
	if (reader.tree != NULL) {
		read_file(&reader);
		if (finish(&reader, error) == 0) {
			profile = reader.profile;
			reader.profile = NULL;
		}
	}
	reader_free(&reader);
	return profile;
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
	.summary = "profiles of profiler.firefox.com and samply, processed",
	.probe = firefox_probe,
	.read = firefox_read,
};
