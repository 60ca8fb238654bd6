/* SPDX-License-Identifier: MIT */
/* calls.c -- calls of functions that the compiler has instrumented: `calls`.
 *
 * With -pg a function calls mcount when it is entered (with -mfentry,
 * __fentry__): lib/wrap/calls-x86_64.S.  With -finstrument-functions it calls
 * __cyg_profile_func_enter as any function would.  Both decrement the calls
 * left in the interval, and call calls_cross when none is left.  The sample's
 * innermost frame is the function that was entered.
 */
#include <errno.h>
#include <link.h>
#include <string.h>

#include "lib/sources/sources.h"
#include "lib/wrap/wrapped.h"

/* Calls between two checks, on a thread that is not sampled. */
#define UNSAMPLED_CALLS 1000

void mcount(void);
void __fentry__(void);
void __cyg_profile_func_enter(void *, void *);
void calls_cross(void);
void calls_prepare(void);

/* Read by lib/wrap/calls-x86_64.S. */
unsigned calls_gate;
void (*calls_real_mcount)(void);
void (*calls_real_fentry)(void);
__thread int64_t calls_left;	/* < 0: this call completes the interval */

static __typeof__(__cyg_profile_func_enter) *next_func_enter;
static __thread int64_t granted;	/* last stored in calls_left */

/*
 * Spends the calls made so far, and sets calls_left to the number that remains
 * until the next sample.
 */
void
calls_cross(void)
{
	struct thread *thread = thread_self;
	const int64_t made = granted - calls_left;
	const unsigned char place = resources.place[RESOURCE_CALLS];
	int saved = errno;

	granted = calls_left = UNSAMPLED_CALLS;
	if (thread != NULL && made > 0) {
		resource_spend_in(RESOURCE_CALLS, (uint64_t)made, NULL);
		granted = calls_left =
		    (int64_t)thread->meters->accounts[place - 1].meter.left - 1;
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
calls_start(struct thread *thread, unsigned column)
{
	(void)thread, (void)column;
	granted = calls_left = 0;
	return true;
}

/* When the thread ends: the calls made since calls_left was last set. */
static uint64_t
calls_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	uint64_t made = (uint64_t)(granted - calls_left);

	if (expiries > 0)
		return 0;
	granted = calls_left;
	return meter_spend(&thread->meters->accounts[column].meter, made);
}

/*
 * Whether a module's relocations refer to one of the functions above.
 * Relocations are searched because nothing states the length of the symbol
 * table.
 */
static bool
wants_entries(const struct link_map *module)
{
	const ElfW(Rela) *tables[2] = { NULL, NULL };
	size_t sizes[2] = { 0, 0 }, i, j;
	const ElfW(Dyn) *entry;
	struct lookup symbols;

	lookup_open(module, &symbols);
	if (symbols.symbols == NULL || symbols.strings == NULL)
		return false;
	for (entry = module->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_RELA)
			tables[0] = (const void *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_RELASZ)
			sizes[0] = entry->d_un.d_val / sizeof **tables;
		else if (entry->d_tag == DT_JMPREL)
			tables[1] = (const void *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_PLTRELSZ)
			sizes[1] = entry->d_un.d_val / sizeof **tables;
	for (i = 0; i < 2; i++)
		for (j = 0; tables[i] != NULL && j < sizes[i]; j++) {
			size_t symbol = ELF64_R_SYM(tables[i][j].r_info);
			const char *name = symbols.strings +
			    symbols.symbols[symbol].st_name;

			if (symbol != 0 && (strcmp(name, "mcount") == 0 ||
			    strcmp(name, "_mcount") == 0 ||
			    strcmp(name, "__fentry__") == 0 ||
			    strcmp(name, "__cyg_profile_func_enter") == 0))
				return true;
		}
	return false;
}

static bool
calls_probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	const struct link_map *module;

	(void)row, (void)interval;
	*why = "nothing here was built with -pg or -finstrument-functions";
	if (!wrapped_is_preloaded())
		return true;
	/*
	 * Skip the vdso, whose table is not relocated, and the loader, which
	 * calls none of them.
	 */
	for (module = _r_debug.r_map; module != NULL; module = module->l_next)
		if ((module == _r_debug.r_map || module->l_name[0] == '/') &&
		    wants_entries(module))
			return true;
	return false;
}

const struct resource_source source_calls = {
	.name = "mcount, __fentry__, __cyg_profile_func_enter",
	.probe = calls_probe,
	.start = calls_start,
	.hits = calls_hits,
	.can_be_random = true,
};

/*
 * The fallback: a module loaded later may be instrumented, and so may another
 * program of the same recording.
 */
const struct resource_source source_no_calls = {
	.name = "mcount and its like, which no module called at first",
	.start = calls_start,
	.hits = calls_hits,
	.can_be_random = true,
};

void
calls_begin(bool is_sampled)
{
	const bool is_open = is_sampled && resource_is_wanted(RESOURCE_CALLS);

	lookup_real("mcount", &calls_real_mcount);
	lookup_real("__fentry__", &calls_real_fentry);
	lookup_real("__cyg_profile_func_enter", &next_func_enter);
	/*
	 * cpuid traps on a virtual machine, which takes tens of microseconds.
	 */
	if (is_open)
		calls_prepare();
	calls_gate = is_open ? GATE_OPEN : GATE_CLOSED;
}
