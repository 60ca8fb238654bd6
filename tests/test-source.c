/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-source.c -- bytes of files, pipes and packed input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "src/formats/source.h"
#include "tests/skip.h"

enum { TEXT_SIZE = 3000000 };

static char text[TEXT_SIZE];
static char packed[TEXT_SIZE + 10000];

static int
make_text(void **state)
{
	uint32_t x = 1;

	(void)state;
	for (size_t i = 0; i < TEXT_SIZE; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = "main;read_db 12\n"[x >> 28];
	}
	return 0;
}

/* Each packs n bytes of text and returns the size of the result. */
static size_t
pack_gzip(const char *from, size_t n, char *to, size_t room)
{
	z_stream stream = { 0 };

	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8,
	                              Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)from;
	stream.avail_in = (uInt)n;
	stream.next_out = (Bytef *)to;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static size_t
pack_zstd(const char *from, size_t n, char *to, size_t room)
{
	size_t size = ZSTD_compress(to, room, from, n, 3);

	assert_false(ZSTD_isError(size));
	return size;
}

/*
 * Reads everything in steps of odd sizes; returns the size, and all of it as
 * text.
 */
static size_t
read_text(struct source *source, struct error *error)
{
	size_t done = 0, size = 0;
	const char *bytes;

	while ((bytes = source_peek(source, 1 + done % 5000, &size, error)) &&
	       size > 0) {
		if (size > 7777)
			size = 7777;
		assert_true(done + size <= TEXT_SIZE);
		assert_memory_equal(bytes, text + done, size);
		source_skip(source, size);
		done += size;
	}
	return done;
}

static size_t
read_packed(size_t size, bool *is_cut_short, struct error *error)
{
	struct source *source = source_of_memory("packed", packed, size,
	                                         error);
	size_t got;

	assert_non_null(source);
	got = read_text(source, error);
	*is_cut_short = source_is_cut_short(source);
	source_close(source);
	return got;
}

static void
source_unpacks_members_and_frames(void **state)
{
	size_t (*const packers[])(const char *, size_t, char *, size_t) = {
		pack_gzip, pack_zstd,
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct error error = { 0 };
		bool is_cut_short;
		size_t size = packers[i](text, 1000, packed, sizeof packed);

		size += packers[i](text + 1000, TEXT_SIZE - 1000,
		                   packed + size, sizeof packed - size);
		assert_int_equal(read_packed(size, &is_cut_short, &error),
		                 TEXT_SIZE);
		assert_false(error.is_set);
		assert_false(is_cut_short);
	}
}

static void
source_gives_what_is_whole_of_cut_input(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		size_t size = i == 0 ?
		    pack_gzip(text, 3000, packed, sizeof packed) :
		    pack_zstd(text, 3000, packed, sizeof packed);

		for (size_t cut = 4; cut < size; cut++) {
			struct error error = { 0 };
			bool is_cut_short;

			assert_true(read_packed(cut, &is_cut_short, &error) <=
			            3000);
			assert_false(error.is_set);
			assert_true(is_cut_short);
		}
	}
}

static void
source_names_damage_behind_what_is_whole(void **state)
{
	size_t size = pack_gzip(text, 200000, packed, sizeof packed);
	struct error error = { 0 };
	bool is_cut_short;

	(void)state;
	/* The checksum: all of the text is there, and wrong. */
	packed[size - 6] ^= 1;
	assert_int_equal(read_packed(size, &is_cut_short, &error), 200000);
	assert_true(error.is_set);
	assert_non_null(strstr(error.text, "packed: 0x"));
	assert_non_null(strstr(error.text, "damaged"));
}

/* "a;é 1\n", a character of two units, and one half of such. */
static void
source_reads_utf16_as_utf8(void **state)
{
	static const char wanted[] =
	    "a;\xc3\xa9 1\n\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd";
	static const uint16_t units[] = { 0xfeff, 'a', ';', 0xe9, ' ', '1',
		'\n', 0x20ac, 0xd83d, 0xde00, 0xde00 };
	char bytes[2][sizeof units];

	(void)state;
	for (size_t i = 0; i < sizeof units; i++) {
		bytes[0][i] = (char)(units[i / 2] >> (i % 2 * 8));
		bytes[1][i ^ 1] = bytes[0][i];
	}
	for (size_t i = 0; i < 2; i++)
		for (size_t cut = 2; cut <= sizeof units; cut++) {
			struct error error = { 0 };
			struct source *source = source_of_memory("in",
			    bytes[i], cut, &error);
			size_t size;
			const char *got = source_peek(source, SIZE_MAX, &size,
			                              &error);

			assert_non_null(got);
			assert_memory_equal(got, wanted, size);
			assert_true(source_is_cut_short(source) ==
			            (cut % 2 == 1 || cut == 18));
			if (cut == sizeof units)
				assert_int_equal(size, sizeof wanted - 1);
			source_close(source);
		}
}

