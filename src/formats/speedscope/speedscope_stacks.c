/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope_stacks.c -- the stacks of one profile of a speedscope file.
 *
 * {"type": "sampled", "name", "unit", "samples": [[frame, ...], ...],
 * "weights": [...]}, or {"type": "evented", ..., "events": [{"type": "O",
 * "frame", "at"}, {"type": "C", ...}, ...]}.  A frame is open from O to C; the
 * time between two events is charged to the innermost open frame.  Samples have
 * no times of their own; as in speedscope, each begins where the last one
 * ended.
 */
#include "src/formats/speedscope/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

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
static const struct speedscope_event_kind {
	const char *name, *gtick;
} kinds[N_SPEEDSCOPE_KINDS] = {
	[SPEEDSCOPE_NUMBERS] = { "samples", "" },
	[SPEEDSCOPE_TIME] = { "time", "nanosecond" },
	[SPEEDSCOPE_BYTES] = { "bytes", "byte" },
};

/* The profile of the file that is being read. */
struct speedscope_stacks_part {
	struct speedscope_stacks *stacks;
	struct json_reader *json;
	const char *name;
	const struct speedscope_unit *unit; /* NULL: not yet known */
	uint32_t resource;		/* its own, if profiles are resources:
					 * number + 1; 0: none yet */
	uint64_t offset;		/* where it begins */
	bool has_samples, has_weights, has_events;
	struct decimal start, end;	/* "startValue", "endValue" */
	bool has_start, has_end;
	struct decimal first, last;	/* when these events were */
	bool has_event;
};

void
speedscope_stacks_free(struct speedscope_stacks *stacks)
{
	free(stacks->labels);
	free(stacks->nodes);
	free(stacks->waiting);
	free(stacks->weights);
	speedscope_times_free(&stacks->times);
}

/* ---- resources ---- */

/*
 * The resource of the profile, whose name and unit must be known; NO_RESOURCE
 * with the error set.
 */
static uint32_t
speedscope_stacks_find_resource(struct speedscope_stacks_part *part)
{
	struct speedscope_stacks *stacks = part->stacks;
	const struct speedscope_event_kind *kind = &kinds[part->unit->kind];

	if (!stacks->is_own)
		return reader_need_resource(stacks->reader,
		    &stacks->resource_of[part->unit->kind], kind->name,
		    kind->gtick, 1, stacks->error);
	if (part->resource == 0 &&
	    stacks->reader->profile->n_resources == RESOURCES_MAX) {
		json_fail(part->json, part->offset,
		          "more than %d profiles that are resources",
		          RESOURCES_MAX);
		return NO_RESOURCE;
	}
	return reader_need_resource(stacks->reader, &part->resource,
	    part->name, part->unit->gtick, 1, stacks->error);
}

/* Whether weights are times, one after the other. */
static bool
has_times(const struct speedscope_stacks_part *part)
{
	return part->unit != NULL && part->unit->kind == SPEEDSCOPE_TIME &&
	       !part->stacks->is_own;
}

/* Passes time of which no stack is known. */
static void
pass_nothing(struct speedscope_stacks_part *part, struct decimal passed)
{
	struct speedscope_times *times = &part->stacks->times;
	int64_t length;

	if (!has_times(part))
		return;
	if (decimal_scale(passed, part->unit->power, &length, NULL))
		speedscope_times_pass(times, length);
	else
		times->is_beyond = true;
}

/* Adds a weight to a node's hits. */
static void
speedscope_stacks_add_hits(struct speedscope_stacks_part *part, uint32_t node,
                           struct decimal weight, uint64_t offset)
{
	struct speedscope_stacks *stacks = part->stacks;
	uint32_t resource = speedscope_stacks_find_resource(part);
	struct error why = { 0 };
	bool is_exact;
	int64_t hits;

