/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp.h -- answers to programs that speak the Model Context Protocol.
 *
 * An assistant starts `cpprof mcp` and asks over its standard input and output,
 * one JSON-RPC message a line.  It has a tool that runs commands on a profile,
 * and, if that is allowed, one that records.  Each call runs in a process of its
 * own, so that nothing that it does outlives it.
 * Source: modelcontextprotocol.io, specification 2025-06-18.
 */
#ifndef CPPROF_SHELL_MCP_MCP_H
#define CPPROF_SHELL_MCP_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"

/* ---- mcp_message.c ---- */

enum { MCP_MESSAGE_MAX = 4 << 20 };	/* bytes */

/* Errors of JSON-RPC. */
enum mcp_error {
	MCP_OK = 0,
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_NO_METHOD = -32601,
	MCP_INVALID_PARAMS = -32602,
};

/* Texts; starts with { 0 }. */
struct mcp_list {
	char **items;
	size_t n, capacity;
};

/* Adds a copy of text[n]. */
void mcp_list_add(struct mcp_list *list, const char *text, size_t n,
                  struct error *error);
void mcp_list_free(struct mcp_list *list);

/* What a message may contain.  Texts are owned; NULL: not there. */
struct mcp_message {
	char *id;		/* as JSON: a number or a string in quotes */
	char *method;
	char *version;		/* of the protocol */
	char *request;		/* the id of a request to cancel, likewise */
	char *tool;
	/* The tool's arguments. */
	struct mcp_list profile, base, commands, program, resources;
	char *output;
	uint64_t max_words, pid, seconds;	/* 0: not there */
};

/*
 * Reads a message from bytes[n].  If it is none, or has arguments of a wrong
 * type, returns which error that is, with *error set; the id is there if it was
 * read.  Call mcp_message_free in any case.
 */
enum mcp_error mcp_message_read(struct mcp_message *message, const char *bytes,
                                size_t n, struct error *error);
void mcp_message_free(struct mcp_message *message);

/* ---- mcp_tool.c ---- */

struct mcp_rights {
	bool may_write;		/* files */
	bool may_record;	/* run programs */

	/* Where sources are that may be shown; the user named them. */
	struct mcp_list directories;
	const char *symfs;	/* NULL: nowhere */
};

/* Adds the tools that there are, a JSON array. */
void mcp_tools_add(const struct mcp_rights *rights, struct text_buffer *text);

/*
 * Runs the tool that the message calls, and adds what it says.  is_cancelled is
 * asked ten times a second whether to end it early.  Returns whether the tool
 * did what it was asked for, or 0 with *error set if the arguments are wrong.
 */
bool mcp_tool_run(const struct mcp_message *message,
                  const struct mcp_rights *rights,
                  bool (*is_cancelled)(void *context), void *context,
                  struct text_buffer *text, struct error *error);

/* ---- mcp.c ---- */

/* Answers until the input ends.  0, or -1 with *error set. */
int mcp_serve(const struct mcp_rights *rights, struct error *error);

#endif
