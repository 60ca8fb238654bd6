/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generate.c -- big synthetic profiles, as collapsed stacks.
 *
 * 	generate MODE [SIZE [SEED]] >FILE
 *
 * 	walk      SIZE bytes (100e6) of stacks as a random walk over a call
 * 	          graph meets them: a stack shares frames with the one before
 * 	sorted    the same lines in byte order, as collapsers print them
 * 	shuffled  the same lines in no order
 * 	dense     sorted, but short names and shallow stacks: many more lines
 * 	deep      one stack of SIZE frames (100e3) over 50 names
 * 	mutual    one stack of SIZE frames (2e6): two functions in turn
 *
 * The graph has 20,000 functions with names like those of C++.  Depths are
 * log-normal, counts and fan-out follow power laws.  Each stack occurs once;
 * most stacks contain recursion.  The same arguments give the same bytes, if
 * libm rounds the same way.  All modes except walk, deep and mutual keep the
 * lines in memory.
 */
#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/random.h"

enum {
	N_FUNCTIONS = 20000,
	FIRST_LEAF = N_FUNCTIONS / 100 * 97,	/* malloc, memcpy, ... */
	MAX_DEPTH = 130,
	MAX_NAME = 200,
};

struct function {
	char *name;
	size_t length;
	int n_callees, *callees;
};

/*
 * A random number from 0 to n-1, by a power law with that exponent (not 1), by
 * inversion.
 */
static int
power_law(int n, double exponent)
{
	double x = pow((pow(n + 1, 1 - exponent) - 1) * random_uniform() + 1,
	               1 / (1 - exponent));
	int k = (int)x - 1;

	return k < 0 ? 0 : k >= n ? n - 1 : k;
}

static void *
allocate(size_t n, size_t size)
{
	void *items = calloc(n, size);

	if (items == NULL)
		err(1, "%zu bytes", n * size);
	return items;
}

static const char *const namespaces[] = {
	"std", "storage", "rpc", "query", "net", "exec", "codec", "index",
	"util", "catalog", "boost::asio::detail", "(anonymous namespace)",
};
static const char *const classes[] = {
	"Table", "Reader", "Writer", "Iterator", "Parser", "Expr", "Node",
	"Block", "Stream", "Scheduler", "Worker", "Pool", "Hash", "Vector",
	"Buffer", "Session", "Cursor", "Page", "Join", "Filter", "Sorter",
};
static const char *const verbs[] = {
	"get", "read", "write", "next", "seek", "parse", "visit", "eval",
	"flush", "append", "insert", "lookup", "compare", "decode", "encode",
	"copy", "run", "process", "dispatch", "commit", "merge", "split",
};
static const char *const nouns[] = {
	"", "Row", "Key", "Value", "Batch", "Column", "All", "Impl", "Locked",
};
static const char *const types[] = {
	"int", "unsigned long", "char const*", "std::string const&", "Slice",
	"bool", "void*", "std::vector<int, std::allocator<int> >&",
};
#define PICK(table) table[random_bits() % (sizeof table / sizeof *(table))]

static void
make_name(char name[MAX_NAME], int i, bool is_short)
{
	const char *space = PICK(namespaces), *class = PICK(classes);
	const char *verb = PICK(verbs), *noun = PICK(nouns);
	const char *type = PICK(types), *other = PICK(types);
	int number = random_bits() % 400;
	double kind = random_uniform();

	if (i == 0)
		snprintf(name, MAX_NAME, "main");
	else if (is_short)
		snprintf(name, MAX_NAME, "%s%x", verb, i);
	else if (kind < .12)
		snprintf(name, MAX_NAME, "%s_%s_%d", verb, class, i);
	else if (kind < .62)
		snprintf(name, MAX_NAME, "%s::%s%d::%s%s", space, class,
		         number, verb, noun);
	else if (kind < .86)
		snprintf(name, MAX_NAME, "%s::%s%d::%s%s(%s)", space, class,
		         number, verb, noun, type);
	else if (kind < .96)
		snprintf(name, MAX_NAME, "%s::%s<%s, %d>::%s%s(%s, %s)", space,
		         class, type, number, verb, noun, type, other);
	else
		snprintf(name, MAX_NAME, "[lib%s.so.%d]", class, number % 6);
}

static int
choose_callee(int caller)
{
	double kind = random_uniform();
	int callee;

	if (kind < .02)		/* the function itself */
		callee = caller;
	else if (kind < .10)	/* back: mutual recursion */
		callee = caller - power_law(caller < 600 ? caller + 1 : 600,
		                            1.1);
	else if (kind < .40)
		callee = FIRST_LEAF + power_law(N_FUNCTIONS - FIRST_LEAF, 1.2);
	else			/* forward, nearby */
		callee = caller + 1 + power_law(2500, 1.05);
	if (callee >= N_FUNCTIONS)
		callee = N_FUNCTIONS - 1 - power_law(2000, 1.1);
	return callee < 1 ? 1 : callee;
}

static struct function *
make_functions(bool is_short)
{
	struct function *functions = allocate(N_FUNCTIONS, sizeof *functions);
	char name[MAX_NAME];

	for (int i = 0; i < N_FUNCTIONS; i++) {
		struct function *f = &functions[i];

		make_name(name, i, is_short);
		f->length = strlen(name);
		f->name = allocate(f->length + 1, 1);
		memcpy(f->name, name, f->length);
		f->n_callees = 1 + power_law(48, 1.4) + (i < 200 ? 8 : 0);
		f->callees = allocate(f->n_callees, sizeof *f->callees);
		for (int j = 0; j < f->n_callees; j++)
			f->callees[j] = choose_callee(i);
	}
	return functions;
}

/* Hashes of the stacks so far, open addressing; 0 is empty. */
static uint64_t *seen;
static size_t n_seen, seen_size;

