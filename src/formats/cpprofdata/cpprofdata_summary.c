/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_summary.c -- how much a recording holds, without naming it. */
#include "src/formats/cpprofdata/cpprofdata_summary.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "src/formats/cpprofdata/cpprofdata_waits.h"

static uint64_t
samples_of_node(const struct cpprofdata_file *file, size_t offset)
{
	uint64_t n = 0;

	offset += sizeof(struct cpprofdata_node);
	for (uint32_t r = 0; r < file->header.n_resources; r++) {
		struct cpprofdata_count count;

		memcpy(&count, file->bytes + offset, sizeof count);
		n += le64toh(count.samples);
		offset += sizeof count;
	}
	return n;
}

static void
add_source(const struct cpprofdata_file *file, uint32_t r,
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

/* Waits that have not ended are one sample each. */
static uint64_t
samples_of_waits(const struct cpprofdata_file *file)
{
	const struct cpprofdata_runs *runs =
	    &file->runs[CPPROFDATA_THREADS];
	struct cpprofdata_end end;
	uint64_t n = 0;

	if ((file->header.flags & CPPROFDATA_WAITS) == 0)
		return 0;
	end = cpprofdata_find_end(file);
	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++) {
			struct cpprofdata_charge
			    charges[CPPROFDATA_CHARGES_MAX];
			bool waits;
			size_t n_charges = cpprofdata_wait_charges(file, &end,
			    (uint32_t)(runs->items[i].first + k), charges,
			    &waits);

			for (size_t j = 0; j < n_charges; j++)
				n += charges[j].hits > 0;
		}
	return n;
}

static void
add_file(const struct cpprofdata_file *file,
         struct cpprofdata_summary *summary)
{
	const struct cpprofdata_runs *runs = &file->runs[CPPROFDATA_NODES];

	summary->n_files++;
	summary->n_lost +=
	    file->header.drops[CPPROFDATA_LOST_FULL].samples;
	summary->n_by_ticks +=
	    (file->header.flags & CPPROFDATA_CLOCK_GIVEN_UP) != 0;
	for (uint32_t r = 0; r < file->n_named; r++)
		add_source(file, r, summary);
	summary->n_samples += samples_of_waits(file);
	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++)
			summary->n_samples += samples_of_node(
			    file, runs->items[i].offset +
			    (size_t)k * runs->record_size);
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
		add_file(&file, summary);
		cpprofdata_file_close(&file);
		result = 0;
	}
	source_close(source);
	return result;
}
