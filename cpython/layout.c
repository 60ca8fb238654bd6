/* SPDX-License-Identifier: MIT */
/* layout.c -- where each version of CPython has what. */
#include "cpython/layout.h"

#include <string.h>

static const struct python_layout layout_3_11 = {
	.interpreters = 40, .next_interpreter = 0, .threads = 16,
	.modules = 888,
	.next_thread = 8, .ident = 152, .tid = 160, .current = 56,
	.base = PYTHON_NO_FIELD,
	.cframe_current = 8, .cframe_previous = 16,
	.code = 32, .previous = 48, .instruction = 56, .owner = 69,
	.is_entry = 68, .entry_owner = PYTHON_NO_FIELD,
	.stack_pointer = 64, .chunk = 296, .chunk_size = 8,
	.type = 8, .units = 16, .first_line = 72, .version = PYTHON_NO_FIELD,
	.mark = 128, .file = 112, .name = 128, .lines = 136,
	.instructions = 184,
	.length = 16, .hash = 24, .state = 32, .ascii = 48, .compact = 72,
	.kind_shift = 2, .size = 16, .bytes = 32, .type_name = 24,
	.tasks = {
		.frame = 80, .state = 75, .suspended_from = -1,
		.suspended_to = -1, .locals = 72, .stack = 64,
		.has_count = true, .awaited = 1, .coroutine = 136,
		.awaited_by = PYTHON_NO_FIELD, .values = PYTHON_VALUES_3_11
	}
};

static const struct python_layout layout_3_12 = {
	.interpreters = 40, .next_interpreter = 0, .threads = 72,
	.modules = 944,
	.next_thread = 8, .ident = 136, .tid = 144, .current = 56,
	.base = PYTHON_NO_FIELD,
	.cframe_current = 0, .cframe_previous = 8,
	.code = 0, .previous = 8, .instruction = 56, .owner = 70,
	.is_entry = PYTHON_NO_FIELD, .entry_owner = 3,
	.type = 8, .units = 16, .first_line = 68, .version = 92,
	.mark = 88, .file = 112, .name = 128, .lines = 136,
	.instructions = 192,
	.length = 16, .hash = PYTHON_NO_FIELD, .state = 32, .ascii = 40,
	.compact = 56, .kind_shift = 2, .size = 16, .bytes = 32,
	.type_name = 24,
	.tasks = {
		.frame = 72, .state = 67, .suspended_from = -1,
		.suspended_to = -1, .locals = 72, .stack = 64,
		.has_count = true, .awaited = 1, .coroutine = 136,
		.awaited_by = PYTHON_NO_FIELD, .values = PYTHON_VALUES_3_12
	}
};

static const struct python_tasks tasks_3_13 = {
	.frame = 72, .state = 67, .suspended_from = -2, .suspended_to = -1,
	.locals = 72, .stack = 64, .has_count = true, .awaited = 1,
	.coroutine = 120, .awaited_by = PYTHON_NO_FIELD,
	.values = PYTHON_VALUES_3_13
};

/* What the table has is taken from there. */
static const struct python_tasks tasks_3_14 = {
	.suspended_from = -2, .suspended_to = -1, .awaited = 1,
	.coroutine = 128, .awaited_by = 96, .awaited_by_is_set = 109
};

static const struct python_tasks tasks_3_15 = {
	.suspended_from = 1, .suspended_to = 2, .awaited = 2,
	.coroutine = 128, .awaited_by = 96, .awaited_by_is_set = 109
};

/*
 * The start of _Py_DebugOffsets (pycore_debug_offsets.h, pycore_runtime.h in
 * 3.13).  Each field is 8 bytes; each part begins with the size of its
 * structure.
 */
enum {
	DEBUG_COOKIE, DEBUG_VERSION, DEBUG_FREE_THREADED,
	DEBUG_RUNTIME, DEBUG_INTERPRETER = 6	/* parts */
};

/* Where a version's parts begin, and where fields are that have moved. */
struct debug_table {
	unsigned thread, frame, code, object, type, bytes, string;
	unsigned thread_id, base;	/* of a thread; base: 0: there is none */
	unsigned modules;		/* of an interpreter */
	uint32_t tag;
	const struct python_tasks *tasks;
	unsigned generator;	/* a part; 0: it has none */
};

