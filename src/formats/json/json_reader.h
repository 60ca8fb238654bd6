/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_reader.h -- the tokens of a JSON text, one after the other.
 *
 * The text is read block by block (yajl does that), so that memory does not
 * grow with it.  Sticky: once anything failed, also in one of the functions
 * below, no more tokens come; whoever reads asks once, at the end, whether
 * *error is set.  Readers loop over keys and elements and never recurse.
 */
#ifndef CPPROF_FORMATS_JSON_JSON_READER_H
#define CPPROF_FORMATS_JSON_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/formats/source.h"

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
	uint64_t offset;	/* in the input, of its first byte; of a string
				 * with escapes, of a byte inside it */
	const char *text;	/* of a number, string (unescaped, any bytes)
				 * or key, not ended by NUL; good until the
				 * next token is asked for */
	size_t length;
};

struct json_reader;

/*
 * For a source that nothing but a byte-order mark was read of.  progress may be
 * NULL.  Source, progress and error must live as long; freed with
 * json_reader_free.  NULL with *error set for want of memory.
 */
struct json_reader *json_reader_new(struct source *source,
                                    const struct progress *progress,
                                    struct error *error);
void json_reader_free(struct json_reader *json);

/*
 * The next token, false where it is JSON_END.  A text that is malformed sets
 * *error, with its offset; so do one nested deeper than 4,194,304 levels and a
 * string of more than 64 MiB.
 */
bool json_next(struct json_reader *json, struct json_token *token);

/* The value behind a key, or the next one of an array; likewise. */
static inline bool
json_next_value(struct json_reader *json, struct json_token *token)
{
	return json_next(json, token);
}

/* The next key of the object that is open; false: it ends, or the input. */
bool json_next_key(struct json_reader *json, struct json_token *token);

/* The next value of the array that is open; false: it ends, or the input. */
bool json_next_element(struct json_reader *json, struct json_token *token);

/* Passes over what is left of the value that begins with the token. */
void json_skip(struct json_reader *json, const struct json_token *token);

/* Passes over the value behind a key. */
void json_skip_value(struct json_reader *json);

/*
 * Whether the value behind a key is an array, or an object, which is then open.
 * null is as good as no key; any other value is an error, which says `what` was
 * expected: "an array of frames".
 */
bool json_open_array(struct json_reader *json, const char *what);
bool json_open_object(struct json_reader *json, const char *what);

/* The value behind a key as a number from 0 to `most`; null leaves *number. */
void json_get_number(struct json_reader *json, uint64_t most,
                     const char *what, uint64_t *number);

/* Whether the text of a string or key is that. */
bool json_is(const struct json_token *token, const char *text);

/* Sets an error at an offset of the input: "expected an array of frames". */
void json_fail(struct json_reader *json, uint64_t offset, const char *format,
               ...) __attribute__((format(printf, 3, 4)));

/*
 * Whether the text ended too early, or the packing of the input did, and where;
 * known when JSON_END has come.  A number at the very end of such a text is not
 * given, for it may have been cut, too.
 */
bool json_is_cut(const struct json_reader *json);
uint64_t json_offset(const struct json_reader *json);

/* The source's, for warnings. */
const char *json_source_name(const struct json_reader *json);

#endif
