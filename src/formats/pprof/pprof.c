/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof.c -- profile.proto, which go tool pprof and many others read.
 *
 * One outermost message, read field by field while it is unpacked: samples go
 * into the tree at once (pprof_samples.h), all else is kept (pprof_tables.h)
 * until the end, when names are known (pprof_profile.h).  A file that is cut
 * gives the samples that are whole; the names at its end are then lost.
 * Time O(bytes), memory that of the tree and the tables.
 * Source: google/pprof, proto/profile.proto.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/pprof/pprof_profile.h"

_Static_assert((int)SOURCE_PADDING >= (int)PROTOBUF_PADDING,
               "numbers are read beyond the bytes at hand");

enum { FIELD_MAX = 256 << 20, HEADER_MAX = 2 * VARINT_MAX };

struct reader {
	struct source *source;
	const struct read_options *options;
	struct pprof_tables tables;
	struct pprof_samples samples;
	uint64_t offset;	/* of the bytes at hand */
	bool is_cut;
};

static int
fail(const struct reader *reader, uint64_t offset, const char *what,
     struct error *error)
{
	return error_set(error, "%s: 0x%llx: %s", source_name(reader->source),
	                 (unsigned long long)offset, what);
}

/* Enters a field that stands at the offset. */
static int
read_field(struct reader *reader, const struct protobuf_field *field,
           uint64_t offset, struct error *error)
{
	struct error why;
	int result;

	why.is_set = false;	/* its text need not be zeroed */
	result = field->number == PPROF_SAMPLE ?
	    pprof_samples_add(&reader->samples, &reader->tables, field,
	                      offset, &why) :
	    pprof_tables_read(&reader->tables, field, &why);
	return result == 0 ? 0 : fail(reader, offset, why.text, error);
}

/*
 * Enters the whole fields among bytes[size] and skips them.  *wanted becomes
 * how many bytes the next look needs.
 */
static int
read_block(struct reader *reader, const char *bytes, size_t size,
           size_t *wanted, struct error *error)
{
	const unsigned char *begin = (const unsigned char *)bytes;
	struct protobuf message = { begin, begin + size };
	struct protobuf_field field;
	uint64_t at = reader->offset;
	int found;

	while ((found = protobuf_next(&message, &field)) == PROTOBUF_FIELD) {
		if (read_field(reader, &field, at, error) != 0)
			return -1;
		at = reader->offset + (uint64_t)(message.at - begin);
	}
	if (found == PROTOBUF_MALFORMED)
		return fail(reader, at, "expected a field of a profile",
		            error);
	if (field.number != 0 && field.value > FIELD_MAX)
		return fail(reader, at, "a field of more than 256 MiB",
		            error);
	*wanted = HEADER_MAX + (field.number != 0 ? field.value : 0);
	source_skip(reader->source, (size_t)(message.at - begin));
	reader->offset = at;
	return progress_step(reader->options->progress,
	                     source_done(reader->source),
	                     source_size(reader->source), error);
}

/* Reads to the end, or to where the input was cut. */
static int
read_source(struct reader *reader, struct error *error)
{
	size_t wanted = 1, size;
	const char *bytes;

	while ((bytes = source_peek(reader->source, wanted, &size, error))) {
		bool is_end = size < wanted;

		if (size > 0 && read_block(reader, bytes, size, &wanted,
		                           error) != 0)
			return -1;
		if (!is_end)
			continue;
		bytes = source_peek(reader->source, 0, &size, error);
		reader->is_cut = size > 0 ||
		                 source_is_truncated(reader->source);
		source_skip(reader->source, size);
		if (source_peek(reader->source, 1, &size, error) == NULL)
			return -1;
		return 0;
	}
	return -1;
}

static int
fill_profile(struct reader *reader, struct profile *profile,
             struct error *error)
{
	const char *name = source_name(reader->source);

