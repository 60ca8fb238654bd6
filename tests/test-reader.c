/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-reader.c -- what all readers share, see src/formats/reader.h. */
#include "tests/reader-fixture.h"

#include "src/formats/reader.h"

/* ---- whole stacks, by batches, against one after the other ---- */

/* Several batches of each kind. */
enum { N_STACKS = 400000, MAX_DEPTH = 12, N_LABELS = 5 };

struct stack {
	uint32_t labels[MAX_DEPTH];	/* outermost first */
	size_t n;
};

static struct stack *stacks;

static void
make_stack(struct stack *stack)
{
	stack->n = 1 + (size_t)rand() % MAX_DEPTH;
	for (size_t i = 0; i < stack->n; i++)
		stack->labels[i] = (uint32_t)(rand() % N_LABELS);
	/* Here and there many children, and labels that come again. */
	if (stack->n > 1 && rand() % 8 == 0)
		stack->labels[stack->n - 1] = (uint32_t)rand() % 3000;
	if (rand() % 8 == 0)
		stack->labels[0] = 100 + (uint32_t)rand() % 1000;
}

static int
compare_stacks(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;

	for (size_t i = 0; i < n; i++)
		if (x->labels[i] != y->labels[i])
			return x->labels[i] < y->labels[i] ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* Ordered, then scattered, then ordered again. */
static int
make_stacks(void **state)
{
	(void)state;
	srand(7);
	stacks = calloc(N_STACKS, sizeof *stacks);
	if (stacks == NULL)
		return -1;
	for (size_t i = 0; i < N_STACKS; i++) {
		make_stack(&stacks[i]);
		/* New outermost frames, well among the scattered stacks. */
		if (i > N_STACKS / 2)
			stacks[i].labels[0] += N_LABELS;
	}
	qsort(stacks, N_STACKS / 3, sizeof *stacks, compare_stacks);
	qsort(stacks + N_STACKS / 3 * 2, N_STACKS / 3, sizeof *stacks,
	      compare_stacks);
	return 0;
}

static int
free_stacks(void **state)
{
	(void)state;
	free(stacks);
	return 0;
}

static struct sample_tree *
enter_one_by_one(void)
{
	struct error error = { 0 };
	struct tree_builder *builder = tree_builder_new(2, &error);
	struct sample_tree *tree;
	uint32_t node = NO_NODE;

	assert_non_null(builder);
	for (size_t i = 0; i < N_STACKS; i++) {
		const struct stack *stack = &stacks[i];

		node = NO_NODE;
		for (size_t k = 0; k < stack->n; k++)
			node = tree_builder_child(builder, node,
			                          stack->labels[k], &error);
		assert_int_equal(tree_builder_add(builder, node, 0, i, i,
		                                  &error), 0);
		assert_int_equal(tree_builder_add(builder, node, 1, 1, 1,
		                                  &error), 0);
	}
	tree = tree_builder_finish(builder, &error);
	assert_non_null(tree);
	tree_builder_free(builder);
	return tree;
}

/* Of the frames that a stack shares, says at most n_told itself. */
static int
push(struct reader *reader, size_t number, size_t n_told,
     struct error *error)
{
	const struct stack *stack = &stacks[number], *last = stack - 1;
	size_t shared = 0, n;
	uint32_t *room;

	while (number > 0 && shared < n_told && shared < stack->n &&
	       shared < last->n &&
	       stack->labels[shared] == last->labels[shared])
		shared++;
	n = stack->n - shared;
	room = reader_frames(reader, n, error);
	assert_non_null(room);
	for (size_t i = 0; i < n; i++)
		room[i] = stack->labels[stack->n - 1 - i];
	reader->hits[0] = number;
	reader->hits[1] = 1;
	return n_told > 0 ?
	    reader_push_rest(reader, shared, n, number, 0, error) :
	    reader_push(reader, n, number, 0, error);
}

/*
 * The same for trees of the same paths and hits, in whatever order: scattered
 * stacks are entered several at a time.
 */
static uint64_t
sum_up(const struct sample_tree *tree)
{
	uint64_t *path = calloc(tree->n_nodes, sizeof *path), sum = 0;

	assert_non_null(path);
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint64_t above = sample_tree_parent(tree, n) == NO_NODE ? 1 :
		                 path[sample_tree_parent(tree, n)];

		path[n] = (above ^ above >> 29) * 0x9e3779b97f4a7c15 +
		          tree->label[n];
		sum += (path[n] ^ path[n] >> 31) *
		       (2 * sample_tree_hits(tree, 0, n) + 1) +
		       path[n] * sample_tree_hits(tree, 1, n);
	}
	free(path);
	return sum;
}

