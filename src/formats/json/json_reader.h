/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_reader.h -- reading JSON as it comes, with yajl. */
#ifndef CPPROF_FORMATS_JSON_JSON_READER_H
#define CPPROF_FORMATS_JSON_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/reader.h"

/*
 * The tokens of a JSON text, one after the other.
 *
 * yajl parses the text block by block, so that memory does not grow with it.
 * Errors are sticky: after a failure, be it the reader's or one of json_fail,
 * there are no more tokens, so that a format checks *error once, at the end.
 * Formats loop over keys and elements and never recurse.
 */

enum json_type {
	JSON_END,		/* of the input, or after a failure */
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_KEY,		/* of an object; its value comes next */
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
};

struct json_token {
	enum json_type type;
	uint64_t offset;	/* of its first byte, in the unpacked input
				 * after its byte-order mark; of a string with
				 * escapes, of a byte inside it */
	const char *text;	/* of a number, string (unescaped, any bytes)
				 * or key, not ended by NUL; valid until the
				 * next token is read */
	size_t length;
	const struct json_field *field;	/* whose value this is, see json_read */
};

struct json_reader;

/*
 * Reads the source of a reader, from its beginning or after its byte-order
 * mark.  After JSON_END the reader says whether the text is cut short, and
 * where.  context is the format's own, for the functions that it hands in here.
 * reader, context and error must outlive the result, which json_reader_free
 * frees.  NULL with *error set when memory runs out.
 */
struct json_reader *json_reader_new(struct reader *reader, void *context,
                                    struct error *error);
void json_reader_free(struct json_reader *json);

/* The context, the profile that the reader fills, and the error. */
void *json_context(const struct json_reader *json);
struct profile *json_profile(const struct json_reader *json);
struct error *json_error(const struct json_reader *json);

/* Before the first token: several values may follow each other, as in JSON
 * lines; without this only one is well-formed. */
void json_allow_several(struct json_reader *json);

/*
 * Reads the next token; false: it is JSON_END.  Malformed text sets *error,
 * with its offset; so do more than 4,194,304 levels of nesting and a string of
 * more than 64 MiB.
 */
bool json_next(struct json_reader *json, struct json_token *token);

/* The next key of the open object; false: the object or the input ends. */
bool json_next_key(struct json_reader *json, struct json_token *token);

/* The next value of the open array; false: the array or the input ends. */
bool json_next_element(struct json_reader *json, struct json_token *token);

/*
 * Opens the next value of the open array, an object; false: the array or the
 * input ends.  Any other value is refused: "expected a frame, an object".
 */
bool json_next_object(struct json_reader *json, struct json_token *token,
                      const char *what);

/* Skips the rest of the value that begins with the token. */
void json_skip(struct json_reader *json, const struct json_token *token);

/* Skips the value of a key. */
void json_skip_value(struct json_reader *json);

/*
 * Reads the value of a key, whatever it is; of an array or object only the
 * first token, and the rest is skipped.  false: the input ends.
 */
bool json_get_value(struct json_reader *json, struct json_token *token);

/*
 * Opens the value of a key, an array or an object.  false: it is null, which
 * counts as a missing key, or any other value, which is refused: `what` was
 * expected, "an array of frames".
 */
bool json_open_array(struct json_reader *json, const char *what);
bool json_open_object(struct json_reader *json, const char *what);

/* Likewise reads the value of a key as a string. */
bool json_get_string(struct json_reader *json, struct json_token *token,
                     const char *what);

/*
 * Refuses the value that begins with the token, since `what` was expected.
 * That is an error, unless there is a leave_out, which gets the reader's
 * context; then the value is skipped.
 */
void json_refuse(struct json_reader *json, const struct json_token *token,
                 const char *what);
typedef void json_leave_out(void *context, uint64_t offset, const char *what);
void json_leave_out_wrong(struct json_reader *json, json_leave_out *leave_out);

/* Whether the text of a string or key equals `text`. */
bool json_is(const struct json_token *token, const char *text);

/* Sets an error at an offset of the input: "expected an array of frames". */
void json_fail(struct json_reader *json, uint64_t offset, const char *format,
               ...) __attribute__((format(printf, 3, 4)));

/* Sets the error of another function at an offset, as reader_pass_at. */
void json_pass(struct json_reader *json, uint64_t offset,
               const struct error *why);

/*
 * Whether the text ended too early, or the packing of the input did; known
 * after JSON_END.  A number at the very end of such a text is dropped, since
 * some of its digits may be missing.
 */
bool json_is_cut_short(const struct json_reader *json);

/* The offset of the last token that was read. */
uint64_t json_offset(const struct json_reader *json);

/* ---- decimal numbers as exact integers ---- */

/*
 * Times are written in seconds, 1717171717.123456, and counted in nanoseconds:
 * a double would lose some of these.
 */

