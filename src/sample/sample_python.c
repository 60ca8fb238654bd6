/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_python.c -- the Python frames of a sample, read from outside.
 *
 * The kernel copies a thread's stack with each sample, but CPython's frames lie
 * elsewhere, and a moment later they are others.  So they have to be read before
 * the thread goes on.  For each processor there is a thread, the reader, that
 * runs on this processor only and waits for its samples.  A sample wakes it
 * directly, so the kernel takes the processor away from the thread that was
 * sampled, and that thread stands still, at the very instruction of the sample,
 * while the reader reads its frames.  Nothing has to be stopped for that, and
 * another thread that is ready would do the same.
 *
 *	sampled thread	.....sample|                    |.....
 *	kernel		            copy, wake
 *	reader		                       read frames
 *
 * That it was so is proved afterwards, from the kernel's records of when the
 * thread ran (sample_events_was_stopped).  Where it was not so, as on a machine
 * on which the reader has to wait for its turn, the frames are not used.  That
 * depends on the scheduler and not on what the program was doing, so the other
 * samples are still a fair share of all.
 *
 * Readers hand over what they have read by lists.  Everything else, such as the
 * place of the frames on the native stack, is done later by the sampler.
 */
#include "src/sample/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cpython/layout.h"
#include "dwarf/cfi.h"
#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/symbols/unwind/stack_unwinder.h"

enum {
	PYTHON_MAX_STATES = 4,		/* of one thread */
	READER_BLOCK = 512,		/* bytes, in which memory is known */
	READER_GAP = 4,			/* blocks */
	READER_PAGE = 4096,
	READER_BLOCKS = 1 << 16,	/* slots for them, a power of two */
	READER_ARENA = 64 << 20,
	READER_AHEAD = 1024,		/* blocks that are read in advance */
	READER_RUNS = 512,		/* iovecs of that */
	READER_AGAIN = 64,		/* samples until what is read in advance
					 * is considered anew */
	READER_MISSES = 4,		/* likewise, if so many were missing */
	READER_FRAMES_MAX = 1 << 18,
	READER_THREADS = 4096,		/* remembered; a power of two */
	READER_KNOWN = 1 << 16,		/* code objects; a power of two */
	READER_TEXT = 4096,
	READER_UNKNOWN = 64,
	READER_SLICE_NS = 100000,	/* how long a reader runs at most: short
					 * slices come first */
	READER_SHARE = 4,		/* at most a quarter of the time */
	READER_MANY_THREADS = 64,	/* as in lib/python/python.c */
	READER_SEARCH_EVERY = 16,
};

struct python_frame {
	uint64_t frame, code, tag, mark, probed;
	uint32_t offset, native;
};

struct python_frames {
	struct python_frame *frames;
	size_t n, capacity;
};

/* Frames that one native frame runs. */
struct python_group {
	uint64_t anchor;
	size_t from, n;		/* of the frames, innermost first */
	unsigned state;
};

/* What the walk of one sample works on. */
struct python_walk_state {
	struct python_frames fresh;
	uint64_t states[PYTHON_MAX_STATES];
	unsigned n_states;
	uint32_t n_searched;
	uint64_t n_walks;
	uint64_t code_type;	/* of code objects, once it is known; 0 */
	struct python_group *groups;
	size_t n_groups, groups_capacity;
};

#define PYTHON_KEEP_NS UINT64_C(500000000)	/* a snapshot without a sample */
#define PYTHON_BUCKETS 1024

struct python_reader;

struct python_reading {
	const struct python_runtime *runtime;
	const struct python_layout *layout;
	struct python_walk_state *python;
	uint64_t state;
	size_t n_placed, innermost, outermost;
	bool is_cut;
	bool is_partial;
	bool is_of_array;	/* and n_objects: see lib/python/python.c */
	unsigned n_objects;
	/* Of a reader: */
	struct python_reader *reader;
	uint32_t tid;		/* as the process sees it */
	unsigned turn;		/* of the state */
	/* Of the sampler: */
	const struct sample_stack *stack;
	const struct profile *profile;
};

#include "cpython/walk.h"

/* A code object that a reader meets for the first time. */
struct python_description {
	struct python_description *next;
	uint64_t code, tag;
	uint32_t first_line;
	size_t lines_size;
	const char *name, *file;
	const unsigned char *lines;
	char bytes[];
};

struct sample_snapshot {
	struct sample_snapshot *next;	/* of the reader, or of the table */
	uint32_t pid, tid, serial;
	uint64_t time;			/* of the sample */
	uint64_t begin_ns, end_ns;	/* when it was read */
	bool is_read;		/* as the thread stood when it was sampled, */
	bool is_whole;		/* to the end of its lists, */
	bool is_outer;		/* or without the innermost loop */
	unsigned n_states;
	struct python_description *descriptions;
	struct python_group *groups;		/* [n_groups] */
	size_t n_groups;
	size_t n;
	struct python_frame frames[];
};

/* What a reader remembers of a thread. */
struct python_memo {
	uint32_t tid, serial, inner_tid;
	uint64_t states[PYTHON_MAX_STATES];
	unsigned n_states;
	uint32_t n_searched, n_misses, n_samples;
	uint64_t code_type;
	uint64_t *ahead;	/* [n_ahead] blocks that were used, by address */
	size_t n_ahead;
};

/* Where the reader has a block of the thread's memory. */
struct python_block {
	uint64_t number;	/* address / READER_BLOCK */
	uint32_t turn;		/* the sample that it was read for */
	uint32_t n_after;	/* bytes from its start that are known, ... */
	size_t at;		/* ... in the arena */
	bool is_used;
};

/* A process with an interpreter, as readers know it. */
struct python_process {
	uint32_t pid, serial;
	struct python_runtime runtime;
};

/* A code object as the file has it. */
struct python_known {
	uint64_t tag;
	uint32_t function;
};

struct sample_python_process {
	struct python_process process;
	struct sample_python_symbols symbols;
	uint64_t bias;
	struct id_table codes;		/* their numbers index: */
	struct python_known *known;
	size_t known_capacity;
};

struct sample_python;

struct python_reader {
	struct sample_python *whole;
	pthread_t thread;
	size_t number;		/* of the processor */
	bool is_running;
	bool is_first;		/* whatever else is ready */
	_Atomic bool forgets;	/* what it has described has been lost */
	uint64_t position;	/* in the ring */
	uint64_t begin_ns, busy_ns;
	struct sample_draw draw;
	uint32_t unknown[READER_UNKNOWN];	/* processes that were told */

	struct python_process *processes;	/* [n_processes], its copy */
	size_t n_processes, processes_capacity;
	uint32_t version;

	/* Of the present sample: */
	pid_t tid;
	struct python_walk_state python;
	uint32_t turn;
	unsigned char *arena;
	size_t n_arena;
	struct python_block *blocks;
	uint64_t *used;		/* [n_used] */
	size_t n_used;
	size_t n_misses;

