/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-collapsed.c -- collapsed stacks, good, bad and cut, and the loader. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "src/base/memory.h"
#include "src/formats/collapsed/collapsed.h"
#include "src/formats/format.h"
#include "tests/reading-again.h"

extern const struct format format_collapsed;

static struct profile *
read_bytes(const void *bytes, size_t size, bool lenient, struct error *error)
{
	struct read_options options = { .lenient = lenient };
	struct source *source = source_of_memory("in", bytes, size, error);
	struct profile *profile = format_collapsed.read(source, &options,
	                                                error);

	source_close(source);
	assert_true((profile == NULL) == error->is_set);
	return profile;
}

static struct profile *
read_text(const char *text)
{
	const struct read_options options = { 0 };
	struct error error = { 0 };
	struct profile *profile = read_bytes(text, strlen(text), false,
	                                     &error);

	if (profile == NULL)
		fail_msg("%s", error.text);
	check_again(&format_collapsed, &options, text, strlen(text), profile);
	return profile;
}

/* Hits of one stack; UINT64_MAX if there is no such node. */
static uint64_t
hits_of(const struct profile *profile, uint32_t resource, const char *stack)
{
	const struct sample_tree *tree = profile->tree;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		char text[2000] = "", longer[2000];

		for (uint32_t v = n; v != NO_NODE; v = sample_tree_parent(tree,
		    v)) {
			snprintf(longer, sizeof longer, "%s%s%.1500s",
			         names_text(profile->names, tree->label[v]),
			         v == n ? "" : ";", text);
			strcpy(text, longer);
		}
		if (strcmp(text, stack) == 0)
			return sample_tree_hits(tree, resource, n);
	}
	return UINT64_MAX;
}

static void
collapsed_without_header_counts_samples(void **state)
{
	struct profile *profile = read_text("a;b c;d 3\na 4\n");

	(void)state;
	assert_int_equal(profile->n_resources, 1);
	assert_string_equal(profile->resources[0].name, "samples");
	assert_string_equal(profile->resources[0].gtick, "sample");
	assert_int_equal(profile->resources[0].interval, 1);
	assert_int_equal(profile->n_processes, 0);
	assert_int_equal(hits_of(profile, 0, "a;b c;d"), 3);
	assert_int_equal(hits_of(profile, 0, "a"), 4);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(profile->tree->deepest, 3);
	profile_free(profile);
}

static void
collapsed_header_names_resources_and_the_process(void **state)
{
	struct profile *profile = read_text(
	    "# cpprof 1\n"
	    "# a comment\n"
	    "# resource: Real Time; gtick=centisecond; interval=20\n"
	    "# resource: faults; colour=red\n"
	    "# program: forms\n"
	    "# command: forms -x y\n"
	    "# host: here\n"
	    "main;#odd 5 7\n"
	    "#odd 0 1\n");

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "Real Time");
	assert_string_equal(profile->resources[0].gtick, "centisecond");
	assert_int_equal(profile->resources[0].interval, 20);
	assert_string_equal(profile->resources[1].name, "faults");
	assert_string_equal(profile->resources[1].gtick, "");
	assert_int_equal(profile->resources[1].interval, 1);
	assert_int_equal(profile->n_processes, 1);
	assert_string_equal(profile->processes[0].program, "forms");
	assert_string_equal(profile->processes[0].command, "forms -x y");
	assert_string_equal(profile->processes[0].host, "here");
	assert_int_equal(hits_of(profile, 0, "main;#odd"), 5);
	assert_int_equal(hits_of(profile, 1, "main;#odd"), 7);
	assert_int_equal(hits_of(profile, 1, "#odd"), 1);
	profile_free(profile);
}

static void
collapsed_stacks_add_up_in_any_order(void **state)
{
	struct profile *profile = read_text(
	    "a;z 1\na;b 1\na;b;c 1\na;b(x);c 1\na;b;d 1\nb 3\na;z 1\n"
	    "a;b 2\nb 4\na 0\na;b;c 7\na;q 0\n");

	(void)state;
	assert_int_equal(profile->tree->n_nodes, 9);
	assert_int_equal(hits_of(profile, 0, "a;z"), 2);
	assert_int_equal(hits_of(profile, 0, "a;b"), 3);
	assert_int_equal(hits_of(profile, 0, "a;b;c"), 8);
	assert_int_equal(hits_of(profile, 0, "b"), 7);
	assert_int_equal(hits_of(profile, 0, "a;q"), 0);
	profile_free(profile);
}

