/* SPDX-License-Identifier: MIT */
/* cpprofdata.h -- the file that libcpprof writes and the analyser reads.
 *
 * A file is one header of 4096 bytes, followed by chunks.  A chunk is a whole
 * number of pages: a chunk header of 64 bytes, then records of one type and one
 * size.  All numbers are little-endian.
 *
 * The sampled process writes the file through a shared mapping, so the file is
 * a complete profile at every instant: a record is written before the count
 * that includes it is published, and a chunk before the `used` that includes
 * it.  A reader uses the present values of `used` (or the file's length, if
 * less) and of each chunk's `count`.  It must trust nothing else: the file may
 * be truncated, still growing, or corrupt.
 *
 * Records of one type are numbered throughout the file: the first chunk of a
 * type holds numbers 0 .. capacity-1, the next continues from there, where
 * capacity = (size - 64) / record_size.  Numbers from first + count on in a
 * chunk are not (yet) records.  Strings are records of one byte.
 *
 * doc/cpprofdata.md has the same as tables, and says what a reader must check.
 * This header needs only <stdint.h>.
 */
#ifndef CPPROFDATA_H
#define CPPROFDATA_H

#include <stdint.h>

#define CPPROFDATA_MAGIC "cpprof\r\n"	/* 8 bytes, no NUL in the file */
#define CPPROFDATA_VERSION 1
#define CPPROFDATA_HEADER_SIZE 4096
#define CPPROFDATA_PAGE 4096		/* chunk sizes are multiples of it */

/* Files are named cpprofdata.PID, and cpprofdata.PID.1, .2, ... after exec. */
#define CPPROFDATA_FILE_PREFIX "cpprofdata."

/*
 * The file in the same directory with the names of what was sampled.  It has no
 * resource, the flag CPPROFDATA_NAMES and chunk types of its own.  A file
 * written by `export cpprofdata` contains such chunks together with those of
 * its samples.
 */
#define CPPROFDATA_NAMES_FILE "names"

/*
 * While names are missing, what the Java virtual machine of a process has
 * compiled, in a file with the process's number between these; see
 * java/java-agent.c.
 */
#define CPPROFDATA_JIT_PREFIX "jit-"
#define CPPROFDATA_JIT_SUFFIX ".dump"

/*
 * The file in the same directory for processes whose only sample is of their
 * loading.  It has the flag CPPROFDATA_BRIEF, one resource, and no chunks.
 * After its header comes a struct cpprofdata_brief for each process, up to the
 * end of the file; `used` is the header's size.  Each process appends its own
 * record in one write, and no record crosses a page.
 */
#define CPPROFDATA_BRIEF_FILE CPPROFDATA_FILE_PREFIX "brief"

#define CPPROFDATA_NO_NODE UINT32_MAX	/* parent of an outermost frame */
#define CPPROFDATA_NO_MODULE UINT32_MAX	/* the offset is then an address */

/*
 * Module of the pseudo frame that represents the outer frames of a stack that
 * could not be walked to its end.  Its parent is a phase or none, and its
 * offset is 0.
 */
#define CPPROFDATA_PARTIAL (UINT32_MAX - 1)

/*
 * Module of the pseudo frame of a phase that the program has begun.  It has no
 * parent.  Its offset is the number of the string with the phase's name.  A
 * CPPROFDATA_PARTIAL frame may be its child.
 */
#define CPPROFDATA_PHASE (UINT32_MAX - 2)

/*
 * Module of a frame of an interpreter.  Its offset is the number of a
 * struct cpprofdata_function << 32 | its instruction: bytes from the start of
 * the function's code plus CPPROFDATA_BEFORE_CODE, or CPPROFDATA_NO_INSTRUCTION.
 * It stands below the native frame of the interpreter that runs it, or below
 * another frame of an interpreter.
 */
#define CPPROFDATA_INTERPRETED (UINT32_MAX - 3)
#define CPPROFDATA_BEFORE_CODE 2u
#define CPPROFDATA_NO_INSTRUCTION UINT32_MAX	/* not known */
#define CPPROFDATA_AWAITS ((uint32_t)1 << 31)	/* added to an instruction that
				   is known: the frame does not run, but
				   awaits what is below it */

