/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_cpprofdata.c -- the collector's format (lib/cpprofdata.h).
 *
 * A profile of several processes becomes one file, which describes the first
 * process.  Nodes are addresses, whose names are in chunks of names
 * (cpprofdata_file.h).  Frames that share an address but have different names, and
 * bare names among addresses, get artificial addresses that no program has;
 * profiles of only names are refused.
 *
 * The size of every chunk is known before the first byte is written: strings,
 * modules, threads, names, a chunk of nodes for each thread's tree, and a
 * chunk of its slices.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpprofdata.h"
#include "src/base/memory.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/cpprofdata/cpprofdata_internal.h"
#include "src/formats/exporter.h"

/* From here on there are no addresses of programs or of the kernel. */
#define FIRST_NUMBER ((uint64_t)1 << 63)

/* The address of a frame in a node. */
struct export_code {
	uint32_t module;
	uint64_t offset;
};

/* A run of nodes, and the first numbers of its chunks. */
struct export_piece {
	uint32_t begin, end;	/* nodes of the tree */
	uint32_t owner;
	uint64_t first;
	uint64_t n_slices;	/* records; 0: it has no chunk of them */
	uint64_t first_slice;
};

struct export_recording {
	const struct export_source *source;
	struct writer *writer;
	struct text_buffer strings;
	uint32_t *module_path;		/* [n_modules] strings */
	struct export_code *codes;		/* [n_frames] */
	struct export_piece *pieces;
	size_t n_pieces, pieces_capacity;
	uint64_t *addresses;		/* [n_frames] as names_file has them */
	struct names_chunks *names;
	uint64_t slice_ns;		/* 0: no slices */
	uint8_t doublings;		/* of all records of slices */
	uint32_t end_mark;		/* a node with an empty record in the
					 * last slice, where no node has hits;
					 * or NO_NODE */
	uint64_t used;			/* of the file, in bytes */
	uint64_t n_changed;		/* names of resources that were cut,
					 * and frames that lost their addresses
					 * or inner calls */
	struct cpprofdata_header header;
};

static void
export_cpprofdata_put(struct export_recording *recording, const void *bytes,
                      size_t n)
{
	writer_put(recording->writer, bytes, n);
}

/* ---- strings ---- */

/* The number of a text, which is entered; 0 for NULL. */
static uint32_t
export_cpprofdata_add_string(struct export_recording *recording,
                             const char *text, size_t length)
{
	uint32_t number = (uint32_t)recording->strings.length;

	if (length == 0)
		return 0;
	text_add(&recording->strings, text, length);
	text_add_char(&recording->strings, '\0');
	return number;
}

static uint32_t
export_cpprofdata_add_text(struct export_recording *recording, const char *text)
{
	return text == NULL ?
	    0 :
	    export_cpprofdata_add_string(recording, text, strlen(text));
}

/* ---- frames ---- */

/*
 * Encodes a frame without an address as the record that readers show under
 * that name, if there is one; is_inner: it is not outermost in all stacks.
 */
static bool
find_pseudo(struct export_recording *recording, uint32_t number, bool is_inner)
{
	enum { PHASE_MAX = 255 };
	const struct profile *profile = recording->source->profile;
	const struct frame *frame = &profile->frames[number];
	const struct location *location =
	    &profile->locations[frame->first_location];
	const char *text = names_text(profile->names, location->function);
	size_t length = names_length(profile->names, location->function);

	if (frame->module != NO_MODULE || frame->address != 0 ||
	    frame->n_locations > 1 || location->file != NO_NAME ||
	    location->line != 0)
		return false;
	if (strcmp(text, "[partial]") == 0)
		recording->codes[number] = (struct export_code){
			CPPROFDATA_PARTIAL, 0
		};
	else if (length > 2 && length - 2 <= PHASE_MAX && !is_inner &&
	         text[0] == '[' && text[length - 1] == ']')
		recording->codes[number] = (struct export_code){
			CPPROFDATA_PHASE,
			export_cpprofdata_add_string(recording, text + 1,
			                             length - 2)
		};
	else
		return false;
	return true;
}

