/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_data.h -- the parts of the reader of perf.data, for the files of this
 * folder and for src/sample, to which the kernel gives the same records.
 *
 * perf_data.c reads the file's header and its records; a session unpacks them
 * and sorts them by time (perf_session.c), keeps what the machine runs
 * (perf_machine.c), and makes stacks of samples (perf_stacks.c) and a tree of
 * stacks (perf_tree.c).
 */
#ifndef CPPROF_PERF_PERF_DATA_H
#define CPPROF_PERF_PERF_DATA_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/error.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"
#include "src/symbols/names/program.h"
#include "src/symbols/unwind/stack_unwinder.h"

/* ---- perf_records ---- */

/*
 * The records of a perf.data file: their head and constants.
 *
 * All numbers are little-endian.
 * Source: linux 6.19, include/uapi/linux/perf_event.h and
 * tools/perf/Documentation/perf.data-file-format.txt.
 */

/* The head of every record. */
enum { PERF_HEADER_SIZE = 8, PERF_RECORD_SIZE_MAX = 65535 };

/* A branch of a sample: from, to, flags. */
enum { PERF_BRANCH_SIZE = 24 };

struct perf_record {
	uint32_t type;
	uint16_t misc;
	uint32_t size;			/* head included */
	const unsigned char *bytes;	/* [size] */
	uint64_t offset;		/* in the file, for errors */
};

/* The number in 8 bytes. */
static inline uint64_t
perf_number_at(const unsigned char *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof number);
	return le64toh(number);
}

/* How many bytes such fields of a sample take that have 8 each. */
static inline size_t
perf_size_of_fields(uint64_t fields)
{
	return 8 * (size_t)__builtin_popcountll(fields);
}

