/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_parts.c -- which parts of a function's name a reader can do without.
 *
 * Four steps, each from left to right:
 * - tokens: brackets with their partners, and operators, whose characters are
 *   no brackets ("operator<");
 * - lists: which brackets hold arguments, and their items;
 * - the end of the name: clone suffixes, hashes, offsets, qualifiers;
 * - the outer level: the return type, the scopes and the last identifier.
 */
#include "src/base/short_name.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

#define NONE UINT32_MAX

enum {
	DECLARATORS_MAX = 8,	/* pointers to functions that return such */
	HASH_DIGITS = 8,	/* fewer hexadecimal digits are no hash */
	RUST_HASH_SIZE = 19,	/* "::h0123456789abcdef" */
};

struct name_token {
	uint32_t begin, end;	/* end 0: its partner is missing */
	uint32_t outer;		/* the bracket around it, or NONE */
	uint32_t item, content;	/* the item of a list that is being read */
	char opens;		/* ( < [ { or 'o', an operator */
	bool has_as;		/* "<T as Trait>" */
	bool is_list;
};

/* A name while its parts are found. */
struct parts_finding {
	const char *name;
	uint32_t n;
	struct name_parts *parts;
	struct error *error;
};

void
name_parts_free(struct name_parts *parts)
{
	free(parts->parts);
	free(parts->scopes);
	free(parts->tokens);
	*parts = (struct name_parts){ 0 };
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
name_parts_is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool
name_parts_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool
name_parts_is_identifier(char c)
{
	return name_parts_is_letter(c) || is_digit(c);
}

/* The byte at an offset; NUL beyond the end. */
static char
at(const struct parts_finding *finding, size_t i)
{
	return i < finding->n ? finding->name[i] : '\0';
}

static char
before(const struct parts_finding *finding, size_t i)
{
	return i > 0 ? finding->name[i - 1] : '\0';
}

/* Whether a word is there and ends by `end`. */
static bool
name_parts_is_at(const struct parts_finding *finding, size_t i, size_t end,
                 const char *word)
{
	size_t length = strlen(word);

	return i <= end && length <= end - i &&
	    memcmp(finding->name + i, word, length) == 0;
}

/* Whether the text before the offset ends with a word. */
static bool
name_parts_is_before(const struct parts_finding *finding, size_t i,
                     const char *word)
{
	size_t length = strlen(word);

	return i >= length &&
	    memcmp(finding->name + i - length, word, length) == 0;
}

static int
name_parts_add_part(struct parts_finding *finding, enum name_part_kind kind,
                    uint32_t begin, uint32_t end, uint32_t content)
{
	struct name_parts *parts = finding->parts;

	if (memory_grow(&parts->parts, &parts->capacity, parts->n + 1,
	                sizeof *parts->parts, finding->error) != 0)
		return -1;
	parts->parts[parts->n++] = (struct name_part){
		.begin = begin, .end = end, .content = content, .kind = kind,
	};
	return 0;
}

static struct name_token *
add_token(struct parts_finding *finding, char opens, uint32_t begin,
          uint32_t outer)
{
	struct name_parts *parts = finding->parts;
	struct name_token *token;

	if (memory_grow(&parts->tokens, &parts->tokens_capacity,
	                parts->n_tokens + 1, sizeof *parts->tokens,
	                finding->error) != 0)
		return NULL;
	token = &parts->tokens[parts->n_tokens++];
	*token = (struct name_token){
		.begin = begin, .outer = outer, .opens = opens,
	};
	return token;
}

/* The end of the operator's sign that begins at `i`, or `i` if none does. */
static uint32_t
skip_sign(const struct parts_finding *finding, uint32_t i)
{
	static const char *const signs[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>",
		"<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=",
		"*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "=", "+", "-",
		"*", "/", "%", "^", "&", "|", "~", "!", ",",
	};

	for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
		uint32_t end = i + (uint32_t)strlen(signs[k]);
		char next = at(finding, end);

		if (!name_parts_is_at(finding, i, finding->n, signs[k]))
			continue;
		/* "operator<<int>" is "operator<" with its arguments. */
		if (strcmp(signs[k], "<<") == 0 && name_parts_is_letter(next))
			continue;
		return end;
	}
	return i;
}

/*
 * The end of the operator whose word begins there, or `i` if none does.  Of a
 * conversion, "operator unsigned long", it is only the word and the blank.
 */
