/* SPDX-License-Identifier: MIT */
/* datafile.h -- the process's cpprofdata file, which is mapped and grows.
 *
 * There is one file.  The header and each chunk are mapped when they are added
 * and never move, so a record's address is valid as long as the process lives.
 * No address space is reserved for growth, because programs may limit theirs.
 *
 * Others may be able to write to the file, and the process may be root's, so
 * mapped memory is only ever written.  The collector keeps everything that it
 * needs again (sizes, counts, numbers and records) in private memory and copies
 * it from there.  Chunks, and records of shared types, are added with the lock
 * held.  The nodes of a tree are added only by the tree's thread, into chunks
 * of its own.
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.
 * Functions marked "lock held" require datafile_lock or
 * datafile_lock_patiently.
 */
#ifndef CPPROF_DATAFILE_H
#define CPPROF_DATAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"

/* ---- disk.c ---- */

/*
 * The file that the process writes: create, extend, map.
 *
 * There is one file, whose contents belong to datafile.h.  Functions that open
 * it leave it open until disk_close.
 *
 * All functions: async-signal-safe, any thread, with the data file's lock held
 * except for disk_populate and disk_replace.  Those that can fail set errno.
 */

/*
 * Creates cpprofdata.PID in process.output, or cpprofdata.PID.1, .2, ... if
 * earlier images of the process have taken that name.  False: there is no file.
 */
bool disk_create(size_t size);

/* Removes what disk_create has created.  Preserves errno. */
void disk_abandon(void);

/*
 * Ensures that the file has at least `size` bytes, with disk space allocated.
 */
bool disk_reserve(size_t size);

/*
 * Maps a part of the file and populates its first page.  Forked children do not
 * inherit the mapping.  Returns NULL if that fails.  The part must lie in what
 * disk_create and disk_reserve have allocated.
 */
void *disk_map(size_t at, size_t size);

/*
 * Replaces a mapping, whose part of the file was truncated, with zeroed memory.
 * From then on disk_is_truncated is true, disk_map returns private memory, and
 * the file does not grow.  Without the lock.
 */
bool disk_replace(void *mapping, size_t size);

/*
 * Whether somebody else has truncated the file.  The functions that use the
 * file check this and remember it.
 */
bool disk_is_truncated(void);

/* Writes a part of the file through its descriptor. */
bool disk_write(const void *from, size_t at, size_t size);

/*
 * Ensures that [address, address + size), private or of the file, is backed by
 * memory, so that writing there cannot fault for lack of disk space.  False if
 * that fails.
 */
bool disk_populate(void *address, size_t size);

/* Cuts or extends the file to its final size. */
void disk_set_size(size_t size);

/* Closes the file, unless it is to be kept open.  Preserves errno. */
void disk_close(void);

/* Keeps the file open from now on.  May change errno. */
void disk_keep_open(void);

/*
 * To be called in a forked child, which has no file yet: closes the parent's,
 * whose mappings are gone.
 */
void disk_forked(void);

/* ---- result ---- */

/* What became of something that is added to the file. */

enum store_result {
	STORE_OK,
	STORE_BUSY,	/* another thread holds the file's lock; try again
			   soon, or at the next tick */
	STORE_UNSAFE,	/* this thread was interrupted where its stack cannot
			   be entered; try again at the next tick */
	STORE_FULL	/* no room in file or memory */
};

/* ---- memory.c ---- */

/*
 * Returns zeroed private memory, NULL if there is none.  Forked children do not
 * inherit it, as they have another file.
 */
void *store_memory(size_t size);

/* Gives it back, if it is large or was the last to be returned. */
void store_free(void *memory, size_t size);

/* Whether writing there cannot fail for lack of memory; for disk_populate. */
bool store_is_populated(const void *address);

