/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_names.h -- functions, files and objects of a callgrind file.
 *
 * "fn=(12) parse" says what (12) means from here on, "fn=(12)" uses it, and
 * "fn=parse" does without.  Functions, files and objects number apart.  What a
 * number means may change with the next part of a file.
 *
 * A function is a node of the graph while the file is read, under its whole
 * text and the file and object it is defined in; callgrind_contexts.h makes
 * names of it in the end.
 */
#ifndef CPPROF_FORMATS_CALLGRIND_NAMES_H
#define CPPROF_FORMATS_CALLGRIND_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/call_graph.h"

struct callgrind_names;

/* What a line can name. */
enum callgrind_kind { CALLGRIND_OBJECT, CALLGRIND_FILE, CALLGRIND_FUNCTION };

/* Freed with callgrind_names_free; NULL with *error set. */
struct callgrind_names *callgrind_names_new(struct error *error);
void callgrind_names_free(struct callgrind_names *names);

/*
 * The number of the object or file that text[length], what stands behind the
 * '=', names; a number that means nothing yet is "???".  NO_NAME with *error
 * set for want of memory.
 */
uint32_t callgrind_names_add(struct callgrind_names *names,
                             enum callgrind_kind kind, const char *text,
                             size_t length, struct error *error);

/*
 * Where a function is defined, as texts; NO_NAME: unknown.  Guessed: the line
 * is a call that names none, so that it is taken to be the caller's, or "???".
 */
struct callgrind_home {
	uint32_t object, file;
	bool is_object_guessed, is_file_guessed;
};

/*
 * The node of the function that is named, which is entered if it is new.  The
 * same number under another object is another function.  But go tool pprof
 * names no objects of calls: a number that is not a function of the caller's
 * object is the function of that file that had the number last; if it is not
 * defined yet, its object is the one under which it will be.  UINT32_MAX with
 * *error set, without file and line: memory is short, or the number means
 * nothing.
 */
uint32_t callgrind_names_node(struct callgrind_names *names,
                              struct call_graph *graph,
                              struct callgrind_home home, const char *text,
                              size_t length, struct error *error);

/*
 * What tells nodes apart, as texts; NO_NAME: unknown.  A node's name is its
 * text's number, too, and a place's file that of the file's.
 */
struct callgrind_key {
	uint32_t text, file, object;
};

/* Of a node that was entered. */
struct callgrind_key callgrind_names_key(const struct callgrind_names *names,
                                         uint32_t node);

/* The texts of all kinds. */
const struct names *callgrind_names_texts(const struct callgrind_names *names);

#endif
