/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merged_write.c -- writes the file of a merged profile.
 *
 * Column after column, each of numbers that are alike, so that packing finds
 * what repeats.  merged.c reads the columns in the same order.
 */
#include <string.h>

#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/formats/exporter.h"
#include "src/formats/merged/merged_file.h"

enum { FLUSH_SIZE = 256 << 10 };

struct output {
	const struct fleet *fleet;
	const struct profile *profile;
	struct writer *writer;		/* packs */
	struct text_buffer bytes;
};

/* ---- numbers and texts ---- */

/* Hands on what there is; later failures are found at the end. */
static void
merged_write_flush(struct output *output)
{
	writer_put(output->writer, output->bytes.bytes, output->bytes.length);
	text_clear(&output->bytes);
}

static void
merged_write_put(struct output *output, uint64_t number)
{
	char bytes[10];
	size_t n = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[n++] = (char)(number | 0x80);
	bytes[n++] = (char)number;
	text_add(&output->bytes, bytes, n);
	if (output->bytes.length >= FLUSH_SIZE)
		merged_write_flush(output);
}

static void
put_bytes(struct output *output, const void *bytes, size_t n)
{
	merged_write_put(output, n);
	text_add(&output->bytes, bytes, n);
}

static void
merged_write_put_text(struct output *output, const char *text)
{
	put_bytes(output, text, strlen(text));
}

static void
put_agreed(struct output *output, const char *text)
{
	if (text == NULL) {
		merged_write_put(output, MERGED_NO_TEXT);
	} else if (text == fleet_several) {
		merged_write_put(output, MERGED_TEXTS_DIFFER);
	} else {
		merged_write_put(output, MERGED_TEXT);
		merged_write_put_text(output, text);
	}
}

/* ---- what is small ---- */

static void
put_summary(struct output *output)
{
	const struct fleet *fleet = output->fleet;
	const struct fleet_process *process = &fleet->process;

	merged_write_put(output, fleet->n_members);
	merged_write_put(output, fleet->n_warned);
	for (uint32_t g = 0; g < FLEET_GROUPS; g++)
		merged_write_put(output, fleet->group_members[g]);
	put_agreed(output, process->program);
	put_agreed(output, process->command);
	put_agreed(output, process->host);
	merged_write_put(output, process->start_ns);
	merged_write_put(output, process->end_ns);
	merged_write_put(output, process->cpu_ns);
	merged_write_put(output, process->sampling_ns);
	merged_write_put(output,
	                 (process->is_cpu_unknown ? MERGED_CPU_UNKNOWN : 0) |
	                     (process->cpu_is_least ? MERGED_CPU_LEAST : 0));
}

static void
put_tallies(struct output *output)
{
	const struct profile *profile = output->profile;

	merged_write_put(output, profile->n_tallies);
	for (uint32_t i = 0; i < profile->n_tallies; i++) {
		merged_write_put_text(output, profile->tallies[i].what);
		merged_write_put(output, profile->tallies[i].count);
		merged_write_put(output, profile->tallies[i].loss);
	}
}

static void
put_resources(struct output *output)
{
	const struct fleet *fleet = output->fleet;

	merged_write_put(output, fleet->n_resources);
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct resource *resource = &fleet->resources[r].column;
		const bool is_drawn = resource->drawn_most > 0;

		merged_write_put_text(output, resource->name);
		merged_write_put_text(output, resource->gtick);
		merged_write_put(output, resource->interval);
		merged_write_put(output, resource->n_files);
		merged_write_put(output, resource->counting +
		                 (is_drawn ? MERGED_DRAWN : 0));
		if (is_drawn)
			merged_write_put(output, resource->drawn_most);
		merged_write_put(output, resource->first_column);
		for (int loss = 0; loss < N_LOSSES; loss++)
			merged_write_put(output, resource->lost[loss]);
	}
	merged_write_put(output, names_count(fleet->sources));
	for (uint32_t i = 0; i < names_count(fleet->sources); i++) {
		const char *source = names_text(fleet->sources, i);
		uint32_t r;

		memcpy(&r, source + strlen(source) + 1, sizeof r);
		merged_write_put_text(output, source);
		merged_write_put(output, r);
	}
}

