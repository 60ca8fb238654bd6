/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_samples.c -- the samples of a pprof profile, while they come. */
#include "src/formats/pprof/pprof_samples.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* Fields of a sample. */
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };

enum { VALUES_MAX = 1000 };	/* columns that one believes */

void
pprof_samples_free(struct pprof_samples *samples)
{
	stack_feed_free(samples->feed);
	names_free(samples->label_sets);
	free(samples->counts);
	free(samples->labels);
	free(samples->last_labels);
}

/* ---- what a sample has; each 0, or -1 with *error set ---- */

/*
 * Puts a location behind the *depth ones that are in the feed's room, where
 * there is place for it.
 */
static int
add_location(uint32_t *labels, struct id_table *ids, uint64_t id,
             size_t *depth, struct error *error)
{
	if (id == PPROF_NO_STACK)
		return error_set(error, "location 0, which there cannot be");
	labels[*depth] = id_table_add(ids, id, error);
	return labels[(*depth)++] != NO_ID ? 0 : -1;
}

static int
add_locations(struct pprof_samples *samples, struct id_table *ids,
              const struct protobuf_field *field, size_t *depth,
              struct error *error)
{
	const unsigned char *at = field->bytes, *end = at + field->value;
	uint32_t *labels = stack_feed_room(samples->feed,
	                                   *depth + field->value, error);

	if (labels == NULL)
		return -1;
	while (at < end) {
		uint64_t id;

		at = protobuf_varint(at, &id);
		if (at == NULL || at > end)
			return error_set(error, "expected locations' ids");
		if (add_location(labels, ids, id, depth, error) != 0)
			return -1;
	}
	return 0;
}

static int
add_value(struct pprof_samples *samples, uint64_t value, uint32_t *n,
          struct error *error)
{
	if (*n >= samples->n_values)
		return error_set(error, "a sample of more than %u values",
		                 samples->n_values);
	if (value > INT64_MAX)
		return error_set(error, "a negative value: differences of "
		                 "profiles cannot be read");
	samples->counts[(*n)++] = value;
	return 0;
}

static int
add_values(struct pprof_samples *samples, const struct protobuf_field *field,
           uint32_t *n, struct error *error)
{
	const unsigned char *at = field->bytes, *end = at + field->value;

	while (at < end) {
		uint64_t value;

		at = protobuf_varint(at, &value);
		if (at == NULL || at > end)
			return error_set(error, "expected values");
		if (add_value(samples, value, n, error) != 0)
			return -1;
	}
	return 0;
}

/* Keeps the bytes of a label that has a string, behind their number. */
static int
add_label(struct pprof_samples *samples, const struct protobuf_field *field,
          struct error *error)
{
	struct protobuf label = protobuf_message(field);
	struct protobuf_field part;
	uint64_t text = 0, size = field->value;
	unsigned char *to;
	int found;

	while ((found = protobuf_next(&label, &part)) == PROTOBUF_FIELD)
		if (part.number == PPROF_LABEL_STRING &&
		    part.wire == PROTOBUF_VARINT)
			text = part.value;
	if (found != PROTOBUF_END)
		return error_set(error, "expected a label");
	if (text == 0)
		return 0;
	if (memory_grow(&samples->labels, &samples->labels_capacity,
	                samples->n_labels + sizeof size + size, 1,
	                error) != 0)
		return -1;
	to = samples->labels + samples->n_labels;
	memcpy(to, &size, sizeof size);
	memcpy(to + sizeof size, field->bytes, size);
	samples->n_labels += sizeof size + size;
	return 0;
}

static int
add_field(struct pprof_samples *samples, struct id_table *ids,
          const struct protobuf_field *field, size_t *depth,
          uint32_t *n_values, struct error *error)
{
	bool is_packed = field->wire == PROTOBUF_BYTES;

	if (field->number > SAMPLE_LABEL)
		return 0;
	if (is_packed && field->number == SAMPLE_LOCATION)
		return add_locations(samples, ids, field, depth, error);
	if (is_packed && field->number == SAMPLE_VALUE)
		return add_values(samples, field, n_values, error);
	if (is_packed)
		return add_label(samples, field, error);
	if (field->wire == PROTOBUF_VARINT && field->number == SAMPLE_VALUE)
		return add_value(samples, field->value, n_values, error);
	if (field->wire == PROTOBUF_VARINT &&
	    field->number == SAMPLE_LOCATION) {
		uint32_t *labels = stack_feed_room(samples->feed, *depth + 1,
		                                   error);

		return labels == NULL ? -1 :
		       add_location(labels, ids, field->value, depth, error);
	}
	return error_set(error, "expected a sample");
}