	if (resource == NO_RESOURCE)
		return;
	if (!decimal_scale(weight, stacks->is_own ? 0 : part->unit->power,
	                   &hits, &is_exact))
		json_fail(part->json, offset, "a weight that exceeds 63 bits");
	else if (weight.digits < 0)
		reader_note_below_zero(stacks->reader, resource, offset,
		                       stacks->error);
	else if ((hits != 0 || !stacks->is_own) &&
	         reader_add_hits(stacks->reader, node, resource,
	                         (uint64_t)hits, 1, &why) != 0)
		json_pass(part->json, offset, &why);
	else if (has_times(part))
		speedscope_times_add(&stacks->times, node, (uint64_t)hits,
		                     stacks->error);
	stacks->n_rounded += !is_exact && part->unit->kind != SPEEDSCOPE_TIME;
}

/* Whether weights can be added at once. */
static bool
speedscope_stacks_is_known(const struct speedscope_stacks_part *part)
{
	return part->unit != NULL &&
	       (!part->stacks->is_own || part->name[0] != '\0');
}

static void
keep_waiting(struct speedscope_stacks *stacks, uint32_t node)
{
	if (memory_grow(&stacks->waiting, &stacks->waiting_capacity,
	                stacks->n_waiting + 1, sizeof *stacks->waiting,
	                stacks->error) == 0)
		stacks->waiting[stacks->n_waiting++] = node;
}

static void
keep_weight(struct speedscope_stacks *stacks, struct decimal weight)
{
	if (memory_grow(&stacks->weights, &stacks->weights_capacity,
	                stacks->n_weights + 1, sizeof *stacks->weights,
	                stacks->error) == 0)
		stacks->weights[stacks->n_weights++] = weight;
}

/* ---- samples ---- */

/* The number of a frame; UINT32_MAX with the error set. */
static uint32_t
speedscope_stacks_read_frame(struct speedscope_stacks *stacks,
                             const struct json_token *token)
{
	uint64_t number;

	if (!json_whole_number(token, SPEEDSCOPE_NO_STACK - 1, &number)) {
		json_fail(stacks->json, token->offset,
		          "expected the number of a frame");
		return UINT32_MAX;
	}
	if (stacks->has_frames && number >= stacks->n_frames) {
		json_fail(stacks->json, token->offset, "frame %" PRIu64
		          " of %" PRIu32, number, stacks->n_frames);
		return UINT32_MAX;
	}
	if (stacks->greatest_offset == 0 || number > stacks->greatest) {
		stacks->greatest = (uint32_t)number;
		stacks->greatest_offset = token->offset;
	}
	return (uint32_t)number;
}

/*
 * Adds a frame to the stack at `depth`.  Up to there it has the frames of the
 * last stack; the new one may be the same, too.
 */
static void
push_frame(struct speedscope_stacks *stacks, size_t depth, uint32_t label)
{
	uint32_t node;

	if (depth < stacks->n && stacks->labels[depth] == label)
		return;
	node = reader_child(stacks->reader,
	    depth > 0 ? stacks->nodes[depth - 1] : NO_NODE, label,
	    stacks->error);
	if (node == NO_NODE ||
	    memory_grow(&stacks->labels, &stacks->labels_capacity, depth + 1,
	                sizeof *stacks->labels, stacks->error) != 0 ||
	    memory_grow(&stacks->nodes, &stacks->nodes_capacity, depth + 1,
	                sizeof *stacks->nodes, stacks->error) != 0)
		return;
	stacks->labels[depth] = label;
	stacks->nodes[depth] = node;
	stacks->n = depth + 1;
}

/* The node of a sample, whose array is open; NO_NODE: cut, or an error. */
static uint32_t
speedscope_stacks_read_stack(struct speedscope_stacks *stacks)
{
	struct json_token token;
	size_t depth = 0;

	while (json_next_element(stacks->json, &token)) {
		uint32_t label = speedscope_stacks_read_frame(stacks, &token);

		if (label == UINT32_MAX)
			return NO_NODE;
		push_frame(stacks, depth++, label);
	}
	if (token.type != JSON_ARRAY_END)
		return NO_NODE;
	if (depth == 0)
		push_frame(stacks, depth++, SPEEDSCOPE_NO_STACK);
	return stacks->error->is_set ? NO_NODE : stacks->nodes[depth - 1];
}

