/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_session.h -- from perf's records to a profile.
 *
 * Records arrive in the order of the file and take effect in the order of time.
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
 * The reader has the profile to fill, and must outlive the session, which
 * perf_session_free frees.  NULL with *error set.
 */
struct perf_session *perf_session_new(struct reader *reader,
                                      struct error *error);
void perf_session_free(struct perf_session *session);

/* The events, to which the caller adds those of a file's header. */
struct perf_events *perf_session_events(struct perf_session *session);

/*
 * Takes the next record.  The caller skips data that follow the record without
 * being one.  0, or -1 with *error set, its text with file and offset.
 */
int perf_session_record(struct perf_session *session,
                        const struct perf_record *record,
                        struct error *error);

/*
 * The next records come from another file of a directory, which has a
 * compressed stream of its own.  Copies the name.  0, or -1 with *error set.
 */
int perf_session_next_file(struct perf_session *session, const char *name,
                           struct error *error);

/* Takes a feature section, bytes[size].  0, or -1 as above. */
int perf_session_feature(struct perf_session *session, uint64_t feature,
                         const unsigned char *bytes, size_t size,
                         uint64_t offset, struct error *error);

/* Fills the profile.  0, or -1 with *error set, also if there is no sample. */
int perf_session_finish(struct perf_session *session, struct error *error);

#endif
