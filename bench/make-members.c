/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make-members.c -- pprof files as the machines of a fleet would write them.
 *
 *	make-members DIRECTORY N [SEED [TIMES]] <STACKS
 *
 * STACKS are collapsed stacks (generate walk), each of which has one function
 * after the other.  Writes N files DIRECTORY/member-00001.pb.gz ..., packed as
 * Go's runtime packs them (gzip -1), of 1 to 5 MB if there are 140,000 stacks.
 *
 * All machines run the same program, so they share functions and most stacks: a
 * sample is one of STACKS, by Zipf's law with the same order everywhere, and
 * one in 100 ends in another function.  Samples are labelled with one of 32
 * threads and 40 routes, so a stack is in a file several times.  As in Go's
 * files a sample has its place by when it was taken first, ids count from 1 in
 * that order, a call has its own location (up to five in a function), and
 * strings come last.  The same arguments and input give the same bytes, with
 * the same zlib and libm.
 *
 * With TIMES above 1 a file stands for so many: it has TIMES as many samples,
 * all of one thread and one route.  So the sum of few files has the stacks and
 * counts of that of many, but fewer members.
 */
#include <err.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bench/random.h"

enum {
	PLACES = 5,		/* locations of a function */
	LEAST_SAMPLES = 30000,	/* so a file has at least 1 MB, */
	MOST_SAMPLES = 230000,	/* and at most 5 */
	THREADS = 32,
	ROUTES = 40,
	OTHER_LEAF = 100,	/* one sample in so many ends elsewhere */
	INLINED = 8,		/* one location in so many has two lines */
	TEXT_BASE = 0x401000,
	TIMES_MOST = 100,	/* whose samples have room in the table */
};

static unsigned times = 1;	/* how many members a file stands for */

static uint64_t
hash(uint64_t key)
{
	key = (key ^ key >> 32) * 0x9e3779b97f4a7c15;
	key = (key ^ key >> 29) * 0xd6e8feb86659fd93;
	return key ^ key >> 32;
}

/* A number below n, by Zipf's law: k has a chance of 1 / (k + 1). */
static size_t
choose(size_t n)
{
	size_t k = (size_t)pow((double)n + 1, random_uniform()) - 1;

	return k < n ? k : n - 1;
}

static void *
grow(void *items, size_t *capacity, size_t needed, size_t size)
{
	if (needed <= *capacity)
		return items;
	*capacity = 2 * needed;
	items = reallocarray(items, *capacity, size);
	if (items == NULL)
		err(1, "%zu items", *capacity);
	return items;
}

/* ---- what all members have ---- */

static char **names;		/* of functions */
static size_t n_functions, names_capacity;
static uint32_t *slots;		/* of names, + 1, by their hashes */
static size_t n_slots;

static uint32_t *places;	/* of all stacks, innermost first: a function
				 * times PLACES, and which call */
static size_t n_places, places_capacity;
static size_t *first;		/* [n_stacks + 1], of places */
static size_t n_stacks, first_capacity;

static uint64_t
hash_text(const char *text, size_t n)
{
	uint64_t sum = n;

	for (size_t i = 0; i < n; i++)
		sum = hash(sum ^ (unsigned char)text[i]);
	return sum;
}

static void
grow_slots(void)
{
	free(slots);
	n_slots = n_slots > 0 ? 2 * n_slots : 1 << 16;
	slots = calloc(n_slots, sizeof *slots);
	if (slots == NULL)
		err(1, "%zu functions", n_slots);
	for (size_t f = 0; f < n_functions; f++) {
		size_t i = hash_text(names[f], strlen(names[f]));

		while (slots[i & (n_slots - 1)] != 0)
			i++;
		slots[i & (n_slots - 1)] = (uint32_t)f + 1;
	}
}

static uint32_t
find_function(const char *name, size_t n)
{
	size_t i = hash_text(name, n);
	uint32_t known;

	if (2 * (n_functions + 1) > n_slots)
		grow_slots();
	for (;; i++) {
		known = slots[i & (n_slots - 1)];
		if (known == 0)
			break;
		if (strncmp(names[known - 1], name, n) == 0 &&
		    names[known - 1][n] == '\0')
			return known - 1;
	}
	names = grow(names, &names_capacity, n_functions + 1, sizeof *names);
	names[n_functions] = strndup(name, n);
	if (names[n_functions] == NULL)
		err(1, "a name");
	slots[i & (n_slots - 1)] = (uint32_t)n_functions + 1;
	return (uint32_t)n_functions++;
}

