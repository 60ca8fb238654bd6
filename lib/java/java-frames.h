/* SPDX-License-Identifier: MIT */
/* java-frames.h -- the frames of Java's interpreter among walked ones; see
 * java.h.
 */
#ifndef CPPROF_JAVA_FRAMES_H
#define CPPROF_JAVA_FRAMES_H

#include "lib/java/java.h"
#include "lib/unwind/unwinder.h"

/*
 * Sets frame->method: the method that the frame of the interpreter runs; 0 if
 * it is another frame, no method is found, or there is no room to tell the
 * agent.
 */
void java_find_method(struct unwinder *unwinder, struct walked_frame *frame);

/*
 * How many of the kept frames still run the methods that they ran: a frame may
 * have returned, and another of the same size be in its place.
 */
size_t java_n_kept(struct unwinder *unwinder);

#endif
