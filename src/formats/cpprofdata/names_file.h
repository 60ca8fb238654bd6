/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names_file.h -- the kept names of a recording's addresses: a file beside
 * those of its processes, or chunks in a file written by `export`.
 */
#ifndef CPPROF_FORMATS_NAMES_FILE_H
#define CPPROF_FORMATS_NAMES_FILE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/writer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/source.h"
#include "src/profile/profile.h"
#include "src/symbols/lines/address_lines.h"
#include "src/symbols/names/kept_names.h"

/*
 * Reads the names in a source, freed with kept_names_free.  Nothing in it is
 * trusted: what is invalid is left out, and *damage describes the first such
 * thing.  NULL with *error set if the source is no file of names, or memory
 * runs out.
 */
struct kept_names *names_file_read(struct source *source, struct error *damage,
                                   struct error *error);

/* Likewise the names within a file of samples; NULL also if it has none. */
struct kept_names *names_file_within(const struct cpprofdata_file *file,
                                     struct error *damage,
                                     struct error *error);

/* A process, and its addresses: codes[first] .. codes[first + n - 1]. */
struct named_process {
	uint32_t pid;
	uint64_t start_ns;
	size_t first, n;
};

/* An address of a process outside all modules, ascending. */
struct named_code {
	uint64_t address;
	uint32_t function, file;	/* names of the profile; NO_NAME */
	uint32_t line;
	uint32_t offset;		/* into the function, or NO_OFFSET */
};

/* The names to keep. */
struct names_file {
	/*
	 * Frames with a module, their names, and lines if known; each module
	 * and address once.
	 */
	const struct profile *profile;
	/*
	 * [n_frames] The addresses under which frames are kept if their own
	 * are not unique.  Frames without a module are then kept, too, as
	 * those of the first process, except those that have 0 here.  NULL:
	 * frames are kept under their own addresses, and those without a
	 * module are not kept.
	 */
	const uint64_t *addresses;
	/* The source of lines, which knows which frames have none; or NULL. */
	const struct address_lines *lines;
	bool keeps_lines;	/* also keeps lines that came from another
				 * format instead of debug information */
	bool omits_deferred;	/* without the inlined functions of deferred
				 * frames (profile.h) */
	/* Code that processes generated at run time. */
	const struct named_process *processes;
	size_t n_processes;
	const struct named_code *codes;
	uint64_t named_ns;		/* when the samples were read; UTC
					 * since 1970 */
};

/*
 * Writes it; NULL: a file without names, which records that none are wanted.
 * 0, or -1 with *error set; the writer has errors of its own.
 */
int names_file_write(const struct names_file *names, struct writer *writer,
                     struct error *error);

/*
 * Only its chunks, for a file of samples, with strings numbered from
 * first_string.  Freed with names_chunks_free; NULL with *error set.
 */
struct names_chunks;
struct names_chunks *names_chunks_new(const struct names_file *names,
                                      uint64_t first_string,
                                      struct error *error);
void names_chunks_free(struct names_chunks *chunks);

/* Their size in bytes; names_chunks_write writes exactly as many. */
uint64_t names_chunks_size(const struct names_chunks *chunks);
void names_chunks_write(const struct names_chunks *chunks,
                        struct writer *writer);

#endif
