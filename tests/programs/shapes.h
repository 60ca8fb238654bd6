/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shapes.h -- code shapes that are difficult for an unwinder.
 *
 * Each function works for a while and returns something that depends on all
 * of its work.  Built with optimisation and without frame pointers.
 */
#ifndef TESTS_SHAPES_H
#define TESTS_SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

/* Recursion to that depth, never by a tail call. */
unsigned shape_recursion(unsigned depth);

/* A comparison function called from inside the C library. */
unsigned shape_callback(unsigned n);

/* Frames of variable size: alloca and arrays. */
unsigned shape_variable(unsigned n);

/* A frame whose stack is realigned, so that its CFA must be loaded. */
unsigned shape_realigned(unsigned n);

/* Library calls through the procedure linkage table. */
unsigned shape_library(unsigned n);

/* A signal raised, handled on an alternate stack, where it works. */
unsigned shape_alternate_stack(unsigned n);

/* Jumps out of a deep recursion. */
unsigned shape_jump(unsigned n);

/* C++: objects destroyed while an exception passes, caught and rethrown. */
unsigned shape_exceptions(unsigned n);

/*
 * The same in functions with frame pointers, all of them in the section
 * `steep`; where each call that has begun and not been left keeps its caller's
 * frame pointer, outermost first.
 */
#define SHAPE_STEEP_MAX 16
unsigned shape_steep(unsigned n);
extern const volatile void *volatile shape_steep_calls[SHAPE_STEEP_MAX];
extern volatile unsigned shape_n_steep_calls;

#ifdef __cplusplus
}
#endif

#endif