	struct python_memo *memos;	/* [READER_THREADS] */
	uint64_t *known;	/* [READER_KNOWN] code objects described */
	size_t n_known;
	char *name, *file;	/* [READER_TEXT] */

	pthread_mutex_t lock;	/* of the list: */
	struct sample_snapshot *done, **done_end;
};

struct sample_python {
	struct sample_events *events;
	const struct profile *profile;
	struct python_reader *readers;	/* [n_readers] */
	size_t n_readers;
	int stop;		/* eventfd */

	pthread_mutex_t lock;	/* of the processes: */
	struct python_process *processes;	/* [n_processes] by pid */
	size_t n_processes, processes_capacity;
	_Atomic uint32_t version;
	uint32_t n_serials;

	struct sample_snapshot *snapshots[PYTHON_BUCKETS];	/* by time */
	uint64_t next_clean_ns;
	struct python_frames placed;
	size_t n_outside;	/* native frames that are not of the stack */
	struct sample_python_frame *frames;	/* of the last stack */
	size_t frames_capacity;
};

/* ---- memory of the thread ---- */

static struct python_block *
python_reader_slot(struct python_reader *reader, uint64_t number)
{
	/* Neighbours stay together. */
	size_t at = (size_t)(number + (number >> 12) * 0x9e3779b9u);

	for (;; at++) {
		struct python_block *block = &reader->blocks[at &
		    (READER_BLOCKS - 1)];

		if (block->turn != reader->turn || block->number == number)
			return block;
	}
}

/* Notes that bytes of the arena are those at an address, of whole blocks. */
static void
python_reader_enter(struct python_reader *reader, uint64_t address,
                    size_t size, size_t at)
{
	for (size_t i = 0; i < size; i += READER_BLOCK) {
		const uint64_t number = (address + i) / READER_BLOCK;
		struct python_block *block = python_reader_slot(reader, number);

		if (block->turn == reader->turn &&
		    block->n_after >= size - i)
			continue;
		block->is_used &= block->turn == reader->turn;
		block->number = number;
		block->turn = reader->turn;
		block->n_after = (uint32_t)(size - i);
		block->at = at + i;
	}
}

/* Reads the pages of a place; false: they cannot be read. */
static bool
python_reader_read(struct python_reader *reader, uint64_t at, size_t size)
{
	const uint64_t start = at & -(uint64_t)READER_PAGE;
	const size_t whole = (size_t)((at + size - start + READER_PAGE - 1) &
	    -(uint64_t)READER_PAGE);
	struct iovec local, remote = { (void *)(uintptr_t)start, whole };

	if (whole > READER_ARENA - reader->n_arena || ++reader->n_misses *
	    (READER_PAGE / READER_BLOCK) > READER_BLOCKS / 2)
		return false;
	local = (struct iovec){ reader->arena + reader->n_arena, whole };
	if (process_vm_readv(reader->tid, &local, 1, &remote, 1, 0) !=
	    (ssize_t)whole)
		return false;
	python_reader_enter(reader, start, whole, reader->n_arena);
	reader->n_arena += whole;
	return true;
}

/* Notes which blocks are used, to read them in advance next time. */
static void
python_reader_use(struct python_reader *reader, uint64_t at, size_t size)
{
	const uint64_t last = (at + size - 1) / READER_BLOCK;

	for (uint64_t i = at / READER_BLOCK; i <= last; i++) {
		struct python_block *block = python_reader_slot(reader, i);

		if (block->turn != reader->turn || block->is_used ||
		    reader->n_used == READER_AHEAD)
			continue;
		block->is_used = true;
		reader->used[reader->n_used++] = i;
	}
}

static inline const unsigned char *
python_memory(struct python_reading *reading, uint64_t at, size_t size,
    bool is_live)
{
	struct python_reader *reader = reading->reader;
	const size_t in = (size_t)(at % READER_BLOCK);
	const struct python_block *block;

	(void)is_live;
	if (at > UINT64_MAX / 2 || size > READER_ARENA)
		return NULL;
	block = python_reader_slot(reader, at / READER_BLOCK);
	if (block->turn != reader->turn || block->n_after < in + size) {
		if (!python_reader_read(reader, at, size))
			return NULL;
		block = python_reader_slot(reader, at / READER_BLOCK);
	}
	python_reader_use(reader, at, size > 0 ? size : 1);
	return reader->arena + block->at + in;
}

/* Reads what the thread's last samples needed. */
static void
python_reader_read_ahead(struct python_reader *reader,
                          const struct python_memo *memo)
{
	struct iovec local, remote[READER_RUNS];
	size_t n = 0, size = 0, at = 0;
	uint64_t start = 0;
	ssize_t left;

	for (size_t i = 0; i < memo->n_ahead; i++) {
		const uint64_t number = memo->ahead[i];

		/* What lies in a small gap, of less than a page, can be read,
		 * too, for less than another piece of memory costs. */
		if (n == 0 || number > memo->ahead[i - 1] + READER_GAP) {
			if (n == READER_RUNS)
				break;
			start = number * READER_BLOCK;
			remote[n++] = (struct iovec){
				(void *)(uintptr_t)start, 0 };
		}
		remote[n - 1].iov_len = (number + 1) * READER_BLOCK - start;
	}
	for (size_t i = 0; i < n; i++)
		size += remote[i].iov_len;
	if (n == 0)
		return;
	local = (struct iovec){ reader->arena, size };
	left = process_vm_readv(reader->tid, &local, 1, remote, n, 0);
	/* What is not there any more ends it. */
	for (size_t i = 0; i < n && left >= (ssize_t)remote[i].iov_len; i++) {
		python_reader_enter(reader, (uintptr_t)remote[i].iov_base,
		                    remote[i].iov_len, at);
		at += remote[i].iov_len;
		left -= (ssize_t)remote[i].iov_len;
	}
	reader->n_arena = size;
}

static int
python_reader_compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left,
	    b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Remembers what was used, if it differs much from what was expected. */
static void
python_reader_remember(struct python_reader *reader, struct python_memo *memo)
{
	uint64_t *ahead;

	if (memo->ahead != NULL && reader->n_misses < READER_MISSES &&
	    (memo->n_samples % READER_AGAIN != 0 ||
	     reader->n_used == memo->n_ahead))
		return;
	ahead = realloc(memo->ahead, (reader->n_used + 1) * sizeof *ahead);
	if (ahead == NULL)
		return;
	memcpy(ahead, reader->used, reader->n_used * sizeof *ahead);
	qsort(ahead, reader->n_used, sizeof *ahead, python_reader_compare);
	memo->ahead = ahead;
	memo->n_ahead = reader->n_used;
}

/* ---- what the walk needs ---- */

static inline bool
python_is_state_live(uint64_t state)
{
	(void)state;
	return false;
}

static inline bool
python_is_thread(const struct python_reading *reading, uint64_t ident,
    uint64_t tid)
{
	(void)ident;
	return tid == reading->tid;
}

