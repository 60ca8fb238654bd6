/* SPDX-License-Identifier: GPL-3.0-or-later */
/* expression.c -- regular expressions of users, on names of any origin.
 *
 * An expression is first written as PCRE2 writes it; where the two syntaxes
 * agree, that is a copy.  A match is tried twice: at first with a small limit
 * of steps, which is fast and enough for nearly every name; then, if that was
 * not enough, by a second program of the same expression that calls out at
 * every step, so that steps are counted over all places where a match may
 * begin (the limits of PCRE2 hold for one of them) and Ctrl-C is noticed.
 */
#include "src/base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8

#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"

enum {
	FAST_LENGTH = 4096,	/* bytes; longer names are counted at once */
	FAST_STEPS = 10000,	/* for each place where a match may begin */
	FAST_HEAP = 4096,	/* KiB */
	HEAP = 65536,		/* KiB */
	SHOWN = 80,		/* bytes of a name in an error */
};

/* About a second or two, and more than any expression of sense needs. */
static const uint64_t most_steps = 20000000, steps_a_byte = 16;

struct expression {
	char *text;
	size_t length;		/* as PCRE2 has it */
	bool is_bytes;		/* it is not UTF-8 */
	pcre2_code *code;
	pcre2_code *counted;	/* made when first needed */
	pcre2_match_context *limits, *counting;
	pcre2_match_data *found;
	uint32_t n_groups;
	uint32_t has_references;	/* \\1: a step may compare long texts */
	uint64_t n_left;		/* steps of the current match */
	uint64_t step;			/* what one counts */
	struct error failure;	/* see expression_check */
};

/* ---- writing it for PCRE2 ---- */

/* What is left to copy. */
struct translation {
	const char *text;
	size_t length, at;
	size_t n_open;		/* parentheses */
	struct text_buffer out;
};

static bool
comes(const struct translation *from, size_t at, const char *what)
{
	size_t n = strlen(what);

	return from->length - at >= n &&
	    memcmp(from->text + at, what, n) == 0;
}

/* A character that means only itself, in brackets and outside. */
static void
add_literal(struct translation *from, char c)
{
	if ((unsigned char)c < 0x80 && strchr("\\[]-^:.=(){}*+?|$", c) != NULL)
		text_add_char(&from->out, '\\');
	text_add_char(&from->out, c);
}

/*
 * [.x.] or [=x=], which PCRE2 does not know, stand for their character.  True
 * if one was there.
 */
static bool
copy_collating(struct translation *from)
{
	const char *text = from->text + from->at;
	size_t left = from->length - from->at, end = 3;

	if (left < 5 || text[0] != '[' || (text[1] != '.' && text[1] != '='))
		return false;
	while (end < left && ((unsigned char)text[end] & 0xc0) == 0x80)
		end++;
	if (left - end < 2 || text[end] != text[1] || text[end + 1] != ']')
		return false;
	for (size_t i = 2; i < end; i++)
		add_literal(from, text[i]);
	from->at += end + 2;
	return true;
}

/* [:alpha:], as it is. */
static bool
copy_class(struct translation *from)
{
	const char *text = from->text + from->at, *end;

	if (from->length - from->at < 4 || text[0] != '[' || text[1] != ':')
		return false;
	end = memmem(text + 2, from->length - from->at - 2, ":]", 2);
	if (end == NULL)
		return false;
	text_add(&from->out, text, (size_t)(end + 2 - text));
	from->at += (size_t)(end + 2 - text);
	return true;
}

/*
 * A bracket expression, in which a backslash is a character as any other.  One
 * without an end is copied so that PCRE2 reports it.
 */
static void
copy_bracket(struct translation *from)
{
	size_t first;

	text_add_char(&from->out, from->text[from->at++]);
	if (from->at < from->length && from->text[from->at] == '^')
		text_add_char(&from->out, from->text[from->at++]);
	for (first = from->at; from->at < from->length;) {
		char c = from->text[from->at];

		if (c == ']' && from->at > first) {
			text_add_char(&from->out, c);
			from->at++;
			return;
		}
		if (copy_collating(from) || copy_class(from))
			continue;
		if (c == '\\' || c == '[' || c == ']')
			text_add_char(&from->out, '\\');
		text_add_char(&from->out, c);
		from->at++;
	}
}