static void
speedscope_stacks_read_samples(struct speedscope_stacks_part *part)
{
	struct speedscope_stacks *stacks = part->stacks;
	struct json_token token;

	if (!json_open_array(part->json, "an array of samples"))
		return;
	part->has_samples = true;
	while (json_next_element(part->json, &token)) {
		uint32_t node;

		if (token.type != JSON_ARRAY) {
			json_fail(part->json, token.offset, "expected a "
			          "sample, an array of frames' numbers");
			return;
		}
		node = speedscope_stacks_read_stack(stacks);
		if (node != NO_NODE)
			keep_waiting(stacks, node);
	}
}

/* Weights after the samples are added at once, others are kept. */
static void
read_weights(struct speedscope_stacks_part *part)
{
	struct speedscope_stacks *stacks = part->stacks;
	bool is_at_once = part->has_samples && speedscope_stacks_is_known(part);
	struct json_token token;
	struct decimal weight;
	size_t n = 0;

	if (!json_open_array(part->json, "an array of weights"))
		return;
	part->has_weights = true;
	while (json_next_element(part->json, &token)) {
		if (!json_decimal(&token, &weight))
			json_fail(part->json, token.offset,
			          "expected a weight, a number");
		else if (!is_at_once)
			keep_weight(stacks, weight);
		else if (n == stacks->n_waiting)
			json_fail(part->json, token.offset, "more weights "
			          "than samples, of which there are %zu", n);
		else
			speedscope_stacks_add_hits(part, stacks->waiting[n++],
			                           weight, token.offset);
	}
	if (!is_at_once)
		return;
	if (token.type == JSON_ARRAY_END && n < stacks->n_waiting)
		json_fail(part->json, token.offset, "%zu samples have %zu "
		          "weights", stacks->n_waiting, n);
	stacks->n_waiting = 0;
}

/* ---- events ---- */

struct speedscope_event {
	uint64_t offset;
	char type;			/* 'O', 'C', or 0 */
	uint32_t frame;			/* UINT32_MAX: it has none */
	struct decimal at;
	bool has_at;
};

static void
read_event_type(struct json_reader *json, struct speedscope_event *event)
{
	struct json_token token;

	if (!json_next(json, &token))
		return;
	if (token.type == JSON_STRING && (json_is(&token, "O") ||
	                                  json_is(&token, "C")))
		event->type = token.text[0];
	else
		json_fail(json, token.offset, "expected \"O\" or \"C\", the "
		          "type of an event");
}

/* The time of a key; false: there is none, which may be an error. */
static bool
speedscope_stacks_read_time(struct json_reader *json, struct decimal *time)
{
	struct json_token token;

	if (!json_next(json, &token) || token.type == JSON_NULL)
		return false;
	if (json_decimal(&token, time))
		return true;
	json_fail(json, token.offset, "expected a time, a number");
	return false;
}

/* An event whose object is open; false: the input ends in it. */
static bool
speedscope_stacks_read_event(struct speedscope_stacks *stacks,
                             struct speedscope_event *event)
{
	struct json_reader *json = stacks->json;
	struct json_token key, token;

	while (json_next_key(json, &key)) {
		if (json_is(&key, "type")) {
			read_event_type(json, event);
		} else if (json_is(&key, "frame")) {
			if (json_next(json, &token))
				event->frame =
				    speedscope_stacks_read_frame(stacks,
				                                 &token);
		} else if (json_is(&key, "at")) {
			event->has_at = speedscope_stacks_read_time(json,
			                                            &event->at);
		} else {
			json_skip_value(json);
		}
	}
	if (key.type != JSON_OBJECT_END)
		return false;
	if (event->type == 0 || event->frame == UINT32_MAX || !event->has_at)
		json_fail(json, event->offset, "expected an event with a "
		          "type, a frame and a time, \"at\"");
	return true;
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

