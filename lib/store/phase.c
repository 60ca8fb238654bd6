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
#include "lib/store/datafile.h"

#define MAX_PHASES 1024
#define NAME_SIZE 64

static char names[MAX_PHASES][NAME_SIZE] BIG_TABLE;
static _Atomic uint32_t strings[MAX_PHASES] WIPED_TABLE;	/* 0: not in the
								   file */

static uint32_t n_phases = 1;
static _Atomic uint32_t current;
static atomic_flag locked WIPED;

/* The number of a name, new or known; 0 if there is no room.  Lock held. */
static uint32_t
find_or_add(const char *name)
{
	uint32_t i;

	for (i = 1; i < n_phases; i++)
		if (strncmp(names[i], name, NAME_SIZE - 1) == 0)
			return i;
	if (n_phases == MAX_PHASES)
		return 0;
	strncpy(names[i], name, NAME_SIZE - 1);
	n_phases++;
	return i;
}

uint32_t
phase_number(const char *name)
{
	uint32_t phase;

	process_lock(&locked);
	phase = find_or_add(name);
	process_unlock(&locked);
	return phase;
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

/* The string of a phase's name, which is added to the file if necessary. */
static enum store_result
find_string(uint32_t phase, uint32_t *string)
{
	const char *name = names[phase];

	*string = strings[phase];
	if (*string != 0)
		return STORE_OK;
	if (!datafile_lock())
		return STORE_BUSY;
	if (strings[phase] == 0)
		strings[phase] = datafile_add_string(name,
		    strlen(name) + 1, NULL);
	*string = strings[phase];
	datafile_unlock();
	return *string != 0 ? STORE_OK : STORE_FULL;
}

enum store_result
phase_node(struct tree *tree, uint32_t phase, struct node *node)
{
	enum store_result result;
	uint32_t string;

	*node = TREE_ROOT;
	if (phase == 0)
		return STORE_OK;
	result = find_string(phase, &string);
	if (result != STORE_OK)
		return result;
	return tree_child(tree, &TREE_ROOT, &(struct tree_place){
	    .module = CPPROFDATA_PHASE, .offset = string }, node);
}
