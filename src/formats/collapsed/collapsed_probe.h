/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_probe.h -- whether a text is collapsed stacks.
 *
 * Any text could be collapsed stacks with bad lines.  The rule:
 *
 * - A text that begins with "# cpprof 1" is (PROBE_SURE).
 * - Otherwise the first hundred complete lines that are neither blank nor
 *   comments decide.  A line is a stack if it ends in a blank and a number,
 *   and if the text before these has a letter and does not end as a field's
 *   name or value does ("x = 5", "x: 5", "x, 5").  With a ';' between names
 *   only an operator before the number makes it no stack ("a; b = 5").  If the
 *   blank is a tab, there must be a ';': lines without one are rows of a
 *   table.
 * - If at least half of the lines are stacks, the text is (PROBE_LIKELY).  If
 *   fewer are, but one of these has a ';', it may be (PROBE_MAYBE); so may a
 *   text whose first line is longer than the probe can see.  Then a malformed
 *   line is an error at that line.
 * - Otherwise it is not (PROBE_NO).
 *
 * format.h defines these answers.
 */
#ifndef CPPROF_FORMATS_COLLAPSED_PROBE_H
#define CPPROF_FORMATS_COLLAPSED_PROBE_H

#include <stddef.h>

int collapsed_probe(const void *head, size_t size);

#endif
