/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_calls.c -- observed calls: their lengths, and the hits in them.
 *
 * The collector counts all hits at their nodes, and again those that belong to
 * calls, by the classes of these calls.  Here the latter are taken from the
 * nodes and put into sections of their own, which have the classes as labels.
 * So a profile's hits are the same with and without calls, and whatever selects
 * or compares labels selects calls.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpprofdata.h"
#include "src/base/memory.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/cpprofdata/cpprofdata_internal.h"
#include "src/profile/large_array.h"

enum { N_FUNCTIONS = CPPROFDATA_CALL_FUNCTIONS_MAX };

/* Hits of a node in calls of some classes. */
struct call_part {
	uint32_t owner;
	uint64_t classes[N_FUNCTIONS];
	uint32_t number;	/* of the node's record */
	uint32_t resource;
	struct cpprofdata_count count;	/* what the node really has of it */
	uint32_t node;		/* in the class's section; NO_NODE: none yet */
	uint64_t timed_hits, timed_samples;	/* that have got times */
};

/* What becomes of the nodes of the file. */
struct part_node {
	uint32_t parent;	/* index, or NO_NODE */
	uint32_t frame;		/* NO_NODE: it is not in the profile */
	uint32_t section;	/* the last that it was entered in, */
	uint32_t built;		/* and there its number */
};

struct call_parts {
	const struct cpprofdata_file *file;
	struct call_part *parts;	/* by owner, classes, node */
	size_t n;
	struct call_part **by_node;	/* the same by node and resource */
	struct part_node *nodes;	/* by index of the record */
	uint32_t n_sections;
};

/* The least length in a bin (lib/cpprofdata.h). */
static uint64_t
cpprofdata_call_bin_ns(uint32_t bin)
{
	const uint32_t each = 1u << CPPROFDATA_CALL_BITS;

	/* The end of the last one is 2^64. */
	if (bin >= CPPROFDATA_CALL_BINS)
		return UINT64_MAX;
	return bin < each ? bin :
	    (uint64_t)(each + bin % each) << (bin / each - 1);
}

/* ---- reading ---- */

static int
call_parts_compare(const void *left, const void *right)
{
	const struct call_part *a = left, *b = right;
	int order;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	order = memcmp(a->classes, b->classes, sizeof a->classes);
	if (order != 0)
		return order;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->resource < b->resource ? -1 : a->resource > b->resource;
}

