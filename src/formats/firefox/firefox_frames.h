/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_frames.h -- the frames of a Firefox profile, each with a label.
 *
 * Threads often have tables of their own, with the same frames in other rows.
 * Rows that say the same of a frame have one label, and become one frame of the
 * profile.
 */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_FRAMES_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_FRAMES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/firefox/firefox_tables.h"
#include "src/formats/json/json_reader.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

struct firefox_frames;

/* Tables, and the labels of their frames; start with zeroes. */
struct frame_tables {
	const struct firefox_tables *frames;	/* and stacks, functions,
						 * resources */
	const struct firefox_tables *strings, *libraries, *sources;
	uint32_t *labels;		/* by frame; NO_LABEL: not yet */
	uint32_t *own_names;		/* by string; NO_NAME: not yet */
	uint32_t **names;		/* these, or those of shared strings */
};

/*
 * Starts on a profile without frames.  shared: the tables that threads have in
 * common, which may be read later.  json: gives the place of errors, and
 * whether the input is cut.  cache: of symbols; may be NULL.  All must outlive
 * the result, which firefox_frames_free frees.  NULL with *error set.
 */
struct firefox_frames *firefox_frames_new(struct profile *profile,
                                          const struct firefox_tables *shared,
                                          struct json_reader *json,
                                          struct module_cache *cache,
                                          struct error *error);
void firefox_frames_free(struct firefox_frames *frames);

/*
 * Begins with the frames of a thread's tables, or of the shared ones.  Strings,
 * libraries and sources that the thread has not are the shared ones.  All must
 * have been read.  0, or -1 with *error set; then frame_tables_free, too.
 */
int frame_tables_begin(struct frame_tables *tables,
                       struct firefox_frames *frames,
                       const struct firefox_tables *of, struct error *error);
void frame_tables_free(struct frame_tables *tables);

/*
 * The label of a row of the frames, which must be there.  Of a cut input, rows
 * that refer to what is missing are "[unknown]"; else an index that is out of
 * range is an error.  NO_LABEL with *error set.
 */
uint32_t firefox_frames_label(struct firefox_frames *frames,
                              struct frame_tables *tables, uint32_t row,
                              struct error *error);

/* The label of a frame that is only a name; likewise. */
uint32_t firefox_frames_add_name(struct firefox_frames *frames,
                                 const char *name, struct error *error);

/*
 * Enters all frames into the profile and returns them by label, the caller's to
 * free; NULL with *error set.  A function that has only an address for a name,
 * as samply leaves it, gets the symbol of its library at that address if there
 * is one.
 */
uint32_t *firefox_frames_finish(struct firefox_frames *frames,
                                struct error *error);

#endif
