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

static bool
python_find(const struct link_map *map, struct python_runtime *found)
{
	const ElfW(Sym) *runtime, *loop, *type, *version;
	struct lookup symbols;
	const unsigned char *index;
	unsigned long number;
	size_t size;

	if (!lookup_open(map, &symbols))
		return false;
	runtime = lookup_symbol(&symbols, "_PyRuntime");
	loop = lookup_symbol(&symbols, "_PyEval_EvalFrameDefault");
	type = lookup_symbol(&symbols, "PyCode_Type");
	version = lookup_symbol(&symbols, "Py_Version");
	if (runtime == NULL || loop == NULL || type == NULL || version == NULL)
		return false;
	*found = (struct python_runtime){
		.map = map,
		.runtime = symbols.bias + runtime->st_value,
		.code_type = symbols.bias + type->st_value,
		.loop = symbols.bias + loop->st_value,
		.loop_end = symbols.bias + loop->st_value + loop->st_size
	};
	index = python_index(found->loop, &size);
	if (index != NULL)
		python_find_cold(found, (const void *)(uintptr_t)found->loop,
		    index, size, (uintptr_t)index);
	memcpy(&number, (const void *)(symbols.bias + version->st_value),
	    sizeof number);
	return python_layout_find((uint32_t)number,
	    (const void *)(uintptr_t)found->runtime, &found->layout);
}

const struct python_runtime python_runtime_busy;

const struct python_runtime *
python_runtime(void)
{
	/* Two, so that one may be read while the other one is written. */
	static struct python_runtime runtimes[2];
	static const struct python_runtime *_Atomic known;
	static const struct link_map *_Atomic examined;
	static _Atomic bool is_busy;
	const struct link_map *map = traits_python();
	struct python_runtime *next;

	if (map == NULL)
		return NULL;
	if (atomic_load_explicit(&examined, memory_order_acquire) == map)
		return atomic_load_explicit(&known, memory_order_acquire);
	if (atomic_exchange(&is_busy, true))
		return PYTHON_RUNTIME_BUSY;
	next = &runtimes[atomic_load(&known) == &runtimes[0]];
	atomic_store(&known, python_find(map, next) ? next : NULL);
	atomic_store(&examined, map);
	atomic_store(&is_busy, false);
	return atomic_load(&known);
}
