/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.h -- what commands work on: the profile and the settings.
 *
 * The session owns the profile, the tree of names at the current granularity
 * and the sums of the current resource.  A function that loads or changes
 * something either succeeds or changes nothing.
 */
#ifndef CPPROF_SHELL_SESSION_SESSION_H
#define CPPROF_SHELL_SESSION_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/output/output.h"
#include "src/profile/profile.h"
#include "src/refine/refine.h"
#include "src/shell/session/comparison.h"
#include "src/shell/session/naming.h"
#include "src/shell/terminal/terminal.h"
#include "src/symbols/lines/address_lines.h"
#include "src/views/code/code.h"
#include "src/views/view.h"

/* ---- code.c ---- */

/*
 * The profile's stacks as places in its code, for list and disasm.
 *
 * A second tree beside the one of names: its labels are locations, so that
 * nothing that tells lines or addresses apart is merged.  It is made when it is
 * first asked for, and kept.
 */

/* Starts with `{ 0 }`. */
struct code {
	struct sample_tree *tree;	/* NULL: not made yet */
	uint32_t *section;		/* [n_nodes] of the profile */
	uint32_t *frame;		/* [n_locations] see code.h */
	uint32_t n_locations;		/* of the profile when it was made */
	bool has_inlines;

	/* What the refinement leaves. */
	struct sample_tree refined;	/* the tree with other rows and labels */
	struct node_numbers rows;		/* its rows if there are steps;
					 * otherwise they are the tree's */
	uint32_t *label;		/* its labels: a hidden frame has that of
					 * the frame that it belongs to; NULL:
					 * those of the tree */
	struct sample_tree *timed;	/* the tree with the hits of some time
					 * only; NULL: of all times */
	uint64_t *sums;			/* of the resource */
	uint32_t resource;
	bool is_refined;		/* these are up to date */

	struct call_flow *flow;		/* of a profile of calls, without
					 * groups; NULL: not needed */
};

/*
 * Fills *set with the stacks of one resource that the request's steps leave;
 * they stay valid until the next call.  Inlined calls are places of their own
 * unless the rule hides all.  Makes only what changed since the last call,
 * which must have been for the same profile.
 */
int code_make(struct code *code, const struct naming_request *request,
              struct code_set *set, struct error *error);

/* Call this when the steps or the names that they see have changed. */
void code_forget_refinement(struct code *code);

/* Frees all of it, for the next profile. */
void code_free(struct code *code);

/* ---- column_list.c ---- */

/*
 * Which resources views show side by side.
 *
 * The list has names of resources and of formulas, which the user has defined:
 * A / B or N * A - M * B of two resources.  All are kept as texts, so that they
 * survive another profile; what that lacks is passed over.
 *
 * The current resource is the first one in the list (column_list_follow).
 */

/* One is left for the current resource, which is always shown. */
enum { COLUMN_LIST_MAX = SHOWN_COLUMNS_MAX - 1 };

/* Factors are below it, so that no value can become infinite. */
#define COLUMN_FACTOR_MOST 1e15

struct column_formula {
	char *name;
	char *left, *right;	/* resources */
	double left_factor, right_factor;	/* positive */
	bool is_ratio;		/* else a difference */
};

/* Start with { 0 }. */
struct column_list {
	struct column_formula *formulas;	/* [n_formulas] */
	size_t n_formulas, formulas_capacity;
	char **names;		/* [n] what is shown, in order; n is 0: columns
				 * are off */
	size_t n;
};

void column_list_free(struct column_list *list);

/* A copy.  0, or -1 with *error set and nothing to free. */
int column_list_copy(struct column_list *copy, const struct column_list *list,
                     struct error *error);

/* The formula of that name, or NULL. */
const struct column_formula *
column_list_formula(const struct column_list *list, const char *name);

/* Adds a copy of a formula, or replaces the one of that name. */
int column_list_define(struct column_list *list,
                       const struct column_formula *formula,
                       struct error *error);

/* Removes a formula, also from what is shown. */
void column_list_forget(struct column_list *list, const char *name);

/* Copies the names to show.  0, or -1 with *error set and nothing changed. */
int column_list_set(struct column_list *list, const char *const *names,
                    size_t n, struct error *error);

/*
 * Another resource became the current one: if it is in the list, it changes
 * places with the first resource there, else it takes its place.  0, or -1 with
 * *error set and nothing changed.
 */
int column_list_follow(struct column_list *list, const char *resource,
                       struct error *error);

/*
 * Whether a formula has a value in a profile; else -1 with *error saying why
 * not: it lacks a resource, or counts none of the units in the name.
 */
