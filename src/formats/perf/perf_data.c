/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_data.c -- what `perf record` writes, as a file or into a pipe.
 *
 * A file begins with a header and the events; records follow, and behind them
 * sections about files and machine.  In a pipe all is records.  Everything is
 * read once, from front to back (perf_session.h makes a profile of it).  A file
 * that is cut gives what comes before.  `perf record --threads` writes a
 * directory: such a file, "data", and the records of each processor beside it,
 * in "data.0" and so on.
 * Source: linux 6.1, tools/perf/Documentation/perf.data-file-format.txt.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/formats/perf/perf_input.h"
#include "src/formats/perf/perf_unpacker.h"

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
read_records(struct perf_input *input, const unsigned char *bytes, size_t size,
             size_t *wanted, uint64_t *behind, struct error *error)
{
	uint64_t offset = input->offset;
	size_t at = 0;

	*behind = 0;
	*wanted = PERF_HEADER_SIZE;
	while (size - at >= PERF_HEADER_SIZE && *behind == 0) {
		struct perf_record record = perf_record_at(bytes + at,
		                                           offset + at);

		if (record.type == PERF_COMPRESSED2) {
			if (size - at < PERF_PACKED_HEADER_SIZE) {
				*wanted = PERF_PACKED_HEADER_SIZE;
				break;
			}
			record.size = perf_unpacker_size(&record);
		}
		if (record.size < PERF_HEADER_SIZE)
			return perf_input_fail(input, record.offset,
			    "expected a record of 8 bytes or more", error);
		if (record.size > size - at) {
			*wanted = record.size;
			break;
		}
		if (perf_session_record(input->session, &record,
		                        error) != 0)
			return -1;
		at += record.size;
		*behind = count_behind(&record);
	}
	perf_input_skip(input, at);
	return progress_step(input->options->progress,
	                     source_done(input->source),
	                     source_size(input->source), error);
}

/* All records, to their end or to where the input is cut. */
static int
read_data(struct perf_input *input, struct error *error)
{
	size_t wanted = PERF_HEADER_SIZE, size;

	while (input->offset < input->data_end) {
		uint64_t left = input->data_end - input->offset, behind;
		const unsigned char *bytes = perf_input_peek(input, wanted,
		                                             &size, error);
		bool is_end = size < wanted;

		if (bytes == NULL)
			return -1;
		if (size > left)
			size = (size_t)left;
		if (read_records(input, bytes, size, &wanted, &behind,
		                 error) != 0)
			return -1;
		if (behind > UINT64_MAX - input->offset)
			return perf_input_fail(input, input->offset,
			    "a record of more than 2^64 bytes", error);
		if (perf_input_skip_to(input, input->offset + behind,
		                       error) != 0)
			return -1;
		if (input->is_cut || (behind == 0 &&
		    (is_end || wanted > input->data_end - input->offset)))
			break;
	}
	if (perf_input_peek(input, 1, &size, error) == NULL)
		return -1;
	if (input->data_end != UINT64_MAX ?
	    input->offset < input->data_end : size > 0)
		input->is_cut = true;
	return 0;
}

/* ---- the files of a directory ---- */

static int
warn_if_cut(const struct perf_input *input, struct profile *profile,
            struct error *error)
{
	if (!input->is_cut)
		return 0;
	return profile_warn(profile, error, "%s: 0x%" PRIx64 ": the input is "
	                    "cut off here; what came before was read",
	                    source_name(input->source), input->offset);
}

static int
read_records_of(const struct perf_input *main, const char *path,
                struct profile *profile, struct error *error)
{
	struct perf_input input = { .options = main->options,
		.session = main->session, .data_end = UINT64_MAX };
	struct stat status;
	int result = -1;

	/* To open a pipe would wait for whoever writes into it. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return error_set(error, "%s: not a regular file", path);
	input.source = source_open(path, error);
	if (input.source == NULL)
		return -1;
	if (perf_session_next_file(input.session, path, error) == 0 &&
	    read_data(&input, error) == 0 &&
	    warn_if_cut(&input, profile, error) == 0)
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

/* Reads the records beside a file that is named ".../data". */
static int
read_directory(const struct perf_input *main, struct profile *profile,
               struct error *error)
{
	const char *path = source_name(main->source);
	const char *base = strrchr(path, '/');
	uint32_t n = 0, n_parts;
	int result = 0;

	base = base != NULL ? base + 1 : path;
	while (result == 0 && strcmp(base, "data") == 0) {
		char *name;

		if (asprintf(&name, "%s.%" PRIu32, path, n) < 0)
			return error_out_of_memory(error);
		if (access(name, F_OK) != 0) {
			free(name);
			break;
		}
		n++;
		result = read_records_of(main, name, profile, error);
		free(name);
	}
	if (result == 0 && n == 0)
		return perf_input_fail(main, 0, "one file of a directory that "
		    "`perf record --threads` wrote; data.0 is not beside it",
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

/* ---- the whole ---- */

static int
read_source(struct perf_input *input, struct profile *profile,
            struct error *error)
{
	if (perf_header_read(input, error) != 0 ||
	    read_data(input, error) != 0)
		return -1;
	if (perf_input_has_feature(input, PERF_FEATURE_DIRECTORY) &&
	    read_directory(input, profile, error) != 0)
		return -1;
	if (!input->is_pipe && !input->is_cut &&
	    input->data_end != UINT64_MAX &&
	    perf_sections_read(input, error) != 0)
		return -1;
	if (warn_if_cut(input, profile, error) != 0)
		return -1;
	return perf_session_finish(input->session, error);
}

static struct profile *
perf_data_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct perf_input input = { .source = source, .options = options };
	struct reader reader;
	int result = reader_begin(&reader, source, options, READER_OFFSETS,
	                          error);

	if (result == 0)
		input.session = perf_session_new(&reader, error);
	if (input.session == NULL ||
	    read_source(&input, reader.profile, error) != 0)
		result = -1;
	perf_session_free(input.session);
	return reader_end(&reader, result);
}

static int
perf_data_probe(const void *head, size_t size)
{
	return perf_header_is_one(head, size) ? PROBE_SURE : PROBE_NO;
}

const struct format format_perf_data = {
	.name = "perf.data",
	.summary = "what `perf record` writes, to a file or a pipe",
	.probe = perf_data_probe,
	.read = perf_data_read,
};
