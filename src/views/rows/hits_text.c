/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hits_text.c -- hits in sentences: as a number, or in the resource's unit. */
#include "src/views/rows/rows.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/units.h"

/* Whether it is time or space, which is shown in readable units. */
static bool
is_amount(const struct resource *resource)
{
	const char *gtick = resource->gtick;
	long double size;

	return unit_find(gtick, strlen(gtick), &size, NULL) != UNIT_IS_OTHER;
}

bool
hits_have_unit(const struct sample_set *set)
{
	const struct resource *resource = set->resource;
	const char *gtick = resource->gtick;

	if (*gtick == '\0' || strcmp(gtick, "sample") == 0)
		return false;
	if (set->flow != NULL)
		return is_amount(resource) &&
		       resource->counting != COUNTING_SAMPLED;
	/* A recording, so that all of a program have one unit. */
	return set->total != set->n_samples ||
	       (is_amount(resource) &&
	        (resource->interval == 1 || resource->source != NULL));
}

void
text_add_bare_hits(struct text_buffer *text, const struct sample_set *set,
                   uint64_t hits)
{
	if (hits_have_unit(set))
		text_add_total_gticks(text, hits, set->resource->interval,
		                      set->resource->gtick);
	else
		text_add_format(text, "%" PRIu64, hits);
}

void
text_add_hits(struct text_buffer *text, const struct sample_set *set,
              uint64_t hits)
{
	text_add_bare_hits(text, set, hits);
	if (!hits_have_unit(set))
		text_add_string(text, hits == 1 ? " hit" : " hits");
}

const char *
hits_text(const struct sample_set *set, uint64_t hits, struct table *table,
          struct error *error)
{
	struct text_buffer text = { 0 };

	text_add_hits(&text, set, hits);
	return text_move(&text, &table->arena, error);
}

const char *
hits_time_text(uint64_t ns, struct table *table, struct error *error)
{
	struct text_buffer text = { 0 };

	text_add_gticks(&text, ns, 1, "nanosecond");
	return text_move(&text, &table->arena, error);
}

void
text_add_hits_of(struct text_buffer *text, const struct sample_set *set,
                 uint64_t hits, uint64_t whole)
{
	const struct resource *resource = set->resource;

	/* Of counts the unit follows the whole alone: "12 of 2048 faults". */
	if (hits_have_unit(set) && !is_amount(resource))
		text_add_gticks(text, hits, resource->interval, NULL);
	else
		text_add_bare_hits(text, set, hits);
	text_add_string(text, " of ");
	text_add_hits(text, set, whole);
}

const char *
hits_text_of(const struct sample_set *set, uint64_t hits, uint64_t whole,
             struct table *table, struct error *error)
{
	struct text_buffer text = { 0 };

	text_add_hits_of(&text, set, hits, whole);
	return text_move(&text, &table->arena, error);
}