int column_formula_check(const struct column_formula *formula,
                         const struct profile *profile, struct error *error);

/* Adds "A / B" or "4 * A - B" as it is typed. */
void text_add_formula(struct text_buffer *text,
                      const struct column_formula *formula);

/* What a list shows of a profile. */
struct shown_list {
	uint32_t resource;	/* that is or becomes the current one */
	struct shown_column shown[SHOWN_COLUMNS_MAX];
	size_t n_shown;
	uint32_t resources[COLUMN_SETS_MAX];	/* of the sets besides it */
	size_t n_resources;
};

/*
 * resource: the current one, if the list names none that the profile has.  The
 * names are borrowed from the list.  O(names).
 */
void column_list_show(const struct column_list *list,
                      const struct profile *profile, uint32_t resource,
                      struct shown_list *shown);

/* ---- debug_files.c ---- */

/*
 * Whether and when debuginfod servers are asked.
 *
 * A server learns what is profiled here, and a profile may name any build.  So
 * none is asked unless the user wants that: the setting `debuginfod` is on, by
 * the user's hand or by DEBUGINFOD_URLS, or the user answers yes.  Scripts and
 * assistants are never asked, and with --read-only no server is.
 */

struct session;

/* In the order of the setting's values. */
enum debug_files_choice { DEBUG_FILES_ASK, DEBUG_FILES_ON, DEBUG_FILES_OFF };

/* What a session asked the servers.  Start with `{ 0 }`. */
struct debug_files {
	struct names *asked;	/* build-ids of debug files; NULL: none */
	bool was_told;		/* no hint: the user said no, or knows that there
				 * is no server */
	bool was_failure_noted;	/* of a server or of this machine */
	unsigned n_failures;	/* one after the other */
	char *hint;		/* what to type for names that are missing;
				 * NULL: nothing is */
};

void debug_files_free(struct debug_files *files);

/*
 * The setting at the start: on if the user has set DEBUGINFOD_URLS, else to ask
 * if standard input and output are terminals, else off.
 */
enum debug_files_choice debug_files_start(void);

/*
 * Whether this command may turn the setting on: one that the user typed, on the
 * command line, at the prompt or in an own file.  A script may be from somebody
 * else.
 */
bool debug_files_may_turn_on(const struct session *session);

/*
 * Fetches the debug files that a profile lacks, if the user wants that; of a
 * resource, by its hits.  May ask the user.  Sets *has_new: files came, so that
 * reading the profile again gives it more names.  Else says what to type for
 * these names (hint).  Notes tell what came and what failed, each once.  Ctrl-C
 * ends the fetching, not the caller's work.  0, or -1 with *error set.
 */
int debug_files_get(struct session *session, const struct profile *profile,
                    uint32_t resource, bool *has_new, struct error *error);

/* Forgets what was asked, so that servers are asked again. */
void debug_files_forget(struct session *session);

/*
 * Fetches a source file of a module, if the setting is on.  Whether it is at
 * *found now.
 */
bool debug_files_get_source(struct session *session,
                            const struct module *module, const char *source,
                            char found[PATH_MAX]);

/* ---- last_rows.c ---- */

/*
 * The rows of the last view at the prompt, for %N.
 *
 * Holds the names as texts of its own, so that %3 means what the user saw even
 * after settings, the granularity or a refinement have changed the names that
 * views work on.
 */

/* Start with { 0 }. */
struct last_rows {
	struct names *texts;	/* NULL: no view yet, or forgotten */
	bool was_reloaded;	/* forgotten, because a profile was loaded */
	size_t n;		/* rows that are held */
	size_t n_shown;		/* rows of the view, perhaps more */
	size_t *end;		/* [n] where a row's names end in `names` */
	uint32_t *far;		/* [n] among texts: the function that the row
				 * is about; NO_NAME: none */
	uint32_t *names;	/* paths, one after the other, among texts */
	size_t n_names, n_capacity, names_capacity, far_capacity;
};

/* Takes the rows of a table that has a handle column.  0, or -1 with *error set, and
 * nothing is held. */
int last_rows_keep(struct last_rows *rows, const struct table *table,
                   struct error *error);

/* A profile was loaded: what the rows said is no longer so. */
void last_rows_forget(struct last_rows *rows);
void last_rows_free(struct last_rows *rows);

/*
 * The names of row `number`, from 1, outermost first; *n of them, valid until
 * the next view is kept.  *far: the function that the row is about: the last
 * of a path from above, the first of one from below.  NULL with *error saying
 * why there is no such row.
 */
const uint32_t *last_rows_path(const struct last_rows *rows, size_t number,
                               size_t *n, uint32_t *far,
                               struct error *error);

