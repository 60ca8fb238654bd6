/* SPDX-License-Identifier: GPL-3.0-or-later */
/* number_text.h -- fractions with all their digits. */
#ifndef CPPROF_OUTPUT_NUMBER_TEXT_H
#define CPPROF_OUTPUT_NUMBER_TEXT_H

#include "src/base/text_buffer.h"

/*
 * Adds the shortest decimal that reads back as the same double; 0 for NaN and
 * infinities.
 */
void text_add_exact(struct text_buffer *text, double number);

#endif
