/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parquet.c -- tables as Parquet files. */
#include "src/formats/parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"

enum {
	ROWS_A_GROUP = 256 << 10,
	PARQUET_ZSTD_LEVEL = 3,
	NO_SLOT = UINT32_MAX,
};

/* ---- Thrift's compact protocol ---- */

enum thrift_type {
	THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

/* Fields must be written in ascending order; each structure has its own. */
struct thrift {
	struct text_buffer *bytes;
	int last;		/* field of the structure that is written */
};

static void
put_varint(struct text_buffer *bytes, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		text_add_char(bytes, (char)(number | 0x80));
	text_add_char(bytes, (char)number);
}

static void
thrift_field(struct thrift *thrift, int field, enum thrift_type type)
{
	text_add_char(thrift->bytes, (char)((field - thrift->last) << 4 |
	                                    (int)type));
	thrift->last = field;
}

static uint64_t
zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static void
thrift_i32(struct thrift *thrift, int field, int32_t number)
{
	thrift_field(thrift, field, THRIFT_I32);
	put_varint(thrift->bytes, zigzag(number));
}

static void
thrift_i64(struct thrift *thrift, int field, uint64_t number)
{
	thrift_field(thrift, field, THRIFT_I64);
	put_varint(thrift->bytes, zigzag((int64_t)number));
}

static void
thrift_bytes(struct text_buffer *bytes, const void *data, size_t n)
{
	put_varint(bytes, n);
	text_add(bytes, data, n);
}

static void
thrift_binary(struct thrift *thrift, int field, const void *data, size_t n)
{
	thrift_field(thrift, field, THRIFT_BINARY);
	thrift_bytes(thrift->bytes, data, n);
}

static void
thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t n)
{
	thrift_field(thrift, field, THRIFT_LIST);
	if (n < 15) {
		text_add_char(thrift->bytes, (char)(n << 4 | (size_t)type));
	} else {
		text_add_char(thrift->bytes, (char)(0xf0 | (int)type));
		put_varint(thrift->bytes, n);
	}
}

/* A structure within another one, or in a list. */
static struct thrift
thrift_begin(struct text_buffer *bytes)
{
	return (struct thrift){ .bytes = bytes };
}

static void
thrift_end(struct thrift *thrift)
{
	text_add_char(thrift->bytes, 0);
}

/* ---- tables in memory ---- */

struct parquet_cells {
	/* Of a number, or the number of a name. */
	int64_t *numbers;
	uint32_t *texts;
	size_t n, capacity;
	size_t *ends;		/* [rows] of lists, in texts */
	size_t ends_capacity;
};

struct parquet_table {
	const struct parquet_column *columns;	/* [n_columns] */
	size_t n_columns, n_rows;
	const struct names *names;
	struct parquet_cells *cells;		/* [n_columns] */
	/* While it is written. */
	uint32_t *slots;	/* [n_slots] a hash table of a dictionary, or
				 * by names their places in it */
	size_t n_slots;
	uint32_t *places;	/* of values in the dictionary */
	size_t places_capacity;
	struct text_buffer page, levels, packed, footer;
};

struct parquet_table *
parquet_table_new(const struct parquet_column *columns, size_t n,
                  const struct names *names, struct error *error)
{
	struct parquet_table *table = memory_array(1, sizeof *table, error);

	if (table == NULL)
		return NULL;
	table->columns = columns;
	table->n_columns = n;
	table->names = names;
	table->cells = memory_array(n, sizeof *table->cells, error);
	if (table->cells != NULL)
		return table;
	free(table);
	return NULL;
}

/* Their memory too: of many tables, each may have been the largest once. */
static void
parquet_free_cells(struct parquet_table *table)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		free(table->cells[i].numbers);
		free(table->cells[i].texts);
		free(table->cells[i].ends);
		table->cells[i] = (struct parquet_cells){ 0 };
	}
	table->n_rows = 0;
}

void
parquet_table_free(struct parquet_table *table)
{
	if (table == NULL)
		return;
	parquet_free_cells(table);
	free(table->cells);
	free(table->slots);
	free(table->places);
	text_free(&table->page);
	text_free(&table->levels);
	text_free(&table->packed);
	text_free(&table->footer);
	free(table);
}

