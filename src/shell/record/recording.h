/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.h -- recordings: what record is asked for, how it starts the
 * program with the collector, and what it says at the end.
 */
#ifndef CPPROF_SHELL_RECORD_RECORDING_H
#define CPPROF_SHELL_RECORD_RECORDING_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"
#include "src/base/table.h"
#include "src/base/text_buffer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/sample/sample.h"
#include "src/shell/line/options.h"
#include "src/shell/line/words.h"

/* ---- resource_kinds.c ---- */

/* The resources that the collector knows (src/profile/count_kinds.h). */

/* The kind with that name; NULL with *error naming similar ones. */
const struct count_kind *resource_kind_find(const char *name, size_t length,
                                            struct error *error);

/*
 * Reads an interval: a number of gticks, or a number with a unit, which for
 * time is us, ms or s, for memory B, K, M or G (powers of 1024), and otherwise
 * k, M or G (powers of 1000).
 */
int resource_kind_interval(const struct count_kind *kind, const char *text,
                           uint64_t *interval, struct error *error);

/* Reads a time, in microseconds, in the same way; a bare number is seconds. */
int resource_kind_time(const char *text, uint64_t *us, struct error *error);

/* Reads a number of bytes in the same way. */
int resource_kind_bytes(const char *text, uint64_t *bytes,
                        struct error *error);

/* ---- record_options.c ---- */

/* The options of record. */

struct record_options {
	const char *name;	/* directory; NULL: by the program's name */
	struct chosen_resource {
		const struct count_kind *kind;
		uint64_t interval;	/* 0: not given */
	} resources[CPPROFDATA_MAX_RESOURCES];
	size_t n_resources;	/* 0: the collector's default */
	bool wants_prompt, wants_no_prompt;	/* neither: the setting */
	bool replaces;		/* an earlier recording of that name */
	unsigned frequency;	/* of -F; 0: not given */
	bool is_random;
	bool is_alone;		/* children are not sampled */
	bool counts_returns;
	const char *calls;	/* of --calls: functions; NULL: not given */
	bool keeps_no_names;
	bool names_node, names_java;	/* JavaScript, Java code has names */
	uint64_t max_size;	/* of a file; 0: no limit */
	unsigned n_runs;	/* of --repeat; 0: not given */
	/* What is sampled from outside; none of the three: a program is run. */
	const char *processes;	/* of -p */
	const char *cgroup;	/* of --cgroup, a directory */
	bool wants_all;		/* -a: the whole machine */
	bool is_inside;		/* by the collector, loaded into them */
	uint64_t duration_ns;	/* of --for; 0: not given */
	bool wants_list, wants_help;
	char *const *program;	/* its words, then NULL; itself NULL only if
				 * the list or help is wanted, or -p given */
};

/* The rows; their options are a struct record_options. */
extern const struct option_row record_option_rows[];

/* Reads words, which end with NULL and are borrowed. */
int record_options_parse(struct record_options *options, char *const *words,
                         struct error *error);

/* Adds the resources as in CPPROF_RESOURCES: "cpu:1000,page-faults". */
void record_options_add_resources(const struct record_options *options,
                                  struct text_buffer *text);

/*
 * Offers what the word after n others may be, of which the first follows
 * `record`: a resource, an option, or a file.
 */
void record_options_complete(struct completion *completion,
                             const struct word *words, size_t n);

/* ---- preload.c ---- */

/* Whether the collector can be preloaded, and from which path. */

/* Whether this cpprof was built with the collector; else nothing can be. */
bool preload_is_built(void);

/*
 * 0 when a library can be preloaded into the program in that file, or into
 * the interpreter that its #! line names; -1 with *error saying why not:
 * statically linked, of another C library, set-user-ID, another machine's, not
 * executable.  Such a program may still be sampled from outside.
 */
int preload_check(const char *path, const struct record_options *options,
                  struct error *error);

/*
 * The first resource of these that the collector cannot count in a static
 * program, as it needs calls of the C library; NULL: there is none.
 */
