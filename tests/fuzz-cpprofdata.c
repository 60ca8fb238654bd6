/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-cpprofdata.c -- the reader of the collector's file, on any bytes.
 *
 * A file is mostly empty room, on which a fuzzer would waste its time.  So an
 * input only describes how a file differs from a good one: its first HEADER
 * bytes are XORed onto a good header, the next PAGE bytes onto the beginning
 * of a page with a good chunk, and so on, for each type of chunk in turn.  The
 * length of a last short piece decides where the file is cut.  An input of
 * zeros is a complete file.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpprofdata.h"
#include "src/formats/format.h"

extern const struct format format_cpprofdata;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 640, PAGE = 384, PAGES_MAX = 32, NODE = 24 + 2 * 16 };

static void
good_header(unsigned char *bytes, size_t used)
{
	struct cpprofdata_header header = {
		.magic = CPPROFDATA_MAGIC,
		.version = CPPROFDATA_VERSION,
		.header_size = CPPROFDATA_HEADER_SIZE,
		.n_resources = 2,
		.node_size = NODE,
		.used = used,
		.arguments = 1,
		.n_arguments = 2,
		.resources = { { "cpu", "microsecond", 4000, 0 },
		               { "faults", "fault", 1, 0 } },
	};

	memcpy(bytes, &header, sizeof header);
}

static void
good_nodes(unsigned char *bytes, uint32_t first, uint64_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct cpprofdata_node node = { .parent = first + i - 1 };

		memcpy(bytes + i * NODE, &node, sizeof node);
	}
}

static void
good_page(unsigned char *bytes, size_t number)
{
	static const uint32_t sizes[] = { 0, 1, 128, 128, NODE };
	struct cpprofdata_chunk chunk = {
		.magic = CPPROFDATA_CHUNK_MAGIC,
		.type = 1 + number % 4,
		.size = CPPROFDATA_PAGE,
	};
	uint64_t capacity;

	chunk.record_size = sizes[chunk.type];
	capacity = (CPPROFDATA_PAGE - sizeof chunk) / chunk.record_size;
	chunk.first = number / 4 * capacity;
	chunk.count = (PAGE - sizeof chunk) / chunk.record_size;
	memcpy(bytes, &chunk, sizeof chunk);
	if (chunk.type == CPPROFDATA_STRINGS)
		memcpy(bytes + sizeof chunk, "\0/no/lib.so", 12);
	if (chunk.type == CPPROFDATA_NODES)
		good_nodes(bytes + sizeof chunk, (uint32_t)chunk.first,
		           chunk.count);
}

/* XORs at most n bytes with the input. */
static void
change(unsigned char *bytes, size_t n, const uint8_t **data, size_t *size)
{
	for (; n > 0 && *size > 0; n--, ++*data, --*size)
		*bytes++ ^= **data;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_pages = size > HEADER ? (size - HEADER) / PAGE : 0;
	size_t cut = size > HEADER ? (size - HEADER) % PAGE * 10 : 0;
	size_t used;
	unsigned char *bytes;
	struct error error = { 0 };
	struct read_options options = { 0 };
	struct source *source;

	if (n_pages > PAGES_MAX)
		return 0;
	used = CPPROFDATA_HEADER_SIZE + n_pages * CPPROFDATA_PAGE;
	bytes = calloc(used, 1);
	good_header(bytes, used);
	change(bytes, HEADER, &data, &size);
	for (size_t i = 0; i < n_pages; i++) {
		unsigned char *page = bytes + CPPROFDATA_HEADER_SIZE +
		    i * CPPROFDATA_PAGE;

		good_page(page, i);
		change(page, PAGE, &data, &size);
	}
	bytes = realloc(bytes, used - cut);
	source = source_of_memory("fuzz", bytes, used - cut, &error);
	profile_free(format_cpprofdata.read(source, &options, &error));
	source_close(source);
	free(bytes);
	return 0;
}
