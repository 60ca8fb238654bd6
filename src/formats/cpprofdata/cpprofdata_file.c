/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_file.c -- walks the chunks once, and accepts only what is valid.
 *
 * The file may be growing while it is read.  The writer publishes `used` after
 * the chunks and `count` after the records, so each is loaded once, before the
 * data that it covers.
 */
#include "src/formats/cpprofdata/cpprofdata_file.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { TEXT_MAX = 4096 };		/* bytes of a path or another text */

/* Loads a number that another process may be publishing. */
static uint64_t
load_published(const unsigned char *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof number);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return le64toh(number);
}

static void
swap_header(struct cpprofdata_header *h)
{
	uint32_t *const words[] = { &h->version, &h->header_size, &h->flags,
		&h->machine, &h->n_resources, &h->node_size, &h->pid,
		&h->parent_pid, &h->arguments, &h->n_arguments, &h->host,
		&h->executable, &h->directory, &h->pid_namespace,
		&h->started_as, &h->title, &h->writer_pid, &h->user };
	uint64_t *const longs[] = { &h->start_ns, &h->end_ns, &h->born_ns,
		&h->last_sample_ns, &h->n_threads, &h->n_threads_unsampled,
		&h->n_closed, &h->sampling_ns, &h->cpu_ns,
		&h->start_mono_ns, &h->end_mono_ns, &h->gone_mono_ns,
		&h->cpu_sampling_ns, &h->seen_mono_ns, &h->origin_ns,
		&h->origin_mono_ns, &h->slice_ns, &h->hits_at_ticks,
		&h->unsampled_hits, &h->drawn_most };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		*words[i] = le32toh(*words[i]);
	for (size_t i = 0; i < sizeof longs / sizeof *longs; i++)
		*longs[i] = le64toh(*longs[i]);
	for (size_t i = 0; i < CPPROFDATA_MAX_DROPS; i++) {
		h->drops[i].samples = le64toh(h->drops[i].samples);
		h->drops[i].hits = le64toh(h->drops[i].hits);
	}
	for (size_t i = 0; i < CPPROFDATA_MAX_RESOURCES; i++) {
		struct cpprofdata_resource *resource = &h->resources[i];

		resource->interval = le64toh(resource->interval);
		resource->source = le32toh(resource->source);
		resource->flags = le32toh(resource->flags);
		for (size_t k = 0; k < CPPROFDATA_N_LOST; k++)
			h->lost[k][i] = le64toh(h->lost[k][i]);
		h->pending[i] = (int64_t)le64toh((uint64_t)h->pending[i]);
	}
}

static int
check_header(const struct cpprofdata_file *file, bool is_names,
             struct error *error)
{
	const struct cpprofdata_header *header = &file->header;

	if (memcmp(header->magic, CPPROFDATA_MAGIC, sizeof header->magic) != 0)
		return error_set(error, "%s: 0x0: not a cpprofdata file",
		                 file->name);
	if (header->version != CPPROFDATA_VERSION)
		return error_set(error,
		    "%s: 0x8: cpprofdata version %u, expected %u", file->name,
		    header->version, CPPROFDATA_VERSION);
	if (header->header_size != CPPROFDATA_HEADER_SIZE)
		return error_set(error,
		    "%s: 0xc: header of %u bytes, expected %u", file->name,
		    header->header_size, CPPROFDATA_HEADER_SIZE);
	if (is_names && (header->flags & CPPROFDATA_NAMES) == 0)
		return error_set(error, "%s: 0x10: samples, expected names",
		                 file->name);
	if (!is_names && (header->flags & CPPROFDATA_NAMES) != 0)
		return error_set(error, "%s: 0x10: only the names of a "
		                 "recording; load its directory", file->name);
	if (is_names)
		return 0;
	if (header->n_resources < 1 ||
	    header->n_resources > CPPROFDATA_MAX_RESOURCES)
		return error_set(error,
		    "%s: 0x18: %u resources, expected 1 to %u", file->name,
		    header->n_resources, CPPROFDATA_MAX_RESOURCES);
	if (header->node_size != sizeof(struct cpprofdata_node) +
	    header->n_resources * sizeof(struct cpprofdata_count))
		return error_set(error,
		    "%s: 0x1c: nodes of %u bytes do not fit %u resources",
		    file->name, header->node_size, header->n_resources);
	for (uint32_t i = 0; i < header->n_resources; i++)
		if (header->resources[i].interval == 0)
			return error_set(error,
			    "%s: 0x%zx: interval 0, expected at least 1",
			    file->name,
			    offsetof(struct cpprofdata_header,
			             resources[i].interval));
	if (header->resources[0].name[0] == '\0')
		return error_set(error, "%s: 0x%zx: no resource has a name",
		    file->name,
		    offsetof(struct cpprofdata_header, resources[0].name));
	return 0;
}

