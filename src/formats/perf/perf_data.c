/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_data.c -- what `perf record` writes, as a file or into a pipe.
 *
 * A file begins with a header and the events; records follow, and behind them
 * sections about files and machine.  In a pipe all is records.  Everything is
 * read once, from front to back (perf_session.h makes a profile of it).  A file
 * that is cut gives what comes before.
 * Source: linux 6.1, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/perf/perf_session.h"

static const char magic[] = "PERFILE2", swapped_magic[] = "2ELIFREP",
    first_magic[] = "PERFFILE";

enum {
	MAGIC_SIZE = 8,
	FILE_HEADER_SIZE = 104,
	PIPE_HEADER_SIZE = 16,
	SECTION_SIZE = 16,
	FRONT_MAX = 64 << 20,		/* events and their ids */
	FEATURE_MAX = 256 << 20,
};

struct extent {
	uint64_t offset, size;
};

struct perf_section {
	struct extent place;
	uint64_t feature;
};

struct reader {
	struct source *source;
	const struct read_options *options;
	struct perf_session *session;
	uint64_t offset;		/* of the bytes at hand */
	uint64_t data_end;		/* of the records */
	bool is_pipe;
	bool is_cut;
	unsigned char features[PERF_FEATURES / 8];	/* bit i: there is i */
};

static int
fail(const struct reader *reader, uint64_t offset, const char *what,
     struct error *error)
{
	return error_set(error, "%s: 0x%" PRIx64 ": %s",
	                 source_name(reader->source), offset, what);
}

static const unsigned char *
peek(struct reader *reader, size_t wanted, size_t *size, struct error *error)
{
	return (const unsigned char *)source_peek(reader->source, wanted,
	                                          size, error);
}

static void
skip(struct reader *reader, size_t n)
{
	source_skip(reader->source, n);
	reader->offset += n;
}

/*
 * Goes on to an offset that is not behind; where the input ends before, it is
 * cut.  0 or -1.
 */
static int
skip_to(struct reader *reader, uint64_t offset, struct error *error)
{
	while (reader->offset < offset) {
		uint64_t left = offset - reader->offset;
		size_t size;

		if (peek(reader, 1, &size, error) == NULL)
			return -1;
		if (size == 0) {
			reader->is_cut = true;
			return 0;
		}
		skip(reader, size < left ? size : (size_t)left);
	}
	return 0;
}

/* ---- the front of a file ---- */

static struct extent
take_section(struct bytes *in)
{
	struct extent section;

	section.offset = bytes_number(in, 8);
	section.size = bytes_number(in, 8);
	return section;
}

/* Ids of an event, among the front's bytes. */
static int
read_ids(struct reader *reader, const struct bytes *front,
         const struct extent *ids, uint32_t event, struct error *error)
{
	struct perf_events *events = perf_session_events(reader->session);
	struct bytes in = *front;

	in.offset = ids->offset <= in.size ? (size_t)ids->offset : in.size;
	for (uint64_t i = 0; i < ids->size / 8; i++) {
		uint64_t id = bytes_number(&in, 8);

		if (bytes_failed(&in))
			return fail(reader, ids->offset, "expected the ids "
			            "of an event", error);
		if (perf_events_add_id(events, id, event, error) != 0)
			return -1;
	}
	return 0;
}

static int
read_attrs(struct reader *reader, const struct bytes *front,
           const struct extent *attrs, uint64_t attr_size,
           struct error *error)
{
	struct perf_events *events = perf_session_events(reader->session);

