/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_session.h -- from perf's records to a profile.
 *
 * Records come in the order of the file and take effect in that of time.
 */
#ifndef CPPROF_FORMATS_PERF_SESSION_H
#define CPPROF_FORMATS_PERF_SESSION_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_records.h"
#include "src/formats/reader.h"

struct perf_session;

/*
 * reader: has the profile to be filled, and must outlive the session.  Freed
 * with perf_session_free; NULL with *error set.
 */
struct perf_session *perf_session_new(struct reader *reader,
                                      struct error *error);
void perf_session_free(struct perf_session *session);

struct perf_events *perf_session_events(struct perf_session *session);

/*
 * Takes the next record, in one piece; what follows it in the file without
 * being a record is the caller's to pass over.  0, or -1 with *error set, its
 * text with file and offset.
 */
int perf_session_record(struct perf_session *session,
                        const struct perf_record *record,
                        struct error *error);

/*
 * What comes next is of another file of a directory, whose name the session
 * copies; what is packed in it is a stream of its own.  0 or -1.
 */
int perf_session_next_file(struct perf_session *session, const char *name,
                           struct error *error);

/* Takes a feature section, bytes[size]; likewise. */
int perf_session_feature(struct perf_session *session, uint64_t feature,
                         const unsigned char *bytes, size_t size,
                         uint64_t offset, struct error *error);

/* Fills the profile's tree; no samples are an error. */
int perf_session_finish(struct perf_session *session, struct error *error);

#endif
