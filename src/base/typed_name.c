/* SPDX-License-Identifier: GPL-3.0-or-later */
/* typed_name.c -- which functions a typed name stands for.
 *
 * A programmer types names by the rules of a language, and a profile has them
 * by those of a compiler, a runtime or another tool. Where a name is not short
 * for another one (short_name.c), both are taken as lists of identifiers, from
 * the outermost scope to the function. What separates them and what arguments
 * they have does not matter. The file of an interpreted function is its module:
 *
 *	loads (json/__init__.py)			json loads
 *	<alloc::vec::Vec<T> as Extend<T>>::extend	alloc vec Vec extend
 *	net/http.(*Server).Serve			net http Server Serve
 *	Lcom/example/Foo;::bar				com example Foo bar
 *
 * The typed identifiers have to be the last ones of the name. If no function
 * has that, others may be between them, as "decoder" is where
 * "json.JSONDecoder.decode" stands for "JSONDecoder.decode (json/decoder.py)".
 */
#include "src/base/short_name.h"

#include <string.h>

enum {
	IDENTIFIERS_MAX = 32,	/* of longer names, the innermost */
	NESTED_MAX = 8,		/* brackets of Rust's types */
};

struct identifier {
	const char *text;
	size_t length;
};

struct identifiers {
	struct identifier items[IDENTIFIERS_MAX];
	size_t n;
};

/* Which type of "<Type as Trait>" is the function's scope. */
enum typed_name_side { SIDE_TYPE, SIDE_TRAIT };

static bool
typed_name_begins(const char *text, size_t n, const char *word)
{
	const size_t length = strlen(word);

	return length <= n && memcmp(text, word, length) == 0;
}

static void
typed_name_add(struct identifiers *list, const char *text, size_t n)
{
	/* "(*Server)" of Go */
	if (n > 2 && text[0] == '(' && text[n - 1] == ')') {
		const size_t skipped = text[1] == '*' ? 2 : 1;

		text += skipped;
		n -= skipped + 1;
	}
	if (n == 0)
		return;
	if (list->n == IDENTIFIERS_MAX)
		memmove(&list->items[0], &list->items[1],
		        --list->n * sizeof *list->items);
	list->items[list->n++] = (struct identifier){ text, n };
}

static bool
typed_name_separates(char c)
{
	return c == ':' || c == '.' || c == '/' || c == '\\' || c == '#';
}

/*
 * Adds the identifiers of a path, which are separated outside brackets.
 * has_arguments: what is in angle brackets after one does not belong to it.
 */
static void
typed_name_split(struct identifiers *list, const char *text, size_t n,
                 bool has_arguments)
{
	size_t begin = 0, end = SIZE_MAX, depth = 0;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i];

		if (i == begin && typed_name_begins(text + i, n - i,
		                                    "operator"))
			break;
		if (c != '\0' && strchr("(<[{", c) != NULL) {
			if (has_arguments && depth == 0 && c == '<' &&
			    i > begin && end == SIZE_MAX)
				end = i;
			depth++;
		} else if (c != '\0' && strchr(")>]}", c) != NULL) {
			depth -= depth > 0;
		} else if (depth == 0 && typed_name_separates(c)) {
			typed_name_add(list, text + begin,
			               (end < i ? end : i) - begin);
			begin = i + 1;
			end = SIZE_MAX;
		}
	}
	typed_name_add(list, text + begin, (end < n ? end : n) - begin);
}

/* Where a word begins outside the brackets of text[n]; n: it does not. */
static size_t
typed_name_find_word(const char *text, size_t n, const char *word)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '<' || text[i] == '(')
			depth++;
		else if (text[i] == '>' || text[i] == ')')
			depth -= depth > 0;
		else if (depth == 0 && typed_name_begins(text + i, n - i, word))
			return i;
	}
	return n;
}

/*
 * Takes the type or the trait out of "<Type as Trait>" or
 * "<impl Trait for Type>"; false: it has no trait.
 */
