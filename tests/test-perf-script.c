/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-perf-script.c -- the output of perf script, and malformed text. */
#include "tests/reader-fixture.h"

#include "src/formats/perf/perf_script_line.h"

extern const struct format format_perf_script;

static struct profile *
read_text(const char *text)
{
	return must_read(&format_perf_script, text, strlen(text));
}

static const char good[] =
    "# captured on: some day\n"
    "prog 7 [001]  1.000001:     500250 cpu-clock: \n"
    "\t            1100 leaf+0x10 (/gone/prog)\n"
    "\t            1200 main+0x20 (/gone/prog)\n"
    "\n"
    "prog 7  1.000002:     500250 cpu-clock: \n"
    "\tffffffff815d5581 sys_read+0xd1 ([kernel.kallsyms])\n"
    "\t            1110 leaf+0x20 (/gone/prog)\n"
    "\t            1200 main+0x20 (/gone/prog)\n"
    "\n"
    "other 9  1.000003:         10 page-faults: \n"
    "\t            1200 main+0x20 (/gone/prog)\n"
    "\n";

static void
perf_script_events_are_resources_of_periods(void **state)
{
	struct profile *profile = read_text(good);

	(void)state;
	assert_int_equal(profile->n_resources, 2);
	assert_string_equal(profile->resources[0].name, "cpu-clock");
	assert_string_equal(profile->resources[0].gtick, "nanosecond");
	assert_string_equal(profile->resources[1].gtick, "fault");
	assert_int_equal(hits_of(profile, 0, "main;leaf"), 500250);
	assert_int_equal(hits_of(profile, 0, "main;leaf;sys_read"), 500250);
	assert_int_equal(hits_of(profile, 1, "main"), 10);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->samples[0]), 2);
	profile_free(profile);
}

static void
perf_script_threads_are_sections(void **state)
{
	struct profile *profile = read_text(good);

	(void)state;
	assert_int_equal(profile->n_threads, 2);
	assert_string_equal(profile->threads[0].name, "prog");
	assert_int_equal(profile->threads[0].tid, 7);
	assert_int_equal(profile->n_sections, 2);
	assert_int_equal(profile->sections[1].thread, 1);
	profile_free(profile);
}

static void
perf_script_frames_know_modules_and_addresses(void **state)
{
	struct profile *profile = read_text(good);

	(void)state;
	assert_int_equal(profile->n_modules, 2);
	assert_string_equal(profile->modules[0].path, "/gone/prog");
	assert_int_equal(profile->frames[0].module, 0);
	assert_int_equal(profile->frames[0].address, 0x1100);
	profile_free(profile);
}

/* The parts of a frame's line, "ADDRESS|SYMBOL|OBJECT", or "none". */
static void
expect_frame(const char *line, const char *expected)
{
	struct perf_script_frame frame;
	char text[500] = "none";

	if (perf_script_read_frame(line, strlen(line), &frame))
		snprintf(text, sizeof text, "%llx|%.*s|%.*s",
		         frame.has_address ?
		             (unsigned long long)frame.address : 0ULL,
		         (int)frame.symbol.length, frame.symbol.text,
		         (int)frame.object.length, frame.object.text);
	assert_string_equal(text, expected);
}

static void
perf_script_reads_odd_symbols(void **state)
{
	(void)state;
	expect_frame("\t    1100 leaf+0x10 (/p)", "1100|leaf|/p");
	expect_frame("\t    1100 operator new (/p)", "1100|operator new|/p");
	expect_frame("\t    1100 f(int, (*)(char))+0x1 (/p)",
	             "1100|f(int, (*)(char))|/p");
	expect_frame("\t    1100 Lfoo;::bar;baz+0x1 (/tmp/perf-7.map)",
	             "1100|Lfoo;::bar;baz|/tmp/perf-7.map");
	expect_frame("\t    1100 JS:~f node:internal/x:1003:24+0xab (/m)",
	             "1100|JS:~f node:internal/x:1003:24|/m");
	expect_frame("\t    1100 unary+0x87 (inlined)", "1100|unary|inlined");
	expect_frame("\t    1100 f (/tmp/x (deleted))",
	             "1100|f|/tmp/x (deleted)");
	expect_frame("\t    1100 [unknown] ([unknown])",
	             "1100|[unknown]|[unknown]");
	expect_frame("\t       0 [unknown] ([unknown])",
	             "0|[unknown]|[unknown]");
	expect_frame("\t    1100 a+0x2+0x1 (/p)", "1100|a+0x2|/p");
	expect_frame("\t    1100 (anonymous namespace)::f(int)+0x1 (/p)",
	             "1100|(anonymous namespace)::f(int)|/p");
	expect_frame("\t    1100 (anonymous namespace)::f(int)",
	             "1100|(anonymous namespace)::f(int)|");
	expect_frame("\t    add (/p)", "0|add|/p");
	expect_frame("\t    1100", "1100|[unknown]|");
	expect_frame("\t    1100  (/p)", "1100|[unknown]|/p");
	expect_frame("\t            1000 (/p)", "1000|[unknown]|/p");
	expect_frame("\tffffffff815d5581 ([kernel.kallsyms])",
	             "ffffffff815d5581|[unknown]|[kernel.kallsyms]");
	expect_frame("\t             add (/p)", "add|[unknown]|/p");
	expect_frame("\t7fabcdef1000 (/p)", "7fabcdef1000|[unknown]|/p");
	expect_frame("\tfabcdef12345 (/p)", "fabcdef12345|[unknown]|/p");
	expect_frame("\tfeed (/p)", "0|feed|/p");
	expect_frame("\t    ", "none");
	/* As simpleperf prints them. */
	expect_frame("        b3cea6c4\tLock::unlock() (/system/libc.so)",
	             "b3cea6c4|Lock::unlock()|/system/libc.so");
	expect_frame("        9a3a607f\tbase.odex[+41107f] (/oat/base.odex)",
	             "9a3a607f|base.odex[+41107f]|/oat/base.odex");
}

