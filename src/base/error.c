/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.c -- one text, the first one wins. */
#include "src/base/error.h"

#include <stdarg.h>
#include <stdio.h>

int
error_set(struct error *error, const char *format, ...)
{
	va_list arguments;

	if (error->is_set)
		return -1;
	error->is_set = true;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof error->text, format, arguments);
	va_end(arguments);
	return -1;
}

int
error_out_of_memory(struct error *error)
{
	if (!error->is_set)
		error->is_out_of_memory = true;
	return error_set(error, "out of memory");
}

int
error_pass(struct error *error, const struct error *other)
{
	if (!error->is_set)
		*error = *other;
	return -1;
}