static int
cpprofdata_file_read_header(struct cpprofdata_file *file, struct source *source,
                            bool is_names, struct error *error)
{
	size_t size;
	const char *bytes = source_peek(source, CPPROFDATA_HEADER_SIZE, &size,
	                                error);
	uint64_t used;

	if (bytes == NULL)
		return -1;
	if (size < CPPROFDATA_HEADER_SIZE)
		return error_set(error,
		    "%s: 0x%zx: cut short in the header, expected %d bytes of it",
		    file->name, size, CPPROFDATA_HEADER_SIZE);
	used = load_published((const unsigned char *)bytes +
	    offsetof(struct cpprofdata_header, used));
	memcpy(&file->header, bytes, sizeof file->header);
	swap_header(&file->header);
	while (file->n_named < file->header.n_resources &&
	       file->n_named < CPPROFDATA_MAX_RESOURCES &&
	       file->header.resources[file->n_named].name[0] != '\0')
		file->n_named++;
	file->header.used = used;
	if (file->header.slice_ns > CPPROFDATA_SLICE_MAX_NS)
		file->header.slice_ns = 0;
	return check_header(file, is_names, error);
}

/* A chunk's header, the numbers in this machine's order. */
static struct cpprofdata_chunk
load_chunk(const unsigned char *bytes)
{
	uint64_t count = load_published(bytes +
	    offsetof(struct cpprofdata_chunk, count));
	struct cpprofdata_chunk chunk;

	memcpy(&chunk, bytes, sizeof chunk);
	chunk.magic = le32toh(chunk.magic);
	chunk.type = le32toh(chunk.type);
	chunk.size = le64toh(chunk.size);
	chunk.first = le64toh(chunk.first);
	chunk.record_size = le32toh(chunk.record_size);
	chunk.owner = le32toh(chunk.owner);
	chunk.count = count;
	return chunk;
}

/*
 * Enters the records of a chunk of known type, at the beginning of `left`
 * bytes.
 */
static int
cpprofdata_file_add_run(struct cpprofdata_file *file,
                        const struct cpprofdata_chunk *chunk, size_t offset,
                        size_t left, struct error *error)
{
	struct cpprofdata_runs *runs = &file->runs[chunk->type];
	uint64_t capacity = (chunk->size - sizeof *chunk) / runs->record_size;
	uint64_t room = (left - sizeof *chunk) / runs->record_size;
	uint64_t n = chunk->count;

	if (chunk->record_size != runs->record_size)
		return error_set(&file->damage,
		    "0x%zx: records of %u bytes, expected %zu", offset,
		    chunk->record_size, runs->record_size);
	if (chunk->first != runs->next)
		return error_set(&file->damage,
		    "0x%zx: records begin with %" PRIu64 ", expected %" PRIu64,
		    offset, chunk->first, runs->next);
	if (n > capacity)
		return error_set(&file->damage,
		    "0x%zx: %" PRIu64 " records in a chunk for %" PRIu64,
		    offset, n, capacity);
	if (n > room)
		n = room;
	if (memory_grow(&runs->items, &runs->capacity, runs->n + 1,
	                sizeof *runs->items, error) != 0)
		return -1;
	runs->items[runs->n] = (struct cpprofdata_run){
		.first = runs->next,
		.n = n,
		.n_before = cpprofdata_runs_count(runs),
		.offset = offset + sizeof *chunk,
		.owner = chunk->owner,
	};
	runs->n++;
	runs->next += capacity;
	return 0;
}

