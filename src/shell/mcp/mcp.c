/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.c -- reads requests and writes answers.
 *
 * One request is answered after the other.  While a tool runs, lines that have
 * arrived are looked at for its cancellation, and answered later.
 */
#include "src/shell/mcp/mcp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/writer.h"

/* The protocol's versions that are understood, the latest first. */
static const char *const versions[] = {
	"2025-06-18", "2025-03-26", "2024-11-05",
};

static const char instructions[] =
    "cpprof answers where a program spends time or another resource, by call "
    "path. Every answer says what its percentages are of and how large its "
    "errors are. Work like this: ask without commands (explain); follow the "
    "commands that it proposes; look at the lines with list; after a change "
    "record again, and compare with base and diff. A difference that is "
    "called noise is none.";

struct server {
	const struct mcp_rights *rights;
	struct text_buffer input;	/* what was read and not answered */
	size_t n_looked_at;		/* of it, for cancellations */
	bool is_skipping;		/* the rest of a line that is too
					 * long */
	bool has_ended;			/* the input */
	const char *running;		/* id of the request that runs */
	bool is_cancelled;
};

/* ---- input ---- */

/* Reads what is there, waiting for it if wanted. */
static void
mcp_fill(struct server *server, bool may_wait)
{
	struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
	char bytes[65536];
	ssize_t n;

	if (server->has_ended || poll(&ready, 1, may_wait ? -1 : 0) <= 0)
		return;
	n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n > 0)
		text_add(&server->input, bytes, (size_t)n);
	else if (n == 0 || errno != EINTR)
		server->has_ended = true;
}

static void
mcp_drop_input(struct server *server, size_t n)
{
	struct text_buffer *input = &server->input;

	memmove(input->bytes, input->bytes + n, input->length - n);
	input->length -= n;
	server->n_looked_at = server->n_looked_at > n ?
	    server->n_looked_at - n : 0;
}

/* The context is the server. */
static bool
mcp_is_cancelled(void *context)
{
	struct server *server = context;
	struct mcp_message message;
	struct error error = { 0 };

	if (server->input.length < MCP_MESSAGE_MAX)
		mcp_fill(server, false);
	for (;;) {
		const char *at = server->input.bytes + server->n_looked_at;
		const size_t n = server->input.length - server->n_looked_at;
		const char *newline = n > 0 ? memchr(at, '\n', n) : NULL;

		if (newline == NULL)
			break;
		if (mcp_message_read(&message, at, (size_t)(newline - at),
		                     &error) == MCP_OK &&
		    message.method != NULL && message.request != NULL &&
		    strcmp(message.method, "notifications/cancelled") == 0 &&
		    strcmp(message.request, server->running) == 0)
			server->is_cancelled = true;
		mcp_message_free(&message);
		error = (struct error){ 0 };
		server->n_looked_at += (size_t)(newline - at) + 1;
	}
	return server->is_cancelled;
}

/* ---- output ---- */

/* Ends the answer's line, and writes it. */
static int
mcp_write(struct text_buffer *answer, struct error *error)
{
	int descriptor = STDOUT_FILENO, why;

	text_add_char(answer, '\n');
	if (answer->failed)
		return error_out_of_memory(error);
	why = write_to_descriptor(&descriptor, answer->bytes, answer->length);
	if (why != 0)
		return error_set(error, "standard output: %s", strerror(why));
	return 0;
}

static void
begin_answer(struct text_buffer *answer, const char *id)
{
	text_add_format(answer, "{\"jsonrpc\":\"2.0\",\"id\":%s,",
	                id != NULL ? id : "null");
}

static void
add_failure(struct text_buffer *answer, const char *id, enum mcp_error code,
            const char *why)
{
	begin_answer(answer, id);
	text_add_format(answer, "\"error\":{\"code\":%d,\"message\":", code);
	text_add_json_string(answer, why, strlen(why));
	text_add_string(answer, "}}");
}

/* ---- requests ---- */

static void
mcp_initialize(const struct mcp_message *message, struct text_buffer *answer)
{
	const char *version = versions[0];

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if (message->version != NULL &&
		    strcmp(message->version, versions[i]) == 0)
			version = versions[i];
	begin_answer(answer, message->id);
	text_add_format(answer, "\"result\":{\"protocolVersion\":\"%s\","
	                "\"capabilities\":{\"tools\":{}},\"serverInfo\":{"
	                "\"name\":\"cpprof\",\"title\":\"cpprof, a call-path "
	                "profiler\",\"version\":\"" PACKAGE_VERSION "\"},"
	                "\"instructions\":", version);
	text_add_json_string(answer, instructions, strlen(instructions));
	text_add_string(answer, "}}");
}