static bool
python_reserve(struct python_frames *frames, size_t n)
{
	struct error ignored = { 0 };

	return n <= READER_FRAMES_MAX && memory_grow(&frames->frames,
	    &frames->capacity, n, sizeof *frames->frames, &ignored) == 0;
}

static bool
python_is_as_before(struct python_reading *reading,
    struct python_frame *frame, uint64_t instruction)
{
	(void)reading;
	(void)frame;
	(void)instruction;
	return false;
}

/* The native frames are not known yet: notes the group. */
static bool
python_place(struct python_reading *reading, size_t from, uint64_t anchor)
{
	struct python_walk_state *python = reading->python;
	struct error ignored = { 0 };

	if (memory_grow(&python->groups, &python->groups_capacity,
	                python->n_groups + 1, sizeof *python->groups,
	                &ignored) != 0)
		return false;
	python->groups[python->n_groups++] = (struct python_group){
		anchor, from, python->fresh.n - from, reading->turn
	};
	return true;
}

static inline size_t
python_n_native(const struct python_reading *reading)
{
	return reading->stack->n - reading->stack->n_kernel;
}

static inline uint64_t
python_native_sp(const struct python_reading *reading, size_t i)
{
	return reading->stack->frames[reading->stack->n - 1 - i].sp;
}

static inline uint64_t
python_native_address(const struct python_reading *reading, size_t i)
{
	return reading->stack->frames[reading->stack->n - 1 - i].pc;
}

/* By the name that a module needs to be imported as greenlet's. */
static inline bool
python_is_greenlet(const struct python_reading *reading, size_t i)
{
	static const char prefix[] = "/_greenlet.";
	const uint32_t module =
	    reading->stack->frames[reading->stack->n - 1 - i].module;
	const char *name = module == NO_MODULE ? NULL :
	    strrchr(reading->profile->modules[module].path, '/');

	return name != NULL && strncmp(name, prefix, sizeof prefix - 1) == 0;
}

/* ---- reading a sample ---- */

/* The thread's number in its own namespace. */
static uint32_t
python_reader_inner_tid(uint32_t pid, uint32_t tid)
{
	static const char field[] = "\nNSpid:";
	char path[64], text[4096], *at;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof path, "/proc/%u/task/%u/status", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof text - 1);
		close(fd);
	}
	if (n <= 0)
		return tid;
	text[n] = '\0';
	at = strstr(text, field);
	if (at == NULL)
		return tid;
	at += strlen(field);
	/* From the outermost namespace to its own. */
	while (*at != '\n' && *at != '\0')
		tid = (uint32_t)strtoul(at, &at, 10);
	return tid;
}

static struct python_memo *
python_reader_memo(struct python_reader *reader,
                   const struct python_process *process, uint32_t tid)
{
	struct python_memo *memo = &reader->memos[tid & (READER_THREADS - 1)];

	if (memo->tid == tid && memo->serial == process->serial)
		return memo;
	free(memo->ahead);
	*memo = (struct python_memo){ .tid = tid, .serial = process->serial,
		.inner_tid = python_reader_inner_tid(process->pid, tid) };
	return memo;
}

/* Whether the thread has states; searches for them if those known are gone. */
static bool
python_reader_find_states(struct python_reading *reading,
                          struct python_memo *memo)
{
	struct python_walk_state *python = reading->python;
	unsigned i;

	python->n_states = memo->n_states;
	memcpy(python->states, memo->states, sizeof python->states);
	for (i = 0; i < python->n_states; i++)
		if (!python_is_own_state(reading, python->states[i]))
			break;
	if (python->n_states > 0 && i == python->n_states)
		return true;
	if (memo->n_searched > READER_MANY_THREADS &&
	    memo->n_misses++ % READER_SEARCH_EVERY != 0) {
		python->n_states = 0;
		return false;
	}
	python_find_states(reading);
	memo->n_searched = python->n_searched;
	memo->n_states = python->n_states;
	memcpy(memo->states, python->states, sizeof memo->states);
	return python->n_states > 0;
}

/* Reads the list that begins with a frame or, in 3.11, a _PyCFrame. */
static bool
python_reader_walk_list(struct python_reading *reading, uint64_t start)
{
	return start == 0 ||
	    (reading->layout->is_entry != PYTHON_NO_FIELD ?
	     python_read_cframes(reading, start) :
	     python_read_frames(reading, start));
}

/*
 * Reads the list of a state without its innermost loop, which has perhaps just
 * been entered and is not complete.  From 3.13 on it is added to the list last.
 */
static bool
python_reader_walk_outer(struct python_reading *reading)
{
	const struct python_layout *layout = reading->layout;
	uint64_t start;

	if (layout->cframe_previous == PYTHON_NO_FIELD ||
	    !python_read_word(reading, reading->state + layout->current,
	                      &start, false) ||
	    !python_read_word(reading, start + layout->cframe_previous, &start,
	                      false) ||
	    (layout->is_entry == PYTHON_NO_FIELD &&
	     !python_read_word(reading, start + layout->cframe_current, &start,
	                       false)))
		return false;
	return python_reader_walk_list(reading, start);
}

/* Reads the lists of all states; false: they cannot be read. */
static bool
python_reader_walk(struct python_reading *reading, bool *is_outer)
{
	struct python_walk_state *python = reading->python;
	uint64_t start;

	for (unsigned i = 0; i < python->n_states; i++) {
		const size_t n = python->fresh.n, n_groups = python->n_groups;

		reading->state = python->states[i];
		reading->turn = i;
		if (!python_read_start(reading, reading->state, &start))
			return false;
		if (python_reader_walk_list(reading, start))
			continue;
		python->fresh.n = n;
		python->n_groups = n_groups;
		*is_outer = true;
		if (!python_reader_walk_outer(reading))
			return false;
	}
	return true;
}

/* Whether a code object has been described; notes that it is now. */
static bool
python_reader_knows(struct python_reader *reader, uint32_t serial,
                    const struct python_frame *frame)
{
	const uint64_t key = python_mix(python_mix(frame->tag, frame->code),
	                                serial) | 1;
	size_t at = (size_t)(key >> 20);

	if (atomic_exchange(&reader->forgets, false) ||
	    reader->n_known > READER_KNOWN / 2) {
		memset(reader->known, 0, READER_KNOWN *
		       sizeof *reader->known);
		reader->n_known = 0;
	}
	for (;; at++) {
		uint64_t *slot = &reader->known[at & (READER_KNOWN - 1)];

		if (*slot == key)
			return true;
		if (*slot != 0)
			continue;
		*slot = key;
		reader->n_known++;
		return false;
	}
}

