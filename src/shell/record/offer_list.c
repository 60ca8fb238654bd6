/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offer_list.c -- the table of record --list. */
#include "src/shell/record/recording.h"

#include <limits.h>
#include <string.h>

#include "src/base/table.h"

/* "CPU time of each thread -- thread CPU timer" */
static const char *
offer_list_text(const struct offer *offer, const struct count_kind *kind,
                struct table *table, struct error *error)
{
	return table_text(table, error, "%s -- %s%s%s", kind->summary,
	                  *offer->source != '\0' ? offer->source : "not here",
	                  *offer->why != '\0' ? ", since " : "", offer->why);
}

static int
offer_list_add(const struct offer *offer, uint64_t interval,
               struct table *table, struct error *error)
{
	const struct count_kind *kind = resource_kind_find(offer->name,
	    strlen(offer->name), error);
	struct cell cells[7];

	if (kind == NULL)
		return -1;
	cells[0] = cell_text(kind->name);
	cells[1] = cell_text(kind->gtick);
	cells[2] = cell_count(interval != 0 ? interval : kind->interval);
	cells[3] = cell_text(table_text(table, error, "%s",
	                                *offer->source != '\0' ?
	                                offer->source : "not here"));
	cells[4] = cell_text(table_text(table, error, "%s", offer->why));
	cells[5] = cell_text(kind->summary);
	cells[6] = cell_text(offer_list_text(offer, kind, table, error));
	if (cells[3].text == NULL || cells[4].text == NULL ||
	    cells[6].text == NULL)
		return -1;
	return table_add_row(table, cells, error);
}

/* As text, a cell says what a resource is and where it comes from. */
static void
offer_list_start(struct table *table)
{
	table->schema = "cpprof.offers/1";
	table_add_column(table, "name", "resource", CELL_TEXT);
	table_add_column(table, "gtick", "gtick", CELL_TEXT);
	table_add_column(table, "interval", "interval", CELL_COUNT);
	table_add_column(table, "source", "", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "why", "", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "summary", "", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "text", "what it is", CELL_TEXT)->is_text_only =
	    true;
}

int
offer_list_inside(const struct record_options *options, struct table *table,
                  struct error *error)
{
	struct attach attach = { 0 };
	struct offers offers = { 0 };
	char library[PATH_MAX];
	int result = attach_find(&attach, options, error);

	/* What record refuses is not offered. */
	if (result == 0)
		result = attach_inside_check(&attach, options, error);
	attach_free(&attach);
	offer_list_start(table);
	if (result == 0)
		result = preload_find_library(library, sizeof library, error);
	if (result == 0)
		result = offers_ask(&offers, library, NULL, false, true, error);
	for (size_t i = 0; result == 0 && i < offers.n; i++) {
		struct offer offer = offers.items[i];
		const struct count_kind *kind = resource_kind_find(
		    offer.name, strlen(offer.name), error);

		if (kind != NULL && kind->not_inside != NULL) {
			offer.source = "";
			offer.why = kind->not_inside;
		} else if (kind != NULL && kind->inside_limit != NULL &&
		           *offer.source != '\0') {
			offer.source = table_text(table, error, "%s; %s",
			    offer.source, kind->inside_limit);
		}
		result = kind == NULL || offer.source == NULL ? -1 :
		    offer_list_add(&offer, 0, table, error);
	}
	offers_free(&offers);
	return result;
}

int
offer_list_outside(const struct record_options *options,
                   struct table *table, struct error *error)
{
	struct attach attach = { 0 };
	int result = attach_is_wanted(options) ? attach_find(&attach, options,
	                                                     error) : 0;

	offer_list_start(table);
	for (const struct count_kind *kind = count_kinds;
	     result == 0 && kind->name != NULL; kind++) {
		struct text_buffer why = { 0 };
		struct offer offer = { .name = kind->name };

		offer.source = attach_offer(kind, &why);
		offer.why = text_string(&why);
		result = offer_list_add(&offer, attach_interval(&attach, kind),
		                        table, error);
		text_free(&why);
	}
	attach_free(&attach);
	return result;
}

int
offer_list_launched(struct table *table, struct error *error)
{
	char library[PATH_MAX];
	struct offers offers = { 0 };
	int result = preload_find_library(library, sizeof library, error);

	offer_list_start(table);
	if (result == 0)
		result = offers_ask(&offers, library, NULL, false, false,
		                    error);
	for (size_t i = 0; result == 0 && i < offers.n; i++)
		result = offer_list_add(&offers.items[i], 0, table, error);
	offers_free(&offers);
	return result;
}
