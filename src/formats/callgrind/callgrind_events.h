/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_events.h -- the events that a callgrind file counts.
 *
 * 	event: Ir : Instruction Fetch	a long name; becomes the gtick's
 * 	event: Sum = Ir + 2 Dr		an event that is computed from others
 * 	events: Ir Dr			what the costs of each line count
 *
 * Every event is a resource of interval 1: those of the first events: line in
 * its order, then the derived ones.  Later parts of a file may name the same
 * events in another order, or fewer.
 */
#ifndef CPPROF_FORMATS_CALLGRIND_EVENTS_H
#define CPPROF_FORMATS_CALLGRIND_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"

struct event_definition;

/* Start with `{ 0 }`. */
struct callgrind_events {
	uint32_t n_columns;
	uint32_t *columns;	/* [n_columns] resources of a line's costs */
	size_t columns_capacity;
	struct event_definition *definitions;
	size_t n_definitions, definitions_capacity;
	uint32_t n_measured;	/* resources that lines count */
	bool is_fixed;		/* resources are entered */
	bool is_own;		/* written by cpprof: definitions describe the
				 * original resources */
};

void callgrind_events_free(struct callgrind_events *events);

/*
 * Reads the text after "event:" or "events:", length bytes.  Definitions after
 * the first cost come too late and are ignored.  0, or -1 with *error set to
 * what is wrong, without file and line.
 */
int callgrind_events_define(struct callgrind_events *events,
                            struct profile *profile, const char *text,
                            size_t length, struct error *error);
int callgrind_events_columns(struct callgrind_events *events,
                             struct profile *profile, const char *text,
                             size_t length, struct error *error);

/* To be called at the first cost: enters the derived events; likewise. */
int callgrind_events_fix(struct callgrind_events *events,
                         struct profile *profile, struct error *error);

/* Computes the derived events, once everything is read; likewise. */
int callgrind_events_derive(const struct callgrind_events *events,
                            struct call_graph *graph, struct error *error);

/* Notes derived events that are computed from one with costs below zero. */
int callgrind_events_note_below_zero(const struct callgrind_events *events,
                                     struct reader *reader,
                                     struct error *error);

#endif
