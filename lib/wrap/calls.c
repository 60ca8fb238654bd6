/* SPDX-License-Identifier: MIT */
/* calls.c -- entries of functions that were built to tell: `calls`.
 *
 * With -pg a function calls mcount (with -mfentry, __fentry__) when it is
 * entered: lib/wrap/calls-x86_64.S.  With -finstrument-functions it calls
 * __cyg_profile_func_enter, like any function.  Both count down how many calls
 * are left of the interval, and come here when there is none.  The sample's
 * innermost frame is the function that was entered.
 */
#include <errno.h>
#include <link.h>
#include <string.h>

#include "lib/run/threads.h"
#include "lib/sources/source.h"
#include "lib/wrap/wrapped.h"

/* On a thread that is not sampled so many calls pass unlooked at. */
#define UNSAMPLED_CALLS 1000

void mcount(void);
void __fentry__(void);
void __cyg_profile_func_enter(void *, void *);
void calls_cross(void);
void calls_prepare(void);	/* lib/wrap/calls-x86_64.S */

/* What lib/wrap/calls-x86_64.S reads. */
unsigned calls_gate;
void (*calls_real_mcount)(void);
void (*calls_real_fentry)(void);
__thread int64_t calls_left;	/* < 0: the interval's last call */

static __typeof__(__cyg_profile_func_enter) *next_func_enter;
static __thread int64_t lent;	/* what calls_left was last set to */

/* Spends the calls made, and lends those up to the next sample. */
void
calls_cross(void)
{
	struct thread *thread = thread_self;
	const int64_t made = lent - calls_left;
	const unsigned char place = resources.place[RESOURCE_CALLS];
	int saved = errno;

	lent = calls_left = UNSAMPLED_CALLS;
	if (thread != NULL && made > 0) {
		resource_spend(RESOURCE_CALLS, (uint64_t)made);
		lent = calls_left =
		    (int64_t)thread->accounts[place - 1].meter.left - 1;
	}
	errno = saved;
}

EXPORTED void
__cyg_profile_func_enter(void *function, void *site)
{
	if (calls_gate == GATE_OPEN && --calls_left < 0)
		calls_cross();
	next_func_enter(function, site);
}

static bool
start(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	lent = calls_left = 0;
	return true;
}

/* At the thread's end, those that were made of the last lent. */
static uint64_t
hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	uint64_t made = (uint64_t)(lent - calls_left);

	if (expiries > 0)
		return 0;
	lent = calls_left;
	return meter_spend(&thread->accounts[column].meter, made);
}

static bool
is_entry(const char *name)
{
	return strcmp(name, "mcount") == 0 || strcmp(name, "_mcount") == 0 ||
	    strcmp(name, "__fentry__") == 0 ||
	    strcmp(name, "__cyg_profile_func_enter") == 0;
}

/*
 * Whether a module's relocations name one of the functions above.  (Nothing
 * else tells how long the table of symbols is.)
 */
static bool
wants_entries(const struct link_map *module)
{
	const ElfW(Sym) *symbols = NULL;
	const ElfW(Rela) *tables[2] = { NULL, NULL };
	size_t sizes[2] = { 0, 0 }, i, j;
	const char *names = NULL;
	const ElfW(Dyn) *entry;

	for (entry = module->l_ld; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_SYMTAB:
			symbols = (const void *)entry->d_un.d_ptr;
			break;
		case DT_STRTAB:
			names = (const void *)entry->d_un.d_ptr;
			break;
		case DT_RELA:
			tables[0] = (const void *)entry->d_un.d_ptr;
			break;
		case DT_RELASZ:
			sizes[0] = entry->d_un.d_val / sizeof **tables;
			break;
		case DT_JMPREL:
			tables[1] = (const void *)entry->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			sizes[1] = entry->d_un.d_val / sizeof **tables;
			break;
		}
	for (i = 0; symbols != NULL && names != NULL && i < 2; i++)
		for (j = 0; tables[i] != NULL && j < sizes[i]; j++) {
			size_t symbol = ELF64_R_SYM(tables[i][j].r_info);

			if (symbol != 0 &&
			    is_entry(names + symbols[symbol].st_name))
				return true;
		}
	return false;
}

static bool
probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	const struct link_map *module;

	(void)row, (void)interval;
	*why = "nothing here was built with -pg or -finstrument-functions";
	if (!wrapped_is_preloaded())
		return true;
	/* The vdso's table is not relocated, and the loader's calls nobody. */
	for (module = _r_debug.r_map; module != NULL; module = module->l_next)
		if ((module == _r_debug.r_map || module->l_name[0] == '/') &&
		    wants_entries(module))
			return true;
	return false;
}

const struct source source_calls = {
	.name = "mcount, __fentry__, __cyg_profile_func_enter",
	.probe = probe,
	.start = start,
	.hits = hits,
	.can_be_random = true,
};

/* For what may still be loaded, and for programs among others. */
const struct source source_no_calls = {
	.name = "none was built to tell when the program began",
	.start = start,
	.hits = hits,
	.can_be_random = true,
};

void
calls_begin(bool is_sampled)
{
	const bool is_open = is_sampled && resource_is_wanted(RESOURCE_CALLS);

	wrapped_find("mcount", &calls_real_mcount);
	wrapped_find("__fentry__", &calls_real_fentry);
	wrapped_find("__cyg_profile_func_enter", &next_func_enter);
	/* On a virtual machine it takes tens of microseconds. */
	if (is_open)
		calls_prepare();
	calls_gate = is_open ? GATE_OPEN : GATE_CLOSED;
}
