/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names_writer.c -- writes a file of names and lines of addresses.
 *
 * All records are made before the first byte is written, since the header has
 * the length of the file.  Each type is one chunk.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpprofdata.h"
#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"

struct names_chunks {
	const struct names_file *names;	/* only while the records are made */
	uint64_t first_string;
	struct text_buffer strings;
	uint32_t *string_of;		/* [names_count]; 0: not entered */
	uint32_t *sorted;		/* frames to keep, by module (those
					 * without one last) and address */
	size_t n_sorted;
	/* Records. */
	struct text_buffer modules, addresses, locations, processes, origins;
	struct names *origin_numbers;	/* by their records */
	uint64_t n_addresses, n_locations;
	bool is_too_large;		/* for 32-bit numbers */
};

static uint32_t
names_writer_add_string(struct names_chunks *writer, const char *text,
                        size_t length)
{
	uint64_t number = writer->first_string + writer->strings.length;

	if (length == 0)
		return 0;
	if (number + length >= UINT32_MAX) {
		writer->is_too_large = true;
		return 0;
	}
	/* Strings end at their first NUL. */
	text_add(&writer->strings, text, strnlen(text, length));
	text_add_char(&writer->strings, '\0');
	return (uint32_t)number;
}

/* Whether memory was short, so that the rest need not be made. */
static bool
names_writer_has_failed(const struct names_chunks *writer)
{
	return writer->strings.failed || writer->modules.failed ||
	    writer->addresses.failed || writer->locations.failed ||
	    writer->processes.failed || writer->origins.failed;
}

static uint32_t
names_writer_add_name(struct names_chunks *writer, uint32_t name)
{
	const struct names *names = writer->names->profile->names;

	if (name == NO_NAME)
		return 0;
	if (writer->string_of[name] == 0)
		writer->string_of[name] = names_writer_add_string(writer,
		    names_text(names, name), names_length(names, name));
	return writer->string_of[name];
}

/* The address under which the frame is kept. */
static uint64_t
address_of(const struct names_file *names, uint32_t frame)
{
	return names->addresses != NULL ? names->addresses[frame] :
	    names->profile->frames[frame].address;
}

/* 1 + the number of a location's origin, which is added if new; 0: none. */
static uint32_t
names_writer_add_origin(struct names_chunks *writer,
                        const struct location *location)
{
	const struct cpprofdata_named_origin record = {
		.linkage = htole32(names_writer_add_name(writer,
		                                         location->linkage)),
		.start_line = htole32(location->start_line),
		.discriminator = htole32(location->discriminator),
	};
	uint32_t n = names_count(writer->origin_numbers), number;
	struct error error = { 0 };

	if (record.linkage == 0 && record.start_line == 0 &&
	    record.discriminator == 0)
		return 0;
	number = names_add(writer->origin_numbers, (const char *)&record,
	                   sizeof record, &error);
	if (number == NO_NAME)
		writer->origins.failed = true;
	else if (number == n)
		text_add(&writer->origins, (const char *)&record,
		         sizeof record);
	return number + 1;
}

static void
names_writer_add_location(struct names_chunks *writer, uint32_t function,
                          const struct location *location)
{
	struct cpprofdata_named_location record = {
		.line = htole32(location->line),
	};

	record.file = htole32(names_writer_add_name(writer, location->file));
	record.function = htole32(names_writer_add_name(writer, function));
	record.origin = htole32(names_writer_add_origin(writer, location));
	text_add(&writer->locations, (const char *)&record, sizeof record);
	writer->n_locations++;
}

/*
 * If the name is not a symbol's, the module's file may still have one.  Of a
 * long chain of calls only the outer ones are kept.
 */
