/* SPDX-License-Identifier: MIT */
/* java.h -- the methods that Java's interpreter runs on a sampled stack.
 *
 * The interpreter is one piece of code, and each frame of it has the method
 * that it runs at a fixed place (HotSpot, frame_x86.hpp:
 * interpreter_frame_method_offset).  In the tree, the method's address takes
 * the place of the address in the interpreter.  The agent (java-agent.h), a
 * library of its own, names these addresses like code.
 *
 * All functions: async-signal-safe, on the thread, unless stated otherwise.
 */
#ifndef CPPROF_JAVA_H
#define CPPROF_JAVA_H

#include <stdatomic.h>
#include <stdint.h>

#define JAVA_METHODS_MAX 16384u		/* a power of two */

/* What the agent and the collector share, in the agent's memory. */
struct java_methods {
	uint64_t begin, end;		/* the interpreter's code */
	/*
	 * Offsets: in a method, of its constant part; there, of the constant
	 * pool; and there, of the class that it belongs to.
	 */
	uint32_t const_method, constants, pool_holder;
	_Atomic uint32_t n_used;
	_Atomic uint64_t methods[JAVA_METHODS_MAX];	/* a hash set; 0: free */
};

/* The collector's function that the agent looks up and calls, once. */
#define JAVA_START "cpprof_java_start"
typedef void java_start_function(struct java_methods *methods);

#endif
