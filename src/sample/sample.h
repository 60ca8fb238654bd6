/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample.h -- the sampler outside the program: it records processes that run.
 *
 * The kernel samples the threads of a process by perf events and copies their
 * registers and the top of their stacks.  The sampler unwinds these copies while
 * the process runs, and counts the stacks in the same file that the collector
 * writes from inside (lib/cpprofdata.h).  It neither stops nor changes the
 * process.
 *
 *	sample_target.c	whether a process can be sampled, and if not, what to do
 *	sample_events.c	perf events: of which threads, and what they give
 *	sample_stack.c	from the copy of a stack to its frames
 *	sample_held.c	files that only the process can reach
 *	sample_python.c	the frames of CPython's interpreter
 *	sample_interpreters.c	which processes have one
 *	sample_tasks.c	the tasks of asyncio that wait in a process
 *	sample_file.c	the file of one process
 *	sampler.c	processes and threads from the beginning to the end
 */
#ifndef CPPROF_SAMPLE_SAMPLE_H
#define CPPROF_SAMPLE_SAMPLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/formats/perf/perf_data.h"
#include "src/formats/reader.h"
#include "src/symbols/unwind/stack_unwinder.h"

/* ---- sample_events.c ---- */

/*
 * The kernel's events, which are sampled for threads and all that these start.
 *
 * Each thread has an event on each processor, since only then are events
 * inherited; all events of a processor write to one ring buffer.
 */

/* A resource that can be sampled from outside: OUTSIDE in lib/counts.def. */
struct sample_kind {
	const char *name;
	const char *source;	/* for people */
	uint32_t type;		/* of struct perf_event_attr */
	uint64_t config;
	uint64_t scale;		/* what the event counts in a gtick */
	bool is_kernel;		/* happens only in the kernel */
};

/* Ends with a NULL name. */
extern const struct sample_kind sample_kinds[];

/* What the event counts from one sample to the next, for an interval in gticks. */
uint64_t sample_kind_period(const struct sample_kind *kind, uint64_t interval);

/* The row of a resource; NULL: it cannot be sampled from outside. */
const struct sample_kind *sample_kind_find(const char *name);

/*
 * The other event of `real`, whose own counts the time in which threads run: a
 * thread leaves its processor, and where.  It happens only in the kernel.
 */
extern const struct sample_kind sample_kind_wait;

/*
 * Whether this machine has the event and this user may sample it in their own
 * processes: 0, or an errno; ENXIO: its number cannot be read from tracefs.
 * *sees_kernel: also in the kernel.
 */
int sample_kind_try(const struct sample_kind *kind, bool *sees_kernel);

/*
 * Opens an event that asks for the kernel's stacks, and never counts.  -1: this
 * user may not see them.  As long as it is open, the kernel keeps the memory
 * that it needs for stacks, and does not allocate it for each short process.
 */
int sample_events_keep_stacks(void);

/* Says what forbids perf events, by the errno of a failed attempt. */
void sample_events_explain(int number, struct text_buffer *text);

enum { SAMPLE_KINDS_MAX = CPPROFDATA_MAX_RESOURCES + 1 };

struct sample_events_options {
	unsigned n_kinds;
	struct {
		const struct sample_kind *kind;
		uint64_t interval;	/* in gticks */
		unsigned resource;	/* number in the recording */
	} kinds[SAMPLE_KINDS_MAX];
	bool is_alone;		/* child processes are not sampled */
	bool is_system;		/* whatever runs is sampled: -1 is added in
				 * place of threads */
	bool counts_running;	/* records tell when threads run, as they do
				 * with sample_kind_wait, and with: */
	bool looks_at_waits;	/* instead of that kind: sampler.c reads where
				 * threads wait */
};

struct sample_events;

/*
 * Asks nothing of the kernel yet.  Freed with sample_events_free; NULL with
 * *error set.
 */
struct sample_events *sample_events_new(
    const struct sample_events_options *options, struct error *error);
void sample_events_free(struct sample_events *events);

/*
 * Whether what happens in the kernel is sampled, too; known once there is a
 * thread.
 */
bool sample_events_see_kernel(const struct sample_events *events);

/* On how many processors threads are sampled. */
size_t sample_events_n_processors(const struct sample_events *events);

