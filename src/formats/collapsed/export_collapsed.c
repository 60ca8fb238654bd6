/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_collapsed.c -- collapsed stacks, bare for other tools, or complete.
 *
 * Bare: one count per line, of one resource, and no header, which other tools
 * would take for a stack.  Complete: a column for each resource, and the
 * header that describes them (collapsed.h).  Neither has escapes:
 * characters that would end a name or a line are replaced.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/collapsed/collapsed.h"
#include "src/formats/exporter.h"
#include "src/profile/stack_list.h"

struct collapsing {
	const struct export_source *source;
	struct writer *writer;
	uint32_t first, end;		/* the resources to be written */
	struct stack_walk walk;
	struct text_buffer stack;	/* the walk's */
	size_t *ends;			/* [deepest] of its frames in it */
	struct text_buffer counts;
	bool *is_changed;		/* [names] already counted */
	uint64_t n_changed;
};

/* The replacement of a byte of a name; the byte itself if it is allowed. */
static char
replacement(char byte)
{
	if (byte == ';')
		return ':';
	if (((unsigned char)byte < ' ' && byte != '\t') || byte == 0x7f)
		return '?';
	return byte;
}

/* Appends a frame's name; returns whether it was changed. */
static bool
export_collapsed_add_frame(struct text_buffer *stack, const char *name,
                           size_t length)
{
	size_t begin;

	if (stack->length > 0)
		text_add_char(stack, ';');
	begin = stack->length;
	if (length == 0) {
		text_add_string(stack, "[empty]");
		return true;
	}
	text_add(stack, name, length);
	for (size_t i = begin; i < stack->length; i++)
		stack->bytes[i] = replacement(stack->bytes[i]);
	if (begin == 0 && !stack->failed &&
	    collapsed_is_comment(name, length))
		stack->bytes[0] = '_';
	return !stack->failed &&
	       memcmp(stack->bytes + begin, name, length) != 0;
}

/* Makes the text of the node's stack from that of the previous node. */
static void
export_collapsed_add_node(struct collapsing *collapsing, uint32_t node)
{
	const struct sample_tree *tree = collapsing->source->named;
	const struct names *names = collapsing->source->profile->names;
	struct text_buffer *stack = &collapsing->stack;
	uint32_t name = tree->label[node], depth;

	stack_walk_to(&collapsing->walk, node);
	depth = collapsing->walk.depth;
	if (!stack->failed)
		stack->length = depth > 1 ? collapsing->ends[depth - 2] : 0;
	if (export_collapsed_add_frame(stack, names_text(names, name),
	                               names_length(names, name)) &&
	    !collapsing->is_changed[name]) {
		collapsing->is_changed[name] = true;
		collapsing->n_changed++;
	}
	collapsing->ends[depth - 1] = stack->length;
}

/* Nodes without hits are part of the stacks of others, except leaves. */
static bool
export_collapsed_is_line(const struct collapsing *collapsing, uint32_t node)
{
	const struct sample_tree *tree = collapsing->source->named;
	uint32_t n = collapsing->end - collapsing->first;

	for (uint32_t r = collapsing->first; r < collapsing->end; r++)
		if (sample_tree_hits(tree, r, node) > 0)
			return true;
	return n == tree->n_resources && tree->end[node] == node + 1;
}

static int
export_collapsed_write_line(struct collapsing *collapsing, uint32_t node,
                            struct error *error)
{
	const struct sample_tree *tree = collapsing->source->named;
	struct text_buffer *counts = &collapsing->counts;

	if (collapsing->stack.failed)
		return error_out_of_memory(error);
	for (uint32_t r = collapsing->first; r < collapsing->end; r++)
		text_add_format(counts, " %" PRIu64,
		                sample_tree_hits(tree, r, node));
	text_add_char(counts, '\n');
	writer_put(collapsing->writer, collapsing->stack.bytes,
	           collapsing->stack.length);
	return export_flush(counts, collapsing->writer, error);
}

static int
write_lines(struct collapsing *collapsing, struct error *error)
{
	const struct sample_tree *tree = collapsing->source->named;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		export_collapsed_add_node(collapsing, node);
		if (export_collapsed_is_line(collapsing, node) &&
		    export_collapsed_write_line(collapsing, node, error) != 0)
			return -1;
		if (export_may_go_on(node, collapsing->writer, error) != 0)
			return -1;
	}
	return 0;
}

/* Writes the stacks, after the header, if there is one. */
static int
export_collapsed_write_stacks(const struct export_source *source,
                              uint32_t first, uint32_t end,
                              struct writer *writer, uint64_t *n_changed,
                              struct error *error)
{
	struct collapsing collapsing = {
		.source = source,
		.writer = writer,
		.first = first,
		.end = end,
		.walk = { .tree = source->named },
	};
	int result = -1;

	collapsing.ends = memory_array(source->named->deepest,
	                               sizeof *collapsing.ends, error);
	collapsing.is_changed = memory_array(
	    names_count(source->profile->names), sizeof(bool), error);
	if (stack_walk_begin(&collapsing.walk, error) == 0 &&
	    collapsing.ends != NULL && collapsing.is_changed != NULL)
		result = write_lines(&collapsing, error);
	*n_changed = collapsing.n_changed;
	free(collapsing.walk.nodes);
	free(collapsing.ends);
	free(collapsing.is_changed);
	text_free(&collapsing.stack);
	text_free(&collapsing.counts);
	return result;
}

static int
write_bare(const struct export_source *source, struct writer *writer,
           uint64_t *n_changed, struct error *error)
{
	return export_collapsed_write_stacks(source, source->resource,
	                                     source->resource + 1, writer,
	                                     n_changed, error);
}

static int
write_whole(const struct export_source *source, struct writer *writer,
            uint64_t *n_changed, struct error *error)
{
	struct text_buffer header = { 0 };
	uint32_t n_resources = collapsed_header_add(&header, source->profile);
	int result = export_flush(&header, writer, error);

	text_free(&header);
	if (result == 0)
		result =
		    export_collapsed_write_stacks(source, 0,
		                                  source->profile->n_resources,
		                                  writer, n_changed, error);
	if (result == 0)
		*n_changed += n_resources;
	return result;
}

const struct exporter exporter_collapsed = {
	.summary = "stacks and one count, for flame graph tools",
	.carries = EXPORT_PATHS,
	.write = write_bare,
};

const struct exporter exporter_cpprof_text = {
	.summary = "the same with a header and all resources",
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_PATHS,
	.write = write_whole,
};