const char *preload_unseen_resource(const struct record_options *options);

/*
 * Finds libcpprof.so.0 in the folder of this program (as built, or copied with
 * it) or where it is installed.  Writes a path for LD_PRELOAD to path[size]:
 * the library's own, or, if that contains a blank or a colon, the path of a
 * symbolic link to it, which is made if necessary.
 */
int preload_find_library(char *path, size_t size, struct error *error);

/* Likewise the agent for Java; false: it was not built. */
bool preload_find_java_agent(char *path, size_t size);

/* ---- offers.c ---- */

/*
 * Which resources the collector can give on this machine.
 *
 * Only the collector knows, so this starts a program with the collector
 * preloaded, which tries its sources and writes an answer.
 */

/* The texts belong to struct offers. */
struct offer {
	const char *name;
	const char *source;	/* "": it cannot be recorded */
	bool is_coarse, can_be_random;
	const char *why;	/* why not, or why no better source; or "" */
};

struct offers {
	struct offer *items;
	size_t n, capacity;
	struct text_buffer text;
};

/*
 * Asks about the resources in a list like the value of CPPROF_RESOURCES, or
 * about all if it is NULL; is_inside: of a process into which it is loaded while
 * that runs.  library: see preload.c.  Call offers_free even
 * if it fails.
 */
int offers_ask(struct offers *offers, const char *library,
               const char *resources, bool is_random, bool is_inside,
               struct error *error);
void offers_free(struct offers *offers);

/* ---- offer_list.c ---- */

/*
 * The rows of record --list: what can be sampled by the collector in a program
 * that is started; by the collector, loaded into the processes that -p names; from
 * outside, of those processes or, if none is named, of any.  0, or -1 with *error
 * set.
 */
int offer_list_launched(struct table *table, struct error *error);
int offer_list_inside(const struct record_options *options,
                      struct table *table, struct error *error);
int offer_list_outside(const struct record_options *options,
                       struct table *table, struct error *error);

/* ---- record_checks.c ---- */

/*
 * What would make a recording fail is refused before it begins: 0, or -1 with
 * *error set.
 */

/*
 * Resources that cannot be sampled here, or not with random intervals.  Notes
 * sources that are not the best; by default, only if shares may be wrong.
 */
int record_check_offers(const struct offers *offers, bool is_random,
                        bool is_default, struct error *error);

/* A limit on the size of files, which applies to the program, too. */
int record_check_size_limit(struct error *error);

/* How many files may be open at once. */
int record_check_open_files(struct error *error);

/* ---- attach.c ---- */

/* Samples processes that run already, from outside (src/sample/sample.h). */

struct recording;

struct attach {
	pid_t *pids;		/* [n] */
	size_t n, capacity;
	bool is_system;		/* others are sampled, too */
	bool may_miss;		/* those that have ended are passed over */
	char name[NAME_MAX];	/* of the first, followed by its pid; or of
				 * them all */
};

/* Whether processes that run already are to be sampled. */
bool attach_is_wanted(const struct record_options *options);

/*
 * Finds the processes that -p names, "1234,redis-server", and checks whether
 * they can be sampled; or those of the cgroup; or all.  Call attach_free even if
 * it fails.
 */
int attach_find(struct attach *attach, const struct record_options *options,
                struct error *error);
void attach_free(struct attach *attach);

struct launch;

/*
 * Runs a program that the collector cannot be loaded into, and samples it and
 * its child processes from outside, from the start on.  launch: as for
 * launch_program, with the collector's parts unset.  *status: as there.  -1
 * with *error set, also if perf events are forbidden; then it was not run.
 */
int attach_launch(struct launch *launch, const struct record_options *options,
                  const struct recording *recording, const char *symfs,
                  int *status, struct sampler_result *result,
                  struct error *error);

/* Samples them into the recording's directory; Ctrl-C ends it. */
int attach_run(const struct attach *attach,
               const struct record_options *options,
               const struct recording *recording, const char *symfs,
               struct sampler_result *result, struct error *error);

