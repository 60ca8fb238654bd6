/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-otlp.c -- OpenTelemetry's profiles, made by hand, in all revisions. */
#include "tests/reader-fixture.h"

extern const struct format format_otlp;

/* ---- writing protobufs ---- */

static void
put_varint(struct buffer *buffer, uint64_t value)
{
	do {
		buffer_number(buffer, (value & 0x7f) |
		              (value > 0x7f ? 0x80 : 0), 1);
		value >>= 7;
	} while (value > 0);
}

static void
put_number(struct buffer *buffer, uint32_t field, uint64_t value)
{
	put_varint(buffer, field << 3);
	put_varint(buffer, value);
}

static void
put_bytes(struct buffer *buffer, uint32_t field, const void *bytes, size_t n)
{
	put_varint(buffer, field << 3 | 2);
	put_varint(buffer, n);
	buffer_add(buffer, bytes, n);
}

static void
put_buffer(struct buffer *buffer, uint32_t field, const struct buffer *part)
{
	put_bytes(buffer, field, part->bytes, part->n);
}

/* Numbers up to UINT64_MAX, packed; of 8 bytes each if is_fixed. */
static void
put_packed(struct buffer *buffer, uint32_t field, const uint64_t *numbers,
           bool is_fixed)
{
	static struct buffer packed;

	packed.n = 0;
	for (; *numbers != UINT64_MAX; numbers++)
		if (is_fixed)
			buffer_number(&packed, *numbers, 8);
		else
			put_varint(&packed, *numbers);
	put_buffer(buffer, field, &packed);
}

#define LIST(...) ((const uint64_t[]){ __VA_ARGS__, UINT64_MAX })

/* A message of fields of numbers: field, value, ..., 0. */
static void
put_message(struct buffer *buffer, uint32_t field, const uint64_t *pairs)
{
	static struct buffer message;

	message.n = 0;
	for (; *pairs != 0; pairs += 2)
		put_number(&message, (uint32_t)pairs[0], pairs[1]);
	put_buffer(buffer, field, &message);
}

#define MESSAGE(buffer, field, ...) \
	put_message(buffer, field, (const uint64_t[]){ __VA_ARGS__, 0 })

/* ---- a message ---- */

/* Fields of a sample by revision: of 1.7, of 1.8, of 1.10 and later. */
enum revision { V7, V8, V10, N_REVISIONS };

static const char *const strings[] = { "", "cpu", "nanoseconds", "main",
	"work", "leaf", "w.c", "/gone/prog", "thread.name", "worker" };

static void
put_dictionary(struct buffer *data, enum revision revision)
{
	static struct buffer dictionary, part, inner;

	dictionary.n = 0;
	MESSAGE(&dictionary, 1, 0);
	MESSAGE(&dictionary, 1, 1, 0x1000, 2, 0x2000, 3, 0x100, 4, 7);
	/* 0; 1: main; 2: leaf, inlined in work; 3: an address */
	MESSAGE(&dictionary, 2, 0);
	part.n = 0;
	MESSAGE(&part, 3, 1, 1, 2, 30);
	put_buffer(&dictionary, 2, &part);
	part.n = 0;
	MESSAGE(&part, 3, 1, 3, 2, 5);
	MESSAGE(&part, 3, 1, 2, 2, 20);
	put_buffer(&dictionary, 2, &part);
	MESSAGE(&dictionary, 2, 1, 1, 2, 0x1010);
	MESSAGE(&dictionary, 3, 0);
	for (uint64_t name = 3; name <= 5; name++)
		MESSAGE(&dictionary, 3, 1, name, 3, 6);
	for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
		put_bytes(&dictionary, 5, strings[i], strlen(strings[i]));
	inner.n = 0;
	put_bytes(&inner, 1, strings[9], strlen(strings[9]));
	part.n = 0;
	if (revision == V7)
		put_bytes(&part, 1, strings[8], strlen(strings[8]));
	else
		put_number(&part, 1, 8);
	put_buffer(&part, 2, &inner);
	put_buffer(&dictionary, 6, &part);
	if (revision == V7) {
		MESSAGE(&dictionary, 7, 1, 8, 2, 2);
	} else {
		MESSAGE(&dictionary, 7, 0);
		for (int i = 0; i < 2; i++) {
			part.n = 0;
			put_packed(&part, 1, i == 0 ? LIST(2, 1) : LIST(3, 1),
			           false);
			put_buffer(&dictionary, 7, &part);
		}
	}
	put_buffer(data, 2, &dictionary);
}

