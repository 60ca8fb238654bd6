/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-gperftools.c -- CPU profiles of gperftools, made by hand. */
#include "tests/reader-fixture.h"

extern const struct format format_gperftools;

/* Words of `size` bytes; of 8 the most significant first if size is -8. */
struct maker {
	struct buffer buffer;
	int size;
};

static void
put_words(struct maker *maker, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (maker->size > 0)
			buffer_number(&maker->buffer, words[i],
			              (size_t)maker->size);
		else
			buffer_number(&maker->buffer,
			              __builtin_bswap64(words[i]), 8);
}

#define PUT(maker, ...) \
	put_words(maker, (const uint64_t[]){ __VA_ARGS__ }, \
	          sizeof (const uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t))

static void
put_text(struct maker *maker, const char *text)
{
	buffer_add(&maker->buffer, text, strlen(text));
}

static void
put_profile(struct maker *maker, int size)
{
	maker->buffer.n = 0;
	maker->size = size;
	PUT(maker, 0, 3, 0, 10000, 0);
	PUT(maker, 2, 3, 0x400010, 0x400021, 0x400031);
	PUT(maker, 1, 2, 0x400020, 0x400031);
	PUT(maker, 5, 1, 0x99);
	PUT(maker, 0, 1, 0);
	put_text(maker, "build=/gone\n"
	    "00300000-00301000 rw-p 00000000 00:00 0\n"
	    "00400000-00401000 r-xp 00001000 fe:00 12    $build/prog\n"
	    "00500000-00501000 r-xp 00000000 00:00 0     [vdso]\n");
}

static struct profile *
read_profile(const struct maker *maker)
{
	return must_read(&format_gperftools, maker->buffer.bytes,
	                 maker->buffer.n);
}

static void
gperftools_reads_words_of_all_kinds(void **state)
{
	static const int sizes[] = { 8, 4, -8 };
	struct maker maker;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct profile *profile;

		put_profile(&maker, sizes[i]);
		assert_int_equal(format_gperftools.probe(maker.buffer.bytes,
		    maker.buffer.n), PROBE_SURE);
		profile = read_profile(&maker);
		assert_string_equal(profile->resources[0].name, "cpu");
		assert_int_equal(profile->resources[0].interval, 10000);
		assert_int_equal(hits_of(profile, 0, "prog+0x1030;"
		                         "prog+0x1020;prog+0x1010"), 2);
		assert_int_equal(hits_of(profile, 0,
		                         "prog+0x1030;prog+0x1020"), 1);
		assert_int_equal(hits_of(profile, 0, "0x99"), 5);
		assert_string_equal(profile->modules[0].path, "/gone/prog");
		profile_free(profile);
	}
}

static void
gperftools_replaces_build_by_nothing_if_it_is_empty(void **state)
{
	struct maker maker = { .size = 8 };
	struct profile *profile;

	(void)state;
	PUT(&maker, 0, 3, 0, 10000, 0);
	PUT(&maker, 1, 1, 0x400010);
	PUT(&maker, 0, 1, 0);
	put_text(&maker, "build=\n"
	    "00400000-00401000 r-xp 00001000 fe:00 12    $build\n");
	profile = read_profile(&maker);
	assert_int_equal(profile->n_modules, 0);
	assert_int_equal(hits_of(profile, 0, "0x400010"), 1);
	profile_free(profile);
}

/* The mappings are those that test-legacy.c has for text, in one parser. */
static void
gperftools_reads_memory_maps_of_all_kinds(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "00400000-00401000 r-xp 00001000 fe:00 12 /x y/p (deleted)\n",
		  "/x y/p" },
		{ "build=/home/me\n"
		  "00400000-00401000 r-xp 00001000 fe:00 12 /$build/p\n",
		  "//home/me/p" },
		{ "root=/home\n build = $root/me \nbuild=/other\n"
		  "00400000-00401000 r-xp 00001000 fe:00 12 $build/$root\n",
		  "/home/me//home" },
		{ "I0101 12:00:00 1 f.cc:98] build=/home/me\n"
		  "I0101 12:00:00 1 f.cc:99] 00400000-00401000 r-xp 00001000 "
		  "fe:00 12 $build/p (deleted)\n", "/home/me/p" },
		{ "400000-401000: /x/p (@1000) ab12\n", "/x/p" },
		{ "00400000-00401000 r-xp 00001000 fe:00 12 $nothing/p\n",
		  "$nothing/p" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct maker maker = { .size = 8 };
		struct profile *profile;

		PUT(&maker, 0, 3, 0, 10000, 0);
		PUT(&maker, 1, 1, 0x400010);
		PUT(&maker, 0, 1, 0);
		put_text(&maker, cases[i].text);
		profile = read_profile(&maker);
		assert_int_equal(profile->n_modules, 1);
		assert_string_equal(profile->modules[0].path, cases[i].path);
		assert_int_equal(profile->frames[0].address, 0x1010);
		profile_free(profile);
	}
}