static void
names_writer_add_address(struct names_chunks *writer, uint32_t number,
                         bool lines_were_read)
{
	const struct names_file *names = writer->names;
	const struct frame *frame = &names->profile->frames[number];
	const struct location *locations =
	    &names->profile->locations[frame->first_location];
	struct cpprofdata_named_address record = {
		.offset = htole64(address_of(names, number)),
		.function = htole32(names_writer_add_name(writer,
		    locations[0].function)),
		.in_function = htole32(frame->function_offset),
		.first_location = htole32((uint32_t)writer->n_locations),
	};
	/* From debug information, or from another format. */
	bool has_lines = frame->has_debug_lines || (names->keeps_lines &&
	    (frame->n_locations > 1 || locations[0].file != NO_NAME ||
	     locations[0].line != 0));
	uint32_t flags = 0, n = 0;

	if (!frame->is_made_up)
		flags |= CPPROFDATA_NAMED_SYMBOL;
	if (has_lines || lines_were_read)
		flags |= CPPROFDATA_NAMED_LINES;
	if (has_lines && !frame->has_debug_lines)
		flags |= CPPROFDATA_NAMED_FOREIGN;
	if (frame->is_interpreted)
		flags |= CPPROFDATA_NAMED_INTERPRETED;
	if (frame->is_awaiting)
		flags |= CPPROFDATA_NAMED_AWAITS;
	if (address_of(names, number) != frame->address)
		flags |= CPPROFDATA_NAMED_ONLY;
	if (has_lines)
		n = names->omits_deferred && frame->is_deferred ? 1 :
		    frame->n_locations < KEPT_CHAIN_MAX ? frame->n_locations :
		    KEPT_CHAIN_MAX;
	for (uint32_t i = 0; i < n; i++)
		names_writer_add_location(writer, i > 0 ?
		                          locations[i].function : NO_NAME,
		                          &locations[i]);
	record.n_locations = htole32(n);
	record.flags = htole32(flags);
	text_add(&writer->addresses, (const char *)&record, sizeof record);
	writer->n_addresses++;
}

/*
 * Makes the records of frames[n]: those of one module, or of none, sorted by
 * address, without duplicates.
 */
static void
names_writer_add_addresses(struct names_chunks *writer, const uint32_t *frames,
                           size_t n, bool lines_were_read)
{
	const struct names_file *names = writer->names;

	for (size_t i = 0; i < n && !names_writer_has_failed(writer); i++)
		if (i == 0 || address_of(names, frames[i]) !=
		    address_of(names, frames[i - 1]))
			names_writer_add_address(writer, frames[i],
			                         lines_were_read);
}

static void
names_writer_add_module(struct names_chunks *writer, const uint32_t *frames,
                        size_t n)
{
	const struct profile *profile = writer->names->profile;
	const struct module *module =
	    &profile->modules[profile->frames[frames[0]].module];
	const struct address_lines *lines = writer->names->lines;
	bool lines_were_read = lines != NULL &&
	    address_lines_were_read(lines, module);
	struct cpprofdata_named_module record = {
		.path = htole32(names_writer_add_string(writer, module->path,
		                                        strlen(module->path))),
		.build_id_size = htole32(module->build_id_size),
		.file_size = htole64(module->file_size),
		.file_mtime_ns = htole64(module->file_mtime_ns),
		.first_address = htole64(writer->n_addresses),
	};

	memcpy(record.build_id, module->build_id, sizeof record.build_id);
	names_writer_add_addresses(writer, frames, n, lines_were_read);
	record.n_addresses = htole64(writer->n_addresses -
	                             le64toh(record.first_address));
	text_add(&writer->modules, (const char *)&record, sizeof record);
}

/* Sorts the frames; returns how many have a module. */
static size_t
names_writer_add_modules(struct names_chunks *writer)
{
	const struct frame *frames = writer->names->profile->frames;
	const uint32_t *sorted = writer->sorted;
	size_t begin, end;

	for (begin = 0; begin < writer->n_sorted &&
	     !names_writer_has_failed(writer); begin = end) {
		uint32_t module = frames[sorted[begin]].module;

		if (module == NO_MODULE)
			break;
		for (end = begin + 1; end < writer->n_sorted &&
		     frames[sorted[end]].module == module; end++)
			;
		names_writer_add_module(writer, sorted + begin, end - begin);
	}
	return begin;
}

