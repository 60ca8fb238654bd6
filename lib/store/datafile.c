/* SPDX-License-Identifier: MIT */
/* datafile.c -- header, chunks and records of the file.
 *
 * Each chunk is mapped separately and published when it is complete.  The
 * header, and chunks whose records change, have a private copy of the same
 * layout (a twin).  Changes are made to the private copy and then copied to the
 * mapping.
 */
#include "lib/store/datafile.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/signals/signals.h"

/*
 * The header and one chunk of each type, which is all that a short process
 * needs.
 */
#define FIRST_SIZE ((size_t)CPPROF_SHARED_SPARE_SIZE)
#define LOCK_TRIES 500
#define LONG_WAITS 1000			/* calls of process_pause */
#define N_TYPES (CPPROFDATA_CALL_COUNTS + 1)
#define TITLE_SIZE 128
#define CPU_NOTE_NS 4000000		/* least time between two notes of the
					   CPU time, */
#define CPU_NOTE_PART 500		/* and at least this many times its
					   cost */

/* Sizes of the chunks of shared types, except the first of each. */
static const size_t chunk_sizes[N_TYPES] = {
	[CPPROFDATA_STRINGS] = 8192,
	[CPPROFDATA_MODULES] = 8192,
	[CPPROFDATA_THREADS] = 4096,
	[CPPROFDATA_FUNCTIONS] = 16384,
	[CPPROFDATA_LINES] = 65536,
	[CPPROFDATA_BLOCKS] = 65536,
	[CPPROFDATA_PAIRS] = 16384,
};

/* A chunk of a shared type and the private copy of its records. */
struct twin {
	struct datafile_chunk file;
	struct twin *next;		/* older one of the same type */
	size_t size;			/* bytes of records */
	size_t populated;		/* bytes of them, also in the file */
	unsigned char records[] __attribute__((aligned(16)));
};

struct datafile_columns datafile_columns;
static uint32_t brief_pid;	/* the last process with a record there */

static struct {
	uint64_t next_first[N_TYPES];
	struct twin *_Atomic newest[N_TYPES];	/* the one being filled */
	struct datafile_chunk *_Atomic last;	/* newest of any type */
} chunks WIPED;

/* The private copy of the file's header, and its mapping; NULL: no file. */
static struct cpprofdata_header header WIPED_TABLE;
static struct cpprofdata_header *_Atomic mapped_header WIPED;
static _Atomic uint64_t next_cpu_note_ns WIPED;
static _Atomic uint64_t last_cpu_note_cost_ns WIPED;
static struct cpprofdata_header *_Atomic header_place WIPED;	/* set before
								   the header is
								   published */
static bool bus_was_blocked WIPED;	/* before the lock was taken */
static _Atomic bool has_counted WIPED;	/* something that is not in the file
					   yet */
static atomic_flag locked WIPED;

/*
 * Outside the header, because every process counts these and few have a header.
 */
static struct {
	uint64_t n, n_unsampled;
} threads WIPED;

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

static void *
mapped_part(const void *part)
{
	struct cpprofdata_header *to = mapped();

	return to == NULL ? NULL : (char *)to + ((const char *)part -
	    (const char *)&header);
}

static void
datafile_set_number(uint64_t *number, uint64_t value)
{
	uint64_t *to = mapped_part(number);

	__atomic_store_n(number, value, __ATOMIC_RELEASE);
	if (to != NULL)
		__atomic_store_n(to, value, __ATOMIC_RELEASE);
}

/*
 * Copies a counter that several threads increment.  If it changes meanwhile, it
 * is copied again, so the last thread to copy it leaves its final value in the
 * file.
 */
static void
copy_number(const uint64_t *number)
{
	uint64_t *to = mapped_part(number), value;

	if (to == NULL)
		return;
	do {
		value = __atomic_load_n(number, __ATOMIC_SEQ_CST);
		__atomic_store_n(to, value, __ATOMIC_SEQ_CST);
	} while (__atomic_load_n(number, __ATOMIC_SEQ_CST) != value);
}

/* As copy_number, for a counter outside the header. */
static void
copy_to_header(const uint64_t *number, uint64_t *to)
{
	uint64_t value;

	do {
		value = __atomic_load_n(number, __ATOMIC_SEQ_CST);
		datafile_set_number(to, value);
	} while (__atomic_load_n(number, __ATOMIC_SEQ_CST) != value);
}

/* Increments a counter that copy_counted will copy to the file. */
static void
datafile_count(uint64_t *number, uint64_t n)
{
	if (n == 0)
		return;
	__atomic_fetch_add(number, n, __ATOMIC_RELAXED);
	atomic_store(&has_counted, true);
}