static void
perf_script_reads_stacks_of_simpleperf(void **state)
{
	struct profile *profile = read_text(
	    "Gecko\t25122 [007] 115539.936601:\t\t1000000 task-clock:u:\n"
	    "        b3cea6c4\tunlock() (/system/lib/libc.so)\n"
	    "        b3ceaabd\t__start_thread (/system/lib/libc.so)\n"
	    "\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "__start_thread;unlock()"),
	                 1000000);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

/* Periods are an event's counts; without them samples are counted. */
static void
perf_script_without_periods_counts_samples(void **state)
{
	static const struct {
		const char *text, *gtick;
	} cases[] = {
		{ "prog 7 1.5: cpu-clock: \n\t 1100 f (/p)\n", "" },
		{ "prog 7 1.5: 250 cpu-clock: \n\t 1100 f (/p)\n",
		  "nanosecond" },
		{ "prog 7 1.5: 250 cpu_core/cycles/P: \n\t 1100 f (/p)\n",
		  "cycle" },
		{ "prog 7 1.5: 250 cpu/cycles:k/: \n\t 1100 f (/p)\n", "" },
		{ "cpu-clock: \n\t            1100 f (/p)\n", "" },
		{ "       250 cpu-clock: \n\t            1100 f (/p)\n",
		  "nanosecond" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct profile *profile = read_text(cases[i].text);

		assert_string_equal(profile->resources[0].gtick,
		                    cases[i].gtick);
		profile_free(profile);
	}
}

/* perf script -F comm,tid,time,period,event,ip,dso, and without dso. */
static void
perf_script_without_symbols_tells_objects_apart(void **state)
{
	static const char text[] =
	    "prog 7 1.0: 10 cycles: \n"
	    "\t            1000 (/gone/a.so)\n"
	    "\t            2000 (prog)\n\n"
	    "prog 7 1.1: 20 cycles: \n"
	    "\t            1000 (/gone/b.so)\n"
	    "\t            2000 (prog)\n\n"
	    "prog 7 1.2: 40 cycles:             1000 (/gone/c.so)\n";
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "prog+0x2000;a.so+0x1000"), 10);
	assert_int_equal(hits_of(profile, 0, "prog+0x2000;b.so+0x1000"), 20);
	assert_int_equal(hits_of(profile, 0, "c.so+0x1000"), 40);
	assert_int_equal(profile->n_modules, 3);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "no frame has a symbol"));
	profile_free(profile);

	profile = read_text("prog 7 1.0: 10 cycles: \n\t            1000\n");
	assert_int_equal(hits_of(profile, 0, "[unknown]"), 10);
	assert_int_equal(profile->n_warnings, 1);
	profile_free(profile);

	profile = read_text("prog 7 1.0: 10 cycles: \n"
	                    "\t            1000 [unknown] (/gone/a.so)\n"
	                    "\t            1000 [unknown] (/gone/b.so)\n");
	assert_int_equal(hits_of(profile, 0, "[unknown];[unknown]"), 10);
	assert_int_equal(profile->n_modules, 2);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

/* The parts of a header, "COMM|PID/TID|PERIOD|EVENT|REST", or "none". */
static void
expect_header(const char *line, const char *expected)
{
	struct perf_script_header h;
	char text[500] = "none";

	if (perf_script_read_header(line, strlen(line), &h)) {
		assert_non_null(h.rest.text);
		snprintf(text, sizeof text, "%.*s|%llu/%llu|%llu|%.*s|%.*s",
		         (int)h.comm.length, h.comm.text,
		         (unsigned long long)h.pid, (unsigned long long)h.tid,
		         (unsigned long long)h.period, (int)h.event.length,
		         h.event.text, (int)h.rest.length, h.rest.text);
	}
	assert_string_equal(text, expected);
}

static void
perf_script_reads_odd_commands_and_fields(void **state)
{
	(void)state;
	expect_header("prog 7  1.5:   3 cycles: ", "prog|0/7|3|cycles| ");
	expect_header("prog 7/8 [003] 1.5:   3 cycles:u: ",
	              "prog|7/8|3|cycles:u| ");
	expect_header("   two words 7  1.5:   3 cycles:", "two words|0/7|3|cycles|");
	expect_header("a 12 b 7  1.5:   3 cycles:", "a 12 b|0/7|3|cycles|");
	expect_header(":-1 -1 7 1.5: cycles:", ":-1 -1|0/7|1|cycles|");
	expect_header(":-1    -1 [003] 1.5:   3 cycles:", ":-1|0/0|3|cycles|");
	expect_header("p 7 1.5: PERF_RECORD_COMM exec: p:7/7", "p|0/7|1||");
	expect_header(":-1 -1/-1 1.5: 3 cycles:", ":-1|0/0|3|cycles|");
	expect_header("p 7 [003] KE   1.5:   3 cycles:", "p|0/7|3|cycles|");
	expect_header("p 7 U   3 cycles:", "p|0/7|3|cycles|");
	expect_header("7  1.5:   3 cycles:", "|0/7|3|cycles|");
	expect_header("7/8  1.5:   3 cycles:", "|7/8|3|cycles|");
	expect_header("two words  1.5:   3 cycles:", "two words|0/0|3|cycles|");
	expect_header(" 1.5:   3 cycles:", "|0/0|3|cycles|");
	expect_header("7 8 1.5:   3 cycles:", "7|0/8|3|cycles|");
	expect_header("p 7 1.5: sched:sched_switch: prev_comm=x: 3",
	              "p|0/7|1|sched:sched_switch| prev_comm=x: 3");
	expect_header("p 7 1.5: 2 cpu/event=0x3c/u:  1f00 f (/p)",
	              "p|0/7|2|cpu/event=0x3c/u|  1f00 f (/p)");
	expect_header("p 7 cycles: ", "p|0/7|1|cycles| ");
	expect_header("p 7 1.5: ", "p|0/7|1|| ");
	expect_header("prog 1.5: ", "prog|0/0|1|| ");
	expect_header("p 7 1.5:         12 ", "p|0/7|12|| ");
	expect_header("p 7 1.5:             400570 f",
	              "p|0/7|1||             400570 f");
	expect_header("main;a;b 12", "none");
	expect_header("a 1", "none");
	expect_header("", "none");
}