/* What a code object says of itself; NULL: nothing that can be used. */
static struct python_description *
python_reader_describe(struct python_reading *reading,
                       const struct python_frame *frame)
{
	struct python_reader *reader = reading->reader;
	struct python_description *description;
	struct python_code code;
	size_t n_name, n_file;

	if (!python_read_description(reading, frame->code, &code))
		return NULL;
	n_name = python_read_text(reading, code.name, reader->name,
	                          READER_TEXT);
	n_file = python_read_text(reading, code.file, reader->file,
	                          READER_TEXT);
	if (n_name == SIZE_MAX || n_file == SIZE_MAX)
		return NULL;
	description = malloc(sizeof *description + n_name + n_file + 2 +
	                     code.lines_size);
	if (description == NULL)
		return NULL;
	*description = (struct python_description){
		.code = frame->code, .tag = frame->tag,
		.first_line = code.first_line, .lines_size = code.lines_size,
		.name = description->bytes,
		.file = description->bytes + n_name + 1,
		.lines = (unsigned char *)description->bytes + n_name +
		    n_file + 2,
	};
	memcpy(description->bytes, reader->name, n_name + 1);
	memcpy(description->bytes + n_name + 1, reader->file, n_file + 1);
	memcpy(description->bytes + n_name + n_file + 2, code.lines != NULL ?
	       (const char *)code.lines : "", code.lines_size);
	return description;
}

static struct python_description *
python_reader_describe_all(struct python_reading *reading, uint32_t serial)
{
	const struct python_frames *fresh = &reading->python->fresh;
	struct python_description *all = NULL, *one;

	for (size_t i = 0; i < fresh->n; i++) {
		/* Recursion, most often. */
		if (i > 0 && fresh->frames[i].code ==
		    fresh->frames[i - 1].code)
			continue;
		if (python_reader_knows(reading->reader, serial,
		                        &fresh->frames[i]))
			continue;
		one = python_reader_describe(reading, &fresh->frames[i]);
		if (one == NULL)
			continue;
		one->next = all;
		all = one;
	}
	return all;
}

/*
 * Whether the innermost frame is as it was read.  The records of when the thread
 * ran are the proof that it stood still; where the reader may have had to wait
 * for its turn, this saves what they would refuse.
 */
static bool
python_reader_verify(struct python_reading *reading)
{
	const struct python_walk_state *python = reading->python;
	const struct python_layout *layout = reading->layout;
	uint64_t words[2] = { 0 };
	struct iovec local = { words, sizeof words }, remote[2];
	uint64_t at, current;
	size_t n = 1;

	if (python->n_states != 1)
		return true;
	if (!python_read_word(reading, python->states[0] + layout->current,
	                      &current, false))
		return false;
	remote[0] = (struct iovec){ (void *)(uintptr_t)(python->states[0] +
	    layout->current), sizeof *words };
	if (python->fresh.n > 0) {
		at = python->fresh.frames[0].frame + layout->instruction;
		remote[n++] = (struct iovec){ (void *)(uintptr_t)at,
			sizeof *words };
	}
	local.iov_len = n * sizeof *words;
	if (process_vm_readv(reading->reader->tid, &local, 1, remote, n, 0) !=
	    (ssize_t)local.iov_len || words[0] != current)
		return false;
	return n == 1 || python->fresh.frames[0].offset ==
	    CPPROFDATA_NO_INSTRUCTION || words[1] -
	    (python->fresh.frames[0].code + layout->instructions) +
	    CPPROFDATA_BEFORE_CODE == python->fresh.frames[0].offset;
}

/* Hands over what was read. */
static void
python_reader_deliver(struct python_reader *reader,
                      struct sample_snapshot *snapshot)
{
	pthread_mutex_lock(&reader->lock);
	*reader->done_end = snapshot;
	reader->done_end = &snapshot->next;
	pthread_mutex_unlock(&reader->lock);
}

static struct sample_snapshot *
python_reader_make_snapshot(const struct python_walk_state *python)
{
	const size_t n = python->fresh.n, n_groups = python->n_groups;
	struct sample_snapshot *snapshot = malloc(sizeof *snapshot +
	    n * sizeof *snapshot->frames + n_groups *
	    sizeof *snapshot->groups);

	if (snapshot == NULL)
		return NULL;
	*snapshot = (struct sample_snapshot){ .n = n, .n_groups = n_groups,
		.n_states = python->n_states };
	snapshot->groups = (struct python_group *)(void *)
	    (snapshot->frames + n);
	if (n > 0)
		memcpy(snapshot->frames, python->fresh.frames,
		       n * sizeof *snapshot->frames);
	if (n_groups > 0)
		memcpy(snapshot->groups, python->groups,
		       n_groups * sizeof *snapshot->groups);
	return snapshot;
}

static void
python_reader_take(struct python_reader *reader,
                   const struct python_process *process,
                   const struct sample_seen *seen)
{
	struct python_memo *memo = python_reader_memo(reader, process,
	                                              seen->tid);
	struct python_reading reading = {
		.runtime = &process->runtime,
		.layout = &process->runtime.layout,
		.python = &reader->python,
		.reader = reader,
		.tid = memo->inner_tid,
	};
	struct python_description *descriptions = NULL;
	struct sample_snapshot *snapshot;
	bool is_read = false, is_whole = false, is_outer = false;
	uint64_t begin_ns, end_ns;

	begin_ns = clock_ns(CLOCK_MONOTONIC);
	reader->tid = (pid_t)seen->tid;
	reader->turn++;
	reader->n_arena = reader->n_used = reader->n_misses = 0;
	reader->python.fresh.n = reader->python.n_groups = 0;
	reader->python.code_type = memo->code_type;
	python_reader_read_ahead(reader, memo);
	if (python_reader_find_states(&reading, memo)) {
		is_whole = python_reader_walk(&reading, &is_outer);
		if (is_whole)
			descriptions = python_reader_describe_all(&reading,
			    process->serial);
		is_read = reader->is_first || python_reader_verify(&reading);
	}
	end_ns = clock_ns(CLOCK_MONOTONIC);
	memo->code_type = reader->python.code_type;
	python_reader_remember(reader, memo);
	memo->n_samples++;
	snapshot = python_reader_make_snapshot(&reader->python);
	if (snapshot == NULL)
		return;
	snapshot->pid = seen->pid;
	snapshot->tid = seen->tid;
	snapshot->serial = process->serial;
	snapshot->time = seen->time;
	snapshot->begin_ns = begin_ns;
	snapshot->end_ns = end_ns;
	snapshot->is_read = is_read;
	snapshot->is_whole = is_whole;
	snapshot->is_outer = is_outer;
	snapshot->descriptions = descriptions;
	python_reader_deliver(reader, snapshot);
}

/* ---- readers ---- */

/* Copies the processes if they have changed. */
static void
python_reader_update(struct python_reader *reader)
{
	struct sample_python *whole = reader->whole;
	struct error ignored = { 0 };

	if (atomic_load(&whole->version) == reader->version)
		return;
	pthread_mutex_lock(&whole->lock);
	if (memory_grow(&reader->processes, &reader->processes_capacity,
	                whole->n_processes + 1, sizeof *reader->processes,
	                &ignored) == 0) {
		reader->n_processes = whole->n_processes;
		if (whole->n_processes > 0)
			memcpy(reader->processes, whole->processes,
			       whole->n_processes *
			       sizeof *reader->processes);
		reader->version = atomic_load(&whole->version);
	}
	pthread_mutex_unlock(&whole->lock);
}

