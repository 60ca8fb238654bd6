/* SPDX-License-Identifier: MIT */
/* tasks.h -- the coroutines that await an asyncio task.
 *
 * The event loop calls each task's coroutine anew, from Handle._run, so the
 * stack of a task that runs does not say for whom it does.  What it is awaited
 * by stands in its memory:
 *
 *	Handle._run	self -> Handle -> callback -> task
 *	task		callbacks -> the task that awaits it, or a future
 *	task		coroutine -> what this awaits -> what that awaits ...
 *
 * Up to 3.13 a callback is a task's own method, or one of asyncio's functions
 * that wait for several: gather, wait, wait_for, shield, and a TaskGroup.  From
 * 3.14 on each future knows what it is awaited by.
 *
 * The frames of these coroutines become outer ones of the native frame that
 * runs the task's coroutine:
 *
 *	task main	[ main, fetch ]		suspended
 *	task load	[ load, parse ]		runs; fetch awaits it
 *	the list	Handle._run, main, fetch, load, parse
 *
 * Nothing is believed that is not proved by names of types: a Handle leads to
 * the task only if this has the very coroutine that runs.  All memory is
 * checked, and nothing is read without bound: PYTHON_MAX_OBJECTS are looked at
 * for one loop.  What cannot be read ends the chain.
 *
 * What a frame in use refers to is in use, too, and so on along the chain: its
 * memory is as live as the frame's.  By asyncio's rules only the thread of the
 * loop changes these objects, and this is that thread.  The arrays of lists and
 * sets are not live, since the thread may just be moving one; neither is what
 * their entries refer to, until it is proved to be a task or future.
 *
 * Included after objects.h, by the same files.
 */
#ifndef CPPROF_CPYTHON_TASKS_H
#define CPPROF_CPYTHON_TASKS_H

#define PYTHON_MAX_TASKS 64	/* that await each other */
#define PYTHON_MAX_AWAITING 256	/* frames of theirs */
#define PYTHON_MAX_FUTURES 8	/* from one task to the next */
#define PYTHON_MAX_CALLBACKS 64	/* of a future */
#define PYTHON_MAX_CELLS 16	/* of a function */
#define PYTHON_MAX_SLOTS 64	/* of a set */
#define PYTHON_MAX_BASES 4	/* of a type */
#define PYTHON_MAX_OBJECTS 1024	/* whose kind is asked */

/* Offsets that are the same in all versions. */
enum {
	PYTHON_TYPE_BASE = 256,
	PYTHON_TYPE_SIZE = 32,		/* bytes of an instance */
	PYTHON_ITEMS = 16,		/* of a tuple: how many; of a list */
	PYTHON_TUPLE_ITEM = 24, PYTHON_LIST_ITEMS = 24,
	PYTHON_SET_MASK = 32, PYTHON_SET_TABLE = 40, PYTHON_SET_ENTRY = 16,
	PYTHON_CONTENT = 16,		/* of a cell, and of what wraps a
					   coroutine */
	PYTHON_FUNCTION_NAME = 40, PYTHON_FUNCTION_CLOSURE = 72,
	PYTHON_METHOD_FUNCTION = 16, PYTHON_METHOD_SELF = 24,
	PYTHON_BUILTIN_DEFINITION = 16, PYTHON_BUILTIN_SELF = 24,
	PYTHON_PARTIAL_FUNCTION = 16, PYTHON_PARTIAL_ARGUMENTS = 24,
	PYTHON_HANDLE_CALLBACK = 24, PYTHON_STEP_TASK = 16,
	PYTHON_CALLBACK = 24, PYTHON_CALLBACKS = 40,	/* of a future */
	PYTHON_PARENT = 4	/* _parent_task of a TaskGroup is the fifth that
				   its __init__ sets */
};

enum python_kind {
	PYTHON_OTHER, PYTHON_COROUTINE, PYTHON_GENERATOR, PYTHON_WRAPPER,
	PYTHON_TASK, PYTHON_FUTURE, PYTHON_HANDLE, PYTHON_STEP,
	PYTHON_BUILTIN, PYTHON_FUNCTION, PYTHON_METHOD, PYTHON_PARTIAL,
	PYTHON_TASK_GROUP
};