/*
 * Finds the runs of all chunks, as far as they exist.  In a damaged header
 * `used` may be any number, so the request grows with what there is.
 */
static void
walk_chunks(struct cpprofdata_file *file, struct source *source,
            struct error *error)
{
	const uint64_t used = file->header.used;
	size_t wanted = CPPROFDATA_HEADER_SIZE, size = 0;
	size_t offset = CPPROFDATA_HEADER_SIZE;

	do {
		wanted = used / 2 < wanted ? (size_t)used : 2 * wanted;
		file->bytes = (const unsigned char *)source_peek(source,
		    wanted, &size, error);
		if (file->bytes == NULL)
			return;
	} while (size >= wanted && size < used);
	if (size > used)
		size = (size_t)used;
	while (size > offset &&
	       size - offset >= sizeof(struct cpprofdata_chunk)) {
		struct cpprofdata_chunk chunk = load_chunk(file->bytes +
		                                           offset);

		if (chunk.magic != CPPROFDATA_CHUNK_MAGIC) {
			error_set(&file->damage,
			          "0x%zx: not the start of a chunk", offset);
			break;
		}
		if (chunk.size < CPPROFDATA_PAGE ||
		    chunk.size % CPPROFDATA_PAGE != 0) {
			error_set(&file->damage, "0x%zx: chunk of %" PRIu64
			    " bytes, expected a multiple of %d", offset,
			    chunk.size, CPPROFDATA_PAGE);
			break;
		}
		if ((chunk.type < CPPROFDATA_N_TYPES &&
		     file->runs[chunk.type].record_size > 0 &&
		     cpprofdata_file_add_run(file, &chunk, offset,
		                             size - offset, error) != 0) ||
		    chunk.size >= size - offset)
			break;
		offset += (size_t)chunk.size;
	}
	if (used < CPPROFDATA_HEADER_SIZE)
		error_set(&file->damage, "0x20: %" PRIu64 " bytes in use, "
		          "expected %d or more", used, CPPROFDATA_HEADER_SIZE);
	if (size < used)
		error_set(&file->damage, "0x%zx: cut short, expected %" PRIu64
		          " bytes", size, used);
}

static void
set_record_sizes(struct cpprofdata_file *file, bool is_names)
{
	struct cpprofdata_runs *runs = file->runs;

	runs[CPPROFDATA_STRINGS].record_size = 1;
	runs[CPPROFDATA_NAMED_MODULES].record_size =
	    sizeof(struct cpprofdata_named_module);
	runs[CPPROFDATA_NAMED_ADDRESSES].record_size =
	    sizeof(struct cpprofdata_named_address);
	runs[CPPROFDATA_NAMED_LOCATIONS].record_size =
	    sizeof(struct cpprofdata_named_location);
	runs[CPPROFDATA_NAMED_ORIGINS].record_size =
	    sizeof(struct cpprofdata_named_origin);
	runs[CPPROFDATA_NAMED_PROCESSES].record_size =
	    sizeof(struct cpprofdata_named_process);
	if (is_names)
		return;
	runs[CPPROFDATA_MODULES].record_size =
	    sizeof(struct cpprofdata_module);
	runs[CPPROFDATA_THREADS].record_size =
	    sizeof(struct cpprofdata_thread);
	runs[CPPROFDATA_NODES].record_size = file->header.node_size;
	runs[CPPROFDATA_SLICES].record_size = sizeof(struct cpprofdata_slice);
	runs[CPPROFDATA_FUNCTIONS].record_size =
	    sizeof(struct cpprofdata_function);
	runs[CPPROFDATA_LINES].record_size = 1;
	runs[CPPROFDATA_BLOCKS].record_size = sizeof(struct cpprofdata_block);
	runs[CPPROFDATA_PAIRS].record_size = sizeof(struct cpprofdata_pair);
	runs[CPPROFDATA_CALL_FUNCTIONS].record_size =
	    sizeof(struct cpprofdata_call_function);
	runs[CPPROFDATA_CALLS].record_size = sizeof(struct cpprofdata_calls);
	runs[CPPROFDATA_CALL_COUNTS].record_size =
	    sizeof(struct cpprofdata_call_count);
}

