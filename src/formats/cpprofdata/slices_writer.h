/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices_writer.h -- when hits were counted, as records of slices. */
#ifndef CPPROF_FORMATS_CPPROFDATA_SLICES_WRITER_H
#define CPPROF_FORMATS_CPPROFDATA_SLICES_WRITER_H

#include "src/base/writer.h"
#include "src/profile/sample_tree.h"

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
