/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp_messages.c -- which messages an input has, and whether they are OTLP's.
 *
 * Protobuf promises no order of fields: Go's writers begin with the last one,
 * others with the first.  It promises that fields of a later version are
 * skipped, too.  So the probe knows which fields each message has, goes as far
 * as the head of the file reaches, and where there are others asks for more
 * that speaks for OTLP.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/otlp/otlp_fields.h"
#include "src/formats/source.h"

/* ---- the fields that messages may have ---- */

enum otlp_kind {
	OTLP_DATA, OTLP_RESOURCE_PROFILES, OTLP_RESOURCE, OTLP_SCOPE_PROFILES,
	OTLP_PROFILE, OTLP_DICTIONARY, OTLP_NUMBERS, OTLP_ENTRY, OTLP_TEXT
};

enum { OTLP_ENTRY_FIELDS = 8, OTLP_PROFILE_FIELDS = 20, OTLP_DEPTH = 6,
       OTLP_ITEMS_ENOUGH = 32	/* of tables */ };

static const struct otlp_kind_field {
	enum otlp_kind in;
	uint32_t number;
	enum otlp_kind kind;
} otlp_kind_fields[] = {
	{ OTLP_DATA, OTLP_DATA_RESOURCE_PROFILES, OTLP_RESOURCE_PROFILES },
	{ OTLP_DATA, OTLP_DATA_DICTIONARY, OTLP_DICTIONARY },
	{ OTLP_RESOURCE_PROFILES, OTLP_RESOURCE_PROFILES_RESOURCE,
	  OTLP_RESOURCE },
	{ OTLP_RESOURCE_PROFILES, OTLP_RESOURCE_PROFILES_SCOPES,
	  OTLP_SCOPE_PROFILES },
	{ OTLP_RESOURCE_PROFILES, 3, OTLP_TEXT },
	{ OTLP_RESOURCE, OTLP_RESOURCE_ATTRIBUTES, OTLP_ENTRY },
	{ OTLP_RESOURCE, 3, OTLP_ENTRY },
	{ OTLP_SCOPE_PROFILES, 1, OTLP_ENTRY },
	{ OTLP_SCOPE_PROFILES, OTLP_SCOPE_PROFILES_PROFILES, OTLP_PROFILE },
	{ OTLP_SCOPE_PROFILES, 3, OTLP_TEXT },
	{ OTLP_PROFILE, OTLP_PROFILE_SAMPLE_TYPE, OTLP_NUMBERS },
	{ OTLP_PROFILE, OTLP_PROFILE_SAMPLES, OTLP_ENTRY },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_MAPPINGS, OTLP_ENTRY },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_LOCATIONS, OTLP_ENTRY },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_FUNCTIONS, OTLP_NUMBERS },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_LINKS, OTLP_ENTRY },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_STRINGS, OTLP_TEXT },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_ATTRIBUTES, OTLP_ENTRY },
	{ OTLP_DICTIONARY, OTLP_DICTIONARY_STACKS, OTLP_ENTRY },
};

/* What speaks for OTLP in the part of a message that was seen. */
struct otlp_signs {
	bool has_profile;	/* a type or samples of a profile, */
	bool has_numbers;	/* and one of them has a field that is known */
	unsigned n_tables;	/* of a dictionary that have begun; each must
				 * with a zero value, */
	unsigned n_zeros;	/* as these do */
	size_t n_items;		/* of all tables */
	bool has_resource_profiles, has_dictionary;
	bool has_unknown;	/* fields of no version that is known */
};

struct otlp_open {
	struct protobuf rest;
	enum otlp_kind kind;
	uint32_t seen;		/* of a dictionary: tables that have begun */
	bool is_first;		/* it begins one of these */
	bool is_in_profile;	/* a type or a sample */
	bool has_known;		/* a field that is known */
};

static const struct otlp_kind_field *
otlp_find_kind(enum otlp_kind in, uint32_t number)
{
	const size_t n = sizeof otlp_kind_fields / sizeof *otlp_kind_fields;

	for (size_t i = 0; i < n; i++)
		if (otlp_kind_fields[i].in == in &&
		    otlp_kind_fields[i].number == number)
			return &otlp_kind_fields[i];
	return NULL;
}

/* The greatest number of the fields that a message is known to have. */
static uint32_t
otlp_last_field(enum otlp_kind in)
{
	switch (in) {
	case OTLP_NUMBERS:
	case OTLP_ENTRY:
		return OTLP_ENTRY_FIELDS;
	case OTLP_PROFILE:
		return OTLP_PROFILE_FIELDS;
	case OTLP_DICTIONARY:
		return OTLP_DICTIONARY_STACKS;
	case OTLP_DATA:
		return OTLP_DATA_DICTIONARY;
	default:
		return 3;
	}
}

