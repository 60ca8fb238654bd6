/* SPDX-License-Identifier: GPL-3.0-or-later */
/* call_paths.c -- call paths kept as a trie. */
#include "src/base/names.h"

size_t
call_paths_length(const struct call_paths *paths, uint32_t record)
{
	size_t length = 0;

	for (; record != NO_RECORD; record = paths->parent[record])
		length++;
	return length;
}

void
call_paths_get(const struct call_paths *paths, uint32_t record,
               uint32_t *names)
{
	size_t length = call_paths_length(paths, record);

	for (size_t i = 0; i < length; i++) {
		size_t at = paths->is_innermost_first ? i : length - 1 - i;

		names[at] = paths->name[record];
		record = paths->parent[record];
	}
}
