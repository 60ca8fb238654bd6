/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h -- the formats: finding out which one a file has, and loading it.
 *
 * A format is a row of list.def with a probe and a reader.
 */
#ifndef CPPROF_FORMATS_FORMAT_H
#define CPPROF_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/formats/source.h"
#include "src/profile/profile.h"
#include "src/symbols/names/program.h"

/* ---- foreign.c ---- */

/*
 * Formats that are recognised but not read.
 *
 * A file that no reader is sure of is often some other tool's: then the error
 * names it and says what makes a profile of it.
 *
 * How the loader decides:
 * 1. Every reader's probe looks at the first 64 KiB.  One that is PROBE_SURE
 *    reads the file.
 * 2. Else, if the first bytes carry the signature of a foreign format, the
 *    file is refused by that name.
 * 3. Else the surest reader takes it: collapsed stacks, if at least half of
 *    its first lines are stacks, or fewer but one of them joins names with
 *    ';' (collapsed.c).  So one bad line is an error at that line, never
 *    another format.
 * 4. Vague signatures (JSON, XML, HTML, a few letters) count only where no
 *    reader was at least PROBE_LIKELY: a stack may begin with '[' or '<'.
 */

struct foreign_format {
	const char *name;	/* with its article: "a JFR recording" */
	const char *advice;	/* what to do, without a full stop */
};

/*
 * The foreign format of a file that begins with head[size]; NULL: none is
 * known.  with_vague: ask signatures of rule 4 as well.
 */
const struct foreign_format *foreign_format_find(const char *head, size_t size,
                                                 bool with_vague);

/* ---- format.c ---- */

/* One row for each file format; the loader asks their probes. */

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
					 * elf_file.h; may be NULL */
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
	bool has_runs;			/* of a merged profile by id the members
					 * are parts of one resource, see
					 * fleet_make_runs; */
	const char *resource;		/* this one, NULL: the first */
};

/*
 * How sure a probe is.  Only what is not PROBE_SURE may turn out to be a format
 * that is known but not read: foreign.c says how the loader decides.
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
 * Reads one file that was found, and not named by the user, with the limits of
 * load_profiles.  What is no regular file of that format is refused by its
 * first bytes.
 */
struct profile *load_of_format(const char *path, const struct format *format,
                               const struct read_options *options,
                               struct error *error);

/*
 * Reads and merges n >= 1 inputs.  Each path is a file of any known format,
 * perhaps compressed, "-" for standard input, or a directory.  Of a directory
 * all files named cpprofdata* are read, in byte order, or if there is none the
 * file named data, as perf writes it, or those of the recordings in it
 * (run_list.c); if there are none either, it is an error.  One of the paths may
 * be an ELF file: it is no input but becomes read_options.program, which
 * callers leave NULL; if no input uses it, a warning says so.  Files in
 * directories that cannot be read are left out with a warning, unless nothing
 * is left.  The profile is the caller's; NULL with *error set.
 */
struct profile *load_profiles(const char *const *paths, size_t n,
                              const struct read_options *options,
                              struct error *error);

/* ---- run_list.c ---- */

/*
 * Which runs of a program paths stand for.
 *
 * A file is a run, and so is a recording, a directory with a file for each
 * process.  A directory without such files in which there are recordings holds
 * several runs: record --repeat writes one.  To merge, any directory without a
 * recording's files holds many profiles.
 */

/* Start with { 0 }. */
struct run_list {
	const char *output;	/* a file to write, which is no member of a
				 * directory; "-": standard output; NULL: none */
	bool was_output_found;	/* in a directory, and left out */
	char **paths;		/* [n] as load_profiles takes them */
	size_t n, capacity;
	char *program;		/* the ELF file that was among the paths, which
				 * goes with each of them; NULL: none was */
};

/*
 * Adds the recordings in a directory, in the order of their names, numbers in
 * these by value; none if there are no recordings in it.
 */
int run_list_add_directory(struct run_list *runs, const char *path,
                           struct error *error);

/* Adds the runs that n paths stand for. */
int run_list_add_paths(struct run_list *runs, const char *const *paths,
                       size_t n, struct error *error);

/*
 * Adds the members of a merged profile that a path stands for: the path itself
 * if it is a file, a recording, or a directory of perf; else all files and
 * recordings below the directory, at any depth, but for what is hidden, links
 * to directories, pipes and the like, and the output.  If there are none, or
 * the directory cannot be read, the path itself, for the reader to say so.
 */
int run_list_add_members(struct run_list *runs, const char *path,
                         struct error *error);

/*
 * Whether no two of the paths are one file, or a file and the recording in
 * which it is: it would count twice.  Pipes and devices are not looked at.
 * O(n log n).
 */
int run_list_check_distinct(const struct run_list *runs, struct error *error);

void run_list_free(struct run_list *runs);

#endif
