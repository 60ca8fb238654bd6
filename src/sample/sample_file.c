/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_file.c -- the file of one process: chunks, trees and slices.
 *
 * The header and each chunk are mapped when they are added, and records are
 * written in place.  Disk space is reserved before, so that a full disk is an
 * error and not a signal.  The directory belongs to the user and nobody else
 * may write there, so what was written can be read again.
 *
 * In memory, each node of a tree has its record, and for each resource the list
 * of its slices, newest first.
 */
#include "src/sample/sample.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/index.h"
#include "src/base/memory.h"

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "records are written as they are");

enum {
	SAMPLE_FILES_MAX = 100000,	/* of one pid in a recording */
	SAMPLE_CHUNK_MAX = 1 << 20,
	SAMPLE_NAMES_APART = 64,	/* names of ended threads kept apart */
	SAMPLE_SLICE_NS = 15625000,	/* the narrowest slice, 1/64 s */
	SAMPLE_TYPES = CPPROFDATA_LINES + 1,
	SAMPLE_STRING_MAX = 4096,
};

/* The chunk of a type that is being filled; size 0: none. */
struct sample_chunk {
	struct cpprofdata_chunk *mapped;
	size_t size, record_size, room;	/* bytes; records that fit */
};

struct sample_slice {
	struct cpprofdata_slice *record;
	struct sample_slice *older;	/* of the same node and resource, or
					 * the next free one */
};

struct sample_node {
	struct cpprofdata_node *record;
	uint32_t number;
	struct sample_slice *slices[];	/* of each resource */
};

struct sample_thread {
	struct cpprofdata_thread *record;
	uint32_t number;
	bool has_ended;
	struct sample_chunk nodes, slices;
	struct sample_node **tree;	/* [n_nodes] */
	size_t n_nodes, tree_capacity;
	struct index index;		/* of these, by parent and place */
	struct sample_slice *free;
};

/* What tells functions apart. */
struct sample_contents {
	uint64_t hash;
};

/* A mapped part of the file. */
struct sample_part {
	void *at;
	size_t size;
};

struct sample_file {
	const struct sample_recording *recording;
	int fd;
	struct cpprofdata_header *header;
	struct sample_part *parts;	/* [n_parts] */
	size_t n_parts, parts_capacity;
	uint64_t reserved;		/* bytes of the file so far */
	uint64_t first[SAMPLE_TYPES];	/* number of the next chunk's first
					 * record */
	struct sample_chunk strings, modules, threads, functions, lines;
	struct sample_contents *contents;	/* [n_functions] by number */
	size_t n_functions, functions_capacity;
	struct index by_contents;		/* of these */
	uint64_t last_file_hash;	/* of the text that string last_file
					 * has: most functions share it */
	uint32_t last_file;
	uint32_t *module_numbers;	/* by key; UINT32_MAX: not added */
	size_t n_modules, modules_capacity;
	struct sample_thread **list;	/* [n_list] */
	size_t n_list, list_capacity;
	struct sample_thread **ended;	/* [n_ended], of these */
	size_t n_ended, ended_capacity;
	uint64_t hits[CPPROFDATA_MAX_RESOURCES];
	struct arena arena;		/* nodes and slices */
};

static uint64_t
sample_file_utc(const struct sample_recording *recording, uint64_t mono_ns)
{
	return recording->origin_ns + (mono_ns - recording->origin_mono_ns);
}

/* ---- the file ---- */

/* Maps a new part of the file at its end; NULL with *error set. */
static void *
sample_file_extend(struct sample_file *file, size_t size, struct error *error)
{
	const uint64_t limit = file->recording->max_size;
	void *at;
	int why;

	if (limit != 0 && file->reserved + size > limit) {
		error_set(error, "the file would pass --max-size");
		return NULL;
	}
	if (memory_grow(&file->parts, &file->parts_capacity, file->n_parts + 1,
	                sizeof *file->parts, error) != 0)
		return NULL;
	why = posix_fallocate(file->fd, (off_t)file->reserved, (off_t)size);
	if (why != 0) {
		error_set(error, "writing the recording: %s", strerror(why));
		return NULL;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd,
	          (off_t)file->reserved);
	if (at == MAP_FAILED) {
		error_set(error, "mapping the recording: %s", strerror(errno));
		return NULL;
	}
	file->parts[file->n_parts++] = (struct sample_part){ at, size };
	file->reserved += size;
	return at;
}