static uint32_t
skip_operator(const struct parts_finding *finding, uint32_t i)
{
	static const char *const words[] = {
		" new[]", " delete[]", " new", " delete", " co_await",
	};
	uint32_t end = i + 8, sign;

	if (finding->name[i] != 'o' ||
	    !name_parts_is_at(finding, i, finding->n, "operator") ||
	    name_parts_is_identifier(before(finding, i)) ||
	    name_parts_is_identifier(at(finding, end)))
		return i;
	if (name_parts_is_at(finding, end, finding->n, "\"\"")) {
		end += 2;
		while (at(finding, end) == ' ' ||
		       name_parts_is_identifier(at(finding, end)))
			end++;
		return end;
	}
	sign = skip_sign(finding, end);
	if (sign > end)
		return sign;
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (name_parts_is_at(finding, end, finding->n, words[k]))
			return end + (uint32_t)strlen(words[k]);
	return at(finding, end) == ' ' ? end + 1 : i;
}

/* The end of the character constant that begins there, such as '('; or i. */
static uint32_t
skip_character(const struct parts_finding *finding, uint32_t i)
{
	uint32_t close = at(finding, i + 1) == '\\' ? i + 3 : i + 2;

	return at(finding, i) == '\'' && at(finding, close) == '\'' ?
	       close + 1 : i;
}

static char
opener_of(char c)
{
	return c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' :
	       c == '>' ? '<' : '\0';
}

/*
 * Closes the bracket to which a closing one belongs; *top is the innermost
 * open one, open[] counts them by kind.  A '<' within others that closes
 * nowhere was the sign "less than".
 */
static void
close_bracket(struct parts_finding *finding, uint32_t i, uint32_t *top,
              uint32_t open[128])
{
	struct name_token *tokens = finding->parts->tokens;
	char c = finding->name[i];
	char opens = opener_of(c);

	if (open[(int)opens] == 0)
		return;
	if (c == '>' && (tokens[*top].opens != '<' ||
	                 strchr("-=", before(finding, i)) != NULL))
		return;
	while (tokens[*top].opens != opens) {
		open[(int)tokens[*top].opens]--;
		*top = tokens[*top].outer;
	}
	open[(int)opens]--;
	tokens[*top].end = i + 1;
	*top = tokens[*top].outer;
}

static int
find_tokens(struct parts_finding *finding)
{
	struct name_parts *parts = finding->parts;
	uint32_t top = NONE, open[128] = { 0 }, i = 0;

	while (i < finding->n) {
		char c = finding->name[i];
		uint32_t end = skip_operator(finding, i);
		struct name_token *token;

		if (end > i) {
			token = add_token(finding, 'o', i, top);
			if (token == NULL)
				return -1;
			token->end = i = end;
			continue;
		}
		end = skip_character(finding, i);
		if (end > i) {
			i = end;
			continue;
		}
		if (c != '\0' && strchr("(<[{", c) != NULL) {
			if (add_token(finding, c, i, top) == NULL)
				return -1;
			top = (uint32_t)parts->n_tokens - 1;
			open[(int)c]++;
		} else if (opener_of(c) != '\0') {
			close_bracket(finding, i, &top, open);
		} else if (c == ' ' && top != NONE &&
		           name_parts_is_at(finding, i, finding->n, " as ")) {
			parts->tokens[top].has_as = true;
		}
		i++;
	}
	return 0;
}

/* Whether what is before an offset can be called or have arguments. */
static bool
ends_callable(const struct parts_finding *finding, uint32_t i,
              bool after_operator)
{
	char c = before(finding, i);

	return after_operator || name_parts_is_identifier(c) ||
	    (c != '\0' && strchr(">]})'", c) != NULL);
}

/* A "(" after a name begins its parameters, and the name ends with them. */
static bool
is_parameters(const struct parts_finding *finding,
              const struct name_token *token, bool after_operator)
{
	char next = at(finding, token->end);

	/* "writeln!(string)" of D */
	if (before(finding, token->begin) == '!' && token->begin > 1 &&
	    name_parts_is_identifier(finding->name[token->begin - 2]))
		return true;
	if (!ends_callable(finding, token->begin, after_operator))
		return false;
	/* "decltype(x)", and the type "fn(A) -> B" of Rust */
	if (!after_operator &&
	    (name_parts_is_before(finding, token->begin, "decltype") ||
	     (name_parts_is_before(finding, token->begin, "fn") &&
	      (token->begin < 3 ||
	       !name_parts_is_identifier(finding->name[token->begin - 3])) &&
	      name_parts_is_at(finding, token->end, finding->n, " ->"))))
		return false;
	/* "(I)V": a letter for a type of Java. */
	return !name_parts_is_letter(next) ||
	    strchr("VZBCSIJFDL", next) != NULL;
}