/* The record at bytes[PERF_HEADER_SIZE] or more. */
static inline struct perf_record
perf_record_at(const unsigned char *bytes, uint64_t offset)
{
	return (struct perf_record){
		.type = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
		        (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24,
		.misc = (uint16_t)(bytes[4] | bytes[5] << 8),
		.size = (uint16_t)(bytes[6] | bytes[7] << 8),
		.bytes = bytes,
		.offset = offset,
	};
}

/* Types: the kernel's, and from 64 on perf's own. */
enum {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_EXIT = 4,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_SWITCH = 14,
	PERF_SWITCH_CPU_WIDE = 15,
	PERF_KSYMBOL = 17,
	PERF_CALLCHAIN_DEFERRED = 22,
	PERF_KERNEL_KNOWN = 22,		/* the kernel's last type */
	PERF_KERNEL_END = 64,
	PERF_ATTR = 64,
	PERF_TRACING_DATA = 66,
	PERF_BUILD_ID = 67,
	PERF_FINISHED_ROUND = 68,
	PERF_AUXTRACE = 71,
	PERF_EVENT_UPDATE = 78,
	PERF_FEATURE = 80,
	PERF_COMPRESSED = 81,
	PERF_COMPRESSED2 = 83,
	PERF_OWN_KNOWN = 86,		/* perf's last type */
};

/* Flag of PERF_KSYMBOL. */
enum { PERF_KSYMBOL_UNREGISTER = 1 << 0 };

/* misc: where the processor was, and flags of some types. */
enum {
	PERF_MODE_MASK = 7,
	PERF_MODE_KERNEL = 1,
	PERF_MODE_USER = 2,
	PERF_MODE_HYPERVISOR = 3,
	PERF_MODE_GUEST_KERNEL = 4,
	PERF_MODE_GUEST_USER = 5,
	PERF_MISC_COMM_EXEC = 1 << 13,
	PERF_MISC_SWITCH_OUT = 1 << 13,
	PERF_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
	PERF_MISC_MMAP_DATA = 1 << 13,
	PERF_MISC_MMAP_BUILD_ID = 1 << 14,
	PERF_MISC_BUILD_ID_SIZE = 1 << 15,
	PERF_MISC_LOST_SAMPLES_BPF = 1 << 15,
};

/* Marks in call chains: the context of the frames that follow. */
#define PERF_CONTEXT_MAX ((uint64_t)-4095)	/* no mark is below */
#define PERF_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define PERF_CONTEXT_KERNEL ((uint64_t)-128)
#define PERF_CONTEXT_USER ((uint64_t)-512)
#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define PERF_CONTEXT_GUEST ((uint64_t)-2048)
#define PERF_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define PERF_CONTEXT_GUEST_USER ((uint64_t)-2560)

/* The fields of a sample, in their order. */
enum {
	PERF_FIELD_IDENTIFIER = 1 << 16,
	PERF_FIELD_IP = 1 << 0,
	PERF_FIELD_TID = 1 << 1,
	PERF_FIELD_TIME = 1 << 2,
	PERF_FIELD_ADDR = 1 << 3,
	PERF_FIELD_ID = 1 << 6,
	PERF_FIELD_STREAM_ID = 1 << 9,
	PERF_FIELD_CPU = 1 << 7,
	PERF_FIELD_PERIOD = 1 << 8,
	PERF_FIELD_READ = 1 << 4,
	PERF_FIELD_CALLCHAIN = 1 << 5,
	PERF_FIELD_RAW = 1 << 10,
	PERF_FIELD_BRANCH_STACK = 1 << 11,
	PERF_FIELD_REGS_USER = 1 << 12,
	PERF_FIELD_STACK_USER = 1 << 13,
};

/* Of perf_event_attr. */
enum {
	PERF_ATTR_SOFTWARE = 1,
	PERF_BPF_OUTPUT = 10,		/* its config for what BPF writes */
	PERF_ATTR_SIZE_MIN = 64,	/* the first version's */
	PERF_ATTR_SIZE_MAX = 4096,	/* larger ones are damaged */
	PERF_ATTR_INHERIT = 1 << 1,
	PERF_ATTR_FREQ = 1 << 10,
	PERF_ATTR_SAMPLE_ID_ALL = 1 << 18,
	PERF_BRANCH_CALL_STACK = 1 << 11,
	PERF_BRANCH_HW_INDEX = 1 << 17,
	PERF_BRANCH_COUNTERS = 1 << 19,
	PERF_READ_TIME_ENABLED = 1 << 0,
	PERF_READ_TIME_RUNNING = 1 << 1,
	PERF_READ_ID = 1 << 2,
	PERF_READ_GROUP = 1 << 3,
	PERF_READ_LOST = 1 << 4,
};

/* Sections after the records of a file. */
enum {
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_RELEASE = 4,
	PERF_FEATURE_COMMAND = 11,
	PERF_FEATURE_EVENTS = 12,
	PERF_FEATURE_DIRECTORY = 24,
	PERF_FEATURES = 256,
};

/* ---- perf_events.c ---- */

/*
 * The events of a perf.data file.
 *
 * The event says which fields its samples have.  Which event a sample belongs
 * to is given by an id in the sample, at a place that all events of a file
 * share.
 */

/* What is used of a struct perf_event_attr. */
struct perf_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags,
	    branch_type, user_registers;
	char *name;		/* as perf wrote it, or NULL */
};

/* Start with `{ 0 }`. */
struct perf_events {
	struct perf_attr *attrs;	/* [n] */
	size_t n, capacity;
	struct id_table ids;	/* the kernel's; their numbers index: */
	uint32_t *owners;	/* the event of each id */
	size_t owners_capacity;
};

void perf_events_free(struct perf_events *events);

/*
 * Adds an event from bytes[size], a struct perf_event_attr of any version.
 * Returns its number, or UINT32_MAX with *error set to what was expected.
 */
uint32_t perf_events_add(struct perf_events *events,
                         const unsigned char *bytes, size_t size,
                         struct error *error);

/* Samples with this id belong to that event. */
int perf_events_add_id(struct perf_events *events, uint64_t id,
                       uint32_t event, struct error *error);

/* Names the event with a copy. */
int perf_events_set_name(struct perf_events *events, uint32_t event,
                         const char *name, size_t length,
                         struct error *error);

/* The event of an id; UINT32_MAX: none. */
uint32_t perf_events_find(const struct perf_events *events, uint64_t id);

/*
 * The event of a sample; UINT32_MAX: none that the file describes.  Samples
 * that perf itself makes have the id 0; as in perf, they count for the first
 * event.
 */
uint32_t perf_events_of_sample(const struct perf_events *events,
                               const struct perf_record *record);