static bool
typed_name_choose(struct identifier *scope, enum typed_name_side side)
{
	const char *text = scope->text + 1;
	const size_t n = scope->length - 2;
	const bool is_impl = typed_name_begins(text, n, "impl ");
	const size_t begin = is_impl ? 5 : 0;
	const size_t word = begin + typed_name_find_word(text + begin,
	    n - begin, is_impl ? " for " : " as ");
	const size_t after = word + (is_impl ? 5 : 4);

	*scope = (struct identifier){ text + begin, word - begin };
	if (word == n)
		return side == SIDE_TYPE;
	if (is_impl == (side == SIDE_TYPE))
		*scope = (struct identifier){ text + after, n - after };
	return true;
}

/* The length of what is before a type: "&mut ". */
static size_t
typed_name_before_type(const struct identifier *scope)
{
	static const char *const words[] = {
		"&", "*", "mut ", "const ", "dyn ", " ",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (typed_name_begins(scope->text, scope->length, words[i]))
			return strlen(words[i]);
	return 0;
}

/* Adds the path of a type or a trait that is a scope, between "<" and ">". */
static bool
typed_name_add_type(struct identifiers *list, const char *text, size_t n,
                    enum typed_name_side side)
{
	struct identifier scope = { text, n };

	for (int k = 0; k < NESTED_MAX; k++) {
		size_t skipped;

		if (scope.length < 2 || scope.text[0] != '<' ||
		    scope.text[scope.length - 1] != '>')
			break;
		if (!typed_name_choose(&scope, k == 0 ? side : SIDE_TYPE))
			return false;
		while ((skipped = typed_name_before_type(&scope)) > 0) {
			scope.text += skipped;
			scope.length -= skipped;
		}
	}
	typed_name_split(list, scope.text, scope.length, true);
	return true;
}

/* Adds "json" for "json/__init__.py:299", "json" and "decoder" for
 * "json/decoder.py". */
static void
typed_name_add_file(struct identifiers *list, const char *text, size_t n)
{
	static const char package[] = "__init__";
	size_t end = n;

	while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	if (end > 0 && end < n && text[end - 1] == ':')
		n = end - 1;
	for (end = n; end > 0 && text[end - 1] != '/'; end--)
		if (text[end - 1] == '.') {
			n = end - 1;
			break;
		}
	if (n >= sizeof package - 1 && memcmp(text + n - (sizeof package - 1),
	    package, sizeof package - 1) == 0)
		n -= sizeof package - 1;
	for (size_t begin = 0; begin < n; begin = end + 1) {
		for (end = begin; end < n && text[end] != '/' &&
		     text[end] != ':'; end++)
			;
		typed_name_add(list, text + begin, end - begin);
	}
}

/* "py::loads:/usr/lib/python3.12/json/__init__.py", as CPython's perf support
 * names functions; whether it is of that form. */
static bool
typed_name_read_trampoline(struct identifiers *list, const char *name,
                           size_t n)
{
	static const char prefix[] = "py::";
	const size_t begin = sizeof prefix - 1;
	const char *colon = memrchr(name, ':', n);
	size_t place;

	if (!typed_name_begins(name, n, prefix) || colon <= name + begin)
		return false;
	place = (size_t)(colon - name) + 1;
	typed_name_add_file(list, name + place, n - place);
	typed_name_split(list, name + begin, place - 1 - begin, false);
	return true;
}

/* Where a scope's arguments begin, or its end: "<Vec<T> as Trait>" has none. */
static size_t
typed_name_arguments(const struct name_parts *parts, size_t *part,
                     const char *name, size_t begin, size_t end)
{
	if (name[begin] == '<')
		return end;
	while (*part < parts->n && parts->parts[*part].begin <= begin)
		++*part;
	for (size_t i = *part; i < parts->n && parts->parts[i].begin < end;
	     i++)
		if (parts->parts[i].kind != NAME_ITEM)
			return parts->parts[i].begin;
	return end;
}

static bool
typed_name_add_scope(struct identifiers *list, const char *text, size_t n,
                     enum typed_name_side side, bool *has_side)
{
	if (n < 2 || text[0] != '<' || text[n - 1] != '>') {
		typed_name_split(list, text, n, false);
		return true;
	}
	*has_side = true;
	return typed_name_add_type(list, text, n, side);
}

/*
 * What tools add to a name: "L" and ";" of a class of Java, "_[j]" of
 * compiled code, the number of arguments of Erlang.
 */
static void
typed_name_clean(struct identifiers *list)
{
	struct identifier *last = &list->items[list->n - 1];
	size_t n_digits = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct identifier *item = &list->items[i];

		if (item->length < 2 || item->text[item->length - 1] != ';')
			continue;
		item->length--;
		if (list->items[0].text[0] == 'L' &&
		    list->items[0].length > 1) {
			list->items[0].text++;
			list->items[0].length--;
		}
	}
	if (last->length > 4 && last->text[last->length - 1] == ']' &&
	    memcmp(last->text + last->length - 4, "_[", 2) == 0)
		last->length -= 4;
	while (n_digits < last->length && last->text[n_digits] >= '0' &&
	       last->text[n_digits] <= '9')
		n_digits++;
	if (list->n > 1 && n_digits == last->length)
		list->n--;
}