enum sample_begin {
	SAMPLE_NOW,
	SAMPLE_AT_EXEC		/* when the thread executes a program */
};

/*
 * Begins to sample a thread: 1, or 0 if there is no such thread any more.  -1
 * with *error set: what forbids it, and the way on.  What it and all that it
 * starts spend goes to the account of that process.
 */
int sample_events_add(struct sample_events *events, pid_t process, pid_t tid,
                      enum sample_begin begin, struct error *error);

/*
 * A thread inherits the events of the one that starts it, unless these were opened
 * in the middle of that; the kernel reports its start all the same.  Gives such a
 * thread, as found by sample_events_drain; it is to be added if it has no events
 * of its own (sample_events_has), as are those that it has started.  Some have
 * inherited events after all, and are then sampled twice, but counted once.
 * False: there is none.
 */
bool sample_events_next_orphan(struct sample_events *events, pid_t *tid);
bool sample_events_has(const struct sample_events *events, pid_t tid);

/* Ends to sample the threads of an account, and what they have started. */
void sample_events_remove(struct sample_events *events, pid_t process);

/* All events stop; what they have counted can still be asked for. */
void sample_events_stop(const struct sample_events *events);

/*
 * What the events of an account have counted, by kind, beyond the periods of
 * the samples taken, and of what sample_events_charge was told; a sample on the
 * way is missing, so its threads have ended or its events have stopped.  Each
 * call gives what is new since the last one.  False: it is not known.
 */
bool sample_events_take_unseen(struct sample_events *events, pid_t process,
                               int64_t unseen[SAMPLE_KINDS_MAX]);

/* So many hits of a kind are known without samples. */
void sample_events_charge(struct sample_events *events, pid_t process,
                          unsigned kind, uint64_t hits);

/*
 * How many records of a processor's events found no room so far; of the whole
 * machine, only of those that sample.  The buffer tells with the next record that
 * finds room, so not of a thread's last ones.  0 before Linux 6.0.
 */
uint64_t sample_events_n_lost(const struct sample_events *events, size_t ring);

/* Likewise records of what processes do, if the whole machine is sampled. */
uint64_t sample_events_n_side_lost(const struct sample_events *events);

/* The processor of the record that is being delivered; 0 if there is none. */
size_t sample_events_ring(const struct sample_events *events);

/* Whether a buffer was ever full, so that records may have been lost. */
bool sample_events_were_full(const struct sample_events *events);

/*
 * Makes copies of stacks larger: sample_events_grow, then sample_events_add for
 * all threads again, then sample_events_grown with whether all could be added;
 * those that ended meanwhile could.  Between these calls and afterwards, what
 * is counted is counted once.  grow returns false if copies cannot be larger.
 */
bool sample_events_grow(struct sample_events *events);
void sample_events_grown(struct sample_events *events, bool has_all);

/*
 * From now on, each sample wakes who waits for it (below), and records tell when
 * threads run.  True: threads have events already, and these have to be made
 * anew, as after sample_events_grow; until then they stay as they are.
 */
bool sample_events_watch(struct sample_events *events);

/*
 * Delivers all records that the kernel has written so far, in the order of
 * time.  0, or -1 as soon as `deliver` returns that.
 */
typedef int sample_deliver(void *context, const struct perf_record *record,
                           struct error *error);
int sample_events_drain(struct sample_events *events, sample_deliver *deliver,
                        void *context, struct error *error);

/*
 * Waits for some milliseconds (-1: for any time), or until a buffer is half
 * full, a process ends (by its pidfd; -1: none), `asking` is readable (-1:
 * none) or a signal was handled.  Whether the process has ended.
 */
bool sample_events_wait(const struct sample_events *events, int process,
                        int asking, int timeout_ms);

/*
 * If the options ask for it: how many sampled threads were running when the
 * record that is being delivered was written.
 */
size_t sample_events_n_running(const struct sample_events *events);

/*
 * With sample_kind_wait: how long the wait lasted that began with the sample
 * that is being delivered; UINT64_MAX: its end is not known yet.  All records
 * up to sample_events_seen_ns have been taken out of the buffers.
 */
uint64_t sample_events_wait_ns(const struct sample_events *events);
uint64_t sample_events_seen_ns(const struct sample_events *events);

/* The thread of a record of a switch. */
uint32_t sample_record_tid(const struct perf_record *record);

