/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-perf_data.c -- the reader of perf.data, on any bytes.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>

#include "src/formats/format.h"

extern const struct format format_perf_data;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct module_cache *modules;	/* symbols of libraries, read
						 * only once */
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct source *source;

	if (modules == NULL)
		modules = module_cache_new(NULL, &error);
	options.modules = modules;
	format_perf_data.probe(data, size);
	source = source_of_memory("fuzz", data, size, &error);
	if (source != NULL)
		profile_free(format_perf_data.read(source, &options, &error));
	source_close(source);
	return 0;
}
