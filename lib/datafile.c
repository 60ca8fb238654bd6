/* SPDX-License-Identifier: MIT */
/* datafile.c -- header, chunks and records of the file.
 *
 * Each chunk is mapped by itself, and published when it is whole.
 */
#include "lib/datafile.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/arch.h"
#include "lib/disk.h"
#include "lib/process.h"
#include "lib/resource.h"

#define FIRST_SIZE ((size_t)12 << 10)	/* until there are samples */
#define LOCK_TRIES 500
#define LONG_WAITS 1000			/* of process_pause */
#define N_TYPES 5

/* The chunk of a shared type that is being filled. */
static const size_t chunk_sizes[N_TYPES] = {
	[CPPROFDATA_STRINGS] = 8192,
	[CPPROFDATA_MODULES] = 8192,
	[CPPROFDATA_THREADS] = 4096,
};

static struct {
	uint64_t next_first[N_TYPES];
	struct cpprofdata_chunk *filling[N_TYPES];
} chunks;

static struct cpprofdata_header *_Atomic header;
static atomic_flag locked = ATOMIC_FLAG_INIT;

struct cpprofdata_header *
datafile_header(void)
{
	return atomic_load_explicit(&header, memory_order_acquire);
}

bool
datafile_lock(void)
{
	int i;

	for (i = 0; i < LOCK_TRIES; i++)
		if (!atomic_flag_test_and_set_explicit(&locked,
		    memory_order_acquire))
			return true;
	return false;
}

bool
datafile_lock_patiently(void)
{
	int i;

	for (i = 0; i < LONG_WAITS; i++) {
		if (datafile_lock())
			return true;
		process_pause();
	}
	return false;
}

void
datafile_lock_wait(void)
{
	while (!datafile_lock_patiently())
		;
}

void
datafile_unlock(void)
{
	atomic_flag_clear_explicit(&locked, memory_order_release);
}

static struct cpprofdata_chunk *
add_chunk(enum cpprofdata_chunk_type type, size_t size, size_t record_size,
    uint32_t owner)
{
	struct cpprofdata_header *head = datafile_header();
	struct cpprofdata_chunk *chunk;
	uint64_t used, capacity;

	if (head == NULL)
		return NULL;
	size = (size + CPPROFDATA_PAGE - 1) & -(size_t)CPPROFDATA_PAGE;
	used = head->used;
	capacity = (size - sizeof *chunk) / record_size;
	if (size > PROCESS_MAX_SIZE ||
	    chunks.next_first[type] + capacity >= CPPROFDATA_PHASE ||
	    !disk_reserve(used + size))
		return NULL;
	chunk = disk_map(used, size);
	if (chunk == NULL)
		return NULL;
	chunk->magic = CPPROFDATA_CHUNK_MAGIC;
	chunk->type = type;
	chunk->size = size;
	chunk->first = chunks.next_first[type];
	chunk->record_size = (uint32_t)record_size;
	chunk->owner = owner;
	chunks.next_first[type] += capacity;
	__atomic_store_n(&head->used, used + size, __ATOMIC_RELEASE);
	return chunk;
}

struct cpprofdata_chunk *
datafile_add_chunk(enum cpprofdata_chunk_type type, size_t size,
    size_t record_size, uint32_t owner)
{
	struct cpprofdata_chunk *chunk = add_chunk(type, size, record_size,
	    owner);

	disk_let_go();
	return chunk;
}

void *
datafile_add_records(enum cpprofdata_chunk_type type, size_t record_size,
    size_t n, uint32_t *number)
{
	struct cpprofdata_chunk *chunk = chunks.filling[type];
	const size_t size = n * record_size;
	size_t chunk_size = chunk_sizes[type];
	unsigned char *at;

	if (chunk == NULL ||
	    chunk->size - sizeof *chunk - chunk->count * record_size < size) {
		if (size > chunk_size - sizeof *chunk)
			chunk_size = size + sizeof *chunk;
		chunk = datafile_add_chunk(type, chunk_size, record_size, 0);
		if (chunk == NULL)
			return NULL;
		chunks.filling[type] = chunk;
	}
	*number = (uint32_t)(chunk->first + chunk->count);
	at = (unsigned char *)(chunk + 1) + chunk->count * record_size;
	return disk_populate(at, size) ? at : NULL;
}

void
datafile_publish(enum cpprofdata_chunk_type type, size_t n)
{
	struct cpprofdata_chunk *chunk = chunks.filling[type];

	__atomic_store_n(&chunk->count, chunk->count + n, __ATOMIC_RELEASE);
}

uint32_t
datafile_add_string(const char *text, size_t size, const char **place)
{
	uint32_t number;
	char *at = datafile_add_records(CPPROFDATA_STRINGS, 1, size, &number);

	if (at == NULL)
		return 0;
	memcpy(at, text, size);
	datafile_publish(CPPROFDATA_STRINGS, size);
	if (place != NULL)
		*place = at;
	return number;
}

void
datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits)
{
	struct cpprofdata_header *head = datafile_header();

	if (head == NULL)
		return;
	__atomic_fetch_add(&head->drops[reason].samples, samples,
	    __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->drops[reason].hits, hits, __ATOMIC_RELAXED);
}

