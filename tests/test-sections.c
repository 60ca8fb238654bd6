/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-sections.c -- which stacks belong to which threads, processes, labels.
 *
 * A profile has each thread's stack once; what is selected is compared with the
 * same question asked of every stack by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/profile/sections.h"

static uint32_t
name_of(struct profile *profile, const char *text)
{
	struct error error = { 0 };
	uint32_t name = names_add(profile->names, text, strlen(text), &error);

	assert_int_not_equal(name, NO_NAME);
	return name;
}

/* A set of at most one label, "key=value" or "key=number unit". */
static uint32_t
label_set(struct profile *profile, const char *key, const char *value,
          const char *unit)
{
	struct error error = { 0 };
	struct label label;

	if (key == NULL)
		return NO_LABELS;
	label = (struct label){ name_of(profile, key), name_of(profile, value),
		unit == NULL ? NO_NAME : name_of(profile, unit) };
	return profile_add_label_set(profile, &label, 1, &error);
}

static uint32_t
process(struct profile *profile, uint64_t pid, const char *program)
{
	struct error error = { 0 };
	struct process process = { .pid = pid, .program = program };

	return profile_add_process(profile, &process, &error);
}

static uint32_t
thread(struct profile *profile, uint32_t owner, uint64_t tid,
       const char *name)
{
	struct error error = { 0 };
	struct thread thread = { .process = owner, .tid = tid, .name = name };

	return profile_add_thread(profile, &thread, &error);
}

/* A section of two nodes, of which the second has hits, 2 hits a sample. */
static void
add_stack(struct profile *profile, struct tree_builder *builder,
          uint32_t thread, uint32_t label_set, uint64_t hits)
{
	struct error error = { 0 };
	uint32_t begin = tree_builder_begin_section(builder), node, number;
	uint32_t frame = profile_add_named_frame(profile,
	    name_of(profile, "main"), &error);

	node = tree_builder_child(builder, NO_NODE, frame, &error);
	node = tree_builder_child(builder, node, frame, &error);
	tree_builder_add(builder, node, 0, hits, hits / 2, &error);
	number = profile_add_section(profile, begin,
	    tree_builder_count(builder), thread, &error);
	profile->sections[number].label_set = label_set;
	assert_false(error.is_set);
}

/* Sections 0 to 5, and a stack outside all of them between 2 and 3. */
static struct profile *
make_profile(void)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct tree_builder *builder = tree_builder_new(1, &error);
	uint32_t make = process(profile, 10, "/usr/bin/make");
	uint32_t cc = process(profile, 11, "/usr/lib/cc1");
	uint32_t worker = thread(profile, cc, 21, "worker-1"), node;

	profile_add_resource(profile, "cpu", "us", 1, &error);
	add_stack(profile, builder, thread(profile, make, 10, "make"),
	          NO_LABELS, 2);
	add_stack(profile, builder, worker,
	          label_set(profile, "route", "/login", NULL), 4);
	add_stack(profile, builder, worker,
	          label_set(profile, "route", "/cart", NULL), 8);
	tree_builder_begin_section(builder);
	node = tree_builder_child(builder, NO_NODE, 0, &error);
	tree_builder_add(builder, node, 0, 16, 8, &error);
	add_stack(profile, builder, thread(profile, cc, 22, "worker-2"),
	          label_set(profile, "bytes", "512", "kB"), 32);
	add_stack(profile, builder, thread(profile, cc, 23, NULL), NO_LABELS,
	          64);
	add_stack(profile, builder, NO_THREAD, NO_LABELS, 128);
	profile->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	assert_false(error.is_set);
	return profile;
}

