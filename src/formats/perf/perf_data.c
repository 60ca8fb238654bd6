/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_data.c -- what `perf record` writes, as a file or into a pipe.
 *
 * A file is a header, the events, the records and, after these, sections about
 * the recorded files and the machine ("features").  In a pipe, events and
 * features are records, too.  The input is read once, from front to back; what
 * the records mean is perf_data.h's subject.  A file that is cut short
 * yields what comes before its end.
 *
 * `perf record --threads` writes a directory: such a file, "data", and next to
 * it the records of each processor, in "data.0" and so on.
 * Source: linux 6.1, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/formats/perf/perf_data.h"
#include "src/formats/reader.h"

static const char magic[] = "PERFILE2", swapped_magic[] = "2ELIFREP",
    first_magic[] = "PERFFILE";

enum {
	MAGIC_SIZE = 8,
	FILE_HEADER_SIZE = 104,
	PIPE_HEADER_SIZE = 16,
	EXTENT_SIZE = 16,
	FRONT_MAX = 64 << 20,		/* events and their ids */
	STEP = 16 << 20,		/* bytes between checks for Ctrl-C */
	SECTION_MAX = 256 << 20,
};

/* A file that has its events at the end is held in memory up to there. */
#define WHOLE_MAX ((uint64_t)512 << 20)

struct perf_data_input {
	struct source *source;
	const struct read_options *options;
	struct perf_session *session;
	uint64_t offset;		/* in the file, of the next byte */
	uint64_t data_end;		/* of the records */
	bool is_pipe;
	bool is_cut_short;
	unsigned char features[PERF_FEATURES / 8];	/* bit i: there is i */
};

/* A part of the file. */
struct perf_data_extent {
	uint64_t offset, size;
};

static struct perf_data_extent
take_extent(struct bytes *in)
{
	struct perf_data_extent extent;

	extent.offset = bytes_number(in, 8);
	extent.size = bytes_number(in, 8);
	return extent;
}

static int
perf_data_fail(const struct perf_data_input *input, uint64_t offset,
               const char *what, struct error *error)
{
	return error_set(error, "%s: 0x%" PRIx64 ": %s",
	                 source_name(input->source), offset, what);
}

static const unsigned char *
peek(struct perf_data_input *input, size_t wanted, size_t *size,
     struct error *error)
{
	return (const unsigned char *)source_peek(input->source, wanted,
	                                          size, error);
}

static void
skip(struct perf_data_input *input, size_t n)
{
	source_skip(input->source, n);
	input->offset += n;
}

/* Skips up to an offset that lies ahead, or to the end of the input. */
static int
skip_to(struct perf_data_input *input, uint64_t offset, struct error *error)
{
	while (input->offset < offset) {
		uint64_t left = offset - input->offset;
		size_t size;

		if (peek(input, 1, &size, error) == NULL)
			return -1;
		if (size == 0) {
			input->is_cut_short = true;
			return 0;
		}
		skip(input, size < left ? size : (size_t)left);
	}
	return 0;
}

static bool
has_feature(const struct perf_data_input *input, size_t feature)
{
	return (input->features[feature / 8] >> feature % 8 & 1) != 0;
}

/* Reports progress and notices Ctrl-C. */
static int
perf_data_step(const struct perf_data_input *input, struct error *error)
{
	return progress_step(input->options->progress,
	                     source_done(input->source),
	                     source_size(input->source), error);
}

/* ---- the header and the events ---- */

/*
 * Each event is followed by the extent of its ids, which lie in `front`, too.
 */
static int
perf_data_read_events(struct perf_data_input *input, const struct bytes *front,
                      const struct perf_data_extent *attrs, uint64_t attr_size,
                      struct error *error)
{
	struct perf_events *events = perf_session_events(input->session);