/* A placeholder sorts after the other frames of its address. */
static int
compare_contents(const struct profile *profile, const struct frame *a,
                 const struct frame *b)
{
	if (a->placeholder != b->placeholder)
		return a->placeholder < b->placeholder ? -1 : 1;
	if (a->function_offset != b->function_offset)
		return a->function_offset < b->function_offset ? -1 : 1;
	if (a->has_debug_lines != b->has_debug_lines)
		return a->has_debug_lines ? -1 : 1;
	if (a->is_made_up != b->is_made_up)
		return a->is_made_up ? 1 : -1;
	if (a->n_locations != b->n_locations)
		return a->n_locations < b->n_locations ? -1 : 1;
	return memcmp(&profile->locations[a->first_location],
	              &profile->locations[b->first_location],
	              a->n_locations * sizeof *profile->locations);
}

static int
export_cpprofdata_compare_frames(const void *left, const void *right,
                                 void *context)
{
	const struct profile *profile = context;
	const struct frame *a = &profile->frames[*(const uint32_t *)left];
	const struct frame *b = &profile->frames[*(const uint32_t *)right];
	int order = profile_compare_frames(a, b);

	return order != 0 ? order : compare_contents(profile, a, b);
}

/* Gives the frames sorted[n], without pseudo frames, their addresses. */
static void
number_frames(struct export_recording *recording, const uint32_t *sorted,
              size_t n)
{
	const struct profile *profile = recording->source->profile;
	uint64_t number = FIRST_NUMBER, address = 0;
	const struct frame *last = NULL;

	/* The first artificial address is after all those of the profile. */
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		address = profile->frames[i].address;
		if (address >= number && address - FIRST_NUMBER <= UINT32_MAX)
			number = address + 1;
	}

	for (size_t i = 0; i < n; i++) {
		const struct frame *frame = &profile->frames[sorted[i]];
		bool is_other = last == NULL ||
		    last->module != frame->module ||
		    last->address != frame->address;

		if (frame->placeholder != FRAME_IS_NAMED)
			address = frame->address;
		else if ((frame->module == NO_MODULE && frame->address == 0) ||
		         !is_other) {
			if (is_other || compare_contents(profile, last,
			                                 frame) != 0) {
				address = number++;
				recording->n_changed += frame->address != 0;
			}
		} else
			address = frame->address;
		recording->n_changed += frame->n_locations > KEPT_CHAIN_MAX;
		recording->addresses[sorted[i]] = address;
		recording->codes[sorted[i]] = (struct export_code){
			frame->module == NO_MODULE ? CPPROFDATA_NO_MODULE :
			frame->module, address
		};
		last = frame;
	}
}

static int
find_codes(struct export_recording *recording, struct error *error)
{
	const struct profile *profile = recording->source->profile;
	const struct sample_tree *tree = profile->tree;
	bool *is_inner = memory_array(profile->n_frames, sizeof *is_inner,
	                              error);
	uint32_t *sorted = memory_array(profile->n_frames, sizeof *sorted,
	                                error);
	size_t n = 0;

	recording->codes = memory_array(profile->n_frames,
	                                sizeof *recording->codes, error);
	recording->addresses = memory_array(profile->n_frames,
	    sizeof *recording->addresses, error);
	if (!error->is_set) {
		for (uint32_t i = 0; i < tree->n_nodes; i++)
			is_inner[tree->label[i]] |= sample_tree_parent(tree,
			    i) != NO_NODE;
		for (uint32_t i = 0; i < profile->n_frames; i++)
			if (!find_pseudo(recording, i, is_inner[i]))
				sorted[n++] = i;
		if (n > 0)
			qsort_r(sorted, n, sizeof *sorted,
			        export_cpprofdata_compare_frames,
			        (void *)profile);
		number_frames(recording, sorted, n);
	}
	free(is_inner);
	free(sorted);
	return error->is_set ? -1 : 0;
}

