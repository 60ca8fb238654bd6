/* SPDX-License-Identifier: GPL-3.0-or-later */
/* demangle.c -- libiberty's demanglers, within limits.
 *
 * The C++ and Rust demanglers pass their text on piece by piece, but cannot be
 * stopped; if the text doubles with every byte of the name, they would not
 * return in a lifetime.  So the callback leaves by longjmp.  That is sound
 * because these demanglers keep their state in local arrays.  (Rust's has a
 * buffer of the name's length while it prints an identifier outside ASCII; at
 * worst that is lost, once for each hostile name.)
 *
 * Names for which they can be busy without producing text are recognised
 * beforehand.  The D demangler builds one string, so its back references are
 * counted beforehand.
 */
#include "src/symbols/names/program.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "src/base/memory.h"

enum {
	DLANG_MAX = 1024,		/* bytes of a name */
	DLANG_REFERENCES_MAX = 16,	/* each can double the text */
	REFERENCES_MAX = 128,		/* of a name with parameter packs */
	SEARCHED_MAX = 1 << 24,		/* parts of a name, in one search */
	LIFETIMES_DIGITS_MAX = 2,	/* in base 62 */
};

#define DIGITS_36 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS_62 DIGITS_36 "abcdefghijklmnopqrstuvwxyz"

typedef int stream_demangler(const char *, int, demangle_callbackref, void *);

struct demangle_text {
	char *bytes;
	size_t size, capacity;
	struct error *error;
	jmp_buf give_up;
};

static void
text_append(const char *bytes, size_t size, void *opaque)
{
	struct demangle_text *text = opaque;

	if (size == 0)
		return;
	if (size > DEMANGLED_MAX - text->size ||
	    memory_grow(&text->bytes, &text->capacity, text->size + size + 1,
	                1, text->error) != 0)
		longjmp(text->give_up, 1);
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
}

/*
 * The text; NULL: the name is not of this style, or the text is too long, or
 * with *error set for want of memory.
 */
static char *
demangle_stream(stream_demangler *demangler, int options, const char *symbol,
                struct error *error)
{
	struct demangle_text text = { .error = error };

	if (setjmp(text.give_up) == 0 &&
	    demangler(symbol, options, text_append, &text) && text.size > 0)
		return text.bytes;
	free(text.bytes);
	return NULL;
}

/*
 * Whether the demangler may take too long to find the parameter pack of an
 * expansion (Dp, sp, sZ): it goes through the whole expansion, and through each
 * substitution in it again.  S0_, S1_, ... stand for parts that refer only to
 * lower ones.  So no part is larger than the product, over all of them, of one
 * more than how often it occurs.  Text that only looks like a reference makes
 * this limit larger.
 */
static bool
searches_too_long(const char *symbol)
{
	uint64_t seen[REFERENCES_MAX];
	size_t n = 0;
	double size = 1;

	if (strstr(symbol, "Dp") == NULL && strstr(symbol, "sp") == NULL &&
	    strstr(symbol, "sZ") == NULL)
		return false;
	for (const char *at = strchr(symbol, 'S'); at != NULL;
	     at = strchr(at + 1, 'S')) {
		size_t n_digits = strspn(at + 1, DIGITS_36), n_equal = 0;

		if (at[1 + n_digits] != '_')
			continue;
		if (n == REFERENCES_MAX)
			return true;
		seen[n] = n_digits == 0 ? 0 : strtoull(at + 1, NULL, 36) + 1;
		for (size_t i = 0; i < n; i++)
			n_equal += seen[i] == seen[n];
		n++;
		size *= (double)(n_equal + 2) / (double)(n_equal + 1);
	}
	return size > SEARCHED_MAX;
}

/* The demangler's limit on recursion would refuse names of 1024 bytes. */
static char *
demangle_cplusplus(const char *symbol, struct error *error)
{
	if (searches_too_long(symbol))
		return NULL;
	return demangle_stream(cplus_demangle_v3_callback,
	    DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, symbol, error);
}

/*
 * Whether a function or trait object binds more lifetimes (FG..._, DG..._) than
 * anyone writes: the demangler counts them one by one even if it prints none.
 */
static bool
binds_too_many(const char *symbol)
{
	const char *at = symbol;

	while ((at = strchr(at, 'G')) != NULL) {
		size_t n_digits = strspn(++at, DIGITS_62);

		if (n_digits > LIFETIMES_DIGITS_MAX && at[n_digits] == '_' &&
		    at - symbol >= 2 && (at[-2] == 'F' || at[-2] == 'D'))
			return true;
	}
	return false;
}

/* With the limit on recursion: references may lead into themselves. */
static char *
demangle_rust(const char *symbol, struct error *error)
{
	if (strncmp(symbol, "_R", 2) == 0 && binds_too_many(symbol))
		return NULL;
	return demangle_stream(rust_demangle_callback, DMGL_PARAMS, symbol,
	                       error);
}