/* A file's data, mapped where samples are, is not their module. */
static void
gperftools_takes_only_executable_mappings(void **state)
{
	static const struct {
		const char *permissions;
		size_t n_modules;
	} cases[] = {
		{ "r-xp", 1 }, { "--xp", 1 }, { "rwxs", 1 },
		{ "rw-p", 0 }, { "r--s", 0 }, { "---p", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct maker maker = { .size = 8 };
		struct profile *profile;
		char text[100];

		PUT(&maker, 0, 3, 0, 10000, 0);
		PUT(&maker, 1, 1, 0x400010);
		PUT(&maker, 0, 1, 0);
		snprintf(text, sizeof text, "00400000-00401000 %s 00001000 "
		         "fe:00 12 /x/p\n", cases[i].permissions);
		put_text(&maker, text);
		profile = read_profile(&maker);
		assert_int_equal(profile->n_modules, cases[i].n_modules);
		profile_free(profile);
	}
}

static void
expect_error(const struct maker *maker, const char *expected)
{
	must_refuse(&format_gperftools, maker->buffer.bytes, maker->buffer.n,
	            expected);
}

static void
gperftools_refuses_what_does_not_fit_with_its_offset(void **state)
{
	struct maker maker = { .size = 8 };

	(void)state;
	PUT(&maker, 0, 3, 0, 10000, 0);
	expect_error(&maker, "in: 0x28: the input is cut "
	             "short here; no samples before that");
	PUT(&maker, 1, 0, 5);
	expect_error(&maker, "in: 0x28: expected a sample");
	maker.buffer.n = 40;
	PUT(&maker, 1, (uint64_t)1 << 40, 5);
	expect_error(&maker, "in: 0x28: expected a sample");
	maker.buffer.n = 40;
	PUT(&maker, UINT64_MAX, 1, 5, 1, 1, 5, 0, 1, 0);
	expect_error(&maker, "in: 0x40: the sum of hits");
	maker.buffer.n = 0;
	PUT(&maker, 0, 3, 1, 10000, 0);
	expect_error(&maker, "in: 0x0: expected the header");
}

static void
gperftools_cut_at_every_byte_keeps_what_is_whole(void **state)
{
	struct maker maker;
	struct error error = { 0 };
	struct profile *profile;
	uint32_t n_warnings;

	(void)state;
	put_profile(&maker, 8);
	cut_at_every_byte(&format_gperftools, maker.buffer.bytes,
	                  maker.buffer.n);
	profile = read_memory(&format_gperftools, maker.buffer.bytes, 90,
	                      &error);
	assert_non_null(profile);
	assert_non_null(strstr(profile->warnings[0], "cut short"));
	assert_int_equal(hits_of(profile, 0, "0x400030;0x400020;0x400010"), 2);
	profile_free(profile);
	/* In the files that were mapped. */
	profile = read_profile(&maker);
	n_warnings = profile->n_warnings;
	profile_free(profile);
	maker.buffer.n -= 10;
	profile = read_profile(&maker);
	assert_int_equal(profile->n_warnings, n_warnings + 1);
	assert_non_null(strstr(profile->warnings[n_warnings],
	                       "addresses may lack"));
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gperftools_reads_words_of_all_kinds),
		cmocka_unit_test(
		    gperftools_replaces_build_by_nothing_if_it_is_empty),
		cmocka_unit_test(gperftools_reads_memory_maps_of_all_kinds),
		cmocka_unit_test(gperftools_takes_only_executable_mappings),
		cmocka_unit_test(
		    gperftools_refuses_what_does_not_fit_with_its_offset),
		cmocka_unit_test(
		    gperftools_cut_at_every_byte_keeps_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