/*
 * Finds the brief records, up to the end of the file, whose length is not in
 * the header.
 */
static void
read_briefs(struct cpprofdata_file *file, struct source *source,
            struct error *error)
{
	size_t size;

	file->bytes = (const unsigned char *)source_peek(source, SIZE_MAX,
	                                                 &size, error);
	if (file->bytes == NULL)
		return;
	size -= CPPROFDATA_HEADER_SIZE;
	file->n_briefs = size / sizeof(struct cpprofdata_brief);
	if (size % sizeof(struct cpprofdata_brief) != 0)
		error_set(&file->damage, "0x%zx: cut short, expected a record "
		          "of %zu bytes", CPPROFDATA_HEADER_SIZE + size -
		          size % sizeof(struct cpprofdata_brief),
		          sizeof(struct cpprofdata_brief));
}

static int
open_as(struct cpprofdata_file *file, struct source *source, bool is_names,
        struct error *error)
{
	*file = (struct cpprofdata_file){ .name = source_name(source) };
	if (cpprofdata_file_read_header(file, source, is_names, error) != 0)
		return -1;
	set_record_sizes(file, is_names);
	if (!is_names && (file->header.flags & CPPROFDATA_BRIEF) != 0)
		read_briefs(file, source, error);
	else
		walk_chunks(file, source, error);
	if (!error->is_set)
		return 0;
	cpprofdata_file_close(file);
	return -1;
}

int
cpprofdata_file_open(struct cpprofdata_file *file, struct source *source,
                     struct error *error)
{
	return open_as(file, source, false, error);
}

int
cpprofdata_file_open_names(struct cpprofdata_file *file,
                           struct source *source, struct error *error)
{
	return open_as(file, source, true, error);
}

void
cpprofdata_file_close(struct cpprofdata_file *file)
{
	for (size_t type = 0; type < CPPROFDATA_N_TYPES; type++)
		free(file->runs[type].items);
}

bool
cpprofdata_next(const struct cpprofdata_runs *runs, const unsigned char *bytes,
                struct cpprofdata_record *record)
{
	const struct cpprofdata_run *run;

	while (record->run < runs->n &&
	       record->n_done == runs->items[record->run].n) {
		record->run++;
		record->n_done = 0;
	}
	if (record->run == runs->n)
		return false;
	run = &runs->items[record->run];
	record->bytes = bytes + run->offset +
	                record->n_done * runs->record_size;
	record->number = run->first + record->n_done;
	record->index = run->n_before + record->n_done++;
	record->owner = run->owner;
	return true;
}

bool
cpprofdata_is_file_name(const char *entry, uint64_t *pid)
{
	const size_t n = sizeof CPPROFDATA_FILE_PREFIX - 1;

	if (strncmp(entry, CPPROFDATA_FILE_PREFIX, n) != 0)
		return false;
	if (pid != NULL)
		*pid = strtoull(entry + n, NULL, 10);
	return true;
}

bool
cpprofdata_is_jit_name(const char *entry, uint64_t *pid)
{
	const size_t n = sizeof CPPROFDATA_JIT_PREFIX - 1;
	char *end;

	if (strncmp(entry, CPPROFDATA_JIT_PREFIX, n) != 0)
		return false;
	*pid = strtoull(entry + n, &end, 10);
	return strcmp(end, CPPROFDATA_JIT_SUFFIX) == 0;
}

