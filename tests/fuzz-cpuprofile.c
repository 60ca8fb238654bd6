/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-cpuprofile.c -- the readers of V8's profiles and of Chrome's traces.
 *
 * The first byte chooses the reader for the others.
 */
#include "tests/fuzz-reader.h"

extern const struct format format_cpuprofile, format_chrome_trace;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	return fuzz_reader(data[0] % 2 == 0 ? &format_cpuprofile :
	                   &format_chrome_trace, data + 1, size - 1);
}
