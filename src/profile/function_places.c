/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_places.c -- interpreted functions that would have the same name.
 *
 * Their names say in which file they are, "f (app.py)".  Where that is not
 * enough they also say on which line they begin, or the file's whole path.  All
 * processes of a recording have been added up by then, so that a function has
 * one name in all of them.
 */
#include "src/profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The functions of one name. */
struct function_place {
	uint32_t file;		/* of the first one that was seen */
	uint32_t first_line;	/* 0: not known */
	bool is_seen, has_files, has_lines;	/* several of these */
};

/* Where its function begins; 0: not known. */
static uint32_t
first_line_of(const struct frame *frame)
{
	return (uint32_t)((frame->address & ~FRAME_AWAITS) >> 32);
}

static void
note_place(struct function_place *place, const struct frame *frame,
           const struct location *location)
{
	const uint32_t first_line = first_line_of(frame);

	if (!place->is_seen)
		*place = (struct function_place){
			.file = location->file, .first_line = first_line,
			.is_seen = true,
		};
	place->has_files |= location->file != place->file;
	place->has_lines |= first_line != place->first_line;
}

/* The name of a function that shares its own with others. */
static uint32_t
distinct_name(struct profile *profile, const struct function_place *place,
              const struct frame *frame, const struct location *location,
              struct error *error)
{
	const char *name = names_text(profile->names, location->function);
	const char *end = strrchr(name, '('), *shown;
	const uint32_t first_line = first_line_of(frame);
	size_t n;

	if (end == NULL || end - name < 2 || location->file == NO_NAME)
		return location->function;
	shown = place->has_files ?
	    names_text(profile->names, location->file) : end + 1;
	n = place->has_files ? strlen(shown) : strcspn(shown, ":)");
	if (place->has_lines && first_line > 0)
		return names_add_format(profile->names, error,
		    "%.*s (%.*s:%" PRIu32 ")", (int)(end - name - 1), name,
		    (int)n, shown, first_line);
	return names_add_format(profile->names, error, "%.*s (%.*s)",
	                        (int)(end - name - 1), name, (int)n, shown);
}

int
profile_distinguish_functions(struct profile *profile, struct error *error)
{
	const uint32_t n_names = names_count(profile->names);
	struct function_place *places = NULL;
	bool is_needed = false;

	for (uint32_t i = 0; i < profile->n_frames && !is_needed; i++)
		is_needed = profile->frames[i].is_interpreted;
	if (!is_needed)
		return 0;
	places = memory_array(n_names, sizeof *places, error);
	if (places == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		const struct location *location =
		    &profile->locations[frame->first_location];

		if (frame->is_interpreted)
			note_place(&places[location->function], frame,
			           location);
	}
	for (uint32_t i = 0; i < profile->n_frames && !error->is_set; i++) {
		const struct frame *frame = &profile->frames[i];
		struct location *location =
		    &profile->locations[frame->first_location];
		const struct function_place *place;

		if (!frame->is_interpreted || location->function >= n_names)
			continue;
		place = &places[location->function];
		if (place->has_files || place->has_lines)
			location->function = distinct_name(profile, place,
			    frame, location, error);
	}
	free(places);
	return error->is_set ? -1 : 0;
}
