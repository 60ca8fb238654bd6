/* SPDX-License-Identifier: MIT */
/* datafile.c -- header, chunks and records of the file.
 *
 * Each chunk is mapped by itself, and published when it is whole.  Of the
 * header, and of chunks whose records change, there is a private twin that
 * looks the same; what changes is changed there and then copied.
 */
#include "lib/datafile.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/arch.h"
#include "lib/disk.h"
#include "lib/process.h"
#include "lib/resource.h"

#define FIRST_SIZE ((size_t)12 << 10)	/* until there are samples */
#define LOCK_TRIES 500
#define LONG_WAITS 1000			/* of process_pause */
#define N_TYPES 5
#define CPU_NOTE_NS 4000000		/* from one to the next at least, */
#define CPU_NOTE_PART 500		/* and so many times what it takes */

/* The chunk of a shared type that is being filled. */
static const size_t chunk_sizes[N_TYPES] = {
	[CPPROFDATA_STRINGS] = 8192,
	[CPPROFDATA_MODULES] = 8192,
	[CPPROFDATA_THREADS] = 4096,
};

/* A chunk of a shared type, and its records. */
struct twin {
	struct twin *next;		/* older */
	struct datafile_chunk file;
	size_t size;			/* of the records */
	size_t record_size;
	unsigned char records[] __attribute__((aligned(16)));
};

static struct {
	uint64_t next_first[N_TYPES];
	struct twin *_Atomic newest[N_TYPES];	/* which is being filled */
} chunks;

/* What the file's header says, and where it is mapped; NULL: no file. */
static struct cpprofdata_header header;
static struct cpprofdata_header *_Atomic mapped_header;
static _Atomic uint64_t next_cpu_note_ns;
static atomic_flag locked = ATOMIC_FLAG_INIT;

/*
 * Fields of the header.
 */

static struct cpprofdata_header *
mapped(void)
{
	return atomic_load_explicit(&mapped_header, memory_order_acquire);
}

bool
datafile_exists(void)
{
	return mapped() != NULL;
}

/* Where a part of the header is mapped; NULL: nowhere. */
static void *
mapped_part(const void *part)
{
	struct cpprofdata_header *to = mapped();

	return to == NULL ? NULL : (char *)to + ((const char *)part -
	    (const char *)&header);
}

static void
set_number(uint64_t *number, uint64_t value)
{
	uint64_t *to = mapped_part(number);

	__atomic_store_n(number, value, __ATOMIC_RELEASE);
	if (to != NULL)
		__atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/*
 * Several threads may count at once.  The last to copy the number leaves its
 * last value in the file: if it was changed meanwhile it is copied again.
 */
static void
count(uint64_t *number, uint64_t n)
{
	uint64_t *to = mapped_part(number), value;

	if (n == 0)
		return;
	value = __atomic_add_fetch(number, n, __ATOMIC_SEQ_CST);
	while (to != NULL) {
		__atomic_store_n(to, value, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(number, __ATOMIC_SEQ_CST) == value)
			break;
		value = __atomic_load_n(number, __ATOMIC_SEQ_CST);
	}
}

/* Copies a part of the header as it is. */
static void
copy_part(const void *part, size_t size)
{
	void *to = mapped_part(part);

	if (to != NULL)
		memcpy(to, part, size);
}

/*
 * The lock.
 */

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

/*
 * Chunks and records.
 */

void *
datafile_private_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, size, MADV_DONTFORK);
	return memory;
}

static bool
add_chunk(enum cpprofdata_chunk_type type, size_t size, size_t record_size,
    uint32_t owner, struct datafile_chunk *chunk)
{
	const uint64_t used = header.used, first = chunks.next_first[type];
	const uint64_t capacity = (size - sizeof *chunk->mapped) / record_size;
	struct cpprofdata_chunk *to;

	if (!datafile_exists() || size > PROCESS_MAX_SIZE ||
	    first + capacity >= CPPROFDATA_PHASE || !disk_reserve(used + size))
		return false;
	to = disk_map(used, size);
	if (to == NULL)
		return false;
	*to = (struct cpprofdata_chunk){
		.magic = CPPROFDATA_CHUNK_MAGIC,
		.type = type,
		.size = size,
		.first = first,
		.record_size = (uint32_t)record_size,
		.owner = owner,
	};
	*chunk = (struct datafile_chunk){ .mapped = to, .first = first };
	chunks.next_first[type] += capacity;
	set_number(&header.used, used + size);
	return true;
}

bool
datafile_add_chunk(enum cpprofdata_chunk_type type, size_t size,
    size_t record_size, uint32_t owner, struct datafile_chunk *chunk)
{
	const bool ok = add_chunk(type,
	    (size + CPPROFDATA_PAGE - 1) & -(size_t)CPPROFDATA_PAGE,
	    record_size, owner, chunk);

	disk_let_go();
	return ok;
}