/* The events as the reader of perf.data knows them: event i is kind i. */
const struct perf_events *sample_events_table(
    const struct sample_events *events);

/*
 * Samples as they happen, of processor i of sample_events_n_processors; for
 * threads of their own, between sample_events_begin_watch and the end of these
 * threads.  Nothing is taken out of the buffers.
 */
struct sample_seen {
	uint64_t event;		/* its id */
	uint32_t pid, tid;
	uint64_t time;
};

int sample_events_begin_watch(struct sample_events *events,
                              struct error *error);
int sample_events_processor(const struct sample_events *events, size_t i);

/*
 * Waits for a sample.  False: `stop`, an eventfd, was written to.
 */
bool sample_events_wait_sample(const struct sample_events *events, size_t i,
                               int stop);

/* Lets sample_events_wait end soon; for these threads. */
void sample_events_hurry(const struct sample_events *events);

/* The next sample after *position, which it advances; false: none yet. */
bool sample_events_next_sample(const struct sample_events *events, size_t i,
                               uint64_t *position, struct sample_seen *seen);

/*
 * The thread that samples wake takes the processor away from who was sampled, so
 * each sample arranges anew what runs when: at equal distances, those that run
 * for a moment after it would be found never, or always.  So that thread draws
 * when the event that counts a processor's time (is_system) samples next.  The
 * distances are exponential: each moment has the same chance, whatever was
 * before it.
 */
struct sample_draw {
	uint64_t state;		/* of the random numbers; not 0 */
	uint64_t late_ns;	/* by which distances were longer than drawn */
	uint64_t newest_ns;	/* when that event sampled; 0: not since the
				 * last draw */
};

/* Notes a sample, if it is of that event. */
void sample_events_note_clock(struct sample_events *events, size_t i,
                              const struct sample_seen *seen,
                              struct sample_draw *draw);

/* Draws, after all samples that there are have been noted. */
void sample_events_draw(struct sample_events *events, size_t i,
                        struct sample_draw *draw);

/*
 * Whether the thread of the sample that is being delivered was off the processor
 * from begin_ns to end_ns, and had run no instruction since the sample, as far
 * as the records tell: its processor was taken away directly after it.
 */
bool sample_events_was_stopped(const struct sample_events *events,
                               uint32_t tid, uint64_t begin_ns,
                               uint64_t end_ns);

/* ---- sample_stack.c ---- */

/* From a sample to the frames of its stack. */

/* What frames are looked up in; borrowed. */
struct sample_space {
	struct perf_machine *machine;
	const struct profile *profile;	/* has the machine's modules */
	struct module_cache *modules;
};

struct sample_frame {
	uint32_t module;	/* of the profile, or NO_MODULE */
	uint64_t address;	/* in the module */
	uint64_t pc, sp;	/* in the process; 0 in the kernel */
};

struct sample_stack {
	struct sample_frame *frames;	/* [n] innermost first */
	size_t n, capacity;
	size_t n_kernel;	/* of them, the innermost, are the kernel's */
	bool is_partial;
	enum cpprofdata_drop why;	/* if it is */
	bool was_guessed;
	bool was_late;		/* the copy did not reach to its end */
};

struct sample_walker;

/* Freed with sample_walker_free; NULL with *error set. */
struct sample_walker *sample_walker_new(const struct sample_space *space,
                                        struct error *error);
void sample_walker_free(struct sample_walker *walker);

/*
 * Walks the stack of a sample.  The kernel's frames are those that it found
 * itself, innermost first; the process's are unwound.  What the copy does not
 * have is read from the thread's memory as it is now, and counts only if the
 * return addresses in the outer part of the copy are still there: then the frames
 * outside it have not been left.  The result belongs to the walker and is valid
 * until its next call; NULL with *error set for want of memory.
 */
const struct sample_stack *sample_walk(struct sample_walker *walker,
                                       const struct perf_attr *attr,
                                       const struct perf_sample *sample,
                                       struct error *error);

/*
 * Likewise the stack of a thread that waits in the kernel, as it is now.  Only
 * its stack pointer and program counter are known, and none of the kernel's
 * frames.  Without frames: this user may not know it.  Whether it waited all
 * the time is for the caller to find out.  NULL without *error: it runs.
 */
