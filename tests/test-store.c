/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-store.c -- the collector's trees of stacks, in memory and in the file.
 *
 * Random stacks go into the trees of two threads and into a naive model.  Every
 * node and every count must be the same in both, and in the file.  For slices
 * of time, the model keeps the moment of every hit.
 *
 * A process has one file, so each case runs in a child.  There, CHECK takes the
 * place of cmocka's assertions, which are for the parent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/cpprof-shared.h"
#include "lib/signals/signals.h"
#include "lib/store/datafile.h"
#include "lib/store/tree.h"
#include "tests/single-step.h"

#define PAGE ((size_t)CPPROFDATA_PAGE)
#define N_TREES 2
#define MAX_NODES 200000
#define N_COLUMNS 2
#define NODE_SIZE (sizeof(struct cpprofdata_node) + \
    N_COLUMNS * sizeof(struct cpprofdata_count))
#define MAX_PAGES 20			/* of files that are full */
#define ORIGIN 123456789
#define WIDTH 1000			/* of the narrowest slices */
#define STEP 700			/* between hits of column 1 */
#define LAST_SIZE ((uint64_t)1 << 20)	/* of chunks of nodes */

#define CHECK(condition) ((condition) ? (void)0 : give_up(#condition, __LINE__))

static char folder[] = "/tmp/cpprof-store-XXXXXX";
static char file_name[sizeof folder + 64];

static _Noreturn void
give_up(const char *what, int line)
{
	fprintf(stderr, "# test-store.c:%d: not so: %s\n", line, what);
	_exit(1);
}

/* What the file needs of the rest of the collector. */

bool
signals_unblock_bus(void)
{
	return false;
}

bool
signals_unblock_bus_if_needed(void)
{
	return false;
}

void
signals_block_bus_again(bool again)
{
	(void)again;
}

void
shared_count_recorded(void)
{
}

/* The number of a spare file; below 0: there is none. */
static int spare = -1;

bool
shared_take_spare(uint32_t *number)
{
	*number = (uint32_t)spare;
	return spare >= 0;
}

void
shared_report_cpu_time(uint64_t before_ns)
{
	(void)before_ns;
}

static void
describe_column(unsigned column, struct datafile_column *to)
{
	*to = (struct datafile_column){ .name = column == 0 ? "cpu" : "reads",
	    .gtick = "unit", .source = "test", .interval = 1 };
}

/* The model: nodes by number, and their children as lists. */
struct model_node {
	bool exists;
	unsigned owner;
	uint32_t parent, path, child, sibling;	/* NO_NODE: none */
	struct tree_place place;
	struct cpprofdata_count counts[N_COLUMNS];
	uint64_t width[N_COLUMNS];	/* of its slices, when last counted */
};

/* A hit, or for `samples` a sample without its hits. */
struct moment {
	uint32_t node, column;
	uint64_t at;		/* since the origin */
	uint64_t hits, samples;
};

static struct moment *moments;
static size_t n_moments, moments_capacity;
static uint64_t now = ORIGIN;

static struct model_node *model;
static uint32_t first_children[N_TREES];	/* of the roots */
static uint32_t n_numbers;			/* of all chunks */
static size_t n_nodes;
static struct tree trees[N_TREES];
static struct {
	uint32_t next, end;	/* numbers of the tree's present chunk */
	uint64_t size;		/* of that chunk, 0: none */
} filling[N_TREES];
static uint64_t randomness = 88172645463325252u;

static uint32_t
random_below(uint32_t n)
{
	randomness ^= randomness << 13;
	randomness ^= randomness >> 7;
	randomness ^= randomness << 17;
	return (uint32_t)(randomness >> 20) % n;
}

static uint32_t *
children_of(unsigned tree, uint32_t parent)
{
	return parent == CPPROFDATA_NO_NODE ? &first_children[tree] :
	    &model[parent].child;
}

static uint32_t
model_find(unsigned tree, uint32_t parent, const struct tree_place *place)
{
	uint32_t i = *children_of(tree, parent);

	while (i != CPPROFDATA_NO_NODE &&
	    (model[i].place.offset != place->offset ||
	    model[i].place.module != place->module))
		i = model[i].sibling;
	return i;
}

