/* SPDX-License-Identifier: MIT */
/* cpprof-inside.h -- how `record -p --inside` loads the collector into a process
 * that runs, and how it ends sampling there.
 *
 * cpprof makes a thread of the process load the library, writes the settings
 * into the library's variable of this type, and makes the thread call the
 * function below.  That starts a thread of the collector and returns.  This
 * thread begins and ends sampling, and ends then.  The library stays loaded, and
 * can begin again, with other settings.
 *
 * cpprof reads and writes the variable as memory of the process, so it needs no
 * file or name that both see.  If cpprof is killed, the directory of the
 * recording is no longer locked, and sampling ends, too.
 */
#ifndef CPPROF_INSIDE_H
#define CPPROF_INSIDE_H

#include <stdint.h>

#define CPPROF_INSIDE_VARIABLE "cpprof_inside"
#define CPPROF_INSIDE_FUNCTION "cpprof_inside_start"	/* int (void); 0, or
							   an errno */
#define CPPROF_INSIDE_THREAD "cpprof"	/* its name */
#define CPPROF_INSIDE_MAGIC 0x31736e69u		/* "ins1" */

enum cpprof_inside_state {
	CPPROF_INSIDE_IDLE,	/* no recording, now or ever */
	CPPROF_INSIDE_STARTING,
	CPPROF_INSIDE_SAMPLING,
	CPPROF_INSIDE_FAILED,	/* `error` and `problem` say why */
	CPPROF_INSIDE_ENDED	/* a recording, which is complete */
};

struct cpprof_inside {
	uint32_t magic;
	uint32_t state;
	uint32_t wants_end;	/* written by cpprof: sampling is to end */
	uint32_t error;		/* errno; 0: `problem` says it all */
	uint64_t ticks_mask;	/* signals that threads must not block, bit
				   number - 1; written before the state is
				   CPPROF_INSIDE_SAMPLING */
	char problem[232];
	/*
	 * Written by cpprof: the variables of cpprof-environment.h, each as
	 * NAME=VALUE with a NUL; an empty one is the last.
	 */
	char settings[12288];
};

#endif