/* When the kernel made a record, in nanoseconds; 0: unknown. */
uint64_t perf_events_time(const struct perf_events *events,
                          const struct perf_record *record);

/*
 * The event's name as perf writes it; or one made of its numbers, in
 * place[size].
 */
const char *perf_events_name(const struct perf_events *events,
                             uint32_t event, char *place, size_t size);

/*
 * What the periods of an event count (a gtick), by the event's name as perf
 * writes it, perhaps with modifiers ("cycles:u"); "" if that is not known.
 */
const char *perf_event_gtick(const char *name, size_t length);

/* ---- perf_sample.c ---- */

/*
 * One sample of a perf.data file, taken apart.
 *
 * Which fields a sample has is given by its event (perf_events.c).
 */

/* Pointers lead into the record. */
struct perf_sample {
	uint32_t event;			/* UINT32_MAX: none that the file
					 * describes; the rest is then 0 */
	uint64_t ip, time, period;	/* time 0: unknown */
	uint32_t pid, tid;
	bool is_off_cpu;		/* pid and tid may be swapped */

	/* Counts of a group of events: [n_counts] items of read_size bytes.
	 * Each begins with a count of 8 bytes; id_at is where the id of its
	 * event is, 0: it has none. */
	const unsigned char *counts;
	uint64_t n_counts;
	size_t read_size, id_at;

	const unsigned char *chain;	/* [n_chain] numbers of 8 bytes */
	uint64_t n_chain;
	bool has_chain;

	/* [n_calls] branches: calls of the process that have not returned, the
	 * last one first, as the processor recorded them. */
	const unsigned char *calls;
	uint64_t n_calls;

	uint64_t abi;			/* of the registers: 0 none, 2 64-bit */
	const unsigned char *registers;	/* 8 bytes for each bit of the event's
					 * user_registers */
	uint64_t link;			/* AArch64's return address, if that
					 * is the only register; 0: unknown */
	const unsigned char *stack;	/* [stack_size] a copy of its top */
	uint64_t stack_size;
};

/*
 * Takes a sample apart.  0; or -1 with *error set to what was expected, without
 * file and offset.
 */
int perf_sample_read(struct perf_sample *sample,
                     const struct perf_events *events,
                     const struct perf_record *record, struct error *error);

/*
 * Likewise a PERF_CALLCHAIN_DEFERRED record: its thread, its call chain and the
 * cookie of the samples that it belongs to.
 */
int perf_sample_read_deferred(struct perf_sample *sample, uint64_t *cookie,
                              const struct perf_events *events,
                              const struct perf_record *record,
                              struct error *error);

/* ---- perf_machine.c ---- */

/*
 * The processes that perf watched, and what they had mapped.
 *
 * Records of mappings, kernel symbols, commands and forks change the machine as
 * time passes; a sample is looked up in it as it is when the sample's turn
 * comes.
 */

/* Mapped code: bytes [start, end) are a file's from `offset` on. */
struct perf_map {
	uint64_t start, end, offset;
	uint32_t module;	/* NO_MODULE: code made at run time */
	uint32_t name;		/* in the kernel: the name of that code;
				 * NO_NAME: it was removed again */
	bool has_bias;
	uint64_t bias;		/* from addresses here to the module's own */
};

/* The address space of a process, shared with children until one changes it. */
struct perf_space {
	struct perf_map *maps;	/* [n] by address, without overlaps */
	size_t n, capacity;
	uint32_t n_users;
	uint32_t version;	/* changes with the space; no two spaces ever
				 * have the same */
};

/* No space has this version. */
enum { PERF_NO_VERSION };

struct perf_machine;

/*
 * modules: as in struct read_options.  It and the profile must outlive the
 * result, which perf_machine_free frees.  NULL with *error set.
 */
struct perf_machine *perf_machine_new(struct profile *profile,
                                      struct module_cache *modules,
                                      struct error *error);
void perf_machine_free(struct perf_machine *machine);

/*
 * Applies a record that changes the machine; ignores any other.  0, or -1 with
 * *error set to what was expected, without file and offset.
 */
int perf_machine_apply(struct perf_machine *machine,
                       const struct perf_record *record, struct error *error);

/* The space of a process, owned by the machine; NULL with *error set. */
struct perf_space *perf_machine_space(struct perf_machine *machine,
                                      uint32_t pid, struct error *error);

