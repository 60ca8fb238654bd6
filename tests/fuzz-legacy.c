/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-legacy.c -- the reader of text profiles of gperftools and Go, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_legacy;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_lines_reader(&format_legacy, data, size);
}
