/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-json.c -- tokens and numbers of JSON. */
#include "tests/reader-fixture.h"
#include "tests/skip.h"

#include "src/formats/json/json_reader.h"

/* A text that is read token by token. */
struct text {
	struct error error;
	struct source *source;
	struct read_options options;
	struct reader reader;
	struct json_reader *json;
};

static struct text
open_text(const char *bytes, size_t n)
{
	struct text text = { .json = NULL };

	text.source = source_of_memory("in", bytes, n, &text.error);
	assert_non_null(text.source);
	return text;
}

static void
begin(struct text *text)
{
	assert_int_equal(reader_begin(&text->reader, text->source,
	                              &text->options, READER_OFFSETS,
	                              &text->error), 0);
	text->json = json_reader_new(&text->reader, NULL, &text->error);
	assert_non_null(text->json);
}

static void
close_text(struct text *text)
{
	json_reader_free(text->json);
	reader_end(&text->reader, -1);
	source_close(text->source);
}

static void
json_gives_tokens_with_offsets(void **state)
{
	static const char bytes[] = " {\"a\\n\": [1, -2.5e3, \"x\\u00e9\", "
	    "null, true], \"b\": {}} ";
	static const struct {
		enum json_type type;
		uint64_t offset;
		const char *text;
	} expected[] = {
		{ JSON_OBJECT, 1, "" }, { JSON_KEY, 3, "a\n" },
		{ JSON_ARRAY, 9, "" }, { JSON_NUMBER, 10, "1" },
		{ JSON_NUMBER, 13, "-2.5e3" }, { JSON_STRING, 25, "x\xc3\xa9" },
		{ JSON_NULL, 32, "" }, { JSON_TRUE, 38, "" },
		{ JSON_ARRAY_END, 42, "" }, { JSON_KEY, 45, "b" },
		{ JSON_OBJECT, 50, "" }, { JSON_OBJECT_END, 51, "" },
		{ JSON_OBJECT_END, 52, "" },
	};
	struct text text = open_text(bytes, sizeof bytes - 1);
	struct json_token token;

	(void)state;
	begin(&text);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		assert_true(json_next(text.json, &token));
		assert_int_equal(token.type, expected[i].type);
		assert_int_equal(token.offset, expected[i].offset);
		assert_true(json_is(&token, expected[i].text));
	}
	assert_false(json_next(text.json, &token));
	assert_false(text.error.is_set);
	assert_false(json_is_cut_short(text.json));
	close_text(&text);
}

/* Reads the text to its end; counts *n_tokens. */
static struct text
read_all(const char *bytes, size_t n, size_t *n_tokens)
{
	struct text text = open_text(bytes, n);
	struct json_token token;

	begin(&text);
	for (*n_tokens = 0; json_next(text.json, &token); ++*n_tokens)
		continue;
	return text;
}

