/* SPDX-License-Identifier: MIT */
/* perf-stack.c -- the kernel's part of a stack, from a perf event's records.
 *
 * The event's own page is mapped, with the position of the newest record, and
 * pages for records.  These are locked memory, which is scarce, so there is one
 * at first, and after a stay in the kernel whose records did not fit as many as
 * these needed.  Since they are mapped read-only, the kernel overwrites old
 * records and never waits for us.  It writes backwards: the newest record
 * begins at `head`, and the next older one right behind it.
 *
 *	   head      head + size
 *	    |newest  |older |...   |seen at the last sample
 *
 * A record consists of a header, the number of addresses, these from the
 * innermost one outwards, the kind of registers (0: none), and the registers.
 * Among the addresses are marks that say that the following ones are the
 * kernel's.  All are words of 8 bytes.  A record may continue at the start of the
 * pages.
 *
 * The event counts while we read, and new records may overwrite old ones.  So
 * a record is used only if its place is still its own when it has been read.
 */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"

#define WORD 8
#define RING_MOST (64 * CPPROFDATA_PAGE)
#define N_REGISTERS 2		/* stack pointer and pc */
#define RECORD_LEAST (WORD * (3 + N_REGISTERS))

/* The records that belong to a stack, newest first. */
struct perf_records {
	uint64_t head;
	uint64_t size, left;	/* bytes of all since the last sample, and of
				   those that are still there */
	uint64_t n;
};

static bool
perf_stack_map_sized(struct account *account, uint32_t ring_size)
{
	account->page = files_map_part(NULL, CPPROFDATA_PAGE + ring_size,
	    PROT_READ, MAP_SHARED, account->fd, 0);
	account->stacks_size = 0;
	account->stacks_seen = 0;
	if (account->page == MAP_FAILED) {
		account->page = NULL;
		return false;
	}
	account->stacks_size = ring_size;
	return true;
}

void
perf_stack_map(struct account *account)
{
	if (account->view != PERF_SEES_STACKS ||
	    !perf_stack_map_sized(account, CPPROFDATA_PAGE))
		perf_stack_map_sized(account, 0);
	account->stacks_most = RING_MOST;
}

void
perf_stack_unmap(struct account *account)
{
	if (account->page != NULL)
		files_unmap(account->page, CPPROFDATA_PAGE +
		    account->stacks_size);
	account->page = NULL;
	account->stacks_size = 0;
}

/*
 * Maps room for that many bytes of records, or as many as the kernel gives.
 * Never asks again for what it has refused.
 */
static void
perf_stack_grow(struct account *account, uint64_t wanted)
{
	const uint32_t before = account->stacks_size;
	uint32_t size = account->stacks_most;

	/* Without its descriptor, only the pages keep the event. */
	if (size <= before || !perf_event_is_ours(account))
		return;
	while (size / 2 >= wanted && size / 2 > before)
		size /= 2;
	perf_stack_unmap(account);
	for (; size > before; size /= 2) {
		if (perf_stack_map_sized(account, size))
			return;
		account->stacks_most = size / 2;
	}
	if (!perf_stack_map_sized(account, before))
		perf_stack_map(account);
	account->stacks_most = before;
}

