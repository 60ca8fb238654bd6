/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spare_files.c -- makes files for processes that will be recorded.
 *
 * Where the program starts many short processes, each would create a file in its
 * own time.  Once a few have, a thread keeps some ready for the next ones, which
 * rename them (lib/cpprof-shared.h).
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"
#include "src/base/memory.h"
#include "src/base/worker.h"

enum {
	SPARES_READY = 4 * CPPROF_SHARED_SPARES_ASK,
	NEEDED_BEFORE = 4	/* files, before any is made */
};

struct spare_files {
	struct cpprof_shared *shared;
	int directory;		/* the recording's; not owned */
	struct worker *worker;
	atomic_bool is_over;
};

static bool
spare_file_make(const struct spare_files *spares, uint32_t number)
{
	static const char zeros[CPPROF_SHARED_SPARE_SIZE];
	char name[64];
	int file;
	bool is_written;

	snprintf(name, sizeof name, CPPROF_SHARED_SPARE "%u", number);
	file = openat(spares->directory, name, O_WRONLY | O_CREAT | O_EXCL |
	              O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	is_written = write(file, zeros, sizeof zeros) == sizeof zeros;
	if (close(file) == 0 && is_written)
		return true;
	unlinkat(spares->directory, name, 0);
	return false;
}

/*
 * Whether another one is wanted.  Any process may have written how many are
 * taken.
 */
static bool
spare_files_lack(const struct spare_files *spares, uint32_t made)
{
	const uint32_t taken = __atomic_load_n(&spares->shared->n_spares_taken,
	    __ATOMIC_RELAXED);

	return !spares->is_over && taken <= made &&
	    made - taken < SPARES_READY;
}

/* Makes files whenever some were needed, until one cannot be made. */
static void
spare_files_run(void *context)
{
	struct spare_files *spares = context;
	struct cpprof_shared *shared = spares->shared;
	uint32_t made = 0, seen = 0;
	bool is_good = true;

	while (!spares->is_over && is_good) {
		const uint32_t needed = __atomic_load_n(
		    &shared->n_files_needed, __ATOMIC_ACQUIRE);

		if (needed == seen)
			syscall(SYS_futex, &shared->n_files_needed, FUTEX_WAIT,
			        seen, NULL, NULL, 0);
		seen = needed;
		while (needed >= NEEDED_BEFORE && is_good &&
		       spare_files_lack(spares, made)) {
			is_good = spare_file_make(spares, made);
			made += is_good;
			__atomic_store_n(&shared->n_spares, made,
			                 __ATOMIC_RELEASE);
		}
	}
}

struct spare_files *
spare_files_start(const struct recording *recording,
                  const struct sampled_time *time)
{
	struct error ignored = { 0 };
	struct spare_files *spares = time->shared == NULL ? NULL :
	    memory_array(1, sizeof *spares, &ignored);

	if (spares == NULL)
		return NULL;
	spares->shared = time->shared;
	spares->directory = recording->directory;
	spares->worker = worker_new();
	/* Without a thread, the job would be done here. */
	if (spares->worker != NULL)
		worker_start(spares->worker, spare_files_run, spares);
	return spares;
}

/* Those that are left, and those that a process took and could not use. */
static void
spare_files_remove(int directory)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (spare_files_has(entry->d_name))
			unlinkat(directory, entry->d_name, 0);
	if (entries != NULL)
		closedir(entries);
	else if (copy >= 0)
		close(copy);
}

void
spare_files_end(struct spare_files *spares)
{
	struct cpprof_shared *shared;
	bool were_made;

	if (spares == NULL)
		return;
	shared = spares->shared;
	spares->is_over = true;
	__atomic_fetch_add(&shared->n_files_needed, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->n_files_needed, FUTEX_WAKE, INT_MAX, NULL,
	        NULL, 0);
	worker_free(spares->worker);
	/* A process that outlives the program makes its own. */
	were_made = __atomic_exchange_n(&shared->n_spares, 0,
	    __ATOMIC_ACQ_REL) != 0;
	if (were_made)
		spare_files_remove(spares->directory);
	free(spares);
}

bool
spare_files_has(const char *entry)
{
	const char *number = entry + strlen(CPPROF_SHARED_SPARE);

	return strncmp(entry, CPPROF_SHARED_SPARE,
	               strlen(CPPROF_SHARED_SPARE)) == 0 &&
	    *number != '\0' &&
	    number[strspn(number, "0123456789")] == '\0';
}