static int
python_process_compare(const void *key, const void *process)
{
	const uint32_t pid = *(const uint32_t *)key,
	    other = ((const struct python_process *)process)->pid;

	return pid < other ? -1 : pid > other;
}

static struct python_process *
python_process_find(struct python_process *processes, size_t n, uint32_t pid)
{
	return n == 0 ? NULL : bsearch(&pid, processes, n, sizeof *processes,
	                               python_process_compare);
}

/*
 * Lets the reader run at once when it is woken.  Who may not have a real-time
 * priority still comes first by asking for little time (Linux 6.12).  Whether it
 * has that priority.
 */
static bool
python_reader_hurry(int cpu)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} slice = { .size = 48, .runtime = READER_SLICE_NS };
	/* Before the sampler's (sampler.c). */
	const struct sched_param priority = { .sched_priority = 2 };
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	const size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);

	if (set != NULL) {
		CPU_ZERO_S(size, set);
		CPU_SET_S((size_t)cpu, size, set);
		sched_setaffinity(0, size, set);
		CPU_FREE(set);
	}
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
	                       &priority) == 0)
		return true;
	syscall(SYS_sched_setattr, 0, &slice, 0);
	return false;
}

/*
 * A process that is not known: the sampler has to look at it soon, for as long
 * as that its frames cannot be read.
 */
static void
python_reader_tell(struct python_reader *reader, uint32_t pid)
{
	uint32_t *known = &reader->unknown[pid % READER_UNKNOWN];

	if (*known != pid)
		sample_events_hurry(reader->whole->events);
	*known = pid;
}

static void *
python_reader_run(void *context)
{
	struct python_reader *reader = context;
	const struct sample_python *whole = reader->whole;
	const struct python_process *process;
	struct sample_seen seen;
	uint64_t now;

	reader->is_first = python_reader_hurry(sample_events_processor(
	    whole->events, reader->number));
	reader->begin_ns = clock_ns(CLOCK_MONOTONIC);
	reader->draw.state = (reader->begin_ns << 8 | 1) +
	    (uint64_t)reader->number * 2;
	while (sample_events_wait_sample(whole->events, reader->number,
	                                 whole->stop)) {
		while (sample_events_next_sample(whole->events,
		       reader->number, &reader->position, &seen)) {
			sample_events_note_clock(whole->events,
			                         reader->number, &seen,
			                         &reader->draw);
			python_reader_update(reader);
			process = python_process_find(reader->processes,
			    reader->n_processes, seen.pid);
			if (process == NULL) {
				python_reader_tell(reader, seen.pid);
				continue;
			}
			now = clock_ns(CLOCK_MONOTONIC);
			if (reader->busy_ns * READER_SHARE >
			    now - reader->begin_ns)
				continue;
			python_reader_take(reader, process, &seen);
			reader->busy_ns += clock_ns(CLOCK_MONOTONIC) - now;
		}
		sample_events_draw(whole->events, reader->number,
		                   &reader->draw);
	}
	return NULL;
}

static void
snapshot_free(struct sample_snapshot *snapshot)
{
	struct python_description *description = snapshot->descriptions;

	while (description != NULL) {
		struct python_description *next = description->next;

		free(description);
		description = next;
	}
	free(snapshot);
}

/*
 * Lets readers describe again what they have described: it was lost, or the
 * thread may have run meanwhile.
 */
static void
python_forget_known(struct sample_python *python)
{
	for (size_t i = 0; i < python->n_readers; i++)
		atomic_store(&python->readers[i].forgets, true);
}

static void
snapshots_free(struct sample_snapshot *snapshot)
{
	while (snapshot != NULL) {
		struct sample_snapshot *next = snapshot->next;

		snapshot_free(snapshot);
		snapshot = next;
	}
}

static int
python_reader_begin(struct python_reader *reader, struct error *error)
{
	sigset_t all, before;
	int why;

	reader->arena = mmap(NULL, READER_ARENA, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reader->arena == MAP_FAILED)
		reader->arena = NULL;
	reader->blocks = memory_array(READER_BLOCKS, sizeof *reader->blocks,
	                              error);
	reader->used = memory_array(READER_AHEAD, sizeof *reader->used, error);
	reader->memos = memory_array(READER_THREADS, sizeof *reader->memos,
	                             error);
	reader->known = memory_array(READER_KNOWN, sizeof *reader->known,
	                             error);
	reader->name = memory_array(READER_TEXT, 1, error);
	reader->file = memory_array(READER_TEXT, 1, error);
	if (error->is_set || reader->arena == NULL)
		return error->is_set ? -1 : error_set(error,
		    "no memory to read Python's frames");
	/* Signals are for the sampler. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	why = pthread_create(&reader->thread, NULL, python_reader_run, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	reader->is_running = why == 0;
	return why == 0 ? 0 : error_set(error, "a thread to read Python's "
	                                "frames: %s", strerror(why));
}

static void
python_reader_end(struct python_reader *reader)
{
	if (reader->is_running)
		pthread_join(reader->thread, NULL);
	if (reader->arena != NULL)
		munmap(reader->arena, READER_ARENA);
	for (size_t i = 0; reader->memos != NULL && i < READER_THREADS; i++)
		free(reader->memos[i].ahead);
	free(reader->blocks);
	free(reader->used);
	free(reader->memos);
	free(reader->known);
	free(reader->name);
	free(reader->file);
	free(reader->processes);
	free(reader->python.fresh.frames);
	free(reader->python.groups);
	snapshots_free(reader->done);
	pthread_mutex_destroy(&reader->lock);
}

struct sample_python *
sample_python_new(struct sample_events *events, const struct profile *profile,
                  struct error *error)
{
	struct sample_python *python = memory_array(1, sizeof *python, error);

	if (python == NULL)
		return NULL;
	pthread_mutex_init(&python->lock, NULL);
	python->events = events;
	python->profile = profile;
	python->stop = -1;
	return python;
}

int
sample_python_begin(struct sample_python *python, struct error *error)
{
	const size_t n = sample_events_n_processors(python->events);

	python->stop = eventfd(0, EFD_CLOEXEC);
	if (python->stop < 0)
		return error_set(error, "eventfd: %s", strerror(errno));
	python->readers = memory_array(n, sizeof *python->readers, error);
	if (python->readers == NULL ||
	    sample_events_begin_watch(python->events, error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct python_reader *reader = &python->readers[i];

		python->n_readers++;
		reader->whole = python;
		reader->number = i;
		reader->done_end = &reader->done;
		pthread_mutex_init(&reader->lock, NULL);
		if (python_reader_begin(reader, error) != 0)
			return -1;
	}
	return 0;
}

void
sample_python_free(struct sample_python *python)
{
	if (python == NULL)
		return;
	if (python->stop >= 0)
		eventfd_write(python->stop, 1);
	for (size_t i = 0; i < python->n_readers; i++)
		python_reader_end(&python->readers[i]);
	if (python->stop >= 0)
		close(python->stop);
	for (size_t i = 0; i < PYTHON_BUCKETS; i++)
		snapshots_free(python->snapshots[i]);
	pthread_mutex_destroy(&python->lock);
	free(python->readers);
	free(python->processes);
	free(python->placed.frames);
	free(python->frames);
	free(python);
}

/* ---- processes ---- */

/* Takes a process away from the readers; lock held. */
static void
python_process_forget(struct sample_python *python, uint32_t pid)
{
	struct python_process *process = python_process_find(
	    python->processes, python->n_processes, pid);
	size_t i;

	if (process == NULL)
		return;
	i = (size_t)(process - python->processes);
	memmove(process, process + 1, (--python->n_processes - i) *
	        sizeof *process);
	atomic_fetch_add(&python->version, 1);
}

void
sample_python_remove(struct sample_python *python,
                     struct sample_python_process *process)
{
	if (process == NULL)
		return;
	pthread_mutex_lock(&python->lock);
	python_process_forget(python, process->process.pid);
	pthread_mutex_unlock(&python->lock);
	id_table_free(&process->codes);
	free(process->known);
	free(process);
}

/* Makes a process known to the readers; lock held. */
static int
python_process_insert(struct sample_python *python,
                      const struct python_process *process,
                      struct error *error)
{
	size_t i = 0;

	python_process_forget(python, process->pid);
	if (memory_grow(&python->processes, &python->processes_capacity,
	                python->n_processes + 1, sizeof *python->processes,
	                error) != 0)
		return -1;
	while (i < python->n_processes &&
	       python->processes[i].pid < process->pid)
		i++;
	memmove(&python->processes[i + 1], &python->processes[i],
	        (python->n_processes++ - i) * sizeof *python->processes);
	python->processes[i] = *process;
	atomic_fetch_add(&python->version, 1);
	return 0;
}

/* Reads memory of a process. */
static bool
python_process_read(uint32_t pid, uint64_t at, void *to, size_t size)
{
	struct iovec local = { to, size },
	    remote = { (void *)(uintptr_t)at, size };

	return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) ==
	    (ssize_t)size;
}

