/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_pprof.c -- profile.proto, packed by gzip, as go tool pprof reads it.
 *
 * A resource becomes a type of values in its gticks; a single one has its raw
 * samples before it, as in Go's own profiles, and so has each of several whose
 * hits are no samples.  A stack becomes a sample, a frame a location, its
 * inlined calls the location's lines, innermost first; a function is a name in
 * a file.  Addresses are those in the modules' files, which pprof expresses as
 * a mapping of the whole address space.  Source: google/pprof,
 * proto/profile.proto.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/formats/collapsed/collapsed.h"
#include "src/formats/exporter.h"
#include "src/formats/pprof/pprof.h"
#include "src/profile/frame_labels.h"
#include "src/profile/stack_list.h"

struct function_key {
	uint32_t name, file, linkage, start_line;
};

struct encoding {
	const struct export_source *source;
	struct writer *writer;		/* packs */
	struct names *strings;		/* the table; 0 is empty */
	struct names *functions;	/* struct function_key; ids from 1 */
	struct text_buffer fields;	/* of the profile */
	struct text_buffer message, inner;	/* scratch */
	bool *counts_samples;		/* [n_resources] a value of raw samples,
					 * before those of all resources */
};

/* ---- strings and messages ---- */

/* The number of a string; 0 with *error set if memory runs out. */
static uint64_t
string_id(struct encoding *encoding, const char *text, size_t length,
          struct error *error)
{
	uint32_t id = names_add(encoding->strings, text, length, error);

	return id != NO_NAME ? id : 0;
}

static uint64_t
text_id(struct encoding *encoding, const char *text, struct error *error)
{
	return string_id(encoding, text, strlen(text), error);
}

/* Likewise for a name of the profile, which may be NO_NAME. */
static uint64_t
name_id(struct encoding *encoding, uint32_t name, struct error *error)
{
	const struct names *names = encoding->source->profile->names;

	if (name == NO_NAME)
		return 0;
	return string_id(encoding, names_text(names, name),
	                 names_length(names, name), error);
}

/* Ends the message in encoding->message. */
static void
export_pprof_end_message(struct encoding *encoding, uint32_t field)
{
	protobuf_add_message(&encoding->fields, field, &encoding->message);
	text_clear(&encoding->message);
}

/*
 * Writes the fields so far; 0, or -1 with *error set, also by earlier calls.
 */
static int
export_pprof_flush(struct encoding *encoding, struct error *error)
{
	if (error->is_set)
		return -1;
	return export_flush(&encoding->fields, encoding->writer, error);
}

/* ---- resources ---- */

/* Whether hits are samples of unknown meaning. */
static bool
is_count(const struct resource *resource)
{
	return resource->interval == 1 && (*resource->gtick == '\0' ||
	                                   strcmp(resource->gtick,
	                                          "sample") == 0);
}

/* pprof's name for a gtick: known units are in the plural. */
static uint64_t
unit_id(struct encoding *encoding, const struct resource *resource,
        struct error *error)
{
	static const char *const known[] = { "nanosecond", "microsecond",
		"millisecond", "second", "byte", "kilobyte", "megabyte",
		NULL };
	char plural[16];

	if (is_count(resource) || *resource->gtick == '\0')
		return text_id(encoding, "count", error);
	for (size_t i = 0; known[i] != NULL; i++)
		if (strcmp(resource->gtick, known[i]) == 0) {
			strcpy(stpcpy(plural, known[i]), "s");
			return text_id(encoding, plural, error);
		}
	return text_id(encoding, resource->gtick, error);
}

static void
export_pprof_add_type(struct encoding *encoding, uint32_t field, uint64_t type,
                      uint64_t unit)
{
	protobuf_add_number(&encoding->message, TYPE_TYPE, type);
	protobuf_add_number(&encoding->message, TYPE_UNIT, unit);
	export_pprof_end_message(encoding, field);
}

/* Go's name for the samples of a single resource, which may have it itself. */
static const char *
name_of_samples(const struct profile *profile)
{
	return strcmp(profile->resources[0].name, "samples") == 0 ?
	    "raw-samples" : "samples";
}

