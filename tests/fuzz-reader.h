/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-reader.h -- shared by the fuzz targets of readers.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#ifndef CPPROF_TESTS_FUZZ_READER_H
#define CPPROF_TESTS_FUZZ_READER_H

#include <stdint.h>
#include <stdlib.h>

#include "src/formats/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void
fuzz_read(const struct format *format, const struct read_options *options,
          const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct source *source = source_of_memory("fuzz", data, size, &error);
	struct profile *profile;

	if (source == NULL)
		return;
	profile = format->read(source, options, &error);
	if ((profile == NULL) != error.is_set)
		abort();
	profile_free(profile);
	source_close(source);
}

/*
 * Probes and reads the bytes, strictly and leniently; returns 0, as a fuzz
 * target must.
 */
static inline int
fuzz_lines_reader(const struct format *format, const uint8_t *data,
                  size_t size)
{
	const struct read_options strict = { 0 };
	const struct read_options lenient = { .lenient = true };

	format->probe(data, size);
	fuzz_read(format, &lenient, data, size);
	fuzz_read(format, &strict, data, size);
	return 0;
}

#endif
