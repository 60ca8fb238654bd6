/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata.c -- from the collector's records to a profile.
 *
 * Reads lib/cpprofdata.h's format, also while it is being written: one
 * process, each thread record a section, frames named by the modules' symbols
 * (see symbols/address_frames.h).  "[partial]" stands for the outer frames of
 * a stack that could not be walked to its end.  A file that is cut or damaged
 * after its header gives what is complete, and a warning; a node without all
 * its ancestors is left out with its hits.  Time O(bytes), memory a small
 * multiple of the bytes.
 *
 * The nodes of a thread are entered in the order of their numbers, in which a
 * parent comes before its children.  Threads follow each other, since a
 * section of the profile is one thread.  Every number in a record is checked;
 * records with invalid ones are counted and skipped.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpprofdata.h"
#include "src/base/memory.h"
#include "src/formats/cpprofdata/cpprofdata_brief.h"
#include "src/formats/cpprofdata/cpprofdata_facts.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/cpprofdata/cpprofdata_jit.h"
#include "src/formats/cpprofdata/cpprofdata_modules.h"
#include "src/formats/cpprofdata/recording_names.h"
#include "src/formats/cpprofdata/cpprofdata_waits.h"
#include "src/formats/cpprofdata/names_file.h"
#include "src/formats/reader.h"
#include "src/symbols/names/address_frames.h"

enum {
	PHASE_MAX = 255,		/* of a phase's name */
	NODES_A_STEP = 65536,		/* between checks for Ctrl-C */
};

struct recording {
	struct reader reader;
	struct cpprofdata_file file;
	struct tree_builder *builder;	/* its own, since a thread's nodes are
					 * a section and may count returns */
	struct address_frames *frames;
	uint32_t *built;		/* the builder's node of each node
					 * record, or NO_NODE */
	struct cpprofdata_end end;	/* of the process */
	uint64_t n_waiting;		/* waiting threads at that time */
	uint64_t n_seen;		/* nodes so far */
	uint64_t n_left_out, n_unknown;	/* of these, without all their
					 * ancestors; and of modules not in the
					 * file */
	size_t first_left_out;		/* offset of the first */
	uint64_t n_outside;		/* nodes in no module */
	struct jit_map *jit;		/* names for these; NULL: not needed */
	struct kept_names *own_names;	/* NULL: the recording's names count */
};

static int
cpprofdata_probe(const void *head, size_t size)
{
	const size_t n = sizeof CPPROFDATA_MAGIC - 1;

	return size >= n && memcmp(head, CPPROFDATA_MAGIC, n) == 0 ?
	    PROBE_SURE : PROBE_NO;
}

/* The index in the profile of record `number`, or UINT32_MAX. */
static uint32_t
index_of(const struct cpprofdata_runs *runs, uint32_t number)
{
	const struct cpprofdata_run *run = cpprofdata_runs_find(runs, number);

	return run != NULL ?
	    (uint32_t)(run->n_before + (number - run->first)) : UINT32_MAX;
}

static int
add_module(void *context, const unsigned char *bytes, struct error *error)
{
	struct recording *input = context;

	return cpprofdata_add_module(&input->file,
	    (size_t)(bytes - input->file.bytes), input->reader.profile, NULL,
	    error) != UINT32_MAX ? 0 : -1;
}

static int
add_thread(void *context, const unsigned char *bytes, struct error *error)
{
	struct recording *input = context;
	struct cpprofdata_thread raw;
	char name[sizeof raw.name + 1] = "";
	struct thread thread = { .process = 0 };

	memcpy(&raw, bytes, sizeof raw);
	memcpy(name, raw.name, sizeof raw.name);
	thread.tid = le32toh(raw.tid);
	thread.name = name[0] != '\0' ? name : NULL;
	return profile_add_thread(input->reader.profile, &thread,
	                          error) != UINT32_MAX ? 0 : -1;
}

/* The frame that is only this name. */
static uint32_t
named_frame(struct recording *input, const char *text, struct error *error)
{
	struct names *names = input->reader.profile->names;
	uint32_t name = names_add(names, text, strlen(text), error);

	return name == NO_NAME ? UINT32_MAX :
	    address_frames_add_name(input->frames, name, error);
}

/* A phase is no function, so its name is put in brackets. */
static uint32_t
phase_frame(struct recording *input, uint64_t string, struct error *error)
{
	char text[PHASE_MAX + 3];
	size_t length;
	const char *name = cpprofdata_string(&input->file, string, PHASE_MAX,
	                                     &length);

	if (length == 0)
		return named_frame(input, "[unknown]", error);
	snprintf(text, sizeof text, "[%.*s]", (int)length, name);
	return named_frame(input, text, error);
}

