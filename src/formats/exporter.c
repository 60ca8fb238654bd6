/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exporter.c -- the table of formats to write, and what each leaves out. */
#include "src/formats/exporter.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/progress.h"

enum { NODES_A_STEP = 4096 };

#define EXPORTER(row, name) extern const struct exporter exporter_##row;
#include "src/formats/exporters.def"
#undef EXPORTER

const struct exporter *const exporters[] = {
#define EXPORTER(row, name) &exporter_##row,
#include "src/formats/exporters.def"
#undef EXPORTER
	NULL
};

const char *const exporter_names[] = {
#define EXPORTER(row, name) name,
#include "src/formats/exporters.def"
#undef EXPORTER
	NULL
};

static bool
has_units(const struct profile *profile, const struct exporter *exporter)
{
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];

		if ((resource->interval != 1 || (*resource->gtick != '\0' &&
		     strcmp(resource->gtick, "sample") != 0)) &&
		    ((exporter->carries & EXPORT_UNITS) == 0 ||
		     (exporter->holds_units != NULL &&
		      !exporter->holds_units(resource))))
			return true;
	}
	return false;
}

static bool
exporter_has_samples(const struct profile *profile)
{
	for (uint32_t r = 0; profile->tree != NULL &&
	     r < profile->n_resources; r++)
		if (profile->tree->samples[r] != NULL)
			return true;
	return false;
}

/* Who has no names for resources has read samples. */
static bool
has_names(const struct profile *profile)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (strcmp(profile->resources[r].name, "samples") != 0)
			return true;
	return false;
}

/* Modules may have lines that nobody has asked for yet; and are named there. */
static bool
exporter_has_lines(const struct profile *profile)
{
	if (profile->n_modules > 0)
		return true;
	for (uint32_t i = 0; i < profile->n_locations; i++)
		if (profile->locations[i].file != NO_NAME ||
		    profile->locations[i].line != 0)
			return true;
	return false;
}

/* Whether there are calls that only their offsets distinguish. */
static bool
has_call_sites(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (frame->function_offset != NO_OFFSET &&
		    profile->locations[frame->first_location].line == 0)
			return true;
	}
	return false;
}

/* Whether calls are only counted, so that what they used is reckoned. */
static bool
has_estimates(const struct profile *profile)
{
	return profile->graph != NULL && !profile->graph->has_hits &&
	    profile->graph->n_arcs > 0;
}

static bool
has_paths(const struct profile *profile)
{
	return profile->tree != NULL && profile->tree->deepest > 2;
}

/* What there is and the exporter does not carry. */
static unsigned
find_losses(const struct export_source *source,
            const struct exporter *exporter)
{
	const struct profile *profile = source->profile;
	bool has_several = profile->n_resources > 1;
	unsigned samples = has_several ? EXPORT_SAMPLES_EACH : EXPORT_SAMPLES;

	unsigned contents = (has_several ? EXPORT_RESOURCES : 0) |
	    (has_names(profile) ? EXPORT_NAMES : 0) |
	    (exporter_has_samples(profile) ? samples : 0) |
	    (has_paths(profile) ? EXPORT_PATHS : 0) |
	    (has_estimates(profile) ? EXPORT_ESTIMATES : 0) |
	    (profile->n_modules > 0 ? EXPORT_ADDRESSES : 0) |
	    (exporter_has_lines(profile) ? EXPORT_LINES : 0) |
	    (has_call_sites(profile) ? EXPORT_CALL_SITES : 0) |
	    (profile->n_sections > 1 ? EXPORT_THREADS : 0) |
	    (profile->n_processes > 1 ? EXPORT_PROCESSES : 0) |
	    (profile->n_label_sets > 0 ? EXPORT_LABELS : 0) |
	    (profile->tree != NULL && profile->tree->returns != NULL ?
	     EXPORT_RETURNS : 0) |
	    (profile->tree != NULL && profile->tree->timeline != NULL ?
	     EXPORT_TIMES : 0) |
	    (profile->n_tallies > 0 ? EXPORT_TALLIES : 0) |
	    (source->has_groups ? EXPORT_GROUPS : 0);
	unsigned lost = contents & ~exporter->carries;

	/* Who says that addresses are lost need not say what follows. */
	if ((lost & EXPORT_ADDRESSES) != 0)
		lost &= ~(unsigned)EXPORT_CALL_SITES;
	if ((exporter->carries & EXPORT_RESOURCES) != 0)
		lost &= ~(unsigned)EXPORT_NAMES;
	return lost | (has_units(profile, exporter) ? EXPORT_UNITS : 0);
}

void
exporter_add_losses(struct text_buffer *text, const struct exporter *exporter,
                    const struct export_source *source)
{
	static const struct {
		unsigned content;
		const char *what;
	} contents[] = {
		{ EXPORT_RESOURCES, "other resources" },
		{ EXPORT_NAMES, "the resource's name" },
		{ EXPORT_UNITS, "gticks and intervals" },
		{ EXPORT_SAMPLES | EXPORT_SAMPLES_EACH, "raw samples" },
		{ EXPORT_PATHS, "call paths of more than two functions" },
		{ EXPORT_ESTIMATES, "which costs of calls are estimates by "
		  "gprof's rule (all are)" },
		{ EXPORT_ADDRESSES, "addresses" },
		{ EXPORT_LINES, "files and lines" },
		{ EXPORT_CALL_SITES, "call sites without lines" },
		{ EXPORT_THREADS, "threads" },
		{ EXPORT_PROCESSES, "processes but the first" },
		{ EXPORT_LABELS, "labels" },
		{ EXPORT_RETURNS, "returns" },
		{ EXPORT_TIMES, "times" },
		{ EXPORT_TALLIES, "collector statistics" },
		{ EXPORT_GROUPS, "how members differ (noise is then that of "
		  "samples alone)" },
	};
	unsigned lost = find_losses(source, exporter);
	const char *separator = "";

	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
		if ((lost & contents[i].content) == 0)
			continue;
		text_add_format(text, "%s%s", separator, contents[i].what);
		separator = ", ";
	}
}

int
export_may_go_on(uint32_t n, const struct writer *writer, struct error *error)
{
	if (n % NODES_A_STEP != 0)
		return 0;
	if (writer->error != 0)
		return -1;
	return progress_step(NULL, 0, 0, error);
}

int
export_gticks(const struct resource *resource, uint64_t hits, uint64_t most,
              uint64_t *gticks, struct error *error)
{
	if (!__builtin_mul_overflow(hits, resource->interval, gticks) &&
	    *gticks <= most)
		return 0;
	return error_set(error, "%s: more than the format's %" PRIu64
	                 " gticks", resource->name, most);
}

int
export_flush(struct text_buffer *text, struct writer *writer,
             struct error *error)
{
	if (text->failed)
		return error_out_of_memory(error);
	writer_put(writer, text->bytes, text->length);
	text_clear(text);
	return 0;
}
