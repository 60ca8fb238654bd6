/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debuginfod.c -- debug files and sources from debuginfod servers.
 *
 * libdebuginfod brings a dozen libraries for networks, and waits in its calls
 * for servers.  So it is loaded in a child process, made for each file:
 *
 *	parent: debuginfod_fetch		child
 *	  fork                      ------->	limits itself, loads the library
 *	  progress_step             <-------	PROGRESS, each second or more
 *	  SIGINT, after Ctrl-C      ------->	the library removes its half file
 *	  the state and the path    <-------	END
 *
 * A child that says nothing for longer than it may wait is killed.
 */
#include "src/symbols/elf/debuginfod.h"

#include <dirent.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/named_file.h"
#include "src/base/shared_library.h"
#include "src/symbols/elf/elf_file.h"

enum {
	SMALLEST_ID = 8,		/* bytes; lld writes 8, GNU ld 16 or 20 */
	LARGEST_ID = 63,		/* that libdebuginfod takes */
	URLS_FILE_MOST = 4096,		/* bytes of a file of URLs */
	PATIENCE_SECONDS = 20,		/* without a byte */
	LONGEST_SECONDS = 600,		/* for a file */
	SILENCE_SECONDS = 15,		/* of the child, beyond its patience */
	POLL_MS = 100,			/* and between reports of progress */
	FAREWELL_MS = 2000,		/* for the child, after Ctrl-C */
};

static const uint64_t debuginfod_largest = UINT64_C(4) << 30;

/* ---- servers ---- */

/* Adds the words of a text; false: they do not fit. */
static bool
debuginfod_add_words(char *urls, size_t size, const char *words)
{
	size_t length = strlen(urls);

	while (*(words += strspn(words, " \t\n")) != '\0') {
		const size_t n = strcspn(words, " \t\n");

		if (length + n + 2 > size)
			return false;
		if (length > 0)
			urls[length++] = ' ';
		memcpy(urls + length, words, n);
		length += n;
		urls[length] = '\0';
		words += n;
	}
	return true;
}

/* Adds the URLs of a directory's files *.urls. */
static void
debuginfod_read_directory(char *urls, size_t size, const char *directory)
{
	DIR *entries = opendir(directory);
	const struct dirent *entry;

	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		const char *end = strrchr(entry->d_name, '.');
		char path[PATH_MAX], words[URLS_FILE_MOST + 1];
		FILE *file = NULL;

		if (end != NULL && strcmp(end, ".urls") == 0 &&
		    snprintf(path, sizeof path, "%s/%s", directory,
		             entry->d_name) < (int)sizeof path)
			file = fopen(path, "re");
		if (file == NULL)
			continue;
		words[fread(words, 1, URLS_FILE_MOST, file)] = '\0';
		fclose(file);
		debuginfod_add_words(urls, size, words);
	}
	if (entries != NULL)
		closedir(entries);
}

bool
debuginfod_servers(char *urls, size_t size, const char *directory)
{
	const char *own = getenv(DEBUGINFOD_URLS_ENV_VAR);

	urls[0] = '\0';
	if (own != NULL)
		debuginfod_add_words(urls, size, own);
	if (urls[0] == '\0')
		debuginfod_read_directory(urls, size, directory);
	return urls[0] != '\0';
}

/* Whether a list has the word[n]. */
static bool
debuginfod_has_word(const char *list, const char *word, size_t n)
{
	for (; *list != '\0'; list += strspn(list, " ")) {
		const size_t length = strcspn(list, " ");

		if (length == n && memcmp(list, word, n) == 0)
			return true;
		list += length;
	}
	return false;
}

bool
debuginfod_is_set_by_user(const char *directory)
{
	const char *own = getenv(DEBUGINFOD_URLS_ENV_VAR);
	char urls[4 * URLS_FILE_MOST] = "";

	if (own == NULL)
		return false;
	debuginfod_read_directory(urls, sizeof urls, directory);
	while (*(own += strspn(own, " \t\n")) != '\0') {
		const size_t n = strcspn(own, " \t\n");

		if (!debuginfod_has_word(urls, own, n))
			return true;
		own += n;
	}
	return false;
}

/* ---- the cache ---- */

/*
 * The directory, as debuginfod_find_debuginfo(3) says; the fetching child is
 * told the same.  false: there is none.
 */