/* ---- the whole sample ---- */

/* Values in the first sample, which tell how many all have; 0: malformed. */
static uint32_t
count_values(const struct protobuf_field *field)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	size_t n = 0;

	while (protobuf_next(&message, &part) == PROTOBUF_FIELD) {
		if (part.number != SAMPLE_VALUE)
			continue;
		if (part.wire != PROTOBUF_BYTES)
			n++;
		/* Each number has one last byte. */
		else
			for (size_t i = 0; i < part.value; i++)
				n += part.bytes[i] < 0x80;
	}
	return n <= VALUES_MAX ? (uint32_t)n : 0;
}

static int
begin(struct pprof_samples *samples, const struct pprof_tables *tables,
      const struct protobuf_field *field, struct error *error)
{
	uint32_t n = count_values(field);

	if (n == 0)
		return error_set(error, "expected a sample with 1 to %d "
		                 "values", VALUES_MAX);
	samples->n_values = n;
	samples->counts_records = tables->n_types != 2;
	samples->counts = memory_array(n + 1, sizeof *samples->counts, error);
	samples->label_sets = names_new(error);
	samples->feed = stack_feed_new(samples->name, STACK_OFFSETS,
	                               n + samples->counts_records, error);
	if (samples->counts == NULL || samples->label_sets == NULL ||
	    samples->feed == NULL)
		return -1;
	samples->counts[n] = 1;
	return names_add(samples->label_sets, "", 0, error) == NO_NAME ? -1 :
	       0;
}

/* The number of the labels that were kept; NO_NAME with *error set. */
static uint32_t
label_set(struct pprof_samples *samples, struct error *error)
{
	unsigned char *labels = samples->labels;
	size_t n = samples->n_labels, capacity = samples->labels_capacity;

	if (n == samples->n_last_labels &&
	    (n == 0 || memcmp(labels, samples->last_labels, n) == 0))
		return samples->last_set;
	samples->last_set = names_find(samples->label_sets,
	                               (const char *)labels, n);
	if (samples->last_set == NO_NAME &&
	    names_count(samples->label_sets) >= PPROF_LABEL_SETS_MAX) {
		samples->has_too_many_sets = true;
		samples->last_set = 0;
	} else if (samples->last_set == NO_NAME) {
		samples->last_set = names_add(samples->label_sets,
		                              (const char *)labels, n, error);
	}
	samples->labels = samples->last_labels;
	samples->labels_capacity = samples->last_labels_capacity;
	samples->last_labels = labels;
	samples->last_labels_capacity = capacity;
	samples->n_last_labels = n;
	return samples->last_set;
}

/* Enters the sample whose fields have been read. */
static int
push(struct pprof_samples *samples, struct id_table *ids, size_t depth,
     uint64_t position, struct error *error)
{
	uint32_t *labels = stack_feed_room(samples->feed, depth + 2, error);
	uint32_t set = label_set(samples, error);

	if (labels == NULL || set == NO_NAME)
		return -1;
	if (depth == 0)
		labels[depth++] = id_table_add(ids, PPROF_NO_STACK, error);
	if (labels[0] == NO_ID)
		return -1;
	labels[depth++] = set;
	return stack_feed_push(samples->feed, depth, position,
	                       samples->counts, 0, error);
}

int
pprof_samples_add(struct pprof_samples *samples, struct pprof_tables *tables,
                  const struct protobuf_field *field, uint64_t position,
                  struct error *error)
{
	struct id_table *ids = &tables->location_ids;
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	uint32_t n_values = 0;
	size_t depth = 0;
	int found;

	if (field->wire != PROTOBUF_BYTES)
		return error_set(error, "expected a sample");
	if (samples->feed == NULL &&
	    begin(samples, tables, field, error) != 0)
		return -1;
	samples->n_labels = 0;
	while ((found = protobuf_next(&message, &part)) == PROTOBUF_FIELD)
		if (add_field(samples, ids, &part, &depth, &n_values,
		              error) != 0)
			return -1;
	if (found != PROTOBUF_END)
		return error_set(error, "expected a sample");
	if (n_values != samples->n_values)
		return error_set(error, "a sample of %u values, expected %u",
		                 n_values, samples->n_values);
	return push(samples, ids, depth, position, error);
}
