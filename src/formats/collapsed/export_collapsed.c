/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_collapsed.c -- collapsed stacks, bare for other tools, or complete.
 *
 * Bare: one count per line, of one resource, and no header, which other tools
 * would take for a stack.  Complete: a column for each resource, and the
 * header that describes them (collapsed.c).  Neither has escapes:
 * characters that would end a name or a line are replaced.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/collapsed/collapsed.h"
#include "src/formats/exporter.h"
#include "src/profile/stack_list.h"

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
	for (size_t i = begin; i < stack->length; i++) {
		unsigned char byte = (unsigned char)stack->bytes[i];

		if (byte == ';')
			stack->bytes[i] = ':';
		else if ((byte < ' ' && byte != '\t') || byte == 0x7f)
			stack->bytes[i] = '?';
	}
	if (begin == 0 && !stack->failed &&
	    collapsed_is_comment(name, length))
		stack->bytes[0] = '_';
	return !stack->failed &&
	       memcmp(stack->bytes + begin, name, length) != 0;
}

/*
 * Whether the node's stack has a line.  Nodes without hits are part of the
 * stacks of others, except leaves.
 */
static bool
export_collapsed_is_line(const struct sample_tree *tree, uint32_t node,
                         uint32_t first, uint32_t end)
{
	for (uint32_t r = first; r < end; r++)
		if (sample_tree_hits(tree, r, node) > 0)
			return true;
	return end - first == tree->n_resources && sample_tree_is_leaf(tree,
	    node);
}

/* Writes the stacks with the counts of these resources. */
static int
export_collapsed_write_stacks(const struct export_source *source,
                              uint32_t first, uint32_t end,
                              struct writer *writer, uint64_t *n_changed,
                              struct error *error)
{
	const struct sample_tree *tree = source->named;
	const struct names *names = source->profile->names;
	struct stack_walk walk = { .tree = tree };
	struct text_buffer stack = { 0 }, counts = { 0 };
	/* Where the frames of the walk end in its text. */
	size_t *ends = memory_array(tree->deepest, sizeof *ends, error);
	bool *is_changed = memory_array(names_count(names), sizeof *is_changed,
	                                error);
	int result = error->is_set ? -1 : stack_walk_begin(&walk, error);

	*n_changed = 0;
	for (uint32_t node = 0; result == 0 && node < tree->n_nodes; node++) {
		uint32_t name = tree->label[node];

		stack_walk_to(&walk, node);
		if (!stack.failed)
			stack.length = walk.depth > 1 ? ends[walk.depth - 2] :
			               0;
		if (export_collapsed_add_frame(&stack, names_text(names, name),
		                               names_length(names, name)) &&
		    !is_changed[name]) {
			is_changed[name] = true;
			++*n_changed;
		}
		ends[walk.depth - 1] = stack.length;
		if (export_collapsed_is_line(tree, node, first, end)) {
			for (uint32_t r = first; r < end; r++)
				text_add_format(&counts, " %" PRIu64,
				    sample_tree_hits(tree, r, node));
			text_add_char(&counts, '\n');
			writer_put(writer, stack.bytes, stack.length);
			result = stack.failed ? error_out_of_memory(error) :
			         export_flush(&counts, writer, error);
		}
		if (result == 0)
			result = export_may_go_on(node, writer, error);
	}
	free(walk.nodes);
	free(ends);
	free(is_changed);
	text_free(&stack);
	text_free(&counts);
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
