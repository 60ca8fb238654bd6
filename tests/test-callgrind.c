/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-callgrind.c -- the reader of callgrind's files, from texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/formats/callgrind/callgrind.h"
#include "src/formats/format.h"
#include "src/profile/frame_labels.h"
#include "tests/reading-again.h"

extern const struct format format_callgrind;

/* The specification's own example. */
static const char example[] =
    "events: Instructions\n"
    "\n"
    "fl=file1.c\n"
    "fn=main\n"
    "16 20\n"
    "cfn=func1\n"
    "calls=1 50\n"
    "16 400\n"
    "cfl=file2.c\n"
    "cfn=func2\n"
    "calls=3 20\n"
    "16 400\n"
    "\n"
    "fn=func1\n"
    "51 100\n"
    "cfl=file2.c\n"
    "cfn=func2\n"
    "calls=2 20\n"
    "51 300\n"
    "\n"
    "fl=file2.c\n"
    "fn=func2\n"
    "20 700\n";

static struct profile *
read_bytes(const char *text, size_t size, bool lenient, struct error *error)
{
	struct read_options options = { .lenient = lenient };
	struct source *source = source_of_memory("cg", text, size, error);
	struct profile *profile;

	assert_non_null(source);
	profile = format_callgrind.read(source, &options, error);
	source_close(source);
	assert_int_equal(profile == NULL, error->is_set);
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
	check_again(&format_callgrind, &options, text, strlen(text), profile);
	return profile;
}

static void
assert_rejected(const char *text, const char *why)
{
	struct error error = { 0 };

	assert_null(read_bytes(text, strlen(text), false, &error));
	assert_string_equal(error.text, why);
}

/* "main/1<caller" for the node's name, level above 1 and callers. */
static const char *
node_text(const struct profile *profile, uint32_t number)
{
	static char texts[2][200];
	static int turn;
	const struct call_graph *graph = profile->graph;
	const struct call_node *node = &graph->nodes[number];
	char *text = texts[turn ^= 1];
	int n = snprintf(text, 200, "%s", names_text(profile->names,
	                                             node->name));

	if (node->level > 1)
		n += snprintf(text + n, 200 - (size_t)n, "/%u", node->level);
	for (uint32_t i = 0; i < node->n_callers; i++)
		n += snprintf(text + n, 200 - (size_t)n, "<%s",
		              names_text(profile->names, graph->callers[
		                  node->first_caller + i]));
	return text;
}

/* "main 20; func1 100; main>func1 1:400; " of one resource. */
static void
assert_graph(const struct profile *profile, uint32_t resource,
             const char *expected)
{
	const struct call_graph *graph = profile->graph;
	char text[2000] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < graph->n_nodes; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s %llu; ",
		    node_text(profile, i), (unsigned long long)
		    call_graph_self(graph, i)[resource]);
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		    "%s>%s %llu:%llu; ",
		    node_text(profile, graph->arcs[i].caller),
		    node_text(profile, graph->arcs[i].callee),
		    (unsigned long long)graph->arcs[i].calls,
		    (unsigned long long)call_graph_hits(graph, i)[resource]);
	assert_string_equal(text, expected);
}

static void
assert_reads(const char *text, const char *expected)
{
	struct profile *profile = read_text(text);

	assert_graph(profile, 0, expected);
	profile_free(profile);
}

static const char example_graph[] =
    "main 20; func1 100; func2 700; "
    "main>func1 1:400; main>func2 3:400; func1>func2 2:300; ";

static void
example_of_the_specification(void **state)
{
	struct profile *profile = read_text(example);

	(void)state;
	/* "cfl=" holds for one call: func2 of file2.c is one function. */
	assert_graph(profile, 0, example_graph);
	assert_string_equal(profile->resources[0].name, "Instructions");
	assert_int_equal(profile->n_warnings, 0);
	profile_free(profile);
}

static void
names_are_compressed(void **state)
{
	(void)state;
	assert_reads("# callgrind format\n"
	             "events: Instructions\n"
	             "fl=(1) file1.c\nfl=(2) file2.c\n"
	             "fn=(1) main\nfn=(2) func1\nfn=(3) func2\n"
	             "fl=(1)\nfn=(1)\n16 20\n"
	             "cfn=(2)\ncalls=1 50\n16 400\n"
	             "cfl=(2)\ncfn=(3)\ncalls=3 20\n16 400\n"
	             "fn=(2)\n51 100\n"
	             "cfi=(2)\ncfn=(3)\ncalls=2 20\n51 300\n"
	             "fl=(2)\nfn=(3)\n20 700\n", example_graph);
}

