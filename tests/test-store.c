/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-store.c -- the collector's trees of stacks, in memory and in the file.
 *
 * Random stacks go into the trees of two threads and into a naive model.  Every
 * node and every count must be the same in both, and in the file.
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
#include "lib/signals/signals.h"
#include "lib/store/datafile.h"
#include "lib/store/tree.h"

#define PAGE ((size_t)CPPROFDATA_PAGE)
#define N_TREES 2
#define MAX_NODES 200000
#define N_COLUMNS 2
#define NODE_SIZE (sizeof(struct cpprofdata_node) + \
    N_COLUMNS * sizeof(struct cpprofdata_count))
#define MAX_PAGES 20			/* of files that are full */
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
};

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
	CHECK(at->path == tree_path(parent.path, place));
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
		const uint64_t hits = random_below(1000);
		struct node at = TREE_ROOT;

		for (unsigned k = 0; k < 32; k++)
			paths[k] = random_below(UINT32_MAX);
		tree_prefetch(&trees[tree], paths, 32);
		for (unsigned k = 0; k < depth; k++) {
			const struct tree_place place = random_place();

			step(tree, &at, &place);
		}
		tree_count(&at, column, hits);
		model[at.number].counts[column].hits += hits;
		model[at.number].counts[column].samples++;
	}
}

/* Compares all nodes in the file with the model. */
static void
check_file(void)
{
	const int fd = open(file_name, O_RDONLY);
	struct cpprofdata_header header;
	size_t n = 0;
	struct stat status;
	char *text;

	CHECK(fd >= 0 && fstat(fd, &status) == 0);
	text = malloc((size_t)status.st_size);
	CHECK(text != NULL &&
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
	tree_count(&at, 1, 7);
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
	};
	int failed;

	if (mkdtemp(folder) == NULL)
		return 99;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
