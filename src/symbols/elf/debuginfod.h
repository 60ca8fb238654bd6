/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debuginfod.h -- debug files and sources from debuginfod servers, by build-id.
 *
 * debuginfod_fetch is the only function of cpprof that uses a network.  It does
 * whatever the caller says; whether the user wants that is for the caller to
 * know.  All else here looks at the cache on this machine, which is that of
 * libdebuginfod: what gdb and other tools fetched is in it, too.
 *
 * Nothing that a server sends is trusted.  A debug file is used only if it has the
 * build-id; a source is text that somebody sent.
 */
#ifndef CPPROF_SYMBOLS_ELF_DEBUGINFOD_H
#define CPPROF_SYMBOLS_ELF_DEBUGINFOD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"

/* ---- servers ---- */

/*
 * Adds to urls[size] the URLs of the servers, divided by blanks: those of
 * DEBUGINFOD_URLS, or if that is not set or blank, of the files *.urls in the directory
 * of this machine's administrator.  False: there are none.
 */
#define DEBUGINFOD_DIRECTORY "/etc/debuginfod"

bool debuginfod_servers(char *urls, size_t size, const char *directory);

/*
 * Whether DEBUGINFOD_URLS names a server that those files do not: login shells
 * set the variable from the files for everybody, so only then was it the user.
 */
bool debuginfod_is_set_by_user(const char *directory);

/* ---- the cache ---- */

/*
 * Whether these bytes can be a build-id: of the sizes that linkers write, and
 * not one byte over and over.
 */
bool debuginfod_is_build_id(const unsigned char *id, size_t size);

/*
 * The path of a build's debug file in the cache, whether or not it is there.
 * False: that is no build-id, or there is no cache; path is not defined then.
 */
bool debuginfod_cached_path(const unsigned char *id, size_t size,
                            char path[PATH_MAX]);

/* ---- fetching ---- */

enum debuginfod_state {
	DEBUGINFOD_FOUND,
	DEBUGINFOD_ABSENT,	/* no server has it */
	DEBUGINFOD_WRONG,	/* what came is not of that build, or damaged;
				 * it was removed */
	DEBUGINFOD_TOO_LARGE,
	DEBUGINFOD_TIMED_OUT,	/* no answer, or too slow a one */
	DEBUGINFOD_UNREACHABLE,	/* no connection, or no sound answer */
	DEBUGINFOD_FAILED,	/* on this machine: see why */
	DEBUGINFOD_NO_LIBRARY,	/* libdebuginfod is not installed */
	DEBUGINFOD_STOPPED,	/* by Ctrl-C, which stays requested */
};

/* What to fetch.  All is borrowed. */
struct debuginfod_request {
	const char *servers;		/* as of debuginfod_servers */
	const unsigned char *build_id;	/* [build_id_size] */
	size_t build_id_size;
	const char *source;	/* a source file's absolute path in the debug
				 * information; NULL: the debug file */
	int64_t deadline_ms;	/* by clock_ms(); later is too late */
	const struct progress *progress;	/* in bytes; may be NULL */
};

/*
 * Asks the servers for a file, unless the cache has it, or had word in the last
 * minutes that they do not have it.  DEBUGINFOD_FOUND: path is where it is now.
 * DEBUGINFOD_FAILED: *why says what failed.  A source whose transfer was cancelled
 * counts as absent for some minutes.
 *
 * Gives up after DEBUGINFOD_TIMEOUT seconds (by default 20) without a byte,
 * after DEBUGINFOD_MAXTIME seconds (600) and beyond DEBUGINFOD_MAXSIZE bytes
 * (4 GiB, also once unpacked).  libdebuginfod runs in a child process, whose
 * time and files are limited.
 */
enum debuginfod_state
debuginfod_fetch(const struct debuginfod_request *request,
                 char path[PATH_MAX], struct error *why);

/* How many seconds without a byte it waits. */
unsigned debuginfod_patience(void);

#endif