/*
 * The default interval of a resource from outside, in gticks.  attach: the
 * processes; NULL: those of a program that is to be started.
 */
uint64_t attach_interval(const struct attach *attach,
                         const struct count_kind *kind);

/*
 * Whether a resource can be sampled from outside: its source; "" if it cannot,
 * and *why says so.
 */
const char *attach_offer(const struct count_kind *kind,
                         struct text_buffer *why);

/* ---- attach_inside.c ---- */

/* The same by the collector, which is loaded into the processes. */

struct sampled_time;

/*
 * Checks what can be known before, and after attach_find; *error is what to do
 * about it.
 */
int attach_inside_check(const struct attach *attach,
                        const struct record_options *options,
                        struct error *error);

/*
 * Samples them into the recording's directory, until the time is over, they end,
 * or Ctrl-C.  library: the collector's file; *held: as in struct sampler_result.
 */
int attach_inside_run(const struct attach *attach,
                      const struct record_options *options,
                      const struct recording *recording,
                      const struct sampled_time *time, const char *library,
                      struct sample_held **held, struct error *error);

/* ---- attach.c, again ---- */

/*
 * Ctrl-C and SIGTERM end the sampling between these two: they set
 * interrupt_requested (src/base/progress.h).
 */
struct attach_signals {
	struct sigaction interrupt, terminate;
};

void attach_catch_signals(struct attach_signals *signals);
void attach_restore_signals(const struct attach_signals *signals);

/* Offers the names and numbers of the processes that are running. */
void attach_complete(struct completion *completion);

/* What the files of a recording have in common, but for their resources. */
struct sample_recording attach_recording(const struct record_options *options,
                                         const struct recording *recording);

/* Adds those of the resources asked for that can be sampled from outside. */
void attach_choose_possible(const struct record_options *options,
                            struct sample_events_options *events,
                            struct sample_recording *recording);

/* ---- companion.c ---- */

/* Samples from outside what the collector inside a program cannot enter. */

struct companion;
struct sampled_time;

/*
 * Takes questions from now on, by the shared memory; to be called before the
 * program is started.  All but `options` must outlive the companion, which
 * companion_end frees.  NULL: that is not possible here, or is not wanted.
 */
struct companion *companion_new(const struct record_options *options,
                                const struct recording *recording,
                                const char *symfs,
                                const struct sampled_time *time);

/* The program has ended.  *error: what ended the sampling early, if anything. */
void companion_end(struct companion *companion, struct sampler_result *result,
                   struct error *error);

/* ---- file_watch.c ---- */

/*
 * Notes when the recorded processes ended.
 *
 * A process that is killed cannot write so in its file, but the waits of its
 * threads last until that moment.  Its file is then closed, which inotify
 * reports.
 */

struct file_watch {
	int fd;			/* of inotify; -1: none */
	const char *directory;	/* borrowed */
};

void file_watch_begin(struct file_watch *watch, const char *directory);
void file_watch_end(struct file_watch *watch);

/*
 * Waits until a child has ended, but does not reap it.  While it waits, and
 * once more at the end, it notes in the files of the directory which processes
 * ended without writing so.
 */
void file_watch_wait(struct file_watch *watch, pid_t child);

/* ---- earlier.c ---- */

/*
 * Numbers the earlier recordings of a program.
 *
 * The latest recording is calc.cpprof, the one before it calc.1.cpprof, the
 * one before that calc.2.cpprof, and so on.
 */

/*
 * Writes the n-th name to text[size]; the 0-th is `name`, which ends in
 * ".cpprof".  Returns its length, also if it does not fit.
 */
size_t earlier_name(const char *name, unsigned n, char *text, size_t size);

/*
 * Renames `name` to the first of these names, the recording that had it to the
 * second, and so on up to a free name.  Begins with the last and replaces
 * nothing, so that no recording is lost if this is interrupted.  Returns how
 * many were renamed, or 0 with *error set and all names as they were.
 */
