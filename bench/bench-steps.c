/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench-steps.c -- how long the steps of a refinement take on a large tree.
 *
 * 	bench-steps [NODES]	a tree of random walks over a call graph
 * 	bench-steps NODES THREADS	the same in sections of so many threads
 * 	bench-steps PROFILE	the tree of a profile
 *
 * Prints milliseconds of processor time, best of five: to add one step to none,
 * first when the stacks must be made (as for a session's first step), then when
 * they are kept; to add it to a selection; to take it back; and top, down and
 * explain after it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/walks.h"
#include "src/refine/refine.h"
#include "src/shell/session/session.h"
#include "src/shell/session/session_left.h"
#include "src/views/advice/advice.h"

enum { RUNS = 5, MOST_WORDS = 8, SITES = 8, MOST_THREADS = 64 };

/* Words of a path; of a group: its name, = or =>, patterns; or a thread. */
static const struct {
	const char *words;
	bool drops;
} steps[] = {
	{ "main ... function_17", false },
	{ "function_1?", false },
	{ "main * ... function_2* function_*", false },
	{ "* function_1* function_*7 function_*", false },
	{ "function_17", true },
	{ "group = function_17 function_18", false },
	{ "group = function_1*", false },
	{ "group => function_1*", false },
	{ "{1} = /^(function_..)/", false },
	{ "thread *1", false },
	{ "thread *1", true },
};

struct times {
	double first, add, add_second, undo, top, down, explain;
};

static void
die(const struct error *error)
{
	fprintf(stderr, "bench-steps: %s\n", error->text);
	exit(1);
}

static double
now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* A return address in a function, or in one that is inlined into it. */
static void
add_site(struct profile *profile, uint32_t function, uint32_t site,
         struct error *error)
{
	struct location locations[2] = {
		{ .function = function, .file = NO_NAME },
		{ .function = (function + 1) % WALK_FUNCTIONS, .file = NO_NAME },
	};

	profile_add_frame(profile, function % 2, 64 * function + site,
	                  locations, site == 0 ? 2 : 1, error);
}

/* Threads thread_0, thread_1, ... whose sections begin there. */
static void
add_threads(struct profile *profile, const uint32_t *begin, uint32_t n,
            struct error *error)
{
	static char names[MOST_THREADS][32];

	for (uint32_t i = 0; i < n && n > 1; i++) {
		struct thread thread = { .tid = i + 1, .name = names[i] };

		snprintf(names[i], sizeof names[i], "thread_%" PRIu32, i);
		profile_add_thread(profile, &thread, error);
		profile_add_section(profile, begin[i], i + 1 < n ?
		                    begin[i + 1] : profile->tree->n_nodes, i,
		                    error);
	}
}

/*
 * Main, function_1, function_2, ... in modules by turns.  Each returns to
 * several addresses, like a recorded program's.
 */
static struct profile *
make_profile(uint32_t n_nodes, uint32_t n_threads, struct error *error)
{
	uint32_t *label, begin[MOST_THREADS];
	static const char *const modules[] = { "/bin/prog", "/lib/libx.so.1" };
	struct profile *profile = profile_new(error);

	if (profile == NULL)
		die(error);
	profile_add_resource(profile, "hits", "hit", 1, error);
	for (size_t i = 0; i < 2; i++)
		profile_add_module(profile, modules[i], NULL, 0, error);
	for (uint32_t i = 0; i < WALK_FUNCTIONS; i++) {
		char text[32];

		snprintf(text, sizeof text, i == 0 ? "main" :
		         "function_%" PRIu32, i);
		names_add(profile->names, text, strlen(text), error);
	}
	for (uint32_t i = 0; i < SITES * WALK_FUNCTIONS; i++)
		add_site(profile, i / SITES, i % SITES, error);
	profile->tree = walks_new(n_nodes, begin, n_threads, error);
	if (error->is_set)
		die(error);
	add_threads(profile, begin, n_threads, error);
	label = profile->tree->label;
	for (uint32_t node = 0; node < profile->tree->n_nodes; node++)
		label[node] = label[node] * SITES + node % SITES;
	return profile;
}

static struct step *
make_step(size_t number, struct error *error)
{
	struct pattern_word words[MOST_WORDS];
	char text[100], *word;
	size_t n = 0;

	snprintf(text, sizeof text, "%s", steps[number].words);
	for (word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
		words[n++] = (struct pattern_word){
			.text = word,
			.length = strlen(word),
		};
	if (strcmp(words[0].text, "thread") == 0)
		return step_new_sections(steps[number].drops, SECTION_THREAD,
		                         &words[1], error);
	if (n > 2 && words[1].text[0] == '=')
		return step_new_group(words[0].text,
		                      words[1].text[1] == '>', words + 2,
		                      n - 2, error);
	return step_new_path(steps[number].drops, words, n, error);
}

static double
time_step(struct session *session, size_t number)
{
	struct error error = { 0 };
	struct step *step = make_step(number, &error);
	double start = now_ms();

	if (session_add_step(session, step, &error) != 0)
		die(&error);
	return now_ms() - start;
}

static double
time_undo(struct session *session)
{
	struct error error = { 0 };
	double start = now_ms();

	if (session_undo(session, 1, &error) != 0)
		die(&error);
	return now_ms() - start;
}

static double
time_view(const struct session *session, view_function *view)
{
	struct view_request request = session_request(session);
	struct error error = { 0 };
	struct table table = { 0 };
	double start = now_ms(), spent;

	if (view(&request, &table, &error) != 0)
		die(&error);
	spent = now_ms() - start;
	table_free(&table);
	return spent;
}

/* explain, with what the command prepares for it. */
static double
time_explain(const struct session *session)
{
	struct view_request request = session_request(session);
	struct explain_request wanted = { 0 };
	struct error error = { 0 };
	struct table table = { 0 };
	uint64_t *module_hits;
	double start = now_ms(), spent;

	if (session_module_hits(session, &module_hits, &error) != 0)
		die(&error);
	wanted.module_hits = module_hits;
	if (view_explain(&request, &wanted, NULL, &table, &error) != 0)
		die(&error);
	free(module_hits);
	spent = now_ms() - start;
	table_free(&table);
	return spent;
}

static void
keep_least(double *best, double spent, int run)
{
	if (run == 0 || spent < *best)
		*best = spent;
}

static void
time_one(struct session *session, size_t number)
{
	struct times best = { 0 };
	uint64_t left = 0;

	for (int run = 0; run < RUNS; run++) {
		naming_forget_stacks(&session->loaded.naming);
		keep_least(&best.first, time_step(session, number), run);
		time_undo(session);
		keep_least(&best.add, time_step(session, number), run);
		keep_least(&best.top, time_view(session, view_top), run);
		keep_least(&best.down, time_view(session, view_down), run);
		keep_least(&best.explain, time_explain(session), run);
		left = session->loaded.set.left;
		keep_least(&best.undo, time_undo(session), run);
		time_step(session, 1);
		keep_least(&best.add_second, time_step(session, number), run);
		time_undo(session);
		time_undo(session);
	}
	printf("%-6s %-36s %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f  %" PRIu64
	       "\n",
	       strchr(steps[number].words, '=') != NULL ? "group" :
	       steps[number].drops ? "drop" : "narrow", steps[number].words,
	       best.first, best.add, best.add_second, best.undo, best.top, best.down,
	       best.explain, left);
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	unsigned long n_threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	struct error error = { 0 };
	struct session session;

	session_start(&session);
	if (n > 0 && n < NO_NODE && n_threads > 0 &&
	    n_threads <= MOST_THREADS) {
		session.loaded.profile = make_profile((uint32_t)n,
		                               (uint32_t)n_threads, &error);
		if (session_settings_changed(&session, CHANGES_NAMES,
		                             &error) != 0)
			die(&error);
	} else if (session_load(&session, (const char *const *)argv + 1, 1,
	                        &error) != 0) {
		die(&error);
	}
	printf("%" PRIu32 " nodes, %" PRIu64 " hits\n"
	       "milliseconds%40s %8s %8s %8s %8s %8s %8s  hits left\n",
	       session.loaded.profile->tree->n_nodes, session.loaded.set.total,
	       "first", "add", "second", "undo", "top", "down", "explain");
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (strncmp(steps[i].words, "thread", 6) != 0 ||
		    sections_know(session.loaded.profile, SECTION_THREAD))
			time_one(&session, i);
	session_end(&session);
	return 0;
}
