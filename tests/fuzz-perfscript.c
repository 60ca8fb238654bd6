/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-perfscript.c -- the reader of perf script's output, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_perf_script;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines_reader(&format_perf_script, data, size);
}