/* Hits that a selector keeps, and that are the others; the number selected. */
static uint32_t
select_hits(const struct profile *profile, enum section_kind kind,
            const char *key, const char *text, uint64_t *kept,
            uint64_t *dropped)
{
	struct error error = { 0 };
	struct pattern *pattern = text == NULL ? NULL :
	    pattern_new(text, &error);
	const struct section_selector selector = { .kind = kind, .key = key,
		.pattern = pattern };
	bool *selected = malloc(profile->n_sections + 1);
	struct section_total *totals = malloc((profile->n_sections + 1) *
	                                      sizeof *totals);
	uint32_t n;

	assert_false(error.is_set);
	n = sections_select(profile, &selector, selected);
	section_totals(profile, profile->tree, 0, totals);
	*kept = *dropped = 0;
	for (uint32_t i = 0; i <= profile->n_sections; i++)
		*(selected[i] ? kept : dropped) += totals[i].hits;
	free(totals);
	free(selected);
	if (pattern != NULL)
		pattern_free(pattern);
	return n;
}

/* The six sections have 2, 4, 8, 32, 64 and 128 hits; the rest has 16. */
enum { ALL = 2 + 4 + 8 + 16 + 32 + 64 + 128 };

static void
sections_select_what_matches(void **state)
{
	static const struct {
		enum section_kind kind;
		const char *key, *text;
		uint64_t hits;
	} cases[] = {
		{ SECTION_THREAD, NULL, "make", 2 },
		{ SECTION_THREAD, NULL, "worker*", 4 + 8 + 32 },
		{ SECTION_THREAD, NULL, "worker-?", 4 + 8 + 32 },
		{ SECTION_THREAD, NULL, "/^w.*2/", 32 },
		{ SECTION_THREAD, NULL, "work", 0 },
		{ SECTION_THREAD, NULL, "21", 4 + 8 },
		{ SECTION_THREAD, NULL, "[unknown]", 16 + 64 + 128 },
		{ SECTION_THREAD, NULL, "*", 2 + 4 + 8 + 32 },
		/* A number is no text: no glob finds it. */
		{ SECTION_THREAD, NULL, "2*", 0 },
		{ SECTION_PROCESS, NULL, "make", 2 },
		{ SECTION_PROCESS, NULL, "cc*", 4 + 8 + 32 + 64 },
		{ SECTION_PROCESS, NULL, "/usr/lib/cc1", 4 + 8 + 32 + 64 },
		{ SECTION_PROCESS, NULL, "10", 2 },
		{ SECTION_PROCESS, NULL, "[unknown]", 16 + 128 },
		{ SECTION_LABEL, "route", "/login", 4 },
		{ SECTION_LABEL, "route", "*a*", 8 },
		{ SECTION_LABEL, "route", NULL, 4 + 8 },
		{ SECTION_LABEL, "route", "[none]", ALL - 4 - 8 },
		{ SECTION_LABEL, "bytes", "512", 32 },
		{ SECTION_LABEL, "bytes", "512 kB", 32 },
		{ SECTION_LABEL, "bytes", "51", 0 },
		{ SECTION_LABEL, "rout", "*", 0 },
	};
	struct profile *profile = make_profile();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t kept, dropped;
		uint32_t n = select_hits(profile, cases[i].kind, cases[i].key,
		                         cases[i].text, &kept, &dropped);

		if (kept != cases[i].hits || (n == 0) != (kept == 0))
			fail_msg("%s %s: %lu hits of %u sections, expected "
			         "%lu", cases[i].key ? cases[i].key : "",
			         cases[i].text, (unsigned long)kept, n,
			         (unsigned long)cases[i].hits);
		assert_int_equal(kept + dropped, ALL);
	}
	profile_free(profile);
}

static void
sections_add_up(void **state)
{
	static const uint64_t hits[] = { 2, 4, 8, 32, 64, 128, 16 };
	struct profile *profile = make_profile();
	struct section_total totals[7];

	(void)state;
	assert_int_equal(profile->n_sections, 6);
	section_totals(profile, profile->tree, 0, totals);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(totals[i].hits, hits[i]);
		assert_int_equal(totals[i].samples, hits[i] / 2);
	}
	profile_free(profile);
}

/* What a selector that matches nothing reports. */
static const char *
report(const struct profile *profile, enum section_kind kind, const char *key,
       const char *text)
{
	static struct error error;
	struct pattern *pattern;
	struct section_selector selector = { .kind = kind, .key = key };

	error = (struct error){ 0 };
	selector.pattern = pattern = pattern_new(text, &error);
	assert_int_equal(sections_report_none(profile, &selector, text,
	                                      &error), -1);
	pattern_free(pattern);
	return error.text;
}

