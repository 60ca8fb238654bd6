/* SPDX-License-Identifier: MIT */
/* loop.c -- finds the code of the evaluation loop that lies apart.
 *
 * A compiler may put what it takes for rarely executed elsewhere, as a function
 * without a name (gcc's "cold" part).  GCC 16 does so with nearly all of the loop
 * of CPython 3.14.  The loop jumps into its midst, as it does into no other
 * function: a call that ends a function jumps to the beginning of another one.
 * The part that lies apart jumps back in the same way.
 */
#include "cpython/layout.h"

#include <string.h>

#include "dwarf/cfi.h"

#define MAX_CANDIDATES 16
#define MIN_JUMPS 4		/* other bytes may look like a jump */

/* Where functions begin. */
struct function_index {
	const struct cfi_index_row *rows;
	size_t n;
	uint64_t address;	/* of the section */
};

static uint64_t
function_start(const struct function_index *index, size_t i)
{
	return index->address + (uint64_t)(int64_t)index->rows[i].address;
}

/* The function that an address is in; index->n: none. */
static size_t
find_function(const struct function_index *index, uint64_t address)
{
	size_t low = 0, high = index->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (function_start(index, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? low - 1 : index->n;
}

/*
 * Where an instruction of x86-64 at code[0..5] jumps to, relative to the next
 * one, whose offset is *next; false: it is none that can jump so far.
 */
static bool
read_jump(const unsigned char *code, unsigned *next, int32_t *distance)
{
	const bool is_conditional = code[0] == 0x0f && (code[1] & 0xf0) == 0x80;

	if (!is_conditional && code[0] != 0xe9)
		return false;
	*next = is_conditional ? 6 : 5;
	memcpy(distance, code + *next - sizeof *distance, sizeof *distance);
	return true;
}

bool
python_set_loop(struct python_runtime *runtime, uint64_t address,
    const unsigned char *bytes, size_t n_bytes, uint64_t index_address)
{
	struct function_index index = { .address = index_address };
	uint64_t start, size;
	size_t function;

	if (!cfi_index_open(bytes, bytes + n_bytes, &index.rows, &index.n))
		return false;
	function = find_function(&index, address);
	/* Where the last function ends the index does not say. */
	if (function + 1 >= index.n)
		return false;
	start = function_start(&index, function);
	size = function_start(&index, function + 1) - start;
	if (size < PYTHON_BEGIN_SIZE || size > PYTHON_MAX_LOOP)
		return false;
	runtime->loop = start;
	runtime->loop_end = start + size;
	return true;
}

/*
 * Whether a function of x86-64 begins there that saves registers: with endbr64 or
 * a push.  Code that lies apart begins with anything else.
 */
static bool
is_beginning(const unsigned char code[PYTHON_BEGIN_SIZE])
{
	return memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0 ||
	    (code[0] & 0xf8) == 0x50 ||
	    (code[0] == 0x41 && (code[1] & 0xf8) == 0x50);
}

void
python_order_loop(struct python_runtime *runtime,
    const unsigned char loop[PYTHON_BEGIN_SIZE],
    const unsigned char cold[PYTHON_BEGIN_SIZE])
{
	const struct python_runtime before = *runtime;

	if (is_beginning(loop) || !is_beginning(cold))
		return;
	runtime->loop = before.cold;
	runtime->loop_end = before.cold_end;
	runtime->cold = before.loop;
	runtime->cold_end = before.loop_end;
}

void
python_find_cold(struct python_runtime *runtime, const unsigned char *code,
    const unsigned char *bytes, size_t size, uint64_t address)
{
	const uint64_t length = runtime->loop_end - runtime->loop;
	struct function_index index = { .address = address };
	struct { size_t function; unsigned n; } found[MAX_CANDIDATES];
	size_t i, k, n = 0, best = 0;

	runtime->cold = runtime->cold_end = 0;
	if (!cfi_index_open(bytes, bytes + size, &index.rows, &index.n))
		return;
	for (i = 0; i + 6 <= length; i++) {
		uint64_t target;
		int32_t distance;
		unsigned next;
		size_t function;

		if (!read_jump(code + i, &next, &distance))
			continue;
		target = runtime->loop + i + next +
		    (uint64_t)(int64_t)distance;
		if (target - runtime->loop < length)
			continue;
		function = find_function(&index, target);
		/* Beyond the last function anything may be. */
		if (function + 1 >= index.n ||
		    target == function_start(&index, function))
			continue;
		for (k = 0; k < n && found[k].function != function; k++)
			;
		if (k == MAX_CANDIDATES)
			continue;
		if (k == n) {
			found[n].function = function;
			found[n++].n = 0;
		}
		if (++found[k].n > found[best].n)
			best = k;
	}
	if (n == 0 || found[best].n < MIN_JUMPS)
		return;
	runtime->cold = function_start(&index, found[best].function);
	runtime->cold_end = function_start(&index, found[best].function + 1);
}
