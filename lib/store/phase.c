/* SPDX-License-Identifier: MIT */
/* phase.c -- names of phases, which are kept for good, and the current phase.
 *
 * Phase 0 means none.  The first sample that needs a name adds its string to
 * the file.  It cannot be added earlier, because a forked child's file is
 * created by its first tick.
 */
#include "lib/store/thread-file.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/store/datafile.h"

#define MAX_PHASES 1026	/* none, "sampling", "forking" among them */
#define NAME_SIZE 64

/* Without those of PHASE_SAMPLING and PHASE_FORKING, so that it is all zeros. */
static char names[MAX_PHASES][NAME_SIZE] BIG_TABLE;
static _Atomic uint32_t strings[MAX_PHASES] WIPED_TABLE;	/* 0: not in the
								   file */

static uint32_t n_phases = PHASE_FORKING + 1;
static _Atomic uint32_t current;
static atomic_flag locked WIPED;

static const char *
phase_name(uint32_t phase)
{
	return phase == PHASE_SAMPLING ? "sampling" :
	    phase == PHASE_FORKING ? "forking" : names[phase];
}

uint32_t
phase_number(const char *name)
{
	uint32_t i = 1;

	/* So that no handler which ends the process waits for this thread. */
	thread_hold_off();
	process_lock(&locked);
	while (i < n_phases && strncmp(phase_name(i), name, NAME_SIZE - 1) != 0)
		i++;
	if (i == MAX_PHASES) {
		i = 0;		/* no room */
	} else if (i == n_phases) {
		strncpy(names[i], name, NAME_SIZE - 1);
		n_phases++;
	}
	process_unlock(&locked);
	thread_resume();
	return i;
}

bool
phase_set(const char *name)
{
	uint32_t phase = 0;

	if (name != NULL && *name != '\0') {
		phase = phase_number(name);
		if (phase == 0) {
			errno = ENOSPC;
			return false;
		}
	}
	atomic_store_explicit(&current, phase, memory_order_release);
	return true;
}

uint32_t
phase_current(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

bool
phase_refresh(uint32_t *phase)
{
	uint32_t now = phase_current();

	if (*phase == now)
		return false;
	*phase = now;
	return true;
}

enum store_result
phase_node(struct tree *tree, uint32_t phase, struct node *node)
{
	const char *name = phase_name(phase);
	uint32_t string;

	*node = TREE_ROOT;
	if (phase == 0)
		return STORE_OK;
	string = strings[phase];
	if (string == 0) {
		if (!datafile_lock())
			return STORE_BUSY;
		if (strings[phase] == 0)
			strings[phase] = datafile_add_string(name,
			    strlen(name) + 1, NULL);
		string = strings[phase];
		datafile_unlock();
	}
	if (string == 0)
		return STORE_FULL;
	return tree_child(tree, &TREE_ROOT, &(struct tree_place){
	    .module = CPPROFDATA_PHASE, .offset = string }, node);
}
