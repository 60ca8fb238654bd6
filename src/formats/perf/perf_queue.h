/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_queue.h -- the records of a perf.data file in the order of their time.
 *
 * perf empties the buffers of the processors one after the other and marks the
 * end of each such round.  When a round ends, every record is there that was
 * made before that round began.
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

/* Keeps a copy of a record.  0, or -1 with *error set. */
int perf_queue_add(struct perf_queue *queue, const struct perf_record *record,
                   uint64_t time, struct error *error);

/* Takes a record.  0, or -1 with *error set, which ends the delivery. */
typedef int perf_queue_deliver(void *context, const struct perf_record *record,
                               struct error *error);

/*
 * A round is over: delivers, in order of time, the records that are complete.
 */
int perf_queue_round(struct perf_queue *queue, perf_queue_deliver *deliver,
                     void *context, struct error *error);

/* Delivers all other records. */
int perf_queue_finish(struct perf_queue *queue, perf_queue_deliver *deliver,
                      void *context, struct error *error);

#endif
