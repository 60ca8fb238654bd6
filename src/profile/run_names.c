/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_names.c -- names of functions without the numbers of one run or build.
 *
 * Shop$$Lambda$12/345.apply	Shop$$Lambda$*.apply
 * GeneratedMethodAccessor31	GeneratedMethodAccessor*
 * __K41gen.run			__K*gen.run
 * parse.isra.0			parse
 *
 * A number becomes *, so that the name is a pattern of all that it stands for.
 * What a compiler appends to a copy of a function is left out.
 */
#include "src/profile/run_names.h"

#include <ctype.h>
#include <string.h>

/* The rest of a name. */
struct run_name {
	const char *at, *end;
};

static bool
run_name_has(const struct run_name *name, const char *word)
{
	const size_t length = strlen(word);

	return (size_t)(name->end - name->at) >= length &&
	    memcmp(name->at, word, length) == 0;
}

static size_t
run_name_digits(const struct run_name *name, size_t from, bool are_hex)
{
	size_t n = from;

	while (name->at + n < name->end &&
	       (are_hex ? isxdigit((unsigned char)name->at[n]) :
	        isdigit((unsigned char)name->at[n])))
		n++;
	return n - from;
}

/* How long "/345", "/0x7f8a" or ".0x7f8a" is at an offset; 0: it is not there. */
static size_t
run_name_address(const struct run_name *name, size_t from)
{
	const struct run_name rest = { name->at + from, name->end };
	const bool is_hex = run_name_has(&rest, "/0x") ||
	    run_name_has(&rest, ".0x");
	const size_t begin = is_hex ? 3 : 1;
	size_t n;

	if (!is_hex && !run_name_has(&rest, "/"))
		return 0;
	n = run_name_digits(&rest, begin, is_hex);
	return n == 0 ? 0 : begin + n;
}

/* Words before a number that the runtime of a language counts. */
static const struct counted_word {
	const char *word;
	bool are_hex;
} counted_words[] = {
	{ "Accessor", false },		/* Java's reflection */
	{ "$Proxy", false },
	{ "CGLIB$$", true },
	{ "lambda_method", false },	/* .NET's expressions */
};

/* "__K41gen": how long what comes before the number is; 0: it is not that. */
static size_t
run_name_generated(const struct run_name *name, size_t *n_digits)
{
	size_t n = 2;
	struct run_name rest;

	if (!run_name_has(name, "__"))
		return 0;
	while (name->at + n < name->end && isalpha((unsigned char)name->at[n]))
		n++;
	*n_digits = run_name_digits(name, n, false);
	rest = (struct run_name){ name->at + n + *n_digits, name->end };
	return *n_digits > 0 && run_name_has(&rest, "gen") ? n : 0;
}

/*
 * If there is a number of one run here, adds what it becomes and goes behind
 * it.
 */
static bool
run_name_pass_number(struct run_name *name, struct text_buffer *text)
{
	size_t n = 0, n_digits = 0;

	if (run_name_has(name, "$Lambda")) {
		n = strlen("$Lambda");
		if (name->at + n < name->end && name->at[n] == '$')
			n_digits = run_name_digits(name, n + 1, false);
		if (n_digits > 0)
			n_digits++;
		n_digits += run_name_address(name, n + n_digits);
		if (n_digits > 0)
			text_add_string(text, "$Lambda$*");
	} else if ((run_name_has(name, "/0x") || run_name_has(name, ".0x")) &&
	           run_name_address(name, 0) > 0) {
		n_digits = run_name_address(name, 0);
		text_add(text, name->at, 1);
		text_add_char(text, '*');
	} else if ((n = run_name_generated(name, &n_digits)) > 0) {
		text_add(text, name->at, n);
		text_add_char(text, '*');
	}
	for (size_t i = 0; n_digits == 0 &&
	     i < sizeof counted_words / sizeof *counted_words; i++) {
		const struct counted_word *counted = &counted_words[i];

		n = strlen(counted->word);
		if (!run_name_has(name, counted->word))
			continue;
		n_digits = run_name_digits(name, n, counted->are_hex);
		if (n_digits == 0)
			continue;
		text_add_string(text, counted->word);
		text_add_char(text, '*');
	}
	name->at += n_digits > 0 ? n + n_digits : 0;
	return n_digits > 0;
}

/* How long ".isra.0" or the like is at an offset; 0: it is not there. */
static size_t
run_name_copy(const struct run_name *name)
{
	static const char *const copies[] = { ".isra.", ".constprop.",
		".llvm.", ".lto_priv." };

	for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
		const size_t length = strlen(copies[i]);
		size_t n;

		if (!run_name_has(name, copies[i]))
			continue;
		n = run_name_digits(name, length, false);
		return n == 0 ? 0 : length + n;
	}
	return 0;
}

/* Goes behind what a compiler has appended, " [clone .isra.0]" as well. */
static bool
run_name_pass_copy(struct run_name *name)
{
	static const char clone[] = " [clone ";
	struct run_name inner = *name;
	size_t n;

	if (!run_name_has(name, clone)) {
		n = run_name_copy(name);
		name->at += n;
		return n > 0;
	}
	inner.at += strlen(clone);
	n = run_name_copy(&inner);
	if (n == 0 || inner.at + n == inner.end || inner.at[n] != ']')
		return false;
	name->at = inner.at + n + 1;
	return true;
}

bool
run_name_add(struct text_buffer *text, const char *bytes, size_t length)
{
	struct run_name name = { bytes, bytes + length };
	bool has_changed = false;

	while (name.at < name.end) {
		if ((name.at > bytes && run_name_pass_copy(&name)) ||
		    run_name_pass_number(&name, text))
			has_changed = true;
		else
			text_add_char(text, *name.at++);
	}
	return has_changed;
}
