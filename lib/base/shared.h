/* SPDX-License-Identifier: MIT */
/* shared.h -- what this process contributes to a recording's shared memory.
 *
 * Without shared memory (no `cpprof record`, another user, a place where the
 * recording cannot be seen), nothing is counted.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.
 */
#ifndef CPPROF_SHARED_PAGE_H
#define CPPROF_SHARED_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprof-shared.h"

/*
 * Maps the memory named in the environment (NULL: none), or else the file in
 * the recording's directory, and counts this image of the process.  From the
 * constructor.
 */
void shared_begin(const char *name, const char *directory);

/*
 * For the SIGBUS handler: if the address lies in the file, which somebody has
 * truncated, puts private memory in its place.
 */
bool shared_replace_mapping(const void *address);

/*
 * Takes the memory away, as the recording has ended; another may begin.  When no
 * other thread uses the collector.
 */
void shared_end(void);

/* In a forked child: counts another process, which is of another kind. */
void shared_forked(void);

/*
 * Counts a reason why the process, or one that it executes, is not sampled;
 * takes it back.
 */
void shared_count(enum cpprof_shared_reason reason, int error);
void shared_uncount(enum cpprof_shared_reason reason);

/*
 * The same for this process, which is not sampled from then on.  Only the first
 * reason counts.
 */
void shared_give_up(enum cpprof_shared_reason reason, int error);

/* Counts that the process does I/O by io_uring. */
void shared_count_ring(void);

/*
 * Counts that the process has created a file, or has a record in the brief
 * file.
 */
void shared_count_recorded(void);

/*
 * Notes that the process needs a file.  True: it may take the spare one of
 * that number, if it can (lib/cpprof-shared.h).
 */
bool shared_take_spare(uint32_t *number);

/*
 * Counts that the process traces others; whether any process does or may do so.
 * Then it is worth asking the kernel for a tracer.  (A tracer from outside the
 * recording traces `record` first, which counts as one.)
 */
void shared_count_tracer(void);
bool shared_has_tracers(void);

/*
 * Reports the process's CPU time up to now, minus what was reported before, as
 * sampled.  `before_ns` of it was spent before the library was loaded.
 */
void shared_report_cpu_time(uint64_t before_ns);

/*
 * Counts that the process has reported all: it ends, or executes another program.
 * Not if that has failed.
 */
void shared_note_end(bool ends);

/*
 * Notes that the process is about to execute another program, and the CPU time
 * it has used; returns that time in the new program, 0 if it is not known.
 */
void shared_note_exec(void);
uint64_t shared_time_before(void);

/*
 * Passes on time between short processes of one kind (of the same program).  A
 * process that ends gives the time that its samples do not account for, and the
 * next one that is sampled takes it.  Both may be negative.  If the time was
 * passed on, *ns becomes 0.  At most a second is taken at once.
 */
void shared_give_time(enum cpprof_shared_time which, int64_t *ns);
int64_t shared_take_time(enum cpprof_shared_time which);

/*
 * Adds to the CPU time that the recording's samples stand for, and returns all
 * of it; without shared memory, that of this process.
 */
uint64_t shared_pace(uint64_t us);

/*
 * Notes that a trap came to its handler so many microseconds after its period had
 * ended, at most TRAP_DELAY_MAX_US.  Returns the usual delay in the recording's
 * processes; a single trap that by the clocks had none hardly changes it.
 * TRAP_DELAY_UNKNOWN notes nothing, and is returned if nobody has.
 */
#define TRAP_DELAY_UNKNOWN UINT32_MAX
#define TRAP_DELAY_MAX_US 200	/* on a slow virtual machine */
uint32_t shared_trap_delay(uint32_t us);

/*
 * Whether `record` samples programs from outside that the collector cannot
 * enter.  If so, shared_ask asks that for a process, and returns
 * whether `record` does it; waits as long as `record` answers at all.
 */
bool shared_takes_questions(void);
bool shared_ask(uint32_t process_id, enum cpprof_shared_wish wish);

/*
 * Whether `record` writes files with rules for the code of modules.
 * shared_ask_code asks for one, and does not wait for it; false: too many are
 * asked for just now.
 */
bool shared_answers_codes(void);
bool shared_ask_code(const struct cpprof_code_module *module);

/* How many such files were written so far; 0: without shared memory, too. */
uint32_t shared_code_answers(void);

/*
 * Puts this process into the list of those that are recorded, or there again
 * after an exec.
 */
void shared_list_process(void);

/*
 * The list, of *n places, and what names this process in it; NULL if this
 * process was not put there.  shared_unlist frees a place whose process,
 * `found`, is gone.
 */
struct cpprof_shared_process *shared_processes(size_t *n, uint64_t *own);
void shared_unlist(struct cpprof_shared_process *place, uint64_t found);

/* Whether there is shared memory. */
bool shared_is_mapped(void);

#endif