static uint32_t
frame_of(struct recording *input, const struct cpprofdata_node *node,
         struct error *error)
{
	uint32_t number = le32toh(node->module), module = NO_MODULE;

	if (number == CPPROFDATA_PARTIAL)
		return named_frame(input, "[partial]", error);
	if (number == CPPROFDATA_PHASE)
		return phase_frame(input, le64toh(node->offset), error);
	if (number == CPPROFDATA_NO_MODULE) {
		input->n_outside++;
	} else {
		module = index_of(&input->file.runs[CPPROFDATA_MODULES],
		                  number);
		if (module == UINT32_MAX) {
			input->n_unknown++;
			return named_frame(input, "[unknown]", error);
		}
	}
	return address_frames_add(input->frames, module,
	                          le64toh(node->offset), error);
}

/* Whether the parent was entered; *parent is then the builder's node. */
static bool
find_parent(const struct recording *input, uint32_t number, uint64_t child,
            uint32_t owner, uint32_t *parent)
{
	const struct cpprofdata_run *run;

	*parent = NO_NODE;
	if (number == CPPROFDATA_NO_NODE)
		return true;
	run = cpprofdata_runs_find(&input->file.runs[CPPROFDATA_NODES],
	                           number);
	if (number >= child || run == NULL || run->owner != owner)
		return false;
	*parent = input->built[run->n_before + (number - run->first)];
	return *parent != NO_NODE;
}

static int
add_counts(struct recording *input, uint32_t built, const unsigned char *bytes,
           struct error *error)
{
	for (uint32_t r = 0; r < input->file.n_named; r++) {
		struct cpprofdata_count count;
		uint64_t hits, samples;

		memcpy(&count, bytes + r * sizeof count, sizeof count);
		hits = le64toh(count.hits);
		samples = le64toh(count.samples);
		if ((hits | samples) != 0 &&
		    tree_builder_add(input->builder, built, r, hits, samples,
		                     error) != 0)
			return -1;
	}
	return 0;
}

static int
add_node(struct recording *input, const struct cpprofdata_run *run, uint64_t k,
         struct error *error)
{
	size_t offset = run->offset + k * input->file.header.node_size;
	const unsigned char *bytes = input->file.bytes + offset;
	struct cpprofdata_node node;
	uint32_t parent, frame, *built = &input->built[run->n_before + k];

	memcpy(&node, bytes, sizeof node);
	*built = NO_NODE;
	if (!find_parent(input, le32toh(node.parent), run->first + k,
	                 run->owner, &parent)) {
		if (input->n_left_out++ == 0)
			input->first_left_out = offset;
		return 0;
	}
	frame = frame_of(input, &node, error);
	if (frame == UINT32_MAX)
		return -1;
	*built = tree_builder_child(input->builder, parent, frame, error);
	if (*built == NO_NODE)
		return -1;
	if ((input->file.header.flags & CPPROFDATA_COUNTS_RETURNS) != 0 &&
	    tree_builder_add_returns(input->builder, *built,
	                             le64toh(node.returns), error) != 0)
		return -1;
	return add_counts(input, *built, bytes + sizeof node, error);
}

static int
add_run_of_nodes(struct recording *input, const struct cpprofdata_run *run,
                 struct error *error)
{
	for (uint64_t k = 0; k < run->n; k++) {
		struct error why = { 0 };

		if (input->n_seen++ % NODES_A_STEP == 0 &&
		    progress_step(input->reader.options->progress, run->offset +
		                  k * input->file.header.node_size,
		                  input->file.header.used, error) != 0)
			return -1;
		if (add_node(input, run, k, &why) != 0)
			return reader_fail_at(&input->reader, run->offset +
			    k * input->file.header.node_size, error, "%s",
			    why.text);
	}
	return 0;
}

