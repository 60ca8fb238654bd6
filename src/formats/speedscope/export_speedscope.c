/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_speedscope.c -- speedscope's JSON: sampled stacks, a profile for each
 * resource.
 *
 * {"$schema", "shared": {"frames": [{"name"}, ...]}, "profiles": [{"type":
 * "sampled", "name", "unit", "startValue", "endValue", "samples": [[frame,
 * ...], ...], "weights": [...]}, ...], ...}.  Frames are names; weights are
 * time or bytes if the gtick is a unit of the format, otherwise gticks.  A
 * stack without hits of any resource is in the first profile, with weight 0,
 * which speedscope skips and cpprof keeps.
 * Source: jlfwong/speedscope, src/lib/file-format-spec.ts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/formats/exporter.h"
#include "src/profile/stack_list.h"

enum { FRAMES_A_STEP = 4096 };

struct scoping {
	const struct export_source *source;
	struct writer *writer;
	struct text_buffer text;
	uint32_t *frame;		/* [names], UINT32_MAX: none */
};

/* Units of the format, and the number of them in a gtick. */
static const struct scope_unit {
	const char *gtick, *unit;
	uint64_t factor;
} scope_units[] = {
	{ "nanosecond", "nanoseconds", 1 },
	{ "microsecond", "microseconds", 1 },
	{ "millisecond", "milliseconds", 1 },
	{ "centisecond", "milliseconds", 10 },
	{ "hundredth of a second", "milliseconds", 10 },
	{ "second", "seconds", 1 },
	{ "byte", "bytes", 1 },
	{ NULL, "none", 1 }
};

static const struct scope_unit *
find_unit(const struct resource *resource)
{
	const struct scope_unit *unit = scope_units;

	while (unit->gtick != NULL &&
	       strcmp(unit->gtick, resource->gtick) != 0)
		unit++;
	return unit;
}

/* Weights are gticks, so they come back unchanged if hits are gticks, too. */
static bool
holds_units(const struct resource *resource)
{
	const struct scope_unit *unit = find_unit(resource);

	return resource->interval == 1 && unit->gtick != NULL &&
	    unit->factor == 1;
}

/* Hits as a weight. */
static int
export_speedscope_weigh(const struct resource *resource, uint64_t hits,
                        uint64_t *weight, struct error *error)
{
	const struct scope_unit *unit = find_unit(resource);

	if (export_gticks(resource, hits, UINT64_MAX / unit->factor, weight,
	                  error) != 0)
		return -1;
	*weight *= unit->factor;
	return 0;
}

