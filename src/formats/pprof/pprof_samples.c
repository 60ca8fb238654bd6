/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_samples.c -- enters the samples of a pprof profile as they are read.
 */
#include "src/formats/pprof/pprof.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "src/base/memory.h"
#include "src/profile/profile.h"

void
pprof_samples_free(struct pprof_samples *samples)
{
	names_free(samples->label_sets);
	free(samples->ids);
	free(samples->last_ids);
	free(samples->labels);
	free(samples->last_labels);
}

uint64_t
pprof_samples_count(const struct pprof_samples *samples)
{
	return samples->list != NULL && samples->n_values > 0 ?
	       samples->list->n_rows : reader_count_stacks(samples->reader);
}

/* ---- fields of a sample ---- */

/* Appends bytes[size] to the buffer *to. */
static int
pprof_samples_keep_bytes(unsigned char **to, size_t *n, size_t *capacity,
                         const unsigned char *bytes, size_t size,
                         struct error *error)
{
	if (memory_grow(to, capacity, *n + size, 1, error) != 0)
		return -1;
	if (size > 0)
		memcpy(*to + *n, bytes, size);
	*n += size;
	return 0;
}

static int
add_ids(struct pprof_samples *samples, const unsigned char *bytes, size_t size,
        struct error *error)
{
	if (size > 0 && bytes[size - 1] >= 0x80)
		return error_set(error, "the location ids of a sample are "
		                 "malformed");
	return pprof_samples_keep_bytes(&samples->ids, &samples->n_ids,
	                                &samples->ids_capacity, bytes, size,
	                                error);
}

static int
pprof_samples_add_value(struct pprof_samples *samples, uint64_t value,
                        uint32_t *n, struct error *error)
{
	if (*n >= samples->n_values)
		return error_set(error, "a sample of more than %u values",
		                 samples->n_values);
	if (value > INT64_MAX) {
		value = 0;
		if (reader_note_below_zero(samples->reader, *n,
		                           samples->position, error) != 0)
			return -1;
	}
	samples->reader->hits[(*n)++] = value;
	return 0;
}

/* Whether the last sample had this label in the same place. */
static bool
is_last_label(const struct pprof_samples *samples,
              const struct protobuf_field *field)
{
	size_t begin = samples->n_labels, size;

	if (samples->n_last_labels < begin + sizeof size)
		return false;
	memcpy(&size, samples->last_labels + begin, sizeof size);
	return size == field->value &&
	       memcmp(samples->last_labels + begin + sizeof size,
	              field->bytes, size) == 0;
}

enum { LABEL_IS_EMPTY, LABEL_IS_STRING, LABEL_IS_NUMBER };

/* What the label's value is; -1 with *error set. */
static int
pprof_samples_kind_of(const struct protobuf_field *field, struct error *error)
{
	struct protobuf label = protobuf_message(field);
	struct protobuf_field part;
	uint64_t text = 0, number = 0;
	int found;

	while ((found = protobuf_next(&label, &part)) == PROTOBUF_FIELD) {
		if (part.wire != PROTOBUF_VARINT)
			continue;
		if (part.number == LABEL_STR)
			text = part.value;
		else if (part.number == LABEL_NUM ||
		         part.number == LABEL_NUM_UNIT)
			number |= part.value;
	}
	if (found != PROTOBUF_END)
		return error_set(error, "expected a label");
	return text != 0 ? LABEL_IS_STRING :
	       number != 0 ? LABEL_IS_NUMBER : LABEL_IS_EMPTY;
}

/* Keeps the bytes of a label, after their number. */
static int
pprof_samples_add_label(struct pprof_samples *samples,
                        const struct protobuf_field *field, struct error *error)
{
	size_t size = (size_t)field->value;
	int kind = is_last_label(samples, field) ? LABEL_IS_STRING :
	           pprof_samples_kind_of(field, error);

	if (kind == LABEL_IS_EMPTY || (kind > 0 && samples->drops_labels) ||
	    (kind == LABEL_IS_NUMBER && samples->drops_numbers))
		return 0;
	if (kind < 0 ||
	    pprof_samples_keep_bytes(&samples->labels, &samples->n_labels,
	                             &samples->labels_capacity,
	                             (unsigned char *)&size, sizeof size,
	                             error) != 0)
		return -1;
	return pprof_samples_keep_bytes(&samples->labels, &samples->n_labels,
	                                &samples->labels_capacity, field->bytes,
	                                size, error);
}