static void
copy_counted(void)
{
	unsigned i;

	if (!atomic_load_explicit(&has_counted, memory_order_relaxed) ||
	    !datafile_exists() || !atomic_exchange(&has_counted, false))
		return;
	for (i = 0; i < CPPROFDATA_N_DROPS; i++) {
		copy_number(&header.drops[i].samples);
		copy_number(&header.drops[i].hits);
	}
	for (i = 0; i < sizeof header.lost / sizeof header.lost[0][0]; i++)
		copy_number(&header.lost[0][0] + i);
	copy_to_header(&threads.n, &header.n_threads);
	copy_to_header(&threads.n_unsampled, &header.n_threads_unsampled);
}

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
		if (datafile_lock()) {
			bus_was_blocked = signals_unblock_bus();
			return true;
		}
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
	const bool was_blocked = bus_was_blocked;

	bus_was_blocked = false;
	atomic_flag_clear_explicit(&locked, memory_order_release);
	signals_block_bus_again(was_blocked);
}

/*
 * Chunks and records.
 */

static struct cpprofdata_chunk
chunk_header(const struct datafile_chunk *chunk)
{
	return (struct cpprofdata_chunk){
		.magic = CPPROFDATA_CHUNK_MAGIC,
		.type = chunk->type,
		.size = chunk->size,
		.first = chunk->first,
		.record_size = chunk->record_size,
		.owner = chunk->owner,
		.count = chunk->count,
	};
}

bool
datafile_add_chunk(struct datafile_chunk *chunk)
{
	uint64_t *next_first = &chunks.next_first[chunk->type];
	/* Slices leave room for nodes, which matter more. */
	const uint64_t most = chunk->type == CPPROFDATA_SLICES ?
	    process.max_size / 2 : process.max_size;
	uint64_t capacity, end;
	bool ok;

	chunk->size = (chunk->size + CPPROFDATA_PAGE - 1) &
	    -(uint64_t)CPPROFDATA_PAGE;
	capacity = (chunk->size - sizeof *chunk->mapped) / chunk->record_size;
	chunk->at = header.used;
	chunk->first = *next_first;
	chunk->count = 0;
	end = chunk->at + chunk->size;
	ok = datafile_exists() && chunk->size <= PROCESS_MAX_SIZE &&
	    end <= most && *next_first + capacity < CPPROFDATA_INTERPRETED &&
	    disk_reserve(end);
	chunk->mapped = ok ? disk_map(chunk->at, chunk->size) : NULL;
	if (chunk->mapped != NULL) {
		chunk->older = chunks.last;
		atomic_store(&chunks.last, chunk);
		*chunk->mapped = chunk_header(chunk);
		*next_first += capacity;
		datafile_set_number(&header.used, end);
	}
	disk_close();
	return chunk->mapped != NULL;
}

/* Memory for a chunk that is not in the file yet, or NULL. */
static void *
datafile_private_chunk(const struct datafile_chunk *chunk, size_t memory)
{
	struct datafile_chunk *copy = store_memory(memory);

	if (copy != NULL)
		*copy = *chunk;
	return copy;
}

enum store_result
datafile_new_chunk(const struct datafile_chunk *chunk, size_t memory,
    struct datafile_chunk **added)
{
	enum store_result result = STORE_BUSY;

	/* Before the lock is taken: other threads may change mappings, too. */
	*added = datafile_private_chunk(chunk, memory);
	if (*added == NULL)
		return STORE_FULL;
	if (datafile_lock()) {
		result = datafile_add_chunk(*added) ? STORE_OK : STORE_FULL;
		datafile_unlock();
	}
	if (result != STORE_OK)
		store_free(*added, memory);
	return result;
}

static void
copy_records(const struct datafile_chunk *chunk, size_t i, size_t n, void *to)
{
	const struct twin *twin = (const struct twin *)chunk;

	memcpy(to, twin->records + i * chunk->record_size,
	    n * chunk->record_size);
}

static struct twin *
add_twin(enum cpprofdata_chunk_type type, size_t size, size_t record_size)
{
	size_t chunk_size = chunks.newest[type] == NULL ? CPPROFDATA_PAGE :
	    chunk_sizes[type];
	struct twin *twin;

	size += sizeof(struct cpprofdata_chunk);
	if (size < chunk_size)
		size = chunk_size;
	size = (size + CPPROFDATA_PAGE - 1) & -(size_t)CPPROFDATA_PAGE;
	twin = datafile_private_chunk(&(struct datafile_chunk){
	    .size = size, .type = type, .record_size = (uint32_t)record_size,
	    .copy = copy_records }, sizeof *twin + size);
	if (twin != NULL && !datafile_add_chunk(&twin->file)) {
		store_free(twin, sizeof *twin + size);
		twin = NULL;
	}
	if (twin == NULL)
		return NULL;
	twin->next = chunks.newest[type];
	twin->size = size - sizeof(struct cpprofdata_chunk);
	atomic_store(&chunks.newest[type], twin);
	return twin;
}