static void
positions_are_read_over(void **state)
{
	(void)state;
	assert_reads("positions: instr line\nevents: A B\nfn=f\n"
	             "0x80001234 90 1 7\n+3 * 5\n-1 +1 0x1F\n* -2\n"
	             "jcnd=1/2 +3 0\n* 0\njump=4 0x10 2\n+1 *\n"
	             "jfi=(1) other.c\njfn=(9) g\njump=1 1 1\n* *\n",
	             "f 37; ");
}

static void
missing_costs_are_zero(void **state)
{
	struct profile *profile = read_text(
	    "events: A B C\nfn=f\n15 90 14 2\n16 20 12\n17\n18 . 1 .\r\n");

	(void)state;
	assert_graph(profile, 0, "f 110; ");
	assert_graph(profile, 1, "f 27; ");
	assert_graph(profile, 2, "f 2; ");
	profile_free(profile);
}

static void
events_are_reckoned(void **state)
{
	struct profile *profile = read_text(
	    "event: Ir : Instruction Fetch\n"
	    "event: Sum = Ir + 3 Dr : Both\n"
	    "event: Twice = 2*Sum\n"
	    "event: Other = Ir + Nothing\n"
	    "events: Ir Dr\n"
	    "fn=f\n1 10 1\ncfn=g\ncalls=1 1\n1 5 2\nfn=g\n1 5 2\n");

	(void)state;
	assert_int_equal(profile->n_resources, 4);
	assert_string_equal(profile->resources[0].gtick, "instruction");
	assert_string_equal(profile->resources[2].name, "Sum");
	assert_string_equal(profile->resources[2].gtick, "Both");
	assert_graph(profile, 2, "f 13; g 11; f>g 1:11; ");
	assert_graph(profile, 3, "f 26; g 22; f>g 1:22; ");
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "event Other = Ir + Nothing "
	                    "uses events that the file does not have");
	profile_free(profile);
}

/* They are no hits of calls, and nothing may take them for such. */
static void
costs_of_calls_that_are_estimates_are_dropped(void **state)
{
	struct profile *profile = read_text(
	    "creator: cpprof\ndesc: " CALLGRIND_ESTIMATES "\nevents: A\n"
	    "fn=main\n1 1\ncfn=f\ncalls=3 1\n1 50\nfn=f\n1 7\n");

	(void)state;
	assert_graph(profile, 0, "main 1; f 7; main>f 3:0; ");
	assert_false(profile->graph->has_hits);
	assert_null(profile->graph->places);
	profile_free(profile);
	profile = read_text("events: A\nfn=main\n1 1\n"
	                    "cfn=f\ncalls=3 1\n1 50\nfn=f\n1 7\n");
	assert_true(profile->graph->has_hits);
	profile_free(profile);
}

static void
parts_add_up(void **state)
{
	struct profile *profile = read_text(
	    "version: 1\ncreator: callgrind-3.19.0\npid: 7\n"
	    "cmd: ./prog a\npart: 1\nthread: 1\nevents: A B\n"
	    "summary: 3 30\nfn=(1) f\n1 3 30\ntotals: 3 30\n"
	    "part: 2\nthread: 2\npositions: line\nevents: B A\n"
	    "fn=(1) f\n1 40 4\nfn=(2) f\n1 1\ntotals: 41 4\n");

	(void)state;
	assert_graph(profile, 0, "f 7; ");
	assert_graph(profile, 1, "f 71; ");
	assert_int_equal(profile->n_processes, 1);
	assert_int_equal(profile->n_threads, 2);
	assert_string_equal(profile->processes[0].program, "./prog");
	assert_string_equal(profile->processes[0].command, "./prog a");
	profile_free(profile);
}

static void
levels_and_callers_are_taken_apart(void **state)
{
	(void)state;
	assert_reads("creator: callgrind-3.19.0\nevents: Ir\n"
	             "fn=main\n1 1\n"
	             "cfn=f'main\ncalls=1 1\n1 9\n"
	             "fn=f'main\n1 2\ncfn=f'2'f'main\ncalls=1 1\n1 7\n"
	             "fn=f'2'f'main\n1 7\n"
	             "fn=foldl'\n1 1\n"
	             "fn=main::'lambda'(int)\n1 1\n"
	             "fn=main::'lambda'(int)'2\n1 3\ntotals: 15\n",
	             "main 1; f<main 2; f/2<f<main 7; foldl' 1; "
	             "main::'lambda'(int) 1; main::'lambda'(int)/2 3; "
	             "main>f<main 1:9; f<main>f/2<f<main 1:7; ");
	/* A caller without symbol need not have costs of its own. */
	assert_reads("creator: callgrind-3.19.0\nevents: Ir\n"
	             "fn=f'0x0000000000001100'main\n1 2\n"
	             "fn=f'0x'main\n1 3\nfn=main\n1 1\ntotals: 6\n",
	             "f<0x0000000000001100<main 2; f'0x'main 3; main 1; ");
	/* Other writers may use an apostrophe for anything. */
	assert_reads("events: Ir\nfn=f'2\n1 1\n", "f'2 1; ");
}