unsigned earlier_move(const char *name, struct error *error);

/* Renames the first n back, until a name is not free. */
void earlier_move_back(const char *name, unsigned n);

/* Like rename(), but fails if the new name exists.  0, or an errno. */
int earlier_rename(const char *from, const char *to);

/* ---- keep_names.c ---- */

/*
 * Writes names into a recording, once its program has ended.
 *
 * Writes only into a directory that the user owns and nobody else may write to.
 * The names go to a new file, which replaces the old one when it is complete.
 */

/* Whether a file of a recording holds names, perhaps unfinished. */
bool keep_names_is_file(const char *entry);

/*
 * Names what the recording in an open directory has sampled so far.  If
 * wants_names is false, the file only says that no names are wanted.  symfs:
 * as in read_options.  held: files that may have been removed or replaced since,
 * as of the program, or NULL.  0, or -1 with *error set and the old names still
 * there.
 */
int keep_names(int directory, bool wants_names, const char *symfs,
               const struct held_files *held, struct error *error);

/*
 * Does the same if names are missing: the recorder was killed before it wrote
 * them, or a process sampled more after the recorder had ended.  Does nothing
 * if path is no such directory or is still being written to.  0, or -1 with
 * *error set if interrupted.
 */
int keep_names_late(const char *path, const char *symfs, struct error *error);

/* ---- recording.c ---- */

/*
 * The directory that a recording is written to.
 *
 * Of record --repeat, it contains the directories run-1, run-2, ... instead of
 * files.  It is locked until the recording ends.  Its earlier contents are not
 * touched until the program is about to start.  Call, in this order:
 *
 * 	recording_open		makes it or locks it; changes nothing in it
 * 	recording_clear		moves an earlier recording out of the way
 * 	recording_started	removes the recording that is replaced
 * 	recording_undo		if the program did not start: restores all
 * 	recording_close		in any case; ends the lock
 */

/* What happens to an earlier recording of the same name. */
enum earlier_recording {
	EARLIER_MOVES,		/* gets a number: earlier.c */
	EARLIER_STAYS,		/* must not be replaced */
	EARLIER_GOES,		/* is replaced */
};

struct recording {
	const char *name;	/* as given; borrowed */
	char path[PATH_MAX];	/* absolute */
	int directory;		/* its descriptor, which holds the lock */
	int program;		/* the program's file, or -1; open so that its
				 * names can be read after it is removed */
	bool is_new;		/* made here */
	bool is_empty;		/* holds no earlier recording */
	bool needs_force;	/* recording_open failed because of an earlier
				 * recording that must not be replaced */
	unsigned n_moved;	/* earlier recordings that got a new number */
	bool is_impossible;	/* recording_open failed because of the machine:
				 * its limits, its disk or its rights */
	void (*on_limit)(int);	/* what SIGXFSZ does in the program */
	char replaced[PATH_MAX];	/* the path of the replaced one; or "" */
};

/*
 * Makes the directory `name`, which only the user can read, or opens one that
 * is empty or contains a recording, and locks it.  Fails if it contains
 * anything else, if a recording is being written there, or if it contains a
 * recording and earlier is EARLIER_STAYS.  Call recording_close even if it
 * fails.
 */
int recording_open(struct recording *recording, const char *name,
                   enum earlier_recording earlier, struct error *error);

/*
 * Makes the directory empty: an earlier recording gets a name with a number,
 * or is moved aside to be removed.  0, or -1 with *error set; then call
 * recording_undo.
 */
int recording_clear(struct recording *recording,
                    enum earlier_recording earlier, struct error *error);

void recording_started(struct recording *recording);

/* Whether the directory still has its name: nobody removed or moved it. */
bool recording_is_there(const struct recording *recording);

/*
 * Gives earlier recordings their names back, and removes the directory if
 * recording_open made it.
 */
void recording_undo(struct recording *recording);

void recording_close(struct recording *recording);

