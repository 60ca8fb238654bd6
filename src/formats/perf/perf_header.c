/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_header.c -- what stands in front of the records of a perf.data file. */
#include <string.h>

#include "src/formats/perf/perf_input.h"

static const char magic[] = "PERFILE2", swapped_magic[] = "2ELIFREP",
    first_magic[] = "PERFFILE";

enum {
	MAGIC_SIZE = 8,
	FILE_HEADER_SIZE = 104,
	PIPE_HEADER_SIZE = 16,
	FRONT_MAX = 64 << 20,		/* events and their ids */
	STEP = 16 << 20,		/* bytes between looks for Ctrl-C */
};

/* A file that has its events at the end is held in memory up to there. */
#define WHOLE_MAX ((uint64_t)512 << 20)

/* Ids of an event, among the bytes up to the events' end. */
static int
read_ids(struct perf_input *input, const struct bytes *front,
         const struct perf_extent *ids, uint32_t event, struct error *error)
{
	struct perf_events *events = perf_session_events(input->session);
	struct bytes in = *front;

	in.offset = ids->offset <= in.size ? (size_t)ids->offset : in.size;
	for (uint64_t i = 0; i < ids->size / 8; i++) {
		uint64_t id = bytes_number(&in, 8);

		if (bytes_failed(&in))
			return perf_input_fail(input, ids->offset,
			    "expected the ids of an event", error);
		if (perf_events_add_id(events, id, event, error) != 0)
			return -1;
	}
	return 0;
}

static int
read_attrs(struct perf_input *input, const struct bytes *front,
           const struct perf_extent *attrs, uint64_t attr_size,
           struct error *error)
{
	struct perf_events *events = perf_session_events(input->session);

	for (uint64_t i = 0; i < attrs->size / attr_size; i++) {
		uint64_t offset = attrs->offset + i * attr_size;
		struct bytes in = *front;
		struct error why = { 0 };
		const unsigned char *attr;
		struct perf_extent ids;
		uint32_t event;

		in.offset = (size_t)offset;
		attr = bytes_take(&in, (size_t)attr_size - PERF_EXTENT_SIZE);
		ids = perf_take_extent(&in);
		event = perf_events_add(events, attr,
		                        (size_t)attr_size - PERF_EXTENT_SIZE,
		                        &why);
		if (event == UINT32_MAX)
			return perf_input_fail(input, offset, why.text, error);
		if (read_ids(input, front, &ids, event, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether a part of the file does not reach beyond 2^64. */
static bool
is_part(const struct perf_extent *part)
{
	return part->size <= UINT64_MAX - part->offset;
}

/*
 * How many bytes must be read to have the events: up to the first record, or if
 * perf inject wrote them after the records, to their end.  0: they cannot be
 * read.
 */
static uint64_t
end_of_events(const struct perf_extent *attrs, uint64_t attr_size,
              const struct perf_extent *data)
{
	if (attr_size < PERF_ATTR_SIZE_MIN + PERF_EXTENT_SIZE ||
	    attr_size > PERF_ATTR_SIZE_MAX || !is_part(attrs) ||
	    !is_part(data) || data->offset < FILE_HEADER_SIZE ||
	    data->offset > FRONT_MAX || attrs->offset < FILE_HEADER_SIZE)
		return 0;
	if (attrs->offset + attrs->size <= data->offset)
		return data->offset;
	return data->size > 0 && attrs->size <= FRONT_MAX &&
	    attrs->offset >= data->offset + data->size ?
	    attrs->offset + attrs->size : 0;
}

/* As perf_input_peek, of as much that one may want to interrupt it. */
static const unsigned char *
peek_far(struct perf_input *input, uint64_t wanted, size_t *size,
         struct error *error)
{
	for (uint64_t n = STEP; n < wanted; n += STEP)
		if (perf_input_peek(input, (size_t)n, size, error) == NULL ||
		    progress_step(input->options->progress,
		                  source_done(input->source),
		                  source_size(input->source), error) != 0)
			return NULL;
	return perf_input_peek(input, (size_t)wanted, size, error);
}

static int
read_file_header(struct perf_input *input, struct bytes *header,
                 struct error *error)
{
	struct perf_extent attrs, data;
	uint64_t attr_size = bytes_number(header, 8);
	const unsigned char *features, *bytes;
	struct bytes front;
	uint64_t end;
	size_t size;

	attrs = perf_take_extent(header);
	data = perf_take_extent(header);
	perf_take_extent(header);
	features = bytes_take(header, sizeof input->features);
	end = end_of_events(&attrs, attr_size, &data);
	if (end == 0)
		return perf_input_fail(input, MAGIC_SIZE, "expected the "
		    "header of a perf.data file", error);
	if (end > WHOLE_MAX)
		return perf_input_fail(input, MAGIC_SIZE, "the file has its "
		    "events after more than 512 MiB; have `perf inject` read "
		    "and write a file, not a pipe", error);
	memcpy(input->features, features, sizeof input->features);
	bytes = peek_far(input, end, &size, error);
	if (bytes == NULL)
		return -1;
	if (size < end)
		return perf_input_fail(input, size, end == data.offset ?
		    "ends before its first record" :
		    "ends before its events, which stand at the end", error);
	front = bytes_of(bytes, (size_t)end);
	if (read_attrs(input, &front, &attrs, attr_size, error) != 0)
		return -1;
	/* perf that was killed could not write how much there is. */
	input->data_end = data.size > 0 ? data.offset + data.size :
	                  UINT64_MAX;
	perf_input_skip(input, (size_t)data.offset);
	return 0;
}

int
perf_header_read(struct perf_input *input, struct error *error)
{
	size_t size;
	const unsigned char *bytes = perf_input_peek(input, FILE_HEADER_SIZE,
	                                             &size, error);
	struct bytes header;
	uint64_t header_size;

	if (bytes == NULL)
		return -1;
	header = bytes_of(bytes, size < FILE_HEADER_SIZE ? size :
	                  FILE_HEADER_SIZE);
	if (size >= MAGIC_SIZE &&
	    memcmp(bytes, swapped_magic, MAGIC_SIZE) == 0)
		return perf_input_fail(input, 0, "of a big-endian machine, "
		                       "which cannot be read", error);
	if (size >= MAGIC_SIZE && memcmp(bytes, first_magic, MAGIC_SIZE) == 0)
		return perf_input_fail(input, 0, "as perf wrote it before "
		    "Linux 3.4, which cannot be read", error);
	bytes_take(&header, MAGIC_SIZE);
	header_size = bytes_number(&header, 8);
	input->is_pipe = header_size == PIPE_HEADER_SIZE;
	if (bytes_failed(&header) ||
	    (!input->is_pipe && (header_size != FILE_HEADER_SIZE ||
	                         size < FILE_HEADER_SIZE)))
		return perf_input_fail(input, MAGIC_SIZE, "expected the "
		                       "header of a perf.data file", error);
	if (!input->is_pipe)
		return read_file_header(input, &header, error);
	input->data_end = UINT64_MAX;
	perf_input_skip(input, PIPE_HEADER_SIZE);
	return 0;
}

bool
perf_header_is_one(const void *head, size_t size)
{
	return size >= MAGIC_SIZE && (memcmp(head, magic, MAGIC_SIZE) == 0 ||
	    memcmp(head, swapped_magic, MAGIC_SIZE) == 0 ||
	    memcmp(head, first_magic, MAGIC_SIZE) == 0);
}
