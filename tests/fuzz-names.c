/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-names.c -- the reader of a recording's file of names, on any bytes.
 *
 * As in fuzz-cpprofdata.c, the input describes how a file differs from a good
 * one: its first HEADER bytes change the header, the next PAGE bytes a page
 * with a chunk, and so on, for each type of chunk in turn.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpprofdata.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 40, PAGE = 384, PAGES_MAX = 30, N_TYPES = 5 };

static const struct {
	uint32_t type, record_size;
} types[N_TYPES] = {
	{ CPPROFDATA_STRINGS, 1 },
	{ CPPROFDATA_NAMED_MODULES, sizeof(struct cpprofdata_named_module) },
	{ CPPROFDATA_NAMED_ADDRESSES,
	  sizeof(struct cpprofdata_named_address) },
	{ CPPROFDATA_NAMED_LOCATIONS,
	  sizeof(struct cpprofdata_named_location) },
	{ CPPROFDATA_NAMED_PROCESSES,
	  sizeof(struct cpprofdata_named_process) },
};

static void
good_records(unsigned char *bytes, uint32_t type, uint64_t n)
{
	struct cpprofdata_named_module module = { .path = 1,
		.n_addresses = 3 };
	struct cpprofdata_named_process process = { .pid = 7,
		.first_address = 3, .n_addresses = 2 };

	if (type == CPPROFDATA_STRINGS)
		memcpy(bytes, "\0/no/lib.so\0f\0file.c", 20);
	if (type == CPPROFDATA_NAMED_MODULES)
		memcpy(bytes, &module, sizeof module);
	if (type == CPPROFDATA_NAMED_PROCESSES)
		memcpy(bytes, &process, sizeof process);
	for (uint64_t i = 0; i < n; i++) {
		struct cpprofdata_named_address address = { .offset = i,
			.function = 12, .first_location = (uint32_t)i,
			.n_locations = 1, .flags = 3 };
		struct cpprofdata_named_location location = { .function = 12,
			.file = 14, .line = 1 };

		if (type == CPPROFDATA_NAMED_ADDRESSES)
			memcpy(bytes + i * sizeof address, &address,
			       sizeof address);
		if (type == CPPROFDATA_NAMED_LOCATIONS)
			memcpy(bytes + i * sizeof location, &location,
			       sizeof location);
	}
}

static void
good_page(unsigned char *bytes, size_t number)
{
	struct cpprofdata_chunk chunk = {
		.magic = CPPROFDATA_CHUNK_MAGIC,
		.type = types[number % N_TYPES].type,
		.record_size = types[number % N_TYPES].record_size,
		.size = CPPROFDATA_PAGE,
	};

	chunk.first = number / N_TYPES *
	    ((CPPROFDATA_PAGE - sizeof chunk) / chunk.record_size);
	chunk.count = (PAGE - sizeof chunk) / chunk.record_size;
	memcpy(bytes, &chunk, sizeof chunk);
	good_records(bytes + sizeof chunk, chunk.type, chunk.count);
}

/* XORs at most n bytes with the input. */
static void
change(unsigned char *bytes, size_t n, const uint8_t **data, size_t *size)
{
	for (; n > 0 && *size > 0; n--, ++*data, --*size)
		*bytes++ ^= **data;
}

/* Reads everything that was kept. */
static void
look(const struct kept_names *kept)
{
	const struct module module = { .path = "/no/lib.so" };
	const struct kept_range *ranges[] = {
		kept_names_module(kept, &module),
		kept_names_process(kept, 7, 0),
	};

	for (int i = 0; i < 2; i++)
		for (uint64_t address = 0; address < 20; address++) {
			const struct kept_address *found =
			    kept_names_find(kept, ranges[i], address);

			for (uint32_t k = 0; found != NULL && k < found->n;
			     k++)
				if (kept_names_locations(kept,
				                         found)[k].line == 9999)
					abort();
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n_pages = size > HEADER ? (size - HEADER) / PAGE : 0;
	size_t cut = size > HEADER ? (size - HEADER) % PAGE * 10 : 0;
	struct cpprofdata_header header = {
		.magic = CPPROFDATA_MAGIC,
		.version = CPPROFDATA_VERSION,
		.header_size = CPPROFDATA_HEADER_SIZE,
		.flags = CPPROFDATA_NAMES,
	};
	struct error error = { 0 }, damage = { 0 };
	struct kept_names *kept;
	struct source *source;
	unsigned char *bytes;
	size_t used;

	if (n_pages > PAGES_MAX)
		return 0;
	used = CPPROFDATA_HEADER_SIZE + n_pages * CPPROFDATA_PAGE;
	header.used = used;
	bytes = calloc(used, 1);
	memcpy(bytes, &header, sizeof header);
	change(bytes, HEADER, &data, &size);
	for (size_t i = 0; i < n_pages; i++) {
		unsigned char *page = bytes + CPPROFDATA_HEADER_SIZE +
		    i * CPPROFDATA_PAGE;

		good_page(page, i);
		change(page, PAGE, &data, &size);
	}
	bytes = realloc(bytes, used - cut);
	source = source_of_memory("fuzz", bytes, used - cut, &error);
	kept = names_file_read(source, &damage, &error);
	if (kept != NULL)
		look(kept);
	kept_names_free(kept);
	source_close(source);
	free(bytes);
	return 0;
}