/* "[k]" of "read_[k]" says where code ran; "[3]" is an index. */
static bool
is_generics(const struct parts_finding *finding, const struct name_token *token)
{
	const char *content = finding->name + token->begin + 1;
	size_t n = token->end - token->begin - 2, n_digits = 0;

	if (!ends_callable(finding, token->begin, false) || n == 0 ||
	    (n == 1 && before(finding, token->begin) == '_'))
		return false;
	while (n_digits < n && is_digit(content[n_digits]))
		n_digits++;
	return n_digits < n || n >= HASH_DIGITS;
}

/* "::<impl T for U>" and "::<T as Trait>" are scopes, "::<T>" is not. */
static bool
is_template_list(const struct parts_finding *finding,
                 const struct name_token *token, bool after_operator)
{
	if (name_parts_is_before(finding, token->begin, "::"))
		return !token->has_as && token->begin > 2 &&
		    !name_parts_is_at(finding, token->begin, finding->n,
		                      "<impl ");
	return ends_callable(finding, token->begin, after_operator);
}

/* Decides whether a bracket is a list; operator_end: of the last operator. */
static void
decide_list(struct parts_finding *finding, struct name_token *token,
            uint32_t operator_end)
{
	uint32_t begin = token->begin;
	bool after_operator = operator_end > 0 &&
	    (operator_end == begin ||
	     (operator_end + 1 == begin && token->opens == '<' &&
	      before(finding, begin) == ' '));

	if (token->opens == '(')
		token->is_list = is_parameters(finding, token, after_operator);
	else if (token->opens == '<')
		token->is_list = is_template_list(finding, token,
		                                  after_operator);
	else if (token->opens == '[')
		token->is_list = is_generics(finding, token);
	token->item = token->content = begin + 1;
}

/* Adds the item of a list that ends there; the next one follows. */
static int
end_item(struct parts_finding *finding, struct name_token *token, uint32_t end)
{
	uint32_t item = token->item, content = token->content;

	token->item = end;
	token->content = end + 1 + (at(finding, end + 1) == ' ');
	if (end <= content)
		return 0;
	/* "> >": the blank is only there for old compilers. */
	if (token->opens == '<' && before(finding, end) == ' ' &&
	    end - 1 > content &&
	    name_parts_add_part(finding, NAME_EXTRA, end - 1, end, 0) != 0)
		return -1;
	return name_parts_add_part(finding, NAME_ITEM, item, end, content);
}

/* Where a list's part begins: with "::", "!" or a blank before its bracket. */
static uint32_t
list_begin(const struct parts_finding *finding, const struct name_token *token)
{
	uint32_t begin = token->begin;

	if (token->opens == '<' && name_parts_is_before(finding, begin, "::"))
		return begin - 2;
	if (token->opens == '<' && before(finding, begin) == ' ')
		return begin - 1;
	if (token->opens == '(' && before(finding, begin) == '!')
		return begin - 1;
	return begin;
}

/* The end of a method's qualifiers that begin there: " const &". */
static uint32_t
skip_qualifiers(const struct parts_finding *finding, uint32_t i)
{
	static const char *const words[] = {
		" const", " volatile", " &&", " &", " noexcept", " restrict",
	};
	size_t k = 0;

	while (k < sizeof words / sizeof *words) {
		uint32_t end = i + (uint32_t)strlen(words[k]);

		if (name_parts_is_at(finding, i, finding->n, words[k]) &&
		    !name_parts_is_identifier(at(finding, end))) {
			i = end;
			k = 0;
		} else {
			k++;
		}
	}
	return i;
}

/* The end of the Java return type that begins there: "Ljava/lang/String;". */
static uint32_t
skip_java_type(const struct parts_finding *finding, uint32_t i)
{
	uint32_t from = i;

	while (at(finding, i) == '[')
		i++;
	if (at(finding, i) == 'L') {
		while (name_parts_is_identifier(at(finding, i)) ||
		       at(finding, i) == '/' || at(finding, i) == '.')
			i++;
		return at(finding, i) == ';' ? i + 1 : from;
	}
	if (at(finding, i) != '\0' &&
	    strchr("VZBCSIJFD", finding->name[i]) != NULL &&
	    !name_parts_is_identifier(at(finding, i + 1)))
		return i + 1;
	return from;
}

/* The end of what follows the parameters and belongs to them. */
static uint32_t
skip_after_parameters(const struct parts_finding *finding, uint32_t i)
{
	uint32_t end = skip_qualifiers(finding, i);

	return end > i ? end : skip_java_type(finding, i);
}

