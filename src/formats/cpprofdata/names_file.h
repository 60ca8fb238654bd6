/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names_file.h -- the file of a recording that keeps what was sampled named. */
#ifndef CPPROF_FORMATS_NAMES_FILE_H
#define CPPROF_FORMATS_NAMES_FILE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/writer.h"
#include "src/formats/source.h"
#include "src/profile/profile.h"
#include "src/symbols/address_lines.h"
#include "src/symbols/kept_names.h"

/*
 * What the source keeps, freed with kept_names_free.  Nothing in it is
 * trusted: what does not hold is left out, and *damage says what that was
 * first.  NULL with *error set where the source is no file of names, or for
 * want of memory.
 */
struct kept_names *names_file_read(struct source *source, struct error *damage,
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

/* What goes into a file of names. */
struct names_file {
	/*
	 * Its frames that have a module, named, each module and address once,
	 * and with the lines that are known.
	 */
	const struct profile *profile;
	/* Where lines were read, to tell frames that have none. */
	const struct address_lines *lines;
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

#endif