/* Also if the order of the texts shows that a name is new. */
static void
collapsed_mangled_names_are_demangled_and_merged(void **state)
{
	struct profile *profile = read_text(
	    "a;_ZN3foo3barEv 3\na;b 1\na;foo::bar() 4\n"
	    "b;Foo::bar() 1\nb;_ZN3Foo3barEv 2\nb;_ZN3Foo3barEv;a 8\n"
	    "c;_ZN3foo3barEv;_Znot 1\nc;foo::bar();_Znot 1\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "a;foo::bar()"), 7);
	assert_int_equal(hits_of(profile, 0, "b;Foo::bar()"), 3);
	assert_int_equal(hits_of(profile, 0, "b;Foo::bar();a"), 8);
	assert_int_equal(hits_of(profile, 0, "c;foo::bar();_Znot"), 2);
	assert_int_equal(profile->tree->n_nodes, 9);
	assert_int_equal(profile->n_frames, 6);
	profile_free(profile);
}

static void
collapsed_takes_crlf_blank_lines_and_no_last_newline(void **state)
{
	struct profile *profile = read_text(
	    "# resource: x\r\n\r\na;b 1\r\n\n\na;c 2\r\n\r\na;b 3");

	(void)state;
	assert_string_equal(profile->resources[0].name, "x");
	assert_int_equal(hits_of(profile, 0, "a;b"), 4);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "in:8: no newline at the "
	                    "end of the last line, which was read; its last "
	                    "number or name may be cut short");
	profile_free(profile);
}

/* "#" or "# ..."; other names may begin with #, also before all stacks. */
static void
collapsed_tells_comments_from_names(void **state)
{
	static const char *const texts[] = {
		"#<Class:0x1>;run 4\nmain;b 3\n#c 1\n#\n",
		"#\n# x 9\n#<Class:0x1>;run 4\n#\nmain;b 3\n# x 9\n#c 1\n",
		"#\r\n\r\n#<Class:0x1>;run 4\r\n#\r\nmain;b 3\r\n#c 1\r\n",
		"main;b 3\n#<Class:0x1>;run 4\n#c 1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(hits_of(profile, 0, "#<Class:0x1>;run"), 4);
		assert_int_equal(hits_of(profile, 0, "main;b"), 3);
		assert_int_equal(hits_of(profile, 0, "#c"), 1);
		assert_int_equal(profile->tree->n_nodes, 5);
		assert_int_equal(profile->n_warnings, 0);
		profile_free(profile);
		assert_int_equal(format_collapsed.probe(texts[i],
		    strlen(texts[i])), PROBE_LIKELY);
	}
	/* Lines of "#" are stacks neither of two counts nor of none. */
	{
		struct profile *profile = read_text("a 1 2\n#\n#b 3 4\n");

		assert_int_equal(profile->n_resources, 2);
		assert_int_equal(hits_of(profile, 1, "#b"), 4);
		profile_free(profile);
	}
}

/* If it is skipped, the header goes on. */
static void
collapsed_tells_of_marks_that_are_no_comments(void **state)
{
	static const char text[] =
	    "#!/usr/bin/env x\n# resource: r\n#mode: wall\na;b 1\n";
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	assert_null(read_bytes(text, sizeof text - 1, false, &error));
	assert_string_equal(error.text, "in:1: expected \"# \" and a comment, "
	                    "or a stack and a count");
	error = (struct error){ 0 };
	profile = read_bytes(text, sizeof text - 1, true, &error);
	assert_non_null(profile);
	assert_string_equal(profile->resources[0].name, "r");
	assert_int_equal(hits_of(profile, 0, "a;b"), 1);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0],
	                       "in: 2 lines skipped, the first: in:1: "));
	profile_free(profile);
}