/* Adds a chunk of that many bytes, and publishes it without records. */
static int
sample_file_add_chunk(struct sample_file *file, struct sample_chunk *chunk,
                      enum cpprofdata_chunk_type type, size_t record_size,
                      uint32_t owner, size_t size, struct error *error)
{
	struct cpprofdata_chunk *mapped = sample_file_extend(file, size, error);

	if (mapped == NULL)
		return -1;
	*chunk = (struct sample_chunk){ mapped, size, record_size,
		(size - sizeof *mapped) / record_size };
	*mapped = (struct cpprofdata_chunk){
		.magic = CPPROFDATA_CHUNK_MAGIC,
		.type = type,
		.size = size,
		.first = file->first[type],
		.record_size = (uint32_t)record_size,
		.owner = owner,
	};
	file->first[type] += chunk->room;
	__atomic_store_n(&file->header->used, file->reserved,
	                 __ATOMIC_RELEASE);
	return 0;
}

/*
 * The place of the next n records, zeroed and not yet published, and the number
 * of the first.  Chunks grow as the type fills.  NULL with *error set.
 */
static void *
sample_file_next(struct sample_file *file, struct sample_chunk *chunk,
                 enum cpprofdata_chunk_type type, size_t record_size,
                 uint32_t owner, size_t n, uint32_t *number,
                 struct error *error)
{
	size_t size = chunk->size == 0 ? CPPROFDATA_PAGE :
	    chunk->size < SAMPLE_CHUNK_MAX ? 2 * chunk->size : SAMPLE_CHUNK_MAX;

	if (chunk->size == 0 || chunk->room - chunk->mapped->count < n) {
		while ((size - sizeof *chunk->mapped) / record_size < n)
			size *= 2;
		if (sample_file_add_chunk(file, chunk, type, record_size,
		                          owner, size, error) != 0)
			return NULL;
	}
	*number = (uint32_t)(chunk->mapped->first + chunk->mapped->count);
	return (char *)(chunk->mapped + 1) +
	    chunk->mapped->count * record_size;
}

static void
sample_chunk_publish(const struct sample_chunk *chunk, size_t n)
{
	__atomic_store_n(&chunk->mapped->count, chunk->mapped->count + n,
	                 __ATOMIC_RELEASE);
}

/* The number of a string; 0: none, or no room. */
static uint32_t
sample_file_string(struct sample_file *file, const char *text, size_t length)
{
	struct error ignored = { 0 };
	uint32_t number;
	char *at;

	if (length == 0)
		return 0;
	if (length > SAMPLE_STRING_MAX)
		length = SAMPLE_STRING_MAX;
	at = sample_file_next(file, &file->strings, CPPROFDATA_STRINGS, 1, 0,
	                      length + 1, &number, &ignored);
	if (at == NULL)
		return 0;
	memcpy(at, text, length);
	at[length] = '\0';
	sample_chunk_publish(&file->strings, length + 1);
	return number;
}

/* ---- the header ---- */