/* A call without an object goes to a function of its file. */
static void
calls_without_object_go_by_their_file(void **state)
{
	static const char head[] = "events: Ir\nob=(1) a\nfl=(1) x.c\n"
	    "fn=(1) f\n1 1\nob=(2) b\nfl=(2) y.c\nfn=(2) main\n1 2\n"
	    "cob=(3) ???\n";
	char text[300];

	(void)state;
	snprintf(text, sizeof text, "%scfi=(1)\ncfn=(1)\ncalls=1 1\n1 4\n",
	         head);
	assert_reads(text, "f 1; main 2; main>f 1:4; ");
	snprintf(text, sizeof text, "%scfi=(3) z.c\ncfn=(1)\ncalls=1 1\n"
	         "1 4\n", head);
	assert_reads(text, "f 1; main 2; f 0; main>f 1:4; ");
}

static void
functions_of_one_name_stay_apart(void **state)
{
	struct profile *profile = read_text(
	    "events: Ir\nob=a\nfl=x.c\nfn=f\n1 1\nfl=y.c\nfn=f\n1 2\n"
	    "cob=b\ncfi=y.c\ncfn=f\ncalls=1 1\n1 4\nob=b\nfn=f\n1 4\n");

	(void)state;
	assert_graph(profile, 0, "f 1; f 2; f 4; f>f 1:4; ");
	assert_string_equal(names_text(profile->names,
	                               profile->graph->nodes[2].object), "b");
	assert_string_equal(names_text(profile->names,
	                               profile->graph->nodes[2].file), "y.c");
	profile_free(profile);
}

/* "main@prog; f@; " */
static void
assert_objects(const struct profile *profile, const char *expected)
{
	const struct call_graph *graph = profile->graph;
	char text[2000] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct call_node *node = &graph->nodes[i];

		n += (size_t)snprintf(text + n, sizeof text - n, "%s@%s; ",
		    names_text(profile->names, node->name),
		    node->object == NO_NAME ? "" :
		    names_text(profile->names, node->object));
	}
	assert_string_equal(text, expected);
}

/* A number stands for a text; its object is that of the line. */
static void
a_number_below_another_object_is_another_function(void **state)
{
	struct profile *profile = read_text("events: A\n"
	    "ob=(1) a\nfl=(1) x.c\nfn=(1) f\n1 10\nfn=(2) ???\n1 1\n"
	    "ob=(2) b\nfl=(2) y.c\nfn=(1)\n1 25\nfn=(2)\n1 2\n"
	    "ob=(1)\nfl=(1)\nfn=(1)\n1 4\n"
	    "fn=(3) g\ncob=(2)\ncfi=(2)\ncfn=(1)\ncalls=1 1\n1 7\n"
	    "cfn=(1)\ncalls=1 1\n1 8\n");

	(void)state;
	assert_graph(profile, 0, "f 14; [a] 1; f 25; [b] 2; g 0; "
	             "g>f 1:7; g>f 1:8; ");
	assert_objects(profile, "f@a; [a]@a; f@b; [b]@b; g@a; ");
	assert_int_equal(profile->graph->arcs[0].callee, 2);
	assert_int_equal(profile->graph->arcs[1].callee, 0);
	profile_free(profile);
}