		difference->exponent = exponent;
		if (decimal_scale(to, -exponent, &a, NULL) &&
		    decimal_scale(from, -exponent, &b, NULL))
			return !__builtin_sub_overflow(a, b,
			                               &difference->digits);
	}
	return false;
}

/* Adds what has passed to a node, or to none, at once or later. */
static void
add_passed(struct speedscope_stacks_part *part, uint32_t node,
           struct decimal passed, uint64_t offset)
{
	if (passed.digits == 0)
		return;
	if (!speedscope_stacks_is_known(part)) {
		keep_waiting(part->stacks, node);
		keep_weight(part->stacks, passed);
	} else if (node != NO_NODE) {
		speedscope_stacks_add_hits(part, node, passed, offset);
	} else {
		pass_nothing(part, passed);
	}
}

/* Charges what has passed until `at` to the innermost open frame. */
static void
pass_time(struct speedscope_stacks_part *part, struct decimal at,
          uint64_t offset)
{
	struct speedscope_stacks *stacks = part->stacks;
	struct decimal passed = { .digits = 0 };

	if (!part->has_event) {
		part->has_event = true;
		part->first = at;
	} else if (!subtract(at, part->last, &passed)) {
		if (stacks->n > 0)
			json_fail(part->json, offset, "a time that exceeds "
			          "63 bits");
		stacks->times.is_beyond = true;
	} else if (stacks->n == 0) {
		add_passed(part, NO_NODE, passed, offset);
	} else if (passed.digits < 0) {
		json_fail(part->json, offset, "a time before that of the "
		          "previous event");
	} else {
		add_passed(part, stacks->nodes[stacks->n - 1], passed, offset);
	}
	part->last = at;
}

static void
speedscope_stacks_apply_event(struct speedscope_stacks_part *part,
                              const struct speedscope_event *event)
{
	struct speedscope_stacks *stacks = part->stacks;

	pass_time(part, event->at, event->offset);
	if (event->type == 'O')
		push_frame(stacks, stacks->n, event->frame);
	else if (stacks->n > 0 &&
	         stacks->labels[stacks->n - 1] == event->frame)
		stacks->n--;
	else
		json_fail(part->json, event->offset, "the end of frame %"
		          PRIu32 ", which is not the innermost open one",
		          event->frame);
}

static void
speedscope_stacks_read_events(struct speedscope_stacks_part *part)
{
	struct json_token token;

	if (!json_open_array(part->json, "an array of events"))
		return;
	part->has_events = true;
	part->stacks->n = 0;
	while (json_next_object(part->json, &token, "an event, an object")) {
		struct speedscope_event event = { .offset = token.offset,
			.frame = UINT32_MAX };

		if (speedscope_stacks_read_event(part->stacks, &event) &&
		    !part->stacks->error->is_set)
			speedscope_stacks_apply_event(part, &event);
	}
}

/* ---- the whole profile ---- */

/* speedscope shows the numbers of any other unit as they are. */
static void
speedscope_stacks_read_unit(struct speedscope_stacks_part *part)
{
	struct speedscope_stacks *stacks = part->stacks;
	struct json_token token;

	if (!json_next(part->json, &token))
		return;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (token.type == JSON_STRING &&
		    json_is(&token, units[i].name))
			part->unit = &units[i];
	if (part->unit != NULL)
		return;
	if (token.type != JSON_STRING) {
		json_fail(part->json, token.offset, "expected a unit: none, "
		          "nanoseconds, microseconds, milliseconds, seconds or "
		          "bytes");
		return;
	}
	part->unit = &units[0];
	if (!json_is(&token, "samples") && stacks->strange_unit_offset == 0)
		stacks->strange_unit_offset = token.offset;
}

