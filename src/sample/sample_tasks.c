/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tasks.c -- the tasks of asyncio in a process that runs, and how long
 * they wait.
 *
 * CPython does not note when a task began to wait.  So its memory is read again
 * and again, and what counts is how long a task was seen at one place: the same
 * frames at the same instructions, waiting for the same future.
 *
 *	looks		1	2	3	4	5
 *	task A		a	a	a	a	a	at least 5 - 1
 *	task B		b	b	c	c	c	at least 5 - 3,
 *							less than 5 - 2
 *
 * A task that leaves its place and comes back between two looks, with another
 * future at the same address, looks as if it had stayed.  asyncio.sleep says
 * when it ends and how long it is, so its beginning is known, and two of them
 * are never taken for one.
 *
 * Up to 3.13 asyncio keeps its tasks in a set of weak references in the module
 * asyncio.tasks: _all_tasks (3.11), or _scheduled_tasks.  From 3.14 on each
 * thread has a list of its tasks, and the module _asyncio a table that says
 * where.
 *
 * The process is neither stopped nor changed, so what is read may change
 * meanwhile.  Objects are what the names of their types say (cpython/tasks.h);
 * dictionaries, sets and lists have an end, and each look reads TASKS_READS
 * times and TASKS_ARENA bytes at most.  What is told of a task was so in two looks, one after the
 * other.
 */
#include "src/sample/sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cpython/layout.h"
#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/task.h"
#include "src/formats/cpprofdata/interpreted.h"

enum {
	TASKS_MAX = 100000,
	TASKS_ENTRIES_MAX = 1 << 20,	/* of a dictionary or set */
	TASKS_LIST_FRAMES = 4096,	/* of a thread, to find its loop */
	TASKS_LOOPS = 64,
	TASKS_LOCALS = 64,		/* of a frame */
	TASKS_PAGE = 4096,
	TASKS_PAGES = 1 << 17,		/* slots for them, a power of two */
	TASKS_ARENA = 256 << 20,	/* bytes */
	TASKS_READS = 1 << 25,		/* of memory, however often the same:
					 * lists may lead back into themselves */
	TASKS_TEXT = 4096,
	TASKS_PERIOD_NS = 10000000,	/* from one look to the next, */
	TASKS_REST = 19,		/* and at least so many times what one
					 * takes */
	TASKS_ATTEMPTS = 8,		/* to see a task twice as it was */

	/* The same in all versions. */
	MODULE_DICTIONARY = 16, DICTIONARY_KEYS = 32,
	KEYS_INDEX_BYTES = 9, KEYS_KIND = 10, KEYS_COUNT = 24, KEYS_INDEX = 32,
	KEYS_GENERAL = 0, KEYS_UNICODE = 1,	/* kinds */
	WEAK_SET_DATA = 0,		/* the first attribute */
	WEAK_OBJECT = 16, FUTURE_LOOP = 16, FLOAT_VALUE = 16,
	INTEGER_DIGITS = 24, INTEGER_BITS = 30
};

/* What walk.h explains, as far as tasks.h needs it. */
struct python_frame {
	uint64_t frame, code, tag, mark, probed;
	uint32_t offset, native;
};

struct python_frames {
	struct python_frame *frames;
	size_t n, capacity;
};

struct tasks_frames {
	struct python_frames fresh;
	uint64_t n_walks;
	uint64_t code_type;
};

/* Memory of the process as it was read for one look. */
struct tasks_memory {
	pid_t tid;
	unsigned char *arena;	/* [TASKS_ARENA] */
	size_t used;
	struct tasks_page {
		uint64_t number;
		const unsigned char *bytes;	/* NULL: cannot be read */
		uint32_t turn;
	} *pages;		/* [TASKS_PAGES] */
	uint32_t turn;
	size_t n_pages, n_reads;
};

struct python_reading {
	const struct python_runtime *runtime;
	const struct python_layout *layout;
	struct tasks_frames *python;
	struct tasks_memory *memory;
	bool is_of_array;
	unsigned n_objects;
};

#include "cpython/objects.h"
#include "cpython/tasks.h"

/* Where _asyncio has tasks from 3.14 on: its table .AsyncioDebug. */
struct tasks_table {
	bool is_known;
	uint64_t node;			/* of a task: its place in a list */
	uint64_t of_interpreter, of_thread;	/* of these: the list */
};

enum {
	DEBUG_TASK_SIZE, DEBUG_TASK_AWAITED_BY = 2, DEBUG_TASK_COROUTINE = 5,
	DEBUG_TASK_NODE, DEBUG_INTERPRETER_SIZE, DEBUG_INTERPRETER_TASKS,
	DEBUG_THREAD_SIZE, DEBUG_THREAD_TASKS = 12, DEBUG_TASKS_WORDS
};

/* A task in a look. */
struct tasks_seen {
	uint64_t task, mark;
	uint64_t since_ns;	/* the end of the first look at this place */
	uint64_t before_ns;	/* the begin of the last one at another; 0 */
	uint64_t begun_ns;	/* when the wait began; 0: not known */
	bool is_told;
};

struct tasks_look {
	uint64_t begin_ns, end_ns;
	struct tasks_seen *seen;	/* [n] by address */
	size_t n, capacity;
	bool is_cut;
};

