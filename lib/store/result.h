/* SPDX-License-Identifier: MIT */
/* result.h -- what became of something that is added to the file. */
#ifndef CPPROF_STORE_RESULT_H
#define CPPROF_STORE_RESULT_H

enum store_result {
	STORE_OK,
	STORE_BUSY,	/* another thread holds the file's lock; try again at
			   the next tick */
	STORE_FULL	/* no room in file or memory */
};

#endif