int
parquet_put_number(struct parquet_table *table, size_t column, int64_t number,
                   struct error *error)
{
	struct parquet_cells *cells = &table->cells[column];

	if (memory_grow(&cells->numbers, &cells->capacity, cells->n + 1,
	                sizeof *cells->numbers, error) != 0)
		return -1;
	cells->numbers[cells->n++] = number;
	return 0;
}

int
parquet_put_text(struct parquet_table *table, size_t column, uint32_t name,
                 struct error *error)
{
	struct parquet_cells *cells = &table->cells[column];

	if (memory_grow(&cells->texts, &cells->capacity, cells->n + 1,
	                sizeof *cells->texts, error) != 0)
		return -1;
	cells->texts[cells->n++] = name;
	return 0;
}

int
parquet_put_texts(struct parquet_table *table, size_t column,
                  const uint32_t *names, size_t n, struct error *error)
{
	struct parquet_cells *cells = &table->cells[column];

	if (memory_grow(&cells->texts, &cells->capacity, cells->n + n,
	                sizeof *cells->texts, error) != 0 ||
	    memory_grow(&cells->ends, &cells->ends_capacity,
	                table->n_rows + 1, sizeof *cells->ends, error) != 0)
		return -1;
	if (n > 0)
		memcpy(cells->texts + cells->n, names, n * sizeof *names);
	cells->n += n;
	cells->ends[table->n_rows] = cells->n;
	return 0;
}

void
parquet_end_row(struct parquet_table *table)
{
	table->n_rows++;
}

size_t
parquet_table_rows(const struct parquet_table *table)
{
	return table->n_rows;
}

size_t
parquet_table_bytes(const struct parquet_table *table)
{
	size_t bytes = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		bytes += table->cells[i].n *
		    (table->columns[i].kind == PARQUET_NUMBER ?
		     sizeof(int64_t) : sizeof(uint32_t)) +
		    (table->columns[i].kind == PARQUET_TEXTS ?
		     table->n_rows * sizeof(size_t) : 0);
	return bytes;
}

/* ---- numbers of a few bits: runs, and groups of 8 that are packed ---- */

struct bits {
	struct text_buffer *to;
	unsigned width;
	uint32_t pending[8];	/* of a group that is not complete */
	unsigned n_pending;
	size_t header;		/* of the groups that are being packed, in to;
				 * SIZE_MAX: none are */
	uint32_t n_groups;
	uint32_t last;		/* how often it came in a row */
	size_t n_same;
};

enum { GROUPS_MOST = 63 };	/* whose number fits one byte */

static void
bits_end_groups(struct bits *bits)
{
	if (bits->header == SIZE_MAX)
		return;
	if (!bits->to->failed)
		bits->to->bytes[bits->header] = (char)(bits->n_groups << 1 | 1);
	bits->header = SIZE_MAX;
	bits->n_groups = 0;
}

static void
bits_pack_group(struct bits *bits)
{
	uint64_t held = 0;
	unsigned n_held = 0;

	if (bits->header == SIZE_MAX) {
		bits->header = bits->to->length;
		text_add_char(bits->to, 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		held |= (uint64_t)bits->pending[i] << n_held;
		for (n_held += bits->width; n_held >= 8; n_held -= 8) {
			text_add_char(bits->to, (char)held);
			held >>= 8;
		}
	}
	bits->n_pending = 0;
	bits->n_same = 0;	/* some may be in the group */
	if (++bits->n_groups == GROUPS_MOST)
		bits_end_groups(bits);
}

static void
bits_end_run(struct bits *bits)
{
	bits_end_groups(bits);
	put_varint(bits->to, (uint64_t)bits->n_same << 1);
	for (unsigned i = 0; i < bits->width; i += 8)
		text_add_char(bits->to, (char)(bits->last >> i));
	bits->n_same = 0;
	bits->n_pending = 0;
}

/* As parquet-mr does: a run from 8 equal numbers on, else groups. */
static void
bits_put(struct bits *bits, uint32_t number)
{
	if (number == bits->last && bits->n_same > 0) {
		bits->n_same++;
		if (bits->n_same >= 8)
			return;
	} else {
		if (bits->n_same >= 8)
			bits_end_run(bits);
		bits->n_same = 1;
		bits->last = number;
	}
	bits->pending[bits->n_pending++] = number;
	if (bits->n_pending == 8)
		bits_pack_group(bits);
}

static void
bits_finish(struct bits *bits)
{
	if (bits->n_same >= 8) {
		bits_end_run(bits);
		return;
	}
	if (bits->n_pending > 0) {
		while (bits->n_pending < 8)
			bits->pending[bits->n_pending++] = 0;
		bits_pack_group(bits);
	}
	bits_end_groups(bits);
}

static struct bits
bits_begin(struct text_buffer *to, unsigned width)
{
	return (struct bits){ .to = to, .width = width, .header = SIZE_MAX };
}

/* Some readers do not expect a width of 0. */
static unsigned
parquet_width_of(uint32_t greatest)
{
	return greatest == 0 ? 1 : 32 - (unsigned)__builtin_clz(greatest);
}

/* ---- a column of a row group ---- */

enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };

/* What the footer says of it. */
struct chunk {
	uint64_t offset, dictionary_offset;	/* 0: no dictionary */
	uint64_t size, packed_size;		/* with the pages' headers */
	uint64_t n_values, n_nulls;
	int64_t least, greatest;		/* of numbers that are there */
};

/* A part of the column: rows [begin, end), and their cells. */
struct range {
	size_t begin, end, first, last;
};

struct parquet_writing {
	struct parquet_table *table;
	struct writer *writer;
	uint64_t offset;
	struct error *error;
};

static void
parquet_write_bytes(struct parquet_writing *writing, const char *bytes,
                    size_t n)
{
	writer_put(writing->writer, bytes, n);
	writing->offset += n;
}

static void
put_u32(struct text_buffer *bytes, uint32_t number)
{
	for (int i = 0; i < 32; i += 8)
		text_add_char(bytes, (char)(number >> i));
}

static void
put_i64(struct text_buffer *bytes, int64_t number)
{
	for (int i = 0; i < 64; i += 8)
		text_add_char(bytes, (char)((uint64_t)number >> i));
}

/* Ends a page with what table->page holds: packs and writes it. */
static int
parquet_write_page(struct parquet_writing *writing, bool is_dictionary,
                   uint32_t n_values, int encoding, struct chunk *chunk)
{
	struct parquet_table *table = writing->table;
	struct text_buffer *page = &table->page, *header = &table->levels;
	const size_t most = ZSTD_compressBound(page->length);
	struct thrift outer = thrift_begin(header), inner = thrift_begin(header);
	size_t n;

	text_clear(&table->packed);
	text_add_fill(&table->packed, 0, most);
	if (table->packed.failed || page->failed)
		return error_out_of_memory(writing->error);
	n = ZSTD_compress(table->packed.bytes, most, page->bytes, page->length,
	                  PARQUET_ZSTD_LEVEL);
	if (ZSTD_isError(n))
		return error_out_of_memory(writing->error);
	if (n > INT32_MAX || page->length > INT32_MAX)
		return error_set(writing->error, "a page of more than 2 GiB");
	text_clear(header);
	thrift_i32(&outer, 1, is_dictionary ? 2 : 0);
	thrift_i32(&outer, 2, (int32_t)page->length);
	thrift_i32(&outer, 3, (int32_t)n);
	thrift_field(&outer, is_dictionary ? 7 : 5, THRIFT_STRUCT);
	thrift_i32(&inner, 1, (int32_t)n_values);
	thrift_i32(&inner, 2, encoding);
	if (!is_dictionary) {
		thrift_i32(&inner, 3, RLE);
		thrift_i32(&inner, 4, RLE);
	}
	thrift_end(&inner);
	thrift_end(&outer);
	if (header->failed)
		return error_out_of_memory(writing->error);
	*(is_dictionary ? &chunk->dictionary_offset : &chunk->offset) =
	    writing->offset;
	chunk->size += header->length + page->length;
	chunk->packed_size += header->length + n;
	parquet_write_bytes(writing, header->bytes, header->length);
	parquet_write_bytes(writing, table->packed.bytes, n);
	text_clear(page);
	return 0;
}

/* Levels of 0 and 1, behind their size. */
static void
put_levels(struct text_buffer *page, struct text_buffer *levels)
{
	put_u32(page, (uint32_t)levels->length);
	text_add(page, levels->bytes, levels->length);
	page->failed |= levels->failed;
	text_clear(levels);
}