/* flamegraph.pl: \s before the count. */
static void
collapsed_takes_a_tab_before_the_count(void **state)
{
	struct profile *profile = read_text("a;b\t3\na x;c\t4\na\tz 5\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "a;b"), 3);
	assert_int_equal(hits_of(profile, 0, "a x;c"), 4);
	assert_int_equal(hits_of(profile, 0, "a\tz"), 5);
	profile_free(profile);
	profile = read_text("a;b\t3\t4\na;c 5\t6\n");
	assert_int_equal(profile->n_resources, 2);
	assert_int_equal(hits_of(profile, 0, "a;c"), 5);
	assert_int_equal(hits_of(profile, 1, "a;b"), 4);
	profile_free(profile);
	assert_int_equal(format_collapsed.probe("a;b\t3\n", 6), PROBE_LIKELY);
	/* A table. */
	assert_int_equal(format_collapsed.probe("name\t12\nb\t1\n", 12),
	                 PROBE_NO);
}

static void
collapsed_passes_over_comments_behind_stacks(void **state)
{
	static const char *const texts[] = {
		"# mode: wall\n\na;b 1\n# gc: 7\n#b 2\na;b 3\n"
		    "# duration: 11",
		"a;b 1\r\n# gc: 7\r\n#b 2\r\na;b 3\r\n# duration: 11\r\n",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(hits_of(profile, 0, "a;b"), 4);
		assert_int_equal(hits_of(profile, 0, "#b"), 2);
		assert_int_equal(profile->tree->n_nodes, 3);
		assert_int_equal(profile->n_warnings, i == 0 ? 1 : 0);
		profile_free(profile);
	}
}

/* As in inferno: the number before the point. */
static void
collapsed_fractions_are_cut_off_and_told(void **state)
{
	struct profile *profile = read_text("a;b 31.25\na;b 6.5\na;c 0.25\n"
	                                    "a 4.\na 2.00\nd 3\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "a;b"), 37);
	assert_int_equal(hits_of(profile, 0, "a;c"), 0);
	assert_int_equal(hits_of(profile, 0, "a"), 6);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "the fractions of 3 "
	                       "counts were dropped, 1 hit in all; "));
	profile_free(profile);
	profile = read_text("a 1.5\n");
	assert_non_null(strstr(profile->warnings[0], "the fraction of 1 count "
	                       "was dropped, 0.5 hits; "));
	profile_free(profile);
	profile = read_text("a 4.0\n");
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
	profile = read_text("a 4.5 2.5\n");
	assert_int_equal(hits_of(profile, 1, "a"), 2);
	profile_free(profile);
	assert_int_equal(format_collapsed.probe("a;b 1.5\n", 8), PROBE_LIKELY);
}

static void
collapsed_two_counts_are_two_profiles(void **state)
{
	struct profile *profile = read_text(
	    "# x\n\nmain;f 31 33\r\n# y\nmain 0 274\nmain;g 5 0\n");

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "before");
	assert_string_equal(profile->resources[1].name, "after");
	assert_int_equal(hits_of(profile, 0, "main;f"), 31);
	assert_int_equal(hits_of(profile, 1, "main;f"), 33);
	assert_int_equal(hits_of(profile, 1, "main"), 274);
	assert_int_equal(hits_of(profile, 0, "main;g"), 5);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "difffolded.pl"));
	profile_free(profile);
	/* If one line has a name instead, all lines do. */
	profile = read_text("main;f 31 33\nmain 1\n");
	assert_int_equal(hits_of(profile, 0, "main;f 31"), 33);
	profile_free(profile);
	profile = read_text("# resource: x\nmain;f 31 33\n");
	assert_int_equal(hits_of(profile, 0, "main;f 31"), 33);
	profile_free(profile);
}

/* Lines have two counts if those of the first 32 KiB have. */
static void
collapsed_seeks_two_counts_in_the_first_32_kib(void **state)
{
	static const char two[] = "main;functn 1 2\n";
	static const char one[] = "main;functn12 2\n";
	enum { LINE = sizeof two - 1, LINES = (32 << 10) / LINE };
	static char text[(LINES + 1) * LINE + 1];
	struct error error = { 0 };
	struct profile *profile;

	(void)state;
	for (int i = 0; i < LINES; i++)
		memcpy(text + i * LINE, two, LINE);
	/* The last line that is inspected. */
	memcpy(text + (LINES - 1) * LINE, one, LINE);
	profile = read_text(text);
	assert_int_equal(profile->n_resources, 1);
	assert_int_equal(hits_of(profile, 0, "main;functn 1"),
	                 2 * (LINES - 1));
	profile_free(profile);
	/* The first that is not. */
	memcpy(text + (LINES - 1) * LINE, two, LINE);
	memcpy(text + LINES * LINE, one, LINE);
	assert_null(read_bytes(text, strlen(text), false, &error));
	assert_non_null(strstr(error.text, "in:2049: "));
}

/* Although the first packet has only stacks with two numbers. */
static void
collapsed_counts_are_the_same_from_a_pipe(void **state)
{
	struct read_options options = { 0 };
	struct error error = { 0 };
	struct profile *profile;
	struct source *source;
	char path[50];
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_DIRECT), 0);
	assert_int_equal(write(ends[1], "main;f 31 33\n", 13), 13);
	assert_int_equal(write(ends[1], "main 1\n", 7), 7);
	close(ends[1]);
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	source = source_open(path, &error);
	close(ends[0]);
	assert_non_null(source);
	profile = format_collapsed.read(source, &options, &error);
	assert_non_null(profile);
	assert_int_equal(hits_of(profile, 0, "main;f 31"), 33);
	profile_free(profile);
	source_close(source);
}

