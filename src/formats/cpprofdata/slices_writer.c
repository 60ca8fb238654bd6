/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices_writer.c -- from a timeline to records of slices.
 *
 * A timeline has one width, so the records of all nodes have the same number
 * of doublings.  What is read back must last as long: if the refinement left
 * no hits in the last slice, an empty record there says how long that is.
 */
#include "src/formats/cpprofdata/cpprofdata_internal.h"

#include <endian.h>

#include "lib/cpprofdata.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/exporter.h"

/* What a record is made of. */
struct slices_part {
	uint32_t resource, slice;
	struct cpprofdata_count count;
};

/* The places of a node's parts, in its row of the timeline. */
struct slices_place {
	size_t entry, end;
	uint32_t resource;
};

static struct slices_place
first_place(const struct slices_writer *slices, uint32_t node)
{
	const uint32_t row = slices->tree->row[node];

	return (struct slices_place){ slices->tree->timeline->first[row],
		slices->tree->timeline->first[row + 1], 0 };
}

/* The next part that is not empty; false after the last one. */
static bool
slices_writer_next_part(const struct slices_writer *slices,
                        struct slices_place *place, struct slices_part *part)
{
	const struct timeline *timeline = slices->tree->timeline;

	while (place->entry < place->end) {
		const size_t entry = place->entry;
		const uint32_t r = place->resource++;

		if (r == timeline->n_resources) {
			place->entry++;
			place->resource = 0;
			continue;
		}
		*part = (struct slices_part){ r, timeline->slice[entry],
			{ timeline->hits[r][entry],
			  timeline->samples[r][entry] } };
		if ((part->count.hits | part->count.samples) != 0)
			return true;
	}
	return false;
}

/* A node with hits, if none of these has a part in the last slice. */
static uint32_t
find_end_mark(const struct slices_writer *slices)
{
	const struct sample_tree *tree = slices->tree;
	uint32_t mark = NO_NODE;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		struct slices_place place = first_place(slices, node);
		struct slices_part part;

		while (slices_writer_next_part(slices, &place, &part)) {
			if (part.slice + 1 == tree->timeline->n_slices)
				return NO_NODE;
			mark = node;
		}
	}
	return mark;
}

void
slices_writer_begin(struct slices_writer *slices,
                    const struct sample_tree *tree)
{
	*slices = (struct slices_writer){ .tree = tree, .end_mark = NO_NODE };
	if (tree->timeline == NULL)
		return;
	slices->width_ns = tree->timeline->width_ns;
	/* It came from a file with narrower slices, or by doubling. */
	while (slices->width_ns > CPPROFDATA_SLICE_MAX_NS) {
		slices->width_ns /= 2;
		slices->doublings++;
	}
	slices->end_mark = find_end_mark(slices);
}

uint64_t
slices_writer_count(const struct slices_writer *slices, uint32_t begin,
                    uint32_t end)
{
	uint64_t n = 0;

	if (slices->width_ns == 0)
		return 0;
	for (uint32_t node = begin; node < end; node++) {
		struct slices_place place = first_place(slices, node);
		struct slices_part part;

		while (slices_writer_next_part(slices, &place, &part))
			n++;
		n += node == slices->end_mark;
	}
	return n;
}

static void
put_record(const struct slices_writer *slices, uint32_t number,
           const struct slices_part *part, struct writer *writer)
{
	const struct cpprofdata_slice record = {
		.node = htole32(number),
		.resource = (uint8_t)part->resource,
		.doublings = slices->doublings,
		.slice = htole16((uint16_t)part->slice),
		.count = { htole64(part->count.hits),
		           htole64(part->count.samples) },
	};

	writer_put(writer, (const char *)&record, sizeof record);
}

int
slices_writer_put(const struct slices_writer *slices, uint32_t begin,
                  uint32_t end, uint32_t first, struct writer *writer,
                  struct error *error)
{
	for (uint32_t node = begin; node < end; node++) {
		struct slices_place place = first_place(slices, node);
		struct slices_part part;

		if (export_may_go_on(node, writer, error) != 0)
			return -1;
		while (slices_writer_next_part(slices, &place, &part))
			put_record(slices, first + (node - begin), &part,
			           writer);
		if (node == slices->end_mark) {
			part = (struct slices_part){
				.slice = slices->tree->timeline->n_slices - 1
			};
			put_record(slices, first + (node - begin), &part,
			           writer);
		}
	}
	return 0;
}
