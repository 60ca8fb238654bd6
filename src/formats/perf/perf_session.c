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
#include <zstd.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/formats/source.h"

enum { RECORDS_A_STEP = 4096 };	/* unpacked, between checks for Ctrl-C */

/*
 * Records of the kernel that wait for their turn, in the order of the file;
 * their entries are sorted.  perf empties the buffers of the processors one
 * after the other and marks the end of each such round.  When a round ends,
 * every record is there that was made before that round began.  Records that
 * are kept for the next round move to another buffer, so that each is copied
 * twice at most.
 */
struct perf_queue {
	struct queue_entry {
		uint64_t time;
		uint64_t number;	/* in the file, orders records of one
					 * time */
		size_t begin;		/* in the buffer */
		uint64_t offset;	/* in the file */
	} *entries;
	size_t n, capacity;
	unsigned char *bytes, *spare;
	size_t size, bytes_capacity, spare_capacity;
	uint64_t n_added;
	uint64_t latest;	/* time of all records so far */
	uint64_t complete;	/* records up to this time are complete when
				 * this round ends */
	bool is_sorted;
};

enum {
	ROOM = 1 << 18,			/* enough for the largest records */
	QUEUE_ALWAYS = 512 << 20,	/* packed bytes that may wait */
	PACKED_MAX = 1 << 28,		/* bytes that perf packs at once */
	PIECE_MAX = 65519,		/* of these, with one header */
};

/*
 * Records that perf compressed with zstd.
 *
 * All compressed records of a file contain one stream, in pieces of any size.
 * Since Linux 6.16 they are of type PERF_COMPRESSED2 and have a size of their
 * part, so that zeros up to a multiple of 8 can follow it.  When perf
 * compresses more than 65,519 bytes at once, it writes the rest with a second
 * header; but the first header has the size of everything in its 16 bits, and
 * no zeros follow.  With --aio perf writes no such size and no zeros.
 * Source: linux 6.19, tools/perf/builtin-record.c, record__pushfn, and
 * tools/perf/util/zstd.c.
 */
struct perf_unpacker {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;	/* a piece of the record */
	struct bytes rest;	/* what follows it */
	uint64_t n_packed, n_unpacked;	/* bytes of all records so far */
	uint64_t offset;	/* of the record that is being unpacked */
	size_t begin, end;	/* unpacked and not yet returned */
	unsigned char room[ROOM];
};

struct perf_session {
	const char *name;
	struct profile *profile;
	struct perf_events events;
	struct perf_features features;
	struct perf_queue queue;
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
	session->machine = perf_machine_new(reader->profile,
	                                    reader->options->modules, error);
	session->tree = perf_tree_new(reader, &session->events,
	                              session->machine, error);
	if (!error->is_set)
		return session;
	perf_session_free(session);
	return NULL;
}

static void
perf_unpacker_free(struct perf_unpacker *unpacker)
{
	if (unpacker == NULL)
		return;
	ZSTD_freeDStream(unpacker->stream);
	free(unpacker);
}

void
perf_session_free(struct perf_session *session)
{
	if (session == NULL)
		return;
	perf_tree_free(session->tree);
	perf_machine_free(session->machine);
	perf_unpacker_free(session->unpacker);
	free(session->queue.entries);
	free(session->queue.bytes);
	free(session->queue.spare);
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
		return error_set(error, "a record of lost samples is "
		                 "malformed");
	if (record->type == PERF_LOST_SAMPLES &&
	    (record->misc & PERF_MISC_LOST_SAMPLES_BPF) != 0)
		return 0;
	count_add(sum, lost);
	return 0;
}

/* Applies a record of the kernel's, whose turn has come. */
static int
deliver(struct perf_session *session, const struct perf_record *record,
        struct error *error)
{
	struct error why;
	int result;