static int
pprof_samples_add_field(struct pprof_samples *samples,
                        const struct protobuf_field *field, uint32_t *n_values,
                        struct error *error)
{
	bool is_packed = field->wire == PROTOBUF_BYTES;

	if (field->number > SAMPLE_LABEL)
		return 0;
	if (is_packed && field->number == SAMPLE_LOCATION_ID)
		return add_ids(samples, field->bytes, (size_t)field->value,
		               error);
	if (is_packed && field->number == SAMPLE_VALUE) {
		const unsigned char *at = field->bytes,
				    *end = at + field->value;

		while (at < end) {
			uint64_t value;

			at = protobuf_varint(at, &value);
			if (at == NULL || at > end)
				return error_set(error, "expected values");
			if (pprof_samples_add_value(samples, value, n_values,
			                            error) != 0)
				return -1;
		}
		return 0;
	}
	if (is_packed)
		return pprof_samples_add_label(samples, field, error);
	if (field->wire == PROTOBUF_VARINT && field->number == SAMPLE_VALUE)
		return pprof_samples_add_value(samples, field->value, n_values,
		                               error);
	if (field->wire == PROTOBUF_VARINT &&
	    field->number == SAMPLE_LOCATION_ID) {
		uint64_t id = field->value;
		unsigned char bytes[VARINT_MAX];
		size_t n = 0;

		/* An id that is not packed is encoded as if it were. */
		for (; id >= 0x80; id >>= 7)
			bytes[n++] = (unsigned char)(id | 0x80);
		bytes[n++] = (unsigned char)id;
		return add_ids(samples, bytes, n, error);
	}
	return error_set(error, "expected a sample");
}

/* ---- the whole sample ---- */

static int
pprof_samples_begin(struct pprof_samples *samples,
                    const struct protobuf_field *field, struct error *error)
{
	uint32_t n;
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	size_t count = 0;

	/*
	 * The number of values in the first sample, which all samples must
	 * have; 0: malformed.
	 */
	while (protobuf_next(&message, &part) == PROTOBUF_FIELD) {
		if (part.number != SAMPLE_VALUE)
			continue;
		if (part.wire != PROTOBUF_BYTES)
			count++;
		/* Each number has exactly one last byte. */
		else
			for (size_t i = 0; i < part.value; i++)
				count += part.bytes[i] < 0x80;
	}
	n = count <= RESOURCES_MAX ? (uint32_t)count : 0;
	if (n == 0)
		return error_set(error, "expected a sample with 1 to %d "
		                 "values", RESOURCES_MAX);
	samples->n_values = n;
	/* As many as types, which may come later. */
	samples->counts_records = samples->has_raw || n != 2;
	samples->n_columns = n + samples->counts_records;
	/* The values of a list's samples have a bit each. */
	if (n > PPROF_ZEROS_MAX)
		samples->list = NULL;
	samples->drops_labels = samples->list != NULL;
	samples->label_sets = names_new(error);
	/*
	 * The buffers are compared even if they are empty, so they must exist.
	 */
	if (samples->label_sets == NULL ||
	    reader_add_columns(samples->reader, samples->n_columns,
	                       error) != 0 ||
	    (samples->list != NULL &&
	     stack_list_begin(samples->list, samples->n_columns,
	                      error) != 0) ||
	    memory_grow(&samples->ids, &samples->ids_capacity, 1, 1,
	                error) != 0 ||
	    memory_grow(&samples->last_ids, &samples->last_ids_capacity, 1, 1,
	                error) != 0)
		return -1;
	samples->pushed_set = NO_NAME;
	return names_add(samples->label_sets, "", 0, error) == NO_NAME ? -1 :
	       0;
}

