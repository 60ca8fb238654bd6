/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.h -- what one or several runs used, and where.
 *
 * A profile owns one arena, its names and its tree; all of it dies with
 * profile_free.  Readers fill it through the functions below; views read it
 * through a sample set (src/views/view.h).
 */
#ifndef CPPROF_PROFILE_PROFILE_H
#define CPPROF_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/profile/call_graph.h"
#include "src/profile/count_kinds.h"
#include "src/profile/sample_tree.h"

#define NO_MODULE UINT32_MAX
#define NO_RESOURCE UINT32_MAX
#define NO_THREAD UINT32_MAX
#define NO_LABELS UINT32_MAX
#define NO_OFFSET UINT32_MAX

/* Files with more resources are rejected, since each node has hits of all. */
enum { RESOURCES_MAX = 256 };

/* Why hits are missing from all stacks; loss_kinds has a row for each. */
enum loss {
	LOSS_NO_ROOM,		/* buffers, memory or disk were full */
	LOSS_THREAD_ENDED,	/* the thread ended before a sample was
				 * taken */
	LOSS_PERF_BEHIND,	/* perf fell behind */
	N_LOSSES
};

struct loss_kind {
	const char *why;	/* for people: "perf could not keep up" */
	bool counts_samples;	/* and not hits */
};

extern const struct loss_kind loss_kinds[N_LOSSES];

/* What numbers of hits depend on. */
enum counting {
	COUNTING_UNKNOWN,	/* the input does not say */
	COUNTING_SAMPLED,	/* chance: the tree's samples are those that a
				 * profiler took */
	COUNTING_EXACT,		/* the program alone: each gtick was seen */
};

/*
 * A column of counts: of a resource, which is something whose use only grows,
 * or of a part of it.  One hit stands for `interval` gticks.  A gtick is one
 * unit of a resource, such as a microsecond or a byte (Hall & Goldberg 1993).
 */
struct resource {
	const char *name;	/* "cpu" */
	const struct count_kind *kind;	/* NULL: nothing is known of that name */
	uint32_t part;		/* which run, group of members or value of a
				 * label is counted, from 0; 0 also if the
				 * resource is not divided */
	const char *gtick;	/* "microsecond", "fault", "byte"; "":
				 * unknown */
	uint64_t interval;	/* gticks, at least 1 */
	const char *source;	/* how it was counted; NULL: unknown */
	enum counting counting;
	uint64_t lost[N_LOSSES];	/* hits missing from all stacks */
	/*
	 * Some samples are of waits that were measured.  The others, whose
	 * place is a matter of chance, have at most so many hits.  0: all
	 * samples are such, or nothing is known.
	 */
	uint64_t drawn_most;
	/*
	 * In a sum: the number of files that have it, and its first column in
	 * any of them.  No files: it is that of a single file.
	 */
	uint64_t n_files;
	uint32_t first_column;
};

/*
 * A resource whose stacks are two: that of a thread which waited, the mark, and
 * that of the call for which it waited.
 */
#define LOCK_PAIRS "lock-pairs"
#define LOCK_PAIRS_MARK "[waited-for]"

/* An object file that was mapped while samples were taken. */
struct module {
	const char *path;
	unsigned char build_id[32];
	uint32_t build_id_size;		/* 0: unknown */
	uint64_t file_size;		/* if it has no build-id; 0: unknown */
	uint64_t file_mtime_ns;
	uint64_t deferred_bytes;	/* of debug information that is too
					 * large to be read with the profile;
					 * 0: none */
};

/*
 * What distinguishes a module from others of the same path, as bytes: its
 * build-id, otherwise its file's size and time.  Returns their number, which
 * may be 0.
 */
enum { MODULE_BUILD_MAX = 48 };
size_t module_build(const struct module *module,
                    unsigned char build[MODULE_BUILD_MAX]);

/*
 * What an address resolves to at one level of its chain of inlined calls.  The
 * innermost location has the line of the address, the others that of the
 * inlined call.
 */
struct location {
	uint32_t function;	/* a name */
	uint32_t file;		/* a name, or NO_NAME */
	uint32_t line;		/* 0: unknown */