static bool
debuginfod_cache_directory(char path[PATH_MAX])
{
	const char *own = getenv(DEBUGINFOD_CACHE_PATH_ENV_VAR);
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct stat status;
	int length;

	if (own != NULL && *own != '\0')
		return snprintf(path, PATH_MAX, "%s", own) < PATH_MAX;
	if (home != NULL && *home == '/') {
		length = snprintf(path, PATH_MAX,
		                  "%s/.debuginfod_client_cache", home);
		if (length < PATH_MAX && stat(path, &status) == 0)
			return true;
	}
	if (cache != NULL && *cache != '\0')
		return snprintf(path, PATH_MAX, "%s/debuginfod_client",
		                cache) < PATH_MAX;
	return home != NULL && *home == '/' &&
	    snprintf(path, PATH_MAX, "%s/.cache/debuginfod_client", home) <
	    PATH_MAX;
}

bool
debuginfod_is_build_id(const unsigned char *id, size_t size)
{
	if (size < SMALLEST_ID || size > LARGEST_ID)
		return false;
	for (size_t i = 1; i < size; i++)
		if (id[i] != id[0])
			return true;
	return false;
}

bool
debuginfod_cached_path(const unsigned char *id, size_t size,
                       char path[PATH_MAX])
{
	char directory[PATH_MAX], hex[2 * LARGEST_ID + 1];

	if (!debuginfod_is_build_id(id, size) ||
	    !debuginfod_cache_directory(directory))
		return false;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return snprintf(path, PATH_MAX, "%s/%s/debuginfo", directory, hex) <
	    PATH_MAX;
}

/* ---- limits ---- */

static uint64_t
debuginfod_number(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	char *end;
	long long number;

	if (text == NULL)
		return otherwise;
	number = strtoll(text, &end, 10);
	return end != text && *end == '\0' && number > 0 ? (uint64_t)number :
	       otherwise;
}

unsigned
debuginfod_patience(void)
{
	const uint64_t seconds = debuginfod_number(DEBUGINFOD_TIMEOUT_ENV_VAR,
	                                           PATIENCE_SECONDS);

	return seconds < LONGEST_SECONDS ? (unsigned)seconds : LONGEST_SECONDS;
}

/* ---- the child ---- */

enum debuginfod_message_kind { DEBUGINFOD_PROGRESS, DEBUGINFOD_END };

struct debuginfod_message {
	enum debuginfod_message_kind kind;
	enum debuginfod_state state;	/* of the end */
	int number;			/* an errno, if that failed */
	uint64_t done, total;		/* of progress, in bytes */
	char path[PATH_MAX];		/* of the end */
};

#define DEBUGINFOD_FUNCTIONS(each) \
	each(begin) each(end) each(set_progressfn) each(set_user_data) \
	each(get_user_data) each(get_url) each(set_verbose_fd) \
	each(find_debuginfo) each(find_source)

#define DEBUGINFOD_POINTER(name) __typeof__(debuginfod_##name) *name;
#define DEBUGINFOD_ROW(name) { "debuginfod_" #name, &library.name },

static struct {
	DEBUGINFOD_FUNCTIONS(DEBUGINFOD_POINTER)
} library;

/* What the library's callback works on. */
struct debuginfod_child {
	int pipe;
	uint64_t largest;		/* bytes */
	int64_t deadline_ms, patience_ms;
	int64_t moved_ms;		/* when the last byte came */
	int64_t sent_ms;		/* when progress was reported */
	uint64_t done;			/* bytes then */
	enum debuginfod_state state;	/* why it was cancelled */
};

static void
debuginfod_send(const struct debuginfod_child *child,
                const struct debuginfod_message *message)
{
	const char *bytes = (const char *)message;
	size_t at = 0;

	while (at < sizeof *message) {
		ssize_t n = write(child->pipe, bytes + at,
		                  sizeof *message - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);	/* nobody waits */
		at += (size_t)n;
	}
}

/*
 * The library calls this every second or more often.  Before a server sends
 * something, a counts the calls; then it is bytes, b of which are expected.
 */
static int
debuginfod_report(debuginfod_client *client, long a, long b)
{
	struct debuginfod_child *child = library.get_user_data(client);
	struct debuginfod_message message = { .kind = DEBUGINFOD_PROGRESS };
	const int64_t now = clock_ms();

	if (library.get_url(client) != NULL) {
		message.done = a > 0 ? (uint64_t)a : 0;
		message.total = b > 0 ? (uint64_t)b : 0;
	}
	if (message.done != child->done)
		child->moved_ms = now;
	child->done = message.done;
	if (now - child->sent_ms >= POLL_MS) {
		debuginfod_send(child, &message);
		child->sent_ms = now;
	}
	if (interrupt_requested)
		child->state = DEBUGINFOD_STOPPED;
	else if (message.total > child->largest)
		child->state = DEBUGINFOD_TOO_LARGE;
	else if (now > child->deadline_ms ||
	         now - child->moved_ms > child->patience_ms)
		child->state = DEBUGINFOD_TIMED_OUT;
	return child->state != DEBUGINFOD_FOUND;
}

