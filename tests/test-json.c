/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-json.c -- tokens, numbers and objects of JSON. */
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

	/* What was left out. */
	unsigned n_left_out;
	uint64_t left_out_offset;
	const char *left_out;
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
	text->json = json_reader_new(&text->reader, text, &text->error);
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

/* ---- objects by tables ---- */

struct step {
	uint32_t name, function, small, tiny;
	uint64_t large;
	const char *text;
	struct json_known ms;
	uint64_t sum;
	enum json_type any;
};

#define STEP(member) .at = offsetof(struct step, member)

static void
read_sum(struct json_reader *json, struct json_token *token, void *into)
{
	uint64_t *sum = json_field_in(token, into), number;
	const uint64_t factor = token->field->number;

	assert_ptr_equal(((struct text *)json_context(json))->json, json);
	while (json_next_element(json, token))
		if (json_whole_number(token, 100, &number))
			*sum += factor * number;
		else
			json_refuse(json, token, "a part");
}

static void
read_any(struct json_reader *json, struct json_token *token, void *into)
{
	(void)json;
	((struct step *)into)->any = token->type;
}

static const struct json_field inner_fields[] = {
	{ "small", "a small number", JSON_NUMBER, .read = json_read_u32,
	  STEP(small) },
	{ "tiny", "a tiny number", JSON_NUMBER, .read = json_read_u32,
	  STEP(tiny), .number = 9, .or_skip = true },
	{ NULL }
};

static const struct json_field more_fields[] = {
	{ "parts", "an array of parts", JSON_ARRAY, .read = read_sum,
	  STEP(sum), .number = 10 },
	{ "any", NULL, JSON_END, .read = read_any },
	{ NULL }
};

static const struct json_field step_fields[] = {
	{ "name", "the name of a step", JSON_STRING, .read = json_read_name,
	  STEP(name) },
	{ "function", "a function", JSON_STRING, .read = json_read_function,
	  STEP(function) },
	{ "text", "a text", JSON_STRING, .read = json_read_text, STEP(text),
	  .or_skip = true },
	{ "large", "a large number", JSON_NUMBER, .read = json_read_u64,
	  STEP(large) },
	{ "ms", "a time", JSON_NUMBER, .read = json_read_decimal, STEP(ms) },
	{ "inner", "an inner object", JSON_OBJECT, .fields = inner_fields },
	{ .key = NULL, .fields = more_fields }
};

static const struct step no_step = { .name = NO_NAME, .function = NO_NAME };

static struct step
read_step(struct text *text)
{
	struct step step = no_step;

	begin(text);
	json_read_file(text->json, step_fields, "a step, an object", &step);
	return step;
}

static void
json_reads_objects_by_tables(void **state)
{
	static const char *const texts[] = {
		"{\"name\":\"n\",\"function\":\"_ZN1a1bEv\",\"text\":\"t\","
		"\"large\":9223372036854775807,\"ms\":-1.5,\"inner\":{"
		"\"small\":4294967295,\"tiny\":9,\"x\":[{}]},\"parts\":"
		"[1,2],\"any\":{\"any\":[1],\"name\":\"m\"}}",
		"{\"any\":{\"name\":[]},\"x\":{\"name\":\"m\"},\"parts\":"
		"[1,2],\"inner\":{\"tiny\":9,\"name\":3,\"small\":"
		"4294967295},\"ms\":-1.5,\"large\":9223372036854775807,"
		"\"text\":\"t\",\"nam\":1,\"names\":1,\"function\":"
		"\"_ZN1a1bEv\",\"name\":\"n\"}",
		/* What is skipped instead, or missing. */
		"{\"name\":\"n\",\"function\":\"_ZN1a1bEv\",\"text\":\"t\","
		"\"text\":{\"text\":\"u\"},\"text\":7,\"text\":null,"
		"\"name\":null,\"large\":9223372036854775807,\"ms\":-1.5,"
		"\"inner\":{\"small\":4294967295,\"tiny\":9,\"tiny\":10,"
		"\"tiny\":\"1\"},\"inner\":null,\"parts\":[1,2],"
		"\"parts\":null,\"any\":{}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct text text = open_text(texts[i], strlen(texts[i]));
		struct step step = read_step(&text);
		struct names *names = text.reader.profile->names;

		assert_string_equal(text.error.text, "");
		assert_string_equal(names_text(names, step.name), "n");
		assert_string_equal(names_text(names, step.function),
		                    "a::b()");
		assert_string_equal(step.text, "t");
		assert_int_equal(step.large, INT64_MAX);
		assert_int_equal(step.small, UINT32_MAX);
		assert_int_equal(step.tiny, 9);
		assert_true(step.ms.is_there);
		assert_int_equal(step.ms.decimal.digits, -15);
		assert_int_equal(step.sum, 30);
		assert_int_equal(step.any, JSON_OBJECT);
		close_text(&text);
	}
}

