/* SPDX-License-Identifier: MIT */
/* objects.h -- reads CPython's objects: code, strings.
 *
 * This is code of each file that reads an interpreter: in its own memory or in
 * another process's.  Each includes this header once, after lib/cpprofdata.h and
 * definitions of these types; the functions that are declared below are its own,
 * too: each file defines them.
 *
 *	struct python_frame	has frame, code, tag, mark, probed, offset and
 *				native, as lib/python/python.h explains them
 *	struct python_frames	an array of frames: frames, n
 *	struct python_reading	what all functions get: runtime, layout;
 *				is_of_array and n_objects of tasks.h, 0 at
 *				first; and python, which leads to fresh, the
 *				frames that were read, to n_walks and to
 *				code_type
 *
 * Async-signal-safe, if the includer's functions are.
 */
#ifndef CPPROF_CPYTHON_OBJECTS_H
#define CPPROF_CPYTHON_OBJECTS_H

#include <string.h>

#include "cpython/layout.h"

#define PYTHON_MAX_INTERPRETERS 256
#define PYTHON_MAX_THREADS 65536	/* of an interpreter */
#define PYTHON_STRING_SIZE 40	/* what is read of a string; all are longer */

/* ---- the includer's ---- */

/*
 * The bytes at an address of the interpreter's process; NULL: they cannot be
 * read.  is_live: they are of something in use, which cannot be freed meanwhile.
 */
static inline const unsigned char *python_memory(
    struct python_reading *reading, uint64_t at, size_t size, bool is_live);

/* Makes room for n frames; false: there is no memory. */
static bool python_reserve(struct python_frames *frames, size_t n);

/* ---- memory ---- */

static inline uint64_t
python_word(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

static inline uint32_t
python_half(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof word);
	return word;
}

static bool
python_read_word(struct python_reading *reading, uint64_t at, uint64_t *word,
    bool is_live)
{
	const unsigned char *bytes = at % sizeof *word != 0 ? NULL :
	    python_memory(reading, at, sizeof *word, is_live);

	if (bytes == NULL)
		return false;
	*word = python_word(bytes);
	return true;
}

/* ---- code objects ---- */

static uint64_t
python_mix(uint64_t tag, uint64_t word)
{
	tag = (tag ^ word) * 0x9e3779b97f4a7c15u;
	return tag ^ tag >> 29;
}

/*
 * The mark of a code object.  Strings that were freed are often followed by
 * others at the same address, so in 3.11, which does not number its code
 * objects, the name's hash is part of it.  name: the string that the mark's
 * first word leads to; unused otherwise.
 */
static inline uint64_t
python_mark(const struct python_layout *layout, const unsigned char *code,
    const unsigned char *name)
{
	const uint64_t first = python_word(code + layout->mark);
	const uint64_t mark = first ^
	    python_word(code + layout->mark + sizeof first) << 1;

	return layout->hash == PYTHON_NO_FIELD ? mark :
	    mark ^ python_word(name + layout->hash) << 2;
}

/*
 * Whether an object's bytes are a code object's, by its type.  A program that is
 * stripped does not say where that is; then the first type of that name is it,
 * since what a frame executes is a code object or None.
 */
static bool
python_is_code(struct python_reading *reading, const unsigned char *object)
{
	static const char text[] = "code";
	const struct python_layout *layout = reading->layout;
	const uint64_t type = python_word(object + layout->type);
	const unsigned char *name;
	uint64_t at;

	if (reading->runtime->code_type != 0)
		return type == reading->runtime->code_type;
	if (reading->python->code_type == 0 &&
	    python_read_word(reading, type + layout->type_name, &at, false) &&
	    (name = python_memory(reading, at, sizeof text, false)) != NULL &&
	    memcmp(name, text, sizeof text) == 0)
		reading->python->code_type = type;
	return type != 0 && type == reading->python->code_type;
}

/*
 * Whether there is a code object; fills in the frame's tag and the offset of
 * the instruction.
 */
