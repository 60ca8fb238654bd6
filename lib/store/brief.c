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

static __attribute__((noinline)) int
brief_open_file(int flags)
{
	char path[PATH_MAX];

	stpcpy(stpcpy(path, process.output), "/" CPPROFDATA_BRIEF_FILE);
	return files_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC | flags, 0600);
}

/* Apart from opening it, so that they need a stack one after the other. */
static __attribute__((noinline)) bool
brief_write_first(int fd, const unsigned *columns, unsigned n,
    const struct cpprofdata_brief *brief)
{
	struct {
		struct cpprofdata_header header;
		struct cpprofdata_brief brief;
	} whole = { .header.n_resources = n, .brief = *brief };
	unsigned i;

	datafile_begin_header(&whole.header);
	whole.header.flags = CPPROFDATA_BRIEF;
	for (i = 0; i < n; i++)
		datafile_describe_resource(columns[i],
		    &whole.header.resources[i]);
	return files_write(fd, &whole, sizeof whole) == sizeof whole;
}

/* A process that opens the file before it is complete finds it not usable. */
static bool
brief_create(const unsigned *columns, unsigned n,
    const struct cpprofdata_brief *brief)
{
	const int fd = process.max_size < sizeof(struct cpprofdata_header) +
	    sizeof *brief ? -1 : brief_open_file(O_CREAT | O_EXCL);
	bool ok;

	if (fd < 0)
		return false;
	ok = brief_write_first(fd, columns, n, brief);
	files_close(fd);
	return ok;
}

bool
brief_add(enum cpprofdata_brief_kind kind, const unsigned *columns, unsigned n,
    uint64_t hits, bool is_of_both, uint64_t cpu_ns)
{
	struct cpprofdata_brief brief = { 0 };
	struct rlimit limit;
	struct stat status;
	bool ok;
	int fd;

	/* With a limit on file sizes, writing might raise SIGXFSZ. */
	if (arch_system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0,
	    (long)&limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
		return false;
	/*
	 * Without process_names, whose page may be untouched.  A name that
	 * fills its place may be longer.
	 */
	if (arch_system_call(SYS_readlink, (long)"/proc/self/exe",
	    (long)brief.executable, sizeof brief.executable, 0) ==
	    sizeof brief.executable)
		return false;
	arch_system_call(SYS_prctl, PR_GET_NAME, (long)brief.name, 0, 0);
	/* The kernel names a program by the name that was executed. */
	if (strncmp(brief.name, process_last_component(brief.executable),
	    sizeof brief.name - 1) != 0) {
		process_read_names();
		if (process_names.has_link && strlen(process_names.started_as) <
		    sizeof brief.executable)
			strncpy(brief.executable, process_names.started_as,
			    sizeof brief.executable);
	}
	brief.pid = process_own.pid;
	brief.parent_pid = process_own.parent_pid;
	brief.start_ns = process_own.start_ns;
	brief.cpu_ns = cpu_ns;
	brief.count.hits = hits;
	brief.count.samples = 1;
	brief.kind = (uint8_t)kind;
	brief.is_of_both = is_of_both;
	fd = brief_open_file(0);
	if (fd >= 0) {
		/* A regular file of this user that ends at a record boundary. */
		ok = files_status(fd, &status) == 0 &&
		    S_ISREG(status.st_mode) && status.st_uid ==
		    (uid_t)arch_system_call(SYS_geteuid, 0, 0, 0, 0) &&
		    status.st_nlink == 1 &&
		    status.st_size >= CPPROFDATA_HEADER_SIZE &&
		    status.st_size % sizeof brief == 0 &&
		    (uint64_t)status.st_size + sizeof brief <=
		    process.max_size &&
		    files_write(fd, &brief, sizeof brief) == sizeof brief;
		files_close(fd);
	} else {
		ok = errno == ENOENT && brief_create(columns, n, &brief);
	}
	if (!ok)
		return false;
	datafile_note_brief();
	shared_count_recorded();
	return true;
}