/*
 * A resource: something that a program uses up.  A gtick is one unit of it, such
 * as a microsecond or a byte (Hall & Goldberg 1993).  Texts are NUL-padded.  The
 * last ones may have no name: they were reserved for the program's own
 * resources and not used.
 */
struct cpprofdata_resource {
	char name[24];		/* "cpu" */
	char gtick[24];		/* its unit: "microsecond" */
	uint64_t interval;	/* gticks for one hit, at least 1 */
	uint32_t source;	/* string: where its gticks come from */
	uint32_t flags;
};

/* resource.flags */
#define CPPROFDATA_COARSE 1u	/* charged to where the thread's next tick of
				   CPU time found it */
#define CPPROFDATA_RANDOM 2u	/* intervals are randomised */

/*
 * What an event counts from one sample to the next if the kernel repeats the
 * period, in counts of which an interval has so many: a 48th more.  Many programs
 * wake at whole milliseconds, or touch powers of two of pages: samples at these
 * would find the same moments of them, over and over, and so all of a function or
 * none.  49 is 7 squared: with no round number of intervals is it in step.
 */
static inline uint64_t
cpprofdata_period(uint64_t interval)
{
	return interval == 1 ? 1 : (interval + (interval + 47) / 48) | 1;
}

#define CPPROFDATA_MAX_RESOURCES 8

/*
 * Samples that were lost, late or incomplete, by reason.  lost: their hits are
 * in no tree.  deferred: no stack was taken, and the hits were added
 * to the thread's next sample, or to one of another thread with the same start
 * routine.  partial: recorded below a CPPROFDATA_PARTIAL frame.  overrun: hits
 * of recorded samples beyond the first, because several intervals passed
 * between two ticks.
 */
enum cpprofdata_drop {
	CPPROFDATA_LOST_FULL,		/* neither file nor memory could grow */
	CPPROFDATA_LOST_AT_EXIT,	/* deferred, or spent since the last
					   tick, when the thread ended; taken
					   by no other, and not counted apart
					   either */
	CPPROFDATA_DEFERRED_UNSAFE,	/* the collector itself was at work */
	CPPROFDATA_DEFERRED_BACK_OFF,	/* sampling would have cost too much */
	CPPROFDATA_PARTIAL_NO_RULES,	/* code without unwind tables */
	CPPROFDATA_PARTIAL_BAD_RULES,	/* unwind tables not understood */
	CPPROFDATA_PARTIAL_BAD_STACK,	/* stack not readable, or frames that do
					   not rise */
	CPPROFDATA_PARTIAL_TOO_DEEP,	/* no memory for that many frames */
	CPPROFDATA_OVERRUN,
	CPPROFDATA_GUESSED,		/* whole, but a frame without unwind
					   tables was left by its frame
					   pointer */
	CPPROFDATA_PARTIAL_LATE,	/* outer frames had changed before a
					   recorder outside could read them */
	CPPROFDATA_PARTIAL_UNSEEN,	/* CPU time for which a recorder outside
					   got no sample: in the kernel, where
					   it may not look, or in threads that
					   ended too soon */
	CPPROFDATA_PARTIAL_INTERPRETED,	/* an interpreter's frames could not be
					   placed on the stack; its part from
					   the innermost one outwards is
					   missing */
	CPPROFDATA_UNINTERPRETED,	/* whole, but with the interpreter's
					   native frames in place of those that
					   it ran: a recorder outside could not
					   read these in time */
	CPPROFDATA_NOT_FOLLOWED,	/* sampled blocks of memory that were not
					   followed to their free, nor counted:
					   too many are in use, or the collector
					   itself was at work */
	CPPROFDATA_NO_KERNEL_FRAMES,	/* whole, but if the thread was in the
					   kernel, the kernel's frames are not
					   known: it was new, switched too often,
					   had no memory for them, or was there
					   for longer than there is room for */
	CPPROFDATA_N_DROPS
};