/* Names of types; those that others may derive from are found so, too. */
static const struct python_kind_name {
	char name[32];
	unsigned char size;	/* with its NUL */
	unsigned char kind;
} python_kind_names[] = {
#define PYTHON_KIND(name, kind) { name, sizeof name, kind }
	PYTHON_KIND("coroutine", PYTHON_COROUTINE),
	PYTHON_KIND("_asyncio.Task", PYTHON_TASK),
	PYTHON_KIND("_asyncio.Future", PYTHON_FUTURE),
	PYTHON_KIND("Handle", PYTHON_HANDLE),
	PYTHON_KIND("TaskStepMethWrapper", PYTHON_STEP),
	PYTHON_KIND("_asyncio.TaskStepMethWrapper", PYTHON_STEP),
	PYTHON_KIND("builtin_function_or_method", PYTHON_BUILTIN),
	PYTHON_KIND("function", PYTHON_FUNCTION),
	PYTHON_KIND("method", PYTHON_METHOD),
	PYTHON_KIND("functools.partial", PYTHON_PARTIAL),
	PYTHON_KIND("TaskGroup", PYTHON_TASK_GROUP),
	PYTHON_KIND("generator", PYTHON_GENERATOR),
	PYTHON_KIND("async_generator", PYTHON_GENERATOR),
	PYTHON_KIND("coroutine_wrapper", PYTHON_WRAPPER),
	PYTHON_KIND("async_generator_asend", PYTHON_WRAPPER),
	PYTHON_KIND("async_generator_athrow", PYTHON_WRAPPER),
	PYTHON_KIND("anext_awaitable", PYTHON_WRAPPER),
#undef PYTHON_KIND
};

/* The bytes of what a frame in use leads to; NULL: they cannot be read. */
static const unsigned char *
python_task_bytes(struct python_reading *reading, uint64_t at, size_t size)
{
	return python_memory(reading, at, size, !reading->is_of_array);
}

/* A word of it.  False: it cannot be read. */
static bool
python_task_word(struct python_reading *reading, uint64_t at, uint64_t *word)
{
	return python_read_word(reading, at, word, !reading->is_of_array);
}

/* Whether a text with its NUL is there. */
static bool
python_has_text(struct python_reading *reading, uint64_t at, const char *text,
    size_t size)
{
	const unsigned char *bytes = python_task_bytes(reading, at, size);

	return bytes != NULL && memcmp(bytes, text, size) == 0;
}

/* The kind of a type by its own name. */
static enum python_kind
python_kind_of_type(struct python_reading *reading, uint64_t type)
{
	const unsigned char *first;
	uint64_t name;
	size_t i;

	if (!python_task_word(reading, type + reading->layout->type_name,
	    &name) || (first = python_task_bytes(reading, name, 1)) == NULL)
		return PYTHON_OTHER;
	for (i = 0; i < sizeof python_kind_names / sizeof *python_kind_names;
	    i++) {
		const struct python_kind_name *known = &python_kind_names[i];

		if (*first == (unsigned char)known->name[0] &&
		    python_has_text(reading, name, known->name, known->size))
			return (enum python_kind)known->kind;
	}
	return PYTHON_OTHER;
}

/* The kind of an object, by its type or one that this derives from. */
static enum python_kind
python_kind(struct python_reading *reading, uint64_t object)
{
	enum python_kind kind = PYTHON_OTHER;
	uint64_t type;
	unsigned i;

	if (object == 0 || ++reading->n_objects > PYTHON_MAX_OBJECTS ||
	    !python_task_word(reading, object + reading->layout->type, &type))
		return PYTHON_OTHER;
	for (i = 0; i < PYTHON_MAX_BASES && type != 0 && kind == PYTHON_OTHER;
	    i++) {
		kind = python_kind_of_type(reading, type);
		if (!python_task_word(reading, type + PYTHON_TYPE_BASE, &type))
			break;
	}
	return kind;
}

/* The object that a place of another one leads to; 0: none. */
static uint64_t
python_object_at(struct python_reading *reading, uint64_t at)
{
	uint64_t object;

	/* A reference on a frame's stack may have a tag. */
	return python_task_word(reading, at, &object) ?
	    object & ~(uint64_t)7 : 0;
}

