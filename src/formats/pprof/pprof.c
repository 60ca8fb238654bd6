/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof.c -- profile.proto, which go tool pprof and many others read.
 *
 * One outermost message, read field by field while it is unpacked: samples go
 * into the tree at once, everything else is kept until the end, when names are
 * known (pprof.h).  A file that is cut short gives its complete samples; the
 * names at its end are then lost.  Time O(bytes), memory that of the tree and
 * the tables.
 * Source: google/pprof, proto/profile.proto.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/pprof/pprof.h"

_Static_assert((int)SOURCE_PADDING >= (int)PROTOBUF_PADDING,
               "numbers are read beyond the bytes at hand");

enum { FIELD_MAX = 256 << 20, HEADER_MAX = 2 * VARINT_MAX,
       SIGNS_ENOUGH = 32	/* fields of tables */ };

struct pprof {
	struct reader reader;
	struct pprof_tables tables;
	struct pprof_samples samples;
};

/* Reads to the end, or to where the input is cut short. */
static int
pprof_read_source(struct pprof *pprof, struct error *error)
{
	struct reader *reader = &pprof->reader;
	size_t wanted = 1, size;
	const unsigned char *bytes;

	while ((bytes = reader_peek(reader, wanted, &size, error))) {
		bool is_end = size < wanted;

		if (size > 0) {
			struct protobuf message = { bytes, bytes + size };
			struct protobuf_field field;
			uint64_t at = reader->place;
			int found;

			/* The complete fields; samples go into the tree. */
			while ((found = protobuf_next(&message, &field)) ==
			       PROTOBUF_FIELD) {
				struct error why;
				int result;

				/* Its text need not be zeroed. */
				why.is_set = why.is_out_of_memory = false;
				result = field.number == PROFILE_SAMPLE ?
				    pprof_samples_add(&pprof->samples,
				                      &pprof->tables, &field,
				                      at, &why) :
				    pprof_tables_read(&pprof->tables, &field,
				                      &why);
				if (result != 0)
					return reader_pass_at(&pprof->reader,
					                      at, &why, error);
				at = reader->place +
				    (uint64_t)(message.at - bytes);
			}
			if (found == PROTOBUF_MALFORMED)
				return reader_fail_at(
				    reader, at, error,
				    "expected a field of a profile");
			if (field.number != 0 && field.value > FIELD_MAX)
				return reader_fail_at(
				    reader, at, error,
				    "a field of more than 256 MiB");
			wanted = HEADER_MAX +
			    (field.number != 0 ? field.value : 0);
			reader_skip(reader, (size_t)(message.at - bytes));
			if (reader_step(reader, error) != 0)
				return -1;
		}
		if (!is_end)
			continue;
		if (reader_peek(reader, 0, &size, error) == NULL)
			return -1;
		reader->is_cut_short = size > 0 ||
		                 source_is_cut_short(reader->source);
		source_skip(reader->source, size);
		/* Damage of packed input is noticed here. */
		return reader_peek(reader, 1, &size, error) != NULL ? 0 : -1;
	}
	return -1;
}

static int
pprof_read_profile(struct pprof *pprof, struct error *error)
{
	struct reader *reader = &pprof->reader;

	if (pprof_read_source(pprof, error) != 0)
		return -1;
	if (pprof_samples_count(&pprof->samples) == 0)
		return reader_fail_empty(reader, error);
	return reader_warn_cut_short(reader,
	                             ", but names that come later are lost",
	                       error) == 0 ?
	       pprof_profile_fill(&pprof->tables, &pprof->samples,
	                          reader->is_cut_short, error) : -1;
}

static struct profile *
pprof_read(struct source *source, const struct read_options *options,
           struct error *error)
{
	struct pprof pprof = { .samples.reader = &pprof.reader,
		.samples.list = options->stacks };
	int result = reader_begin(&pprof.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		result = pprof_read_profile(&pprof, error);
	pprof_samples_free(&pprof.samples);
	pprof_tables_free(&pprof.tables);
	return reader_end(&pprof.reader, result);
}

/* ---- probe ---- */

/* What the fields at the front of a file are. */
struct pprof_signs {
	size_t n_types, n_samples, n_items, n_strings;
	bool has_first_string;		/* the empty one comes first */
	bool has_unknown;		/* fields that a later version may have
					 * added */
};

/* The greatest number of a field of the outermost message. */
enum { PPROF_FIELDS_MAX = 15 };

/* Whether the field, of the outermost message, can be one of a profile. */
static bool
is_profile_field(const struct protobuf_field *field)
{
	enum { BYTES_FIELDS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 |
	       1 << 6 | 1 << 11, BYTES_OR_NUMBERS = 1 << 13 };

	if (BYTES_OR_NUMBERS >> field->number & 1)
		return true;
	return field->wire == (BYTES_FIELDS >> field->number & 1 ?
	                       PROTOBUF_BYTES : PROTOBUF_VARINT);
}

/* The next field that is known to a message of fields up to `last`. */
static int
pprof_next_known(struct protobuf *message, uint32_t last,
                 struct protobuf_field *part, struct pprof_signs *signs)
{
	int found;

