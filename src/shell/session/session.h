/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h -- what commands work on: the profile and the settings.
 *
 * The session owns the profile, the tree of names at the current granularity
 * and the weights of the current resource.  A function that loads or changes
 * something either succeeds or changes nothing.
 */
#ifndef CPPROF_SHELL_SESSION_SESSION_H
#define CPPROF_SHELL_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/output/output.h"
#include "src/profile/profile.h"
#include "src/refine/refinement.h"
#include "src/shell/session/code.h"
#include "src/shell/session/column_list.h"
#include "src/shell/session/comparison.h"
#include "src/shell/session/last_rows.h"
#include "src/shell/session/naming.h"
#include "src/shell/session/sides.h"
#include "src/shell/terminal/history.h"
#include "src/shell/terminal/terminal.h"
#include "src/symbols/lines/address_lines.h"
#include "src/views/view.h"

/* Whether `cpprof record` opens the prompt on a terminal. */
enum prompt_choice { PROMPT_AUTO, PROMPT_ALWAYS, PROMPT_NEVER };

/* Whether views show the start-up frames at the outer ends of stacks. */
enum startup_choice { STARTUP_HIDE, STARTUP_SHOW };
/* Which names text shows; NAMES_AUTO: short ones on a terminal. */
enum names_choice { NAMES_AUTO, NAMES_SHORT, NAMES_FULL };

/*
 * Whether down and up leave out paths that another one extends at the same
 * value; CHAINS_AUTO: on a terminal.
 */
enum chains_choice { CHAINS_AUTO, CHAINS_FOLD, CHAINS_SHOW };

/* When rows have bars on a terminal. */
enum bars_choice { BARS_AUTO, BARS_ON, BARS_OFF };

enum { DEFAULT_DEPTH = 1000 };

/* What commands/settings.def has rows for. */
struct settings {
	double threshold;
	size_t limit;			/* SIZE_MAX: off */
	size_t depth;			/* SIZE_MAX: off; 0: the view's own,
					 * which is mostly DEFAULT_DEPTH */
	enum percent_base percent;
	bool has_when;			/* a column of times */
	bool has_noise;			/* a column of standard errors */
	int digits;
	struct naming_rule naming;
	const struct output_format *format;
	enum unit unit;
	enum names_choice names;
	enum chains_choice chains;
	bool has_static;		/* also calls that never happened */
	enum startup_choice startup;
	bool has_pager;
	enum color_choice color;
	enum bars_choice bars;
	enum prompt_choice prompt;
	bool has_autoload;		/* .cpprofrc is run */
};

/* What depends on a setting and must follow a change. */
enum setting_change {
	CHANGES_OUTPUT,		/* only what is shown from now on */
	CHANGES_NAMES,		/* the names that views work on */
	CHANGES_CALLS,		/* the flow through calls without stacks */
};

/* What diff compares the use of runs per. */
enum scale_kind {
	SCALE_ABSOLUTE,		/* a run */
	SCALE_WORK,		/* a unit of work; a run now does so many times
				 * that of the base */
	SCALE_BY,		/* what a function used */
	SCALE_ROBUST,		/* what most functions used */
};

struct scale {
	enum scale_kind kind;
	double work;
	char *function;		/* its name; NULL: none yet */
};

struct session {
	struct settings settings;
	struct scale scale;

	struct profile *profile;	/* NULL before the first load */
	char **files;			/* [n_files] it came from */
	size_t n_files;
	struct refinement refinement;
	struct naming naming;		/* what the refinement leaves */
	struct code code;		/* see session_code */
	struct comparison comparison;	/* with the base */
	struct comparison apart;	/* the loaded runs, without a base */
	struct loaded_view {		/* what the comparison stands in for */
		struct profile *profile;
		struct naming naming;
		struct sample_set set;
		uint32_t resource, root;
	} aside;
	bool is_comparing;		/* views compare: the profile, the
					 * names and the root are those of the
					 * comparison */
	uint32_t resource;		/* index into profile->resources */
	struct sample_set set;		/* the same for views */
	struct column_list columns;	/* which resources views show */
	struct shown_list shown;	/* what the profile has of these */
	struct sample_set column_sets[COLUMN_SETS_MAX];	/* of shown.resources */
	uint32_t root;			/* a name, or NO_NAME */
	char *root_choice;		/* the user's; NULL: the default */