static int
end_list(struct parts_finding *finding, struct name_token *token)
{
	uint32_t end;

	if (end_item(finding, token, token->end - 1) != 0 ||
	    name_parts_add_part(finding, NAME_LIST, list_begin(finding, token),
	                        token->end, 0) != 0)
		return -1;
	if (token->opens != '(')
		return 0;
	end = skip_after_parameters(finding, token->end);
	return end == token->end ? 0 :
	       name_parts_add_part(finding, NAME_EXTRA, token->end, end, 0);
}

/* "[clone .isra.0]", with the blank before it. */
static bool
is_clone_note(const struct parts_finding *finding,
              const struct name_token *token)
{
	return token->opens == '[' && before(finding, token->begin) == ' ' &&
	    name_parts_is_at(finding, token->begin, finding->n, "[clone ");
}

/*
 * Finds the lists, with their items, and what can be left out at any depth.
 */
static int
find_lists(struct parts_finding *finding)
{
	struct name_parts *parts = finding->parts;
	struct name_token *tokens = parts->tokens;
	uint32_t top = NONE, operator_end = 0, t = 0;

	for (uint32_t i = 0; i < finding->n; i++) {
		if (t < parts->n_tokens && tokens[t].begin == i) {
			struct name_token *token = &tokens[t++];

			if (token->opens == 'o') {
				operator_end = token->end;
				i = token->end - 1;
				continue;
			}
			if (token->end == 0)
				continue;
			decide_list(finding, token, operator_end);
			token->outer = top;
			top = t - 1;
			if (is_clone_note(finding, token) &&
			    name_parts_add_part(finding, NAME_EXTRA, i - 1,
			                        token->end, 0) != 0)
				return -1;
			continue;
		}
		if (top == NONE)
			continue;
		if (i + 1 == tokens[top].end) {
			if (tokens[top].is_list &&
			    end_list(finding, &tokens[top]) != 0)
				return -1;
			top = tokens[top].outer;
		} else if (finding->name[i] == ',' && tokens[top].is_list &&
		           end_item(finding, &tokens[top], i) != 0) {
			return -1;
		}
	}
	return 0;
}

/* The begin of the digits, at least `least`, that end there; or `end`. */
static uint32_t
digits_before(const struct parts_finding *finding, uint32_t end, uint32_t least,
              bool (*is_wanted)(char))
{
	uint32_t begin = end;

	while (begin > 0 && is_wanted(finding->name[begin - 1]))
		begin--;
	return end - begin >= least ? begin : end;
}

/*
 * The begin of what says where in the function, ":42" or "+0x1c", or which
 * symbol of it, "@plt", if that ends there; or `end`.
 */
static uint32_t
place_before(const struct parts_finding *finding, uint32_t end)
{
	uint32_t begin = digits_before(finding, end, 1, is_digit);

	if (begin < end && before(finding, begin) == ':' && begin > 1 &&
	    finding->name[begin - 2] != ':')
		return begin - 1;
	begin = digits_before(finding, end, 1, name_parts_is_hex);
	if (begin < end && begin > 3 &&
	    name_parts_is_before(finding, begin, "+0x"))
		return begin - 3;
	begin = digits_before(finding, end, 1, name_parts_is_identifier);
	if (begin > 1 && begin < end && before(finding, begin) == '@')
		return begin - 1;
	return end;
}

/* The begin of what a compiler appended to a name that ends there; or `end`. */
static uint32_t
suffix_before(const struct parts_finding *finding, uint32_t end)
{
	static const char *const words[] = {
		".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm",
		".localalias", ".clone", ".simdclone", ".__uniq",
	};
	uint32_t begin = digits_before(finding, end, 1, is_digit);

	if (end > RUST_HASH_SIZE &&
	    name_parts_is_at(finding, end - RUST_HASH_SIZE, end, "::h") &&
	    digits_before(finding, end, RUST_HASH_SIZE - 3,
	                  name_parts_is_hex) == end - RUST_HASH_SIZE + 3)
		return end - RUST_HASH_SIZE;
	begin = begin < end && before(finding, begin) == '.' ? begin - 1 : end;
	for (size_t k = 0; k < sizeof words / sizeof *words; k++)
		if (begin > strlen(words[k]) &&
		    name_parts_is_before(finding, begin, words[k]))
			return begin - (uint32_t)strlen(words[k]);
	return end;
}

/*
 * The begin of the notes of copies that end there; or `end`.  They are parts
 * already.  *t: all tokens from that one on are behind them.
 */
static uint32_t
clone_notes_before(const struct parts_finding *finding, uint32_t end, size_t *t)
{
	const struct name_token *tokens = finding->parts->tokens;

	while (*t > 0 && (tokens[*t - 1].begin >= end ||
	    (tokens[*t - 1].end == end &&
	     is_clone_note(finding, &tokens[*t - 1])))) {
		--*t;
		if (tokens[*t].end == end)
			end = tokens[*t].begin - 1;
	}
	return end;
}

