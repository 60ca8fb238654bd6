/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_encoding.c -- encodes profile.proto: strings and messages. */
#include "src/formats/pprof/pprof_encoding.h"

#include <string.h>

uint64_t
pprof_string_id(struct pprof_encoding *encoding, const char *text,
                size_t length, struct error *error)
{
	uint32_t id = names_add(encoding->strings, text, length, error);

	return id != NO_NAME ? id : 0;
}

uint64_t
pprof_text_id(struct pprof_encoding *encoding, const char *text,
              struct error *error)
{
	return pprof_string_id(encoding, text, strlen(text), error);
}

uint64_t
pprof_name_id(struct pprof_encoding *encoding, uint32_t name,
              struct error *error)
{
	const struct names *names = encoding->source->profile->names;

	if (name == NO_NAME)
		return 0;
	return pprof_string_id(encoding, names_text(names, name),
	                       names_length(names, name), error);
}

int
pprof_flush(struct pprof_encoding *encoding, struct error *error)
{
	if (error->is_set)
		return -1;
	return export_flush(&encoding->fields, encoding->writer, error);
}

void
pprof_add_message(struct pprof_encoding *encoding, uint32_t field)
{
	protobuf_add_message(&encoding->fields, field, &encoding->message);
	text_clear(&encoding->message);
}
