/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.c -- the table of output formats. */
#include "src/output/output.h"

#include "src/base/progress.h"

const struct output_format output_formats[] = {
	{ "text", output_text },
	{ "tsv", output_tsv },
	{ "csv", output_csv },
	{ "json", output_json },
	{ NULL, NULL }
};

int
output_may_go_on(size_t i, const struct writer *writer, struct error *error)
{
	if (i % 256 != 0)
		return 0;
	if (writer->error != 0)
		return -1;
	return progress_step(NULL, 0, 0, error);
}