static void
speedscope_stacks_read_name(struct speedscope_stacks_part *part)
{
	struct json_token token;
	const char *name;

	if (!json_get_string(part->json, &token, "a name"))
		return;
	name = arena_text(&part->stacks->reader->profile->arena, token.text,
	                  token.length, part->stacks->error);
	if (name != NULL)
		part->name = name;
}

static void
speedscope_stacks_read_key(struct speedscope_stacks_part *part,
                           const struct json_token *key)
{
	if (json_is(key, "name"))
		speedscope_stacks_read_name(part);
	else if (json_is(key, "unit"))
		speedscope_stacks_read_unit(part);
	else if (json_is(key, "samples") && !part->has_samples)
		speedscope_stacks_read_samples(part);
	else if (json_is(key, "weights") && !part->has_weights)
		read_weights(part);
	else if (json_is(key, "events") && !part->has_events)
		speedscope_stacks_read_events(part);
	else if (json_is(key, "startValue"))
		part->has_start = speedscope_stacks_read_time(part->json,
		                                              &part->start);
	else if (json_is(key, "endValue"))
		part->has_end = speedscope_stacks_read_time(part->json,
		                                            &part->end);
	else
		json_skip_value(part->json);
}

/* Adds nodes and weights that were kept; of a cut input, whole pairs. */
static void
add_waiting(struct speedscope_stacks_part *part, uint64_t offset, bool is_whole)
{
	struct speedscope_stacks *stacks = part->stacks;
	size_t n = stacks->n_waiting < stacks->n_weights ?
	           stacks->n_waiting : stacks->n_weights;

	if (is_whole && stacks->n_waiting != stacks->n_weights)
		json_fail(part->json, offset, "%zu samples have %zu weights",
		          stacks->n_waiting, stacks->n_weights);
	if (n > 0 && part->unit == NULL && is_whole)
		json_fail(part->json, offset, "the profile has no unit");
	for (size_t i = 0; i < n && part->unit != NULL &&
	     !stacks->error->is_set; i++) {
		if (stacks->waiting[i] != NO_NODE)
			speedscope_stacks_add_hits(part, stacks->waiting[i],
			                           stacks->weights[i], offset);
		else
			pass_nothing(part, stacks->weights[i]);
	}
	stacks->n_waiting = stacks->n_weights = 0;
}

/*
 * Samples follow each other from the start, which is 0 if the profile has none;
 * events have their own times.
 */
static void
end_times(struct speedscope_stacks_part *part, bool is_whole)
{
	int64_t start = 0;
	bool is_known = has_times(part) &&
	    (part->has_events || part->has_start || is_whole) &&
	    decimal_scale(part->has_events ? part->first : part->start,
	                  part->unit->power, &start, NULL);

	speedscope_times_end(&part->stacks->times, start, is_known,
	                     part->stacks->error);
}

void
speedscope_stacks_read(struct speedscope_stacks *stacks, const char **name)
{
	struct speedscope_stacks_part part = {
		.stacks = stacks,
		.json = stacks->json,
		.name = "",
		.offset = stacks->reader->place
	};
	struct json_token key;
	bool is_whole;

	stacks->n = 0;		/* stacks of another section are not shared */
	speedscope_times_begin(&stacks->times);
	while (json_next_key(part.json, &key))
		speedscope_stacks_read_key(&part, &key);
	is_whole = key.type == JSON_OBJECT_END;
	if (is_whole && part.has_events && stacks->n > 0) {
		stacks->n_open += stacks->n;
		if (part.has_end)
			pass_time(&part, part.end, key.offset);
	}
	add_waiting(&part, key.offset, is_whole);
	end_times(&part, is_whole);
	/* An empty profile has its resource, too. */
	if (is_whole && part.unit != NULL && !stacks->error->is_set)
		speedscope_stacks_find_resource(&part);
	*name = part.name;
}