/*
 * The name of the raw samples of one of several resources; 0: another resource
 * has it, or *error is set.
 */
static uint64_t
samples_id(struct encoding *encoding, uint32_t resource, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	struct text_buffer name = { 0 };
	uint64_t id = 0;

	text_add_format(&name, "%s" PPROF_RAW_SAMPLES,
	                profile->resources[resource].name);
	if (name.failed)
		error_out_of_memory(error);
	else if (profile_find_resource(profile, text_string(&name)) ==
	         NO_RESOURCE)
		id = text_id(encoding, text_string(&name), error);
	text_free(&name);
	return id;
}

static void
write_types_of_samples(struct encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	const uint32_t n = profile->n_resources;

	for (uint32_t r = 0; r < n; r++) {
		uint64_t name = 0;

		if (n == 1 && (profile->tree->samples[0] != NULL ||
		               !is_count(&profile->resources[0])))
			name = text_id(encoding, name_of_samples(profile),
			               error);
		else if (n > 1 && profile->tree->samples[r] != NULL)
			name = samples_id(encoding, r, error);
		encoding->counts_samples[r] = name != 0;
		if (name != 0)
			export_pprof_add_type(encoding, PROFILE_SAMPLE_TYPE,
			    name, text_id(encoding, "count", error));
	}
}

static int
write_types(struct encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	const struct sample_tree *tree = profile->tree;
	const struct resource *current =
	    &profile->resources[encoding->source->resource];

	write_types_of_samples(encoding, error);
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];
		uint64_t gticks;

		/* The tools sum values in signed 64 bits. */
		if (export_gticks(resource,
		                  sample_tree_total(tree, tree->hits[r]),
		                  INT64_MAX, &gticks, error) != 0)
			return -1;
		export_pprof_add_type(encoding, PROFILE_SAMPLE_TYPE,
		                      text_id(encoding, resource->name, error),
		                      unit_id(encoding, resource, error));
	}
	export_pprof_add_type(encoding, PROFILE_PERIOD_TYPE,
	                      text_id(encoding, current->name, error),
	                      unit_id(encoding, current, error));
	protobuf_add_number(&encoding->fields, PROFILE_PERIOD,
	                    current->interval);
	protobuf_add_number(&encoding->fields, PROFILE_DEFAULT_SAMPLE_TYPE,
	                    text_id(encoding, current->name, error));
	return export_pprof_flush(encoding, error);
}

/* When it ran. */
static int
write_process(struct encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	const struct process *process = profile->processes;

	if (profile->n_processes == 0)
		return 0;
	protobuf_add_number(&encoding->fields, PROFILE_TIME_NANOS,
	                    process->start_ns);
	if (process->start_ns != 0 && process->end_ns > process->start_ns)
		protobuf_add_number(&encoding->fields, PROFILE_DURATION_NANOS,
		                    process->end_ns - process->start_ns);
	return export_pprof_flush(encoding, error);
}

/*
 * Comments for what the format cannot represent, from which pprof_profile.c
 * restores it.
 */
static int
write_comments(struct encoding *encoding, struct error *error)
{
	struct text_buffer header = { 0 };

	collapsed_header_add(&header, encoding->source->profile);
	for (size_t at = 0; !header.failed && at < header.length;) {
		const char *line = header.bytes + at;
		const char *end = memchr(line, '\n', header.length - at);
		size_t length = (size_t)(end - line);

		protobuf_add_number(&encoding->fields, PROFILE_COMMENT,
		                    string_id(encoding, line, length, error));
		at += length + 1;
	}
	encoding->fields.failed |= header.failed;
	text_free(&header);
	return export_pprof_flush(encoding, error);
}

/* ---- modules, functions and locations ---- */

/* Flags of a mapping that hold for all of its locations. */
enum { HAS_FILES = 1, HAS_LINES = 2, HAS_INLINES = 4 };