static bool
python_read_code(struct python_reading *reading, struct python_frame *frame,
    uint64_t instruction, bool is_live)
{
	const struct python_layout *layout = reading->layout;
	const unsigned char *code = frame->code % sizeof(uint64_t) != 0 ?
	    NULL : python_memory(reading, frame->code, layout->code_size,
	    is_live), *name = NULL;
	const bool needs_name = layout->hash != PYTHON_NO_FIELD;
	uint64_t tag, offset;

	if (code == NULL || !python_is_code(reading, code))
		return false;
	tag = python_mix(python_word(code + layout->name),
	    python_word(code + layout->file));
	tag = python_mix(tag, python_word(code + layout->lines));
	tag = python_mix(tag, python_half(code + layout->first_line));
	if (layout->version != PYTHON_NO_FIELD)
		tag = python_mix(tag, python_half(code + layout->version));
	if (needs_name)
		name = python_memory(reading, python_word(code +
		    layout->name), PYTHON_STRING_SIZE, is_live);
	if (name != NULL)
		tag = python_mix(tag, python_word(name + layout->hash));
	frame->tag = tag;
	frame->mark = !needs_name || name != NULL ?
	    python_mark(layout, code, name) : 0;
	frame->probed = reading->python->n_walks;
	offset = instruction - (frame->code + layout->instructions) +
	    CPPROFDATA_BEFORE_CODE;
	frame->offset = offset <= 2 * python_word(code + layout->units) &&
	    offset < CPPROFDATA_AWAITS ? (uint32_t)offset :
	    CPPROFDATA_NO_INSTRUCTION;
	return true;
}

/*
 * Describes a code object.  False if there is none any more.
 */
static bool
python_read_description(struct python_reading *reading, uint64_t at,
    struct python_code *code)
{
	const struct python_layout *layout = reading->layout;
	const unsigned char *bytes = python_memory(reading, at,
	    layout->code_size, false);
	uint64_t lines;

	if (bytes == NULL || !python_is_code(reading, bytes))
		return false;
	*code = (struct python_code){
		.name = python_word(bytes + layout->name),
		.file = python_word(bytes + layout->file),
		.first_line = python_half(bytes + layout->first_line),
	};
	lines = python_word(bytes + layout->lines);
	bytes = python_memory(reading, lines, layout->bytes, false);
	if (bytes == NULL)
		return true;
	code->lines_size = python_word(bytes + layout->size);
	if (code->lines_size <= PYTHON_MAX_LINES)
		code->lines = python_memory(reading, lines + layout->bytes,
		    code->lines_size, false);
	if (code->lines == NULL)
		code->lines_size = 0;
	return true;
}

/*
 * Writes a string of the interpreter to text[size] as UTF-8, cut at a character
 * that does not fit, and ended by a NUL.  Returns the length, or SIZE_MAX if it
 * is no string.
 */
static size_t
python_read_text(struct python_reading *reading, uint64_t string, char *text,
    size_t size)
{
	const struct python_layout *layout = reading->layout;
	const unsigned char *bytes = string % sizeof string != 0 ? NULL :
	    python_memory(reading, string, layout->compact, false);
	uint64_t length, i;
	uint32_t state, kind;
	size_t n = 0;

	if (bytes == NULL)
		return SIZE_MAX;
	length = python_word(bytes + layout->length);
	state = python_half(bytes + layout->state) >> layout->kind_shift;
	kind = state & 7;
	/* A character of 1, 2 or 4 bytes; bit 3: compact; bit 4: ASCII. */
	if ((kind != 1 && kind != 2 && kind != 4) || (state & 8) == 0)
		return SIZE_MAX;
	if (length > size)
		length = size;
	bytes = python_memory(reading, string + ((state & 16) != 0 ?
	    layout->ascii : layout->compact), length * kind, false);
	if (bytes == NULL)
		return SIZE_MAX;
	for (i = 0; i < length && n + 5 <= size; i++, bytes += kind) {
		uint32_t c = 0;

		memcpy(&c, bytes, kind);
		n += python_put_character((unsigned char *)text + n, c);
	}
	text[n] = '\0';
	return n;
}

#endif
