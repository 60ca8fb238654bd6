/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h -- one row for each file format; the loader asks their probes. */
#ifndef CPPROF_FORMATS_FORMAT_H
#define CPPROF_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/formats/source.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

struct recording_names;
struct stack_list;

/* The hash of one or several files; start with `{ 0 }`. */
struct content {
	uint64_t n;
	unsigned char hash[CONTENT_HASH_SIZE];
};

struct read_options {
	bool lenient;			/* skip and count what fits no rule */
	bool has_thread_frames;		/* the outermost frame of collapsed
					 * stacks is their thread */
	const struct progress *progress;	/* may be NULL */
	const char *symfs;		/* where modules are sought first, see
					 * module_file.h; may be NULL */
	const char *program;		/* the executable that wrote inputs
					 * that have addresses and nothing to
					 * find names by; NULL: unknown */
	bool *is_program_used;		/* set if an input takes names from
					 * it; may be NULL */
	struct recording_names *names;	/* for names that recordings keep; NULL:
					 * they are not used */
	struct content *content;	/* becomes the hash of the inputs; may
					 * be NULL */
	struct module_cache *modules;	/* symbols of earlier inputs, to be
					 * used and added to; may be NULL */
	struct stack_list *stacks;	/* a reader may fill it in place of
					 * making a tree, see profile.h; may
					 * be NULL */
};

/*
 * How sure a probe is.  Only what is not PROBE_SURE may turn out to be a format
 * that is known but not read: foreign.h says how the loader decides.
 */
enum { PROBE_NO = 0, PROBE_MAYBE = 1, PROBE_LIKELY = 2, PROBE_SURE = 3,
       PROBE_OUT_OF_MEMORY = -1 };

/* Bytes that a probe sees, fewer only at the end of the input. */
enum { FORMAT_HEAD_SIZE = 64 << 10 };

struct format {
	const char *name;	/* "collapsed stacks", as errors call it */
	const char *summary;	/* "collapsed stacks, one a line" */

	/*
	 * Looks at the first bytes (decompressed, at most FORMAT_HEAD_SIZE)
	 * and says PROBE_...; never at the name.
	 */
	int (*probe)(const void *head, size_t size);

	/*
	 * Reads the whole source.  A profile with a tree or a graph, freed
	 * with profile_free, or NULL with *error set, its text beginning with
	 * source_name(source) and the line or offset.
	 */
	struct profile *(*read)(struct source *source,
	                        const struct read_options *options,
	                        struct error *error);
};

/* The formats, from formats/list.def; ends with NULL. */
extern const struct format *const formats[];

/*
 * Reads and merges n >= 1 inputs.  Each path is a file of any known format,
 * perhaps compressed, "-" for standard input, or a directory.  Of a directory
 * all files named cpprofdata* are read, in byte order, or if there is none the
 * file named data, as perf writes it, or those of the recordings in it
 * (run_list.h); if there are none either, it is an error.  One of the paths may
 * be an ELF file: it is no input but becomes read_options.program, which
 * callers leave NULL; if no input uses it, a warning says so.  Files in
 * directories that cannot be read are left out with a warning, unless nothing
 * is left.  The profile is the caller's; NULL with *error set.
 */
struct profile *load_profiles(const char *const *paths, size_t n,
                              const struct read_options *options,
                              struct error *error);

#endif
