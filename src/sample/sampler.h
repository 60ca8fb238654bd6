/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler.h -- what the files of the sampler share.
 *
 * sampler.c applies the kernel's records and ends the recording, sampler_waits.c
 * measures or looks at waits, sampler_files.c has the files that both count in,
 * and sampler_process.c the processes, threads and paths.  src/sample/sample.h is
 * the door to them.
 *
 * Functions that return int: 0, or -1 with *error set.
 */
#ifndef CPPROF_SRC_SAMPLE_SAMPLER_H
#define CPPROF_SRC_SAMPLE_SAMPLER_H

#include <sched.h>
#include <time.h>

#include "src/sample/sample.h"

enum {
	SAMPLER_NAME = 16,		/* of a thread, as the kernel has it */
};

#define SAMPLER_HURRY_NS UINT64_C(1000000000)	/* how long waits stay short */

struct sampler_process;

struct sampler_path {
	struct sample_place *places;	/* [n] outermost first */
	size_t n, capacity;
};

/* The wait of a thread, if waits are followed. */
struct sampler_wait {
	enum {
		SAMPLER_RUNS,	/* as far as is known */
		SAMPLER_COUNTED,	/* its end was known when it began */
		SAMPLER_WAITS
	} state;
	bool has_left;		/* the record of its first switch was seen */
	bool is_first;		/* the thread has not run yet */
	uint64_t run_begin_ns;	/* while it runs; 0: not known since when */
	/* How long it ran between two switches, the hits of that, and how much
	 * of what these count beyond it was taken from its waits. */
	uint64_t run_ns, n_run, taken_ns;
	bool is_seen;		/* not measured, but seen by looks */
	uint64_t begin_ns;	/* of what is not counted yet; if it is seen, of
				 * all of it */
	uint64_t rest_ns;	/* which make no hit yet */
	uint64_t read_ns;	/* no sample: where the thread waits was read,
				 * until then; 0: it is known by a sample, or
				 * has proved right */
	struct sampler_path path;	/* n 0: not known */
};

/* A look at a thread, until the records are applied. */
struct sampler_look {
	uint64_t begin_ns, end_ns;	/* begin 0: none */
	struct sampler_path path;
};

struct sampler_thread {
	uint32_t tid;
	char name[SAMPLER_NAME + 1];
	struct sampler_process *process;
	struct sampler_thread *next;	/* of the process */
	struct sample_thread *record;	/* NULL: no sample yet */
	unsigned n_grown;		/* how often copies had grown when it
					 * got its events */
	uint64_t rest[SAMPLE_KINDS_MAX];	/* counts of each event that
						 * make no hit yet */
	struct sampler_wait wait;
	struct sampler_look look;
};

struct sampler_process {
	uint32_t pid, parent_pid;
	uint32_t origin;		/* of its events: the number of the
					 * process that was added, or NO_ID */
	bool is_elsewhere;		/* its paths lead to other files */
	/* Its program and the link by which that was started, names of the
	 * sampler's profile; NO_NAME: to be read from /proc. */
	uint32_t program, program_link;
	struct sampler_thread *threads;
	uint64_t n_live, n_started;
	uint64_t start_mono_ns;		/* of its program, or of sampling */
	uint64_t executed_ns;		/* when; 0: not since it is sampled */
	bool continues;			/* ran another program before */
	struct sample_file *file;	/* NULL: no sample yet */
	struct sample_thread *no_thread;	/* has time that has no sample;
						 * NULL: there is none */
	uint64_t n_samples;		/* of this file */
	/* If waits are followed: how long threads ran between two switches, and
	 * the hits of time in which they ran, in this file. */
	uint64_t run_ns, n_run;
	/* CPU time of the process when its file began, and at the last look. */
	uint64_t cpu_begin_ns, cpu_ns;
	bool has_cpu;
	bool is_over;			/* its last thread has ended */
	uint64_t gone_ns;		/* when it was found to be over, though
					 * not reported yet; 0: it was not */
	struct sample_python_process *python;	/* NULL: no interpreter */
	uint32_t space_version;		/* in which one was looked for */
};

