/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_parts.h -- which parts of a function's name a reader can do without.
 *
 * A name is the text that a demangler, a compiler or a runtime made of a
 * function of C++, Rust, Go, D, Java or another language.  Which one it was is
 * not known, so the parts are found by their form alone.  A text that has none
 * of these forms has no parts.
 *
 * Names are untrusted: any bytes are accepted.  Time is O(n log n) and memory
 * O(n) in the length of the name, however deep its brackets are.
 */
#ifndef CPPROF_BASE_NAME_PARTS_H
#define CPPROF_BASE_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

enum name_part_kind {
	NAME_LIST,	/* template arguments or parameters with their
			 * brackets: "<int>", "::<T>", "(char)", "[...]" */
	NAME_ITEM,	/* of a list, with the comma before it */
	NAME_EXTRA,	/* return type, " const", "[abi:cxx11]", hash,
			 * ".constprop.0" */
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

#endif
