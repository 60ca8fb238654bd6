/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_reader.c -- the tokens of a JSON text, one after the other.
 *
 * yajl calls back for each token of a block.  The tokens are queued and handed
 * out one by one, so that readers can be loops and need no state machine.  yajl
 * keeps one byte for each level of nesting.
 */
#include "src/formats/json/json_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "src/base/memory.h"

enum {
	BLOCK_SIZE = 32 << 10,
	BLOCKS_A_STEP = 32,		/* of progress */
	DEPTH_MAX = 1 << 22,
	STRING_MAX_MIB = 64,
	EXPONENT_MAX = 1 << 20, SMALL_DIGITS = 18,
	/* Of the probe: */
	LEVELS_MAX = 4, PATH_MAX_SIZE = 200,
};

/*
 * A queued token.  Most texts are in the block as they are; those with escapes,
 * or over the end of a block, are copied.  The text is an index, since the
 * copies may move.
 */
struct kept_token {
	uint64_t offset;
	size_t text, length;
	enum json_type type;
	bool is_copy;
};

struct json_reader {
	struct reader *reader;
	struct source *source;		/* the reader's */
	void *context;			/* the format's */
	json_leave_out *leave_out;	/* NULL: what is wrong is an error */
	struct error *error;
	yajl_handle parser;

	struct kept_token *tokens;	/* the queue: those of the block */
	size_t n_tokens, tokens_capacity;
	size_t at;			/* the next one to hand out */
	const char *block;		/* [block_size], of the source, which
					 * passes it before the next one */
	size_t block_size;
	char *texts;			/* copies */
	size_t n_texts, texts_capacity;

	uint64_t offset;		/* of the last one handed out */
	uint64_t last_token;		/* where the last token ended */
	uint32_t depth;
	unsigned n_blocks;
	bool is_complete;		/* the outermost value has ended */
	bool is_end;
	bool is_malformed;		/* after the tokens of the queue, at */
	uint64_t malformed;		/* this offset */
};

/* ---- what yajl calls: 1 to go on, 0 to stop ---- */

static int
json_reader_keep(struct json_reader *json, enum json_type type,
                 const void *text, size_t length, size_t size)
{
	uint64_t end = json->reader->place +
	               yajl_get_bytes_consumed(json->parser);
	uintptr_t in_block = (uintptr_t)text - (uintptr_t)json->block;
	struct kept_token *token;

	if (memory_grow(&json->tokens, &json->tokens_capacity,
	                json->n_tokens + 1, sizeof *json->tokens,
	                json->error) != 0)
		return 0;
	token = &json->tokens[json->n_tokens++];
	token->type = type;
	token->offset = end > size ? end - size : 0;
	token->text = in_block;
	token->length = length;
	token->is_copy = length > 0 && in_block >= json->block_size;
	if (token->is_copy) {
		if (memory_grow(&json->texts, &json->texts_capacity,
		                json->n_texts + length, 1, json->error) != 0)
			return 0;
		token->text = json->n_texts;
		memcpy(json->texts + json->n_texts, text, length);
		json->n_texts += length;
	}
	json->last_token = end;
	json->is_complete = json->depth == 0;
	return 1;
}

static int
open_value(struct json_reader *json, enum json_type type)
{
	if (json->depth == DEPTH_MAX) {
		json_fail(json, json->reader->place +
		          yajl_get_bytes_consumed(json->parser),
		          "values nested deeper than %d levels", DEPTH_MAX);
		return 0;
	}
	json->depth++;
	return json_reader_keep(json, type, NULL, 0, 1);
}

static int
close_value(struct json_reader *json, enum json_type type)
{
	json->depth--;
	return json_reader_keep(json, type, NULL, 0, 1);
}

static int
on_null(void *json)
{
	return json_reader_keep(json, JSON_NULL, NULL, 0, 4);
}

static int
on_boolean(void *json, int is_true)
{
	return json_reader_keep(json, is_true ? JSON_TRUE : JSON_FALSE, NULL, 0,
	                        is_true ? 4 : 5);
}

static int
on_number(void *json, const char *text, size_t length)
{
	return json_reader_keep(json, JSON_NUMBER, text, length, length);
}