/*
 * Finds what follows the name proper.  Returns where that begins; 0 with
 * *error set.
 */
static uint32_t
name_parts_find_end(struct parts_finding *finding)
{
	uint32_t end = finding->n, begin;
	size_t t = finding->parts->n_tokens;
	bool goes_on = true;

	for (int k = 0; k < 2; k++) {
		begin = place_before(finding, end);
		if (begin > 0)
			end = begin;
	}
	while (goes_on) {
		end = clone_notes_before(finding, end, &t);
		begin = suffix_before(finding, end);
		goes_on = begin < end && begin > 0;
		if (goes_on &&
		    name_parts_add_part(finding, NAME_EXTRA, begin, end,
		                        0) != 0)
			return 0;
		if (goes_on)
			end = begin;
	}
	return end;
}

/* "Lambda$14/0x00007f01": an address of the run. */
static uint32_t
skip_address(const struct parts_finding *finding, uint32_t i)
{
	uint32_t end = i + 3;

	if (strchr("/.", finding->name[i]) == NULL ||
	    !name_parts_is_at(finding, i + 1, finding->n, "0x"))
		return i;
	while (name_parts_is_hex(at(finding, end)))
		end++;
	return end - i - 3 >= HASH_DIGITS ? end : i;
}

/* What is left to read of the outer level: no bracket is around it. */
struct outer {
	uint32_t at, end;
	uint32_t token;		/* the next one */
};

enum outer_kind { OUTER_END, OUTER_BYTE, OUTER_BLANK, OUTER_TOKEN };

/* Moves past the next byte or token, which begins at *begin. */
static enum outer_kind
next_outer(const struct parts_finding *finding, struct outer *outer,
           uint32_t *begin, const struct name_token **token)
{
	const struct name_parts *parts = finding->parts;

	*begin = outer->at;
	if (outer->at >= outer->end)
		return OUTER_END;
	while (outer->token < parts->n_tokens &&
	       (parts->tokens[outer->token].begin < outer->at ||
	        parts->tokens[outer->token].end == 0))
		outer->token++;
	*token = outer->token < parts->n_tokens ?
	    &parts->tokens[outer->token] : NULL;
	if (*token != NULL && (*token)->begin == outer->at &&
	    (*token)->end <= outer->end) {
		outer->at = (*token)->end;
		return OUTER_TOKEN;
	}
	outer->at++;
	return finding->name[*begin] == ' ' ? OUTER_BLANK : OUTER_BYTE;
}

/* Words between two names: "virtual thunk to f". */
static bool
joins(const struct parts_finding *finding, uint32_t blank)
{
	return name_parts_is_before(finding, blank, " to") ||
	    name_parts_is_before(finding, blank, " for") ||
	    name_parts_is_before(finding, blank, " in");
}

/* "(*f(int))" of a function that returns a pointer to a function or array. */
static bool
is_declarator(const struct parts_finding *finding,
              const struct name_token *token)
{
	char first = at(finding, token->begin + 1);
	char next = at(finding, token->end);

	return token->opens == '(' && !token->is_list &&
	    (first == '*' || first == '&') && (next == '(' || next == '[');
}

/* The outer level as a whole. */
struct parts_form {
	uint32_t name;		/* where the name begins if parameters end it */
	uint32_t blank;		/* the first one after a name; NONE */
	bool has_parameters;	/* at its end */
	const struct name_token *declarator;	/* or NULL */
};

static struct parts_form
find_form(const struct parts_finding *finding, struct outer outer)
{
	struct parts_form form = { .name = outer.at, .blank = NONE };
	const struct name_token *token;
	bool has_operator = false;
	uint32_t begin;

	for (;;) {
		switch (next_outer(finding, &outer, &begin, &token)) {
		case OUTER_END:
			return form;
		case OUTER_BYTE:
			form.has_parameters = false;
			break;
		case OUTER_BLANK:
			form.has_parameters = false;
			if (joins(finding, begin)) {
				form.name = finding->parts->begin;
				form.blank = NONE;
			} else if (!has_operator) {
				form.name = outer.at;
				if (form.blank == NONE)
					form.blank = begin;
			}
			break;
		case OUTER_TOKEN:
			/* .NET: "int [Shop] Shop.Cart::Sum(int)[Optimized]" */
			form.has_parameters = token->is_list &&
			    (token->opens == '(' ||
			     (token->opens == '[' && form.has_parameters));
			has_operator |= token->opens == 'o';
			if (is_declarator(finding, token))
				form.declarator = token;
			if (form.has_parameters)
				outer.at = skip_after_parameters(finding,
				                                 outer.at);
			break;
		}
	}
}

