/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_only.c -- whether this process may write files and run programs.
 *
 * What writes or runs asks here, so that no command is forgotten.
 */
#include "src/base/writer.h"

static bool is_read_only;

void
read_only_begin(void)
{
	is_read_only = true;
}

bool
read_only_is_on(void)
{
	return is_read_only;
}

int
read_only_check(const char *name, struct error *error)
{
	return is_read_only ?
	       error_set(error, "%.200s: not with --read-only", name) : 0;
}