	for (uint64_t i = 0; i < attrs->size / attr_size; i++) {
		uint64_t offset = attrs->offset + i * attr_size;
		size_t attr_bytes = (size_t)attr_size - EXTENT_SIZE;
		struct bytes in = *front;
		struct error why = { 0 };
		const unsigned char *attr;
		struct perf_data_extent ids;
		uint32_t event;

		in.offset = (size_t)offset;
		attr = bytes_take(&in, attr_bytes);
		ids = take_extent(&in);
		event = perf_events_add(events, attr, attr_bytes, &why);
		if (event == UINT32_MAX)
			return why.is_out_of_memory ? error_pass(error, &why) :
			       perf_data_fail(input, offset, why.text, error);
		in = *front;
		in.offset = ids.offset <= in.size ? (size_t)ids.offset :
		            in.size;
		for (uint64_t j = 0; j < ids.size / 8; j++) {
			uint64_t id = bytes_number(&in, 8);

			if (bytes_failed(&in))
				return perf_data_fail(input, ids.offset,
				    "expected the ids of an event", error);
			if (perf_events_add_id(events, id, event, error) != 0)
				return -1;
		}
	}
	return 0;
}

/* Whether an extent ends below 2^64. */
static bool
is_valid(const struct perf_data_extent *extent)
{
	return extent->size <= UINT64_MAX - extent->offset;
}

/*
 * How many bytes must be read to have the events: up to the first record; or,
 * where perf inject wrote the events after the records, to their end.  0: they
 * cannot be read.
 */
static uint64_t
end_of_events(const struct perf_data_extent *attrs, uint64_t attr_size,
              const struct perf_data_extent *data)
{
	if (attr_size < PERF_ATTR_SIZE_MIN + EXTENT_SIZE ||
	    attr_size > PERF_ATTR_SIZE_MAX || !is_valid(attrs) ||
	    !is_valid(data) || data->offset < FILE_HEADER_SIZE ||
	    data->offset > FRONT_MAX || attrs->offset < FILE_HEADER_SIZE)
		return 0;
	if (attrs->offset + attrs->size <= data->offset)
		return data->offset;
	return data->size > 0 && attrs->size <= FRONT_MAX &&
	    attrs->offset >= data->offset + data->size ?
	    attrs->offset + attrs->size : 0;
}

static int
perf_data_read_header(struct perf_data_input *input, struct error *error)
{
	size_t size;
	const unsigned char *bytes = peek(input, FILE_HEADER_SIZE, &size,
	                                  error);
	struct bytes header;
	uint64_t header_size;
	struct perf_data_extent attrs, data;
	uint64_t attr_size;
	const unsigned char *features;
	struct bytes front;
	uint64_t end;

	if (bytes == NULL)
		return -1;
	header = bytes_of(bytes, size < FILE_HEADER_SIZE ? size :
	                  FILE_HEADER_SIZE);
	if (size >= MAGIC_SIZE &&
	    memcmp(bytes, swapped_magic, MAGIC_SIZE) == 0)
		return perf_data_fail(input, 0,
		                      "of a big-endian machine, which cannot "
		                      "be read",
		                      error);
	if (size >= MAGIC_SIZE && memcmp(bytes, first_magic, MAGIC_SIZE) == 0)
		return perf_data_fail(input, 0,
		                      "as perf wrote it before Linux 3.4, "
		                      "which cannot be read",
		                      error);
	bytes_take(&header, MAGIC_SIZE);
	header_size = bytes_number(&header, 8);
	input->is_pipe = header_size == PIPE_HEADER_SIZE;
	if (bytes_failed(&header) ||
	    (!input->is_pipe && (header_size != FILE_HEADER_SIZE ||
	                         size < FILE_HEADER_SIZE)))
		return perf_data_fail(input, MAGIC_SIZE,
		    "expected the header of a perf.data file", error);
	if (input->is_pipe) {
		input->data_end = UINT64_MAX;
		skip(input, PIPE_HEADER_SIZE);
		return 0;
	}
	attr_size = bytes_number(&header, 8);
	attrs = take_extent(&header);
	data = take_extent(&header);
	take_extent(&header);
	features = bytes_take(&header, sizeof input->features);
	end = end_of_events(&attrs, attr_size, &data);
	if (end == 0)
		return perf_data_fail(input, MAGIC_SIZE,
		    "expected the header of a perf.data file", error);
	if (end > WHOLE_MAX)
		return perf_data_fail(
		    input, MAGIC_SIZE,
		    "the file has its events after "
		    "more than 512 MiB; have `perf inject` read and write a "
		    "file, not a pipe",
		    error);
	memcpy(input->features, features, sizeof input->features);
	for (uint64_t n = STEP; n < end; n += STEP)
		if (peek(input, (size_t)n, &size, error) == NULL ||
		    perf_data_step(input, error) != 0)
			return -1;
	bytes = peek(input, (size_t)end, &size, error);
	if (bytes == NULL)
		return -1;
	if (size < end)
		return perf_data_fail(input, size, end == data.offset ?
		    "ends before its first record" :
		    "ends before its events, which are at the end", error);
	front = bytes_of(bytes, (size_t)end);
	if (perf_data_read_events(input, &front, &attrs, attr_size, error) != 0)
		return -1;
	/* A perf that was killed could not write the size. */
	input->data_end = data.size > 0 ? data.offset + data.size : UINT64_MAX;
	skip(input, (size_t)data.offset);
	return 0;
}

