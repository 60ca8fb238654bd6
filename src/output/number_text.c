/* SPDX-License-Identifier: GPL-3.0-or-later */
/* number_text.c -- fractions with all their digits. */
#include "src/output/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void
text_add_exact(struct text_buffer *text, double number)
{
	char digits[32];

	if (!isfinite(number))
		number = 0;
	/* %g drops zeros, so 15 digits give 0.1 where that is enough. */
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, number);
		if (strtod(digits, NULL) == number)
			break;
	}
	text_add_string(text, digits);
}