/* As go tool pprof -callgrind writes them, before and after the callee. */
static void
calls_that_name_no_object_are_of_the_functions_there_are(void **state)
{
	struct profile *profile = read_text("events: A\n"
	    "ob=(1) p\nfl=(1) p.c\nfn=(1) main\n1 1\n"
	    "cfl=(2) l.c\ncfn=(2) f\ncalls=1 1\n1 5\n"
	    "ob=(2) l\nfl=(2)\nfn=(2)\n1 5\n"
	    "ob=(3) m\nfl=(2)\nfn=(2)\n1 6\n"
	    "ob=(1)\nfl=(1)\nfn=(3) g\n"
	    "cfl=(2)\ncfn=(2)\ncalls=1 1\n1 2\n"
	    "ob=(1)\nfl=(2)\nfn=(2)\n1 9\n");

	(void)state;
	assert_graph(profile, 0, "main 1; f 5; f 6; g 0; f 9; "
	             "main>f 1:5; g>f 1:2; ");
	assert_objects(profile, "main@p; f@l; f@m; g@p; f@p; ");
	profile_free(profile);
	profile = read_text("events: A\n"
	    "ob=(1) p\nfl=(1) p.c\nfn=(1) main\n1 1\n"
	    "cob=(8)\ncfi=(9)\ncfn=(2) f\ncalls=1 1\n1 5\nfn=(2)\n1 5\n");
	assert_graph(profile, 0, "main 1; f 5; main>f 1:5; ");
	assert_objects(profile, "main@p; f@p; ");
	profile_free(profile);
	/* A function of another file is not the one that was called. */
	profile = read_text("events: A\n"
	    "ob=(1) p\nfl=(1) p.c\nfn=(1) main\n1 1\n"
	    "cfl=(2) l.c\ncfn=(2) f\ncalls=1 1\n1 5\n"
	    "ob=(2) m\nfl=(3) m.c\nfn=(2)\n1 3\n"
	    "ob=(3) l\nfl=(2)\nfn=(2)\n1 5\n");
	assert_graph(profile, 0, "main 1; f 5; f 3; main>f 1:5; ");
	assert_objects(profile, "main@p; f@l; f@m; ");
	profile_free(profile);
}

/* "main a.c:16 20; main a.c:16 >f 1:400; " */
static void
assert_places(const struct profile *profile, uint32_t resource,
              const char *expected)
{
	const struct call_graph *graph = profile->graph;
	const struct call_places *places = graph->places;
	char text[2000] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < places->n; i++) {
		const struct call_place *place = &places->items[i];

		n += (size_t)snprintf(text + n, sizeof text - n, "%s %s:%u ",
		    node_text(profile, place->node), place->file == NO_NAME ?
		    "?" : names_text(profile->names, place->file),
		    place->line);
		if (place->arc != NO_ARC)
			n += (size_t)snprintf(text + n, sizeof text - n,
			    ">%s %llu:", node_text(profile,
			                           graph->arcs[place->arc].callee),
			    (unsigned long long)place->calls);
		n += (size_t)snprintf(text + n, sizeof text - n, "%llu; ",
		    (unsigned long long)call_places_hits(places, i)[resource]);
	}
	assert_string_equal(text, expected);
}

static void
costs_have_their_places(void **state)
{
	struct profile *profile = read_text(
	    "positions: instr line\nevent: Twice = 2 A\nevents: A\n"
	    "fl=a.c\nfn=f\n0x10 16 1\n+4 * 2\n+4 +2 3\n"
	    "jump=1 0x10 16\n+1 +10\n"
	    "fi=b.h\n+4 7 4\n"
	    "cfn=g\ncalls=2 0x50 90\n+4 * 5\n"
	    "fe=a.c\n* 16 6\n"
	    "fn=g\n0x50 90 5\nfl=???\nfn=h\n1 -1 1\n");

	(void)state;
	assert_places(profile, 0,
	              "f a.c:16 9; f a.c:18 3; f b.h:7 4; f b.h:7 >g 2:5; "
	              "g a.c:90 5; h ?:89 1; ");
	assert_places(profile, 1,
	              "f a.c:16 18; f a.c:18 6; f b.h:7 8; f b.h:7 >g 2:10; "
	              "g a.c:90 10; h ?:89 2; ");
	assert_graph(profile, 0, "f 16; g 5; h 1; f>g 2:5; ");
	profile_free(profile);
	profile = read_text("positions: instr\nevents: A\nfl=a.c\nfn=f\n"
	                    "0x10 1\n0x14 1\n");
	assert_places(profile, 0, "f a.c:0 2; ");
	profile_free(profile);
}

/*
 * By line, own costs and those of calls pass through the function's lines, of
 * every event.
 */
