/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-perfscript.c -- the reader of what perf script prints, on any bytes.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>

#include "src/formats/format.h"

extern const struct format format_perf_script;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source;

	format_perf_script.probe(data, size);
	source = source_of_memory("fuzz", data, size, &error);
	if (source != NULL)
		profile_free(format_perf_script.read(source, &options, &error));
	source_close(source);
	return 0;
}
