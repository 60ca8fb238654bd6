/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-firefox.c -- the reader of processed profiles of Firefox. */
#include "tests/fuzz-reader.h"

extern const struct format format_firefox;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_reader(&format_firefox, data, size);
}