/* There may be names among addresses, but not only names. */
static int
check_nodes(const struct export_recording *recording, struct error *error)
{
	const struct profile *profile = recording->source->profile;
	const struct sample_tree *tree = profile->tree;
	const struct frame *name = NULL;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		const struct frame *frame = &profile->frames[tree->label[n]];

		if (frame->module != NO_MODULE || frame->address != 0)
			return 0;
		if (name == NULL &&
		    recording->addresses[tree->label[n]] != 0)
			name = frame;
	}
	if (name == NULL)
		return 0;
	return error_set(error, "cpprofdata holds addresses, and %s is only a "
	    "name; cpprof-text holds names", names_text(profile->names,
	        profile->locations[name->first_location].function));
}

/* ---- when hits were counted ----
 *
 * A timeline has one width, so the records of all nodes have the same number
 * of doublings.  What is read back must last as long: if the refinement left
 * no hits in the last slice, an empty record there says how long that is.
 */

/* What a record of a slice is made of. */
struct slices_part {
	uint32_t resource, slice;
	struct cpprofdata_count count;
};

/* The places of a node's parts, in its row of the timeline. */
struct slices_place {
	size_t entry, end;
	uint32_t resource;
};

static struct slices_place
first_place(const struct sample_tree *tree, uint32_t node)
{
	const uint32_t row = sample_tree_row(tree, node);

	return (struct slices_place){ tree->timeline->first[row],
		tree->timeline->first[row + 1], 0 };
}

/* The next part that is not empty; false after the last one. */
static bool
slices_next_part(const struct timeline *timeline, struct slices_place *place,
                 struct slices_part *part)
{
	while (place->entry < place->end) {
		const size_t entry = place->entry;
		const uint32_t r = place->resource++;

		if (r == timeline->n_resources) {
			place->entry++;
			place->resource = 0;
			continue;
		}
		*part = (struct slices_part){ r, timeline->slice[entry],
			{ timeline->hits[r][entry],
			  timeline->samples[r][entry] } };
		if ((part->count.hits | part->count.samples) != 0)
			return true;
	}
	return false;
}

/* Finds the width, and the node that marks the end.  O(nodes + entries). */
static void
begin_slices(struct export_recording *recording)
{
	const struct sample_tree *tree = recording->source->profile->tree;
	const struct timeline *timeline = tree->timeline;

	recording->end_mark = NO_NODE;
	if (timeline == NULL)
		return;
	recording->slice_ns = timeline->width_ns;
	/* It came from a file with narrower slices, or by doubling. */
	while (recording->slice_ns > CPPROFDATA_SLICE_MAX_NS) {
		recording->slice_ns /= 2;
		recording->doublings++;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		struct slices_place place = first_place(tree, node);
		struct slices_part part;

		while (slices_next_part(timeline, &place, &part)) {
			if (part.slice + 1 == timeline->n_slices) {
				recording->end_mark = NO_NODE;
				return;
			}
			recording->end_mark = node;
		}
	}
}

/* The number of records of nodes [begin, end), one for each resource. */
static uint64_t
count_slices(const struct export_recording *recording, uint32_t begin,
             uint32_t end)
{
	const struct sample_tree *tree = recording->source->profile->tree;
	uint64_t n = 0;

	if (recording->slice_ns == 0)
		return 0;
	for (uint32_t node = begin; node < end; node++) {
		struct slices_place place = first_place(tree, node);
		struct slices_part part;

		while (slices_next_part(tree->timeline, &place, &part))
			n++;
		n += node == recording->end_mark;
	}
	return n;
}

static void
write_slice(const struct export_recording *recording, uint64_t number,
            const struct slices_part *part)
{
	const struct cpprofdata_slice record = {
		.node = htole32((uint32_t)number),
		.resource = (uint8_t)part->resource,
		.doublings = recording->doublings,
		.slice = htole16((uint16_t)part->slice),
		.count = { htole64(part->count.hits),
		           htole64(part->count.samples) },
	};

	writer_put(recording->writer, (const char *)&record, sizeof record);
}

/* ---- chunks ---- */