/* Sums up the files of a recording; skips those that cannot be read. */
int recording_summarise(const char *path, struct cpprofdata_summary *summary,
                        struct error *error);

/* ---- sampled_time.c ---- */

/*
 * How much of a program's CPU time was sampled, and why not.
 *
 * The kernel reports the CPU time of the program and of all descendants that
 * were waited for.  The collector counts the time that it sampled, in memory
 * that all processes of the recording share (lib/cpprof-shared.h).  A process
 * that outlives its parent, such as a daemon, is not in the first sum, and in
 * the second only with what it reports before the program ends.
 */

struct cpprof_shared;

struct sampled_time {
	int fd;				/* -1: no memory, nothing is known */
	struct cpprof_shared *shared;
	char name[48];			/* by which to open it; or "" */
	int file;			/* the second memory; -1: none */
	char file_name[PATH_MAX];
	uint64_t cpu_ns;		/* the kernel's; set by the caller, and */
	uint64_t outside_ns;		/* what was sampled from outside */
};

/* Never fails; without shared memory, nothing is known. */
void sampled_time_start(struct sampled_time *time);

/*
 * Makes the file for processes that cannot open the memory.  When the directory
 * is empty.  sampled_time_end removes it.
 */
void sampled_time_add_file(struct sampled_time *time, const char *directory);
void sampled_time_end(struct sampled_time *time);

/* Whether enough CPU time was used that there should be samples. */
bool sampled_time_is_much(const struct sampled_time *time);

/* Processes whose I/O by io_uring should have been counted but was not. */
uint64_t sampled_time_n_rings(const struct sampled_time *time);

/*
 * Adds how many processes found no place in the list of those that -r latency
 * counts as running; false if all did.
 */
bool sampled_time_add_unlisted(const struct sampled_time *time,
                               struct text_buffer *text);

/* Files made and brief records written, as the processes count them. */
uint64_t sampled_time_n_recorded(const struct sampled_time *time);

/*
 * The first adds why there is no sample at all: "the collector was not loaded".
 * The second adds how much CPU time was not sampled and why, if that is more
 * than noise: "0.50 of 1.02 CPU s were not sampled: 2 programs link
 * statically".  It also reports programs that could not see the recording,
 * whose time is often unknown.  It returns whether it added anything.
 */
void sampled_time_add_none(const struct sampled_time *time,
                           struct text_buffer *text);
bool sampled_time_add_missing(const struct sampled_time *time,
                              struct text_buffer *text);

/*
 * CPU time of processes that were sampled all their lives which no sample stands
 * for: what the kernel used to end them, mostly.  0 if some process is
 * known not to have been sampled, which sampled_time_add_missing explains.
 */
uint64_t sampled_time_at_ends(const struct sampled_time *time);

/* ---- unsampled_time.c ---- */

/*
 * Adds CPU time of the recording's processes, of all that they used, which no
 * sample stands for: a row `[unsampled]`, unless it is little.  At the end of the
 * recording.  Does nothing if CPU time was not recorded.
 */
int unsampled_time_add(const struct recording *recording, uint64_t ns,
                       uint64_t all_ns, struct error *error);

/* ---- kernel_list.c ---- */

/*
 * What the collector needs for frames of the kernel: a file that says where the
 * kernel and its modules are (lib/cpprof-shared.h).
 */
struct kernel_list {
	int directory;		/* the recording's; not owned */
	int event;		/* see sample_events_keep_stacks */
};

/*
 * Writes the file to the recording's directory, when that is empty.  False if
 * the kernel does not show its frames, or the file cannot be written.  Ended in
 * either case.
 */
bool kernel_list_start(struct kernel_list *list,
                       const struct recording *recording);

/* Removes the file. */
void kernel_list_end(struct kernel_list *list);

/* ---- spare_files.c ---- */

/*
 * Files that a thread makes in the recording's directory while the program runs,
 * for its short processes.
 */
struct spare_files;

/* NULL: none are made, as there is no shared memory. */
struct spare_files *spare_files_start(const struct recording *recording,
                                      const struct sampled_time *time);

