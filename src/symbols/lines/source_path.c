/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_path.c -- one spelling for each source file. */
#include "src/symbols/lines/address_lines.h"

#include <stdbool.h>
#include <string.h>

/* Whether clean[n] ends in a component that ".." removes. */
static bool
ends_in_name(const char *clean, size_t n)
{
	return n > 0 && clean[n - 1] != '/' &&
	    !(n >= 2 && memcmp(clean + n - 2, "..", 2) == 0 &&
	      (n == 2 || clean[n - 3] == '/'));
}

/* The length of clean[n] without its last component. */
static size_t
remove_last(const char *clean, size_t n)
{
	while (n > 0 && clean[n - 1] != '/')
		n--;
	return n > 1 ? n - 1 : n;
}

/* Appends path to clean[n]; the new length, or 0 where it does not fit. */
static size_t
source_path_append(char *clean, size_t size, size_t n, const char *path)
{
	while (*path != '\0') {
		size_t length = strcspn(path, "/");
		const char *component = path;

		path += length;
		path += strspn(path, "/");
		if (length == 0 || (length == 1 && *component == '.'))
			continue;
		if (length == 2 && memcmp(component, "..", 2) == 0) {
			if (ends_in_name(clean, n)) {
				n = remove_last(clean, n);
				continue;
			}
			if (n == 1 && clean[0] == '/')
				continue;
		}
		if (n + 1 + length >= size)
			return 0;
		if (n > 0 && clean[n - 1] != '/')
			clean[n++] = '/';
		memcpy(clean + n, component, length);
		n += length;
	}
	return n;
}

size_t
source_path_clean(char *clean, size_t size, const char *directory,
                  const char *path)
{
	size_t n = 0;

	if (*path == '/' || directory == NULL)
		directory = "";
	if (*path == '/' || *directory == '/')
		clean[n++] = '/';
	if (*directory != '\0') {
		n = source_path_append(clean, size, n, directory);
		if (n == 0 && strcmp(directory, ".") != 0)
			return 0;
	}
	n = source_path_append(clean, size, n, path);
	clean[n] = '\0';
	return n;
}
