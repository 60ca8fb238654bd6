/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h -- what a command is: its row in the table, its arguments, and
 * their completion.
 *
 * Arguments are read by kinds; a kind reads words into values and completes
 * them.
 */
#ifndef CPPROF_SHELL_COMMAND_COMMAND_H
#define CPPROF_SHELL_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/pattern.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/refine/refine.h"
#include "src/shell/line/options.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"
#include "src/views/view.h"

/* ---- command.c ---- */

/*
 * A command is a row.
 *
 * Help, usage, completion, the manual's reference and the self-check of the
 * tests all read the rows.  A new command is a file in commands/ and a line in
 * commands/local.mk, at the place that help shows it at; see
 * doc/adding-a-command.md.
 */

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
struct calls_selection;
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
	const struct argument_kind *kind;	/* see below */
	unsigned flags;
	const char *help;	/* what it means (what leaving it out means) */
};

#define ARGUMENTS_END { NULL, NULL, 0, NULL }

enum { COMMAND_MAX_ARGUMENTS = 3 };

/*
 * A word that means a command, besides its name.  No word means two commands
 * (tests/test-arguments.c).
 */
struct command_word {
	const char *word;	/* may be two, as in "info functions" */
	enum {
		WORD_ALIAS,	/* another name, which help shows, too */
		WORD_SHORT,	/* a beginning of the name.  It and every
				 * longer one mean this command, whatever other
				 * commands begin likewise: scripts and fingers
				 * know them.  A new command does not need
				 * one. */
		WORD_ELSEWHERE,	/* what another program calls the command */
		WORD_REPLACED,	/* what another program calls a thing for which
				 * one types something else here; an error says
				 * so */
		WORD_FORMER,	/* what the command, with its first arguments,
				 * was called before.  A line that begins with
				 * it still works, and a note says what to
				 * type. */
	} use;
	const char *type;	/* WORD_REPLACED and WORD_FORMER: what to
				 * type */
};

/* For struct command: .words = COMMAND_WORDS(ALIAS("exit"), ...) */
#define COMMAND_WORDS(...) \
	(const struct command_word[]){ __VA_ARGS__, { NULL, 0, NULL } }
#define ALIAS(word) { word, WORD_ALIAS, NULL }
#define SHORT(word) { word, WORD_SHORT, NULL }
#define MEANS(word) { word, WORD_ELSEWHERE, NULL }
#define TYPE(word, line) { word, WORD_REPLACED, line }
#define FORMER(word, line) { word, WORD_FORMER, line }

/* An answer that is no table but the bytes of a file. */
struct file_answer {
	const char *path;	/* the file to write, borrowed; NULL: they go
				 * where the output of the line goes */
	bool is_binary;		/* not to be written to a terminal */
};

struct command {
	const char *name;
	const struct command_word *words;	/* other words for it */
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
	 * A command that only shows a view has one of these in place of run.
	 * The view gets the session's root and settings, and the arguments
	 * by their kinds (view_command.c).
	 */
	view_function *view;
	section_view *section_view;
	bool is_compared;	/* diff can show it: its rows have both sides */

