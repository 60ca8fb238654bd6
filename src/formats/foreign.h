/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foreign.h -- formats that are recognised but not read.
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
 *    ';' (collapsed_probe.h).  So one bad line is an error at that line, never
 *    another format.
 * 4. Vague signatures (JSON, XML, HTML, a few letters) count only where no
 *    reader was at least PROBE_LIKELY: a stack may begin with '[' or '<'.
 */
#ifndef CPPROF_FORMATS_FOREIGN_H
#define CPPROF_FORMATS_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