struct tasks_watch {
	pid_t pid;
	struct python_runtime runtime;
	struct tasks_table table;
	struct tasks_memory memory;
	struct tasks_frames python;
	struct python_reading reading;
	struct tasks_look now, last;
	bool has_asyncio;
	struct tasks_loop {
		uint64_t loop, tid;
	} loops[TASKS_LOOPS];
	size_t n_loops;
	size_t n_looks;
	char name[TASKS_TEXT], file[TASKS_TEXT];
	struct sample_tasks *result;
	size_t capacity;
};

/* ---- memory ---- */

/* Reads what lies between two addresses; NULL: it cannot be read. */
static const unsigned char *
tasks_memory_read(struct tasks_memory *memory, uint64_t at, size_t size)
{
	unsigned char *to = memory->arena + memory->used;
	struct iovec local = { to, size },
	    remote = { (void *)(uintptr_t)at, size };

	if (size > TASKS_ARENA - memory->used ||
	    process_vm_readv(memory->tid, &local, 1, &remote, 1, 0) !=
	    (ssize_t)size)
		return NULL;
	memory->used += (size + 7) & -(size_t)8;
	return to;
}

static struct tasks_page *
tasks_memory_page(struct tasks_memory *memory, uint64_t number)
{
	for (size_t at = (size_t)(number * 0x9e3779b97f4a7c15u >> 32);; at++) {
		struct tasks_page *page = &memory->pages[at &
		    (TASKS_PAGES - 1)];

		if (page->turn != memory->turn || page->number == number)
			return page;
	}
}

static inline const unsigned char *
python_memory(struct python_reading *reading, uint64_t at, size_t size,
    bool is_live)
{
	struct tasks_memory *memory = reading->memory;
	const size_t in = (size_t)(at % TASKS_PAGE);
	struct tasks_page *page;

	(void)is_live;
	if (at < TASKS_PAGE || at > UINT64_MAX / 2 || size > TASKS_ARENA ||
	    ++memory->n_reads > TASKS_READS)
		return NULL;
	if (in + size > TASKS_PAGE)
		return tasks_memory_read(memory, at, size);
	page = tasks_memory_page(memory, at / TASKS_PAGE);
	if (page->turn != memory->turn) {
		if (++memory->n_pages > TASKS_PAGES / 2)
			return NULL;
		*page = (struct tasks_page){ at / TASKS_PAGE,
			tasks_memory_read(memory, at - in, TASKS_PAGE),
			memory->turn };
	}
	return page->bytes == NULL ? NULL : page->bytes + in;
}

static bool
python_reserve(struct python_frames *frames, size_t n)
{
	struct error ignored = { 0 };

	return memory_grow(&frames->frames, &frames->capacity, n,
	                   sizeof *frames->frames, &ignored) == 0;
}

/* What follows is read anew. */
static void
tasks_memory_forget(struct tasks_memory *memory)
{
	memory->turn++;
	memory->used = memory->n_pages = memory->n_reads = 0;
}

static uint64_t
tasks_word(struct tasks_watch *watch, uint64_t at)
{
	uint64_t word;

	return python_task_word(&watch->reading, at, &word) ? word : 0;
}

/* Whether an object's type has a name. */
static bool
tasks_is(struct tasks_watch *watch, uint64_t object, const char *name)
{
	const uint64_t type = object == 0 ? 0 : tasks_word(watch, object +
	    watch->reading.layout->type);
	const uint64_t at = type == 0 ? 0 : tasks_word(watch, type +
	    watch->reading.layout->type_name);

	return at != 0 && python_has_text(&watch->reading, at, name,
	                                  strlen(name) + 1);
}

/* ---- objects ---- */

/* The value of a key in a dictionary of strings; 0: there is none. */
static uint64_t
tasks_dictionary_find(struct tasks_watch *watch, uint64_t dictionary,
                      const char *key)
{
	const struct python_layout *layout = watch->reading.layout;
	const uint64_t keys = dictionary == 0 ? 0 : tasks_word(watch,
	    dictionary + DICTIONARY_KEYS);
	const unsigned char *head = python_task_bytes(&watch->reading, keys,
	    KEYS_INDEX);
	uint64_t at, n, size, name;

	if (head == NULL || head[KEYS_INDEX_BYTES] > 32 ||
	    head[KEYS_KIND] > KEYS_UNICODE)
		return 0;
	n = python_word(head + KEYS_COUNT);
	/* A hash comes first if the keys may be others than strings. */
	size = head[KEYS_KIND] == KEYS_UNICODE ? 2 : 3;
	at = keys + KEYS_INDEX + (UINT64_C(1) << head[KEYS_INDEX_BYTES]) +
	    (size - 2) * sizeof at;
	for (uint64_t i = 0; i < n && i < TASKS_ENTRIES_MAX; i++) {
		name = python_object_at(&watch->reading, at + i * size *
		    sizeof at);
		if (name != 0 && tasks_word(watch, name + layout->length) ==
		    strlen(key) && python_has_text(&watch->reading, name +
		    layout->ascii, key, strlen(key)) &&
		    tasks_is(watch, name, "str"))
			return python_object_at(&watch->reading, at + (i *
			    size + 1) * sizeof at);
	}
	return 0;
}