static int
on_string(void *json, const unsigned char *text, size_t length)
{
	return json_reader_keep(json, JSON_STRING, text, length, length + 2);
}

static int
on_key(void *json, const unsigned char *text, size_t length)
{
	return json_reader_keep(json, JSON_KEY, text, length, length + 2);
}

static int
on_object(void *json)
{
	return open_value(json, JSON_OBJECT);
}

static int
on_object_end(void *json)
{
	return close_value(json, JSON_OBJECT_END);
}

static int
on_array(void *json)
{
	return open_value(json, JSON_ARRAY);
}

static int
on_array_end(void *json)
{
	return close_value(json, JSON_ARRAY_END);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_object_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

/* ---- the text ---- */

struct json_reader *
json_reader_new(struct reader *reader, void *context, struct error *error)
{
	struct json_reader *json = memory_array(1, sizeof *json, error);

	if (json == NULL)
		return NULL;
	json->reader = reader;
	json->source = reader->source;
	json->context = context;
	json->error = error;
	json->parser = yajl_alloc(&callbacks, NULL, json);
	if (json->parser == NULL) {
		error_out_of_memory(error);
		free(json);
		return NULL;
	}
	/* Names are untrusted bytes in any case. */
	yajl_config(json->parser, yajl_dont_validate_strings, 1);
	return json;
}

void
json_reader_free(struct json_reader *json)
{
	if (json == NULL)
		return;
	yajl_free(json->parser);
	free(json->tokens);
	free(json->texts);
	free(json);
}

void *
json_context(const struct json_reader *json)
{
	return json->context;
}

struct profile *
json_profile(const struct json_reader *json)
{
	return json->reader->profile;
}

struct error *
json_error(const struct json_reader *json)
{
	return json->error;
}

void
json_leave_out_wrong(struct json_reader *json, json_leave_out *leave_out)
{
	json->leave_out = leave_out;
}

void
json_allow_several(struct json_reader *json)
{
	yajl_config(json->parser, yajl_allow_multiple_values, 1);
}

void
json_fail(struct json_reader *json, uint64_t offset, const char *format, ...)
{
	char text[500];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	reader_fail_at(json->reader, offset, json->error, "%s", text);
}

void
json_pass(struct json_reader *json, uint64_t offset, const struct error *why)
{
	reader_pass_at(json->reader, offset, why, json->error);
}

/*
 * Sets yajl's message, "parse error: unallowed token at this point in JSON
 * text".
 */
static void
fail_malformed(struct json_reader *json, uint64_t offset)
{
	unsigned char *why = yajl_get_error(json->parser, 0, NULL, 0);
	const char *text = why != NULL ? (const char *)why : "";
	const char *colon = strstr(text, ": ");

	if (colon != NULL)
		text = colon + 2;
	json_fail(json, offset, "malformed JSON: %.*s",
	          (int)strcspn(text, "\n"), text);
	if (why != NULL)
		yajl_free_error(json->parser, why);
}

/*
 * Damage to a packed file is often noticed only after the bytes that it
 * affected.  If there is any further on, it explains malformed text here.
 */
static bool
json_reader_is_damaged(struct json_reader *json)
{
	struct error failed = { 0 };
	size_t size;

	if (!source_is_packed(json->source))
		return false;
	while (source_peek(json->source, 1, &size, &failed) != NULL &&
	       size > 0) {
		source_skip(json->source, size);
		if (progress_step(NULL, 0, 0, json->error) != 0)
			return false;
	}
	return source_damage(json->source) != NULL;
}

/* Queues the tokens of the next block; failures set json->error. */
static void
parse_block(struct json_reader *json)
{
	struct reader *reader = json->reader;
	/*
	 * yajl reads a token from its beginning again with each block that it
	 * goes on in.  Such blocks double, so that long strings take time in
	 * proportion to their length.
	 */
	uint64_t size_max = BLOCK_SIZE + reader->place - json->last_token;
	size_t size;
	yajl_status status;
	bool was_complete;

	json->at = json->n_tokens = json->n_texts = 0;
	source_skip(json->source, json->block_size);
	json->block_size = 0;
	json->block = source_peek(json->source, size_max, &size, json->error);
	if (json->block == NULL)
		return;
	if (size == 0) {
		/*
		 * The parser can still hold a number, whose end it has not
		 * seen.  It is dropped if the text is cut short, since digits
		 * may be missing.
		 */
		was_complete = json->is_complete;
		status = yajl_complete_parse(json->parser);
		json->is_end = true;
		reader->is_cut_short = !json->is_complete ||
		                 source_is_cut_short(json->source);
		if (was_complete && !reader->is_cut_short &&
		    status != yajl_status_ok)
			fail_malformed(json, json->last_token);
		if (reader->is_cut_short)
			json->n_tokens = 0;
		return;
	}
	if (size > size_max)
		size = size_max;
	json->block_size = size;
	status = yajl_parse(json->parser, (const unsigned char *)json->block,
	                    size);
	if (status == yajl_status_error && !json->error->is_set) {
		json->is_malformed = true;
		json->malformed = reader->place +
		                  yajl_get_bytes_consumed(json->parser) - 1;
		return;
	}
	reader->place += size;
	/* Limits what yajl collects of one token. */
	if (reader->place - json->last_token > (uint64_t)STRING_MAX_MIB << 20)
		json_fail(json, json->last_token, "a string, a number or "
		          "white space of more than %d MiB", STRING_MAX_MIB);
	else if (++json->n_blocks % BLOCKS_A_STEP == 0)
		reader_step(reader, json->error);
}

bool
json_next(struct json_reader *json, struct json_token *token)
{
	const struct kept_token *kept;

	while (json->at == json->n_tokens && !json->is_end &&
	       !json->error->is_set) {
		if (!json->is_malformed)
			parse_block(json);
		else if (json_reader_is_damaged(json))
			json->is_end = json->reader->is_cut_short = true;
		else
			fail_malformed(json, json->malformed);
	}
	*token = (struct json_token){ .type = JSON_END,
		.offset = json->reader->place };
	json->offset = token->offset;
	if (json->error->is_set || json->at == json->n_tokens)
		return false;
	kept = &json->tokens[json->at++];
	token->type = kept->type;
	token->offset = json->offset = kept->offset;
	token->text = kept->length == 0 ? "" :
	    (kept->is_copy ? json->texts : json->block) + kept->text;
	token->length = kept->length;
	return true;
}

bool
json_is_cut_short(const struct json_reader *json)
{
	return json->reader->is_cut_short;
}

uint64_t
json_offset(const struct json_reader *json)
{
	return json->offset;
}

/* ---- values ---- */

bool
json_next_key(struct json_reader *json, struct json_token *token)
{
	return json_next(json, token) && token->type == JSON_KEY;
}

bool
json_next_element(struct json_reader *json, struct json_token *token)
{
	return json_next(json, token) && token->type != JSON_ARRAY_END;
}

bool
json_next_object(struct json_reader *json, struct json_token *token,
                 const char *what)
{
	while (json_next_element(json, token)) {
		if (token->type == JSON_OBJECT)
			return true;
		json_refuse(json, token, what);
	}
	return false;
}

void
json_skip(struct json_reader *json, const struct json_token *token)
{
	struct json_token next = *token;
	uint32_t depth = 0;

	do {
		if (next.type == JSON_OBJECT || next.type == JSON_ARRAY)
			depth++;
		if (next.type == JSON_OBJECT_END ||
		    next.type == JSON_ARRAY_END)
			depth--;
	} while (depth > 0 && json_next(json, &next));
}

void
json_refuse(struct json_reader *json, const struct json_token *token,
            const char *what)
{
	if (json->leave_out != NULL)
		json->leave_out(json->context, token->offset, what);
	else
		json_fail(json, token->offset, "expected %s", what);
	json_skip(json, token);
}

void
json_skip_value(struct json_reader *json)
{
	struct json_token token;

	if (json_next(json, &token))
		json_skip(json, &token);
}

bool
json_get_value(struct json_reader *json, struct json_token *token)
{
	if (!json_next(json, token))
		return false;
	json_skip(json, token);
	return true;
}

/* Reads the first token of a key's value; false: it is of another type. */
static bool
get_as(struct json_reader *json, enum json_type type, struct json_token *token,
       const char *what)
{
	if (!json_next(json, token) || token->type == JSON_NULL)
		return false;
	if (token->type == type)
		return true;
	json_refuse(json, token, what);
	return false;
}

bool
json_open_array(struct json_reader *json, const char *what)
{
	struct json_token token;

	return get_as(json, JSON_ARRAY, &token, what);
}

bool
json_open_object(struct json_reader *json, const char *what)
{
	struct json_token token;

	return get_as(json, JSON_OBJECT, &token, what);
}

bool
json_get_string(struct json_reader *json, struct json_token *token,
                const char *what)
{
	return get_as(json, JSON_STRING, token, what);
}

bool
json_is(const struct json_token *token, const char *text)
{
	return strlen(text) == token->length &&
	       memcmp(token->text, text, token->length) == 0;
}

/* ---- decimal numbers as exact integers ---- */

/* The fast path: up to 18 digits and nothing else.  false: any other token. */
static bool
get_small(const struct json_token *token, int64_t *number)
{
	int64_t digits = 0;

	if (token->type != JSON_NUMBER || token->length > SMALL_DIGITS)
		return false;
	for (size_t i = 0; i < token->length; i++) {
		unsigned digit = (unsigned char)token->text[i] - '0';

		if (digit > 9)
			return false;
		digits = 10 * digits + digit;
	}
	*number = digits;
	return true;
}

/* The exponent after the 'e'.  Past EXPONENT_MAX the digits do not matter. */
static int32_t
parse_exponent(const char *at, const char *end)
{
	bool is_negative = at < end && *at == '-';
	int32_t exponent = 0;

	if (at < end && (*at == '-' || *at == '+'))
		at++;
	for (; at < end && exponent < EXPONENT_MAX; at++)
		exponent = 10 * exponent + (*at - '0');
	return is_negative ? -exponent : exponent;
}

/* yajl has checked that the text of a number is well-formed. */
bool
json_decimal(const struct json_token *token, struct decimal *decimal)
{
	const char *at = token->text, *end = at + token->length;
	bool is_negative = token->length > 0 && *at == '-', is_fraction = false;
	bool is_full = false, is_rounded = false;
	int64_t digits = 0, more;
	int32_t exponent = 0;

	if (token->type != JSON_NUMBER)
		return false;
	if (get_small(token, &digits)) {
		*decimal = (struct decimal){ .digits = digits };
		return true;
	}
	for (at += is_negative; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.') {
			is_fraction = true;
			continue;
		}
		is_full = is_full ||
		    __builtin_mul_overflow(digits, 10, &more) ||
		    __builtin_add_overflow(more, *at - '0', &more);
		if (!is_full) {
			digits = more;
			exponent -= is_fraction;
		} else {
			is_rounded |= *at != '0';
			if (!is_fraction && exponent < EXPONENT_MAX)
				exponent++;
		}
	}
	if (at < end)
		exponent += parse_exponent(at + 1, end);
	*decimal = (struct decimal){ is_negative ? -digits : digits,
		exponent, is_rounded };
	return true;
}

