/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-gperftools.c -- the reader of CPU profiles of gperftools, on any bytes. */
#include "tests/fuzz-reader.h"

extern const struct format format_gperftools;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_gperftools, data, size);
}
