/* SPDX-License-Identifier: MIT */
/* disk.c -- opens the file by name, extends it, maps it.
 *
 * The file grows by fallocate, so that a full disk is an error and not a fault,
 * and only within RLIMIT_FSIZE, so that there is no SIGXFSZ.  It is opened by
 * name each time it grows and closed again, because programs inspect their open
 * descriptors or close all of them.  Before a program may lose the right to
 * open the file (disk_keep_open), a descriptor is kept, with a high number so
 * that it does not disturb programs that rely on low ones.  In both cases the
 * file must still be the same.
 */
#include "lib/store/datafile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"

#define GROWTH_MIN ((size_t)256 << 10)
#define GROWTH_MAX ((size_t)8 << 20)
#define MAX_EXECS 100000		/* files of one process id */

static struct {
	size_t size;		/* allocated on disk */
	/* The part that is mapped as a whole, the newest of them. */
	unsigned char *window;
	size_t window_at, window_size;
	/* Of it, if all is populated.  Other threads look without the lock. */
	_Atomic uintptr_t populated;
	_Atomic size_t populated_size;
} file WIPED;

static char path[PATH_MAX] WIPED_TABLE;
static char spare_path[PATH_MAX] WIPED_TABLE;	/* handlers have little stack */

/* Descriptors are also open in a forked child, so this is not reset there. */
static struct {
	int fd;
	dev_t device;
	ino_t inode;
} open_file = { .fd = -1 };

static _Atomic bool keeps_descriptor;
static _Atomic bool is_truncated WIPED;