static void
collapsed_keeps_odd_names_as_they_are(void **state)
{
	struct profile *profile = read_text(
	    "operator new(unsigned long);a -> b 1\n"
	    "\033[31mred;tab\there 2\n"
	    "x  3\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0,
	                         "operator new(unsigned long);a -> b"), 1);
	assert_int_equal(hits_of(profile, 0, "x "), 3);
	profile_free(profile);
}

static void
collapsed_names_of_all_lengths_stay_distinct(void **state)
{
	enum { LONGEST = 300 };
	char *text = calloc(LONGEST * 2, LONGEST + 10), *at = text;
	struct profile *profile;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int n = 1; n <= LONGEST; n++) {
			memset(at, 'x', (size_t)n);
			at += n;
			at += sprintf(at, " %d\n", n);
		}
	profile = read_text(text);
	assert_int_equal(profile->tree->n_nodes, LONGEST);
	for (uint32_t n = 0; n < LONGEST; n++)
		assert_int_equal(sample_tree_hits(profile->tree, 0, n),
		                 2 * names_length(profile->names,
		                                  profile->tree->label[n]));
	profile_free(profile);
	free(text);
}

static void
collapsed_refuses_bad_lines_with_their_numbers(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "a 1\nb\n", "in:2: expected names joined by ';'" },
		{ "5\n", "in:1: expected names joined by ';'" },
		{ " 5\n", "in:1: expected names joined by ';'" },
		{ "a 1\n\nb -3\n", "in:3: a count below zero" },
		{ "a .5\n", "in:1: expected a number" },
		{ "a 1.5.2\n", "in:1: expected a number" },
		{ "a 1.5x\n", "in:1: expected a number" },
		{ "a 1e3\n", "in:1: expected a number" },
		{ "a +1\n", "in:1: expected a number" },
		{ "a 1 \n", "in:1: expected a number" },
		{ "a 18446744073709551616\n",
		  "in:1: expected a number below 2^64" },
		{ "a;b -1\n", "in:1: a count below zero" },
		{ "a;b 1\nb -2.5\n", "in:2: a count below zero" },
		{ "a;b --1\n", "in:1: expected a number" },
		{ "a 18446744073709551615\nb 1\n",
		  "in:2: the sum of hits exceeds 64 bits" },
		{ "a 18446744073709551615\nb 1",
		  "in:2: the sum of hits exceeds 64 bits" },
		{ "# cpprof 2\na 1\n", "in:1: expected # cpprof 1" },
		{ "# resource: \na 1\n", "in:1: expected # resource: NAME" },
		{ "# resource: a; interval=0\n", "in:1: expected interval=N" },
		{ "# resource: a; interval=x\n", "in:1: expected interval=N" },
		{ "# resource: a\n# resource: a\n",
		  "in:2: a second resource a" },
		{ "# resource: a\n# resource: b\nx 1\n",
		  "in:3: expected names joined by ';'" },
		{ "# resource: a\n# resource: b\nx y 1\n",
		  "in:3: expected a number" },
		{ "", "in: no samples in it" },
		{ "\n\r\n", "in: no samples in it" },
		{ "# cpprof 1\n# resource: a\n", "in: no samples in it" },
		{ "junk", "in:1: expected names joined by ';'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error error = { 0 };

		assert_null(read_bytes(cases[i].text, strlen(cases[i].text),
		                       false, &error));
		if (strncmp(error.text, cases[i].error,
		            strlen(cases[i].error)) != 0)
			fail_msg("%s instead of %s", error.text,
			         cases[i].error);
	}
}

/* As in flamegraph.pl, such a frame is there, and so is its total. */
static void
collapsed_frames_may_lack_a_name(void **state)
{
	static const char text[] = "a;;b 1\na;;b;c 2\n;a 4\na; 8\na;;b 16\n";
	struct error error = { 0 };
	struct profile *profile = read_bytes(text, sizeof text - 1, false,
	                                     &error);

	(void)state;
	assert_non_null(profile);
	assert_int_equal(hits_of(profile, 0, "a;[unknown];b"), 17);
	assert_int_equal(hits_of(profile, 0, "a;[unknown];b;c"), 2);
	assert_int_equal(hits_of(profile, 0, "[unknown];a"), 4);
	assert_int_equal(hits_of(profile, 0, "a;[unknown]"), 8);
	profile_free(profile);
}

