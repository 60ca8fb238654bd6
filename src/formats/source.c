/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.c -- the bytes of one input, whatever it is packed in.
 *
 * Two buffers: what was read from the file, and what the reader sees.  An
 * unpacker fills the second from the first; a file that is not packed is read
 * straight into the second.  Blocks are small enough to stay in the processor's
 * last cache until they are parsed, and large enough that waiting for a worker
 * costs little.
 *
 * A small gzip file is unpacked in one step, which is faster, and a block of
 * its own.
 *
 * While one block of a file is parsed a worker gets the next one ready in a
 * third buffer.  Not so for pipes and terminals: they might never give it, and
 * a worker that waits for them could not be stopped.
 */
#include "src/formats/source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/worker.h"

enum {
	BLOCK_SIZE = 4 << 20,	/* unpacked */
	PACKED_SIZE = 256 << 10,
	PAGE_SIZE = 4096,
	FRONT_SIZE = 16 * PAGE_SIZE,
	AHEAD_SIZE = FRONT_SIZE + BLOCK_SIZE + PAGE_SIZE,
	WHOLE_PACKED = 8 << 20,	/* the largest file unpacked in one step */
	WHOLE_UNPACKED = 64 << 20,
	LOOK_MS = 100,		/* between two looks for Ctrl-C */
	WRITER_MS = 10000,	/* that a named pipe may have no writer */
};

struct source {
	char *name;
	int fd;				/* -1: bytes in memory */
	uint64_t size, done;
	bool fd_ended;
	bool can_wait;			/* a pipe, a terminal or the like */
	bool awaits_writer;		/* a named pipe: nobody has opened it */
	int waited_ms;			/* for that */
	XXH3_state_t *hash;		/* of the unpacked bytes; NULL: none */

	struct unpacker *unpacker;	/* NULL: it is not packed */
	bool is_cut_short;
	bool is_too_much;		/* unpacked, for its size */
	uint64_t n_unpacked;
	_Atomic uint64_t n_discounted;	/* of these, which count for nothing */
	struct error damage;		/* of the packing, without the name */

	const char *packed;		/* read and not yet unpacked */
	size_t n_packed;
	char *packed_buffer;

	const char *bytes;		/* unpacked and not yet skipped */
	size_t n_bytes;
	bool bytes_ended;
	char *buffer;
	size_t buffer_capacity;

	/*
	 * The block that comes next, after FRONT_SIZE bytes for what is left
	 * of the one before.  While is_ahead the worker owns all above but
	 * n_discounted and what is about bytes and buffer.
	 */
	struct worker *worker;
	bool is_ahead;
	char *ahead;
	ssize_t n_ahead;
	struct error ahead_error;
	uint64_t done_before;		/* `done` without what is ahead */
	uint64_t n_skipped;		/* unpacked bytes */
};

static struct source *
new_source(const char *name, int fd, struct error *error)
{
	struct source *source = memory_array(1, sizeof *source, error);

	if (source == NULL)
		return NULL;
	source->fd = fd;
	source->name = memory_string(name, error);
	if (source->name == NULL) {
		free(source);
		return NULL;
	}
	return source;
}

void
source_close(struct source *source)
{
	if (source == NULL)
		return;
	worker_free(source->worker);
	free(source->ahead);
	XXH3_freeState(source->hash);
	unpacker_free(source->unpacker);
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	free(source->packed_buffer);
	free(source->buffer);
	free(source->name);
	free(source);
}

const char *
source_name(const struct source *source)
{
	return source->name;
}

bool
source_is_cut_short(const struct source *source)
{
	return source->is_cut_short;
}

const char *
source_damage(const struct source *source)
{
	if (source->damage.is_set)
		return source->damage.text;
	return source->is_cut_short ? "cut short" : NULL;
}

bool
source_is_too_much(const struct source *source)
{
	return source->is_too_much;
}

bool
source_is_packed(const struct source *source)
{
	return source->unpacker != NULL;
}

uint64_t
source_done(const struct source *source)
{
	return source->is_ahead ? source->done_before : source->done;
}

/*
 * A hundred kilobytes may have 3.7 million nodes, which take a second and half
 * a gigabyte: a recursion of 100,000 calls entered from 37 places.
 */
enum { NODES_ALWAYS = 1 << 21, NODES_A_BYTE = 16 };

uint64_t
source_most_nodes(const struct source *source)
{
	return NODES_ALWAYS + NODES_A_BYTE * source_done(source);
}