bool
decimal_scale(struct decimal decimal, int power, int64_t *integer,
              bool *is_exact)
{
	int64_t number = decimal.digits;
	int32_t exponent = decimal.exponent + power;
	int64_t divisor = 1, rest;
	bool is_half;

	if (is_exact != NULL)
		*is_exact = !decimal.is_rounded;
	if (exponent == 0) {
		*integer = number;
		return true;
	}
	for (; exponent > 0 && number != 0; exponent--)
		if (__builtin_mul_overflow(number, 10, &number))
			return false;
	for (; exponent < 0 && divisor <= INT64_MAX / 10; exponent++)
		divisor *= 10;
	/* A number of 19 digits can still be more than half of 10^19. */
	rest = exponent < 0 ? number : number % divisor;
	number = exponent < 0 ? 0 : number / divisor;
	is_half = exponent == 0 ? llabs(rest) >= divisor / 2 :
	          exponent == -1 && llabs(rest) >= 5 * divisor;
	if (rest != 0 && is_exact != NULL)
		*is_exact = false;
	if (rest != 0 && is_half)
		number += rest > 0 ? 1 : -1;
	*integer = number;
	return true;
}

bool
json_whole_number(const struct json_token *token, uint64_t most,
                  uint64_t *number)
{
	struct decimal decimal;
	int64_t integer;
	bool is_exact;

	if (get_small(token, &integer)) {
		*number = (uint64_t)integer;
		return (uint64_t)integer <= most;
	}
	if (!json_decimal(token, &decimal) ||
	    !decimal_scale(decimal, 0, &integer, &is_exact) || !is_exact ||
	    integer < 0 || (uint64_t)integer > most)
		return false;
	*number = (uint64_t)integer;
	return true;
}

