/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_process.c -- whether the process of a recording still runs, when
 * it ended, and what its threads waited for.
 *
 * A process that was killed, or has executed another program, cannot record
 * its end.  But the process that writes a file has it mapped, as its list of
 * mappings shows.
 *
 * Times are those of the collector, CLOCK_MONOTONIC, which is never set and is
 * the same for all processes of a machine.  The header has one moment by that
 * clock and in UTC, by which times are converted.
 */
#include "src/formats/cpprofdata/cpprofdata_file.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"

/* ---- who writes a file ---- */

/* A file as it may be in a list of mappings. */
struct process_mapped_file {
	const char *path;	/* absolute */
	ino_t inode;
};

/*
 * Whether a line of /proc/PID/maps ends in a blank and the file's path, or in
 * its last component and has its inode: another mount namespace may have the
 * file elsewhere.  Device numbers there are not always those of stat.
 */
static bool
names_file(const char *line, size_t length,
           const struct process_mapped_file *file)
{
	const char *last = strrchr(file->path, '/');
	size_t n = strlen(file->path);
	uintmax_t inode;

	if (length > 0 && line[length - 1] == '\n')
		length--;
	if (length > n && line[length - n - 1] == ' ' &&
	    memcmp(line + length - n, file->path, n) == 0)
		return true;
	n = last != NULL ? strlen(last) : SIZE_MAX;
	return length > n && memcmp(line + length - n, last, n) == 0 &&
	    sscanf(line, "%*s %*s %*s %*s %ju", &inode) == 1 &&
	    inode == file->inode;
}

enum process_mapped { MAPPED_NOT, MAPPED, MAPPED_UNKNOWN };

static enum process_mapped
process_maps(uint64_t pid, const struct process_mapped_file *file)
{
	enum process_mapped mapped = MAPPED_NOT;
	char name[64], *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%" PRIu64 "/maps", pid);
	maps = fopen(name, "re");
	if (maps == NULL)
		return errno != ENOENT && errno != ESRCH ? MAPPED_UNKNOWN :
		    MAPPED_NOT;
	while (mapped == MAPPED_NOT &&
	       (length = getline(&line, &capacity, maps)) > 0)
		if (names_file(line, (size_t)length, file))
			mapped = MAPPED;
	fclose(maps);
	free(line);
	return mapped;
}

/*
 * Whether process `outer` has the id `pid` in an inner namespace.  The line is
 * "NSpid: 4711 12 1", from the namespace of /proc to the process's own.
 */
static bool
is_inside_as(const char *outer, uint64_t pid)
{
	bool is_found = false;
	char name[64], line[512], *last;
	FILE *status;

	snprintf(name, sizeof name, "/proc/%.20s/status", outer);
	status = fopen(name, "re");
	while (status != NULL && !is_found &&
	       fgets(line, sizeof line, status) != NULL)
		if (strncmp(line, "NSpid:", strlen("NSpid:")) == 0) {
			last = strrchr(line, '\t');
			is_found = last != NULL && last != strchr(line, '\t') &&
			    strtoull(last, NULL, 10) == pid;
			break;
		}
	if (status != NULL)
		fclose(status);
	return is_found;
}

/* By a process of an inner PID namespace, which has another id here. */
static enum process_mapped
inner_process_maps(uint64_t pid, const struct process_mapped_file *file)
{
	DIR *processes = opendir("/proc");
	enum process_mapped mapped = MAPPED_NOT, one;
	const struct dirent *entry;

	while (processes != NULL && mapped != MAPPED &&
	       (entry = readdir(processes)) != NULL) {
		if (*entry->d_name < '1' || *entry->d_name > '9' ||
		    !is_inside_as(entry->d_name, pid))
			continue;
		one = process_maps(strtoull(entry->d_name, NULL, 10), file);
		if (one != MAPPED_NOT)
			mapped = one;
	}
	if (processes != NULL)
		closedir(processes);
	return mapped;
}

/* pid_namespace: of the pid, little-endian as in a header; 0: unknown. */
static enum process_mapped
is_mapped_by(const char *path, uint64_t pid, uint32_t pid_namespace)
{
	char *whole = realpath(path, NULL);
	enum process_mapped mapped = MAPPED_NOT;
	struct stat status, own;
	bool is_ours = pid_namespace == 0 ||
	    stat("/proc/self/ns/pid", &own) != 0 ||
	    (uint32_t)own.st_ino == le32toh(pid_namespace);

	if (whole != NULL && stat(whole, &status) == 0) {
		const struct process_mapped_file file = { whole,
			                                  status.st_ino };

		mapped = is_ours ? process_maps(pid, &file) :
		         inner_process_maps(pid, &file);
	}
	free(whole);
	return mapped;
}

