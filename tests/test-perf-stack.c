/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-perf-stack.c -- the kernel's part of stacks, from an event's pages.
 *
 * This test writes the records as the kernel does: backwards, over old ones,
 * beyond the page's end.  What is counted must be what it wrote.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"

enum { PAGE = CPPROFDATA_PAGE, PC = 0x401000, SP = 0x7ffc1000, N_PATHS = 64 };

#define KERNEL UINT64_C(0xffffffff81000000)

/* ---- what the collector links with ---- */

/* Paths of the tree, by number: frames from the leaf's outermost callee on. */
static struct path {
	uint64_t offsets[8];
	size_t n;
	uint64_t hits, samples;
} paths[N_PATHS];
static size_t n_paths;
static uint64_t n_unknown;
static uint32_t flags;
static bool is_hidden;		/* the kernel's addresses */
static unsigned n_overwritten;	/* records written while one is read */

static void write_record(uint64_t pc, uint64_t sp, const uint64_t *frames,
    size_t n);

enum store_result
modules_find_kernel(struct recent_modules *cache, uint64_t address,
    uint32_t *module, uint64_t *offset)
{
	(void)cache;
	for (; n_overwritten > 0; n_overwritten--)
		write_record(PC, SP, NULL, 0);
	*module = 1;
	*offset = is_hidden ? 0 : address - KERNEL;
	return STORE_OK;
}

enum store_result
tree_child(struct tree *tree, const struct node *parent,
    const struct tree_place *place, struct node *child)
{
	struct path path = paths[parent->number];
	size_t i = 0;

	(void)tree;
	assert_in_range(path.n, 0, 7);
	path.offsets[path.n++] = place->offset;
	path.hits = path.samples = 0;
	while (i < n_paths && (paths[i].n != path.n || memcmp(paths[i].offsets,
	    path.offsets, path.n * sizeof *path.offsets) != 0))
		i++;
	if (i == n_paths) {
		assert_in_range(n_paths, 0, N_PATHS - 1);
		paths[n_paths++] = path;
	}
	*child = (struct node){ .number = (uint32_t)i };
	return STORE_OK;
}

void
datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits)
{
	(void)samples;
	assert_int_equal(reason, CPPROFDATA_NO_KERNEL_FRAMES);
	n_unknown += hits;
}

void
datafile_flag(uint32_t flag)
{
	flags |= flag;
}

bool
perf_event_is_ours(const struct account *account)
{
	return account->fd >= 0;
}

/* ---- the kernel's side ---- */

static struct perf_event_mmap_page *page;
static uint64_t head, ring;	/* bytes for records */

static void
put_word(uint64_t at, uint64_t word)
{
	memcpy((char *)page + PAGE + at % ring, &word, sizeof word);
}

static void
put_record(uint32_t type, const uint64_t *words, size_t n)
{
	uint64_t size = 8 * (1 + n);

	head -= size;
	put_word(head, size << 48 | type);
	for (size_t i = 0; i < n; i++)
		put_word(head + 8 * (i + 1), words[i]);
	page->data_head = head;
}

/* frames: innermost first; n 0: in user mode. */
static void
write_record(uint64_t pc, uint64_t sp, const uint64_t *frames, size_t n)
{
	uint64_t words[160], at = 0;

	words[at++] = n > 0 ? n + 1 : 0;
	if (n > 0)
		words[at++] = PERF_CONTEXT_KERNEL;
	for (size_t i = 0; i < n; i++)
		words[at++] = KERNEL + frames[i];
	words[at++] = PERF_SAMPLE_REGS_ABI_64;
	words[at++] = sp;
	words[at++] = pc;
	put_record(PERF_RECORD_SAMPLE, words, at);
}

static struct thread thread;
static struct thread_meters meters;
static struct thread_file file;
static ucontext_t context;

static int
begin(void **state)
{
	(void)state;
	free(page);
	page = aligned_alloc(PAGE, 2 * PAGE);
	if (page == NULL)
		return -1;
	memset(page, 0, 2 * PAGE);
	memset(paths, 0, sizeof paths);
	head = n_unknown = 0;
	ring = PAGE;
	n_paths = 1;
	flags = 0;
	is_hidden = false;
	thread.meters = &meters;
	thread.file = &file;
	meters.accounts[0] = (struct account){ .page = page,
		.stacks_size = PAGE, .stacks_most = PAGE,
		.view = PERF_SEES_STACKS };
	context.uc_mcontext.gregs[REG_RIP] = PC;
	context.uc_mcontext.gregs[REG_RSP] = SP;
	return 0;
}

static void
count_at_path(struct thread *of, unsigned column, const struct node *node,
    uint64_t hits, uint64_t now_ns)
{
	(void)of, (void)column, (void)now_ns;
	paths[node->number].hits += hits;
	paths[node->number].samples++;
}

