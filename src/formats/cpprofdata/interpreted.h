/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpreted.h -- lines and files of functions that an interpreter runs. */
#ifndef CPPROF_FORMATS_CPPROFDATA_INTERPRETED_H
#define CPPROF_FORMATS_CPPROFDATA_INTERPRETED_H

#include <stddef.h>
#include <stdint.h>

/* ---- cpprofdata_functions.c ---- */

/*
 * Decodes a line table of CPython 3.11 or later.  Entry i covers the
 * instructions from begins[i], in bytes, to that of the next one, and has
 * lines[i], 0 for none.  Both arrays have room for `size` entries; returns how
 * many there are.
 */
size_t line_table_decode(const unsigned char *table, size_t size,
                         uint32_t first_line, uint32_t *begins,
                         uint32_t *lines);

/*
 * The part of a path by which a function is named: what follows the directory
 * where Python looks for modules, else the last component; of __init__.py and
 * __main__.py, which every package has, with the directory's name.
 */
const char *interpreted_shown_path(const char *path);

#endif
