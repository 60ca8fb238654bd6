/* SPDX-License-Identifier: MIT */
/* disk.h -- the file that the process writes: made, extended, mapped.
 *
 * There is one, and what is in it is datafile.h's.  What opens it leaves it
 * open until disk_let_go.
 *
 * All functions: async-signal-safe; any thread, with the data file's lock, but
 * for disk_populate.  What can fail sets errno.
 */
#ifndef CPPROF_DISK_H
#define CPPROF_DISK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes cpprofdata.PID in process.output, or with .1, .2, ... behind it if
 * earlier images of the process took that.  False: there is none.
 */
bool disk_create(size_t size);

/* Removes what disk_create has made, keeping errno. */
void disk_abandon(void);

/* Sees to it that the file is at least so long, with disk space behind it. */
bool disk_reserve(size_t size);

/*
 * Maps a part of it, not to be copied into forked children, and sees to its
 * first page; NULL.  With what begins at 0 all that disk_create has made is
 * mapped, and is never mapped again.
 */
void *disk_map(size_t at, size_t size);

/*
 * Puts zeroed memory in the place of a mapping, whose part of the file is gone.
 * Without the lock.  From then on disk_map gives memory, too, and the file
 * does not grow: disk_is_cut.
 */
bool disk_replace(void *mapping, size_t size);

/*
 * Whether somebody else has cut the file short; asked first, and noted, by what
 * is done with the file.
 */
bool disk_is_cut(void);

/* Writes a part of it by its descriptor. */
bool disk_write(const void *from, size_t at, size_t size);

/*
 * Makes sure that [address, address + size) of the file is backed by memory,
 * so that writing there cannot fault for want of disk.  False if it is not.
 */
bool disk_populate(void *address, size_t size);

/* Gives it its final size. */
void disk_cut(size_t size);

/* Closes it, unless it is to be kept open; keeps errno. */
void disk_let_go(void);

/* From now on it stays open.  May change errno. */
void disk_keep(void);

/* In a forked child: the file is the parent's, and there is none yet. */
void disk_forked(void);

#endif
