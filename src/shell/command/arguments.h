/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arguments.h -- the words behind a command, as what its row says they are. */
#ifndef CPPROF_SHELL_COMMAND_ARGUMENTS_H
#define CPPROF_SHELL_COMMAND_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/base/pattern.h"
#include "src/base/text_buffer.h"
#include "src/shell/command/command.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/* One argument; its kind says which members are set. */
struct value {
	bool is_given;			/* else nothing else is set */
	const char *text;		/* the word or words, as typed */
	const uint32_t *names;		/* [n_names] ARG_FUNCTION (one),
					 * ARG_FUNCTIONS, ARG_PATH */
	size_t n_names;
	struct pattern *pattern;	/* ARG_PATTERN */
	double fraction;		/* ARG_FRACTION */
	size_t count;			/* ARG_COUNT (SIZE_MAX: off),
					 * ARG_DIGITS; ARG_CHOICE and
					 * ARG_RESOURCE: which one */
	const char *const *words;	/* [n_words] ARG_FILE, ARG_WORDS; a
					 * NULL follows */
	size_t n_words;
	const struct command *command;	/* ARG_COMMAND, ARG_SETTING */
};

struct arguments {
	struct arena arena;
	struct words words;	/* where arguments_parse_text made them */
	struct value values[COMMAND_MAX_ARGUMENTS];
};

/*
 * Reads words[first..] as the command's arguments; line is what they were
 * split from.  0, or -1 with *error set.  Whatever it returns, free.
 */
int arguments_parse(struct arguments *arguments,
                    const struct session *session,
                    const struct command *command, const struct words *words,
                    size_t first, const char *line, struct error *error);

/* The same from a text of arguments alone. */
int arguments_parse_text(struct arguments *arguments,
                         const struct session *session,
                         const struct command *command, const char *text,
                         struct error *error);

void arguments_free(struct arguments *arguments);

/* Adds "down [ROOT]". */
void text_add_usage(struct text_buffer *text, const struct command *command);

#endif