static const struct debug_table debug_3_13 = {
	.thread = 19, .frame = 28, .code = 34, .object = 44, .type = 46,
	.bytes = 64, .string = 67, .thread_id = 5, .modules = 5,
	.tasks = &tasks_3_13
};

static const struct debug_table debug_3_14 = {
	.thread = 22, .frame = 31, .code = 39, .object = 50, .type = 52,
	.bytes = 74, .string = 77, .thread_id = 5, .modules = 6,
	.tag = 1, .tasks = &tasks_3_14, .generator = 83
};

static const struct debug_table debug_3_15 = {
	.thread = 22, .frame = 39, .code = 47, .object = 58, .type = 60,
	.bytes = 86, .string = 89, .thread_id = 8, .base = 5, .modules = 6,
	.tag = 1, .tasks = &tasks_3_15, .generator = 99
};

#define DEBUG_COOKIE_TEXT "xdebugpy"
#define DEBUG_OFFSET_MAX ((uint64_t)1 << 20)	/* of a field */
#define DEBUG_SIZE_MAX ((uint64_t)1 << 26)	/* of a structure */

/*
 * Reads fields.  The first one that cannot be in its structure sets `failed`:
 * the walk reads so many bytes of each structure, and no more.
 */
struct debug_reader {
	const uint64_t *table;
	bool failed;
};

/* Field number `index` of a part, of `width` bytes. */
static uint32_t
debug_field(struct debug_reader *reader, unsigned part, unsigned index,
    uint32_t width)
{
	const uint64_t size = reader->table[part];
	const uint64_t offset = reader->table[part + index];

	if (size > DEBUG_SIZE_MAX || offset > DEBUG_OFFSET_MAX ||
	    offset % width != 0 || offset + width > size) {
		reader->failed = true;
		return 0;
	}
	return (uint32_t)offset;
}

/* The size of a structure, after which another one's fields begin. */
static uint32_t
debug_size(struct debug_reader *reader, unsigned part, unsigned index)
{
	const uint64_t size = reader->table[part + index];

	if (size > DEBUG_OFFSET_MAX || size % sizeof size != 0) {
		reader->failed = true;
		return 0;
	}
	return (uint32_t)size;
}

/* The bytes of a code object that have its fields. */
static uint32_t
layout_code_size(const struct python_layout *layout)
{
	const uint32_t ends[] = {
		layout->mark + 16, layout->units + 8, layout->type + 8,
		layout->first_line + 4, layout->file + 8, layout->name + 8,
		layout->lines + 8
	};
	uint32_t size = 0;
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++)
		if (ends[i] > size)
			size = ends[i];
	return size;
}

/* Whether what the walk reads of structures has their fields. */
static bool
debug_is_plausible(const uint64_t *table, const struct debug_table *parts,
    const struct python_layout *layout)
{
	const uint32_t words[] = {
		layout->previous, layout->code, layout->instruction
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i] + sizeof(uint64_t) > PYTHON_FRAME_SIZE)
			return false;
	return layout->owner < PYTHON_FRAME_SIZE &&
	    table[parts->frame] >= PYTHON_FRAME_SIZE &&
	    layout->code_size <= table[parts->code] &&
	    layout->ascii <= table[parts->string] &&
	    layout->length + sizeof(uint64_t) <= layout->ascii &&
	    layout->state + sizeof(uint32_t) <= layout->ascii &&
	    layout->size + sizeof(uint64_t) <= layout->bytes;
}

static bool
read_debug_offsets(const uint64_t *table, const struct debug_table *parts,
    struct python_layout *layout)
{
	struct debug_reader reader = { .table = table };
	const unsigned thread = parts->thread, frame = parts->frame;
	const unsigned code = parts->code, string = parts->string;

