/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_summary.c -- the size of a recording, without resolving symbols.
 */
#include "src/formats/cpprofdata/cpprofdata_file.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>

/* Of a file, by its column of the resource. */
struct samples {
	uint64_t of[CPPROFDATA_MAX_RESOURCES];
	uint64_t hits[CPPROFDATA_MAX_RESOURCES];
};

static void
cpprofdata_summary_add_node(const struct cpprofdata_file *file, size_t offset,
                            struct samples *samples)
{
	offset += sizeof(struct cpprofdata_node);
	for (uint32_t r = 0; r < file->header.n_resources; r++) {
		struct cpprofdata_count count;

		memcpy(&count, file->bytes + offset, sizeof count);
		samples->of[r] += le64toh(count.samples);
		samples->hits[r] += le64toh(count.hits);
		offset += sizeof count;
	}
}

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

/* Hits of a column that are in no stack. */
static uint64_t
lost_hits(const struct cpprofdata_header *header, uint32_t column,
          bool is_running)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < CPPROFDATA_N_LOST; i++)
		lost += header->lost[i][column];
	return lost + (!is_running && header->pending[column] > 0 ?
	    (uint64_t)header->pending[column] : 0);
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

/* Waits that have not ended count as one sample each. */
static void
add_waits(const struct cpprofdata_file *file, const struct cpprofdata_end *end,
          struct samples *samples)
{
	const struct cpprofdata_runs *runs =
	    &file->runs[CPPROFDATA_THREADS];

	if ((file->header.flags & CPPROFDATA_WAITS) == 0)
		return;
	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++) {
			struct cpprofdata_charge
			    charges[CPPROFDATA_CHARGES_MAX];
			bool waits;
			size_t n_charges = cpprofdata_wait_charges(file, end,
			    (uint32_t)(runs->items[i].first + k), charges,
			    &waits);

			for (size_t j = 0; j < n_charges; j++) {
				samples->of[charges[j].resource] +=
				    charges[j].is_wait &&
				    charges[j].hits > 0;
				samples->hits[charges[j].resource] +=
				    charges[j].hits;
			}
		}
}

static void
cpprofdata_summary_add_file(const struct cpprofdata_file *file,
                            struct cpprofdata_summary *summary)
{
	const struct cpprofdata_runs *runs = &file->runs[CPPROFDATA_NODES];
	const struct cpprofdata_end end = cpprofdata_find_end(file);
	struct samples samples = { .of = { 0 } };

	if ((file->header.flags & CPPROFDATA_BRIEF) != 0) {
		summary->n_processes += file->n_briefs;
		summary->n_briefs += file->n_briefs;
		cpprofdata_summary_add_samples(file->header.resources[0].name,
		                               file->n_briefs, file->n_briefs,
		                               0, summary);
		return;
	}
	summary->n_files++;
	summary->n_running += end.is_running;
	summary->n_processes +=
	    (file->header.flags & CPPROFDATA_CONTINUES) == 0;
	summary->n_lost +=
	    file->header.drops[CPPROFDATA_LOST_FULL].samples;
	summary->n_by_ticks +=
	    (file->header.flags & CPPROFDATA_CLOCK_GIVEN_UP) != 0;
	add_waits(file, &end, &samples);
	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++)
			cpprofdata_summary_add_node(file,
			                            runs->items[i].offset +
			                                (size_t)k *
			                                    runs->record_size,
			                            &samples);
	for (uint32_t r = 0; r < file->n_named; r++) {
		cpprofdata_summary_add_source(file, r, summary);
		cpprofdata_summary_add_samples(file->header.resources[r].name,
		                               samples.of[r], samples.hits[r],
		                               lost_hits(&file->header, r,
		                                         end.is_running),
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
