/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope_stacks.c -- the stacks of one profile of a speedscope file.
 *
 * {"type": "sampled", "name", "unit", "samples": [[frame, ...], ...],
 * "weights": [...]}, or {"type": "evented", ..., "events": [{"type": "O",
 * "frame", "at"}, {"type": "C", ...}, ...]}.  A frame is open from O to C; the
 * time between two events is charged to the innermost open frame.
 */
#include "src/formats/speedscope/speedscope_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

static const struct speedscope_unit units[] = {
	{ "none", SCOPE_NUMBERS, "", 0 },
	{ "nanoseconds", SCOPE_TIME, "nanosecond", 0 },
	{ "microseconds", SCOPE_TIME, "microsecond", 3 },
	{ "milliseconds", SCOPE_TIME, "millisecond", 6 },
	{ "seconds", SCOPE_TIME, "second", 9 },
	{ "bytes", SCOPE_BYTES, "byte", 0 },
};

/* Resources of files that export speedscope did not write. */
static const struct kind {
	const char *name, *gtick;
} kinds[N_SCOPE_KINDS] = {
	[SCOPE_NUMBERS] = { "samples", "" },
	[SCOPE_TIME] = { "time", "nanosecond" },
	[SCOPE_BYTES] = { "bytes", "byte" },
};

/* The profile that is being read. */
struct scope {
	struct speedscope_stacks *stacks;
	struct json_reader *json;
	const char *name;
	const struct speedscope_unit *unit;	/* NULL: not yet known */
	uint32_t resource;			/* NO_RESOURCE: likewise */
	uint64_t offset;			/* where it begins */
	bool has_samples, has_weights, has_events;
	struct decimal end;			/* "endValue" */
	bool has_end;
	struct decimal last;			/* when the last event was */
};

void
speedscope_stacks_free(struct speedscope_stacks *stacks)
{
	free(stacks->labels);
	free(stacks->nodes);
	free(stacks->waiting);
	free(stacks->weights);
}

/* ---- resources ---- */

/* The profile's resource, once its name and unit are known, or NO_RESOURCE. */
static uint32_t
find_resource(struct scope *scope)
{
	struct speedscope_stacks *stacks = scope->stacks;
	uint32_t *known = &stacks->resource_of[scope->unit->kind];
	const struct kind *kind = &kinds[scope->unit->kind];
	struct profile *profile = stacks->profile;

	if (scope->resource != NO_RESOURCE)
		return scope->resource;
	if (!stacks->is_own && *known > 0)
		return scope->resource = *known - 1;
	if (profile->n_resources == RESOURCES_MAX) {
		json_fail(scope->json, scope->offset,
		          "more than %d profiles that are resources",
		          RESOURCES_MAX);
		return NO_RESOURCE;
	}
	scope->resource = profile_add_resource(profile,
	    stacks->is_own ? scope->name : kind->name,
	    stacks->is_own ? scope->unit->gtick : kind->gtick, 1,
	    stacks->error);
	if (scope->resource == NO_RESOURCE ||
	    tree_builder_add_resource(stacks->builder, stacks->error) != 0)
		return NO_RESOURCE;
	*known = profile->n_resources;
	return scope->resource;
}

/* Adds a weight to a node's hits. */
static void
add_hits(struct scope *scope, uint32_t node, struct decimal weight,
         uint64_t offset)
{
	struct speedscope_stacks *stacks = scope->stacks;
	uint32_t resource = find_resource(scope);
	struct error why = { 0 };
	bool is_exact;
	int64_t hits;

	if (resource == NO_RESOURCE)
		return;
	if (!decimal_scale(weight, stacks->is_own ? 0 : scope->unit->power,
	                   &hits, &is_exact))
		json_fail(scope->json, offset, "a weight that passes 63 bits");
	else if (weight.digits < 0)
		json_fail(scope->json, offset, "a negative weight: differences "
		          "of profiles cannot be read");
	else if ((hits != 0 || !stacks->is_own) &&
	         tree_builder_add(stacks->builder, node, resource,
	                          (uint64_t)hits, 1, &why) != 0)
		json_fail(scope->json, offset, "%s", why.text);
	stacks->n_rounded += !is_exact && scope->unit->kind != SCOPE_TIME;
}

