/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_string.h -- untrusted bytes as a JSON string. */
#ifndef CPPROF_BASE_JSON_STRING_H
#define CPPROF_BASE_JSON_STRING_H

#include "src/base/text_buffer.h"

/*
 * Adds bytes[n] between quotes.  The string is valid UTF-8 whatever the bytes
 * are: a byte that is not part of UTF-8 becomes U+FFFD, and what a terminal
 * would not simply draw becomes \uNNNN.
 */
void text_add_json_string(struct text_buffer *text, const char *bytes,
                          size_t n);

#endif