/* An integer up to 2 digits of CPython's; 0: it is none, or greater. */
static uint64_t
tasks_integer(struct tasks_watch *watch, uint64_t object)
{
	const unsigned char *bytes = python_task_bytes(&watch->reading,
	    object, INTEGER_DIGITS + sizeof(uint64_t));
	/* 3.11 has the number of digits there, others that times 8. */
	const unsigned shift = watch->reading.layout->hash !=
	    PYTHON_NO_FIELD ? 0 : 3;
	uint64_t n;

	if (bytes == NULL || !tasks_is(watch, object, "int"))
		return 0;
	n = python_word(bytes + INTEGER_DIGITS - sizeof n) >> shift;
	if (n == 1)
		return python_half(bytes + INTEGER_DIGITS);
	return n != 2 ? 0 : python_half(bytes + INTEGER_DIGITS) |
	    (uint64_t)python_half(bytes + INTEGER_DIGITS + 4) << INTEGER_BITS;
}

/* A float or an integer; -1: it is neither. */
static double
tasks_number(struct tasks_watch *watch, uint64_t object)
{
	const unsigned char *bytes;
	double number = -1;

	if (tasks_is(watch, object, "int"))
		return (double)tasks_integer(watch, object);
	if (tasks_is(watch, object, "float") &&
	    (bytes = python_task_bytes(&watch->reading, object + FLOAT_VALUE,
	    sizeof number)) != NULL)
		memcpy(&number, bytes, sizeof number);
	return number;
}

/* The name of a task, which may be a number until it is asked for. */
static const char *
tasks_name(struct tasks_watch *watch, uint64_t task)
{
	const uint64_t name = python_object_at(&watch->reading, task +
	    watch->reading.layout->tasks.coroutine + sizeof name);

	if (tasks_is(watch, name, "int"))
		snprintf(watch->name, sizeof watch->name, "Task-%" PRIu64,
		         tasks_integer(watch, name));
	else if (name == 0 || python_read_text(&watch->reading, name,
	         watch->name, sizeof watch->name) == SIZE_MAX)
		watch->name[0] = '\0';
	return watch->name;
}

/* Whether a code object is that of a function, by its name and file. */
static bool
tasks_is_function(struct tasks_watch *watch, uint64_t code, const char *name,
                  const char *file)
{
	const struct python_layout *layout = watch->reading.layout;
	const uint64_t text = tasks_word(watch, code + layout->name);
	size_t length;

	if (tasks_word(watch, text + layout->length) != strlen(name) ||
	    !python_has_text(&watch->reading, text + layout->ascii, name,
	                     strlen(name) + 1))
		return false;
	if (file == NULL)
		return true;
	length = python_read_text(&watch->reading, tasks_word(watch, code +
	    layout->file), watch->file, sizeof watch->file);
	return length != SIZE_MAX && length >= strlen(file) &&
	    strcmp(watch->file + length - strlen(file), file) == 0;
}

/* How many words of variables and stack a suspended frame has. */
static uint64_t
tasks_n_words(struct tasks_watch *watch, uint64_t frame)
{
	const struct python_tasks *tasks = &watch->reading.layout->tasks;
	const uint64_t stack = tasks_word(watch, frame + tasks->stack);

	return tasks->has_count ? stack & UINT32_MAX :
	    (stack - (frame + tasks->locals)) / sizeof stack;
}

/*
 * When asyncio.sleep began, if that is a frame's function, by the monotonic
 * clock: the handle that ends it says when, and its argument how long it is.
 * 0: not known.
 */
static uint64_t
tasks_sleep_begin(struct tasks_watch *watch, const struct python_frame *frame)
{
	const struct python_layout *layout = watch->reading.layout;
	const uint64_t locals = frame->frame + layout->tasks.locals;
	double delay, when;
	uint64_t at, n;

	if (!tasks_is_function(watch, frame->code, "sleep",
	                       "/asyncio/tasks.py"))
		return 0;
	n = tasks_n_words(watch, frame->frame);
	for (uint64_t i = 1; i < n && i < TASKS_LOCALS; i++) {
		at = python_object_at(&watch->reading, locals + i * sizeof at);
		if (at == 0 || !tasks_is(watch, at, "TimerHandle"))
			continue;
		/* The attribute is in the last slot. */
		at += tasks_word(watch, tasks_word(watch, at + layout->type) +
		    PYTHON_TYPE_SIZE) - sizeof at;
		when = tasks_number(watch, python_object_at(&watch->reading,
		    at));
		delay = tasks_number(watch, python_object_at(&watch->reading,
		    locals));
		return delay < 0 || when < delay || when > 1e9 ? 0 :
		    (uint64_t)((when - delay) * 1e9);
	}
	return 0;
}

/* ---- one look ---- */

/* What a task does; its frames are those in watch->python. */
static enum sample_task_state
tasks_read_state(struct tasks_watch *watch, uint64_t task, uint64_t coroutine,
                 uint64_t future)
{
	const struct python_tasks *tasks = &watch->reading.layout->tasks;
	const enum python_kind kind = python_kind(&watch->reading, coroutine);
	const unsigned char *byte;
	int state;

	watch->python.fresh.n = 0;
	if (kind != PYTHON_COROUTINE && kind != PYTHON_GENERATOR)
		return future != 0 ? SAMPLE_TASK_WAITS : SAMPLE_TASK_READY;
	byte = python_task_bytes(&watch->reading, coroutine + tasks->state, 1);
	if (byte == NULL)
		return SAMPLE_TASK_MOVES;
	state = (signed char)*byte;
	if (state > tasks->suspended_to)
		return SAMPLE_TASK_RUNS;
	if (state < tasks->suspended_from)
		return SAMPLE_TASK_NEW;
	if (!python_add_task(&watch->reading, task, PYTHON_MAX_AWAITING))
		return SAMPLE_TASK_MOVES;
	return future != 0 ? SAMPLE_TASK_WAITS : SAMPLE_TASK_READY;
}