void
json_get_number(struct json_reader *json, uint64_t most, const char *what,
                uint64_t *number)
{
	struct json_token token;

	if (!json_next(json, &token) || token.type == JSON_NULL)
		return;
	if (!json_whole_number(&token, most, number))
		json_fail(json, token.offset, "expected %s", what);
}

/* ---- the probe: formats are known by their keys ---- */

/* Where in the text the reader is. */
struct probe_place {
	char path[PATH_MAX_SIZE];
	size_t length;			/* of the path, with the last key */
	size_t begin[LEVELS_MAX + 1];	/* its length at each level */
	unsigned level;			/* may be above LEVELS_MAX */
};

static void
json_probe_add_text(struct probe_place *place, const char *text, size_t length)
{
	if (length > sizeof place->path - place->length)
		length = sizeof place->path - place->length;
	memcpy(place->path + place->length, text, length);
	place->length += length;
}

/*
 * Goes on to a token; whether it is a key of one of these paths.  In an array
 * the next value is another of the same path.
 */
static bool
probe_token(struct probe_place *place, const struct json_token *token,
            const char *const *paths)
{
	switch (token->type) {
	case JSON_KEY:
		if (place->level > LEVELS_MAX)
			return false;
		place->length = place->begin[place->level];
		if (place->length > 0)
			json_probe_add_text(place, ".", 1);
		json_probe_add_text(place, token->text, token->length);
		for (; *paths != NULL; paths++)
			if (strlen(*paths) == place->length &&
			    memcmp(*paths, place->path, place->length) == 0)
				return true;
		return false;
	case JSON_OBJECT:
	case JSON_ARRAY:
		if (place->level == 0)
			place->length = 0;
		if (token->type == JSON_ARRAY && place->level < LEVELS_MAX)
			json_probe_add_text(place, "[]", 2);
		if (++place->level <= LEVELS_MAX)
			place->begin[place->level] = place->length;
		return false;
	case JSON_OBJECT_END:
	case JSON_ARRAY_END:
		if (place->level <= LEVELS_MAX)
			place->length = place->begin[place->level];
		place->level--;
		if (place->level > 0 && place->level <= LEVELS_MAX)
			place->length = place->begin[place->level];
		return false;
	default:
		return false;
	}
}

int
json_probe(const void *head, size_t size, const char *const *paths)
{
	const char *at = head, *end = at + size;
	struct error error = { 0 };
	const struct read_options options = { .lenient = false };
	struct reader reader = { .options = &options,
		.places = READER_OFFSETS };
	struct probe_place place = { .length = 0 };
	struct json_reader *json = NULL;
	struct json_token token;
	int answer = PROBE_NO;

	while (at < end && memchr(" \t\r\n", *at, 4) != NULL)
		at++;
	if (at == end || (*at != '{' && *at != '['))
		return PROBE_NO;
	reader.source = source_of_memory("head", head, size, &error);
	if (reader.source != NULL)
		json = json_reader_new(&reader, NULL, &error);
	while (json != NULL && answer == PROBE_NO && json_next(json, &token))
		if (probe_token(&place, &token, paths))
			answer = PROBE_SURE;
	/* What is wrong with the text is the reader's to say. */
	if (error.is_out_of_memory)
		answer = PROBE_OUT_OF_MEMORY;
	json_reader_free(json);
	source_close(reader.source);
	return answer;
}
