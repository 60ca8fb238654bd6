/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.c -- the table of formats. */
#include "src/formats/format.h"

#define FORMAT(row) extern const struct format format_##row;
#include "src/formats/list.def"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(row) &format_##row,
#include "src/formats/list.def"
#undef FORMAT
	NULL
};