/* The records that a chunk with n of them has room for. */
static uint64_t
chunk_capacity(uint64_t n, size_t record_size)
{
	return (cpprofdata_chunk_size(n, record_size) -
	        sizeof(struct cpprofdata_chunk)) /
	    record_size;
}

static size_t
export_cpprofdata_node_size(const struct export_recording *recording)
{
	return sizeof(struct cpprofdata_node) +
	    recording->source->profile->n_resources *
	    sizeof(struct cpprofdata_count);
}

static int
add_piece(struct export_recording *recording, uint32_t begin, uint32_t end,
          uint32_t owner, struct error *error)
{
	const size_t size = export_cpprofdata_node_size(recording);
	struct export_piece piece = { .begin = begin,
		                      .end = end,
		                      .owner = owner };

	if (begin == end)
		return 0;
	if (recording->n_pieces > 0) {
		const struct export_piece *last =
		    &recording->pieces[recording->n_pieces - 1];

		piece.first = last->first +
		    chunk_capacity(last->end - last->begin, size);
		piece.first_slice = last->first_slice;
		if (last->n_slices > 0)
			piece.first_slice += chunk_capacity(last->n_slices,
			    sizeof(struct cpprofdata_slice));
	}
	piece.n_slices = count_slices(recording, begin, end);
	if (memory_grow(&recording->pieces, &recording->pieces_capacity,
	                recording->n_pieces + 1, sizeof piece, error) != 0)
		return -1;
	recording->pieces[recording->n_pieces++] = piece;
	recording->used += cpprofdata_chunk_size(end - begin, size);
	if (piece.n_slices > 0)
		recording->used += cpprofdata_chunk_size(piece.n_slices,
		    sizeof(struct cpprofdata_slice));
	/* The last three numbers have other meanings. */
	if (piece.first + (end - begin) > CPPROFDATA_PHASE)
		return error_set(error, "more nodes than cpprofdata can "
		                 "number");
	return 0;
}

/* Nodes outside all sections belong to an extra thread. */
static int
add_pieces(struct export_recording *recording, struct error *error)
{
	const struct profile *profile = recording->source->profile;
	uint32_t done = 0, nobody = UINT32_MAX;

	for (uint32_t i = 0; i < profile->n_sections; i++) {
		const struct section *section = &profile->sections[i];
		uint32_t owner = section->thread != NO_THREAD ?
		    section->thread : nobody--;

		if (add_piece(recording, done, section->begin, nobody--,
		              error) != 0 ||
		    add_piece(recording, section->begin, section->end, owner,
		              error) != 0)
			return -1;
		done = section->end;
	}
	return add_piece(recording, done, profile->tree->n_nodes, nobody,
	                 error);
}

/* ---- names ---- */

static int
make_names(struct export_recording *recording, struct error *error)
{
	const struct profile *profile = recording->source->profile;
	const struct cpprofdata_header *header = &recording->header;
	const struct named_process process = { le32toh(header->pid),
		le64toh(header->start_ns), 0, 0 };
	struct names_file names = {
		.profile = profile,
		.addresses = recording->addresses,
		.keeps_lines = true,
		.omits_deferred = recording->source->inlines == INLINES_AUTO,
		.processes = &process,
		.n_processes = 1,
	};

	/* The first chunk of strings numbers up to its end. */
	recording->names = names_chunks_new(&names,
	    cpprofdata_chunk_size(recording->strings.length, 1) -
	    sizeof(struct cpprofdata_chunk), error);
	return recording->names != NULL ? 0 : -1;
}

/* ---- records ---- */

static void
write_modules(struct export_recording *recording)
{
	const struct profile *profile = recording->source->profile;
	uint32_t n = profile->n_modules;

	cpprofdata_begin_chunk(recording->writer, CPPROFDATA_MODULES, 0, n,
	                   sizeof(struct cpprofdata_module), 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct module *module = &profile->modules[i];
		struct cpprofdata_module record = {
			.path = htole32(recording->module_path[i]),
			.n_opened = htole32(1),
			.build_id_size = htole32(module->build_id_size),
			.file_size = htole64(module->file_size),
			.file_mtime_ns = htole64(module->file_mtime_ns),
		};

		memcpy(record.build_id, module->build_id,
		       sizeof record.build_id);
		export_cpprofdata_put(recording, &record, sizeof record);
	}
	cpprofdata_end_chunk(recording->writer, n, sizeof(struct cpprofdata_module));
}