	/* By what a compiler finds the place again, from debug information. */
	uint32_t linkage;	/* the function's symbol, a name, or NO_NAME */
	uint32_t start_line;	/* of the function; 0: unknown */
	uint32_t discriminator;	/* which of the blocks of code on the line; 0:
				 * unknown, or there is only one */
};

/*
 * What a name stands for that many addresses share because they have none of
 * their own.
 */
enum frame_placeholder {
	FRAME_IS_NAMED,		/* no placeholder: the name is a function's,
				 * or the address's */
	FRAME_OF_JIT,		/* code generated at run time, "[jit]" */
	FRAME_OF_OTHER_BUILD,	/* a program that was rebuilt since,
				 * "[program]" */
	N_FRAME_PLACEHOLDERS
};

#define FRAME_AWAITS (UINT64_C(1) << 62)	/* no file has so many lines */

/*
 * A program address, or a bare name if the input has no addresses.  Its
 * locations are outermost first; several where calls were inlined.
 */
struct frame {
	uint64_t address;	/* virtual, inside the module's ELF file */
	uint32_t module;	/* NO_MODULE: a bare name */
	uint32_t first_location;
	uint32_t n_locations;	/* at least 1 */
	uint32_t function_offset;	/* bytes from where the outermost
					 * location's function starts, or
					 * NO_OFFSET */
	enum frame_placeholder placeholder;	/* what its name is */
	bool is_made_up;	/* its name is made up, since it has no
				 * symbol */
	bool is_interpreted;	/* an interpreter ran it: its module is its
				 * source file, and its address only
				 * distinguishes it from others there */
	bool is_awaiting;	/* likewise, and it did not run: it awaits what
				 * is below it; FRAME_AWAITS is in its address */
	bool has_debug_lines;	/* lines and inlined locations come from debug
				 * information, not from the input */
	bool lacked_lines;	/* when the profile was loaded */
	bool is_deferred;	/* then its debug information was not read with
				 * the profile: see address_lines.h */
};

struct process {
	uint64_t pid, parent_pid;
	const char *program;	/* NULL: unknown */
	const char *title;	/* what it calls itself; NULL: by its program */
	const char *command;	/* whole command line; NULL: unknown */
	const char *host;	/* NULL: unknown */
	uint64_t start_ns, end_ns;	/* since 1970; 0: unknown */
	bool is_running;	/* the profile may still grow */
	uint64_t cpu_ns;	/* CPU time it used; 0: unknown */
	uint64_t sampling_ns;	/* of this, the time for taking samples */
	bool cpu_is_least;	/* it was killed, so it used a little more */
	bool continues;		/* its beginning is another entry */
	bool is_beginning;	/* what it used while it was loaded; the rest
				 * may be another entry */
};

struct thread {
	uint32_t process;	/* index into processes */
	uint64_t tid;		/* 0: unknown */
	const char *name;	/* the last one; NULL: unknown */
	uint64_t n_earlier;	/* threads that ended before it, and whose
				 * samples are among its own */
};

/* What a program says of its samples: "route" is "/login", "bytes" is 512. */
struct label {
	uint32_t key;		/* a name */
	uint32_t value;		/* a name; of a number its decimal digits */
	uint32_t unit;		/* a number's, a name, which may be empty;
				 * NO_NAME: the value is no number */
};

/* Labels that samples have together, sorted by key and value. */
struct label_set {
	uint32_t first, n;	/* index into labels */
};

/* A range of the tree: the samples of one thread with the same labels. */
struct section {
	uint32_t begin, end;	/* nodes [begin, end) */
	uint32_t thread;	/* NO_THREAD: unknown */
	uint32_t label_set;	/* NO_LABELS: none */
};

/* A count that `info` shows: "dropped: no memory". */
struct tally {
	const char *what;
	uint64_t count;
	enum loss loss;		/* what it counts; N_LOSSES: no loss */
};

struct fleet;
struct observed_calls;
struct stack_list;

struct profile {
	struct arena arena;
	struct names *names;	/* functions and files */
	const char *name;	/* name of its file, for messages; NULL: a
				 * sum */
	uint32_t n_files;	/* number of files that it was read from */
	bool is_cut_short;		/* its file ended too early */
	bool was_recorded_here;		/* by this user, on this machine, and
					 * not copied: of a sum, all of it */