/* The kernel's modules and the code that it made at run time. */
struct perf_space *perf_machine_kernel_space(struct perf_machine *machine);

/* The mapping at an address, or NULL; valid until the space changes. */
struct perf_map *perf_space_find(const struct perf_space *space,
                                 uint64_t address);

/*
 * From an address in a mapping of a module to the module's own address, as
 * program.h defines it.
 */
uint64_t perf_machine_address(struct perf_machine *machine,
                              struct perf_map *map, uint64_t address);

/*
 * The module that stands for the kernel.  *base: where the kernel was loaded,
 * which is where its addresses count from.  NO_MODULE if no record has given
 * that so far (as with `perf record --tail-synthesize`), or with *error set.
 */
uint32_t perf_machine_kernel(struct perf_machine *machine, uint64_t *base,
                             struct error *error);

/*
 * A module by its path, without a build-id, added if new; NO_MODULE with *error
 * set.
 */
uint32_t perf_machine_module(struct perf_machine *machine, const char *path,
                             struct error *error);

/*
 * The thread of the profile that a sample belongs to, under its current name;
 * added if new.  UINT32_MAX with *error set.
 */
uint32_t perf_machine_thread(struct perf_machine *machine, uint32_t pid,
                             uint32_t tid, struct error *error);

/* Whether any record has mentioned this process. */
bool perf_machine_has(const struct perf_machine *machine, uint32_t pid);

/* Whether mappings were left out because there were too many. */
bool perf_machine_overflowed(const struct perf_machine *machine);

/*
 * Whether perf's path is that of a loaded module of the kernel, "[ext4]" or
 * ".../ext4.ko.xz".  If so, writes our name for it, "[ext4]", to place[size].
 * Source: linux 6.12, tools/perf/util/dso.c, __kmod_path__parse.
 */
bool perf_is_kernel_module(const char *path, char *place, size_t size);

/* ---- perf_stacks.c ---- */

/*
 * The frames of perf's samples.
 *
 * From a sample's call chain, its branches or its copied stack to frames: in a
 * file, in the kernel, in code that a runtime made and wrote a map of, or
 * "[unknown]".
 */

/*
 * The innermost frame from the registers and the stack that the kernel copied
 * of a 64-bit process; false: they are of no use.  (Which processor it ran on
 * is told by the set of registers: a file names it after its samples.)
 */
bool perf_frame_begin(const struct perf_attr *attr,
                      const struct perf_sample *sample,
                      struct stack_frame *frame);

/*
 * Makes *frame its caller's, as stack_unwinder_step does.  map: the mapping
 * that its code is in, of a space of the machine; profile, modules: the
 * machine's.
 */
int perf_frame_step(struct stack_unwinder *unwinder,
                    struct perf_machine *machine,
                    const struct profile *profile,
                    const struct module_cache *modules, struct perf_map *map,
                    struct stack_frame *frame, struct error *error);

struct perf_stacks;

/* Samples that are not shown in full. */
struct perf_stacks_missed {
	uint64_t n_guests;	/* with frames in a virtual machine */
	uint64_t n_unwalked;	/* with the stack of a 32-bit program or of
				 * another processor */
};

/*
 * The arguments must outlive the result, which perf_stacks_free frees.  NULL
 * with *error set.
 */
struct perf_stacks *perf_stacks_new(struct profile *profile,
                                    struct perf_machine *machine,
                                    struct module_cache *modules,
                                    struct error *error);
void perf_stacks_free(struct perf_stacks *stacks);

struct perf_stacks_missed perf_stacks_missed(const struct perf_stacks *stacks);

/* The frames of one sample, innermost first, as they are found. */
struct perf_stack {
	uint32_t *labels;	/* [n] the caller's room; the profile's frames
				 * will have these numbers */
	size_t n;
	bool is_ip_only;	/* the only frame is where the sample was taken,
				 * since it has no call chain */
	bool is_deferred;	/* the frames of its process come later, in a
				 * record with this cookie */
	uint64_t cookie;
	/* The rest is perf_stacks.c's own. */
	uint32_t pid;
	struct perf_space *space;
	uint64_t context;	/* PERF_CONTEXT_... */
	bool has_guest;		/* a frame in a virtual machine */
	bool is_first;		/* the next address is the first of its context:
				 * not a return address */
};