/* Counts hits at the leaf, which is path 0. */
static void
count(uint64_t hits)
{
	const struct node leaf = { .number = 0 };

	perf_stack_count(&thread, 0, &leaf, hits, 0, &context, count_at_path);
}

static uint64_t
all_hits(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n_paths; i++)
		sum += paths[i].hits;
	return sum;
}

/* The path of these offsets, outermost first; fails if there is none. */
static const struct path *
find(size_t n, ...)
{
	uint64_t offsets[8];
	va_list list;

	va_start(list, n);
	for (size_t i = 0; i < n; i++)
		offsets[i] = (uint64_t)va_arg(list, int);
	va_end(list);
	for (size_t i = 0; i < n_paths; i++)
		if (paths[i].n == n && memcmp(paths[i].offsets, offsets,
		    n * sizeof *offsets) == 0)
			return &paths[i];
	fail_msg("no such path");
	return NULL;
}

static const uint64_t reading[] = { 0x300, 0x201, 0x101 };
static const uint64_t faulting[] = { 0x500, 0x401 };

/* ---- claims ---- */

static void
frames_stand_below_the_leaf_outermost_first(void **state)
{
	(void)state;
	write_record(PC, SP, reading, 3);
	count(1);
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->hits, 1);
	assert_int_equal(all_hits(), 1);
	assert_int_equal(n_unknown, 0);
	assert_int_equal(flags, CPPROFDATA_KERNEL_FRAMES);
}

static void
a_period_of_user_mode_belongs_to_the_leaf(void **state)
{
	(void)state;
	write_record(PC, SP, NULL, 0);
	count(3);
	assert_int_equal(paths[0].hits, 3);
	assert_int_equal(n_unknown, 0);
}

static void
periods_share_the_hits_and_the_newest_has_the_rest(void **state)
{
	(void)state;
	write_record(PC, SP, faulting, 2);
	write_record(PC, SP, reading, 3);
	count(5);
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->hits, 3);
	assert_int_equal(find(2, 0x400, 0x500)->hits, 2);
	assert_int_equal(find(2, 0x400, 0x500)->samples, 1);
}

static void
fewer_hits_than_periods_go_to_the_newest(void **state)
{
	(void)state;
	write_record(PC, SP, faulting, 2);
	write_record(PC, SP, faulting, 2);
	write_record(PC, SP, reading, 3);
	count(1);
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->samples, 1);
	assert_int_equal(all_hits(), 1);
	for (size_t i = 0; i < n_paths; i++)
		assert_int_equal(paths[i].samples, paths[i].hits);
}

static void
records_of_other_places_do_not_count(void **state)
{
	(void)state;
	write_record(PC + 16, SP, reading, 3);
	write_record(PC, SP - 8, reading, 3);
	count(2);
	assert_int_equal(paths[0].hits, 2);
	assert_int_equal(n_unknown, 2);
	write_record(PC, SP, faulting, 2);
	write_record(PC + 16, SP, reading, 3);
	count(2);
	assert_int_equal(find(2, 0x400, 0x500)->hits, 2);
	assert_int_equal(n_unknown, 2);
}

static void
a_call_that_is_made_again_is_the_same_place(void **state)
{
	(void)state;
	write_record(PC + 2, SP, reading, 3);
	count(1);
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->hits, 1);
}

static void
records_are_used_once(void **state)
{
	(void)state;
	write_record(PC, SP, reading, 3);
	count(1);
	count(1);
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->hits, 1);
	assert_int_equal(paths[0].hits, 1);
	assert_int_equal(n_unknown, 1);
}

static void
other_records_are_passed_over(void **state)
{
	const uint64_t throttled[] = { 1, 2, 3 };
	const uint64_t without_registers[] = { 0, PERF_SAMPLE_REGS_ABI_NONE };

	(void)state;
	write_record(PC, SP, reading, 3);
	put_record(PERF_RECORD_THROTTLE, throttled, 3);
	put_record(PERF_RECORD_SAMPLE, without_registers, 2);
	count(4);
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->hits, 4);
}

static void
records_continue_at_the_start_of_the_page(void **state)
{
	const uint64_t n = 100;

	(void)state;
	for (uint64_t i = 0; i < n; i++) {
		write_record(PC, SP, reading, 3);
		if (i % 3 == 0)
			write_record(PC, SP, faulting, 2);
		count(1 + (i % 3 == 0));
	}
	assert_int_equal(find(3, 0x100, 0x200, 0x300)->hits, n);
	assert_int_equal(find(2, 0x400, 0x500)->hits, (n + 2) / 3);
	assert_int_equal(paths[0].hits, 0);
}

static void
old_records_that_were_overwritten_are_not_used(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		write_record(PC, SP, faulting, 2);
	for (int i = 0; i < 10; i++)
		write_record(PC, SP, reading, 3);
	count(1000);
	/* A 16th of the bytes is still there. */
	assert_int_equal(all_hits(), 1000);
	assert_in_range(paths[0].hits, 930, 945);
	assert_int_equal(n_unknown, paths[0].hits);
	assert_in_range(find(3, 0x100, 0x200, 0x300)->hits, 9, 20);
}