/* An escape; those of GNU that PCRE2 writes otherwise. */
static void
copy_escape(struct translation *from)
{
	static const struct {
		char escape;
		const char *text;
	} others[] = {
		{ '<', "[[:<:]]" }, { '>', "[[:>:]]" }, { '`', "\\A" },
		{ '\'', "\\z" },
	};
	const char *text = from->text + from->at;

	if (comes(from, from->at, "\\Q")) {
		const char *end = memmem(text, from->length - from->at, "\\E",
		                         2);
		size_t n = end == NULL ? from->length - from->at :
		    (size_t)(end + 2 - text);

		text_add(&from->out, text, n);
		from->at += n;
		return;
	}
	if (from->length - from->at < 2) {
		text_add_char(&from->out, text[0]);
		from->at++;
		return;
	}
	from->at += 2;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].escape == text[1]) {
			text_add_string(&from->out, others[i].text);
			return;
		}
	/* One digit: \10 is the first group, then a 0. */
	if (text[1] >= '1' && text[1] <= '9')
		text_add_format(&from->out, "\\g{%c}", text[1]);
	else
		text_add(&from->out, text, 2);
}

/* As PCRE2 writes it; an unmatched ) is itself, and {,n} is {0,n}. */
static void
translate(struct translation *from)
{
	while (from->at < from->length) {
		char c = from->text[from->at];

		if (c == '[') {
			copy_bracket(from);
			continue;
		}
		if (c == '\\') {
			copy_escape(from);
			continue;
		}
		from->n_open += c == '(';
		if (c == ')' && from->n_open == 0)
			text_add_char(&from->out, '\\');
		else if (c == ')')
			from->n_open--;
		text_add_char(&from->out, c);
		if (c == '{' && comes(from, from->at, "{,"))
			text_add_char(&from->out, '0');
		from->at++;
	}
}

/* ---- compiling ---- */

/* Whether a text is not UTF-8 is told by the error of PCRE2. */
static bool
is_not_utf8(int number)
{
	return number <= PCRE2_ERROR_UTF8_ERR1 &&
	    number >= PCRE2_ERROR_UTF8_ERR21;
}

/* NULL with *error set. */
static pcre2_code *
expression_compile(struct expression *expression, uint32_t options,
                   struct error *error)
{
	PCRE2_UCHAR reason[200];
	PCRE2_SIZE at;
	pcre2_code *code;
	int number;

	options |= PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY |
	    PCRE2_NEVER_BACKSLASH_C;
	if (!expression->is_bytes)
		options |= PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
	code = pcre2_compile((PCRE2_SPTR)expression->text, expression->length,
	                     options, &number, &at, NULL);
	if (code == NULL && is_not_utf8(number) && !expression->is_bytes) {
		expression->is_bytes = true;
		return expression_compile(expression,
		                          options & PCRE2_AUTO_CALLOUT, error);
	}
	if (code != NULL)
		return code;
	if (number == PCRE2_ERROR_HEAP_FAILED) {
		error_out_of_memory(error);
		return NULL;
	}
	pcre2_get_error_message(number, reason, sizeof reason);
	error_set(error, "%s", (const char *)reason);
	return NULL;
}

/* Counts a step: called by PCRE2.  0: go on. */
static int
count_step(pcre2_callout_block *block, void *context)
{
	struct expression *expression = context;

	(void)block;
	if (expression->n_left < expression->step || interrupt_requested)
		return PCRE2_ERROR_MATCHLIMIT;
	expression->n_left -= expression->step;
	return 0;
}

static int
expression_fill(struct expression *expression, const char *text, size_t length,
                struct error *error)
{
	struct translation from = { .text = text, .length = length };

	translate(&from);
	if (from.out.failed)
		error_out_of_memory(error);
	else
		expression->text = memory_text(text_string(&from.out),
		                               from.out.length, error);
	expression->length = from.out.length;
	text_free(&from.out);
	if (expression->text == NULL)
		return -1;
	expression->code = expression_compile(expression, 0, error);
	if (expression->code == NULL)
		return -1;
	/* Machine code where the system allows it; else it is interpreted. */
	pcre2_jit_compile(expression->code, PCRE2_JIT_COMPLETE);
	pcre2_pattern_info(expression->code, PCRE2_INFO_CAPTURECOUNT,
	                   &expression->n_groups);
	pcre2_pattern_info(expression->code, PCRE2_INFO_BACKREFMAX,
	                   &expression->has_references);
	expression->limits = pcre2_match_context_create(NULL);
	expression->counting = pcre2_match_context_create(NULL);
	expression->found = pcre2_match_data_create_from_pattern(
	    expression->code, NULL);
	if (expression->limits == NULL || expression->counting == NULL ||
	    expression->found == NULL)
		return error_out_of_memory(error);
	pcre2_set_match_limit(expression->limits, FAST_STEPS);
	pcre2_set_heap_limit(expression->limits, FAST_HEAP);
	pcre2_set_match_limit(expression->counting, UINT32_MAX);
	pcre2_set_heap_limit(expression->counting, HEAP);
	pcre2_set_callout(expression->counting, count_step, expression);
	return 0;
}