static enum debuginfod_state
debuginfod_state_of(int number)
{
	switch (number) {
	case ENOENT:
		return DEBUGINFOD_ABSENT;
	case EFBIG:
		return DEBUGINFOD_TOO_LARGE;
	case ETIME:
	case ETIMEDOUT:
		return DEBUGINFOD_TIMED_OUT;
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EMLINK:		/* too many redirections */
		return DEBUGINFOD_UNREACHABLE;
	default:
		return DEBUGINFOD_FAILED;
	}
}

/* What a damaged library, or what a server makes of it, can do. */
static void
debuginfod_limit(const struct debuginfod_child *child)
{
	const struct rlimit no_core = { 0 };
	const struct rlimit file = { child->largest, child->largest };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_FSIZE, &file);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
}

/*
 * Makes the directory and the one that it is in, and tells the library.  0, or
 * an errno.
 */
static int
debuginfod_make_cache(void)
{
	char path[PATH_MAX], *slash;
	struct stat status;

	if (!debuginfod_cache_directory(path))
		return ENOENT;
	setenv(DEBUGINFOD_CACHE_PATH_ENV_VAR, path, 1);
	slash = strrchr(path, '/');
	if (slash != NULL && slash != path) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return errno;
	return stat(path, &status) != 0 ? errno :
	       S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
}

/* Sets what the library reads from the environment, unless the user did. */
static void
debuginfod_set_environment(const struct debuginfod_request *request)
{
	char text[20];

	setenv(DEBUGINFOD_URLS_ENV_VAR, request->servers, 1);
	setenv(DEBUGINFOD_RETRY_LIMIT_ENV_VAR, "0", 0);
	snprintf(text, sizeof text, "%d", LONGEST_SECONDS);
	setenv(DEBUGINFOD_MAXTIME_ENV_VAR, text, 0);
}

/* A transfer that was cancelled left word that there is no such file. */
static void
debuginfod_forget_absence(const struct debuginfod_request *request)
{
	struct stat status;
	char path[PATH_MAX];

	if (request->source == NULL &&
	    debuginfod_cached_path(request->build_id, request->build_id_size,
	                           path) &&
	    stat(path, &status) == 0 && status.st_size == 0)
		unlink(path);
}

/*
 * Whether a server failed.  The library says of most failures that there is no
 * such file; what it tells of itself has curl's words for them.
 */
static bool
debuginfod_was_broken(int told)
{
	static const char *const failures[] = {
		"returned error: 5",		/* HTTP 500 and the like */
		"Empty reply from server",
		"transfer closed with",		/* bytes missing */
		"end of response with",		/* likewise */
		"SSL connect error",
	};
	char text[8192];
	const off_t end = told < 0 ? 0 : lseek(told, 0, SEEK_END);
	const off_t start = end > (off_t)sizeof text ?
	                    end - (off_t)sizeof text : 0;
	const ssize_t n = end <= 0 ? 0 : pread(told, text, sizeof text, start);

	for (size_t i = 0; n > 0 && i < sizeof failures / sizeof *failures; i++)
		if (memmem(text, (size_t)n, failures[i],
		           strlen(failures[i])) != NULL)
			return true;
	return false;
}

/* Fetches in the child. */
static void
debuginfod_find(struct debuginfod_child *child,
                const struct debuginfod_request *request,
                struct debuginfod_message *end)
{
	debuginfod_client *client = library.begin();
	const int size = (int)request->build_id_size;
	const int told = memfd_create("debuginfod", MFD_CLOEXEC);
	char *path = NULL;
	int found;

	if (client == NULL) {
		end->number = ENOMEM;
		end->state = DEBUGINFOD_FAILED;
		return;
	}
	library.set_user_data(client, child);
	library.set_progressfn(client, debuginfod_report);
	library.set_verbose_fd(client, told);
	found = request->source != NULL ?
	    library.find_source(client, request->build_id, size,
	                        request->source, &path) :
	    library.find_debuginfo(client, request->build_id, size, &path);
	if (found >= 0 && path != NULL && strlen(path) < sizeof end->path) {
		strcpy(end->path, path);
		end->state = DEBUGINFOD_FOUND;
	} else if (child->state != DEBUGINFOD_FOUND) {
		end->state = child->state;
		debuginfod_forget_absence(request);
	} else {
		end->number = found < 0 ? -found : EIO;
		end->state = debuginfod_state_of(end->number);
		/* Writing failed: there was no room, or the limit came. */
		if (end->number == EIO && child->done > 0)
			end->state = DEBUGINFOD_TOO_LARGE;
		if (end->state == DEBUGINFOD_ABSENT &&
		    debuginfod_was_broken(told)) {
			end->state = DEBUGINFOD_UNREACHABLE;
			debuginfod_forget_absence(request);
		}
	}
	library.end(client);
}