/* A chunk of a shared type with room for at least `size` bytes. */
static struct twin *
add_twin(enum cpprofdata_chunk_type type, size_t size, size_t record_size)
{
	size_t chunk_size = chunk_sizes[type];
	struct twin *twin;

	size += sizeof(struct cpprofdata_chunk);
	if (size < chunk_size)
		size = chunk_size;
	size = (size + CPPROFDATA_PAGE - 1) & -(size_t)CPPROFDATA_PAGE;
	twin = datafile_private_memory(sizeof *twin + size);
	if (twin == NULL)
		return NULL;
	twin->next = chunks.newest[type];
	twin->size = size - sizeof(struct cpprofdata_chunk);
	twin->record_size = record_size;
	if (!datafile_add_chunk(type, size, record_size, 0, &twin->file)) {
		munmap(twin, sizeof *twin + size);
		return NULL;
	}
	atomic_store(&chunks.newest[type], twin);
	return twin;
}

static unsigned char *
mapped_records(const struct twin *twin)
{
	return (unsigned char *)(twin->file.mapped + 1);
}

void *
datafile_add_records(enum cpprofdata_chunk_type type, size_t record_size,
    size_t n, uint32_t *number)
{
	const size_t size = n * record_size;
	struct twin *twin = chunks.newest[type];
	size_t at;

	if (twin == NULL ||
	    twin->size - twin->file.count * record_size < size)
		twin = add_twin(type, size, record_size);
	if (twin == NULL)
		return NULL;
	at = twin->file.count * record_size;
	*number = (uint32_t)(twin->file.first + twin->file.count);
	return disk_populate(mapped_records(twin) + at, size) &&
	    disk_populate(twin->records + at, size) ? twin->records + at :
	    NULL;
}

void
datafile_publish(enum cpprofdata_chunk_type type, size_t n)
{
	struct twin *twin = chunks.newest[type];
	const size_t at = twin->file.count * twin->record_size;

	memcpy(mapped_records(twin) + at, twin->records + at,
	    n * twin->record_size);
	datafile_publish_in(&twin->file, n);
}

void *
datafile_mapped(enum cpprofdata_chunk_type type, const void *record)
{
	const struct twin *twin;
	uintptr_t at;

	for (twin = chunks.newest[type]; twin != NULL; twin = twin->next) {
		at = (uintptr_t)record - (uintptr_t)twin->records;
		if (at < twin->size)
			return mapped_records(twin) + at;
	}
	return NULL;
}

void
datafile_update(enum cpprofdata_chunk_type type, const void *changed,
    size_t size)
{
	void *to = datafile_mapped(type, changed);

	if (to != NULL)
		memcpy(to, changed, size);
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

/*
 * What the header counts.
 */

void
datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits)
{
	count(&header.drops[reason].samples, samples);
	count(&header.drops[reason].hits, hits);
}

void
datafile_count_lost(enum cpprofdata_drop reason, unsigned column,
    uint64_t hits)
{
	count(&header.lost[reason][column], hits);
}

void
datafile_count_time(uint64_t ns)
{
	count(&header.sampling_ns, ns);
}

void
datafile_count_closed(void)
{
	count(&header.n_closed, 1);
}

void
datafile_note_cpu_time(void)
{
	set_number(&header.cpu_sampling_ns, __atomic_load_n(
	    &header.sampling_ns, __ATOMIC_RELAXED));
	set_number(&header.cpu_ns, process_cpu_time());
}

/* Unless it was done of late: the clock is a call that asks every thread. */
static void
note_cpu_time_at(uint64_t now_ns)
{
	uint64_t next = atomic_load_explicit(&next_cpu_note_ns,
	    memory_order_relaxed), cost;

	/* UTC may be set back. */
	if (now_ns < next && next - now_ns < 1000000000)
		return;
	datafile_note_cpu_time();
	cost = process_now() - now_ns;
	cost = cost < 1000000 ? cost * CPU_NOTE_PART : 500000000;
	atomic_store_explicit(&next_cpu_note_ns, now_ns +
	    (cost > CPU_NOTE_NS ? cost : CPU_NOTE_NS), memory_order_relaxed);
}

void
datafile_note_sample(void)
{
	const uint64_t now = process_now();

	set_number(&header.last_sample_ns, now);
	note_cpu_time_at(now);
}

void
datafile_note_leaving(bool is_leaving)
{
	if (!datafile_exists())
		return;
	if (is_leaving)
		datafile_note_cpu_time();
	set_number(&header.end_mono_ns, is_leaving ?
	    process_clock(CLOCK_MONOTONIC) : 0);
}

void
datafile_count_thread(bool is_sampled)
{
	count(&header.n_threads, 1);
	count(&header.n_threads_unsampled, !is_sampled);
}

/*
 * The header.
 */