	/*
	 * A command that answers with the bytes of a file, whatever the output
	 * format, has these two in place of run.
	 *
	 * prepare: does what may fail before the output is opened, and fills in
	 * *file, which is zeroed.  write: writes the bytes.  0, or -1 with
	 * *error set, or unset if the writer failed.
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

/* The commands in the order of help; ends with NULL. */
extern const struct command *const commands[];

/*
 * The command of the word: the one that has it as its name or among its words,
 * or else the only one whose name begins with it.  NULL with *error saying
 * which commands an ambiguous word may mean, what to type instead of the word
 * of another program, or which names are similar to an unknown one.
 */
const struct command *command_lookup(const char *word, size_t length,
                                     struct error *error);

/*
 * The same for the first word of line[length], or its first two if they are a
 * word of a command.  *n: the bytes of the line up to the end of the word or
 * words; *n_words: how many they are.
 */
const struct command *command_of_line(const char *line, size_t length,
                                      size_t *n, size_t *n_words,
                                      struct error *error);

/*
 * If line[length] begins with what a command was called before, adds the line
 * with the words that are typed today in its place, and says true.
 */
bool command_replace_former(struct text_buffer *text, const char *line,
                            size_t length);

/* Adds the command's aliases with commas between them. */
void text_add_aliases(struct text_buffer *text, const struct command *command,
                      const char *quote);

/* ---- handles.c ---- */

/*
 * %3 in a command line: row 3 of the last view.
 *
 * A kind of argument says in `handle` what %3 means as such an argument.  Names
 * between bars replace it before the kind reads its words, so that the kind
 * sees only names.
 */

/* What %3, row 3 of the last view, is as an argument. */
enum handle_kind {
	HANDLE_NONE,		/* nothing but the word %3 */
	HANDLE_FUNCTION,	/* the function that the row is about, as one
				 * name between bars */
	HANDLE_PATH,		/* the names of its path, each between bars;
				 * also within the words of a longer path */
};

/*
 * The words with the handles among words[begin .. end-1] replaced: the same if
 * the kind takes none, else a copy in the arena.  A word that is the name of a
 * function stays.  NULL with *error set, also if there is no such row.
 */
const struct words *handles_replace(const struct session *session,
                                    enum handle_kind kind,
                                    const struct words *words, size_t begin,
                                    size_t end, struct arena *arena,
                                    struct error *error);

/* Offers the handles of the last view, if the word begins with %. */
void handles_complete(struct completion *completion,
                      const struct session *session);

/* ---- arguments.c ---- */

/* The words after a command, read as its row says. */

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
	const struct calls_selection *calls;	/* of base */
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

/* Takes the next word. */
static inline const struct word *
reading_next_word(struct reading *reading)
{
	return &reading->words->words[reading->at++];
}

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
 * split from.  Call arguments_free even if it fails.
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

/* ---- argument_kinds.c ---- */

/*
 * The kinds of argument that commands share.
 *
 * A command's row names them; see struct argument_kind for what a kind says.
 * The comments say what a kind sets in struct value besides is_given and text.
 */

extern const struct argument_kind
    arg_function,	/* one function of the profile, or a pattern that
			 * matches only one: names[1] */
    arg_functions,	/* the same, but a pattern may match several: names */
    arg_pattern,	/* a name, glob or /expression/: pattern */
    arg_path,		/* (main f |operator new(unsigned long)|): names */
    arg_paths,		/* the same, or several, each in parentheses or a
			 * handle: names, path_ends */
    arg_path_pattern,	/* one path with patterns and "..."; also a
			 * list of patterns: pattern_words */
    arg_frame_patterns,	/* patterns of functions, each on its own, so that
			 * %3 is one: pattern_words */
    arg_fraction,	/* 0.01 or 1%: fraction */
    arg_count,		/* a positive number or "off", called N|off in the
			 * row: count */
    arg_rows,		/* a positive number or "all": count, SIZE_MAX */
    arg_digits,		/* a number from 0 to 15: count */
    arg_choice,		/* one of the command's choices: count */
    arg_resource,	/* a resource of the profile: count */
    arg_file,		/* a file name: words */
    arg_file_or_off,	/* the same, or "off": words */
    arg_command,	/* the name of a command: command */
    arg_setting,	/* the name of a setting: command */
    arg_setting_value,	/* after arg_setting: all that is left but
			 * redirections, as typed */
    arg_word,		/* any word */
    arg_group,		/* the same, usually the name of a group */
    arg_new_group,	/* the same, a name that may be new */
    arg_group_sign,	/* arg_choice, after such a name */
    arg_words,		/* a program to run with its arguments: words */
    arg_options_and_files,	/* words, of which some are options: words */
    arg_shell_line,	/* the rest of the line, for sh */
    arg_command_line;	/* the rest of the line, one of our commands,
			 * perhaps after a number */

/* ---- path_words.c ---- */

/* The words of a typed path. */

/*
 * Reads all words that are left as those of a path, without the parentheses
 * that may surround it: `main f` and `(main f)`.  A name that contains
 * parentheses is written between bars, but the last one may be bare:
 * `(main f())`.  If the rest of the line is the name of a function, it is one
 * word.  A regular expression runs to its closing slash, blanks included.  The
 * *n >= 1 words are in the arena; NULL with *error set.
 */
struct pattern_word *path_words_read(struct reading *reading, size_t *n);

/* ---- complete.c ---- */

/* Completes the last word of a command line. */

/*
 * Sets *completion, which need not be initialised, to the candidates for the
 * last word of line[length].  Call completion_free afterwards.
 */
void complete_line(struct completion *completion,
                   const struct session *session, const char *line,
                   size_t length);

/* ---- complete_shell.c ---- */

/*
 * Adds what the last of the words after `cpprof` may become, words[n] being a
 * command line in a shell.  lone: the commands that may be the first word, then
 * NULL.
 *
 * The first line is "words"; or "files", if the shell is to offer files as well,
 * with the number of bytes that precede the file name in the word, if there are
 * any, as in --base=FILE; or "program N": words[N] on are a command line of its
 * own, which the shell completes.  Each other line is a candidate, perhaps with
 * a tab and what it means.
 */
void complete_shell(struct text_buffer *text, const struct session *session,
                    const char *const *lone, char *const *words, size_t n);

/* ---- settings.c ---- */

/*
 * Commands that hold a value.
 *
 * Most are rows of commands/settings.def.  A setting that needs code of its
 * own is a command with get and set, such as commands/root.c.
 */

/* Sets the value that was given, or shows the setting if none was. */
int setting_run(struct session *session, const struct command *setting,
                const struct arguments *arguments, struct table *table,
                struct error *error);

/*
 * Shows one setting, or all if it is NULL, as lines that would set them again.
 * Leaves out a setting that has no value yet.
 */
int setting_show(const struct session *session, const struct command *setting,
                 struct table *table, struct error *error);

/*
 * For get: a copy of text[length] in the arena, between bars if it needs them.
 * NULL with *error set.
 */
const char *setting_word(const char *text, size_t length, struct arena *arena,
                         struct error *error);

#endif
