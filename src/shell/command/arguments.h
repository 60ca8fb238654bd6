/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arguments.h -- the words after a command, read as its row says. */
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
#include "src/shell/command/handles.h"
#include "src/shell/line/completion.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/* The value of one argument; its kind says which members are set. */
struct value {
	bool is_given;			/* else nothing else is set */
	const char *text;		/* the word or words, as typed */
	const uint32_t *names;		/* [n_names] functions */
	size_t n_names;
	const size_t *path_ends;	/* [n_paths] in names, of each path */
	size_t n_paths;
	struct pattern *pattern;
	double fraction;
	size_t count;			/* SIZE_MAX: off; of arg_choice and
					 * arg_resource: which one */
	const char *const *words;	/* [n_words], then NULL */
	size_t n_words;
	const struct command *command;
	const struct column_formula *formula;
	struct pattern_word *pattern_words;	/* [n_pattern_words] */
	size_t n_pattern_words;
};

struct arguments {
	struct arena arena;
	struct words words;	/* where arguments_parse_text made them */
	struct value values[COMMAND_MAX_ARGUMENTS];
};

/* How far the arguments of a line have been read; for argument kinds. */
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

/*
 * A kind of argument: all that the shell knows of it.  A new kind is a row in
 * argument_kinds.c, or in the file of the only command that has it.
 */
struct argument_kind {
	/*
	 * Reads one argument into the empty value and moves reading->at past
	 * it.  0, or -1 with *error set.
	 */
	int (*read)(struct reading *reading, struct value *value);

	/*
	 * For ARG_ANYWHERE: whether a word is this argument rather than
	 * another.
	 */
	bool (*wants)(const struct word *word);

	/* Offers all that the argument may be; NULL: offers nothing. */
	void (*complete)(struct completion *completion,
	                 const struct session *session,
	                 const struct command *command);

	/* Adds the argument to a usage line; NULL: its name is added. */
	void (*add_usage)(struct text_buffer *text,
	                  const struct command *command);

	/*
	 * Set if the argument contains words that form a command line of their
	 * own.  words[0] is the command that has the argument, and words[n] is
	 * being completed.  Returns the number of words before the inner
	 * command, or 0 if words[n] is no argument of an inner command.
	 */
	size_t (*find_command)(const struct word *words, size_t n);

	/*
	 * What %3 is here.  It is replaced before `read`, which therefore
	 * never sees it, and completed after `complete`.
	 */
	enum handle_kind handle;

	/*
	 * All words that are left belong to the argument, the last one in the
	 * fixed order; but the last word may be for one that may be anywhere.
	 */
	bool takes_rest;

	/* It is the only argument, and the line is not split into words. */
	bool is_raw;

	/*
	 * The argument is a program to run, and a redirection after it is for
	 * the output of the program.
	 */
	bool runs_program;
};

/*
 * Reads words[first..] as the command's arguments.  line: what the words were
 * split from.  0, or -1 with *error set.  Call arguments_free in either case.
 */
int arguments_parse(struct arguments *arguments,
                    const struct session *session,
                    const struct command *command, const struct words *words,
                    size_t first, const char *line, struct error *error);

/* The same from a text that holds only the arguments. */
int arguments_parse_text(struct arguments *arguments,
                         const struct session *session,
                         const struct command *command, const char *text,
                         struct error *error);

void arguments_free(struct arguments *arguments);

/*
 * To be asked when a command has used them: 0, or -1 with *error set if a
 * pattern among them gave up on a name (pattern.h).
 */
int arguments_check_patterns(const struct arguments *arguments,
                             struct error *error);

/*
 * The argument that words[n] belongs to, where words[0] is the command and
 * words[n] may be unfinished; NULL if there is none.
 */
const struct argument *arguments_find(const struct command *command,
                                      const struct word *words, size_t n);

/* Adds "down [ROOT]". */
void text_add_usage(struct text_buffer *text, const struct command *command);

#endif
