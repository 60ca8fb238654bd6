/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_path.h -- one spelling for each source file. */
#ifndef CPPROF_SYMBOLS_LINES_SOURCE_PATH_H
#define CPPROF_SYMBOLS_LINES_SOURCE_PATH_H

#include <stddef.h>

/*
 * Writes the path to clean[size], without "//", "/./" and "name/../".
 * (Compilers join the paths that they were given, so debug information is full
 * of these.)  A path that is not absolute is appended to the directory (NULL:
 * none).  Looks only at the text, not at links.  Returns the length; 0: it does
 * not fit, or nothing is left.
 */
size_t source_path_clean(char *clean, size_t size, const char *directory,
                         const char *path);

#endif