/*
 * Notes what else is mapped for the recording; munmap for it.  When the
 * recording of a process into which the library was loaded has ended,
 * store_unmap_all unmaps all memory of it, and no thread may use the collector.
 * If a thread may still reach it, another recording can begin between
 * store_keep and store_go_on, when WIPED variables are zeroed; then its end
 * unmaps the memory of both.
 */
void store_note(void *memory, size_t size);
void store_unmap(void *memory, size_t size);
void store_unmap_all(void);
size_t store_keep(void);
void store_go_on(size_t kept);

/* ---- datafile.c ---- */

/*
 * A chunk, in private memory that is never freed.  If somebody truncates the
 * file, the mapping is replaced with private memory, and the file is written
 * again at the end.
 */
struct datafile_chunk {
	struct datafile_chunk *older;
	struct cpprofdata_chunk *mapped;	/* its header; only written */
	uint64_t at;		/* offset in the file */
	uint64_t size;
	uint64_t first;		/* number of its first record */
	uint64_t count;
	enum cpprofdata_chunk_type type;
	uint32_t record_size, owner;
	/*
	 * Copies records first + i to first + i + n - 1, as the file holds
	 * them.
	 */
	void (*copy)(const struct datafile_chunk *chunk, size_t i, size_t n,
	    void *to);
};

/* A column of counts for the header: a resource that is sampled. */
struct datafile_column {
	const char *name, *gtick;	/* of the resource; its unit */
	const char *source;		/* where its counts come from */
	uint64_t interval;		/* in gticks */
	uint32_t flags;			/* CPPROFDATA_COARSE, ..._RANDOM */
};

/*
 * The columns, set by lib/sources/resource.c from the constructor.  `describe`
 * is async-signal-safe.
 */
extern struct datafile_columns {
	unsigned n;
	bool has_waits;		/* threads' records have their waits */
	/*
	 * The time between two hits of a column in ns, if it counts time; 0: it
	 * counts anything else.
	 */
	uint64_t step_ns[CPPROFDATA_MAX_RESOURCES];
	void (*describe)(unsigned column, struct datafile_column *to);
} datafile_columns;

/* Whether the process has a file. */
bool datafile_exists(void);

/*
 * Takes the lock, or returns false after some hundred attempts: the holder may
 * be this thread, interrupted.
 */
bool datafile_lock(void);

/*
 * Take the lock and wait for it if necessary.  Not from a handler, and only
 * with ticks held off (lib/base/thread.h).  The first returns false after a
 * tenth of a second.
 */
bool datafile_lock_patiently(void);
void datafile_lock_wait(void);

void datafile_unlock(void);

/*
 * Counts a thread that has started.  The next sample writes the count to the
 * file.
 */
void datafile_count_thread(bool is_sampled);

/*
 * Fill in what the headers of all files have in common, given to->n_resources,
 * and the description of a column.  The target must be zeroed.
 */
void datafile_begin_header(struct cpprofdata_header *to);
void datafile_describe_resource(unsigned column,
    struct cpprofdata_resource *to);

/*
 * Notes that the process has a record in the brief file (thread-file.h), so a
 * file of its own will be marked as continuing it.
 */
void datafile_note_brief(void);

/*
 * Creates the file of this process.  Lock held, no file yet.  False with errno
 * set.
 */
bool datafile_create(void);

/*
 * Adds a new chunk of at least chunk->size bytes, which is published with count
 * 0.  The caller has set size, type, record_size, owner and copy.  False if
 * there is no room.  Lock held.
 */
bool datafile_add_chunk(struct datafile_chunk *chunk);

/*
 * The same for a copy of *chunk, at the start of private memory of that size,
 * which is otherwise zero; *added: there.  Takes the lock.
 */
enum store_result datafile_new_chunk(const struct datafile_chunk *chunk,
    size_t memory, struct datafile_chunk **added);

/* Publishes n records that were written after the chunk's last one. */
static inline void
datafile_publish_in(struct datafile_chunk *chunk, uint64_t n)
{
	chunk->count += n;
	__atomic_store_n(&chunk->mapped->count, chunk->count,
	    __ATOMIC_RELEASE);
}

