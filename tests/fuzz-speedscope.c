/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-speedscope.c -- the reader of speedscope's JSON, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_speedscope;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_speedscope, data, size);
}