static void
lines_have_the_costs_of_every_event(void **state)
{
	static const struct naming_rule rule = { GRANULARITY_LINE,
		INLINES_ON };
	struct profile *profile = read_text(
	    "events: A B\nfl=a.c\nfn=f\n3 1 10\n4 2 20\n"
	    "cfn=g\ncalls=2 7\n4 5 50\n5 3 30\nfn=g\n7 5 50\n");
	struct error error = { 0 };
	struct call_graph *graph, *own = profile->graph;
	bool is_own;

	(void)state;
	graph = named_graph_new(profile, profile->graph, &rule, &is_own,
	                        &error);
	assert_non_null(graph);
	assert_true(is_own);
	profile->graph = graph;
	assert_graph(profile, 0, "f 0; g 0; a.c:3 1; a.c:4 2; a.c:5 3; "
	             "a.c:7 5; f>a.c:3 0:1; f>a.c:4 0:7; a.c:4>g 2:5; "
	             "f>a.c:5 0:3; g>a.c:7 0:5; ");
	assert_graph(profile, 1, "f 0; g 0; a.c:3 10; a.c:4 20; a.c:5 30; "
	             "a.c:7 50; f>a.c:3 0:10; f>a.c:4 0:70; a.c:4>g 2:50; "
	             "f>a.c:5 0:30; g>a.c:7 0:50; ");
	profile->graph = own;
	call_graph_free(graph);
	profile_free(profile);
}

static void
own_events_come_back(void **state)
{
	struct profile *profile = read_text(
	    "creator: cpprof (names as callgrind's)\n"
	    "event: RealTime1 : Real, Time, 50 centisecond each\n"
	    "event: B : B\nevents: RealTime1 B\nfn=f\n1 2 3\n"
	    "events: B RealTime1\nfn=f\n1 4 5\ntotals: 1\n");

	(void)state;
	assert_string_equal(profile->resources[0].name, "Real, Time");
	assert_string_equal(profile->resources[0].gtick, "centisecond");
	assert_int_equal(profile->resources[0].interval, 50);
	assert_string_equal(profile->resources[1].name, "B");
	assert_string_equal(profile->resources[1].gtick, "");
	assert_graph(profile, 0, "f 7; ");
	assert_graph(profile, 1, "f 7; ");
	profile_free(profile);
}

/*
 * The text after one of cpprof's events is its unit only if it is a valid one.
 */
