/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_session.c -- from perf's records to a profile.
 *
 * The kernel's records wait in a queue until their turn; perf's own take effect
 * at once.
 */
#include "src/formats/perf/perf_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/base/progress.h"

enum { RECORDS_A_STEP = 4096 };	/* unpacked, between checks for Ctrl-C */

struct perf_session {
	const char *name;
	struct profile *profile;
	struct perf_events events;
	struct perf_features features;
	struct perf_queue *queue;
	struct perf_unpacker *unpacker;	/* NULL before it is needed */
	struct perf_machine *machine;
	struct perf_tree *tree;
	/* Lost samples: as the kernel reported them meanwhile, and as perf
	 * counted them at the end, perhaps the same ones again. */
	uint64_t n_lost, n_found_lost;
	uint64_t n_strange;		/* records of unknown types */
	uint32_t strange_type;		/* of the first of them */
	uint64_t n_traced;		/* bytes of processors' traces */
};

struct perf_session *
perf_session_new(struct reader *reader, struct error *error)
{
	struct perf_session *session = memory_array(1, sizeof *session,
	                                            error);

	if (session == NULL)
		return NULL;
	session->name = source_name(reader->source);
	session->profile = reader->profile;
	session->queue = perf_queue_new(error);
	session->machine = perf_machine_new(reader->profile,
	                                    reader->options->modules, error);
	session->tree = perf_tree_new(reader, &session->events,
	                              session->machine, error);
	if (!error->is_set)
		return session;
	perf_session_free(session);
	return NULL;
}

void
perf_session_free(struct perf_session *session)
{
	if (session == NULL)
		return;
	perf_tree_free(session->tree);
	perf_machine_free(session->machine);
	perf_unpacker_free(session->unpacker);
	perf_queue_free(session->queue);
	perf_features_free(&session->features);
	perf_events_free(&session->events);
	free(session);
}

struct perf_events *
perf_session_events(struct perf_session *session)
{
	return &session->events;
}

static int
perf_session_fail(const struct perf_session *session, uint64_t offset,
                  const struct error *why, struct error *error)
{
	return why->is_out_of_memory ? error_pass(error, why) :
	       error_set(error, "%s: 0x%" PRIx64 ": %s", session->name, offset,
	                 why->text);
}

/* ---- the kernel's records ---- */

/*
 * PERF_LOST counts records that found no room, mostly samples.
 * PERF_LOST_SAMPLES counts samples that the processor lost.  Without a time,
 * perf wrote it at the end, for an event: all of its records that found no
 * room, or the samples that a filter of the user's dropped.
 */
static int
perf_session_count_lost(struct perf_session *session,
                        const struct perf_record *record, struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	bool is_perfs = record->type == PERF_LOST_SAMPLES &&
	    perf_events_time(&session->events, record) == 0;
	uint64_t *sum = is_perfs ? &session->n_found_lost : &session->n_lost;
	uint64_t lost;

	bytes_take(&in, PERF_HEADER_SIZE);
	if (record->type == PERF_LOST)
		bytes_take(&in, 8);
	lost = bytes_number(&in, 8);
	if (bytes_failed(&in))
		return error_set(error, "expected how much was lost");
	if (record->type == PERF_LOST_SAMPLES &&
	    (record->misc & PERF_MISC_LOST_SAMPLES_BPF) != 0)
		return 0;
	if (__builtin_add_overflow(*sum, lost, sum))
		*sum = UINT64_MAX;
	return 0;
}

/* Applies a record of the kernel's, whose turn has come. */
static int
deliver(void *context, const struct perf_record *record, struct error *error)
{
	struct perf_session *session = context;
	struct error why;
	int result;

	/* Zeroing its text would take time. */
	why.is_set = why.is_out_of_memory = false;
	switch (record->type) {
	case PERF_SAMPLE:
		result = perf_tree_add(session->tree, record, &why);
		break;
	case PERF_CALLCHAIN_DEFERRED:
		result = perf_tree_add_deferred(session->tree, record, &why);
		break;
	case PERF_LOST:
	case PERF_LOST_SAMPLES:
		result = perf_session_count_lost(session, record, &why);
		break;
	default:
		result = perf_machine_apply(session->machine, record, &why);
		break;
	}
	return result == 0 ?
	    0 :
	    perf_session_fail(session, record->offset, &why, error);
}

/* ---- perf's own records ---- */