const struct sample_stack *sample_walk_waiting(struct sample_walker *walker,
                                               uint32_t pid, uint32_t tid,
                                               struct error *error);

/*
 * Takes the n outermost frames away from the stack that was walked last.  It is
 * whole without them, or, if they are unknown, partial.
 */
void sample_walk_cut(struct sample_walker *walker, size_t n, bool is_whole);

/* ---- sample_held.c ---- */

/*
 * Files of processes that are not where their paths lead, kept open for as long
 * as this: of containers, and those that were replaced or removed.
 */
struct sample_held;

/* Freed with sample_held_free; NULL with *error set. */
struct sample_held *sample_held_new(struct error *error);
void sample_held_free(struct sample_held *held);

/* For struct symbol_search; the answer stays the same, its contents grow. */
const struct held_files *sample_held_files(const struct sample_held *held);

/* Whether a process has another root directory or mount namespace. */
bool sample_held_is_elsewhere(uint32_t pid);

/* Whether another file is at the mapping's path now, or none. */
bool sample_held_has_moved(const struct memory_mapping *mapping);

/*
 * Holds the file that is mapped there; *status: of the file, path: by which to
 * open it.  False: it cannot be reached; then *error is set only for want of
 * memory.  A process that is elsewhere may have its separate debug file, too:
 * that is held with it.
 */
enum { SAMPLE_HELD_PATH = 40 };
struct stat;
bool sample_held_add(struct sample_held *held, uint32_t pid,
                     const struct memory_mapping *mapping, bool is_elsewhere,
                     struct stat *status, char path[SAMPLE_HELD_PATH],
                     struct error *error);

/* ---- sample_file.c ---- */

/*
 * The file of one process, which is a whole profile at every instant.
 *
 * Unlike the collector's store, there are many files at a time in one process,
 * which has one thread and may allocate memory.  What lib/cpprofdata.h says of
 * the order of writing holds here, too.
 */

/* What all files of a recording have in common. */
struct sample_recording {
	int directory;		/* open; files are made there */
	unsigned n_resources;
	struct sample_resource {
		const char *name, *gtick, *source;
		uint64_t interval;
	} resources[CPPROFDATA_MAX_RESOURCES];
	bool has_latency;	/* the last resource is, which has no event */
	uint64_t max_size;	/* of a file; 0: no limit */
	uint64_t origin_ns, origin_mono_ns;	/* when it began: UTC, and by
						 * CLOCK_MONOTONIC */
};

/* What is known of a process.  Texts are borrowed, and "" if unknown. */
struct sample_facts {
	uint32_t pid, parent_pid, user;
	uint64_t start_mono_ns;		/* when it began, or its program */
	uint64_t born_ns;		/* UTC, when it began, before it was
					 * sampled; 0: start_mono_ns says when */
	const char *executable, *directory;
	const char *started_as;		/* the path of the link by which it was
					 * executed */
	const char *arguments;		/* [arguments_size], each with a NUL */
	size_t arguments_size;
	bool continues;			/* it ran another program before, which
					 * has a file */
	bool has_kernel;		/* stacks have frames of the kernel */
};

struct sample_file;

/* Freed with sample_file_free; NULL with *error set. */
struct sample_file *sample_file_new(const struct sample_recording *recording,
                                    const struct sample_facts *facts,
                                    struct error *error);

/* Closes the file as it is. */
void sample_file_free(struct sample_file *file);

/*
 * The number of a module, added if its key is new.  UINT32_MAX with *error set
 * if there is no room.
 */
uint32_t sample_file_module(struct sample_file *file, uint32_t key,
                            const struct cpprofdata_module *module,
                            const char *path, struct error *error);

/* A function that an interpreter ran, as a code object describes it. */
struct sample_function {
	const char *name, *file;
	uint32_t first_line;
	const void *lines;	/* [lines_size] */
	size_t lines_size;
};

/*
 * The number of the record of a function of Python, which is added if there is
 * none with the same contents.  0, which stands for what is not known, if there
 * is no room.
 */
uint32_t sample_file_function(struct sample_file *file,
                              const struct sample_function *function);

struct sample_thread;

/*
 * A record for a thread that begins to be sampled.  It may be that of a thread
 * of the same name that has ended.  NULL with *error set if there is no room.
 */