	/* The rest stays uninitialised: zeroing the text would take too long. */
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

/* ---- the order of time ---- */

/* Keeps a copy of a record. */
static int
perf_queue_add(struct perf_queue *queue, const struct perf_record *record,
               uint64_t time, struct error *error)
{
	if (memory_grow(&queue->entries, &queue->capacity, queue->n + 1,
	                sizeof *queue->entries, error) != 0 ||
	    memory_grow(&queue->bytes, &queue->bytes_capacity,
	                queue->size + record->size, 1, error) != 0)
		return -1;
	memcpy(queue->bytes + queue->size, record->bytes, record->size);
	queue->is_sorted = queue->n == 0 || (queue->is_sorted &&
	    queue->entries[queue->n - 1].time <= time);
	queue->entries[queue->n++] = (struct queue_entry){
		time, queue->n_added++, queue->size, record->offset
	};
	queue->size += record->size;
	if (time > queue->latest)
		queue->latest = time;
	return 0;
}

static int
compare_entries(const void *left, const void *right)
{
	const struct queue_entry *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Drops the first n entries and moves the rest to the front. */
static int
drop_first(struct perf_queue *queue, size_t n, struct error *error)
{
	unsigned char *bytes = queue->bytes;
	size_t capacity = queue->bytes_capacity, size = 0;

	if (memory_grow(&queue->spare, &queue->spare_capacity, queue->size,
	                1, error) != 0)
		return -1;
	for (size_t i = n; i < queue->n; i++) {
		struct queue_entry entry = queue->entries[i];
		struct perf_record record = perf_record_at(queue->bytes +
		    entry.begin, entry.offset);

		memcpy(queue->spare + size, record.bytes, record.size);
		entry.begin = size;
		size += record.size;
		queue->entries[i - n] = entry;
	}
	queue->n -= n;
	queue->size = size;
	queue->bytes = queue->spare;
	queue->bytes_capacity = queue->spare_capacity;
	queue->spare = bytes;
	queue->spare_capacity = capacity;
	return 0;
}

/* Delivers the records up to the time `last`. */
static int
deliver_until(struct perf_session *session, uint64_t last, struct error *error)
{
	struct perf_queue *queue = &session->queue;
	size_t n = 0;

	if (!queue->is_sorted && queue->n > 0)
		qsort(queue->entries, queue->n, sizeof *queue->entries,
		      compare_entries);
	queue->is_sorted = true;
	for (; n < queue->n && queue->entries[n].time <= last; n++) {
		const struct queue_entry *entry = &queue->entries[n];
		struct perf_record record = perf_record_at(queue->bytes +
		    entry->begin, entry->offset);

		if (deliver(session, &record, error) != 0)
			return -1;
	}
	return n > 0 ? drop_first(queue, n, error) : 0;
}

/* ---- packed records ---- */

/* The size of n bytes with a header before and zeros after them. */
static uint64_t
padded(uint64_t n)
{
	return (PERF_PACKED_HEADER_SIZE + n + 7) & ~(uint64_t)7;
}

/* The size of its part, which a PERF_COMPRESSED2 record states. */
static uint64_t
packed_size(const struct perf_record *record)
{
	struct bytes in = bytes_of(record->bytes, PERF_PACKED_HEADER_SIZE);

	bytes_take(&in, PERF_HEADER_SIZE);
	return bytes_number(&in, 8);
}

uint32_t
perf_packed_record_size(const struct perf_record *record)
{
	uint64_t n = packed_size(record);

	return n <= PACKED_MAX && padded(n) > UINT16_MAX &&
	    (uint16_t)padded(n) == record->size ?
	    (uint32_t)(PERF_PACKED_HEADER_SIZE + n) : record->size;
}

/*
 * Takes a PERF_COMPRESSED or PERF_COMPRESSED2 record, which must stay in place
 * until perf_unpacker_next has returned its last record.
 */
static void
perf_unpacker_feed(struct perf_unpacker *unpacker,
                   const struct perf_record *record)
{
	size_t begin = PERF_HEADER_SIZE, end = record->size;

	if (record->type == PERF_COMPRESSED2)
		begin = PERF_PACKED_HEADER_SIZE;
	if (begin > end) {
		begin = end;
	} else if (record->type == PERF_COMPRESSED2) {
		uint64_t n = packed_size(record);

		if (n <= end - begin && padded(n) == end)
			end = begin + (size_t)n;
	}
	unpacker->offset = record->offset;
	unpacker->in = (ZSTD_inBuffer){ "", 0, 0 };
	unpacker->rest = bytes_of(record->bytes + begin, end - begin);
}

/* Goes on to the next piece: 1; 0: there is none; or -1 with *error set. */
static int
next_piece(struct perf_unpacker *unpacker, struct error *error)
{
	struct bytes *rest = &unpacker->rest;
	size_t size = rest->size - rest->offset;

	if (size == 0)
		return 0;
	if (rest->offset > 0) {		/* after a first piece */
		const unsigned char *bytes = bytes_take(rest,
		    PERF_PACKED_HEADER_SIZE);
		struct perf_record record = { 0 };

		if (bytes != NULL)
			record = perf_record_at(bytes, 0);
		if (record.type != PERF_COMPRESSED2 ||
		    record.size < PERF_PACKED_HEADER_SIZE)
			return error_set(error, "a compressed record lacks its "
			                 "second header");
		size = record.size - PERF_PACKED_HEADER_SIZE;
	} else if (size > PIECE_MAX) {
		size = PIECE_MAX;
	}
	unpacker->in = (ZSTD_inBuffer){ bytes_take(rest, size), size, 0 };
	if (bytes_failed(rest))
		return error_set(error, "expected %zu packed bytes", size);
	return 1;
}

/* Unpacks some more: 1; 0: nothing came; or -1 with *error set. */
static int
perf_unpacker_unpack_some(struct perf_unpacker *unpacker, struct error *error)
{
	size_t left = unpacker->end - unpacker->begin, status;
	size_t before = unpacker->in.pos;
	ZSTD_outBuffer out = { unpacker->room, ROOM, left };

	memmove(unpacker->room, unpacker->room + unpacker->begin, left);
	unpacker->begin = 0;
	unpacker->end = left;
	status = ZSTD_decompressStream(unpacker->stream, &out, &unpacker->in);
	if (ZSTD_isError(status))
		return error_set(error, "expected packed records: %s",
		                 ZSTD_getErrorName(status));
	unpacker->n_packed += unpacker->in.pos - before;
	unpacker->end = out.pos;
	return unpacker->end > left;
}

/*
 * The work that a record makes, as that many bytes.  A copy of a stack is hardly
 * looked at, and packs a thousand times where a loop runs: most of it is that of
 * the sample before.
 */
static uint64_t
perf_record_work(const struct perf_events *events,
                 const struct perf_record *record)
{
	enum { READ_MAX = 1 << 10, BYTES_A_BYTE = 64 };
	uint32_t event;

	if (record->type != PERF_SAMPLE || record->size <= READ_MAX)
		return record->size;
	event = perf_events_of_sample(events, record);
	return event == UINT32_MAX ||
	    (events->attrs[event].sample_type & PERF_FIELD_STACK_USER) == 0 ?
	    record->size : READ_MAX + (record->size - READ_MAX) / BYTES_A_BYTE;
}

static int
count_unpacked(struct perf_unpacker *unpacker,
               const struct perf_events *events,
               const struct perf_record *record, struct error *error)
{
	unpacker->n_unpacked += perf_record_work(events, record);
	return unpacked_is_too_much(unpacker->n_packed, unpacker->n_unpacked) ?
	    error_set(error, "packed records hold more than real recordings "
	              "of this size; perf record without -z does not pack "
	              "them") : 0;
}

/*
 * The next complete record, valid until the next call: 1; 0: there is none; or
 * -1 with *error set to what is wrong.
 */
static int
perf_unpacker_next(struct perf_unpacker *unpacker,
                   const struct perf_events *events, struct perf_record *record,
                   struct error *error)
{
	for (;;) {
		const unsigned char *bytes = unpacker->room + unpacker->begin;
		size_t left = unpacker->end - unpacker->begin;
		int got;

		if (left >= PERF_HEADER_SIZE) {
			*record = perf_record_at(bytes, unpacker->offset);
			if (record->size < PERF_HEADER_SIZE ||
			    record->type == PERF_COMPRESSED ||
			    record->type == PERF_COMPRESSED2)
				return error_set(error, "expected records in "
				                 "what was packed");
			if (record->size <= left) {
				unpacker->begin += record->size;
				return count_unpacked(unpacker, events, record,
				                      error) == 0 ? 1 : -1;
			}
		}
		got = perf_unpacker_unpack_some(unpacker, error);
		if (got == 0)
			got = next_piece(unpacker, error);
		if (got <= 0)
			return got;
	}
}

/* ---- perf's own records ---- */

uint64_t
perf_session_work(const struct perf_session *session,
                  const struct perf_record *record)
{
	return perf_record_work(&session->events, record);
}

int
perf_session_check_queue(const struct perf_session *session,
                         const struct perf_record *record, uint64_t n_packed,
                         struct error *error)
{
	const struct error why = { .is_set = true, .text = "more packed "
		"records wait for the end of their round than real recordings "
		"of this size have" };

	return session->queue.size < QUEUE_ALWAYS ||
	    !unpacked_is_too_much(n_packed, session->queue.size) ? 0 :
	    perf_session_fail(session, record->offset, &why, error);
}

/* Packed records; one may begin in this record and end in the next. */
static int
perf_session_unpack(struct perf_session *session,
                    const struct perf_record *record, struct error *error)
{
	struct error why = { 0 };
	struct perf_record inner;
	uint64_t n = 0;
	int found;

	if (session->unpacker == NULL) {
		session->unpacker = memory_array(1, sizeof *session->unpacker,
		                                 error);
		if (session->unpacker == NULL)
			return -1;
		session->unpacker->stream = ZSTD_createDStream();
		if (session->unpacker->stream == NULL)
			return error_out_of_memory(error);
	}
	perf_unpacker_feed(session->unpacker, record);
	while ((found = perf_unpacker_next(session->unpacker, &session->events,
	                                   &inner, &why)) > 0)
		if (perf_session_record(session, &inner, error) != 0 ||
		    perf_session_check_queue(session, record,
		        session->unpacker->n_packed, error) != 0 ||
		    (++n % RECORDS_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	return found == 0 ?
	    0 :
	    perf_session_fail(session, record->offset, &why, error);
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
	if (!is_kernels) {
		struct bytes in = bytes_of(record->bytes, record->size);
		struct error why = { 0 };
		uint64_t complete;

		switch (record->type) {
		case PERF_FINISHED_ROUND:
			complete = session->queue.complete;
			session->queue.complete = session->queue.latest;
			return deliver_until(session, complete, error);
		case PERF_COMPRESSED:
		case PERF_COMPRESSED2:
			return perf_session_unpack(session, record, error);
		case PERF_AUXTRACE: /* the trace follows the record */
			bytes_take(&in, PERF_HEADER_SIZE);
			if (__builtin_add_overflow(session->n_traced,
			                           bytes_number(&in, 8),
			                           &session->n_traced))
				session->n_traced = UINT64_MAX;
			return 0;
		default:
			return perf_features_record(&session->features,
			                            &session->events, record,
			                            &why) == 0 ?
			    0 :
			    perf_session_fail(session, record->offset, &why,
			                      error);
		}
	}
	time = perf_events_time(&session->events, record);
	return time == 0 ? deliver(session, record, error) :
	    perf_queue_add(&session->queue, record, time, error);
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
	        "%s: skipped %" PRIu64 " records of unknown types; the first "
	        "is of type %" PRIu32,
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

	if (deliver_until(session, UINT64_MAX, error) != 0)
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