static void
model_add(unsigned tree, uint32_t parent, const struct tree_place *place,
    const struct node *node)
{
	uint32_t *children = children_of(tree, parent);

	CHECK(node->number < MAX_NODES && !model[node->number].exists);
	CHECK(parent == CPPROFDATA_NO_NODE || node->number > parent);
	model[node->number] = (struct model_node){ .exists = true,
	    .owner = tree, .parent = parent, .path = node->path,
	    .place = *place, .child = CPPROFDATA_NO_NODE,
	    .sibling = *children };
	*children = node->number;
	n_nodes++;
}

/*
 * The number of the next node, given that a chunk has four times the size of
 * the last one, up to LAST_SIZE, and keeps its last place empty.
 */
static uint32_t
next_number(unsigned tree)
{
	uint32_t room;

	if (filling[tree].next == filling[tree].end) {
		filling[tree].size = filling[tree].size == 0 ? PAGE :
		    filling[tree].size == LAST_SIZE ? LAST_SIZE :
		    filling[tree].size * 4;
		room = (uint32_t)((filling[tree].size -
		    sizeof(struct cpprofdata_chunk)) / NODE_SIZE);
		filling[tree].next = n_numbers;
		filling[tree].end = n_numbers + room - 1;
		n_numbers += room;
	}
	return filling[tree].next++;
}

/*
 * Whether the memory at the address is present.  A handler writes there, which
 * must not fail for lack of memory.
 */
static bool
is_present(const void *address)
{
	unsigned char is_resident;

	CHECK(mincore((void *)((uintptr_t)address & -(uintptr_t)PAGE), PAGE,
	    &is_resident) == 0);
	return is_resident & 1;
}

/* One frame: the tree and the model must agree. */
static void
step(unsigned tree, struct node *at, const struct tree_place *place)
{
	const struct node parent = *at;
	const uint32_t known = model_find(tree, parent.number, place);
	const size_t memory = tree_memory(&trees[tree]);

	CHECK(tree_child(&trees[tree], &parent, place, at) == STORE_OK);
	CHECK(at->path == tree_path_hash(parent.path, place));
	CHECK(at->is_new == (known == CPPROFDATA_NO_NODE));
	if (known != CPPROFDATA_NO_NODE) {
		CHECK(at->number == known);
		CHECK(at->path == model[known].path);
		CHECK(tree_memory(&trees[tree]) == memory);
	} else {
		CHECK(at->number == next_number(tree));
		model_add(tree, parent.number, place, at);
		CHECK(tree_memory(&trees[tree]) >= memory);
		CHECK(is_present((const char *)(at->twin + 1) +
		    N_COLUMNS * sizeof(struct cpprofdata_count) +
		    offsetof(struct tree_node, module)));
	}
	CHECK(at->twin->parent == parent.number);
	CHECK(at->twin->offset == place->offset);
	CHECK(at->twin->module == place->module);
}

static void
note_moment(uint32_t node, unsigned column, uint64_t at, uint64_t hits,
    uint64_t samples)
{
	if (n_moments == moments_capacity) {
		moments_capacity = moments_capacity * 2 + 1000;
		moments = realloc(moments, moments_capacity * sizeof *moments);
		CHECK(moments != NULL);
	}
	moments[n_moments++] = (struct moment){ node, column,
	    at > ORIGIN ? at - ORIGIN : 0, hits, samples };
}

/* Counts in the tree and in the model. */
static void
count_hits(unsigned tree, const struct node *at, unsigned column,
    uint64_t hits)
{
	struct model_node *node = &model[at->number];
	uint64_t i, width = WIDTH;

	tree_count(&trees[tree], at, column, hits, now);
	node->counts[column].hits += hits;
	node->counts[column].samples++;
	note_moment(at->number, column, now, 0, 1);
	if (column == 0)
		note_moment(at->number, column, now, hits, 0);
	for (i = 0; column == 1 && i < hits; i++)
		note_moment(at->number, column,
		    now > i * STEP ? now - i * STEP : 0, 1, 0);
	while (now > ORIGIN && (now - ORIGIN) / width >= 64)
		width *= 2;
	if (width > node->width[column])
		node->width[column] = width;
}