static unsigned char *
mapped_records(const struct twin *twin)
{
	return (unsigned char *)(twin->file.mapped + 1);
}

static size_t
left_of_page(const unsigned char *end)
{
	return -(uintptr_t)end & (CPPROFDATA_PAGE - 1);
}

/* Makes that many bytes of records writable, and what else their pages have. */
static bool
populate_twin(struct twin *twin, size_t size)
{
	unsigned char *const mapped = mapped_records(twin);
	const size_t from = twin->populated;
	size_t left, also;

	if (size <= from)
		return true;
	if (!disk_populate(mapped + from, size - from) ||
	    !disk_populate(twin->records + from, size - from))
		return false;
	left = left_of_page(mapped + size);
	also = left_of_page(twin->records + size);
	twin->populated = size + (left < also ? left : also);
	return true;
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
	return populate_twin(twin, at + size) ? twin->records + at : NULL;
}

void
datafile_publish(enum cpprofdata_chunk_type type, size_t n)
{
	struct twin *twin = chunks.newest[type];
	const size_t at = twin->file.count * twin->file.record_size;

	memcpy(mapped_records(twin) + at, twin->records + at,
	    n * twin->file.record_size);
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
 * Counters of the header.
 */

void
datafile_count_drop(enum cpprofdata_drop reason, uint64_t samples,
    uint64_t hits)
{
	datafile_count(&header.drops[reason].samples, samples);
	datafile_count(&header.drops[reason].hits, hits);
}

void
datafile_note_drawn(uint64_t hits)
{
	uint64_t most = __atomic_load_n(&header.drawn_most, __ATOMIC_RELAXED);

	while (hits > most)
		if (__atomic_compare_exchange_n(&header.drawn_most, &most, hits,
		    false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
			copy_number(&header.drawn_most);
			return;
		}
}

void
datafile_count_lost(enum cpprofdata_drop reason, unsigned column,
    uint64_t hits)
{
	datafile_count(&header.lost[reason][column], hits);
	if (hits > 0)
		copy_counted();
}

void
datafile_count_pending(unsigned column, int64_t hits)
{
	uint64_t *number = (uint64_t *)&header.pending[column];
	const bool was_blocked = signals_unblock_bus_if_needed();

	__atomic_fetch_add(number, (uint64_t)hits, __ATOMIC_SEQ_CST);
	copy_number(number);
	signals_block_bus_again(was_blocked);
}

void
datafile_count_time(uint64_t ns)
{
	__atomic_fetch_add(&header.sampling_ns, ns, __ATOMIC_SEQ_CST);
	copy_number(&header.sampling_ns);
	copy_counted();
}

void
datafile_count_at_tick(uint64_t hits)
{
	__atomic_fetch_add(&header.hits_at_ticks, hits, __ATOMIC_SEQ_CST);
	copy_number(&header.hits_at_ticks);
	copy_counted();
}

void
datafile_count_closed(void)
{
	datafile_set_number(&header.n_closed, header.n_closed + 1);
}

void
datafile_note_cpu_time(void)
{
	datafile_set_number(&header.cpu_sampling_ns, __atomic_load_n(
	    &header.sampling_ns, __ATOMIC_RELAXED));
	datafile_set_number(&header.cpu_ns, process_cpu_time());
	/*
	 * If the process is killed or calls _exit by a raw system call, this is
	 * the last report.
	 */
	shared_report_cpu_time(0);
}

void
datafile_note_sample(void)
{
	const uint64_t now = process_now();
	uint64_t next = atomic_load_explicit(&next_cpu_note_ns,
	    memory_order_relaxed), cost, last;

	datafile_set_number(&header.last_sample_ns, now);
	/*
	 * Not if it was noted recently: the clock of the CPU time is a system
	 * call that visits every thread.
	 */
	if (now < next && next - now < 1000000000)
		return;
	datafile_note_cpu_time();
	/* Of two, the lower: the thread may have waited for a processor. */
	cost = process_now() - now;
	last = atomic_exchange_explicit(&last_cpu_note_cost_ns, cost,
	    memory_order_relaxed);
	cost = last < cost ? last : cost;
	cost = cost < 1000000 ? cost * CPU_NOTE_PART : 500000000;
	atomic_store_explicit(&next_cpu_note_ns, now +
	    (cost > CPU_NOTE_NS ? cost : CPU_NOTE_NS), memory_order_relaxed);
}

void
datafile_note_leaving(bool is_leaving)
{
	if (!datafile_exists())
		return;
	if (is_leaving)
		datafile_note_cpu_time();
	datafile_set_number(&header.end_mono_ns, is_leaving ?
	    process_clock(CLOCK_MONOTONIC) : 0);
}

void
datafile_count_thread(bool is_sampled)
{
	datafile_count(&threads.n, 1);
	datafile_count(&threads.n_unsampled, !is_sampled);
}

/*
 * Writing the header.
 */

static struct datafile_column
datafile_describe(unsigned column)
{
	struct datafile_column described = { 0 };

	datafile_columns.describe(column, &described);
	return described;
}

void
datafile_describe_resource(unsigned column, struct cpprofdata_resource *to)
{
	const struct datafile_column from = datafile_describe(column);

	stpncpy(to->name, from.name, sizeof to->name - 1);
	stpncpy(to->gtick, from.gtick, sizeof to->gtick - 1);
	to->interval = from.interval;
}

void
datafile_note_brief(void)
{
	brief_pid = process_own.pid;
}

void
datafile_begin_header(struct cpprofdata_header *to)
{
	memcpy(to->magic, CPPROFDATA_MAGIC, sizeof to->magic);
	to->version = CPPROFDATA_VERSION;
	to->header_size = CPPROFDATA_HEADER_SIZE;
	to->machine = ARCH_ELF_MACHINE;
	to->node_size = (uint32_t)(sizeof(struct cpprofdata_node) +
	    to->n_resources * sizeof(struct cpprofdata_count));
	to->start_ns = process_own.start_ns;
	to->start_mono_ns = process_own.start_mono_ns;
	to->origin_ns = process.origin_ns;
	to->origin_mono_ns = process.origin_mono_ns;
	to->slice_ns = process.slice_ns;
	to->used = CPPROFDATA_HEADER_SIZE;
}

static uint32_t
datafile_add_text(const char *text)
{
	return datafile_add_string(text, strlen(text) + 1, NULL);
}

void
datafile_note_source(unsigned column)
{
	struct cpprofdata_resource *resource = &header.resources[column];
	uint32_t name;

	if (!datafile_exists())
		return;
	name = datafile_add_text(datafile_describe(column).source);
	if (name == 0)
		return;
	resource->source = name;
	copy_part(&resource->source, sizeof resource->source);
}

/* The name is written last: readers skip a column without a name. */
void
datafile_note_own_resource(unsigned column)
{
	struct cpprofdata_resource *resource = &header.resources[column];

	if (!datafile_exists())
		return;
	datafile_describe_resource(column, resource);
	copy_part(&resource->interval, sizeof resource->interval);
	copy_part(resource->gtick, sizeof resource->gtick);
	atomic_thread_fence(memory_order_release);
	copy_part(resource->name, sizeof resource->name);
}

/* What the process calls itself, when the file begins and when it ends. */
static void
note_title(void)
{
	static char noted[TITLE_SIZE] WIPED_TABLE;
	char title[TITLE_SIZE];

	process_read_title(title, sizeof title);
	if (strcmp(title, noted) == 0)
		return;
	strcpy(noted, title);
	header.title = title[0] != '\0' ? datafile_add_text(title) : 0;
	copy_part(&header.title, sizeof header.title);
}

bool
datafile_create(void)
{
	struct cpprofdata_header *to;
	size_t size = FIRST_SIZE;
	unsigned i;

	process_read_names();
	if (size > process.max_size)
		size = process.max_size & -(size_t)CPPROFDATA_PAGE;
	if (size < CPPROFDATA_HEADER_SIZE)
		size = CPPROFDATA_HEADER_SIZE;
	if (!disk_create(size))
		return false;
	to = disk_map(0, CPPROFDATA_HEADER_SIZE);
	if (to == NULL) {
		disk_abandon();
		return false;
	}
	/* All fields but the counters and the strings. */
	header.n_resources = datafile_columns.n;
	header.n_threads = threads.n;
	header.n_threads_unsampled = threads.n_unsampled;
	datafile_begin_header(&header);
	for (i = 0; i < datafile_columns.n; i++)
		datafile_describe_resource(i, &header.resources[i]);
	if (process.counts_returns)
		header.flags |= CPPROFDATA_COUNTS_RETURNS;
	if (datafile_columns.has_waits)
		header.flags |= CPPROFDATA_WAITS | CPPROFDATA_DRAWN;
	if (brief_pid == process_own.pid)
		header.flags |= CPPROFDATA_CONTINUES;
	header.pid = process_own.pid;
	header.parent_pid = process_own.parent_pid;
	header.pid_namespace = process_pid_namespace();
	atomic_store(&header_place, to);
	memcpy(to, &header, sizeof header);
	atomic_store_explicit(&mapped_header, to, memory_order_release);
	/* If there is little room, the first strings matter more. */
	datafile_add_text("");
	header.host = datafile_add_text(process_names.host);
	header.executable = datafile_add_text(process_names.executable);
	header.directory = datafile_add_text(process.directory);
	if (process_names.has_link)
		header.started_as = datafile_add_text(process_names.started_as);
	if (process.arguments_size > 0)
		header.arguments = datafile_add_string(process.arguments,
		    process.arguments_size, NULL);
	if (header.arguments != 0)
		header.n_arguments = process.n_arguments;
	for (i = 0; i < datafile_columns.n; i++) {
		const struct datafile_column column = datafile_describe(i);

		header.resources[i].source = datafile_add_text(column.source);
		header.resources[i].flags |= column.flags;
	}
	copy_part(&header.arguments, offsetof(struct cpprofdata_header,
	    pid_namespace) - offsetof(struct cpprofdata_header, arguments));
	copy_part(&header.started_as, sizeof header.started_as);
	note_title();
	copy_part(header.resources, sizeof header.resources);
	disk_close();
	shared_count_recorded();
	return true;
}

void
datafile_keep_open(void)
{
	int saved = errno;

	if (!datafile_lock_patiently())
		return;
	disk_keep_open();
	datafile_unlock();
	errno = saved;
}

/*
 * When somebody has truncated the file.
 */

bool
datafile_replace_mapping(const void *address)
{
	const uintptr_t at = (uintptr_t)address;
	const struct datafile_chunk *chunk;
	uintptr_t start = (uintptr_t)atomic_load(&header_place);

	if (start != 0 && at - start < CPPROFDATA_HEADER_SIZE)
		return disk_replace((void *)start, CPPROFDATA_HEADER_SIZE);
	for (chunk = atomic_load(&chunks.last); chunk != NULL;
	    chunk = chunk->older) {
		start = (uintptr_t)chunk->mapped;
		if (at - start < chunk->size)
			return disk_replace(chunk->mapped, chunk->size);
	}
	return false;
}

/* Writes the whole file from private memory.  Lock held. */
static void
write_again(void)
{
	static unsigned char records[16384] BIG_TABLE;
	const struct datafile_chunk *chunk;
	size_t i, n;
	bool ok;

	datafile_flag(CPPROFDATA_TRUNCATED);
	ok = disk_write(&header, 0, sizeof header);
	for (chunk = chunks.last; chunk != NULL && ok; chunk = chunk->older) {
		const struct cpprofdata_chunk start = chunk_header(chunk);
		const size_t most = sizeof records / chunk->record_size;

		ok = disk_write(&start, chunk->at, sizeof start);
		for (i = 0; i < start.count && ok; i += n) {
			n = start.count - i < most ? start.count - i : most;
			chunk->copy(chunk, i, n, records);
			ok = disk_write(records, chunk->at + sizeof start +
			    i * chunk->record_size, n * chunk->record_size);
		}
	}
}

void
datafile_finish(void)
{
	if (!datafile_exists())
		return;
	copy_counted();
	note_title();
	datafile_note_leaving(true);
	datafile_set_number(&header.end_ns, process_now());
	/* Others write beyond `used` only with the lock held. */
	disk_set_size(header.used);
	if (disk_is_truncated())
		write_again();
	disk_close();
}

void
datafile_set_end(uint64_t end_ns, uint64_t end_mono_ns)
{
	datafile_set_number(&header.end_ns, end_ns);
	datafile_set_number(&header.end_mono_ns, end_mono_ns);
}

void
datafile_flag(uint32_t flag)
{
	if ((__atomic_load_n(&header.flags, __ATOMIC_RELAXED) & flag) == flag)
		return;
	__atomic_fetch_or(&header.flags, flag, __ATOMIC_SEQ_CST);
	copy_part(&header.flags, sizeof header.flags);
}

void
datafile_resume(void)
{
	datafile_set_number(&header.end_ns, 0);
	datafile_set_number(&header.end_mono_ns, 0);
}
