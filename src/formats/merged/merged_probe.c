/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merged_probe.c -- whether a file is a merged profile, even a damaged one.
 *
 * The first line and a newline or two look like collapsed stacks.  So a merged
 * profile whose first line is damaged must not be left to that format: it would
 * read a few of the bytes and call them a profile.  It is known by a line that
 * is almost the right one, or by its first tables, wherever they begin.  Both
 * need bytes that no text has.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/formats/format.h"
#include "src/formats/merged/merged_file.h"
#include "src/formats/reader.h"
#include "src/profile/fleet.h"

enum {
	WRONG_BYTES_MAX = 8,	/* of the first line */
	LINE_MAX_SIZE = 128,	/* bytes in which the tables begin */
	TEXT_MAX = 512,		/* the first tables have no more text */
};

/* The bytes that are left; after the first that do not fit, none. */
struct merged_bytes {
	const unsigned char *at, *end;
	bool is_wrong;
};

static uint64_t
skip_number(struct merged_bytes *bytes)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64 && bytes->at < bytes->end;
	     shift += 7) {
		unsigned char byte = *bytes->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	bytes->is_wrong = true;
	bytes->at = bytes->end;
	return 0;
}

/* Whether there was a text that is not empty. */
static bool
skip_text(struct merged_bytes *bytes)
{
	uint64_t n = skip_number(bytes);

	if (n > (size_t)(bytes->end - bytes->at) ||
	    memchr(bytes->at, '\0', (size_t)n) != NULL) {
		bytes->is_wrong = true;
		bytes->at = bytes->end;
		return false;
	}
	bytes->at += n;
	return n > 0;
}

/* Whether the groups have all members, and then there is a process. */
static bool
skip_summary(struct merged_bytes *bytes)
{
	uint64_t n_members = skip_number(bytes);
	uint64_t left = n_members;

	if (n_members == 0 || skip_number(bytes) > n_members)
		return false;
	for (int g = 0; g < FLEET_GROUPS; g++) {
		uint64_t n = skip_number(bytes);

		if (n > left)
			return false;
		left -= n;
	}
	if (left != 0)
		return false;
	for (int text = 0; text < 3; text++) {
		uint64_t kind = skip_number(bytes);

		if (kind > MERGED_TEXT)
			return false;
		if (kind == MERGED_TEXT)
			skip_text(bytes);
	}
	for (int number = 0; number < 4; number++)
		skip_number(bytes);
	return skip_number(bytes) <= (MERGED_CPU_UNKNOWN | MERGED_CPU_LEAST) &&
	       !bytes->is_wrong;
}

/* Whether these are the first tables, up to the first resource. */
static bool
are_tables(const unsigned char *at, const unsigned char *end)
{
	struct merged_bytes bytes = { .at = at, .end = end };
	uint64_t n;

	if (!skip_summary(&bytes))
		return false;
	for (n = skip_number(&bytes); n > 0 && !bytes.is_wrong; n--) {
		skip_text(&bytes);
		skip_number(&bytes);
		if (skip_number(&bytes) > N_LOSSES)
			return false;
	}
	n = skip_number(&bytes);
	return n > 0 && n <= RESOURCES_MAX && skip_text(&bytes) &&
	       skip_text(&bytes) && skip_number(&bytes) > 0;
}

/* Whether the first line is there, but for a few bytes. */
static bool
is_like_first_line(const char *head, size_t size)
{
	const size_t length = strlen(MERGED_MAGIC);
	size_t n_wrong = 0;

	for (size_t i = 0; i < length && i < size; i++)
		n_wrong += head[i] != MERGED_MAGIC[i];
	return size >= length && n_wrong <= WRONG_BYTES_MAX;
}

static bool
merged_probe_is_damaged(const char *head, size_t size)
{
	const unsigned char *at = (const unsigned char *)head;
	const unsigned char *end = at + size;
	size_t n_text = size < TEXT_MAX ? size : TEXT_MAX;

	if (line_find_binary(head, n_text) == n_text)
		return false;
	if (is_like_first_line(head, size))
		return true;
	for (size_t i = 0; i < LINE_MAX_SIZE && i < size; i++)
		if (are_tables(at + i, end))
			return true;
	return false;
}

int
merged_probe(const void *head, size_t size)
{
	const size_t magic = strlen(MERGED_MAGIC), least = strlen("cpprof ");

	/* One that is cut inside its first line would be taken for a stack. */
	return (size >= least &&
	        memcmp(head, MERGED_MAGIC, size < magic ? size : magic) == 0) ||
	       merged_probe_is_damaged(head, size) ? PROBE_SURE : PROBE_NO;
}
