/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_code.c -- modules, functions and locations of profile.proto.
 *
 * A frame becomes a location, its inlined calls lines, innermost first; a
 * function is a name in a file.  Addresses are those in the modules' files,
 * which pprof expresses as a mapping of the whole address space.
 */
#include "src/formats/pprof/pprof_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/frame_labels.h"

/* Flags of a mapping that hold for all of its locations. */
enum { HAS_FILES = 1, HAS_LINES = 2, HAS_INLINES = 4 };

struct function_key {
	uint32_t name, file;
};

static void
inspect_frame(const struct pprof_encoding *encoding,
              const struct frame *frame, unsigned char *has)
{
	const struct profile *profile = encoding->source->profile;
	const struct location *locations =
	    &profile->locations[frame->first_location];
	uint32_t n = frame_shown_locations(frame, encoding->source->inlines);

	*has |= n > 1 ? HAS_INLINES : 0;
	for (uint32_t i = 0; i < n; i++)
		*has |= (unsigned char)(
		    (locations[i].file != NO_NAME ? HAS_FILES : 0) |
		    (locations[i].line != 0 ? HAS_LINES : 0));
}

static void
add_build_id(struct pprof_encoding *encoding, const struct module *module,
             struct error *error)
{
	char hex[2 * sizeof module->build_id + 1] = "";

	for (uint32_t i = 0; i < module->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	protobuf_add_number(&encoding->message, MAPPING_BUILD_ID,
	                    pprof_text_id(encoding, hex, error));
}

static int
write_mapping(struct pprof_encoding *encoding, uint32_t number,
              unsigned char has, struct error *error)
{
	const struct module *module =
	    &encoding->source->profile->modules[number];
	struct text_buffer *message = &encoding->message;

	protobuf_add_number(message, MAPPING_ID, (uint64_t)number + 1);
	protobuf_add_number(message, MAPPING_MEMORY_LIMIT, UINT64_MAX);
	protobuf_add_number(message, MAPPING_FILENAME,
	                    pprof_text_id(encoding, module->path, error));
	add_build_id(encoding, module, error);
	protobuf_add_number(message, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_add_number(message, MAPPING_HAS_FILENAMES,
	                    (has & HAS_FILES) != 0);
	protobuf_add_number(message, MAPPING_HAS_LINE_NUMBERS,
	                    (has & HAS_LINES) != 0);
	protobuf_add_number(message, MAPPING_HAS_INLINE_FRAMES,
	                    (has & HAS_INLINES) != 0);
	pprof_add_message(encoding, PROFILE_MAPPING);
	return pprof_flush(encoding, error);
}

static int
write_mappings(struct pprof_encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	unsigned char *has = memory_array(profile->n_modules, 1, error);
	int result = has != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (frame->module != NO_MODULE)
			inspect_frame(encoding, frame, &has[frame->module]);
	}
	for (uint32_t i = 0; result == 0 && i < profile->n_modules; i++)
		result = write_mapping(encoding, i, has[i], error);
	free(has);
	return result;
}

/* The id of a function; a new one is added to the fields. */
static uint64_t
function_id(struct pprof_encoding *encoding, const struct location *location,
            struct error *error)
{
	struct function_key key = { location->function, location->file };
	uint32_t n = names_count(encoding->functions);
	uint32_t number = names_add(encoding->functions, (const char *)&key,
	                            sizeof key, error);
	struct text_buffer *inner = &encoding->inner;
	uint64_t name;

	if (number != n || number == NO_NAME)
		return (uint64_t)number + 1;
	name = pprof_name_id(encoding, key.name, error);
	protobuf_add_number(inner, FUNCTION_ID, (uint64_t)number + 1);
	protobuf_add_number(inner, FUNCTION_NAME, name);
	protobuf_add_number(inner, FUNCTION_SYSTEM_NAME, name);
	protobuf_add_number(inner, FUNCTION_FILENAME,
	                    pprof_name_id(encoding, key.file, error));
	protobuf_add_message(&encoding->fields, PROFILE_FUNCTION, inner);
	text_clear(inner);
	return (uint64_t)number + 1;
}

static void
add_line(struct pprof_encoding *encoding, const struct location *location,
         struct error *error)
{
	uint64_t function = function_id(encoding, location, error);
	struct text_buffer *inner = &encoding->inner;

	protobuf_add_number(inner, LINE_FUNCTION_ID, function);
	protobuf_add_number(inner, LINE_LINE, location->line);
	protobuf_add_message(&encoding->message, LOCATION_LINE, inner);
	text_clear(inner);
}

static int
write_locations(struct pprof_encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	struct text_buffer *message = &encoding->message;

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		uint32_t n = frame_shown_locations(frame,
		    encoding->source->inlines);

		protobuf_add_number(message, LOCATION_ID, (uint64_t)i + 1);
		if (frame->module != NO_MODULE)
			protobuf_add_number(message, LOCATION_MAPPING_ID,
			                    (uint64_t)frame->module + 1);
		protobuf_add_number(message, LOCATION_ADDRESS,
		                    frame->address);
		while (n-- > 0)
			add_line(encoding, &profile->locations[
			         frame->first_location + n], error);
		pprof_add_message(encoding, PROFILE_LOCATION);
		if (pprof_flush(encoding, error) != 0)
			return -1;
	}
	return 0;
}

int
pprof_write_code(struct pprof_encoding *encoding, struct error *error)
{
	if (write_mappings(encoding, error) != 0)
		return -1;
	return write_locations(encoding, error);
}
