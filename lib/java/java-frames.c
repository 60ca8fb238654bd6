/* SPDX-License-Identifier: MIT */
/* java-frames.c -- see java.h. */
#include "lib/java/java-frames.h"

#include "lib/base/attributes.h"
#include "lib/base/readable.h"

#define METHOD_BELOW 24u		/* the frame pointer */
#define ROOM (JAVA_METHODS_MAX / 4 * 3)

static struct java_methods *_Atomic java_methods;

EXPORTED java_start_function cpprof_java_start;

void
cpprof_java_start(struct java_methods *methods)
{
	atomic_store_explicit(&java_methods, methods, memory_order_release);
}

static struct java_methods *
java_methods_now(void)
{
	return atomic_load_explicit(&java_methods, memory_order_acquire);
}

/* Whether the structures behind it look like a method's. */
static bool
is_method(const struct java_methods *methods, struct readable *readable,
    uint64_t method)
{
	uint64_t part, pool, holder;

	return method % 8 == 0 &&
	    readable_word(readable, method + methods->const_method, &part) &&
	    part % 8 == 0 &&
	    readable_word(readable, part + methods->constants, &pool) &&
	    pool % 8 == 0 &&
	    readable_word(readable, pool + methods->pool_holder, &holder) &&
	    holder != 0 && holder % 8 == 0 &&
	    readable_range(readable, holder, sizeof holder);
}

/* Whether the method is in the set, to which it is added if it is one. */
static bool
tell_method(struct java_methods *methods, struct readable *readable,
    uint64_t method)
{
	size_t at = (size_t)((method >> 3) * 0x9e3779b97f4a7c15u >> 40);

	for (;; at++) {
		_Atomic uint64_t *entry = &methods->methods[at %
		    JAVA_METHODS_MAX];
		uint64_t known = atomic_load_explicit(entry,
		    memory_order_relaxed);

		if (known == 0) {
			if (atomic_load(&methods->n_used) >= ROOM ||
			    !is_method(methods, readable, method))
				return false;
			if (atomic_compare_exchange_strong(entry, &known,
			    method)) {
				atomic_fetch_add(&methods->n_used, 1);
				return true;
			}
		}
		if (known == method)
			return true;
	}
}

static uint64_t
method_of(struct java_methods *methods, struct readable *readable,
    const struct walked_frame *frame)
{
	uint64_t method;

	if (methods == NULL || frame->address - methods->begin >=
	    methods->end - methods->begin ||
	    !readable_word(readable, frame->fp - METHOD_BELOW, &method) ||
	    method == 0 || !tell_method(methods, readable, method))
		return 0;
	return method;
}

void
java_find_method(struct unwinder *unwinder, struct walked_frame *frame)
{
	frame->method = method_of(java_methods_now(), &unwinder->readable,
	    frame);
}

size_t
java_n_kept(struct unwinder *unwinder)
{
	struct java_methods *methods = java_methods_now();
	const struct walked_frame *frames = unwinder->stack.frames;
	size_t i;

	if (methods == NULL)
		return unwinder->n_kept;
	for (i = 0; i < unwinder->n_kept; i++)
		if (frames[i].method != method_of(methods,
		    &unwinder->readable, &frames[i]))
			break;
	return i;
}
