/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reader-fixture.h -- shared by the tests of readers. */
#ifndef TESTS_READER_FIXTURE_H
#define TESTS_READER_FIXTURE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/format.h"
#include "tests/reading-again.h"
#include "tests/skip.h"

/* Bytes being built. */
struct buffer {
	unsigned char bytes[1 << 16];
	size_t n;
};

static inline void
buffer_add(struct buffer *buffer, const void *bytes, size_t n)
{
	assert_true(n <= sizeof buffer->bytes - buffer->n);
	memcpy(buffer->bytes + buffer->n, bytes, n);
	buffer->n += n;
}

/* Numbers of n bytes, little-endian. */
static inline void
buffer_number(struct buffer *buffer, uint64_t number, size_t n)
{
	buffer_add(buffer, &number, n);
}

/* Symbols shared by many reads of one test; NULL: none. */
static struct module_cache *shared_modules;

/*
 * Writes the bytes to a file in the folder CPPROF_SEEDS, as a seed for
 * fuzzing.
 */
static inline void
keep_seed(const void *bytes, size_t n)
{
	const char *folder = getenv("CPPROF_SEEDS");
	static int number;
	char path[500];
	FILE *file;

	if (folder == NULL)
		return;
	snprintf(path, sizeof path, "%s/seed-%d", folder, number++);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(bytes, 1, n, file);
	fclose(file);
}

/* Reads bytes in a format, from memory of exactly their size. */
static inline struct profile *
read_with(const struct format *format, const struct read_options *options,
          const void *bytes, size_t n, struct error *error)
{
	char *exact = malloc(n > 0 ? n : 1);
	struct profile *profile;
	struct source *source;

	if (n > 0)
		memcpy(exact, bytes, n);
	source = source_of_memory("in", exact, n, error);
	assert_non_null(source);
	format->probe(exact, n);
	profile = format->read(source, options, error);
	source_close(source);
	free(exact);
	return profile;
}

static inline struct profile *
read_memory(const struct format *format, const void *bytes, size_t n,
            struct error *error)
{
	const struct read_options options = { .modules = shared_modules };

	return read_with(format, &options, bytes, n, error);
}

/* Checks the tree's invariants. */
static inline void
check_tree(const struct profile *profile)
{
	const struct sample_tree *tree = profile->tree;

	assert_int_equal(tree->n_resources, profile->n_resources);
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t parent = sample_tree_parent(tree, n);

		assert_true(tree->label[n] < profile->n_frames);
		assert_true(sample_tree_end(tree, n) > n &&
		            sample_tree_end(tree, n) <= tree->n_nodes);
		if (parent == NO_NODE)
			continue;
		assert_true(parent < n && sample_tree_end(tree,
		    n) <= sample_tree_end(tree, parent));
	}
	for (uint32_t i = 0; i < profile->n_sections; i++) {
		assert_true(profile->sections[i].end <= tree->n_nodes);
		assert_true(profile->sections[i].thread == NO_THREAD ||
		            profile->sections[i].thread <
		            profile->n_threads);
	}
}

/*
 * Reads bytes that must be valid, and again with failing allocations: then the
 * reader must say so.  They are seeds for fuzzing, and the first ones are the
 * format's sample in round-trips.py.
 */
static inline struct profile *
must_read(const struct format *format, const void *bytes, size_t n)
{
	const struct read_options options = { .modules = shared_modules };
	struct error error = { 0 };
	struct profile *profile = read_memory(format, bytes, n, &error);

	keep_seed(bytes, n);
	if (profile == NULL)
		fail_msg("%s", error.text);
	check_tree(profile);
	check_again(format, &options, bytes, n, profile);
	return profile;
}

/* Likewise, a text with some bad lines, leniently. */
static inline struct profile *
must_read_leniently(const struct format *format, const char *text)
{
	const struct read_options options = { .lenient = true };
	struct error error = { 0 };
	struct profile *profile = read_with(format, &options, text,
	                                    strlen(text), &error);

	if (profile == NULL)
		fail_msg("%s", error.text);
	check_tree(profile);
	check_again(format, &options, text, strlen(text), profile);
	return profile;
}

/*
 * Expects the format to refuse the bytes, with a message that contains this
 * text.
 */
static inline void
must_refuse(const struct format *format, const void *bytes, size_t n,
            const char *expected)
{
	struct error error = { 0 };

	assert_null(read_memory(format, bytes, n, &error));
	if (strstr(error.text, expected) == NULL)
		fail_msg("\"%s\" has no \"%s\"", error.text, expected);
}

/* A node's stack as names, "main;a;b"; inlined ones joined by "|". */
static inline void
stack_text(const struct profile *profile, uint32_t node, char *text,
           size_t size)
{
	const struct frame *frame = &profile->frames[
	    profile->tree->label[node]];
	size_t n;

	*text = '\0';
	if (sample_tree_parent(profile->tree, node) != NO_NODE) {
		stack_text(profile, sample_tree_parent(profile->tree, node),
		    text, size);
		strncat(text, ";", size - strlen(text) - 1);
	}
	for (uint32_t i = 0; i < frame->n_locations; i++) {
		n = strlen(text);
		snprintf(text + n, size - n, "%s%s", i > 0 ? "|" : "",
		         names_text(profile->names, profile->locations[
		             frame->first_location + i].function));
	}
}

/* Hits of all nodes with this stack; fails when there is none. */
static inline uint64_t
hits_of(const struct profile *profile, uint32_t resource, const char *stack)
{
	uint64_t hits = 0;
	bool is_there = false;

	for (uint32_t n = 0; n < profile->tree->n_nodes; n++) {
		char text[4096];

		stack_text(profile, n, text, sizeof text);
		if (strcmp(text, stack) == 0) {
			hits += sample_tree_hits(profile->tree, resource, n);
			is_there = true;
		}
	}
	if (!is_there)
		fail_msg("no stack %s", stack);
	return hits;
}

/* Reads all prefixes of the bytes: each must give a profile or an error. */
static inline void
cut_at_every_byte(const struct format *format, const void *bytes, size_t n)
{
	for (size_t cut = 0; cut < n; cut++) {
		struct error error = { 0 };
		struct profile *profile = read_memory(format, bytes, cut,
		                                      &error);

		assert_int_equal(profile == NULL, error.is_set);
		if (profile != NULL)
			check_tree(profile);
		profile_free(profile);
	}
}

#endif