	struct resource *resources;
	struct module *modules;
	struct frame *frames;
	struct location *locations;
	struct process *processes;
	struct thread *threads;
	struct section *sections;	/* in the order of their nodes */
	struct label *labels;
	struct label_set *label_sets;
	struct names *label_set_keys;	/* set i by its labels; NULL: none */
	struct tally *tallies;
	struct observed_calls *calls;
	const char **warnings;	/* one line each, for the shell to print once */
	uint32_t n_resources, n_modules, n_frames, n_locations, n_processes,
	    n_threads, n_sections, n_labels, n_label_sets, n_tallies,
	    n_warnings, n_calls;
	size_t resources_capacity, modules_capacity, frames_capacity,
	    locations_capacity, processes_capacity, threads_capacity,
	    sections_capacity, labels_capacity, label_sets_capacity,
	    tallies_capacity, warnings_capacity, calls_capacity;

	bool may_have_inlined;	/* frames had inlined locations when it was
				 * loaded, or a module has debug information */

	/*
	 * Either a tree, whose labels are frames, or a graph; never both.  If
	 * there is a list of stacks, which is borrowed, the tree is that of
	 * stack_list_sum; only who asked a reader for one sees such a profile.
	 */
	struct sample_tree *tree;
	struct call_graph *graph;
	const struct stack_list *stacks;

	/* What a merged profile has beside its sum (fleet.h); else NULL. */
	struct fleet *fleet;
	void (*free_fleet)(struct fleet *fleet);
};

/* An empty profile for a reader to fill; NULL with *error set. */
struct profile *profile_new(struct error *error);
void profile_free(struct profile *profile);

/*
 * Each enters one item and returns its number; UINT32_MAX with *error set if
 * memory runs out or there are too many.  Texts are copied into the arena.
 */
uint32_t profile_add_resource(struct profile *profile, const char *name,
                              const char *gtick, uint64_t interval,
                              struct error *error);
/* The first resource of that name; NO_RESOURCE if there is none. */
uint32_t profile_find_resource(const struct profile *profile,
                               const char *name);
/* The same of a part. */
uint32_t profile_find_part(const struct profile *profile, const char *name,
                           uint32_t part);
/* All hits of a resource; *samples: how many samples they came in. */
uint64_t profile_hits(const struct profile *profile, uint32_t resource,
                      uint64_t *samples);

/*
 * What the processes used of the resource `cpu` by the kernel's own account, in
 * gticks.  It has no noise of sampling, and includes what was not sampled.  0:
 * unknown, as of any other resource.
 */
double profile_known_total(const struct profile *profile, uint32_t resource);

/*
 * Takes a resource and its counts, in a tree or a graph, out of the profile;
 * those after it have smaller numbers then.
 */
void profile_drop_resource(struct profile *profile, uint32_t resource);

/*
 * Says in the tree's timeline which resources are levels of which.  To be called
 * when the tree is complete.  0, or -1 with *error set.
 */
int profile_link_levels(struct profile *profile, struct error *error);

/*
 * Whether the last of the slices is before the end of the run, and the resource
 * is a level.  Then *hits and *samples become what all nodes have of it there.
 */
bool profile_level_at(const struct profile *profile, uint32_t resource,
                      uint64_t slices, uint64_t *hits, uint64_t *samples);

/*
 * Records how a resource was counted; NULL: unknown.  A sum names each source
 * once: "ONE; OTHER".
 */
int profile_add_source(struct profile *profile, struct resource *resource,
                       const char *source, struct error *error);

/*
 * Likewise, each enters one item and copies its texts.  Returns its number, or
 * UINT32_MAX with *error set; also for a build-id that is too long.
 */
uint32_t profile_add_module(struct profile *profile, const char *path,
                            const void *build_id, uint32_t build_id_size,
                            struct error *error);
uint32_t profile_add_process(struct profile *profile,
                             const struct process *process,
                             struct error *error);
uint32_t profile_add_thread(struct profile *profile,
                            const struct thread *thread, struct error *error);
/* A section without labels, which the caller may set. */
uint32_t profile_add_section(struct profile *profile, uint32_t begin,
                             uint32_t end, uint32_t thread,
                             struct error *error);