	struct address_lines *lines;	/* the debug information read so far;
					 * NULL: none */
	enum lines_wanted lines_read;	/* for the profile */
	char *symfs;			/* where modules are searched first;
					 * NULL: only at their own paths */
	char **directories;		/* [n_directories] where sources are
					 * searched first */
	size_t n_directories;

	/* From the command line. */
	bool is_lenient, has_thread_frames, keeps_going, is_quiet;

	bool is_lone_command;		/* `cpprof record` or merge: no other
					 * command */
	bool is_interactive;		/* commands come from the prompt */
	bool is_watching;		/* watch repeats a command */
	bool writes_to_terminal;	/* the output of the line that runs */
	bool reads_own_files;		/* commands come from the user's own
					 * files, read at the start */
	struct last_rows last_rows;	/* of the last view at the prompt */
	struct history history;
	unsigned script_depth;		/* of scripts that run scripts */

	bool quit_requested;
	bool output_lost;		/* standard output failed: stop */
	bool has_violated, has_undecided;	/* what assert found in a
						 * script */
	bool stays;			/* open the prompt after it */
	int status;			/* exit status of the lone command */
};

/* Starts with the default settings and no profile. */
void session_start(struct session *session);
void session_end(struct session *session);

/*
 * Loads and merges files.  If that fails, the old profile stays.  The resource
 * and the root stay if the new profile has them; if it lacks the root that the
 * user chose, a note says so.  Warnings go to standard error.  0, or -1 with
 * *error set.
 */
int session_load(struct session *session, const char *const *files, size_t n,
                 struct error *error);
int session_reload(struct session *session, struct error *error);

/*
 * Reads the runs that are the base of comparisons, in place of earlier ones; n
 * is 0: there is to be no base.  0, or -1 with *error set and the old base.
 */
int session_set_base(struct session *session, const char *const *files,
                     size_t n, struct error *error);

/*
 * The base and what it is compared with are parts of the loaded profile, in
 * place of an earlier base.  The session takes the sides over; NULL: *error says
 * why there are none.  0, or -1 with *error set and the old base: the profile
 * that is loaded, if there is one, cannot be divided so.
 */
int session_set_sides(struct session *session, struct sides *sides,
                      struct error *error);

/* How the loaded profile is divided by sides; as sides_divide. */
int session_divide(const struct session *session, const struct sides *sides,
                   struct division *division, struct error *error);

/*
 * Until session_end_comparison, the session's profile, names, root and sets
 * are those of base and loaded runs together, and session_request asks views
 * to compare.  Nothing may be loaded, set or refined meanwhile.  0, or -1 with
 * *error set and nothing begun: there is no base, or it does not fit.
 */
int session_begin_comparison(struct session *session, struct error *error);
void session_end_comparison(struct session *session);

/*
 * The loaded runs, each by itself: *n sets of one tree, or flows of the same
 * functions.  They are named and refined as the session's own set, which is
 * their sum, but their names have other numbers.  They are read when this is
 * first called, and valid until the session loads or changes something.  NULL
 * with *error set: they cannot be told apart.
 */
const struct sample_set *session_runs(struct session *session, size_t *n,
                                      struct error *error);

/* From now on, diff compares by what a function used.  0, or -1 with *error
 * set. */
int session_scale_by(struct session *session, const char *function,
                     struct error *error);

/* 0, or -1 with *error set if no profile is loaded. */
int session_need_profile(const struct session *session, struct error *error);

/*
 * Adds the lines that debug information knows to the profile's addresses.
 * Names in use do not change.  0, or -1 with *error set.
 */
int session_read_lines(struct session *session, struct error *error);

/*
 * The debug information read so far, to ask it for more addresses; owned by the
 * session.  NULL with *error set.
 */
struct address_lines *session_address_lines(struct session *session,
                                            struct error *error);