static int
compare_moments(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* Adds up sorted moments of one slice; returns their number. */
static size_t
add_up(struct moment *sorted, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		const uint64_t width =
		    model[sorted[i].node].width[sorted[i].column];

		sorted[i].at -= sorted[i].at % width;
		if (k > 0 && compare_moments(&sorted[k - 1], &sorted[i]) ==
		    0) {
			sorted[k - 1].hits += sorted[i].hits;
			sorted[k - 1].samples += sorted[i].samples;
		} else {
			sorted[k++] = sorted[i];
		}
	}
	return k;
}

/* Some with the place of zeros, and some with equal offsets in two modules. */
static struct tree_place
random_place(void)
{
	return (struct tree_place){
		.offset = random_below(8) == 0 ? random_below(5000) :
		    random_below(4),
		.module = random_below(2),
	};
}

static void
add_stacks(unsigned n)
{
	uint32_t paths[32];

	for (unsigned i = 0; i < n; i++) {
		const unsigned tree = random_below(N_TREES);
		const unsigned depth = 1 + random_below(24);
		const unsigned column = random_below(N_COLUMNS);
		const uint64_t hits = random_below(column == 0 ? 1000 : 90);
		struct node at = TREE_ROOT;

		for (unsigned k = 0; k < 32; k++)
			paths[k] = random_below(UINT32_MAX);
		tree_prefetch(&trees[tree], paths, 32);
		for (unsigned k = 0; k < depth; k++) {
			const struct tree_place place = random_place();

			step(tree, &at, &place);
		}
		now += random_below(n_moments % 7 == 0 ? 5 * WIDTH : 50);
		count_hits(tree, &at, column, hits);
		/* The clock may seem to go backwards, once in a while. */
		if (i % 16 == 0) {
			const uint64_t latest = now;

			now = ORIGIN + latest % (latest - ORIGIN + 1);
			count_hits(tree, &at, column, hits);
			now = latest;
		}
	}
}

/* The slices of the file, sorted; frees *slices. */
static void
check_slices(struct moment *slices, size_t n)
{
	struct moment *expected = malloc((n_moments + 1) * sizeof *expected);
	size_t i, n_expected;

	CHECK(expected != NULL);
	if (n_moments > 0)
		memcpy(expected, moments, n_moments * sizeof *expected);
	qsort(expected, n_moments, sizeof *expected, compare_moments);
	n_expected = add_up(expected, n_moments);
	qsort(slices, n, sizeof *slices, compare_moments);
	CHECK(n == n_expected);
	for (i = 0; i < n; i++) {
		CHECK(compare_moments(&slices[i], &expected[i]) == 0);
		CHECK(slices[i].hits == expected[i].hits);
		CHECK(slices[i].samples == expected[i].samples);
	}
	free(expected);
	free(slices);
}

/* A chunk of slices of the file, without free records. */
static size_t
read_slices(const struct cpprofdata_chunk *chunk, const void *bytes,
    struct moment *slices)
{
	const struct cpprofdata_slice *record = bytes;
	size_t n = 0;

	CHECK(chunk->record_size == sizeof *record);
	for (uint64_t i = 0; i < chunk->count; i++, record++) {
		if (record->node == CPPROFDATA_NO_NODE)
			continue;
		CHECK(record->slice < CPPROFDATA_N_SLICES);
		CHECK(record->node < MAX_NODES && record->resource < N_COLUMNS);
		CHECK((uint64_t)WIDTH << record->doublings ==
		    model[record->node].width[record->resource]);
		CHECK(chunk->owner == model[record->node].owner);
		slices[n++] = (struct moment){ record->node, record->resource,
		    (uint64_t)record->slice * WIDTH << record->doublings,
		    record->count.hits, record->count.samples };
	}
	return n;
}

