/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-format.c -- the reader of a format, on any bytes.
 *
 * fuzz.sh names the format, a row of list.def: -DROW=phpspy.
 */
#include "tests/fuzz-reader.h"

#define FORMAT_OF(row) FORMAT_NAMED(row)
#define FORMAT_NAMED(row) format_##row

extern const struct format FORMAT_OF(ROW);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines_reader(&FORMAT_OF(ROW), data, size);
}
