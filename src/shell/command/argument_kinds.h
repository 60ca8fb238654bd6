/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argument_kinds.h -- what each kind of argument is read and completed as. */
#ifndef CPPROF_SHELL_COMMAND_ARGUMENT_KINDS_H
#define CPPROF_SHELL_COMMAND_ARGUMENT_KINDS_H

#include "src/shell/command/arguments.h"
#include "src/shell/command/complete.h"

/* The place that arguments_parse has reached. */
struct reading {
	const struct session *session;
	const struct command *command;
	const struct argument *argument;
	struct arguments *arguments;	/* for its arena */
	const struct words *words;
	size_t at;			/* the next word; there is one */
	const char *line;
	struct error *error;
};

/* For readers: the next word, moved past. */
const struct word *reading_next_word(struct reading *reading);

/* Whether no argument follows: all words that are left are this one's. */
bool reading_is_last(const struct reading *reading);

/* All words that are left as they were typed, in the arena; or NULL. */
const char *reading_rest(const struct reading *reading, size_t *length);

/* Reads one argument, moving `at` past it; 0, or -1 with *error set. */
typedef int argument_reader(struct reading *reading, struct value *value);

/* Offers what an argument may be. */
typedef void argument_completer(struct completion *completion,
                                const struct session *session,
                                const struct command *command);

struct argument_kind_row {
	argument_reader *read;
	argument_completer *complete;	/* NULL: offers nothing */
};

/* Indexed by enum argument_kind. */
extern const struct argument_kind_row argument_kinds[];

#endif