/*
 * Call this after a setting was changed.  Makes new names if necessary, and
 * first reads debug information that they need.  0, or -1 with *error set and
 * the names as they were; then the caller restores the setting.
 */
int session_settings_changed(struct session *session,
                             enum setting_change change, struct error *error);

/*
 * Each changes the refinement and makes the names anew: adds a step, which the
 * session takes over (NULL: *error says why there is none); removes the groups
 * of a name; removes all steps; goes n changes back or forward.  0, or -1 with
 * *error set and nothing changed, also if the new step matches nothing or would
 * leave nothing.  A step that matches only runs of the base is for comparisons;
 * a note says so.
 */
int session_add_step(struct session *session, struct step *step,
                     struct error *error);
int session_remove_group(struct session *session, const char *name,
                         struct error *error);
int session_remove_steps(struct session *session, struct error *error);
int session_undo(struct session *session, size_t n, struct error *error);
int session_redo(struct session *session, size_t n, struct error *error);

/* Whether a step that is in force asks for threads, processes or labels. */
bool session_selects_sections(const struct session *session);

/*
 * resource: an index below profile->n_resources.  It becomes the first resource
 * of the columns, if these are on.
 */
int session_set_resource(struct session *session, uint32_t resource,
                         struct error *error);

/*
 * Sets the columns that views show: resources and formulas, the first resource
 * among them becomes the current one.  n 0: views show one resource.  0, or -1
 * with *error set and nothing changed.
 */
int session_set_columns(struct session *session, const char *const *names,
                        size_t n, struct error *error);

/*
 * Defines a formula for columns, or one anew.  0, or -1 with *error set and
 * nothing changed, also if it has no value in the profile that is loaded.
 */
int session_define_column(struct session *session,
                          const struct column_formula *formula,
                          struct error *error);

/* Removes a formula that exists, also from the columns; likewise. */
int session_forget_column(struct session *session, const char *name,
                          struct error *error);

/*
 * Sets where modules are searched first from the next load on; "/": only at
 * their own paths.
 */
int session_set_symfs(struct session *session, const char *directory,
                      struct error *error);

/* Sets where sources are searched first; n may be 0. */
int session_set_directories(struct session *session,
                            const char *const *directories, size_t n,
                            struct error *error);

/*
 * What the refinement leaves of the profile as places in its code, for the
 * current resource; inlined calls are among them unless the setting inlines is
 * off.  Valid until the session loads or changes something.  0, or -1 with
 * *error set.
 */
int session_code(struct session *session, struct code_set *set,
                 struct error *error);

/* A name that occurs in the tree. */
int session_set_root(struct session *session, uint32_t name,
                     struct error *error);

/* The name in the tree with that text, or NO_NAME. */
uint32_t session_find_function(const struct session *session,
                               const char *text, size_t length);

/* The *n names in the tree, in byte order. */
const uint32_t *session_functions(const struct session *session, uint32_t *n);

/* Whether text has short names on a terminal, or in a file or pipe. */
bool session_has_short_names(const struct session *session, bool to_terminal);

const struct resource *session_resource(const struct session *session);

/*
 * The process that began first, which in a recording started the others; NULL
 * if no process is known.
 */
const struct process *session_first_process(const struct session *session);

/*
 * How the session names the stacks of a profile: by its settings and steps, for
 * a resource of the profile and the columns.  It borrows from the session.
 */
struct naming_request session_naming_request(const struct session *session,
                                             struct profile *profile,
                                             uint32_t resource);

/*
 * Adds a step to the request, which borrows it.  The steps that it then has, to
 * be freed with free() after the request; NULL with *error set.
 */
struct step **session_steps_and(struct naming_request *request,
                                struct step *step, struct error *error);

/*
 * The request to a view, from the current root and settings.  It borrows from
 * the session and is valid until that loads or changes something.
 */
struct view_request session_request(const struct session *session);

/*
 * The same with the groups of a merged profile, or why there are none, also if
 * the setting `noise` is off.  0, or -1 with *error set.
 */
int session_noise_request(struct session *session,
                          struct view_request *request, struct error *error);

#endif