/*
 * Reads a task, with its frames in watch->python; false: it is none that has
 * yet to end.
 */
static bool
tasks_read(struct tasks_watch *watch, uint64_t task, struct tasks_seen *seen,
           enum sample_task_state *state)
{
	const struct python_tasks *tasks = &watch->reading.layout->tasks;
	const struct python_frames *fresh = &watch->python.fresh;
	uint64_t coroutine, future, mark;

	watch->reading.n_objects = 0;
	watch->reading.is_of_array = false;
	if (task % sizeof task != 0 ||
	    python_kind(&watch->reading, task) != PYTHON_TASK)
		return false;
	coroutine = python_object_at(&watch->reading, task + tasks->coroutine);
	if (coroutine == 0)
		return false;
	future = python_object_at(&watch->reading, task + tasks->coroutine -
	    sizeof future);
	*state = tasks_read_state(watch, task, coroutine, future);
	mark = python_mix(python_mix(task, coroutine), future);
	mark = python_mix(mark, *state);
	/* The name has a number of its own: the next task may have the address
	 * of this one. */
	for (const char *c = tasks_name(watch, task); *c != '\0'; c++)
		mark = python_mix(mark, (unsigned char)*c);
	for (size_t i = 0; i < fresh->n; i++)
		mark = python_mix(python_mix(python_mix(mark,
		    fresh->frames[i].frame), fresh->frames[i].tag),
		    fresh->frames[i].offset);
	*seen = (struct tasks_seen){ .task = task };
	if (fresh->n > 0 && *state == SAMPLE_TASK_WAITS)
		seen->begun_ns = tasks_sleep_begin(watch, &fresh->frames[0]);
	seen->mark = python_mix(mark, seen->begun_ns);
	return true;
}

static int
tasks_add(struct tasks_watch *watch, uint64_t task, struct error *error)
{
	struct tasks_look *now = &watch->now;
	enum sample_task_state state;
	struct tasks_seen seen;

	if (!tasks_read(watch, task, &seen, &state))
		return 0;
	if (now->n == TASKS_MAX) {
		now->is_cut = true;
		return 0;
	}
	if (memory_grow(&now->seen, &now->capacity, now->n + 1,
	                sizeof *now->seen, error) != 0)
		return -1;
	now->seen[now->n++] = seen;
	return 0;
}

/* The tasks of a set of weak references to them. */
static int
tasks_add_set(struct tasks_watch *watch, uint64_t set, struct error *error)
{
	const uint64_t mask = tasks_word(watch, set + PYTHON_SET_MASK),
	    table = tasks_word(watch, set + PYTHON_SET_TABLE);
	int result = 0;

	if (!tasks_is(watch, set, "set"))
		return 0;
	for (uint64_t i = 0; result == 0 && i <= mask &&
	     i < TASKS_ENTRIES_MAX; i++) {
		const uint64_t weak = python_object_at(&watch->reading, table +
		    i * PYTHON_SET_ENTRY);

		if (weak != 0)
			result = tasks_add(watch, python_object_at(
			    &watch->reading, weak + WEAK_OBJECT), error);
	}
	return result;
}

/* Those of a list that leads back to its head. */
static int
tasks_add_list(struct tasks_watch *watch, uint64_t head, struct error *error)
{
	uint64_t node = tasks_word(watch, head);
	int result = 0;

	for (size_t i = 0; result == 0 && node != 0 && node != head; i++) {
		if (i == TASKS_MAX) {
			watch->now.is_cut = true;
			break;
		}
		result = tasks_add(watch, node - watch->table.node, error);
		node = tasks_word(watch, node);
	}
	return result;
}

/* Those of an interpreter. */
static int
tasks_add_all(struct tasks_watch *watch, uint64_t interpreter,
              struct error *error)
{
	const struct python_layout *layout = watch->reading.layout;
	uint64_t thread, module;
	int result = 0;

	module = tasks_dictionary_find(watch, tasks_word(watch, interpreter +
	    layout->modules), "asyncio.tasks");
	watch->has_asyncio |= module != 0;
	if (watch->table.is_known) {
		thread = tasks_word(watch, interpreter + layout->threads);
		for (size_t i = 0; result == 0 && thread != 0 &&
		     i < PYTHON_MAX_THREADS; i++) {
			result = tasks_add_list(watch, thread +
			    watch->table.of_thread, error);
			thread = tasks_word(watch, thread +
			    layout->next_thread);
		}
		return result != 0 ? result : tasks_add_list(watch,
		    interpreter + watch->table.of_interpreter, error);
	}
	if (!tasks_is(watch, module, "module"))
		return 0;
	module = tasks_word(watch, module + MODULE_DICTIONARY);
	for (unsigned i = 0; result == 0 && i < 2; i++) {
		const uint64_t set = tasks_dictionary_find(watch, module,
		    i == 0 ? "_all_tasks" : "_scheduled_tasks");

		if (tasks_is(watch, set, "WeakSet"))
			result = tasks_add_set(watch, python_attribute(
			    &watch->reading, set, WEAK_SET_DATA), error);
	}
	return result;
}

