/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.h -- the parts of Callgrind's format, for the files of this
 * folder.
 *
 * callgrind.c reads it, with the words, names, contexts and events;
 * export_callgrind.c writes it, with the costs and the output. Source: the
 * format's specification, section 3 of the Callgrind manual.
 */
#ifndef CPPROF_CALLGRIND_CALLGRIND_H
#define CPPROF_CALLGRIND_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/formats/exporter.h"
#include "src/formats/reader.h"
#include "src/profile/call_graph.h"
#include "src/profile/profile.h"

/* ---- callgrind_words.c ---- */

/* Numbers and keys in the lines of callgrind's files. */

/* The line "desc:" that cpprof writes where costs of calls are estimates. */
#define CALLGRIND_ESTIMATES "Calls: counted, their costs are estimates"

/*
 * Likewise where calls have costs but were not counted; each has the count 1.
 */
#define CALLGRIND_UNCOUNTED "Calls: not counted, 1 stands for any number"

/* What is wrong with the costs of cg_diff's files. */
#define CALLGRIND_IS_DIFFERENCE "differences of two profiles, as cg_diff " \
	"writes them, are no profile; open the two instead"

static inline const char *
callgrind_skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/*
 * Reads digits, or 0x and hexadecimal digits, up to another character.
 * Returns the position after them; NULL if they are no number of 64 bits.
 */
const char *callgrind_number(const char *at, uint64_t *number);

/* Removes blanks from both ends of text[length]. */
void callgrind_trim(const char **text, size_t *length);

/*
 * Moves to the next word, which ends at a blank; returns its length, 0 at the
 * end.
 */
size_t callgrind_next_word(const char **text, size_t *length);

/* Whether text[length] is that word. */
bool callgrind_is_key(const char *text, size_t length, const char *key);

/* ---- callgrind_names.c ---- */

/*
 * Functions, files and objects of a callgrind file.
 *
 * "fn=(12) parse" defines (12) from here on, "fn=(12)" uses it, and "fn=parse"
 * needs no number.  Functions, files and objects have separate numbers.  The
 * meaning of a number may change in the next part of a file.
 *
 * While the file is read a function is a node of the graph, with its whole
 * text and the file and object in which it is defined; at the end
 * callgrind_contexts.c makes names of these.
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

/* ---- callgrind_contexts.c ---- */

/*
 * Names from the texts of a callgrind file.
 *
 * Callgrind writes the situation of a function into its text: "parse'2" is
 * parse below itself, and with --separate-callers "parse'2'main'(below main)"
 * is the same with its callers, innermost first.  All texts must be known to
 * distinguish such a text from names that contain an apostrophe, so texts are
 * split at the end.
 */

/*
 * Gives all nodes of the profile's graph their names, levels and callers, and
 * all places their files, and enters the objects as modules of the profile.
 * has_contexts: whether texts are split; only those of callgrind itself are.
 */
int callgrind_contexts_resolve(const struct callgrind_names *names,
                               struct profile *profile, bool has_contexts,
                               struct error *error);

/* ---- callgrind_events.c ---- */

/*
 * The events that a callgrind file counts.
 *
 * 	event: Ir : Instruction Fetch	a long name; becomes the gtick's
 * 	event: Sum = Ir + 2 Dr		an event that is computed from others
 * 	events: Ir Dr			what the costs of each line count
 *
 * Every event is a resource of interval 1: those of the first events: line in
 * its order, then the derived ones.  Later parts of a file may name the same
 * events in another order, or fewer.
 */

struct event_definition;

/* Start with `{ 0 }`. */
struct callgrind_events {
	uint32_t n_columns;
	uint32_t *columns;	/* [n_columns] resources of a line's costs */
	size_t columns_capacity;
	struct event_definition *definitions;
	size_t n_definitions, definitions_capacity;
	uint32_t n_measured;	/* resources that lines count */
	bool is_fixed;		/* resources are entered */
	bool is_own;		/* written by cpprof: definitions describe the
				 * original resources */
};

void callgrind_events_free(struct callgrind_events *events);

/*
 * Reads the text after "event:" or "events:", length bytes.  Definitions after
 * the first cost come too late and are ignored.  0, or -1 with *error set to
 * what is wrong, without file and line.
 */
int callgrind_events_define(struct callgrind_events *events,
                            struct profile *profile, const char *text,
                            size_t length, struct error *error);
int callgrind_events_columns(struct callgrind_events *events,
                             struct profile *profile, const char *text,
                             size_t length, struct error *error);

/* To be called at the first cost: enters the derived events; likewise. */
int callgrind_events_fix(struct callgrind_events *events,
                         struct profile *profile, struct error *error);

