/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_path.h -- one spelling for each source file. */
#ifndef CPPROF_SYMBOLS_LINES_SOURCE_PATH_H
#define CPPROF_SYMBOLS_LINES_SOURCE_PATH_H

#include <stddef.h>

/*
 * Writes the path, one that is not absolute behind the directory (NULL: none),
 * without "//", "/./" and "name/../", which debug information is full of,
 * since compilers join what they were given.  clean[size]; returns its length,
 * or 0 where it does not fit or nothing is left.  By the text alone: links are
 * not looked at.
 */
size_t source_path_clean(char *clean, size_t size, const char *directory,
                         const char *path);

#endif