/*
 * Finds the loop and its code that lies apart.  address: of an instruction of the
 * loop, if no symbol says where that is; else 0.
 */
static void
python_process_find_loop(struct sample_python_process *process,
                         uint64_t address)
{
	const struct sample_python_symbols *symbols = &process->symbols;
	const uint64_t at = symbols->index_address + process->bias;
	const uint32_t pid = process->process.pid;
	struct python_runtime runtime = process->process.runtime;
	unsigned char *code, apart[PYTHON_BEGIN_SIZE];
	uint64_t size;

	if (symbols->index == NULL || (runtime.loop_end == 0 &&
	        !python_set_loop(&runtime, address, symbols->index,
	                         symbols->index_size, at)))
		return;
	size = runtime.loop_end - runtime.loop;
	code = size < PYTHON_BEGIN_SIZE || size > PYTHON_MAX_LOOP ? NULL :
	    malloc(size);
	if (code != NULL &&
	    python_process_read(pid, runtime.loop, code, size)) {
		python_find_cold(&runtime, code, symbols->index,
		                 symbols->index_size, at);
		if (symbols->loop_size == 0 && runtime.cold_end != 0 &&
		    python_process_read(pid, runtime.cold, apart,
		                        sizeof apart))
			python_order_loop(&runtime, code, apart);
		process->process.runtime = runtime;
	}
	free(code);
}

/*
 * An index of functions in the form of .eh_frame_hdr, from .eh_frame: static
 * programs have only that.
 */
static int
python_make_index(const struct elf_file *file,
                  struct sample_python_symbols *symbols, struct error *error)
{
	static const unsigned char header[CFI_INDEX_HEADER] = {
		1, DWARF_EH_PE_omit, DWARF_EH_PE_udata4,
		DWARF_EH_PE_datarel | DWARF_EH_PE_sdata4
	};
	struct symbol_table *ranges = symbol_table_new(error);
	struct cfi_index_row *rows;
	uint32_t n;

	if (ranges == NULL || unwind_ranges_add(ranges, file, error) != 0 ||
	    symbol_table_sort(ranges, error) != 0) {
		symbol_table_free(ranges);
		return -1;
	}
	n = (uint32_t)symbol_table_count(ranges);
	symbols->index_size = sizeof header + n * sizeof *rows;
	symbols->index = memory_array(symbols->index_size, 1, error);
	if (symbols->index != NULL && n > 0) {
		symbols->index_address = symbol_table_at(ranges, 0)->start;
		memcpy(symbols->index, header, sizeof header);
		memcpy(symbols->index + sizeof header - sizeof n, &n, sizeof n);
		rows = (struct cfi_index_row *)(void *)(symbols->index +
		    sizeof header);
		for (uint32_t i = 0; i < n; i++)
			rows[i].address = (int32_t)(symbol_table_at(ranges,
			    i)->start - symbols->index_address);
	}
	symbol_table_free(ranges);
	return symbols->index != NULL ? 0 : -1;
}

/* Finds where the file's functions begin. */
static int
python_find_index(const struct elf_file *file,
                  struct sample_python_symbols *symbols, struct error *error)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, ".eh_frame_hdr",
	                                          &header);
	Elf_Data *data = section == NULL ? NULL : elf_file_contents(section);

	if (data == NULL || data->d_size < CFI_INDEX_HEADER)
		return python_make_index(file, symbols, error);
	symbols->index_address = header.sh_addr;
	symbols->index_size = data->d_size;
	symbols->index = memory_copy(data->d_buf, data->d_size, 1, error);
	return symbols->index != NULL ? 0 : -1;
}

int
sample_python_symbols(const struct elf_file *file,
                      struct sample_python_symbols *symbols,
                      struct error *error)
{
	static const GElf_Word types[] = { SHT_DYNSYM, SHT_SYMTAB };
	GElf_Shdr header;
	uint64_t size;
	bool found = false;

	*symbols = (struct sample_python_symbols){ 0 };
	for (size_t i = 0; !found && i < sizeof types / sizeof *types; i++) {
		found = elf_symbols_lookup(file, types[i], "_PyRuntime",
		    &symbols->runtime, &size);
		if (!found)
			continue;
		/* What is missing is found by what the interpreter runs. */
		elf_symbols_lookup(file, types[i], "PyCode_Type",
		                   &symbols->code_type, &size);
		elf_symbols_lookup(file, types[i], "Py_Version",
		                   &symbols->version, &size);
		elf_symbols_lookup(file, types[i], "_PyEval_EvalFrameDefault",
		                   &symbols->loop, &symbols->loop_size);
	}
	if (!found && elf_file_named_section(file, ".PyRuntime",
	                                     &header) != NULL) {
		symbols->runtime = header.sh_addr;
		found = true;
	}
	return !found ? 0 :
	    python_find_index(file, symbols, error) == 0 ? 1 : -1;
}