static int
write_mappings(struct encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	unsigned char *has = memory_array(profile->n_modules, 1, error);
	int result = has != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (frame->module != NO_MODULE) {
			const struct location *locations =
			    &profile->locations[frame->first_location];
			uint32_t n = frame_shown_locations(frame,
			    encoding->source->inlines);

			has[frame->module] |= n > 1 ? HAS_INLINES : 0;
			for (uint32_t l = 0; l < n; l++)
				has[frame->module] |= (unsigned char)
				    ((locations[l].file != NO_NAME ?
				      HAS_FILES : 0) |
				     (locations[l].line != 0 ? HAS_LINES : 0));
		}
	}
	for (uint32_t i = 0; result == 0 && i < profile->n_modules; i++) {
		const struct module *module = &profile->modules[i];
		struct text_buffer *message = &encoding->message;
		char build_id[2 * sizeof module->build_id + 1] = "";

		for (uint32_t b = 0; b < module->build_id_size; b++)
			snprintf(build_id + 2 * b, 3, "%02x",
			         module->build_id[b]);
		protobuf_add_number(message, MAPPING_ID, (uint64_t)i + 1);
		protobuf_add_number(message, MAPPING_MEMORY_LIMIT, UINT64_MAX);
		protobuf_add_number(message, MAPPING_FILENAME,
		                    text_id(encoding, module->path, error));
		protobuf_add_number(message, MAPPING_BUILD_ID,
		                    text_id(encoding, build_id, error));
		protobuf_add_number(message, MAPPING_HAS_FUNCTIONS, 1);
		protobuf_add_number(message, MAPPING_HAS_FILENAMES,
		                    (has[i] & HAS_FILES) != 0);
		protobuf_add_number(message, MAPPING_HAS_LINE_NUMBERS,
		                    (has[i] & HAS_LINES) != 0);
		protobuf_add_number(message, MAPPING_HAS_INLINE_FRAMES,
		                    (has[i] & HAS_INLINES) != 0);
		export_pprof_end_message(encoding, PROFILE_MAPPING);
		result = export_pprof_flush(encoding, error);
	}
	free(has);
	return result;
}

/*
 * Whether pprof would show the name without what stands between brackets:
 * nothing is left of Python's "<module>".  It does so if name and system name
 * are the same.
 */
static bool
export_pprof_is_cut(const char *name)
{
	return strpbrk(name, "<>[]()") != NULL || strstr(name, "::") != NULL;
}

/* The id of a function; a new one is added to the fields. */
static uint64_t
function_id(struct encoding *encoding, const struct location *location,
            struct error *error)
{
	struct function_key key = { location->function, location->file,
		location->linkage, location->start_line };
	uint32_t n = names_count(encoding->functions);
	uint32_t number = names_add(encoding->functions, (const char *)&key,
	                            sizeof key, error);
	struct text_buffer *inner = &encoding->inner;
	uint64_t name, system_name;

	if (number != n || number == NO_NAME)
		return (uint64_t)number + 1;
	name = name_id(encoding, key.name, error);
	system_name = key.linkage != NO_NAME ?
	    name_id(encoding, key.linkage, error) : name;
	if (system_name == name && name != 0 && export_pprof_is_cut(
	        names_text(encoding->source->profile->names, key.name)))
		system_name = 0;
	protobuf_add_number(inner, FUNCTION_ID, (uint64_t)number + 1);
	protobuf_add_number(inner, FUNCTION_NAME, name);
	protobuf_add_number(inner, FUNCTION_SYSTEM_NAME, system_name);
	protobuf_add_number(inner, FUNCTION_FILENAME,
	                    name_id(encoding, key.file, error));
	protobuf_add_number(inner, FUNCTION_START_LINE, key.start_line);
	protobuf_add_message(&encoding->fields, PROFILE_FUNCTION, inner);
	text_clear(inner);
	return (uint64_t)number + 1;
}

