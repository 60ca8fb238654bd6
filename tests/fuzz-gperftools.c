/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-gperftools.c -- the reader of CPU profiles of gperftools, on any bytes.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>

#include "src/formats/format.h"

extern const struct format format_gperftools;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source;

	format_gperftools.probe(data, size);
	source = source_of_memory("fuzz", data, size, &error);
	if (source != NULL)
		profile_free(format_gperftools.read(source, &options, &error));
	source_close(source);
	return 0;
}