/* A frame takes a byte at least, and inlined calls multiply it. */
enum { FRAMES_ALWAYS = 1 << 26, FRAMES_A_BYTE = 4 };

uint64_t
source_most_frames(const struct source *source)
{
	return FRAMES_ALWAYS +
	       FRAMES_A_BYTE * (source->n_skipped + source->n_bytes);
}

uint64_t
source_size(const struct source *source)
{
	return source->size;
}

/*
 * Whether there is something to read, or the end; not yet: 0.  A signal that
 * comes just before a read would not end it, so Ctrl-C is looked for again and
 * again.
 */
static int
look_for_bytes(const struct source *source, struct error *error)
{
	struct pollfd input = { source->fd, POLLIN, 0 };
	int ready;

	if (!source->can_wait)
		return 1;
	if (interrupt_requested)
		return error_set(error, "interrupted");
	ready = poll(&input, 1, LOOK_MS);
	return ready > 0 || (ready < 0 && errno != EINTR);
}

/* A named pipe has no writer yet: waits for one, but not endlessly. */
static int
wait_for_writer(struct source *source, struct error *error)
{
	source->waited_ms += LOOK_MS;
	if (source->waited_ms < WRITER_MS)
		return 0;
	return error_set(error, "%s: a named pipe that nothing has written to "
	                 "for %d seconds; start what writes first",
	                 source->name, WRITER_MS / 1000);
}

static void
source_hash(struct source *source, const char *bytes, size_t n)
{
	if (source->hash != NULL && n > 0)
		XXH3_128bits_update(source->hash, bytes, n);
}

/* Up to n bytes of the file to `to`; 0 at its end, -1 with *error set. */
static ssize_t
source_read_file(struct source *source, char *to, size_t n, struct error *error)
{
	ssize_t got = 0;

	while (!source->fd_ended && source->fd >= 0) {
		int ready = look_for_bytes(source, error);

		if (ready < 0)
			return -1;
		if (ready == 0 && !source->awaits_writer)
			continue;
		got = read(source->fd, to, n);
		/* The end, though poll reports none: nobody has opened it. */
		if (ready == 0 && got == 0) {
			if (wait_for_writer(source, error) != 0)
				return -1;
			continue;
		}
		source->awaits_writer = false;
		if (got >= 0)
			break;
		if (errno != EINTR && errno != EAGAIN)
			return error_set(error, "%s: %s", source->name,
			                 strerror(errno));
		if (interrupt_requested)
			return error_set(error, "interrupted");
	}
	if (got == 0)
		source->fd_ended = true;
	source->done += (uint64_t)got;
	if (source->unpacker == NULL)
		source_hash(source, to, (size_t)got);
	return got;
}

/* Reads more packed bytes after those that are left; 0 or -1. */
static int
read_packed(struct source *source, struct error *error)
{
	ssize_t got;

	if (source->fd < 0)
		return 0;
	memmove(source->packed_buffer, source->packed, source->n_packed);
	source->packed = source->packed_buffer;
	got = source_read_file(source, source->packed_buffer + source->n_packed,
	                       PACKED_SIZE - source->n_packed, error);
	if (got < 0)
		return -1;
	source->n_packed += (size_t)got;
	return 0;
}

static int
source_find_packing(struct source *source, struct error *error)
{
	while (source->n_packed < UNPACKER_MAGIC_SIZE && source->fd >= 0 &&
	       !source->fd_ended)
		if (read_packed(source, error) != 0)
			return -1;
	source->unpacker = unpacker_new(source->packed, source->n_packed,
	                                error);
	/* Packed or not, and however it is, it is the same content. */
	if (source->unpacker != NULL && source->hash != NULL)
		XXH3_128bits_reset(source->hash);
	return error->is_set ? -1 : 0;
}

/* Opening a named pipe would wait for its writer, where Ctrl-C is not seen. */
static int
open_path(const char *path, struct error *error)
{
	int fd = STDIN_FILENO;

	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		error_set(error, "%s: %s", path, strerror(errno));
	return fd;
}

