/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_names.h -- functions, files and objects of a callgrind file.
 *
 * "fn=(12) parse" defines (12) from here on, "fn=(12)" uses it, and "fn=parse"
 * needs no number.  Functions, files and objects have separate numbers.  The
 * meaning of a number may change in the next part of a file.
 *
 * While the file is read a function is a node of the graph, with its whole
 * text and the file and object in which it is defined; at the end
 * callgrind_contexts.h makes names of these.
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

/* The kinds of names. */
enum callgrind_kind { CALLGRIND_OBJECT, CALLGRIND_FILE, CALLGRIND_FUNCTION };

/* Freed with callgrind_names_free; NULL with *error set. */
struct callgrind_names *callgrind_names_new(struct error *error);
void callgrind_names_free(struct callgrind_names *names);

/*
 * The number of the object or file named by text[length], the text after the
 * '='; an undefined number is "???".  NO_NAME with *error set if memory runs
 * out.
 */
uint32_t callgrind_names_add(struct callgrind_names *names,
                             enum callgrind_kind kind, const char *text,
                             size_t length, struct error *error);

/*
 * The object and file in which a function is defined, as texts; NO_NAME:
 * unknown.  Guessed: the line is a call without them, so those of the caller,
 * or "???".
 */
struct callgrind_home {
	uint32_t object, file;
	bool is_object_guessed, is_file_guessed;
};

/*
 * The node of the named function, which is entered if it is new.  The same
 * number in another object is another function.  But go tool pprof writes no
 * objects of calls: there, a number that is no function of the caller's object
 * is the function of that file that had the number last; if it is not defined
 * yet, its object is the one in which it will be.  UINT32_MAX with *error set,
 * without file and line: memory has run out, or the number is undefined.
 */
uint32_t callgrind_names_node(struct callgrind_names *names,
                              struct call_graph *graph,
                              struct callgrind_home home, const char *text,
                              size_t length, struct error *error);

/*
 * What identifies a node, as texts; NO_NAME: unknown.  A node's name is the
 * number of its text, and a place's file is that of the file's text.
 */
struct callgrind_key {
	uint32_t text, file, object;
};

/* The key of a node. */
struct callgrind_key callgrind_names_key(const struct callgrind_names *names,
                                         uint32_t node);

/* The texts of all kinds. */
const struct names *callgrind_names_texts(const struct callgrind_names *names);

#endif
