/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.h -- errors travel as values: one text, the first one wins.
 *
 * A function whose last parameter is a struct error * can fail.  Unless its
 * comment says otherwise, one that returns int returns 0, or -1 with *error
 * set; one that returns a pointer returns NULL with *error set.  Running out of
 * memory and Ctrl-C are such errors, too.  Comments say what else is special:
 * why it fails, what the error leaves as it was, or which text it has.
 */
#ifndef CPPROF_BASE_ERROR_H
#define CPPROF_BASE_ERROR_H

#include <stdbool.h>

/*
 * What went wrong, in one line without a trailing newline.  Start with `struct
 * error error = { 0 };`.  The text names file and line or offset, and what was
 * expected: "prof.pb: 0x1f4: varint longer than 10 bytes".  It may hold
 * untrusted bytes (file and function names), which whoever prints it must
 * escape.
 */
struct error {
	bool is_set;
	bool is_out_of_memory;	/* nothing is wrong with the input */
	char text[1000];
};

/*
 * Sets the text, unless there is an earlier error.  Always returns -1, so that
 * `return error_set(error, ...)` reports and fails.
 */
int error_set(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same when memory is short: the text is "out of memory". */
int error_out_of_memory(struct error *error);

/* Sets what another error says, unless there is an earlier one; returns -1. */
int error_pass(struct error *error, const struct error *other);

#endif