static void
collapsed_a_column_below_zero_spoils_no_other(void **state)
{
	static const char text[] = "# resource: time\n# resource: memory\n"
	    "# resource: faults\na;b 1 2 3\na;c 4 -5 6\na;b 1 -1.5 3\n";
	struct error error = { 0 };
	struct profile *profile = read_bytes(text, sizeof text - 1, false,
	                                     &error);

	(void)state;
	assert_non_null(profile);
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[1].name, "faults");
	assert_int_equal(hits_of(profile, 0, "a;b"), 2);
	assert_int_equal(hits_of(profile, 1, "a;b"), 6);
	assert_int_equal(hits_of(profile, 1, "a;c"), 6);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "in:5: a value of memory is "
	    "below zero; this resource is left out, and the others are whole");
	profile_free(profile);
}

static void
collapsed_refuses_nul_bytes(void **state)
{
	static const char *const cases[] = {
		"a;b\0c 1\n", "a 1\0\n", "\0\n", "# x\0\na 1\n",
	};
	static const size_t sizes[] = { 9, 5, 2, 9 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct error error = { 0 };

		assert_null(read_bytes(cases[i], sizes[i], false, &error));
		assert_string_equal(error.text, "in:1: a NUL byte");
	}
}

static void
collapsed_lenient_counts_and_skips_bad_lines(void **state)
{
	static const char text[] = "a;b 1\nnonsense\na;b -9\na;b\0 9\na;c 2\n";
	struct error error = { 0 };
	struct profile *profile = read_bytes(text, sizeof text - 1, true,
	                                     &error);

	(void)state;
	assert_non_null(profile);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(hits_of(profile, 0, "a;c"), 2);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "in: 3 lines skipped, the "
	                    "first: in:2: expected names joined by ';', a "
	                    "blank and a count");
	profile_free(profile);
}

static void
collapsed_cut_at_every_byte_gives_what_is_whole(void **state)
{
	static const char text[] =
	    "# cpprof 1\n# resource: x; gtick=y; interval=2\n"
	    "main;alpha;beta 12\nmain;alpha;gamma 345\nz;y 6\n";

	(void)state;
	for (size_t cut = 0; cut < sizeof text; cut++) {
		struct error error = { 0 };
		struct profile *profile = read_bytes(text, cut, false, &error);
		size_t first_end = (size_t)(strstr(text, "12") - text) + 2;

		if (cut >= first_end) {
			assert_non_null(profile);
			assert_int_equal(hits_of(profile, 0,
			                         "main;alpha;beta"), 12);
		}
		profile_free(profile);
	}
}

static void
collapsed_warns_of_a_last_line_that_is_cut(void **state)
{
	struct profile *profile = read_text("a;b 1\na;c");

	(void)state;
	assert_int_equal(profile->tree->n_nodes, 2);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "in:2: the input is cut"));
	profile_free(profile);
}

static size_t
pack(const char *text, size_t n, char *to, size_t room)
{
	z_stream stream = { 0 };

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8,
	                              Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (Bytef *)(uintptr_t)text;
	stream.avail_in = (uInt)n;
	stream.next_out = (Bytef *)to;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return room - stream.avail_out;
}

static void
collapsed_packed_and_cut_never_believes_half_a_line(void **state)
{
	static const char text[] = "a;b 11\na;c 22\na;d 33\na;e 44\n";
	char packed[1000];
	size_t size = pack(text, sizeof text - 1, packed, sizeof packed);

	(void)state;
	for (size_t cut = 4; cut <= size; cut++) {
		struct error error = { 0 };
		struct profile *profile = read_bytes(packed, cut, false,
		                                     &error);

		if (profile == NULL)
			continue;
		assert_int_equal(profile->n_warnings, cut < size);
		for (uint32_t n = 0; n < profile->tree->n_nodes; n++)
			assert_int_equal(sample_tree_hits(profile->tree, 0, n) % 11, 0);
		profile_free(profile);
	}
}

/* The error of loading damaged packed text. */
static void
check_damaged(const char *packed, size_t size, uint64_t total)
{
	struct error error = { 0 };
	struct profile *profile = read_bytes(packed, size, false, &error);

	if (profile == NULL) {
		if (strstr(error.text, "damaged") == NULL &&
		    strstr(error.text, "cut short") == NULL)
			fail_msg("%s", error.text);
	} else if (profile->n_warnings == 0) {
		assert_int_equal(sample_tree_total(profile->tree,
		                                   profile->tree->hits[0]),
		                 total);
	} else {
		assert_int_equal(profile->n_warnings, 1);
		assert_non_null(strstr(profile->warnings[0],
		                       "the input is cut short here"));
	}
	profile_free(profile);
}