static bool
seen_add(uint64_t hash)
{
	size_t slot = hash & (seen_size - 1);

	while (seen[slot] != 0 && seen[slot] != hash)
		slot = (slot + 1) & (seen_size - 1);
	if (seen[slot] == hash)
		return false;
	seen[slot] = hash;
	n_seen++;
	return true;
}

/* Whether the stack is new. */
static bool
is_new(const int *stack, int depth)
{
	uint64_t hash = 1;

	if (2 * n_seen >= seen_size) {
		uint64_t *old = seen;
		size_t old_size = seen_size;

		seen_size = old_size ? 2 * old_size : 1 << 16;
		seen = allocate(seen_size, sizeof *seen);
		n_seen = 0;
		for (size_t i = 0; i < old_size; i++)
			if (old[i] != 0)
				seen_add(old[i]);
		free(old);
	}
	for (int i = 0; i < depth; i++) {
		hash = (hash ^ stack[i]) * 0xff51afd7ed558ccd;
		hash ^= hash >> 33;
	}
	return seen_add(hash | 1);
}

static int
choose_depth(bool is_short)
{
	double normal = sqrt(-2 * log(random_uniform() + 1e-12)) *
	                cos(6.2831853 * random_uniform());
	double depth = exp(3.3 + .5 * normal);

	depth = is_short ? 5 + depth * .25 : 10 + depth * .8;
	return depth < MAX_DEPTH - 10 ? (int)depth : MAX_DEPTH - 10;
}

/*
 * Makes the next stack of the walk, which keeps part of the last one; returns
 * its depth.
 */
static int
walk(const struct function *functions, int *stack, int depth, bool is_short)
{
	int wanted = choose_depth(is_short);

	depth = (int)(depth * (1 - pow(random_uniform(), 1.7)));
	if (depth >= wanted)
		depth = wanted - 1;
	if (depth < 1 || random_uniform() < .02)
		depth = 1;
	while (depth < wanted) {
		const struct function *f = &functions[stack[depth - 1]];
		int callee = f->callees[power_law(f->n_callees, .7)];

		for (int i = 0; i < 6 && callee > FIRST_LEAF; i++)
			callee = f->callees[power_law(f->n_callees, .7)];
		stack[depth++] = callee;
		if (callee > FIRST_LEAF && depth > 10 && random_uniform() < .25)
			break;
	}
	return depth;
}

static size_t
make_line(char *line, const struct function *functions, const int *stack,
          int depth)
{
	char *p = line;

	for (int i = 0; i < depth; i++) {
		memcpy(p, functions[stack[i]].name, functions[stack[i]].length);
		p += functions[stack[i]].length;
		*p++ = i + 1 < depth ? ';' : ' ';
	}
	return p - line + sprintf(p, "%d", 1 + power_law(5000, 1.9));
}

static int
compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
shuffle(char **lines, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = random_bits() % i;
		char *other = lines[j];

		lines[j] = lines[i - 1];
		lines[i - 1] = other;
	}
}

enum order { WALKED, SORTED, SHUFFLED };

/*
 * Writes size bytes of lines: as they are made or, in another order, at the
 * end.
 */
static void
write_walk(uint64_t size, enum order order, bool is_short)
{
	static char line[MAX_DEPTH * MAX_NAME];
	struct function *functions = make_functions(is_short);
	size_t n = 0, capacity = 0;
	int stack[MAX_DEPTH] = { 0 }, depth = 1;
	char **lines = NULL;

	for (uint64_t written = 0; written < size; ) {
		depth = walk(functions, stack, depth, is_short);
		if (!is_new(stack, depth))
			continue;
		written += make_line(line, functions, stack, depth) + 1;
		if (order == WALKED) {
			puts(line);
			continue;
		}
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 1024;
			lines = reallocarray(lines, capacity, sizeof *lines);
		}
		if (lines == NULL || (lines[n++] = strdup(line)) == NULL)
			err(1, "%zu lines", n);
	}
	if (order == SORTED)
		qsort(lines, n, sizeof *lines, compare_lines);
	else
		shuffle(lines, n);
	for (size_t i = 0; i < n; i++)
		puts(lines[i]);
}

static void
write_deep(uint64_t n)
{
	printf("main");
	for (uint64_t i = 1; i < n; i++)
		printf(";descend_%d", (int)(random_bits() % 50));
	printf(" 1\n");
}

static void
write_mutual(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		printf("%s%c", i ? ";" : "", i % 2 ? 'b' : 'a');
	printf(" 1\n");
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 && argc <= 4 ? argv[1] : "";
	double size = argc > 2 ? strtod(argv[2], NULL) : 0;

	if (argc > 2 && !(size >= 1 && size <= 1e12))
		errx(2, "%s: not a size from 1 to 1e12", argv[2]);
	random_seed(argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	if (strcmp(mode, "walk") == 0)
		write_walk(size ? size : 100e6, WALKED, false);
	else if (strcmp(mode, "sorted") == 0)
		write_walk(size ? size : 100e6, SORTED, false);
	else if (strcmp(mode, "shuffled") == 0)
		write_walk(size ? size : 100e6, SHUFFLED, false);
	else if (strcmp(mode, "dense") == 0)
		write_walk(size ? size : 100e6, SORTED, true);
	else if (strcmp(mode, "deep") == 0)
		write_deep(size ? size : 100e3);
	else if (strcmp(mode, "mutual") == 0)
		write_mutual(size ? size : 2e6);
	else
		errx(2, "usage: generate walk|sorted|shuffled|dense|deep|mutual"
		     " [SIZE [SEED]]");
	if (fflush(stdout) != 0 || ferror(stdout))
		err(1, "output");
	return 0;
}