/* Makes the records of outside[n], the sorted frames without a module. */
static void
names_writer_add_processes(struct names_chunks *writer, const uint32_t *outside,
                           size_t n)
{
	const struct names_file *names = writer->names;

	for (size_t i = 0; i < names->n_processes &&
	     !names_writer_has_failed(writer); i++) {
		const struct named_process *process = &names->processes[i];
		struct cpprofdata_named_process record = {
			.pid = htole32(process->pid),
			.start_ns = htole64(process->start_ns),
			.first_address = htole64(writer->n_addresses),
		};

		for (size_t k = 0; k < process->n; k++) {
			const struct named_code *code =
			    &names->codes[process->first + k];
			struct cpprofdata_named_address address = {
				.offset = htole64(code->address),
				.function = htole32(names_writer_add_name(
				    writer, code->function)),
				.in_function = htole32(code->offset),
				.first_location = htole32(
				    (uint32_t)writer->n_locations),
				.n_locations = htole32(code->n_locations),
				.flags = htole32(CPPROFDATA_NAMED_SYMBOL),
			};

			for (uint32_t j = 0; j < code->n_locations; j++) {
				const struct location *location =
				    &names->code_locations[
				        code->first_location + j];

				names_writer_add_location(writer,
				    location->function, location);
			}
			text_add(&writer->addresses, (const char *)&address,
			         sizeof address);
			writer->n_addresses++;
		}
		if (i == 0)
			names_writer_add_addresses(writer, outside, n, false);
		record.n_addresses = htole64(writer->n_addresses -
		                             le64toh(record.first_address));
		text_add(&writer->processes, (const char *)&record,
		         sizeof record);
	}
}

static int
compare_kept(const void *left, const void *right, void *context)
{
	const struct names_file *names = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t module_a = names->profile->frames[a].module;
	uint32_t module_b = names->profile->frames[b].module;
	uint64_t address_a = address_of(names, a);
	uint64_t address_b = address_of(names, b);

	if (module_a != module_b)
		return module_a < module_b ? -1 : 1;
	return address_a < address_b ? -1 : address_a > address_b;
}

static int
names_writer_prepare(struct names_chunks *writer, struct error *error)
{
	const struct profile *profile = writer->names->profile;
	const uint64_t *addresses = writer->names->addresses;
	size_t n_in_modules;

	writer->string_of = memory_array(names_count(profile->names),
	                                 sizeof *writer->string_of, error);
	writer->sorted = memory_array(profile->n_frames,
	                              sizeof *writer->sorted, error);
	writer->origin_numbers = names_new(error);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (frame->placeholder == FRAME_IS_NAMED &&
		    (frame->module != NO_MODULE || (addresses != NULL &&
		     addresses[i] != 0)))
			writer->sorted[writer->n_sorted++] = i;
	}
	if (writer->n_sorted > 0)
		qsort_r(writer->sorted, writer->n_sorted,
		        sizeof *writer->sorted, compare_kept,
		        (void *)writer->names);
	n_in_modules = names_writer_add_modules(writer);
	names_writer_add_processes(writer, writer->sorted + n_in_modules,
	                           writer->n_sorted - n_in_modules);
	if (names_writer_has_failed(writer))
		return error_out_of_memory(error);
	if (writer->is_too_large || writer->n_locations > UINT32_MAX)
		return error_set(error, "more names than can be numbered");
	return 0;
}

enum { N_PARTS = 6 };

/* The parts of the file, one chunk each. */
struct names_part {
	uint32_t type;
	uint32_t record_size;
	uint64_t first;
	const struct text_buffer *records;
};

