/* SPDX-License-Identifier: MIT */
/* datafile.c -- creates, maps and grows the file; polite when it cannot.
 *
 * Growth is fallocate (a full disk is then an error, not a fault), a look at
 * RLIMIT_FSIZE before it (no SIGXFSZ); each chunk is then mapped by itself,
 * not to be copied into forked children.  The file is opened by name when it
 * grows, and closed again: a program may look at what it has open, or close it
 * all.  One that is about to lose the right to open it (datafile_keep) has the
 * descriptor from then on, high up, out of the way of those that count on low
 * numbers.  Either way it must still be the same file.
 */
#include "lib/datafile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arch.h"
#include "lib/files.h"
#include "lib/process.h"
#include "lib/resource.h"

#define FIRST_SIZE ((size_t)12 << 10)	/* until there are samples */
#define GROWTH_MIN ((size_t)64 << 10)
#define GROWTH_MAX ((size_t)4 << 20)
#define LOCK_TRIES 500
#define LONG_WAITS 1000			/* of process_pause */
#define MAX_EXECS 100000		/* files of one process id */
#define N_TYPES 5

/* The chunk of a shared type that is being filled. */
static const size_t chunk_sizes[N_TYPES] = {
	[CPPROFDATA_STRINGS] = 8192,
	[CPPROFDATA_MODULES] = 8192,
	[CPPROFDATA_THREADS] = 4096,
};

static struct {
	size_t size;		/* allocated on disk */
	int fd;
	dev_t device;
	ino_t inode;
	uint64_t next_first[N_TYPES];
	struct cpprofdata_chunk *filling[N_TYPES];
	char path[PATH_MAX];
} file = { .fd = -1 };

static struct cpprofdata_header *_Atomic header;
static _Atomic bool keeps_descriptor;
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

bool
datafile_populate(void *address, size_t size)
{
	uintptr_t start = (uintptr_t)address & -(uintptr_t)CPPROFDATA_PAGE;

	/* EINVAL: a kernel before 5.14; fallocate must then be enough. */
	return madvise((void *)start, (uintptr_t)address + size - start,
	    MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
}

static bool
is_ours(int fd)
{
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 &&
	    status.st_dev == file.device && status.st_ino == file.inode;
}

/* The file's descriptor, opened again if the program has closed it. */
static int
descriptor(void)
{
	int fd;

	if (is_ours(file.fd))
		return file.fd;
	file.fd = -1;
	fd = files_open(file.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!is_ours(fd)) {
		files_close(fd);
		return -1;
	}
	return file.fd = process_move_up(fd);
}

static void
close_descriptor(void)
{
	if (is_ours(file.fd))
		files_close(file.fd);
	file.fd = -1;
}

/* After a use of it. */
static void
let_go(void)
{
	int saved = errno;

	if (!keeps_descriptor)
		close_descriptor();
	errno = saved;
}

/* Makes the file `size` bytes long, with disk space behind them. */
static bool
extend(size_t size)
{
	struct rlimit limit;
	int fd = descriptor(), failed;

	if (fd < 0)
		return false;
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || size > limit.rlim_cur) {
		errno = EFBIG;
		return false;
	}
	do
		failed = posix_fallocate(fd, (off_t)file.size,
		    (off_t)(size - file.size));
	while (failed == EINTR);
	if (failed != 0) {
		errno = failed;
		return false;
	}
	file.size = size;
	return true;
}

/* Maps a part of the file and sees to its first page; NULL with errno. */
static void *
map(size_t at, size_t size)
{
	int fd = descriptor();
	void *memory;

	if (fd < 0)
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    (off_t)at);
	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, size, MADV_DONTFORK) == 0 &&
	    datafile_populate(memory, CPPROFDATA_PAGE))
		return memory;
	munmap(memory, size);
	return NULL;
}

