/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope.c -- speedscope's JSON, which many profilers write.
 *
 * {"$schema", "shared": {"frames": [{"name", "file", "line"}, ...]},
 * "profiles": [...], "exporter", ...}, the keys in any order.  Profiles are
 * threads.  In a file of export speedscope they are resources, and the exporter
 * comes before them.
 *
 * A profile is {"type": "sampled", "name", "unit", "samples": [[frame, ...],
 * ...], "weights": [...]}, or {"type": "evented", ..., "events": [{"type": "O",
 * "frame", "at"}, {"type": "C", ...}, ...]}.  A frame is open from O to C; the
 * time between two events is charged to the innermost open frame.  Samples have
 * no times of their own; as in speedscope, each begins where the last one
 * ended.
 *
 * Frames are numbers, since their names may come later in the file.  The keys
 * of a profile come in any order, too: samples and weights that cannot be added
 * yet are kept until the profile ends.  One that cannot be read is left out,
 * with what was added of it, and the others count.
 * Source: jlfwong/speedscope, src/lib/file-format-spec.ts.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"

enum {
	STRETCHES_A_STEP = 1 << 16,
	/* Of a run, so many stretches are hardly ever all of other stacks. */
	STRETCHES_OF_A_SUM = 64,
};

/* How far out the frame that an event ends is sought. */
enum { OPEN_FRAMES_SOUGHT = 4096 };

enum {
	PROFILES_NAMED = 4,	/* of those that are left out */
	ROUNDING_NS = 1000,	/* of times as doubles, seconds since 1970 */
};

/* The label of a sample without frames; frames have smaller labels. */
#define SPEEDSCOPE_NO_STACK (UINT32_MAX - 1)

/* What weights are. */
enum speedscope_kind { SPEEDSCOPE_NUMBERS, SPEEDSCOPE_TIME, SPEEDSCOPE_BYTES,
                       N_SPEEDSCOPE_KINDS };

static const struct speedscope_unit {
	const char *name;		/* in the file */
	enum speedscope_kind kind;
	const char *gtick;
	int power;			/* one is 10^power nanoseconds */
} units[] = {
	{ "none", SPEEDSCOPE_NUMBERS, "", 0 },
	{ "nanoseconds", SPEEDSCOPE_TIME, "nanosecond", 0 },
	{ "microseconds", SPEEDSCOPE_TIME, "microsecond", 3 },
	{ "milliseconds", SPEEDSCOPE_TIME, "millisecond", 6 },
	{ "seconds", SPEEDSCOPE_TIME, "second", 9 },
	{ "bytes", SPEEDSCOPE_BYTES, "byte", 0 },
};

/* Resources of files that export speedscope did not write. */
static const struct {
	const char *name, *gtick;
} speedscope_kinds[N_SPEEDSCOPE_KINDS] = {
	[SPEEDSCOPE_NUMBERS] = { "samples", "" },
	[SPEEDSCOPE_TIME] = { "time", "nanosecond" },
	[SPEEDSCOPE_BYTES] = { "bytes", "byte" },
};

/* A profile of the file that has been read. */
struct speedscope_part {
	const char *name;
	bool has_nodes;
};

struct speedscope {
	struct reader reader;
	struct json_reader *json;
	struct error *error;		/* the JSON reader's, too */
	const char *program;
	bool is_own;			/* export speedscope wrote the file, and
					 * each profile is a resource; else each
					 * kind is */
	struct speedscope_part *parts;	/* their numbers are the reader's
					 * threads */
	size_t n_parts, parts_capacity;

	uint32_t resource_of[N_SPEEDSCOPE_KINDS];	/* + 1; 0: none yet */
	bool has_frames;		/* "frames" has been read */
	uint32_t n_frames;		/* how many it has */
	uint32_t greatest;		/* the greatest frame in a sample, */
	uint64_t greatest_offset;	/* and its offset */
	uint64_t n_rounded;		/* weights that were no integers */
	bool has_hits;			/* something was counted */
	uint64_t n_open;		/* frames that no event closed */
	uint64_t n_left_out;		/* places where the file is wrong, */
	struct error left_out;		/* and what is at the first */
	uint64_t n_back;		/* events before the previous one, */
	uint64_t back_offset;		/* the first */
	uint64_t n_crossed;		/* ends of frames that were not the
					 * innermost open ones, */
	uint64_t crossed_offset;	/* the first */
	uint64_t strange_unit_offset;	/* of the first unit that speedscope
					 * does not have; 0: none */
	uint64_t n_bad;			/* profiles that were left out, */
	struct error bad[PROFILES_NAMED];	/* and the first of them */
	uint64_t n_late;		/* profiles with events after their
					 * ends, */
	uint64_t late_offset;		/* the first */

	/* The profile that is being read. */
	struct {
		const char *name;	/* "": not yet known */
		const struct speedscope_unit *unit;	/* NULL: likewise */
		uint32_t resource;	/* its own, if profiles are resources:
					 * number + 1; 0: none yet */
		uint64_t offset;	/* where it begins; 0: none is read */
		uint32_t first_node;	/* of the reader's */
		bool had_hits;		/* the file, before it */
		struct error why;	/* it cannot be read */
		bool has_samples, has_weights, has_events;
		struct json_known start, end;	/* "startValue", "endValue" */
		struct decimal first, last;	/* when these events were */
		bool has_event;
		/* The time before the last event, not yet added. */
		uint32_t passed_node;		/* NO_NODE: there is none */
		struct decimal passed_from;
		uint64_t passed_offset;
		/* An event after it that seems to be too early. */
		bool has_early;
		struct decimal early;
		size_t first_stretch;
		int64_t clock_ns;	/* from its start */
		bool is_beyond;		/* the clock passed 63 bits */
	} part;