/* digits * 10^exponent */
struct decimal {
	int64_t digits;
	int32_t exponent;
	bool is_rounded;	/* the token had more digits than fit */
};

/*
 * The number, with its first 18 digits, and a 19th if 63 bits can hold it.
 * false: the token is not a number.
 */
bool json_decimal(const struct json_token *token, struct decimal *decimal);

/*
 * decimal * 10^power, rounded to the nearest integer (halves away from 0).
 * *is_exact, which may be NULL, becomes false if anything was rounded, here or
 * in the decimal.  false: the result would exceed INT64_MAX.
 */
bool decimal_scale(struct decimal decimal, int power, int64_t *integer,
                   bool *is_exact);

/* The number if it is an integer from 0 to `most`; false: it is not. */
bool json_whole_number(const struct json_token *token, uint64_t most,
                       uint64_t *number);

/*
 * Reads the value of a key as a number from 0 to `most`; null leaves *number
 * as it is.  Any other value is an error that says `what` was expected.
 */
void json_get_number(struct json_reader *json, uint64_t most,
                     const char *what, uint64_t *number);

/* ---- json_fields.c: objects by tables ---- */

/*
 * What is in an object, as a table of its keys:
 *
 *	static const struct json_field step_fields[] = {
 *		{ "name", "the name of a step", JSON_STRING,
 *		  .read = json_read_name, .at = offsetof(struct step, name) },
 *		{ "ms", "a time", JSON_NUMBER, .read = json_read_decimal,
 *		  .at = offsetof(struct step, ms) },
 *		{ "parts", "an array of parts", JSON_ARRAY,
 *		  .read = trail_read_parts },
 *		{ NULL }
 *	};
 *
 *	while (json_next_object(json, &token, "a step, an object")) {
 *		struct step step = { .name = NO_NAME };
 *
 *		if (json_read_fields(json, step_fields, &step))
 *			...
 *	}
 *
 * The keys may come in any order.  Other keys are skipped, and null counts as a
 * missing key.
 */

/*
 * Reads the value of a field, token->field.  token: the first one of the value,
 * of the field's type; the rest of an array or object is to be read to its end,
 * for which the same token may be used.
 */
typedef void json_read(struct json_reader *json, struct json_token *token,
                       void *into);

struct json_field {
	const char *key;
	const char *what;	/* that is expected: "the name of a step" */
	enum json_type type;	/* a value of any other is refused; JSON_END:
				 * any, of which `read` gets the first token and
				 * the rest is skipped */
	bool or_skip;		/* skipped instead */
	json_read *read;	/* NULL: an object, with `fields` */
	size_t at;		/* where in *into the value goes */
	uint64_t number;	/* the reader's own, or as `read` says */

	/* Of the object, with the same *into.  Of key NULL: a table in which
	 * this one goes on. */
	const struct json_field *fields;
};

/* Where a function that reads a field stores the value. */
static inline void *
json_field_in(const struct json_token *token, void *into)
{
	return (char *)into + token->field->at;
}

/*
 * Refuses a value that is not as the field wants it, or skips it if the field says
 * so.
 */
void json_refuse_field(struct json_reader *json,
                       const struct json_token *token);

/*
 * Reads the open object into the struct *into.  false: the input ends in the
 * object.
 */
bool json_read_fields(struct json_reader *json, const struct json_field *fields,
                      void *into);

/* Reads the value of a key in the same way, or skips it. */
void json_read_key(struct json_reader *json, const struct json_field *fields,
                   const struct json_token *key, void *into);

/*
 * Reads a whole file: an object, behind which there is nothing.  what:
 * "an object".
 */
void json_read_file(struct json_reader *json, const struct json_field *fields,
                    const char *what, void *into);

/* A string: a name of the profile, uint32_t.  An empty one is NO_NAME. */
json_read json_read_name;
/* Likewise, demangled (demangle_and_add). */
json_read json_read_function;
/* A string: const char *, in the profile's arena. */
json_read json_read_text;
/*
 * A whole number, of no more than field->number: uint32_t, uint64_t.  0: of no
 * more than fits, and 63 bits.
 */
json_read json_read_u32;
json_read json_read_u64;

/* A number: struct json_known. */
struct json_known {
	bool is_there;
	struct decimal decimal;
};
json_read json_read_decimal;

/* ---- the probe ---- */

/*
 * PROBE_SURE if the first bytes of an input (see struct format) are JSON and
 * hold one of the keys, else PROBE_NO or PROBE_OUT_OF_MEMORY.  paths ends with
 * NULL.  A path names a key by the keys above it, at most four levels:
 * "meta.interval", and for objects in arrays "profiles[].type".
 */
int json_probe(const void *head, size_t size, const char *const *paths);

#endif