struct expression *
expression_new(const char *text, size_t length, struct error *error)
{
	struct expression *expression = memory_array(1, sizeof *expression,
	                                             error);

	if (expression == NULL)
		return NULL;
	if (expression_fill(expression, text, length, error) == 0)
		return expression;
	expression_free(expression);
	return NULL;
}

void
expression_free(struct expression *expression)
{
	if (expression == NULL)
		return;
	pcre2_match_data_free(expression->found);
	pcre2_match_context_free(expression->limits);
	pcre2_match_context_free(expression->counting);
	pcre2_code_free(expression->code);
	pcre2_code_free(expression->counted);
	free(expression->text);
	free(expression);
}

size_t
expression_n_groups(const struct expression *expression)
{
	return expression->n_groups;
}

/* ---- matching ---- */

static bool
is_over_limit(int result)
{
	return result == PCRE2_ERROR_MATCHLIMIT ||
	    result == PCRE2_ERROR_DEPTHLIMIT ||
	    result == PCRE2_ERROR_HEAPLIMIT ||
	    result == PCRE2_ERROR_JIT_STACKLIMIT;
}

/* What is the result of PCRE2 when steps are counted. */
static int
match_counted(struct expression *expression, const char *name, size_t length)
{
	if (expression->counted == NULL)
		expression->counted = expression_compile(expression,
		                                         PCRE2_AUTO_CALLOUT,
		                                         &expression->failure);
	if (expression->counted == NULL)
		return PCRE2_ERROR_NOMATCH;
	expression->n_left = most_steps + steps_a_byte * length;
	expression->step = expression->has_references != 0 ?
	    1 + length / 1024 : 1;
	return pcre2_match(expression->counted, (PCRE2_SPTR)name, length, 0, 0,
	                   expression->found, expression->counting);
}

/* Sets the failure that a result of PCRE2 means. */
static void
expression_give_up(struct expression *expression, int result, const char *name,
                   size_t length)
{
	struct error *failure = &expression->failure;

	if (interrupt_requested)
		error_set(failure, "interrupted");
	else if (result == PCRE2_ERROR_NOMEMORY)
		error_out_of_memory(failure);
	else if (is_over_limit(result))
		error_set(failure, "takes too %s on %.*s%s; use a simpler "
		          "one", result == PCRE2_ERROR_MATCHLIMIT ?
		          "long" : "much memory", length < SHOWN ?
		          (int)length : SHOWN, name,
		          length > SHOWN ? "..." : "");
	else
		error_set(failure, "error %d of PCRE2 on %.*s", result,
		          length < SHOWN ? (int)length : SHOWN, name);
}

static bool
expression_compare(const struct expression *constant, const char *name,
                   size_t length)
{
	/* What is told by expression_check is not a part of what it means. */
	struct expression *expression = (struct expression *)constant;
	int result = PCRE2_ERROR_MATCHLIMIT;

	if (expression->failure.is_set)
		return false;
	if (length <= FAST_LENGTH && !interrupt_requested)
		result = pcre2_match(expression->code, (PCRE2_SPTR)name,
		                     length, 0, 0, expression->found,
		                     expression->limits);
	if (is_over_limit(result))
		result = match_counted(expression, name, length);
	if (result < 0 && result != PCRE2_ERROR_NOMATCH)
		expression_give_up(expression, result, name, length);
	return result > 0;
}

bool
expression_matches(const struct expression *expression, const char *name,
                   size_t length)
{
	return expression_compare(expression, name, length);
}

bool
expression_captures(const struct expression *expression, const char *name,
                    size_t length, struct capture *captures, size_t n)
{
	const PCRE2_SIZE *range;
	size_t n_found;

	if (!expression_compare(expression, name, length))
		return false;
	range = pcre2_get_ovector_pointer(expression->found);
	n_found = pcre2_get_ovector_count(expression->found);
	for (size_t i = 0; i < n; i++, range += 2)
		captures[i] = i >= n_found || range[0] == PCRE2_UNSET ||
		    range[1] < range[0] ? (struct capture){ 0 } :
		    (struct capture){ range[0], range[1] - range[0] };
	return true;
}

int
expression_check(const struct expression *constant, struct error *error)
{
	struct expression *expression = (struct expression *)constant;

	if (!expression->failure.is_set)
		return 0;
	error_pass(error, &expression->failure);
	expression->failure = (struct error){ 0 };
	return -1;
}
