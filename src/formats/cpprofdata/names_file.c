/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names_file.c -- names and lines from a recording's own file of them.
 *
 * Records of modules and processes refer to ranges of addresses, and these to
 * strings and ranges of locations.  Each number is checked; a range of
 * addresses is read up to the first invalid one.
 */
#include "src/formats/cpprofdata/cpprofdata_file.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/formats/reader.h"

enum {
	NAME_LENGTH_MAX = 65536,	/* longer names are cut */
	ADDRESSES_A_STEP = 4096,
};

struct names_reader {
	const struct cpprofdata_file *file;
	struct kept_names *kept;
	struct error *damage;
	/* Ranges do not share records, or a small file would fill memory. */
	uint64_t n_addresses_left, n_locations_left;
	struct id_table strings;	/* seen so far; index: */
	uint32_t *names;
	size_t n_names, names_capacity;
};

/*
 * The name of a string in the store; NO_NAME if it is empty or invalid.
 * Strings that are ends of each other are refused, since a small file could
 * fill memory with them.
 */
static int
look_up_string(struct names_reader *reader, uint32_t number, uint32_t *name,
               struct error *error)
{
	size_t length;
	const char *text = cpprofdata_string(reader->file, number,
	                                     NAME_LENGTH_MAX, &length);

	*name = NO_NAME;
	if (length == 0)
		return 0;
	if (text[-1] != '\0') {
		error_set(reader->damage, "0x%zx: string %" PRIu32 " begins "
		          "within another", (size_t)((const unsigned char *)
		          text - reader->file->bytes), number);
		return 0;
	}
	*name = names_add(kept_names_texts(reader->kept), text, length, error);
	return *name != NO_NAME ? 0 : -1;
}

/*
 * Likewise, but reads a string only once, however many records refer to it: a
 * small record can refer to a long string.
 */
static int
names_file_take_string(struct names_reader *reader, uint32_t number,
                       uint32_t *name, struct error *error)
{
	uint32_t place = id_table_add(&reader->strings, number, error);

	if (place == NO_ID)
		return -1;
	if (place == reader->n_names) {
		if (memory_grow(&reader->names, &reader->names_capacity,
		                reader->n_names + 1, sizeof *reader->names,
		                error) != 0 ||
		    look_up_string(reader, number,
		                   &reader->names[reader->n_names],
		                   error) != 0)
			return -1;
		reader->n_names++;
	}
	*name = reader->names[place];
	return 0;
}

/* Sets what an origin, 0 for none, says of a location. */
static int
names_file_take_origin(struct names_reader *reader, uint32_t origin,
                       struct location *location, struct error *error)
{
	struct cpprofdata_named_origin record;
	const unsigned char *bytes;

	if (origin == 0)
		return 0;
	bytes = cpprofdata_record_at(reader->file, CPPROFDATA_NAMED_ORIGINS,
	                             origin - 1);
	if (bytes == NULL) {
		error_set(reader->damage, "there is no origin %" PRIu32,
		          origin - 1);
		return 0;
	}
	memcpy(&record, bytes, sizeof record);
	location->start_line = le32toh(record.start_line);
	location->discriminator = le32toh(record.discriminator);
	return names_file_take_string(reader, le32toh(record.linkage),
	                              &location->linkage, error);
}

/*
 * Adds an address if it is above *last.  *is_good: whether to go on with the
 * following ones.
 */
static int
names_file_take_address(struct names_reader *reader, uint64_t number,
                        uint64_t *last, bool *is_good, struct error *error)
{
	const unsigned char *bytes = cpprofdata_record_at(reader->file,
	    CPPROFDATA_NAMED_ADDRESSES, number);
	struct location locations[KEPT_CHAIN_MAX];
	struct cpprofdata_named_address record = { 0 };
	struct kept_address address = { 0 };
	uint64_t first;

	if (bytes != NULL)
		memcpy(&record, bytes, sizeof record);
	address.address = le64toh(record.offset);
	address.n = le32toh(record.n_locations);
	if (bytes == NULL || reader->n_addresses_left == 0 ||
	    address.n > reader->n_locations_left || (*last != UINT64_MAX &&
	                      address.address <= *last) ||
	    address.n > KEPT_CHAIN_MAX) {
		error_set(reader->damage, "address %" PRIu64 " is not there "
		          "or does not fit the others", number);
		*is_good = false;
		return 0;
	}
	*last = address.address;
	reader->n_addresses_left--;
	reader->n_locations_left -= address.n;
	address.is_symbol = (le32toh(record.flags) &
	                     CPPROFDATA_NAMED_SYMBOL) != 0;
	address.has_lines = (le32toh(record.flags) &
	                     CPPROFDATA_NAMED_LINES) != 0;
	address.is_told = (le32toh(record.flags) &
	                   CPPROFDATA_NAMED_FOREIGN) != 0;
	address.is_only_names = (le32toh(record.flags) &
	                         CPPROFDATA_NAMED_ONLY) != 0;
	address.is_interpreted = (le32toh(record.flags) &
	                          CPPROFDATA_NAMED_INTERPRETED) != 0;
	address.is_awaiting = address.is_interpreted &&
	    (le32toh(record.flags) & CPPROFDATA_NAMED_AWAITS) != 0;
	address.offset = le32toh(record.in_function);
	first = le32toh(record.first_location);
	for (uint32_t i = 0; i < address.n; i++) {
		struct cpprofdata_named_location location;

		locations[i] = (struct location){ .function = NO_NAME,
			.file = NO_NAME, .linkage = NO_NAME };
		bytes = cpprofdata_record_at(reader->file,
		    CPPROFDATA_NAMED_LOCATIONS, first + i);
		if (bytes == NULL) {
			error_set(reader->damage, "there is no location %"
			          PRIu64, first + i);
			continue;
		}
		memcpy(&location, bytes, sizeof location);
		locations[i].line = le32toh(location.line);
		if (names_file_take_string(reader, le32toh(location.function),
		                           &locations[i].function,
		                           error) != 0 ||
		    names_file_take_string(reader, le32toh(location.file),
		                           &locations[i].file, error) != 0 ||
		    names_file_take_origin(reader, le32toh(location.origin),
		                           &locations[i], error) != 0)
			return -1;
	}
	if (names_file_take_string(reader, le32toh(record.function),
	                           &address.function, error) != 0)
		return -1;
	return address.function == NO_NAME ? 0 :
	    kept_names_add(reader->kept, &address, locations, error);
}