const struct count_kind *
cpprofdata_count_kind(const struct cpprofdata_file *file, uint32_t resource)
{
	const struct cpprofdata_resource *raw =
	    &file->header.resources[resource];
	char name[sizeof raw->name + 1] = "";

	memcpy(name, raw->name, sizeof raw->name);
	return count_kind_find(name);
}

uint64_t
cpprofdata_runs_count(const struct cpprofdata_runs *runs)
{
	const struct cpprofdata_run *last;

	if (runs->n == 0)
		return 0;
	last = &runs->items[runs->n - 1];
	return last->n_before + last->n;
}

const struct cpprofdata_run *
cpprofdata_runs_find(const struct cpprofdata_runs *runs, uint64_t number)
{
	size_t n = partition_point(runs->n, i, runs->items[i].first <= number);

	if (n == 0 || number - runs->items[n - 1].first >= runs->items[n - 1].n)
		return NULL;
	return &runs->items[n - 1];
}

uint32_t
cpprofdata_index_of(const struct cpprofdata_runs *runs, uint32_t number)
{
	const struct cpprofdata_run *run = cpprofdata_runs_find(runs, number);

	return run != NULL ?
	    (uint32_t)(run->n_before + (number - run->first)) : UINT32_MAX;
}

const unsigned char *
cpprofdata_record_at(const struct cpprofdata_file *file,
                     enum cpprofdata_chunk_type type, uint64_t number)
{
	const struct cpprofdata_runs *runs = &file->runs[type];
	const struct cpprofdata_run *run = cpprofdata_runs_find(runs, number);

	return run == NULL ? NULL : file->bytes + run->offset +
	       (size_t)(number - run->first) * runs->record_size;
}

const char *
cpprofdata_string(const struct cpprofdata_file *file, uint64_t number,
                  size_t max, size_t *length)
{
	const struct cpprofdata_run *run =
	    cpprofdata_runs_find(&file->runs[CPPROFDATA_STRINGS], number);
	const char *text, *end;
	uint64_t left;

	*length = 0;
	if (run == NULL)
		return "";
	left = run->n - (number - run->first);
	text = (const char *)file->bytes + run->offset +
	    (number - run->first);
	if (left > max)
		left = max;
	end = memchr(text, '\0', left);
	if (end == NULL && left < max)
		return "";		/* it does not end in its chunk */
	*length = end != NULL ? (size_t)(end - text) : max;
	return text;
}

char *
cpprofdata_copy_string(const struct cpprofdata_file *file, uint64_t number,
                       struct error *error)
{
	size_t length;
	const char *text = cpprofdata_string(file, number, TEXT_MAX, &length);

	return memory_text(text, length, error);
}

uint64_t
cpprofdata_chunk_size(uint64_t n, size_t record_size)
{
	uint64_t size = sizeof(struct cpprofdata_chunk) + n * record_size;

	return (size + CPPROFDATA_PAGE - 1) / CPPROFDATA_PAGE *
	       CPPROFDATA_PAGE;
}

void
cpprofdata_begin_chunk(struct writer *writer, uint32_t type, uint64_t first,
                       uint64_t n, size_t record_size, uint32_t owner)
{
	const struct cpprofdata_chunk chunk = {
		.magic = htole32(CPPROFDATA_CHUNK_MAGIC),
		.type = htole32(type),
		.size = htole64(cpprofdata_chunk_size(n, record_size)),
		.first = htole64(first),
		.record_size = htole32((uint32_t)record_size),
		.owner = htole32(owner),
		.count = htole64(n),
	};

	writer_put(writer, (const char *)&chunk, sizeof chunk);
}

void
cpprofdata_end_chunk(struct writer *writer, uint64_t n, size_t record_size)
{
	static const char zeros[CPPROFDATA_PAGE];

	writer_put(writer, zeros,
	           (size_t)(cpprofdata_chunk_size(n, record_size) -
	                    sizeof(struct cpprofdata_chunk) -
	                    n * record_size));
}
