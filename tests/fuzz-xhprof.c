/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-xhprof.c -- the reader of xhprof, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_xhprof;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_xhprof, data, size);
}