static void
put_members(struct output *output)
{
	const struct fleet *fleet = output->fleet;

	merged_write_put(output, fleet->n_listed);
	for (uint32_t i = 0; i < fleet->n_listed; i++)
		merged_write_put_text(output, fleet->members[i].id);
	for (uint32_t i = 0; i < fleet->n_listed; i++)
		merged_write_put_text(output, fleet->members[i].name);
	put_agreed(output, fleet->key);
	merged_write_put(output, names_count(fleet->values));
	for (uint32_t i = 0; i < names_count(fleet->values); i++)
		put_bytes(output, names_text(fleet->values, i),
		          names_length(fleet->values, i));
}

/* ---- names, modules, frames ---- */

/* How many bytes two names have in common at their beginnings. */
static size_t
count_shared(const struct names *names, uint32_t a, uint32_t b)
{
	size_t n = names_length(names, a), i = 0;
	const char *x = names_text(names, a), *y = names_text(names, b);

	if (names_length(names, b) < n)
		n = names_length(names, b);
	while (i < n && x[i] == y[i])
		i++;
	return i;
}

static void
put_names(struct output *output)
{
	const struct names *names = output->profile->names;
	uint32_t n = names_count(names);

	merged_write_put(output, n);
	for (uint32_t i = 0; i < n; i++)
		merged_write_put(output,
		                 i > 0 ? count_shared(names, i - 1, i) : 0);
	for (uint32_t i = 0; i < n; i++) {
		size_t shared = i > 0 ? count_shared(names, i - 1, i) : 0;

		put_bytes(output, names_text(names, i) + shared,
		          names_length(names, i) - shared);
	}
}

static void
put_modules(struct output *output)
{
	const struct profile *profile = output->profile;

	merged_write_put(output, profile->n_modules);
	for (uint32_t i = 0; i < profile->n_modules; i++) {
		const struct module *module = &profile->modules[i];

		merged_write_put_text(output, module->path);
		put_bytes(output, module->build_id, module->build_id_size);
		merged_write_put(output, module->file_size);
		merged_write_put(output, module->file_mtime_ns);
	}
}

/* Sorted by module and address, so both are differences. */
static void
put_frames(struct output *output)
{
	const struct profile *profile = output->profile;
	const struct frame *frames = profile->frames;
	uint32_t n = profile->n_frames;

	merged_write_put(output, n);
	for (uint32_t i = 0; i < n; i++)
		merged_write_put(output,
		                 (uint32_t)(frames[i].module + 1) -
		                     (i > 0 ?
		                          (uint32_t)(frames[i - 1].module + 1) :
		                          0));
	for (uint32_t i = 0; i < n; i++)
		merged_write_put(output,
		                 i > 0 &&
		                         frames[i].module ==
		                             frames[i - 1].module ?
		                     frames[i].address - frames[i - 1].address :
		                     frames[i].address);
	for (uint32_t i = 0; i < n; i++)
		merged_write_put(output,
		                 (uint32_t)(frames[i].function_offset + 1));
	for (uint32_t i = 0; i < n; i++)
		merged_write_put(output,
		                 (frames[i].is_made_up ? MERGED_MADE_UP : 0) |
		                     (frames[i].has_debug_lines ?
		                          MERGED_DEBUG_LINES :
		                          0) |
		                     (frames[i].is_interpreted ?
		                          MERGED_INTERPRETED :
		                          0) |
		                     (frames[i].is_awaiting ?
		                          MERGED_AWAITING :
		                          0) |
		                     (uint64_t)frames[i].placeholder *
		                         MERGED_PLACEHOLDER);
	for (uint32_t i = 0; i < n; i++)
		merged_write_put(output, frames[i].n_locations);
	for (uint32_t i = 0; i < profile->n_locations; i++)
		merged_write_put(output, profile->locations[i].function);
	for (uint32_t i = 0; i < profile->n_locations; i++)
		merged_write_put(output,
		                 (uint32_t)(profile->locations[i].file + 1));
	for (uint32_t i = 0; i < profile->n_locations; i++)
		merged_write_put(output, profile->locations[i].line);
}

/* ---- nodes, rows, cells ---- */