/*
 * The same for packed input, cut anywhere, and for texts too short for a mark.
 */
static void
source_reads_utf16_inside_packed_data(void **state)
{
	size_t (*const packers[])(const char *, size_t, char *, size_t) = {
		pack_gzip, pack_zstd,
	};
	static const struct {
		const char *bytes;
		size_t n;
		const char *wanted;
	} cases[] = {
		{ "\xff\xfe" "a\0;\0b\0 \0" "1\0\n\0", 14, "a;b 1\n" },
		{ "\xfe\xff\0a\0;\0b\0 \0" "1\0\n", 14, "a;b 1\n" },
		{ "\xff\xfe", 2, "" },
		{ "x", 1, "x" },
		{ "\xff", 1, "\xff" },
		{ "", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		size_t n = packers[i % 2](cases[i / 2].bytes, cases[i / 2].n,
		                          packed, sizeof packed);

		for (size_t cut = 4; cut <= n; cut++) {
			struct error error = { 0 };
			struct source *source = source_of_memory("in", packed,
			    cut, &error);
			size_t size;
			const char *got = source_peek(source, SIZE_MAX, &size,
			                              &error);

			assert_non_null(got);
			assert_true(size <= strlen(cases[i / 2].wanted));
			assert_memory_equal(got, cases[i / 2].wanted, size);
			assert_true(source_is_cut_short(source) == (cut < n));
			if (cut == n)
				assert_int_equal(size,
				    strlen(cases[i / 2].wanted));
			source_close(source);
		}
	}
}

/*
 * More than fits into a piece, with a character of two units across the
 * boundary.
 */
static void
source_reads_much_utf16_inside_gzip(void **state)
{
	enum { UNITS = 200000 };
	char *bytes = malloc(2 + 2 * UNITS);
	struct error error = { 0 };
	struct source *source;
	const char *got;
	size_t size;

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, "\xff\xfe", 2);
	for (size_t i = 0; i < UNITS; i++)
		memcpy(bytes + 2 + 2 * i, i == 0 ? "a\0" : i % 2 == 1 ?
		       "\x3d\xd8" : "\0\xde", 2);
	size = pack_gzip(bytes, 2 * UNITS, packed, sizeof packed);
	source = source_of_memory("in", packed, size, &error);
	got = source_peek(source, SIZE_MAX, &size, &error);
	assert_int_equal(size, 1 + (UNITS / 2 - 1) * 4);
	for (size_t i = 0; i < UNITS / 2 - 1; i++)
		assert_memory_equal(got + 1 + 4 * i, "\xf0\x9f\x98\x80", 4);
	source_close(source);
	free(bytes);
}

/* The last bytes say how large the second one is. */
static void
source_reads_all_members_of_gzip(void **state)
{
	static const size_t sizes[] = { 2999, 3000, 3001 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t size = pack_gzip(text, 3000, packed, sizeof packed);
		struct error error = { 0 };
		bool is_cut_short;

		size += pack_gzip(text + 3000, sizes[i], packed + size,
		                  sizeof packed - size);
		assert_int_equal(read_packed(size, &is_cut_short, &error),
		                 3000 + sizes[i]);
		assert_false(error.is_set || is_cut_short);
	}
}

static void
source_ignores_zeros_behind_gzip(void **state)
{
	size_t size = pack_gzip(text, 5000, packed, sizeof packed);
	struct error error = { 0 };
	bool is_cut_short;

	(void)state;
	memset(packed + size, 0, 512);
	assert_int_equal(read_packed(size + 512, &is_cut_short, &error), 5000);
	assert_false(error.is_set);
	packed[size] = 'x';
	assert_int_equal(read_packed(size + 512, &is_cut_short, &error), 5000);
	assert_true(error.is_set);
}