static void
units_of_our_own_make_sense(void **state)
{
	static const struct {
		const char *text, *name, *gtick;
		uint64_t interval;
	} units[] = {
		{ "cpu, 20 us each", "cpu", "us", 20 },
		{ "cpu, 9  each", "cpu", "", 9 },
		{ "cpu, 0 us each", "cpu, 0 us each", "", 1 },
		{ "cpu, 7us each", "cpu, 7us each", "", 1 },
		{ "cpu", "cpu", "", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		char text[200];
		struct profile *profile;
		const struct resource *resource;

		snprintf(text, sizeof text, "creator: cpprof\nevent: E : %s\n"
		         "events: E\nfn=f\n1 5\n", units[i].text);
		profile = read_text(text);
		resource = &profile->resources[0];
		assert_string_equal(resource->name, units[i].name);
		assert_string_equal(resource->gtick, units[i].gtick);
		assert_int_equal(resource->interval, units[i].interval);
		profile_free(profile);
	}
}

static void
old_spellings_are_known(void **state)
{
	(void)state;
	assert_reads("cmd: x\ntimeframe (BB): 1 - 2\narch: arm\n"
	             "events: A\nfl=a.c\nfn=f\nfi=b.h\n1 1\nfe=a.c\n1 1\n"
	             "cfn=g\nrcalls=5 1\n1 3\n", "f 2; g 0; f>g 5:3; ");
}

static void
costs_without_function_are_kept(void **state)
{
	(void)state;
	assert_reads("events: A\nfn=f\ncfn=g\ncalls=1 1\nevents: A\n1 5\n",
	             "f 0; g 0; ??? 5; ");
	assert_reads("events: A\n1 5\n", "??? 5; ");
}

/* They are offsets in their modules, and two modules may have the same. */
static void
functions_without_symbol_are_named_by_module(void **state)
{
	struct profile *profile = read_text("creator: callgrind-3.19.0\n"
	    "events: A\nob=/lib/a.so\nfn=0x000000000001ab70\n1 1\n"
	    "cob=/lib/b.so\ncfn=0x000000000001ab70\ncalls=1 0\n1 2\n"
	    "fn=f'0x0000000000000010\n1 3\nfn=0x0000000000000010 [PLT]'2\n1 4\n"
	    "fn=0x0000000000000010\n1 5\nfn=???\n1 6\nfn=0xnumber\n1 7\n"
	    "ob=???\nfn=0x0000000000000030\n1 8\nfn=???\n1 9\n"
	    "totals: 45\n");

	(void)state;
	assert_graph(profile, 0, "a.so+0x1ab70 1; b.so+0x1ab70 0; "
	    "f<a.so+0x10 3; a.so+0x10 [PLT]/2 4; a.so+0x10 5; [a.so] 6; "
	    "0xnumber 7; 0x0000000000000030 8; ??? 9; "
	    "a.so+0x1ab70>b.so+0x1ab70 1:2; ");
	profile_free(profile);
}

/* Writers may use numbers of files that they never define. */
static void
places_need_no_names(void **state)
{
	(void)state;
	assert_reads("events: A\nob=(7)\nfl=(3)\nfn=f\n1 2\ncob=(8)\n"
	             "cfi=(4)\ncfn=(1) g\ncalls=1 0\n1 3\nob=(8)\nfl=(4)\n"
	             "fn=(1)\n1 3\n", "f 2; g 3; f>g 1:3; ");
}

/* As xdebug writes it where a function frees more than it takes. */
static void
costs_below_zero_spoil_no_other_event(void **state)
{
	static const char text[] = "event: Sum = Memory + Time\n"
	    "events: Time Memory\nfn=(1) f\n5 10 -100\nfn=(2) main\n"
	    "1 5 500\ncfn=(1)\ncalls=1 0 0\n9 10 -100\n";
	struct error error = { 0 };
	struct profile *profile = read_bytes(text, sizeof text - 1, false,
	                                     &error);

	(void)state;
	assert_non_null(profile);
	assert_int_equal(profile->n_resources, 1);
	assert_int_equal(profile->graph->n_resources, 1);
	assert_string_equal(profile->resources[0].name, "Time");
	assert_int_equal(call_graph_total(profile->graph, 0), 15);
	assert_int_equal(call_graph_hits(profile->graph, 0)[0], 10);
	assert_int_equal(profile->graph->places->n_resources, 1);
	assert_int_equal(profile->n_warnings, 2);
	assert_string_equal(profile->warnings[1], "cg:4: a value of Memory is "
	    "below zero; this resource is left out, and the others are whole");
	profile_free(profile);
}

static void
errors_name_their_line(void **state)
{
	(void)state;
	assert_rejected("", "cg: no costs in it");
	assert_rejected("fn=f\n1 5\n", "cg:1: expected a line \"events:\" "
	                "before the first cost");
	assert_rejected("version: 2\n", "cg:1: expected version 1 of the "
	                "format");
	assert_rejected("events: A A\n", "cg:1: event A is listed twice");
	assert_rejected("events: A\nfn=f\n1 x\n",
	                "cg:3: expected a number of 64 bits as cost");
	assert_rejected("events: A\nfn=f\n1 2 3\n",
	                "cg:3: more costs than events");
	assert_rejected("events: A\nfn=f\n1 18446744073709551616\n",
	                "cg:3: expected a number of 64 bits as cost");
	assert_rejected("events: A\nfn=f\n1 0xfffffffffffffffff\n",
	                "cg:3: expected a number of 64 bits as cost");
	assert_rejected("events: A\nfn=f\n1 18446744073709551615\n1 1\n",
	                "cg:4: the sum of costs exceeds 64 bits");
	assert_rejected("events: A\nfn=f\n1 18446744073709551615\nfn=g\n"
	                "1 1\n", "cg: the sum of all functions exceeds 64 "
	                "bits");
	assert_rejected("positions: instr line\nevents: A\nfn=f\n1\n",
	                "cg:4: expected positions before the costs");
	assert_rejected("events: A\nfn=f\n+ 1\n",
	                "cg:3: expected a position before the costs");
	assert_rejected("events: A\nfn=(3)\n", "cg:2: (3) has no name yet");
	assert_rejected("desc: Files compared:   a; b\ncmd:  x; x\nevents: A\n"
	                "fn=f\n0 3\n", "cg:1: differences of two profiles, as "
	                "cg_diff writes them, are no profile; open the two "
	                "instead");
	assert_rejected("events: A\nfn=f\n0 -1\n", "cg:3: a value below "
	                "zero: differences of two profiles are no profile; "
	                "open the two instead");
	assert_rejected("events: A\nfn=f\n0 -x\n", "cg:3: expected a number of 64 bits "
	                "as cost");
	assert_rejected("events: A\nob=(3)\nfn=f\n1 2\nfn=(3)\n",
	                "cg:5: (3) has no name yet");
	assert_rejected("events: A\nfn=f\ncalls=1 1\n",
	                "cg:3: calls of no function; expected cfn= before");
	assert_rejected("events: A\nfn=f\ncfn=g\ncalls=x\n",
	                "cg:4: expected a number of calls");
	assert_rejected("events: A\nfn=f\nhello\n",
	                "cg:3: expected a cost, a name or a head");
	assert_rejected("events: A\nfn=f\n1 1\nevents: A B\n",
	                "cg:4: event B is not among those of the first part");
}

static void
too_many_events_are_rejected(void **state)
{
	char text[8 * (RESOURCES_MAX + 1) + 16] = "version: 1\nevents:";
	size_t length = strlen(text);

	(void)state;
	for (int i = 0; i <= RESOURCES_MAX; i++)
		length += (size_t)snprintf(text + length,
		                           sizeof text - length, " e%d", i);
	strcpy(text + length, "\n");
	assert_rejected(text, "cg:2: more than 256 resources");
}

static void
lenient_skips_and_counts(void **state)
{
	static const char text[] = "events: A\nfn=f\n1 1\nhello\n1 1 1\n1 2\n";
	struct error error = { 0 };
	struct profile *profile = read_bytes(text, sizeof text - 1, true,
	                                     &error);

	(void)state;
	assert_non_null(profile);
	assert_int_equal(profile->n_warnings, 2);
	assert_string_equal(profile->warnings[0], "cg: 2 lines skipped, the "
	                    "first: cg:4: expected a cost, a name or a head");
	assert_graph(profile, 0, "f 3; ");
	profile_free(profile);
}

/* Cut anywhere, the file gives its complete lines, and a warning. */
static void
every_truncation_is_an_answer(void **state)
{
	uint64_t most = 0;

	(void)state;
	for (size_t size = 0; size < sizeof example - 1; size++) {
		struct error error = { 0 };
		struct profile *profile = read_bytes(example, size, false,
		                                     &error);
		uint64_t total;

		if (profile == NULL)
			continue;
		total = call_graph_total(profile->graph, 0);
		assert_true(total >= most && total <= 820);
		assert_true(example[size - 1] == '\n' ||
		            (profile->n_warnings > 0 &&
		             (strstr(profile->warnings[0], "cut short here") ||
		              strstr(profile->warnings[0], "no newline"))));
		most = total;
		profile_free(profile);
	}
	assert_int_equal(most, 820);
}

/* What a call cost is more than there is of the file, so it is estimated. */
static void
calls_of_a_truncated_file_are_estimates(void **state)
{
	static const char text[] =
	    "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\n"
	    "fn=main\n1 10\ncfn=most\ncalls=1 1\n1 1000000\n"
	    "cfn=some\ncalls=1 1\n1 30\nfn=some\n1 30\n";
	char whole[sizeof text + 20];
	struct profile *profile;

	(void)state;
	profile = read_text(text);
	assert_non_null(strstr(profile->warnings[0], "cut short here"));
	assert_false(profile->graph->has_hits);
	profile_free(profile);
	snprintf(whole, sizeof whole, "%stotals: 1000040\n", text);
	profile = read_text(whole);
	assert_true(profile->graph->has_hits);
	profile_free(profile);
}

static void
last_line_without_newline_counts(void **state)
{
	static const char *const texts[] = {
		"events: A\nfn=f\n1 1\n2 4",
		"events: A\nfn=f\n1 1\n2 4\ntotals: 5",
		"events: A\nfn=f\n1 1\n2 4\nfn=other",
		"events: A\nfn=f\n1 5\n2 x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct profile *profile = read_text(texts[i]);

		assert_graph(profile, 0, "f 5; ");
		assert_non_null(strstr(profile->warnings[0], i < 2 ?
		    "no newline at the end of the last line" :
		    "cut short here"));
		profile_free(profile);
	}
}

static void
cut_callgrind_lacks_its_totals(void **state)
{
	struct profile *profile = read_text(
	    "creator: callgrind-3.19.0\nevents: A\nfn=f\n1 1\n");

	(void)state;
	assert_string_equal(profile->warnings[0], "cg:4: the input is cut "
	                    "short here; what came before was read");
	profile_free(profile);
}

/* Each part has totals: callgrind --combine-dumps=yes. */
static void
cut_callgrind_parts_lack_their_totals(void **state)
{
	static const char head[] = "creator: callgrind-3.19.0\nevents: A\n";
	static const char whole[] = "part: 1\nfn=f\n1 1\ncfn=g\ncalls=1 1\n"
	    "1 1\ntotals: 1\n";
	static const char cut[] = "part: 2\nfn=f\n1 2\ncfn=g\ncalls=1 1\n"
	    "1 1\n";
	char text[500];
	struct profile *profile;

	(void)state;
	snprintf(text, sizeof text, "%s%s%s", head, whole, whole);
	profile = read_text(text);
	assert_int_equal(profile->n_warnings, 0);
	assert_true(profile->graph->has_hits);
	profile_free(profile);
	snprintf(text, sizeof text, "%s%s%s", head, whole, cut);
	profile = read_text(text);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "cg:15: the input is cut "
	                    "short here; what came before was read");
	profile_free(profile);
	snprintf(text, sizeof text, "%s%s%s", head, cut, whole);
	profile = read_text(text);
	assert_int_equal(profile->n_warnings, 1);
	assert_string_equal(profile->warnings[0], "cg: the part before line 9 "
	                    "has no totals, so its end is missing");
	assert_false(profile->graph->has_hits);
	profile_free(profile);
}