#define CPPROFDATA_N_LOST 2	/* reasons for hits that are in no tree */
#define CPPROFDATA_MAX_DROPS 16

struct cpprofdata_drops {
	uint64_t samples;
	uint64_t hits;		/* intervals, all resources together */
};

/* header.flags */
#define CPPROFDATA_COUNTS_RETURNS 1u	/* nodes' `returns` are valid */
#define CPPROFDATA_CONFINED 2u	/* the program forbade itself system calls that
				   sampling needs; sampling ended there */
#define CPPROFDATA_TRUNCATED 4u	/* somebody truncated the file while it was
				   written; it was written again at the end */
#define CPPROFDATA_IO_URING 0x20u	/* I/O was to be counted, and the
					   process used io_uring, whose I/O is
					   not counted */
#define CPPROFDATA_WAITS 0x40u	/* threads' `wait` is valid */
#define CPPROFDATA_NAMES 0x200u	/* names and no samples */
#define CPPROFDATA_NO_NAMES 0x400u	/* and no names, on purpose */
#define CPPROFDATA_BRIEF 0x800u		/* brief processes, no chunks */
#define CPPROFDATA_CONTINUES 0x1000u	/* this process is also in the file of
					   brief ones */
#define CPPROFDATA_CLOCK_GIVEN_UP 0x100u	/* threads that switched often
						   had CPU time sampled at ticks
						   instead of by the perf
						   event */

#define CPPROFDATA_OUTSIDE 0x4000u	/* a recorder outside the process wrote
					   the file; writer_pid and user are
					   valid */
#define CPPROFDATA_KERNEL_FRAMES 0x8000u	/* stacks end with frames of the
						   kernel where that ran */
#define CPPROFDATA_TIMERS_AT_TICKS 0x2000u	/* the program has set timers,
						   and CPU time was sampled at
						   ticks */
#define CPPROFDATA_UNKNOWN_PYTHON 0x20000u	/* stacks have the loop of a
						   CPython whose frames cannot
						   be read, and which were not */
#define CPPROFDATA_LIVE_LOST 0x10000u	/* frees were not counted from some
					   moment on: a process that shared the
					   memory was killed in the collector */
#define CPPROFDATA_DRAWN 0x40000u	/* drawn_most is valid */

