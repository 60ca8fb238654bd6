/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.h -- characters in untrusted bytes. */
#ifndef CPPROF_BASE_UTF8_H
#define CPPROF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at the beginning of bytes[n], n >= 1, and returns its
 * length; 0 when it is not UTF-8 (overlong forms and surrogates are not).
 */
size_t utf8_decode(const char *bytes, size_t n, uint32_t *character);

/* Whether a terminal simply draws it. */
bool character_is_printable(uint32_t character);

#endif