static void
list_parts(const struct names_chunks *chunks, struct names_part parts[N_PARTS])
{
	const struct names_part all[N_PARTS] = {
		{ CPPROFDATA_STRINGS, 1, chunks->first_string,
		  &chunks->strings },
		{ CPPROFDATA_NAMED_MODULES,
		  sizeof(struct cpprofdata_named_module), 0, &chunks->modules },
		{ CPPROFDATA_NAMED_ADDRESSES,
		  sizeof(struct cpprofdata_named_address), 0,
		  &chunks->addresses },
		{ CPPROFDATA_NAMED_LOCATIONS,
		  sizeof(struct cpprofdata_named_location), 0,
		  &chunks->locations },
		{ CPPROFDATA_NAMED_PROCESSES,
		  sizeof(struct cpprofdata_named_process), 0,
		  &chunks->processes },
		{ CPPROFDATA_NAMED_ORIGINS,
		  sizeof(struct cpprofdata_named_origin), 0, &chunks->origins },
	};

	memcpy(parts, all, sizeof all);
}

struct names_chunks *
names_chunks_new(const struct names_file *names, uint64_t first_string,
                 struct error *error)
{
	struct names_chunks *chunks = memory_array(1, sizeof *chunks, error);

	if (chunks == NULL)
		return NULL;
	chunks->names = names;
	chunks->first_string = first_string;
	text_add_char(&chunks->strings, '\0');
	if (names_writer_prepare(chunks, error) != 0) {
		names_chunks_free(chunks);
		return NULL;
	}
	chunks->names = NULL;
	return chunks;
}

void
names_chunks_free(struct names_chunks *chunks)
{
	if (chunks == NULL)
		return;
	text_free(&chunks->strings);
	text_free(&chunks->modules);
	text_free(&chunks->addresses);
	text_free(&chunks->locations);
	text_free(&chunks->processes);
	text_free(&chunks->origins);
	names_free(chunks->origin_numbers);
	free(chunks->string_of);
	free(chunks->sorted);
	free(chunks);
}

uint64_t
names_chunks_size(const struct names_chunks *chunks)
{
	struct names_part parts[N_PARTS];
	uint64_t size = 0;

	list_parts(chunks, parts);
	for (int i = 0; i < N_PARTS; i++)
		size += cpprofdata_chunk_size(parts[i].records->length, 1);
	return size;
}

void
names_chunks_write(const struct names_chunks *chunks, struct writer *writer)
{
	struct names_part parts[N_PARTS];

	list_parts(chunks, parts);
	for (int i = 0; i < N_PARTS; i++) {
		const struct names_part *part = &parts[i];
		uint64_t n = part->records->length / part->record_size;

		cpprofdata_begin_chunk(writer, part->type, part->first, n,
		                       part->record_size, 0);
		writer_put(writer, part->records->bytes,
		           part->records->length);
		cpprofdata_end_chunk(writer, n, part->record_size);
	}
}

int
names_file_write(const struct names_file *names, struct writer *writer,
                 struct error *error)
{
	struct cpprofdata_header header = {
		.magic = CPPROFDATA_MAGIC,
		.version = htole32(CPPROFDATA_VERSION),
		.header_size = htole32(CPPROFDATA_HEADER_SIZE),
		.flags = htole32(CPPROFDATA_NAMES |
		                 (names == NULL ? CPPROFDATA_NO_NAMES : 0)),
		.start_ns = htole64(names == NULL ? 0 : names->named_ns),
		.end_ns = htole64(names == NULL ? 0 : names->created_ns),
		.used = htole64(CPPROFDATA_HEADER_SIZE),
	};
	struct names_chunks *chunks = NULL;

	if (names != NULL) {
		chunks = names_chunks_new(names, 0, error);
		if (chunks == NULL)
			return -1;
		header.used = htole64(CPPROFDATA_HEADER_SIZE +
		                      names_chunks_size(chunks));
	}
	writer_put(writer, (const char *)&header, sizeof header);
	if (chunks != NULL)
		names_chunks_write(chunks, writer);
	names_chunks_free(chunks);
	return 0;
}