/* What kind of file it is. */
static int
look_at_file(struct source *source, struct error *error)
{
	struct stat status;
	struct statfs system;

	if (fstat(source->fd, &status) != 0)
		return error_set(error, "%s: %s", source->name,
		                 strerror(errno));
	if (S_ISREG(status.st_mode)) {
		source->size = (uint64_t)status.st_size;
		return 0;
	}
	source->can_wait = true;
	/* The writer of <(cmd), which has no name, is there or has been. */
	source->awaits_writer = S_ISFIFO(status.st_mode) &&
	    source->fd != STDIN_FILENO &&
	    fstatfs(source->fd, &system) == 0 &&
	    system.f_type != PIPEFS_MAGIC;
	return 0;
}

static struct source *
open_source(const char *path, bool is_hashed, struct error *error)
{
	int fd = open_path(path, error);
	struct source *source;
	size_t capacity = 0;

	if (fd < 0)
		return NULL;
	source = new_source(fd == STDIN_FILENO ? "standard input" : path, fd,
	                    error);
	if (source == NULL) {
		if (fd != STDIN_FILENO)
			close(fd);
		return NULL;
	}
	/* Not zeroed: a recording may have thousands of files. */
	if (memory_grow(&source->packed_buffer, &capacity, PACKED_SIZE, 1,
	                error) != 0) {
		source_close(source);
		return NULL;
	}
	source->packed = source->packed_buffer;
	if (is_hashed) {
		source->hash = XXH3_createState();
		if (source->hash == NULL) {
			source_close(source);
			error_out_of_memory(error);
			return NULL;
		}
		XXH3_128bits_reset(source->hash);
	}
	if (look_at_file(source, error) != 0 ||
	    source_find_packing(source, error) != 0) {
		source_close(source);
		return NULL;
	}
	return source;
}

struct source *
source_open(const char *path, struct error *error)
{
	return open_source(path, false, error);
}

struct source *
source_open_hashed(const char *path, struct error *error)
{
	return open_source(path, true, error);
}

int
source_content(struct source *source, unsigned char hash[CONTENT_HASH_SIZE],
               struct error *error)
{
	XXH128_canonical_t canonical;
	struct error why = { 0 };
	size_t n;

	do {
		if (source_peek(source, 1, &n, &why) == NULL)
			break;
		source_skip(source, n);
	} while (n > 0);
	/* Of damaged packing, what is whole is the content. */
	if (why.is_set && !source->damage.is_set)
		return error_pass(error, &why);
	XXH128_canonicalFromHash(&canonical,
	                         XXH3_128bits_digest(source->hash));
	memcpy(hash, canonical.digest, CONTENT_HASH_SIZE);
	return 0;
}

void
source_content_id(const unsigned char hash[CONTENT_HASH_SIZE],
                  char id[CONTENT_ID_SIZE])
{
	for (size_t i = 0; i < CONTENT_HASH_SIZE; i++)
		snprintf(id + 2 * i, 3, "%02x", hash[i]);
}

struct source *
source_of_memory(const char *name, const void *data, size_t size,
                 struct error *error)
{
	struct source *source = new_source(name, -1, error);

	if (source == NULL)
		return NULL;
	source->size = source->done = size;
	source->packed = data;
	source->n_packed = size;
	if (source_find_packing(source, error) != 0) {
		source_close(source);
		return NULL;
	}
	return source;
}

void
source_discount(struct source *source, uint64_t n)
{
	if (source->unpacker != NULL)
		atomic_fetch_add(&source->n_discounted, n);
}

/* Cuts input that was made to become huge when it is unpacked. */
static void
check_amount(struct source *source)
{
	const uint64_t discounted = atomic_load(&source->n_discounted);

	if (!unpacked_is_too_much(source->done - source->n_packed,
	                          source->n_unpacked - discounted))
		return;
	source->is_cut_short = source->is_too_much = true;
	error_set(&source->damage, "unpacks to more than %d times its size",
	          UNPACKED_RATIO);
}

/* Some bytes to to[n]: how many, 0 at the end or at damage, or -1. */
static ssize_t
source_unpack_some(struct source *source, char *to, size_t n,
                   struct error *error)
{
	struct unpacker *unpacker = source->unpacker;
	struct unpacker_damage damage = { 0 };
	size_t got = 0;