static void
perf_script_without_stacks_stands_on_one_line(void **state)
{
	struct profile *profile = read_text(
	    "  prog 7 1.5: 10 cycles:  7f0000001100 f+0x1 (/gone)\n"
	    "  prog 7 1.6: 20 cycles:  7f0000001200 g+0x1 (/gone)\n"
	    "  prog 7 1.7: sched:x: pid=4 (me)\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 10);
	assert_int_equal(hits_of(profile, 0, "g"), 20);
	assert_int_equal(hits_of(profile, 1, "[no stack]"), 1);
	assert_int_equal(profile->n_modules, 0);
	profile_free(profile);
}

/* Without the object, the symbol or the time, too: perf script -F. */
static void
perf_script_on_one_line_may_lack_objects(void **state)
{
	static const char *const texts[] = {
		"   p 7     1.5:         10 task-clock:      560360f6a1b8 f\n"
		"   p 7     1.6:         10 task-clock:              1200 g(a b)\n",
		"   p 7         10 task-clock:      560360f6a1b8 f+0x1f\n"
		"   p 7         10 task-clock:              1200 g(a b)+0x2\n",
		"     1.5:         10 task-clock:      560360f6a1b8 f\n"
		"  f.c:7\n"
		"     1.6:         10 task-clock:  ffffffff81001200 g(a b)\n"
		"  g.c:17\n",
	};
	struct profile *profile;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(format_perf_script.probe(texts[i],
		                                          strlen(texts[i])),
		                 PROBE_SURE);
		profile = read_text(texts[i]);
		assert_int_equal(hits_of(profile, 0, "f"), 10);
		assert_int_equal(hits_of(profile, 0, "g(a b)"), 10);
		profile_free(profile);
	}
	profile = read_text("p 7 1.5: 10 sys:enter: fd: 1f (7)\n"
	                    "p 7 1.6: 10 sys:enter: 12345678901234567 f\n");
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 20);
	profile_free(profile);
}

static void
perf_script_passes_over_source_lines(void **state)
{
	struct profile *profile = read_text(
	    "prog 7 1.5: 10 cycles: \n"
	    "\t    1100 f+0x1 (/gone)\n"
	    "  some file.c:17\n"
	    "\t    1200 main+0x1 (/gone)\n"
	    "  some file.c:170\n\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "main;f"), 10);
	profile_free(profile);
}

/*
 * Blanks instead of the tab, nothing instead of it, and an empty line before
 * it.
 */
static void
perf_script_reads_frames_that_are_indented_otherwise(void **state)
{
	static const char *const texts[] = {
		"p 7 1.5: 10 cycles: \n"
		"            1100 f(int) const+0x1 (/gone)\n"
		"  some file.c:17\n"
		"             1200 main 12 g: (/gone)\n"
		"\n"
		"p 7 1.6: 10 cycles: \n\n",
		"p 7 cycles:\n1100 f(int) const ([kernel.kallsyms])\n"
		"1200 main 12 g: (/gone)\n\np 7 page-faults:\n",
		"p 7 1.5: 10 cycles:\n\n\t 1100 f(int) const (/gone)\n"
		"\t 1200 main 12 g: (/gone)\n\np 7 1.6: 10 cycles:\n",
		"p 7 1.5: 10 cycles:\r\n\r\n 1100 f(int) const (/gone)\r\n"
		" 1200 main 12 g: (/gone)\r\n\r\np 7 1.6: 10 cycles:\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_int_equal(hits_of(profile, 0, "main 12 g:;f(int) const"),
		                 i == 1 ? 1 : 10);
		hits_of(profile, 0, "[no stack]");
		assert_int_equal(profile->tree->n_nodes, 3);
		assert_int_equal(profile->frames[0].address, 0x1100);
		assert_int_equal(profile->frames[1].address, 0x1200);
		profile_free(profile);
	}
}

