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
};

/* A queued token.  Its text is an index, since the buffer may move. */
struct kept_token {
	uint64_t offset;
	size_t text, length;
	enum json_type type;
};

struct json_reader {
	struct reader *reader;
	struct source *source;		/* the reader's */
	struct error *error;
	yajl_handle parser;

	struct kept_token *tokens;	/* the queue: those of the block */
	size_t n_tokens, tokens_capacity;
	size_t at;			/* the next one to hand out */
	char *texts;
	size_t n_texts, texts_capacity;

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
	struct kept_token *token;

	if (memory_grow(&json->tokens, &json->tokens_capacity,
	                json->n_tokens + 1, sizeof *json->tokens,
	                json->error) != 0 ||
	    memory_grow(&json->texts, &json->texts_capacity,
	                json->n_texts + length, 1, json->error) != 0)
		return 0;
	token = &json->tokens[json->n_tokens++];
	token->type = type;
	token->offset = end > size ? end - size : 0;
	token->text = json->n_texts;
	token->length = length;
	if (length > 0)
		memcpy(json->texts + json->n_texts, text, length);
	json->n_texts += length;
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
json_reader_new(struct reader *reader, struct error *error)
{
	struct json_reader *json = memory_array(1, sizeof *json, error);

	if (json == NULL)
		return NULL;
	json->reader = reader;
	json->source = reader->source;
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

/*
 * The parser can still hold a number, whose end it has not seen.  It is dropped
 * if the text is cut, since digits may be missing.
 */
static void
end_text(struct json_reader *json)
{
	size_t n_tokens = json->n_tokens;
	bool was_complete = json->is_complete;
	yajl_status status = yajl_complete_parse(json->parser);

	json->is_end = true;
	json->reader->is_cut_short = !json->is_complete ||
	               source_is_cut_short(json->source);
	if (was_complete && !json->reader->is_cut_short &&
	    status != yajl_status_ok)
		fail_malformed(json, json->last_token);
	if (json->reader->is_cut_short)
		json->n_tokens = n_tokens;
}

/* Limits what yajl collects of one token. */
static void
check_progress(struct json_reader *json)
{
	if (json->reader->place - json->last_token >
	    (uint64_t)STRING_MAX_MIB << 20)
		json_fail(json, json->last_token, "a string, a number or "
		          "white space of more than %d MiB", STRING_MAX_MIB);
	else if (++json->n_blocks % BLOCKS_A_STEP == 0)
		reader_step(json->reader, json->error);
}

/* Queues the tokens of the next block; failures set json->error. */
static void
parse_block(struct json_reader *json)
{
	/*
	 * yajl reads a token from its beginning again with each block that it
	 * goes on in.  Such blocks double, so that long strings take time in
	 * proportion to their length.
	 */
	uint64_t size_max = BLOCK_SIZE + json->reader->place - json->last_token;
	size_t size;
	const char *bytes = source_peek(json->source, size_max, &size,
	                                json->error);
	yajl_status status;

	json->at = json->n_tokens = json->n_texts = 0;
	if (bytes == NULL)
		return;
	if (size == 0) {
		end_text(json);
		return;
	}
	if (size > size_max)
		size = size_max;
	status = yajl_parse(json->parser, (const unsigned char *)bytes, size);
	if (status == yajl_status_error && !json->error->is_set) {
		if (json_reader_is_damaged(json))
			json->is_end = json->reader->is_cut_short = true;
		json->is_malformed = !json->is_end;
		json->malformed = json->reader->place +
		                  yajl_get_bytes_consumed(json->parser) - 1;
		return;
	}
	source_skip(json->source, size);
	json->reader->place += size;
	check_progress(json);
}

bool
json_next(struct json_reader *json, struct json_token *token)
{
	const struct kept_token *kept;

	while (json->at == json->n_tokens && !json->is_end &&
	       !json->error->is_set) {
		if (json->is_malformed)
			fail_malformed(json, json->malformed);
		else
			parse_block(json);
	}
	*token = (struct json_token){ .type = JSON_END,
		.offset = json->reader->place };
	if (json->error->is_set || json->at == json->n_tokens)
		return false;
	kept = &json->tokens[json->at++];
	token->type = kept->type;
	token->offset = kept->offset;
	token->text = kept->length > 0 ? json->texts + kept->text : "";
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
	return json->reader->place;
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
	if (!json_next_element(json, token))
		return false;
	if (token->type == JSON_OBJECT)
		return true;
	json_fail(json, token->offset, "expected %s", what);
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
	json_fail(json, token->offset, "expected %s", what);
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
