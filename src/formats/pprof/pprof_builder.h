/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_builder.h -- builds a pprof profile from a text format.
 *
 * Older formats of gperftools and Go, and the output of `go tool pprof -raw`,
 * have as text what profile.proto has as messages.  Their readers enter each
 * item here, where it becomes a message.  So the code that reads pprof files
 * handles threads, raw samples and symbols of addresses.
 *
 * Each function returns 0, or -1 with *error set, without file and line.
 */
#ifndef CPPROF_FORMATS_PPROF_BUILDER_H
#define CPPROF_FORMATS_PPROF_BUILDER_H

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/formats/pprof/pprof_samples.h"
#include "src/formats/pprof/pprof_tables.h"

/* Start with pprof_builder_begin. */
struct pprof_builder {
	struct pprof_tables tables;
	struct pprof_samples samples;
	struct names *strings;		/* number i is string i of the tables */
	struct names *functions;	/* of name and file; id is number + 1 */
	struct text_buffer message, part;	/* being built */
};

/* One line of a location; function as pprof_builder_function gave it. */
struct pprof_builder_line {
	uint64_t function;
	uint64_t line;		/* 0: unknown */
};

/* reader: gets the stacks; it must outlive the builder. */
int pprof_builder_begin(struct pprof_builder *builder, struct reader *reader,
                        struct error *error);
void pprof_builder_free(struct pprof_builder *builder);

/* A type of values, all before the first sample. */
int pprof_builder_type(struct pprof_builder *builder, const char *name,
                       size_t name_length, const char *unit,
                       size_t unit_length, struct error *error);

/* The type that is shown first; the last one if this is never called. */
int pprof_builder_default_type(struct pprof_builder *builder,
                               const char *name, size_t length,
                               struct error *error);

/* How far apart samples were taken: the period is in the tables. */
int pprof_builder_period_type(struct pprof_builder *builder,
                              const char *name, size_t name_length,
                              const char *unit, size_t unit_length,
                              struct error *error);

/* A comment, such as those by which pprof_profile.c restores intervals. */
int pprof_builder_comment(struct pprof_builder *builder, const char *text,
                          size_t length, struct error *error);

struct pprof_builder_mapping {
	uint64_t id;			/* not 0 */
	uint64_t start, limit, offset;
	const char *path, *build_id;	/* not NULL; "": unknown */
	bool has_lines;			/* the writer has looked them all up */
};

int pprof_builder_mapping(struct pprof_builder *builder,
                          const struct pprof_builder_mapping *mapping,
                          struct error *error);

/* The id of a function, the same for the same texts; 0 with *error set. */
uint64_t pprof_builder_function(struct pprof_builder *builder,
                                const char *name, size_t name_length,
                                const char *file, size_t file_length,
                                struct error *error);

/* lines[n]: innermost first; n is 0 if only the address is known. */
int pprof_builder_location(struct pprof_builder *builder, uint64_t id,
                           uint64_t mapping, uint64_t address,
                           const struct pprof_builder_line *lines, size_t n,
                           struct error *error);

/*
 * Sets how many raw samples each of the next samples stands for; without a
 * call before the first sample, they are counted as described in
 * pprof_samples.h.
 */
void pprof_builder_raw_samples(struct pprof_builder *builder, uint64_t n);

/* Begins a sample; values and locations (ids, innermost first) follow. */
void pprof_builder_sample(struct pprof_builder *builder);
void pprof_builder_value(struct pprof_builder *builder, uint64_t value);
void pprof_builder_stack(struct pprof_builder *builder, uint64_t location);
int pprof_builder_label(struct pprof_builder *builder, const char *key,
                        size_t key_length, const char *text,
                        size_t text_length, struct error *error);
int pprof_builder_number(struct pprof_builder *builder, const char *key,
                         size_t key_length, int64_t number, const char *unit,
                         size_t unit_length, struct error *error);

/* Ends it; position: its line. */
int pprof_builder_end_sample(struct pprof_builder *builder, uint64_t position,
                             struct error *error);

#endif
