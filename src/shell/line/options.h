/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h -- the command line of cpprof. */
#ifndef CPPROF_SHELL_LINE_OPTIONS_H
#define CPPROF_SHELL_LINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/output/output.h"

/* ---- option_row.c ---- */

/*
 * An option is a row.
 *
 * The options of cpprof itself and those of record are tables of such rows:
 * parsing, completion, help and the man page read them.
 */

/* Has a letter or a name or both. */
struct option_row {
	const char *letter;	/* "-e"; NULL: none */
	const char *name;	/* "--symfs"; NULL: none */
	const char *value;	/* "DIR", what it takes; NULL: nothing */
	const char *help;	/* a part of a sentence; NULL: not listed */

	/*
	 * Changes the options that the table is for.  NULL: sets the bool at
	 * that offset.
	 */
	int (*take)(void *options, const char *value, struct error *error);
	size_t flag;
};

#define OPTIONS_END { NULL, NULL, NULL, NULL, NULL, 0 }

/* Whether a row is the one that ends the table. */
static inline bool
option_is_end(const struct option_row *row)
{
	return row->letter == NULL && row->name == NULL;
}

/* "-e" or "--symfs". */
static inline const char *
option_word(const struct option_row *row)
{
	return row->letter != NULL ? row->letter : row->name;
}

/* Does what the row says; value: the option's, NULL if it takes none. */
int option_take(const struct option_row *row, void *options,
                const char *value, struct error *error);

/*
 * The option that a word begins with, or NULL; *rest: what follows it in the
 * word.
 */
const struct option_row *option_match(const struct option_row *rows,
                                      const char *word, const char **rest);

/*
 * Takes the options of a command that *words begins with, and moves it past
 * them: to a word that is no option, such as "-" and "--", or to NULL.  0, or
 * -1 with *error set for an unknown option or one without its value.
 */
int options_take(const struct option_row *rows, const char *command,
                 void *options, char *const **words, struct error *error);

/*
 * The same for options anywhere among words that end with NULL; after "--" there
 * are none.  others[*n]: the other words, with room for all.
 */
int options_take_among(const struct option_row *rows, const char *command,
                       void *options, char *const *words, const char **others,
                       size_t *n, struct error *error);

/* Offers all options of a table. */
struct completion;
void completion_offer_options(struct completion *completion,
                              const struct option_row *rows);

/* Adds "-h, --help" or "--symfs DIR". */
void text_add_option(struct text_buffer *text, const struct option_row *row);

/* ---- options.c ---- */

/* The exit status after a command line that is wrong. */
enum { EXIT_USAGE = 2, EXIT_VIOLATED = 4, EXIT_UNDECIDED = 5 };

/* One -e or -x, in the order given. */
struct action {
	bool is_file;
	const char *text;
};

enum manual_form {
	MANUAL_NONE,
	MANUAL_MARKDOWN,	/* a section of level 3 for each command */
	MANUAL_MAN,		/* a whole man page */
};

struct options {
	struct action *actions;		/* [n_actions] */
	size_t n_actions;
	const char **bases;		/* [n_bases] of --base */
	size_t n_bases;
	char **files;			/* [n_files], in argv */
	size_t n_files;
	const struct output_format *format;	/* NULL: not given */
	bool is_quiet, has_no_startup, stays, keeps_going, is_lenient,
	    has_thread_frames, is_read_only;
	bool wants_help, wants_version;
	const char *symfs;		/* NULL: not given */
	const char **directories;	/* [n_directories] of --directories */
	size_t n_directories;
	enum manual_form manual;	/* MANUAL_NONE: not wanted */
};

/*
 * Reads argv, whose strings are borrowed, and moves the profiles after the
 * options.  Call options_free even if it fails.
 */
int options_parse(struct options *options, int argc, char **argv,
                  struct error *error);
void options_free(struct options *options);

/* The rows, whose options are a struct options. */
extern const struct option_row option_rows[];

/* What the value of one of them is. */
enum option_value { OPTION_FILE, OPTION_FORMAT, OPTION_COMMAND };

enum option_value options_value_of(const struct option_row *row);

/* Adds what --help prints. */
void options_add_help(struct text_buffer *text);

#endif