	if (reader->samples.feed == NULL)
		return error_set(error, "%s: no samples in it", name);
	if (reader->is_cut &&
	    profile_warn(profile, error, "%s: 0x%llx: the input is cut off "
	                 "here; what came before was read, names that "
	                 "come later are lost", name,
	                 (unsigned long long)reader->offset) != 0)
		return -1;
	return pprof_profile_fill(profile, &reader->tables, &reader->samples,
	                          reader->is_cut, reader->options->modules,
	                          error);
}

static struct profile *
pprof_read(struct source *source, const struct read_options *options,
           struct error *error)
{
	struct reader reader = { .source = source, .options = options,
		.samples.name = source_name(source),
		.samples.positions = STACK_OFFSETS };
	struct profile *profile = NULL;

	if (read_source(&reader, error) == 0)
		profile = profile_new(error);
	if (profile != NULL && fill_profile(&reader, profile, error) != 0) {
		profile_free(profile);
		profile = NULL;
	}
	pprof_samples_free(&reader.samples);
	pprof_tables_free(&reader.tables);
	return profile;
}

/* ---- probe ---- */

/* Whether the field, of the outermost message, can be one of a profile. */
static bool
is_profile_field(const struct protobuf_field *field)
{
	enum { BYTES_FIELDS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 |
	       1 << 6 | 1 << 11, BYTES_OR_NUMBERS = 1 << 13, FIELDS_MAX = 15 };

	if (field->number == 0 || field->number > FIELDS_MAX)
		return false;
	if (BYTES_OR_NUMBERS >> field->number & 1)
		return true;
	return field->wire == (BYTES_FIELDS >> field->number & 1 ?
	                       PROTOBUF_BYTES : PROTOBUF_VARINT);
}

/* A sample type: two numbers, none where it has neither name nor unit. */
static bool
is_type(const struct protobuf_field *field)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	int found;

	while ((found = protobuf_next(&message, &part)) == PROTOBUF_FIELD)
		if (part.number > 2 || part.wire != PROTOBUF_VARINT)
			return false;
	return found == PROTOBUF_END;
}

/* A sample: locations, values and labels, and of values at least one. */
static bool
is_sample(const struct protobuf_field *field)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	bool has_value = false;
	int found;

	while ((found = protobuf_next(&message, &part)) == PROTOBUF_FIELD) {
		if (part.number > 3 || (part.wire != PROTOBUF_BYTES &&
		    (part.number == 3 || part.wire != PROTOBUF_VARINT)))
			return false;
		has_value |= part.number == 2;
	}
	return found == PROTOBUF_END && has_value;
}

/*
 * Of the fields at the front, all of which must be a profile's, one must be a
 * sample type; or a sample, where so many come first that no type is seen.
 * Types without name and unit are empty: two bytes, which other files have.
 */
static int
probe_fields(const unsigned char *head, size_t size)
{
	struct protobuf message = { head, head + size };
	struct protobuf_field field;
	bool has_type = false, has_sample = false;
	int found;

	while ((found = protobuf_next(&message, &field)) == PROTOBUF_FIELD) {
		if (!is_profile_field(&field))
			return PROBE_NO;
		if (field.number == PPROF_SAMPLE_TYPE) {
			if (!is_type(&field))
				return PROBE_NO;
			has_type |= field.value > 0;
		}
		if (field.number == PPROF_SAMPLE) {
			if (!is_sample(&field))
				return PROBE_NO;
			has_sample = true;
		}
	}
	if (found == PROTOBUF_MALFORMED)
		return PROBE_NO;
	return has_type ? PROBE_SURE : has_sample ? PROBE_MAYBE : PROBE_NO;
}

/* The head has no bytes behind it: what may be read beyond it is cut off. */
static int
pprof_probe(const void *head, size_t size)
{
	unsigned char *copy = calloc(1, size + PROTOBUF_PADDING);
	int answer;

	if (copy == NULL)
		return PROBE_NO;
	memcpy(copy, head, size);
	answer = probe_fields(copy, size);
	free(copy);
	return answer;
}

const struct format format_pprof = {
	.name = "pprof",
	.summary = "what go tool pprof reads (profile.proto), packed or not",
	.probe = pprof_probe,
	.read = pprof_read,
};