static void
perf_script_commands_may_look_like_addresses(void **state)
{
	struct profile *profile = read_text(
	    "a 7 1.5: 10 cycles: \n"
	    "a 7 1.6: 20 cycles: 7f1100 f (/gone)\n"
	    "a 7 cycles: 7f1200 g (/gone)\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 10);
	assert_int_equal(hits_of(profile, 0, "f"), 20);
	assert_int_equal(hits_of(profile, 0, "g"), 1);
	profile_free(profile);
}

static void
perf_script_passes_over_records_that_are_no_samples(void **state)
{
	static const char text[] =
	    "perf-exec     0     0.000000: PERF_RECORD_COMM: perf-exec:7/7\n"
	    "p 7 1.1: PERF_RECORD_COMM exec: p:7/7\n"
	    "p 7 1.2: PERF_RECORD_MMAP2 7/7: [0x55(0x1000) @ 0 fe:00 9 4]: "
	    "r-xp /gone/p\n"
	    "p 7 1.3: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7\n"
	    "\t\t[0/net: 4/0xf0000075, 1/uts: 4/0xeffffffe]\n"
	    "p 7 1.5: 10 cycles: \n\t1100 f (/gone)\n\n"
	    "p 7 1.6: PERF_RECORD_SWITCH OUT\n"
	    "p 7 1.7: 10 cycles: \n\t1100 f (/gone)\n"
	    "p 7 1.8: PERF_RECORD_EXIT(7:7):(1:1)\n";
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(format_perf_script.probe(text, sizeof text - 1),
	                 PROBE_SURE);
	assert_int_equal(profile->n_resources, 1);
	assert_int_equal(profile->n_threads, 1);
	assert_int_equal(hits_of(profile, 0, "f"), 20);
	assert_int_equal(profile->tree->n_nodes, 1);
	profile_free(profile);
}

static void
perf_script_lost_samples_are_told(void **state)
{
	struct profile *profile = read_text(
	    "p 7 1.5: 10 cycles: \n\t1100 f (/gone)\n\n"
	    "p 7 1.6: PERF_RECORD_LOST lost 12\n"
	    "p 7 1.7: PERF_RECORD_LOST_SAMPLES lost 30\n"
	    "p 7 1.8: PERF_RECORD_LOST lost many\n");

	(void)state;
	assert_int_equal(profile->resources[0].lost[LOSS_PERF_BEHIND], 42);
	profile_free(profile);
}

static void
perf_script_without_any_address_is_told(void **state)
{
	struct profile *profile = read_text("p 7 1.5: 10 cycles: \n"
	                                    "p 7 1.6: 10 cycles: \n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 20);
	assert_int_equal(profile->n_warnings, 1);
	assert_non_null(strstr(profile->warnings[0], "-F +ip,sym,dso"));
	profile_free(profile);
	profile = read_text(good);
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

static void
perf_script_names_are_demangled(void **state)
{
	struct profile *profile = read_text(
	    "p 7 1.5: 10 cycles: \n\t1100 _ZN1a1bEi+0x1f (/gone)\n"
	    "\t1200 _RNvC1a1b (/gone)\n"
	    "\t1300 a::_$LT$c$GT$::hc2aaa9b4591a10c7+0x1 (/gone)\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "a::<c>;a::b;a::b(int)"), 10);
	profile_free(profile);
}

static void
expect_error(const char *text, const char *expected)
{
	must_refuse(&format_perf_script, text, strlen(text), expected);
}

static void
perf_script_refuses_bad_lines_with_their_numbers(void **state)
{
	(void)state;
	expect_error("p 7 1.5: cycles:\n\t1100 f (/p)\n\nwhat is this\n",
	             "in:4: expected a sample");
	expect_error("p 7 1.5: cycles:\n\t \n", "in:2: expected a frame");
	expect_error("\t1100 f (/p)\n", "in:1: expected a sample");
	expect_error("# nothing\n", "in: no samples in it");
	expect_error("p 7 1.5: 18446744073709551615 c:\n\n"
	             "p 7 1.5: 2 c:\n\n", "in:3: the sum of hits");
}

static void
perf_script_lenient_skips_bad_lines(void **state)
{
	static const char text[] = "what is this\n"
	    "p 7 1.5: cycles:\n\t \n\t1100 f (/p)\n\n";
	struct profile *profile = must_read_leniently(&format_perf_script,
	                                              text);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 1);
	assert_non_null(strstr(profile->warnings[0], "2 lines skipped"));
	profile_free(profile);
}

static void
perf_script_cut_at_every_byte_gives_whole_samples(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < sizeof good; cut++) {
		struct error error = { 0 };
		struct profile *profile = read_memory(&format_perf_script,
		                                      good, cut, &error);
		const char *second = strstr(good, "\n\n") + 2;

		assert_int_equal(profile == NULL, error.is_set);
		if (good + cut > second) {
			assert_non_null(profile);
			assert_int_equal(hits_of(profile, 0, "main;leaf"),
			                 500250);
		}
		if (profile != NULL)
			check_tree(profile);
		profile_free(profile);
	}
}

static void
perf_script_last_line_without_newline_counts_if_whole(void **state)
{
	static const struct {
		const char *text;
		uint64_t hits;
		bool is_whole;
	} cases[] = {
		{ "\t1100 f (/gone)", 30, true },
		{ "  1100 f (/gone)", 30, true },
		{ "\t1100 f (/gon", 10, false },
		{ "  1100 f (/gon", 10, false },
		{ "\t11", 10, false },
		{ "p 7 1.7: 5 cycles:  1100 f (/gone)", 15, true },
		{ "p 7 1.7: 5 cycles:  1100 f (/g", 10, false },
		{ "p 7 1.7: 5 cycles: ", 10, true },
		{ "p 7 1.7: 5 cyc", 10, false },
		{ "p 7 1.7: 5 cyc:", 10, false },
		{ "p 7 1.7: PERF_RECORD_SWI", 10, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[200];
		struct profile *profile;

		snprintf(text, sizeof text, "p 7 1.5: 10 cycles:\n"
		         "\t1100 f (/gone)\n\n"
		         "p 7 1.6: 20 cycles: \n%s", cases[i].text);
		profile = read_text(text);
		assert_int_equal(hits_of(profile, 0, "f"), cases[i].hits);
		assert_int_equal(profile->n_resources, 1);
		assert_int_equal(profile->n_warnings, 1);
		assert_non_null(strstr(profile->warnings[0],
		    cases[i].is_whole ? "in:5: no newline" :
		                        "in:5: the input is cut"));
		profile_free(profile);
	}
}

/*
 * As perf script -F prints samples without the time, the event or other
 * fields.
 */
/* Samples of one line: all that end in a newline count, wherever the cut is. */
static void
perf_script_cut_lines_keep_all_before(void **state)
{
	static const char *const lines[] = {
		"     w     0/0     [009] 0.0:          1     sched:sched_wakeup: "
		"comm=w pid=24 prio=120 ffffffff8bad311d ttwu "
		"([kernel.kallsyms])\n",
		"w  7 1.5:          1 cycles:     5500001000 f+0x3 (/opt/x)\n",
		"w  7 1.5:          1 cycles: \n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		uint64_t samples;
		size_t length = strlen(lines[i]);
		char text[1000] = "";

		for (int n = 0; n < 3; n++)
			strcat(text, lines[i]);
		for (size_t cut = length; cut <= 3 * length; cut++) {
			struct error error = { 0 };
			struct profile *profile = read_memory(
			    &format_perf_script, text, cut, &error);

			assert_non_null(profile);
			assert_true(profile_hits(profile, 0, &samples) >=
			            cut / length);
			profile_free(profile);
		}
		text[3 * length - 1] = '\0';
		if (strchr(lines[i], '(') != NULL) {
			struct profile *profile = must_read(
			    &format_perf_script, text, strlen(text));

			assert_int_equal(profile_hits(profile, 0, &samples), 3);
			profile_free(profile);
		}
	}
}

/* addr, weight, data_src and more, in perf's columns of 16 or copied ones. */
static void
perf_script_fields_before_the_address_are_none(void **state)
{
	static const char *const fields[] = {
		"",
		"               0",
		"    7ffd00001230",
		" ffffffff81775b9a",
		"               0              12",
		"    7ffd00001230      1e05080021 |OP LOAD|LVL L1 hit|SNP N/A|TLB "
		"N/A|LCK N/A|BLK  N/A  ",
		"      1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|"
		"BLK  N/A               0",
		"    5639fc48b010 __TMC_END__+0x0 (/tmp/w)               0",
		"    7fff6ebc3489 [unknown] ([stack])",
	};
	static const char *const tails[] = { "", " N/A", " 4K 2M",
		"        12345000" };
	char text[1000];

	(void)state;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
			struct profile *profile;

			snprintf(text, sizeof text, "prog  700 100.000100:"
			    "         50 page-faults: %s       5500001000 "
			    "alpha+0x10 (/opt/x)%s\nprog  700 100.000100:"
			    "         50 page-faults: %s ffffffff81775b9a "
			    "beta+0x10 (/opt/x)%s\n", fields[i], tails[t],
			    fields[i], tails[t]);
			profile = must_read(&format_perf_script, text,
			                    strlen(text));
			assert_int_equal(hits_of(profile, 0, "alpha"), 50);
			assert_int_equal(hits_of(profile, 0, "beta"), 50);
			profile_free(profile);
		}
}

/* With a stack the address of the first line is never a frame. */
static void
perf_script_fields_before_a_stack_are_none(void **state)
{
	static const char *const fields[] = { "    7ffd00001230",
		"     7ffd00001230", "    7ffd00001230               0",
		"    5639fc48b010 end+0x0 (/tmp/w)" };
	char text[1000];

	(void)state;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		struct profile *profile;

		snprintf(text, sizeof text, "prog  700 100.000100:         50 "
		    "page-faults: %s\n\t      5500001000 alpha+0x10 (/opt/x)\n"
		    "\t      5500002000 main+0x10 (/opt/x)\n\n", fields[i]);
		profile = must_read(&format_perf_script, text, strlen(text));
		assert_int_equal(hits_of(profile, 0, "main;alpha"), 50);
		profile_free(profile);
	}
}

static void
perf_script_refuses_two_addresses_without_columns(void **state)
{
	static const char text[] = "prog 7 1.5: 50 page-faults: 7ffd00001230 "
	    "5500001000 alpha+0x10 (/opt/x)\n";

	(void)state;
	must_refuse(&format_perf_script, text, sizeof text - 1,
	            "either may be the address of the sample");
}

static void
perf_script_refuses_branches_without_an_address(void **state)
{
	static const char *const texts[] = {
		"prog 7 1.5: 50 cycles:  0x4005c8/0x4005dc/P/-/-/0  "
		"0x40062f/0x4005b0/P/-/-/0 \n",
		"  prog     7     1.500000:         50 cycles: \n"
		" 0x4005c8/0x4005dc/P/-/-/0 \n\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		must_refuse(&format_perf_script, texts[i], strlen(texts[i]),
		            "branch stacks and no address");
}

static void
perf_script_first_lines_may_lack_any_field(void **state)
{
	static const struct {
		const char *line, *comm, *resource;
		uint64_t tid, period;
	} cases[] = {
		{ "", "", "samples", 0, 1 },
		{ "my prog ", "my prog", "samples", 0, 1 },
		{ "my prog  6040 ", "my prog", "samples", 6040, 1 },
		{ "prog 6040/6041 ", "prog", "samples", 6041, 1 },
		{ " 6040 ", "", "samples", 6040, 1 },
		{ "        12 ", "", "period", 0, 12 },
		{ "prog  6040         12 ", "prog", "period", 6040, 12 },
		{ "        12 page-faults:u: ", "", "page-faults:u", 0, 12 },
		{ "prog  6040 [003] ", "prog", "samples", 6040, 1 },
		{ "prog  3634.655102: ", "prog", "samples", 0, 1 },
		{ "prog [003] 3634.655102: ", "prog", "samples", 0, 1 },
		{ "prog  6040 3634.655102: ", "prog", "samples", 6040, 1 },
		{ "page-faults:u: ", "", "page-faults:u", 0, 1 },
		{ "swapper    -1 ", "swapper", "samples", 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[300];
		struct profile *profile;

		snprintf(text, sizeof text,
		         "%s\n\t            1100 f\n\t            1200 main\n\n"
		         "%s\n\t            1200 main\n\n",
		         cases[i].line, cases[i].line);
		assert_int_equal(format_perf_script.probe(text, strlen(text)),
		                 PROBE_SURE);
		profile = read_text(text);
		assert_string_equal(profile->resources[0].name,
		                    cases[i].resource);
		assert_int_equal(hits_of(profile, 0, "main;f"),
		                 cases[i].period);
		assert_int_equal(hits_of(profile, 0, "main"),
		                 cases[i].period);
		assert_int_equal(profile->n_threads, 1);
		assert_string_equal(profile->threads[0].name, cases[i].comm);
		assert_int_equal(profile->threads[0].tid, cases[i].tid);
		profile_free(profile);
	}
}

/* Its first line is like those of others, which have stacks. */
static void
perf_script_has_samples_without_a_stack(void **state)
{
	struct profile *profile = read_text("prog  6040 \n"
	    "\t            1100 f\n\nkworker/0:1    77 \n\n"
	    "prog  6040 \n\t            1100 f\n\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 2);
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 1);
	assert_string_equal(profile->threads[1].name, "kworker/0:1");
	profile_free(profile);
	expect_error("prog  6040 \n\t            1100 f\n\nother\n\n"
	    "prog  6040 \n\t            1100 f\n\n",
	    "in:4: expected a sample");
}

/* -F ip,sym: an empty line in front of each stack and one behind. */
static void
perf_script_counts_stacks_of_no_frame(void **state)
{
	static const char text[] = "\n\t            1100 f\n\n"
	    "\n\n" "\n\n" "\n\t            1100 f\n\n" "\n\n";
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 2);
	assert_int_equal(hits_of(profile, 0, "[no stack]"), 3);
	profile_free(profile);
	cut_at_every_byte(&format_perf_script, text, sizeof text - 1);
	/* No text of perf's own. */
	profile = read_text(text + 1);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->hits[0]), 2);
	profile_free(profile);
}