static void
json_refuses_values_of_wrong_types(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[]", "in: 0x0: expected a step, an object" },
		{ "{\"name\":1}", "in: 0x8: expected the name of a step" },
		{ "{\"large\":9223372036854775808}",
		  "in: 0x9: expected a large number" },
		{ "{\"large\":-1}", "in: 0x9: expected a large number" },
		{ "{\"inner\":[]}", "in: 0x9: expected an inner object" },
		{ "{\"inner\":{\"small\":4294967296}}",
		  "in: 0x12: expected a small number" },
		{ "{\"parts\":[101]}", "in: 0xa: expected a part" },
		{ "{\"parts\":{}}", "in: 0x9: expected an array of parts" },
		{ "{} {}", "in: 0x3: malformed JSON" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text text = open_text(cases[i].text,
		                             strlen(cases[i].text));

		read_step(&text);
		if (strstr(text.error.text, cases[i].error) == NULL)
			fail_msg("\"%s\" has no \"%s\"", text.error.text,
			         cases[i].error);
		close_text(&text);
	}
}

static void
note_left_out(void *context, uint64_t offset, const char *what)
{
	struct text *text = context;

	text->n_left_out++;
	text->left_out_offset = offset;
	text->left_out = what;
}

static void
json_leaves_out_what_is_wrong_if_told_to(void **state)
{
	static const char bytes[] = "{\"name\":{\"name\":\"m\"},\"parts\":[1,"
	    "[200],2],\"inner\":{\"tiny\":10,\"small\":[{}]},\"large\":7}";
	struct text text = open_text(bytes, sizeof bytes - 1);
	struct step step = no_step;

	(void)state;
	begin(&text);
	json_leave_out_wrong(text.json, note_left_out);
	json_read_file(text.json, step_fields, "a step, an object", &step);
	assert_false(text.error.is_set);
	assert_int_equal(text.n_left_out, 3);
	assert_string_equal(text.left_out, "a small number");
	assert_int_equal(text.left_out_offset, strstr(bytes, "[{}]") - bytes);
	assert_int_equal(step.name, NO_NAME);
	assert_int_equal(step.sum, 30);
	assert_int_equal(step.tiny, 0);
	assert_int_equal(step.large, 7);
	close_text(&text);
}

/* Of an array of objects, and in one place of the text after the other. */
static void
json_objects_end_or_are_cut_short(void **state)
{
	static const char bytes[] = "[{\"large\":1,\"name\":\"n\"},{}, "
	    "{\"large\":3}]";

	(void)state;
	for (size_t n = 0; n < sizeof bytes; n++) {
		struct text text = open_text(bytes, n);
		struct json_token token;
		size_t n_whole = 0, n_ends = 0;

		for (size_t i = 0; i < n; i++)
			n_ends += bytes[i] == '}';
		begin(&text);
		json_next(text.json, &token);
		while (json_next_object(text.json, &token, "a step")) {
			struct step step = no_step;

			n_whole += json_read_fields(text.json, step_fields,
			                            &step);
		}
		assert_false(text.error.is_set);
		assert_int_equal(n_whole, n_ends);
		assert_int_equal(json_is_cut_short(text.json),
		                 n < sizeof bytes - 1);
		close_text(&text);
	}
}

/* A text in two blocks, or with escapes, is a copy. */
static void
json_gives_texts_over_the_ends_of_blocks(void **state)
{
	enum { SIZE = 80 << 10 };
	char *bytes = malloc(SIZE);

	(void)state;
	for (int shift = 0; shift < 40; shift++) {
		size_t n = (size_t)snprintf(bytes, SIZE, "[%*s1", shift, "");
		struct json_token token;
		struct text text;
		unsigned i = 0;

		while (n < SIZE - 40)
			n += (size_t)snprintf(bytes + n, SIZE - n, ",1234567,"
			    "\"plain text\",\"\\u0041\\n%07u\"", ++i);
		n += (size_t)snprintf(bytes + n, SIZE - n, "]");
		text = open_text(bytes, n);
		begin(&text);
		json_next(text.json, &token);
		json_next(text.json, &token);
		for (unsigned j = 1; j <= i; j++) {
			char expected[16];

			snprintf(expected, sizeof expected, "A\n%07u", j);
			assert_true(json_next(text.json, &token));
			assert_int_equal(token.length, 7);
			assert_memory_equal(token.text, "1234567", 7);
			assert_true(json_next(text.json, &token));
			assert_true(json_is(&token, "plain text"));
			assert_true(json_next(text.json, &token));
			assert_true(json_is(&token, expected));
		}
		assert_true(json_next(text.json, &token));
		assert_int_equal(json_offset(text.json), n - 1);
		assert_false(json_next(text.json, &token));
		assert_false(text.error.is_set);
		close_text(&text);
	}
	free(bytes);
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
		cmocka_unit_test(json_reads_objects_by_tables),
		cmocka_unit_test(json_refuses_values_of_wrong_types),
		cmocka_unit_test(json_leaves_out_what_is_wrong_if_told_to),
		cmocka_unit_test(json_objects_end_or_are_cut_short),
		cmocka_unit_test(json_gives_texts_over_the_ends_of_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
