/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_probe.h -- whether a text is collapsed stacks.
 *
 * Any text could be collapsed stacks with bad lines.  The rule:
 *
 * - A text that begins with "# cpprof 1" is (PROBE_SURE).
 * - Else the first hundred lines tell that are whole, neither blank nor
 *   comments.  A line is a stack if a blank and a number end it and the text
 *   before has a letter and does not end as a field's name or value does
 *   ("x = 5", "x: 5", "x, 5").  With a ';' between names it is a stack in any
 *   case but behind an operator ("a; b = 5"), and only so if a tab stands
 *   before its number: others are rows of a table.
 * - If at least half of the lines are stacks, the text is (PROBE_LIKELY).  If
 *   fewer are, but one of these has a ';', it may be (PROBE_MAYBE), likewise a
 *   first line that is longer than what can be seen.  So lines that fit no rule
 *   are errors at that line.
 * - Else it is not (PROBE_NO).
 *
 * These are answers of a probe as format.h has it.
 */
#ifndef CPPROF_FORMATS_COLLAPSED_PROBE_H
#define CPPROF_FORMATS_COLLAPSED_PROBE_H

#include <stddef.h>

int collapsed_probe(const void *head, size_t size);

#endif
