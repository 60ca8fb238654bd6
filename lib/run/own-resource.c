/* SPDX-License-Identifier: MIT */
/* own-resource.c -- resources that the program itself declares and spends. */
#include "lib/run/start.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/exported.h"
#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/base/wiped.h"
#include "lib/cpprof-environment.h"
#include "lib/cpprof.h"
#include "lib/sources/thread-meters.h"
#include "lib/store/datafile.h"

#define TEXT_SIZE sizeof ((struct cpprofdata_resource *)NULL)->name

static const struct resource_source source_program = {
	.name = "the program",
	.can_be_random = true
};

static struct {
	char name[TEXT_SIZE], gtick[TEXT_SIZE];
	struct resource_row row;
	_Atomic unsigned char place;	/* its column and 1; 0: none */
} own[CPPROF_RESOURCES_MAX];

static unsigned n_own, n_kept;
static atomic_flag locked WIPED;

static void
fill_column(unsigned i, unsigned column)
{
	struct sampled_resource *to = &resources.columns[column];

	to->row = &own[i].row;
	to->source = &source_program;
	to->interval = own[i].row.interval;
	own[i].place = (unsigned char)(column + 1);
}

void
own_resources_add(bool keeps)
{
	unsigned n = keeps ? CPPROF_RESOURCES_MAX : n_own, i;

	n_kept = 0;
	for (i = 0; i < n && resources.n < CPPROFDATA_MAX_RESOURCES; i++) {
		if (i >= n_own) {
			own[i].row = (struct resource_row){ own[i].name,
			    own[i].gtick, RESOURCE_INTERVAL_MAX, 1 };
			n_kept++;
		}
		fill_column(i, resources.n++);
	}
}

bool
own_resources_are_likely(void)
{
	const struct link_map *map;
	const ElfW(Dyn) *entry;
	const char *strings;

	for (map = _r_debug.r_map; map != NULL; map = map->l_next) {
		strings = NULL;
		for (entry = map->l_ld; entry != NULL &&
		    entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_STRTAB)
				strings = (const char *)entry->d_un.d_ptr;
		for (entry = map->l_ld; entry != NULL && strings != NULL &&
		    entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_NEEDED && strcmp(strings +
			    entry->d_un.d_val, CPPROF_LIBRARY) == 0)
				return true;
	}
	return false;
}

static bool
own_resource_is_text(const char *text)
{
	return text != NULL && *text != '\0' && strlen(text) < TEXT_SIZE;
}

/* Checks a declaration.  Returns an error number, or 0.  Lock held. */
static int
own_resource_check(const char *name, const char *gtick, uint64_t interval)
{
	unsigned i;

	if (!own_resource_is_text(name) || !own_resource_is_text(gtick) ||
	    interval == 0 || interval >= RESOURCE_INTERVAL_MAX)
		return EINVAL;
	for (i = 0; i < n_own; i++)
		if (strcmp(own[i].name, name) == 0)
			return EEXIST;
	if (resource_exists(name))
		return EEXIST;
	if (n_own == CPPROF_RESOURCES_MAX)
		return ENOSPC;
	return resources.n > 0 && n_kept == 0 ? EBUSY : 0;
}

EXPORTED int
cpprof_resource(const char *name, const char *gtick, uint64_t interval)
{
	int error, i;

	while (atomic_flag_test_and_set_explicit(&locked,
	    memory_order_acquire))
		process_pause();
	error = own_resource_check(name, gtick, interval);
	i = (int)n_own;
	if (error == 0) {
		strcpy(own[i].name, name);
		strcpy(own[i].gtick, gtick);
		own[i].row = (struct resource_row){ own[i].name, own[i].gtick,
		    interval, 1 };
		n_own++;
		if (resources.n > 0) {
			/* It gets one of the reserved columns. */
			const unsigned column = own[i].place - 1u;

			resources.columns[column].interval = interval;
			n_kept--;
			datafile_note_own_resource(column);
		}
	}
	atomic_flag_clear_explicit(&locked, memory_order_release);
	if (error == 0)
		return i;
	errno = error;
	return -1;
}

/* A thread that began before the interval was known starts its meter again. */
static void
check_meter(struct thread *thread, unsigned column)
{
	const struct sampled_resource *resource = &resources.columns[column];
	struct meter *meter = &thread->meters->accounts[column].meter;

	if (meter->interval != resource->interval)
		meter_start(meter, resource->interval, resources.is_random,
		    process_now() + ((uint64_t)thread->tid << 40) + column);
}

EXPORTED void
cpprof_spend(int resource, uint64_t gticks)
{
	struct thread *self = thread_self;
	unsigned column;

	if (self == NULL || resource < 0 ||
	    resource >= CPPROF_RESOURCES_MAX || gticks == 0 ||
	    own[resource].place == 0)
		return;
	column = own[resource].place - 1u;
	if (column >= resources.n)
		return;
	check_meter(self, column);
	resource_spend_column(column, gticks, NULL);
}
