/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-collapsed.c -- the reader of collapsed stacks, on any bytes.
 *
 * 	clang -g -O1 -fsanitize=fuzzer,address,undefined ...
 *
 * Each input is read from memory and, a few bytes at a time, from a pipe,
 * strictly and leniently.  The result must be a valid tree, and the same both
 * times.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/formats/format.h"

extern const struct format format_collapsed;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void
check_siblings(const struct sample_tree *tree, struct error *error)
{
	struct names *edges = names_new(error);

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t edge[2] = { sample_tree_parent(tree, n),
		    tree->label[n] };

		require(names_add(edges, (const char *)edge, sizeof edge,
		                  error) == n, "equal siblings");
	}
	names_free(edges);
}

static void
check_tree(const struct profile *profile)
{
	const struct sample_tree *tree = profile->tree;
	struct error error = { 0 };

	require(tree->n_nodes > 0, "an empty tree");
	require(tree->n_resources == profile->n_resources, "resources");
	require(profile->n_frames == names_count(profile->names), "frames");
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t parent = sample_tree_parent(tree, n);

		require(parent == NO_NODE || parent < n, "order");
		require(sample_tree_end(tree, n) > n && sample_tree_end(tree,
		    n) <=
		        (parent == NO_NODE ? tree->n_nodes :
		         sample_tree_end(tree, parent)), "end");
		require(tree->label[n] < profile->n_frames, "label");
	}
	check_siblings(tree, &error);
	require(!error.is_set, error.text);
}

static struct profile *
read_all(struct source *source, bool lenient, struct error *error)
{
	struct read_options options = { .lenient = lenient };
	struct profile *profile;

	if (source == NULL)
		return NULL;
	profile = format_collapsed.read(source, &options, error);
	source_close(source);
	require((profile == NULL) == error->is_set, "an error and a profile");
	if (profile != NULL)
		check_tree(profile);
	return profile;
}

/*
 * Feeds the input through a pipe of packets, so that every read returns only a
 * part.
 */
static struct source *
open_pipe(const uint8_t *data, size_t size, struct error *error)
{
	size_t step = size / 15 + 1;	/* a pipe holds 16 packets */
	char path[50];
	struct source *source;
	int ends[2];

	if (pipe2(ends, O_DIRECT | O_NONBLOCK) != 0)
		return NULL;
	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		if (write(ends[1], data + at, n) != (ssize_t)n)
			abort();
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	close(ends[1]);
	source = source_open(path, error);
	close(ends[0]);
	return source;
}

static uint64_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15;
	return a ^ a >> 29;
}

/*
 * A hash of all stacks and their hits that does not depend on the order of
 * siblings.
 */
static uint64_t
tree_hash(const struct sample_tree *tree)
{
	uint64_t *path = calloc(tree->n_nodes, sizeof *path), hash = 0;

	for (uint32_t n = 0; path != NULL && n < tree->n_nodes; n++) {
		uint32_t parent = sample_tree_parent(tree, n);

		path[n] = mix(parent != NO_NODE ? path[parent] : 1,
		              tree->label[n]);
		for (uint32_t r = 0; r < tree->n_resources; r++)
			hash += mix(path[n] + r, sample_tree_hits(tree, r, n));
	}
	free(path);
	return hash;
}

static void
require_equal(const struct profile *a, const struct profile *b)
{
	require((a == NULL) == (b == NULL), "one of two reads fails");
	if (a == NULL)
		return;
	require(a->tree->n_nodes == b->tree->n_nodes &&
	        a->tree->deepest == b->tree->deepest &&
	        tree_hash(a->tree) == tree_hash(b->tree), "trees differ");
	require(a->n_warnings == b->n_warnings, "warnings differ");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4096)
		return 0;
	format_collapsed.probe(data, size);
	for (int lenient = 0; lenient < 2; lenient++) {
		struct error first = { 0 }, second = { 0 };
		struct profile *a, *b;

		a = read_all(source_of_memory("input", data, size, &first),
		             lenient, &first);
		b = read_all(open_pipe(data, size, &second), lenient,
		             &second);
		require_equal(a, b);
		profile_free(a);
		profile_free(b);
	}
	return 0;
}
