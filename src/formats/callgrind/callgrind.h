/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.h -- the parts of Callgrind's format, for the files of this
 * folder.
 *
 * callgrind.c reads it, with callgrind_names.c; export_callgrind.c writes it.
 */
#ifndef CPPROF_CALLGRIND_CALLGRIND_H
#define CPPROF_CALLGRIND_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/formats/reader.h"
#include "src/profile/call_graph.h"
#include "src/profile/profile.h"

/* The line "desc:" that cpprof writes where costs of calls are estimates. */
#define CALLGRIND_ESTIMATES "Calls: counted, their costs are estimates"

/*
 * Likewise where calls have costs but were not counted; each has the count 1.
 */
#define CALLGRIND_UNCOUNTED "Calls: not counted, 1 stands for any number"

/* ---- callgrind_names.c ---- */

/*
 * Functions, files and objects.  While the file is read a function is a node of
 * the graph: a node's name is the number of its text, and a place's file that
 * of the file's text.
 */

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

/* The texts of all kinds. */
const struct names *callgrind_names_texts(const struct callgrind_names *names);

/*
 * Gives all nodes of the profile's graph their names, levels and callers, and
 * all places their files, and enters the objects as modules of the profile.
 * has_contexts: whether texts are split; only those of callgrind itself are.
 */
int callgrind_names_resolve(const struct callgrind_names *names,
                            struct profile *profile, bool has_contexts,
                            struct error *error);

#endif