	while ((found = protobuf_next(message, part)) == PROTOBUF_FIELD &&
	       part->number > last)
		signs->has_unknown = true;
	return found;
}

/* A sample type: two numbers, or none if it has neither name nor unit. */
static bool
is_type(const struct protobuf_field *field, struct pprof_signs *signs)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	bool has_number = false;
	int found;

	while ((found = pprof_next_known(&message, TYPE_UNIT, &part, signs)) ==
	       PROTOBUF_FIELD) {
		if (part.wire != PROTOBUF_VARINT)
			return false;
		has_number = true;
	}
	signs->n_types += has_number;
	return found == PROTOBUF_END;
}

/* A sample: locations, labels and at least one value. */
static bool
pprof_is_sample(const struct protobuf_field *field, struct pprof_signs *signs)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	bool has_value = false;
	int found;

	while ((found = pprof_next_known(&message, SAMPLE_LABEL, &part,
	                                 signs)) == PROTOBUF_FIELD) {
		if (part.wire != PROTOBUF_BYTES &&
		    (part.number == SAMPLE_LABEL ||
		     part.wire != PROTOBUF_VARINT))
			return false;
		has_value |= part.number == SAMPLE_VALUE;
	}
	return found == PROTOBUF_END && has_value;
}

/* A mapping, location or function: numbers, and lines of a location. */
static bool
pprof_is_item(const struct protobuf_field *field, struct pprof_signs *signs)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	int found;

	while ((found = pprof_next_known(&message, MAPPING_HAS_INLINE_FRAMES,
	                                 &part, signs)) == PROTOBUF_FIELD)
		if (part.wire != PROTOBUF_VARINT &&
		    (part.wire != PROTOBUF_BYTES ||
		     field->number != PROFILE_LOCATION ||
		     part.number != LOCATION_LINE))
			return false;
	return found == PROTOBUF_END;
}

static bool
pprof_note_field(struct pprof_signs *signs, const struct protobuf_field *field)
{
	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		return is_type(field, signs);
	case PROFILE_SAMPLE:
		signs->n_samples++;
		return pprof_is_sample(field, signs);
	case PROFILE_MAPPING:
	case PROFILE_LOCATION:
	case PROFILE_FUNCTION:
		signs->n_items++;
		return pprof_is_item(field, signs);
	case PROFILE_STRING_TABLE:
		if (signs->n_strings++ == 0)
			signs->has_first_string = field->value == 0;
		return true;
	default:
		return true;
	}
}

/*
 * The fields at the front must all be those of a profile, and one of them a
 * sample type; types without name and unit do not count: they are two bytes,
 * which other files have, too.  Fields may come in any order, the tables of a
 * large profile before its types: then a sample, or strings of which the first
 * is empty, must be there.  They must, too, if there are fields that are not
 * known, which protobuf lets later versions add to any message.
 */
static int
pprof_probe(const void *head, size_t size)
{
	/* With the padding that readers of fields want. */
	unsigned char copy[FORMAT_HEAD_SIZE + PROTOBUF_PADDING];
	struct pprof_signs signs = { 0 };
	struct protobuf message;
	struct protobuf_field field;
	int found;

	if (size > FORMAT_HEAD_SIZE)
		size = FORMAT_HEAD_SIZE;
	memcpy(copy, head, size);
	memset(copy + size, 0, PROTOBUF_PADDING);
	message = (struct protobuf){ copy, copy + size };
	while ((found = pprof_next_known(&message, PPROF_FIELDS_MAX, &field,
	                                 &signs)) == PROTOBUF_FIELD)
		if (!is_profile_field(&field) ||
		    !pprof_note_field(&signs, &field))
			return PROBE_NO;
	if (found == PROTOBUF_MALFORMED ||
	    (signs.has_unknown && !signs.has_first_string &&
	     signs.n_samples == 0))
		return PROBE_NO;
	if (signs.n_types > 0)
		return PROBE_SURE;
	if ((signs.has_first_string ? signs.n_strings : 0) +
	    signs.n_items >= SIGNS_ENOUGH)
		return PROBE_LIKELY;
	return signs.n_samples > 0 && !signs.has_unknown ? PROBE_MAYBE :
	       PROBE_NO;
}

const struct format format_pprof = {
	.name = "pprof",
	.summary = "what `go tool pprof` reads (profile.proto)",
	.probe = pprof_probe,
	.read = pprof_read,
};