/*
 * The set of n labels, which are sorted in place; those that are twice in it
 * count once.  The same number for the same labels; NO_LABELS for none, and
 * with *error set if memory runs out.
 */
uint32_t profile_add_label_set(struct profile *profile, struct label *labels,
                               uint32_t n, struct error *error);

/*
 * A frame that is a bare name; a frame that is an address, with n >= 1
 * locations, which are copied.
 */
uint32_t profile_add_named_frame(struct profile *profile, uint32_t function,
                                 struct error *error);
uint32_t profile_add_frame(struct profile *profile, uint32_t module,
                           uint64_t address, const struct location *locations,
                           uint32_t n, struct error *error);

/* Whether a program that is still running writes the profile. */
bool profile_is_growing(const struct profile *profile);

/* The name of a profile for messages: that of its file if it has one. */
const char *profile_title(const struct profile *profile);

/* The last component of a path; the whole path if that would be empty. */
const char *last_component(const char *path);

/* The last component of a module's path. */
const char *profile_module_name(const struct profile *profile,
                                uint32_t module);

/*
 * The first frame from that number on with the function, perhaps inlined;
 * n_frames if there is none.
 */
uint32_t profile_next_frame(const struct profile *profile, uint32_t function,
                            uint32_t from);

/* The order by module and address: less than, equal to or more than 0. */
int profile_compare_frames(const struct frame *a, const struct frame *b);

/* Sorts the numbers of n frames in that order: a module's are neighbours. */
void profile_sort_frames(const struct profile *profile, uint32_t *frames,
                         size_t n);

/* Whether a frame has an address in a module, but neither file nor line. */
bool profile_lacks_lines(const struct profile *profile,
                         const struct frame *frame);

/* Replaces a frame's locations by n >= 1 from debug information; 0 or -1. */
int profile_set_debug_lines(struct profile *profile, uint32_t frame,
                            const struct location *locations, uint32_t n,
                            struct error *error);

/*
 * Counts the hits of a resource in stacks that have a frame of each kind of
 * placeholder; 0 if the profile has no tree.  O(nodes).
 */
void profile_placeholder_hits(const struct profile *profile, uint32_t resource,
                           uint64_t hits[N_FRAME_PLACEHOLDERS]);

/*
 * Gives interpreted functions that have the same name and are not the same
 * function different names: with their first lines, or their files' paths.
 */
int profile_distinguish_functions(struct profile *profile,
                                  struct error *error);

/* The tally of hits of cpu that belong to the kernel, whose frames are unknown. */
#define TALLY_KERNEL_TICKS "hits in the kernel, placed by its ticks: too many " \
	"or too few where a program keeps step with them"

/* Adds to the tally with that description, which is made if new; 0 or -1. */
int profile_add_tally(struct profile *profile, const char *what,
                      uint64_t count, struct error *error);

/* Adds a tally of another profile; likewise. */
int profile_copy_tally(struct profile *profile, const struct tally *tally,
                       struct error *error);

/*
 * Adds hits that are missing from all stacks: to a tally, and to the resource
 * unless that is NO_RESOURCE; 0 or -1.
 */
int profile_add_loss(struct profile *profile, uint32_t resource,
                     enum loss loss, uint64_t hits, struct error *error);

