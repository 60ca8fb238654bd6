/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_name.h -- parts of functions' names, short names, and names that are
 * like a word.
 */
#ifndef CPPROF_BASE_SHORT_NAME_H
#define CPPROF_BASE_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/text_buffer.h"

/* ---- name_parts.c ---- */

/*
 * Which parts of a function's name a reader can do without.
 *
 * A name is the text that a demangler, a compiler or a runtime made of a
 * function of C++, Rust, Go, D, Java or another language.  Which one it was is
 * not known, so the parts are found by their form alone.  A text that has none
 * of these forms has no parts.
 *
 * Names are untrusted: any bytes are accepted.  Time is O(n log n) and memory
 * O(n) in the length of the name, however deep its brackets are.
 */

enum name_part_kind {
	NAME_LIST,	/* template arguments or parameters with their
			 * brackets: "<int>", "::<T>", "(char)", "[...]" */
	NAME_ITEM,	/* of a list, with the comma before it */
	NAME_EXTRA,	/* return type, " const", "[abi:cxx11]", hash,
			 * ".constprop.0" */
	NAME_PLACE,	/* " (app.py)" of an interpreted function: can be left
			 * out where the name is typed, and is always shown */
	NAME_DECLARATOR	/* "void (*" and ")(int)" around "f(char)": shown
			 * together or not at all */
};

/* The bytes [begin, end) of the name. */
struct name_part {
	uint32_t begin, end;
	uint32_t content;	/* of an item: where it begins after its comma
				 * and blank */
	uint32_t after;		/* the first part that is not within it */
	enum name_part_kind kind;
};

/*
 * Start with `{ 0 }`, use for many names, free with name_parts_free.  Parts lie
 * within one another or apart, and are ordered by begin, the outer first.
 */
struct name_parts {
	struct name_part *parts;
	size_t n, capacity;

	/*
	 * Where each scope of the name ends: the offset of "::", ".", "/" or
	 * of the blank after "to" in "virtual thunk to f", in order.
	 */
	uint32_t *scopes;
	size_t n_scopes, scopes_capacity;

	uint32_t begin;		/* of the first scope, after a return type */
	uint32_t last_begin, last_end;	/* the last identifier: "push_back",
					 * "operator()", "{closure#0}" */

	struct name_token *tokens;	/* scratch */
	size_t n_tokens, tokens_capacity;
};

/* Frees the arrays, which makes *parts empty and ready for use again. */
void name_parts_free(struct name_parts *parts);

/*
 * Finds the parts of name[n].  0, or -1 with *error set for want of memory.  A
 * name of more than NAME_PARTS_MAX bytes is one identifier.
 */
enum { NAME_PARTS_MAX = 1 << 20 };

int name_parts_find(struct name_parts *parts, const char *name, size_t n,
                    struct error *error);

/* Where a text that a user has begun to type stands in a name. */
enum name_beginning {
	NAME_BEGINS_NOT,
	NAME_BEGINS_WHOLE,	/* "std::so": at its first scope, or before */
	NAME_BEGINS_LAST,	/* "so", "vector::pu": after outer scopes, and
				 * it reaches the last identifier */
};

/*
 * Of typed[n_typed] and name[n]; *parts are used to find out.  Want of memory
 * is no error: then only the whole name counts.
 */
enum name_beginning name_begins(struct name_parts *parts, const char *name,
                                size_t n, const char *typed, size_t n_typed);

/*
 * The length of what stands before a function's name: "void " of "void
 * std::swap<int>(int&, int&)", which demanglers write only before some names.
 * 0: nothing, or the name is not of that form.  Needs no memory; O(n).
 */
size_t name_return_type(const char *name, size_t n);

/*
 * Where a function's name ends and its template arguments, ABI tags and
 * parameters begin: the length of "void std::swap" of the above; n if there are
 * none.  Likewise.
 */
size_t name_tail(const char *name, size_t n);

/* ---- forks.c ---- */

/*
 * Where sorted texts part: the tree of their prefixes, without the tree.
 *
 * fork[i] is the length of what items i - 1 and i of a sorted list of n have in
 * common, for i from 1 to n - 1.  In the tree of the items' prefixes, the forks
 * on the way to item i are those at fork[i], then at the nearest entry to the
 * left that is lower, and so on, and likewise to the right from fork[i + 1]:
 *
 * 	for (size_t k = i; k > 0; k = left[k])
 * 		... fork[k] ...
 * 	for (size_t k = i + 1; k < n; k = right[k])
 * 		... fork[k] ...
 *
 * Each item differs from every other one at one of these places.  There are no
 * more than twice its length.
 */

/* Sets left[i] and right[i], i from 1 to n - 1.  Time is O(n). */
void forks_link(const uint32_t *fork, uint32_t *left, uint32_t *right,
                size_t n);

/* ---- short_name.c ---- */

/*
 * Names of functions as people say them.
 *
 * The short name of "int ns::Box<int>::put<char>(char) const" is
 * "ns::Box::put". Short names are made for reading: files and other programs
 * get whole names. What can be left out is found by src/base/short_name.h; a
 * short name is never longer than the whole one and always has its last
 * identifier.
 */

/* Two texts, which are followed by a NUL; the short one may be the whole. */
struct short_name {
	const char *whole;
	size_t n_whole;
	const char *text;
	size_t length;
};

