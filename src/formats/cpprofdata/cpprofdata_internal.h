/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_internal.h -- what the reader and the writer of cpprofdata share. */
#ifndef CPPROF_CPPROFDATA_CPPROFDATA_INTERNAL_H
#define CPPROF_CPPROFDATA_CPPROFDATA_INTERNAL_H

#include "src/base/writer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/profile/profile.h"
#include "src/profile/sample_tree.h"
#include "src/symbols/names/address_frames.h"

/* ---- cpprofdata_code.c ---- */

/*
 * The code that a collector's file has addresses of: its modules, and what the
 * process generated at run time.
 */

/*
 * Enters the module of the record at an offset.  known: modules entered so
 * far, by path and build, which are not entered again; NULL: enters each.
 * Returns its number, or UINT32_MAX with *error set.
 */
uint32_t cpprofdata_add_module(const struct cpprofdata_file *file,
                               size_t offset, struct profile *profile,
                               struct names *known, struct error *error);

/*
 * Names of the code that the process generated at run time, from the files
 * that it wrote; freed with jit_map_free.  Empty if it ran on another machine
 * or wrote nothing; NULL with *error set if memory runs out.
 */
struct jit_map *cpprofdata_jit_map(const struct cpprofdata_file *file,
                                   struct error *error);

/* ---- cpprofdata_slices.c ---- */

/* When the hits of a collector's file were counted. */

/*
 * Adds the times of all nodes' hits, which the builder has already.  built: the
 * builder's node of each node record, by index, or NO_NODE.  Does nothing for a
 * file without slices.  Records that are invalid, or folded into others, are
 * ignored.  O(n log n) for n records.
 */
int cpprofdata_add_slices(const struct cpprofdata_file *file,
                          const uint32_t *built, struct tree_builder *builder,
                          struct error *error);

/*
 * Adds the times of a charge's hits, which the builder's node has already:
 * evenly from its beginning to its end.
 */
int cpprofdata_add_charge_times(const struct cpprofdata_file *file,
                                const struct cpprofdata_charge *charge,
                                uint32_t node, struct tree_builder *builder,
                                struct error *error);

/*
 * Adds the time of counts of the only resource, which the builder's node has
 * already: a moment of UTC.
 */
int cpprofdata_add_brief_time(const struct cpprofdata_file *file,
                              uint64_t utc_ns,
                              const struct cpprofdata_count *count,
                              uint32_t node, struct tree_builder *builder,
                              struct error *error);

/* ---- slices_writer.c ---- */

/* When hits were counted, as records of slices. */

/* Set by slices_writer_begin. */
struct slices_writer {
	const struct sample_tree *tree;
	uint64_t width_ns;	/* for the header, slice_ns; 0: no slices */
	uint8_t doublings;	/* of all records */
	uint32_t end_mark;	/* a node with an empty record in the last
				 * slice, where no node has hits; or NO_NODE */
};

/* For a tree, which may have no timeline; borrowed.  O(nodes + entries). */
void slices_writer_begin(struct slices_writer *slices,
                         const struct sample_tree *tree);

/* The number of records of nodes [begin, end), one for each resource. */
uint64_t slices_writer_count(const struct slices_writer *slices,
                             uint32_t begin, uint32_t end);

/*
 * Writes them.  Node `begin` of the tree has number `first` in the file.  0, or
 * -1 as export_may_go_on.
 */
int slices_writer_put(const struct slices_writer *slices, uint32_t begin,
                      uint32_t end, uint32_t first, struct writer *writer,
                      struct error *error);

#endif