static void
put_nodes(struct output *output)
{
	const struct fleet *fleet = output->fleet;

	merged_write_put(output, fleet->n_nodes);
	/* How many levels it is further out than a child of the one before. */
	for (uint32_t n = 0; n < fleet->n_nodes; n++) {
		uint32_t levels = 0, above = n - 1;	/* NO_NODE for n = 0 */

		for (; above != fleet->parent[n]; above = fleet->parent[above])
			levels++;
		merged_write_put(output, levels);
	}
	for (uint32_t n = 0; n < fleet->n_nodes; n++)
		merged_write_put(output, fleet->label[n]);
	merged_write_put(output, fleet->returns != NULL);
	for (uint32_t n = 0; fleet->returns != NULL && n < fleet->n_nodes;
	     n++)
		merged_write_put(output, fleet->returns[n]);
}

static void
put_rows(struct output *output)
{
	const struct fleet *fleet = output->fleet;
	uint32_t last = 0;

	merged_write_put(output, fleet->n_rows - 1);
	for (uint32_t n = 0; n < fleet->n_nodes; n++) {
		if (fleet->row[n] == 0)
			continue;
		merged_write_put(output, n - last);
		last = n;
	}
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct fleet_resource *resource = &fleet->resources[r];
		size_t size = fleet->n_rows * sizeof *resource->hits;
		bool is_same = memcmp(resource->hits, resource->samples,
		                      size) == 0;

		for (uint32_t row = 1; row < fleet->n_rows; row++)
			merged_write_put(output, resource->hits[row]);
		merged_write_put(output, is_same);
		for (uint32_t row = 1; !is_same && row < fleet->n_rows; row++)
			merged_write_put(output, resource->samples[row]);
	}
}

static void
put_most(struct output *output)
{
	const struct fleet *fleet = output->fleet;

	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct fleet_resource *resource = &fleet->resources[r];

		for (uint32_t n = 0; n < fleet->n_nodes; n++)
			merged_write_put(output, resource->most_hits[n]);
		for (uint32_t n = 0; n < fleet->n_nodes; n++)
			if (resource->most_hits[n] != 0)
				merged_write_put(output,
				                 resource->most_member[n]);
	}
}

/* Sorted by code and row. */
static void
put_cells(struct output *output, const struct fleet_cells *cells,
          bool has_samples)
{
	const struct fleet_cell *cell = cells->cells;

	merged_write_put(output, cells->n);
	for (size_t i = 0; i < cells->n; i++)
		merged_write_put(output,
		                 cell[i].code - (i > 0 ? cell[i - 1].code : 0));
	for (size_t i = 0; i < cells->n; i++)
		merged_write_put(output,
		                 i > 0 && cell[i].code == cell[i - 1].code ?
		                     cell[i].row - cell[i - 1].row :
		                     cell[i].row);
	for (size_t i = 0; i < cells->n; i++)
		merged_write_put(output, cell[i].hits);
	for (size_t i = 0; has_samples && i < cells->n; i++)
		merged_write_put(output, cell[i].samples);
}

static int
put_all(struct output *output, struct error *error)
{
	void (*const tables[])(struct output *) = {
		put_summary, put_tallies, put_resources, put_members,
		put_names, put_modules, put_frames, put_nodes, put_rows,
		put_most,
	};

	text_add_string(&output->bytes, MERGED_MAGIC);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		tables[i](output);
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
	}
	put_cells(output, &output->fleet->groups, false);
	put_cells(output, &output->fleet->by, true);
	merged_write_flush(output);
	return output->bytes.failed ? error_out_of_memory(error) : 0;
}

int
merged_write(const struct fleet *fleet, struct writer *writer,
             struct error *error)
{
	struct output output = {
		.fleet = fleet, .profile = fleet->profile,
	};
	struct packer *packer = packer_new(PACKER_ZSTD, writer, error);
	int result;

	if (packer == NULL)
		return -1;
	output.writer = &packer->in;
	result = put_all(&output, error);
	if (result == 0) {
		packer_finish(packer);
		result = writer->error == 0 ? 0 : -1;
	}
	packer_free(packer);
	text_free(&output.bytes);
	return result;
}