/*
 * Sets the short texts of n names whose whole texts differ, so that the short
 * ones differ, too.  Of names that would be the same, each keeps the template
 * arguments, parameters and so on in which it differs from another one of them:
 * "put<int>", "put<char>".  "…" then replaces arguments before these.
 *
 * New texts are in the arena, the others are the whole ones.
 */
int short_names_make(struct short_name *names, size_t n, struct arena *arena,
                     struct error *error);

/* Adds the short form of one name as if there were no others; likewise. */
int text_add_short_name(struct text_buffer *text, struct name_parts *parts,
                        const char *name, size_t n, struct error *error);

/*
 * Whether typed[n_typed] can stand for a name: it is the name without any of
 * the parts that a short name can lack, and "…" stands for what it replaces in
 * short names and where these are cut.  lacks_scopes: outer scopes may be
 * missing, too.  Time is O(n_typed n).  `parts` are those of the name; memory
 * as short_names_make, then false with *error set.
 */
bool short_name_stands_for(const char *typed, size_t n_typed,
                           const char *name, size_t n,
                           const struct name_parts *parts, bool lacks_scopes,
                           struct error *error);

/* ---- typed_name.c ---- */

/*
 * How a typed name stands for a function's, the closest way first.  The
 * functions that it means are those of the closest way that there is.
 */
enum name_reading {
	READING_SHORT,		/* short_name_stands_for */
	READING_INNER,		/* the same without outer scopes */
	READING_QUALIFIED,	/* its identifiers are the last ones of the
				 * name: "json.loads" for
				 * "loads (json/__init__.py)" */
	READING_SPARSE,		/* the same, with others between them:
				 * "std::vector::at" for
				 * "std::__1::vector<int>::at(int)" */
	N_NAME_READINGS		/* it does not */
};

/* Borrows its text. */
struct typed_name {
	const char *text;
	size_t length;
	const char *last, *innermost;	/* what a name must have that it is
					 * short for, that it qualifies */
	size_t n_last, n_innermost;
};

/* 0, or -1 with *error set for want of memory. */
int typed_name_make(struct typed_name *typed, const char *text, size_t n,
                    struct error *error);

/*
 * How it stands for name[n], no further than `most`.  *parts are used to find
 * out.  N_NAME_READINGS for want of memory, too, with *error set.  O(n) for
 * names without the typed function's identifier.
 */
enum name_reading typed_name_stands_for(const struct typed_name *typed,
                                        const char *name, size_t n,
                                        enum name_reading most,
                                        struct name_parts *parts,
                                        struct error *error);

/*
 * What was typed as identifiers with dots between them, and how many there are;
 * 0: they are longer than size, or there are none.
 */
size_t typed_name_path(const char *text, size_t n, char *path, size_t size,
                       size_t *n_identifiers);

/*
 * The same for the last identifiers of name[n], no more than n_last.  *parts
 * are used to find out; 0 for want of memory, too.
 */
size_t typed_name_path_of(const char *name, size_t n, size_t n_last,
                          struct name_parts *parts, char *path, size_t size);

/* ---- near.c ---- */

/*
 * Similar words for "did you mean".
 *
 * Words that begin with what was typed come first: most people stop typing
 * where they think that it is clear.
 */

enum {
	NEAR_MOST = 5,
	NEAR_LONGEST = 64,	/* bytes of what is compared letter by letter */
};

/* The nearest of the words offered so far, best first. */
struct near {
	const char *wanted;
	size_t length;
	bool is_part;
	char path[NEAR_LONGEST];	/* the wanted function's identifiers */
	size_t n_path, n_identifiers;
	struct near_letters {
		uint64_t single, pairs[4];
	} letters;			/* those of path */
	struct near_word {
		const char *text;
		size_t length;
		unsigned distance;
		uint64_t hits;
	} words[NEAR_MOST];
	size_t n;
	struct name_parts parts;	/* scratch, freed by near_add */
};

/*
 * Both texts are borrowed for as long as the struct is used, which ends with
 * near_add.
 */
void near_start(struct near *near, const char *wanted, size_t length);

/* The same for a part of words, such as the literal text of a glob. */
void near_start_part(struct near *near, const char *wanted, size_t length);

/*
 * Offers a word, which is kept if it contains the wanted one, or differs (of a
 * part: if something in it differs) in at most a third of its letters
 * (insertions, deletions, replacements, swaps of neighbours, ignoring case).
 * Words that begin with the wanted one come first, then those whose last
 * identifier does (name_begins), then the others, the nearest first.
 * Of equally near words the first one wins.
 */
void near_offer(struct near *near, const char *text, size_t length);

/*
 * The same for a function, of which the last identifiers may be near, too
 * (typed_name.c): "json.laods" to "loads (json/__init__.py)".  One whose last
 * identifier is the wanted one's is near whatever its scopes.  Of equally near
 * functions that with most hits wins.
 */
void near_offer_function(struct near *near, const char *text, size_t length,
                         uint64_t hits);

/*
 * Adds "; did you mean a, b or c?", or nothing if no word is near.  If words
 * are very long, only the first ones are in it, at least one.
 */
void near_add(struct near *near, struct text_buffer *text);

#endif
