/* SPDX-License-Identifier: MIT */
/* cpprof-shared.h -- memory that the processes of a recording share.
 *
 * `cpprof record` creates it (a sealed memfd, so that nobody can truncate it)
 * and names it in the environment.  Each sampled process maps it.  From the
 * counts here, `record` learns how much of the CPU time of all descendants was
 * sampled, and why the rest was not.  Every recorded process can write anything
 * into it, so a reader must use nothing in it as an address, a size or an
 * index.
 *
 * The name leads through /proc.  It does not exist in another PID namespace
 * that has its own /proc, and the kernel refuses it to processes of another
 * user namespace or with fewer rights than `record`.  Such processes use a
 * second memory of the same layout: a file in the recording's directory, which
 * they need in any case.  `record` adds the two, and removes the file at the
 * end.
 */
#ifndef CPPROF_SHARED_H
#define CPPROF_SHARED_H

#include <stdint.h>

#include "lib/cpprof-code.h"

#define CPPROF_SHARED_MAGIC 0x35687363u		/* "csh5" */
#define CPPROF_SHARED_SIZE 36864
#define CPPROF_SHARED_KINDS 320
#define CPPROF_SHARED_EXECS 512
#define CPPROF_SHARED_PROCESSES 256
#define CPPROF_SHARED_IS_COUNTED ((uint64_t)1 << 63)

#define CPPROF_SHARED_FILE "shared"	/* in the recording's directory */

/*
 * Also there: files of zeros that `record` makes for the processes to come, and
 * numbers from 0.  To create a file takes longer than all else in the first
 * sample of a process, so it rather renames one of these.
 */
#define CPPROF_SHARED_SPARE "spare."
#define CPPROF_SHARED_SPARE_SIZE 24576
#define CPPROF_SHARED_SPARES_ASK 4	/* every so many files, it is woken */

/* Times that processes of one kind pass on to each other. */
enum cpprof_shared_time {
	CPPROF_SHARED_CPU,
	CPPROF_SHARED_REAL,
	CPPROF_SHARED_N_TIMES
};

/* Why a program's CPU time is not sampled. */
enum cpprof_shared_reason {
	CPPROF_SHARED_TRACED,		/* by a debugger, strace, valgrind */
	CPPROF_SHARED_NO_FILE,		/* the file could not be created */
	CPPROF_SHARED_NO_TIMER,
	CPPROF_SHARED_CONFINED,		/* the program forbade itself system
					   calls that sampling needs */
	CPPROF_SHARED_NO_PRELOAD,	/* executed with an environment that
					   does not load the collector */
	CPPROF_SHARED_STATIC,		/* executed; is linked statically, or does
					   without the C library */
	CPPROF_SHARED_PRIVILEGED,	/* executed; is setuid, setgid */
	CPPROF_SHARED_OTHER_USER,	/* executed after the process had become
					   another user */
	CPPROF_SHARED_HIDDEN,		/* executed where the recording or the
					   collector cannot be seen: in another
					   root directory or mount namespace */
	CPPROF_SHARED_N_REASONS
};

#define CPPROF_SHARED_MAX_REASONS 16

/*
 * What a process asks `record` for, which then samples a program from outside
 * that the collector cannot enter.
 */
enum cpprof_shared_wish {
	CPPROF_SHARED_AT_EXEC,	/* the program that this process executes next */
	CPPROF_SHARED_NOW,	/* a process that runs already */
	CPPROF_SHARED_NEVER_MIND,	/* the process did not execute it */
	CPPROF_SHARED_CHILD	/* would it be done for a program that this
				   process starts next? */
};

/* Of such a question, in this order. */
enum cpprof_shared_state {
	CPPROF_SHARED_NOT_ASKED,
	CPPROF_SHARED_ASKED,
	CPPROF_SHARED_READ,	/* by `record` */
	CPPROF_SHARED_YES,
	CPPROF_SHARED_NO
};

#define CPPROF_SHARED_QUESTIONS 16

/*
 * Of a question for the rules of a module's code.  Nobody waits for the answer:
 * it is a file (lib/cpprof-code.h).
 */
enum cpprof_shared_code_state {
	CPPROF_SHARED_CODE_FREE,
	CPPROF_SHARED_CODE_TAKEN,	/* by a process that writes it */
	CPPROF_SHARED_CODE_ASKED	/* `record` copies it and frees it */
};

#define CPPROF_SHARED_CODES 7