/* Whether the header's process keeps waits and has no recorded end. */
static bool
lacks_end(const struct cpprofdata_header *header)
{
	return (le32toh(header->flags) & CPPROFDATA_WAITS) != 0 &&
	    (header->end_ns | header->end_mono_ns |
	     header->gone_mono_ns) == 0;
}

/*
 * Opens the file read-only: closing a writable descriptor would notify
 * watchers of the file again.
 */
static bool
cpprofdata_process_read_header(const char *path,
                               struct cpprofdata_header *header)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = pread(fd, header, sizeof *header, 0) == sizeof *header &&
	    memcmp(header->magic, CPPROFDATA_MAGIC,
	           sizeof header->magic) == 0 &&
	    le32toh(header->version) == CPPROFDATA_VERSION;
	close(fd);
	return ok;
}

/* The process that has the file of the header's process mapped. */
static uint64_t
cpprofdata_process_writer(const struct cpprofdata_header *header, uint64_t pid)
{
	return (le32toh(header->flags) & CPPROFDATA_OUTSIDE) != 0 ?
	    le32toh(header->writer_pid) : pid;
}

bool
cpprofdata_is_written_by(const char *path, uint64_t pid)
{
	struct cpprofdata_header header = { .pid_namespace = 0 };

	if (cpprofdata_process_read_header(path, &header))
		pid = cpprofdata_process_writer(&header, pid);
	return is_mapped_by(path, pid, header.pid_namespace) == MAPPED;
}

/* Writes the present moment to a field of the header. */
static void
write_now(const char *path, size_t field)
{
	uint64_t ns = htole64(clock_ns(CLOCK_MONOTONIC));
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (pwrite(fd, &ns, sizeof ns, (off_t)field) < 0)
		ns = 0;		/* then it stays as it was */
	close(fd);
}

void
cpprofdata_note_gone(const char *path)
{
	struct cpprofdata_header header;

	if (cpprofdata_process_read_header(path, &header) &&
	    lacks_end(&header) &&
	    is_mapped_by(path, cpprofdata_process_writer(&header,
	        le32toh(header.pid)), header.pid_namespace) == MAPPED_NOT)
		write_now(path, offsetof(struct cpprofdata_header,
		                         gone_mono_ns));
}

bool
cpprofdata_note_seen(const char *path)
{
	struct cpprofdata_header header;

	if (!cpprofdata_process_read_header(path, &header))
		return true;
	if (lacks_end(&header) &&
	    is_mapped_by(path, cpprofdata_process_writer(&header,
	        le32toh(header.pid)), header.pid_namespace) == MAPPED)
		write_now(path, offsetof(struct cpprofdata_header,
		                         seen_mono_ns));
	return (le32toh(header.flags) & CPPROFDATA_WAITS) != 0;
}

/* ---- ends and waits ---- */

/* Loads a thread's wait; false if there is none, or it is being written. */
static bool
load_wait(const struct cpprofdata_file *file, const unsigned char *thread,
          struct cpprofdata_wait *wait)
{
	memcpy(wait, thread + offsetof(struct cpprofdata_thread, wait),
	       sizeof *wait);
	wait->since_ns = le64toh(wait->since_ns);
	wait->node = le32toh(wait->node);
	wait->columns = le32toh(wait->columns);
	wait->left = le64toh(wait->left);
	wait->io_left = le64toh(wait->io_left);
	wait->gathered_ns = le64toh(wait->gathered_ns);
	wait->check_ns = le64toh(wait->check_ns);
	/* No thread waits for longer than the process has existed. */
	return wait->since_ns == wait->check_ns &&
	    wait->since_ns >= file->header.start_mono_ns &&
	    wait->since_ns != 0;
}