struct sample_thread *sample_file_thread(struct sample_file *file,
                                         uint32_t tid, const char *name,
                                         struct error *error);

/* Notes that the thread has another name, or has ended. */
void sample_thread_rename(struct sample_thread *thread, const char *name);
void sample_thread_end(struct sample_file *file, struct sample_thread *thread,
                       uint64_t mono_ns);

/* A frame as nodes hold it. */
struct sample_place {
	uint32_t module;	/* a number, or CPPROFDATA_NO_MODULE, ... */
	uint64_t offset;
};

/*
 * Counts a sample with `hits` hits of a resource at the end of a path, its
 * outermost frame first, n > 0.  If there is no room, the hits are counted as
 * lost.
 */
void sample_file_count(struct sample_file *file, struct sample_thread *thread,
                       const struct sample_place *path, size_t n,
                       unsigned resource, uint64_t hits, uint64_t mono_ns);

/* Counts samples under a reason; those that are lost, of a resource. */
void sample_file_drop(struct sample_file *file, enum cpprofdata_drop reason,
                      unsigned resource, uint64_t samples, uint64_t hits);

/* Sets a flag of the header. */
void sample_file_flag(struct sample_file *file, uint32_t flag);

/* Notes the CPU time that the process has used while it was sampled. */
void sample_file_note_cpu(struct sample_file *file, uint64_t cpu_ns,
                          uint64_t sampling_ns);

/* How many threads were seen. */
void sample_file_note_threads(struct sample_file *file, uint64_t n);

/* The process, or its sampling, has ended. */
void sample_file_finish(struct sample_file *file, uint64_t mono_ns);

/* Notes that a sample of `real` was drawn, not measured as waits are. */
void sample_file_note_drawn(struct sample_file *file, uint64_t hits);

/* Hits of a resource that are in the tree. */
uint64_t sample_file_hits(const struct sample_file *file, unsigned resource);

/* Hits of a resource that are lost, since there was no room for them. */
uint64_t sample_file_n_lost(const struct sample_file *file, unsigned resource);

/* ---- sample_python.c ---- */

/*
 * The frames of CPython's interpreter, of which the copied stack has only the
 * evaluation loop.
 */
struct sample_python;

/*
 * Freed with sample_python_free, before the events and the profile, which has the
 * modules of frames; NULL with *error set.
 */
struct sample_python *sample_python_new(struct sample_events *events,
                                        const struct profile *profile,
                                        struct error *error);
void sample_python_free(struct sample_python *python);

/*
 * Begins to read frames, with sample_events_watch and once there is a thread.
 */
int sample_python_begin(struct sample_python *python, struct error *error);

/*
 * Where a module has what is needed of the interpreter.  All but the runtime are 0
 * where no symbol has them, as in a stripped program.
 */
struct sample_python_symbols {
	uint64_t runtime, code_type, version, loop, loop_size;
	/* Where functions begin, as .eh_frame_hdr has it. */
	unsigned char *index;		/* [index_size]; NULL: not known */
	uint64_t index_size, index_address;
};

/*
 * By its symbols, or by the section .PyRuntime: 1; 0: it has no interpreter; -1
 * with *error set.  The index is freed by the caller, after all processes that
 * were added with it.
 */
int sample_python_symbols(const struct elf_file *file,
                          struct sample_python_symbols *symbols,
                          struct error *error);

struct python_runtime;

/*
 * Where the interpreter is in a process that has loaded its module at `bias`.
 * False: it cannot be read; *is_refused becomes true if the kernel forbids it.
 */
bool sample_python_look(uint32_t pid,
                        const struct sample_python_symbols *symbols,
                        uint64_t bias, struct python_runtime *runtime,
                        bool *is_refused);

struct sample_python_process;

/*
 * Adds a process in which the interpreter's module was loaded at `bias`, for one
 * file; it replaces another of the same number.  NULL if its interpreter cannot be
 * read, *is_refused: as the kernel forbids that; or with *error set.
 */
struct sample_python_process *sample_python_add(struct sample_python *python,
    uint32_t pid, const struct sample_python_symbols *symbols, uint64_t bias,
    bool *is_refused, struct error *error);
void sample_python_remove(struct sample_python *python,
                          struct sample_python_process *process);