/* A file has what an event has: pages that can be mapped. */
static void
what_did_not_fit_has_room_until_there_is_no_more(void **state)
{
	struct account *account = &meters.accounts[0];
	const int fd = memfd_create("event", 0);

	(void)state;
	assert_return_code(fd, 0);
	assert_return_code(ftruncate(fd, 5 * PAGE), 0);
	account->fd = fd;
	perf_stack_map(account);
	assert_int_equal(account->stacks_size, PAGE);
	free(page);
	page = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	for (size_t size = PAGE; size <= 4 * PAGE; size *= 4) {
		assert_int_equal(account->stacks_size, size);
		ring = size;
		write_record(PC, SP, faulting, 2);
		count(1);
		assert_int_equal(account->stacks_size, size);
		/* The kernel begins again in the new pages. */
		page->data_head = head = 0;
		account->stacks_seen = size == PAGE ? 3 * PAGE : 8 * PAGE;
		count(1);
	}
	/* In a larger mapping, there is nothing. */
	assert_int_equal(account->stacks_size, 8 * PAGE);
	/* Without a descriptor there are the pages, or nothing. */
	account->fd = -1;
	account->stacks_seen = 64 * PAGE;
	count(1);
	assert_int_equal(account->stacks_size, 8 * PAGE);
	/* Of a directory there are none. */
	account->fd = open("/", O_RDONLY | O_DIRECTORY);
	assert_return_code(account->fd, 0);
	account->stacks_seen = 64 * PAGE;
	count(1);
	assert_null(account->page);
	assert_int_equal(account->stacks_size, 0);
	assert_int_equal(account->stacks_most, 8 * PAGE);
	close(account->fd);
	account->fd = -1;
	munmap(page, 5 * PAGE);
	page = NULL;
	close(fd);
}

static void
a_record_that_is_overwritten_while_it_is_read_is_not_used(void **state)
{
	(void)state;
	write_record(PC, SP, reading, 3);
	n_overwritten = 1000;
	count(7);
	assert_int_equal(paths[0].hits, 7);
	assert_int_equal(n_unknown, 7);
	assert_int_equal(all_hits(), 7);
}

static void
a_hidden_kernel_is_one_frame(void **state)
{
	(void)state;
	is_hidden = true;
	write_record(PC, SP, reading, 3);
	count(1);
	assert_int_equal(find(1, 0)->hits, 1);
}

static void
sizes_that_cannot_be_are_not_followed(void **state)
{
	const uint64_t too_many[] = { 1000, PERF_CONTEXT_KERNEL, KERNEL,
		PERF_SAMPLE_REGS_ABI_64, SP, PC };

	(void)state;
	write_record(PC, SP, reading, 3);
	put_word(head, (uint64_t)7 << 48 | PERF_RECORD_SAMPLE);
	count(1);
	put_record(PERF_RECORD_SAMPLE, too_many, 6);
	count(1);
	put_word(head, (uint64_t)0xfff8 << 48 | PERF_RECORD_SAMPLE);
	meters.accounts[0].stacks_seen = head + 8;
	count(1);
	assert_int_equal(paths[0].hits, 3);
	assert_int_equal(n_unknown, 3);
}

static void
without_pages_hits_are_counted_as_unknown(void **state)
{
	(void)state;
	meters.accounts[0].stacks_size = 0;
	count(2);
	assert_int_equal(n_unknown, 2);
	meters.accounts[0].view = PERF_SEES_ALL;
	flags = 0;
	count(2);
	assert_int_equal(n_unknown, 2);
	assert_int_equal(flags, 0);
	assert_int_equal(paths[0].hits, 4);
}

#define CASE(name) cmocka_unit_test_setup(name, begin)

int
main(void)
{
	const struct CMUnitTest cases[] = {
		CASE(frames_stand_below_the_leaf_outermost_first),
		CASE(a_period_of_user_mode_belongs_to_the_leaf),
		CASE(periods_share_the_hits_and_the_newest_has_the_rest),
		CASE(fewer_hits_than_periods_go_to_the_newest),
		CASE(records_of_other_places_do_not_count),
		CASE(a_call_that_is_made_again_is_the_same_place),
		CASE(records_are_used_once),
		CASE(other_records_are_passed_over),
		CASE(records_continue_at_the_start_of_the_page),
		CASE(old_records_that_were_overwritten_are_not_used),
		CASE(what_did_not_fit_has_room_until_there_is_no_more),
		CASE(a_record_that_is_overwritten_while_it_is_read_is_not_used),
		CASE(a_hidden_kernel_is_one_frame),
		CASE(sizes_that_cannot_be_are_not_followed),
		CASE(without_pages_hits_are_counted_as_unknown),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
