/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy_symbols.c -- the section "--- symbol" of a text profile. */
#include "src/formats/legacy/legacy.h"

#include <stdlib.h>

#include "src/base/memory.h"

void
legacy_symbols_free(struct legacy_symbols *symbols)
{
	free(symbols->program);
	names_free(symbols->lines);
}

int
legacy_symbols_add(struct legacy_symbols *symbols, struct line_text line,
                   struct error *error)
{
	if (line_take(&line, "binary=")) {
		free(symbols->program);
		symbols->program = memory_text(line.at, line_left(&line),
		                               error);
		return symbols->program != NULL ? 0 : -1;
	}
	if (symbols->lines == NULL)
		symbols->lines = names_new(error);
	return symbols->lines != NULL &&
	    names_add(symbols->lines, line.at, line_left(&line), error) !=
	    NO_NAME ? 0 : -1;
}

/* Drops the address that pprof puts at the end, "main<0000000000001254>". */
static void
drop_address(struct line_text *name)
{
	const char *at = name->end - 1;

	if (name->at == name->end || *at != '>')
		return;
	while (at > name->at && line_is_hex_digit(at[-1]))
		at--;
	if (name->end - 1 - at >= 8 && at - 1 > name->at && at[-1] == '<')
		name->end = at - 1;
}

/* Names an address by the parts of a text, of which the last is innermost. */
static int
name_parts(struct legacy_addresses *addresses, struct pprof_builder *builder,
           uint64_t address, struct line_text names, struct error *error)
{
	legacy_addresses_end_names(addresses);
	for (;;) {
		struct line_text last = names;
		const char *at = names.end;

		while (at - names.at >= 2 && memcmp(at - 2, "--", 2) != 0)
			at--;
		if (at - names.at >= 2)
			last.at = at;
		drop_address(&last);
		if (last.at < last.end &&
		    legacy_addresses_name(addresses, builder, address, last,
		                          line_nothing(), 0, error) != 0)
			return -1;
		if (at - names.at < 2)
			return 0;
		names.end = at - 2;
	}
}

int
legacy_symbols_name(const struct legacy_symbols *symbols,
                    struct legacy_addresses *addresses,
                    struct pprof_builder *builder, struct error *error)
{
	uint32_t n = symbols->lines != NULL ? names_count(symbols->lines) : 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *text = names_text(symbols->lines, i);
		struct line_text line = { text, text +
			names_length(symbols->lines, i) };
		uint64_t address;

		if (!line_take(&line, "0x") || !line_take_hex(&line, &address))
			continue;
		line_trim(&line);
		if (name_parts(addresses, builder, address, line, error) != 0 ||
		    name_parts(addresses, builder, address - 1, line,
		               error) != 0)
			return -1;
	}
	return 0;
}
