/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.h -- which functions, code and columns the words of a command mean.
 *
 * A word that means nothing, or several things, is an error that lists what
 * was meant instead.
 */
#ifndef CPPROF_SHELL_COMMAND_RESOLVE_H
#define CPPROF_SHELL_COMMAND_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/pattern.h"
#include "src/base/short_name.h"
#include "src/base/table.h"
#include "src/shell/command/command.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"
#include "src/symbols/code/disassembly.h"
#include "src/symbols/lines/address_lines.h"
#include "src/views/code/code.h"

/* ---- resolve.c ---- */

/* Finds the functions and resources that words name. */

/*
 * The functions of the profile that a word names: the one with that name, or
 * those with that short name (resolve_short.c), or else, if it was not between
 * bars, all that match it as a pattern, in byte order.  Returns at least one,
 * in the arena; NULL with *error naming similar ones.
 */
uint32_t *resolve_functions(const struct session *session,
                            const struct word *word, struct arena *arena,
                            size_t *n, struct error *error);

/*
 * The only function that a word names.  NO_NAME with *error set: there is none,
 * or there are several, the largest of which it names.
 */
uint32_t resolve_function(const struct session *session,
                          const struct word *word, struct error *error);

/* Whether text is the name of a function, or short for one or several. */
bool resolve_is_function(const struct session *session, const char *text,
                         size_t length);

/* Whether a function of the profile matches. */
bool resolve_matches(const struct session *session,
                     const struct pattern *pattern);

/*
 * Sets *error: none does.  text: the pattern as typed; similar names follow if
 * it is a name.
 */
void resolve_report_no_match(const struct session *session,
                             const struct pattern *pattern, const char *text,
                             struct error *error);

/*
 * A pattern for the word: exactly that name if it was between bars or the
 * profile has it, the names for which it is short, or else a glob or a regular
 * expression.  Free it with pattern_free.  NULL with *error set.
 */
struct pattern *resolve_pattern(const struct session *session,
                                const struct word *word, struct error *error);

/*
 * The resource with that name, or the only one that begins so, in upper or
 * lower case.  UINT32_MAX with *error set, which lists the resources.
 */
uint32_t resolve_resource(const struct session *session, const char *text,
                          struct error *error);

/* ---- resolve_short.c ---- */

/* The functions that a typed name stands for. */

/* Functions among which a name is sought, in byte order.  Borrowed. */
struct function_set {
	const struct names *names;
	const uint32_t *functions;	/* [n] */
	const uint64_t *hits;		/* by the numbers of names; NULL: not
					 * known */
	uint32_t n;
};

/*
 * Hits of the stacks that contain a function, by the numbers of names; free
 * with free().  NULL: no profile, or no memory.
 */
uint64_t *resolve_function_hits(const struct session *session);

/*
 * The function for which text[length] stands, in the closest way in which it
 * stands for any (src/base/short_name.h, enum name_reading).  NO_NAME: there is
 * none, or with *error set which lists them if there are several.
 */
uint32_t resolve_short_name_among(struct function_set among, const char *text,
                                  size_t length, struct error *error);

/* The same among those that views show. */
uint32_t resolve_short_name(const struct session *session, const char *text,
                            size_t length, struct error *error);

/*
 * All *n functions for which text[length] stands in the closest way, which is
 * *reading, in byte order; free them with free().  NULL: there is none, and
 * *reading is N_NAME_READINGS, or *error is set.
 */
uint32_t *resolve_short_names(const struct session *session, const char *text,
                              size_t length, size_t *n,
                              enum name_reading *reading,
                              struct error *error);

/*
 * Offers functions, those with most hits first: if they are to be short, by the
 * short names that a view of them all would show, or by whole names that go on
 * as typed where these do not.
 */
void resolve_offer_functions_of(struct function_set functions, bool are_short,
                                struct completion *completion);

/* The same for all those that views show. */
void resolve_offer_functions(const struct session *session, bool are_short,
                             struct completion *completion);

/* ---- resolve_code.c ---- */

/* Finds the code that a word names: a function or a file. */

/* What may be named: functions, those that were inlined too; also files. */
enum code_kinds { CODE_FUNCTIONS, CODE_FUNCTIONS_AND_FILES };

/*
 * The code that a text names, as far as the profile's lines have been read: the
 * function of that name; FILE:LINE or FILE, its path or the end of it; the
 * function for which the text is short; or the only function that the text
 * matches as a pattern.  *line: 0 unless it names one.  0, or -1 with *error
 * set, which names similar ones, or those that the text may mean.
 */