/* Packed records; one may begin in this record and end in the next. */
static int
perf_session_unpack(struct perf_session *session,
                    const struct perf_record *record, struct error *error)
{
	struct error why = { 0 };
	struct perf_record inner;
	uint64_t n = 0;
	int found;

	if (session->unpacker == NULL)
		session->unpacker = perf_unpacker_new(&why);
	if (session->unpacker == NULL)
		return perf_session_fail(session, record->offset, &why, error);
	perf_unpacker_feed(session->unpacker, record);
	while ((found = perf_unpacker_next(session->unpacker, &inner,
	                                   &why)) > 0)
		if (perf_session_record(session, &inner, error) != 0 ||
		    (++n % RECORDS_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	return found == 0 ?
	    0 :
	    perf_session_fail(session, record->offset, &why, error);
}

/* Records in which perf says something about others. */
static int
apply_own(struct perf_session *session, const struct perf_record *record,
          struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	struct error why = { 0 };

	switch (record->type) {
	case PERF_FINISHED_ROUND:
		return perf_queue_round(session->queue, deliver, session,
		                        error);
	case PERF_COMPRESSED:
	case PERF_COMPRESSED2:
		return perf_session_unpack(session, record, error);
	case PERF_AUXTRACE:		/* the trace follows the record */
		bytes_take(&in, PERF_HEADER_SIZE);
		if (__builtin_add_overflow(session->n_traced,
		                           bytes_number(&in, 8),
		                           &session->n_traced))
			session->n_traced = UINT64_MAX;
		return 0;
	default:
		return perf_features_record(&session->features,
		                            &session->events, record,
		                            &why) == 0 ? 0 :
		       perf_session_fail(session, record->offset, &why, error);
	}
}

int
perf_session_record(struct perf_session *session,
                    const struct perf_record *record, struct error *error)
{
	bool is_kernels = record->type < PERF_KERNEL_END;
	uint64_t time;

	if (record->type > (is_kernels ? PERF_KERNEL_KNOWN : PERF_OWN_KNOWN) &&
	    session->n_strange++ == 0)
		session->strange_type = record->type;
	if (!is_kernels)
		return apply_own(session, record, error);
	time = perf_events_time(&session->events, record);
	return time == 0 ? deliver(session, record, error) :
	    perf_queue_add(session->queue, record, time, error);
}

int
perf_session_next_file(struct perf_session *session, const char *name,
                       struct error *error)
{
	session->name = arena_text(&session->profile->arena, name,
	                           strlen(name), error);
	perf_unpacker_free(session->unpacker);
	session->unpacker = NULL;
	return session->name != NULL ? 0 : -1;
}

int
perf_session_feature(struct perf_session *session, uint64_t feature,
                     const unsigned char *bytes, size_t size,
                     uint64_t offset, struct error *error)
{
	struct error why = { 0 };

	return perf_features_section(&session->features, &session->events,
	                             feature, bytes, size, &why) == 0 ? 0 :
	       perf_session_fail(session, offset, &why, error);
}

/* ---- the end ---- */

/* Adds what the samples do not show as losses and warnings. */
static int
perf_session_add_losses(struct perf_session *session, uint64_t n_lost,
                        struct error *error)
{
	struct profile *profile = session->profile;

	if (n_lost > 0 &&
	    profile_add_loss(profile, profile->n_resources == 1 ? 0 :
	                     NO_RESOURCE, LOSS_PERF_BEHIND, n_lost,
	                     error) != 0)
		return -1;
	if (session->n_strange > 0 && profile_warn(profile, error,
	        "%s: %" PRIu64 " records are of types that are not known "
	        "here, the first of type %" PRIu32 "; passed over",
	        session->name, session->n_strange,
	        session->strange_type) != 0)
		return -1;
	if (session->n_traced > 0 && profile_warn(profile, error,
	        "%s: %" PRIu64 " bytes of a processor's trace (AUX) are not "
	        "decoded", session->name, session->n_traced) != 0)
		return -1;
	if (perf_machine_overflowed(session->machine))
		return profile_warn(profile, error, "%s: too many mappings; "
		    "some are left out", session->name);
	return 0;
}

int
perf_session_finish(struct perf_session *session, struct error *error)
{
	uint64_t n_lost;

	if (perf_queue_finish(session->queue, deliver, session, error) != 0)
		return -1;
	n_lost = session->n_found_lost > session->n_lost ?
	         session->n_found_lost : session->n_lost;
	if (perf_tree_is_empty(session->tree)) {
		if (n_lost > 0)
			return error_set(error, "%s: no samples in it; perf "
			    "lost %" PRIu64, session->name, n_lost);
		return error_set(error, session->n_traced == 0 ?
		    "%s: no samples in it" : "%s: no samples in it but a "
		    "processor's trace (AUX), which is not decoded",
		    session->name);
	}
	if (perf_tree_finish(session->tree, error) != 0 ||
	    perf_features_apply(&session->features, session->profile,
	                        error) != 0 ||
	    perf_session_add_losses(session, n_lost, error) != 0)
		return -1;
	return perf_tree_finish_frames(session->tree, error);
}