struct cpprofdata_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size;		/* CPPROFDATA_HEADER_SIZE */
	uint32_t flags;
	uint32_t machine;		/* ELF e_machine: 62 is x86-64 */
	uint32_t n_resources;		/* 1 .. CPPROFDATA_MAX_RESOURCES */
	uint32_t node_size;		/* 24 + 16 * n_resources */
	uint64_t used;			/* header and whole chunks, in bytes;
					   published last */
	uint32_t pid;
	uint32_t parent_pid;
	uint64_t start_ns;		/* when the process, or the program that
					   it executes, began; UTC since 1970 */
	uint64_t end_ns;		/* 0: running, killed, _exit or exec.
					   Of a file of names: when that file
					   was created, by its file system, if
					   `record` wrote it at once */
	uint64_t last_sample_ns;	/* 0: none yet */
	uint32_t arguments;		/* string: the first of n_arguments
					   consecutive ones */
	uint32_t n_arguments;		/* argv[0] included */
	uint32_t host;			/* strings */
	uint32_t executable;
	uint32_t directory;		/* working directory at the start */
	uint32_t pid_namespace;		/* in which pid and parent_pid count: the
					   inode of /proc/PID/ns/pid; 0: not
					   known */
	uint64_t n_threads;		/* ever started, the first included */
	uint64_t n_threads_unsampled;	/* those that could have no timer */
	uint64_t n_closed;		/* modules closed so far */
	uint64_t sampling_ns;		/* spent taking samples, by the wall
					   clock; of a sample that other threads
					   must have interrupted, only the first
					   part */
	uint64_t cpu_ns;		/* CPU time of the process, at some late
					   sample or the end */
	uint32_t started_as;		/* string: the path of the link by which
					   the program was started; 0: of the
					   executable itself */
	uint32_t title;			/* string: what the process calls
					   itself, in place of its arguments or,
					   in a forked child, of its name; 0: it
					   does not */
	uint32_t writer_pid;	/* of the process that writes the file, in the
				   recorder's namespace; see
				   CPPROFDATA_OUTSIDE */
	uint32_t user;		/* likewise, the user whose process it is */
	uint64_t born_ns;	/* likewise, when the process began, if it ran
				   this program before it was sampled; UTC;
				   0: start_ns says when */
	uint8_t reserved1[16];
	/* By the clock of threads' waits, CLOCK_MONOTONIC: */
	uint64_t start_mono_ns;		/* at start_ns */
	uint64_t end_mono_ns;		/* at end_ns, _exit or exec; 0: none of
					   these yet */
	uint64_t gone_mono_ns;		/* when `record`, which writes this,
					   found that the process was gone; 0:
					   it did not */
	uint64_t cpu_sampling_ns;	/* sampling_ns when cpu_ns was noted */
	uint64_t seen_mono_ns;		/* when `record`, which writes this,
					   last saw the process running; 0:
					   never */
	/* Of slices: */
	uint64_t origin_ns;		/* when slices begin: the start of the
					   recording, the same in all of its
					   files; UTC since 1970 */
	uint64_t origin_mono_ns;	/* likewise, by CLOCK_MONOTONIC */
	uint64_t slice_ns;		/* width of the narrowest; 0: there are
					   no slices */
	uint64_t hits_at_ticks;		/* of CPU time in the kernel that perf
					   events do not see: only ticks show
					   where it was used */
	uint8_t reserved3[8];		/* up to 256 */
	struct cpprofdata_drops drops[CPPROFDATA_MAX_DROPS];	/* to 512 */
	struct cpprofdata_resource
	    resources[CPPROFDATA_MAX_RESOURCES];		/* to 1024 */
	/* Hits in no tree, by reason and column.  The drops have their sums. */
	uint64_t lost[CPPROFDATA_N_LOST][CPPROFDATA_MAX_RESOURCES];
	/*
	 * Hits of each column that wait for a sample.  When the process has
	 * ended, they are in no tree.  May be negative for a moment.
	 */
	int64_t pending[CPPROFDATA_MAX_RESOURCES];
	/*
	 * In the file of brief processes, and written by `record`: hits of its
	 * first resource for CPU time of all processes together that no sample
	 * stands for.
	 */
	uint64_t unsampled_hits;
	/*
	 * Of `real`, the most hits of a sample whose place is a matter of
	 * chance.  Others are of waits that were measured.
	 */
	uint64_t drawn_most;
	uint8_t reserved2[2864];	/* from 1232 up to 4096; zero */
};

enum cpprofdata_chunk_type {
	CPPROFDATA_STRINGS = 1,
	CPPROFDATA_MODULES = 2,
	CPPROFDATA_THREADS = 3,
	CPPROFDATA_NODES = 4,	/* readers skip unknown types */

	/* Only in the file of names, which also has strings. */
	CPPROFDATA_NAMED_MODULES = 5,
	CPPROFDATA_NAMED_ADDRESSES = 6,
	CPPROFDATA_NAMED_LOCATIONS = 7,
	CPPROFDATA_NAMED_PROCESSES = 8,

	CPPROFDATA_SLICES = 9,
	CPPROFDATA_COLUMNS = 10,	/* reserved: struct cpprofdata_column */

	CPPROFDATA_FUNCTIONS = 11,
	CPPROFDATA_LINES = 12,	/* bytes */

	CPPROFDATA_BLOCKS = 13,

	CPPROFDATA_PAIRS = 14,

	CPPROFDATA_CALL_FUNCTIONS = 15,
	CPPROFDATA_CALLS = 16,
	CPPROFDATA_CALL_COUNTS = 17,

	CPPROFDATA_NAMED_ORIGINS = 18	/* with the other names */
};

#define CPPROFDATA_CHUNK_MAGIC 0x6b637063u	/* "cpck" */
#define CPPROFDATA_ANY_THREAD UINT32_MAX	/* the nodes are of several */