static void
collapsed_packed_and_damaged_never_blames_a_line(void **state)
{
	enum { N_LINES = 300, MAGIC = 3 };
	char text[N_LINES * 40], packed[sizeof text];
	size_t length = 0, size;

	(void)state;
	for (int i = 0; i < N_LINES; i++)
		length += (size_t)sprintf(text + length, "main;f%d;g%d 10\n",
		                          i * i % 97, i * 31 % 89);
	size = pack(text, length, packed, sizeof packed);
	for (size_t i = MAGIC; i < size; i++)
		for (int bit = 0; bit < 8; bit += 3) {
			packed[i] ^= (char)(1 << bit);
			check_damaged(packed, size, 10 * N_LINES);
			packed[i] ^= (char)(1 << bit);
		}
}

static void
collapsed_packed_and_damaged_keeps_what_came_before(void **state)
{
	enum { SIZE = 1 << 20 };
	char *text = malloc(SIZE + 40), *packed = malloc(SIZE);
	struct error error = { 0 };
	struct profile *profile;
	size_t length = 0, size;

	(void)state;
	for (unsigned i = 0; length < SIZE; i++)
		length += (size_t)sprintf(text + length, "main;f%u;g%u 10\n",
		                          i * 7919 % 9973, i);
	size = pack(text, length, packed, SIZE);
	memset(packed + size / 2, 0xff, 8);
	profile = read_bytes(packed, size, false, &error);
	if (profile == NULL)
		fail_msg("%s", error.text);
	assert_true(profile->tree->n_nodes > 10000);
	assert_non_null(strstr(profile->warnings[0],
	                       "(compressed data: 0x"));
	profile_free(profile);
	free(packed);
	free(text);
}

static void
collapsed_holds_a_stack_of_100000_frames(void **state)
{
	enum { DEEP = 100000 };
	char *text = malloc(2 * DEEP + 10);
	struct profile *profile;

	(void)state;
	for (size_t i = 0; i < DEEP; i++) {
		text[2 * i] = i % 2 ? 'a' : 'b';
		text[2 * i + 1] = ';';
	}
	strcpy(text + 2 * DEEP - 1, " 7\n");
	profile = read_text(text);
	assert_int_equal(profile->tree->deepest, DEEP);
	assert_int_equal(profile->tree->n_nodes, DEEP);
	assert_int_equal(names_count(profile->names), 2);
	profile_free(profile);
	free(text);
}

static void
collapsed_stops_when_interrupted(void **state)
{
	struct error error = { 0 };

	(void)state;
	interrupt_requested = 1;
	assert_null(read_bytes("a 1\n", 4, false, &error));
	interrupt_requested = 0;
	assert_string_equal(error.text, "interrupted");
}

