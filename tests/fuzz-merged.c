/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-merged.c -- the reader of merged profiles, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_merged;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_merged, data, size);
}