struct cpprofdata_chunk {
	uint32_t magic;
	uint32_t type;
	uint64_t size;		/* bytes, this header included */
	uint64_t first;		/* number of its first record */
	uint32_t record_size;	/* 1, or the size of the records below */
	uint32_t owner;		/* NODES, SLICES, CALLS, CALL_COUNTS: number of
				   the thread; of SLICES also ANY_THREAD; else
				   0 */
	uint64_t count;		/* complete records in it; published last */
	uint64_t reserved[3];
};

/*
 * Strings end with a NUL inside their chunk.  String number 0 is empty and
 * means "not known".
 */

/* module.flags */
#define CPPROFDATA_MODULE_MAIN 1u	/* the executable itself */
#define CPPROFDATA_MODULE_VDSO 2u	/* the kernel's, in no file */

struct cpprofdata_module {
	uint64_t start;		/* where it is, or was last, mapped */
	uint64_t end;		/* exclusive */
	uint64_t bias;		/* address - bias = address in the ELF file,
				   which nodes hold */
	uint64_t opened_ns;	/* when first seen */
	uint64_t closed_ns;	/* 0: open */
	uint32_t path;		/* string; absolute, except for the vdso */
	uint32_t flags;
	uint32_t n_opened;	/* a module that is opened again keeps its
				   record */
	uint32_t build_id_size;	/* 0: none */
	uint8_t build_id[32];	/* its first 32 bytes */
	uint64_t file_size;	/* of a module without build-id, when first
				   seen; 0: not known */
	uint64_t file_mtime_ns;	/* likewise, UTC since 1970 */
	uint64_t file_inode;
	uint64_t reserved[2];
};

/* thread.flags */
#define CPPROFDATA_THREAD_MAIN 1u

/*
 * The call in which a thread waits: what it has spent of `real` and `io-time`
 * that is not in a node's hits yet.  The time from since_ns to the end of the
 * process (or to now, if it runs) is to be charged to `node`, as hits of each
 * of `columns`: the first after `left` gticks, the others at one interval each.
 * While the record is being written, since_ns and check_ns differ or are 0.  A
 * reader reads since_ns first and check_ns last.
 */
struct cpprofdata_wait {
	uint64_t since_ns;	/* CLOCK_MONOTONIC; 0: not known */
	uint32_t node;		/* of this thread; NO_NODE: it does not wait, or
				   its stack could not be walked */
	uint32_t columns;	/* set of resources; 0: it does not wait */
	uint64_t left;		/* gticks of `real` to its next hit */
	uint64_t io_left;	/* of `io-time` */
	uint64_t gathered_ns;	/* of `real`, before since_ns and between calls;
				   to be charged where the next tick of CPU time
				   finds the thread */
	uint64_t check_ns;	/* since_ns again */
};

/*
 * A thread, or several consecutive ones with the same start routine and name: a
 * thread that ends leaves its record and its tree to the next one of its name.
 * Of a process's threads, up to 64 more names than threads alive at once are
 * kept apart; beyond that, threads of different names share a record, which has
 * the name of the last.
 */
struct cpprofdata_thread {
	uint32_t tid;		/* of the last of them */
	uint32_t n_threads;	/* how many so far */
	char name[16];		/* of the last of them, NUL-padded */
	uint64_t start_offset;	/* start routine, as in a node */
	uint32_t start_module;
	uint32_t flags;
	uint64_t start_ns;	/* of the first */
	uint64_t end_ns;	/* of the last; 0: running */
	struct cpprofdata_wait wait;
	uint64_t reserved[3];
};

/* function.language */
#define CPPROFDATA_PYTHON 1u	/* CPython 3.11 or later */

/*
 * A function that an interpreter ran.  Its line table lies whole in one chunk of
 * CPPROFDATA_LINES.  That of Python is a code object's co_linetable.
 */
