/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpuprofile.c -- the .cpuprofile of Chrome, Node.js, Deno and v8-profiler.
 *
 * One profile of V8 (v8_profile.h).
 */
#include "src/formats/chrome/v8_profile.h"
#include "src/formats/json/json_reader.h"

static int
cpuprofile_read_file(struct v8_tree *tree, struct v8_profile *v8,
                     struct error *error)
{
	const struct process process = { 0 };
	struct json_token key;

	if (json_open_object(tree->json, "an object")) {
		while (json_next_key(tree->json, &key))
			if (!v8_profile_read_key(v8, tree->json, &key, error))
				json_skip_value(tree->json);
		/* Anything after the object is an error. */
		json_next(tree->json, &key);
	}
	v8_tree_announce(tree, v8);
	if (error->is_set || v8_tree_add(tree, v8) != 0)
		return -1;
	if (reader_count_nodes(&tree->reader) == 0)
		return reader_fail_empty(&tree->reader, error);
	return profile_add_process(tree->reader.profile, &process, error) !=
	       UINT32_MAX ? 0 : -1;
}

static struct profile *
cpuprofile_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct v8_tree tree;
	struct v8_profile v8 = { .names = NULL };
	int result = v8_tree_begin(&tree, source, options, error);

	if (result == 0) {
		v8.names = tree.reader.profile->names;
		result = cpuprofile_read_file(&tree, &v8, error);
	}
	v8_profile_free(&v8);
	return v8_tree_end(&tree, result, error);
}

static int
cpuprofile_probe(const void *head, size_t size)
{
	static const char *const keys[] = {
		"nodes[].callFrame", "timeDeltas", "timestamps",
		"head.functionName", "head.callUID", NULL
	};

	return json_probe(head, size, keys);
}

const struct format format_cpuprofile = {
	.name = "cpuprofile",
	.summary = "CPU profiles of V8 (Chrome, Node.js, Deno)",
	.probe = cpuprofile_probe,
	.read = cpuprofile_read,
};