static void
sections_report_what_is_similar(void **state)
{
	struct profile *profile = make_profile();
	struct error error = { 0 };
	struct profile *bare = profile_new(&error);
	struct tree_builder *builder = tree_builder_new(1, &error);

	(void)state;
	assert_string_equal(report(profile, SECTION_THREAD, NULL, "worker"),
	    "no thread matches worker; did you mean worker-1 or worker-2?");
	assert_string_equal(report(profile, SECTION_PROCESS, NULL, "maek"),
	    "no process matches maek; did you mean make?");
	assert_string_equal(report(profile, SECTION_LABEL, "rouet", "/login"),
	    "no label is called rouet; did you mean route?");
	assert_string_equal(report(profile, SECTION_LABEL, "route", "login"),
	    "no value of route matches login; did you mean /login?");
	assert_string_equal(report(profile, SECTION_LABEL, "bytes", "513 kB"),
	    "no value of bytes matches 513 kB; did you mean |512 kB|?");
	assert_string_equal(report(profile, SECTION_THREAD, NULL, "zzz"),
	    "no thread matches zzz; threads lists them");
	assert_string_equal(report(profile, SECTION_PROCESS, NULL, "zzz"),
	    "no process matches zzz; processes lists them");
	assert_string_equal(report(profile, SECTION_LABEL, "zzz", "x"),
	    "no label is called zzz; labels lists them");
	assert_string_equal(report(profile, SECTION_LABEL, "route", "zzz"),
	    "no value of route matches zzz; labels route lists them");
	profile_free(profile);

	assert_non_null(strstr(report(bare, SECTION_THREAD, NULL, "x"),
	                       "no stacks"));
	bare->tree = tree_builder_finish(builder, &error);
	tree_builder_free(builder);
	assert_string_equal(report(bare, SECTION_THREAD, NULL, "x"),
	                    "the profile does not tell threads apart");
	assert_string_equal(report(bare, SECTION_PROCESS, NULL, "x"),
	                    "the profile does not tell processes apart");
	assert_string_equal(report(bare, SECTION_LABEL, "k", "x"),
	                    "the profile has no labels");
	profile_free(bare);
}

static void
collect(void *context, const char *text, size_t length)
{
	char *all = context;

	snprintf(all + strlen(all), 200 - strlen(all), "%.*s|", (int)length,
	         text);
}

static void
offers(const struct profile *profile, enum section_kind kind, const char *key,
       const char *expected)
{
	struct error error = { 0 };
	char all[200] = "";

	assert_int_equal(sections_offer(profile, kind, key, collect, all,
	                                &error), 0);
	assert_string_equal(all, expected);
}

static void
sections_offer_names_sorted_and_once(void **state)
{
	struct profile *profile = make_profile();

	(void)state;
	offers(profile, SECTION_THREAD, NULL,
	       "[unknown]|make|worker-1|worker-2|");
	offers(profile, SECTION_PROCESS, NULL, "[unknown]|cc1|make|");
	offers(profile, SECTION_LABEL, NULL, "bytes|route|");
	offers(profile, SECTION_LABEL, "route", "/cart|/login|");
	offers(profile, SECTION_LABEL, "bytes", "512 kB|");
	profile_free(profile);
}

/* A lone process has all stacks, unless nothing is known of it. */
static void
a_lone_process_has_all_stacks(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct section section = { .thread = NO_THREAD };

	(void)state;
	assert_int_equal(section_process(profile, &section), NO_PROCESS);
	assert_false(sections_know(profile, SECTION_PROCESS));
	process(profile, 0, NULL);
	assert_int_equal(section_process(profile, &section), 0);
	assert_false(sections_know(profile, SECTION_PROCESS));
	profile->processes[0].program = "make";
	assert_true(sections_know(profile, SECTION_PROCESS));
	assert_false(sections_know(profile, SECTION_THREAD));
	process(profile, 7, "cc1");
	assert_int_equal(section_process(profile, &section), NO_PROCESS);
	assert_false(sections_know(profile, SECTION_PROCESS));
	profile_free(profile);
}