static void
probe_asks_for_events(void **state)
{
	static const char folded[] = "main: x 1\nevents: 3\n";

	(void)state;
	assert_int_equal(format_callgrind.probe(example, sizeof example - 1),
	                 PROBE_SURE);
	assert_int_equal(format_callgrind.probe("desc: a 1\ncmd: b\n\n"
	                                        "events: Ir\n", 29),
	                 PROBE_SURE);
	assert_int_equal(format_callgrind.probe("main;f 1\nevents: A\n", 19),
	                 PROBE_NO);
	assert_int_equal(format_callgrind.probe(folded, 9), PROBE_MAYBE);
}

static void
graphs_merge(void **state)
{
	struct error error = { 0 };
	struct profile *parts[2] = { read_text(example), read_text(
	    "events: Bytes Instructions\nfl=file2.c\nfn=func2\n1 5 6\n"
	    "fn=new\n1 7 8\n") };
	struct profile *sum = profile_merge(parts, 2, &error);

	(void)state;
	assert_non_null(sum);
	assert_string_equal(sum->resources[0].name, "Instructions");
	assert_graph(sum, 0, "main 20; func1 100; func2 706; new 8; "
	             "main>func1 1:400; main>func2 3:400; func1>func2 2:300; ");
	assert_places(sum, 0,
	              "main file1.c:16 20; main file1.c:16 >func1 1:400; "
	              "main file1.c:16 >func2 3:400; func1 file1.c:51 100; "
	              "func1 file1.c:51 >func2 2:300; func2 file2.c:20 700; "
	              "func2 file2.c:1 6; new file2.c:1 8; ");
	assert_graph(sum, 1, "main 0; func1 0; func2 5; new 7; "
	             "main>func1 1:0; main>func2 3:0; func1>func2 2:0; ");
	profile_free(sum);
	profile_free(parts[0]);
	profile_free(parts[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_of_the_specification),
		cmocka_unit_test(names_are_compressed),
		cmocka_unit_test(positions_are_read_over),
		cmocka_unit_test(missing_costs_are_zero),
		cmocka_unit_test(events_are_reckoned),
		cmocka_unit_test(
		    costs_of_calls_that_are_estimates_are_dropped),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(levels_and_callers_are_taken_apart),
		cmocka_unit_test(calls_without_object_go_by_their_file),
		cmocka_unit_test(functions_of_one_name_stay_apart),
		cmocka_unit_test(
		    a_number_below_another_object_is_another_function),
		cmocka_unit_test(
		    calls_that_name_no_object_are_of_the_functions_there_are),
		cmocka_unit_test(costs_have_their_places),
		cmocka_unit_test(lines_have_the_costs_of_every_event),
		cmocka_unit_test(own_events_come_back),
		cmocka_unit_test(units_of_our_own_make_sense),
		cmocka_unit_test(old_spellings_are_known),
		cmocka_unit_test(costs_without_function_are_kept),
		cmocka_unit_test(places_need_no_names),
		cmocka_unit_test(functions_without_symbol_are_named_by_module),
		cmocka_unit_test(costs_below_zero_spoil_no_other_event),
		cmocka_unit_test(errors_name_their_line),
		cmocka_unit_test(too_many_events_are_rejected),
		cmocka_unit_test(lenient_skips_and_counts),
		cmocka_unit_test(every_truncation_is_an_answer),
		cmocka_unit_test(calls_of_a_truncated_file_are_estimates),
		cmocka_unit_test(last_line_without_newline_counts),
		cmocka_unit_test(cut_callgrind_lacks_its_totals),
		cmocka_unit_test(cut_callgrind_parts_lack_their_totals),
		cmocka_unit_test(probe_asks_for_events),
		cmocka_unit_test(graphs_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
