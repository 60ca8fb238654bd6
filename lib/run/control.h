/* SPDX-License-Identifier: MIT */
/* control.h -- the functions of cpprof.h, and the end of sampling. */
#ifndef CPPROF_CONTROL_H
#define CPPROF_CONTROL_H

#include <stdint.h>

/*
 * Completes the recording and ends sampling for good in all threads.  `flag`,
 * one of header.flags, says why; 0: none.  Not from a handler.
 */
void control_end(uint32_t flag);

#endif