/* The latest moment known from a sample, a wait or `record`. */
static uint64_t
last_sign_of_life(const struct cpprofdata_file *file)
{
	const struct cpprofdata_header *header = &file->header;
	struct cpprofdata_record record = { 0 };
	uint64_t last = header->start_mono_ns;
	struct cpprofdata_wait wait;

	if (header->last_sample_ns > header->start_ns)
		last += header->last_sample_ns - header->start_ns;
	if (header->seen_mono_ns > last)
		last = header->seen_mono_ns;
	while (cpprofdata_next(&file->runs[CPPROFDATA_THREADS], file->bytes,
	                       &record))
		if (load_wait(file, record.bytes, &wait) &&
		    wait.since_ns > last)
			last = wait.since_ns;
	return last;
}

struct cpprofdata_end
cpprofdata_find_end(const struct cpprofdata_file *file)
{
	const struct cpprofdata_header *header = &file->header;
	struct cpprofdata_end end = { .is_seen = true };

	if (header->end_ns == 0)
		end.is_running = cpprofdata_is_written_by(file->name,
		                                          header->pid);
	if (end.is_running) {
		end.mono_ns = clock_ns(CLOCK_MONOTONIC);
		end.utc_ns = clock_ns(CLOCK_REALTIME);
		return end;
	}
	if (header->end_mono_ns != 0) {
		end.mono_ns = header->end_mono_ns;
	} else if (header->gone_mono_ns != 0) {
		end.mono_ns = header->gone_mono_ns;
	} else {
		end.is_seen = header->end_ns != 0;
		end.mono_ns = last_sign_of_life(file);
	}
	end.utc_ns = header->end_ns;
	if (end.utc_ns != 0)
		return end;
	if (header->start_mono_ns != 0 &&
	    end.mono_ns >= header->start_mono_ns)
		end.utc_ns = header->start_ns +
		    (end.mono_ns - header->start_mono_ns);
	/* While a machine is suspended, the monotonic clock stops. */
	if (end.utc_ns < header->last_sample_ns)
		end.utc_ns = header->last_sample_ns;
	return end;
}

/*
 * Feeds gticks to a thread's meter in its saved state; see lib/base/meter.h.
 */
static uint64_t
feed(uint64_t gticks, uint64_t interval, uint64_t *left)
{
	uint64_t beyond, hits;

	if (*left == 0 || *left > 2 * interval)
		*left = interval;
	if (gticks < *left) {
		*left -= gticks;
		return 0;
	}
	beyond = gticks - *left;
	hits = 1 + beyond / interval;
	*left = interval - beyond % interval;
	return hits;
}

/* Whether it counts all waits, not only those in calls that read and write. */
static bool
counts_all_waits(const struct cpprofdata_file *file, uint32_t resource)
{
	const struct count_kind *kind = cpprofdata_count_kind(file, resource);

	return kind != NULL && kind->measures_waits;
}

size_t
cpprofdata_wait_charges(const struct cpprofdata_file *file,
                        const struct cpprofdata_end *end, uint32_t number,
                        struct cpprofdata_charge *charges, bool *waits)
{
	const unsigned char *thread = cpprofdata_record_at(file,
	    CPPROFDATA_THREADS, number);
	struct cpprofdata_wait wait;
	uint64_t passed_us, gathered_ns, gathered_until;
	size_t n = 0;

	*waits = false;
	if ((file->header.flags & CPPROFDATA_WAITS) == 0 || thread == NULL ||
	    !load_wait(file, thread, &wait) || end->mono_ns < wait.since_ns)
		return 0;
	*waits = wait.columns != 0;
	passed_us = (end->mono_ns - wait.since_ns) / 1000;
	gathered_ns = wait.gathered_ns;
	gathered_until = *waits ? wait.since_ns : end->mono_ns;
	if (!*waits)
		gathered_ns += end->mono_ns - wait.since_ns;
	for (uint32_t r = 0; r < file->n_named; r++) {
		uint64_t interval = file->header.resources[r].interval;
		uint64_t *left = counts_all_waits(file, r) ? &wait.left :
		    &wait.io_left;

		if ((wait.columns >> r & 1) != 0)
			charges[n++] = (struct cpprofdata_charge){
				r, wait.node, true,
				feed(passed_us, interval, left),
				wait.since_ns, end->mono_ns,
			};
		if (counts_all_waits(file, r))
			charges[n++] = (struct cpprofdata_charge){
				r, CPPROFDATA_NO_NODE, false,
				feed(gathered_ns / 1000, interval, left),
				gathered_ns < gathered_until ?
				gathered_until - gathered_ns : 0,
				gathered_until,
			};
	}
	return n;
}