/* ---- records ---- */

/* How many bytes follow a record that belong to it but are no record. */
static uint64_t
size_of_payload(const struct perf_record *record)
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
 * Reads all records, to their end or to where the input is cut short: each time
 * the complete ones among the bytes at hand, up to one with a payload.
 */
static int
perf_data_read_data(struct perf_data_input *input, struct error *error)
{
	size_t wanted = PERF_HEADER_SIZE, size;

	while (input->offset < input->data_end) {
		uint64_t left = input->data_end - input->offset, payload;
		const unsigned char *bytes = peek(input, wanted, &size, error);
		bool is_end = size < wanted;
		uint64_t offset;
		size_t at = 0;

		if (bytes == NULL)
			return -1;
		if (size > left)
			size = (size_t)left;
		offset = input->offset;
		payload = 0;
		wanted = PERF_HEADER_SIZE;
		while (size - at >= PERF_HEADER_SIZE && payload == 0) {
			struct perf_record record = perf_record_at(bytes + at,
			                                           offset + at);

			if (input->is_pipe &&
			    memcmp(bytes + at, magic, MAGIC_SIZE) == 0) {
				input->data_end = offset + at;
				break;
			}
			if (record.type == PERF_COMPRESSED2) {
				if (size - at < PERF_PACKED_HEADER_SIZE) {
					wanted = PERF_PACKED_HEADER_SIZE;
					break;
				}
				record.size = perf_packed_record_size(&record);
			}
			if (record.size < PERF_HEADER_SIZE)
				return perf_data_fail(input, record.offset,
				    "expected a record of 8 bytes or more",
				    error);
			if (record.size > size - at) {
				wanted = record.size;
				break;
			}
			if (perf_session_record(input->session, &record,
			                        error) != 0)
				return -1;
			if (source_is_packed(input->source) &&
			    perf_session_check_queue(input->session, &record,
			        source_done(input->source), error) != 0)
				return -1;
			source_discount(input->source, record.size -
			              perf_session_work(input->session,
			                                &record));
			at += record.size;
			payload = size_of_payload(&record);
		}
		skip(input, at);
		if (perf_data_step(input, error) != 0)
			return -1;
		if (payload > UINT64_MAX - input->offset)
			return perf_data_fail(input, input->offset,
			    "a record of more than 2^64 bytes", error);
		if (skip_to(input, input->offset + payload, error) != 0)
			return -1;
		if (input->is_cut_short || (payload == 0 &&
		    (is_end || wanted > input->data_end - input->offset)))
			break;
	}
	if (peek(input, 1, &size, error) == NULL)
		return -1;
	if (input->data_end != UINT64_MAX ?
	    input->offset < input->data_end : size > 0)
		input->is_cut_short = true;
	return 0;
}