static void
begin(struct reader *reader, const char *text, bool is_lenient)
{
	static struct read_options options;
	struct error error = { 0 };
	struct source *source = source_of_memory("in", text, strlen(text),
	                                         &error);

	assert_non_null(source);
	options.lenient = is_lenient;
	assert_int_equal(reader_begin(reader, source, &options, READER_LINES,
	                              &error), 0);
}

static struct profile *
end(struct reader *reader, int result)
{
	source_close(reader->source);
	return reader_end(reader, result);
}

static void
push_and_compare(size_t n_told)
{
	struct error error = { 0 };
	struct sample_tree *tree, *expected = enter_one_by_one();
	struct profile *profile;
	struct reader reader;

	begin(&reader, "", false);
	assert_int_equal(reader_add_columns(&reader, 2, &error), 0);
	for (size_t i = 0; i < N_STACKS; i++)
		assert_int_equal(push(&reader, i, n_told, &error), 0);
	assert_int_equal(reader_count_stacks(&reader), N_STACKS);
	assert_int_equal(reader_finish_stacks(&reader, NULL, &error), 0);
	profile = end(&reader, 0);
	assert_int_equal(profile->n_sections, 0);
	tree = profile->tree;
	assert_int_equal(tree->n_nodes, expected->n_nodes);
	assert_int_equal(tree->deepest, expected->deepest);
	assert_true(sum_up(tree) == sum_up(expected));
	profile_free(profile);
	sample_tree_free(expected);
}

static void
reader_makes_the_tree_that_single_stacks_make(void **state)
{
	(void)state;
	push_and_compare(0);
}

static void
reader_takes_the_callers_word_for_shared_frames(void **state)
{
	(void)state;
	push_and_compare(3);
	push_and_compare(MAX_DEPTH);
}

/* ---- threads ---- */

/* Pushes a stack of two named frames, "main;NAME", of one hit. */
static void
push_named(struct reader *reader, uint32_t thread, const char *name)
{
	struct error error = { 0 };
	uint32_t *frames = reader_frames(reader, 2, &error);

	assert_non_null(frames);
	frames[0] = reader_named_frame(reader, name, strlen(name), &error);
	frames[1] = reader_named_frame(reader, "main", 4, &error);
	reader->thread = thread;
	reader->hits[0] = 1;
	assert_int_equal(reader_push(reader, 2, 1, 0, &error), 0);
	assert_int_equal(reader->hits[0], 0);
}

static uint32_t
add_thread(struct reader *reader, const char *name)
{
	struct error error = { 0 };
	struct thread thread = { .name = name };

	return profile_add_thread(reader->profile, &thread, &error);
}

/* Where the tree's section of a thread begins and ends. */
static const struct section *
section_of(const struct profile *profile, uint32_t thread)
{
	for (uint32_t i = 0; i < profile->n_sections; i++)
		if (profile->sections[i].thread == thread)
			return &profile->sections[i];
	fail_msg("no section of thread %u", thread);
	return NULL;
}