static int
tasks_seen_compare(const void *left, const void *right)
{
	const uint64_t a = ((const struct tasks_seen *)left)->task,
	    b = ((const struct tasks_seen *)right)->task;

	return a < b ? -1 : a > b;
}

static struct tasks_seen *
tasks_look_find(const struct tasks_look *look, uint64_t task)
{
	const struct tasks_seen key = { .task = task };

	return look->n == 0 ? NULL : bsearch(&key, look->seen, look->n,
	                                     sizeof key, tasks_seen_compare);
}

/* Takes over from the last look what it knew of the same tasks. */
static void
tasks_look_continue(struct tasks_look *now, const struct tasks_look *last)
{
	size_t n = 0;

	if (now->n > 0)
		qsort(now->seen, now->n, sizeof *now->seen,
		      tasks_seen_compare);
	for (size_t i = 0; i < now->n; i++) {
		struct tasks_seen *seen = &now->seen[i];
		const struct tasks_seen *before;

		if (n > 0 && now->seen[n - 1].task == seen->task)
			continue;
		before = tasks_look_find(last, seen->task);
		seen->since_ns = now->end_ns;
		if (before != NULL && before->mark == seen->mark) {
			seen->since_ns = before->since_ns;
			seen->before_ns = before->before_ns;
			seen->is_told = before->is_told;
		} else if (before != NULL) {
			seen->before_ns = last->begin_ns;
			seen->is_told = before->is_told;
		}
		now->seen[n++] = *seen;
	}
	now->n = n;
}

/* Looks at all tasks, which become watch->now. */
static int
tasks_look(struct tasks_watch *watch, struct error *error)
{
	const struct python_layout *layout = watch->reading.layout;
	const struct tasks_look before = watch->last;
	uint64_t interpreter;
	int result = 0;

	watch->last = watch->now;
	watch->now = before;
	watch->now.n = 0;
	watch->now.is_cut = false;
	watch->n_looks++;
	tasks_memory_forget(&watch->memory);
	watch->now.begin_ns = clock_ns(CLOCK_MONOTONIC);
	interpreter = tasks_word(watch, watch->runtime.runtime +
	    layout->interpreters);
	for (unsigned i = 0; result == 0 && interpreter != 0 &&
	     i < PYTHON_MAX_INTERPRETERS; i++) {
		result = tasks_add_all(watch, interpreter, error);
		interpreter = tasks_word(watch, interpreter +
		    layout->next_interpreter);
	}
	watch->now.end_ns = clock_ns(CLOCK_MONOTONIC);
	tasks_look_continue(&watch->now, &watch->last);
	return result;
}

/* ---- what is told of a task ---- */

/* Finds the loops that a thread runs, by the frames of run_forever. */
static void
tasks_find_loops_of(struct tasks_watch *watch, uint64_t thread)
{
	static const char name[] = "BaseEventLoop.run_forever";
	const struct python_layout *layout = watch->reading.layout;
	uint64_t frame = tasks_word(watch, thread + layout->current), at;
	const unsigned char *bytes, *code;

	if (layout->cframe_current != PYTHON_NO_FIELD && frame != 0)
		frame = tasks_word(watch, frame + layout->cframe_current);
	for (size_t i = 0; frame != 0 && i < TASKS_LIST_FRAMES &&
	     watch->n_loops < TASKS_LOOPS; i++) {
		bytes = python_task_bytes(&watch->reading, frame,
		    PYTHON_FRAME_SIZE);
		if (bytes == NULL)
			return;
		at = python_word(bytes + layout->code) & ~layout->tag;
		code = at % sizeof at != 0 ? NULL : python_task_bytes(
		    &watch->reading, at, layout->code_size);
		if (code != NULL && python_is_code(&watch->reading, code) &&
		    tasks_is_function(watch, at, name, NULL))
			watch->loops[watch->n_loops++] = (struct tasks_loop){
				python_object_at(&watch->reading, frame +
				    layout->tasks.locals),
				tasks_word(watch, thread + layout->tid)
			};
		frame = python_word(bytes + layout->previous);
	}
}

static void
tasks_find_loops(struct tasks_watch *watch)
{
	const struct python_layout *layout = watch->reading.layout;
	uint64_t interpreter = tasks_word(watch, watch->runtime.runtime +
	    layout->interpreters), thread;

	watch->n_loops = 0;
	for (unsigned i = 0; interpreter != 0 &&
	     i < PYTHON_MAX_INTERPRETERS; i++) {
		thread = tasks_word(watch, interpreter + layout->threads);
		for (size_t k = 0; thread != 0 && k < PYTHON_MAX_THREADS;
		     k++) {
			tasks_find_loops_of(watch, thread);
			thread = tasks_word(watch, thread +
			    layout->next_thread);
		}
		interpreter = tasks_word(watch, interpreter +
		    layout->next_interpreter);
	}
}

/* The thread that runs the loop of a task; 0: not known. */
static uint32_t
tasks_thread(struct tasks_watch *watch, uint64_t task)
{
	const uint64_t loop = python_object_at(&watch->reading, task +
	    FUTURE_LOOP);

	for (size_t i = 0; i < watch->n_loops; i++)
		if (watch->loops[i].loop == loop)
			return (uint32_t)watch->loops[i].tid;
	return 0;
}

