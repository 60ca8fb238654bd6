/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_queue.h -- records of a perf.data file by the time they were made.
 *
 * perf writes what it finds in one processor's buffer after the other, and
 * says when it begins anew: what was made before the last round but one began
 * is then complete.
 */
#ifndef CPPROF_FORMATS_PERF_QUEUE_H
#define CPPROF_FORMATS_PERF_QUEUE_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_records.h"

struct perf_queue;

/* Freed with perf_queue_free; NULL with *error set. */
struct perf_queue *perf_queue_new(struct error *error);
void perf_queue_free(struct perf_queue *queue);

/* Keeps a copy of a record that was made at a time; 0 or -1. */
int perf_queue_add(struct perf_queue *queue, const struct perf_record *record,
                   uint64_t time, struct error *error);

/* Does something with a record; 0, or -1 with *error set, which ends it all. */
typedef int perf_queue_deliver(void *context, const struct perf_record *record,
                               struct error *error);

/* A round is over: delivers, in order of time, what is complete. */
int perf_queue_round(struct perf_queue *queue, perf_queue_deliver *deliver,
                     void *context, struct error *error);

/* Delivers all that is left. */
int perf_queue_finish(struct perf_queue *queue, perf_queue_deliver *deliver,
                      void *context, struct error *error);

#endif
