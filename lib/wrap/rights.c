/* SPDX-License-Identifier: MIT */
/* rights.c -- calls after which the recording's file may be impossible to open.
 *
 * The first sample creates the file, and growing it opens it by name.  So
 * before the program changes its user, its root or its namespaces, the file is
 * created if necessary and a descriptor is kept open.
 */
#include <sched.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "lib/base/exported.h"
#include "lib/base/real.h"
#include "lib/base/sampling.h"
#include "lib/base/thread.h"
#include "lib/run/sample.h"
#include "lib/store/datafile.h"

static void
keep_file(void)
{
	if (!sampling_check_process() || !sampling_is_own_process())
		return;
	thread_hold_off();
	sample_prepare_file();
	datafile_keep_open();
	thread_resume();
}

#define RIGHTS(name, parameters, arguments)	\
EXPORTED int					\
name parameters					\
{						\
	keep_file();				\
	return real()->name arguments;		\
}

RIGHTS(setuid, (uid_t user), (user))
RIGHTS(seteuid, (uid_t user), (user))
RIGHTS(setreuid, (uid_t user, uid_t effective), (user, effective))
RIGHTS(setresuid, (uid_t user, uid_t effective, uid_t saved),
    (user, effective, saved))
RIGHTS(setfsuid, (uid_t user), (user))
RIGHTS(chroot, (const char *path), (path))
RIGHTS(unshare, (int flags), (flags))
RIGHTS(setns, (int fd, int flags), (fd, flags))
