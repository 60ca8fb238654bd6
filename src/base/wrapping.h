/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wrapping.h -- where the lines of a long text end. */
#ifndef CPPROF_BASE_WRAPPING_H
#define CPPROF_BASE_WRAPPING_H

#include <stddef.h>

/*
 * Length of the first line of printable UTF-8 that is wrapped to `width`
 * columns: up to a blank, but not one between a number and its unit; or to the
 * end of its first word, which may be wider.
 */
size_t wrapping_line(const char *bytes, size_t n, size_t width);

#endif
