/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-phpspy.c -- the reader of phpspy, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_phpspy;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines_reader(&format_phpspy, data, size);
}