static void
reader_sorts_mixed_threads_into_sections(void **state)
{
	struct error error = { 0 };
	struct profile *profile;
	struct reader reader;
	const char *names[] = { "a", "b", "c" };

	(void)state;
	begin(&reader, "", false);
	assert_int_equal(reader_add_resource(&reader, "cpu", "", 1, &error),
	                 0);
	add_thread(&reader, "one");
	add_thread(&reader, "two");
	for (int i = 0; i < 6; i++)
		push_named(&reader, i % 3 == 2 ? NO_THREAD : (uint32_t)i % 3,
		           names[i % 3]);
	assert_int_equal(reader_finish_stacks(&reader, NULL, &error), 0);
	profile = end(&reader, 0);
	check_tree(profile);
	/* "main" is one frame, but a node for each thread. */
	assert_int_equal(profile->n_frames, 4);
	assert_int_equal(profile->tree->n_nodes, 6);
	assert_int_equal(profile->tree->deepest, 2);
	assert_int_equal(profile->n_sections, 3);
	assert_int_equal(section_of(profile, 0)->begin, 0);
	assert_int_equal(section_of(profile, 0)->end, 2);
	assert_int_equal(section_of(profile, 1)->begin, 2);
	assert_int_equal(section_of(profile, 1)->end, 4);
	assert_int_equal(section_of(profile, NO_THREAD)->begin, 4);
	assert_int_equal(section_of(profile, NO_THREAD)->end, 6);
	assert_int_equal(hits_of(profile, 0, "main;a"), 2);
	assert_int_equal(hits_of(profile, 0, "main;b"), 2);
	assert_int_equal(hits_of(profile, 0, "main;c"), 2);
	profile_free(profile);
}

static void
reader_takes_no_frames_from_another_thread(void **state)
{
	struct error error = { 0 };
	struct profile *profile;
	struct reader reader;
	uint32_t *frames;

	(void)state;
	begin(&reader, "", false);
	reader_add_resource(&reader, "cpu", "", 1, &error);
	add_thread(&reader, "one");
	add_thread(&reader, "two");
	push_named(&reader, 0, "a");
	for (uint32_t i = 0; i < 2; i++) {
		/* First whole, then "main" is known to be shared. */
		frames = reader_frames(&reader, 2, &error);
		frames[0] = reader_named_frame(&reader, i == 0 ? "b" : "c", 1,
		                               &error);
		frames[1] = reader_named_frame(&reader, "main", 4, &error);
		reader.thread = 1;
		reader.hits[0] = 1;
		assert_int_equal(reader_push_rest(&reader, i, 2 - i, 1, 0,
		                                  &error), 0);
	}
	assert_int_equal(reader_finish_stacks(&reader, NULL, &error), 0);
	profile = end(&reader, 0);
	check_tree(profile);
	assert_int_equal(profile->tree->n_nodes, 5);
	assert_int_equal(section_of(profile, 0)->end, 2);
	assert_int_equal(section_of(profile, 1)->begin, 2);
	assert_int_equal(section_of(profile, 1)->end, 5);
	assert_int_equal(hits_of(profile, 0, "main;a"), 1);
	assert_int_equal(hits_of(profile, 0, "main;b"), 1);
	assert_int_equal(hits_of(profile, 0, "main;c"), 1);
	profile_free(profile);
}

static void
reader_looks_up_threads_at_the_end(void **state)
{
	const struct reader_section sections[] = {
		{ NO_THREAD, NO_LABELS }, { 0, 5 }, { NO_THREAD, NO_LABELS } };
	struct error error = { 0 };
	struct profile *profile;
	struct reader reader;

	(void)state;
	begin(&reader, "", false);
	reader_add_resource(&reader, "cpu", "", 1, &error);
	push_named(&reader, 2, "a");
	push_named(&reader, 1, "b");
	add_thread(&reader, "one");
	assert_int_equal(reader_finish_stacks(&reader, sections, &error), 0);
	profile = end(&reader, 0);
	check_tree(profile);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(section_of(profile, NO_THREAD)->begin, 0);
	assert_int_equal(section_of(profile, 0)->begin, 2);
	assert_int_equal(section_of(profile, 0)->label_set, 5);
	assert_int_equal(section_of(profile, NO_THREAD)->label_set, NO_LABELS);
	profile_free(profile);
}

