/* SPDX-License-Identifier: MIT */
/* rights.c -- calls after which a file may not be openable any more.
 *
 * The recording's file is made by the first sample, and grows by being opened
 * by name.  Before the program becomes somebody else or moves somewhere else,
 * the file is made if there is none, and opened for good.
 */
#include <sched.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "lib/base/exported.h"
#include "lib/base/real.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/run/threads.h"
#include "lib/store/datafile.h"

static void
keep_file(void)
{
	if (!start_check_process() || !start_is_own_process())
		return;
	threads_hold_off();
	sample_prepare_file();
	datafile_keep();
	threads_resume();
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