/* Writes n bytes to a new file; returns its name, in a static buffer. */
static const char *
write_file(const char *directory, const char *name, const char *bytes,
           size_t n)
{
	static char paths[4][300];
	static unsigned next;
	char *path = paths[next++ % 4];
	FILE *file;

	snprintf(path, sizeof paths[0], "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
	return path;
}

enum { N_STACKS = 60000, STACK_SIZE = 120 };

static int
compare_stacks(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Stacks of up to 12 frames of 30 names, each with the count 3. */
static size_t
make_stacks(char *text, bool is_sorted)
{
	char (*stacks)[STACK_SIZE] = calloc(N_STACKS, STACK_SIZE);
	size_t length = 0;

	for (size_t i = 0; i < N_STACKS; i++)
		for (int depth = 1 + rand() % 12; depth > 0; depth--)
			sprintf(stacks[i] + strlen(stacks[i]), "%sname%d",
			        stacks[i][0] != '\0' ? ";" : "", rand() % 30);
	if (is_sorted)
		qsort(stacks, N_STACKS, STACK_SIZE, compare_stacks);
	for (size_t i = 0; i < N_STACKS; i++)
		length += (size_t)sprintf(text + length, "%s 3\n", stacks[i]);
	free(stacks);
	return length;
}

static void
load_reads_blocks_of_scattered_and_of_ordered_stacks(void **state)
{
	char *text = malloc(N_STACKS * (STACK_SIZE + 3));

	srand(3);
	for (int i = 0; i < 2; i++) {
		struct error error = { 0 };
		struct read_options options = { 0 };
		size_t n = make_stacks(text, i);
		const char *path = write_file(*state, "big", text, n);
		struct profile *profile = load_profiles(&path, 1, &options,
		                                        &error);
		struct names *edges = names_new(&error);

		assert_non_null(profile);
		for (uint32_t v = 0; v < profile->tree->n_nodes; v++) {
			uint32_t edge[2] = { sample_tree_parent(profile->tree,
			    v),
				             profile->tree->label[v] };

			assert_int_equal(names_add(edges, (char *)edge,
			                           sizeof edge, &error), v);
		}
		assert_int_equal(sample_tree_total(profile->tree,
		                                   profile->tree->hits[0]),
		                 3 * N_STACKS);
		names_free(edges);
		profile_free(profile);
	}
	free(text);
}

static void
load_merges_what_it_is_given(void **state)
{
	struct error error = { 0 };
	struct read_options options = { 0 };
	char packed[200];
	const char *paths[2];
	struct profile *profile;

	paths[0] = write_file(*state, "plain", "a;b 1\n", 6);
	paths[1] = write_file(*state, "packed", packed,
	                      pack("a;c 2\n", 6, packed, sizeof packed));
	profile = load_profiles(paths, 2, &options, &error);
	assert_non_null(profile);
	assert_int_equal(profile->tree->n_nodes, 3);
	assert_int_equal(profile->n_files, 2);
	profile_free(profile);
}

/* Marks of UTF-8, and of UTF-16 as written by PowerShell. */
static void
load_passes_over_byte_order_marks(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {
		{ "\xef\xbb\xbf" "a;b 1\r\na 2\r\n", 15 },
		{ "\xef\xbb\xbf" "# cpprof 1\na;b 1\na 2\n", 24 },
		{ "\xff\xfe" "a\0;\0b\0 \0" "1\0\r\0\n\0a\0 \0" "2\0\n", 24 },
		{ "\xfe\xff\0a\0;\0b\0 \0" "1\0\n\0a\0 \0" "2\0\n", 22 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct read_options options = { 0 };
		struct error error = { 0 };
		const char *path = write_file(*state, "plain", cases[i].bytes,
		                              cases[i].n);
		struct profile *profile = load_profiles(&path, 1, &options,
		                                        &error);

		assert_non_null(profile);
		assert_int_equal(hits_of(profile, 0, "a;b"), 1);
		assert_int_equal(hits_of(profile, 0, "a"), 2);
		assert_int_equal(profile->n_warnings, 0);
		profile_free(profile);
	}
}

static void
load_refuses_what_is_no_profile(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *error;
	} cases[] = {
		{ "", 0, "the file is empty" },
		{ "\177ELF\1\2\3\4\0\0\0", 11,
		  "bad is a program, not a profile" },
		{ "\0\0\0\0", 4, "bad: unknown format: byte 0x00 at 0x0 is not "
		  "text (known: " },
		{ "a;b\0c 4\nd 1\n", 12,
		  "bad: unknown format: byte 0x00 at 0x3 is not text" },
		{ "some words\n", 11, "bad: not a profile of a known format (" },
	};
	struct read_options options = { 0 };
	struct error error = { 0 }, directory = { 0 };
	const char *nowhere = "/nowhere/at/all";
	const char *const here[] = { *state };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error wrong = { 0 };
		const char *path = write_file(*state, "bad", cases[i].bytes,
		                              cases[i].n);

		assert_null(load_profiles(&path, 1, &options, &wrong));
		if (strstr(wrong.text, cases[i].error) == NULL)
			fail_msg("%s", wrong.text);
	}
	assert_null(load_profiles(&nowhere, 1, &options, &error));
	assert_string_equal(error.text,
	                    "/nowhere/at/all: No such file or directory");
	assert_null(load_profiles(here, 1, &options, &directory));
	assert_non_null(strstr(directory.text, "a directory without "));
}

static void
load_refuses_an_endless_line_in_bounded_memory(void **state)
{
	struct error error = { 0 };
	struct read_options options = { 0 };
	const char *path = write_file(*state, "endless", "a;b", 3);
	struct rusage before, after;

	/* The rest is a hole of NULs, which are no line either. */
	assert_int_equal(truncate(path, 1 << 30), 0);
	getrusage(RUSAGE_SELF, &before);
	assert_null(load_profiles(&path, 1, &options, &error));
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss < before.ru_maxrss + (1200 << 10));
	assert_true(error.is_set);
}

static void
load_says_so_whenever_memory_is_short(void **state)
{
	static const char first[] =
	    "# resource: x\n# program: p\na;b 1\na;c 2\nb 3\na;b 3\n"
	    "nonsense\na;b;c;d 1\ncut";
	static const char second[] = "# resource: x\na;b 1\n";
	const char *const paths[] = {
		write_file(*state, "plain", first, sizeof first - 1),
		write_file(*state, "bad", second, sizeof second - 1),
	};
	bool is_loaded = false;
	long n = 0;

	while (!is_loaded) {
		struct read_options options = { .lenient = true };
		struct error error = { 0 };
		struct profile *profile;

		allocations_left = ++n;
		memory_stays_short = true;
		profile = load_profiles(paths, 2, &options, &error);
		is_loaded = allocations_left > 0;
		allocations_left = LONG_MAX;
		assert_true((profile == NULL) == error.is_set);
		if (profile == NULL)
			assert_non_null(strstr(error.text, "out of memory"));
		profile_free(profile);
	}
	assert_true(n > 50);
}