/*
 * What comes before the values: of lists, which cells begin a row and which
 * rows are empty; of numbers, which are there.  Returns how many cells the page
 * has, with those that are not there.
 */
static uint32_t
parquet_add_levels(struct parquet_table *table, size_t column,
                   const struct range *range, struct chunk *chunk)
{
	const struct parquet_column *kind = &table->columns[column];
	const struct parquet_cells *cells = &table->cells[column];
	struct text_buffer *levels = &table->levels;
	struct bits bits;
	uint32_t n = 0;

	if (kind->kind == PARQUET_TEXTS) {
		text_clear(levels);
		bits = bits_begin(levels, 1);
		for (size_t row = range->begin, at = range->first;
		     row < range->end; row++) {
			bits_put(&bits, 0);
			n++;
			for (at++; at < cells->ends[row]; at++, n++)
				bits_put(&bits, 1);
			at = cells->ends[row];
		}
		bits_finish(&bits);
		put_levels(&table->page, levels);
		bits = bits_begin(levels, 1);
		for (size_t row = range->begin, at = range->first;
		     row < range->end; at = cells->ends[row++]) {
			if (at == cells->ends[row])
				bits_put(&bits, 0);
			for (; at < cells->ends[row]; at++)
				bits_put(&bits, 1);
		}
		bits_finish(&bits);
		put_levels(&table->page, levels);
		return n;
	}
	if (kind->kind == PARQUET_NUMBER && kind->may_be_null) {
		text_clear(levels);
		bits = bits_begin(levels, 1);
		for (size_t i = range->first; i < range->last; i++) {
			bits_put(&bits, cells->numbers[i] != PARQUET_NULL);
			chunk->n_nulls += cells->numbers[i] == PARQUET_NULL;
		}
		bits_finish(&bits);
		put_levels(&table->page, levels);
	}
	return (uint32_t)(range->last - range->first);
}

/* A text behind its size, in UTF-8: bytes that are none are replaced. */
static void
parquet_put_utf8(struct text_buffer *page, const char *text, size_t n)
{
	const size_t begin = page->length;

	put_u32(page, 0);
	for (size_t at = 0; at < n;) {
		uint32_t character;
		const size_t length = utf8_decode(text + at, n - at,
		                                  &character);

		if (length > 0)
			text_add(page, text + at, length);
		else
			text_add_string(page, "\xef\xbf\xbd");
		at += length > 0 ? length : 1;
	}
	n = page->length - begin - 4;
	for (size_t i = 0; i < 4 && !page->failed; i++)
		page->bytes[begin + i] = (char)(n >> 8 * i);
}

static int
parquet_reserve_slots(struct parquet_table *table, size_t n, struct error *error)
{
	if (n <= table->n_slots)
		return 0;
	free(table->slots);
	table->n_slots = 0;
	table->slots = memory_array(n, sizeof *table->slots, error);
	if (table->slots == NULL)
		return -1;
	memset(table->slots, 0xff, n * sizeof *table->slots);
	table->n_slots = n;
	return 0;
}

/*
 * The dictionary of texts, in the page; places[cells of the range] in it.
 * Returns its size, or -1 with *error set.
 */
static int64_t
find_texts(struct parquet_table *table, const struct parquet_cells *cells,
           const struct range *range, struct error *error)
{
	int64_t n = 0;

	if (parquet_reserve_slots(table, names_count(table->names),
	                          error) != 0 ||
	    memory_grow(&table->places, &table->places_capacity,
	                range->last - range->first, sizeof *table->places,
	                error) != 0)
		return -1;
	for (size_t i = range->first; i < range->last; i++) {
		const uint32_t name = cells->texts[i];
		uint32_t *slot = &table->slots[name];

		if (*slot == NO_SLOT) {
			*slot = (uint32_t)n++;
			parquet_put_utf8(&table->page,
			                 names_text(table->names, name),
			                 names_length(table->names, name));
		}
		table->places[i - range->first] = *slot;
	}
	for (size_t i = range->first; i < range->last; i++)
		table->slots[cells->texts[i]] = NO_SLOT;
	return n;
}