/* Whether a function has a name, with its NUL; ASCII. */
static bool
python_is_called(struct python_reading *reading, uint64_t function,
    const char *name, size_t size)
{
	const uint64_t string = python_object_at(reading, function +
	    PYTHON_FUNCTION_NAME);
	uint64_t length;

	return string != 0 && python_task_word(reading, string +
	    reading->layout->length, &length) && length == size - 1 &&
	    python_has_text(reading, string + reading->layout->ascii, name,
	    size);
}

/* Of a function of asyncio's, the future that it ends. */
static uint64_t
python_future_of_function(struct python_reading *reading, uint64_t function)
{
	static const struct {
		char name[36];
		size_t size;
	} known[] = {
#define PYTHON_WAITS(name) { name, sizeof name }
		PYTHON_WAITS("gather.<locals>._done_callback"),
		PYTHON_WAITS("_wait.<locals>._on_completion"),
		PYTHON_WAITS("shield.<locals>._inner_done_callback"),
#undef PYTHON_WAITS
	};
	uint64_t closure, n, future;
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (python_is_called(reading, function, known[i].name,
		    known[i].size))
			break;
	closure = i == sizeof known / sizeof *known ? 0 :
	    python_object_at(reading, function + PYTHON_FUNCTION_CLOSURE);
	if (closure == 0 ||
	    !python_task_word(reading, closure + PYTHON_ITEMS, &n))
		return 0;
	for (i = 0; i < n && i < PYTHON_MAX_CELLS; i++) {
		future = python_object_at(reading, closure +
		    PYTHON_TUPLE_ITEM + i * sizeof future);
		if (future != 0)
			future = python_object_at(reading, future +
			    PYTHON_CONTENT);
		if (python_kind(reading, future) == PYTHON_FUTURE)
			return future;
	}
	return 0;
}

/* Of the callback of wait_for in 3.11, the future that it ends. */
static uint64_t
python_future_of_partial(struct python_reading *reading, uint64_t partial)
{
	static const char name[] = "_release_waiter";
	const uint64_t function = python_object_at(reading, partial +
	    PYTHON_PARTIAL_FUNCTION);
	const uint64_t arguments = python_object_at(reading, partial +
	    PYTHON_PARTIAL_ARGUMENTS);

	return python_kind(reading, function) == PYTHON_FUNCTION &&
	    python_is_called(reading, function, name, sizeof name) &&
	    arguments != 0 ? python_object_at(reading, arguments +
	    PYTHON_TUPLE_ITEM) : 0;
}

/*
 * Attribute `index` of an instance in the order in which its type's methods first
 * set them; 0: not known, as where the instance has a dictionary.
 */
static uint64_t
python_attribute(struct python_reading *reading, uint64_t instance,
    unsigned index)
{
	const unsigned char *numbers;
	uint64_t values = 0, type;

	switch (reading->layout->tasks.values) {
	case PYTHON_VALUES_3_11:
		if (!python_task_word(reading, instance - 32, &values))
			return 0;
		break;
	case PYTHON_VALUES_3_12:
		/* An address less 1; a dictionary has an even one. */
		if (!python_task_word(reading, instance - 24, &values) ||
		    values++ % 2 == 0)
			return 0;
		break;
	case PYTHON_VALUES_3_13:
		/*
		 * Behind the instance, after their number, how many are set,
		 * and whether they are valid: a dictionary may have taken them
		 * over.
		 */
		if (!python_task_word(reading, instance +
		    reading->layout->type, &type) || !python_task_word(reading,
		    type + PYTHON_TYPE_SIZE, &values) ||
		    (numbers = python_task_bytes(reading, instance + values,
		    sizeof values)) == NULL ||
		    numbers[0] <= index || numbers[3] != 1)
			return 0;
		values += instance + sizeof values;
		break;
	}
	return values == 0 ? 0 : python_object_at(reading, values +
	    index * sizeof values);
}