int resolve_code(const struct session *session, enum code_kinds kinds,
                 const char *text, struct code_scope *scope, uint32_t *line,
                 struct error *error);

/* Offers all of them, functions by their short names if these are used. */
void resolve_code_complete(const struct session *session,
                           enum code_kinds kinds, bool has_short_names,
                           struct completion *completion);

/* ---- function_code.c ---- */

/* The instructions of a profile's function, for commands. */

/* The part of a function that is in one module. */
struct module_code {
	uint32_t module;
	size_t first, end;	/* its instructions */
};

struct function_code {
	uint32_t function;
	uint32_t *frames;	/* [n_frames] whose code is the function's, by
				 * module and address */
	size_t n_frames;
	uint32_t *place;	/* [the profile's frames] the instruction of each
				 * of these; NO_PLACE: none */
	struct disassembly disassembly;
	struct module_code *modules;	/* [n_modules] */
	size_t n_modules;
	enum disassembly_state state;	/* of a module without instructions */
	uint32_t without;		/* that module; NO_MODULE: there is none */
};

/*
 * Decodes the code that a function has of its own, not what was inlined into
 * others.  It may have none; state then says why.  Call function_code_free
 * even if it fails.
 */
int function_code_read(struct function_code *code,
                       const struct session *session, uint32_t function,
                       struct error *error);
void function_code_free(struct function_code *code);

/*
 * Finds the locations of all instructions, as address_lines_find does; found
 * gets the number of an instruction.
 */
int function_code_lines(const struct function_code *code,
                        struct session *session, uint64_t most_bytes,
                        int (*found)(void *context, size_t instruction,
                                     const struct location *chain, size_t n,
                                     const struct names *names,
                                     struct error *error),
                        void *context, struct error *error);

/*
 * The first and the last line of a file, named as in the profile, that a
 * function has code for.  Both 0 if its code or its debug information is not at
 * hand, or that is large.
 */
int function_code_extent(struct session *session, uint32_t function,
                         const char *file, uint32_t *first, uint32_t *last,
                         struct error *error);

/* ---- code_argument.c ---- */

/*
 * What list and disasm share: their argument, and why there is nothing to
 * show.
 */

/*
 * Code, as resolve_code reads it: the rest of the line, which may hold blanks,
 * or a word between bars.  Sets only text, since the command may have to read
 * lines first.
 */
extern const struct argument_kind
    arg_code,			/* a function, a file, or a line of one */
    arg_code_function;		/* a function, perhaps an inlined one */

/*
 * Whether a function has no code of its own because it was always inlined; then
 * *error says into which functions, and what to do.
 */
bool code_is_inlined_only(const struct profile *profile, uint32_t function,
                          const char *what, struct error *error);

/*
 * Sets *error to why a function (NO_NAME: a file) has no lines, and what to do.
 * Returns -1.
 */
int code_explain_no_lines(const struct session *session, uint32_t function,
                          struct error *error);

/* The same for a function without instructions. */
int code_explain_no_code(const struct profile *profile,
                         const struct function_code *code,
                         struct error *error);

/* ---- code_sources.c ---- */

/* The source files of code that is shown, each read once. */

struct code_source {
	const char *name;		/* in the profile */
	struct source_file file;
	bool is_shown;			/* the caller's: lines of it are */
};

/* Starts with only the session set. */
struct code_sources {
	struct session *session;	/* says where files are searched */
	struct code_source **sources;	/* [n] in the order they were read */
	size_t n, capacity;
};

/*
 * The source file of that name, which is borrowed; it stays where it is until
 * code_sources_free.  NULL with *error set; that there is no such file is no
 * error, see address_lines.h.
 */
struct code_source *code_sources_read(struct code_sources *sources,
                                      const char *name, struct error *error);

/*
 * Adds to the heading where each file that is shown was found, and whether it
 * is not what was compiled: by its digest if debug information has that, else
 * by its age.  One line is for all files that were not found, one for all that
 * cannot be read.  set: the code.
 */
int code_sources_describe(const struct code_sources *sources,
                          const struct code_set *set, struct table *table,
                          struct error *error);

void code_sources_free(struct code_sources *sources);

/* ---- column_argument.c ---- */

/* The arguments of columns and column. */

extern const struct argument_kind
    arg_columns,	/* resources and formulas, or "off": words, of which
			 * n_words may be 0 */
    arg_formula;	/* NAME = A / B, or NAME off: formula, whose left is
			 * NULL for off */

#endif
