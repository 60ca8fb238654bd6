/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_fields.c -- reads the objects of JSON by tables of their keys.
 *
 * A key is looked up before its value is read, since its text is good only
 * until then.
 */
#include <string.h>

#include "src/formats/json/json_reader.h"
#include "src/symbols/names/program.h"

void
json_refuse_field(struct json_reader *json, const struct json_token *token)
{
	if (token->field->or_skip)
		json_skip(json, token);
	else
		json_refuse(json, token, token->field->what);
}

static void
json_read_field(struct json_reader *json, const struct json_field *field,
                void *into)
{
	struct json_token token, first;

	if (!json_next(json, &token) || token.type == JSON_NULL)
		return;
	token.field = field;
	if (field->type != JSON_END && token.type != field->type) {
		json_refuse_field(json, &token);
		return;
	}
	first = token;
	if (field->read != NULL)
		field->read(json, &token, into);
	else
		json_read_fields(json, field->fields, into);
	/* Unless it was read or refused already. */
	if (field->type == JSON_END && json_offset(json) == first.offset)
		json_skip(json, &first);
}

void
json_read_key(struct json_reader *json, const struct json_field *fields,
              const struct json_token *key, void *into)
{
	while (fields != NULL) {
		if (fields->key == NULL) {
			fields = fields->fields;
		} else if (json_is(key, fields->key)) {
			json_read_field(json, fields, into);
			return;
		} else {
			fields++;
		}
	}
	json_skip_value(json);
}

bool
json_read_fields(struct json_reader *json, const struct json_field *fields,
                 void *into)
{
	struct json_token key;

	while (json_next_key(json, &key))
		json_read_key(json, fields, &key, into);
	return key.type == JSON_OBJECT_END;
}

void
json_read_file(struct json_reader *json, const struct json_field *fields,
               const char *what, void *into)
{
	struct json_token token;

	if (!json_open_object(json, what))
		return;
	json_read_fields(json, fields, into);
	json_next(json, &token);	/* more is an error */
}

/* ---- what values become ---- */

void
json_read_name(struct json_reader *json, struct json_token *token, void *into)
{
	uint32_t *name = json_field_in(token, into);

	*name = token->length == 0 ? NO_NAME :
	        names_add(json_profile(json)->names, token->text,
	                  token->length, json_error(json));
}

void
json_read_function(struct json_reader *json, struct json_token *token, void *into)
{
	uint32_t *name = json_field_in(token, into);

	*name = token->length == 0 ? NO_NAME :
	        demangle_and_add(json_profile(json)->names, token->text,
	                         token->length, json_error(json));
}

void
json_read_text(struct json_reader *json, struct json_token *token, void *into)
{
	const char *text = arena_text(&json_profile(json)->arena, token->text,
	                              token->length, json_error(json));

	if (text != NULL)
		*(const char **)json_field_in(token, into) = text;
}

/* A whole number up to the field's, or `most`; false: it is refused. */
static bool
json_get_whole(struct json_reader *json, const struct json_token *token,
               uint64_t most, uint64_t *number)
{
	if (json_whole_number(token, token->field->number != 0 ?
	                      token->field->number : most, number))
		return true;
	json_refuse_field(json, token);
	return false;
}

void
json_read_u64(struct json_reader *json, struct json_token *token, void *into)
{
	uint64_t number;

	if (json_get_whole(json, token, INT64_MAX, &number))
		*(uint64_t *)json_field_in(token, into) = number;
}

void
json_read_u32(struct json_reader *json, struct json_token *token, void *into)
{
	uint64_t number;

	if (json_get_whole(json, token, UINT32_MAX, &number))
		*(uint32_t *)json_field_in(token, into) = (uint32_t)number;
}

void
json_read_decimal(struct json_reader *json, struct json_token *token, void *into)
{
	struct json_known *known = json_field_in(token, into);

	known->is_there = json_decimal(token, &known->decimal);
	if (!known->is_there)
		json_refuse_field(json, token);
}