struct cpprofdata_function {
	uint32_t name;		/* string, UTF-8: of Python, co_qualname */
	uint32_t file;		/* string, UTF-8: of Python, co_filename */
	uint32_t first_line;	/* 0: not known */
	uint32_t language;
	uint32_t lines;		/* number of the table's first byte */
	uint32_t lines_size;	/* 0: none */
	uint64_t reserved[5];
};

struct cpprofdata_count {
	uint64_t hits;		/* intervals of the resource */
	uint64_t samples;	/* raw samples that gave these hits */
};

/*
 * A node of a thread's sample tree: a frame at the end of a call path.  Its
 * number is greater than its parent's.  Hits are its own, not its children's.
 */
struct cpprofdata_node {
	uint32_t parent;	/* node of the same thread, or NO_NODE */
	uint32_t module;	/* number, NO_MODULE, PARTIAL, PHASE or
				   INTERPRETED */
	uint64_t offset;	/* inside the instruction: its own address in an
				   innermost frame, the return address minus 1
				   in a caller */
	uint64_t returns;	/* returns that were seen; see header.flags */
	struct cpprofdata_count counts[];	/* n_resources of them */
};

/* When a process used CPU time without being sampled. */
enum cpprofdata_brief_kind {
	CPPROFDATA_LOADING,	/* before the collector was loaded */
	CPPROFDATA_FORKING,	/* in a forked child, before the collector's part
				   of the fork, */
	CPPROFDATA_SAMPLING,	/* and in that */
	CPPROFDATA_N_BRIEF_KINDS
};

/*
 * CPU time that a process used before it could be sampled.  If it used anything
 * else, that is in a file of its own.
 */
struct cpprofdata_brief {
	uint32_t pid;
	uint32_t parent_pid;
	char name[16];		/* of its thread, NUL-padded */
	uint64_t start_ns;	/* as in a header */
	uint64_t cpu_ns;	/* used by then */
	struct cpprofdata_count count;	/* of the file's first resource */
	char executable[198];	/* NUL-padded; empty: not known */
	uint8_t kind;		/* enum cpprofdata_brief_kind */
	uint8_t is_of_both;	/* 1: also of its second resource */
};

/*
 * The key of the names of one build of a module: its path and its build-id, or
 * its file's size and time if it has no build-id.  Its addresses have ascending
 * offsets.
 */
struct cpprofdata_named_module {
	uint32_t path;		/* string */
	uint32_t build_id_size;	/* 0: none */
	uint8_t build_id[32];
	uint64_t file_size;	/* as in struct cpprofdata_module */
	uint64_t file_mtime_ns;
	uint64_t first_address;	/* number of its first address */
	uint64_t n_addresses;
	uint64_t reserved[7];
};

/* named_address.flags */
#define CPPROFDATA_NAMED_SYMBOL 1u	/* the name comes from a symbol */
#define CPPROFDATA_NAMED_LINES 2u	/* debug information was read, and these
					   are all its locations */
#define CPPROFDATA_NAMED_FOREIGN 4u	/* the locations come from another
					   format, not from debug information */
#define CPPROFDATA_NAMED_ONLY 8u	/* the offset is only a number: for a
					   frame of another format, only the
					   names are known */

#define CPPROFDATA_NAMED_INTERPRETED 16u	/* a frame of an interpreter, whose
						   module is its source file */
#define CPPROFDATA_NAMED_AWAITS 32u	/* likewise, and CPPROFDATA_AWAITS */

/*
 * The names of an address: an offset in the module, or an address in a process.
 */
struct cpprofdata_named_address {
	uint64_t offset;	/* as in a node */
	uint32_t function;	/* string: the function, demangled */
	uint32_t in_function;	/* bytes from the function's start, or
				   UINT32_MAX */
	uint32_t first_location;
	uint32_t n_locations;	/* 0: no line is known */
	uint32_t flags;
	uint32_t reserved;
};

/*
 * A function that was inlined at an address, and the line in it.  The chain of
 * an address begins with the outermost function.
 */
struct cpprofdata_named_location {
	uint32_t function;	/* string; 0 for the outermost */
	uint32_t file;		/* string; 0: not known */
	uint32_t line;		/* 0: not known.  In the innermost, the
				   address's line; in others, the inlined
				   call's */
	uint32_t origin;	/* 1 + number of a named origin; 0: not known */
};

