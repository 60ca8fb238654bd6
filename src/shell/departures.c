/* SPDX-License-Identifier: GPL-3.0-or-later */
/* departures.c -- watches the directory, and notes the time.
 *
 * The kernel tells of a close when the last who has a file open or mapped lets
 * go of it, so a process that goes is told of at once, whatever ended it.
 */
#include "src/shell/departures.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cpprofdata.h"
#include "src/formats/cpprofdata/cpprofdata_writer.h"

void
departures_begin(struct departures *departures, const char *directory)
{
	departures->directory = directory;
	departures->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (departures->fd >= 0 && inotify_add_watch(departures->fd,
	        directory, IN_CLOSE_WRITE | IN_ONLYDIR) < 0)
		departures_end(departures);
}

void
departures_end(struct departures *departures)
{
	if (departures->fd >= 0)
		close(departures->fd);
	departures->fd = -1;
}

static void
note(const struct departures *departures, const struct inotify_event *event)
{
	char path[PATH_MAX];

	if (event->len != 0 && strncmp(event->name, CPPROFDATA_FILE_PREFIX,
	        sizeof CPPROFDATA_FILE_PREFIX - 1) == 0 &&
	    (size_t)snprintf(path, sizeof path, "%s/%s",
	                     departures->directory,
	                     event->name) < sizeof path)
		cpprofdata_note_gone(path);
}

static void
read_events(const struct departures *departures)
{
	_Alignas(struct inotify_event) char bytes[16384];
	ssize_t size;

	while ((size = read(departures->fd, bytes, sizeof bytes)) > 0 ||
	       (size < 0 && errno == EINTR))
		for (char *at = bytes; at < bytes + size;) {
			const struct inotify_event *event = (void *)at;

			note(departures, event);
			at += sizeof *event + event->len;
		}
}

/* False where it cannot be told. */
static bool
has_ended(const struct departures *departures, int child)
{
	struct pollfd fds[] = {
		{ .fd = child, .events = POLLIN },
		{ .fd = departures->fd, .events = POLLIN },
	};

	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		read_events(departures);
		if (fds[0].revents != 0)
			return true;
		fds[0].revents = fds[1].revents = 0;
	}
	return false;
}

void
departures_wait(struct departures *departures, pid_t child)
{
	int fd = departures->fd >= 0 ?
	    (int)syscall(SYS_pidfd_open, child, 0) : -1;
	siginfo_t info;

	if (fd >= 0)
		has_ended(departures, fd);
	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0 &&
	       errno == EINTR)
		;
	if (departures->fd >= 0)
		read_events(departures);
	if (fd >= 0)
		close(fd);
}