	/* Free-threaded builds also have other frames and strings. */
	if (table[DEBUG_FREE_THREADED] != 0)
		return false;
	*layout = (struct python_layout){
		.interpreters = debug_field(&reader, DEBUG_RUNTIME, 2, 8),
		.next_interpreter = debug_field(&reader, DEBUG_INTERPRETER, 2,
		    8),
		.threads = debug_field(&reader, DEBUG_INTERPRETER, 3, 8),
		.modules = debug_field(&reader, DEBUG_INTERPRETER,
		    parts->modules, 8),
		.next_thread = debug_field(&reader, thread, 2, 8),
		.current = debug_field(&reader, thread, 4, 8),
		.base = parts->base == 0 ? PYTHON_NO_FIELD :
		    debug_field(&reader, thread, parts->base, 8),
		.ident = debug_field(&reader, thread, parts->thread_id, 8),
		.tid = debug_field(&reader, thread, parts->thread_id + 1, 8),
		.cframe_current = PYTHON_NO_FIELD,
		.cframe_previous = PYTHON_NO_FIELD,
		.previous = debug_field(&reader, frame, 1, 8),
		.code = debug_field(&reader, frame, 2, 8), .tag = parts->tag,
		.instruction = debug_field(&reader, frame, 3, 8),
		.owner = debug_field(&reader, frame, 5, 1),
		.is_entry = PYTHON_NO_FIELD, .entry_owner = 3,
		.file = debug_field(&reader, code, 1, 8),
		.name = debug_field(&reader, code, 3, 8),
		.lines = debug_field(&reader, code, 4, 8),
		.first_line = debug_field(&reader, code, 5, 4),
		.instructions = debug_field(&reader, code, 9, 2),
		.units = debug_size(&reader, parts->object, 0),
		.type = debug_field(&reader, parts->object, 1, 8),
		.type_name = debug_field(&reader, parts->type, 1, 8),
		.size = debug_field(&reader, parts->bytes, 1, 8),
		.bytes = debug_field(&reader, parts->bytes, 2, 1),
		.state = debug_field(&reader, string, 1, 4),
		.length = debug_field(&reader, string, 2, 8),
		.ascii = debug_size(&reader, string, 3),
		.hash = PYTHON_NO_FIELD,
		.kind_shift = 2
	};
	layout->tasks = *parts->tasks;
	if (parts->generator != 0) {
		layout->tasks.frame = debug_field(&reader, parts->generator,
		    2, 8);
		layout->tasks.state = debug_field(&reader, parts->generator,
		    3, 1);
		layout->tasks.locals = debug_field(&reader, frame, 4, 8);
		layout->tasks.stack = debug_field(&reader, frame, 6, 8);
	}
	/* A code object has its version 24 bytes after its first line. */
	layout->version = layout->first_line + 24;
	layout->mark = layout->version & -8u;
	layout->code_size = layout_code_size(layout);
	/* A string that is not ASCII has two more words before its text. */
	layout->compact = layout->ascii + 16;
	return !reader.failed && debug_is_plausible(table, parts, layout);
}

bool
python_layout_find(uint32_t version, const void *table,
    struct python_layout *layout)
{
	const uint64_t *words = table;

	if (version >> 16 == 0x030b || version >> 16 == 0x030c) {
		*layout = version >> 16 == 0x030b ? layout_3_11 : layout_3_12;
		layout->code_size = layout_code_size(layout);
		return true;
	}
	if (version != 0 && version >> 16 < 0x030d)
		return false;
	if (memcmp(words, DEBUG_COOKIE_TEXT, sizeof *words) != 0 ||
	    (version != 0 && words[DEBUG_VERSION] != version))
		return false;
	switch (words[DEBUG_VERSION] >> 16) {
	case 0x030d:
		return read_debug_offsets(words, &debug_3_13, layout);
	case 0x030e:
		return read_debug_offsets(words, &debug_3_14, layout);
	case 0x030f:
		return read_debug_offsets(words, &debug_3_15, layout);
	}
	return false;
}

size_t
python_put_character(unsigned char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (unsigned char)(0xc0 | c >> 6);
		to[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (unsigned char)(0xe0 | c >> 12);
		to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (unsigned char)(0xf0 | (c >> 18 & 7));
	to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}