struct sampler {
	const struct sampler_options *options;
	uint64_t random;		/* state of a generator */
	struct sample_events *events;
	struct profile *profile;	/* has the machine's modules */
	struct sample_held *held;
	struct module_cache *modules;
	struct perf_machine *machine;
	struct sample_walker *walker;
	struct sample_python *python;
	struct sample_interpreters *interpreters;
	enum {
		SAMPLER_NO_PYTHON,
		SAMPLER_WANTS_PYTHON,	/* a process with an interpreter was
					 * found */
		SAMPLER_WATCHES,	/* and the events are made for it */
		SAMPLER_READS_PYTHON,	/* or that has failed */
	} python_state;
	struct id_table pids, tids;	/* their numbers index: */
	struct sampler_process **processes;	/* NULL: ended */
	uint32_t *n_inheritors;	/* live processes that have the events of the
				 * process that was added, including itself */
	struct sampler_thread **threads;
	size_t processes_capacity, inheritors_capacity, threads_capacity;
	size_t n_live;			/* processes */
	struct sample_place *path;
	size_t path_capacity;
	uint64_t now_ns;		/* of the last record */
	uint64_t seen_ns;		/* all records up to here were applied */
	unsigned cpu_kind;		/* of the events of the resource cpu;
					 * UINT_MAX: it is not sampled */
	unsigned wait_resource;		/* UINT_MAX: waits are not followed */
	unsigned run_kind;		/* of the events that count its time in
					 * which threads run */
	uint64_t look_ns, next_look_ns;	/* the last look at waits, and the next;
					 * 0: none yet */
	uint64_t looks_for_ns;		/* what the last look stands for */
	uint64_t eager_until_ns, changing_until_ns, next_check_ns;
	uint64_t n_records, n_sample_records;	/* taken so far, without those
						 * that tell of lost ones */
	struct sampler_ring *rings;	/* [n_rings] by processor */
	size_t n_rings, rings_capacity;
	bool is_ending;		/* no sample follows */
	uint32_t *regained;	/* [n_regained] processes: see
				 * sampler_has_new_rights */
	size_t n_regained, regained_capacity;
	int64_t unseen[SAMPLE_KINDS_MAX];	/* that make no hit yet, of
						 * accounts that are over */
	int policy;		/* of this thread, before it had priority; -1:
				 * it has none */
	struct sched_param priority;
	uint64_t own_begin_ns;
	uint32_t first;		/* process that was added first */
	int first_fd;		/* its pidfd; -1: none */
	unsigned n_late;	/* stacks that changed before they were read,
				 * since copies grew */
	unsigned n_grown;	/* how often they have */
	uint32_t n_checks;
	struct sampler_kernel *kernel;	/* sampler_kernel.c; NULL: none */
	struct sampler_result result;
};

/*
 * What a processor has lost.  Samples of its time, whether lost or not, stand for
 * no more than the time that has passed there.
 */
struct sampler_ring {
	uint64_t n_reported;	/* lost records, by records */
	uint64_t n_lost;	/* the same, by records and events */
	double lost;		/* samples of these, not in any file yet */
	uint64_t sample_ns;	/* the last sample; 0: none yet */
	int64_t room_ns;	/* time up to it that no sample stands for, if
				 * all of it was used */
};

/* ---- sampler_process.c ---- */

/* A live process or thread by its number; NULL: it is not known. */
struct sampler_process *sampler_find_process(const struct sampler *sampler,
                                             uint32_t pid);
struct sampler_thread *sampler_find_thread(const struct sampler *sampler,
                                           uint32_t tid);

/* CPU time of a process so far; false: it is gone. */
bool sampler_cpu_time(uint32_t pid, uint64_t *ns);

/*
 * The thread of these numbers, added with its process if it is not there; NULL
 * with *error set.
 */
struct sampler_thread *sampler_need_thread(struct sampler *sampler,
                                           uint32_t pid, uint32_t parent_pid,
                                           uint32_t tid, struct error *error);

/* Reads a file of /proc/PID into place[size]; its length, 0 if there is none. */
size_t sampler_read_file(uint32_t pid, const char *name, char *place,
                         size_t size);

/* The process that was added, by whose events this one counts. */
pid_t sampler_origin(const struct sampler *sampler,
                     const struct sampler_process *process);

/* What the event of a kind counts in an interval. */
uint64_t sampler_interval(const struct sampler *sampler, unsigned kind);

/* A random number below n. */
uint64_t sampler_random(struct sampler *sampler, uint64_t n);

/* Looks for an interpreter in a process, if its mappings have changed. */
int sampler_look_for_python(struct sampler *sampler,
                            struct sampler_process *process,
                            struct error *error);

/*
 * Makes the path of a stack in the process's file; its length.  Python frames
 * stand below the frame of the evaluation loop that runs them, and all of the
 * loop's frames have one place then.
 */
size_t sampler_make_path(struct sampler *sampler,
                         struct sampler_process *process,
                         const struct sample_stack *stack,
                         const struct sample_python_stack *python,
                         struct error *error);

/*
 * Makes the path of a sample, sampler->path, and its length *n; 0: there is
 * none.  Returns the stack; NULL with *error set.
 */
const struct sample_stack *sampler_find_path(struct sampler *sampler,
                                             struct sampler_process *process,
                                             const struct perf_sample *sample,
                                             size_t *n, struct error *error);

/* Notes what is missing on a stack that stands for hits. */
void sampler_note_stack(struct sampler_process *process,
                        const struct sample_stack *stack, unsigned resource,
                        uint64_t hits);

/* Counts hits of a resource for a sample. */
int sampler_count(struct sampler *sampler, struct sampler_thread *thread,
                  const struct perf_sample *sample, unsigned resource,
                  uint64_t hits, struct error *error);

/* Keeps the path of n places that was made last. */
int sampler_path_keep(const struct sampler *sampler, struct sampler_path *path,
                      size_t n, struct error *error);

/* ---- sampler_files.c ---- */

