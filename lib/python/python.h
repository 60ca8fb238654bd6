/* SPDX-License-Identifier: MIT */
/* python.h -- the frames of CPython's interpreter on a sampled stack.
 *
 * How the list is put together with the native stack, cpython/walk.h explains.
 *
 * Nothing of the interpreter is called, no lock is taken, and nothing is
 * changed.  All memory is probed before it is read (lib/base/readable.h), which
 * takes a system call.  A thread state, a frame and its code object that are in
 * use cannot be freed meanwhile, because this is their thread, nor can what the
 * frame refers to: a page where they lie is probed again after
 * PYTHON_PROBE_EVERY samples.  What may just have been freed is probed each
 * time.
 *
 * All functions: async-signal-safe, on the thread, unless stated otherwise.
 */
#ifndef CPPROF_PYTHON_H
#define CPPROF_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpython/layout.h"
#include "lib/unwind/unwinder.h"

#define PYTHON_PROBE_EVERY 1024		/* samples */
#define PYTHON_MAX_STATES 4		/* of one thread, one for each
					   interpreter that it has run in */
#define PYTHON_N_PAGES 512		/* whose probe is remembered */

struct python_frame {
	uint64_t frame, code;	/* where they are */
	uint64_t tag;		/* differs if there is another code object at
				   the same address, as far as can be told; */
	uint64_t mark;		/* likewise, but found faster; 0: not known */
	uint64_t probed;	/* in which walk its code object was */
	uint32_t offset;	/* of the instruction, as in the file
				   (CPPROFDATA_INTERPRETED) */
	uint32_t native;	/* index of the native frame that runs it */
	uint32_t function;	/* number in the file */
	uint32_t parent;	/* node of the native frame, if it is the first
				   one there */
	struct frame_node at;	/* its node in the tree */
};

struct python_frames {
	struct python_frame *frames;
	size_t n, capacity;
};

enum python_result {
	PYTHON_NONE,		/* no Python frames here */
	PYTHON_FOUND,
	PYTHON_UNKNOWN,		/* there are some, and they cannot be told */
	PYTHON_BUSY		/* the list is just being changed */
};

/* The part of a thread's state that belongs to lib/python. */
struct python {
	struct python_frames stack;	/* of the last sample, outermost
					   first; the nodes of all are set */
	struct python_frames fresh;	/* of this walk, innermost first */
	size_t n_kept;		/* frames of the stack that are as before */
	size_t changed;		/* the first native frame whose Python frames
				   are not; SIZE_MAX: none */
	uint32_t owner;		/* of the tree in which the nodes are */
	uint64_t states[PYTHON_MAX_STATES];	/* of this thread */
	unsigned n_states;
	uint32_t n_searched, n_misses;	/* how long the last search was; in
					   vain */
	uint64_t code_type;	/* of code objects, once it is known; 0 */
	size_t n_counted;	/* native frames whose `loops` are set, by
				   what was known of the interpreter then: */
	const struct python_runtime *counted_by;
	uint64_t n_walks;
	uint64_t pages[PYTHON_N_PAGES];	/* page | walk, modulo a page */
};

/*
 * Finds the Python frames of the stack that the unwinder has walked, in
 * python->stack, of which the n_kept outermost ones are as in the last sample.
 * The other ones have no nodes yet.  *innermost is the index of the innermost
 * native frame of an evaluation loop; set unless the result is PYTHON_NONE.
 * Takes native frames that are of other greenlets away from the unwinder's stack.
 */
enum python_result python_walk(struct python *python,
    struct unwinder *unwinder, uint32_t tid, size_t *innermost);

/*
 * Stores a number that is the same while the thread's Python frames are; 0 if
 * there are none.  False if that cannot be told.  With ticks held off.
 */
bool python_signature(struct python *python, struct unwinder *unwinder,
    uint32_t tid, uint64_t *signature);

/*
 * Describes the code object of a frame.  False if there is none any more.
 */
bool python_describe(struct python *python, struct unwinder *unwinder,
    const struct python_frame *frame, struct python_code *code);

/*
 * Writes a string of the interpreter to text[size] as UTF-8, cut at a character
 * that does not fit, and ended by a NUL.  Returns the length, or SIZE_MAX if it
 * is no string.
 */
size_t python_copy_text(struct python *python, struct unwinder *unwinder,
    uint64_t string, char *text, size_t size);

/* The address that stands for all native frames of the evaluation loop. */
uint64_t python_loop(void);

/* Forgets the frames, whose nodes are invalid. */
static inline void
python_forget(struct python *python)
{
	python->stack.n = 0;
}

/* Forgets all for another thread, or in a forked child. */
static inline void
python_begin(struct python *python)
{
	python->stack.n = python->n_counted = 0;
	python->n_states = 0;
	python->n_searched = python->n_misses = 0;
	python->code_type = 0;
}

/* ---- python-layout.c ---- */

/*
 * The interpreter that the process has loaded; NULL: none whose frames can be read.
 * PYTHON_RUNTIME_BUSY: another thread is about to find it.
 */
extern const struct python_runtime python_runtime_busy;
#define PYTHON_RUNTIME_BUSY (&python_runtime_busy)

const struct python_runtime *python_runtime(void);

/*
 * Finds the loop of an interpreter without symbols; address: of an instruction of
 * the loop.  Returns the runtime with the loop; the same one if that cannot be
 * found there, or if another thread was faster; or PYTHON_RUNTIME_BUSY.
 */
const struct python_runtime *python_learn_loop(
    const struct python_runtime *runtime, uint64_t address);

/*
 * Whether a stack has the loop of an interpreter whose frames cannot be read.
 * O(frames), if there is such an interpreter.
 */
bool python_is_unsupported(const struct unwinder *unwinder);

#endif