	while (got == 0 && !source->damage.is_set) {
		bool starved = source->n_packed == 0;

		if (starved && read_packed(source, error) != 0)
			return -1;
		/* What is still inside the unpacker comes without input. */
		if (source->n_packed == 0 && !unpacker_is_inside(unpacker))
			break;
		got = unpacker_take(unpacker, &source->packed,
		                    &source->n_packed, to, n, &damage);
		if (damage.is_out_of_memory)
			return error_out_of_memory(error);
		source->n_unpacked += got;
		source_hash(source, to, got);
		if (damage.what != NULL) {
			/*
			 * Inside packed data damage is like an early end.
			 * Where the data ended and its checksum is wrong, or
			 * something else follows, nothing says what is whole.
			 */
			error_set(&source->damage, "0x%llx: damaged: %s",
			          (unsigned long long)(source->done -
			                               source->n_packed),
			          damage.what);
			source->is_cut_short = damage.is_inside;
		} else {
			check_amount(source);
		}
		if (got == 0 && starved && source->n_packed == 0 &&
		    (source->fd < 0 || source->fd_ended)) {
			source->is_cut_short = unpacker_is_inside(unpacker);
			break;
		}
	}
	return (ssize_t)got;
}

static ssize_t
read_plain(struct source *source, char *to, size_t n, struct error *error)
{
	size_t got = source->n_packed < n ? source->n_packed : n;

	if (got == 0)
		return source_read_file(source, to, n, error);
	memcpy(to, source->packed, got);
	source->packed += got;
	source->n_packed -= got;
	return (ssize_t)got;
}

static size_t
room_left(const struct source *source)
{
	return source->buffer_capacity - SOURCE_PADDING -
	       (size_t)(source->bytes - source->buffer) - source->n_bytes;
}

/*
 * A small file is one block.  Of thousands, each would else have the kernel
 * clear a large page.
 */
static size_t
block_size(const struct source *source)
{
	return source->unpacker != NULL || source->can_wait ||
	       source->size >= BLOCK_SIZE - PAGE_SIZE ? BLOCK_SIZE :
	       (source->size / PAGE_SIZE + 1) * PAGE_SIZE;
}

/*
 * Moves what is left to the front of a buffer with room for a block after it,
 * the block at the beginning of a page: the kernel copies twice as fast to
 * there.
 */
static int
source_make_room(struct source *source, struct error *error)
{
	size_t needed = source->n_bytes + PAGE_SIZE + block_size(source) +
	                SOURCE_PADDING;
	char *old = source->buffer, *front;

	if (source->buffer_capacity < needed) {
		size_t size = old == NULL && needed >= BLOCK_SIZE ? AHEAD_SIZE :
		              ((old == NULL ? 1 : 2) * needed + PAGE_SIZE - 1) &
		              ~(size_t)(PAGE_SIZE - 1);
		char *larger = aligned_alloc(PAGE_SIZE, size);

		if (larger == NULL)
			return error_out_of_memory(error);
		source->buffer = larger;
		source->buffer_capacity = size;
	}
	front = source->buffer + (-((uintptr_t)source->buffer +
	                            source->n_bytes) & (PAGE_SIZE - 1));
	if (source->n_bytes > 0)
		memmove(front, source->bytes, source->n_bytes);
	source->bytes = front;
	if (source->buffer != old)
		free(old);
	return 0;
}

static ssize_t
source_read_block(struct source *source, char *to, struct error *error)
{
	return source->unpacker == NULL ?
	       read_plain(source, to, block_size(source), error) :
	       source_unpack_some(source, to, BLOCK_SIZE, error);
}

static void
read_ahead(void *context)
{
	struct source *source = context;

	source->n_ahead = source_read_block(source, source->ahead + FRONT_SIZE,
	                                    &source->ahead_error);
}

/* Has the next block got ready, if this is a file of more than one. */
static int
start_ahead(struct source *source, struct error *error)
{
	uint64_t block = source->unpacker == NULL ? BLOCK_SIZE : PACKED_SIZE;

	if (source->size <= block || source->fd < 0)
		return 0;
	if (source->ahead == NULL) {
		source->ahead = aligned_alloc(PAGE_SIZE, AHEAD_SIZE);
		if (source->ahead == NULL)
			return error_out_of_memory(error);
		source->worker = worker_new();
	}
	source->done_before = source->done;
	source->is_ahead = true;
	worker_start(source->worker, read_ahead, source);
	return 0;
}

/*
 * Puts the block that was read ahead after what is left: by exchanging the
 * buffers or, if too much is left, by copying.  How many bytes, or -1.
 */