/* Removes those that nobody took.  NULL: does nothing. */
void spare_files_end(struct spare_files *spares);

/* Whether a directory's entry has the name of such a file. */
bool spare_files_has(const char *entry);

/* ---- code_answers.c ---- */

/*
 * Rules for code without unwind tables, which a thread makes for the collector in
 * files of the recording's directory.
 */
struct code_answers;

/*
 * NULL: none are made, as there is no shared memory.  symfs: where module files
 * are sought first, or NULL; borrowed.
 */
struct code_answers *code_answers_start(const struct recording *recording,
                                        const struct sampled_time *time,
                                        const char *symfs);

/* Removes the files.  NULL: does nothing. */
void code_answers_end(struct code_answers *answers);

/* Whether a directory's entry has the name of such a file. */
bool code_answers_has(const char *entry);

/* ---- recording_report.c ---- */

/* Reports on a recording in a few lines. */

struct recording_report {
	const struct recording *recording;
	const struct offers *offers;	/* for the resources recorded */
	const struct sampled_time *time;
	int status;		/* the program's, as launch_program has it */
	bool opens;		/* the recording will be opened */
	bool is_default;	/* no resource was asked for */
	bool is_alone;		/* --no-children */
	const char *calls;	/* of --calls: functions; NULL: not given */
	const struct sampler_result *outside;	/* of what was sampled from
						 * outside */
	bool is_outside;	/* that is all; else the collector was in the
				 * program */
	bool is_attached;	/* to processes that ran already */
};

/*
 * Reports on standard error, in a line each: how many samples there are or why
 * there are none, what was lost or not sampled, and the new names of earlier
 * recordings.  Returns how many samples there are.
 */
uint64_t recording_report(const struct recording_report *report);

/* Reports the new names of earlier recordings, if there were any. */
void recording_report_moved(const struct recording *recording);

/* ---- launch.c ---- */

/* Runs a program with the collector in it. */

struct launch {
	const char *library;	/* absolute path, see preload.c; NULL: the
				 * program runs without the collector, and what
				 * concerns only that is not used */
	const char *output;	/* absolute path of an existing directory */
	const char *java_agent;	/* likewise of the agent; NULL: none */
	const char *resources;	/* the value of CPPROF_RESOURCES */
	bool is_random, is_alone, counts_returns;
	bool wants_kernel;	/* frames of the kernel */
	const char *calls;	/* functions whose calls are observed; or NULL */
	bool names_node, names_java;	/* its runtimes write names */
	uint64_t max_size;	/* 0: no limit */
	const char *shared;	/* see sampled_time.c; "": none */
	uint64_t *cpu_ns;	/* set to the CPU time of the program and of
				 * all descendants that were waited for */
	const char *program;	/* the file to execute */
	char *const *words;	/* its arguments, words[0] the name as typed;
				 * ends with NULL */
	void (*started)(void *context);	/* called once the program runs */
	void *context;
	/*
	 * If not NULL: called with the child before it becomes the program;
	 * unless it returns 0, the program does not run.
	 */
	int (*prepare)(void *follower, pid_t child, struct error *error);
	void (*follow)(void *follower);	/* called while the program runs;
					 * returns once it has ended */
	void *follower;
	bool resets_sigpipe;	/* this process ignores SIGPIPE, but the
				 * program should not */
	void (*on_limit)(int);	/* what SIGXFSZ does in the program */
};

/*
 * Runs the program as a child, with the files of this process, and waits for
 * its end.  While it runs, this process ignores signals from the terminal and
 * passes SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 on to it.  *status: what a shell
 * would report, the exit status or 128 + N after signal N.  0, or -1 with
 * *error set if it could not be started.
 */
int launch_program(const struct launch *launch, int *status,
                   struct error *error);

/*
 * Executes the program in place of this process, which needs neither another
 * process nor an open file.  Returns only if that fails, -1 with *error set.
 */
int launch_in_place(const struct launch *launch, struct error *error);

#endif