	/* The last stack; the next one often has the same outer frames. */
	uint32_t *labels, *nodes;
	bool *has_ended;	/* of open frames: an inner one has not */
	size_t n, labels_capacity, nodes_capacity, ended_capacity;

	/*
	 * Nodes and their weights, to be added when the profile ends; NO_NODE:
	 * time without a stack.
	 */
	uint32_t *waiting;
	struct decimal *weights;
	size_t n_waiting, n_weights, waiting_capacity, weights_capacity;

	/*
	 * How long stacks lasted, in order, of the resource SPEEDSCOPE_TIME
	 * unless is_own.  What a moment counts from is known when a profile has
	 * ended, and how wide the timeline's slices are when all have, so the
	 * stretches of time are kept until then.
	 */
	struct stretch {
		int64_t begin_ns;
		uint64_t length_ns;	/* the hits that were added */
		uint32_t node;
	} *stretches;
	size_t n_stretches, stretches_capacity;
};

/* ---- what is wrong in a file ---- */

/*
 * Leaves out what is at an offset and not as it should be; the rest counts.
 * finish warns of it, or fails if nothing is left.
 */
static void __attribute__((format(printf, 3, 4)))
speedscope_leave_out(struct speedscope *input, uint64_t offset,
                     const char *format, ...)
{
	char text[300];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (input->n_left_out++ > 0)
		return;
	if (input->part.offset > 0 && input->part.name[0] != '\0')
		error_set(&input->left_out, "0x%" PRIx64 ": %s in profile %s",
		          offset, text, input->part.name);
	else
		error_set(&input->left_out, "0x%" PRIx64 ": %s", offset, text);
}

static void
speedscope_leave_out_wrong(void *context, uint64_t offset, const char *what)
{
	speedscope_leave_out(context, offset, "expected %s", what);
}

/* ---- frames ---- */

static const struct json_field speedscope_frame_fields[] = {
	{ "name", "the name of a frame", JSON_STRING,
	  .read = json_read_function,
	  .at = offsetof(struct location, function) },
	{ "file", "the file of a frame", JSON_STRING, .read = json_read_name,
	  .at = offsetof(struct location, file) },
	{ "line", "the number of a line", JSON_NUMBER, .read = json_read_u32,
	  .at = offsetof(struct location, line) },
	{ NULL }
};

static void
speedscope_read_frames(struct json_reader *json, struct json_token *token,
                       void *context)
{
	struct speedscope *input = context;
	struct profile *profile = input->reader.profile;

	while (json_next_element(json, token)) {
		struct location location = { .function = NO_NAME,
			.file = NO_NAME, .linkage = NO_NAME };

		/* A wrong one keeps its number. */
		if (token->type != JSON_OBJECT)
			json_refuse(json, token, "a frame, an object");
		else if (!json_read_fields(json, speedscope_frame_fields,
		                           &location))
			return;
		if (location.function == NO_NAME)
			location.function = names_add(profile->names,
			    "[unknown]", 9, input->error);
		if (location.function != NO_NAME)
			profile_add_frame(profile, NO_MODULE, 0, &location, 1,
			                  input->error);
	}
	if (token->type != JSON_ARRAY_END)
		return;
	input->has_frames = true;
	input->n_frames = profile->n_frames;
}

/* ---- hits, and when they were ---- */

/*
 * The resource of the profile, whose name and unit must be known; NO_RESOURCE
 * with the error set.
 */
static uint32_t
speedscope_find_resource(struct speedscope *input)
{
	enum speedscope_kind kind = input->part.unit->kind;

	if (!input->is_own)
		return reader_need_resource(&input->reader,
		    &input->resource_of[kind], speedscope_kinds[kind].name,
		    speedscope_kinds[kind].gtick, 1, input->error);
	if (input->part.resource == 0 &&
	    input->reader.profile->n_resources == RESOURCES_MAX) {
		json_fail(input->json, input->part.offset,
		          "more than %d profiles that are resources",
		          RESOURCES_MAX);
		return NO_RESOURCE;
	}
	return reader_need_resource(&input->reader, &input->part.resource,
	    input->part.name, input->part.unit->gtick, 1, input->error);
}

/* Whether weights are times, one after the other. */
static bool
speedscope_has_times(const struct speedscope *input)
{
	return input->part.unit != NULL &&
	       input->part.unit->kind == SPEEDSCOPE_TIME && !input->is_own;
}

/* Sets the clock forward; or back, by less than 0. */
static void
speedscope_pass_time(struct speedscope *input, int64_t length_ns)
{
	input->part.is_beyond |= __builtin_add_overflow(input->part.clock_ns,
	    length_ns, &input->part.clock_ns);
}

/* Passes time of which no stack is known. */
static void
pass_nothing(struct speedscope *input, struct decimal passed)
{
	int64_t length;

	if (!speedscope_has_times(input))
		return;
	if (decimal_scale(passed, input->part.unit->power, &length, NULL))
		speedscope_pass_time(input, length);
	else
		input->part.is_beyond = true;
}

/* Adds a weight to a node's hits. */
static void
speedscope_add_hits(struct speedscope *input, uint32_t node,
                    struct decimal weight, uint64_t offset)
{
	uint32_t resource = speedscope_find_resource(input);
	struct error why = { 0 };
	bool is_exact = true;
	int64_t hits = 0;