/* Extends to hold at least `needed` bytes. */
static bool
grow(size_t needed)
{
	size_t step = file.size / 4 / GROWTH_MIN * GROWTH_MIN;
	size_t size;

	if (step < GROWTH_MIN)
		step = GROWTH_MIN;
	if (step > GROWTH_MAX)
		step = GROWTH_MAX;
	size = file.size + step;
	if (size < needed)
		size = needed;
	if (needed > process.max_size)
		return false;
	if (size > process.max_size)
		size = needed;
	return extend(size) || (size > needed && extend(needed));
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
	    file.next_first[type] + capacity >= CPPROFDATA_PHASE ||
	    (used + size > file.size && !grow(used + size)))
		return NULL;
	chunk = map(used, size);
	if (chunk == NULL)
		return NULL;
	chunk->magic = CPPROFDATA_CHUNK_MAGIC;
	chunk->type = type;
	chunk->size = size;
	chunk->first = file.next_first[type];
	chunk->record_size = (uint32_t)record_size;
	chunk->owner = owner;
	file.next_first[type] += capacity;
	__atomic_store_n(&head->used, used + size, __ATOMIC_RELEASE);
	return chunk;
}

struct cpprofdata_chunk *
datafile_add_chunk(enum cpprofdata_chunk_type type, size_t size,
    size_t record_size, uint32_t owner)
{
	struct cpprofdata_chunk *chunk = add_chunk(type, size, record_size,
	    owner);

	let_go();
	return chunk;
}

void *
datafile_add_records(enum cpprofdata_chunk_type type, size_t record_size,
    size_t n, uint32_t *number)
{
	struct cpprofdata_chunk *chunk = file.filling[type];
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
		file.filling[type] = chunk;
	}
	*number = (uint32_t)(chunk->first + chunk->count);
	at = (unsigned char *)(chunk + 1) + chunk->count * record_size;
	return datafile_populate(at, size) ? at : NULL;
}

void
datafile_publish(enum cpprofdata_chunk_type type, size_t n)
{
	struct cpprofdata_chunk *chunk = file.filling[type];

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

/* Writes a number in decimal; returns the end. */
static char *
put_number(char *at, unsigned long number)
{
	char digits[24];
	int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (n > 0)
		*at++ = digits[--n];
	*at = '\0';
	return at;
}

/* Opens cpprofdata.PID, or with .1, .2, ... if earlier images took that. */
static int
open_new(void)
{
	char *end = stpcpy(stpcpy(stpcpy(file.path, process.output), "/"),
	    CPPROFDATA_FILE_PREFIX);
	unsigned long i;
	int fd;

	end = put_number(end, process.pid);
	for (i = 1;; i++) {
		fd = files_open(file.path,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST || i > MAX_EXECS)
			return fd;
		*end = '.';
		put_number(end + 1, i);
	}
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

/* Undoes what datafile_create did, keeping errno. */
static bool
abandon(void)
{
	int saved = errno;

	if (file.fd >= 0) {
		unlink(file.path);
		files_close(file.fd);
		file.fd = -1;
	}
	file.size = 0;
	errno = saved;
	return false;
}

bool
datafile_create(void)
{
	struct cpprofdata_header *head = NULL;
	struct stat status;
	int fd = open_new();

	if (fd < 0)
		return false;
	file.fd = process_move_up(fd);
	if (fstat(file.fd, &status) != 0)
		return abandon();
	file.device = status.st_dev;
	file.inode = status.st_ino;
	if (extend(FIRST_SIZE))
		head = map(0, CPPROFDATA_HEADER_SIZE);
	if (head == NULL)
		return abandon();
	fill_header(head);
	atomic_store_explicit(&header, head, memory_order_release);
	fill_strings(head);
	fill_sources(head);
	let_go();
	return true;
}

void
datafile_keep(void)
{
	int saved = errno;

	if (!datafile_lock_patiently())
		return;
	keeps_descriptor = true;
	if (datafile_header() != NULL)
		descriptor();
	datafile_unlock();
	errno = saved;
}

void
datafile_finish(void)
{
	struct cpprofdata_header *head = datafile_header();
	int fd;

	if (head == NULL)
		return;
	datafile_note_cpu_time();
	head->end_ns = process_now();
	fd = descriptor();
	/* Without the lock nobody goes beyond `used`. */
	if (fd >= 0 && ftruncate(fd, (off_t)head->used) == 0)
		file.size = head->used;
	let_go();
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
	close_descriptor();
	memset(&file, 0, sizeof file);
	file.fd = -1;
	atomic_store(&header, NULL);
	atomic_flag_clear(&locked);
}