static ssize_t
take_ahead(struct source *source, struct error *error)
{
	char *block = source->ahead + FRONT_SIZE, *old = source->buffer;
	size_t left = source->n_bytes;

	worker_wait(source->worker);
	source->is_ahead = false;
	if (source->ahead_error.is_set)
		return error_pass(error, &source->ahead_error);
	if (left > FRONT_SIZE || source->buffer_capacity < AHEAD_SIZE) {
		if (room_left(source) < BLOCK_SIZE &&
		    source_make_room(source, error) != 0)
			return -1;
		memcpy(source->buffer + (source->bytes - source->buffer) +
		       left, block, (size_t)source->n_ahead);
		return source->n_ahead;
	}
	memcpy(block - left, source->bytes, left);
	source->bytes = block - left;
	source->buffer = source->ahead;
	source->buffer_capacity = AHEAD_SIZE;
	source->ahead = old;
	return source->n_ahead;
}

/* Has all of a file that is as large as it was in packed; 0 or -1. */
static int
read_all_packed(struct source *source, struct error *error)
{
	size_t size = (size_t)source->size, capacity = PACKED_SIZE;
	ssize_t got = 1;

	if (source->fd < 0)
		return 0;
	if (memory_grow(&source->packed_buffer, &capacity, size, 1,
	                error) != 0)
		return -1;
	source->packed = source->packed_buffer;
	while (got > 0 && source->n_packed < size) {
		got = source_read_file(source,
		                       source->packed_buffer + source->n_packed,
		                       size - source->n_packed, error);
		if (got > 0)
			source->n_packed += (size_t)got;
	}
	return got < 0 ? -1 : 0;
}

/*
 * Unpacks the input in one step where it is small and gzip.  Else, or where
 * memory is short or something is wrong, it is left to be unpacked a piece at a
 * time.  0 or -1.
 */
static int
take_whole(struct source *source, struct error *error)
{
	size_t size, room;
	char *whole;

	if (source->unpacker == NULL || source->can_wait ||
	    source->size > WHOLE_PACKED)
		return 0;
	if (read_all_packed(source, error) != 0)
		return -1;
	if (source->n_packed != source->size)
		return 0;	/* the file is being written */
	size = unpacker_whole_size(source->unpacker, source->packed,
	                           source->n_packed);
	if (size == 0 || size > WHOLE_UNPACKED ||
	    unpacked_is_too_much(source->n_packed, size))
		return 0;
	room = (size + SOURCE_PADDING + PAGE_SIZE - 1) &
	       ~(size_t)(PAGE_SIZE - 1);
	whole = aligned_alloc(PAGE_SIZE, room);
	if (whole == NULL ||
	    !unpacker_take_whole(source->unpacker, source->packed,
	                         source->n_packed, whole, size)) {
		free(whole);
		return 0;
	}
	memset(whole + size, 0, SOURCE_PADDING);
	source_hash(source, whole, size);
	source->buffer = whole;
	source->buffer_capacity = room;
	source->bytes = whole;
	source->n_bytes = source->n_unpacked = size;
	source->n_packed = 0;
	source->bytes_ended = true;
	return 0;
}

const char *
source_peek(struct source *source, size_t wanted, size_t *size,
            struct error *error)
{
	if (source->buffer == NULL && (take_whole(source, error) != 0 ||
	    (source->buffer == NULL && source_make_room(source, error) != 0)))
		return NULL;
	while (source->n_bytes < wanted && !source->bytes_ended) {
		ssize_t got;

		if (source->is_ahead) {
			got = take_ahead(source, error);
		} else {
			if (room_left(source) < block_size(source) &&
			    source_make_room(source, error) != 0)
				return NULL;
			got = source_read_block(source,
			                        source->buffer +
			                            (source->bytes -
			                             source->buffer) +
			                            source->n_bytes,
			                        error);
		}
		if (got < 0)
			return NULL;
		source->n_bytes += (size_t)got;
		/* Whoever looks at whole blocks looks past the end too. */
		memset(source->buffer + (source->bytes - source->buffer) +
		           source->n_bytes,
		       0, SOURCE_PADDING);
		source->bytes_ended = got == 0;
		if (got > 0 && start_ahead(source, error) != 0)
			return NULL;
	}
	if (source->n_bytes == 0 && source->bytes_ended &&
	    source->damage.is_set && !source->is_cut_short) {
		error_set(error, "%s: %s", source->name, source->damage.text);
		return NULL;
	}
	*size = source->n_bytes;
	return source->bytes;
}

void
source_skip(struct source *source, size_t n)
{
	if (n == 0)	/* there may be no bytes at all */
		return;
	source->bytes += n;
	source->n_bytes -= n;
	source->n_skipped += n;
}