static void
call_tool(struct server *server, const struct mcp_message *message,
          struct text_buffer *answer)
{
	struct text_buffer text = { 0 };
	struct error error = { 0 };
	bool is_done;

	server->running = message->id;
	server->is_cancelled = false;
	is_done = mcp_tool_run(message, server->rights, mcp_is_cancelled,
	                       server, &text, &error);
	server->running = NULL;
	/* Nothing answers a request that was cancelled. */
	if (server->is_cancelled) {
		text_free(&text);
		return;
	}
	if (error.is_set) {
		add_failure(answer, message->id, MCP_INVALID_PARAMS,
		            error.text);
	} else {
		begin_answer(answer, message->id);
		text_add_string(answer, "\"result\":{\"content\":[{\"type\":"
		                "\"text\",\"text\":");
		text_add_json_string(answer, text_string(&text), text.length);
		text_add_format(answer, "}],\"isError\":%s}}",
		                is_done ? "false" : "true");
	}
	text_free(&text);
}

/* A notification, which has no id, gets no answer. */
static void
mcp_answer(struct server *server, const struct mcp_message *message,
           struct text_buffer *answer)
{
	const char *method = message->method;

	if (message->id == NULL || method == NULL)
		return;
	if (strcmp(method, "initialize") == 0) {
		mcp_initialize(message, answer);
	} else if (strcmp(method, "ping") == 0) {
		begin_answer(answer, message->id);
		text_add_string(answer, "\"result\":{}}");
	} else if (strcmp(method, "tools/list") == 0) {
		begin_answer(answer, message->id);
		text_add_string(answer, "\"result\":{\"tools\":");
		mcp_tools_add(server->rights, answer);
		text_add_string(answer, "}}");
	} else if (strcmp(method, "tools/call") == 0) {
		call_tool(server, message, answer);
	} else {
		add_failure(answer, message->id, MCP_NO_METHOD,
		            "there is no such method");
	}
}

/* The message is a copy, since the input may move while a tool runs. */
static int
mcp_take_line(struct server *server, const char *line, size_t n,
              struct error *error)
{
	struct text_buffer answer = { 0 };
	struct mcp_message message;
	struct error wrong = { 0 };
	enum mcp_error code;
	int result = 0;

	if (n == 0)
		return 0;
	code = mcp_message_read(&message, line, n, &wrong);
	if (code == MCP_OK)
		mcp_answer(server, &message, &answer);
	else
		add_failure(&answer, message.id, code, wrong.text);
	if (answer.length > 0)
		result = mcp_write(&answer, error);
	mcp_message_free(&message);
	text_free(&answer);
	return result;
}

/* Answers the lines that are complete. */
static int
take_lines(struct server *server, struct error *error)
{
	struct text_buffer *input = &server->input;
	const char *newline;
	size_t n;

	while (input->length > 0 && (newline = memchr(input->bytes, '\n',
	                                              input->length)) != NULL) {
		char *line;
		int result;

		n = (size_t)(newline - input->bytes);
		line = memory_array(n + 1, 1, error);
		if (line == NULL)
			return -1;
		memcpy(line, input->bytes, n);
		mcp_drop_input(server, n + 1);
		result = server->is_skipping ? 0 :
		         mcp_take_line(server, line, n, error);
		server->is_skipping = false;
		free(line);
		if (result != 0)
			return -1;
	}
	return 0;
}

int
mcp_serve(const struct mcp_rights *rights, struct error *error)
{
	struct server server = { .rights = rights };
	struct text_buffer answer = { 0 };
	int result = 0;

	while (result == 0 && !server.has_ended) {
		mcp_fill(&server, true);
		result = take_lines(&server, error);
		if (result != 0 || server.input.length < MCP_MESSAGE_MAX)
			continue;
		if (!server.is_skipping) {
			add_failure(&answer, NULL, MCP_INVALID_REQUEST,
			            "the message is longer than 4 MiB");
			result = mcp_write(&answer, error);
			text_free(&answer);
		}
		server.is_skipping = true;
		mcp_drop_input(&server, server.input.length);
	}
	text_free(&server.input);
	return result;
}