/* Compares all nodes in the file with the model. */
static void
check_file(void)
{
	const int fd = open(file_name, O_RDONLY);
	struct cpprofdata_header header;
	size_t n = 0, n_slices = 0;
	struct moment *slices;
	struct stat status;
	char *text;

	CHECK(fd >= 0 && fstat(fd, &status) == 0);
	text = malloc((size_t)status.st_size);
	slices = malloc((size_t)status.st_size /
	    sizeof(struct cpprofdata_slice) * sizeof *slices);
	CHECK(slices != NULL && text != NULL &&
	    pread(fd, text, (size_t)status.st_size, 0) == status.st_size);
	close(fd);
	memcpy(&header, text, sizeof header);
	CHECK(header.used <= (size_t)status.st_size);
	CHECK(header.node_size == NODE_SIZE);
	for (size_t at = sizeof header; at < header.used;) {
		struct cpprofdata_chunk chunk;

		memcpy(&chunk, text + at, sizeof chunk);
		CHECK(chunk.magic == CPPROFDATA_CHUNK_MAGIC);
		CHECK(chunk.size != 0 && chunk.size <= header.used - at);
		if (chunk.type == CPPROFDATA_SLICES)
			n_slices += read_slices(&chunk, text + at +
			    sizeof chunk, slices + n_slices);
		for (uint64_t i = 0; chunk.type == CPPROFDATA_NODES &&
		    i < chunk.count; i++, n++) {
			const struct cpprofdata_node *record = (const void *)
			    (text + at + sizeof chunk + i * NODE_SIZE);
			const struct model_node *node =
			    &model[chunk.first + i];

			CHECK(chunk.record_size == NODE_SIZE);
			CHECK(chunk.first + i < MAX_NODES && node->exists);
			CHECK(chunk.owner == node->owner);
			CHECK(record->parent == node->parent);
			CHECK(record->module == node->place.module);
			CHECK(record->offset == node->place.offset);
			CHECK(record->returns == 0);
			CHECK(memcmp(record->counts, node->counts,
			    sizeof node->counts) == 0);
		}
		at += chunk.size;
	}
	CHECK(n == n_nodes);
	check_slices(slices, n_slices);
	free(text);
}

static void
begin(void)
{
	process.output = folder;
	process.directory = "/";
	process.max_size = PROCESS_MAX_SIZE;
	process_begin();
	snprintf(file_name, sizeof file_name, "%s/" CPPROFDATA_FILE_PREFIX
	    "%u", folder, (unsigned)getpid());
	datafile_columns.n = N_COLUMNS;
	datafile_columns.describe = describe_column;
	datafile_columns.step_ns[1] = STEP;
	process.origin_mono_ns = ORIGIN;
	process.slice_ns = WIDTH;
	model = calloc(MAX_NODES, sizeof *model);
	CHECK(model != NULL);
	for (unsigned i = 0; i < N_TREES; i++) {
		first_children[i] = CPPROFDATA_NO_NODE;
		trees[i].owner = i;
	}
	CHECK(datafile_lock() && datafile_create());
	datafile_unlock();
}

static void
finish(void)
{
	CHECK(datafile_lock());
	datafile_finish();
	datafile_unlock();
}

