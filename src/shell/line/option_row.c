/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option_row.c -- an option is a row. */
#include "src/shell/line/option_row.h"

int
option_take(const struct option_row *row, void *options, const char *value,
            struct error *error)
{
	if (row->take != NULL)
		return row->take(options, value, error);
	*(bool *)((char *)options + row->flag) = true;
	return 0;
}

void
text_add_option(struct text_buffer *text, const struct option_row *row)
{
	text_add_string(text, option_word(row));
	if (row->letter != NULL && row->name != NULL)
		text_add_format(text, ", %s", row->name);
	if (row->value != NULL)
		text_add_format(text, " %s", row->value);
}