/* ---- nodes ---- */

static void
reader_enters_rows_for_each_thread(void **state)
{
	/* Row 2 has no frame; row 3 comes before its caller. */
	static const uint32_t parent[] = { NO_ROW, 0, 1, 4, 2 };
	static const uint32_t label[] = { 10, 11, NO_LABEL, 13, 14 };
	struct stack_rows rows = { .parent = parent, .label = label, .n = 5 };
	struct error error = { 0 };
	struct profile *profile;
	struct reader reader;
	uint32_t node, known = 0;

	(void)state;
	begin(&reader, "", false);
	assert_int_equal(reader_count_nodes(&reader), 0);
	for (uint32_t thread = 0; thread < 2; thread++) {
		reader.thread = add_thread(&reader, "any");
		assert_int_equal(reader_enter_row(&reader, &rows, 3, &node,
		                                  &error), 0);
		assert_int_equal(reader_need_resource(&reader, &known, "cpu",
		    "", 1, &error), 0);
		assert_int_equal(reader_add_hits(&reader, node, 0, 5, 1,
		                                 &error), 0);
		stack_rows_reset(&rows);
	}
	stack_rows_free(&rows);
	assert_int_equal(reader_finish_stacks(&reader, NULL, &error), 0);
	profile = end(&reader, 0);
	assert_int_equal(profile->n_resources, 1);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(profile->tree->n_nodes, 8);
	assert_int_equal(profile->tree->label[0], 10);
	assert_int_equal(profile->tree->label[3], 13);
	assert_int_equal(sample_tree_hits(profile->tree, 0, 3), 5);
	assert_int_equal(sample_tree_samples(profile->tree, 0, 7), 1);
	profile_free(profile);
}

static void
reader_refuses_rows_that_call_themselves(void **state)
{
	static const uint32_t circle[] = { 1, 2, 0 }, outside[] = { 7 };
	static const uint32_t label[] = { 1, 1, 1 };
	struct stack_rows rows = { .parent = circle, .label = label, .n = 3 };
	struct error error = { 0 };
	struct reader reader;
	uint32_t node;

	(void)state;
	begin(&reader, "", false);
	assert_int_equal(reader_enter_row(&reader, &rows, 1, &node, &error),
	                 -1);
	assert_string_equal(error.text, "row 1 of the stacks calls itself");
	stack_rows_free(&rows);
	error.is_set = false;
	rows = (struct stack_rows){ .parent = outside, .label = label, .n = 1 };
	assert_int_equal(reader_enter_row(&reader, &rows, 0, &node, &error),
	                 -1);
	assert_string_equal(error.text,
	                    "stack row 0 has caller 7, but there are only 1 "
	                    "rows");
	stack_rows_free(&rows);
	assert_null(end(&reader, -1));
}

/* ---- lines and messages ---- */

/* Lines that say "good" are; a last one without its end is when it is long. */
static int
read_line(void *context, const char *line, size_t length, struct error *error)
{
	struct reader *reader = context;

	assert_true(line[length] == '\n');
	if (length < 4 || memcmp(line, "good", 4) != 0)
		return reader_reject(reader, "expected good", error);
	if (reader->is_unended && length < 6)
		return reader_reject(reader, "expected an end of line", error);
	return 0;
}

static void
read_lines(const char *text, bool is_lenient, const char *expected_error,
           const char *expected_warnings)
{
	struct error error = { 0 };
	struct reader reader;
	char warnings[1000] = "";
	int result;

	begin(&reader, text, is_lenient);
	result = reader_lines(&reader, 1, read_line, &reader, &error);
	if (result == 0)
		result = reader_warn_lines(&reader, ", but more is lost",
		                           &error);
	for (uint32_t i = 0; i < reader.profile->n_warnings; i++) {
		strcat(warnings, reader.profile->warnings[i]);
		strcat(warnings, "\n");
	}
	assert_string_equal(error.text, expected_error);
	assert_string_equal(warnings, expected_warnings);
	profile_free(end(&reader, result));
}