/* The line of a frame's instruction; 0: not known. */
static uint32_t
tasks_line(const struct python_code *code, uint32_t offset,
           struct error *error)
{
	const size_t size = (size_t)code->lines_size;
	uint32_t *begins, *lines, line = code->first_line;
	size_t n;

	offset &= ~(uint32_t)CPPROFDATA_AWAITS;
	if (offset < CPPROFDATA_BEFORE_CODE || size == 0)
		return line;
	offset -= CPPROFDATA_BEFORE_CODE;
	begins = memory_array(size, sizeof *begins, error);
	lines = memory_array(size, sizeof *lines, error);
	if (!error->is_set) {
		n = line_table_decode(code->lines, size, code->first_line,
		                      begins, lines);
		n = partition_point(n, i, begins[i] <= offset);
		line = n > 0 ? lines[n - 1] : 0;
	}
	free(begins);
	free(lines);
	return line;
}

static int
tasks_tell_frame(struct tasks_watch *watch, const struct python_frame *frame,
                 struct sample_task_frame *told, struct error *error)
{
	struct arena *arena = &watch->result->arena;
	struct python_code code;
	const char *path = "";

	*told = (struct sample_task_frame){ .function = "?", .file = "" };
	if (!python_read_description(&watch->reading, frame->code, &code))
		return 0;
	if (python_read_text(&watch->reading, code.name, watch->name,
	                     sizeof watch->name) != SIZE_MAX)
		told->function = arena_text(arena, watch->name,
		    strlen(watch->name), error);
	if (python_read_text(&watch->reading, code.file, watch->file,
	                     sizeof watch->file) != SIZE_MAX)
		path = interpreted_shown_path(watch->file);
	told->file = arena_text(arena, path, strlen(path), error);
	told->line = tasks_line(&code, frame->offset, error);
	return error->is_set ? -1 : 0;
}

/* Tells of a task, if it is as it was in the last look: 1; 0; or -1. */
static int
tasks_tell(struct tasks_watch *watch, struct tasks_seen *seen,
           struct sample_task *told, struct error *error)
{
	struct arena *arena = &watch->result->arena;
	const struct python_frames *fresh = &watch->python.fresh;
	struct sample_task_frame *frames;
	struct tasks_seen now;
	uint64_t by;

	*told = (struct sample_task){ .address = seen->task };
	if (!tasks_read(watch, seen->task, &now, &told->state) ||
	    now.mark != seen->mark || told->state == SAMPLE_TASK_MOVES)
		return 0;
	frames = arena_alloc(arena, (fresh->n + 1) * sizeof *frames, error);
	for (size_t i = 0; !error->is_set && i < fresh->n; i++)
		tasks_tell_frame(watch, &fresh->frames[i], &frames[i], error);
	told->frames = frames;
	told->n_frames = fresh->n;
	told->name = arena_format(arena, error, "%s",
	                          tasks_name(watch, seen->task));
	told->thread = tasks_thread(watch, seen->task);
	watch->reading.n_objects = 0;
	by = python_awaiting_task(&watch->reading, seen->task);
	told->awaited_by = by;
	if (by != 0)
		told->awaited_by_name = arena_format(arena, error, "%s",
		    tasks_name(watch, by));
	return error->is_set ? -1 : 1;
}

/* How long it waits, at the time of the last look. */
static void
tasks_tell_time(const struct tasks_watch *watch,
                const struct tasks_seen *seen, struct sample_task *told)
{
	const struct tasks_look *now = &watch->now;

	told->time_ns = now->begin_ns;
	told->less_than_ns = UINT64_MAX;
	if (now->begin_ns > seen->since_ns)
		told->at_least_ns = now->begin_ns - seen->since_ns;
	if (seen->before_ns != 0)
		told->less_than_ns = now->end_ns - seen->before_ns;
	/* What the program says has to be possible. */
	if (seen->begun_ns != 0 && seen->begun_ns < now->begin_ns &&
	    now->begin_ns - seen->begun_ns >= told->at_least_ns) {
		told->at_least_ns = now->begin_ns - seen->begun_ns;
		told->less_than_ns = now->end_ns - seen->begun_ns;
	}
}

/*
 * Tells of the tasks of the last look that have not been told, and keeps those
 * that the look after it sees where they were.
 */
static int
tasks_tell_more(struct tasks_watch *watch, struct error *error)
{
	struct sample_tasks *result = watch->result;
	const size_t from = result->n;
	size_t n = from;

	tasks_find_loops(watch);
	for (size_t i = 0; i < watch->now.n; i++) {
		if (watch->now.seen[i].is_told)
			continue;
		if (memory_grow(&result->tasks, &watch->capacity,
		                result->n + 1, sizeof *result->tasks,
		                error) != 0)
			return -1;
		switch (tasks_tell(watch, &watch->now.seen[i],
		                   &result->tasks[result->n], error)) {
		case 1:
			result->n++;
			break;
		case -1:
			return -1;
		}
	}
	if (tasks_look(watch, error) != 0)
		return -1;
	for (size_t i = from; i < result->n; i++) {
		struct tasks_seen *seen = tasks_look_find(&watch->now,
		    result->tasks[i].address);
		const struct tasks_seen *last = tasks_look_find(&watch->last,
		    result->tasks[i].address);

		if (seen == NULL || last == NULL || seen->mark != last->mark)
			continue;
		seen->is_told = true;
		result->tasks[n] = result->tasks[i];
		tasks_tell_time(watch, seen, &result->tasks[n++]);
	}
	result->n = n;
	return 0;
}