/* ---- session.c ---- */

/* Whether `cpprof record` opens the prompt on a terminal. */
enum prompt_choice { PROMPT_AUTO, PROMPT_ALWAYS, PROMPT_NEVER };

/* Whether views show the start-up frames at the outer ends of stacks. */
enum startup_choice { STARTUP_HIDE, STARTUP_SHOW };
/* Whether views show the frames of the kernel below those that entered it. */
enum kernel_choice { KERNEL_HIDE, KERNEL_SHOW };
/* Whether views show the functions by which an interpreter runs others. */
enum interpreter_choice { INTERPRETER_HIDE, INTERPRETER_SHOW };

/* Whether views show the coroutines that await a task above its own frames. */
enum await_choice { AWAIT_HIDE, AWAIT_SHOW };
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
	enum kernel_choice kernel;
	enum interpreter_choice interpreter;
	enum await_choice await;
	bool has_pager;
	enum color_choice color;
	enum bars_choice bars;
	enum prompt_choice prompt;
	bool has_autoload;		/* .cpprofrc is run */
	enum debug_files_choice debuginfod;
};

/* What depends on a setting and must follow a change. */
enum setting_change {
	CHANGES_OUTPUT,		/* only what is shown from now on */
	CHANGES_NAMES,		/* the names that views work on */
	CHANGES_CALLS,		/* the flow through calls without stacks */
	CHANGES_DEBUG_FILES,	/* which debug files are there */
};

/* What diff divides the use of a run by. */
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

	struct subject loaded;		/* without a profile before the first
					 * load */
	const struct subject *subject;	/* of views and of the names in command
					 * lines: the loaded one, or while diff
					 * runs, the comparison's */
	char **files;			/* [n_files] the profile came from */
	size_t n_files;
	struct refinement refinement;
	struct code code;		/* see session_code */
	struct comparison comparison;	/* with the base */
	struct comparison loaded_runs;	/* each by itself, without a base */
	struct column_list columns;	/* which resources views show */
	struct shown_list shown;	/* what the profile has of these */
	struct sample_set column_sets[COLUMN_SETS_MAX];	/* of shown.resources */
	char *root_choice;		/* the user's; NULL: the default */

	struct address_lines *lines;	/* the debug information read so far;
					 * NULL: none */
	enum lines_wanted lines_read;	/* for the profile */
	char *symfs;			/* where modules are searched first;
					 * NULL: only at their own paths */
	char **directories;		/* [n_directories] where sources are
					 * searched first */
	size_t n_directories;
	struct debug_files debug_files;	/* what servers were asked */

	/* From the command line. */
	bool is_lenient, has_thread_frames, keeps_going, is_quiet;
	bool has_fixed_sources;	/* commands cannot name directories of them */

	bool is_lone_command;		/* `cpprof record` or merge: no other
					 * command */
	bool is_interactive;		/* commands come from the prompt */
	bool opens_prompt;		/* with the profile that is loaded now,
					 * at the start or after recording */
	bool is_watching;		/* watch repeats a command */
	bool writes_to_terminal;	/* the output of the line that runs */
	bool reads_own_files;		/* commands come from the user's own
					 * files, read at the start */
	bool reads_arguments;		/* commands come from -e */
	size_t beginning_lines;		/* of the terminal, for the first screen
					 * of a profile; 0: it is not that */
	const char *first_view;		/* the command whose answer the next
					 * profile begins with; NULL: explain */
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
 * user chose, a note says so.  Warnings go to standard error.
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
 * The runs of the base and the loaded ones together.  While this is
 * session->subject, views compare them; nothing may be loaded, set or refined
 * then.  NULL with *error set: there is no base, or it does not fit.
 */
const struct subject *session_compared(struct session *session,
                                       struct error *error);

/*
 * The loaded runs, each by itself: *n sets of one tree, or flows of the same
 * functions.  They are named and refined as the session's own set, which is
 * their sum, but their names have other numbers.  They are read when this is
 * first called, and valid until the session loads or changes something.  NULL
 * with *error set: they cannot be told apart.
 */
const struct sample_set *session_runs(struct session *session, size_t *n,
                                      struct error *error);

/* From now on, diff compares by what a function used. */
int session_scale_by(struct session *session, const char *function,
                     struct error *error);

/* 0, or -1 with *error set if no profile is loaded. */
int session_need_profile(const struct session *session, struct error *error);

/* What session_name_modules replaces. */
struct session_names {
	struct naming naming;
	uint32_t root;
};