static int
write_locations(struct encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	struct text_buffer *message = &encoding->message;

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		uint32_t n = frame_shown_locations(frame,
		    encoding->source->inlines);

		protobuf_add_number(message, LOCATION_ID, (uint64_t)i + 1);
		if (frame->module != NO_MODULE)
			protobuf_add_number(message, LOCATION_MAPPING_ID,
			                    (uint64_t)frame->module + 1);
		protobuf_add_number(message, LOCATION_ADDRESS,
		                    frame->address);
		while (n-- > 0) {
			uint64_t function = function_id(
			    encoding,
			    &profile->locations[frame->first_location + n],
			    error);
			struct text_buffer *inner = &encoding->inner;

			protobuf_add_number(inner, LINE_FUNCTION_ID, function);
			protobuf_add_number(
			    inner, LINE_LINE,
			    profile->locations[frame->first_location + n].line);
			protobuf_add_message(&encoding->message, LOCATION_LINE,
			                     inner);
			text_clear(inner);
		}
		export_pprof_end_message(encoding, PROFILE_LOCATION);
		if (export_pprof_flush(encoding, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- samples ---- */

/* The thread's name, or its number if it has none. */
static void
export_pprof_add_thread(struct encoding *encoding, uint32_t number,
                        struct error *error)
{
	const struct thread *thread;
	struct text_buffer *inner = &encoding->inner;
	char digits[24];

	if (number == NO_THREAD)
		return;
	thread = &encoding->source->profile->threads[number];
	snprintf(digits, sizeof digits, "%" PRIu64, thread->tid);
	protobuf_add_number(inner, LABEL_KEY,
	                    text_id(encoding, "thread", error));
	protobuf_add_number(inner, LABEL_STR,
	                    text_id(encoding, thread->name != NULL ?
	                            thread->name : digits, error));
	protobuf_add_message(&encoding->message, SAMPLE_LABEL, inner);
	text_clear(inner);
}

/* Adds the labels of a set; returns whether any names a thread. */
static bool
export_pprof_add_labels(struct encoding *encoding, uint32_t number,
                        struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	const struct label_set none = { 0, 0 };
	const struct label_set *set = number == NO_LABELS ? &none :
	    &profile->label_sets[number];
	struct text_buffer *inner = &encoding->inner;
	bool has_thread = false;

	for (uint32_t i = 0; i < set->n; i++) {
		const struct label *label = &profile->labels[set->first + i];

		protobuf_add_number(inner, LABEL_KEY,
		                    name_id(encoding, label->key, error));
		if (label->unit == NO_NAME) {
			protobuf_add_number(inner, LABEL_STR,
			    name_id(encoding, label->value, error));
		} else {
			protobuf_add_number(inner, LABEL_NUM, (uint64_t)
			    strtoll(names_text(profile->names, label->value),
			            NULL, 10));
			protobuf_add_number(inner, LABEL_NUM_UNIT,
			    name_id(encoding, label->unit, error));
		}
		protobuf_add_message(&encoding->message, SAMPLE_LABEL, inner);
		text_clear(inner);
		has_thread |= pprof_is_thread_key(names_text(profile->names,
		                                             label->key));
	}
	return has_thread;
}

/* The section of a node; *section is where its search begins. */
static struct section
section_of_node(const struct profile *profile, uint32_t node, uint32_t *section)
{
	while (*section < profile->n_sections &&
	       profile->sections[*section].end <= node)
		++*section;
	if (*section == profile->n_sections ||
	    profile->sections[*section].begin > node)
		return (struct section){ .thread = NO_THREAD,
			.label_set = NO_LABELS };
	return profile->sections[*section];
}

/* Nodes without hits are part of the stacks of others, except leaves. */
static bool
export_pprof_is_sample(const struct sample_tree *tree, uint32_t node)
{
	for (uint32_t r = 0; r < tree->n_resources; r++)
		if (sample_tree_hits(tree, r, node) > 0)
			return true;
	return sample_tree_is_leaf(tree, node);
}

static int
export_pprof_write_samples(struct encoding *encoding, struct error *error)
{
	const struct profile *profile = encoding->source->profile;
	struct stack_walk walk = { .tree = profile->tree };
	uint32_t section = 0;
	int result = stack_walk_begin(&walk, error);

	for (uint32_t n = 0; result == 0 && n < walk.tree->n_nodes; n++) {
		stack_walk_to(&walk, n);
		if (export_pprof_is_sample(walk.tree, n)) {
			struct section owner;
			struct text_buffer *inner = &encoding->inner;

			for (uint32_t i = walk.depth; i-- > 0;)
				protobuf_add_varint(inner, (uint64_t)
				    walk.tree->label[walk.nodes[i]] + 1);
			protobuf_add_message(&encoding->message,
			                     SAMPLE_LOCATION_ID, inner);
			text_clear(inner);
			/*
			 * The total has been checked, so no product can
			 * overflow.
			 */
			for (uint32_t r = 0; r < walk.tree->n_resources; r++)
				if (encoding->counts_samples[r])
					protobuf_add_varint(inner,
					    sample_tree_samples(walk.tree, r,
					                        n));
			for (uint32_t r = 0; r < walk.tree->n_resources; r++)
				protobuf_add_varint(inner,
				    sample_tree_hits(walk.tree, r, n) *
				    profile->resources[r].interval);
			protobuf_add_message(&encoding->message, SAMPLE_VALUE,
			                     inner);
			text_clear(inner);
			/* A thread that came from labels is in them. */
			owner = section_of_node(profile, n, &section);
			if (!export_pprof_add_labels(encoding, owner.label_set,
			                             error))
				export_pprof_add_thread(encoding, owner.thread,
				                        error);
			export_pprof_end_message(encoding, PROFILE_SAMPLE);
			result = export_pprof_flush(encoding, error);
		}
		if (result == 0)
			result = export_may_go_on(n, encoding->writer, error);
	}
	free(walk.nodes);
	return result;
}

static int
export_pprof_write_strings(struct encoding *encoding, struct error *error)
{
	uint32_t n = names_count(encoding->strings);

	for (uint32_t i = 0; i < n; i++) {
		protobuf_add_bytes(&encoding->fields, PROFILE_STRING_TABLE,
		                   names_text(encoding->strings, i),
		                   names_length(encoding->strings, i));
		if (export_pprof_flush(encoding, error) != 0 ||
		    export_may_go_on(i, encoding->writer, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- the whole ---- */

static int
export_pprof_write_profile(struct encoding *encoding, struct error *error)
{
	encoding->counts_samples = memory_array(
	    encoding->source->profile->n_resources,
	    sizeof *encoding->counts_samples, error);
	encoding->strings = names_new(error);
	encoding->functions = names_new(error);
	if (encoding->counts_samples == NULL || encoding->strings == NULL ||
	    encoding->functions == NULL)
		return -1;
	text_id(encoding, "", error);
	if (write_types(encoding, error) != 0 ||
	    write_process(encoding, error) != 0 ||
	    write_comments(encoding, error) != 0 ||
	    write_mappings(encoding, error) != 0 ||
	    write_locations(encoding, error) != 0 ||
	    export_pprof_write_samples(encoding, error) != 0)
		return -1;
	return export_pprof_write_strings(encoding, error);
}

static int
pprof_write(const struct export_source *source, struct writer *writer,
            uint64_t *n_changed, struct error *error)
{
	struct encoding encoding = { .source = source };
	struct packer *packer = packer_new(PACKER_GZIP, writer, error);
	int result = -1;

	*n_changed = 0;
	if (packer == NULL)
		return -1;
	encoding.writer = &packer->in;
	result = export_pprof_write_profile(&encoding, error);
	if (result == 0)
		packer_finish(packer);
	packer_free(packer);
	names_free(encoding.strings);
	names_free(encoding.functions);
	free(encoding.counts_samples);
	text_free(&encoding.fields);
	text_free(&encoding.message);
	text_free(&encoding.inner);
	return result;
}

const struct exporter exporter_pprof = {
	.summary = "profile.proto, packed, for `go tool pprof`",
	.is_binary = true,
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_SAMPLES |
	    EXPORT_SAMPLES_EACH | EXPORT_PATHS | EXPORT_ADDRESSES |
	    EXPORT_LINES | EXPORT_THREADS | EXPORT_LABELS,
	.write = pprof_write,
};
