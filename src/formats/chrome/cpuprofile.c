/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpuprofile.c -- the .cpuprofile of Chrome, Node.js, Deno and v8-profiler.
 *
 * One profile of V8 (v8_profile.h).
 */
#include "src/formats/chrome/v8_tree.h"
#include "src/formats/format.h"
#include "src/formats/json/json_probe.h"

struct reader {
	struct json_reader *json;
	struct v8_profile v8;
	struct v8_tree tree;
};

static void
read_file(struct reader *reader, struct error *error)
{
	struct json_token key;

	if (!json_open_object(reader->json, "an object"))
		return;
	while (json_next_key(reader->json, &key))
		if (!v8_profile_read_key(&reader->v8, reader->json, &key,
		                         error))
			json_skip_value(reader->json);
	/* Anything behind the object is an error. */
	json_next(reader->json, &key);
}

static int
finish(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->tree.profile;
	const struct process process = { 0 };
	struct error why = { 0 };

	if (error->is_set)
		return -1;
	if (v8_tree_add(&reader->tree, &reader->v8, json_is_cut(reader->json),
	                &why) != 0) {
		json_fail(reader->json, reader->v8.samples_offset, "%s",
		          why.text);
		return -1;
	}
	if (tree_builder_count(reader->tree.builder) == 0)
		return json_fail_empty(reader->json);
	if (v8_tree_warn(&reader->tree, reader->json, error) != 0 ||
	    profile_add_process(profile, &process, error) == UINT32_MAX)
		return -1;
	profile->tree = tree_builder_finish(reader->tree.builder, error);
	return profile->tree != NULL ? 0 : -1;
}

static struct profile *
cpuprofile_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct reader reader = { .json = NULL };
	struct profile *profile = NULL;

	reader.tree.profile = profile_new(error);
	reader.tree.builder = tree_builder_new(0, error);
	reader.json = json_reader_new(source, options->progress, error);
	if (!error->is_set) {
		reader.v8.names = reader.tree.profile->names;
		read_file(&reader, error);
		if (finish(&reader, error) == 0) {
			profile = reader.tree.profile;
			reader.tree.profile = NULL;
		}
	}
	v8_profile_free(&reader.v8);
	json_reader_free(reader.json);
	tree_builder_free(reader.tree.builder);
	profile_free(reader.tree.profile);
	return profile;
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