/*
 * Until session_name_as_before, which must follow, the loaded stacks have the
 * names of modules, whatever the granularity; "[unknown]" where a frame has
 * none.  Nothing may be loaded, set or refined meanwhile.  0, or -1 with *error
 * set and nothing changed.  O(nodes).
 */
int session_name_modules(struct session *session, struct session_names *kept,
                         struct error *error);
void session_name_as_before(struct session *session,
                            struct session_names *kept);

/*
 * Adds the lines that debug information knows to the profile's addresses.
 * Names in use do not change.
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
 * their own paths.  Notes if that is no directory.
 */
int session_set_symfs(struct session *session, const char *directory,
                      struct error *error);

/*
 * Whether a command may name a directory whose files are shown as sources:
 * not once has_fixed_sources is set.  0, or -1 with *error set.
 */
int session_check_sources(const struct session *session, const char *command,
                          const char *directory, struct error *error);

/* Sets where sources are searched first; n may be 0. */
int session_set_directories(struct session *session,
                            const char *const *directories, size_t n,
                            struct error *error);

/*
 * What the refinement leaves of the profile as places in its code, for the
 * current resource; inlined calls are among them unless the setting inlines is
 * off.  Valid until the session loads or changes something.
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

/* The frames that the settings hide: enum hidden_frames, 1 << each. */
unsigned session_hidden_frames(const struct session *session);

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
 * the setting `noise` is off.
 */
int session_noise_request(struct session *session,
                          struct view_request *request, struct error *error);

/* ---- member.c ---- */

/*
 * Which member of a merged profile has most of some stacks.
 *
 * With counts by id, that is known exactly.  Otherwise the profile has, for
 * each node of the tree, the member that has most of it with its descendants.
 * Stacks that are more than one such node are cut into the outermost nodes that
 * are theirs alone, and the hits that a member is known to have are summed up.
 */

/* How well a member's hits are known. */
enum member_knowledge {
	MEMBER_EXACT,		/* it has these, and no other has more */
	MEMBER_AT_LEAST,	/* it has these or more; of no other is as much
				 * known */
	MEMBER_OF_NODE,		/* it has most of the node, with its
				 * descendants, that has most of these stacks */
};

/* The texts are the profile's. */
struct found_member {
	const char *id;		/* its identity */
	const char *name;	/* its file when it was merged; "": unknown, as
				 * from standard input */
	enum member_knowledge knowledge;
	uint64_t hits;		/* of the stacks; of MEMBER_OF_NODE 0 */
	uint64_t of;		/* what all members have */
};

/*
 * The member with most hits of the stacks that a step would keep, of the
 * current resource.  The step stays the caller's.  0, or -1 with *error set: no
 * merged profile, no such stacks, or a step in force asks for labels and the
 * counts are not by id.  O(nodes) for each step.
 */
int session_find_member(const struct session *session, struct step *step,
                        struct found_member *found, struct error *error);

/* ---- root.c ---- */

/* The function that views of paths begin at by default. */

/*
 * Whether a function has a name for each of its call sites.  Its own name is
 * then only that of its body, so it is no useful root.
 */
bool root_is_split(const struct naming *naming, const char *function);

/*
 * The user's choice (NULL: none) if it occurs and is not split, else main if it
 * is on nine tenths of the set's hits, else the outermost function if all
 * stacks begin with the same one.  NO_NAME if there is none: a root that lacks
 * much of the run would hide where it goes.  O(nodes).
 */
uint32_t root_choose(const struct naming *naming, const struct sample_set *set,
                     const char *choice);

/* ---- member_file.c ---- */

/*
 * Where the file of a merged profile's member is now.
 *
 * A merged profile has the name that the file had when it was merged, and the
 * identity: the hash of its content, or what --id said.  So a file under that
 * name is read and its hash compared; one with a given identity is believed.
 */

enum member_file_state {
	MEMBER_FILE_MISSING,	/* nowhere, or its name is unknown */
	MEMBER_FILE_CHANGED,	/* files of that name have other content */
	MEMBER_FILE_UNCHECKED,	/* found by its name alone */
	MEMBER_FILE_CHECKED,	/* found, with the content that was merged */
};

struct member_file {
	enum member_file_state state;
	char *path;		/* freed with free(); NULL: missing.  Of
				 * MEMBER_FILE_CHANGED the first such file */
};

/*
 * Searches the name itself; then below the directories of the merged profiles and
 * below the session's directories, each with the whole name, the name without
 * its first component, and so on.  Only files and directories are opened.  0,
 * or -1 with *error set: no memory, or interrupted.
 */
int member_file_find(const struct session *session,
                     const struct found_member *member,
                     struct member_file *file, struct error *error);

#endif