static bool
debuginfod_load(void)
{
	static const struct shared_library_function functions[] = {
		DEBUGINFOD_FUNCTIONS(DEBUGINFOD_ROW)
	};

	return shared_library_load(DEBUGINFOD_SONAME, functions,
	                           sizeof functions / sizeof *functions);
}

_Noreturn static void
debuginfod_find_and_exit(int pipe, const struct debuginfod_request *request)
{
	const int64_t now = clock_ms();
	struct debuginfod_child child = {
		.pipe = pipe,
		.largest = debuginfod_number(DEBUGINFOD_MAXSIZE_ENV_VAR,
		                             debuginfod_largest),
		.deadline_ms = request->deadline_ms,
		.patience_ms = (int64_t)debuginfod_patience() * 1000,
		.moved_ms = now,
	};
	struct debuginfod_message end = {
		.kind = DEBUGINFOD_END,
		.state = DEBUGINFOD_NO_LIBRARY,
	};

	debuginfod_limit(&child);
	debuginfod_set_environment(request);
	end.number = debuginfod_make_cache();
	if (end.number != 0)
		end.state = DEBUGINFOD_FAILED;
	else if (debuginfod_load())
		debuginfod_find(&child, request, &end);
	debuginfod_send(&child, &end);
	_exit(0);
}

/* ---- the parent ---- */

/* The reading end of the pipe. */
struct debuginfod_hearing {
	int pipe;
	size_t at;			/* bytes of the message so far */
	struct debuginfod_message message;
};

/*
 * Reads what the child wrote.  1: a whole message; 0: a part of one; -1: there
 * will be none.
 */
static int
debuginfod_hear(struct debuginfod_hearing *hearing)
{
	char *bytes = (char *)&hearing->message;
	const ssize_t n = read(hearing->pipe, bytes + hearing->at,
	                       sizeof hearing->message - hearing->at);

	if (n < 0)
		return errno == EINTR ? 0 : -1;
	if (n == 0)
		return -1;
	hearing->at += (size_t)n;
	if (hearing->at < sizeof hearing->message)
		return 0;
	hearing->at = 0;
	return 1;
}

/* How the child ended, by its own account. */
static void
debuginfod_take_end(const struct debuginfod_message *message,
                    struct debuginfod_message *end)
{
	*end = *message;
	end->path[sizeof end->path - 1] = '\0';
	if (end->state > DEBUGINFOD_STOPPED)
		end->state = DEBUGINFOD_FAILED;
}

/*
 * Waits for the child's end, which becomes *end.  It may hang, or do what a
 * server makes it do: nothing that it writes is relied on, and after some time
 * it is no longer listened to.
 */
static void
debuginfod_wait(int pipe, pid_t child,
                const struct debuginfod_request *request,
                struct debuginfod_message *end)
{
	const int64_t silence_ms = 1000 *
	    ((int64_t)debuginfod_patience() + SILENCE_SECONDS);
	int64_t limit_ms = clock_ms() + silence_ms;
	struct debuginfod_hearing hearing = { .pipe = pipe };
	struct error interrupted = { 0 };
	struct pollfd ready = { .fd = pipe, .events = POLLIN };
	bool was_told = false;

	*end = (struct debuginfod_message){ .state = DEBUGINFOD_TIMED_OUT };
	while (clock_ms() < limit_ms) {
		int heard = 0;

		if (interrupt_requested && !was_told) {
			kill(child, SIGINT);
			was_told = true;
			end->state = DEBUGINFOD_STOPPED;
			limit_ms = clock_ms() + FAREWELL_MS;
		}
		if (poll(&ready, 1, POLL_MS) > 0)
			heard = debuginfod_hear(&hearing);
		if (heard < 0 && !was_told) {
			end->state = DEBUGINFOD_FAILED;
			end->number = ECHILD;
		}
		if (heard < 0)
			return;
		if (heard > 0 && hearing.message.kind == DEBUGINFOD_END) {
			debuginfod_take_end(&hearing.message, end);
			return;
		}
		if (heard == 0 || was_told)
			continue;
		limit_ms = clock_ms() + silence_ms;
		if (limit_ms > request->deadline_ms + silence_ms)
			limit_ms = request->deadline_ms + silence_ms;
		progress_step(request->progress, hearing.message.done,
		              hearing.message.total, &interrupted);
	}
}

