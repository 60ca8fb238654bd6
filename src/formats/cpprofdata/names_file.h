/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names_file.h -- what keeps the addresses of a recording named: a file beside
 * those of its processes, or chunks in a file that `export` has written. */
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
 * What the source keeps, freed with kept_names_free.  Nothing in it is
 * trusted: what does not hold is left out, and *damage says what that was
 * first.  NULL with *error set where the source is no file of names, or for
 * want of memory.
 */
struct kept_names *names_file_read(struct source *source, struct error *damage,
                                   struct error *error);

/* Likewise what a file of samples keeps itself; NULL also where it does not. */
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

/* What is kept of names. */
struct names_file {
	/*
	 * Its frames that have a module, named, and with the lines that are
	 * known; each module and address once.
	 */
	const struct profile *profile;
	/*
	 * [n_frames] The addresses that frames are kept under, where their own
	 * are not unique.  Frames in no module are then kept, too, as the first
	 * process's, except those that have 0 here.  NULL: frames are kept
	 * under their own addresses, and those in no module are not kept.
	 */
	const uint64_t *addresses;
	/* Where lines were read: says which frames have none; or NULL. */
	const struct address_lines *lines;
	bool keeps_lines;	/* also lines that are not from debug
				 * information but from another format */
	/* Code that processes made at run time. */
	const struct named_process *processes;
	size_t n_processes;
	const struct named_code *codes;
	uint64_t named_ns;		/* when samples were looked at; UTC
					 * since 1970 */
};

/*
 * Writes it; NULL: a file that keeps nothing, and says that nothing is wanted.
 * 0, or -1 with *error set; the writer has errors of its own.
 */
int names_file_write(const struct names_file *names, struct writer *writer,
                     struct error *error);

/*
 * Its chunks alone, to stand in a file of samples, strings numbered from
 * first_string on: what such a file keeps itself.  Freed with
 * names_chunks_free; NULL with *error set.
 */
struct names_chunks;
struct names_chunks *names_chunks_new(const struct names_file *names,
                                      uint64_t first_string,
                                      struct error *error);
void names_chunks_free(struct names_chunks *chunks);

/* Their size in bytes; writes just as many. */
uint64_t names_chunks_size(const struct names_chunks *chunks);
void names_chunks_write(const struct names_chunks *chunks,
                        struct writer *writer);

#endif