struct cpprof_shared {
	uint32_t magic;
	uint32_t trap_delay_us;	/* usual, from the end of a period to the
				   handler; 0: not known */
	uint64_t n_images;	/* processes, and programs that they executed */
	uint64_t cpu_ns;	/* CPU time of processes that sampled it */
	uint64_t before_ns;	/* of it, before the collector was loaded */
	uint64_t n_reasons[CPPROF_SHARED_MAX_REASONS];
	uint64_t error;		/* errno */
	uint64_t n_rings;	/* processes whose I/O by io_uring is not
				   counted */
	uint64_t n_tracers;	/* processes that trace others */
	uint64_t n_recorded;	/* files created, and records in the brief
				   file */
	/*
	 * Time of processes of one kind that no sample accounts for yet;
	 * negative if samples account for more than was used.
	 */
	struct {
		uint64_t kind;
		int64_t unsampled_ns[CPPROF_SHARED_N_TIMES];
	} kinds[CPPROF_SHARED_KINDS];
	/*
	 * CPU time of a process when it executed another program.  Processes of
	 * several PID namespaces may have the same id.  One that is counted in
	 * n_reasons is not counted again for the new program.
	 */
	struct {
		uint64_t process;	/* namespace << 32 | id; 0: none */
		uint64_t cpu_ns;	/* | CPPROF_SHARED_IS_COUNTED */
	} execs[CPPROF_SHARED_EXECS];
	uint64_t paced_us;	/* CPU time that samples stand for so far;
				   decides how often they are taken */
	/*
	 * Questions to `record`, which waits for another n_asked, a futex; the
	 * process waits for another state.  pid_namespace is that of `record`;
	 * 0: it takes no questions.  A process takes a place for its question by
	 * writing its namespace and id there, if there are none or if that
	 * process has died.  `process` is an id in the asker's namespace.
	 */
	uint32_t pid_namespace;
	uint32_t n_asked;
	struct cpprof_shared_question {
		uint64_t asker;		/* namespace (0: not known) << 32 | id;
					   0: the place is free */
		uint32_t state;
		uint32_t process;
		uint32_t wish;
		uint32_t unused;
	} questions[CPPROF_SHARED_QUESTIONS];
	uint32_t n_steps;	/* of `record` at such work: answers, and records of
				   the kernel that it has taken */
	/*
	 * Spare files that were made so far, and taken; files that processes
	 * have needed, a futex for which `record` waits.
	 */
	uint32_t n_spares, n_spares_taken;
	uint32_t n_files_needed;
	uint64_t n_ended;	/* of n_images, those that have reported their CPU
				   time at their end, or at an exec */
	/*
	 * The processes that are recorded, if the resource `latency` is:
	 * whoever has a sample of it looks at the others.  A place whose
	 * process has ended is free for another one.
	 */
	uint64_t n_places;	/* that were ever in use; may be too large */
	uint64_t n_unlisted;	/* processes that found no place */
	struct cpprof_shared_process {
		uint64_t process;	/* namespace << 32 | id; 0: none */
		uint64_t cpu_ns;	/* used when somebody looked last, */
		uint64_t seen_ns;	/* who first saw that then; monotonic */
		/* The last time that it was measured how much it runs: */
		uint64_t measured_ns;	/* monotonic */
		uint64_t measured_cpu_ns;
		uint64_t ran_ns, waited_ns;	/* its first thread, by the
						   kernel's schedstat */
		uint32_t n_threads;	/* that ran on average, */
		uint32_t share;		/* and the share of the time in which it
					   ran of that in which it could; both
					   in CPPROF_SHARED_ONE */
	} processes[CPPROF_SHARED_PROCESSES];
	/*
	 * Modules with code that has no unwind tables.  `record` waits for
	 * another n_codes_asked, a futex, and adds to n_codes_answered for each
	 * file that it has written.  answers_codes: it does so at all.
	 */
	uint32_t answers_codes;
	uint32_t n_codes_asked, n_codes_answered;
	uint32_t unused;
	struct cpprof_shared_code {
		uint32_t state;
		uint32_t unused;
		struct cpprof_code_module module;
	} codes[CPPROF_SHARED_CODES];
};

#define CPPROF_SHARED_ONE 1024

_Static_assert(sizeof(struct cpprof_shared) <= CPPROF_SHARED_SIZE, "size");

/*
 * A file in the recording's directory that says where the kernel and its
 * modules are: an array by ascending start, the first of which is the kernel.
 * `record` writes it before the program runs, and removes it at the end.  It is
 * empty if the kernel hides its addresses.
 */
#define CPPROF_KERNEL_FILE "kernel"
#define CPPROF_KERNEL_PATH "[kernel]"	/* of the kernel itself */
#define CPPROF_KERNEL_MODULES 4096	/* at most */

struct cpprof_kernel_module {
	uint64_t start;		/* offsets in the module count from here */
	uint64_t end;		/* exclusive */
	uint32_t build_id_size;	/* 0: none */
	uint8_t build_id[20];
	char path[72];		/* "[ext4]", NUL-padded */
};

_Static_assert(sizeof(struct cpprof_kernel_module) == 112, "module size");

#endif
