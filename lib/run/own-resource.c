/* SPDX-License-Identifier: MIT */
/* own-resource.c -- resources that the program itself declares and spends. */
#include "lib/run/start.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/attributes.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/thread.h"
#include "lib/cpprof-environment.h"
#include "lib/cpprof.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
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

void
own_resources_add(bool keeps)
{
	unsigned n = keeps ? CPPROF_RESOURCES_MAX : n_own, i;

	n_kept = 0;
	for (i = 0; i < n && resources.n < CPPROFDATA_MAX_RESOURCES; i++) {
		struct sampled_resource *column =
		    &resources.columns[resources.n++];

		if (i >= n_own) {
			own[i].row = (struct resource_row){ own[i].name,
			    own[i].gtick, RESOURCE_INTERVAL_MAX, 1, false };
			n_kept++;
		}
		column->row = &own[i].row;
		column->source = &source_program;
		column->interval = own[i].row.interval;
		own[i].place = (unsigned char)resources.n;
	}
}

bool
own_resources_are_likely(void)
{
	const struct link_map *map;
	const ElfW(Dyn) *entry;
	struct lookup names;

	for (map = _r_debug.r_map; map != NULL; map = map->l_next) {
		lookup_open(map, &names);
		for (entry = map->l_ld; entry != NULL &&
		    names.strings != NULL && entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_NEEDED && strcmp(names.strings +
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

EXPORTED int
cpprof_resource(const char *name, const char *gtick, uint64_t interval)
{
	int error = 0;
	unsigned i;

	process_lock(&locked);
	if (!own_resource_is_text(name) || !own_resource_is_text(gtick) ||
	    interval == 0 || interval >= RESOURCE_INTERVAL_MAX)
		error = EINVAL;
	for (i = 0; i < n_own && error == 0; i++)
		if (strcmp(own[i].name, name) == 0)
			error = EEXIST;
	if (error == 0 && resource_exists(name))
		error = EEXIST;
	if (error == 0 && n_own == CPPROF_RESOURCES_MAX)
		error = ENOSPC;
	if (error == 0 && resources.n > 0 && n_kept == 0)
		error = EBUSY;
	i = n_own;
	if (error == 0) {
		strcpy(own[i].name, name);
		strcpy(own[i].gtick, gtick);
		own[i].row = (struct resource_row){ own[i].name, own[i].gtick,
		    interval, 1, false };
		n_own++;
	}
	if (error == 0 && resources.n > 0) {
		/* It gets one of the reserved columns. */
		const unsigned column = own[i].place - 1u;

		resources.columns[column].interval = interval;
		n_kept--;
		datafile_note_own_resource(column);
	}
	process_unlock(&locked);
	if (error == 0)
		return (int)i;
	errno = error;
	return -1;
}

EXPORTED void
cpprof_spend(int resource, uint64_t gticks)
{
	struct thread *self = thread_self;
	struct meter *meter;
	uint64_t interval;
	unsigned column;

	if (self == NULL || resource < 0 ||
	    resource >= CPPROF_RESOURCES_MAX || gticks == 0 ||
	    own[resource].place == 0)
		return;
	column = own[resource].place - 1u;
	if (column >= resources.n)
		return;
	/* A thread that began before the interval was known starts again. */
	meter = &self->meters->accounts[column].meter;
	interval = resources.columns[column].interval;
	if (meter->interval != interval)
		resource_start_meter(self, column,
		    process_now() + ((uint64_t)self->tid << 40) + column);
	resource_spend_column(column, gticks, NULL);
}