/* Where an interpreter is, and its layout; false: it cannot be read. */
static bool
python_process_open(struct sample_python_process *process, bool *is_refused)
{
	_Alignas(8) unsigned char table[PYTHON_TABLE_SIZE];
	const struct sample_python_symbols *symbols = &process->symbols;
	struct python_runtime *runtime = &process->process.runtime;
	const uint32_t pid = process->process.pid;
	const uint64_t bias = process->bias;
	uint64_t version = 0;

	*runtime = (struct python_runtime){
		.runtime = symbols->runtime + bias,
		.code_type = symbols->code_type == 0 ? 0 :
		    symbols->code_type + bias,
	};
	if (symbols->loop_size > 0) {
		runtime->loop = symbols->loop + bias;
		runtime->loop_end = runtime->loop + symbols->loop_size;
	}
	if ((symbols->version != 0 && !python_process_read(pid,
	        symbols->version + bias, &version, sizeof version)) ||
	    !python_process_read(pid, runtime->runtime, table, sizeof table)) {
		*is_refused = errno == EPERM;
		return false;
	}
	runtime->is_supported = python_layout_find((uint32_t)version, table,
	                                           &runtime->layout);
	if (runtime->loop_end != 0)
		python_process_find_loop(process, 0);
	return true;
}

bool
sample_python_look(uint32_t pid, const struct sample_python_symbols *symbols,
                   uint64_t bias, struct python_runtime *runtime,
                   bool *is_refused)
{
	struct sample_python_process process = {
		.process.pid = pid, .symbols = *symbols, .bias = bias
	};

	if (!python_process_open(&process, is_refused))
		return false;
	*runtime = process.process.runtime;
	return true;
}

struct sample_python_process *
sample_python_add(struct sample_python *python, uint32_t pid,
                  const struct sample_python_symbols *symbols, uint64_t bias,
                  bool *is_refused, struct error *error)
{
	struct sample_python_process *process = memory_array(1,
	    sizeof *process, error);
	int result = 0;

	*is_refused = false;
	if (process == NULL)
		return NULL;
	process->process.pid = pid;
	process->symbols = *symbols;
	process->bias = bias;
	if (!python_process_open(process, is_refused)) {
		free(process);
		return NULL;
	}
	process->process.serial = ++python->n_serials;
	if (process->process.runtime.is_supported) {
		pthread_mutex_lock(&python->lock);
		result = python_process_insert(python, &process->process,
		                               error);
		pthread_mutex_unlock(&python->lock);
	}
	if (result == 0)
		return process;
	free(process);
	return NULL;
}

bool
sample_python_is_supported(const struct sample_python_process *process)
{
	return process->process.runtime.is_supported;
}

bool
sample_python_knows_loop(const struct sample_python_process *process)
{
	return process->process.runtime.loop_end != 0;
}

/* ---- what was read ---- */

/* Where the snapshot of a sample of that time is, or would be. */
static struct sample_snapshot **
python_bucket(struct sample_python *python, uint64_t time)
{
	return &python->snapshots[(time * 0x9e3779b97f4a7c15u >> 40) %
	    PYTHON_BUCKETS];
}

/* Frees those whose samples were lost. */
static void
python_clean(struct sample_python *python, uint64_t now_ns)
{
	for (size_t i = 0; i < PYTHON_BUCKETS; i++) {
		struct sample_snapshot **link = &python->snapshots[i];

		while (*link != NULL) {
			struct sample_snapshot *snapshot = *link;

			if (snapshot->end_ns + PYTHON_KEEP_NS > now_ns) {
				link = &snapshot->next;
				continue;
			}
			if (snapshot->descriptions != NULL)
				python_forget_known(python);
			*link = snapshot->next;
			snapshot_free(snapshot);
		}
	}
}

void
sample_python_collect(struct sample_python *python)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < python->n_readers; i++) {
		struct python_reader *reader = &python->readers[i];
		struct sample_snapshot *done;

		pthread_mutex_lock(&reader->lock);
		done = reader->done;
		reader->done = NULL;
		reader->done_end = &reader->done;
		pthread_mutex_unlock(&reader->lock);
		while (done != NULL) {
			struct sample_snapshot *next = done->next;
			struct sample_snapshot **bucket = python_bucket(
			    python, done->time);

			done->next = *bucket;
			*bucket = done;
			done = next;
		}
	}
	if (now_ns < python->next_clean_ns)
		return;
	python_clean(python, now_ns);
	python->next_clean_ns = now_ns + PYTHON_KEEP_NS;
}

/* Places the groups of a state; false: they do not fit. */
static bool
python_place_groups(struct python_reading *reading,
                    const struct sample_snapshot *snapshot, unsigned state,
                    struct python_frames *placed)
{
	for (size_t i = 0; i < snapshot->n_groups; i++) {
		const struct python_group *group = &snapshot->groups[i];
		size_t native;

		if (group->state != state)
			continue;
		native = python_note_native(reading, group->anchor);
		if (native == PYTHON_NOT_PLACED) {
			reading->is_cut = true;
			return reading->is_partial;
		}
		for (size_t k = 0; k < group->n; k++) {
			placed->frames[placed->n] =
			    snapshot->frames[group->from + k];
			placed->frames[placed->n++].native = (uint32_t)native;
		}
	}
	return true;
}

bool
sample_python_is_loop(const struct sample_python_process *process,
                      const struct sample_frame *frame)
{
	return frame->pc != 0 &&
	    python_is_loop(&process->process.runtime, frame->pc);
}

uint64_t
sample_python_loop(const struct sample_python_process *process)
{
	return process->process.runtime.loop;
}

/* Counts the loop's native frames from `first` on; *last: the innermost one. */
static size_t
python_count_loops(const struct python_reading *reading, size_t first,
                   size_t *last)
{
	size_t n = 0;

	*last = first;
	for (size_t i = first; i < python_n_native(reading); i++)
		if (python_is_loop(reading->runtime,
		                   python_native_address(reading, i))) {
			n++;
			*last = i;
		}
	return n;
}

/*
 * Takes away what the innermost loop runs.  This loop has just been entered, and
 * its part of the list may not be complete; it has not run anything yet.
 */
static void
python_take_innermost(struct python_reading *reading,
                      struct python_frames *placed)
{
	const size_t innermost = python_n_native(reading) - 1;
	size_t n = 0;

	for (size_t i = 0; i < placed->n; i++)
		if (placed->frames[i].native != innermost)
			placed->frames[n++] = placed->frames[i];
	placed->n = n;
	if (reading->innermost != innermost)
		return;
	reading->n_placed--;
	reading->innermost = PYTHON_NOT_PLACED;
}

