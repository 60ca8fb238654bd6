/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_summary.c -- the size of a recording, without resolving symbols.
 */
#include "src/formats/cpprofdata/cpprofdata_file.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>

/* The resource of that name, a new one if there is none; NULL: no room. */
static struct cpprofdata_summary_resource *
cpprofdata_summary_find_resource(const char *name,
                                 struct cpprofdata_summary *summary)
{
	struct cpprofdata_summary_resource *resource = summary->resources;
	struct cpprofdata_summary_resource *end =
	    resource + summary->n_resources;
	const size_t length = strnlen(name, sizeof resource->name - 1);

	while (resource < end && (strncmp(resource->name, name, length) != 0 ||
	                          resource->name[length] != '\0'))
		resource++;
	if (resource < end)
		return resource;
	if (summary->n_resources == CPPROFDATA_MAX_RESOURCES)
		return NULL;
	summary->n_resources++;
	memcpy(resource->name, name, length);
	return resource;
}

static void
cpprofdata_summary_add_samples(const char *name, uint64_t n_samples,
                               uint64_t hits, uint64_t lost,
                               struct cpprofdata_summary *summary)
{
	struct cpprofdata_summary_resource *resource =
	    cpprofdata_summary_find_resource(name, summary);

	summary->n_samples += n_samples;
	if (resource == NULL)
		return;
	resource->n_samples += n_samples;
	resource->hits += hits;
	resource->lost += lost;
}

static void
cpprofdata_summary_add_source(const struct cpprofdata_file *file, uint32_t r,
                              struct cpprofdata_summary *summary)
{
	const struct cpprofdata_resource *resource =
	    &file->header.resources[r];
	struct cpprofdata_summary_source *new =
	    &summary->sources[summary->n_sources];
	size_t length;
	const char *text = cpprofdata_string(file, resource->source,
	    sizeof new->source - 1, &length);

	if (summary->n_sources == sizeof summary->sources / sizeof *new)
		return;
	memset(new, 0, sizeof *new);
	memcpy(new->resource, resource->name,
	       strnlen(resource->name, sizeof new->resource - 1));
	memcpy(new->source, text, length);
	for (size_t i = 0; i < summary->n_sources; i++)
		if (strcmp(summary->sources[i].resource, new->resource) == 0 &&
		    strcmp(summary->sources[i].source, new->source) == 0) {
			summary->sources[i].n_files++;
			return;
		}
	new->n_files = 1;
	summary->n_sources++;
}

/* Of the second resource: the records that have it. */
static void
add_second_of_briefs(const struct cpprofdata_file *file,
                     struct cpprofdata_summary *summary)
{
	const unsigned char *mark = file->bytes + CPPROFDATA_HEADER_SIZE +
	    offsetof(struct cpprofdata_brief, is_of_both);
	uint64_t n = 0;

	for (size_t i = 0; i < file->n_briefs; i++)
		n += mark[i * sizeof(struct cpprofdata_brief)] == 1;
	cpprofdata_summary_add_samples(file->header.resources[1].name, n, n, 0,
	                               summary);
}

static void
cpprofdata_summary_add_places(const struct cpprofdata_file *file,
                              struct cpprofdata_summary *summary)
{
	struct cpprofdata_record record = { 0 };

	for (size_t i = 0; i < CPPROFDATA_CALL_FUNCTIONS_MAX &&
	     cpprofdata_next(&file->runs[CPPROFDATA_CALL_FUNCTIONS],
	                     file->bytes, &record); i++) {
		struct cpprofdata_call_function function;

		memcpy(&function, record.bytes, sizeof function);
		summary->n_places[i] += le32toh(function.n_places);
		if (summary->n_functions <= i)
			summary->n_functions = i + 1;
	}
}

static void
cpprofdata_summary_add_file(const struct cpprofdata_file *file,
                            struct cpprofdata_summary *summary)
{
	const struct cpprofdata_header *header = &file->header;
	const struct cpprofdata_runs *threads =
	    &file->runs[CPPROFDATA_THREADS];
	const struct cpprofdata_runs *nodes = &file->runs[CPPROFDATA_NODES];
	const struct cpprofdata_end end = cpprofdata_find_end(file);
	uint64_t samples[CPPROFDATA_MAX_RESOURCES] = { 0 };
	uint64_t hits[CPPROFDATA_MAX_RESOURCES] = { 0 };
	struct cpprofdata_record record = { 0 };

	if ((header->flags & CPPROFDATA_BRIEF) != 0) {
		summary->n_processes += file->n_briefs;
		summary->n_briefs += file->n_briefs;
		cpprofdata_summary_add_samples(header->resources[0].name,
		                               file->n_briefs, file->n_briefs,
		                               0, summary);
		if (header->n_resources > 1)
			add_second_of_briefs(file, summary);
		return;
	}
	summary->n_files++;
	summary->n_running += end.is_running;
	summary->n_processes += (header->flags & CPPROFDATA_CONTINUES) == 0;
	summary->n_lost += header->drops[CPPROFDATA_LOST_FULL].samples;
	summary->n_unfit +=
	    header->drops[CPPROFDATA_PARTIAL_INTERPRETED].samples;
	summary->n_unknown_python +=
	    (header->flags & CPPROFDATA_UNKNOWN_PYTHON) != 0;
	summary->n_by_ticks +=
	    (header->flags & CPPROFDATA_CLOCK_GIVEN_UP) != 0;
	cpprofdata_summary_add_places(file, summary);
	/* Waits that have not ended count as one sample each. */
	while ((header->flags & CPPROFDATA_WAITS) != 0 &&
	       cpprofdata_next(threads, file->bytes, &record)) {
		struct cpprofdata_charge charges[CPPROFDATA_CHARGES_MAX];
		bool waits;
		size_t n = cpprofdata_wait_charges(file, &end,
		    (uint32_t)record.number, charges, &waits);

		for (size_t i = 0; i < n; i++) {
			samples[charges[i].resource] += charges[i].is_wait &&
			    charges[i].hits > 0;
			hits[charges[i].resource] += charges[i].hits;
		}
	}
	record = (struct cpprofdata_record){ 0 };
	while (cpprofdata_next(nodes, file->bytes, &record)) {
		const unsigned char *counts = record.bytes +
		    sizeof(struct cpprofdata_node);

		for (uint32_t r = 0; r < header->n_resources; r++) {
			struct cpprofdata_count count;

			memcpy(&count, counts + r * sizeof count, sizeof count);
			samples[r] += le64toh(count.samples);
			hits[r] += le64toh(count.hits);
		}
	}
	for (uint32_t r = 0; r < file->n_named; r++) {
		uint64_t lost = 0;

		for (size_t i = 0; i < CPPROFDATA_N_LOST; i++)
			lost += header->lost[i][r];
		if (!end.is_running && header->pending[r] > 0)
			lost += (uint64_t)header->pending[r];
		cpprofdata_summary_add_source(file, r, summary);
		cpprofdata_summary_add_samples(header->resources[r].name,
		                               samples[r], hits[r], lost,
		                               summary);
	}
}

int
cpprofdata_summarise(const char *path, struct cpprofdata_summary *summary,
                     struct error *error)
{
	struct source *source = source_open(path, error);
	struct cpprofdata_file file;
	int result = -1;

	if (source == NULL)
		return -1;
	if (cpprofdata_file_open(&file, source, error) == 0) {
		cpprofdata_summary_add_file(&file, summary);
		cpprofdata_file_close(&file);
		result = 0;
	}
	source_close(source);
	return result;
}