/* Whether all of a name after its last identifier can be left out. */
static bool
typed_name_ends(const struct name_parts *parts, size_t n)
{
	size_t end = parts->last_end;

	for (size_t i = 0; i < parts->n; i++)
		if (parts->parts[i].begin == end)
			end = parts->parts[i].end;
	return end == n;
}

/*
 * The identifiers of a name whose parts are known; false: it has none on that
 * side.
 */
static bool
typed_name_read(struct identifiers *list, const char *name, size_t n,
                const struct name_parts *parts, enum typed_name_side side)
{
	const struct name_part *place = parts->n == 0 ? NULL :
	    &parts->parts[parts->n - 1];
	size_t begin = parts->begin, part = 0;
	bool has_side = side == SIDE_TYPE;

	list->n = 0;
	if (typed_name_read_trampoline(list, name, n))
		return list->n > 0 && has_side;
	if (!typed_name_ends(parts, n))
		return false;
	/* " (json/decoder.py)" */
	if (place != NULL && place->kind == NAME_PLACE)
		typed_name_add_file(list, name + place->begin + 2,
		                    place->end - place->begin - 3);
	for (size_t i = 0; i <= parts->n_scopes; i++) {
		const size_t end = i < parts->n_scopes ? parts->scopes[i] :
		    parts->last_end;

		if (end > begin && !typed_name_add_scope(list, name + begin,
		        typed_name_arguments(parts, &part, name, begin, end) -
		        begin, side, &has_side))
			return false;
		if (i < parts->n_scopes)
			begin = end + (name[end] == ':' ? 2 : 1);
	}
	if (list->n == 0)
		return false;
	typed_name_clean(list);
	return has_side;
}

static bool
typed_name_is_same(const struct identifier *a, const struct identifier *b)
{
	return a->length == b->length &&
	    memcmp(a->text, b->text, a->length) == 0;
}

/* READING_QUALIFIED, READING_SPARSE or N_NAME_READINGS. */
static enum name_reading
typed_name_compare(const struct identifiers *typed,
                   const struct identifiers *whole)
{
	enum name_reading reading = READING_QUALIFIED;
	size_t left = typed->n;

	if (left == 0 || left > whole->n ||
	    !typed_name_is_same(&typed->items[left - 1],
	                        &whole->items[whole->n - 1]))
		return N_NAME_READINGS;
	for (size_t i = whole->n; i > 0 && left > 0; i--)
		if (typed_name_is_same(&typed->items[left - 1],
		                       &whole->items[i - 1]))
			left--;
		else
			reading = READING_SPARSE;
	return left == 0 ? reading : N_NAME_READINGS;
}

static enum name_reading
typed_name_qualifies(const struct identifiers *typed, const char *name,
                     size_t n, const struct name_parts *parts)
{
	enum name_reading best = N_NAME_READINGS;

	for (enum typed_name_side side = SIDE_TYPE; side <= SIDE_TRAIT;
	     side++) {
		struct identifiers whole;
		enum name_reading reading;

		if (!typed_name_read(&whole, name, n, parts, side))
			continue;
		reading = typed_name_compare(typed, &whole);
		if (reading < best)
			best = reading;
	}
	return best;
}

/* The identifiers of what was typed, without "()" at its end. */
static void
typed_name_split_typed(struct identifiers *list, const char *text, size_t n)
{
	if (n > 2 && memcmp(text + n - 2, "()", 2) == 0)
		n -= 2;
	list->n = 0;
	typed_name_split(list, text, n, false);
	if (list->n > 0)
		typed_name_clean(list);
}