/* Where the newest record begins; places are modulo 2^64. */
static uint64_t
perf_stack_head(const struct account *account)
{
	const struct perf_event_mmap_page *page = account->page;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static uint64_t
perf_stack_word(const struct account *account, uint64_t at)
{
	const char *records = (const char *)account->page + CPPROFDATA_PAGE;

	return __atomic_load_n((const uint64_t *)(const void *)(records +
	    at % account->stacks_size), __ATOMIC_RELAXED);
}

/* The size of a record; 0: it is not whole any more. */
static uint64_t
perf_stack_size(const struct account *account, uint64_t at)
{
	const uint64_t header = perf_stack_word(account, at), size = header >> 48;

	return size >= WORD && size % WORD == 0 &&
	    at + size - perf_stack_head(account) <= account->stacks_size ?
	    size : 0;
}

/*
 * Whether the thread had entered the kernel, or was interrupted, where the
 * context is.  A system call that is made again begins once more.
 */
static bool
is_of_context(const struct account *account, uint64_t at, uint64_t size,
    const ucontext_t *context)
{
	const uint64_t header = perf_stack_word(account, at);
	const uint64_t registers = at + size - WORD * N_REGISTERS;
	const uint64_t here = (uint64_t)*arch_pc((ucontext_t *)context);
	uint64_t pc;

	if ((uint32_t)header != PERF_RECORD_SAMPLE || size < RECORD_LEAST ||
	    perf_stack_word(account, registers - WORD) == 0)
		return false;
	pc = perf_stack_word(account, registers + WORD);
	return (pc == here || pc == here + ARCH_CALL_SIZE) &&
	    perf_stack_word(account, registers) == arch_stack(context);
}

/* Counts the records since the last sample that belong to the context. */
static void
perf_stack_find(struct account *account, const ucontext_t *context,
    struct perf_records *records)
{
	const uint64_t seen = account->stacks_seen;
	uint64_t at = perf_stack_head(account), size;

	records->head = at;
	records->n = 0;
	records->size = seen - at;
	account->stacks_seen = at;
	while (at != seen) {
		size = perf_stack_size(account, at);
		if (size == 0)
			break;
		records->n += is_of_context(account, at, size, context);
		at += size;
	}
	records->left = at - records->head;
}

/*
 * Adds the frames of a record below a node, outermost first.  The innermost
 * address is where the kernel was, the others are return addresses.  False,
 * with the node unchanged, if that is not possible.
 */
static bool
perf_stack_insert(struct thread *thread, const struct account *account,
    uint64_t at, struct node *leaf)
{
	const uint64_t size = perf_stack_size(account, at);
	const uint64_t first = at + 2 * WORD;
	struct tree_place place = { .module = CPPROFDATA_NO_MODULE }, last;
	enum store_result result = STORE_OK;
	struct node node = *leaf;
	uint64_t n, address;

	if (size == 0)
		return false;
	n = perf_stack_word(account, at + WORD);
	if (n > size / WORD)
		return false;
	while (n > 0 && result == STORE_OK) {
		n--;
		address = perf_stack_word(account, first + n * WORD);
		if (address >= PERF_CONTEXT_MAX)	/* a mark */
			continue;
		/* The innermost, behind the mark, is the only exact one. */
		last = place;
		result = modules_find_kernel(&thread->file->modules,
		    address - (n > 1), &place.module, &place.offset);
		/* Of a kernel that hides its addresses, one frame is enough. */
		if (result == STORE_OK && (place.module != last.module ||
		    place.offset != last.offset || place.offset != 0))
			result = tree_child(&thread->file->tree, &node, &place,
			    &node);
	}
	if (result != STORE_OK || perf_stack_size(account, at) != size)
		return false;
	*leaf = node;
	return true;
}

/*
 * Periods that have ended at once have equal parts of the hits.  Those whose
 * records are overwritten ended before the others, perhaps in other functions.
 */
void
perf_stack_count(struct thread *thread, unsigned column,
    const struct node *leaf, uint64_t hits, uint64_t now_ns,
    const void *context, count_at *count)
{
	struct account *account = &thread->meters->accounts[column];
	struct perf_records records = { .n = 0 };
	uint64_t known = hits, unknown = hits, at, size, i = 0;

	if (account->view != PERF_SEES_STACKS) {
		count(thread, column, leaf, hits, now_ns);
		return;
	}
	datafile_flag(CPPROFDATA_KERNEL_FRAMES);
	if (account->stacks_size > 0)
		perf_stack_find(account, context, &records);
	if (records.left < records.size)
		known = hits * records.left / records.size;
	for (at = records.head; i < records.n; at += size) {
		const uint64_t part = known / records.n +
		    (i < known % records.n);
		struct node node = *leaf;

		size = perf_stack_size(account, at);
		if (size == 0 || part == 0)
			break;
		if (!is_of_context(account, at, size, context))
			continue;
		i++;
		if (!perf_stack_insert(thread, account, at, &node))
			continue;
		count(thread, column, &node, part, now_ns);
		unknown -= part;
	}
	if (unknown > 0) {
		datafile_count_drop(CPPROFDATA_NO_KERNEL_FRAMES, 1, unknown);
		count(thread, column, leaf, unknown, now_ns);
	}
	if (records.left < records.size)
		perf_stack_grow(account, records.size);
}