/* Counts the tasks that were not seen twice at one place. */
static size_t
tasks_count_others(struct tasks_watch *watch)
{
	struct sample_tasks *result = watch->result;

	result->n_others = 0;
	for (size_t i = 0; i < watch->now.n; i++)
		result->n_others += !watch->now.seen[i].is_told;
	result->is_cut = watch->now.is_cut;
	result->n_looks = watch->n_looks;
	return result->n_others;
}

static int
tasks_compare(const void *left, const void *right)
{
	const struct sample_task *a = left, *b = right;

	if (a->at_least_ns != b->at_least_ns)
		return a->at_least_ns > b->at_least_ns ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* ---- the process ---- */

/* Reads the table of the module _asyncio; one that cannot be it is not used. */
static void
tasks_read_table(struct tasks_watch *watch, uint64_t at)
{
	const struct python_tasks *tasks = &watch->runtime.layout.tasks;
	uint64_t words[DEBUG_TASKS_WORDS];
	struct iovec local = { words, sizeof words },
	    remote = { (void *)(uintptr_t)at, sizeof words };

	if (process_vm_readv(watch->memory.tid, &local, 1, &remote, 1, 0) !=
	    (ssize_t)sizeof words ||
	    words[DEBUG_TASK_COROUTINE] != tasks->coroutine ||
	    words[DEBUG_TASK_AWAITED_BY] != tasks->awaited_by ||
	    words[DEBUG_TASK_NODE] >= words[DEBUG_TASK_SIZE] ||
	    words[DEBUG_INTERPRETER_TASKS] >= words[DEBUG_INTERPRETER_SIZE] ||
	    words[DEBUG_THREAD_TASKS] >= words[DEBUG_THREAD_SIZE] ||
	    (words[DEBUG_TASK_NODE] | words[DEBUG_INTERPRETER_TASKS] |
	     words[DEBUG_THREAD_TASKS]) % sizeof *words != 0)
		return;
	watch->table = (struct tasks_table){ true, words[DEBUG_TASK_NODE],
		words[DEBUG_INTERPRETER_TASKS], words[DEBUG_THREAD_TASKS] };
}

/* What a mapping of a process has. */
struct tasks_module {
	bool has_python, has_table;
	struct sample_python_symbols symbols;
	uint64_t bias, table;		/* of the table: its address */
};

/* Looks into the file of a mapping: 1, or 0 if it has nothing; or -1. */
static int
tasks_open_module(const struct memory_mapping *mapping, const char *root,
                  struct tasks_module *module, struct error *error)
{
	const struct module_file own = {
		.path = mapping->path, .search.root = root
	};
	struct elf_file file;
	GElf_Shdr header;

	*module = (struct tasks_module){ 0 };
	if (module_file_open(&own, &file) != MODULE_FILE_OPEN)
		return 0;
	module->bias = mapping->start - module_file_address(&own,
	    mapping->offset);
	module->has_python = sample_python_symbols(&file, &module->symbols,
	                                           error) > 0;
	if (elf_file_named_section(&file, ".AsyncioDebug", &header) != NULL) {
		module->has_table = true;
		module->table = header.sh_addr + module->bias;
	}
	elf_file_close(&file);
	return error->is_set ? -1 : module->has_python || module->has_table;
}

/* Whether a file may have an interpreter, or the module _asyncio. */
static bool
tasks_is_possible(const char *path)
{
	const char *name = strrchr(path, '/');

	return name != NULL && path[0] == '/' &&
	    (strstr(name, "python") != NULL || strstr(name, ".so") == NULL ||
	     strncmp(name, "/_asyncio.", strlen("/_asyncio.")) == 0);
}

static int
tasks_explain_refusal(pid_t pid, struct error *error)
{
	return error_set(error, "process %ld may not be read: the kernel lets "
	                 "only its owner do that, and with "
	                 "kernel.yama.ptrace_scope above 0 only root: run "
	                 "cpprof as root, or set that to 0", (long)pid);
}

/* The process's mappings of code; NULL with *error set. */
static struct memory_map *
tasks_read_maps(struct tasks_watch *watch, struct error *error)
{
	struct memory_map *map = memory_map_new(error);
	char path[64], *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/maps",
	         (long)watch->memory.tid);
	file = map == NULL ? NULL : fopen(path, "re");
	if (map != NULL && file == NULL)
		tasks_explain_refusal(watch->pid, error);
	while (!error->is_set && (length = getline(&line, &capacity,
	       file)) > 0)
		if (strchr(line, '/') != NULL)
			memory_map_add_line(map, line, (size_t)length -
			    (line[length - 1] == '\n'), error);
	if (file != NULL)
		fclose(file);
	free(line);
	if (!error->is_set)
		return map;
	memory_map_free(map);
	return NULL;
}

