/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_slices.c -- from records of slices to times.
 *
 * The collector folds a node's records into wider ones while it may be killed,
 * or read, at any moment.  So a record that lies in a wider one of the same
 * node and resource is ignored: its counts are in the wider one.
 */
#include "src/formats/cpprofdata/cpprofdata_internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* A record that is valid by itself. */
struct slices_found {
	uint32_t number;	/* of the node's record */
	uint32_t node;		/* the builder's */
	uint32_t resource;
	uint64_t begin_ns, width_ns;
	struct cpprofdata_count count;
};

struct founds {
	struct slices_found *items;
	size_t n;
};

/* The builder's node of a record, or NO_NODE. */
static uint32_t
cpprofdata_slices_node_of(const struct cpprofdata_file *file,
                          const uint32_t *built, uint32_t number,
                          uint32_t owner)
{
	const struct cpprofdata_run *run = cpprofdata_runs_find(
	    &file->runs[CPPROFDATA_NODES], number);

	return run != NULL && run->owner == owner ?
	       built[run->n_before + (number - run->first)] : NO_NODE;
}

static void
cpprofdata_slices_add_record(const struct cpprofdata_file *file,
                             const uint32_t *built, uint32_t owner,
                             const unsigned char *bytes, struct founds *founds)
{
	const uint64_t width = file->header.slice_ns;
	struct cpprofdata_slice raw;
	struct slices_found found;
	uint32_t slice;

	memcpy(&raw, bytes, sizeof raw);
	slice = le16toh(raw.slice);
	if (raw.doublings > CPPROFDATA_MAX_DOUBLINGS ||
	    raw.resource >= file->n_named ||
	    slice >= CPPROFDATA_N_SLICES ||
	    width > (UINT64_MAX / CPPROFDATA_N_SLICES) >> raw.doublings)
		return;
	found = (struct slices_found){
		.number = le32toh(raw.node),
		.node = cpprofdata_slices_node_of(file, built,
		                                  le32toh(raw.node), owner),
		.resource = raw.resource,
		.begin_ns = (width << raw.doublings) * slice,
		.width_ns = width << raw.doublings,
		.count = { le64toh(raw.count.hits),
		           le64toh(raw.count.samples) },
	};
	if (found.node != NO_NODE)
		founds->items[founds->n++] = found;
}

/* By node, resource and time; the widest first. */
static int
cpprofdata_slices_compare(const void *left, const void *right)
{
	const struct slices_found *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->width_ns > b->width_ns ? -1 : a->width_ns < b->width_ns;
}

static int
add_found(struct founds *founds, struct tree_builder *builder,
          struct error *error)
{
	const struct slices_found *last = NULL;

	qsort(founds->items, founds->n, sizeof *founds->items,
	      cpprofdata_slices_compare);
	for (size_t i = 0; i < founds->n; i++) {
		const struct slices_found *found = &founds->items[i];

		if (last != NULL && last->number == found->number &&
		    last->resource == found->resource &&
		    found->begin_ns < last->begin_ns + last->width_ns)
			continue;
		last = found;
		if (tree_builder_add_time(builder, found->node,
		        found->resource, found->begin_ns, found->width_ns,
		        found->count.hits, found->count.samples, error) != 0)
			return -1;
	}
	return 0;
}

int
cpprofdata_add_slices(const struct cpprofdata_file *file,
                      const uint32_t *built, struct tree_builder *builder,
                      struct error *error)
{
	const struct cpprofdata_runs *runs = &file->runs[CPPROFDATA_SLICES];
	struct founds founds = { 0 };
	int result;

	if (file->header.slice_ns == 0)
		return 0;
	tree_builder_set_origin(builder, file->header.origin_ns);
	founds.items = memory_array(cpprofdata_runs_count(runs),
	                            sizeof *founds.items, error);
	if (founds.items == NULL)
		return -1;
	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++)
			cpprofdata_slices_add_record(file, built,
			                             runs->items[i].owner,
			                             file->bytes +
			                                 runs->items[i].offset +
			                                 k * runs->record_size,
			                             &founds);
	result = add_found(&founds, builder, error);
	free(founds.items);
	return result;
}

/* Nanoseconds from the origin to a moment of the monotonic clock. */
static uint64_t
since_origin(const struct cpprofdata_file *file, uint64_t mono_ns)
{
	const uint64_t origin_ns = file->header.origin_mono_ns;

	return mono_ns > origin_ns ? mono_ns - origin_ns : 0;
}

/* The width at which the slices reach up to a moment. */
static uint64_t
width_at(const struct cpprofdata_file *file, uint64_t end_ns)
{
	uint64_t width = file->header.slice_ns;

	while (end_ns / width >= CPPROFDATA_N_SLICES &&
	       width <= UINT64_MAX / CPPROFDATA_N_SLICES / 2)
		width *= 2;
	return width;
}

/* How many of a charge's hits come before a moment. */
static uint64_t
hits_before(uint64_t hits, uint64_t passed_ns, uint64_t whole_ns)
{
	return passed_ns >= whole_ns ? hits :
	    (uint64_t)((unsigned __int128)hits * passed_ns / whole_ns);
}

int
cpprofdata_add_charge_times(const struct cpprofdata_file *file,
                            const struct cpprofdata_charge *charge,
                            uint32_t node, struct tree_builder *builder,
                            struct error *error)
{
	const uint64_t end_ns = since_origin(file, charge->end_ns);
	const uint64_t begin_ns = since_origin(file, charge->begin_ns);
	uint64_t done = 0, width, at;

	if (file->header.slice_ns == 0)
		return 0;
	width = width_at(file, end_ns);
	for (at = begin_ns / width * width; done < charge->hits;
	     at += width) {
		const uint64_t until = hits_before(charge->hits,
		    at + width - begin_ns, end_ns - begin_ns);
		const bool is_last = until == charge->hits;

		if (until > done && tree_builder_add_time(builder, node,
		        charge->resource, at, width, until - done,
		        is_last && charge->is_wait, error) != 0)
			return -1;
		done = until;
	}
	return 0;
}

int
cpprofdata_add_brief_time(const struct cpprofdata_file *file,
                          uint64_t utc_ns,
                          const struct cpprofdata_count *count,
                          uint32_t node, struct tree_builder *builder,
                          struct error *error)
{
	const uint64_t origin_ns = file->header.origin_ns;

	if (file->header.slice_ns == 0)
		return 0;
	tree_builder_set_origin(builder, origin_ns);
	return tree_builder_add_time(builder, node, 0,
	    utc_ns > origin_ns ? utc_ns - origin_ns : 0, 0, count->hits,
	    count->samples, error);
}