/* Whether weights can be added at once. */
static bool
is_known(const struct scope *scope)
{
	return scope->unit != NULL &&
	       (!scope->stacks->is_own || scope->name[0] != '\0');
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
read_frame(struct speedscope_stacks *stacks, const struct json_token *token)
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
	node = tree_builder_child(stacks->builder,
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
read_stack(struct speedscope_stacks *stacks)
{
	struct json_token token;
	size_t depth = 0;

	while (json_next_element(stacks->json, &token)) {
		uint32_t label = read_frame(stacks, &token);

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
read_samples(struct scope *scope)
{
	struct speedscope_stacks *stacks = scope->stacks;
	struct json_token token;

	if (!json_open_array(scope->json, "an array of samples"))
		return;
	scope->has_samples = true;
	while (json_next_element(scope->json, &token)) {
		uint32_t node;

		if (token.type != JSON_ARRAY) {
			json_fail(scope->json, token.offset, "expected a "
			          "sample, an array of frames' numbers");
			return;
		}
		node = read_stack(stacks);
		if (node != NO_NODE)
			keep_waiting(stacks, node);
	}
}

/* Weights behind the samples are added at once, others are kept. */
static void
read_weights(struct scope *scope)
{
	struct speedscope_stacks *stacks = scope->stacks;
	bool is_at_once = scope->has_samples && is_known(scope);
	struct json_token token;
	struct decimal weight;
	size_t n = 0;

	if (!json_open_array(scope->json, "an array of weights"))
		return;
	scope->has_weights = true;
	while (json_next_element(scope->json, &token)) {
		if (!json_decimal(&token, &weight))
			json_fail(scope->json, token.offset,
			          "expected a weight, a number");
		else if (!is_at_once)
			keep_weight(stacks, weight);
		else if (n == stacks->n_waiting)
			json_fail(scope->json, token.offset, "more weights "
			          "than samples, of which there are %zu", n);
		else
			add_hits(scope, stacks->waiting[n++], weight,
			         token.offset);
	}
	if (!is_at_once)
		return;
	if (token.type == JSON_ARRAY_END && n < stacks->n_waiting)
		json_fail(scope->json, token.offset, "%zu samples have %zu "
		          "weights", stacks->n_waiting, n);
	stacks->n_waiting = 0;
}

/* ---- events ---- */

struct event {
	uint64_t offset;
	char type;			/* 'O', 'C', or 0 */
	uint32_t frame;			/* UINT32_MAX: it has none */
	struct decimal at;
	bool has_at;
};

static void
read_event_type(struct json_reader *json, struct event *event)
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

/* A time behind a key; false: there is none, which may be an error. */
static bool
read_time(struct json_reader *json, struct decimal *time)
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
read_event(struct speedscope_stacks *stacks, struct event *event)
{
	struct json_reader *json = stacks->json;
	struct json_token key, token;

	while (json_next_key(json, &key)) {
		if (json_is(&key, "type")) {
			read_event_type(json, event);
		} else if (json_is(&key, "frame")) {
			if (json_next(json, &token))
				event->frame = read_frame(stacks, &token);
		} else if (json_is(&key, "at")) {
			event->has_at = read_time(json, &event->at);
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
 * to - from; false where that passes 63 bits.  Both are taken in the smallest
 * unit that 63 bits can hold, and rounded to it: a double is often written with
 * more digits than that, 0.00499999988824129 before 123.4.
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

/* Charges what has passed until `at` to the innermost open frame. */
static void
pass_time(struct scope *scope, struct decimal at, uint64_t offset)
{
	struct speedscope_stacks *stacks = scope->stacks;
	struct decimal passed = { .digits = 0 };
	uint32_t node;

	if (stacks->n > 0) {
		node = stacks->nodes[stacks->n - 1];
		if (!subtract(at, scope->last, &passed)) {
			json_fail(scope->json, offset, "a time that passes "
			          "63 bits");
		} else if (passed.digits < 0) {
			json_fail(scope->json, offset, "a time before that "
			          "of the event in front of it");
		} else if (passed.digits > 0 && is_known(scope)) {
			add_hits(scope, node, passed, offset);
		} else if (passed.digits > 0) {
			keep_waiting(stacks, node);
			keep_weight(stacks, passed);
		}
	}
	scope->last = at;
}

static void
apply_event(struct scope *scope, const struct event *event)
{
	struct speedscope_stacks *stacks = scope->stacks;

	pass_time(scope, event->at, event->offset);
	if (event->type == 'O')
		push_frame(stacks, stacks->n, event->frame);
	else if (stacks->n > 0 &&
	         stacks->labels[stacks->n - 1] == event->frame)
		stacks->n--;
	else
		json_fail(scope->json, event->offset, "the end of frame %"
		          PRIu32 ", which is not the innermost open one",
		          event->frame);
}

static void
read_events(struct scope *scope)
{
	struct json_token token;

	if (!json_open_array(scope->json, "an array of events"))
		return;
	scope->has_events = true;
	scope->stacks->n = 0;
	while (json_next_element(scope->json, &token)) {
		struct event event = { .offset = token.offset,
			.frame = UINT32_MAX };

		if (token.type != JSON_OBJECT) {
			json_fail(scope->json, token.offset,
			          "expected an event, an object");
			return;
		}
		if (read_event(scope->stacks, &event) &&
		    !scope->stacks->error->is_set)
			apply_event(scope, &event);
	}
}

/* ---- the whole profile ---- */

static void
read_unit(struct scope *scope)
{
	struct json_token token;

	if (!json_next(scope->json, &token))
		return;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (token.type == JSON_STRING &&
		    json_is(&token, units[i].name))
			scope->unit = &units[i];
	if (scope->unit == NULL)
		json_fail(scope->json, token.offset, "expected a unit: none, "
		          "nanoseconds, microseconds, milliseconds, seconds or "
		          "bytes");
}

static void
read_name(struct scope *scope)
{
	struct json_token token;
	const char *name;

	if (!json_next(scope->json, &token) || token.type == JSON_NULL)
		return;
	if (token.type != JSON_STRING) {
		json_fail(scope->json, token.offset, "expected a name");
		return;
	}
	name = arena_text(&scope->stacks->profile->arena, token.text,
	                  token.length, scope->stacks->error);
	if (name != NULL)
		scope->name = name;
}

static void
read_key(struct scope *scope, const struct json_token *key)
{
	if (json_is(key, "name"))
		read_name(scope);
	else if (json_is(key, "unit"))
		read_unit(scope);
	else if (json_is(key, "samples") && !scope->has_samples)
		read_samples(scope);
	else if (json_is(key, "weights") && !scope->has_weights)
		read_weights(scope);
	else if (json_is(key, "events") && !scope->has_events)
		read_events(scope);
	else if (json_is(key, "endValue"))
		scope->has_end = read_time(scope->json, &scope->end);
	else
		json_skip_value(scope->json);
}

/* Adds nodes and weights that were kept; of a cut input, whole pairs. */
static void
add_waiting(struct scope *scope, uint64_t offset, bool is_whole)
{
	struct speedscope_stacks *stacks = scope->stacks;
	size_t n = stacks->n_waiting < stacks->n_weights ?
	           stacks->n_waiting : stacks->n_weights;

	if (is_whole && stacks->n_waiting != stacks->n_weights)
		json_fail(scope->json, offset, "%zu samples have %zu weights",
		          stacks->n_waiting, stacks->n_weights);
	if (n > 0 && scope->unit == NULL && is_whole)
		json_fail(scope->json, offset, "the profile has no unit");
	for (size_t i = 0; i < n && scope->unit != NULL &&
	     !stacks->error->is_set; i++)
		add_hits(scope, stacks->waiting[i], stacks->weights[i],
		         offset);
	stacks->n_waiting = stacks->n_weights = 0;
}

void
speedscope_stacks_read(struct speedscope_stacks *stacks, const char **name)
{
	struct scope scope = { .stacks = stacks, .json = stacks->json,
		.name = "", .resource = NO_RESOURCE,
		.offset = json_offset(stacks->json) };
	struct json_token key;
	bool is_whole;

	stacks->n = 0;		/* stacks of another section are not shared */
	while (json_next_key(scope.json, &key))
		read_key(&scope, &key);
	is_whole = key.type == JSON_OBJECT_END;
	if (is_whole && scope.has_events && stacks->n > 0) {
		stacks->n_open += stacks->n;
		if (scope.has_end)
			pass_time(&scope, scope.end, key.offset);
	}
	add_waiting(&scope, key.offset, is_whole);
	/* An empty profile has its resource, too. */
	if (is_whole && scope.unit != NULL && !stacks->error->is_set)
		find_resource(&scope);
	*name = scope.name;
}
