/* SPDX-License-Identifier: MIT */
/* control.h -- the functions of cpprof.h, and the end of sampling. */
#ifndef CPPROF_CONTROL_H
#define CPPROF_CONTROL_H

#include <stdint.h>

/*
 * Completes the recording and ends sampling for good, in all threads; a flag of
 * the file says why, 0 for none.  Not from the handler.
 */
void control_end(uint32_t flag);

#endif