/* How many labels a sample needs room for. */
size_t perf_stacks_room(const struct perf_sample *sample);

/* Fills in the frames of a sample, at least one.  attr: its event. */
int perf_stacks_fill(struct perf_stacks *stacks, const struct perf_attr *attr,
                     const struct perf_record *record,
                     const struct perf_sample *sample,
                     struct perf_stack *stack, struct error *error);

/*
 * Fills in the frames of a process from a deferred call chain; there may be
 * none.
 */
int perf_stacks_fill_process(struct perf_stacks *stacks,
                             const struct perf_sample *record,
                             struct perf_stack *stack, struct error *error);

/*
 * Adds all frames to the profile, once the build-ids of its modules are known.
 */
int perf_stacks_finish(struct perf_stacks *stacks, struct error *error);

/* ---- perf_deferred.c ---- */

/*
 * Samples that wait for the frames of their process.
 *
 * With `perf record --call-graph fp,defer` (Linux 6.19) a sample has the
 * kernel's frames and a cookie.  Before the thread returns from the kernel, the
 * frames of its process are recorded, once for all samples with that cookie.
 * That record may also be missing.
 * Source: linux 6.19, include/uapi/linux/perf_event.h,
 * PERF_RECORD_CALLCHAIN_DEFERRED; kernel/unwind/deferred.c.
 */

/* What a sample stands for. */
struct perf_amount {
	uint32_t resource;
	uint64_t hits;
};

/* A waiting sample and its arrays, in one allocation. */
struct perf_waiting {
	uint64_t cookie, offset;	/* offset: in the file */
	uint64_t time;			/* 0: unknown */
	uint32_t thread;		/* of the profile */
	uint32_t *labels;		/* [n_labels] frames, innermost first */
	struct perf_amount *amounts;	/* [n_amounts] */
	size_t n_labels, n_amounts;
	bool is_ip_only;		/* see struct perf_stack */
	/* The rest is perf_deferred.c's own. */
	uint32_t tid;
	struct perf_waiting *previous, *next, *next_of_thread;
};

/* Frames as labels, innermost first. */
struct perf_labels {
	const uint32_t *labels;
	size_t n;
};

struct perf_deferred;

/*
 * Freed, with all waiting samples, with perf_deferred_free; NULL with *error
 * set.
 */
struct perf_deferred *perf_deferred_new(struct error *error);
void perf_deferred_free(struct perf_deferred *deferred);

/*
 * Lets a copy of a sample of this thread wait.  The members above "the rest"
 * must be set.
 */
int perf_deferred_wait(struct perf_deferred *deferred, uint32_t tid,
                       const struct perf_waiting *sample,
                       struct error *error);

/*
 * Removes the sample that has waited longest: of a thread; or of all, if is_end
 * is set or if they take more memory than they should.  The caller frees it
 * with free().  NULL: there is none.
 */
struct perf_waiting *perf_deferred_take(struct perf_deferred *deferred,
                                        uint32_t tid);
struct perf_waiting *perf_deferred_take_oldest(struct perf_deferred *deferred,
                                               bool is_end);

/*
 * Keeps the frames that came with a cookie for later samples of the thread: the
 * kernel records them once, and more samples can follow before the thread
 * returns.
 *
 * perf_deferred_find: whether there are frames for the cookie; *frames is valid
 * until the next perf_deferred_keep.
 */
int perf_deferred_keep(struct perf_deferred *deferred, uint32_t tid,
                       uint64_t cookie, const uint32_t *labels, size_t n,
                       struct error *error);
bool perf_deferred_find(const struct perf_deferred *deferred, uint32_t tid,
                        uint64_t cookie,
                        struct perf_labels *frames);

/* ---- perf_tree.c ---- */

/*
 * From the samples of a perf.data file to a profile's tree.
 *
 * Each event becomes a resource, each thread a section.
 */

struct perf_tree;

/*
 * The reader has the profile to fill.  All arguments must outlive the result,
 * which perf_tree_free frees; events may still be added.  NULL with *error set.
 */
struct perf_tree *perf_tree_new(struct reader *reader,
                                const struct perf_events *events,
                                struct perf_machine *machine,
                                struct error *error);
void perf_tree_free(struct perf_tree *tree);

