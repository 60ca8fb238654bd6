/* SPDX-License-Identifier: GPL-3.0-or-later */
/* number_text.c -- numbers with all their digits, or with a few. */
#include "src/output/drawing.h"

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

/* What is larger or smaller is written with an exponent. */
static const double largest = 1e15, smallest = 1e-4;

void
text_add_rounded(struct text_buffer *text, double number)
{
	double size = fabs(number);
	int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 :
	    size >= 9.9995 ? 2 : size >= 0.99995 ? 3 : size >= 0.099995 ? 4 :
	    size >= 0.0099995 ? 5 : size >= 0.00099995 ? 6 : 7;

	if (number == 0)
		text_add_char(text, '0');
	else if (size >= largest || size < smallest)
		text_add_format(text, "%.4g", number);
	else
		text_add_format(text, "%.*f", decimals, number);
}