	if (resource == NO_RESOURCE)
		return;
	if (!decimal_scale(weight, input->is_own ? 0 : input->part.unit->power,
	                   &hits, &is_exact)) {
		speedscope_leave_out(input, offset, "a weight that exceeds 63 "
		                     "bits");
	} else if (weight.digits < 0 && !input->is_own) {
		error_set(&input->part.why, "0x%" PRIx64 ": a value below "
		          "zero, as in a difference of two profiles", offset);
	} else if (weight.digits < 0) {
		reader_note_below_zero(&input->reader, resource, offset,
		                       input->error);
	} else if ((hits != 0 || !input->is_own) &&
	           reader_add_hits(&input->reader, node, resource,
	                           (uint64_t)hits, 1, &why) != 0) {
		json_pass(input->json, offset, &why);
	} else if (speedscope_has_times(input) && !input->part.is_beyond &&
	           memory_grow(&input->stretches, &input->stretches_capacity,
	                       input->n_stretches + 1,
	                       sizeof *input->stretches, input->error) == 0) {
		input->stretches[input->n_stretches++] = (struct stretch){
			input->part.clock_ns, (uint64_t)hits, node };
		speedscope_pass_time(input, hits);
	}
	input->has_hits |= hits > 0;
	input->n_rounded += !is_exact &&
	                    input->part.unit->kind != SPEEDSCOPE_TIME;
}

/* Whether weights can be added at once. */
static bool
speedscope_is_known(const struct speedscope *input)
{
	return input->part.unit != NULL &&
	       (!input->is_own || input->part.name[0] != '\0');
}

static void
keep_waiting(struct speedscope *input, uint32_t node)
{
	if (memory_grow(&input->waiting, &input->waiting_capacity,
	                input->n_waiting + 1, sizeof *input->waiting,
	                input->error) == 0)
		input->waiting[input->n_waiting++] = node;
}

static void
keep_weight(struct speedscope *input, struct decimal weight)
{
	if (memory_grow(&input->weights, &input->weights_capacity,
	                input->n_weights + 1, sizeof *input->weights,
	                input->error) == 0)
		input->weights[input->n_weights++] = weight;
}

/*
 * Whether the profile's stretches are the stacks of a sum, such as one that
 * was converted from a format without times: many stacks, and each comes once.
 * Then their order says nothing.
 */
static bool
speedscope_is_sum(const struct speedscope *input)
{
	const size_t n = input->n_stretches - input->part.first_stretch;
	const struct stretch *stretches;
	uint32_t least = NO_NODE, most = 0;
	bool *is_seen;
	size_t i = 0;

	if (n < STRETCHES_OF_A_SUM)
		return false;
	stretches = input->stretches + input->part.first_stretch;
	for (i = 0; i < n; i++) {
		if (stretches[i].node < least)
			least = stretches[i].node;
		if (stretches[i].node > most)
			most = stretches[i].node;
	}
	is_seen = memory_array((size_t)(most - least) + 1, sizeof *is_seen,
	                       input->error);
	for (i = 0; is_seen != NULL && i < n &&
	     !is_seen[stretches[i].node - least]; i++)
		is_seen[stretches[i].node - least] = true;
	free(is_seen);
	return i == n;
}

/*
 * Lets the times of the profile's stretches count from that of all profiles, or
 * drops them if that is not known.  Samples follow each other from the start,
 * which is 0 if the profile has none; events have their own times.
 */
static void
speedscope_end_times(struct speedscope *input, bool is_whole)
{
	const size_t first = input->part.first_stretch;
	int64_t start = 0, end;
	bool is_known = speedscope_has_times(input) && !input->part.is_beyond &&
	    (input->part.has_events || input->part.start.is_there ||
	     is_whole) &&
	    decimal_scale(input->part.has_events ? input->part.first :
	                  input->part.start.decimal, input->part.unit->power, &start,
	                  NULL) &&
	    !speedscope_is_sum(input);

	for (size_t i = first; is_known && i < input->n_stretches; i++) {
		struct stretch *stretch = &input->stretches[i];

		is_known = !__builtin_add_overflow(stretch->begin_ns, start,
		                                   &stretch->begin_ns) &&
		           !__builtin_add_overflow(stretch->begin_ns,
		                                   stretch->length_ns, &end);
	}
	if (!is_known)
		input->n_stretches = first;
}

/*
 * Notes the times of all stretches.  A stretch is spread over the slices that
 * it lasts; a part of it begins where a slice of the timeline does, which may
 * be wider.
 */