/* Whether a field that has no row, and no unknown number, may be there. */
static bool
otlp_may_have(enum otlp_kind in, const struct protobuf_field *field)
{
	switch (in) {
	case OTLP_NUMBERS:
		return field->wire == PROTOBUF_VARINT;
	case OTLP_ENTRY:
	case OTLP_PROFILE:
		return true;
	case OTLP_RESOURCE:
		return field->number == 2 && field->wire == PROTOBUF_VARINT;
	default:
		return false;
	}
}

static void
otlp_note_sign(struct otlp_open *open, const struct protobuf_field *field,
               struct otlp_open *inside, struct otlp_signs *signs)
{
	if (open->kind == OTLP_DATA) {
		signs->has_dictionary |= field->number == OTLP_DATA_DICTIONARY;
		signs->has_resource_profiles |= field->number ==
		    OTLP_DATA_RESOURCE_PROFILES;
	} else if (open->kind == OTLP_PROFILE) {
		signs->has_profile = inside->is_in_profile = true;
	} else if (open->kind == OTLP_DICTIONARY) {
		inside->is_first = (open->seen >> field->number & 1) == 0;
		signs->n_tables += inside->is_first;
		signs->n_items++;
		signs->n_zeros += inside->is_first && field->value == 0;
		open->seen |= (uint32_t)1 << field->number;
	}
}

/*
 * Reads the next field of a message of which not all may be at hand; the part
 * of bytes that is there counts as the field.
 */
static int
otlp_next_part(struct protobuf *message, struct protobuf_field *field)
{
	const unsigned char *at = message->at;
	int found = protobuf_next(message, field);
	uint64_t number;

	if (found != PROTOBUF_CUT_SHORT || field->number == 0)
		return found;
	at = protobuf_varint(protobuf_varint(at, &number), &number);
	field->bytes = at;
	field->value = (uint64_t)(message->end - at);
	message->at = message->end;
	return PROTOBUF_FIELD;
}

/* Whether head[size] and its padding may begin a message. */
static bool
otlp_fits_message(const unsigned char *head, size_t size,
                  struct otlp_signs *signs)
{
	struct otlp_open open[OTLP_DEPTH] = {
		{ .rest = { head, head + size }, .kind = OTLP_DATA }
	};
	size_t depth = 1;

	while (depth > 0) {
		struct otlp_open *top = &open[depth - 1];
		const struct otlp_kind_field *row;
		struct protobuf_field field = { 0 };
		struct otlp_open inside;
		int found = otlp_next_part(&top->rest, &field);

		if (found == PROTOBUF_MALFORMED)
			return false;
		if (found != PROTOBUF_FIELD) {
			if (found == PROTOBUF_CUT_SHORT &&
			    top->rest.end != head + size)
				return false;
			/* A zero value may have fields that are unknown. */
			signs->n_zeros += top->is_first && !top->has_known;
			depth--;
			continue;
		}
		if (field.number > otlp_last_field(top->kind)) {
			signs->has_unknown = true;
			continue;
		}
		row = otlp_find_kind(top->kind, field.number);
		if (row == NULL ? !otlp_may_have(top->kind, &field) :
		    field.wire != PROTOBUF_BYTES)
			return false;
		top->has_known = true;
		signs->has_numbers |= top->is_in_profile;
		if (row == NULL)
			continue;
		inside = (struct otlp_open){
			.rest = protobuf_message(&field), .kind = row->kind
		};
		otlp_note_sign(top, &field, &inside, signs);
		if (row->kind != OTLP_TEXT && field.value > 0)
			open[depth++] = inside;
	}
	return true;
}

/* ---- the probe ---- */

static bool
otlp_has_text(const char *head, size_t size, const char *text)
{
	return memmem(head, size, text, strlen(text)) != NULL;
}

static bool
otlp_is_json(const char *head, size_t size)
{
	size_t i = 0;

	while (i < size && memchr(" \t\r\n", head[i], 4) != NULL)
		i++;
	return i < size && head[i] == '{';
}

static bool
otlp_fits_json(const char *head, size_t size)
{
	static const char *const tables[] = { "string", "mapping", "location",
		"function", "link", "attribute", "stack" };
	char name[32];

	if (otlp_has_text(head, size, "\"resourceProfiles\"") ||
	    otlp_has_text(head, size, "\"resource_profiles\""))
		return true;
	if (!otlp_has_text(head, size, "\"dictionary\""))
		return false;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (int is_old = 0; is_old < 2; is_old++) {
			snprintf(name, sizeof name, "\"%s%s\"", tables[i],
			         is_old ? "_table" : "Table");
			if (otlp_has_text(head, size, name))
				return true;
		}
	return false;
}