/* Whether any of the kept labels is a number. */
static bool
has_number(const struct pprof_samples *samples)
{
	size_t size;

	for (size_t at = 0; at < samples->n_labels; at += sizeof size + size) {
		struct error none = { 0 };
		struct protobuf_field field = { .wire = PROTOBUF_BYTES,
			.bytes = samples->labels + at + sizeof size };

		memcpy(&size, samples->labels + at, sizeof size);
		field.value = size;
		if (pprof_samples_kind_of(&field, &none) == LABEL_IS_NUMBER)
			return true;
	}
	return false;
}

/* Enters the kept labels as a new set; its number, NO_NAME with *error set. */
static uint32_t
add_set(struct pprof_samples *samples, struct error *error)
{
	if (names_count(samples->label_sets) >= PPROF_LABEL_SETS_MAX) {
		samples->has_too_many_sets = true;
		return 0;
	}
	samples->n_number_sets += has_number(samples);
	return names_add(samples->label_sets, (const char *)samples->labels,
	                 samples->n_labels, error);
}

/* The number of the set of kept labels; NO_NAME with *error set. */
static uint32_t
label_set(struct pprof_samples *samples, struct error *error)
{
	unsigned char *labels = samples->labels;
	size_t n = samples->n_labels, capacity = samples->labels_capacity;
	uint32_t set;

	if (n == samples->n_last_labels &&
	    (n == 0 || memcmp(labels, samples->last_labels, n) == 0))
		return samples->last_set;
	set = names_find(samples->label_sets, (const char *)labels, n);
	if (set == NO_NAME)
		set = add_set(samples, error);
	samples->labels = samples->last_labels;
	samples->labels_capacity = samples->last_labels_capacity;
	samples->last_labels = labels;
	samples->last_labels_capacity = capacity;
	samples->n_last_labels = n;
	samples->last_set = set;
	if (samples->n_number_sets > PPROF_NUMBER_SETS_MAX &&
	    !samples->drops_numbers) {
		/* The next sample is compared with one without labels. */
		samples->drops_numbers = true;
		samples->n_last_labels = samples->last_set = 0;
	}
	return set;
}

/* The length of the common end of both, at most n bytes. */
static size_t
pprof_samples_common_end(const unsigned char *a_end, const unsigned char *b_end,
                         size_t n)
{
	size_t same = 0;

	for (; same + sizeof(uint64_t) <= n; same += sizeof(uint64_t)) {
		uint64_t a, b;

		memcpy(&a, a_end - same - sizeof a, sizeof a);
		memcpy(&b, b_end - same - sizeof b, sizeof b);
		if (a != b)
			return same + (size_t)__builtin_clzll(
			    le64toh(a ^ b)) / 8;
	}
	while (same < n && *(a_end - same - 1) == *(b_end - same - 1))
		same++;
	return same;
}

/* Whether an id begins where `left` bytes are left of bytes[size]. */
static bool
is_at_id(const unsigned char *bytes, size_t size, size_t left)
{
	return left == size || bytes[size - left - 1] < 0x80;
}

/* The bytes of the ids at the end that are shared with the last sample. */
static size_t
shared_bytes(const struct pprof_samples *samples)
{
	size_t n = samples->n_ids, n_last = samples->n_last_ids, same;

	if (n == 0 || n_last == 0)
		return 0;
	same = pprof_samples_common_end(samples->ids + n,
	                                samples->last_ids + n_last,
	                                n < n_last ? n : n_last);
	if (is_at_id(samples->ids, n, same) &&
	    is_at_id(samples->last_ids, n_last, same))
		return same;
	/* The id began earlier, in only one of them: go on to the next id. */
	while (samples->ids[n - same] >= 0x80)
		same--;
	return same - 1;
}

/* The number of ids that end in these bytes. */
static size_t
count_ids(const unsigned char *bytes, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += bytes[i] < 0x80;
	return n;
}