static void
write_threads(struct export_recording *recording)
{
	const struct profile *profile = recording->source->profile;
	uint32_t n = profile->n_threads;

	cpprofdata_begin_chunk(recording->writer, CPPROFDATA_THREADS, 0, n,
	                   sizeof(struct cpprofdata_thread), 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *thread = &profile->threads[i];
		struct cpprofdata_thread record = {
			.tid = htole32((uint32_t)thread->tid),
			.n_threads = htole32(1),
			.start_module = htole32(CPPROFDATA_NO_MODULE),
		};

		if (thread->name != NULL)
			memcpy(record.name, thread->name, strnlen(thread->name,
			       sizeof record.name));
		export_cpprofdata_put(recording, &record, sizeof record);
	}
	cpprofdata_end_chunk(recording->writer, n, sizeof(struct cpprofdata_thread));
}

static void
export_cpprofdata_write_node(struct export_recording *recording,
                             const struct export_piece *piece, uint32_t node)
{
	const struct sample_tree *tree = recording->source->profile->tree;
	const struct export_code *code = &recording->codes[tree->label[node]];
	uint32_t parent = sample_tree_parent(tree, node);
	struct cpprofdata_node record = {
		.parent = htole32(parent == NO_NODE ? CPPROFDATA_NO_NODE :
		    (uint32_t)(piece->first + parent - piece->begin)),
		.module = htole32(code->module),
		.offset = htole64(code->offset),
		.returns = htole64(tree->returns != NULL ?
		                   tree->returns[node] : 0),
	};

	export_cpprofdata_put(recording, &record, sizeof record);
	for (uint32_t r = 0; r < tree->n_resources; r++) {
		struct cpprofdata_count count = {
			.hits = htole64(sample_tree_hits(tree, r, node)),
			.samples = htole64(sample_tree_samples(tree, r,
			                                       node)),
		};

		export_cpprofdata_put(recording, &count, sizeof count);
	}
}

static int
write_pieces(struct export_recording *recording, struct error *error)
{
	for (size_t i = 0; i < recording->n_pieces; i++) {
		const struct export_piece *piece = &recording->pieces[i];
		uint32_t n = piece->end - piece->begin;

		cpprofdata_begin_chunk(recording->writer, CPPROFDATA_NODES, piece->first, n,
		                   export_cpprofdata_node_size(recording),
		                   piece->owner);
		for (uint32_t node = piece->begin; node < piece->end; node++) {
			export_cpprofdata_write_node(recording, piece, node);
			if (export_may_go_on(node, recording->writer,
			                     error) != 0)
				return -1;
		}
		cpprofdata_end_chunk(recording->writer, n,
		                export_cpprofdata_node_size(recording));
	}
	return 0;
}

/* After all nodes, so that readers know whose slices they are. */
static int
write_slices(struct export_recording *recording, struct error *error)
{
	const struct sample_tree *tree = recording->source->profile->tree;
	const size_t size = sizeof(struct cpprofdata_slice);

	for (size_t i = 0; i < recording->n_pieces; i++) {
		const struct export_piece *piece = &recording->pieces[i];

		if (piece->n_slices == 0)
			continue;
		cpprofdata_begin_chunk(recording->writer, CPPROFDATA_SLICES,
		                   piece->first_slice, piece->n_slices, size,
		                   piece->owner);
		for (uint32_t node = piece->begin; node < piece->end; node++) {
			const uint64_t number = piece->first +
			                        (node - piece->begin);
			struct slices_place place = first_place(tree, node);
			struct slices_part part;

			if (export_may_go_on(node, recording->writer,
			                     error) != 0)
				return -1;
			while (slices_next_part(tree->timeline, &place, &part))
				write_slice(recording, number, &part);
			if (node != recording->end_mark)
				continue;
			part = (struct slices_part){
				.slice = tree->timeline->n_slices - 1
			};
			write_slice(recording, number, &part);
		}
		cpprofdata_end_chunk(recording->writer, piece->n_slices, size);
	}
	return 0;
}

