/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_lines.h -- source lines and inlined calls of addresses, and the text
 * of the lines.
 */
#ifndef CPPROF_SYMBOLS_LINES_ADDRESS_LINES_H
#define CPPROF_SYMBOLS_LINES_ADDRESS_LINES_H

#include <limits.h>
#include <md5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/elf_file.h"

/* ---- source_path.c ---- */

/* One spelling for each source file. */

/*
 * Writes the path to clean[size], without "//", "/./" and "name/../".
 * (Compilers join the paths that they were given, so debug information is full
 * of these.)  A path that is not absolute is appended to the directory (NULL:
 * none).  Looks only at the text, not at links.  Returns the length; 0: it does
 * not fit, or nothing is left.
 */
size_t source_path_clean(char *clean, size_t size, const char *directory,
                         const char *path);

/* ---- source_digest.c ---- */

/*
 * The digest that debug information has of a source file.
 *
 * Line tables of DWARF 5 may have the MD5 of each file as it was compiled;
 * clang writes it.
 */

/*
 * Finds the MD5 of a source file by its path, as address_lines.h has it, in the
 * debug information of a module.  Reads the headers of the line tables, every
 * number checked; not if they are compressed.  Whether there is one.
 */
bool source_digest_find(const struct module_file *module, const char *path,
                        unsigned char digest[MD5_DIGEST_LENGTH]);

/* ---- source_file.c ---- */

/*
 * Finds and reads the source files that a profile names.
 *
 * A profile may name any file, and what is shown of it goes into pages that are
 * shared.  So a file is read only if it looks like source, and one of these
 * vouches for it: the place where it lies, the recording, or its digest.
 */

/* Where to search.  All is borrowed. */
struct source_search {
	const char *const *directories;	/* [n_directories] the user's */
	size_t n_directories;
	const char *root;		/* a directory with a copy of another
					 * machine's files; NULL: none */
	bool was_recorded_here;		/* the profile was: its paths may lead
					 * anywhere on this machine */
	/* Whether this is the digest of what was compiled as `path`. */
	bool (*is_compiled)(void *context, const char *path,
	                    const unsigned char digest[MD5_DIGEST_LENGTH]);
	/* Gets the file that was compiled as `path` from elsewhere; whether it
	 * is at found[PATH_MAX] now.  NULL: no file is. */
	bool (*fetch)(void *context, const char *path, char *found);
	void *context;
};

enum source_state {
	SOURCE_READ,
	SOURCE_MISSING,		/* no such file in any place */
	SOURCE_UNREADABLE,	/* the one found is no regular file, forbidden,
				 * or beyond SOURCE_MAX */
	SOURCE_NOT_SOURCE,	/* it does not look like source */
	SOURCE_ELSEWHERE,	/* nothing vouches for it */
};

enum { SOURCE_MAX = 256 << 20 };	/* bytes */

struct source_file {
	enum source_state state;
	bool is_fetched;	/* it is not of this machine */
	char path[PATH_MAX];	/* where it was found, unless missing */
	char real_path[PATH_MAX];	/* without links and ".." */
	uint64_t mtime_ns;	/* if it was read; likewise */
	unsigned char digest[MD5_DIGEST_LENGTH];
	struct text_lines text;
};

/*
 * Searches a source file by its path in the profile, and reads the first file
 * that is found and may be shown: in the user's directories in their order, in
 * each by the whole path, then without its first component, and so on down to
 * its name; below the root; at the path itself; and where search->fetch gets it,
 * which vouches for it, too.  A relative path without a root starts from the
 * current directory.
 *
 * The file must be one that named_file.h opens, and look like source: a text
 * with the ending of a programming language, or whose first line says what it
 * is ("#!", "-*-").  And, links and ".." followed, it must lie below one of the
 * directories, the root or the current directory (unless that is /); or the
 * profile was recorded here; or its digest is that of what was compiled.
 *
 * 0, or -1 with *error set for want of memory; source_file_free in either case.
 */
int source_file_read(struct source_file *source, const char *path,
                     const struct source_search *search,
                     struct error *error);
void source_file_free(struct source_file *source);

/* ---- lines_choice.c ---- */

/*
 * Which debug information is read together with a profile.
 *
 * Inlined functions are what the author of a program looks for, but debug
 * information can be large.  So it is chosen once, when a profile is loaded, by
 * what the profile and the files of its modules are, and never by what was read
 * before: the same profile and files show the same text.
 */

/*
 * Bytes of debug information that are read in about a third of a second
 * (doc/performance.md), of all modules together.
 */
#define LINES_CHOICE_BYTES (UINT64_C(48) << 20)

/*
 * Chooses modules whose debug information has most_bytes together, those with
 * the most frames that lack lines first, of equals the first by path.  Such
 * frames of other modules become deferred.  Frames that lacked lines in an
 * earlier choice still count as such.  A module whose build the profile does
 * not tell is chosen only if frames have their names from its symbols: text
 * that names functions may be of another machine.  A module whose debug
 * information is too large gets its deferred_bytes.  Sets may_have_inlined.
 * Opens the file of each module that has such frames.
 */
int lines_choose(struct profile *profile, const struct symbol_search *search,
                 uint64_t most_bytes, struct error *error);

/* ---- address_lines.c ---- */

/*
 * Lines and inlined calls for a profile's addresses.
 *
 * Debug information is large and slow to read, and most questions do not need
 * it.  So a profile is loaded without.  Once lines or inlined calls are asked
 * for, the part that its addresses need is read; and remembered, for the next
 * profile that has the same addresses in the same modules.
 */

struct address_lines;

/*
 * Remembers nothing at first.  search: see module_symbols_new.  Freed with
 * address_lines_free; NULL with *error set.
 */
struct address_lines *address_lines_new(const struct symbol_search *search,
                                        struct error *error);
void address_lines_free(struct address_lines *lines);

enum lines_wanted {
	LINES_NONE,
	LINES_CHOSEN,		/* of frames that are not deferred */
	LINES_ALL,
};

/*
 * Gives each frame that is wanted and has an address in a module, but neither
 * file nor line, the locations that debug information has for it.  The
 * outermost location keeps the function it has, so that the totals of functions
 * do not change.  Names of inlined functions are demangled like symbols.
 * Frames without debug information stay as they are.
 *
 * Warns in the profile of each module whose debug information is damaged (none
 * of it is then used), and with one line of those that have none; of each
 * module only once.  progress: of one module after the other, in bytes of debug
 * information; may be NULL.
 *
 * 0, or -1 with *error set for want of memory or after Ctrl-C; some frames may
 * then have lines, and what was read is remembered.
 */
int address_lines_apply(struct address_lines *lines, struct profile *profile,
                        enum lines_wanted wanted,
                        const struct progress *progress,
                        struct error *error);

/*
 * Finds the locations of addresses[n], ascending, of a module, and remembers
 * them.  Calls found once for each address of which something is known, with
 * its index and its chain, outermost first; the outermost function is NO_NAME,
 * and names are numbers in *names, valid as long as `lines`.  Does not open a
 * file with more than most_bytes, for a question that is not worth the wait.
 * 0, or -1 with *error set, by found, too.
 */
int address_lines_find(struct address_lines *lines,
                       const struct module *module,
                       const uint64_t *addresses, size_t n,
                       uint64_t most_bytes,
                       int (*found)(void *context, size_t which,
                                    const struct location *chain, size_t n,
                                    const struct names *names,
                                    struct error *error),
                       void *context, struct error *error);

/*
 * Whether the debug information of a module was read for all frames of the last
 * profile.
 */
bool address_lines_were_read(const struct address_lines *lines,
                             const struct module *module);

#endif