static void
reader_says_what_is_wrong_with_lines(void **state)
{
	(void)state;
	read_lines("", false, "", "");
	read_lines("good\ngood\n", false, "", "");
	read_lines("good\nbad\n", false, "in:2: expected good", "");
	read_lines("good\nbad\nbad\ngood\n", true, "",
	           "in: 2 lines skipped, the first: in:2: expected good\n");
	read_lines("good\ngood", false, "", "in:2: the input is cut "
	           "short here; what came before was read, but more is lost\n");
	read_lines("good\ngood day", false, "", "in:2: no newline at the end "
	           "of the last line, which was read; its last number or name "
	           "may be cut short\n");
}

static void
reader_refuses_lines_that_are_too_long(void **state)
{
	size_t n = (1 << 20) + 5;
	char *text = malloc(n + 6);

	(void)state;
	memcpy(text, "good\n", 5);
	memset(text + 5, 'x', n);
	text[5 + n] = '\0';
	read_lines(text, true, "in:2: a line longer than 1 MiB", "");
	free(text);
}

/* Its length does not count with that of the lines before it. */
static void
reader_takes_a_line_just_short_enough(void **state)
{
	size_t n = 1 << 20;
	char *text = malloc(2 * n + 1);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < n; i += 8)
		memcpy(text + i, "good...\n", 8);
	memset(text + n, 'x', n - 1);
	memcpy(text + n, "good", 4);
	text[2 * n - 1] = '\0';
	/* All but the last byte of a MiB, and no newline. */
	read_lines(text, false, "", "in:131073: no newline at the end of the "
	           "last line, which was read; its last number or name may be "
	           "cut short\n");
	/* Then there is one. */
	text[2 * n - 1] = '\n';
	text[2 * n] = '\0';
	read_lines(text, false, "", "");
	free(text);
}

static void
reader_names_the_place_of_messages(void **state)
{
	struct reader reader;
	struct error error;

	(void)state;
	begin(&reader, "", false);
	reader.place = 18;
	error.is_set = false;
	reader_fail(&reader, &error, "expected %d", 7);
	assert_string_equal(error.text, "in:18: expected 7");
	error.is_set = false;
	reader_fail_at(&reader, 19, &error, "expected %d", 7);
	assert_string_equal(error.text, "in:19: expected 7");
	error.is_set = false;
	reader_fail_file(&reader, &error, "expected %d", 7);
	assert_string_equal(error.text, "in: expected 7");
	reader.places = READER_OFFSETS;
	error.is_set = false;
	reader_fail_empty(&reader, &error);
	assert_string_equal(error.text, "in: no samples in it");
	reader.is_cut_short = true;
	error.is_set = false;
	reader_fail_empty(&reader, &error);
	assert_string_equal(error.text, "in: 0x12: the input is cut "
	                    "short here; no samples before that");
	assert_null(end(&reader, -1));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_makes_the_tree_that_single_stacks_make),
		cmocka_unit_test(
		    reader_takes_the_callers_word_for_shared_frames),
		cmocka_unit_test(reader_sorts_mixed_threads_into_sections),
		cmocka_unit_test(reader_takes_no_frames_from_another_thread),
		cmocka_unit_test(reader_looks_up_threads_at_the_end),
		cmocka_unit_test(reader_enters_rows_for_each_thread),
		cmocka_unit_test(reader_refuses_rows_that_call_themselves),
		cmocka_unit_test(reader_says_what_is_wrong_with_lines),
		cmocka_unit_test(reader_refuses_lines_that_are_too_long),
		cmocka_unit_test(reader_takes_a_line_just_short_enough),
		cmocka_unit_test(reader_names_the_place_of_messages),
	};

	return cmocka_run_group_tests(tests, make_stacks, free_stacks);
}