/* Of the callback of a TaskGroup, the task that has it. */
static uint64_t
python_task_of_group(struct python_reading *reading, uint64_t method)
{
	static const char name[] = "TaskGroup._on_task_done";
	const uint64_t function = python_object_at(reading, method +
	    PYTHON_METHOD_FUNCTION);
	const uint64_t group = python_object_at(reading, method +
	    PYTHON_METHOD_SELF);

	if (python_kind(reading, group) != PYTHON_TASK_GROUP ||
	    python_kind(reading, function) != PYTHON_FUNCTION ||
	    !python_is_called(reading, function, name, sizeof name))
		return 0;
	return python_attribute(reading, group, PYTHON_PARENT);
}

/* The task or future that a callback wakes; 0: not known. */
static uint64_t
python_woken_by(struct python_reading *reading, uint64_t callback)
{
	static const char wakeup[] = "task_wakeup";
	uint64_t name;

	switch (python_kind(reading, callback)) {
	case PYTHON_BUILTIN:
		name = python_object_at(reading, callback +
		    PYTHON_BUILTIN_DEFINITION);
		return name != 0 && python_task_word(reading, name, &name) &&
		    python_has_text(reading, name, wakeup,
		    sizeof wakeup) ? python_object_at(reading, callback +
		    PYTHON_BUILTIN_SELF) : 0;
	case PYTHON_FUNCTION:
		return python_future_of_function(reading, callback);
	case PYTHON_PARTIAL:
		return python_future_of_partial(reading, callback);
	case PYTHON_METHOD:
		return python_task_of_group(reading, callback);
	default:
		return 0;
	}
}

/* Whether a task or future was found; *kind which. */
static bool
python_is_future(struct python_reading *reading, uint64_t future,
    enum python_kind *kind)
{
	*kind = python_kind(reading, future);
	return *kind == PYTHON_TASK || *kind == PYTHON_FUTURE;
}

/* The first task or future that awaits a future, by its callbacks; 0: none. */
static uint64_t
python_first_callback(struct python_reading *reading, uint64_t future,
    enum python_kind *kind)
{
	uint64_t list, items, n, next, i;

	next = python_woken_by(reading, python_object_at(reading, future +
	    PYTHON_CALLBACK));
	if (python_is_future(reading, next, kind))
		return next;
	list = python_object_at(reading, future + PYTHON_CALLBACKS);
	if (list == 0 || !python_task_word(reading, list + PYTHON_ITEMS, &n) ||
	    !python_task_word(reading, list + PYTHON_LIST_ITEMS, &items))
		return 0;
	/* The list may just be growing. */
	reading->is_of_array = true;
	for (i = 0, next = 0; i < n && i < PYTHON_MAX_CALLBACKS; i++) {
		/* Each is a pair of a callback and its context. */
		next = python_object_at(reading, items + i * sizeof next);
		if (next != 0)
			next = python_woken_by(reading, python_object_at(
			    reading, next + PYTHON_TUPLE_ITEM));
		if (python_is_future(reading, next, kind))
			break;
		next = 0;
	}
	reading->is_of_array = false;
	return next;
}

/* The same from 3.14 on. */
static uint64_t
python_first_awaiting(struct python_reading *reading, uint64_t future,
    enum python_kind *kind)
{
	const struct python_tasks *tasks = &reading->layout->tasks;
	const unsigned char *is_set = python_task_bytes(reading, future +
	    tasks->awaited_by_is_set, 1);
	uint64_t next = python_object_at(reading, future + tasks->awaited_by);
	uint64_t table, mask, i;

	if (is_set == NULL || next == 0)
		return 0;
	if (*is_set == 0)
		return python_is_future(reading, next, kind) ? next : 0;
	if (!python_task_word(reading, next + PYTHON_SET_MASK, &mask) ||
	    !python_task_word(reading, next + PYTHON_SET_TABLE, &table))
		return 0;
	/* So may the set. */
	reading->is_of_array = true;
	for (i = 0, next = 0; i <= mask && i < PYTHON_MAX_SLOTS; i++) {
		next = python_object_at(reading, table + i * PYTHON_SET_ENTRY);
		if (python_is_future(reading, next, kind))
			break;
		next = 0;
	}
	reading->is_of_array = false;
	return next;
}

