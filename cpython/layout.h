/* SPDX-License-Identifier: MIT */
/* layout.h -- where CPython 3.11 to 3.15 have what; offsets in bytes.
 *
 * Within a minor version the fields that are used here have not moved.  From
 * 3.13 on the interpreter has a table of them, _Py_DebugOffsets, at the start of
 * _PyRuntime.
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_CPYTHON_LAYOUT_H
#define CPPROF_CPYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYTHON_NO_FIELD UINT32_MAX	/* it has no such field */

/*
 * What leads from an asyncio task to those that await it (tasks.h); frame 0:
 * not known.
 */
struct python_tasks {
	uint32_t frame;		/* of a coroutine: its frame */
	uint32_t state;		/* likewise: a byte that says whether it runs */
	int suspended_from;	/* its values when it is suspended: in a yield, */
	int suspended_to;	/* and when it awaits; the same up to 3.12 */
	uint32_t locals, stack;	/* of a frame: its variables, and where its
				   stack ends: */
	bool has_count;		/* so many words of both, else its address */
	uint32_t awaited;	/* how far below the end of the stack what it
				   awaits lies, in words */
	uint32_t coroutine;	/* of a task */
	uint32_t awaited_by;	/* of a task: who awaits it; PYTHON_NO_FIELD: its
				   callbacks say that */
	uint32_t awaited_by_is_set;	/* a byte: whether there are several */
	enum {			/* where an instance has its attributes */
		PYTHON_VALUES_3_11, PYTHON_VALUES_3_12, PYTHON_VALUES_3_13
	} values;
};

struct python_layout {
	uint32_t interpreters;		/* of the runtime: the first one */
	uint32_t next_interpreter, threads;	/* of an interpreter */
	uint32_t modules;	/* likewise: its dictionary of modules */
	uint32_t next_thread, ident, tid;	/* of a thread state */
	uint32_t current;	/* of a thread state: its frame, or the
				   _PyCFrame that has it, */
	uint32_t base;		/* and the frame below all others; from 3.15 */
	uint32_t cframe_current, cframe_previous;	/* of a _PyCFrame */
	uint32_t code, previous, instruction, owner;	/* of a frame */
	uint32_t is_entry;	/* of a frame in 3.11; and what says whether
				   the frame is in use: */
	uint32_t stack_pointer;		/* of a frame */
	uint32_t chunk;		/* of a thread state: memory for frames, */
	uint32_t chunk_size;	/* its size */
	uint32_t entry_owner;	/* `owner` of entry frames */
	uint64_t tag;		/* bits of `code` that are no address */
	uint32_t type;		/* of any object */
	uint32_t units;		/* of a code object: how long its code is, */
	uint32_t first_line, version, file, name, lines, instructions;
	uint32_t length, state, ascii, compact;	/* of a string */
	uint32_t kind_shift;	/* of its state */
	uint32_t mark;		/* of a code object: two words that hardly any
				   other has; in 3.11 the first is its name */
	uint32_t hash;		/* of a string, if code has no version */
	uint32_t size, bytes;	/* of a bytes object */
	uint32_t type_name;	/* of a type: the address of its name */
	uint32_t code_size;	/* bytes of a code object that have the fields */
	struct python_tasks tasks;
};

/* An interpreter in a process. */
struct python_runtime {
	const void *map;	/* the loader's, of its module; unused outside */
	uint64_t runtime, code_type;	/* _PyRuntime, PyCode_Type; the type is
					   0 if no symbol has it */
	uint64_t loop, loop_end;	/* _PyEval_EvalFrameDefault; 0: no
					   symbol has it, and it was not found
					   yet */
	uint64_t cold, cold_end;	/* its code that lies apart; 0: none */
	bool is_supported;		/* the layout is known */
	struct python_layout layout;
};

/* What is read of a frame; all are longer. */
#define PYTHON_FRAME_SIZE 80
#define PYTHON_MAX_LOCALS ((uint64_t)1 << 20)	/* bytes, with its stack */

/* `owner` of a frame that a function or a coroutine has. */
enum { PYTHON_OWNED_BY_THREAD = 0, PYTHON_OWNED_BY_GENERATOR = 1 };

static inline bool
python_is_loop(const struct python_runtime *runtime, uint64_t address)
{
	return address - runtime->loop < runtime->loop_end - runtime->loop ||
	    address - runtime->cold < runtime->cold_end - runtime->cold;
}

/* Bytes at the start of _PyRuntime that the layout may depend on. */
#define PYTHON_TABLE_SIZE 824

/*
 * The layout of a version, as Py_Version has it; 0: the version that the table
 * has.  table[PYTHON_TABLE_SIZE]: the start of _PyRuntime, not read before 3.13;
 * aligned.  False: the version is not known, the interpreter is free-threaded, or
 * the table cannot be one: without its cookie, of another version than the
 * interpreter, or with fields outside of their structures.
 */
bool python_layout_find(uint32_t version, const void *table,
    struct python_layout *layout);

#define PYTHON_BEGIN_SIZE 4
#define PYTHON_MAX_LOOP ((uint64_t)4 << 20)	/* bytes of the loop, many times
						   what they are */

/*
 * Makes the function that an address lies in the loop, where no symbol says where
 * that is.  index[size]: as below.  False: it lies in none, or in none of a
 * possible size.
 */
bool python_set_loop(struct python_runtime *runtime, uint64_t address,
    const unsigned char *index, size_t size, uint64_t index_address);

/*
 * Finds the code of the loop that lies apart, of which a runtime is told.
 * code: that of the loop; index[size]: the module's .eh_frame_hdr, at `address`,
 * aligned.
 * Addresses are of one kind: of the file, or of a process.
 */
void python_find_cold(struct python_runtime *runtime,
    const unsigned char *code, const unsigned char *index, size_t size,
    uint64_t address);

/*
 * Corrects what python_set_loop took for the loop, if that is its code that lies
 * apart.  loop[], cold[]: the first bytes of both.
 */
void python_order_loop(struct python_runtime *runtime,
    const unsigned char loop[PYTHON_BEGIN_SIZE],
    const unsigned char cold[PYTHON_BEGIN_SIZE]);

#define PYTHON_MAX_LINES ((uint64_t)1 << 20)	/* bytes of a line table */

/* What a code object says. */
struct python_code {
	uint64_t name, file;	/* strings of the interpreter */
	const unsigned char *lines;	/* the line table; NULL: none */
	uint64_t lines_size;
	uint32_t first_line;
};

/*
 * Writes a character as UTF-8 to to[4]; returns how many bytes.
 */
size_t python_put_character(unsigned char *to, uint32_t character);

#endif