static bool
typed_name_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    c == '$' || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Whether a name has an identifier, and not only within a longer one. */
static bool
typed_name_has(const char *name, size_t n, const char *wanted,
               size_t n_wanted)
{
	const char *end = name + n, *at = name;

	if (n_wanted == 0)
		return false;
	while ((at = memmem(at, (size_t)(end - at), wanted,
	                    n_wanted)) != NULL) {
		const char *after = at + n_wanted;

		if ((at == name || !typed_name_is_letter(at[-1]) ||
		     !typed_name_is_letter(at[0])) &&
		    (after == end || !typed_name_is_letter(after[0]) ||
		     !typed_name_is_letter(after[-1]) ||
		     (end - after > 1 && memcmp(after, "_[", 2) == 0)))
			return true;
		at++;
	}
	return false;
}

int
typed_name_make(struct typed_name *typed, const char *text, size_t n,
                struct error *error)
{
	struct name_parts parts = { 0 };
	struct identifiers list;

	*typed = (struct typed_name){ .text = text, .length = n };
	if (n == 0 || n > NAME_PARTS_MAX)
		return 0;
	if (name_parts_find(&parts, text, n, error) != 0) {
		name_parts_free(&parts);
		return -1;
	}
	typed->last = text + parts.last_begin;
	typed->n_last = parts.last_end - parts.last_begin;
	name_parts_free(&parts);
	typed_name_split_typed(&list, text, n);
	if (list.n > 0) {
		typed->innermost = list.items[list.n - 1].text;
		typed->n_innermost = list.items[list.n - 1].length;
	}
	return 0;
}

enum name_reading
typed_name_stands_for(const struct typed_name *typed, const char *name,
                      size_t n, enum name_reading most,
                      struct name_parts *parts, struct error *error)
{
	/* Most names do not even have the last identifier. */
	const bool may_be_short = typed_name_has(name, n, typed->last,
	                                         typed->n_last);
	const bool may_qualify = most >= READING_QUALIFIED &&
	    n <= NAME_PARTS_MAX &&
	    typed_name_has(name, n, typed->innermost, typed->n_innermost);
	enum name_reading reading = N_NAME_READINGS;
	struct identifiers list;

	if ((!may_be_short && !may_qualify) ||
	    name_parts_find(parts, name, n, error) != 0)
		return N_NAME_READINGS;
	for (enum name_reading i = READING_SHORT; may_be_short &&
	     i <= READING_INNER && i <= most; i++)
		if (short_name_stands_for(typed->text, typed->length, name, n,
		                          parts, i == READING_INNER, error))
			return i;
	if (may_qualify && !error->is_set) {
		typed_name_split_typed(&list, typed->text, typed->length);
		reading = typed_name_qualifies(&list, name, n, parts);
	}
	return reading <= most ? reading : N_NAME_READINGS;
}

/* The last identifiers with dots between them; 0: they are too long. */
static size_t
typed_name_join(const struct identifiers *list, size_t n_last, char *joined,
                size_t size)
{
	const size_t first = list->n > n_last ? list->n - n_last : 0;
	size_t length = 0;

	for (size_t i = first; i < list->n; i++) {
		const struct identifier *item = &list->items[i];

		if (item->length + 1 > size - length)
			return 0;
		if (i > first)
			joined[length++] = '.';
		memcpy(joined + length, item->text, item->length);
		length += item->length;
	}
	return length;
}

size_t
typed_name_path(const char *text, size_t n, char *path, size_t size,
                size_t *n_identifiers)
{
	struct identifiers list;

	typed_name_split_typed(&list, text, n);
	*n_identifiers = list.n;
	return typed_name_join(&list, list.n, path, size);
}

size_t
typed_name_path_of(const char *name, size_t n, size_t n_last,
                   struct name_parts *parts, char *path, size_t size)
{
	struct error ignored = { 0 };
	struct identifiers list;

	if (n > NAME_PARTS_MAX ||
	    name_parts_find(parts, name, n, &ignored) != 0 ||
	    !typed_name_read(&list, name, n, parts, SIDE_TYPE))
		return 0;
	return typed_name_join(&list, n_last, path, size);
}