/* ---- the header ---- */

/*
 * Copies as much of a text as fits, in whole characters; returns its length.
 */
static size_t
export_cpprofdata_put_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size);

	for (int i = 0; i < 3 && length == size &&
	     ((unsigned char)text[size] & 0xc0) == 0x80; i++)
		size = --length;
	memcpy(to, text, length);
	return length;
}

static bool
is_taken(const struct cpprofdata_header *header, uint32_t r)
{
	for (uint32_t i = 0; i < r; i++)
		if (memcmp(header->resources[i].name,
		           header->resources[r].name,
		           sizeof header->resources[r].name) == 0)
			return true;
	return false;
}

/* Adds a number to a name that was cut, to keep it distinct. */
static void
set_resource(struct export_recording *recording, uint32_t r)
{
	const struct resource *resource =
	    &recording->source->profile->resources[r];
	struct cpprofdata_header *header = &recording->header;
	struct cpprofdata_resource *record = &header->resources[r];

	export_cpprofdata_put_text(record->name, sizeof record->name,
	                           resource->name);
	for (uint32_t n = 2; is_taken(header, r); n++) {
		char suffix[12];
		size_t length = (size_t)snprintf(suffix, sizeof suffix,
		                                 "~%" PRIu32, n), at;

		memset(record->name, 0, sizeof record->name);
		at = export_cpprofdata_put_text(record->name,
		                                sizeof record->name - length,
		                                resource->name);
		memcpy(record->name + at, suffix, length);
	}
	export_cpprofdata_put_text(record->gtick, sizeof record->gtick,
	                           resource->gtick);
	recording->n_changed += strncmp(record->name, resource->name,
	                                sizeof record->name) != 0 ||
	    strlen(resource->name) > sizeof record->name ||
	    strlen(resource->gtick) > sizeof record->gtick;
	record->interval = htole64(resource->interval);
	record->source = htole32(
	    export_cpprofdata_add_text(recording, resource->source));
	if (resource->drawn_most > 0) {
		header->flags |= htole32(CPPROFDATA_DRAWN);
		header->drawn_most = htole64(resource->drawn_most);
	}
}

static void
set_process(struct export_recording *recording)
{
	const struct profile *profile = recording->source->profile;
	struct cpprofdata_header *header = &recording->header;
	const struct process *process = profile->processes;

	if (profile->n_processes == 0)
		return;
	header->pid = htole32((uint32_t)process->pid);
	header->parent_pid = htole32((uint32_t)process->parent_pid);
	header->start_ns = htole64(process->start_ns);
	header->end_ns = header->last_sample_ns = htole64(process->end_ns);
	header->cpu_ns = htole64(process->cpu_ns);
	header->sampling_ns = htole64(process->sampling_ns);
	header->arguments = htole32(
	    export_cpprofdata_add_text(recording, process->command));
	header->n_arguments = htole32(process->command != NULL);
	header->host = htole32(
	    export_cpprofdata_add_text(recording, process->host));
	header->executable = htole32(
	    export_cpprofdata_add_text(recording, process->program));
	header->title = htole32(
	    export_cpprofdata_add_text(recording, process->title));
}