/* Computes the derived events, once everything is read; likewise. */
int callgrind_events_derive(const struct callgrind_events *events,
                            struct call_graph *graph, struct error *error);

/* Notes derived events that are computed from one with costs below zero. */
int callgrind_events_note_below_zero(const struct callgrind_events *events,
                                     struct reader *reader,
                                     struct error *error);

/* ---- callgrind_costs.c ---- */

/*
 * Converts stacks to costs of functions' lines and calls.
 *
 * Recursion is represented as by callgrind --separate-recs=2: a function's
 * activations below itself are a function of their own, of level 2.  So a
 * function of level 1 is never below itself, and both the calls to it, and its
 * own hits plus the calls from it, sum to its inclusive hits; at level 2 some
 * hits count twice.
 */

#define NO_FUNCTION UINT32_MAX

struct cost_function {
	uint32_t module, name;	/* as in a frame and its location */
	uint32_t level;		/* 1 or 2 */
};

/* Hits of a function's line: own ones, or those of calls from there. */
struct cost {
	uint32_t function;
	uint32_t file;		/* a name, or NO_NAME */
	uint32_t line;
	uint32_t callee;	/* NO_FUNCTION: its own */
};

struct callgrind_costs;

/*
 * The costs of a profile with a tree.  Time O(resources * nodes), memory
 * O(costs + nodes).  NULL with *error set, or unset if the writer failed;
 * freed with callgrind_costs_free.
 */
struct callgrind_costs *callgrind_costs_new(const struct export_source *source,
                                            const struct writer *writer,
                                            struct error *error);
void callgrind_costs_free(struct callgrind_costs *costs);

size_t callgrind_costs_count(const struct callgrind_costs *costs);

/*
 * Cost number i, sorted by function, file and line, a line's own hits before
 * its calls.  *hits: of each resource.
 */
struct cost callgrind_costs_get(const struct callgrind_costs *costs, size_t i,
                                const uint64_t **hits);

/*
 * A function by its number; *file: the first file in which it was seen, or
 * NO_NAME.
 */
struct cost_function callgrind_costs_function(
    const struct callgrind_costs *costs, uint32_t function, uint32_t *file);

/* ---- callgrind_output.c ---- */

/*
 * The text of callgrind's format, line by line.
 *
 * Sticky, like text buffers: callgrind_output_flush hands the text to the
 * writer and reports failures.  Source: Valgrind's manual, "Callgrind Format
 * Specification".
 */

/* Untrusted bytes; NULL: unknown. */
struct callgrind_text {
	const char *bytes;
	size_t length;
};

/* From a name, which may be NO_NAME; from a text buffer. */
struct callgrind_text callgrind_text_of(const struct names *names,
                                        uint32_t name);
struct callgrind_text callgrind_text_made(const struct text_buffer *text,
                                          struct error *error);

/* What identifies a function in the format. */
struct callgrind_function {
	struct callgrind_text object, file, name;
};

struct callgrind_output {
	const struct profile *profile;
	struct writer *writer;
	struct text_buffer text;
	struct names *objects, *files, *functions;	/* numbered so far */
	struct text_buffer key;	/* scratch */
	uint64_t n_changed;	/* names that do not fit a line */
};

/* Call callgrind_output_free even if it fails. */
int callgrind_output_start(struct callgrind_output *output,
                           const struct profile *profile,
                           struct writer *writer, struct error *error);
void callgrind_output_free(struct callgrind_output *output);

/*
 * Adds the header, including whether calls or only their costs are known, up
 * to "summary: TOTALS"; adds the same numbers with another key.
 */
void callgrind_output_header(struct callgrind_output *output,
                             const uint64_t *totals);
void callgrind_output_totals(struct callgrind_output *output,
                             const char *key, const uint64_t *totals);

/* Begins the lines of a function. */
void callgrind_output_function(struct callgrind_output *output,
                               const struct callgrind_function *function,
                               struct error *error);

/* Begins lines of the same function in another file. */
void callgrind_output_file(struct callgrind_output *output,
                           struct callgrind_text file, struct error *error);

/* Adds a line's own hits of each resource. */
void callgrind_output_hits(struct callgrind_output *output, uint32_t line,
                           const uint64_t *hits);

/*
 * Adds calls from a line; n_calls 0: unknown.  Then 1 is written if they have
 * costs, since callgrind_annotate adds the costs of 0 calls to the caller's
 * own.
 */
void callgrind_output_call(struct callgrind_output *output,
                           const struct callgrind_function *callee,
                           uint64_t n_calls, uint32_t line,
                           const uint64_t *hits, struct error *error);

int callgrind_output_flush(struct callgrind_output *output,
                           struct error *error);

#endif