static void
delimiters_are_the_same_by_vectors_and_plainly(void **state)
{
	char block[DELIMITERS_BLOCK], other[DELIMITERS_BLOCK];

	(void)state;
	srand(4);
	for (int round = 0; round < 10000; round++) {
		struct delimiters fast, plain;

		for (int i = 0; i < DELIMITERS_BLOCK; i++)
			block[i] = ";\n\0a:<\v\273\212"[rand() % 9];
		memcpy(other, block, sizeof other);
		for (int i = rand() % 4; i > 0; i--)
			other[rand() % DELIMITERS_BLOCK] ^= 1;
		assert_true(find_differences(block, other) ==
		            find_differences_plainly(block, other));
		fast = find_delimiters(block);
		plain = find_delimiters_plainly(block);
		assert_true(fast.semicolons == plain.semicolons);
		assert_true(fast.stops == plain.stops);
	}
}

static int
make_directory(void **state)
{
	static char path[] = "/tmp/test-collapsed-XXXXXX";

	*state = mkdtemp(path);
	return *state != NULL ? 0 : -1;
}

static int
remove_directory(void **state)
{
	static const char *const files[] = {
		"big", "plain", "packed", "bad", "endless",
	};
	char path[300];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", (char *)*state, files[i]);
		unlink(path);
	}
	return rmdir(*state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collapsed_without_header_counts_samples),
		cmocka_unit_test(
		    collapsed_header_names_resources_and_the_process),
		cmocka_unit_test(collapsed_stacks_add_up_in_any_order),
		cmocka_unit_test(
		    collapsed_takes_crlf_blank_lines_and_no_last_newline),
		cmocka_unit_test(collapsed_tells_comments_from_names),
		cmocka_unit_test(
		    collapsed_tells_of_marks_that_are_no_comments),
		cmocka_unit_test(collapsed_takes_a_tab_before_the_count),
		cmocka_unit_test(collapsed_passes_over_comments_behind_stacks),
		cmocka_unit_test(collapsed_fractions_are_cut_off_and_told),
		cmocka_unit_test(collapsed_two_counts_are_two_profiles),
		cmocka_unit_test(
		    collapsed_seeks_two_counts_in_the_first_32_kib),
		cmocka_unit_test(collapsed_counts_are_the_same_from_a_pipe),
		cmocka_unit_test(collapsed_keeps_odd_names_as_they_are),
		cmocka_unit_test(collapsed_names_of_all_lengths_stay_distinct),
		cmocka_unit_test(
		    collapsed_mangled_names_are_demangled_and_merged),
		cmocka_unit_test(
		    collapsed_refuses_bad_lines_with_their_numbers),
		cmocka_unit_test(collapsed_frames_may_lack_a_name),
		cmocka_unit_test(
		    collapsed_a_column_below_zero_spoils_no_other),
		cmocka_unit_test(collapsed_refuses_nul_bytes),
		cmocka_unit_test(collapsed_lenient_counts_and_skips_bad_lines),
		cmocka_unit_test(
		    collapsed_cut_at_every_byte_gives_what_is_whole),
		cmocka_unit_test(collapsed_warns_of_a_last_line_that_is_cut),
		cmocka_unit_test(
		    collapsed_packed_and_cut_never_believes_half_a_line),
		cmocka_unit_test(collapsed_packed_and_damaged_never_blames_a_line),
		cmocka_unit_test(
		    collapsed_packed_and_damaged_keeps_what_came_before),
		cmocka_unit_test(collapsed_holds_a_stack_of_100000_frames),
		cmocka_unit_test(collapsed_stops_when_interrupted),
		cmocka_unit_test(
		    load_reads_blocks_of_scattered_and_of_ordered_stacks),
		cmocka_unit_test(load_merges_what_it_is_given),
		cmocka_unit_test(load_passes_over_byte_order_marks),
		cmocka_unit_test(load_refuses_what_is_no_profile),
		cmocka_unit_test(
		    load_refuses_an_endless_line_in_bounded_memory),
		cmocka_unit_test(load_says_so_whenever_memory_is_short),
		cmocka_unit_test(
		    delimiters_are_the_same_by_vectors_and_plainly),
	};

	return cmocka_run_group_tests(tests, make_directory,
	                              remove_directory);
}
