/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp_message.c -- reads a message of the Model Context Protocol.
 *
 * Whatever is not known is passed over.
 */
#include "src/shell/mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/source.h"

enum {
	ITEMS_MAX = 1000,		/* of a list */
	NUMBER_MAX = 1000000000,
};

void
mcp_list_free(struct mcp_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
}

void
mcp_message_free(struct mcp_message *message)
{
	free(message->id);
	free(message->method);
	free(message->version);
	free(message->request);
	free(message->tool);
	free(message->output);
	mcp_list_free(&message->profile);
	mcp_list_free(&message->base);
	mcp_list_free(&message->commands);
	mcp_list_free(&message->program);
	mcp_list_free(&message->resources);
}

/* A string that is used may have no NUL in it. */
static bool
check_text(struct json_reader *json, const struct json_token *token)
{
	if (memchr(token->text, '\0', token->length) == NULL)
		return true;
	json_fail(json, token->offset, "a NUL in a string");
	return false;
}

static void
get_text(struct json_reader *json, char **text, const char *what)
{
	struct json_token token;

	free(*text);
	*text = NULL;
	if (json_get_string(json, &token, what) && check_text(json, &token))
		*text = strndup(token.text, token.length);
}

void
mcp_list_add(struct mcp_list *list, const char *text, size_t n,
             struct error *error)
{
	char *copy = strndup(text, n);

	if (copy == NULL) {
		error_out_of_memory(error);
		return;
	}
	if (memory_grow(&list->items, &list->capacity, list->n + 1,
	                sizeof *list->items, error) == 0)
		list->items[list->n++] = copy;
	else
		free(copy);
}

static void
add_item(struct json_reader *json, const struct json_token *token,
         struct mcp_list *list, const char *what, struct error *error)
{
	if (token->type != JSON_STRING)
		json_fail(json, token->offset, "%s: expected strings", what);
	else if (list->n >= ITEMS_MAX)
		json_fail(json, token->offset, "%s: more than %d", what,
		          ITEMS_MAX);
	else if (check_text(json, token))
		mcp_list_add(list, token->text, token->length, error);
}

/* A string, or an array of strings. */
static void
get_list(struct json_reader *json, struct mcp_list *list, const char *what,
         struct error *error)
{
	struct json_token token;

	if (!json_next(json, &token))
		return;
	if (token.type != JSON_ARRAY) {
		add_item(json, &token, list, what, error);
		return;
	}
	while (json_next_element(json, &token))
		add_item(json, &token, list, what, error);
}

/* An id, as JSON.  Not null: that means that there is none. */
static void
get_id(struct json_reader *json, char **id)
{
	struct text_buffer text = { 0 };
	struct json_token token;

	if (!json_get_value(json, &token) || token.type == JSON_NULL)
		return;
	if (token.type == JSON_STRING)
		text_add_json_string(&text, token.text, token.length);
	else if (token.type == JSON_NUMBER)
		text_add(&text, token.text, token.length);
	else
		json_fail(json, token.offset, "expected an id, a string or a "
		          "number");
	free(*id);
	*id = text.length > 0 ? strdup(text_string(&text)) : NULL;
	text_free(&text);
}

static void
read_arguments(struct json_reader *json, struct mcp_message *message,
               struct error *error)
{
	struct json_token key;

	if (!json_open_object(json, "an object of arguments"))
		return;
	while (json_next_key(json, &key)) {
		if (json_is(&key, "profile"))
			get_list(json, &message->profile, "profile", error);
		else if (json_is(&key, "base"))
			get_list(json, &message->base, "base", error);
		else if (json_is(&key, "commands"))
			get_list(json, &message->commands, "commands", error);
		else if (json_is(&key, "program"))
			get_list(json, &message->program, "program", error);
		else if (json_is(&key, "resources"))
			get_list(json, &message->resources, "resources",
			         error);
		else if (json_is(&key, "output"))
			get_text(json, &message->output, "a path, a string");
		else if (json_is(&key, "max_words"))
			json_get_number(json, NUMBER_MAX, "a number of words",
			                &message->max_words);
		else if (json_is(&key, "pid"))
			json_get_number(json, NUMBER_MAX, "a process's number",
			                &message->pid);
		else if (json_is(&key, "seconds"))
			json_get_number(json, NUMBER_MAX, "a number of seconds",
			                &message->seconds);
		else
			json_skip_value(json);
	}
}

static void
read_params(struct json_reader *json, struct mcp_message *message,
            struct error *error)
{
	struct json_token key;

	if (!json_open_object(json, "params, an object"))
		return;
	while (json_next_key(json, &key)) {
		if (json_is(&key, "protocolVersion"))
			get_text(json, &message->version, "a version");
		else if (json_is(&key, "name"))
			get_text(json, &message->tool, "a tool's name");
		else if (json_is(&key, "requestId"))
			get_id(json, &message->request);
		else if (json_is(&key, "arguments"))
			read_arguments(json, message, error);
		else
			json_skip_value(json);
	}
}

/* Which part of the message an error is in. */
static enum mcp_error
read_members(struct json_reader *json, struct mcp_message *message,
             struct error *error)
{
	enum mcp_error place = MCP_OK;
	struct json_token token;
	bool is_rpc = false;

	if (!json_next(json, &token))
		return MCP_PARSE_ERROR;
	if (token.type != JSON_OBJECT) {
		json_fail(json, token.offset, "expected a request, an object");
		return MCP_INVALID_REQUEST;
	}
	while (place == MCP_OK && json_next_key(json, &token)) {
		place = MCP_INVALID_REQUEST;
		if (json_is(&token, "jsonrpc")) {
			if (json_get_string(json, &token, "\"2.0\""))
				is_rpc = json_is(&token, "2.0");
		} else if (json_is(&token, "id")) {
			get_id(json, &message->id);
		} else if (json_is(&token, "method")) {
			get_text(json, &message->method, "a method's name");
		} else if (json_is(&token, "params")) {
			place = MCP_INVALID_PARAMS;
			read_params(json, message, error);
		} else {
			place = MCP_PARSE_ERROR;
			json_skip_value(json);
		}
		if (!error->is_set)
			place = MCP_OK;
	}
	if (place != MCP_OK)
		return place;
	if (error->is_set || json_next(json, &token) || error->is_set ||
	    json_is_cut_short(json))
		return MCP_PARSE_ERROR;
	return is_rpc ? MCP_OK : MCP_INVALID_REQUEST;
}

enum mcp_error
mcp_message_read(struct mcp_message *message, const char *bytes, size_t n,
                 struct error *error)
{
	const struct read_options options = { 0 };
	struct source *source = source_of_memory("message", bytes, n, error);
	enum mcp_error result = MCP_PARSE_ERROR;
	struct json_reader *json = NULL;
	struct reader reader;

	*message = (struct mcp_message){ 0 };
	if (source == NULL)
		return result;
	if (reader_begin(&reader, source, &options, READER_OFFSETS,
	                 error) == 0)
		json = json_reader_new(&reader, NULL, error);
	if (json != NULL)
		result = read_members(json, message, error);
	json_reader_free(json);
	reader_end(&reader, -1);
	source_close(source);
	if (result != MCP_OK && !error->is_set)
		error_set(error, result == MCP_PARSE_ERROR ?
		          "expected one message, in JSON" :
		          "expected jsonrpc \"2.0\"");
	return result;
}