/*
 * By what a compiler finds a location again.  Locations share these: two that
 * differ only in their lines have one.
 */
struct cpprofdata_named_origin {
	uint32_t linkage;	/* string: the function's symbol */
	uint32_t start_line;	/* of the function; 0: not known */
	uint32_t discriminator;	/* of the line in the innermost, of the inlined
				   call in others */
	uint32_t reserved;
};

/* Addresses of a process outside all modules: code compiled at run time. */
struct cpprofdata_named_process {
	uint32_t pid;
	uint32_t reserved0;
	uint64_t start_ns;	/* as in the header of its file */
	uint64_t first_address;	/* as in a named module */
	uint64_t n_addresses;
	uint64_t reserved[4];
};

/*
 * The part of a node's counts of one resource that belongs to one slice of
 * time.  The slice is slice_ns << doublings wide and begins `slice` times that
 * after the origin.  Slices are as narrow as they can be while 64 of them reach
 * from the origin to the present.  As time passes they double in width, but a
 * node's records are folded into wider ones only when the node is next counted.
 * So one node has at most 64 records of a resource, all of one width.
 *
 * While a node's records are being folded, a record may be there together with
 * the wider one that has its counts already.  A reader ignores a record that
 * lies in a wider one of the same node and resource.  Counts that are in no
 * record have no time: a node's own counts are the truth.
 */
struct cpprofdata_slice {
	uint32_t node;		/* of the chunk's thread; NO_NODE: the record
				   is free */
	uint8_t resource;
	uint8_t doublings;	/* at most CPPROFDATA_MAX_DOUBLINGS */
	uint16_t slice;
	struct cpprofdata_count count;
};

#define CPPROFDATA_N_SLICES 64
#define CPPROFDATA_MAX_DOUBLINGS 58

/*
 * A sampled block of memory that is in use: what its allocation added to the
 * counts of the node that allocated it.
 */
struct cpprofdata_block {
	uint32_t node;		/* NO_NODE: the record is free */
	uint32_t reserved;
	uint64_t since_ns;	/* CLOCK_MONOTONIC */
	uint64_t bytes_hits;	/* of alloc-bytes, */
	uint64_t blocks_hits;	/* and of allocs */
};

/*
 * How long one path has waited for what another one did: a part of the counts
 * of `lock-waits` of the one node and of `blame` of the other.
 */
struct cpprofdata_pair {
	uint32_t waiter, holder;	/* nodes of any thread */
	struct cpprofdata_count count;	/* hits are nanoseconds */
};

/*
 * A function whose calls are observed (record --calls).  A call is seen if a
 * sample of the resource `real` finds the function on the stack; of recursive
 * ones the outermost.  Its end is exact.  It began after the last sample of its
 * thread without it and before the first with it, which for a sample of a wait
 * is when the wait began.
 */
struct cpprofdata_call_function {
	uint32_t name;		/* string, as it was asked for */
	uint32_t n_places;	/* code ranges of that name found so far */
	uint64_t interval_ns;	/* from one sample of a thread to the next */
	uint64_t reserved[6];
};

#define CPPROFDATA_CALL_FUNCTIONS_MAX 4

/*
 * Lengths are counted in bins: numbers below 2^CALL_BITS ns by themselves; above,
 * 2^CALL_BITS bins for each power of two.
 */
#define CPPROFDATA_CALL_BITS 6
#define CPPROFDATA_CALL_BINS ((64 - CPPROFDATA_CALL_BITS + 1) << \
    CPPROFDATA_CALL_BITS)
/* Counts of nodes have classes of so many bins: eight for a power of two. */
#define CPPROFDATA_CALL_CLASS_BITS 3