/* ---- the files of a directory ---- */

static int
warn_if_cut_short(const struct perf_data_input *input, struct profile *profile,
            struct error *error)
{
	if (!input->is_cut_short)
		return 0;
	profile->is_cut_short = true;
	return profile_warn(profile, error, "%s: 0x%" PRIx64 ": the input is "
	                    "cut short here; what came before was read",
	                    source_name(input->source), input->offset);
}

static int
perf_data_read_part(const struct perf_data_input *main, const char *path,
                    struct profile *profile, struct error *error)
{
	struct perf_data_input input = { .options = main->options,
		.session = main->session, .data_end = UINT64_MAX };
	struct stat status;
	int result = -1;

	/* Opening a pipe would wait for someone to write into it. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return error_set(error, "%s: not a regular file", path);
	input.source = source_open(path, error);
	if (input.source == NULL)
		return -1;
	if (perf_session_next_file(input.session, path, error) == 0 &&
	    perf_data_read_data(&input, error) == 0 &&
	    warn_if_cut_short(&input, profile, error) == 0)
		result = 0;
	source_close(input.source);
	return result;
}

/* How many files of the directory are named "data." and a number. */
static uint32_t
count_parts(const char *path, const char *base)
{
	char *place = base == path ? strdup(".") :
	              strndup(path, (size_t)(base - path));
	DIR *directory = place != NULL ? opendir(place) : NULL;
	const struct dirent *entry;
	uint32_t n = 0;

	free(place);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (strncmp(entry->d_name, "data.", 5) == 0 &&
		    entry->d_name[5] != '\0' &&
		    entry->d_name[5 + strspn(entry->d_name + 5,
		                             "0123456789")] == '\0')
			n++;
	if (directory != NULL)
		closedir(directory);
	return n;
}

/* Reads the files next to one that is named ".../data". */
static int
read_directory(const struct perf_data_input *main, struct profile *profile,
               struct error *error)
{
	const char *path = source_name(main->source);
	const char *base = last_component(path);
	uint32_t n = 0, n_parts;
	int result = 0;

