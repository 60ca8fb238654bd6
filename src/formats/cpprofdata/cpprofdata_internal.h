/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_internal.h -- what the reader and the writer of cpprofdata share. */
#ifndef CPPROF_CPPROFDATA_CPPROFDATA_INTERNAL_H
#define CPPROF_CPPROFDATA_CPPROFDATA_INTERNAL_H

#include "src/base/writer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"
#include "src/symbols/names/address_frames.h"

/* ---- cpprofdata.c ---- */

/*
 * Enters the module of a record.  known: modules entered so
 * far, by path and build, which are not entered again; NULL: enters each.
 * Returns its number, or UINT32_MAX with *error set.
 */
uint32_t cpprofdata_add_module(const struct cpprofdata_file *file,
                               const unsigned char *bytes,
                               struct profile *profile, struct names *known,
                               struct error *error);

/*
 * Names of the code that the process generated at run time, from the files
 * that it wrote; freed with jit_map_free.  Empty if it ran on another machine
 * or wrote nothing; NULL with *error set if memory runs out.
 */
struct jit_map *cpprofdata_jit_map(const struct cpprofdata_file *file,
                                   struct error *error);

/* ---- cpprofdata_calls.c ---- */

/* The hits that belong to observed calls. */
struct call_parts;

/* Those of a file; freed with call_parts_free.  NULL with *error set. */
struct call_parts *call_parts_new(const struct cpprofdata_file *file,
                                  struct error *error);
void call_parts_free(struct call_parts *calls);

/*
 * The node record of that index has that frame, and its parent that index, or
 * NO_NODE.  To be called for each, parents first.
 */
void call_parts_note(struct call_parts *calls, uint64_t index, uint64_t parent,
                     uint32_t frame);

/* Takes from the counts of a node record what belongs to calls. */
void call_parts_take(struct call_parts *calls, uint32_t number,
                     uint32_t resource, struct cpprofdata_count *count);

/* Adds sections for a thread record's calls, after its own section. */
int call_parts_add_sections(struct call_parts *calls, uint32_t owner,
                            uint32_t thread, struct profile *profile,
                            struct tree_builder *builder, struct error *error);

/*
 * When some hits of a node record were counted.  `before`: what earlier slices
 * have of all its hits.
 */
struct call_time {
	uint32_t number, resource;
	uint64_t begin_ns, width_ns;
	struct cpprofdata_count before, all;
};

/*
 * Adds that time to the hits of calls, and takes these from *count.  Slices do
 * not say of which calls they are, so each class gets its share of each.
 */
int call_parts_add_time(struct call_parts *calls, const struct call_time *time,
                        struct cpprofdata_count *count,
                        struct tree_builder *builder, struct error *error);

/* Adds how long the observed calls took. */
int cpprofdata_add_calls(const struct cpprofdata_file *file,
                         struct profile *profile, struct error *error);

/* ---- cpprofdata_functions.c ---- */

/* The functions that an interpreter ran. */
struct interpreted_functions;

/*
 * Those of a file, which adds the modules of their source files after all others
 * of the profile.  Freed with interpreted_functions_free; NULL with *error set.
 */
struct interpreted_functions *
interpreted_functions_new(const struct cpprofdata_file *file,
                          struct profile *profile, struct error *error);
void interpreted_functions_free(struct interpreted_functions *functions);

/*
 * Describes the frame of a node with that offset.  One that is not in the file
 * is "[python]".  0, or -1 with *error set for want of memory.
 */
int interpreted_functions_find(struct interpreted_functions *functions,
                               uint64_t offset,
                               struct interpreted_frame *frame,
                               struct error *error);

#endif