static int
speedscope_note_times(struct speedscope *input, struct error *error)
{
	const uint32_t column = input->resource_of[SPEEDSCOPE_TIME] - 1;
	int64_t first = INT64_MAX, last = INT64_MIN;
	uint64_t length, width;

	if (input->n_stretches == 0)
		return 0;
	for (size_t i = 0; i < input->n_stretches; i++) {
		const struct stretch *stretch = &input->stretches[i];
		const int64_t end = stretch->begin_ns +
		                    (int64_t)stretch->length_ns;

		if (stretch->begin_ns < first)
			first = stretch->begin_ns;
		if (end > last)
			last = end;
	}
	length = (uint64_t)last - (uint64_t)first;
	width = timeline_width(length > 0 ? length - 1 : 0);
	for (size_t i = 0; i < input->n_stretches; i++) {
		const struct stretch *stretch = &input->stretches[i];
		uint64_t at = (uint64_t)stretch->begin_ns - (uint64_t)first;
		uint64_t left = stretch->length_ns, n_samples = 1;

		if (i % STRETCHES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		do {
			const uint64_t next = width - at % width;
			const uint64_t part = left < next ? left : next;

			if (reader_add_time(&input->reader, stretch->node,
			                    column, at, part, n_samples,
			                    error) != 0)
				return -1;
			n_samples = 0;
			at += part;
			left -= part;
		} while (left > 0);
	}
	return 0;
}

/* ---- samples ---- */

/* The number of a frame; UINT32_MAX with the error set. */
static uint32_t
speedscope_read_label(struct speedscope *input,
                             const struct json_token *token)
{
	uint64_t number;

	if (!json_whole_number(token, SPEEDSCOPE_NO_STACK - 1, &number)) {
		json_refuse(input->json, token, "the number of a frame");
		return UINT32_MAX;
	}
	if (input->has_frames && number >= input->n_frames) {
		speedscope_leave_out(input, token->offset, "frame %" PRIu64
		                     " of %" PRIu32, number, input->n_frames);
		return UINT32_MAX;
	}
	if (input->greatest_offset == 0 || number > input->greatest) {
		input->greatest = (uint32_t)number;
		input->greatest_offset = token->offset;
	}
	return (uint32_t)number;
}

/*
 * Adds a frame to the stack at `depth`.  Up to there it has the frames of the
 * last stack; the new one may be the same, too.
 */
static void
push_frame(struct speedscope *input, size_t depth, uint32_t label)
{
	uint32_t node;

	if (depth < input->n && input->labels[depth] == label)
		return;
	node = reader_child(&input->reader,
	    depth > 0 ? input->nodes[depth - 1] : NO_NODE, label,
	    input->error);
	if (node == NO_NODE ||
	    memory_grow(&input->has_ended, &input->ended_capacity, depth + 1,
	                sizeof *input->has_ended, input->error) != 0 ||
	    memory_grow(&input->labels, &input->labels_capacity, depth + 1,
	                sizeof *input->labels, input->error) != 0 ||
	    memory_grow(&input->nodes, &input->nodes_capacity, depth + 1,
	                sizeof *input->nodes, input->error) != 0)
		return;
	input->labels[depth] = label;
	input->nodes[depth] = node;
	input->has_ended[depth] = false;
	input->n = depth + 1;
}

/*
 * Reads a sample, whose array is open, and keeps its node, NO_NODE if a frame
 * of it is wrong; nothing where the input ends in it.
 */
static void
speedscope_read_stack(struct speedscope *input)
{
	struct json_token token;
	bool is_wrong = false;
	size_t depth = 0;

	while (json_next_element(input->json, &token)) {
		uint32_t label;

		if (is_wrong) {
			json_skip(input->json, &token);
			continue;
		}
		label = speedscope_read_label(input, &token);
		is_wrong = label == UINT32_MAX;
		if (!is_wrong)
			push_frame(input, depth++, label);
	}
	if (token.type != JSON_ARRAY_END)
		return;
	if (depth == 0 && !is_wrong)
		push_frame(input, depth++, SPEEDSCOPE_NO_STACK);
	if (!input->error->is_set)
		keep_waiting(input, is_wrong ? NO_NODE :
		             input->nodes[depth - 1]);
}

static void
speedscope_read_samples(struct json_reader *json, struct json_token *token,
                        void *context)
{
	struct speedscope *input = context;

	if (input->part.has_samples) {
		json_skip(json, token);
		return;
	}
	input->part.has_samples = true;
	while (json_next_element(json, token)) {
		if (token->type == JSON_ARRAY) {
			speedscope_read_stack(input);
			continue;
		}
		json_refuse(json, token, "a sample, an array of frames' "
		            "numbers");
		keep_waiting(input, NO_NODE);
	}
}

/* Adds the weight of a sample, or passes its time if it was left out. */
static void
speedscope_add_weight(struct speedscope *input, uint32_t node,
                      struct decimal weight, uint64_t offset)
{
	if (node != NO_NODE)
		speedscope_add_hits(input, node, weight, offset);
	else
		pass_nothing(input, weight);
}

/* Weights after the samples are added at once, others are kept. */
static void
speedscope_read_weights(struct json_reader *json, struct json_token *token,
                        void *context)
{
	struct speedscope *input = context;
	bool is_at_once = input->part.has_samples && speedscope_is_known(input);
	size_t n = 0;

	if (input->part.has_weights) {
		json_skip(json, token);
		return;
	}
	input->part.has_weights = true;
	for (; json_next_element(json, token); n++) {
		struct decimal weight;

		if (!json_decimal(token, &weight)) {
			json_refuse(json, token, "a weight, a number");
			weight = (struct decimal){ .digits = 0 };
		}
		if (!is_at_once)
			keep_weight(input, weight);
		else if (n < input->n_waiting)
			speedscope_add_weight(input, input->waiting[n], weight,
			                      token->offset);
	}
	if (!is_at_once)
		return;
	if (token->type == JSON_ARRAY_END && n != input->n_waiting)
		speedscope_leave_out(input, token->offset, "%zu samples have "
		                     "%zu weights", input->n_waiting, n);
	input->n_waiting = 0;
}

/* ---- events ---- */

struct speedscope_event {
	uint64_t offset;
	char type;			/* 'O', 'C', or 0 */
	uint32_t frame;			/* UINT32_MAX: it has none */
	struct json_known at;
};

static void
speedscope_read_type(struct json_reader *json, struct json_token *token,
                     void *into)
{
	struct speedscope_event *event = into;

	if (json_is(token, "O") || json_is(token, "C"))
		event->type = token->text[0];
	else
		json_refuse(json, token, token->field->what);
}

static void
speedscope_read_event_frame(struct json_reader *json, struct json_token *token,
                            void *into)
{
	struct speedscope_event *event = into;

	event->frame = speedscope_read_label(json_context(json), token);
}

static const struct json_field speedscope_event_fields[] = {
	{ "type", "\"O\" or \"C\", the type of an event", JSON_STRING,
	  .read = speedscope_read_type },
	{ "frame", "the number of a frame", JSON_NUMBER,
	  .read = speedscope_read_event_frame },
	{ "at", "a time, a number", JSON_NUMBER, .read = json_read_decimal,
	  .at = offsetof(struct speedscope_event, at) },
	{ NULL }
};

/* An event whose object is open; false: the input ends in it, or it is wrong. */
static bool
speedscope_read_event(struct speedscope *input, struct speedscope_event *event)
{
	const uint64_t n_left_out = input->n_left_out;

	if (!json_read_fields(input->json, speedscope_event_fields, event))
		return false;
	if (event->type != 0 && event->frame != UINT32_MAX &&
	    event->at.is_there)
		return true;
	if (input->n_left_out == n_left_out)
		speedscope_leave_out(input, event->offset, "expected an event "
		    "with a type, a frame and a time, \"at\"");
	return false;
}

/*
 * to - from; false if that exceeds 63 bits.  Both are taken in the smallest
 * unit that 63 bits can hold, and rounded to it: a double is often written
 * with more digits than that, 0.00499999988824129 before 123.4.
 */
static bool
subtract(struct decimal to, struct decimal from, struct decimal *difference)
{
	int exponent = to.exponent < from.exponent ? to.exponent :
	               from.exponent;

	if (exponent < -18)
		exponent = -18;
	for (; exponent <= 18; exponent++) {
		int64_t a, b;

		*difference = (struct decimal){ .exponent = exponent };
		if (decimal_scale(to, -exponent, &a, NULL) &&
		    decimal_scale(from, -exponent, &b, NULL))
			return !__builtin_sub_overflow(a, b,
			                               &difference->digits);
	}
	return false;
}

/* Adds the time before the last event to the frame that was innermost. */
static void
speedscope_add_passed(struct speedscope *input)
{
	struct decimal passed;
	uint32_t node = input->part.passed_node;

	input->part.passed_node = NO_NODE;
	if (node == NO_NODE || input->error->is_set)
		return;
	if (!subtract(input->part.last, input->part.passed_from, &passed))
		input->part.is_beyond = true;
	else if (passed.digits != 0 && !speedscope_is_known(input)) {
		keep_waiting(input, node);
		keep_weight(input, passed);
	} else if (passed.digits != 0)
		speedscope_add_hits(input, node, passed,
		                    input->part.passed_offset);
}

/* Time passes from one moment to another, which becomes the last. */
static void
speedscope_pass(struct speedscope *input, struct decimal from,
                struct decimal to, uint64_t offset)
{
	struct decimal passed = { .digits = 0 };

	speedscope_add_passed(input);
	if (input->n > 0) {
		input->part.passed_node = input->nodes[input->n - 1];
		input->part.passed_from = from;
		input->part.passed_offset = offset;
	} else if (!subtract(to, from, &passed)) {
		input->part.is_beyond = true;
	} else if (passed.digits != 0 && !speedscope_is_known(input)) {
		keep_waiting(input, NO_NODE);
		keep_weight(input, passed);
	} else if (passed.digits != 0) {
		pass_nothing(input, passed);
	}
	input->part.last = to;
	input->part.has_early = false;
}

/* Whether one time is before another; false if the distance is not known. */
static bool
speedscope_is_before(struct decimal time, struct decimal other)
{
	struct decimal distance;

	return subtract(time, other, &distance) && distance.digits < 0;
}

/*
 * An event before the previous one.  Either that was late: then what passed
 * before it ends now.  Or this one is early: then its time does not count,
 * unless the next one is early as well, since the clock was set back.
 */
static void
speedscope_go_back(struct speedscope *input, struct decimal at,
                   uint64_t offset)
{
	if (input->n_back++ == 0)
		input->back_offset = offset;
	if (input->part.passed_node != NO_NODE &&
	    !speedscope_is_before(at, input->part.passed_from)) {
		input->part.last = at;
		input->part.has_early = false;
	} else if (!input->part.has_early) {
		input->part.has_early = true;
		input->part.early = at;
	} else {
		speedscope_pass(input, speedscope_is_before(at,
		                    input->part.early) ? at :
		                input->part.early, at, offset);
	}
}

/* Charges what has passed until `at` to the innermost open frame. */
static void
pass_time(struct speedscope *input, struct decimal at, uint64_t offset)
{
	struct decimal passed;

	if (!input->part.has_event) {
		input->part.has_event = true;
		input->part.first = input->part.last = at;
		input->part.passed_node = NO_NODE;
	} else if (!subtract(at, input->part.last, &passed)) {
		if (input->n > 0)
			speedscope_leave_out(input, offset, "a time that "
			                     "exceeds 63 bits");
		speedscope_add_passed(input);
		input->part.is_beyond = true;
		input->part.last = at;
	} else if (input->n > 0 && passed.digits < 0) {
		speedscope_go_back(input, at, offset);
	} else {
		speedscope_pass(input, input->part.last, at, offset);
	}
}

/*
 * Ends a frame.  Of two that end at once the outer one may come first; so one
 * that is not the innermost stays open until those inside it have ended.
 */
static void
speedscope_end_frame(struct speedscope *input, uint32_t frame, uint64_t offset)
{
	size_t n = input->n, least = 0;

	if (n > 0 && input->labels[n - 1] == frame) {
		do {
			input->n--;
		} while (input->n > 0 && input->has_ended[input->n - 1]);
		return;
	}
	if (input->n_crossed++ == 0)
		input->crossed_offset = offset;
	if (n > OPEN_FRAMES_SOUGHT)
		least = n - OPEN_FRAMES_SOUGHT;
	while (n > least && (input->labels[n - 1] != frame ||
	                     input->has_ended[n - 1]))
		n--;
	if (n > least)
		input->has_ended[n - 1] = true;
}

static void
speedscope_read_events(struct json_reader *json, struct json_token *token,
                       void *context)
{
	struct speedscope *input = context;

	if (input->part.has_events) {
		json_skip(json, token);
		return;
	}
	input->part.has_events = true;
	input->n = 0;
	while (json_next_object(json, token, "an event, an object")) {
		struct speedscope_event event = { .offset = token->offset,
			.frame = UINT32_MAX };

		if (!speedscope_read_event(input, &event) ||
		    input->error->is_set)
			continue;
		pass_time(input, event.at.decimal, event.offset);
		if (event.type == 'O')
			push_frame(input, input->n, event.frame);
		else
			speedscope_end_frame(input, event.frame, event.offset);
	}
	speedscope_add_passed(input);
}

/* ---- profiles ---- */

/* speedscope shows the numbers of any other unit as they are. */
static void
speedscope_read_unit(struct json_reader *json, struct json_token *token,
                     void *context)
{
	struct speedscope *input = context;

	(void)json;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (json_is(token, units[i].name))
			input->part.unit = &units[i];
	if (input->part.unit != NULL)
		return;
	input->part.unit = &units[0];
	if (!json_is(token, "samples") && input->strange_unit_offset == 0)
		input->strange_unit_offset = token->offset;
}

/* Any other type is one that is not known. */
static void
speedscope_read_profile_type(struct json_reader *json,
                             struct json_token *token, void *context)
{
	struct speedscope *input = context;

	(void)json;
	if (!json_is(token, "sampled") && !json_is(token, "evented"))
		error_set(&input->part.why, "0x%" PRIx64 ": expected the type "
		          "sampled or evented", token->offset);
}

/* Adds nodes and weights that were kept; of an input cut short, whole pairs. */
static void
add_waiting(struct speedscope *input, uint64_t offset, bool is_whole)
{
	size_t n = input->n_waiting < input->n_weights ?
	           input->n_waiting : input->n_weights;

	if (is_whole && input->n_waiting != input->n_weights)
		speedscope_leave_out(input, offset, "%zu samples have %zu "
		                     "weights", input->n_waiting,
		                     input->n_weights);
	if (n > 0 && input->part.unit == NULL && is_whole)
		speedscope_leave_out(input, offset, "the profile has no unit");
	for (size_t i = 0; i < n && input->part.unit != NULL &&
	     !input->error->is_set; i++)
		speedscope_add_weight(input, input->waiting[i],
		                      input->weights[i], offset);
	input->n_waiting = input->n_weights = 0;
}

#define AT(member) offsetof(struct speedscope, member)

static const struct json_field speedscope_profile_fields[] = {
	{ "type", "sampled or evented, a type", JSON_STRING, .or_skip = true,
	  .read = speedscope_read_profile_type },
	{ "name", "a name", JSON_STRING, .read = json_read_text,
	  .at = AT(part.name) },
	{ "unit", "a unit: none, nanoseconds, microseconds, milliseconds, "
	  "seconds or bytes", JSON_STRING, .read = speedscope_read_unit },
	{ "startValue", "a time, a number", JSON_NUMBER,
	  .read = json_read_decimal, .at = AT(part.start) },
	{ "endValue", "a time, a number", JSON_NUMBER,
	  .read = json_read_decimal, .at = AT(part.end) },
	{ "samples", "an array of samples", JSON_ARRAY,
	  .read = speedscope_read_samples },
	{ "weights", "an array of weights", JSON_ARRAY,
	  .read = speedscope_read_weights },
	{ "events", "an array of events", JSON_ARRAY,
	  .read = speedscope_read_events },
	{ NULL }
};

/* Leaves out the profile that has been read, since it cannot be. */
static void
speedscope_drop_profile(struct speedscope *input)
{
	struct error *bad = &input->bad[input->n_bad];

	reader_clear_hits(&input->reader, input->part.first_node);
	input->has_hits = input->part.had_hits;
	input->n_stretches = input->part.first_stretch;
	if (input->n_bad++ >= PROFILES_NAMED)
		return;
	if (input->part.name[0] != '\0')
		error_set(bad, "%s; profile %s", input->part.why.text,
		          input->part.name);
	else
		error_set(bad, "%s; profile %zu", input->part.why.text,
		          input->n_parts + 1);
}

/* Events may go on after the end that the profile tells. */
static void
speedscope_note_late(struct speedscope *input, uint64_t offset)
{
	int64_t last, end;
	int power;

	if (input->part.unit == NULL || !input->part.end.is_there ||
	    !input->part.has_event)
		return;
	power = input->part.unit->power;
	if (!decimal_scale(input->part.last, power, &last, NULL) ||
	    !decimal_scale(input->part.end.decimal, power, &end, NULL) ||
	    last <= end || (power > 0 && last - ROUNDING_NS <= end))
		return;
	if (input->n_late++ == 0)
		input->late_offset = offset;
}

/* Ends what the profile that has been read has begun. */
static void
speedscope_end_profile(struct speedscope *input, uint64_t offset,
                       bool is_whole)
{
	if (is_whole && !input->part.has_samples && !input->part.has_weights &&
	    !input->part.has_events)
		error_set(&input->part.why, "0x%" PRIx64 ": expected samples "
		          "and weights, or events", input->part.offset);
	speedscope_note_late(input, offset);
	if (is_whole && input->part.has_events && input->n > 0) {
		input->n_open += input->n;
		if (input->part.end.is_there)
			pass_time(input, input->part.end.decimal, offset);
		speedscope_add_passed(input);
	}
	add_waiting(input, offset, is_whole);
	if (input->part.why.is_set) {
		speedscope_drop_profile(input);
		return;
	}
	speedscope_end_times(input, is_whole);
	/* An empty profile has its resource, too. */
	if (is_whole && input->part.unit != NULL && !input->error->is_set)
		speedscope_find_resource(input);
}

/* Reads a profile, whose object is open. */
static void
speedscope_read_profile(struct speedscope *input)
{
	bool is_whole;

	/* Resources share their stacks. */
	if (!input->is_own)
		input->reader.thread = (uint32_t)input->n_parts;
	input->n = 0;		/* stacks of another section are not shared */
	memset(&input->part, 0, sizeof input->part);
	input->part.passed_node = NO_NODE;
	input->part.name = "";
	input->part.offset = json_offset(input->json);
	input->part.first_node = reader_count_nodes(&input->reader);
	input->part.had_hits = input->has_hits;
	input->part.first_stretch = input->n_stretches;
	is_whole = json_read_fields(input->json, speedscope_profile_fields,
	                            input);
	speedscope_end_profile(input, json_offset(input->json), is_whole);
	input->part.offset = 0;
	if (memory_grow(&input->parts, &input->parts_capacity,
	                input->n_parts + 1, sizeof *input->parts,
	                input->error) == 0)
		input->parts[input->n_parts++] = (struct speedscope_part){
			input->part.name,
			!input->part.why.is_set &&
			reader_count_nodes(&input->reader) >
			    input->part.first_node
		};
}

/* ---- the file ---- */

static void
speedscope_read_profiles(struct json_reader *json, struct json_token *token,
                         void *context)
{
	while (json_next_object(json, token, "a profile, an object"))
		speedscope_read_profile(context);
}

/* It says whether profiles are threads. */
static void
speedscope_read_exporter(struct json_reader *json, struct json_token *token,
                         void *context)
{
	struct speedscope *input = context;

	if (!json_is(token, "cpprof"))
		return;
	if (input->n_parts > 0)
		json_fail(json, token->offset, "expected the exporter, cpprof, "
		          "before the profiles");
	input->is_own = true;
}

static const struct json_field speedscope_shared_fields[] = {
	{ "frames", "an array of frames", JSON_ARRAY,
	  .read = speedscope_read_frames },
	{ NULL }
};

static const struct json_field speedscope_file_fields[] = {
	{ "shared", "an object with frames", JSON_OBJECT,
	  .fields = speedscope_shared_fields },
	{ "profiles", "an array of profiles", JSON_ARRAY,
	  .read = speedscope_read_profiles },
	{ "exporter", "a name", JSON_STRING, .or_skip = true,
	  .read = speedscope_read_exporter },
	{ "name", "a name", JSON_STRING, .or_skip = true,
	  .read = json_read_text, .at = AT(program) },
	{ NULL }
};

/* ---- the profile ---- */

/*
 * Turns labels into frames.  Those of a sample without frames and, in a file
 * that is cut short, of frames that are missing are made.
 */
static int
speedscope_make_labels(struct profile *profile, struct error *error)
{
	struct sample_tree *tree = profile->tree;
	uint32_t n_frames = profile->n_frames;
	struct id_table others = { 0 };

	for (uint32_t i = 0; i < tree->n_nodes && !error->is_set; i++) {
		uint32_t label = tree->label[i], number, name;

		if (label < n_frames)
			continue;
		number = id_table_add(&others, label, error);
		if (number == NO_ID)
			break;
		tree->label[i] = n_frames + number;
		if (number < profile->n_frames - n_frames)
			continue;
		name = label == SPEEDSCOPE_NO_STACK ?
		    names_add(profile->names, "[no stack]", 10, error) :
		    names_add_format(profile->names, error, "[frame %" PRIu32
		                     "]", label);
		if (name != NO_NAME)
			profile_add_named_frame(profile, name, error);
	}
	id_table_free(&others);
	return error->is_set ? -1 : 0;
}

/* The threads of the profile that parts are: sections[n_parts]. */
static int
add_threads(struct speedscope *input, struct reader_section *sections,
            struct error *error)
{
	bool are_threads = !input->is_own && input->n_parts > 1;

	for (size_t i = 0; i < input->n_parts; i++) {
		struct thread thread = { .name = input->parts[i].name };

		sections[i] = (struct reader_section){ NO_THREAD, NO_LABELS };
		if (!are_threads || !input->parts[i].has_nodes)
			continue;
		sections[i].thread = profile_add_thread(input->reader.profile,
		                                        &thread, error);
		if (sections[i].thread == NO_THREAD)
			return -1;
	}
	return 0;
}

/* Fails with the first thing that is wrong in a file that has nothing else. */
static int
speedscope_fail_wrong(struct speedscope *input, struct error *error)
{
	const struct reader *reader = &input->reader;

	if (input->left_out.is_set || input->n_bad > 0)
		return error_set(error, "%s: %s", source_name(reader->source),
		                 input->left_out.is_set ? input->left_out.text :
		                 input->bad[0].text);
	if (input->n_back > 0)
		return reader_fail_at(reader, input->back_offset, error, "a "
		    "time before that of the previous event");
	if (input->n_crossed > 0)
		return reader_fail_at(reader, input->crossed_offset, error,
		    "the end of a frame that is not the innermost open one");
	return 0;
}

/* Tells of profiles that were left out, or that go on after their ends. */
static int
speedscope_warn_profiles(struct speedscope *input, struct error *error)
{
	struct reader *reader = &input->reader;
	uint64_t n_named = input->n_bad < PROFILES_NAMED ? input->n_bad :
	                   PROFILES_NAMED;

	for (uint64_t i = 0; i < n_named; i++)
		if (reader_warn(reader, error, "%s is left out",
		                input->bad[i].text) != 0)
			return -1;
	if (input->n_bad > n_named &&
	    reader_warn(reader, error, "more profiles that are left out: %"
	                PRIu64, input->n_bad - n_named) != 0)
		return -1;
	return input->n_late == 0 ? 0 :
	    reader_warn(reader, error, "0x%" PRIx64 ": events after the end of "
	                "the profile, which were counted; such profiles: %"
	                PRIu64, input->late_offset, input->n_late);
}

static int
speedscope_finish(struct speedscope *input, struct error *error)
{
	struct reader *reader = &input->reader;
	struct process process = { .program = input->program };
	struct reader_section *sections;
	int result = -1;

	if (error->is_set)
		return -1;
	if (!input->has_hits && speedscope_fail_wrong(input, error) != 0)
		return -1;
	if (reader->profile->n_resources == 0 ||
	    reader_count_nodes(reader) == 0)
		return reader_fail_empty(reader, error);
	if (input->greatest_offset > 0 && !reader->is_cut_short &&
	    input->greatest >= reader->profile->n_frames &&
	    reader_warn(reader, error, "0x%" PRIx64 ": frame %" PRIu32 " of %"
	                PRIu32, input->greatest_offset, input->greatest,
	                reader->profile->n_frames) != 0)
		return -1;
	if (input->n_left_out > 0 &&
	    reader_warn(reader, error, "%s; places that were left out: %" PRIu64,
	                input->left_out.text, input->n_left_out) != 0)
		return -1;
	if (speedscope_warn_profiles(input, error) != 0)
		return -1;
	if (input->n_back > 0 &&
	    reader_warn(reader, error, "0x%" PRIx64 ": a time before that of "
	                "the previous event; such events, whose times were left "
	                "out: %" PRIu64, input->back_offset,
	                input->n_back) != 0)
		return -1;
	if (input->n_crossed > 0 &&
	    reader_warn(reader, error, "0x%" PRIx64 ": the end of a frame that "
	                "is not the innermost open one; such events, whose "
	                "frames end with those inside them: %" PRIu64,
	                input->crossed_offset, input->n_crossed) != 0)
		return -1;
	if (reader_warn_cut_short(reader, input->has_frames ? "" :
	                          ", but the names of the frames are missing",
	                          error) != 0)
		return -1;
	if (input->strange_unit_offset > 0 &&
	    reader_warn(reader, error, "0x%" PRIx64 ": a unit unknown to "
	                "speedscope; its weights are read as plain numbers",
	                input->strange_unit_offset) != 0)
		return -1;
	if (input->n_rounded > 0 &&
	    reader_warn(reader, error, "weights rounded to whole "
	                "numbers: %" PRIu64, input->n_rounded) != 0)
		return -1;
	if (input->n_open > 0 &&
	    reader_warn(reader, error, "frames without a closing event: %" PRIu64
	                "; they end with their profiles", input->n_open) != 0)
		return -1;
	sections = memory_array(input->n_parts, sizeof *sections, error);
	if (sections != NULL && speedscope_note_times(input, error) == 0 &&
	    profile_add_process(reader->profile, &process, error) !=
	        UINT32_MAX && add_threads(input, sections, error) == 0 &&
	    reader_finish_stacks(reader, sections, error) == 0 &&
	    reader_drop_below_zero(reader, NULL, error) == 0)
		result = speedscope_make_labels(reader->profile, error);
	free(sections);
	return result;
}

static struct profile *
speedscope_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct speedscope input = { .error = error };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		input.json = json_reader_new(&input.reader, &input, error);
	if (input.json != NULL) {
		json_leave_out_wrong(input.json, speedscope_leave_out_wrong);
		json_read_file(input.json, speedscope_file_fields, "an object",
		               &input);
	}
	result = speedscope_finish(&input, error);
	free(input.labels);
	free(input.nodes);
	free(input.has_ended);
	free(input.waiting);
	free(input.weights);
	free(input.stretches);
	free(input.parts);
	json_reader_free(input.json);
	return reader_end(&input.reader, result);
}

static int
speedscope_probe(const void *head, size_t size)
{
	static const char *const keys[] = {
		"shared.frames", "profiles[].samples", "profiles[].events",
		"profiles[].startValue", "profiles[].endValue", NULL
	};

	return json_probe(head, size, keys);
}

const struct format format_speedscope = {
	.name = "speedscope",
	.summary = "what py-spy, rbspy and others write for speedscope",
	.probe = speedscope_probe,
	.read = speedscope_read,
};