static void
put_sample(struct buffer *profile, enum revision revision, uint64_t stack,
           const uint64_t *values, const uint64_t *times)
{
	static const uint32_t value_field[] = { 3, 2, 4 },
	    attribute_field[] = { 4, 3, 2 }, time_field[] = { 6, 5, 5 };
	static struct buffer sample;

	sample.n = 0;
	if (revision == V7) {
		put_number(&sample, 1, stack == 1 ? 0 : 2);
		put_number(&sample, 2, 2);
	} else {
		put_number(&sample, 1, stack);
	}
	if (values != NULL)
		put_packed(&sample, value_field[revision], values, false);
	put_packed(&sample, attribute_field[revision], LIST(0), false);
	if (times != NULL)
		put_packed(&sample, time_field[revision], times,
		           revision != V7);
	put_buffer(profile, 2, &sample);
}

/* Two samples of leaf, one of an address. */
static void
put_data(struct buffer *data, enum revision revision, const uint64_t *values,
         const uint64_t *times)
{
	static struct buffer profile, scope, resource;

	profile.n = scope.n = resource.n = data->n = 0;
	MESSAGE(&profile, 1, 1, 1, 2, 2);
	put_sample(&profile, revision, 1, values, times);
	put_sample(&profile, revision, 2, values, times);
	put_sample(&profile, revision, 1, values, times);
	if (revision == V7)
		put_packed(&profile, 3, LIST(2, 1, 3, 1), false);
	put_buffer(&scope, 2, &profile);
	put_bytes(&resource, 1, "", 0);
	put_buffer(&resource, 2, &scope);
	put_buffer(data, 1, &resource);
	put_dictionary(data, revision);
}

static void
otlp_revisions_are_told_apart(void **state)
{
	static struct buffer data;

	(void)state;
	for (enum revision i = 0; i < N_REVISIONS; i++) {
		struct profile *profile;

		put_data(&data, i, LIST(10), NULL);
		assert_int_equal(format_otlp.probe(data.bytes, data.n),
		                 PROBE_SURE);
		profile = must_read(&format_otlp, data.bytes, data.n);
		assert_int_equal(profile->n_resources, 1);
		assert_string_equal(profile->resources[0].name, "cpu");
		assert_string_equal(profile->resources[0].gtick,
		                    "nanosecond");
		assert_int_equal(hits_of(profile, 0, "main;work|leaf"), 20);
		assert_int_equal(hits_of(profile, 0, "main;prog+0x110"), 10);
		assert_int_equal(profile->n_threads, 1);
		assert_string_equal(profile->threads[0].name, "worker");
		profile_free(profile);
	}
}

/* A sample has values, times of samples that count 1 each, or both. */
static void
otlp_times_are_raw_samples(void **state)
{
	static struct buffer data;
	struct profile *profile;

	(void)state;
	put_data(&data, V10, NULL, LIST(5, 6, 7));
	profile = must_read(&format_otlp, data.bytes, data.n);
	assert_int_equal(hits_of(profile, 0, "main;work|leaf"), 6);
	profile_free(profile);
	put_data(&data, V8, LIST(100, 200, 300), LIST(5, 6, 7));
	profile = must_read(&format_otlp, data.bytes, data.n);
	assert_int_equal(hits_of(profile, 0, "main;work|leaf"), 1200);
	assert_int_equal(sample_tree_samples(profile->tree, 0, 1), 6);
	profile_free(profile);
}

#define TABLES "\"dictionary\":{\"stringTable\":[\"\",\"cpu\",\"ns\"," \
	"\"main\",\"f\"],\"functionTable\":[{},{\"nameStrindex\":3}," \
	"{\"nameStrindex\":4}],\"locationTable\":[{},{\"lines\":[{" \
	"\"functionIndex\":1,\"line\":\"7\"}]},{\"lines\":[{" \
	"\"functionIndex\":2}]}],\"mappingTable\":[{}],\"stackTable\":[{}," \
	"{\"locationIndices\":[2,1]}]}"
#define PROFILE(samples) "{\"resourceProfiles\":[{\"resource\":{" \
	"\"attributes\":[{\"key\":\"process.pid\",\"value\":{\"intValue\":" \
	"\"77\"}}]},\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{" \
	"\"typeStrindex\":1,\"unitStrindex\":2},\"samples\":" samples \
	"}]}]}]," TABLES "}"

