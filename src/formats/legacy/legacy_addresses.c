/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy_addresses.c -- addresses of a text profile, and what it calls them. */
#include "src/formats/legacy/legacy.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"

struct legacy_known_address {
	uint64_t address;
	size_t first_line, n_lines;
};

struct legacy_addresses {
	struct id_table ids;
	struct legacy_known_address *known;	/* [ids.n] */
	size_t known_capacity;
	struct pprof_builder_line *lines;
	size_t n_lines, lines_capacity;
	uint32_t naming;		/* the address that gets names, NO_ID */
	bool is_naming_over;		/* it has all of them */
};

struct legacy_addresses *
legacy_addresses_new(struct error *error)
{
	struct legacy_addresses *addresses = memory_array(1,
	    sizeof *addresses, error);

	if (addresses != NULL)
		addresses->naming = NO_ID;
	return addresses;
}

void
legacy_addresses_free(struct legacy_addresses *addresses)
{
	if (addresses == NULL)
		return;
	id_table_free(&addresses->ids);
	free(addresses->known);
	free(addresses->lines);
	free(addresses);
}

uint64_t
legacy_addresses_add(struct legacy_addresses *addresses, uint64_t address,
                     struct error *error)
{
	uint32_t n = addresses->ids.n;
	uint32_t number = id_table_add(&addresses->ids, address, error);

	if (number == NO_ID ||
	    memory_grow(&addresses->known, &addresses->known_capacity,
	                (size_t)number + 1, sizeof *addresses->known,
	                error) != 0)
		return 0;
	if (number == n)
		addresses->known[number] = (struct legacy_known_address){
			address, 0, 0
		};
	return (uint64_t)number + 1;
}

void
legacy_addresses_end_names(struct legacy_addresses *addresses)
{
	addresses->naming = NO_ID;
}

int
legacy_addresses_name(struct legacy_addresses *addresses,
                      struct pprof_builder *builder, uint64_t address,
                      struct line_text name, struct line_text file,
                      uint64_t line, struct error *error)
{
	uint32_t number = id_table_find(&addresses->ids, address);
	struct pprof_builder_line new = { .line = line };
	struct legacy_known_address *known;

	if (number == NO_ID)
		return 0;
	known = &addresses->known[number];
	if (addresses->naming != number) {
		addresses->naming = number;
		addresses->is_naming_over = known->n_lines > 0;
	}
	if (addresses->is_naming_over)
		return 0;
	new.function = pprof_builder_function(builder, name.at,
	    line_left(&name), file.at, line_left(&file), error);
	if (new.function == 0 ||
	    memory_grow(&addresses->lines, &addresses->lines_capacity,
	                addresses->n_lines + 1, sizeof new, error) != 0)
		return -1;
	if (known->n_lines == 0)
		known->first_line = addresses->n_lines;
	else if (addresses->lines[known->first_line].function ==
	         new.function &&
	         addresses->lines[known->first_line].line == line) {
		addresses->is_naming_over = true;
		return 0;
	}
	addresses->lines[addresses->n_lines++] = new;
	known->n_lines++;
	return 0;
}

bool
legacy_addresses_is_named(const struct legacy_addresses *addresses,
                          uint64_t address)
{
	uint32_t number = id_table_find(&addresses->ids, address);

	return number != NO_ID && addresses->known[number].n_lines > 0;
}

/*
 * Enters the mappings of the map; if there are none, one of the program over
 * all addresses.
 */
static int
legacy_addresses_enter_mappings(const struct memory_mapping *mappings, size_t n,
                                const char *program,
                                struct pprof_builder *builder,
                                struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		struct pprof_builder_mapping mapping = {
			.id = i + 1,
			.start = mappings[i].start,
			.limit = mappings[i].limit,
			.offset = mappings[i].offset,
			.path = mappings[i].path,
			.build_id = mappings[i].build_id,
		};

		if (pprof_builder_mapping(builder, &mapping, error) != 0)
			return -1;
	}
	if (n == 0 && program != NULL) {
		struct pprof_builder_mapping mapping = {
			.id = 1, .limit = UINT64_MAX, .path = program,
			.build_id = "",
		};

		return pprof_builder_mapping(builder, &mapping, error);
	}
	return 0;
}

int
legacy_addresses_finish(struct legacy_addresses *addresses,
                        struct memory_map *map, const char *program,
                        struct pprof_builder *builder, uint64_t *n_unnamed,
                        struct error *error)
{
	size_t n_mappings;
	const struct memory_mapping *mappings = memory_map_all(map,
	                                                       &n_mappings);

	*n_unnamed = 0;
	if (legacy_addresses_enter_mappings(mappings, n_mappings, program,
	                                    builder, error) != 0)
		return -1;
	for (uint32_t i = 0; i < addresses->ids.n; i++) {
		const struct legacy_known_address *known = &addresses->known[i];
		uint64_t mapping = n_mappings > 0 ?
		    memory_map_find(map, known->address) + 1 :
		    program != NULL;

		*n_unnamed += n_mappings == 0 && program == NULL &&
		    known->n_lines == 0;
		if (pprof_builder_location(builder, (uint64_t)i + 1, mapping,
		        known->address, known->n_lines > 0 ?
		        addresses->lines + known->first_line : NULL,
		        known->n_lines, error) != 0)
			return -1;
	}
	return 0;
}