static int
tasks_find_python(struct tasks_watch *watch, struct error *error)
{
	struct memory_map *map = tasks_read_maps(watch, error);
	const struct memory_mapping *mappings;
	struct tasks_module module;
	bool is_found = false, is_refused = false;
	uint64_t table = 0;
	char root[64];
	size_t n;

	if (map == NULL)
		return -1;
	snprintf(root, sizeof root, "/proc/%ld/root",
	         (long)watch->memory.tid);
	mappings = memory_map_all(map, &n);
	for (size_t i = 0; !error->is_set && i < n; i++) {
		if (!tasks_is_possible(mappings[i].path) ||
		    tasks_open_module(&mappings[i], root, &module,
		                      error) <= 0)
			continue;
		if (module.has_table)
			table = module.table;
		if (module.has_python && !watch->runtime.is_supported)
			is_found |= sample_python_look((uint32_t)
			    watch->memory.tid, &module.symbols, module.bias,
			    &watch->runtime, &is_refused);
		free(module.symbols.index);
	}
	memory_map_free(map);
	if (error->is_set)
		return -1;
	if (is_refused)
		return tasks_explain_refusal(watch->pid, error);
	if (!is_found)
		return error_set(error, "process %ld runs no CPython whose "
		                 "program or library could be read; other "
		                 "programs have no tasks of asyncio",
		                 (long)watch->pid);
	if (!watch->runtime.is_supported)
		return error_set(error, "process %ld runs another Python than "
		                 "CPython 3.11 to 3.15 with a GIL, so its "
		                 "tasks cannot be read; \"python -m asyncio "
		                 "ps %ld\" of the same version may, from 3.14 "
		                 "on", (long)watch->pid, (long)watch->pid);
	if (table != 0)
		tasks_read_table(watch, table);
	return 0;
}

static int
tasks_begin(struct tasks_watch *watch, struct error *error)
{
	if (sample_target_check(watch->pid, error) != 0)
		return -1;
	watch->memory.tid = task_of_process(watch->pid);
	watch->memory.arena = mmap(NULL, TASKS_ARENA, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (watch->memory.arena == MAP_FAILED) {
		watch->memory.arena = NULL;
		return error_out_of_memory(error);
	}
	watch->memory.pages = memory_array(TASKS_PAGES,
	                                   sizeof *watch->memory.pages, error);
	if (watch->memory.pages == NULL || tasks_find_python(watch, error) != 0)
		return -1;
	watch->reading = (struct python_reading){
		.runtime = &watch->runtime, .layout = &watch->runtime.layout,
		.python = &watch->python, .memory = &watch->memory,
	};
	return 0;
}

/* Looks until the time is over, or Ctrl-C ends it. */
static int
tasks_look_on(struct tasks_watch *watch, uint64_t duration_ns,
              struct error *error)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t now_ns = begin_ns, rest_ns, took_ns;
	struct timespec rest;

	for (;;) {
		if (tasks_look(watch, error) != 0)
			return -1;
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (interrupt_requested || now_ns - begin_ns >= duration_ns)
			return 0;
		took_ns = (watch->now.end_ns - watch->now.begin_ns) *
		    TASKS_REST;
		rest_ns = took_ns > TASKS_PERIOD_NS ? took_ns :
		    TASKS_PERIOD_NS;
		if (rest_ns > begin_ns + duration_ns - now_ns)
			rest_ns = begin_ns + duration_ns - now_ns;
		rest = (struct timespec){ (time_t)(rest_ns / 1000000000),
			(long)(rest_ns % 1000000000) };
		nanosleep(&rest, NULL);
	}
}

static int
tasks_watch_run(struct tasks_watch *watch, uint64_t duration_ns,
          struct error *error)
{
	struct task process;

	if (tasks_begin(watch, error) != 0 ||
	    tasks_look_on(watch, duration_ns, error) != 0)
		return -1;
	for (unsigned i = 0; i < TASKS_ATTEMPTS; i++) {
		if (tasks_tell_more(watch, error) != 0)
			return -1;
		if (tasks_count_others(watch) == 0)
			break;
	}
	if (!task_read(watch->memory.tid, &process) || process.state == 'Z')
		return error_set(error, "process %ld has ended meanwhile",
		                 (long)watch->pid);
	if (!watch->has_asyncio)
		return error_set(error, "process %ld has not imported "
		                 "asyncio, so it has no tasks; its stacks are "
		                 "in cpprof record -p %ld", (long)watch->pid,
		                 (long)watch->pid);
	return 0;
}

int
sample_tasks_watch(pid_t pid, uint64_t duration_ns,
                   struct sample_tasks *tasks, struct error *error)
{
	struct tasks_watch *watch = memory_array(1, sizeof *watch, error);
	int result;

	*tasks = (struct sample_tasks){ 0 };
	if (watch == NULL)
		return -1;
	watch->pid = pid;
	watch->result = tasks;
	result = tasks_watch_run(watch, duration_ns, error);
	if (result == 0 && tasks->n > 0)
		qsort(tasks->tasks, tasks->n, sizeof *tasks->tasks,
		      tasks_compare);
	if (watch->memory.arena != NULL)
		munmap(watch->memory.arena, TASKS_ARENA);
	free(watch->memory.pages);
	free(watch->python.fresh.frames);
	free(watch->now.seen);
	free(watch->last.seen);
	free(watch);
	return result;
}

void
sample_tasks_free(struct sample_tasks *tasks)
{
	free(tasks->tasks);
	arena_free(&tasks->arena);
	*tasks = (struct sample_tasks){ 0 };
}