static size_t
hash_of(int64_t number, size_t mask)
{
	uint64_t hash = (uint64_t)number * 0x9e3779b97f4a7c15u;

	return (size_t)(hash >> 32 ^ hash) & mask;
}

/*
 * The same of numbers; 0: there are too many different ones, and the page is
 * empty.
 */
static int64_t
find_numbers(struct parquet_table *table, const struct parquet_cells *cells,
             const struct range *range, struct error *error)
{
	const size_t n_cells = range->last - range->first;
	size_t n_slots = 16, n = 0, n_places = 0;
	uint32_t *slots;
	int64_t *found;

	while (n_slots < 2 * n_cells)
		n_slots *= 2;
	slots = memory_array(n_slots, sizeof *slots, error);
	found = memory_array(n_cells / 2 + 1, sizeof *found, error);
	if (slots != NULL && found != NULL)
		memory_grow(&table->places, &table->places_capacity, n_cells,
		            sizeof *table->places, error);
	for (size_t i = range->first; !error->is_set && i < range->last &&
	     n <= n_cells / 2; i++) {
		const int64_t number = cells->numbers[i];
		size_t at = hash_of(number, n_slots - 1);

		if (number == PARQUET_NULL)
			continue;
		while (slots[at] != 0 && found[slots[at] - 1] != number)
			at = (at + 1) & (n_slots - 1);
		if (slots[at] == 0 && n == n_cells / 2) {
			n++;
			break;
		}
		if (slots[at] == 0) {
			found[n++] = number;
			slots[at] = (uint32_t)n;
		}
		table->places[n_places++] = slots[at] - 1;
	}
	if (n > n_cells / 2)
		n = 0;
	for (size_t i = 0; i < n; i++)
		put_i64(&table->page, found[i]);
	free(slots);
	free(found);
	return error->is_set ? -1 : (int64_t)n;
}

static int
parquet_write_chunk(struct parquet_writing *writing, size_t column,
                    const struct range *range, struct chunk *chunk)
{
	struct parquet_table *table = writing->table;
	const struct parquet_cells *cells = &table->cells[column];
	const bool are_numbers =
	    table->columns[column].kind == PARQUET_NUMBER;
	int64_t n;
	size_t n_places;

	*chunk = (struct chunk){ .least = INT64_MAX, .greatest = INT64_MIN };
	text_clear(&table->page);
	n = are_numbers ? find_numbers(table, cells, range, writing->error) :
	    find_texts(table, cells, range, writing->error);
	if (n < 0 || (n > 0 && parquet_write_page(writing, true, (uint32_t)n,
	                                          PLAIN, chunk) != 0))
		return -1;
	chunk->n_values = parquet_add_levels(table, column, range, chunk);
	n_places = range->last - range->first - chunk->n_nulls;
	if (n > 0) {
		const unsigned width = parquet_width_of((uint32_t)n - 1);
		struct bits bits = bits_begin(&table->page, width);

		text_add_char(&table->page, (char)width);
		for (size_t i = 0; i < n_places; i++)
			bits_put(&bits, table->places[i]);
		bits_finish(&bits);
	}
	for (size_t i = range->first; are_numbers && i < range->last; i++) {
		const int64_t number = cells->numbers[i];

		if (number == PARQUET_NULL)
			continue;
		if (n == 0)
			put_i64(&table->page, number);
		if (number < chunk->least)
			chunk->least = number;
		if (number > chunk->greatest)
			chunk->greatest = number;
	}
	return parquet_write_page(writing, false, (uint32_t)chunk->n_values,
	                          n > 0 ? RLE_DICTIONARY : PLAIN, chunk);
}

/* ---- the footer ---- */

enum { OF_INT64 = 2, OF_BYTES = 6 };			/* Type */
enum { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3 };
enum { CODEC_ZSTD = 6 };