/* Each name of the tree once, in order of first appearance. */
static int
write_frames(struct scoping *scoping, struct error *error)
{
	const struct sample_tree *tree = scoping->source->named;
	const struct names *names = scoping->source->profile->names;
	uint32_t n_frames = 0;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint32_t name = tree->label[node];

		if (scoping->frame[name] != UINT32_MAX)
			continue;
		scoping->frame[name] = n_frames++;
		text_add_string(&scoping->text, n_frames > 1 ? ",{\"name\":" :
		                "{\"name\":");
		text_add_json_string(&scoping->text, names_text(names, name),
		                     names_length(names, name));
		text_add_char(&scoping->text, '}');
		if (export_flush(&scoping->text, scoping->writer, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether a stack is a sample of resource r. */
static bool
export_speedscope_is_sample(const struct sample_tree *tree, uint32_t r,
                            uint32_t n)
{
	if (r > 0 || sample_tree_hits(tree, r, n) > 0)
		return sample_tree_hits(tree, r, n) > 0;
	if (n + 1 < tree->n_nodes && sample_tree_parent(tree, n + 1) == n)
		return false;
	for (uint32_t i = 1; i < tree->n_resources; i++)
		if (sample_tree_hits(tree, i, n) > 0)
			return false;
	return true;
}

/* The stacks of the samples of resource r. */
static int
write_samples(struct scoping *scoping, uint32_t r, struct error *error)
{
	const struct sample_tree *tree = scoping->source->named;
	struct text_buffer *text = &scoping->text;
	struct stack_walk walk = { .tree = tree };
	const char *separator = "";
	int result = stack_walk_begin(&walk, error);

	for (uint32_t n = 0; result == 0 && n < tree->n_nodes; n++) {
		stack_walk_to(&walk, n);
		result = export_may_go_on(n, scoping->writer, error);
		if (!export_speedscope_is_sample(tree, r, n))
			continue;
		text_add_string(text, separator);
		separator = ",";
		for (uint32_t i = 0; i < walk.depth && result == 0; i++) {
			text_add_format(text, "%c%" PRIu32, i == 0 ? '[' : ',',
			    scoping->frame[tree->label[walk.nodes[i]]]);
			if (i % FRAMES_A_STEP == 0 &&
			    (export_flush(text, scoping->writer, error) != 0 ||
			     progress_step(NULL, 0, 0, error) != 0))
				result = -1;
		}
		text_add_char(text, ']');
		if (result == 0)
			result = export_flush(text, scoping->writer, error);
	}
	free(walk.nodes);
	return result;
}

static int
write_profile(struct scoping *scoping, uint32_t r, struct error *error)
{
	const struct sample_tree *tree = scoping->source->named;
	const struct resource *resource =
	    &scoping->source->profile->resources[r];
	struct text_buffer *text = &scoping->text;
	const char *separator = "";
	uint64_t weight;

	if (export_speedscope_weigh(resource,
	                            sample_tree_total(tree, tree->hits[r]),
	                            &weight, error) != 0)
		return -1;
	text_add_format(text, "%s{\"type\":\"sampled\",\"name\":",
	                r > 0 ? "," : "");
	text_add_json_string(text, resource->name, strlen(resource->name));
	text_add_format(text, ",\"unit\":\"%s\",\"startValue\":0,"
	                "\"endValue\":%" PRIu64 ",\"samples\":[",
	                find_unit(resource)->unit, weight);
	if (export_flush(text, scoping->writer, error) != 0 ||
	    write_samples(scoping, r, error) != 0)
		return -1;
	text_add_string(text, "],\"weights\":[");
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		if (!export_speedscope_is_sample(tree, r, n))
			continue;
		if (export_speedscope_weigh(resource,
		                            sample_tree_hits(tree, r, n),
		                            &weight, error) != 0)
			return -1;
		text_add_format(text, "%s%" PRIu64, separator, weight);
		separator = ",";
		if (export_flush(text, scoping->writer, error) != 0)
			return -1;
	}
	text_add_string(text, "]}");
	return export_flush(text, scoping->writer, error);
}

static int
write_document(struct scoping *scoping, struct error *error)
{
	const struct export_source *source = scoping->source;
	const struct profile *profile = source->profile;
	struct text_buffer *text = &scoping->text;
	const char *program = profile->n_processes > 0 ?
	    profile->processes[0].program : NULL;

	text_add_string(text, "{\"$schema\":\"https://www.speedscope"
	    ".app/file-format-schema.json\",\"exporter\":\"cpprof\"");
	if (program != NULL) {
		text_add_string(text, ",\"name\":");
		text_add_json_string(text, program, strlen(program));
	}
	text_add_format(text, ",\"activeProfileIndex\":%" PRIu32
	                ",\"shared\":{\"frames\":[", source->resource);
	if (write_frames(scoping, error) != 0)
		return -1;
	text_add_string(text, "]},\"profiles\":[");
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (write_profile(scoping, r, error) != 0)
			return -1;
	text_add_string(text, "]}\n");
	return export_flush(text, scoping->writer, error);
}

static int
speedscope_write(const struct export_source *source, struct writer *writer,
                 uint64_t *n_changed, struct error *error)
{
	struct scoping scoping = { .source = source, .writer = writer };
	size_t n_names = names_count(source->profile->names);
	int result = -1;

	*n_changed = 0;
	scoping.frame = memory_array(n_names, sizeof *scoping.frame, error);
	if (scoping.frame != NULL) {
		memset(scoping.frame, 0xff, n_names * sizeof *scoping.frame);
		result = write_document(&scoping, error);
	}
	free(scoping.frame);
	text_free(&scoping.text);
	return result;
}

const struct exporter exporter_speedscope = {
	.summary = "JSON for speedscope, a profile for each resource",
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_PATHS,
	.holds_units = holds_units,
	.write = speedscope_write,
};