/*
 * Writes the locations of ids[size] to labels[]; returns their number, or -1
 * with *error set.
 */
static ssize_t
find_locations(uint32_t *labels, struct id_table *table,
               const unsigned char *ids, size_t size, struct error *error)
{
	const unsigned char *end = ids + size;
	ssize_t n = 0;

	while (ids < end) {
		uint64_t id;

		ids = protobuf_varint(ids, &id);
		if (ids == NULL)
			return error_set(error, "the location ids of a sample "
			                 "are malformed");
		if (id == PPROF_NO_STACK)
			return error_set(error, "location 0 is no valid "
			                 "id");
		labels[n] = id_table_add(table, id, error);
		if (labels[n++] == NO_ID)
			return -1;
	}
	return n;
}

/* Counts the raw samples at hand for each value of which they have no hits. */
static int
count_without(struct pprof_samples *samples, struct error *error)
{
	uint32_t n = samples->n_values;

	for (uint32_t i = 0; i < n && n > 1 && n <= PPROF_ZEROS_MAX; i++) {
		uint64_t *hits = samples->reader->hits;

		if (hits[i] != 0)
			continue;
		if (samples->without[i] == 0) {
			if (reader_add_columns(samples->reader, 1, error) != 0)
				return -1;
			hits = samples->reader->hits;
			samples->without[i] = samples->n_columns++;
		}
		/* If no column counts records, the other value counts. */
		hits[samples->without[i]] = samples->counts_records ? hits[n] :
		                            n == 2 ? hits[1 - i] : 0;
	}
	return 0;
}

/* Moves the stacks from the list, which is too long, to the reader. */
static int
leave_list(struct pprof_samples *samples, uint64_t position,
           struct error *error)
{
	const struct stack_list *list = samples->list;
	struct reader *reader = samples->reader;