static void
otlp_reads_json(void **state)
{
	static const char *const texts[] = {
		PROFILE("[{\"stackIndex\":1,\"values\":[\"3\"]},"
		        "{\"stackIndex\":1,\"values\":[4]}]"),
		/* Names as in the definition; the older range of locations. */
		"{" TABLES ",\"resource_profiles\":[{\"resource\":{"
		"\"attributes\":[{\"key\":\"process.pid\",\"value\":{"
		"\"int_value\":77}}]},\"scope_profiles\":[{\"profiles\":[{"
		"\"sample_type\":[{\"type_strindex\":1,\"unit_strindex\":2}],"
		"\"location_indices\":[0,2,1],\"sample\":[{"
		"\"locations_start_index\":1,\"locations_length\":2,\"value\":"
		"[7],\"unknown\":{\"a\":[1]}}]}]}]}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = must_read(&format_otlp, texts[i],
		                                    strlen(texts[i]));

		assert_int_equal(format_otlp.probe(texts[i],
		                                   strlen(texts[i])),
		                 PROBE_SURE);
		assert_int_equal(hits_of(profile, 0, "main;f"), 7);
		assert_int_equal(profile->n_threads, 1);
		assert_int_equal(profile->processes[profile->threads[0].
		                 process].pid, 77);
		assert_int_equal(profile->locations[0].line +
		                 profile->locations[1].line, 7);
		profile_free(profile);
	}
}

/* The labels of a profile's first set: "key=value ...". */
static const char *
first_labels(const struct profile *profile)
{
	static char text[500];

	*text = '\0';
	assert_true(profile->n_label_sets > 0);
	for (uint32_t i = 0; i < profile->label_sets[0].n; i++) {
		const struct label *label = &profile->labels[
		    profile->label_sets[0].first + i];
		size_t n = strlen(text);

		snprintf(text + n, sizeof text - n, "%s%s=%s",
		         i > 0 ? " " : "",
		         names_text(profile->names, label->key),
		         names_text(profile->names, label->value));
	}
	return text;
}

#define ATTRIBUTE(value) "{\"resourceProfiles\":[{\"scopeProfiles\":[{" \
	"\"profiles\":[{\"samples\":[{\"stackIndex\":0,\"values\":[3]," \
	"\"attributeIndices\":[1]}]}]}]}],\"dictionary\":{\"stringTable\":[" \
	"\"\",\"k\",\"MiB\"],\"attributeTable\":[{},{\"keyStrindex\":1," \
	"\"unitStrindex\":2,\"value\":" value "}]}}"