/* Whether a file's ending follows a point, as in "/a/b.so.6". */
static bool
is_ending(const struct parts_finding *finding, uint32_t i, uint32_t end)
{
	static const char *const endings[] = {
		"so", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "py", "pyc",
		"js", "mjs", "ts", "rs", "go", "d", "java", "S", "s", "ko",
		"exe", "dll",
	};

	for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
		uint32_t next = i + (uint32_t)strlen(endings[k]);

		if (name_parts_is_at(finding, i, end, endings[k]) &&
		    (next == end || at(finding, next) == ':' ||
		     (at(finding, next) == '.' &&
		      is_digit(at(finding, next + 1)))))
			return true;
	}
	return false;
}

/* The length of the separator of scopes that begins there, or 0. */
static uint32_t
separator_length(const struct parts_finding *finding, uint32_t i,
                 uint32_t begin, uint32_t end)
{
	char c = finding->name[i], next = at(finding, i + 1);

	if (i + 1 >= end || i == begin)
		return 0;
	if (c == ':' && next == ':')
		return i + 2 < end ? 2 : 0;
	if (c == '/')
		return name_parts_is_letter(next);
	return c == '.' && ends_callable(finding, i, false) &&
	    (name_parts_is_letter(next) || next == '(' || next == '<') &&
	    !is_ending(finding, i + 1, end);
}

/* A scope ends there, the next one begins. */
static int
add_scope(struct parts_finding *finding, uint32_t end, uint32_t next)
{
	struct name_parts *parts = finding->parts;

	if (memory_grow(&parts->scopes, &parts->scopes_capacity,
	                parts->n_scopes + 1, sizeof *parts->scopes,
	                finding->error) != 0)
		return -1;
	parts->scopes[parts->n_scopes++] = end;
	parts->last_begin = next;
	parts->last_end = NONE;
	return 0;
}

/* The last identifier ends there, unless it has ended. */
static void
end_identifier(struct parts_finding *finding, uint32_t end)
{
	if (finding->parts->last_end == NONE)
		finding->parts->last_end = end;
}

/* Reads a byte of the name; moves on where more belongs to it. */
static int
read_byte(struct parts_finding *finding, struct outer *outer, uint32_t i)
{
	uint32_t begin = finding->parts->begin;
	uint32_t end = skip_address(finding, i);
	uint32_t length = separator_length(finding, i, begin, outer->end);

	if (end > i && end <= outer->end) {
		outer->at = end;
		end_identifier(finding, i);
		return name_parts_add_part(finding, NAME_EXTRA, i, end, 0);
	}
	if (length == 0)
		return 0;
	outer->at = i + length;
	/* "f::<T>" */
	if (length == 2 && outer->token < finding->parts->n_tokens &&
	    finding->parts->tokens[outer->token].begin == outer->at &&
	    finding->parts->tokens[outer->token].is_list)
		return 0;
	return add_scope(finding, i, i + length);
}

/* Finds the scopes and the last identifier. */
static int
find_scopes(struct parts_finding *finding, struct outer outer)
{
	const struct name_token *token;
	bool in_operator = false;	/* "operator a::B" has one scope less */
	uint32_t begin;

	finding->parts->begin = finding->parts->last_begin = outer.at;
	finding->parts->last_end = NONE;
	for (;;) {
		switch (next_outer(finding, &outer, &begin, &token)) {
		case OUTER_END:
			end_identifier(finding, outer.end);
			return 0;
		case OUTER_BYTE:
			if (!in_operator &&
			    read_byte(finding, &outer, begin) != 0)
				return -1;
			break;
		case OUTER_BLANK:
			if (joins(finding, begin) &&
			    add_scope(finding, begin, outer.at) != 0)
				return -1;
			break;
		case OUTER_TOKEN:
			in_operator |= token->opens == 'o';
			if (!token->is_list)
				break;
			end_identifier(finding, list_begin(finding, token));
			if (token->opens != '(')
				break;
			in_operator = false;
			outer.at = skip_after_parameters(finding, outer.at);
			break;
		}
	}
}

/* A declarator is around the name: "void (*f(int))(char)". */
static int
enter_declarator(struct parts_finding *finding, struct outer *outer,
                 const struct name_token *token)
{
	uint32_t begin = token->begin + 1, end = token->end - 1;

	while (at(finding, begin) == '*' || at(finding, begin) == '&')
		begin++;
	if (begin >= end)
		return 0;
	if (name_parts_add_part(finding, NAME_DECLARATOR, outer->at, begin,
	                        0) != 0 ||
	    name_parts_add_part(finding, NAME_DECLARATOR, end, outer->end,
	                        0) != 0)
		return -1;
	outer->at = begin;
	outer->end = end;
	outer->token = (uint32_t)(token - finding->parts->tokens) + 1;
	return 1;
}