	for (uint64_t i = 0; i < attrs->size / attr_size; i++) {
		uint64_t offset = attrs->offset + i * attr_size;
		struct bytes in = *front;
		struct error why = { 0 };
		const unsigned char *attr;
		struct extent ids;
		uint32_t event;

		in.offset = (size_t)offset;
		attr = bytes_take(&in, (size_t)attr_size - SECTION_SIZE);
		ids = take_section(&in);
		event = perf_events_add(events, attr,
		                        (size_t)attr_size - SECTION_SIZE,
		                        &why);
		if (event == UINT32_MAX)
			return fail(reader, offset, why.text, error);
		if (read_ids(reader, front, &ids, event, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether the events lie where they can be read, in front of the records. */
static bool
is_sound(const struct extent *attrs, uint64_t attr_size,
         const struct extent *data)
{
	return attr_size >= PERF_ATTR_SIZE_MIN + SECTION_SIZE &&
	    attr_size <= PERF_ATTR_SIZE_MAX &&
	    data->offset >= FILE_HEADER_SIZE && data->offset <= FRONT_MAX &&
	    attrs->offset >= FILE_HEADER_SIZE &&
	    attrs->offset <= data->offset &&
	    attrs->size <= data->offset - attrs->offset &&
	    data->size <= UINT64_MAX - data->offset;
}

static bool
has_feature(const struct reader *reader, size_t i)
{
	return (reader->features[i / 8] >> i % 8 & 1) != 0;
}

static int
read_file_header(struct reader *reader, struct bytes *header,
                 struct error *error)
{
	struct extent attrs, data;
	uint64_t attr_size = bytes_number(header, 8);
	const unsigned char *features, *bytes;
	struct bytes front;
	size_t size;

	attrs = take_section(header);
	data = take_section(header);
	take_section(header);
	features = bytes_take(header, sizeof reader->features);
	if (!is_sound(&attrs, attr_size, &data))
		return fail(reader, MAGIC_SIZE, "expected the header of a "
		            "perf.data file with its events in front", error);
	memcpy(reader->features, features, sizeof reader->features);
	if (has_feature(reader, PERF_FEATURE_DIRECTORY))
		return fail(reader, 0, "one file of a directory that `perf "
		            "record --threads` wrote, which cannot be read",
		            error);
	bytes = peek(reader, (size_t)data.offset, &size, error);
	if (bytes == NULL)
		return -1;
	if (size < data.offset)
		return fail(reader, size, "ends before its first record",
		            error);
	front = bytes_of(bytes, (size_t)data.offset);
	if (read_attrs(reader, &front, &attrs, attr_size, error) != 0)
		return -1;
	/* perf that was killed could not write how much there is. */
	reader->data_end = data.size > 0 ? data.offset + data.size :
	                   UINT64_MAX;
	skip(reader, (size_t)data.offset);
	return 0;
}

static int
read_header(struct reader *reader, struct error *error)
{
	size_t size;
	const unsigned char *bytes = peek(reader, FILE_HEADER_SIZE, &size,
	                                  error);
	struct bytes header;
	uint64_t header_size;

	if (bytes == NULL)
		return -1;
	header = bytes_of(bytes, size < FILE_HEADER_SIZE ? size :
	                  FILE_HEADER_SIZE);
	if (size >= MAGIC_SIZE &&
	    memcmp(bytes, swapped_magic, MAGIC_SIZE) == 0)
		return fail(reader, 0, "of a big-endian machine, which "
		            "cannot be read", error);
	if (size >= MAGIC_SIZE && memcmp(bytes, first_magic, MAGIC_SIZE) == 0)
		return fail(reader, 0, "as perf wrote it before Linux 3.4, "
		            "which cannot be read", error);
	bytes_take(&header, MAGIC_SIZE);
	header_size = bytes_number(&header, 8);
	reader->is_pipe = header_size == PIPE_HEADER_SIZE;
	if (bytes_failed(&header) ||
	    (!reader->is_pipe && (header_size != FILE_HEADER_SIZE ||
	                          size < FILE_HEADER_SIZE)))
		return fail(reader, MAGIC_SIZE, "expected the header of a "
		            "perf.data file", error);
	if (!reader->is_pipe)
		return read_file_header(reader, &header, error);
	reader->data_end = UINT64_MAX;
	skip(reader, PIPE_HEADER_SIZE);
	return 0;
}

/* ---- records ---- */

/* Bytes behind a record that belong to it and are none. */
static uint64_t
count_behind(const struct perf_record *record)
{
	struct bytes in = bytes_of(record->bytes, record->size);

	bytes_take(&in, PERF_HEADER_SIZE);
	if (record->type == PERF_AUXTRACE)
		return bytes_number(&in, 8);
	if (record->type == PERF_TRACING_DATA)
		return (bytes_number(&in, 4) + 7) & ~(uint64_t)7;
	return 0;
}

/*
 * Takes the whole records among bytes[size].  *wanted becomes how many bytes
 * the next look needs, *behind how many follow that are no records.
 */
static int
read_records(struct reader *reader, const unsigned char *bytes, size_t size,
             size_t *wanted, uint64_t *behind, struct error *error)
{
	uint64_t offset = reader->offset;
	size_t at = 0;

	*behind = 0;
	*wanted = PERF_HEADER_SIZE;
	while (size - at >= PERF_HEADER_SIZE && *behind == 0) {
		struct perf_record record = perf_record_at(bytes + at,
		                                           offset + at);

		if (record.size < PERF_HEADER_SIZE)
			return fail(reader, record.offset, "expected a "
			            "record of 8 bytes or more", error);
		if (record.size > size - at) {
			*wanted = record.size;
			break;
		}
		if (perf_session_record(reader->session, &record,
		                        error) != 0)
			return -1;
		at += record.size;
		*behind = count_behind(&record);
	}
	skip(reader, at);
	return progress_step(reader->options->progress,
	                     source_done(reader->source),
	                     source_size(reader->source), error);
}

/* All records, to their end or to where the input is cut. */
static int
read_data(struct reader *reader, struct error *error)
{
	size_t wanted = PERF_HEADER_SIZE, size;

	while (reader->offset < reader->data_end) {
		uint64_t left = reader->data_end - reader->offset, behind;
		const unsigned char *bytes = peek(reader, wanted, &size,
		                                  error);
		bool is_end = size < wanted;

		if (bytes == NULL)
			return -1;
		if (size > left)
			size = (size_t)left;
		if (read_records(reader, bytes, size, &wanted, &behind,
		                 error) != 0)
			return -1;
		if (behind > UINT64_MAX - reader->offset)
			return fail(reader, reader->offset, "a record of more "
			            "than 2^64 bytes", error);
		if (skip_to(reader, reader->offset + behind, error) != 0)
			return -1;
		if (reader->is_cut || (behind == 0 &&
		    (is_end || wanted > reader->data_end - reader->offset)))
			break;
	}
	if (peek(reader, 1, &size, error) == NULL)
		return -1;
	if (reader->data_end != UINT64_MAX ?
	    reader->offset < reader->data_end : size > 0)
		reader->is_cut = true;
	return 0;
}

/* ---- sections behind the records ---- */

static int
compare_sections(const void *left, const void *right)
{
	const struct perf_section *a = left, *b = right;

	return a->place.offset < b->place.offset ? -1 :
	       a->place.offset > b->place.offset;
}

/* Where the sections are: they stand in a table, one for each bit. */
static size_t
read_table(struct reader *reader, struct perf_section *sections,
           struct error *error)
{
	size_t n = 0, size, i = 0;
	const unsigned char *bytes = peek(reader,
	    PERF_FEATURES * SECTION_SIZE, &size, error);
	struct bytes in;

	if (bytes == NULL)
		return 0;
	in = bytes_of(bytes, size);
	for (; i < PERF_FEATURES; i++)
		if (has_feature(reader, i))
			sections[n++] = (struct perf_section){
				take_section(&in), i };
	skip(reader, in.offset);
	if (!bytes_failed(&in))
		return n;
	reader->is_cut = true;
	return 0;
}

static int
read_section(struct reader *reader, const struct perf_section *section,
             struct error *error)
{
	const unsigned char *bytes;
	size_t size;

	if (section->place.offset < reader->offset ||
	    section->place.size > FEATURE_MAX)
		return 0;		/* none that is used here */
	if (skip_to(reader, section->place.offset, error) != 0)
		return -1;
	bytes = peek(reader, (size_t)section->place.size, &size, error);
	if (bytes == NULL)
		return -1;
	if (size < section->place.size) {
		reader->is_cut = true;
		return 0;
	}
	return perf_session_feature(reader->session, section->feature, bytes,
	    (size_t)section->place.size, reader->offset, error);
}

static int
read_features(struct reader *reader, struct error *error)
{
	struct perf_section sections[PERF_FEATURES];
	size_t n = read_table(reader, sections, error);

	if (n > 0)
		qsort(sections, n, sizeof *sections, compare_sections);
	for (size_t i = 0; i < n && !reader->is_cut; i++)
		if (read_section(reader, &sections[i], error) != 0)
			return -1;
	return error->is_set ? -1 : 0;
}

/* ---- the whole ---- */

static int
read_source(struct reader *reader, struct profile *profile,
            struct error *error)
{
	if (read_header(reader, error) != 0 || read_data(reader, error) != 0)
		return -1;
	if (!reader->is_pipe && !reader->is_cut &&
	    reader->data_end != UINT64_MAX &&
	    read_features(reader, error) != 0)
		return -1;
	if (reader->is_cut &&
	    profile_warn(profile, error, "%s: 0x%" PRIx64 ": the input is cut "
	                 "off here; what came before was read",
	                 source_name(reader->source), reader->offset) != 0)
		return -1;
	return perf_session_finish(reader->session, error);
}

static struct profile *
perf_data_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct reader reader = { .source = source, .options = options };
	struct profile *profile = profile_new(error);

	if (profile == NULL)
		return NULL;
	reader.session = perf_session_new(source_name(source), profile,
	                                  options, error);
	if (reader.session == NULL ||
	    read_source(&reader, profile, error) != 0) {
		profile_free(profile);
		profile = NULL;
	}
	perf_session_free(reader.session);
	return profile;
}

static int
perf_data_probe(const void *head, size_t size)
{
	return size >= MAGIC_SIZE && (memcmp(head, magic, MAGIC_SIZE) == 0 ||
	    memcmp(head, swapped_magic, MAGIC_SIZE) == 0 ||
	    memcmp(head, first_magic, MAGIC_SIZE) == 0) ? PROBE_SURE :
	    PROBE_NO;
}

const struct format format_perf_data = {
	.name = "perf.data",
	.summary = "what `perf record` writes, to a file or a pipe",
	.probe = perf_data_probe,
	.read = perf_data_read,
};
