/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_lines.c -- the hits of rows by group and resource, while they are added.
 *
 * Rows are numbered as members enter them.  So a line is either one of stacks
 * that many members have, and most of it is in use in all groups; or one of
 * stacks that one member has, and exists in one group.
 */
#include "src/profile/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/* Of one code: numbers of lines, 0 for none. */
struct pages {
	uint32_t **pages;	/* [n][LINES_A_PAGE], NULL: no line */
	size_t n, capacity;
};

struct fleet_line {
	uint64_t hits[ROWS_A_LINE];
};

struct fleet_lines {
	struct pages *codes;
	uint32_t n_codes;
	size_t codes_capacity;
	struct fleet_line *lines;	/* number 0 is not used */
	uint32_t n_lines;
	size_t lines_capacity;
};

enum { ROWS_A_PAGE = ROWS_A_LINE * LINES_A_PAGE, FIRST_LINES = 1024 };

struct fleet_lines *
fleet_lines_new(struct error *error)
{
	struct fleet_lines *lines = memory_array(1, sizeof *lines, error);

	if (lines != NULL)
		lines->n_lines = 1;
	return lines;
}

static void
pages_free(struct pages *pages)
{
	for (size_t i = 0; i < pages->n; i++)
		free(pages->pages[i]);
	free(pages->pages);
	*pages = (struct pages){ 0 };
}

void
fleet_lines_free(struct fleet_lines *lines)
{
	if (lines == NULL)
		return;
	for (uint32_t code = 0; code < lines->n_codes; code++)
		pages_free(&lines->codes[code]);
	free(lines->codes);
	large_array_free(lines->lines);
	free(lines);
}

/* The number of the row's line, for a code and row that have a page; or NULL. */
static inline uint32_t *
fleet_lines_find_line(const struct fleet_lines *lines, uint32_t row,
                      uint32_t code)
{
	size_t page = row / ROWS_A_PAGE;
	const struct pages *pages;

	if (code >= lines->n_codes)
		return NULL;
	pages = &lines->codes[code];
	if (page >= pages->n || pages->pages[page] == NULL)
		return NULL;
	return &pages->pages[page][row / ROWS_A_LINE % LINES_A_PAGE];
}

/* Enters the page of the row. */
static uint32_t *
add_page(struct fleet_lines *lines, uint32_t row, uint32_t code,
         struct error *error)
{
	size_t page = row / ROWS_A_PAGE;
	struct pages *pages;

	if (memory_grow(&lines->codes, &lines->codes_capacity,
	                (size_t)code + 1, sizeof *pages, error) != 0)
		return NULL;
	while (lines->n_codes <= code)
		lines->codes[lines->n_codes++] = (struct pages){ 0 };
	pages = &lines->codes[code];
	if (memory_grow(&pages->pages, &pages->capacity, page + 1,
	                sizeof *pages->pages, error) != 0)
		return NULL;
	while (pages->n <= page)
		pages->pages[pages->n++] = NULL;
	pages->pages[page] = memory_array(LINES_A_PAGE, sizeof(uint32_t),
	                                  error);
	return pages->pages[page] != NULL ?
	    fleet_lines_find_line(lines, row, code) :
	    NULL;
}

/* A new line, all 0; 0 with *error set. */
static uint32_t
fleet_lines_add_line(struct fleet_lines *lines, struct error *error)
{
	size_t capacity = lines->lines_capacity;

	if (lines->n_lines == UINT32_MAX) {
		error_set(error, "too many counts by group");
		return 0;
	}
	if (lines->n_lines >= capacity) {
		capacity = capacity == 0 ? FIRST_LINES : 2 * capacity;
		if (large_array_reserve(&lines->lines, capacity,
		                        sizeof *lines->lines, error) != 0)
			return 0;
		lines->lines_capacity = capacity;
	}
	memset(&lines->lines[lines->n_lines], 0, sizeof *lines->lines);
	return lines->n_lines++;
}

int
fleet_lines_add(struct fleet_lines *lines, uint32_t row, uint32_t code,
                uint64_t hits, struct error *error)
{
	uint32_t *line = fleet_lines_find_line(lines, row, code);

	if (line == NULL)
		line = add_page(lines, row, code, error);
	if (line == NULL)
		return -1;
	if (*line == 0)
		*line = fleet_lines_add_line(lines, error);
	if (*line == 0)
		return -1;
	lines->lines[*line].hits[row % ROWS_A_LINE] += hits;
	return 0;
}

void
fleet_lines_prefetch(const struct fleet_lines *lines, uint32_t row,
                     uint32_t code)
{
	const uint32_t *line = fleet_lines_find_line(lines, row, code);

	if (line != NULL)
		__builtin_prefetch(&lines->lines[*line], 1);
}

uint32_t
fleet_lines_codes(const struct fleet_lines *lines)
{
	return lines->n_codes;
}

int
fleet_lines_take(struct fleet_lines *lines, uint32_t code,
                 int (*take)(void *context, uint32_t row, uint32_t code,
                             uint64_t hits, struct error *error),
                 void *context, struct error *error)
{
	struct pages *pages = &lines->codes[code];

	for (size_t i = 0; i < pages->n * LINES_A_PAGE; i++) {
		const uint32_t *page = pages->pages[i / LINES_A_PAGE];
		const struct fleet_line *line;

		if (page == NULL || page[i % LINES_A_PAGE] == 0)
			continue;
		line = &lines->lines[page[i % LINES_A_PAGE]];
		for (uint32_t k = 0; k < ROWS_A_LINE; k++)
			if (line->hits[k] != 0 &&
			    take(context, (uint32_t)i * ROWS_A_LINE + k, code,
			         line->hits[k], error) != 0)
				return -1;
	}
	pages_free(pages);
	return 0;
}
