/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-reader.h -- what the fuzz targets of readers have in common.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#ifndef CPPROF_TESTS_FUZZ_READER_H
#define CPPROF_TESTS_FUZZ_READER_H

#include <stdint.h>

#include "src/formats/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Probes and reads the bytes; 0, as the target has to answer. */
static inline int
fuzz_reader(const struct format *format, const uint8_t *data, size_t size)
{
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source;

	format->probe(data, size);
	source = source_of_memory("fuzz", data, size, &error);
	if (source != NULL)
		profile_free(format->read(source, &options, &error));
	source_close(source);
	return 0;
}

#endif