	while (result == 0 && strcmp(base, "data") == 0) {
		char *name;

		if (asprintf(&name, "%s.%" PRIu32, path, n) < 0)
			return error_out_of_memory(error);
		if (access(name, F_OK) != 0) {
			free(name);
			break;
		}
		n++;
		result = perf_data_read_part(main, name, profile, error);
		free(name);
	}
	if (result == 0 && n == 0)
		return perf_data_fail(
		    main, 0,
		    "one file of a directory that `perf "
		    "record --threads` wrote; data.0 is not beside it",
		    error);
	if (result != 0)
		return -1;
	n_parts = count_parts(path, base);
	if (n_parts > n && profile_warn(profile, error, "%s.%" PRIu32 " is "
	        "missing; files with higher numbers that were not read: %"
	        PRIu32, path, n, n_parts - n) != 0)
		return -1;
	return perf_session_next_file(main->session, path, error);
}

/* ---- the sections after the records ---- */

struct feature_section {
	struct perf_data_extent place;
	uint64_t feature;
};

static int
compare_sections(const void *left, const void *right)
{
	const struct feature_section *a = left, *b = right;

	return a->place.offset < b->place.offset ? -1 :
	       a->place.offset > b->place.offset;
}

/*
 * A table has the place of each feature that the header announces.  Then the
 * file ends.
 */
static int
read_feature_sections(struct perf_data_input *input, struct error *error)
{
	struct feature_section sections[PERF_FEATURES];
	size_t n = 0, size;
	uint64_t end = 0;
	const unsigned char *bytes = peek(input, PERF_FEATURES * EXTENT_SIZE,
	                                  &size, error);
	struct bytes in;

	if (bytes == NULL)
		return -1;
	in = bytes_of(bytes, size);
	for (size_t i = 0; i < PERF_FEATURES; i++)
		if (has_feature(input, i))
			sections[n++] = (struct feature_section){
				take_extent(&in), i };
	skip(input, in.offset);
	if (bytes_failed(&in)) {
		input->is_cut_short = true;
		return 0;
	}
	if (n > 0)
		qsort(sections, n, sizeof *sections, compare_sections);
	for (size_t i = 0; i < n && !input->is_cut_short; i++) {
		const struct perf_data_extent *place = &sections[i].place;

		if (place->offset < input->offset ||
		    place->size > SECTION_MAX)
			continue;	/* none of those that we use */
		if (skip_to(input, place->offset, error) != 0)
			return -1;
		bytes = peek(input, (size_t)place->size, &size, error);
		if (bytes == NULL)
			return -1;
		end = place->offset + place->size;
		if (size < place->size)
			input->is_cut_short = true;
		else if (perf_session_feature(input->session,
		             sections[i].feature, bytes, (size_t)place->size,
		             input->offset, error) != 0)
			return -1;
	}
	return input->is_cut_short ? 0 : skip_to(input, end, error);
}

/* Says so if another file was appended: `cat a.data b.data`. */
static int
warn_if_appended(struct perf_data_input *input, struct profile *profile,
                 struct error *error)
{
	size_t size;
	const unsigned char *bytes = peek(input, MAGIC_SIZE, &size, error);

	if (bytes == NULL)
		return -1;
	if (size < MAGIC_SIZE || memcmp(bytes, magic, MAGIC_SIZE) != 0)
		return 0;
	return profile_warn(profile, error, "%s: 0x%" PRIx64 ": another "
	                    "perf.data begins here, and is not read; name "
	                    "each as a file of its own",
	                    source_name(input->source), input->offset);
}

/* ---- the whole ---- */

static int
perf_data_read_source(struct perf_data_input *input, struct profile *profile,
                      struct error *error)
{
	if (perf_data_read_header(input, error) != 0 ||
	    perf_data_read_data(input, error) != 0)
		return -1;
	if (has_feature(input, PERF_FEATURE_DIRECTORY) &&
	    read_directory(input, profile, error) != 0)
		return -1;
	if (!input->is_cut_short && input->data_end != UINT64_MAX &&
	    ((!input->is_pipe && read_feature_sections(input, error) != 0) ||
	     warn_if_appended(input, profile, error) != 0))
		return -1;
	if (warn_if_cut_short(input, profile, error) != 0)
		return -1;
	return perf_session_finish(input->session, error);
}

static struct profile *
perf_data_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct perf_data_input input = { .source = source, .options = options };
	struct reader reader;
	int result = reader_begin(&reader, source, options, READER_OFFSETS,
	                          error);

	if (result == 0)
		input.session = perf_session_new(&reader, error);
	if (input.session == NULL ||
	    perf_data_read_source(&input, reader.profile, error) != 0)
		result = -1;
	perf_session_free(input.session);
	return reader_end(&reader, result);
}

/* Also files of kinds that are not read: perf_data_read_header says why. */
static int
perf_data_probe(const void *head, size_t size)
{
	return size >= MAGIC_SIZE && (memcmp(head, magic, MAGIC_SIZE) == 0 ||
	    memcmp(head, swapped_magic, MAGIC_SIZE) == 0 ||
	    memcmp(head, first_magic, MAGIC_SIZE) == 0) ?
	    PROBE_SURE : PROBE_NO;
}

const struct format format_perf_data = {
	.name = "perf.data",
	.summary = "what `perf record` writes, to a file or a pipe",
	.probe = perf_data_probe,
	.read = perf_data_read,
};