static void
in_child(void (*body)(void))
{
	const pid_t pid = fork();
	char name[sizeof file_name];
	int status;

	if (pid == 0) {
		/* cmocka's handlers would go on with the next case. */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		signal(SIGILL, SIG_DFL);
		signal(SIGFPE, SIG_DFL);
		begin();
		body();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(name, sizeof name, "%s/" CPPROFDATA_FILE_PREFIX "%u", folder,
	    (unsigned)pid);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(status, 0);
}

static void
grow_over_many_chunks(void)
{
	for (unsigned i = 0; i < 4; i++) {
		add_stacks(2500);
		check_file();		/* whole at every instant */
	}
	/* Both trees have filled a chunk of the last size. */
	for (unsigned i = 0; i < N_TREES; i++)
		CHECK(filling[i].size == LAST_SIZE);
	CHECK(n_nodes > 50000);
	finish();
	check_file();
	add_stacks(100);		/* and the file can still grow */
	finish();
	check_file();
}

static void
on_bus_error(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (!datafile_replace_mapping(info->si_addr))
		_exit(2);
}

static void
lose_the_file(void)
{
	const struct sigaction action = { .sa_sigaction = on_bus_error,
	    .sa_flags = SA_SIGINFO };

	CHECK(sigaction(SIGBUS, &action, NULL) == 0);
	add_stacks(1000);
	CHECK(truncate(file_name, 0) == 0);
	add_stacks(1000);
	finish();
	check_file();
}

/* The child of `at` at a place of its own. */
static enum store_result
add_distinct(struct node *at)
{
	static uint64_t offset = 100000;
	const struct tree_place place = { .offset = offset++, .module = 1 };
	const struct node parent = *at;
	const enum store_result result = tree_child(&trees[0], &parent,
	    &place, at);

	if (result == STORE_OK)
		model_add(0, parent.number, &place, at);
	return result;
}

/* How many nodes a chunk has; its last place stays empty. */
static size_t
nodes_in(size_t pages)
{
	return (pages * PAGE - sizeof(struct cpprofdata_chunk)) / NODE_SIZE -
	    1;
}

/*
 * Of the file's pages, one is the header and one has strings.  A chunk of nodes
 * that does not fit has one page instead.
 */
static void
fill_up(void)
{
	struct node at = TREE_ROOT;
	enum store_result result;
	size_t expected = 0, pages = 0, left;
	struct stat status;

	for (left = MAX_PAGES - 2; left > 0; left -= pages) {
		pages = pages == 0 || pages * 4 > left ? 1 : pages * 4;
		expected += nodes_in(pages);
	}
	while ((result = add_distinct(&at)) == STORE_OK)
		;
	CHECK(result == STORE_FULL);
	CHECK(n_nodes == expected);
	CHECK(stat(file_name, &status) == 0 &&
	    (size_t)status.st_size <= MAX_PAGES * PAGE);
	/* What is in the tree is still found, and counted. */
	tree_count(&trees[0], &at, 1, 7, now);
	model[at.number].counts[1] = (struct cpprofdata_count){ 7, 1 };
	at = TREE_ROOT;
	CHECK(tree_child(&trees[0], &TREE_ROOT, &model[0].place, &at) ==
	    STORE_OK);
	CHECK(at.number == 0 && !at.is_new);
	finish();
	check_file();
}

static void
reach_the_size_of_the_file(void)
{
	process.max_size = MAX_PAGES * PAGE;
	fill_up();
}

static void
reach_the_limit_of_the_process(void)
{
	const struct rlimit limit = { MAX_PAGES * PAGE, RLIM_INFINITY };

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	fill_up();
}

static void
wait_for_the_lock(void)
{
	struct node at = TREE_ROOT, leaf = TREE_ROOT, again = TREE_ROOT;
	const size_t n = nodes_in(1);

	CHECK(datafile_lock());
	CHECK(add_distinct(&at) == STORE_BUSY);
	datafile_unlock();
	while (n_nodes < n)
		CHECK(add_distinct(&leaf) == STORE_OK);
	at = leaf;
	CHECK(datafile_lock());
	CHECK(add_distinct(&at) == STORE_BUSY);
	CHECK(at.number == leaf.number);
	CHECK(tree_child(&trees[0], &again, &model[0].place, &again) ==
	    STORE_OK && again.number == 0);
	datafile_unlock();
	CHECK(add_distinct(&at) == STORE_OK);
	CHECK(at.number == n + 1);	/* a place is left empty */
	finish();
	check_file();
}

/*
 * Populating fails if memory of a chunk is gone.  In a chunk of 256 KiB, nodes
 * are populated in two steps.
 */
static void
lack_memory(bool of_file)
{
	struct node at = TREE_ROOT;
	struct node first;
	enum store_result result;
	uintptr_t start;
	size_t n;

	for (n = nodes_in(1) + nodes_in(4) + nodes_in(16) + 1; n > 0; n--)
		CHECK(add_distinct(&at) == STORE_OK);
	first = at;
	start = of_file ? (uintptr_t)tree_record(first.twin) :
	    (uintptr_t)first.twin;
	/* Beyond the first step, and before the end of the chunk. */
	start = (start + ((size_t)200 << 10)) & -(uintptr_t)PAGE;
	CHECK(munmap((void *)start, PAGE) == 0);
	while ((result = add_distinct(&at)) == STORE_OK)
		CHECK(n++ < 5000);
	CHECK(result == STORE_FULL);
	CHECK(n > 1000);
}

static void
lack_memory_of_the_file(void)
{
	lack_memory(true);
}

static void
lack_memory_of_twins(void)
{
	lack_memory(false);
}

/* After tree_forked, everything is new again, and of the new owner. */
static void
begin_again(void)
{
	struct node at = TREE_ROOT;
	const uint32_t last = 1000;
	unsigned char is_resident;
	void *slots;
	int status;
	pid_t pid;

	while (n_nodes < last)
		CHECK(add_distinct(&at) == STORE_OK);
	slots = trees[0].slots;
	pid = fork();
	if (pid == 0)
		_exit(mincore(slots, PAGE, &is_resident) == 0);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	tree_forked(&trees[0]);
	CHECK(tree_memory(&trees[0]) == 0);
	at = TREE_ROOT;
	CHECK(tree_child(&trees[0], &at, &model[0].place, &at) == STORE_OK);
	CHECK(at.is_new && at.number > last);
}

/* The file as it is at this moment, for the handler of single steps. */
static struct {
	const char *bytes;
	uint64_t before, added;		/* hits in slices */
	uint64_t n_steps, n_covered;
} watched;

/*
 * Hits of node 0 in the slices of the file, as a reader finds them: records in
 * wider ones do not count.  Counts the records that were ever used, too.
 */
static uint64_t
hits_in_slices(size_t *n_records, uint64_t *n_covered)
{
	const struct cpprofdata_slice *found[1000];
	size_t n = 0, at = CPPROFDATA_HEADER_SIZE;
	struct cpprofdata_header header;
	uint64_t hits = 0;

	memcpy(&header, watched.bytes, sizeof header);
	*n_records = 0;
	while (at < header.used) {
		const struct cpprofdata_chunk *chunk = (const void *)
		    (watched.bytes + at);
		const struct cpprofdata_slice *record =
		    (const void *)(chunk + 1);

		at += chunk->size;
		if (chunk->type != CPPROFDATA_SLICES)
			continue;
		for (uint64_t i = 0; i < chunk->count; i++, record++) {
			*n_records += record->node != CPPROFDATA_NO_NODE ||
			    record->count.samples != 0;
			if (record->node == 0)
				found[n++] = record;
		}
	}
	for (size_t i = 0; i < n; i++) {
		bool is_covered = false;

		for (size_t k = 0; k < n; k++) {
			const int more = found[k]->doublings -
			    found[i]->doublings;

			CHECK(k == i || more != 0 ||
			    found[k]->slice != found[i]->slice);
			is_covered |= more > 0 &&
			    found[i]->slice >> more == found[k]->slice;
		}
		*n_covered += is_covered;
		hits += is_covered ? 0 : found[i]->count.hits;
	}
	return hits;
}

/* Were the process killed here, time would have all hits but the last. */
static void
check_instant(int number)
{
	uint64_t hits;
	size_t n;

	(void)number;
	watched.n_steps++;
	hits = hits_in_slices(&n, &watched.n_covered);
	if (hits != watched.before && hits != watched.before + watched.added)
		give_up("hits at every instant", __LINE__);
}

static void
watch_file(void)
{
	const int fd = open(file_name, O_RDONLY);

	CHECK(fd >= 0);
	watched.bytes = mmap(NULL, (size_t)1 << 20, PROT_READ, MAP_SHARED, fd,
	    0);
	CHECK(watched.bytes != MAP_FAILED);
	close(fd);
}

static void
be_killed_at_any_instruction(void)
{
	struct node at = TREE_ROOT;
	uint64_t n_covered = 0;
	size_t n;

	CHECK(add_distinct(&at) == STORE_OK && at.number == 0);
	count_hits(0, &at, 0, 1);
	watch_file();
	CHECK(signal(SIGTRAP, check_instant) != SIG_ERR);
	for (unsigned i = 0; i < 120; i++) {
		now += i < 90 ? WIDTH * 3 / 2 : WIDTH * 100;
		watched.before = hits_in_slices(&n, &n_covered);
		watched.added = 1 + i;
		set_trace_flag(true);
		tree_count(&trees[0], &at, 0, watched.added, now);
		set_trace_flag(false);
		CHECK(hits_in_slices(&n, &n_covered) ==
		    watched.before + watched.added);
		CHECK(n <= CPPROFDATA_N_SLICES + 1);
	}
	CHECK(n_covered == 0 && watched.n_covered > 100);
	CHECK(watched.n_steps > 10000);
}

/* Slices take half of the file; then hits have no time. */
static void
leave_room_for_nodes(void)
{
	struct node at = TREE_ROOT;
	struct stat status;
	uint64_t n_covered = 0;
	size_t n;

	process.max_size = MAX_PAGES * PAGE;
	CHECK(add_distinct(&at) == STORE_OK);
	for (unsigned i = 0; i < 2000; i++) {
		struct node leaf = at;

		CHECK(add_distinct(&leaf) == STORE_OK || n_nodes > 300);
		tree_count(&trees[0], &leaf, 0, 1, now);
		if (leaf.number == at.number)
			break;
	}
	watch_file();
	hits_in_slices(&n, &n_covered);
	CHECK(n > nodes_in(4) / 2);
	CHECK(n * sizeof(struct cpprofdata_slice) < MAX_PAGES * PAGE / 2);
	CHECK(n_nodes > n);
	CHECK(stat(file_name, &status) == 0 &&
	    (size_t)status.st_size <= MAX_PAGES * PAGE);
}

static void
keep_no_slices(void)
{
	process.slice_ns = 0;
	add_stacks(500);
	n_moments = 0;
	finish();
	check_file();
}

static bool
is_zero(const unsigned char *at, size_t size)
{
	while (size > 0 && at[size - 1] == 0)
		size--;
	return size == 0;
}

/* Small pieces share mappings: each is zero, and nobody else's. */
static void
take_pieces(void)
{
	enum { N = 600, MOST = 20000 };
	static unsigned char *pieces[N];
	unsigned char *last, *large;
	size_t i, size;

	for (i = 0; i < N; i++) {
		size = 1 + i * 997 % MOST;
		pieces[i] = store_memory(size);
		CHECK(pieces[i] != NULL && is_zero(pieces[i], size));
		memset(pieces[i], 1 + (int)i % 255, size);
	}
	for (i = 0; i < N; i++)
		for (size = 1 + i * 997 % MOST; size > 0; size--)
			CHECK(pieces[i][size - 1] == 1 + i % 255);
	/* The last one comes again; an earlier one does not. */
	last = store_memory(100);
	memset(last, 1, 100);
	store_free(pieces[N - 1], 1 + (N - 1) * 997 % MOST);
	store_free(last, 100);
	CHECK(store_memory(100) == last && is_zero(last, 100));
	CHECK(store_is_populated(last) && !store_is_populated(&last));
	large = store_memory((size_t)1 << 20);
	CHECK(large != NULL && !store_is_populated(large));
	store_free(large, (size_t)1 << 20);
}

/*
 * Spare files.
 */

static char spare_name[sizeof file_name];

static ino_t
make_spare(off_t size)
{
	struct stat status;
	int fd;

	spare = 7;
	snprintf(spare_name, sizeof spare_name, "%s/" CPPROF_SHARED_SPARE "7",
	    folder);
	fd = open(spare_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, size) != 0 || fstat(fd, &status) != 0)
		give_up(spare_name, __LINE__);
	close(fd);
	return status.st_ino;
}