/* An element of the schema: -1 for what it does not have. */
static void
add_element(struct text_buffer *footer, int type, int repetition,
            const char *name, int n_children, int converted, int logical)
{
	struct thrift element = thrift_begin(footer);

	if (type >= 0)
		thrift_i32(&element, 1, type);
	if (repetition >= 0)
		thrift_i32(&element, 3, repetition);
	thrift_binary(&element, 4, name, strlen(name));
	if (n_children >= 0)
		thrift_i32(&element, 5, n_children);
	if (converted >= 0)
		thrift_i32(&element, 6, converted);
	if (logical >= 0) {
		struct thrift union_of = thrift_begin(footer);
		struct thrift empty = thrift_begin(footer);

		thrift_field(&element, 10, THRIFT_STRUCT);
		thrift_field(&union_of, logical, THRIFT_STRUCT);
		thrift_end(&empty);
		thrift_end(&union_of);
	}
	thrift_end(&element);
}

static void
add_schema(const struct parquet_table *table, struct thrift *file)
{
	struct text_buffer *footer = file->bytes;
	size_t n = table->n_columns + 1;

	for (size_t i = 0; i < table->n_columns; i++)
		n += table->columns[i].kind == PARQUET_TEXTS ? 2 : 0;
	thrift_list(file, 2, THRIFT_STRUCT, n);
	add_element(footer, -1, -1, "cpprof", (int)table->n_columns, -1, -1);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct parquet_column *column = &table->columns[i];

		switch (column->kind) {
		case PARQUET_NUMBER:
			add_element(footer, OF_INT64, column->may_be_null ?
			            OPTIONAL : REQUIRED, column->name, -1, -1,
			            -1);
			break;
		case PARQUET_TEXT:
			add_element(footer, OF_BYTES, REQUIRED, column->name,
			            -1, CONVERTED_UTF8, LOGICAL_STRING);
			break;
		case PARQUET_TEXTS:
			add_element(footer, -1, REQUIRED, column->name, 1,
			            CONVERTED_LIST, LOGICAL_LIST);
			add_element(footer, -1, REPEATED, "list", 1, -1, -1);
			add_element(footer, OF_BYTES, REQUIRED, "element", -1,
			            CONVERTED_UTF8, LOGICAL_STRING);
		}
	}
}

static void
add_statistics(struct thrift *meta, const struct chunk *chunk)
{
	struct thrift statistics = thrift_begin(meta->bytes);
	char bytes[2][8];

	thrift_field(meta, 12, THRIFT_STRUCT);
	thrift_i64(&statistics, 3, chunk->n_nulls);
	if (chunk->least <= chunk->greatest) {
		for (int i = 0; i < 8; i++) {
			bytes[0][i] = (char)((uint64_t)chunk->greatest >>
			                     8 * i);
			bytes[1][i] = (char)((uint64_t)chunk->least >> 8 * i);
		}
		thrift_binary(&statistics, 5, bytes[0], 8);
		thrift_binary(&statistics, 6, bytes[1], 8);
	}
	thrift_end(&statistics);
}

static void
add_chunk(const struct parquet_column *column, const struct chunk *chunk,
          struct text_buffer *footer)
{
	struct thrift outer = thrift_begin(footer), meta = thrift_begin(footer);
	const bool has_dictionary = chunk->dictionary_offset > 0;

	thrift_i64(&outer, 2, has_dictionary ? chunk->dictionary_offset :
	           chunk->offset);
	thrift_field(&outer, 3, THRIFT_STRUCT);
	thrift_i32(&meta, 1, column->kind == PARQUET_NUMBER ? OF_INT64 :
	           OF_BYTES);
	thrift_list(&meta, 2, THRIFT_I32, has_dictionary ? 3 : 2);
	put_varint(footer, zigzag(PLAIN));
	put_varint(footer, zigzag(RLE));
	if (has_dictionary)
		put_varint(footer, zigzag(RLE_DICTIONARY));
	thrift_list(&meta, 3, THRIFT_BINARY,
	            column->kind == PARQUET_TEXTS ? 3 : 1);
	thrift_bytes(footer, column->name, strlen(column->name));
	if (column->kind == PARQUET_TEXTS) {
		thrift_bytes(footer, "list", 4);
		thrift_bytes(footer, "element", 7);
	}
	thrift_i32(&meta, 4, CODEC_ZSTD);
	thrift_i64(&meta, 5, chunk->n_values);
	thrift_i64(&meta, 6, chunk->size);
	thrift_i64(&meta, 7, chunk->packed_size);
	thrift_i64(&meta, 9, chunk->offset);
	if (has_dictionary)
		thrift_i64(&meta, 11, chunk->dictionary_offset);
	if (column->kind == PARQUET_NUMBER)
		add_statistics(&meta, chunk);
	thrift_end(&meta);
	thrift_end(&outer);
}

