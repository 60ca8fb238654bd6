/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file_watch.c -- watches the directory for files that are closed.
 *
 * The kernel reports a close when the last process that has a file open or
 * mapped ends, whatever ended it.  In case this process is killed together with
 * them, it also notes twice a second which of them are running.
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
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

#include "src/base/clock.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"

#define BEAT_MS 500

void
file_watch_begin(struct file_watch *watch, const char *directory)
{
	watch->directory = directory;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->fd >= 0 && inotify_add_watch(watch->fd,
	        directory, IN_CLOSE_WRITE | IN_ONLYDIR) < 0)
		file_watch_end(watch);
}

void
file_watch_end(struct file_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
}

/* Whether an entry is the file of a process; if so, sets its path. */
static bool
file_watch_is_process_file(const struct file_watch *watch,
                           const char *entry, char path[PATH_MAX])
{
	return cpprofdata_is_file_name(entry, NULL) &&
	    strcmp(entry, CPPROFDATA_BRIEF_FILE) != 0 &&
	    (size_t)snprintf(path, PATH_MAX, "%s/%s", watch->directory,
	                     entry) < PATH_MAX;
}

static void
file_watch_read_events(const struct file_watch *watch)
{
	_Alignas(struct inotify_event) char bytes[16384];
	char path[PATH_MAX];
	ssize_t size;

	while ((size = read(watch->fd, bytes, sizeof bytes)) > 0 ||
	       (size < 0 && errno == EINTR))
		for (char *at = bytes; at < bytes + size;) {
			const struct inotify_event *event = (void *)at;

			if (event->len != 0 && file_watch_is_process_file(watch,
			        event->name, path))
				cpprofdata_note_gone(path);
			at += sizeof *event + event->len;
		}
}

/* Notes which processes run; false if none of them records waits. */
static bool
note_running(const struct file_watch *watch)
{
	DIR *directory = opendir(watch->directory);
	const struct dirent *entry;
	char path[PATH_MAX];
	bool are_kept = true;

	while (are_kept && directory != NULL &&
	       (entry = readdir(directory)) != NULL)
		if (file_watch_is_process_file(watch, entry->d_name, path))
			are_kept = cpprofdata_note_seen(path);
	if (directory != NULL)
		closedir(directory);
	return are_kept;
}

/*
 * Watches until the child ends.  Stops watching if the recording has no waits;
 * returns at once if poll fails.
 */
static void
file_watch_run(struct file_watch *watch, int child)
{
	struct pollfd fds[] = {
		{ .fd = child, .events = POLLIN },
		{ .fd = watch->fd, .events = POLLIN },
	};
	int64_t beat_ms = BEAT_MS, due = clock_ms() + beat_ms, left;

	while (fds[0].revents == 0) {
		left = due - clock_ms();
		if (left <= 0) {
			due = clock_ms();
			if (!note_running(watch)) {
				file_watch_end(watch);
				return;
			}
			/* Use at most a hundredth of the time for it. */
			if ((clock_ms() - due) * 100 > beat_ms)
				beat_ms = (clock_ms() - due) * 100;
			due += beat_ms;
			continue;
		}
		if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
			return;
		file_watch_read_events(watch);
	}
}

void
file_watch_wait(struct file_watch *watch, pid_t child)
{
	int fd = watch->fd >= 0 ?
	    (int)syscall(SYS_pidfd_open, child, 0) : -1;
	siginfo_t info;

	if (fd >= 0)
		file_watch_run(watch, fd);
	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0 &&
	       errno == EINTR)
		;
	if (watch->fd >= 0)
		file_watch_read_events(watch);
	if (fd >= 0)
		close(fd);
}