static ino_t
inode_of(const char *name)
{
	struct stat status;

	return lstat(name, &status) == 0 ? status.st_ino : 0;
}

/* As in_child, after `prepare`, which may make files that are removed here. */
static void
in_child_with(void (*prepare)(void), void (*body)(void))
{
	char other[sizeof spare_name];

	prepare();
	in_child(body);
	spare = -1;
	unlink(spare_name);
	snprintf(other, sizeof other, "%s/other", folder);
	unlink(other);
}

static ino_t made;

static void
make_a_good_one(void)
{
	made = make_spare(CPPROF_SHARED_SPARE_SIZE);
}

static void
take_it(void)
{
	CHECK(inode_of(file_name) == made);
	CHECK(inode_of(spare_name) == 0);
	add_stacks(2500);
	finish();
	check_file();
}

static void
make_a_small_one(void)
{
	made = make_spare(CPPROF_SHARED_SPARE_SIZE - 1);
}

static void
make_a_shared_one(void)
{
	char other[sizeof spare_name];

	made = make_spare(CPPROF_SHARED_SPARE_SIZE);
	snprintf(other, sizeof other, "%s/other", folder);
	assert_int_equal(link(spare_name, other), 0);
}

static void
make_a_link(void)
{
	char other[sizeof spare_name];

	made = make_spare(CPPROF_SHARED_SPARE_SIZE);
	snprintf(other, sizeof other, "%s/other", folder);
	assert_int_equal(rename(spare_name, other), 0);
	assert_int_equal(symlink(other, spare_name), 0);
}

