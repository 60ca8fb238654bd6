/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-pprof.c -- the reader of pprof profiles, on any bytes, not packed. */
#include "tests/fuzz-reader.h"

extern const struct format format_pprof;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_pprof, data, size);
}
