/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h -- a command is a row.
 *
 * Help, usage, completion, the manual's reference and the self-check of the
 * tests all read the rows.  A new command is a file in commands/, a line in
 * commands/list.def, at the place that help shows it at, and one in
 * commands/local.mk; see doc/adding-a-command.md.
 */
#ifndef CPPROF_SHELL_COMMAND_COMMAND_H
#define CPPROF_SHELL_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/shell/line/completion.h"
#include "src/shell/line/option_row.h"
#include "src/shell/session/session.h"

/*
 * What a command is for.  help and the manual list the commands under the
 * titles of these, in this order.
 */
enum command_group {
	GROUP_LOOK = 1, GROUP_ASK, GROUP_REFINE, GROUP_COMPARE, GROUP_SETTINGS,
	GROUP_FILES, GROUP_PROMPT, COMMAND_GROUPS_END
};

extern const char *const command_group_titles[COMMAND_GROUPS_END];

struct argument_kind;
struct arguments;
struct value;
struct writer;

enum argument_flags {
	ARG_OPTIONAL = 1,
	ARG_REPEATED = 2,	/* one or more; arg_file and the last only */
	ARG_SWITCH = 4,		/* an arg_choice that is passed over if the
				 * word is none of the choices in full */
	ARG_ANYWHERE = 8,	/* optional, of a kind with `wants`: before,
				 * between or after the others */
};

struct argument {
	const char *name;	/* "ROOT" */
	const struct argument_kind *kind;	/* see argument_kinds.h */
	unsigned flags;
	const char *help;	/* what it means (what leaving it out means) */
};

#define ARGUMENTS_END { NULL, NULL, 0, NULL }

enum { COMMAND_MAX_ARGUMENTS = 3, COMMAND_MAX_ALIASES = 3,
       COMMAND_MAX_SHORT = 4 };

/* An answer that is no table but the bytes of a file. */
struct file_answer {
	const char *path;	/* the file to write, borrowed; NULL: they go
				 * where the output of the line goes */
	bool is_binary;		/* not to be written to a terminal */
};

struct command {
	const char *name;
	const char *aliases[COMMAND_MAX_ALIASES];
	/*
	 * Beginnings of the name that mean this command although newer ones
	 * begin so, too: what has once been unique stays.
	 */
	const char *short_forms[COMMAND_MAX_SHORT];
	enum command_group group;
	const char *summary;		/* one line, lower case, no full stop */
	const char *description;	/* an empty line between paragraphs */
	const char *example;		/* tests run it on sample-data/forms */
	const struct argument *arguments;	/* ends with ARGUMENTS_END;
						 * NULL: none */
	const char *const *choices;	/* of arg_choice, ends with NULL */
	const struct option_row *options;	/* before the arguments; ends
						 * with OPTIONS_END; NULL: none */

	/*
	 * Completion for arg_words: offers what the word after n others may
	 * be, of which the first follows the command.
	 */
	void (*complete_words)(struct completion *completion,
	                       const struct word *words, size_t n);

	/*
	 * Fills the empty table, or leaves it empty if there is nothing to
	 * show.  Prints nothing.  0, or -1 with *error set, or unset if the
	 * failure has been reported.  If a command fails after it has filled
	 * the table, the table is shown before the error.
	 */
	int (*run)(struct session *session, const struct arguments *arguments,
	           struct table *table, struct error *error);

	/*
	 * A command that answers with the bytes of a file, whatever the output
	 * format, has these two in place of run.
	 *
	 * prepare: does what may fail before the output is opened, and fills in
	 * *file, which is zeroed.  0, or -1 with *error set.  write: writes the
	 * bytes.  0, or -1 with *error set, or unset if the writer failed.
	 */
	int (*prepare)(struct session *session,
	               const struct arguments *arguments,
	               struct file_answer *file, struct error *error);
	int (*write)(struct session *session,
	             const struct arguments *arguments, struct writer *writer,
	             struct error *error);

	/*
	 * A setting has these as well; its first argument is the value.
	 *
	 * get: the value as it would be typed, in the arena, or several, a line
	 * each; "" if it has none; NULL with *error set.  set: 0, or -1 with
	 * *error set and the value as it was.
	 */
	const char *(*get)(const struct session *session,
	                   const struct command *setting, struct arena *arena,
	                   struct error *error);
	int (*set)(struct session *session, const struct command *setting,
	           const struct value *value, struct error *error);

	/* For commands/settings.def: offset in struct settings, and what
	 * depends on the setting. */
	size_t field;
	enum setting_change change;
};

/* Adds the description and a paragraph for each option. */
void text_add_description(struct text_buffer *text,
                          const struct command *command);

/* The commands in the order of commands/list.def; ends with NULL. */
extern const struct command *const commands[];

/*
 * The command with that name or alias; or what commands/words.def says; or the
 * one that commands/abbreviations.def says; or the only one whose name begins
 * with the word.  NULL with *error saying which commands an ambiguous word may
 * mean, what to type instead of the word of another program, or which names are
 * similar to an unknown one.
 */
const struct command *command_lookup(const char *word, size_t length,
                                   struct error *error);

/*
 * The same for the first word of line[length], or its first two if
 * commands/words.def has these.  *n: the bytes of the line up to the end of the
 * word or words; *n_words: how many they are.
 */
const struct command *command_of_line(const char *line, size_t length,
                                      size_t *n, size_t *n_words,
                                      struct error *error);

/* The rows of the two files; each ends with a NULL word. */
struct command_word {
	const char *word;
	const char *command;	/* a command's name, or NULL */
	const char *type;	/* what to type instead, if command is NULL */
};
extern const struct command_word command_words[], command_abbreviations[];

/* The command that a row of words.def runs or names; NULL: does not exist. */
const struct command *command_of_word(const struct command_word *row);

#endif