/* Keeps a warning, one line, to be shown once; 0 or -1. */
int profile_warn(struct profile *profile, struct error *error,
                 const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The sum of n >= 1 profiles, all with trees or all with graphs: stacks or
 * arcs, processes, modules, tallies.  Resources are matched by name; those of
 * one name must agree in gtick, and where their intervals differ the sum
 * counts gticks (interval 1).  Those that most inputs have come first, so that
 * the order of inputs does not matter.  The caller keeps the inputs.  NULL
 * with *error set, also when a sum would exceed 64 bits.  Because sums are
 * additive, every view of the sum is the sum of the views.
 */
struct profile *profile_merge(struct profile *const *profiles, uint32_t n,
                              struct error *error);

/*
 * What a node is named after.  It changes names, never totals.  A frame
 * without that information gets the name in parentheses below.
 */
enum granularity {
	GRANULARITY_FUNCTION,	/* demangled name, across files and modules */
	GRANULARITY_MODULE,	/* the file's last path component (function) */
	GRANULARITY_FILE,	/* source file (module, function), its path
				 * shortened by frame_labels.h */
	GRANULARITY_LINE,	/* file:line (function) */
	GRANULARITY_CALLSITE,	/* a frame that calls: function:line, otherwise
				 * function+0xoffset (function); a frame that
				 * does not call: function */
	GRANULARITY_ADDRESS,	/* module+0xaddress (function) */
	N_GRANULARITIES
};

/* Which inlined calls are steps of a path. */
enum inlines {
	INLINES_AUTO,		/* all but those of deferred frames */
	INLINES_ON,		/* all */
	INLINES_OFF,		/* none */
};

struct naming_rule {
	enum granularity granularity;
	enum inlines inlines;
};

/*
 * The profile's stacks as names: a tree whose labels are numbers in
 * profile->names (names are entered as needed), with equal siblings merged
 * across all sections.  *is_own: whether the caller must free it; false: it is
 * profile->tree itself, whose frames are names already.  NULL with *error set.
 */
struct sample_tree *profile_named_tree(struct profile *profile,
                                       const struct naming_rule *rule,
                                       bool *is_own, struct error *error);

/* The same for other stacks of the profile's frames; these are named. */
struct sample_tree *profile_named_tree_of(struct profile *profile,
                                          struct sample_tree *stacks,
                                          const struct naming_rule *rule,
                                          bool *is_own, struct error *error);

/* ---- observed_calls.c ---- */

/*
 * How long the observed calls of a function took.  The hits that belong to a
 * call are in sections with the label "call:FUNCTION", whose value is the least
 * length of the call's class (sections.h).
 */

/* Calls of about one length. */
struct length_bin {
	uint64_t least_ns, end_ns;	/* [least_ns, end_ns) */
	uint64_t n;
	uint64_t spread_ns;	/* sum of the times in which they began; of
				 * tails, of the squares of their weights */
	/* Of those seen by chance, the least tail, and the bin of the length
	 * without the wait for a processor at the first sample; else 0. */
	uint64_t tail_ns, without_wait_ns, without_wait_end_ns;
};

enum unfinished_reason {
	UNFINISHED_LEFT, UNFINISHED_BEGAN_BEFORE, UNFINISHED_NOT_MARKED,
	N_UNFINISHED
};

struct observed_calls {
	const char *function;	/* as it was asked for */
	uint64_t n_places;	/* functions of that name; 0: none was found */
	uint64_t interval_ns;	/* a call that takes longer is always seen */
	uint64_t unfinished[N_UNFINISHED];	/* seen calls without a length */
	/*
	 * The other calls, shortest first: by their length, and by the part of
	 * it that came after the first sample.  Those that might not have been
	 * seen are by both, and not in `lengths`.
	 */
	struct length_bin *lengths, *tails, *by_chance;
	size_t n_lengths, n_tails, n_by_chance;
	size_t lengths_capacity, tails_capacity, by_chance_capacity;
};

/* Before the name of the function in the key of the labels. */
#define CALL_KEY "call:"

/*
 * The calls of a function, entered if there are none; they stay where they are
 * until another function is entered.  NULL with *error set.
 */
struct observed_calls *observed_calls_enter(struct profile *profile,
                                            const char *function,
                                            struct error *error);

/* Adds to a bin, which is entered if there is none from there on. */
int observed_calls_add(struct length_bin **bins, size_t *n, size_t *capacity,
                       const struct length_bin *more, struct error *error);

/* Adds those of another profile. */
int observed_calls_merge(struct profile *profile, const struct profile *from,
                         struct error *error);

/* The calls of that function, or NULL. */
const struct observed_calls *observed_calls_find(const struct profile *profile,
                                                 const char *function);

/* No call took as long; 0: none has a length. */
uint64_t observed_calls_longest(const struct observed_calls *calls);

/* Of all reasons. */
uint64_t observed_calls_unfinished(const struct observed_calls *calls);

/*
 * The bound of a class of lengths that is nearest: labels, and so sections, do
 * not tell calls of one class apart.
 */
uint64_t observed_calls_class_bound(uint64_t ns);

void observed_calls_free(struct profile *profile);

#endif