/*
 * Adds a sample; they must come in the order of time.  0, or -1 with *error set
 * to what was expected, without file and offset.
 */
int perf_tree_add(struct perf_tree *tree, const struct perf_record *record,
                  struct error *error);

/*
 * Likewise adds a deferred call chain: the process's frames that earlier
 * samples of its thread wait for.
 */
int perf_tree_add_deferred(struct perf_tree *tree,
                           const struct perf_record *record,
                           struct error *error);

/* Whether no sample was added. */
bool perf_tree_is_empty(const struct perf_tree *tree);

/*
 * perf_tree_finish gives the profile its tree, resources and sections, from one
 * sample or more.  Then, once the build-ids of its modules are known,
 * perf_tree_finish_frames adds the frames, and warnings of what the tree does
 * not show of the samples.
 */
int perf_tree_finish(struct perf_tree *tree, struct error *error);
int perf_tree_finish_frames(struct perf_tree *tree, struct error *error);

/* ---- perf_session.c ---- */

/*
 * From perf's records to a profile.
 *
 * Records arrive in the order of the file and take effect in the order of time.
 */

struct perf_session;

/*
 * The reader has the profile to fill, and must outlive the session, which
 * perf_session_free frees.  NULL with *error set.
 */
struct perf_session *perf_session_new(struct reader *reader,
                                      struct error *error);
void perf_session_free(struct perf_session *session);

/* The events, to which the caller adds those of a file's header. */
struct perf_events *perf_session_events(struct perf_session *session);

/*
 * Takes the next record.  The caller skips data that follow the record without
 * being one.  0, or -1 with *error set, its text with file and offset.
 */
int perf_session_record(struct perf_session *session,
                        const struct perf_record *record,
                        struct error *error);

/*
 * The work that a record makes, as that many bytes: less than it has if it has a
 * copy of a stack.
 */
uint64_t perf_session_work(const struct perf_session *session,
                           const struct perf_record *record);

/*
 * Records that wait for their turn take memory, all that they unpack to.  Fails
 * at a record if that is too much for n_packed bytes.
 */
int perf_session_check_queue(const struct perf_session *session,
                             const struct perf_record *record,
                             uint64_t n_packed, struct error *error);

/*
 * The next records come from another file of a directory, which has a
 * compressed stream of its own.  Copies the name.
 */
int perf_session_next_file(struct perf_session *session, const char *name,
                           struct error *error);

/* The head of a PERF_COMPRESSED2 record, with the size of its part. */
enum { PERF_PACKED_HEADER_SIZE = 16 };

/*
 * How many bytes a PERF_COMPRESSED2 record has in the file, from its first
 * PERF_PACKED_HEADER_SIZE bytes.
 */
uint32_t perf_packed_record_size(const struct perf_record *record);

/* Takes a feature section, bytes[size].  0, or -1 as above. */
int perf_session_feature(struct perf_session *session, uint64_t feature,
                         const unsigned char *bytes, size_t size,
                         uint64_t offset, struct error *error);

/* Fills the profile.  0, or -1 with *error set, also if there is no sample. */
int perf_session_finish(struct perf_session *session, struct error *error);

/* ---- perf_features.c ---- */

/*
 * What perf recorded about events, files and the machine.
 *
 * A file has it in sections after the records, a pipe in records.
 */

/* Start with `{ 0 }`. */
struct perf_features {
	struct perf_build_id {
		char *path;
		unsigned char id[20];
		uint32_t size;
	} *build_ids;
	size_t n_build_ids, build_ids_capacity;
	char *host, *release, *command;	/* NULL: unknown */
};

void perf_features_free(struct perf_features *features);

/*
 * Each takes what it knows and ignores the rest.  0, or -1 with *error set to
 * what was expected.
 */
int perf_features_record(struct perf_features *features,
                         struct perf_events *events,
                         const struct perf_record *record,
                         struct error *error);
int perf_features_section(struct perf_features *features,
                          struct perf_events *events, uint64_t feature,
                          const unsigned char *bytes, size_t size,
                          struct error *error);

/*
 * Gives the modules that have no build-id the one that belongs to their path,
 * and the processes their host and command.
 */
int perf_features_apply(struct perf_features *features,
                        struct profile *profile, struct error *error);

#endif