/* Makes cpprofdata.PID, or .1, .2, ... if that is there; -1 with errno set. */
static int
sample_file_create(const struct sample_recording *recording, uint32_t pid)
{
	char name[64];
	int fd = -1;

	for (unsigned n = 0; fd < 0 && n < SAMPLE_FILES_MAX; n++) {
		if (n == 0)
			snprintf(name, sizeof name, CPPROFDATA_FILE_PREFIX
			         "%u", pid);
		else
			snprintf(name, sizeof name, CPPROFDATA_FILE_PREFIX
			         "%u.%u", pid, n);
		fd = openat(recording->directory, name, O_RDWR | O_CREAT |
		            O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

/* The arguments, which are consecutive strings. */
static void
sample_file_add_arguments(struct sample_file *file,
                          const struct sample_facts *facts)
{
	struct error ignored = { 0 };
	size_t size = facts->arguments_size;
	uint32_t number;
	char *at;

	if (size == 0 || size > SAMPLE_CHUNK_MAX / 2)
		return;
	at = sample_file_next(file, &file->strings, CPPROFDATA_STRINGS, 1, 0,
	                      size + 1, &number, &ignored);
	if (at == NULL)
		return;
	memcpy(at, facts->arguments, size);
	at[size] = '\0';
	sample_chunk_publish(&file->strings, size + 1);
	file->header->arguments = number;
	for (size_t i = 0; i < size; i++)
		file->header->n_arguments += facts->arguments[i] == '\0' ||
		    i + 1 == size;
}

static void
sample_file_fill_header(struct sample_file *file,
                        const struct sample_facts *facts)
{
	const struct sample_recording *recording = file->recording;
	struct cpprofdata_header *header = file->header;
	char host[256] = "";
	struct stat status;

	gethostname(host, sizeof host - 1);
	header->host = sample_file_string(file, host, strlen(host));
	header->executable = sample_file_string(file, facts->executable,
	                                        strlen(facts->executable));
	header->started_as = sample_file_string(file, facts->started_as,
	                                        strlen(facts->started_as));
	header->directory = sample_file_string(file, facts->directory,
	                                       strlen(facts->directory));
	sample_file_add_arguments(file, facts);
	for (unsigned r = 0; r < recording->n_resources; r++) {
		const struct sample_resource *from = &recording->resources[r];
		struct cpprofdata_resource *to = &header->resources[r];

		memcpy(to->name, from->name, strnlen(from->name,
		                                     sizeof to->name));
		memcpy(to->gtick, from->gtick, strnlen(from->gtick,
		                                       sizeof to->gtick));
		to->interval = from->interval;
		to->source = sample_file_string(file, from->source,
		                                strlen(from->source));
	}
	header->flags = CPPROFDATA_OUTSIDE | CPPROFDATA_DRAWN |
	    (facts->continues ? CPPROFDATA_CONTINUES : 0) |
	    (facts->has_kernel ? CPPROFDATA_KERNEL_FRAMES : 0);
	header->machine = DWARF_OWN_ARCH->elf_machine;
	header->pid = facts->pid;
	header->parent_pid = facts->parent_pid;
	header->user = facts->user;
	header->born_ns = facts->born_ns;
	header->writer_pid = (uint32_t)getpid();
	if (stat("/proc/self/ns/pid", &status) == 0)
		header->pid_namespace = (uint32_t)status.st_ino;
	header->start_ns = sample_file_utc(recording, facts->start_mono_ns);
	header->start_mono_ns = facts->start_mono_ns;
	header->origin_ns = recording->origin_ns;
	header->origin_mono_ns = recording->origin_mono_ns;
	header->slice_ns = SAMPLE_SLICE_NS;
}

struct sample_file *
sample_file_new(const struct sample_recording *recording,
                const struct sample_facts *facts, struct error *error)
{
	struct sample_file *file = memory_array(1, sizeof *file, error);
	struct cpprofdata_header *header;
	char *first;
	uint32_t number;

	if (file == NULL)
		return NULL;
	file->recording = recording;
	file->fd = sample_file_create(recording, facts->pid);
	if (file->fd < 0) {
		error_set(error, "the file of process %u in the recording: %s",
		          facts->pid, strerror(errno));
		free(file);
		return NULL;
	}
	header = sample_file_extend(file, CPPROFDATA_HEADER_SIZE, error);
	if (header == NULL) {
		sample_file_free(file);
		return NULL;
	}
	file->header = header;
	header->version = CPPROFDATA_VERSION;
	header->header_size = CPPROFDATA_HEADER_SIZE;
	header->n_resources = recording->n_resources;
	header->node_size = (uint32_t)(sizeof(struct cpprofdata_node) +
	    recording->n_resources * sizeof(struct cpprofdata_count));
	header->used = CPPROFDATA_HEADER_SIZE;
	/* String 0 is empty. */
	first = sample_file_next(file, &file->strings, CPPROFDATA_STRINGS, 1,
	                         0, 1, &number, error);
	if (first == NULL) {
		sample_file_free(file);
		return NULL;
	}
	sample_chunk_publish(&file->strings, 1);
	sample_file_fill_header(file, facts);
	/* With the magic number, it is a recording. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(header->magic, CPPROFDATA_MAGIC, sizeof header->magic);
	return file;
}

void
sample_file_free(struct sample_file *file)
{
	if (file == NULL)
		return;
	for (size_t i = 0; i < file->n_list; i++) {
		free(file->list[i]->tree);
		index_free(&file->list[i]->index);
		free(file->list[i]);
	}
	for (size_t i = 0; i < file->n_parts; i++)
		munmap(file->parts[i].at, file->parts[i].size);
	free(file->list);
	free(file->ended);
	free(file->parts);
	free(file->module_numbers);
	free(file->contents);
	index_free(&file->by_contents);
	arena_free(&file->arena);
	close(file->fd);
	free(file);
}

void
sample_file_drop(struct sample_file *file, enum cpprofdata_drop reason,
                 unsigned resource, uint64_t samples, uint64_t hits)
{
	struct cpprofdata_header *header = file->header;

	header->drops[reason].samples += samples;
	header->drops[reason].hits += hits;
	if (reason < CPPROFDATA_N_LOST)
		header->lost[reason][resource] += hits;
}

void
sample_file_flag(struct sample_file *file, uint32_t flag)
{
	file->header->flags |= flag;
}

void
sample_file_note_cpu(struct sample_file *file, uint64_t cpu_ns,
                     uint64_t sampling_ns)
{
	file->header->cpu_ns = cpu_ns;
	file->header->sampling_ns = sampling_ns;
	file->header->cpu_sampling_ns = sampling_ns;
}

void
sample_file_note_threads(struct sample_file *file, uint64_t n)
{
	file->header->n_threads = n;
}

void
sample_file_note_drawn(struct sample_file *file, uint64_t hits)
{
	if (hits > file->header->drawn_most)
		file->header->drawn_most = hits;
}

uint64_t
sample_file_hits(const struct sample_file *file, unsigned resource)
{
	return file->hits[resource];
}

uint64_t
sample_file_n_lost(const struct sample_file *file, unsigned resource)
{
	return file->header->lost[CPPROFDATA_LOST_FULL][resource];
}

void
sample_file_finish(struct sample_file *file, uint64_t mono_ns)
{
	for (size_t i = 0; i < file->n_list; i++)
		sample_thread_end(file, file->list[i], mono_ns);
	file->header->end_mono_ns = mono_ns;
	file->header->end_ns = sample_file_utc(file->recording, mono_ns);
}

/* ---- modules and threads ---- */

uint32_t
sample_file_module(struct sample_file *file, uint32_t key,
                   const struct cpprofdata_module *module, const char *path,
                   struct error *error)
{
	struct cpprofdata_module *record;
	uint32_t number;

	if (key < file->n_modules && file->module_numbers[key] != UINT32_MAX)
		return file->module_numbers[key];
	if (memory_grow(&file->module_numbers, &file->modules_capacity,
	                (size_t)key + 1, sizeof *file->module_numbers,
	                error) != 0)
		return UINT32_MAX;
	while (file->n_modules <= key)
		file->module_numbers[file->n_modules++] = UINT32_MAX;
	record = sample_file_next(file, &file->modules, CPPROFDATA_MODULES,
	                          sizeof *record, 0, 1, &number, error);
	if (record == NULL)
		return UINT32_MAX;
	*record = *module;
	record->path = sample_file_string(file, path, strlen(path));
	sample_chunk_publish(&file->modules, 1);
	file->module_numbers[key] = number;
	return number;
}

static uint64_t
sample_function_hash(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (; size > 0; size--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

static bool
sample_function_matches(const void *contents, uint32_t number,
                        const void *key)
{
	return ((const struct sample_contents *)contents)[number].hash ==
	    *(const uint64_t *)key;
}

/* Adds the bytes of a line table; 0: there is no room. */
static uint32_t
sample_file_lines(struct sample_file *file, const void *lines, size_t size)
{
	struct error ignored = { 0 };
	uint32_t number;
	void *at = sample_file_next(file, &file->lines, CPPROFDATA_LINES, 1, 0,
	                            size, &number, &ignored);

	if (at == NULL)
		return 0;
	memcpy(at, lines, size);
	sample_chunk_publish(&file->lines, size);
	return number;
}

/* Adds a record; false: there is no room. */
static bool
sample_file_add_function(struct sample_file *file,
                         const struct cpprofdata_function *function,
                         uint64_t hash, uint32_t *number)
{
	struct error ignored = { 0 };
	struct cpprofdata_function *record;

	if (memory_grow(&file->contents, &file->functions_capacity,
	                file->n_functions + 1, sizeof *file->contents,
	                &ignored) != 0)
		return false;
	record = sample_file_next(file, &file->functions,
	    CPPROFDATA_FUNCTIONS, sizeof *record, 0, 1, number, &ignored);
	if (record == NULL)
		return false;
	*record = *function;
	sample_chunk_publish(&file->functions, 1);
	file->contents[file->n_functions++] = (struct sample_contents){ hash };
	return true;
}

uint32_t
sample_file_function(struct sample_file *file,
                     const struct sample_function *function)
{
	const size_t n_name = strlen(function->name),
	    n_file = strlen(function->file);
	const uint64_t file_hash = sample_function_hash(
	    0xcbf29ce484222325u, function->file, n_file + 1);
	struct cpprofdata_function record = {
		.first_line = function->first_line,
		.language = CPPROFDATA_PYTHON
	};
	struct error ignored = { 0 };
	struct index_slot *slot;
	uint32_t number = 0;
	uint64_t hash;

	hash = sample_function_hash(file_hash, function->name, n_name + 1);
	hash = sample_function_hash(hash, &function->first_line,
	                            sizeof function->first_line);
	hash = sample_function_hash(hash, function->lines,
	                            function->lines_size);
	/* Number 0 stands for what is not known. */
	if (file->n_functions == 0 &&
	    (!sample_file_add_function(file, &(struct cpprofdata_function){
	        0 }, 0, &number) || sample_file_lines(file, "", 1) != 0))
		return 0;
	slot = index_seek(&file->by_contents, index_hash(hash),
	                  sample_function_matches, file->contents, &hash,
	                  &ignored);
	if (slot == NULL || slot->number != 0)
		return slot == NULL ? 0 : slot->number - 1;
	if (file->last_file == 0 || file->last_file_hash != file_hash) {
		file->last_file = sample_file_string(file, function->file,
		                                     n_file);
		file->last_file_hash = file_hash;
	}
	record.file = file->last_file;
	record.name = sample_file_string(file, function->name, n_name);
	if (function->lines_size > 0)
		record.lines = sample_file_lines(file, function->lines,
		                                 function->lines_size);
	if (record.lines != 0)
		record.lines_size = (uint32_t)function->lines_size;
	if (!sample_file_add_function(file, &record, hash, &number))
		return 0;
	index_fill(&file->by_contents, slot, index_hash(hash), number);
	return number;
}

/*
 * Takes the record of an ended thread for a new one of that name; NULL: it gets
 * one of its own.
 */
static struct sample_thread *
sample_file_take_over(struct sample_file *file, const char *name)
{
	struct sample_thread *thread;
	size_t i = 0;

	while (i < file->n_ended && strncmp(file->ended[i]->record->name, name,
	           sizeof file->ended[i]->record->name) != 0)
		i++;
	if (i == file->n_ended && file->n_ended <= SAMPLE_NAMES_APART)
		return NULL;
	if (i == file->n_ended)
		i = 0;
	thread = file->ended[i];
	file->ended[i] = file->ended[--file->n_ended];
	thread->has_ended = false;
	return thread;
}

static void
sample_thread_set_name(struct cpprofdata_thread *record, const char *name)
{
	memset(record->name, 0, sizeof record->name);
	memcpy(record->name, name, strnlen(name, sizeof record->name));
}

struct sample_thread *
sample_file_thread(struct sample_file *file, uint32_t tid, const char *name,
                   struct error *error)
{
	struct sample_thread *thread = sample_file_take_over(file, name);
	struct cpprofdata_thread *record;

	if (thread != NULL) {
		thread->record->tid = tid;
		thread->record->n_threads++;
		thread->record->end_ns = 0;
		sample_thread_set_name(thread->record, name);
		return thread;
	}
	thread = memory_array(1, sizeof *thread, error);
	if (thread == NULL ||
	    memory_grow(&file->list, &file->list_capacity, file->n_list + 1,
	                sizeof(struct sample_thread *), error) != 0) {
		free(thread);
		return NULL;
	}
	record = sample_file_next(file, &file->threads, CPPROFDATA_THREADS,
	                          sizeof *record, 0, 1, &thread->number, error);
	if (record == NULL) {
		free(thread);
		return NULL;
	}
	*record = (struct cpprofdata_thread){
		.tid = tid,
		.n_threads = 1,
		.start_module = CPPROFDATA_NO_MODULE,
		.flags = tid == file->header->pid ? CPPROFDATA_THREAD_MAIN : 0,
		.wait.node = CPPROFDATA_NO_NODE,
	};
	sample_thread_set_name(record, name);
	thread->record = record;
	sample_chunk_publish(&file->threads, 1);
	file->list[file->n_list++] = thread;
	return thread;
}

void
sample_thread_rename(struct sample_thread *thread, const char *name)
{
	sample_thread_set_name(thread->record, name);
}

void
sample_thread_end(struct sample_file *file, struct sample_thread *thread,
                  uint64_t mono_ns)
{
	struct error ignored = { 0 };

	if (thread->has_ended)
		return;
	thread->has_ended = true;
	/* Without memory for it, nobody takes it over. */
	if (memory_grow(&file->ended, &file->ended_capacity, file->n_ended + 1,
	                sizeof(struct sample_thread *), &ignored) == 0)
		file->ended[file->n_ended++] = thread;
	thread->record->end_ns = sample_file_utc(file->recording, mono_ns);
}

/* ---- slices ---- */

/* What a record counts; one store, so that a reader sees all or nothing. */
static void
sample_slice_set_key(struct sample_slice *slice, uint32_t node,
                     unsigned resource, unsigned doublings, unsigned number)
{
	const struct cpprofdata_slice key = {
		.node = node,
		.resource = (uint8_t)resource,
		.doublings = (uint8_t)doublings,
		.slice = (uint16_t)number,
	};
	uint64_t all;

	memcpy(&all, &key, sizeof all);
	__atomic_store_n((uint64_t *)(void *)slice->record, all,
	                 __ATOMIC_RELEASE);
}

/* A record that counts nothing yet; NULL: there is no room. */
static struct sample_slice *
sample_slice_take(struct sample_file *file, struct sample_thread *thread)
{
	struct sample_slice *slice = thread->free;
	struct error ignored = { 0 };
	uint32_t number;

	if (slice != NULL) {
		thread->free = slice->older;
		return slice;
	}
	slice = arena_alloc(&file->arena, sizeof *slice, &ignored);
	if (slice == NULL)
		return NULL;
	slice->record = sample_file_next(file, &thread->slices,
	    CPPROFDATA_SLICES, sizeof *slice->record, thread->number, 1,
	    &number, &ignored);
	if (slice->record == NULL)
		return NULL;
	slice->record->node = CPPROFDATA_NO_NODE;
	sample_chunk_publish(&thread->slices, 1);
	return slice;
}

static void
sample_slice_free(struct sample_thread *thread, struct sample_slice *slice)
{
	sample_slice_set_key(slice, CPPROFDATA_NO_NODE, 0, 0, 0);
	slice->record->count = (struct cpprofdata_count){ 0 };
	slice->older = thread->free;
	thread->free = slice;
}

/*
 * Makes the records of a node as wide as `doublings` says.  The wide record is
 * there before the narrow ones go, as readers require.
 */
static void
sample_slices_fold(struct sample_file *file, struct sample_thread *thread,
                   struct sample_slice **link, unsigned doublings)
{
	const unsigned shift = doublings - (*link)->record->doublings;

	for (; *link != NULL; link = &(*link)->older) {
		const struct cpprofdata_slice *first = (*link)->record;
		const int number = first->slice >> shift;
		struct sample_slice *wide = sample_slice_take(file, thread);
		struct sample_slice *narrow = *link;

		if (wide == NULL)
			return;		/* it stays as narrow as it was */
		wide->record->count = (struct cpprofdata_count){ 0 };
		for (struct sample_slice *at = narrow; at != NULL &&
		     at->record->slice >> shift == number; at = at->older) {
			wide->record->count.hits += at->record->count.hits;
			wide->record->count.samples +=
			    at->record->count.samples;
		}
		sample_slice_set_key(wide, first->node, first->resource,
		                     doublings, (unsigned)number);
		while (narrow != NULL && narrow->record->slice >> shift ==
		       number && narrow->record->doublings != doublings) {
			struct sample_slice *older = narrow->older;

			sample_slice_free(thread, narrow);
			narrow = older;
		}
		wide->older = narrow;
		*link = wide;
	}
}

/* Counts hits of a node in the slice of the moment. */
static void
sample_slices_count(struct sample_file *file, struct sample_thread *thread,
                    struct sample_node *node, unsigned resource,
                    uint64_t hits, uint64_t mono_ns)
{
	const uint64_t origin = file->recording->origin_mono_ns;
	uint64_t n = mono_ns > origin ? (mono_ns - origin) / SAMPLE_SLICE_NS :
	    0;
	struct sample_slice **link = &node->slices[resource], *slice;
	unsigned doublings = 0;

	while (n >> doublings >= CPPROFDATA_N_SLICES)
		doublings++;
	if (*link != NULL && (*link)->record->doublings < doublings)
		sample_slices_fold(file, thread, link, doublings);
	if (*link != NULL)
		doublings = (*link)->record->doublings;
	n >>= doublings;
	if (n >= CPPROFDATA_N_SLICES)
		return;			/* there was no room to fold */
	while (*link != NULL && (*link)->record->slice > n)
		link = &(*link)->older;
	slice = *link;
	if (slice == NULL || slice->record->slice != n) {
		slice = sample_slice_take(file, thread);
		if (slice == NULL)
			return;
		slice->record->count = (struct cpprofdata_count){ hits, 1 };
		slice->older = *link;
		*link = slice;
		sample_slice_set_key(slice, node->number, resource, doublings,
		                     (unsigned)n);
		return;
	}
	slice->record->count.hits += hits;
	slice->record->count.samples++;
}

/* ---- trees ---- */

/* A node as it is sought. */
struct sample_node_key {
	uint32_t parent;
	struct sample_place place;
};

static bool
sample_node_matches(const void *nodes, uint32_t number, const void *key)
{
	const struct cpprofdata_node *record =
	    ((struct sample_node *const *)nodes)[number]->record;
	const struct sample_node_key *sought = key;

	return record->parent == sought->parent &&
	    record->offset == sought->place.offset &&
	    record->module == sought->place.module;
}

/* The child of a node at a place, added if new; NULL: there is no room. */
static struct sample_node *
sample_thread_child(struct sample_file *file, struct sample_thread *thread,
                    uint32_t parent, const struct sample_place *place)
{
	const struct sample_node_key key = { parent, *place };
	const uint32_t hash = index_hash(place->offset * 31 +
	    ((uint64_t)parent << 32 | place->module));
	const unsigned n_resources = file->recording->n_resources;
	struct error ignored = { 0 };
	struct index_slot *slot = index_seek(&thread->index, hash,
	    sample_node_matches, thread->tree, &key, &ignored);
	struct sample_node *node;

	if (slot == NULL || slot->number != 0)
		return slot == NULL ? NULL : thread->tree[slot->number - 1];
	node = arena_alloc(&file->arena, sizeof *node +
	    n_resources * sizeof(struct sample_slice *), &ignored);
	if (node == NULL || memory_grow(&thread->tree, &thread->tree_capacity,
	        thread->n_nodes + 1, sizeof(struct sample_node *),
	        &ignored) != 0)
		return NULL;
	node->record = sample_file_next(file, &thread->nodes, CPPROFDATA_NODES,
	    file->header->node_size, thread->number, 1, &node->number,
	    &ignored);
	/* The last numbers have other meanings. */
	if (node->record == NULL || node->number >= CPPROFDATA_PHASE)
		return NULL;
	node->record->parent = parent;
	node->record->module = place->module;
	node->record->offset = place->offset;
	sample_chunk_publish(&thread->nodes, 1);
	thread->tree[thread->n_nodes] = node;
	index_fill(&thread->index, slot, hash, (uint32_t)thread->n_nodes++);
	return node;
}

void
sample_file_count(struct sample_file *file, struct sample_thread *thread,
                  const struct sample_place *path, size_t n,
                  unsigned resource, uint64_t hits, uint64_t mono_ns)
{
	struct sample_node *node = NULL;
	struct cpprofdata_count *count;

	for (size_t i = 0; i < n; i++) {
		node = sample_thread_child(file, thread, node == NULL ?
		    CPPROFDATA_NO_NODE : node->number, &path[i]);
		if (node == NULL) {
			sample_file_drop(file, CPPROFDATA_LOST_FULL, resource,
			                 1, hits);
			return;
		}
	}
	count = &node->record->counts[resource];
	__atomic_store_n(&count->hits, count->hits + hits, __ATOMIC_RELAXED);
	__atomic_store_n(&count->samples, count->samples + 1,
	                 __ATOMIC_RELEASE);
	file->hits[resource] += hits;
	sample_slices_count(file, thread, node, resource, hits, mono_ns);
	file->header->last_sample_ns = sample_file_utc(file->recording,
	                                               mono_ns);
}
