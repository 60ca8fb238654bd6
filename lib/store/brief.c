/* SPDX-License-Identifier: MIT */
/* brief.c -- the file of brief processes: created by the first, appended to.
 *
 * The file is never read or mapped.  Each record is one write call.  The file
 * always ends at a record boundary and no record crosses a page, so a record is
 * written whole or, on a full disk, not at all.  If the first write is cut
 * short, the file is a header without records, or not usable.
 */
#include "lib/store/thread-file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/cpprofdata.h"
#include "lib/store/datafile.h"

static int
brief_open_file(int flags)
{
	static const char name[] = "/" CPPROFDATA_BRIEF_FILE;
	const size_t length = strlen(process.output);
	char path[PATH_MAX];

	memcpy(path, process.output, length);
	memcpy(path + length, name, sizeof name);
	return files_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC | flags, 0600);
}

/*
 * Whether the program has no limit on file sizes; otherwise writing might raise
 * SIGXFSZ.
 */
static bool
is_unlimited(void)
{
	struct rlimit limit;

	return arch_system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0,
	    (long)&limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

/* Whether it is a regular file of this user that ends at a record boundary. */
static bool
is_usable(int fd)
{
	struct stat status;

	return files_status(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == (uid_t)arch_system_call(SYS_geteuid, 0, 0, 0, 0) &&
	    status.st_nlink == 1 && status.st_size >= CPPROFDATA_HEADER_SIZE &&
	    status.st_size % sizeof(struct cpprofdata_brief) == 0 &&
	    (uint64_t)status.st_size + sizeof(struct cpprofdata_brief) <=
	    process.max_size;
}

static bool
brief_fill(struct cpprofdata_brief *brief, uint64_t hits, uint64_t cpu_ns)
{
	/* Without process_names, whose page may be untouched. */
	const long length = arch_system_call(SYS_readlink,
	    (long)"/proc/self/exe", (long)brief->executable,
	    sizeof brief->executable, 0);

	if (length == sizeof brief->executable)
		return false;	/* it may be longer */
	arch_system_call(SYS_prctl, PR_GET_NAME, (long)brief->name, 0, 0);
	brief->pid = process_own.pid;
	brief->parent_pid = process_own.parent_pid;
	brief->start_ns = process_own.start_ns;
	brief->cpu_ns = cpu_ns;
	brief->count.hits = hits;
	brief->count.samples = 1;
	return true;
}

/* A process that opens the file before it is complete finds it not usable. */
static bool
create(unsigned column, const struct cpprofdata_brief *brief)
{
	struct {
		struct cpprofdata_header header;
		struct cpprofdata_brief brief;
	} whole = { .header.n_resources = 1, .brief = *brief };
	int fd = process.max_size < sizeof whole ? -1 :
	    brief_open_file(O_CREAT | O_EXCL);
	bool ok;

	if (fd < 0)
		return false;
	datafile_begin_header(&whole.header);
	whole.header.flags = CPPROFDATA_BRIEF;
	datafile_describe_resource(column, &whole.header.resources[0]);
	ok = files_write(fd, &whole, sizeof whole) == sizeof whole;
	files_close(fd);
	return ok;
}

static bool
brief_append(int fd, const struct cpprofdata_brief *brief)
{
	bool ok = is_usable(fd) &&
	    files_write(fd, brief, sizeof *brief) == sizeof *brief;

	files_close(fd);
	return ok;
}

bool
brief_add(unsigned column, uint64_t hits, uint64_t cpu_ns)
{
	struct cpprofdata_brief brief = { 0 };
	int fd;

	if (!is_unlimited() || !brief_fill(&brief, hits, cpu_ns))
		return false;
	fd = brief_open_file(0);
	if (fd >= 0 ? !brief_append(fd, &brief) : errno != ENOENT ||
	    !create(column, &brief))
		return false;
	datafile_note_brief();
	shared_count_recorded();
	return true;
}