/* A new name of the main thread, but not that of another one. */
static void
perf_script_tells_programs_of_a_process(void **state)
{
	struct profile *profile = read_text(
	    "work  7/8  1.0: c: \n\t            1100 f\n\n"
	    "one  7/7  1.1: c: \n\t            1100 f\n\n"
	    "pool  7/9  1.2: c: \n\t            1100 f\n\n"
	    "two  7/7  1.3: c: \n\t            1100 f\n\n"
	    "one  7/7  1.4: c: \n\t            1100 f\n\n"
	    "late  7/9  1.5: c: \n\t            1100 f\n\n");

	(void)state;
	assert_int_equal(profile->n_processes, 2);
	assert_string_equal(profile->processes[0].program, "one");
	assert_string_equal(profile->processes[1].program, "two");
	assert_int_equal(profile->processes[1].pid, 7);
	assert_int_equal(profile->n_threads, 5);
	for (uint32_t i = 0; i < profile->n_threads; i++)
		assert_int_equal(profile->threads[i].process, i >= 3);
	profile_free(profile);
}

/* Nothing tells the columns but what no other program prints. */
static void
perf_script_marks_tell_perf(void **state)
{
	static const char *const texts[] = {
		"  prog  735  ilen: 0\n  prog  735  ilen: 4\n",
		"  735 \n  735  insn: 48 83 c2 01\n",
		"prog \nprog  0x301/0x302/P/-/-/0             1000\n",
		"prog  |OP LOAD|LVL L1 hit|SNP None\nprog  |OP STORE|\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(format_perf_script.probe(texts[i],
		    strlen(texts[i])), PROBE_SURE);
		expect_error(texts[i], "in: columns of perf script, but too "
		             "few to tell what they are; print more: perf "
		             "script -F comm,tid,time,event,ip,sym,dso");
	}
}