/* Whether what was seen of a message is enough. */
static bool
otlp_signs_are_enough(const struct otlp_signs *signs)
{
	if (!signs->has_unknown)
		return signs->has_profile || signs->n_zeros > 0;
	return signs->n_zeros == signs->n_tables &&
	       (signs->has_numbers || signs->n_tables > 1 ||
	        signs->n_items >= OTLP_ITEMS_ENOUGH);
}

/* Whether a message, which is not packed, may begin so. */
static bool
otlp_fits_plain(const char *head, size_t size, bool is_framed, bool is_whole)
{
	/* With the padding that readers of fields want. */
	unsigned char copy[FORMAT_HEAD_SIZE + PROTOBUF_PADDING];
	struct otlp_signs signs = { 0 };

	if (size > FORMAT_HEAD_SIZE)
		size = FORMAT_HEAD_SIZE;
	if (otlp_is_json(head, size))
		return otlp_fits_json(head, size);
	memcpy(copy, head, size);
	memset(copy + size, 0, PROTOBUF_PADDING);
	return otlp_fits_message(copy, size, &signs) &&
	       otlp_signs_are_enough(&signs) &&
	       (!is_framed || !is_whole ||
	        (signs.has_resource_profiles && signs.has_dictionary));
}

static bool
otlp_is_packed(const char *head, size_t size)
{
	return size >= 4 && (memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0 ||
	                     memcmp(head, "\x1f\x8b\x08", 3) == 0);
}

/* Likewise a message with its length before it, which may be packed. */
static bool
otlp_fits_framed(const char *head, size_t size, uint64_t length)
{
	bool is_whole = length <= size, fits = false;
	struct error error = { 0 };
	struct source *source;
	const char *unpacked;

	if (length == 0)
		return false;
	if (is_whole)
		size = length;
	if (!otlp_is_packed(head, size))
		return otlp_fits_plain(head, size, true, is_whole);
	source = source_of_memory("", head, size, &error);
	if (source == NULL)
		return false;
	unpacked = source_peek(source, FORMAT_HEAD_SIZE, &size, &error);
	if (unpacked != NULL)
		fits = otlp_fits_plain(unpacked, size, true, false);
	source_close(source);
	return fits;
}

enum otlp_framing { OTLP_PLAIN, OTLP_FIXED, OTLP_VARINT, OTLP_NONE };

