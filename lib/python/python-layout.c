/* SPDX-License-Identifier: MIT */
/* python-layout.c -- finds the interpreter. */
#include "lib/python/python.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/lookup.h"
#include "lib/unwind/traits.h"

/* The module's .eh_frame_hdr; NULL: it is not mapped, or not together. */
static const unsigned char *
python_index(uint64_t code, size_t *size)
{
	struct dl_find_object object;
	const unsigned char *index;

	if (_dl_find_object((void *)(uintptr_t)code, &object) != 0)
		return NULL;
	index = object.dlfo_eh_frame;
	if (index < (const unsigned char *)object.dlfo_map_start ||
	    index >= (const unsigned char *)object.dlfo_map_end)
		return NULL;
	*size = (size_t)((const unsigned char *)object.dlfo_map_end - index);
	return index;
}

/*
 * Finds the code of the loop that lies apart.  is_ordered: a symbol says which one is
 * the loop.
 */
static void
python_find_loop(struct python_runtime *runtime, bool is_ordered)
{
	size_t size;
	const unsigned char *index = python_index(runtime->loop, &size);
	const unsigned char *code = (const void *)(uintptr_t)runtime->loop;

	if (index == NULL)
		return;
	python_find_cold(runtime, code, index, size, (uintptr_t)index);
	if (!is_ordered && runtime->cold_end != 0)
		python_order_loop(runtime, code,
		    (const void *)(uintptr_t)runtime->cold);
}

/* The address of a symbol; 0: the module does not have it. */
static uint64_t
python_symbol(const struct lookup *symbols, const char *name, uint64_t *size)
{
	const ElfW(Sym) *symbol = lookup_symbol(symbols, name);

	*size = symbol != NULL ? symbol->st_size : 0;
	return symbol != NULL ? symbols->bias + symbol->st_value : 0;
}

/* All but the runtime may be missing, in a program without symbols. */
static void
python_find(const struct link_map *map, struct python_runtime *found)
{
	struct lookup symbols;
	uint64_t version, size;
	unsigned long number = 0;

	*found = (struct python_runtime){
		.map = map,
		.runtime = (uintptr_t)traits_python_runtime()
	};
	if (lookup_open(map, &symbols)) {
		found->code_type = python_symbol(&symbols, "PyCode_Type",
		    &size);
		found->loop = python_symbol(&symbols,
		    "_PyEval_EvalFrameDefault", &size);
		found->loop_end = found->loop + size;
		version = python_symbol(&symbols, "Py_Version", &size);
		if (size == sizeof number)
			memcpy(&number, (const void *)(uintptr_t)version,
			    sizeof number);
	}
	if (found->loop_end != 0)
		python_find_loop(found, true);
	found->is_supported = python_layout_find((uint32_t)number,
	    (const void *)(uintptr_t)found->runtime, &found->layout);
}

const struct python_runtime python_runtime_busy;

/* Two, so that one may be read while the other one is written. */
static struct python_runtime runtimes[2];
static const struct python_runtime *_Atomic known;
static const struct link_map *_Atomic examined;
static _Atomic bool is_busy;

/* The interpreter that the process has loaded, whether supported or not. */
static const struct python_runtime *
python_any_runtime(void)
{
	const struct link_map *map = traits_python();
	struct python_runtime *next;

	if (map == NULL)
		return NULL;
	if (atomic_load_explicit(&examined, memory_order_acquire) == map)
		return atomic_load_explicit(&known, memory_order_acquire);
	if (atomic_exchange(&is_busy, true))
		return PYTHON_RUNTIME_BUSY;
	next = &runtimes[atomic_load(&known) == &runtimes[0]];
	python_find(map, next);
	atomic_store(&known, next);
	atomic_store(&examined, map);
	atomic_store(&is_busy, false);
	return next;
}

const struct python_runtime *
python_runtime(void)
{
	const struct python_runtime *runtime = python_any_runtime();

	return runtime == NULL || runtime == PYTHON_RUNTIME_BUSY ||
	    runtime->is_supported ? runtime : NULL;
}

const struct python_runtime *
python_learn_loop(const struct python_runtime *runtime, uint64_t address)
{
	struct python_runtime *next;
	const unsigned char *index;
	size_t size;

	if (atomic_exchange(&is_busy, true))
		return PYTHON_RUNTIME_BUSY;
	/* Else another thread was first, and the other copy is in use. */
	if (atomic_load(&known) == runtime &&
	    (index = python_index(address, &size)) != NULL) {
		next = &runtimes[runtime == &runtimes[0]];
		*next = *runtime;
		if (python_set_loop(next, address, index, size,
		    (uintptr_t)index)) {
			python_find_loop(next, false);
			atomic_store(&known, next);
			runtime = next;
		}
	}
	atomic_store(&is_busy, false);
	return runtime;
}

bool
python_is_unsupported(const struct unwinder *unwinder)
{
	const struct python_runtime *runtime = python_any_runtime();
	size_t i;

	if (runtime == NULL || runtime == PYTHON_RUNTIME_BUSY ||
	    runtime->is_supported)
		return false;
	/* It is most often near the innermost frame. */
	for (i = unwinder->stack.n; i > 0; i--)
		if (python_is_loop(runtime,
		    unwinder->stack.frames[i - 1].address))
			return true;
	return false;
}