static void
json_tells_cut_from_malformed(void **state)
{
	static const struct {
		const char *text;
		size_t n_tokens;
		bool is_cut;
		const char *error;	/* NULL: none */
	} cases[] = {
		{ "[1, 23", 2, true, NULL },	/* perhaps of 234 */
		{ "[1, 23 ", 3, true, NULL },
		{ "{\"a\": \"b", 2, true, NULL },
		{ "[tru", 1, true, NULL },
		{ "", 0, true, NULL },
		{ "17", 1, false, NULL },
		{ "[1, x]", 2, false, "in: 0x4: malformed JSON" },
		{ "{\"a\" 1}", 2, false, "in: 0x" },
		{ "[1] 2", 3, false, "in: 0x3: malformed JSON: trailing" },
		{ "{1: 2}", 1, false, "in: 0x1: malformed JSON: invalid "
		  "object key" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t n;
		struct text text = read_all(cases[i].text,
		                            strlen(cases[i].text), &n);

		assert_int_equal(json_is_cut_short(text.json), cases[i].is_cut);
		assert_int_equal(text.error.is_set, cases[i].error != NULL);
		if (cases[i].error == NULL)
			assert_int_equal(n, cases[i].n_tokens);
		else if (strstr(text.error.text, cases[i].error) == NULL)
			fail_msg("\"%s\" has no \"%s\"", text.error.text,
			         cases[i].error);
		close_text(&text);
	}
}

static void
json_nests_deeply_but_not_without_end(void **state)
{
	const size_t n = (1 << 22) + 1;
	size_t n_tokens;
	struct text text;
	char *bytes;

	(void)state;
	skip_if_quick();
#ifdef __SANITIZE_ADDRESS__
	skip_since("yajl's stack grows in small steps, which "
	           "AddressSanitizer copies it for");
#endif
	bytes = malloc(n);
	memset(bytes, '[', n);
	text = read_all(bytes, n, &n_tokens);
	assert_int_equal(n_tokens, n - 1);
	assert_non_null(strstr(text.error.text,
	                       "in: 0x400001: values nested deeper"));
	close_text(&text);
	free(bytes);
}

static void
json_refuses_strings_without_end(void **state)
{
	const size_t n = (64 << 20) + (64 << 10);
	char *bytes = malloc(n);
	size_t n_tokens;
	struct text text;

	(void)state;
	memset(bytes, 'x', n);
	bytes[0] = '"';
	text = read_all(bytes, n, &n_tokens);
	assert_non_null(strstr(text.error.text, "more than 64 MiB"));
	close_text(&text);
	free(bytes);
}

static void
json_numbers_are_exact(void **state)
{
	static const struct {
		const char *text;
		int power;
		int64_t integer;
		bool fits, is_exact;
	} cases[] = {
		{ "1717171717.123456789", 9, 1717171717123456789, true, true },
		{ "0.0000000005", 9, 1, true, false },
		{ "0.00000000049", 9, 0, true, false },
		{ "-0.0000000005", 9, -1, true, false },
		{ "1.5e-05", 9, 15000, true, true },
		{ "2E+2", 0, 200, true, true },
		{ "2.5", 0, 3, true, false },
		{ "9223372036854775807", 0, INT64_MAX, true, true },
		{ "92233720368547758080", 0, 0, false, false },
		{ "1e400", 0, 0, false, false },
		{ "1e99999999999999999999", 0, 0, false, false },
		{ "1e-99999999999999999999", 9, 0, true, false },
		{ "0e99999999999", 9, 0, true, true },
		{ "0.1000000000000000055511151231257827", 0, 0, true, false },
		{ "-0", 0, 0, true, true },
		{ "0.5555555555555555555", 0, 1, true, false },
		{ "-0.5555555555555555555", 0, -1, true, false },
		{ "0.4444444444444444444", 0, 0, true, false },
		{ "0.09223372036854775807", 0, 0, true, false },
		{ "1.00000000000000000001", 0, 1, true, false },
		{ "1.00000000000000000000", 0, 1, true, true },
		/* 2^63 and more: rounded, and marked so. */
		{ "9223372036854775809", 0, 9223372036854775800, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct json_token token = { .type = JSON_NUMBER,
			.text = cases[i].text,
			.length = strlen(cases[i].text) };
		struct decimal decimal;
		int64_t integer;
		bool is_exact;

		assert_true(json_decimal(&token, &decimal));
		assert_int_equal(decimal_scale(decimal, cases[i].power,
		                               &integer, &is_exact),
		                 cases[i].fits);
		if (!cases[i].fits)
			continue;
		assert_int_equal(integer, cases[i].integer);
		assert_int_equal(is_exact, cases[i].is_exact);
	}
}

static void
json_probe_finds_keys_by_their_path(void **state)
{
	static const char *const keys[] = { "a[].b.c", NULL };
	static const struct {
		const char *text;
		int answer;
	} cases[] = {
		{ " \n{\"x\": [{\"b\": 1}], \"a\": [1, [], {\"d\": {\"c\": 1},"
		  " \"b\": {\"x\": [[[[[1]]]]], \"c\"", PROBE_SURE },
		{ "{\"a\": {\"b\": {\"c\": 1}}}", PROBE_NO },
		{ "[[[[[[[[[[[[]]]]]]]]]]],1] {\"a\": [{\"b\": {\"c\"", PROBE_NO },
		{ "{\"a\": [{\"b\": [[[[[[[[{\"b\": 1}]]]]]]]]}, {\"b\": "
		  "{\"c\"", PROBE_SURE },
		{ "{\"a\": [{\"b\": {\"d\": {\"c\": 1}}, \"c\": 1}]}",
		  PROBE_NO },
		{ "x {\"a\": [{\"b\": {\"c\"", PROBE_NO },
		{ "{\"a\": [{\"b\": {\"c\": x}}]}", PROBE_SURE },
		{ "", PROBE_NO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(json_probe(cases[i].text,
		                            strlen(cases[i].text), keys),
		                 cases[i].answer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_gives_tokens_with_offsets),
		cmocka_unit_test(json_tells_cut_from_malformed),
		cmocka_unit_test(json_nests_deeply_but_not_without_end),
		cmocka_unit_test(json_refuses_strings_without_end),
		cmocka_unit_test(json_numbers_are_exact),
		cmocka_unit_test(json_probe_finds_keys_by_their_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
