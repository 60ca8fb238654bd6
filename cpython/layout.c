/* SPDX-License-Identifier: MIT */
/* layout.c -- where each version of CPython has what. */
#include "cpython/layout.h"

#include <string.h>

static const struct python_layout layout_3_11 = {
	.interpreters = 40, .next_interpreter = 0, .threads = 16,
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
	.kind_shift = 2, .size = 16, .bytes = 32
};

static const struct python_layout layout_3_12 = {
	.interpreters = 40, .next_interpreter = 0, .threads = 72,
	.next_thread = 8, .ident = 136, .tid = 144, .current = 56,
	.base = PYTHON_NO_FIELD,
	.cframe_current = 0, .cframe_previous = 8,
	.code = 0, .previous = 8, .instruction = 56, .owner = 70,
	.is_entry = PYTHON_NO_FIELD, .entry_owner = 3,
	.type = 8, .units = 16, .first_line = 68, .version = 92,
	.mark = 88, .file = 112, .name = 128, .lines = 136,
	.instructions = 192,
	.length = 16, .hash = PYTHON_NO_FIELD, .state = 32, .ascii = 40,
	.compact = 56, .kind_shift = 2, .size = 16, .bytes = 32
};

/*
 * The start of _Py_DebugOffsets (pycore_debug_offsets.h, pycore_runtime.h in
 * 3.13).  Each field is 8 bytes; each part begins with the size of its
 * structure.
 */
enum {
	DEBUG_COOKIE, DEBUG_VERSION, DEBUG_FREE_THREADED,
	DEBUG_INTERPRETERS = 5, DEBUG_NEXT_INTERPRETER = 8, DEBUG_THREADS
};

/* Where a version's parts begin, and where fields are that have moved. */
struct debug_table {
	unsigned thread, frame, code, object, bytes, string;
	unsigned thread_id, base;	/* of a thread; base: 0: there is none */
	uint32_t tag;
};

static const struct debug_table debug_3_13 = {
	.thread = 19, .frame = 28, .code = 34, .object = 44, .bytes = 64,
	.string = 67, .thread_id = 5
};

static const struct debug_table debug_3_14 = {
	.thread = 22, .frame = 31, .code = 39, .object = 50, .bytes = 74,
	.string = 77, .thread_id = 5, .tag = 1
};

static const struct debug_table debug_3_15 = {
	.thread = 22, .frame = 39, .code = 47, .object = 58, .bytes = 86,
	.string = 89, .thread_id = 8, .base = 5, .tag = 1
};

#define DEBUG_COOKIE_TEXT "xdebugpy"
#define OFFSET_MAX 65536	/* of the fields, larger than any structure */

static uint32_t
debug_field(const uint64_t *table, unsigned index)
{
	return table[index] < OFFSET_MAX ? (uint32_t)table[index] :
	    PYTHON_NO_FIELD;
}

static bool
read_debug_offsets(const uint64_t *table, const struct debug_table *parts,
    struct python_layout *layout)
{
	const uint64_t *thread = table + parts->thread;
	const uint64_t *frame = table + parts->frame;
	const uint64_t *code = table + parts->code;
	const uint64_t *object = table + parts->object;
	const uint64_t *bytes = table + parts->bytes;
	const uint64_t *string = table + parts->string;

	/* Free-threaded builds also have other frames and strings. */
	if (memcmp(table, DEBUG_COOKIE_TEXT, sizeof *table) != 0 ||
	    table[DEBUG_FREE_THREADED] != 0)
		return false;
	*layout = (struct python_layout){
		.interpreters = debug_field(table, DEBUG_INTERPRETERS),
		.next_interpreter = debug_field(table,
		    DEBUG_NEXT_INTERPRETER),
		.threads = debug_field(table, DEBUG_THREADS),
		.next_thread = debug_field(thread, 2),
		.current = debug_field(thread, 4),
		.base = parts->base == 0 ? PYTHON_NO_FIELD :
		    debug_field(thread, parts->base),
		.ident = debug_field(thread, parts->thread_id),
		.tid = debug_field(thread, parts->thread_id + 1),
		.cframe_current = PYTHON_NO_FIELD,
		.cframe_previous = PYTHON_NO_FIELD,
		.previous = debug_field(frame, 1),
		.code = debug_field(frame, 2), .tag = parts->tag,
		.instruction = debug_field(frame, 3),
		.owner = debug_field(frame, 5),
		.is_entry = PYTHON_NO_FIELD, .entry_owner = 3,
		.file = debug_field(code, 1),
		.name = debug_field(code, 3),
		.lines = debug_field(code, 4),
		.first_line = debug_field(code, 5),
		.instructions = debug_field(code, 9),
		.units = debug_field(object, 0),
		.type = debug_field(object, 1),
		.size = debug_field(bytes, 1),
		.bytes = debug_field(bytes, 2),
		.state = debug_field(string, 1),
		.length = debug_field(string, 2),
		.ascii = debug_field(string, 3),
		.hash = PYTHON_NO_FIELD,
		.kind_shift = 2
	};
	/* A code object has its version 24 bytes after its first line. */
	layout->version = layout->first_line + 24;
	layout->mark = layout->version & -8u;
	/* A string that is not ASCII has two more words before its text. */
	layout->compact = layout->ascii + 16;
	return true;
}

bool
python_layout_find(uint32_t version, const void *table,
    struct python_layout *layout)
{
	switch (version >> 16) {
	case 0x030b:
		*layout = layout_3_11;
		return true;
	case 0x030c:
		*layout = layout_3_12;
		return true;
	case 0x030d:
		return read_debug_offsets(table, &debug_3_13, layout);
	case 0x030e:
		return read_debug_offsets(table, &debug_3_14, layout);
	case 0x030f:
		return read_debug_offsets(table, &debug_3_15, layout);
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