static char *
demangle_dlang(const char *symbol)
{
	size_t n_references = 0;

	if (strlen(symbol) > DLANG_MAX)
		return NULL;
	for (const char *p = symbol; *p != '\0'; p++)
		n_references += *p == 'Q';
	if (n_references > DLANG_REFERENCES_MAX)
		return NULL;
	return dlang_demangle(symbol, 0);
}

static char *
demangle_any(const char *symbol, struct error *error)
{
	char *text = NULL;

	/* Old Rust names are C++ names with a hash, so Rust is asked first. */
	if (strncmp(symbol, "_R", 2) == 0 || strncmp(symbol, "_Z", 2) == 0)
		text = demangle_rust(symbol, error);
	if (text == NULL && !error->is_set && strncmp(symbol, "_Z", 2) == 0)
		text = demangle_cplusplus(symbol, error);
	if (text == NULL && strncmp(symbol, "_D", 2) == 0)
		text = demangle_dlang(symbol);
	if (text != NULL && strlen(text) > DEMANGLED_MAX) {
		free(text);
		text = NULL;
	}
	return text;
}

/* The length of the name without ".cold" or ".cold.N" at its end. */
static size_t
length_without_cold(const char *symbol, size_t length)
{
	size_t end = length;

	while (end > 0 && symbol[end - 1] >= '0' && symbol[end - 1] <= '9')
		end--;
	if (end == length)
		;
	else if (end > 0 && symbol[end - 1] == '.')
		end--;
	else
		return length;
	if (end > 5 && memcmp(symbol + end - 5, ".cold", 5) == 0)
		return end - 5;
	return length;
}

char *
demangle(const char *symbol, struct error *error)
{
	size_t length = strnlen(symbol, DEMANGLED_MAX + 1);
	bool is_cut = length > DEMANGLED_MAX;
	const char *version = memchr(symbol, '@', length);
	char *name, *text;

	if (version != NULL && version > symbol) {
		length = (size_t)(version - symbol);
		is_cut = false;
	}
	if (is_cut)
		length = DEMANGLED_MAX - 3;
	else
		length = length_without_cold(symbol, length);
	name = memory_array(length + 4, 1, error);
	if (name == NULL)
		return NULL;
	memcpy(name, symbol, length);
	if (is_cut)
		memcpy(name + length, "...", 3);
	if (length > MANGLED_MAX)
		return name;
	text = demangle_any(name, error);
	if (text == NULL && !error->is_set)
		return name;
	free(name);
	return text;
}

/* "...::h0123456789abcdef", as all symbols of Rust's old mangling end. */
static bool
has_rust_hash(const char *name, size_t length)
{
	enum { HASH_SIZE = 19 };

	if (length <= HASH_SIZE ||
	    memcmp(name + length - HASH_SIZE, "::h", 3) != 0)
		return false;
	for (size_t i = length - HASH_SIZE + 3; i < length; i++)
		if (memchr("0123456789abcdef", name[i], 16) == NULL)
			return false;
	return true;
}

/*
 * The symbol from which a C++ demangler made a half-readable name, such as
 * "_$LT$a..B$GT$::c::h0123456789abcdef".  NULL with *error set for want of
 * memory.
 */
static char *
mangle_again(const char *name, struct error *error)
{
	size_t capacity = 2 * strlen(name) + 8, n = 3;
	char *symbol = memory_array(capacity, 1, error);

	if (symbol == NULL)
		return NULL;
	memcpy(symbol, "_ZN", n);
	while (*name != '\0') {
		size_t size = strcspn(name, ":");

		n += (size_t)snprintf(symbol + n, capacity - n, "%zu%.*s",
		                      size, (int)size, name);
		name += size;
		name += strspn(name, ":");
	}
	memcpy(symbol + n, "E", 2);
	return symbol;
}

/* The readable form of a name that has_rust_hash, or else the name itself. */
static char *
demangle_again(const char *name, struct error *error)
{
	char *symbol = mangle_again(name, error);
	char *readable = symbol == NULL ? NULL : demangle(symbol, error);
	bool is_readable = readable == NULL || strcmp(readable, symbol) != 0;

	free(symbol);
	if (is_readable)
		return readable;
	free(readable);
	return memory_string(name, error);
}

uint32_t
demangle_and_add(struct names *names, const char *text, size_t length,
                 struct error *error)
{
	bool is_mangled = length >= 3 && text[0] == '_' &&
	    (text[1] == 'Z' || text[1] == 'R' ||
	     (text[1] == 'D' && text[2] >= '1' && text[2] <= '9'));
	char *name, *readable;
	uint32_t number = NO_NAME;

	if (!is_mangled && !has_rust_hash(text, length))
		return names_add(names, text, length, error);
	name = memory_text(text, length, error);
	if (name == NULL)
		return NO_NAME;
	readable = is_mangled ? demangle(name, error) :
	           demangle_again(name, error);
	if (readable != NULL)
		number = names_add(names, readable, strlen(readable), error);
	free(name);
	free(readable);
	return number;
}