static void
make_none(void)
{
	spare = 7;
	made = 0;
}

static void
leave_it(void)
{
	const ino_t own = inode_of(file_name);

	CHECK(own != 0 && own != made);
	CHECK(made == 0 || inode_of(spare_name) != 0);
	add_stacks(100);
	finish();
	check_file();
}

static void
spare_files_are_taken(void **state)
{
	(void)state;
	in_child_with(make_a_good_one, take_it);
}

static void
other_files_are_left(void **state)
{
	(void)state;
	in_child_with(make_a_small_one, leave_it);
	in_child_with(make_a_shared_one, leave_it);
	in_child_with(make_a_link, leave_it);
	in_child_with(make_none, leave_it);
}

#define CASE(name, body) \
	static void \
	name(void **state) \
	{ \
		(void)state; \
		in_child(body); \
	}

CASE(trees_are_as_the_model, grow_over_many_chunks)
CASE(truncated_files_are_written_again, lose_the_file)
CASE(full_files_stay_whole, reach_the_size_of_the_file)
CASE(file_size_limits_are_kept, reach_the_limit_of_the_process)
CASE(the_lock_is_not_waited_for, wait_for_the_lock)
CASE(lack_of_memory_of_the_file_is_an_error, lack_memory_of_the_file)
CASE(lack_of_memory_of_twins_is_an_error, lack_memory_of_twins)
CASE(forked_trees_are_empty, begin_again)
CASE(slices_are_whole_at_every_instruction, be_killed_at_any_instruction)
CASE(slices_leave_room_for_nodes, leave_room_for_nodes)
CASE(slices_can_be_off, keep_no_slices)
CASE(small_pieces_of_memory_share_mappings, take_pieces)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_as_the_model),
		cmocka_unit_test(truncated_files_are_written_again),
		cmocka_unit_test(full_files_stay_whole),
		cmocka_unit_test(file_size_limits_are_kept),
		cmocka_unit_test(the_lock_is_not_waited_for),
		cmocka_unit_test(lack_of_memory_of_the_file_is_an_error),
		cmocka_unit_test(lack_of_memory_of_twins_is_an_error),
		cmocka_unit_test(forked_trees_are_empty),
		cmocka_unit_test(slices_are_whole_at_every_instruction),
		cmocka_unit_test(slices_leave_room_for_nodes),
		cmocka_unit_test(slices_can_be_off),
		cmocka_unit_test(small_pieces_of_memory_share_mappings),
		cmocka_unit_test(spare_files_are_taken),
		cmocka_unit_test(other_files_are_left),
	};
	int failed;

	if (mkdtemp(folder) == NULL)
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