static void
fill_resource(unsigned column)
{
	const struct resource *from = &resources.columns[column];
	struct cpprofdata_resource *to = &header.resources[column];

	stpncpy(to->name, from->row->name, sizeof to->name - 1);
	stpncpy(to->gtick, from->row->gtick, sizeof to->gtick - 1);
	to->interval = from->interval;
}

/* All but what has been counted. */
static void
fill_header(void)
{
	unsigned i;

	memcpy(header.magic, CPPROFDATA_MAGIC, sizeof header.magic);
	header.version = CPPROFDATA_VERSION;
	header.header_size = CPPROFDATA_HEADER_SIZE;
	header.machine = ARCH_ELF_MACHINE;
	header.n_resources = resources.n;
	header.node_size = (uint32_t)(sizeof(struct cpprofdata_node) +
	    resources.n * sizeof(struct cpprofdata_count));
	for (i = 0; i < resources.n; i++)
		fill_resource(i);
	if (process.counts_returns)
		header.flags |= CPPROFDATA_COUNTS_RETURNS;
	if (resource_is_wanted(RESOURCE_REAL) ||
	    resource_is_wanted(RESOURCE_IO_TIME))
		header.flags |= CPPROFDATA_WAITS;
	header.pid = process.pid;
	header.parent_pid = process.parent_pid;
	header.start_ns = process.start_ns;
	header.start_mono_ns = process.start_mono_ns;
	header.used = CPPROFDATA_HEADER_SIZE;
}

static uint32_t
add_text(const char *text)
{
	return datafile_add_string(text, strlen(text) + 1, NULL);
}

static void
fill_strings(void)
{
	add_text("");
	header.host = add_text(process.host);
	header.executable = add_text(process.executable);
	header.directory = add_text(process.directory);
	if (process.arguments_size == 0)
		return;
	header.arguments = datafile_add_string(process.arguments,
	    process.arguments_size, NULL);
	if (header.arguments != 0)
		header.n_arguments = process.n_arguments;
}

void
datafile_note_source(unsigned column)
{
	struct cpprofdata_resource *resource = &header.resources[column];
	uint32_t name;

	if (!datafile_exists())
		return;
	name = add_text(resources.columns[column].source->name);
	if (name == 0)
		return;
	resource->source = name;
	copy_part(&resource->source, sizeof resource->source);
}

/* The name comes last: a column without is not read. */
void
datafile_note_own_resource(unsigned column)
{
	struct cpprofdata_resource *resource = &header.resources[column];

	if (!datafile_exists())
		return;
	fill_resource(column);
	copy_part(&resource->interval, sizeof resource->interval);
	copy_part(resource->gtick, sizeof resource->gtick);
	atomic_thread_fence(memory_order_release);
	copy_part(resource->name, sizeof resource->name);
}

/* After the other strings: those are worth more where there is little room. */
static void
fill_sources(void)
{
	unsigned i;

	for (i = 0; i < resources.n; i++) {
		const struct source *source = resources.columns[i].source;

		header.resources[i].source = add_text(source->name);
		if (source->is_coarse)
			header.resources[i].flags |= CPPROFDATA_COARSE;
		if (resources.is_random && source->can_be_random)
			header.resources[i].flags |= CPPROFDATA_RANDOM;
	}
}

bool
datafile_create(void)
{
	struct cpprofdata_header *to;

	process_read_names();
	if (!disk_create(FIRST_SIZE))
		return false;
	to = disk_map(0, CPPROFDATA_HEADER_SIZE);
	if (to == NULL) {
		disk_abandon();
		return false;
	}
	fill_header();
	memcpy(to, &header, sizeof header);
	atomic_store_explicit(&mapped_header, to, memory_order_release);
	fill_strings();
	fill_sources();
	copy_part(&header.arguments, offsetof(struct cpprofdata_header,
	    reserved0) - offsetof(struct cpprofdata_header, arguments));
	copy_part(header.resources, sizeof header.resources);
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
	if (!datafile_exists())
		return;
	datafile_note_leaving(true);
	set_number(&header.end_ns, process_now());
	/* Without the lock nobody goes beyond `used`. */
	disk_cut(header.used);
	disk_let_go();
}

void
datafile_flag(uint32_t flag)
{
	__atomic_fetch_or(&header.flags, flag, __ATOMIC_SEQ_CST);
	copy_part(&header.flags, sizeof header.flags);
}

void
datafile_resume(void)
{
	set_number(&header.end_ns, 0);
	set_number(&header.end_mono_ns, 0);
}

void
datafile_forked(void)
{
	disk_forked();
	memset(&chunks, 0, sizeof chunks);
	atomic_store(&mapped_header, NULL);
	memset(&header, 0, sizeof header);
	atomic_store(&next_cpu_note_ns, 0);
	atomic_flag_clear(&locked);
}