	samples->list = NULL;
	samples->pushed_set = NO_NAME;
	for (uint32_t i = 0; i < list->n_rows; i++) {
		const struct stack_row *row = &list->rows[i];
		uint32_t first = list->first[row->stack];
		uint32_t n = list->first[row->stack + 1] - first;
		uint32_t *labels = reader_frames(reader, n, error);

		if (labels == NULL)
			return -1;
		memcpy(labels, list->labels + first, n * sizeof *labels);
		memcpy(reader->hits, list->hits + (size_t)i * list->n_columns,
		       list->n_columns * sizeof *reader->hits);
		reader->thread = 0;
		if (count_without(samples, error) != 0 ||
		    reader_push(reader, n, position, 0, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether all ids have as few bytes as they can have. */
static bool
are_ids_short(const unsigned char *ids, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (ids[i] == 0 && ids[i - 1] >= 0x80)
			return false;
	return true;
}

static void
count_record(struct pprof_samples *samples)
{
	uint64_t *hits = samples->reader->hits;

	if (!samples->counts_records)
		return;
	hits[samples->n_values] = samples->has_raw ? samples->n_raw : 1;
	if (samples->n_values == 1 && hits[0] == 0)
		hits[1] = 0;
}

/* A bit for each value that is not 0. */
static uint32_t
which_values(const struct pprof_samples *samples)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < samples->n_values; i++)
		bits |= (uint32_t)(samples->reader->hits[i] != 0) << i;
	return bits;
}

/*
 * Enters the sample into the list.  1: it has left the list, since that has no
 * room, or the stack might be in it under other bytes.
 */
static int
push_to_list(struct pprof_samples *samples, struct id_table *table,
             uint64_t position, struct error *error)
{
	struct reader *reader = samples->reader;
	const XXH128_hash_t digest = digest_index_hash(samples->list->stacks,
	    samples->ids, samples->n_ids);
	uint32_t stack = stack_list_find(samples->list, &digest);
	uint64_t *hits;
	int result;

	if (stack == NO_INDEX && are_ids_short(samples->ids, samples->n_ids) &&
	    stack_list_has_room(samples->list, samples->n_ids + 1)) {
		uint32_t *labels = reader_frames(samples->reader,
		                                 samples->n_ids + 1, error);
		ssize_t n;

		/*
		 * Enters a stack that the list does not have; NO_INDEX with
		 * *error set.
		 */
		if (labels == NULL)
			return -1;
		n = find_locations(labels, table, samples->ids, samples->n_ids,
		                   error);
		if (n == 0)
			labels[n++] = id_table_add(table, PPROF_NO_STACK,
			                           error);
		if (error->is_set)
			return -1;
		stack = stack_list_add(samples->list, &digest, labels,
		                       (uint32_t)n, error);
		if (stack == NO_INDEX)
			return -1;
	}
	if (stack != NO_INDEX && stack_list_has_room(samples->list, 0)) {
		count_record(samples);
		return stack_list_count(samples->list, which_values(samples),
		                        stack, reader->hits, error);
	}
	hits = memory_copy(reader->hits, samples->n_values, sizeof *hits,
	                   error);
	if (hits == NULL)
		return -1;
	result = leave_list(samples, position, error);
	memcpy(reader->hits, hits, samples->n_values * sizeof *hits);
	free(hits);
	return result == 0 ? 1 : -1;
}

/* Enters the sample into the reader's tree. */
static int
pprof_samples_push(struct pprof_samples *samples, uint32_t set,
                   struct id_table *table, uint64_t position,
                   struct error *error)
{
	bool is_same_set = set == samples->pushed_set;
	size_t same = is_same_set ? shared_bytes(samples) : 0, n_shared = 0;
	unsigned char *ids = samples->ids;
	size_t capacity = samples->ids_capacity;
	struct reader *reader = samples->reader;
	uint32_t *labels = reader_frames(reader, samples->n_ids - same + 1,
	                                 error);
	ssize_t n;

	if (labels == NULL)
		return -1;
	n = find_locations(labels, table, ids, samples->n_ids - same, error);
	if (n < 0)
		return -1;
	if (same > 0)
		n_shared = samples->last_depth - count_ids(samples->last_ids,
		    samples->n_last_ids - same);
	samples->ids = samples->last_ids;
	samples->ids_capacity = samples->last_ids_capacity;
	samples->last_ids = ids;
	samples->last_ids_capacity = capacity;
	samples->n_last_ids = samples->n_ids;
	samples->last_depth = n_shared + (size_t)n;
	if (n_shared + (size_t)n == 0 &&
	    (labels[n++] = id_table_add(table, PPROF_NO_STACK,
	                                error)) == NO_ID)
		return -1;
	samples->pushed_set = reader->thread = set;
	count_record(samples);
	if (count_without(samples, error) != 0)
		return -1;
	return reader_push_rest(reader, n_shared, (size_t)n, position, 0,
	                        error);
}

int
pprof_samples_add(struct pprof_samples *samples, struct pprof_tables *tables,
                  const struct protobuf_field *field, uint64_t position,
                  struct error *error)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	uint32_t n_values = 0;
	uint32_t set;
	int found;

	if (field->wire != PROTOBUF_BYTES)
		return error_set(error, "expected a sample");
	if (samples->n_values == 0 &&
	    pprof_samples_begin(samples, field, error) != 0)
		return -1;
	samples->n_labels = samples->n_ids = 0;
	samples->position = position;
	while ((found = protobuf_next(&message, &part)) == PROTOBUF_FIELD)
		if (pprof_samples_add_field(samples, &part, &n_values,
		                            error) != 0)
			return -1;
	if (found != PROTOBUF_END)
		return error_set(error, "expected a sample");
	if (n_values != samples->n_values)
		return error_set(error, "a sample of %u value%s, expected %u",
		                 n_values, n_values == 1 ? "" : "s",
		                 samples->n_values);
	set = label_set(samples, error);
	if (set == NO_NAME)
		return -1;
	if (samples->list != NULL) {
		int left = push_to_list(samples, &tables->location_ids,
		                        position, error);

		if (left <= 0)
			return left;
	}
	return pprof_samples_push(samples, set, &tables->location_ids, position,
	                          error);
}
