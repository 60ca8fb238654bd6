/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_sections.c -- what stands behind the records of a perf.data file. */
#include <stdlib.h>

#include "src/formats/perf/perf_input.h"

enum { SECTION_MAX = 256 << 20 };

struct feature_section {
	struct perf_extent place;
	uint64_t feature;
};

static int
compare_sections(const void *left, const void *right)
{
	const struct feature_section *a = left, *b = right;

	return a->place.offset < b->place.offset ? -1 :
	       a->place.offset > b->place.offset;
}

/* Where the sections are: they stand in a table, one for each bit. */
static size_t
read_table(struct perf_input *input, struct feature_section *sections,
           struct error *error)
{
	size_t n = 0, size, i = 0;
	const unsigned char *bytes = perf_input_peek(input,
	    PERF_FEATURES * PERF_EXTENT_SIZE, &size, error);
	struct bytes in;

	if (bytes == NULL)
		return 0;
	in = bytes_of(bytes, size);
	for (; i < PERF_FEATURES; i++)
		if (perf_input_has_feature(input, i))
			sections[n++] = (struct feature_section){
				perf_take_extent(&in), i };
	perf_input_skip(input, in.offset);
	if (!bytes_failed(&in))
		return n;
	input->is_cut = true;
	return 0;
}

static int
read_section(struct perf_input *input, const struct feature_section *section,
             struct error *error)
{
	const unsigned char *bytes;
	size_t size;

	if (section->place.offset < input->offset ||
	    section->place.size > SECTION_MAX)
		return 0;		/* none that is used here */
	if (perf_input_skip_to(input, section->place.offset, error) != 0)
		return -1;
	bytes = perf_input_peek(input, (size_t)section->place.size, &size,
	                        error);
	if (bytes == NULL)
		return -1;
	if (size < section->place.size) {
		input->is_cut = true;
		return 0;
	}
	return perf_session_feature(input->session, section->feature, bytes,
	    (size_t)section->place.size, input->offset, error);
}

int
perf_sections_read(struct perf_input *input, struct error *error)
{
	struct feature_section sections[PERF_FEATURES];
	size_t n = read_table(input, sections, error);

	if (n > 0)
		qsort(sections, n, sizeof *sections, compare_sections);
	for (size_t i = 0; i < n && !input->is_cut; i++)
		if (read_section(input, &sections[i], error) != 0)
			return -1;
	return error->is_set ? -1 : 0;
}