/* Places the groups of all states; false: they do not fit. */
static bool
python_place_states(struct sample_python *python,
                    struct python_reading *reading,
                    const struct sample_snapshot *snapshot)
{
	python->placed.n = 0;
	reading->n_placed = 0;
	reading->innermost = reading->outermost = PYTHON_NOT_PLACED;
	for (unsigned i = 0; i < snapshot->n_states; i++)
		if (!python_place_groups(reading, snapshot, i,
		                         &python->placed))
			return false;
	return true;
}

/*
 * Finds the loop of a stripped interpreter, by a frame with an anchor: that is in
 * nothing but the loop.  False: there is none that proves it.
 */
static bool
python_learn_loop(struct sample_python_process *process,
                  const struct python_reading *reading)
{
	const size_t native = reading->outermost;

	if (native == PYTHON_NOT_PLACED || native == 0 ||
	    reading->is_partial || reading->stack->was_guessed)
		return false;
	python_process_find_loop(process,
	    python_native_address(reading, native) - 1);
	return python_is_loop(&process->process.runtime,
	                      python_native_address(reading, native));
}

/* Places what was read, in python->placed; false: it does not fit. */
static bool
python_fit(struct sample_python *python, struct sample_python_process *process,
           struct python_reading *reading,
           const struct sample_snapshot *snapshot)
{
	size_t n_loops, last;

	if (!snapshot->is_whole ||
	    !python_place_states(python, reading, snapshot))
		return false;
	if (!sample_python_knows_loop(process) &&
	    (!python_learn_loop(process, reading) ||
	     !python_place_states(python, reading, snapshot)))
		return false;
	if (python_is_at_entry(reading))
		python_take_innermost(reading, &python->placed);
	else if (snapshot->is_outer)
		return false;
	if (snapshot->n_states == 1)
		python->n_outside = python_n_outside(reading);
	n_loops = python_count_loops(reading, python->n_outside, &last);
	if (!python_loops_fit(reading, n_loops, last, true))
		return false;
	if (snapshot->n_states > 1)
		python_sort_frames(&python->placed);
	return true;
}

/*
 * Places the frames of a sample, and finds python->n_outside.  False: they do
 * not fit.
 */
static bool
python_place_all(struct sample_python *python,
                 struct sample_python_process *process,
                 const struct sample_snapshot *snapshot,
                 const struct sample_stack *stack)
{
	struct python_reading reading = {
		.runtime = &process->process.runtime,
		.layout = &process->process.runtime.layout,
		.is_partial = stack->is_partial,
		.stack = stack,
		.profile = python->profile,
	};

	if (python_n_native(&reading) == 0 ||
	    !python_reserve(&python->placed, snapshot->n + 1))
		return false;
	if (!python_fit(python, process, &reading, snapshot)) {
		/* What is further out than the innermost loop is not known. */
		python_count_loops(&reading, 0, &python->n_outside);
		return false;
	}
	for (size_t i = 0; i < python->placed.n; i++)
		python->placed.frames[i].native -=
		    (uint32_t)python->n_outside;
	return true;
}

/* Adds the functions that a sample describes to the file. */
static int
python_learn(struct sample_python_process *process,
             const struct sample_snapshot *snapshot, struct sample_file *file,
             struct error *error)
{
	for (const struct python_description *description =
	     snapshot->descriptions; description != NULL;
	     description = description->next) {
		const struct sample_function function = {
			description->name, description->file,
			description->first_line, description->lines,
			description->lines_size
		};
		const uint32_t number = id_table_add(&process->codes,
		    description->code, error);

		if (number == NO_ID ||
		    memory_grow(&process->known, &process->known_capacity,
		                (size_t)number + 1, sizeof *process->known,
		                error) != 0)
			return -1;
		process->known[number] = (struct python_known){
			description->tag, sample_file_function(file, &function)
		};
	}
	return 0;
}

/* The number of a frame's function; 0: it is not known. */
static uint32_t
python_function(const struct sample_python_process *process,
                const struct python_frame *frame)
{
	const uint32_t number = id_table_find(&process->codes, frame->code);

	return number == NO_ID || process->known[number].tag != frame->tag ?
	    0 : process->known[number].function;
}

/*
 * The sample's frames, from those that were placed: 1; 0: there is a function
 * that was not described; -1 with *error set.
 */
static int
python_name_all(struct sample_python *python,
                const struct sample_python_process *process,
                struct error *error)
{
	const struct python_frames *placed = &python->placed;

	if (memory_grow(&python->frames, &python->frames_capacity,
	                placed->n + 1, sizeof *python->frames, error) != 0)
		return -1;
	for (size_t i = 0; i < placed->n; i++) {
		const struct python_frame *frame =
		    &placed->frames[placed->n - 1 - i];

		python->frames[i] = (struct sample_python_frame){
			python_function(process, frame), frame->offset,
			frame->native
		};
		if (python->frames[i].function != 0)
			continue;
		python_forget_known(python);
		return 0;
	}
	return 1;
}

/* Takes what was read for a sample out of the table; NULL: nothing was. */
static struct sample_snapshot *
python_take_snapshot(struct sample_python *python,
                     const struct perf_sample *sample)
{
	struct sample_snapshot **link = python_bucket(python, sample->time);
	struct sample_snapshot *snapshot;

	while (*link != NULL && ((*link)->tid != sample->tid ||
	       (*link)->time != sample->time))
		link = &(*link)->next;
	snapshot = *link;
	if (snapshot != NULL)
		*link = snapshot->next;
	return snapshot;
}

/* Finds the frames, in python->frames: 1; 0: they are not known; or -1. */
static int
python_use_snapshot(struct sample_python *python,
                    struct sample_python_process *process,
                    struct sample_file *file,
                    const struct sample_snapshot *snapshot,
                    const struct sample_stack *stack, bool *is_unfit,
                    struct error *error)
{
	if (snapshot->serial != process->process.serial ||
	    !snapshot->is_read ||
	    !sample_events_was_stopped(python->events, snapshot->tid,
	        snapshot->begin_ns, snapshot->end_ns)) {
		if (snapshot->descriptions != NULL)
			python_forget_known(python);
		return 0;
	}
	if (python_learn(process, snapshot, file, error) != 0)
		return -1;
	*is_unfit = !python_place_all(python, process, snapshot, stack);
	return *is_unfit ? 0 : python_name_all(python, process, error);
}

int
sample_python_frames(struct sample_python *python,
                     struct sample_python_process *process,
                     struct sample_file *file,
                     const struct perf_sample *sample,
                     const struct sample_stack *stack,
                     struct sample_python_stack *frames, struct error *error)
{
	struct sample_snapshot *snapshot = python_take_snapshot(python,
	    sample);
	bool is_unfit = false;
	int found;

	*frames = (struct sample_python_stack){ 0 };
	if (snapshot == NULL)
		return 0;
	python->n_outside = 0;
	found = python_use_snapshot(python, process, file, snapshot, stack,
	                            &is_unfit, error);
	snapshot_free(snapshot);
	*frames = (struct sample_python_stack){ python->frames,
		python->placed.n, python->n_outside, is_unfit };
	return found;
}