/* The same labels are the same set, whatever their order. */
static void
label_sets_are_kept_once(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	struct label a = { name_of(profile, "z"), name_of(profile, "1"),
		NO_NAME };
	struct label b = { name_of(profile, "k"), name_of(profile, "2"),
		NO_NAME };
	struct label c = { a.key, a.value, name_of(profile, "") };
	struct label ab[] = { a, b }, bab[] = { b, a, b }, only_a[] = { a },
	    only_c[] = { c };

	(void)state;
	assert_int_equal(profile_add_label_set(profile, ab, 2, &error), 0);
	assert_int_equal(profile_add_label_set(profile, bab, 3, &error), 0);
	assert_int_equal(profile_add_label_set(profile, only_a, 1, &error), 1);
	assert_int_equal(profile_add_label_set(profile, only_c, 1, &error), 2);
	assert_int_equal(profile_add_label_set(profile, only_a, 0, &error),
	                 NO_LABELS);
	assert_int_equal(profile->n_label_sets, 3);
	assert_int_equal(profile->label_sets[0].n, 2);
	assert_int_equal(profile->labels[0].key, b.key);
	assert_int_equal(profile->label_sets[2].first, 3);
	profile_free(profile);
}

/* What no thread is known to have used is no thread, whatever a thread's name. */
static void
threads_are_counted(void **state)
{
	struct error error = { 0 };
	struct profile *profile = profile_new(&error);
	const uint32_t owner = process(profile, 7, "program");
	const uint32_t one = thread(profile, owner, 7, NOT_A_THREAD),
	    none = thread(profile, owner, 0, NOT_A_THREAD),
	    unknown = thread(profile, owner, 0, "worker"),
	    unnamed = thread(profile, owner, 0, NULL);

	(void)state;
	profile->threads[unknown].n_earlier = 4;
	assert_int_equal(thread_count(profile, one), 1);
	assert_int_equal(thread_count(profile, none), 0);
	assert_int_equal(thread_count(profile, unknown), 5);
	assert_int_equal(thread_count(profile, unnamed), 1);
	profile_free(profile);
}

/* A sum keeps threads, processes and labels, and shares label sets. */
static void
a_sum_keeps_sections(void **state)
{
	struct error error = { 0 };
	struct profile *inputs[] = { make_profile(), make_profile() };
	struct profile *sum = profile_merge(inputs, 2, &error);
	uint64_t kept, dropped;

	(void)state;
	assert_non_null(sum);
	assert_int_equal(sum->n_label_sets, 3);
	select_hits(sum, SECTION_LABEL, "route", "/cart", &kept, &dropped);
	assert_int_equal(kept, 16);
	assert_int_equal(dropped, 2 * ALL - 16);
	select_hits(sum, SECTION_LABEL, "bytes", "512 kB", &kept, &dropped);
	assert_int_equal(kept, 64);
	select_hits(sum, SECTION_THREAD, NULL, "worker-1", &kept, &dropped);
	assert_int_equal(kept, 24);
	select_hits(sum, SECTION_PROCESS, NULL, "make", &kept, &dropped);
	assert_int_equal(kept, 4);
	select_hits(sum, SECTION_THREAD, NULL, "[unknown]", &kept, &dropped);
	assert_int_equal(kept, 2 * (16 + 64 + 128));
	profile_free(sum);
	profile_free(inputs[0]);
	profile_free(inputs[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_select_what_matches),
		cmocka_unit_test(sections_add_up),
		cmocka_unit_test(sections_report_what_is_similar),
		cmocka_unit_test(sections_offer_names_sorted_and_once),
		cmocka_unit_test(a_lone_process_has_all_stacks),
		cmocka_unit_test(label_sets_are_kept_once),
		cmocka_unit_test(threads_are_counted),
		cmocka_unit_test(a_sum_keeps_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