static void
add_group(const struct parquet_table *table, const struct chunk *chunks,
          size_t n_rows, struct text_buffer *footer)
{
	struct thrift group = thrift_begin(footer);
	uint64_t size = 0;

	thrift_list(&group, 1, THRIFT_STRUCT, table->n_columns);
	for (size_t i = 0; i < table->n_columns; i++) {
		add_chunk(&table->columns[i], &chunks[i], footer);
		size += chunks[i].size;
	}
	thrift_i64(&group, 2, size);
	thrift_i64(&group, 3, n_rows);
	thrift_end(&group);
}

/* After the row groups. */
static void
parquet_add_end(const struct parquet_table *table, struct thrift *file)
{
	static const char maker[] = "cpprof version " PACKAGE_VERSION;

	thrift_binary(file, 6, maker, sizeof maker - 1);
	/* Least and greatest values are by the order of the type. */
	thrift_list(file, 7, THRIFT_STRUCT, table->n_columns);
	for (size_t i = 0; i < table->n_columns; i++) {
		struct thrift order = thrift_begin(file->bytes);
		struct thrift empty = thrift_begin(file->bytes);

		thrift_field(&order, 1, THRIFT_STRUCT);
		thrift_end(&empty);
		thrift_end(&order);
	}
	thrift_end(file);
}

/* ---- the file ---- */

/* Where the cells of the rows before `row` end. */
static size_t
cells_before(const struct parquet_table *table, size_t column, size_t row)
{
	return table->columns[column].kind != PARQUET_TEXTS || row == 0 ? row :
	    table->cells[column].ends[row - 1];
}

static int
parquet_write_groups(struct parquet_writing *writing, struct thrift *file)
{
	struct parquet_table *table = writing->table;
	struct chunk *chunks = memory_array(table->n_columns, sizeof *chunks,
	                                    writing->error);
	int status = chunks != NULL ? 0 : -1;

	thrift_list(file, 4, THRIFT_STRUCT,
	            (table->n_rows + ROWS_A_GROUP - 1) / ROWS_A_GROUP);
	for (size_t row = 0; status == 0 && row < table->n_rows;
	     row += ROWS_A_GROUP) {
		struct range range = { .begin = row };

		range.end = table->n_rows - row < ROWS_A_GROUP ?
		    table->n_rows : row + ROWS_A_GROUP;
		for (size_t i = 0; status == 0 && i < table->n_columns; i++) {
			range.first = cells_before(table, i, row);
			range.last = cells_before(table, i, range.end);
			status = parquet_write_chunk(writing, i, &range,
			                             &chunks[i]);
		}
		if (status == 0)
			add_group(table, chunks, range.end - row, file->bytes);
	}
	free(chunks);
	return status;
}

static int
parquet_write_file(struct parquet_writing *writing)
{
	static const char magic[] = "PAR1";
	struct parquet_table *table = writing->table;
	struct text_buffer *footer = &table->footer;
	struct thrift file = thrift_begin(footer);
	size_t length;

	text_clear(footer);
	parquet_write_bytes(writing, magic, 4);
	thrift_i32(&file, 1, 1);
	add_schema(table, &file);
	thrift_i64(&file, 3, table->n_rows);
	if (parquet_write_groups(writing, &file) != 0)
		return -1;
	parquet_add_end(table, &file);
	length = footer->length;
	put_u32(footer, (uint32_t)length);
	text_add(footer, magic, 4);
	if (footer->failed)
		return error_out_of_memory(writing->error);
	parquet_write_bytes(writing, footer->bytes, footer->length);
	return 0;
}

int
parquet_table_write(struct parquet_table *table, const char *path, size_t own,
                    struct error *error)
{
	struct new_file file;
	struct parquet_writing writing = {
		.table = table, .writer = &file.writer, .error = error,
	};
	bool is_whole;

	if (new_file_open_own(&file, path, own, error) != 0)
		return -1;
	is_whole = parquet_write_file(&writing) == 0;
	if (new_file_close(&file, is_whole, error) != 0 || !is_whole)
		return -1;
	parquet_free_cells(table);
	return 0;
}