/* Which place of a function calls another one. */
static uint32_t
place_of(uint32_t function, uint32_t callee)
{
	return function * PLACES +
	    (uint32_t)(hash((uint64_t)function << 32 | callee) % PLACES);
}

static void
add_stack(char *line)
{
	char *end = strrchr(line, ' ');
	uint32_t callee = UINT32_MAX;

	if (end == NULL)
		return;
	first = grow(first, &first_capacity, n_stacks + 2, sizeof *first);
	first[n_stacks++] = n_places;
	while (end > line) {
		char *name = end;
		uint32_t function;

		while (name > line && name[-1] != ';')
			name--;
		function = find_function(name, (size_t)(end - name));
		places = grow(places, &places_capacity, n_places + 1,
		              sizeof *places);
		places[n_places++] = place_of(function, callee);
		callee = function;
		end = name > line ? name - 1 : line;
	}
	first[n_stacks] = n_places;
}

static void
read_stacks(void)
{
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, stdin) > 0)
		add_stack(line);
	free(line);
	if (n_stacks == 0)
		errx(1, "no stacks on standard input");
}

/* Neighbours in the input are alike; the power law is not to favour some. */
static size_t *
shuffle_stacks(void)
{
	size_t *order = calloc(n_stacks, sizeof *order);

	if (order == NULL)
		err(1, "%zu stacks", n_stacks);
	for (size_t i = 0; i < n_stacks; i++) {
		size_t j = random_bits() % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	return order;
}

/* ---- a message ---- */

struct message {
	unsigned char *bytes;
	size_t n, capacity;
};

static void
put(struct message *message, uint64_t number)
{
	message->bytes = grow(message->bytes, &message->capacity,
	                      message->n + 10, 1);
	for (; number >= 0x80; number >>= 7)
		message->bytes[message->n++] = (unsigned char)(number | 0x80);
	message->bytes[message->n++] = (unsigned char)number;
}

static void
put_number(struct message *message, unsigned field, uint64_t number)
{
	put(message, field << 3);
	put(message, number);
}

static void
put_bytes(struct message *message, unsigned field, const void *bytes,
          size_t n)
{
	put(message, field << 3 | 2);
	put(message, n);
	message->bytes = grow(message->bytes, &message->capacity,
	                      message->n + n + 1, 1);
	memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

/* ---- a member ---- */

/* The first strings; then those of labels, and names and files of functions. */
static const char *const texts[] = {
	"", "samples", "count", "cpu", "nanoseconds", "/srv/bin/server",
	"5f0d1b7e9c3a4468a1b2c3d4e5f60718293a4b5c", "thread", "route",
};
enum {
	THREAD_KEY = 7, ROUTE_KEY = 8, FIRST_THREAD = 9,
	FIRST_ROUTE = FIRST_THREAD + THREADS,
	N_TEXTS = FIRST_ROUTE + ROUTES,
};

struct sample {
	size_t stack;
	uint32_t leaf;		/* place + 1 instead of the innermost; 0: as
				 * it is */
	uint32_t thread, route;
	uint64_t count;
};

struct member {
	struct sample *samples;
	size_t n_samples, samples_capacity;
	uint32_t *slots;	/* of samples, + 1 */
	size_t n_slots;
	uint32_t *ids;		/* [n_functions * PLACES], 0: none yet */
	uint32_t *used;		/* places by id - 1 */
	uint32_t *functions;	/* [n_functions], ids */
	uint32_t *named;	/* functions by id - 1 */
	uint32_t n_used, n_named;
	struct message file, part, list;
};

static void
take_sample(struct member *member, const size_t *order)
{
	struct sample sample = {
		.stack = order[choose(n_stacks)],
		.thread = (uint32_t)(random_bits() % THREADS),
		.route = (uint32_t)choose(ROUTES),
		.count = 1,
	};
	size_t i;

	if (times > 1)
		sample.thread = sample.route = 0;
	if (random_bits() % OTHER_LEAF == 0)
		sample.leaf = (uint32_t)choose(n_functions) * PLACES + 1;
	i = hash(hash((uint64_t)sample.stack << 32 | sample.leaf) +
	         sample.thread * ROUTES + sample.route);
	for (;; i++) {
		uint32_t *slot = &member->slots[i & (member->n_slots - 1)];
		struct sample *known = &member->samples[*slot - 1];

		if (*slot == 0) {
			member->samples = grow(member->samples,
			    &member->samples_capacity, member->n_samples + 1,
			    sizeof sample);
			member->samples[member->n_samples++] = sample;
			*slot = (uint32_t)member->n_samples;
			return;
		}
		if (known->stack == sample.stack &&
		    known->leaf == sample.leaf &&
		    known->thread == sample.thread &&
		    known->route == sample.route) {
			known->count++;
			return;
		}
	}
}

static uint32_t
id_of(struct member *member, uint32_t place)
{
	if (member->ids[place] == 0) {
		member->used[member->n_used++] = place;
		member->ids[place] = member->n_used;
	}
	return member->ids[place];
}

static void
put_label(struct member *member, uint64_t key, uint64_t text)
{
	member->list.n = 0;
	put_number(&member->list, 1, key);
	put_number(&member->list, 2, text);
	put_bytes(&member->part, 3, member->list.bytes, member->list.n);
}

static void
put_sample(struct member *member, const struct sample *sample)
{
	size_t end = first[sample->stack + 1];

	member->list.n = member->part.n = 0;
	for (size_t i = first[sample->stack]; i < end; i++) {
		bool is_other = i == first[sample->stack] && sample->leaf > 0;

		put(&member->list, id_of(member, is_other ? sample->leaf - 1 :
		                                 places[i]));
	}
	put_bytes(&member->part, 1, member->list.bytes, member->list.n);
	member->list.n = 0;
	put(&member->list, sample->count);
	put(&member->list, sample->count * 10000000);
	put_bytes(&member->part, 2, member->list.bytes, member->list.n);
	put_label(member, THREAD_KEY, FIRST_THREAD + sample->thread);
	put_label(member, ROUTE_KEY, FIRST_ROUTE + sample->route);
	put_bytes(&member->file, 2, member->part.bytes, member->part.n);
}

static void
put_line(struct member *member, uint32_t function, uint32_t line)
{
	if (member->functions[function] == 0) {
		member->named[member->n_named++] = function;
		member->functions[function] = member->n_named;
	}
	member->list.n = 0;
	put_number(&member->list, 1, member->functions[function]);
	put_number(&member->list, 2, line);
	put_bytes(&member->part, 4, member->list.bytes, member->list.n);
}

static void
put_location(struct member *member, uint32_t id)
{
	uint32_t place = member->used[id - 1], function = place / PLACES;
	uint32_t line = 20 + (uint32_t)(hash(place) % 900);

	member->part.n = 0;
	put_number(&member->part, 1, id);
	put_number(&member->part, 2, 1);
	put_number(&member->part, 3, TEXT_BASE + (uint64_t)function * 512 +
	           place % PLACES * 64);
	put_line(member, function, line);
	if (hash(place + 1) % INLINED == 0)
		put_line(member, (uint32_t)(hash(function) % n_functions),
		         line + 7);
	put_bytes(&member->file, 4, member->part.bytes, member->part.n);
}

static void
put_tables(struct member *member, uint64_t time_ns)
{
	static const unsigned mapping[][2] = {
		{ 1, 1 }, { 2, 0x400000 }, { 3, 0x2400000 }, { 5, 5 }, { 6, 6 },
		{ 7, 1 }, { 8, 1 }, { 9, 1 }, { 10, 1 },
	};
	char path[64];

	member->part.n = 0;
	for (size_t i = 0; i < sizeof mapping / sizeof *mapping; i++)
		put_number(&member->part, mapping[i][0], mapping[i][1]);
	put_bytes(&member->file, 3, member->part.bytes, member->part.n);
	for (uint32_t id = 1; id <= member->n_used; id++)
		put_location(member, id);
	for (uint32_t id = 1; id <= member->n_named; id++) {
		member->part.n = 0;
		put_number(&member->part, 1, id);
		put_number(&member->part, 2, N_TEXTS + 2 * (id - 1));
		put_number(&member->part, 3, N_TEXTS + 2 * (id - 1));
		put_number(&member->part, 4, N_TEXTS + 2 * (id - 1) + 1);
		put_bytes(&member->file, 5, member->part.bytes,
		          member->part.n);
	}
	for (size_t i = 0; i < FIRST_THREAD; i++)
		put_bytes(&member->file, 6, texts[i], strlen(texts[i]));
	for (int i = 0; i < THREADS + ROUTES; i++) {
		snprintf(path, sizeof path, i < THREADS ? "worker-%d" :
		         "/api/v1/resource-%d", i);
		put_bytes(&member->file, 6, path, strlen(path));
	}
	for (uint32_t i = 0; i < member->n_named; i++) {
		const char *name = names[member->named[i]];

		put_bytes(&member->file, 6, name, strlen(name));
		snprintf(path, sizeof path, "/build/server/src/part%u/file%u.cc",
		         member->named[i] / 400, member->named[i] / 12);
		put_bytes(&member->file, 6, path, strlen(path));
	}
	put_number(&member->file, 9, time_ns);
	put_number(&member->file, 10, 60000000000);
}

static void
write_member(struct member *member, const char *path)
{
	gzFile file = gzopen(path, "wb1");

	if (file == NULL ||
	    gzwrite(file, member->file.bytes, (unsigned)member->file.n) !=
	    (int)member->file.n || gzclose(file) != Z_OK)
		errx(1, "%s: cannot be written", path);
}

static void
make_member(struct member *member, const size_t *order, uint64_t seed,
            const char *path)
{
	static const unsigned types[][2] = { { 1, 2 }, { 3, 4 } };
	size_t n;

	random_seed(seed);
	n = times * (LEAST_SAMPLES +
	             random_bits() % (MOST_SAMPLES - LEAST_SAMPLES));
	member->n_samples = member->n_used = member->n_named = 0;
	member->file.n = 0;
	memset(member->slots, 0, member->n_slots * sizeof *member->slots);
	memset(member->ids, 0, n_functions * PLACES * sizeof *member->ids);
	memset(member->functions, 0, n_functions * sizeof *member->functions);
	while (n-- > 0)
		take_sample(member, order);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		member->part.n = 0;
		put_number(&member->part, 1, types[i][0]);
		put_number(&member->part, 2, types[i][1]);
		put_bytes(&member->file, 1, member->part.bytes,
		          member->part.n);
	}
	for (size_t i = 0; i < member->n_samples; i++)
		put_sample(member, &member->samples[i]);
	put_tables(member, 1700000000000000000 + seed % 86400 * 1000000000);
	write_member(member, path);
}

int
main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	struct member member = { .n_slots = 1 << 19 };
	size_t *order;

	if (argc > 4)
		times = (unsigned)strtoul(argv[4], NULL, 10);
	if (argc < 3 || argc > 5 || n == 0 || times == 0 || times > TIMES_MOST)
		errx(2, "usage: make-members DIRECTORY N [SEED [TIMES]] <STACKS");
	random_seed(seed);
	read_stacks();
	order = shuffle_stacks();
	member.slots = calloc(member.n_slots, sizeof *member.slots);
	member.ids = calloc(n_functions * PLACES, sizeof *member.ids);
	member.used = calloc(n_functions * PLACES, sizeof *member.used);
	member.functions = calloc(n_functions, sizeof *member.functions);
	member.named = calloc(n_functions, sizeof *member.named);
	if (member.slots == NULL || member.ids == NULL ||
	    member.used == NULL || member.functions == NULL ||
	    member.named == NULL)
		err(1, "%zu functions", n_functions);
	for (size_t i = 1; i <= n; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/member-%05zu.pb.gz", argv[1],
		         i);
		make_member(&member, order, hash(seed) + i, path);
	}
	return 0;
}