/*
 * Whether its frames can be read: it is of a known version, and its offsets are
 * possible ones.
 */
bool sample_python_is_supported(const struct sample_python_process *process);

/*
 * Whether the loop's place is known.  That of a stripped interpreter is found by
 * the first frames that sample_python_frames places.
 */
bool sample_python_knows_loop(const struct sample_python_process *process);

/* Whether a frame is that of the evaluation loop, which begins at ... */
bool sample_python_is_loop(const struct sample_python_process *process,
                           const struct sample_frame *frame);
uint64_t sample_python_loop(const struct sample_python_process *process);

/* Takes over what was read so far; to be called before sample_events_drain. */
void sample_python_collect(struct sample_python *python);

struct sample_python_frame {
	uint32_t function;	/* number in the file */
	uint32_t offset;	/* of the instruction, as in the file */
	uint32_t native;	/* the frame of the process that runs it; 0: the
				 * outermost */
};

/* The Python frames of a sample, and what they say of its native ones. */
struct sample_python_stack {
	const struct sample_python_frame *frames;	/* outermost first */
	size_t n;
	size_t n_outside;	/* native frames, the outermost, that do not
				 * belong to the stack */
	bool is_unfit;		/* the frames were read, but do not fit the
				 * native ones; n_outside is up to the
				 * innermost of the loop then */
};

/*
 * Finds those of the sample that is being delivered, valid until the next call:
 * 1; 0: they are not known; -1 with *error set.
 */
int sample_python_frames(struct sample_python *python,
                         struct sample_python_process *process,
                         struct sample_file *file,
                         const struct perf_sample *sample,
                         const struct sample_stack *stack,
                         struct sample_python_stack *found,
                         struct error *error);

/* ---- sample_interpreters.c ---- */

/*
 * Which processes have an interpreter of Python, by their mappings.  Each module
 * is searched once.
 */
struct sample_interpreters;

/*
 * `space` is copied; what it names, and `python`, must outlive the result, which
 * sample_interpreters_free frees.  NULL with *error set.
 */
struct sample_interpreters *sample_interpreters_new(
    const struct sample_space *space, struct sample_python *python,
    struct error *error);
void sample_interpreters_free(struct sample_interpreters *interpreters);

/*
 * Looks for an interpreter in a process whose mappings are not those of
 * *version, which becomes theirs; PERF_NO_VERSION at first.  *process: as
 * sample_python_add returns it, NULL if none was found.  *is_refused becomes
 * true if the kernel forbids to read one.  0, or -1 with *error set.
 */
int sample_interpreters_look(struct sample_interpreters *interpreters,
                             uint32_t pid, uint32_t *version,
                             struct sample_python_process **process,
                             bool *is_refused, struct error *error);

/*
 * Whether a process has mapped something that is called python, before its
 * mappings have been applied.
 */
bool sample_interpreters_expect(pid_t pid);

/* ---- sample_tasks.c ---- */

/* The tasks of asyncio in a process, and how long they wait. */

struct sample_task_frame {
	const char *function, *file;	/* "" where not known */
	uint32_t line;			/* 0: not known */
};

enum sample_task_state {
	SAMPLE_TASK_WAITS,
	SAMPLE_TASK_READY,		/* for its turn */
	SAMPLE_TASK_NEW,		/* likewise, for the first time */
	SAMPLE_TASK_RUNS,
	SAMPLE_TASK_MOVES		/* between these; not in the list */
};

struct sample_task {
	const char *name;
	enum sample_task_state state;
	uint64_t address;		/* its id() */
	uint64_t awaited_by;		/* likewise of the first task that awaits
					 * it; 0: none is known */
	const char *awaited_by_name;	/* NULL: likewise */
	uint32_t thread;		/* that runs its loop, as the process
					 * numbers it; 0: not known */
	const struct sample_task_frame *frames;	/* innermost first */
	size_t n_frames;
	/* How long it is at this place, as far as that was seen, at a time of
	 * CLOCK_MONOTONIC. */
	uint64_t time_ns;
	uint64_t at_least_ns, less_than_ns;	/* UINT64_MAX: not known */
};

struct sample_tasks {
	struct arena arena;
	struct sample_task *tasks;	/* [n], those that wait longest first */
	size_t n;
	size_t n_others;		/* that were never twice at one place */
	size_t n_looks;
	bool is_cut;			/* there are more than are read */
};