enum cpprofdata_call_kind {
	CPPROFDATA_CALL_LENGTHS,	/* ended calls by their most likely
					   length: from the middle of the time
					   in which they began to their end;
					   but see BY_CHANCE */
	CPPROFDATA_CALL_TAILS,		/* all ended calls by the time from the
					   first sample to their end, waits for
					   a processor left out; each as often
					   as its weight, the number of
					   intervals that this sample stands
					   for, or 1 if it took longer than
					   one */
	CPPROFDATA_CALL_UNFINISHED,	/* bin: why, enum
					   cpprofdata_call_reason */
	CPPROFDATA_CALL_BY_CHANCE,	/* ended calls that may not have been
					   seen: without their waits for a
					   processor, into which no sample falls,
					   they are shorter than the distance of
					   the samples.  By what was sampled of
					   the length with the wait at the first
					   sample, tail, and the same without
					   that wait; weights as in TAILS */
	CPPROFDATA_CALL_N_KINDS
};

enum cpprofdata_call_reason {
	CPPROFDATA_CALL_LEFT,		/* not by a return: by a jump or an
					   exception, or its thread ended */
	CPPROFDATA_CALL_BEGAN_BEFORE,	/* it may have begun before sampling of
					   its thread, or in its parent */
	CPPROFDATA_CALL_NOT_MARKED,	/* its return could not be marked */
	CPPROFDATA_CALL_N_REASONS
};

/* How many calls of a function fell into a bin, in one thread's tree. */
struct cpprofdata_calls {
	uint32_t function;	/* number */
	uint16_t kind;
	uint16_t bin;
	uint16_t tail;		/* of BY_CHANCE, the bin of its tail, */
	uint16_t without_wait;	/* and that of what was sampled of it; of
				   others 0 */
	uint16_t reserved[2];
	uint64_t n;
	uint64_t spread_ns;	/* sum of the lengths of the times in which
				   they began; of TAILS, of the squares of
				   weights */
};

/*
 * The part of a node's counts of one resource that belongs to calls of one
 * class: for each function the class of its call, bin >> CALL_CLASS_BITS, plus
 * 1; CALL_NO_LENGTH for a call that is not finished; 0 outside of its calls.
 * Counts that are in no record belong to no call.
 */
struct cpprofdata_call_count {
	uint32_t node;		/* of the chunk's thread */
	uint32_t resource;
	uint16_t classes[CPPROFDATA_CALL_FUNCTIONS_MAX];
	struct cpprofdata_count count;
};

#define CPPROFDATA_CALL_NO_LENGTH UINT16_MAX

/*
 * Reserved: counts of a node in one of the groups into which the members of a
 * sum were divided.
 */
struct cpprofdata_column {
	uint32_t node;
	uint16_t resource;
	uint16_t group;
	struct cpprofdata_count count;
};

_Static_assert(sizeof(struct cpprofdata_header) == 4096, "header size");
_Static_assert(sizeof(struct cpprofdata_chunk) == 64, "chunk size");
_Static_assert(sizeof(struct cpprofdata_module) == 128, "module size");
_Static_assert(sizeof(struct cpprofdata_thread) == 128, "thread size");
_Static_assert(sizeof(struct cpprofdata_node) == 24, "node size");
_Static_assert(sizeof(struct cpprofdata_brief) == 256, "brief size");
_Static_assert(sizeof(struct cpprofdata_named_module) == 128, "name size");
_Static_assert(sizeof(struct cpprofdata_named_address) == 32, "name size");
_Static_assert(sizeof(struct cpprofdata_named_location) == 16, "name size");
_Static_assert(sizeof(struct cpprofdata_named_process) == 64, "name size");
_Static_assert(sizeof(struct cpprofdata_slice) == 24, "slice size");
_Static_assert(sizeof(struct cpprofdata_function) == 64, "function size");
_Static_assert(sizeof(struct cpprofdata_block) == 32, "block size");
_Static_assert(sizeof(struct cpprofdata_pair) == 24, "pair size");
_Static_assert(sizeof(struct cpprofdata_call_function) == 64, "call size");
_Static_assert(sizeof(struct cpprofdata_calls) == 32, "call size");
_Static_assert(sizeof(struct cpprofdata_call_count) == 32, "call size");
_Static_assert(sizeof(struct cpprofdata_column) == 24, "column size");

#endif