void
datafile_count_time(uint64_t ns)
{
	struct cpprofdata_header *head = datafile_header();

	if (head != NULL)
		__atomic_fetch_add(&head->sampling_ns, ns, __ATOMIC_RELAXED);
}

void
datafile_note_cpu_time(void)
{
	struct cpprofdata_header *head = datafile_header();

	if (head != NULL)
		__atomic_store_n(&head->cpu_ns, process_cpu_time(),
		    __ATOMIC_RELAXED);
}

void
datafile_count_thread(bool is_sampled)
{
	struct cpprofdata_header *head = datafile_header();

	atomic_fetch_add(&process.n_threads, 1);
	atomic_fetch_add(&process.n_threads_unsampled, !is_sampled);
	if (head == NULL)
		return;
	__atomic_fetch_add(&head->n_threads, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&head->n_threads_unsampled, !is_sampled,
	    __ATOMIC_RELAXED);
}

static void
fill_resources(struct cpprofdata_header *head)
{
	unsigned i;

	head->n_resources = resources.n;
	head->node_size = (uint32_t)(sizeof(struct cpprofdata_node) +
	    resources.n * sizeof(struct cpprofdata_count));
	for (i = 0; i < resources.n; i++) {
		const struct resource *from = &resources.columns[i];
		struct cpprofdata_resource *to = &head->resources[i];

		stpncpy(to->name, from->row->name, sizeof to->name - 1);
		stpncpy(to->gtick, from->row->gtick, sizeof to->gtick - 1);
		to->interval = from->interval;
	}
}

static void
fill_header(struct cpprofdata_header *head)
{
	memcpy(head->magic, CPPROFDATA_MAGIC, sizeof head->magic);
	head->version = CPPROFDATA_VERSION;
	head->header_size = CPPROFDATA_HEADER_SIZE;
	head->machine = ARCH_ELF_MACHINE;
	fill_resources(head);
	if (process.counts_returns)
		head->flags |= CPPROFDATA_COUNTS_RETURNS;
	head->pid = process.pid;
	head->parent_pid = process.parent_pid;
	head->start_ns = process.start_ns;
	head->n_threads = process.n_threads;
	head->n_threads_unsampled = process.n_threads_unsampled;
	head->used = CPPROFDATA_HEADER_SIZE;
}

static uint32_t
add_text(const char *text)
{
	return datafile_add_string(text, strlen(text) + 1, NULL);
}

static void
fill_strings(struct cpprofdata_header *head)
{
	add_text("");
	head->host = add_text(process.host);
	head->executable = add_text(process.executable);
	head->directory = add_text(process.directory);
	if (process.arguments_size == 0)
		return;
	head->arguments = datafile_add_string(process.arguments,
	    process.arguments_size, NULL);
	if (head->arguments != 0)
		head->n_arguments = process.n_arguments;
}

void
datafile_note_source(unsigned column)
{
	struct cpprofdata_header *head = datafile_header();
	uint32_t name;

	if (head == NULL)
		return;
	name = add_text(resources.columns[column].source->name);
	if (name != 0)
		__atomic_store_n(&head->resources[column].source, name,
		    __ATOMIC_RELEASE);
}

/* After the other strings: those are worth more where there is little room. */
static void
fill_sources(struct cpprofdata_header *head)
{
	unsigned i;

	for (i = 0; i < resources.n; i++) {
		const struct source *source = resources.columns[i].source;

		head->resources[i].source = add_text(source->name);
		if (source->is_coarse)
			head->resources[i].flags |= CPPROFDATA_COARSE;
		if (resources.is_random && source->can_be_random)
			head->resources[i].flags |= CPPROFDATA_RANDOM;
	}
}

bool
datafile_create(void)
{
	struct cpprofdata_header *head;

	if (!disk_create(FIRST_SIZE))
		return false;
	head = disk_map(0, CPPROFDATA_HEADER_SIZE);
	if (head == NULL) {
		disk_abandon();
		return false;
	}
	fill_header(head);
	atomic_store_explicit(&header, head, memory_order_release);
	fill_strings(head);
	fill_sources(head);
	disk_let_go();
	return true;
}

void
datafile_keep(void)
{
	int saved = errno;

	if (!datafile_lock_patiently())
		return;
	disk_keep();
	datafile_unlock();
	errno = saved;
}

void
datafile_finish(void)
{
	struct cpprofdata_header *head = datafile_header();

	if (head == NULL)
		return;
	datafile_note_cpu_time();
	head->end_ns = process_now();
	/* Without the lock nobody goes beyond `used`. */
	disk_cut(head->used);
	disk_let_go();
}

void
datafile_flag(uint32_t flag)
{
	struct cpprofdata_header *head = datafile_header();

	if (head != NULL)
		head->flags |= flag;
}

void
datafile_resume(void)
{
	struct cpprofdata_header *head = datafile_header();

	if (head != NULL)
		head->end_ns = 0;
}

void
datafile_forked(void)
{
	disk_forked();
	memset(&chunks, 0, sizeof chunks);
	atomic_store(&header, NULL);
	atomic_flag_clear(&locked);
}