/* Takes a length; NULL: there is none. */
static const char *
otlp_take_length(const char *at, size_t size, enum otlp_framing framing,
                 uint64_t *length)
{
	unsigned char bytes[PROTOBUF_PADDING] = { 0 };
	const unsigned char *end;

	memcpy(bytes, at, size < VARINT_MAX ? size : VARINT_MAX);
	if (framing == OTLP_FIXED) {
		*length = (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 |
		          (uint64_t)bytes[2] << 8 | bytes[3];
		return size < 4 ? NULL : at + 4;
	}
	end = protobuf_varint(bytes, length);
	return end == NULL || (size_t)(end - bytes) > size ? NULL :
	       at + (end - bytes);
}

static enum otlp_framing
otlp_find_framing(const char *head, size_t size)
{
	if (otlp_fits_plain(head, size, false, false))
		return OTLP_PLAIN;
	for (enum otlp_framing i = OTLP_FIXED; i <= OTLP_VARINT; i++) {
		uint64_t length;
		const char *at = otlp_take_length(head, size, i, &length);

		if (at != NULL && otlp_fits_framed(at,
		        size - (size_t)(at - head), length))
			return i;
	}
	return OTLP_NONE;
}

int
otlp_probe(const void *head, size_t size)
{
	return otlp_find_framing(head, size) != OTLP_NONE ? PROBE_SURE :
							    PROBE_NO;
}

/* ---- the messages ---- */

static int
otlp_messages_add(struct otlp_messages *messages, size_t first, size_t n,
                  struct error *error)
{
	if (memory_grow(&messages->spans, &messages->capacity, messages->n + 1,
	                sizeof *messages->spans, error) != 0)
		return -1;
	messages->spans[messages->n++] = (struct otlp_span){ first, n };
	return 0;
}

/* Adds all objects of the JSON that the reader's source has. */
static int
otlp_messages_add_json(struct otlp_messages *messages, struct reader *reader,
                       struct error *error)
{
	struct json_reader *json = json_reader_new(reader, NULL, error);
	struct text_buffer *bytes = &messages->bytes;
	size_t first = bytes->length;

	messages->is_json = true;
	if (json == NULL)
		return -1;
	json_allow_several(json);
	while (otlp_json_convert(json, bytes, error) &&
	       otlp_messages_add(messages, first, bytes->length - first,
	                         error) == 0)
		first = bytes->length;
	messages->is_cut_short |= json_is_cut_short(json);
	json_reader_free(json);
	return error->is_set ? -1 : 0;
}

/* Unpacks one message, of JSON or protobuf, from input[size]. */
static int
otlp_messages_unpack(struct otlp_messages *messages,
                     const struct reader *reader, const char *input,
                     size_t size, struct error *error)
{
	struct reader part = *reader;
	struct text_buffer *bytes = &messages->bytes;
	size_t first = bytes->length, n;
	const char *unpacked;
	int result = -1;

	part.place = 0;
	part.source = source_of_memory(source_name(reader->source), input, size,
	                               error);
	if (part.source == NULL)
		return -1;
	unpacked = source_peek(part.source, FORMAT_HEAD_SIZE, &n, error);
	if (unpacked != NULL && otlp_is_json(unpacked, n)) {
		result = otlp_messages_add_json(messages, &part, error);
	} else if (unpacked != NULL && (unpacked = source_peek(part.source,
	               SIZE_MAX, &n, error)) != NULL) {
		text_add(bytes, unpacked, n);
		result = bytes->failed ? error_out_of_memory(error) :
		    otlp_messages_add(messages, first, n, error);
	}
	messages->is_cut_short |= source_is_cut_short(part.source);
	source_close(part.source);
	return result;
}

/* Messages with their length before them. */
static int
otlp_messages_find_framed(struct otlp_messages *messages,
                          const struct reader *reader,
                          enum otlp_framing framing, const char *input,
                          size_t size, struct error *error)
{
	const char *at = input, *end = input + size;
	bool is_own = false;

	while (at < end && !messages->is_cut_short) {
		uint64_t length;
		const char *begin = otlp_take_length(at, (size_t)(end - at),
		                                     framing, &length);
		int result;

		if (begin == NULL || length > (size_t)(end - begin)) {
			messages->is_cut_short = true;
			if (begin == NULL)
				break;
			length = (size_t)(end - begin);
		}
		if (at == input)
			is_own = otlp_is_packed(begin, length) ||
			         otlp_is_json(begin, length);
		at = begin + length;
		/* Each may unpack to much; all together may not. */
		if (is_own && unpacked_is_too_much((size_t)(at - input),
		                                   messages->bytes.length))
			return reader_fail_file(reader, error, "its messages "
			    "unpack to " SOURCE_UNPACK_FIRST);
		result = is_own ?
		    otlp_messages_unpack(messages, reader, begin, length,
		                         error) :
		    otlp_messages_add(messages, (size_t)(begin - input),
		                      length, error);
		if (result != 0)
			return -1;
	}
	return 0;
}

int
otlp_messages_find(struct otlp_messages *messages, struct reader *reader,
                   struct error *error)
{
	struct source *source = reader->source;
	size_t size;
	const char *input = source_peek(source, FORMAT_HEAD_SIZE, &size,
	                                error);
	enum otlp_framing framing;
	int result;

	if (input == NULL)
		return -1;
	framing = otlp_find_framing(input, size < FORMAT_HEAD_SIZE ? size :
	                            FORMAT_HEAD_SIZE);
	if (framing != OTLP_FIXED && framing != OTLP_VARINT &&
	    otlp_is_json(input, size)) {
		result = otlp_messages_add_json(messages, reader, error);
	} else {
		input = source_peek(source, SIZE_MAX, &size, error);
		if (input == NULL)
			return -1;
		messages->base = (const unsigned char *)input;
		messages->n_input = size;
		messages->is_cut_short = source_is_cut_short(source);
		result = framing == OTLP_FIXED || framing == OTLP_VARINT ?
		    otlp_messages_find_framed(messages, reader, framing, input,
		                              size, error) :
		    otlp_messages_add(messages, 0, size, error);
	}
	/* The bytes of {} are none, but they are somewhere. */
	if (messages->base == NULL || messages->bytes.length > 0) {
		text_add_fill(&messages->bytes, '\0', PROTOBUF_PADDING);
		messages->base = (const unsigned char *)messages->bytes.bytes;
	}
	return messages->bytes.failed ? error_out_of_memory(error) : result;
}

void
otlp_messages_free(struct otlp_messages *messages)
{
	free(messages->spans);
	text_free(&messages->bytes);
}
