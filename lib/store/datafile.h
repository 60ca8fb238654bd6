/* SPDX-License-Identifier: MIT */
/* datafile.h -- the process's cpprofdata file, mapped and growing.
 *
 * There is one.  Header and chunks are mapped one by one as they are added and
 * stay where they are, so a record's address is good as long as the process.
 * (No address space is reserved for growth: programs set limits on theirs.)
 *
 * Others may be able to write to the file, and the process may be root's: so
 * what is mapped is only written to.  What the collector needs again, sizes,
 * counts, numbers and records, it has in private memory, and copies from there.
 * Who adds a chunk or a record of a shared type holds the lock; nodes of a
 * tree are added by the tree's thread alone, into chunks of its own.
 *
 * All functions: async-signal-safe; any thread, unless said otherwise.
 */
#ifndef CPPROF_DATAFILE_H
#define CPPROF_DATAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"

/*
 * A chunk: what is known of it, and where its header is mapped.  In private
 * memory, for good.  Should somebody cut the file short, there is memory in
 * the place of what is mapped, and in the end the file is written once more.
 */
struct datafile_chunk {
	struct datafile_chunk *older;
	struct cpprofdata_chunk *mapped;	/* only written to */
	uint64_t at;		/* in the file */
	uint64_t size;
	uint64_t first;		/* number of its first record */
	uint64_t count;
	enum cpprofdata_chunk_type type;
	uint32_t record_size, owner;
	/* Its records from number first + i on, as they are in the file. */
	void (*copy)(const struct datafile_chunk *chunk, size_t i, size_t n,
	    void *to);
};

/* What a column of counts is, for the header: a resource that is sampled. */
struct datafile_column {
	const char *name, *gtick;	/* of the resource, and its unit */
	const char *source;		/* where its counts come from */
	uint64_t interval;		/* in gticks */
	uint32_t flags;			/* CPPROFDATA_COARSE, ..._RANDOM */
};

/*
 * The columns, as the room above sets them from the constructor.  `describe` is
 * async-signal-safe.
 */
extern struct datafile_columns {
	unsigned n;
	bool has_waits;		/* waits that last are in the threads' records */
	void (*describe)(unsigned column, struct datafile_column *to);
} datafile_columns;

/* Whether there is one. */
bool datafile_exists(void);

/*
 * Zeroed memory beside the file for what is known of it, NULL if there is none.
 * Forked children do not get it: their file is another.
 */
void *datafile_private_memory(size_t size);

/*
 * Takes the lock, or gives up after some hundred tries: the holder may be
 * this very thread, interrupted.
 */
bool datafile_lock(void);

/*
 * Takes the lock, at once or after a while; not from a handler, and with ticks
 * held off (threads.h).  The first gives up after a tenth of a second.
 */
bool datafile_lock_patiently(void);
void datafile_lock_wait(void);

void datafile_unlock(void);

/* Counts a thread that has started; the file has it with the next sample. */
void datafile_count_thread(bool is_sampled);

/*
 * What the header of every file says first, to->n_resources known; and what a
 * column counts.  The rest is zero.
 */
void datafile_begin_header(struct cpprofdata_header *to);
void datafile_describe_resource(unsigned column,
    struct cpprofdata_resource *to);

/*
 * This process has a record in the brief file (brief.h), and a file of its own
 * continues that.
 */
void datafile_note_brief(void);

/*
 * Creates the file of this process.  Lock held, no file yet.  False with errno
 * set.
 */
bool datafile_create(void);

/*
 * A new chunk of at least chunk->size bytes, already published, count 0; false
 * when there is no room.  The caller has set size, type, record_size, owner and
 * copy.  Lock held.
 */
bool datafile_add_chunk(struct datafile_chunk *chunk);

/* Publishes the n records that were written behind a chunk's others. */
static inline void
datafile_publish_in(struct datafile_chunk *chunk, uint64_t n)
{
	chunk->count += n;
	__atomic_store_n(&chunk->mapped->count, chunk->count,
	    __ATOMIC_RELEASE);
}

/*
 * Room for n records that follow each other in one chunk, zeroed, not yet
 * published; *number is the first one's.  NULL when there is no room.  What is
 * returned is private memory.  For strings, modules and threads; lock held
 * until datafile_publish.
 */
void *datafile_add_records(enum cpprofdata_chunk_type type,
    size_t record_size, size_t n, uint32_t *number);

/* Publishes the n records added last, as they are now. */
void datafile_publish(enum cpprofdata_chunk_type type, size_t n);

/* Where a record is mapped, to be written to only; NULL: nowhere. */
void *datafile_mapped(enum cpprofdata_chunk_type type, const void *record);

/*
 * Copies to the file what has been changed in a published record, from private
 * memory that datafile_add_records returned.
 */
void datafile_update(enum cpprofdata_chunk_type type, const void *changed,
    size_t size);

/*
 * A string of `size` bytes, NUL included; its number, or 0 when there is no
 * room.  *place, unless NULL, is a private copy.  Lock held.
 */
uint32_t datafile_add_string(const char *text, size_t size,
    const char **place);

/*
 * Notes that a resource has another source now; nothing while there is no file.
 * Lock held.
 */
void datafile_note_source(unsigned column);

/*
 * From now on the file stays open: the process may soon be unable to open it.
 * Not from a handler, and with ticks held off.
 */
void datafile_keep(void);

/* Notes that a resource of the program's own has a name and an interval now. */
void datafile_note_own_resource(unsigned column);

/*
 * Counts ticks under a reason.  Does not touch the file, which has them with
 * the next sample.
 */
void datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits);

/*
 * Counts hits of a column that will be in no tree, by one of the reasons
 * CPPROFDATA_LOST_*; besides datafile_count_drop, which has those of all
 * columns together, and comes first.  The file has both at once.
 */
void datafile_count_lost(enum cpprofdata_drop reason, unsigned column,
    uint64_t hits);

/*
 * More hits of a column, or with less than nothing fewer, wait for a sample.
 * The file has it at once: there may be no next sample.
 */
void datafile_count_put_off(unsigned column, int64_t hits);

/* Adds to the time that samples have taken.  After a sample. */
void datafile_count_time(uint64_t ns);

/* Counts a module that is no longer loaded.  Lock held. */
void datafile_count_closed(void);

/* Notes that there is a sample of this moment, and once in a while the CPU time
 * of the process so far. */
void datafile_note_sample(void);

/* Notes the CPU time of the process so far. */
void datafile_note_cpu_time(void);

/*
 * Notes that the process is about to leave without an end, by _exit or exec;
 * taken back by `false`.  Nothing while there is no file.  Not for a child of
 * vfork.
 */
void datafile_note_leaving(bool is_leaving);

/*
 * In the handler of SIGBUS: whether the address is in something mapped, which
 * then is memory.
 */
bool datafile_replace(const void *address);

/* Notes the end of the process and cuts the file; it can still grow.  Lock
 * held. */
void datafile_finish(void);

/* Sets one of header.flags. */
void datafile_flag(uint32_t flag);

/* Takes back that the process has ended.  Not from a handler. */
void datafile_resume(void);

/*
 * In a forked child: the file is the parent's and its mappings are gone.
 * Closes the inherited descriptor and starts without a file.
 */
void datafile_forked(void);

#endif