static int
names_file_take_range(struct names_reader *reader, uint64_t first, uint64_t n,
                      struct error *error)
{
	uint64_t last = UINT64_MAX;	/* none */
	bool is_good = true;

	for (uint64_t i = 0; i < n && is_good; i++)
		if (names_file_take_address(reader, first + i, &last, &is_good,
		                            error) != 0 ||
		    (i % ADDRESSES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	return 0;
}

static int
names_file_take_module(struct names_reader *reader, const unsigned char *bytes,
                       struct error *error)
{
	struct cpprofdata_named_module record;
	struct module module = { 0 };
	uint32_t id_size;
	char *path;
	int result;

	memcpy(&record, bytes, sizeof record);
	id_size = le32toh(record.build_id_size);
	path = cpprofdata_copy_string(reader->file, le32toh(record.path),
	                              error);
	if (path == NULL)
		return -1;
	module.path = path;
	module.build_id_size = id_size <= sizeof module.build_id ? id_size : 0;
	memcpy(module.build_id, record.build_id, module.build_id_size);
	module.file_size = le64toh(record.file_size);
	module.file_mtime_ns = le64toh(record.file_mtime_ns);
	result = kept_names_begin_module(reader->kept, &module, error);
	free(path);
	return result != 0 ? -1 :
	    names_file_take_range(reader, le64toh(record.first_address),
	                          le64toh(record.n_addresses), error);
}

static struct kept_names *
names_file_take_names(const struct cpprofdata_file *file, struct error *damage,
                      struct error *error)
{
	const struct cpprofdata_runs *runs = file->runs;
	struct names_reader reader = {
		.file = file,
		.damage = damage,
		.kept = kept_names_new(error),
		.n_addresses_left = cpprofdata_runs_count(
		    &runs[CPPROFDATA_NAMED_ADDRESSES]),
		.n_locations_left = cpprofdata_runs_count(
		    &runs[CPPROFDATA_NAMED_LOCATIONS]),
	};
	struct cpprofdata_record at = { 0 };
	struct cpprofdata_named_process process;

	while (!error->is_set && cpprofdata_next(
	           &runs[CPPROFDATA_NAMED_MODULES], file->bytes, &at))
		names_file_take_module(&reader, at.bytes, error);
	at = (struct cpprofdata_record){ 0 };
	while (!error->is_set && cpprofdata_next(
	           &runs[CPPROFDATA_NAMED_PROCESSES], file->bytes, &at)) {
		memcpy(&process, at.bytes, sizeof process);
		if (kept_names_begin_process(reader.kept, le32toh(process.pid),
		                             le64toh(process.start_ns),
		                             error) == 0)
			names_file_take_range(&reader,
			                      le64toh(process.first_address),
			                      le64toh(process.n_addresses),
			                      error);
	}
	id_table_free(&reader.strings);
	free(reader.names);
	if (!error->is_set)
		return reader.kept;
	kept_names_free(reader.kept);
	return NULL;
}

struct kept_names *
names_file_read(struct source *source, struct error *damage,
                struct error *error)
{
	struct cpprofdata_file file;
	struct kept_names *kept;

	if (cpprofdata_file_open_names(&file, source, error) != 0)
		return NULL;
	if (file.damage.is_set)
		error_set(damage, "%s", file.damage.text);
	kept = names_file_take_names(&file, damage, error);
	cpprofdata_file_close(&file);
	return kept;
}

struct kept_names *
names_file_within(const struct cpprofdata_file *file, struct error *damage,
                  struct error *error)
{
	if (cpprofdata_runs_count(&file->runs[CPPROFDATA_NAMED_MODULES]) == 0 &&
	    cpprofdata_runs_count(&file->runs[CPPROFDATA_NAMED_PROCESSES]) == 0)
		return NULL;
	return names_file_take_names(file, damage, error);
}