static int
set_header(struct export_recording *recording, struct error *error)
{
	enum { X86_64 = 62 };
	const struct profile *profile = recording->source->profile;
	struct cpprofdata_header *header = &recording->header;

	if (profile->n_resources > CPPROFDATA_MAX_RESOURCES)
		return error_set(error, "cpprofdata has at most %d resources, "
		    "and the profile %u", CPPROFDATA_MAX_RESOURCES,
		    profile->n_resources);
	memcpy(header->magic, CPPROFDATA_MAGIC, sizeof header->magic);
	header->version = htole32(CPPROFDATA_VERSION);
	header->header_size = htole32(CPPROFDATA_HEADER_SIZE);
	header->machine = htole32(X86_64);
	header->flags = htole32(profile->tree->returns != NULL ?
	                        CPPROFDATA_COUNTS_RETURNS : 0);
	header->n_resources = htole32(profile->n_resources);
	header->node_size = htole32(
	    (uint32_t)export_cpprofdata_node_size(recording));
	for (uint32_t r = 0; r < profile->n_resources; r++)
		set_resource(recording, r);
	set_process(recording);
	begin_slices(recording);
	if (recording->slice_ns != 0) {
		header->origin_ns = htole64(profile->tree->timeline->origin_ns);
		header->slice_ns = htole64(recording->slice_ns);
	}
	return 0;
}

/* ---- the whole ---- */

/* Prepares everything that must be known before the first byte. */
static int
export_cpprofdata_prepare(struct export_recording *recording,
                          struct error *error)
{
	const struct profile *profile = recording->source->profile;

	text_add_char(&recording->strings, '\0');
	recording->module_path = memory_array(profile->n_modules,
	    sizeof *recording->module_path, error);
	if (recording->module_path == NULL ||
	    set_header(recording, error) != 0 ||
	    find_codes(recording, error) != 0 ||
	    check_nodes(recording, error) != 0)
		return -1;
	for (uint32_t i = 0; i < profile->n_modules; i++)
		recording->module_path[i] =
		    export_cpprofdata_add_text(recording,
		                               profile->modules[i].path);
	if (recording->strings.failed)
		return error_out_of_memory(error);
	if (recording->strings.length > UINT32_MAX)
		return error_set(error, "more text than cpprofdata can "
		                 "number");
	if (make_names(recording, error) != 0)
		return -1;
	recording->used = CPPROFDATA_HEADER_SIZE +
	    names_chunks_size(recording->names) +
	    cpprofdata_chunk_size(recording->strings.length, 1) +
	    cpprofdata_chunk_size(profile->n_modules,
	                                 sizeof(struct cpprofdata_module)) +
	    cpprofdata_chunk_size(profile->n_threads,
	                                 sizeof(struct cpprofdata_thread));
	if (add_pieces(recording, error) != 0)
		return -1;
	recording->header.used = htole64(recording->used);
	return 0;
}

static int
cpprofdata_write(const struct export_source *source, struct writer *writer,
                 uint64_t *n_changed, struct error *error)
{
	struct export_recording *recording = memory_array(1, sizeof *recording,
	                                                  error);
	int result = -1;

	*n_changed = 0;
	if (recording == NULL)
		return -1;
	recording->source = source;
	recording->writer = writer;
	if (export_cpprofdata_prepare(recording, error) == 0) {
		export_cpprofdata_put(recording, &recording->header,
		                      sizeof recording->header);
		cpprofdata_begin_chunk(writer, CPPROFDATA_STRINGS, 0,
		                       recording->strings.length, 1, 0);
		export_cpprofdata_put(recording, recording->strings.bytes,
		                      recording->strings.length);
		cpprofdata_end_chunk(writer, recording->strings.length, 1);
		write_modules(recording);
		write_threads(recording);
		names_chunks_write(recording->names, recording->writer);
		if (write_pieces(recording, error) == 0)
			result = write_slices(recording, error);
		*n_changed = recording->n_changed;
	}
	text_free(&recording->strings);
	free(recording->module_path);
	free(recording->codes);
	free(recording->pieces);
	free(recording->addresses);
	names_chunks_free(recording->names);
	free(recording);
	return result;
}

const struct exporter exporter_cpprofdata = {
	.summary = "addresses and names, as `cpprof record` writes them",
	.is_binary = true,
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_SAMPLES |
	    EXPORT_SAMPLES_EACH | EXPORT_PATHS | EXPORT_ADDRESSES |
	    EXPORT_LINES | EXPORT_CALL_SITES | EXPORT_THREADS |
	    EXPORT_RETURNS | EXPORT_TIMES,
	.write = cpprofdata_write,
};