/* The first task that awaits another one; 0: none, or it cannot be told. */
static uint64_t
python_awaiting_task(struct python_reading *reading, uint64_t task)
{
	const bool knows = reading->layout->tasks.awaited_by !=
	    PYTHON_NO_FIELD;
	enum python_kind kind = PYTHON_OTHER;
	unsigned i;

	for (i = 0; i < PYTHON_MAX_FUTURES && task != 0; i++) {
		task = knows ? python_first_awaiting(reading, task, &kind) :
		    python_first_callback(reading, task, &kind);
		if (task != 0 && kind == PYTHON_TASK)
			return task;
	}
	return 0;
}

/* What a suspended frame awaits; 0: it awaits nothing that is known. */
static uint64_t
python_awaited(struct python_reading *reading, uint64_t frame)
{
	const struct python_tasks *tasks = &reading->layout->tasks;
	const uint64_t locals = frame + tasks->locals;
	uint64_t top;

	if (!python_task_word(reading, frame + tasks->stack, &top))
		return 0;
	if (tasks->has_count)
		top = locals + (top & UINT32_MAX) * sizeof top;
	top -= tasks->awaited * sizeof top;
	if (top < locals || top - locals > PYTHON_MAX_LOCALS)
		return 0;
	return python_object_at(reading, top);
}

/*
 * Adds the frame of a coroutine, if it is suspended; *next is what it awaits.
 * False: it is no coroutine, or its frame cannot be added.
 */
static bool
python_add_awaiting(struct python_reading *reading, uint64_t coroutine,
    uint64_t *next)
{
	const struct python_layout *layout = reading->layout;
	const struct python_tasks *tasks = &layout->tasks;
	struct python_frames *fresh = &reading->python->fresh;
	const uint64_t at = coroutine + tasks->frame;
	const unsigned char *bytes = python_task_bytes(reading, coroutine +
	    tasks->state, 1);
	struct python_frame *frame;
	int state;

	if (bytes == NULL || !python_reserve(fresh, fresh->n + 1))
		return false;
	state = (signed char)*bytes;
	if (state < tasks->suspended_from || state > tasks->suspended_to)
		return false;
	bytes = python_task_bytes(reading, at, PYTHON_FRAME_SIZE);
	if (bytes == NULL)
		return false;
	frame = &fresh->frames[fresh->n];
	frame->frame = at;
	frame->code = python_word(bytes + layout->code) & ~layout->tag;
	if (!python_read_code(reading, frame, python_word(bytes +
	    layout->instruction), true) ||
	    frame->offset == CPPROFDATA_NO_INSTRUCTION)
		return false;
	frame->offset |= CPPROFDATA_AWAITS;
	fresh->n++;
	/* In a `yield` of its own, what lies on its stack is not awaited. */
	*next = state == tasks->suspended_to ? python_awaited(reading, at) : 0;
	return true;
}

/*
 * Adds the frames of a task's coroutines.  False: there are none, or one cannot
 * be added, so that those around it would seem to await what they do not.
 */
static bool
python_add_task(struct python_reading *reading, uint64_t task, size_t most)
{
	struct python_frames *fresh = &reading->python->fresh;
	const size_t from = fresh->n;
	struct python_frame moved;
	uint64_t at = python_object_at(reading, task +
	    reading->layout->tasks.coroutine), next = 0;
	enum python_kind kind;
	bool is_whole = true;
	size_t i, k;

	for (i = 0; at != 0 && is_whole; i++, at = next) {
		kind = python_kind(reading, at);
		if (kind == PYTHON_WRAPPER)
			next = python_object_at(reading, at + PYTHON_CONTENT);
		else if (kind != PYTHON_COROUTINE && kind != PYTHON_GENERATOR)
			break;
		else
			is_whole = i < most &&
			    python_add_awaiting(reading, at, &next);
	}
	if (!is_whole)
		fresh->n = from;
	/* They were met from the outermost one on. */
	for (i = from, k = fresh->n; i + 1 < k; i++) {
		moved = fresh->frames[i];
		fresh->frames[i] = fresh->frames[--k];
		fresh->frames[k] = moved;
	}
	return fresh->n > from;
}

#endif
