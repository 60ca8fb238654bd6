/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-pprofraw.c -- the reader of pprof -raw's output, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_pprof_raw;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines_reader(&format_pprof_raw, data, size);
}
