/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-otlp.c -- the reader of otlp, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_otlp;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_otlp, data, size);
}