static int
name_parts_find_name(struct parts_finding *finding)
{
	uint32_t end = name_parts_find_end(finding);
	struct outer outer = { .end = end };
	struct parts_form form;

	if (finding->error->is_set)
		return -1;
	for (int k = 0; k < DECLARATORS_MAX; k++) {
		int entered = 0;

		finding->parts->begin = outer.at;
		form = find_form(finding, outer);
		if (form.declarator != NULL)
			entered = enter_declarator(finding, &outer,
			                           form.declarator);
		if (entered < 0)
			return -1;
		if (entered == 0)
			break;
	}
	if (!form.has_parameters && form.blank != NONE)
		outer.end = form.blank;
	if (form.has_parameters && form.name > outer.at) {
		if (name_parts_add_part(finding, NAME_EXTRA, outer.at,
		                        form.name, 0) != 0)
			return -1;
		outer.at = form.name;
	}
	return find_scopes(finding, outer);
}

static int
name_parts_compare_parts(const void *a, const void *b)
{
	const struct name_part *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

/*
 * Orders the parts, and sets where each ends among them.  A part that lies
 * across another one, or is the same, is dropped.
 */
static void
order_parts(struct name_parts *parts)
{
	size_t n = 0;
	uint32_t open = NONE;	/* the chain of parts around the next, by
				 * their `after` */

	if (parts->n > 0)
		qsort(parts->parts, parts->n, sizeof *parts->parts,
		      name_parts_compare_parts);
	for (size_t i = 0; i < parts->n; i++) {
		struct name_part part = parts->parts[i];

		while (open != NONE && parts->parts[open].end <= part.begin) {
			uint32_t outer = parts->parts[open].after;

			parts->parts[open].after = (uint32_t)n;
			open = outer;
		}
		if (open != NONE && (part.end > parts->parts[open].end ||
		    (part.begin == parts->parts[open].begin &&
		     part.end == parts->parts[open].end)))
			continue;
		part.after = open;
		parts->parts[n] = part;
		open = (uint32_t)n++;
	}
	while (open != NONE) {
		uint32_t outer = parts->parts[open].after;

		parts->parts[open].after = (uint32_t)n;
		open = outer;
	}
	parts->n = n;
}

/*
 * "Parser.parse (app.py:7)": where the place begins with which interpreted
 * functions are named; 0 for other names.  It has a dot or a line, or is in
 * "<>", and neither blank, comma nor bracket.
 */
static size_t
source_place(const char *name, size_t n)
{
	bool is_file = false;
	size_t i = n - 1;

	if (n < 5 || name[i] != ')')
		return 0;
	while (i > 0 && strchr("(), ", name[i - 1]) == NULL) {
		is_file |= name[i - 1] == '.' ||
		    (name[i - 1] == ':' && name[i] >= '0' && name[i] <= '9');
		i--;
	}
	if (i < 3 || name[i - 1] != '(' || name[i - 2] != ' ' ||
	    i + 1 >= n || !(is_file || name[i] == '<'))
		return 0;
	return i - 2;
}

/* The parts of such a name: only its scopes, up to the place. */
static int
find_source_name(struct parts_finding *finding, uint32_t end)
{
	unsigned depth = 0;

	for (uint32_t i = 0; i < end; i++) {
		if (finding->name[i] == '<')
			depth++;
		else if (finding->name[i] == '>' && depth > 0)
			depth--;
		else if (finding->name[i] == '.' && depth == 0 && i > 0 &&
		         add_scope(finding, i, i + 1) != 0)
			return -1;
	}
	finding->parts->last_end = end;
	return name_parts_add_part(finding, NAME_PLACE, end, finding->n, 0);
}

int
name_parts_find(struct name_parts *parts, const char *name, size_t n,
                struct error *error)
{
	struct parts_finding finding = {
		.name = name, .n = (uint32_t)n, .parts = parts, .error = error,
	};

	parts->n = parts->n_scopes = parts->n_tokens = 0;
	if (n > NAME_PARTS_MAX || n == 0) {
		parts->begin = parts->last_begin = 0;
		parts->last_end = n > NAME_PARTS_MAX ? NAME_PARTS_MAX : 0;
		return 0;
	}
	if (source_place(name, n) > 0) {
		parts->begin = parts->last_begin = 0;
		if (find_source_name(&finding,
		                     (uint32_t)source_place(name, n)) != 0)
			return -1;
		order_parts(parts);
		return 0;
	}
	if (find_tokens(&finding) != 0 || find_lists(&finding) != 0 ||
	    name_parts_find_name(&finding) != 0)
		return -1;
	order_parts(parts);
	return 0;
}

/* "f(" of a name: not "decltype(", nor "(anonymous namespace)::f". */
static bool
opens_parameters(const struct parts_finding *finding, uint32_t i)
{
	return ends_callable(finding, i, false) &&
	    !name_parts_is_before(finding, i, "decltype");
}

size_t
name_return_type(const char *name, size_t n)
{
	struct parts_finding finding = { .name = name, .n = (uint32_t)n };
	bool has_parameters = false;
	uint32_t begin = 0, depth = 0;

	for (uint32_t i = 0; n <= NAME_PARTS_MAX && i < n; i++) {
		char c = name[i];
		uint32_t end;

		/* Most characters, and "operator" is the only word that
		 * matters. */
		if (c != 'o' && name_parts_is_identifier(c))
			continue;
		end = skip_operator(&finding, i);
		if (end > i && depth == 0)
			return begin;
		if (end > i) {
			i = end - 1;
			continue;
		}
		if (c != '\0' && strchr("(<[{", c) != NULL) {
			has_parameters |= depth == 0 && c == '(' &&
			    opens_parameters(&finding, i);
			depth++;
		} else if (depth > 0 && opener_of(c) != '\0' &&
		           !(c == '>' && strchr("-=", before(&finding, i)) !=
		             NULL)) {
			depth--;
		} else if (c == ' ' && depth == 0) {
			if (has_parameters)
				break;
			if (joins(&finding, i))
				return 0;
			begin = i + 1;
		}
	}
	return has_parameters ? begin : 0;
}

/* Whether a bracket of the outer level belongs to what follows the name. */
static bool
opens_tail(const struct parts_finding *finding, uint32_t i, bool after_operator)
{
	char c = finding->name[i];

	return i > 0 && (c == '<' || c == '[' ||
	                 (c == '(' && (after_operator ||
	                               opens_parameters(finding, i))));
}

size_t
name_tail(const char *name, size_t n)
{
	struct parts_finding finding = { .name = name, .n = (uint32_t)n };
	bool has_parameters = false;
	uint32_t depth = 0, operator_end = 0;
	size_t tail = n;

	for (uint32_t i = 0; n <= NAME_PARTS_MAX && i < n; i++) {
		char c = name[i];
		uint32_t end;
		bool opens;

		if (depth > 0 && c != 'o' && name_parts_is_identifier(c))
			continue;
		end = skip_operator(&finding, i);
		opens = end == i && c != '\0' && strchr("(<[{", c) != NULL;
		if (opens && depth == 0 && opens_tail(&finding, i,
		    i > 0 && operator_end == i)) {
			tail = tail < n ? tail : i;
			has_parameters |= c == '(';
		} else if (depth == 0 && c == ' ' && has_parameters) {
			break;
		} else if (depth == 0) {
			/* That was a scope's, or a return type. */
			tail = n;
			has_parameters = false;
		}
		if (end > i) {
			operator_end = end;
			i = end - 1;
		} else if (opens) {
			depth++;
		} else if (depth > 0 && opener_of(c) != '\0' &&
		           !(c == '>' && strchr("-=", before(&finding, i)) !=
		             NULL)) {
			depth--;
		}
	}
	return tail;
}

enum name_beginning
name_begins(struct name_parts *parts, const char *name, size_t n,
            const char *typed, size_t n_typed)
{
	struct error ignored = { 0 };
	const char *within;

	if (n_typed > n)
		return NAME_BEGINS_NOT;
	if (memcmp(name, typed, n_typed) == 0)
		return NAME_BEGINS_WHOLE;
	/* Most names do not have it at all. */
	within = memmem(name, n, typed, n_typed);
	if (within == NULL || name_parts_find(parts, name, n, &ignored) != 0)
		return NAME_BEGINS_NOT;
	if (n_typed <= n - parts->begin &&
	    memcmp(name + parts->begin, typed, n_typed) == 0)
		return NAME_BEGINS_WHOLE;
	for (size_t k = 0; k < parts->n_scopes; k++) {
		size_t at = parts->scopes[k];

		at += name[at] == ':' ? 2 : 1;
		if (n_typed <= n - at && at + n_typed > parts->last_begin &&
		    memcmp(name + at, typed, n_typed) == 0)
			return NAME_BEGINS_LAST;
	}
	return NAME_BEGINS_NOT;
}