/*
 * Looks at the tasks of a process for so long, or until interrupt_requested is
 * set; 0: once.  The process runs on.  0; or -1 with *error saying why it has
 * none, or why they cannot be read, and what to do.  In both cases the result is
 * freed by sample_tasks_free.
 */
int sample_tasks_watch(pid_t pid, uint64_t duration_ns,
                       struct sample_tasks *tasks, struct error *error);
void sample_tasks_free(struct sample_tasks *tasks);

/* ---- sample_target.c ---- */

/* Whether a process can be sampled. */

/*
 * 0; or -1 with *error saying why it cannot, and the shortest way on: no such
 * process, a zombie, a kernel thread, a 32-bit process, another user's, or
 * cpprof itself.
 */
int sample_target_check(pid_t pid, struct error *error);

/* ---- sampler.c ---- */

/* Processes and their threads, from the beginning to the end. */

struct sampler;

struct sampler_options {
	const struct sample_recording *recording;
	struct sample_events_options events;
	uint64_t duration_ns;	/* 0: no limit */
	bool ends_with_first;	/* when the process that was added first ends,
				 * though others still run */
	const char *symfs;	/* as in read_options */
	/*
	 * If not NULL, sampler_run goes on when no process is left, until this
	 * returns true.  It is called before each look at the buffers, soon
	 * after the file `asking` has become readable, and may add processes
	 * and remove them.
	 */
	bool (*attend)(void *context, struct sampler *sampler);
	void (*step)(void *context);	/* then not NULL either: it is called with
					 * each record, of which many may come
					 * before the next call of `attend` */
	void *context;
	int asking;
};

/* What became of it. */
struct sampler_result {
	uint64_t n_samples, n_processes, n_lost;
	uint64_t own_cpu_ns;	/* of the sampler */
	uint64_t cpu_ns;	/* of the processes, while they were sampled */
	uint64_t counted_ns;	/* what is in their files, by these clocks or by
				 * hits, of those that have ended or were added */
	uint64_t unsampled_ns;	/* by the kernel's sums, what they and what
				 * they started and waited for have used that is
				 * in no file */
	struct sampler_unseen {
		const struct sample_kind *kind;	/* NULL: none */
		uint64_t interval;	/* in gticks */
		uint64_t hits;		/* in the files, that have no sample */
	} unseen[CPPROFDATA_MAX_RESOURCES];
	uint64_t n_side_lost;	/* records of what processes do, apart from
				 * those of samples */
	uint64_t lost_wait_ns;	/* waits whose samples were lost */
	bool sees_kernel;
	struct sample_held *held;	/* to be freed by the caller, after the
					 * functions have been named */
	uint64_t n_python;	/* samples with Python frames, and ... */
	uint64_t n_no_python;	/* ... without those that they have, which
				 * were not read in time */
	bool refuses_python;	/* the kernel forbids to read them in a
				 * process */
};

/*
 * Prepares to sample; nothing is sampled yet.  The options must outlive the
 * result, which sampler_free frees.  NULL with *error set.
 */
struct sampler *sampler_new(const struct sampler_options *options,
                            struct error *error);
void sampler_free(struct sampler *sampler);

/*
 * Begins to sample whatever runs, but this process (is_system).  Processes that
 * run already are to be added afterwards, so that their code is known.
 */
int sampler_add_system(struct sampler *sampler, struct error *error);

/* Begins to sample all threads of a process. */
int sampler_add(struct sampler *sampler, pid_t pid, enum sample_begin begin,
                struct error *error);

/* Ends to sample a process that was added before it executed a program. */
void sampler_remove(struct sampler *sampler, pid_t pid);

/*
 * Takes a record of the kernel, at its turn.  (sampler_run takes all; this is
 * for tests.)  *sampler is a struct sampler.
 */
int sampler_take(void *sampler, const struct perf_record *record,
                 struct error *error);

/* The layout of the records: event 0 reports what processes do. */
const struct perf_events *sampler_events(const struct sampler *sampler);

/*
 * Samples until the time is over, all processes have ended, or
 * interrupt_requested is set (src/base/progress.h).
 */
int sampler_run(struct sampler *sampler, struct sampler_result *result,
                struct error *error);

#endif
