/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hits_text.h -- hits in sentences: as a number, or in the resource's unit.
 *
 * Where each hit is a sample, people count samples.  Where hits are weights, such
 * as nanoseconds, or a sample can stand for several, only the amount that they
 * make means something.
 */
#ifndef CPPROF_VIEWS_HITS_TEXT_H
#define CPPROF_VIEWS_HITS_TEXT_H

#include "src/base/text_buffer.h"
#include "src/views/view.h"

/* Whether text shows hits of the set in the resource's unit. */
bool hits_have_unit(const struct sample_set *set);

/* Adds "12 hits", or the amount: "48.21 ms".  bare: "12". */
void text_add_hits(struct text_buffer *text, const struct sample_set *set,
                   uint64_t hits);
void text_add_bare_hits(struct text_buffer *text, const struct sample_set *set,
                        uint64_t hits);

/* Adds "12 of 614 hits", or "48.21 ms of 2.456 s". */
void text_add_hits_of(struct text_buffer *text, const struct sample_set *set,
                      uint64_t hits, uint64_t whole);

/* The same as strings that live as long as the table; NULL with *error set. */
const char *hits_text(const struct sample_set *set, uint64_t hits,
                      struct table *table, struct error *error);
const char *hits_text_of(const struct sample_set *set, uint64_t hits,
                         uint64_t whole, struct table *table,
                         struct error *error);

#endif