/*
 * Reserves n consecutive records in one chunk, zeroed and not yet published.
 * Stores the number of the first in *number.  Returns private memory, NULL if
 * there is no room.  For strings, modules and threads.  The lock must be held
 * until datafile_publish.
 */
void *datafile_add_records(enum cpprofdata_chunk_type type,
    size_t record_size, size_t n, uint32_t *number);

/*
 * Publishes the n records reserved last, with their present contents.  Lock
 * held.
 */
void datafile_publish(enum cpprofdata_chunk_type type, size_t n);

/*
 * The address where a record is mapped, which must only be written; NULL: none.
 */
void *datafile_mapped(enum cpprofdata_chunk_type type, const void *record);

/*
 * Copies `size` changed bytes of a published record to the file.  `changed`
 * points into private memory that datafile_add_records returned.
 */
void datafile_update(enum cpprofdata_chunk_type type, const void *changed,
    size_t size);

/*
 * Adds a string of `size` bytes, NUL included.  Returns its number, or 0 if
 * there is no room.  Stores the address of a private copy in *place, unless
 * that is NULL.  Lock held.
 */
uint32_t datafile_add_string(const char *text, size_t size,
    const char **place);

/*
 * Notes that a column has another source now.  Does nothing if there is no
 * file.  Lock held.
 */
void datafile_note_source(unsigned column);

/*
 * Keeps the file open from now on, because the process may soon be unable to
 * open it.  Not from a handler, and only with ticks held off.  Preserves errno.
 */
void datafile_keep_open(void);

/*
 * Notes that one of the program's own resources has got its name and interval.
 */
void datafile_note_own_resource(unsigned column);

/* Notes the hits of a sample of `real` whose place was a matter of chance. */
void datafile_note_drawn(uint64_t hits);

/*
 * Counts samples under a reason.  The next sample writes the counts to the
 * file.
 */
void datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits);

/*
 * Counts hits of a column that will be in no tree, under a CPPROFDATA_LOST_*
 * reason.  To be called after datafile_count_drop, which counts all columns
 * together.  Both counts are written to the file at once.
 */
void datafile_count_lost(enum cpprofdata_drop reason, unsigned column,
    uint64_t hits);

/*
 * Adds `hits`, which may be negative, to the hits of a column that wait for a
 * sample.  Written to the file at once, because there may be no next sample.
 */
void datafile_count_pending(unsigned column, int64_t hits);

/* Adds to the time that samples have taken.  To be called after a sample. */
void datafile_count_time(uint64_t ns);

/* Counts hits of time in the kernel that were placed by a tick. */
void datafile_count_at_tick(uint64_t hits);

/* Counts a module that is no longer loaded.  Lock held. */
void datafile_count_closed(void);

/*
 * Notes the time of a sample, and from time to time also the process's CPU
 * time.
 */
void datafile_note_sample(void);

/* Notes the CPU time of the process so far. */
void datafile_note_cpu_time(void);

/*
 * Notes that the process is about to end by _exit or exec; `false` takes that
 * back.  Does nothing if there is no file.  Not in a child of vfork.
 */
void datafile_note_leaving(bool is_leaving);

/*
 * For the SIGBUS handler: whether the address lies in one of the file's
 * mappings.  If so, the mapping is replaced with private memory.
 */
bool datafile_replace_mapping(const void *address);

/*
 * Notes the end of the process and cuts the file to its used size.  The file
 * can still grow afterwards.  Lock held.
 */
void datafile_finish(void);

/*
 * Notes another end than datafile_finish has, by both clocks: nothing was
 * counted since then.  Not from a handler.
 */
void datafile_set_end(uint64_t end_ns, uint64_t end_mono_ns);

/* Sets one of header.flags. */
void datafile_flag(uint32_t flag);

/* Takes back the note that the process has ended.  Not from a handler. */
void datafile_resume(void);

#endif