static int
compare_runs(const void *left, const void *right)
{
	const struct cpprofdata_run *a = *(struct cpprofdata_run *const *)left;
	const struct cpprofdata_run *b =
	    *(struct cpprofdata_run *const *)right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The builder's node for a charge; NO_NODE with *error set. */
static uint32_t
node_of_charge(struct recording *input, const struct cpprofdata_charge *charge,
               uint32_t owner, struct error *error)
{
	const struct cpprofdata_run *run = cpprofdata_runs_find(
	    &input->file.runs[CPPROFDATA_NODES], charge->node);
	uint32_t built = NO_NODE, frame;

	if (charge->node != CPPROFDATA_NO_NODE && run != NULL &&
	    run->owner == owner)
		built = input->built[run->n_before +
		    (charge->node - run->first)];
	if (built != NO_NODE)
		return built;
	frame = named_frame(input, charge->is_wait ? "[unknown]" :
	                    "[no sample]", error);
	return frame == UINT32_MAX ? NO_NODE :
	    tree_builder_child(input->builder, NO_NODE, frame, error);
}

/* Adds what a thread waited for until the end, after its nodes. */
static int
add_wait(struct recording *input, uint32_t owner, struct error *error)
{
	struct cpprofdata_charge charges[CPPROFDATA_CHARGES_MAX];
	bool waits;
	size_t n = cpprofdata_wait_charges(&input->file, &input->end, owner,
	                                   charges, &waits);

	input->n_waiting += waits;
	for (size_t i = 0; i < n; i++) {
		uint32_t node;

		if (charges[i].hits == 0)
			continue;
		node = node_of_charge(input, &charges[i], owner, error);
		if (node == NO_NODE || tree_builder_add(input->builder, node,
		        charges[i].resource, charges[i].hits,
		        charges[i].is_wait, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Enters the runs of nodes sorted[n], in which those of a thread are
 * neighbours.
 */
static int
add_sections(struct recording *input, struct cpprofdata_run **sorted, size_t n,
             struct error *error)
{
	size_t i = 0;

	while (i < n) {
		uint32_t owner = sorted[i]->owner;
		uint32_t begin = tree_builder_begin_section(input->builder);

		for (; i < n && sorted[i]->owner == owner; i++)
			if (add_run_of_nodes(input, sorted[i], error) != 0)
				return -1;
		if (add_wait(input, owner, error) != 0 ||
		    profile_add_section(input->reader.profile, begin,
		        tree_builder_count(input->builder),
		        index_of(&input->file.runs[CPPROFDATA_THREADS],
		                 owner), error) == UINT32_MAX)
			return -1;
	}
	return 0;
}

/*
 * Enters the threads that have neither nodes nor waits; found[]: those with
 * nodes.
 */
static int
add_unfound(struct recording *input, const bool *found, struct error *error)
{
	const struct cpprofdata_runs *runs =
	    &input->file.runs[CPPROFDATA_THREADS];

	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++) {
			uint64_t thread = runs->items[i].n_before + k;
			uint32_t begin;

			if (found[thread])
				continue;
			begin = tree_builder_begin_section(input->builder);
			if (add_wait(input, (uint32_t)(runs->items[i].first +
			        k), error) != 0)
				return -1;
			if (tree_builder_count(input->builder) > begin &&
			    profile_add_section(input->reader.profile, begin,
			        tree_builder_count(input->builder),
			        (uint32_t)thread, error) == UINT32_MAX)
				return -1;
		}
	return 0;
}

static int
add_waits_without_nodes(struct recording *input, struct error *error)
{
	const struct cpprofdata_runs *threads =
	    &input->file.runs[CPPROFDATA_THREADS];
	const struct cpprofdata_runs *nodes =
	    &input->file.runs[CPPROFDATA_NODES];
	bool *found;
	int result;

	if ((input->file.header.flags & CPPROFDATA_WAITS) == 0)
		return 0;
	found = memory_array(cpprofdata_runs_count(threads), sizeof *found,
	                     error);
	if (found == NULL)
		return -1;
	for (size_t i = 0; i < nodes->n; i++) {
		uint32_t thread = index_of(threads, nodes->items[i].owner);

		if (thread != UINT32_MAX)
			found[thread] = true;
	}
	result = add_unfound(input, found, error);
	free(found);
	return result;
}

static int
add_nodes(struct recording *input, struct error *error)
{
	struct cpprofdata_runs *runs = &input->file.runs[CPPROFDATA_NODES];
	struct cpprofdata_run **sorted = memory_array(runs->n, sizeof *sorted,
	                                              error);
	int result = -1;

	input->built = memory_array(cpprofdata_runs_count(runs),
	                             sizeof *input->built, error);
	if (sorted != NULL && input->built != NULL) {
		for (size_t i = 0; i < runs->n; i++)
			sorted[i] = &runs->items[i];
		qsort(sorted, runs->n, sizeof(struct cpprofdata_run *),
		      compare_runs);
		result = add_sections(input, sorted, runs->n, error);
	}
	free(sorted);
	return result;
}

static int
add_waiting_tally(struct recording *input, struct error *error)
{
	struct profile *profile = input->reader.profile;

	if (input->n_waiting > 0 &&
	    profile_add_tally(profile, input->end.is_running ?
	        "threads waiting now" : "threads waiting at the end",
	        input->n_waiting, error) != 0)
		return -1;
	if (input->n_waiting > 0 && !input->end.is_seen &&
	    profile_add_tally(profile, "processes whose end was "
	        "not observed: waits are charged up to their last sign of life", 1,
	        error) != 0)
		return -1;
	return 0;
}

static int
warn_of_damage(struct recording *input, struct error *error)
{
	const struct cpprofdata_file *file = &input->file;
	struct reader *reader = &input->reader;

	if (file->damage.is_set &&
	    reader_warn(reader, error, "%s; what comes before is shown",
	                file->damage.text) != 0)
		return -1;
	if (input->n_left_out > 0 &&
	    reader_warn(reader, error, "0x%zx: no such parent; %" PRIu64
	                " node%s without all ancestors left out",
	                input->first_left_out, input->n_left_out,
	                input->n_left_out == 1 ? "" : "s") != 0)
		return -1;
	if (input->n_unknown > 0 &&
	    reader_warn(reader, error, "modules that are not in the file have "
	                "%" PRIu64 " node%s", input->n_unknown,
	                input->n_unknown == 1 ? "" : "s") != 0)
		return -1;
	return 0;
}

/*
 * Names code generated at run time, by kept names or by the files that its
 * process wrote.
 */
static int
find_jit(struct recording *input, const struct kept_names *kept,
         struct error *error)
{
	const struct cpprofdata_header *header = &input->file.header;
	const struct kept_range *range = kept == NULL ? NULL :
	    kept_names_process(kept, header->pid, header->start_ns);
	const char *problem = NULL;

	if (input->n_outside > 0 && range == NULL) {
		input->jit = cpprofdata_jit_map(&input->file, error);
		if (input->jit == NULL)
			return -1;
		problem = jit_map_problem(input->jit);
	}
	if (problem != NULL &&
	    reader_warn(&input->reader, error, "code generated at run time may "
	                "lack names: %s", problem) != 0)
		return -1;
	address_frames_use_jit(input->frames, range, input->jit);
	return 0;
}

/* Names frames by the names that the file or the recording keeps. */
static int
name_frames(struct recording *input, struct error *error)
{
	const struct kept_names *kept;
	struct error damage = { 0 };

	kept = input->own_names = names_file_within(&input->file, &damage,
	                                             error);
	if (error->is_set ||
	    (damage.is_set && reader_warn(&input->reader, error, "%s; missing "
	        "names are looked up where the programs were",
	        damage.text) != 0))
		return -1;
	if (kept == NULL &&
	    recording_names_beside(input->reader.options->names,
	                           input->file.name, input->reader.profile,
	                           &kept, error) != 0)
		return -1;
	address_frames_use(input->frames, kept);
	if (find_jit(input, kept, error) != 0)
		return -1;
	return address_frames_finish(input->frames, input->reader.profile,
	                             input->reader.options->modules, error);
}

static int
add_briefs(struct recording *input, struct error *error)
{
	uint32_t frame;

	if (input->file.n_briefs == 0)
		return 0;
	frame = named_frame(input, "[loading]", error);
	return frame == UINT32_MAX ? -1 :
	    cpprofdata_add_briefs(&input->file, frame, input->builder,
	                          input->reader.profile, error);
}

static int
fill_profile(struct recording *input, struct error *error)
{
	struct profile *profile = input->reader.profile;

	input->builder = tree_builder_new(input->file.n_named, error);
	input->frames = address_frames_new(error);
	if (input->builder == NULL || input->frames == NULL)
		return -1;
	input->end = cpprofdata_find_end(&input->file);
	if (cpprofdata_add_facts(&input->file, &input->end, profile,
	                         error) != 0 ||
	    cpprofdata_file_each(&input->file, CPPROFDATA_MODULES,
	                         add_module, input, error) != 0 ||
	    cpprofdata_file_each(&input->file, CPPROFDATA_THREADS,
	                         add_thread, input, error) != 0 ||
	    add_nodes(input, error) != 0 ||
	    add_briefs(input, error) != 0 ||
	    add_waits_without_nodes(input, error) != 0 ||
	    add_waiting_tally(input, error) != 0 ||
	    warn_of_damage(input, error) != 0 ||
	    name_frames(input, error) != 0)
		return -1;
	profile->tree = tree_builder_finish(input->builder, error);
	return profile->tree != NULL ? 0 : -1;
}

static struct profile *
cpprofdata_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct recording input = { .builder = NULL };
	int result;

	if (reader_begin(&input.reader, source, options, READER_OFFSETS,
	                 error) != 0 ||
	    cpprofdata_file_open(&input.file, source, error) != 0)
		return reader_end(&input.reader, -1);
	result = fill_profile(&input, error);
	free(input.built);
	jit_map_free(input.jit);
	kept_names_free(input.own_names);
	tree_builder_free(input.builder);
	address_frames_free(input.frames);
	cpprofdata_file_close(&input.file);
	return reader_end(&input.reader, result);
}

const struct format format_cpprofdata = {
	.name = "cpprofdata",
	.summary = "what `cpprof record` writes",
	.probe = cpprofdata_probe,
	.read = cpprofdata_read,
};
