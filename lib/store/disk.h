/* SPDX-License-Identifier: MIT */
/* disk.h -- the file that the process writes: create, extend, map.
 *
 * There is one file, whose contents belong to datafile.h.  Functions that open
 * it leave it open until disk_close.
 *
 * All functions: async-signal-safe, any thread, with the data file's lock held
 * except for disk_populate and disk_replace.  Those that can fail set errno.
 */
#ifndef CPPROF_DISK_H
#define CPPROF_DISK_H

#include <stdbool.h>
#include <stddef.h>

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
 * inherit the mapping.  Returns NULL if that fails.  The first call, with `at`
 * 0, maps all that disk_create has created; later calls return parts of that
 * mapping.
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
 * To be called in a forked child, which has no file yet: closes the parent's.
 */
void disk_forked(void);

#endif
