/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_input.c -- a perf.data file as it is read, from front to back. */
#include "src/formats/perf/perf_input.h"

#include <inttypes.h>

struct perf_extent
perf_take_extent(struct bytes *in)
{
	struct perf_extent extent;

	extent.offset = bytes_number(in, 8);
	extent.size = bytes_number(in, 8);
	return extent;
}

int
perf_input_fail(const struct perf_input *input, uint64_t offset,
                const char *what, struct error *error)
{
	return error_set(error, "%s: 0x%" PRIx64 ": %s",
	                 source_name(input->source), offset, what);
}

const unsigned char *
perf_input_peek(struct perf_input *input, size_t wanted, size_t *size,
                struct error *error)
{
	return (const unsigned char *)source_peek(input->source, wanted,
	                                          size, error);
}

void
perf_input_skip(struct perf_input *input, size_t n)
{
	source_skip(input->source, n);
	input->offset += n;
}

int
perf_input_skip_to(struct perf_input *input, uint64_t offset,
                   struct error *error)
{
	while (input->offset < offset) {
		uint64_t left = offset - input->offset;
		size_t size;

		if (perf_input_peek(input, 1, &size, error) == NULL)
			return -1;
		if (size == 0) {
			input->is_cut = true;
			return 0;
		}
		perf_input_skip(input, size < left ? size : (size_t)left);
	}
	return 0;
}

bool
perf_input_has_feature(const struct perf_input *input, size_t feature)
{
	return (input->features[feature / 8] >> feature % 8 & 1) != 0;
}