static void
source_holds_the_whole_input_when_asked(void **state)
{
	struct error error = { 0 };
	size_t packed_size = pack_gzip(text, TEXT_SIZE, packed,
	                               sizeof packed);
	struct source *source = source_of_memory("packed", packed,
	                                         packed_size, &error);
	size_t size = 0;
	const char *bytes = source_peek(source, SIZE_MAX, &size, &error);

	(void)state;
	assert_int_equal(size, TEXT_SIZE);
	assert_memory_equal(bytes, text, TEXT_SIZE);
	source_skip(source, size);
	assert_non_null(source_peek(source, 1, &size, &error));
	assert_int_equal(size, 0);
	source_close(source);
}

static void
source_reads_pipes_in_pieces(void **state)
{
	struct error error = { 0 };
	struct source *source;
	char path[50];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, 5), 5);
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	source = source_open(path, &error);
	if (source == NULL)
		skip_since("no /proc");
	assert_int_equal(source_size(source), 0);
	assert_int_equal(write(ends[1], text + 5, 60000), 60000);
	close(ends[1]);
	assert_int_equal(read_text(source, &error), 60005);
	assert_int_equal(source_done(source), 60005);
	source_close(source);
	close(ends[0]);
}

/* What came before is complete, and there are always 16 MiB. */
static void
source_ends_where_it_unpacks_to_too_much(void **state)
{
	static const size_t sizes[] = { 16 << 20, 80 << 20 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *zeros = calloc(sizes[i], 1), *small = malloc(1 << 20);
		size_t n = pack_zstd(zeros, sizes[i], small, 1 << 20), size;
		struct error error = { 0 };
		struct source *source = source_of_memory("zeros", small, n,
		                                         &error);
		uint64_t done = 0;

		assert_non_null(source);
		while (source_peek(source, 1, &size, &error) && size > 0) {
			done += size;
			source_skip(source, size);
		}
		assert_false(error.is_set);
		assert_int_equal(source_is_too_much(source), i);
		assert_int_equal(source_is_cut_short(source), i);
		if (i == 0)
			assert_int_equal(done, sizes[i]);
		else
			assert_true(done >= 16 << 20 && done < 32 << 20);
		source_close(source);
		free(zeros);
		free(small);
	}
}

/* The limit follows from what was unpacked, not from what comes after it. */
static void
source_counts_no_bytes_that_are_not_unpacked_yet(void **state)
{
	enum { ZEROS = 80 << 20, BEHIND = 1 << 20 };
	char *zeros = calloc(ZEROS, 1), *small = malloc(2 * BEHIND);
	size_t n = pack_zstd(zeros, ZEROS, small, BEHIND), size;
	struct error error = { 0 };
	struct source *source;
	uint64_t done = 0;

	(void)state;
	/* After the zeros, much that packing does not make smaller. */
	srand(7);
	for (size_t i = 0; i < BEHIND / 2; i++)
		zeros[i] = (char)rand();
	n += pack_zstd(zeros, BEHIND / 2, small + n, BEHIND);
	source = source_of_memory("zeros", small, n, &error);
	assert_non_null(source);
	while (source_peek(source, 1, &size, &error) && size > 0) {
		done += size;
		source_skip(source, size);
	}
	assert_true(source_is_too_much(source));
	assert_true(done >= 16 << 20 && done < 32 << 20);
	source_close(source);
	free(zeros);
	free(small);
}

static void
source_says_why_it_cannot_open(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_null(source_open("/nowhere/at/all", &error));
	assert_string_equal(error.text,
	                    "/nowhere/at/all: No such file or directory");
}

static void
source_says_why_it_cannot_read(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_null(source_open("/", &error));
	assert_string_equal(error.text, "/: Is a directory");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(source_unpacks_members_and_frames),
		cmocka_unit_test(source_gives_what_is_whole_of_cut_input),
		cmocka_unit_test(source_names_damage_behind_what_is_whole),
		cmocka_unit_test(source_reads_utf16_as_utf8),
		cmocka_unit_test(source_reads_utf16_inside_packed_data),
		cmocka_unit_test(source_reads_much_utf16_inside_gzip),
		cmocka_unit_test(source_reads_all_members_of_gzip),
		cmocka_unit_test(source_ignores_zeros_behind_gzip),
		cmocka_unit_test(source_holds_the_whole_input_when_asked),
		cmocka_unit_test(source_reads_pipes_in_pieces),
		cmocka_unit_test(source_ends_where_it_unpacks_to_too_much),
		cmocka_unit_test(
		    source_counts_no_bytes_that_are_not_unpacked_yet),
		cmocka_unit_test(source_says_why_it_cannot_open),
		cmocka_unit_test(source_says_why_it_cannot_read),
	};

	return cmocka_run_group_tests(tests, make_text, NULL);
}
