/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_tables.h -- everything in a pprof profile except samples, as in the
 * file.
 *
 * Messages refer to each other by ids and to strings by index, and may come in
 * any order, strings mostly last.  So everything is kept as it is, and looked
 * up when the file has been read.
 * Source: google/pprof, proto/profile.proto.
 */
#ifndef CPPROF_FORMATS_PPROF_TABLES_H
#define CPPROF_FORMATS_PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/id_table.h"
#include "src/formats/pprof/protobuf.h"

enum { PPROF_COMMENTS_MAX = 300 };

/* The location of samples without any: an id that no location may have. */
#define PPROF_NO_STACK 0

/* All names are indices of strings. */
struct pprof_type {
	uint64_t name, unit;
};

struct pprof_mapping {
	uint64_t start, limit, offset, path, build_id;
	uint64_t has_lines;	/* the writer looked up all of them */
};

struct pprof_line {
	uint64_t function;	/* id */
	uint64_t line;
};

struct pprof_location {
	uint64_t mapping;	/* id, 0: none */
	uint64_t address;
	size_t first_line;
	uint32_t n_lines;	/* innermost first; 0: only an address */
	bool is_known;
};

struct pprof_function {
	uint64_t name, system_name, file;
	bool is_known;
};

struct pprof_string {
	size_t begin, length;
};

/* Start with `{ 0 }`.  Items with ids are at the numbers of their ids. */
struct pprof_tables {
	struct id_table mapping_ids, location_ids, function_ids;
	struct pprof_type *types;
	struct pprof_mapping *mappings;
	struct pprof_location *locations;
	struct pprof_function *functions;
	struct pprof_line *lines;
	struct pprof_string *strings;
	char *text;
	size_t n_types, n_mappings, n_locations, n_functions, n_lines,
	    n_strings, text_size;
	size_t types_capacity, mappings_capacity, locations_capacity,
	    functions_capacity, lines_capacity, strings_capacity,
	    text_capacity;
	uint64_t time_ns, duration_ns;
	struct pprof_type period_type;
	uint64_t period;		/* of its unit between two samples; 0:
					 * unknown */
	uint64_t default_type;		/* a string, 0: none */
	uint64_t comments[PPROF_COMMENTS_MAX];	/* strings */
	size_t n_comments;		/* further ones are skipped */
};

void pprof_tables_free(struct pprof_tables *tables);

/*
 * Enters one field of the outermost message, except samples; unknown ones are
 * skipped.  0, or -1 with *error set to what was expected, without file and
 * offset.
 */
int pprof_tables_read(struct pprof_tables *tables,
                      const struct protobuf_field *field,
                      struct error *error);

/* The string with an index, in place; NULL if there is none. */
const char *pprof_tables_string(const struct pprof_tables *tables,
                                uint64_t index, size_t *length);

/* Likewise the item with an id, or NULL. */
const struct pprof_location *
pprof_tables_location(const struct pprof_tables *tables, uint32_t number);
const struct pprof_function *
pprof_tables_function(const struct pprof_tables *tables, uint64_t id);

#endif