/* -F pid,period,dso,addr: a line could also be a frame of the one before. */
static void
perf_script_flat_lines_are_samples(void **state)
{
	struct profile *profile = read_text(
	    "25932          1     56507f7a2240 (/usr/bin/dash)\n"
	    "25932          1     7fd975125110 (/usr/lib/ld.so)\n"
	    "25932          1     7ffd97f56dc0 ([stack])\n"
	    "25932    1003009                0\n");

	(void)state;
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->hits[0]), 1003012);
	profile_free(profile);
}

/* -F weight,ip,sym: the column is as wide as no period's. */
static void
perf_script_weight_is_no_period(void **state)
{
	struct profile *profile = read_text(
	    "               0\n\t            1100 f\n\n"
	    "              47\n\t            1100 g\n\n"
	    "          400100               47\n\t            1100 g\n\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 1);
	assert_int_equal(hits_of(profile, 0, "g"), 2);
	assert_string_equal(profile->resources[0].name, "samples");
	profile_free(profile);
}

/* A period is at least 1, so what is 0 on all lines is none. */
static void
perf_script_zeros_are_no_periods(void **state)
{
	struct profile *profile = read_text(
	    "           alpha          0 \n\t            1100 f\n\n"
	    "           alpha          0 \n\t            1100 g\n\n");

	(void)state;
	assert_int_equal(hits_of(profile, 0, "f"), 1);
	assert_int_equal(hits_of(profile, 0, "g"), 1);
	assert_string_equal(profile->resources[0].name, "samples");
	profile_free(profile);
	expect_error("p 7 1.5:          0 cycles: 400570 f\n",
	             "in: all periods are 0, so nothing was counted");
	/* An address with its symbol, which is that of data or of code. */
	expect_error("           alpha 23634     7fbe2aefab70 _start\n"
	             "           alpha 23634     7fbe2aefab71 _start\n",
	             "in: columns of perf script of which several may be");
}

/* Appends the format with the address for '@' and the name for '$'. */
static void
add_sample(char *text, const char *format, const char *address,
           const char *name)
{
	for (text += strlen(text); *format != '\0'; format++) {
		const char letter[] = { *format, '\0' };
		const char *piece = *format == '@' ? address :
		                    *format == '$' ? name : letter;

		strcpy(text, piece);
		text += strlen(piece);
	}
}

/*
 * As perf script -F prints samples without stacks: two, of f and of g, each of
 * which has a period of 500250 if that is printed.
 */
static void
perf_script_columns_of_any_fields_are_told(void **state)
{
	static const struct {
		const char *fields, *format, *resource, *comm;
		uint64_t hits;
		bool has_address;
	} cases[] = {
		{ "comm,tid,time,ip,sym",
		  "           a.out  5802 19823.308383:  @ $\n", "samples",
		  "a.out", 1, true },
		{ "comm,tid,time,ip,sym, one blank each",
		  "a.out 5802 19823.308383: 400570 $\n", "samples",
		  "a.out", 1, true },
		{ "time,period,ip,sym",
		  "19823.308383:     500250  @ $\n", "period", "", 500250,
		  true },
		{ "comm,event,ip,sym", "            prog cpu-clock:  @ $\n",
		  "cpu-clock", "prog", 1, true },
		{ "comm,tid,period,ip,sym",
		  "    ksoftirqd/0     9     500250  @ $\n", "period",
		  "ksoftirqd/0", 500250, true },
		{ "comm,tid,ip,sym", "            Web 7    77  @ $\n",
		  "samples", "Web 7", 1, true },
		{ "comm,pid,tid,weight,ip,sym, as by perf 6.1",
		  "           alpha 23634/23634                0 @ $\n",
		  "samples", "alpha", 1, true },
		{ "comm,pid,tid,weight,ip,sym",
		  "           alpha   23634/23634                 47 @ $\n",
		  "samples", "alpha", 1, true },
		{ "comm,pid,tid,weight,ip,sym, under a header",
		  "# cmdline : perf\n# ========\n#\n"
		  "           alpha  3634/3634                47 @ $\n",
		  "samples", "alpha", 1, true },
		{ "comm,pid,tid,period,ip,sym, as by perf 6.1",
		  "           alpha 23634/23634     500250  @ $\n",
		  "period", "alpha", 500250, true },
		{ "comm,ip,sym", "           Web 77  @ $\n", "samples",
		  "Web 77", 1, true },
		{ "comm,ip,sym", "     ksoftirqd/0  @ $\n", "samples",
		  "ksoftirqd/0", 1, true },
		{ "pid,tid,cpu,ip,sym", "     77/78      [003]  @ $\n",
		  "samples", "", 1, true },
		{ "pid,tid,ip,sym, as by perf 6.1",
		  "            prog 25849/25849  @ $\n", "samples", "prog", 1,
		  true },
		{ "pid,tid,ip,sym, of fewer digits",
		  "            prog   849/849    @ $\n", "samples", "prog", 1,
		  true },
		{ "comm,tid,time,ip,sym of idle processors",
		  "              :0     0 19823.308383:  @ $\n", "samples",
		  "swapper", 1, true },
		{ "ip,sym", " @ $\n", "samples", "", 1, true },
		{ "comm,tid,addr,ip,sym",
		  "            prog    77     7fd43688d550 @ $\n",
		  "samples", "prog", 1, true },
		{ "time,event,flags,addr,ip,sym", "  824.503933: page-faults: "
		  "                            7fd43688d550 @ $\n",
		  "page-faults", "", 1, true },
		{ "comm,tid,trace,ip,sym", "            prog    77 "
		  "prev_comm=ff prev_pid=3 @ $\n", "samples", "prog", 1,
		  true },
		{ "comm,tid,misc,ip,sym,dso,brstack",
		  "            prog    77 U      @ $ (/gone) "
		  "0x4023d0(/gone)/0x4023d0(/gone)/M/-/-/0 \n", "samples",
		  "prog", 1, true },
		{ "comm,tid,time,ip,sym,srcline",
		  "            prog    77 824.328227:  @ $\n"
		  "  [kernel.kallsyms][ffffffff81775b9a]\n", "samples", "prog",
		  1, true },
		{ "comm,tid", "            prog    77 \n", "samples", "prog", 1,
		  false },
		{ "period", "    500250 \n", "period", "", 500250, false },
		{ "comm,tid,addr", "            prog    77     7fd43688d550\n",
		  "samples", "prog", 1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[600] = "";
		struct profile *profile;

		add_sample(text, cases[i].format, "ffffffff81775b9a", "f");
		add_sample(text, cases[i].format, "          400570", "g");
		if (format_perf_script.probe(text, strlen(text)) != PROBE_SURE)
			fail_msg("not told: -F %s", cases[i].fields);
		profile = read_text(text);
		assert_string_equal(profile->resources[0].name,
		                    cases[i].resource);
		assert_string_equal(profile->threads[0].name, cases[i].comm);
		if (cases[i].has_address) {
			assert_int_equal(hits_of(profile, 0, "f"),
			                 cases[i].hits);
			assert_int_equal(hits_of(profile, 0, "g"),
			                 cases[i].hits);
		} else {
			assert_int_equal(hits_of(profile, 0, "[no stack]"),
			                 2 * cases[i].hits);
		}
		profile_free(profile);
	}
	/* A period, or an address? */
	expect_error("p 7 1.5: 400570\np 7 1.6: 400570\n",
	             "in:1: a number that may be a period or an address");
}

/* perf prints branches behind the stack, and an empty line only if none. */
static void
perf_script_branches_end_a_sample(void **state)
{
	static const char text[] =
	    "PERF_RECORD_MMAP2 7/7: [0x301000(0x1000) @ 0 00:1d 2 1]: r-xp /x\n"
	    "\n\t          30179e f\n\t          3017f9 main\n"
	    " 0x3017cf/0x30179e/P/-/-/0  0x30177f/0x3017c4/P/-/-/0 \n"
	    "\n\t          3017c4 g\n\t          3017f9 main\n"
	    "f+0x1/g+0x2/M/-/-/0/ \n"
	    "\n\t          3017c4 g\n\n";
	struct profile *profile = read_text(text);

	(void)state;
	assert_int_equal(format_perf_script.probe(text, sizeof text - 1),
	                 PROBE_SURE);
	assert_int_equal(sample_tree_total(profile->tree,
	                                   profile->tree->hits[0]), 3);
	assert_int_equal(profile->tree->deepest, 2);
	profile_free(profile);
	cut_at_every_byte(&format_perf_script, text, sizeof text - 1);
}

/* A line without a frame after it is an error there, also in such text. */
static void
perf_script_brief_lines_need_a_frame(void **state)
{
	static const char *const texts[] = {
		"prog 7\n\t            1100 f\n\nprog 7\n\n",
		"prog 7\n\t            1100 f\n\nprog 7\nprog 8\n"
		"\t            1100 f\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		expect_error(texts[i], "in:4: expected a sample");
		cut_at_every_byte(&format_perf_script, texts[i],
		                  strlen(texts[i]));
	}
}

static void
perf_script_is_told_by_its_contents(void **state)
{
	static const char *const others[] = { "", "\n", "a;b 1\n", "# x\n",
		"main 3 1\n", "# cpprof 1\na b: 3\n",
		"a 7 b:\nmain;f 3\n", "a\n\t1100 f\n", "a\n\t            x f\n",
		"a\n\n\t            1100 f\n",
		"{\"main()\": {\"ct\": 1, \"wt\": 1000}, \"main()==>f\": "
		"{\"ct\": 2, \"wt\": 600}}\n" };
	static const char *const same[] = {
		"# x\r\n\r\np 7 cycles:\r\n\r\n\t1100 f\r\n",
		"p 7 cycles:\n1100 f (/p)\n",
		"p 7 cycles: 1100 f (/p)\n",
	};

	(void)state;
	assert_int_equal(format_perf_script.probe(good, sizeof good - 1),
	                 PROBE_SURE);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		assert_int_equal(format_perf_script.probe(same[i],
		    strlen(same[i])), PROBE_SURE);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(format_perf_script.probe(others[i],
		    strlen(others[i])), PROBE_NO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perf_script_events_are_resources_of_periods),
		cmocka_unit_test(perf_script_reads_stacks_of_simpleperf),
		cmocka_unit_test(perf_script_without_periods_counts_samples),
		cmocka_unit_test(perf_script_threads_are_sections),
		cmocka_unit_test(
		    perf_script_frames_know_modules_and_addresses),
		cmocka_unit_test(
		    perf_script_without_symbols_tells_objects_apart),
		cmocka_unit_test(perf_script_reads_odd_symbols),
		cmocka_unit_test(perf_script_reads_odd_commands_and_fields),
		cmocka_unit_test(
		    perf_script_without_stacks_stands_on_one_line),
		cmocka_unit_test(perf_script_on_one_line_may_lack_objects),
		cmocka_unit_test(perf_script_passes_over_source_lines),
		cmocka_unit_test(
		    perf_script_reads_frames_that_are_indented_otherwise),
		cmocka_unit_test(perf_script_commands_may_look_like_addresses),
		cmocka_unit_test(
		    perf_script_passes_over_records_that_are_no_samples),
		cmocka_unit_test(perf_script_lost_samples_are_told),
		cmocka_unit_test(perf_script_without_any_address_is_told),
		cmocka_unit_test(perf_script_names_are_demangled),
		cmocka_unit_test(
		    perf_script_refuses_bad_lines_with_their_numbers),
		cmocka_unit_test(perf_script_lenient_skips_bad_lines),
		cmocka_unit_test(
		    perf_script_cut_at_every_byte_gives_whole_samples),
		cmocka_unit_test(
		    perf_script_last_line_without_newline_counts_if_whole),
		cmocka_unit_test(perf_script_cut_lines_keep_all_before),
		cmocka_unit_test(perf_script_fields_before_the_address_are_none),
		cmocka_unit_test(perf_script_fields_before_a_stack_are_none),
		cmocka_unit_test(
		    perf_script_refuses_two_addresses_without_columns),
		cmocka_unit_test(
		    perf_script_refuses_branches_without_an_address),
		cmocka_unit_test(perf_script_first_lines_may_lack_any_field),
		cmocka_unit_test(perf_script_has_samples_without_a_stack),
		cmocka_unit_test(perf_script_counts_stacks_of_no_frame),
		cmocka_unit_test(perf_script_marks_tell_perf),
		cmocka_unit_test(perf_script_flat_lines_are_samples),
		cmocka_unit_test(perf_script_weight_is_no_period),
		cmocka_unit_test(perf_script_zeros_are_no_periods),
		cmocka_unit_test(perf_script_tells_programs_of_a_process),
		cmocka_unit_test(perf_script_columns_of_any_fields_are_told),
		cmocka_unit_test(perf_script_branches_end_a_sample),
		cmocka_unit_test(perf_script_brief_lines_need_a_frame),
		cmocka_unit_test(perf_script_is_told_by_its_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