bool
disk_populate(void *address, size_t size)
{
	uintptr_t start = (uintptr_t)address & -(uintptr_t)CPPROFDATA_PAGE;

	if (store_is_populated(address) ||
	    (uintptr_t)address - file.populated < file.populated_size)
		return true;
	/* EINVAL: Linux before 5.14.  There, fallocate must suffice. */
	if (files_advise((void *)start, (uintptr_t)address + size - start,
	    MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
		return true;
	/*
	 * Beyond the end of the file, which was truncated.  The first write
	 * will raise SIGBUS, and the mapping will be replaced.
	 */
	return errno == EFAULT;
}

static bool
disk_is_ours(int fd)
{
	struct stat status;

	if (fd < 0 || files_status(fd, &status) != 0 ||
	    status.st_dev != open_file.device ||
	    status.st_ino != open_file.inode)
		return false;
	if ((size_t)status.st_size < file.size)
		is_truncated = true;
	return true;
}

/* The file's descriptor.  Opens the file again if the program has closed it. */
static int
descriptor(void)
{
	int fd;

	if (disk_is_ours(open_file.fd))
		return open_file.fd;
	open_file.fd = -1;
	/*
	 * O_NONBLOCK: if another file has that name now, opening it might
	 * block, for example on a lease.
	 */
	fd = files_open(path,
	    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!disk_is_ours(fd)) {
		files_close(fd);
		return -1;
	}
	return open_file.fd = process_move_up(fd);
}

static void
disk_close_descriptor(void)
{
	if (open_file.fd < 0)
		return;
	if (disk_is_ours(open_file.fd))
		files_close(open_file.fd);
	open_file.fd = -1;
}

void
disk_close(void)
{
	int saved = errno;

	if (!keeps_descriptor)
		disk_close_descriptor();
	errno = saved;
}

/*
 * Whether RLIMIT_FSIZE admits a file of that size; otherwise SIGXFSZ would
 * come.
 */
static bool
may_be(size_t size)
{
	uint64_t limit;

	if (process_limit(RLIMIT_FSIZE, &limit) && size <= limit)
		return true;
	errno = EFBIG;
	return false;
}

/*
 * Extends the file to `size` bytes, with disk space allocated.
 *
 * posix_fallocate writes to the file, so it is a cancellation point.  The
 * interrupted code may not be one: malloc, for example, must not throw.  Under
 * a thread sanitizer, pthread_setcancelstate is intercepted and must not be
 * called here; cancellation stays possible there.
 */
static bool
disk_extend(size_t size)
{
	const bool may_set_state = !process_has_thread_sanitizer();
	int fd = descriptor(), failed, state = PTHREAD_CANCEL_ENABLE;

	if (is_truncated) {
		file.size = size;
		return true;
	}
	if (fd < 0 || !may_be(size))
		return false;
	do {
		failed = (int)-arch_system_call(SYS_fallocate, fd, 0,
		    (long)file.size, (long)(size - file.size));
		if (failed != EOPNOTSUPP)
			continue;
		if (may_set_state)
			pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		failed = posix_fallocate(fd, (off_t)file.size,
		    (off_t)(size - file.size));
		if (may_set_state)
			pthread_setcancelstate(state, NULL);
	} while (failed == EINTR);
	if (failed != 0) {
		errno = failed;
		return false;
	}
	file.size = size;
	return true;
}

bool
disk_is_truncated(void)
{
	return is_truncated;
}

bool
disk_replace(void *mapping, size_t size)
{
	if (files_map_part(mapping, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	files_advise(mapping, size, MADV_DONTFORK);
	is_truncated = true;
	return true;
}

bool
disk_write(const void *from, size_t at, size_t size)
{
	const char *next = from;
	int fd = descriptor();
	ssize_t n;

	if (fd < 0 || !may_be(at + size))
		return false;
	for (; size > 0; next += n, at += (size_t)n, size -= (size_t)n) {
		n = arch_system_call(SYS_pwrite64, fd, (long)next, (long)size,
		    (long)at);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Maps that part of the file, and populates so much of it. */
static void *
disk_map_part(size_t at, size_t size, size_t populated)
{
	int fd = descriptor();
	void *memory;

	if (fd < 0 && !is_truncated)
		return NULL;
	memory = is_truncated ?
	    files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1) :
	    files_map_part(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	        (off_t)at);
	if (memory == MAP_FAILED)
		return NULL;
	if (files_advise(memory, size, MADV_DONTFORK) == 0 &&
	    disk_populate(memory, populated)) {
		store_note(memory, size);
		return memory;
	}
	files_unmap(memory, size);
	return NULL;
}

/*
 * Maps all that the file has from there on, once: chunks are small, and mapping
 * each would take several system calls, with the lock held.  A thread may lose
 * the processor in each of them, and where there are hundreds of threads, most
 * samples would be late until it runs again.  So a large file is also populated
 * at once.  In a small one, each chunk is when it is added.
 */
void *
disk_map(size_t at, size_t size)
{
	const bool is_inside = at >= file.window_at &&
	    at + size <= file.window_at + file.window_size;
	const bool is_large = at >= GROWTH_MIN;
	unsigned char *window;

	if (is_truncated)
		return disk_map_part(at, size, CPPROFDATA_PAGE);
	if (!is_inside) {
		file.populated_size = 0;
		window = disk_map_part(at, file.size - at,
		    at == 0 || is_large ? file.size - at : CPPROFDATA_PAGE);
		if (window == NULL)
			return NULL;
		file.window = window;
		file.window_at = at;
		file.window_size = file.size - at;
		file.populated = (uintptr_t)window;
		file.populated_size = is_large ? file.window_size : 0;
		return window;
	}
	window = file.window + (at - file.window_at);
	return disk_populate(window, CPPROFDATA_PAGE) ? window : NULL;
}

/*
 * Extends the file far beyond `needed` if possible.  Each extension takes a
 * tenth of a millisecond whatever its size, and the excess is cut off at the
 * end.
 */
bool
disk_reserve(size_t needed)
{
	size_t step = file.size / GROWTH_MIN * GROWTH_MIN;
	size_t size;

	if (needed <= file.size)
		return true;
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
	return disk_extend(size) || (size > needed && disk_extend(needed));
}

void
disk_abandon(void)
{
	int saved = errno;

	if (open_file.fd >= 0) {
		files_remove(path);
		files_close(open_file.fd);
		open_file.fd = -1;
	}
	file.size = 0;
	if (file.window != NULL)
		store_unmap(file.window, file.window_size);
	file.window = NULL;
	file.window_at = file.window_size = file.populated_size = 0;
	errno = saved;
}

/*
 * Calls `make` with the first of this process's names that no file has.  -1: it
 * fails with any.
 */
static int
disk_name(int (*make)(void))
{
	char *end = stpcpy(stpcpy(stpcpy(path, process.output), "/"),
	    CPPROFDATA_FILE_PREFIX);
	unsigned long i;
	int made = -1;

	end = files_put_number(end, process_own.pid);
	for (i = 1; i <= MAX_EXECS + 1; i++) {
		made = make();
		if (made >= 0 || errno != EEXIST)
			break;
		*end = '.';
		files_put_number(end + 1, i);
	}
	return made;
}

static int
make_file(void)
{
	return files_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC, 0600);
}

static int
take_file(void)
{
	return files_rename(spare_path, path);
}

/*
 * A spare file, if there is one that is this user's, untouched, and can be
 * renamed; -1: there is none.
 */
static int
disk_take_spare(size_t size)
{
	struct stat status;
	uint32_t number;
	int fd;

	if (size != CPPROF_SHARED_SPARE_SIZE || !may_be(size) ||
	    !shared_take_spare(&number))
		return -1;
	files_put_number(stpcpy(stpcpy(stpcpy(spare_path, process.output),
	    "/"), CPPROF_SHARED_SPARE), number);
	fd = files_open(spare_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (files_status(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == (uid_t)arch_system_call(SYS_geteuid, 0, 0, 0, 0) &&
	    status.st_nlink == 1 && (size_t)status.st_size == size &&
	    disk_name(take_file) == 0)
		return fd;
	files_close(fd);
	return -1;
}

bool
disk_create(size_t size)
{
	struct stat status;
	int fd = disk_take_spare(size);
	const bool is_spare = fd >= 0;

	if (!is_spare)
		fd = disk_name(make_file);
	if (fd < 0)
		return false;
	/* A parent's, if this was forked while another thread created it. */
	disk_close_descriptor();
	open_file.fd = process_move_up(fd);
	if (files_status(open_file.fd, &status) == 0) {
		open_file.device = status.st_dev;
		open_file.inode = status.st_ino;
		if (is_spare)
			file.size = size;
		if (is_spare || disk_extend(size))
			return true;
	}
	disk_abandon();
	return false;
}

void
disk_keep_open(void)
{
	keeps_descriptor = true;
	if (file.size > 0)
		descriptor();
}

void
disk_set_size(size_t size)
{
	int fd = size != file.size ? descriptor() : -1;

	if (fd >= 0 && (!is_truncated || may_be(size)) &&
	    files_resize(fd, (off_t)size) == 0)
		file.size = size;
}

void
disk_forked(void)
{
	disk_close_descriptor();
}
