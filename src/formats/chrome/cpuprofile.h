/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpuprofile.h -- V8's profiles, which .cpuprofile files and Chrome traces hold.
 *
 * Chrome, Node.js and Deno write one, alone (.cpuprofile) or in pieces in a
 * trace: nodes, and which was sampled when.  A node is a function called by
 * another one, with an id that the file chose; ids may be named before their
 * nodes come.  Samples are ids of nodes.
 * Sources: Chrome DevTools Protocol, Profiler domain (nodes in an array, times
 * in microseconds); V8's older form is a tree "head", with times "timestamps".
 */
#ifndef CPPROF_FORMATS_CHROME_CPUPROFILE_H
#define CPPROF_FORMATS_CHROME_CPUPROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"

struct v8_node {
	uint32_t id;		/* index in ids[], or NO_ID */
	uint32_t parent;	/* a node, or NO_ROW */
	uint32_t parent_id;	/* index in ids[], or NO_ID */
	uint32_t function, file;	/* names, or NO_NAME */
	uint32_t line, column;	/* where the function begins, from 1 on; 0:
				 * unknown */
	uint64_t hits;
	size_t first_tick, n_ticks;	/* in ticks[]: the lines of its hits */
};

/* How many hits of a node were in a line, in no order of time. */
struct v8_tick {
	uint32_t line;		/* from 1 on */
	uint64_t hits;
};

/* What the file says about an id. */
struct v8_id {
	uint64_t id;
	uint32_t node;		/* the node with this id, or NO_ROW */
	uint32_t parent;	/* the node that has it as a child, or NO_ROW */
};

/* Start with zeroes. */
struct v8_profile {
	struct v8_node *nodes;
	struct id_table id_numbers;
	struct v8_id *ids;		/* [id_numbers.n] */
	uint32_t *samples;		/* [n_samples], indices in ids[] */
	int64_t *times;			/* [n_times], microseconds */
	struct v8_tick *ticks;		/* [n_ticks] */
	uint32_t *lines;		/* [n_lines] of the first samples; 0:
					 * unknown */
	uint32_t n_nodes;
	size_t n_samples, n_times, n_ticks, n_lines;
	size_t nodes_capacity, ids_capacity, samples_capacity,
	    times_capacity, ticks_capacity, lines_capacity;
	uint64_t samples_offset;	/* of the samples in the input, or of
					 * the nodes if there are none */
	uint64_t hits_below_zero;	/* offset + 1 of such a count of hits;
					 * 0: none */
	bool is_old;			/* the older form: start and end are
					 * in seconds, else microseconds */
	bool has_times;
	bool are_absolute;		/* times: "timestamps", else deltas */
	struct json_known start, end;
	uint32_t *open;			/* nodes whose objects are open */
	size_t open_capacity;
};

void v8_profile_free(struct v8_profile *v8);

/* Empties it, so that another one can be read. */
void v8_profile_clear(struct v8_profile *v8);

/* Adds a later piece of the profile. */
int v8_profile_append(struct v8_profile *v8, const struct v8_profile *piece,
                      struct error *error);

/* What is read of a file.  Start with v8_begin. */
struct v8_reader {
	struct reader reader;
	struct json_reader *json;	/* whose context this is */
	struct error *error;		/* the JSON reader's, too */
	struct v8_profile *v8;		/* that is being read */
	uint32_t time, samples;		/* resources, + 1; 0: none yet */
	int64_t earliest;		/* time of a sample of what was
					 * announced, */
	bool has_earliest;		/* if that is known */
	uint64_t n_unknown;		/* samples of nodes not in the file */
	uint64_t n_profiles;		/* entered */
	uint64_t n_endless;		/* of them: no end of the last sample */
};

/* v8_end must be called also after a failure.  0, or -1 with *error set. */
int v8_begin(struct v8_reader *input, struct source *source,
             const struct read_options *options, struct error *error);

/*
 * The keys of a profile, whose values are added to what was read before; but
 * times are read only once.  *into must be the reader's v8.
 */
extern const struct json_field v8_fields[];

/* Of these, what traces have beside the profile. */
extern const struct json_field v8_time_fields[];

/* Announces a profile; all are before the first is entered. */
void v8_announce(struct v8_reader *input, const struct v8_profile *v8);

/*
 * Enters the samples of a profile of V8 for the reader's thread.  There are two
 * resources.  `time`, in microseconds, charges a sample with the time until the
 * next one.  `samples` is the nodes' hit counts, or the number of samples if
 * there are none.  When they were taken is noted if the file has their times and
 * what these count from.  Samples are in the lines that the file knows: of each,
 * as a trace has them, or of all of a node ("positionTicks"); then which of the
 * samples was in which line is a guess that keeps their numbers.
 * "(root)", which calls all others, is left out.  Samples of an id
 * without a node are "[unknown node]".  The file must have been read; if it is
 * cut short, times may be missing.  0, or -1 with the reader's error set.
 */
int v8_enter(struct v8_reader *input, const struct v8_profile *v8);

/*
 * As reader_end.  The profile gets its tree, and warnings of an input cut
 * short, of unknown ends and of unknown nodes.
 */
struct profile *v8_end(struct v8_reader *input, int result);

#endif