static int
call_parts_compare_nodes(const void *left, const void *right)
{
	const struct call_part *a = *(struct call_part *const *)left;
	const struct call_part *b = *(struct call_part *const *)right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool
call_parts_read(const struct cpprofdata_file *file,
          const struct cpprofdata_record *record, struct call_part *part)
{
	const uint64_t n_functions = cpprofdata_runs_count(
	    &file->runs[CPPROFDATA_CALL_FUNCTIONS]);
	const struct cpprofdata_run *run;
	struct cpprofdata_call_count raw;
	bool is_in_call = false;

	memcpy(&raw, record->bytes, sizeof raw);
	*part = (struct call_part){
		.owner = record->owner,
		.number = le32toh(raw.node),
		.resource = le32toh(raw.resource),
		.count = { le64toh(raw.count.hits),
		           le64toh(raw.count.samples) },
		.node = NO_NODE,
	};
	for (size_t f = 0; f < N_FUNCTIONS; f++) {
		part->classes[f] = le16toh(raw.classes[f]);
		is_in_call |= part->classes[f] != 0;
		if (part->classes[f] != 0 && f >= n_functions)
			return false;
		if (part->classes[f] != CPPROFDATA_CALL_NO_LENGTH &&
		    part->classes[f] > CPPROFDATA_CALL_BINS >>
		        CPPROFDATA_CALL_CLASS_BITS)
			return false;
	}
	run = cpprofdata_runs_find(&file->runs[CPPROFDATA_NODES], part->number);
	return is_in_call && run != NULL && run->owner == record->owner &&
	    part->resource < file->n_named;
}

struct call_parts *
call_parts_new(const struct cpprofdata_file *file, struct error *error)
{
	const struct cpprofdata_runs *runs =
	    &file->runs[CPPROFDATA_CALL_COUNTS];
	const uint64_t n_nodes = cpprofdata_runs_count(
	    &file->runs[CPPROFDATA_NODES]);
	struct cpprofdata_record record = { 0 };
	struct call_parts *calls = memory_array(1, sizeof *calls, error);

	if (calls == NULL)
		return NULL;
	calls->file = file;
	if (cpprofdata_runs_count(runs) == 0)
		return calls;
	calls->parts = memory_array(cpprofdata_runs_count(runs),
	                            sizeof *calls->parts, error);
	calls->by_node = memory_array(cpprofdata_runs_count(runs),
	                              sizeof *calls->by_node, error);
	calls->nodes = memory_array(n_nodes, sizeof *calls->nodes, error);
	if (error->is_set) {
		call_parts_free(calls);
		return NULL;
	}
	while (cpprofdata_next(runs, file->bytes, &record))
		calls->n += call_parts_read(file, &record, &calls->parts[calls->n]);
	qsort(calls->parts, calls->n, sizeof *calls->parts,
	      call_parts_compare);
	for (size_t i = 0; i < calls->n; i++)
		calls->by_node[i] = &calls->parts[i];
	qsort(calls->by_node, calls->n, sizeof(struct call_part *),
	      call_parts_compare_nodes);
	for (uint64_t i = 0; i < n_nodes; i++)
		calls->nodes[i].frame = NO_NODE;
	return calls;
}

void
call_parts_free(struct call_parts *calls)
{
	if (calls == NULL)
		return;
	free(calls->parts);
	free(calls->by_node);
	free(calls->nodes);
	free(calls);
}

/* ---- hits ---- */

/* The first part of a node and resource, in by_node. */
static size_t
call_parts_find(const struct call_parts *calls, uint32_t number,
                uint32_t resource)
{
	struct call_part *const *parts = calls->by_node;

	return partition_point(calls->n, i, parts[i]->number < number ||
	    (parts[i]->number == number && parts[i]->resource < resource));
}

void
call_parts_note(struct call_parts *calls, uint64_t index, uint64_t parent,
                uint32_t frame)
{
	if (calls->n == 0)
		return;
	calls->nodes[index] = (struct part_node){
		.parent = (uint32_t)parent, .frame = frame,
		.section = 0,
	};
}

static uint64_t
call_parts_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void
call_parts_take(struct call_parts *calls, uint32_t number, uint32_t resource,
                struct cpprofdata_count *count)
{
	for (size_t i = call_parts_find(calls, number, resource);
	     i < calls->n && calls->by_node[i]->number == number &&
	     calls->by_node[i]->resource == resource; i++) {
		struct cpprofdata_count *part = &calls->by_node[i]->count;

		part->hits = call_parts_least(part->hits, count->hits);
		part->samples = call_parts_least(part->samples,
		                                 count->samples);
		count->hits -= part->hits;
		count->samples -= part->samples;
	}
}

/* The node of a record in the present section, with its callers. */
static uint32_t
call_parts_enter(struct call_parts *calls, uint32_t index,
                 struct tree_builder *builder, struct error *error)
{
	uint32_t at = index, inner = NO_NODE, built = NO_NODE;

	/* Up to what is there, turning the chain of parents round. */
	while (at != NO_NODE &&
	       calls->nodes[at].section != calls->n_sections) {
		uint32_t parent = calls->nodes[at].parent;

		calls->nodes[at].built = inner;
		inner = at;
		at = parent;
	}
	if (at != NO_NODE)
		built = calls->nodes[at].built;
	while (inner != NO_NODE) {
		struct part_node *node = &calls->nodes[inner];

		inner = node->built;
		built = tree_builder_child(builder, built, node->frame, error);
		if (built == NO_NODE)
			return NO_NODE;
		node->built = built;
		node->section = calls->n_sections;
	}
	return built;
}

/* The label of a call of one function. */
static int
call_parts_label(const struct call_parts *calls, uint32_t function,
                 uint64_t class, struct profile *profile, struct label *label,
                 struct error *error)
{
	const uint32_t bin = (uint32_t)(class - 1)
	                     << CPPROFDATA_CALL_CLASS_BITS;
	const bool has_length = class != CPPROFDATA_CALL_NO_LENGTH;
	struct cpprofdata_call_function raw;
	char *name;

	memcpy(&raw, cpprofdata_record_at(calls->file,
	    CPPROFDATA_CALL_FUNCTIONS, function), sizeof raw);
	name = cpprofdata_copy_string(calls->file, le32toh(raw.name), error);
	if (name == NULL)
		return -1;
	label->key = names_add_format(profile->names, error, CALL_KEY "%s",
	                              name);
	label->value = has_length ? names_add_format(profile->names, error,
	    "%" PRIu64, cpprofdata_call_bin_ns(bin) / 1000) :
	    names_add_format(profile->names, error, "unfinished");
	label->unit = has_length ? names_add_format(profile->names, error,
	    "microseconds") : NO_NAME;
	free(name);
	return error->is_set ? -1 : 0;
}

/* The section of the parts [begin, end), which are of one class. */
static int
call_parts_add_section(struct call_parts *calls, size_t begin, size_t end,
                       uint32_t thread, struct profile *profile,
                       struct tree_builder *builder, struct error *error)
{
	const struct cpprofdata_runs *runs =
	    &calls->file->runs[CPPROFDATA_NODES];
	const uint32_t first = tree_builder_begin_section(builder);
	struct label labels[N_FUNCTIONS];
	uint32_t n_labels = 0, section;

	calls->n_sections++;
	for (size_t i = begin; i < end; i++) {
		struct call_part *part = &calls->parts[i];
		const struct cpprofdata_run *run = cpprofdata_runs_find(runs,
		    part->number);
		const uint32_t index = (uint32_t)(run->n_before +
		    (part->number - run->first));

		if ((part->count.hits | part->count.samples) == 0 ||
		    calls->nodes[index].frame == NO_NODE)
			continue;
		part->node = call_parts_enter(calls, index, builder, error);
		if (part->node == NO_NODE ||
		    tree_builder_add(builder, part->node, part->resource,
		                     part->count.hits, part->count.samples,
		                     error) != 0)
			return -1;
	}
	if (tree_builder_count(builder) == first)
		return 0;
	for (uint32_t f = 0; f < N_FUNCTIONS; f++)
		if (calls->parts[begin].classes[f] != 0 &&
		    call_parts_label(calls, f, calls->parts[begin].classes[f],
		                     profile, &labels[n_labels++], error) != 0)
			return -1;
	section = profile_add_section(profile, first,
	                              tree_builder_count(builder), thread,
	                              error);
	if (section == UINT32_MAX)
		return -1;
	profile->sections[section].label_set = profile_add_label_set(profile,
	    labels, n_labels, error);
	return error->is_set ? -1 : 0;
}

int
call_parts_add_sections(struct call_parts *calls, uint32_t owner,
                        uint32_t thread, struct profile *profile,
                        struct tree_builder *builder, struct error *error)
{
	const struct call_part *parts = calls->parts;
	size_t begin = partition_point(calls->n, i, parts[i].owner < owner);

	while (begin < calls->n && parts[begin].owner == owner) {
		size_t end = begin + 1;

		while (end < calls->n && parts[end].owner == owner &&
		       memcmp(parts[begin].classes, parts[end].classes,
		              sizeof parts[end].classes) == 0)
			end++;
		if (call_parts_add_section(calls, begin, end, thread, profile,
		                           builder, error) != 0)
			return -1;
		begin = end;
	}
	return 0;
}

/* ---- times ---- */

/* What the parts so far get of a slice with `more` hits, of `left` that are in
 * this slice or a later one. */
struct call_shares {
	uint64_t left, more;
	uint64_t waiting, given;	/* of these parts: without a time, and
					 * what they get of `more` */
};

/*
 * The next part's share: its hits without a time, in proportion.  What is
 * rounded off is in the next part's, so each hit of a slice goes to some part,
 * and each of a part to some slice.
 */
static uint64_t
call_shares_next(struct call_shares *shares, uint64_t all, uint64_t *timed)
{
	const uint64_t given = shares->given;

	shares->waiting += call_parts_least(all - *timed,
	                                    shares->left - shares->waiting);
	if (shares->left > 0)
		shares->given = (uint64_t)((unsigned __int128)shares->waiting *
		    shares->more / shares->left);
	*timed += shares->given - given;
	return shares->given - given;
}

static struct call_shares
call_shares_of(uint64_t all, uint64_t before, uint64_t more)
{
	const uint64_t left = all > before ? all - before : 0;

	return (struct call_shares){ left, call_parts_least(more, left), 0, 0 };
}

int
call_parts_add_time(struct call_parts *calls, const struct call_time *time,
                    struct cpprofdata_count *count,
                    struct tree_builder *builder, struct error *error)
{
	struct call_shares of_hits = call_shares_of(time->all.hits,
	    time->before.hits, count->hits);
	struct call_shares of_samples = call_shares_of(time->all.samples,
	    time->before.samples, count->samples);

	for (size_t i = call_parts_find(calls, time->number, time->resource);
	     i < calls->n && calls->by_node[i]->number == time->number &&
	     calls->by_node[i]->resource == time->resource; i++) {
		struct call_part *part = calls->by_node[i];
		const uint64_t hits = call_shares_next(&of_hits,
		    part->count.hits, &part->timed_hits);
		const uint64_t samples = call_shares_next(&of_samples,
		    part->count.samples, &part->timed_samples);

		if ((hits | samples) != 0 && part->node != NO_NODE &&
		    tree_builder_add_time(builder, part->node, time->resource,
		                          time->begin_ns, time->width_ns, hits,
		                          samples, error) != 0)
			return -1;
	}
	count->hits -= of_hits.given;
	count->samples -= of_samples.given;
	return 0;
}

/* ---- lengths ---- */

static struct observed_calls *
calls_enter_function(const struct cpprofdata_file *file, uint32_t number,
               struct profile *profile, struct error *error)
{
	const unsigned char *bytes = cpprofdata_record_at(file,
	    CPPROFDATA_CALL_FUNCTIONS, number);
	struct cpprofdata_call_function raw;
	struct observed_calls *calls;
	char *name;

	memcpy(&raw, bytes, sizeof raw);
	name = cpprofdata_copy_string(file, le32toh(raw.name), error);
	if (name == NULL)
		return NULL;
	calls = observed_calls_enter(profile, name, error);
	free(name);
	if (calls == NULL)
		return NULL;
	calls->n_places = le32toh(raw.n_places);
	calls->interval_ns = le64toh(raw.interval_ns);
	return calls;
}

/* Adds what a record counts.  One that is not valid is passed over. */
static int
add_lengths(const struct cpprofdata_record *record, struct profile *profile,
            struct error *error)
{
	struct observed_calls *to;
	struct cpprofdata_calls raw;
	struct length_bin bin;
	uint32_t number, kind;

	memcpy(&raw, record->bytes, sizeof raw);
	number = le16toh(raw.bin);
	kind = le16toh(raw.kind);
	if (le32toh(raw.function) >= profile->n_calls)
		return 0;
	to = &profile->calls[le32toh(raw.function)];
	if (kind == CPPROFDATA_CALL_UNFINISHED &&
	    number < CPPROFDATA_CALL_N_REASONS)
		to->unfinished[number] += le64toh(raw.n);
	if (kind == CPPROFDATA_CALL_UNFINISHED ||
	    kind >= CPPROFDATA_CALL_N_KINDS ||
	    number >= CPPROFDATA_CALL_BINS)
		return 0;
	bin = (struct length_bin){
		.least_ns = cpprofdata_call_bin_ns(number),
		.end_ns = cpprofdata_call_bin_ns(number + 1),
		.n = le64toh(raw.n),
		.spread_ns = le64toh(raw.spread_ns),
	};
	if (kind == CPPROFDATA_CALL_BY_CHANCE) {
		const uint32_t without = le16toh(raw.without_wait);

		bin.tail_ns = cpprofdata_call_bin_ns(le16toh(raw.tail));
		bin.without_wait_ns = cpprofdata_call_bin_ns(without);
		bin.without_wait_end_ns = cpprofdata_call_bin_ns(without + 1);
		return observed_calls_add(&to->by_chance, &to->n_by_chance,
		    &to->by_chance_capacity, &bin, error);
	}
	return kind == CPPROFDATA_CALL_LENGTHS ?
	    observed_calls_add(&to->lengths, &to->n_lengths,
	                       &to->lengths_capacity, &bin, error) :
	    observed_calls_add(&to->tails, &to->n_tails, &to->tails_capacity,
	                       &bin, error);
}

int
cpprofdata_add_calls(const struct cpprofdata_file *file,
                     struct profile *profile, struct error *error)
{
	const uint64_t n_functions = cpprofdata_runs_count(
	    &file->runs[CPPROFDATA_CALL_FUNCTIONS]);
	struct cpprofdata_record record = { 0 };

	for (uint32_t f = 0; f < n_functions && f < N_FUNCTIONS; f++)
		if (calls_enter_function(file, f, profile, error) == NULL)
			return -1;
	/* Two of one name would have one entry. */
	while (profile->n_calls == n_functions &&
	       cpprofdata_next(&file->runs[CPPROFDATA_CALLS], file->bytes,
	                       &record))
		if (add_lengths(&record, profile, error) != 0)
			return -1;
	return 0;
}