static void
otlp_attributes_of_all_types_are_labels(void **state)
{
	static const struct {
		const char *json, *labels;
	} cases[] = {
		{ ATTRIBUTE("{\"stringValue\":\"v\"}"), "k=v" },
		{ ATTRIBUTE("{\"stringValueStrindex\":2}"), "k=MiB" },
		{ ATTRIBUTE("{\"intValue\":\"-42\"}"), "k=-42" },
		{ ATTRIBUTE("{\"intValue\":0}"), "k=0" },
		{ ATTRIBUTE("{\"boolValue\":false}"), "k=false" },
		{ ATTRIBUTE("{\"doubleValue\":0.1}"), "k=0.1" },
		{ ATTRIBUTE("{\"doubleValue\":\"NaN\"}"), "k=nan" },
		{ ATTRIBUTE("{\"bytesValue\":\"aGk=\"}"), "k=hi" },
		{ ATTRIBUTE("{\"bytesValue\":\"AP8\"}"), "k=0x00ff" },
		{ ATTRIBUTE("{\"arrayValue\":{\"values\":[{\"stringValue\":"
		            "\"a\"},{\"boolValue\":true}]}}"), "k=a k=true" },
		{ ATTRIBUTE("{\"arrayValue\":{\"values\":[{\"arrayValue\":{"
		            "\"values\":[{\"intValue\":1}]}}]}}"), "k=1" },
		{ ATTRIBUTE("{\"kvlistValue\":{\"values\":[{\"key\":\"a\","
		            "\"value\":{\"intValue\":1}},{\"key\":\"b\","
		            "\"value\":{\"stringValue\":\"c\"}}]}}"),
		  "k.a=1 k.b=c" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile *profile = must_read(&format_otlp,
		    cases[i].json, strlen(cases[i].json));

		assert_string_equal(first_labels(profile), cases[i].labels);
		profile_free(profile);
	}
}

/* An array in an array, and so on: the value is left out, not the profile. */
static void
otlp_values_may_be_nested_without_end(void **state)
{
	static char text[1 << 20];
	struct error error = { 0 };
	struct profile *profile;
	size_t n;

	(void)state;
	strcpy(text, PROFILE("[{\"stackIndex\":1,\"values\":[3]}]"));
	n = strlen(text) - 2;
	strcpy(text + n, ",\"attributeTable\":[{\"value\":");
	for (int i = 0; i < 5000; i++)
		strcat(text + n, "{\"arrayValue\":{\"values\":[");
	for (int i = 0; i < 5000; i++)
		strcat(text + n, "]}}");
	strcat(text + n, "}]}}");
	profile = read_memory(&format_otlp, text, strlen(text), &error);
	assert_non_null(profile);
	assert_int_equal(hits_of(profile, 0, "main;f"), 3);
	profile_free(profile);
}

static void
otlp_reads_lines_of_json(void **state)
{
	static const char two[] =
	    PROFILE("[{\"stackIndex\":1,\"values\":[3]}]") "\n"
	    PROFILE("[{\"stackIndex\":1,\"values\":[5]}]") "\n";
	struct profile *profile = must_read(&format_otlp, two, sizeof two - 1);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main;f"), 8);
	assert_int_equal(profile->n_resources, 1);
	profile_free(profile);
	cut_at_every_byte(&format_otlp, two, sizeof two - 1);
}

static void
otlp_refuses_what_does_not_fit(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{\"resourceProfiles\":[]," TABLES "}",
		  "no samples in these profiles of OTLP" },
		{ "{\"resourceProfiles\":[]}", "no dictionary" },
		{ PROFILE("[{\"stackIndex\":2,\"values\":[1]}]"),
		  "a sample of stack 2 of 2" },
		{ PROFILE("[{\"stackIndex\":1,\"values\":[1],"
		          "\"attributeIndices\":[5]}]"), "attribute 5 of 0" },
		{ PROFILE("[{\"stackIndex\":1,\"values\":[1.5]}]"),
		  "expected a whole number as \"values\"" },
		{ PROFILE("[[]]"), "an array is not expected" },
		{ PROFILE("[{\"stackIndex\":{}}]"), "an object is not" },
		{ PROFILE("[{\"stackIndex\":1,\"values\":[-1]}]"),
		  "a value below zero" },
		{ PROFILE("[{\"locationsStartIndex\":1,\"locationsLength\":"
		          "9,\"values\":[1]}]"), "locations 1 to 9 of 0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		must_refuse(&format_otlp, cases[i].text, strlen(cases[i].text),
		            cases[i].error);
}

/* Few bytes must not become many frames. */
static void
otlp_shared_stacks_have_a_limit(void **state)
{
	static struct buffer data, part, dictionary, profile, scope, resource;

	(void)state;
	for (int i = 0; i < 20000; i++)
		put_varint(&part, 1);
	put_bytes(&resource, 1, part.bytes, part.n);	/* a stack */
	MESSAGE(&dictionary, 2, 0);
	MESSAGE(&dictionary, 2, 2, 5);
	put_bytes(&dictionary, 5, "", 0);
	MESSAGE(&dictionary, 7, 0);
	put_buffer(&dictionary, 7, &resource);
	resource.n = 0;
	MESSAGE(&profile, 1, 0);
	for (int i = 0; i < 3000; i++) {
		part.n = 0;
		put_number(&part, 1, 1);
		put_packed(&part, 4, LIST(1), false);
		put_buffer(&profile, 2, &part);
	}
	put_buffer(&scope, 2, &profile);
	put_buffer(&resource, 2, &scope);
	put_buffer(&data, 1, &resource);
	put_buffer(&data, 2, &dictionary);
	must_refuse(&format_otlp, data.bytes, data.n,
	            "tables and samples expand to more than");
}

static void
otlp_cut_at_every_byte_is_an_error_or_a_profile(void **state)
{
	static const char text[] =
	    "{" TABLES ",\"resourceProfiles\":[{\"scopeProfiles\":[{"
	    "\"profiles\":[{\"sampleType\":{\"typeStrindex\":1},\"samples\":["
	    "{\"stackIndex\":1,\"values\":[3]},{\"stackIndex\":1,\"values\":"
	    "[4]}]}]}]}]}";
	static struct buffer data;
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	for (enum revision i = 0; i < N_REVISIONS; i++) {
		put_data(&data, i, LIST(10), LIST(5));
		cut_at_every_byte(&format_otlp, data.bytes, data.n);
	}
	cut_at_every_byte(&format_otlp, text, sizeof text - 1);
	profile = read_memory(&format_otlp, text, sizeof text - 12, &error);
	assert_non_null(profile);
	assert_int_equal(hits_of(profile, 0, "main;f"), 3);
	assert_non_null(strstr(profile->warnings[0], "cut short"));
	profile_free(profile);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(otlp_revisions_are_told_apart),
		cmocka_unit_test(otlp_times_are_raw_samples),
		cmocka_unit_test(otlp_reads_json),
		cmocka_unit_test(otlp_attributes_of_all_types_are_labels),
		cmocka_unit_test(otlp_values_may_be_nested_without_end),
		cmocka_unit_test(otlp_reads_lines_of_json),
		cmocka_unit_test(otlp_refuses_what_does_not_fit),
		cmocka_unit_test(otlp_shared_stacks_have_a_limit),
		cmocka_unit_test(
		    otlp_cut_at_every_byte_is_an_error_or_a_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