/* Whether all that a file says it has lies within it. */
static bool
debuginfod_is_whole(const struct elf_file *file)
{
	struct stat status;
	Elf_Scn *section = NULL;
	size_t n;

	if (fstat(file->descriptor, &status) != 0 ||
	    elf_getshdrnum(file->elf, &n) != 0 || n == 0)
		return false;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		uint64_t end;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_type != SHT_NOBITS &&
		     (__builtin_add_overflow(header.sh_offset, header.sh_size,
		                             &end) ||
		      end > (uint64_t)status.st_size)))
			return false;
	}
	return true;
}

/* Whether the file at a path is the debug file that was asked for. */
static bool
debuginfod_is_debug_file(const struct debuginfod_request *request,
                         const char *path)
{
	struct elf_file file;
	bool is_right;

	if (elf_file_open_any(&file, path) != ELF_FILE_OPEN)
		return false;
	is_right = elf_file_has_build_id(&file, request->build_id,
	                                 request->build_id_size) &&
	    debuginfod_is_whole(&file);
	elf_file_close(&file);
	return is_right;
}

/* Removes what the cache has in place of a debug file; not word of its absence. */
static void
debuginfod_remove_wrong(const struct debuginfod_request *request,
                        const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && status.st_size > 0 &&
	    !debuginfod_is_debug_file(request, path))
		unlink(path);
}

/* Whether a path is in the cache, and leads nowhere else. */
static bool
debuginfod_is_cached(const char *path)
{
	char directory[PATH_MAX], real[PATH_MAX];

	return realpath(path, real) != NULL &&
	    debuginfod_cache_directory(directory) &&
	    named_file_is_below(real, directory);
}

static enum debuginfod_state
debuginfod_run(const struct debuginfod_request *request, char path[PATH_MAX],
               struct error *why)
{
	struct debuginfod_message end;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		error_set(why, "cannot make a pipe: %s", strerror(errno));
		return DEBUGINFOD_FAILED;
	}
	child = fork();
	if (child == 0) {
		close(ends[0]);
		debuginfod_find_and_exit(ends[1], request);
	}
	close(ends[1]);
	if (child < 0) {
		error_set(why, "cannot start a process: %s", strerror(errno));
		close(ends[0]);
		return DEBUGINFOD_FAILED;
	}
	debuginfod_wait(ends[0], child, request, &end);
	close(ends[0]);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (end.state == DEBUGINFOD_FAILED && end.number == ECHILD)
		error_set(why, "libdebuginfod crashed");
	else if (end.state == DEBUGINFOD_FAILED)
		error_set(why, "%.300s: %s (DEBUGINFOD_CACHE_PATH names another "
		          "cache)", debuginfod_cache_directory(path) ? path :
		          "the cache", strerror(end.number));
	memcpy(path, end.path, PATH_MAX);
	return end.state;
}

static enum debuginfod_state
debuginfod_fetch_debug_file(const struct debuginfod_request *request,
                            char path[PATH_MAX], struct error *why)
{
	enum debuginfod_state state;
	char said[PATH_MAX];

	if (!debuginfod_cached_path(request->build_id, request->build_id_size,
	                            path)) {
		error_set(why, "neither DEBUGINFOD_CACHE_PATH nor HOME is set");
		return DEBUGINFOD_FAILED;
	}
	debuginfod_remove_wrong(request, path);
	state = debuginfod_run(request, said, why);
	if (state != DEBUGINFOD_FOUND || debuginfod_is_debug_file(request, path))
		return state;
	debuginfod_remove_wrong(request, path);
	return DEBUGINFOD_WRONG;
}

enum debuginfod_state
debuginfod_fetch(const struct debuginfod_request *request,
                 char path[PATH_MAX], struct error *why)
{
	enum debuginfod_state state;

	if (!debuginfod_is_build_id(request->build_id,
	                            request->build_id_size))
		return DEBUGINFOD_ABSENT;
	if (request->source == NULL)
		return debuginfod_fetch_debug_file(request, path, why);
	if (*request->source != '/')
		return DEBUGINFOD_ABSENT;
	state = debuginfod_run(request, path, why);
	return state != DEBUGINFOD_FOUND || debuginfod_is_cached(path) ?
	       state : DEBUGINFOD_WRONG;
}
