/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.c -- whether drawing goes on with the next row. */
#include "src/output/output.h"

#include "src/base/progress.h"

int
output_may_go_on(size_t i, const struct writer *writer, struct error *error)
{
	if (i % 256 != 0)
		return 0;
	if (writer->error != 0)
		return -1;
	return progress_step(NULL, 0, 0, error);
}