/* The thread's record, made with its first sample; false: no room for it. */
bool sampler_need_record(struct sampler *sampler, struct sampler_thread *thread,
                         struct error *error);

/*
 * Notes the CPU time of a process in its file.  Gives it a file if it has none
 * and has used so much that there should be samples.
 */
void sampler_note_cpu(struct sampler *sampler, struct sampler_process *process);

/* What a processor has lost; NULL with *error set. */
struct sampler_ring *sampler_need_ring(struct sampler *sampler, size_t number,
                                       struct error *error);

/*
 * So many records of a processor have been lost by now.  Where the kernel does
 * not say of which kind, as many of them are taken to be samples as of those that
 * were not lost.
 */
void sampler_note_lost(struct sampler *sampler, struct sampler_ring *ring,
                       uint64_t n);

/* The same of all processors, as events tell. */
void sampler_note_all_lost(struct sampler *sampler);

/*
 * Puts down what a processor has lost until then in the file of a process, as
 * samples of a kind; of its time, no more than there was.  is_sample: it has
 * just been sampled.
 */
void sampler_drop_lost(struct sampler *sampler, struct sampler_ring *ring,
                       struct sampler_process *process, unsigned kind,
                       uint64_t time, bool is_sample);

/* The same of all processors, until now. */
void sampler_drop_all_lost(struct sampler *sampler,
                           struct sampler_process *process);

/*
 * Charges a process with what its origin's events have counted without samples
 * since the last call, so that the recording has all of it: in threads that
 * ended before their next sample, most of all.  All with these events have
 * ended, or the events have stopped.
 */
void sampler_charge_account(struct sampler *sampler,
                            struct sampler_process *process);

/*
 * A process was forked: it has its parent's program until it executes another,
 * which it may have done by the time that its file begins.
 */
int sampler_inherit_program(struct sampler *sampler,
                            struct sampler_process *process,
                            struct sampler_process *parent,
                            struct error *error);

/* Completes the file of a process, if it has one. */
void sampler_end_file(struct sampler *sampler, struct sampler_process *process,
                      uint64_t mono_ns);

/* ---- sampler_kernel.c ---- */

/* Notes what a process that is added, and all that it has started, have used. */
int sampler_kernel_begin(struct sampler *sampler, uint32_t pid,
                         struct error *error);

/* Whether a process was added so. */
bool sampler_kernel_has(const struct sampler *sampler, uint32_t pid);

/*
 * When to look again: what processes use from the last look to their end is
 * not known.  UINT64_MAX: at any time, as they used nothing before the last one.
 */
uint64_t sampler_kernel_next_ns(const struct sampler *sampler);

/*
 * Looks at the kernel's sums, if it is time: those of a process that has ended
 * are gone.  is_last: in any case.
 */
void sampler_kernel_look(struct sampler *sampler, bool is_last);

/*
 * The CPU time that the processes that were added have used, and what they have
 * started and waited for, from then to the last look.  To two ticks of the
 * kernel for each process.
 */
uint64_t sampler_kernel_ns(const struct sampler *sampler);
void sampler_kernel_free(struct sampler *sampler);

/* ---- sampler_waits.c ---- */

/* A thread was started: it waits for a processor, nobody knows where. */
void sampler_begin_thread(struct sampler *sampler,
                          struct sampler_thread *thread);

/* Counts the wait of a thread, if it waits and that is measured, until then. */
void sampler_wait_count(struct sampler *sampler, struct sampler_thread *thread,
                        uint64_t until_ns);

/* The thread leaves its processor: it ran until then, if it did. */
void sampler_run_end(struct sampler_thread *thread, uint64_t time);

/* Hits of the time in which the thread runs. */
void sampler_run_count(struct sampler_thread *thread, uint64_t hits);

/* The thread runs: it waited until then, if it did. */
void sampler_wait_end(struct sampler *sampler, struct sampler_thread *thread,
                      uint64_t time);

/* A thread leaves its processor where the sample is. */
int sampler_take_wait(struct sampler *sampler, struct sampler_thread *thread,
                      const struct perf_sample *sample, struct error *error);

/*
 * Counts what the last look at a thread has found, if it waited then; until_ns:
 * it did, as far as records tell.  If it went on while it was looked at, the
 * place may be that of another wait.
 */
void sampler_look_settle(struct sampler *sampler, struct sampler_thread *thread,
                         uint64_t until_ns);

/* A PERF_SWITCH record: a thread runs, or has left its processor. */
void sampler_apply_switch(struct sampler *sampler,
                          const struct perf_record *record);

/*
 * Finds out whether a thread waits that is new here, since begin_ns.  If it runs
 * before its place is read, or is found to have run, the wait does not count.
 */
int sampler_find_wait(struct sampler *sampler, struct sampler_thread *thread,
                      uint64_t begin_ns, struct error *error);

/*
 * Looks where a thread is.  One that has waited in one place for long is taken to
 * be there still; if it is not, this look finds no place.
 */
int sampler_look_at(struct sampler *sampler, struct sampler_thread *thread,
                    struct error *error);

#endif
