/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines_child.c -- reads debug information in a child process.
 *
 * The child reports through a pipe, in messages that have a kind and may be
 * followed by texts.  It has limits of memory and time, and prints nothing.  If
 * it does not report how it ended, the file counts as damaged.
 */
#include "src/symbols/lines/debug_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum {
	TEXT_MAX = 1 << 16,		/* bytes of a name or path */
	SECONDS_AT_LEAST = 60,		/* and one for each MiB of the file */
	BYTES_AT_LEAST = 1 << 30,
	BYTES_A_BYTE = 32,		/* of the file: it may be compressed */
#ifdef __SANITIZE_ADDRESS__		/* which itself needs much memory */
	LIMITS_MEMORY = 0,
#else
	LIMITS_MEMORY = 1,
#endif
};

enum message_kind { MESSAGE_FOUND, MESSAGE_PROGRESS, MESSAGE_END };

struct child_message {
	uint64_t kind;
	uint64_t a;	/* FOUND: which address; PROGRESS: done; END: state */
	uint64_t b;	/* FOUND: n levels, which follow; PROGRESS: total */
};

enum { N_TEXTS = 4 };	/* function, file, directory and linkage */

/* Followed by the texts of the level. */
struct level_message {
	uint64_t copy;
	uint32_t line, discriminator, start_line;
	uint32_t lengths[N_TEXTS];
};

#define TEXT_NONE UINT32_MAX	/* the length of a text that is NULL */

/* ---- the child ---- */

/* Errors are noticed when the pipe is flushed. */
static void
debug_lines_child_write_message(FILE *pipe, enum message_kind kind, uint64_t a,
                                uint64_t b)
{
	const struct child_message message = { kind, a, b };

	fwrite(&message, sizeof message, 1, pipe);
}

/* Omits a text that is too long to be genuine. */
static void
write_level(FILE *pipe, const struct debug_location *location)
{
	const char *const texts[] = { location->function, location->file,
		location->directory, location->declared.linkage };
	struct level_message level = {
		.copy = location->copy,
		.line = location->line,
		.discriminator = location->discriminator,
		.start_line = location->declared.start_line,
	};

	for (int i = 0; i < N_TEXTS; i++) {
		size_t length = texts[i] == NULL ? TEXT_MAX :
		    strnlen(texts[i], TEXT_MAX);

		level.lengths[i] = length < TEXT_MAX ? (uint32_t)length :
		    TEXT_NONE;
	}
	fwrite(&level, sizeof level, 1, pipe);
	for (int i = 0; i < N_TEXTS; i++)
		if (level.lengths[i] != TEXT_NONE)
			fwrite(texts[i], 1, level.lengths[i], pipe);
}

static int
write_found(void *context, size_t which, const struct debug_location *chain,
            size_t n, struct error *error)
{
	FILE *pipe = context;

	debug_lines_child_write_message(pipe, MESSAGE_FOUND, which, n);
	for (size_t i = 0; i < n; i++)
		write_level(pipe, &chain[i]);
	return ferror(pipe) ? error_set(error, "cannot send the lines: the "
	                                "reader has closed the pipe") : 0;
}

static void
write_progress(void *context, uint64_t done, uint64_t total)
{
	debug_lines_child_write_message(context, MESSAGE_PROGRESS, done, total);
	fflush(context);
}

/* The size of this process, in bytes. */
static uint64_t
address_space(void)
{
	unsigned long long n_pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL)
		return UINT64_MAX / 2;
	if (fscanf(file, "%llu", &n_pages) != 1)
		n_pages = UINT64_MAX / 2 / 4096;
	fclose(file);
	return n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
limit(int resource, uint64_t most)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits) == 0 && limits.rlim_max > most)
		setrlimit(resource, &(struct rlimit){ most, most });
}

/* Limits what a damaged file can do, and silences the library. */
static void
limit_child(const struct elf_file *file)
{
	struct stat status = { 0 };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (file->descriptor >= 0)
		fstat(file->descriptor, &status);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_AT_LEAST + ((uint64_t)status.st_size >> 20));
	if (LIMITS_MEMORY)
		limit(RLIMIT_AS, address_space() + BYTES_AT_LEAST +
		      BYTES_A_BYTE * (uint64_t)status.st_size);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
}

_Noreturn static void
read_and_exit(int descriptor, const struct elf_file *file,
              const struct symbol_search *search,
              const struct debug_lines_request *request)
{
	struct error error = { 0 };
	FILE *pipe = fdopen(descriptor, "w");
	struct progress progress = { write_progress, pipe };
	struct debug_lines_request own = *request;
	enum debug_lines_state state;

	if (pipe == NULL)
		_exit(1);
	own.found = write_found;
	own.context = pipe;
	own.progress = request->progress != NULL ? &progress : NULL;
	limit_child(file);
	if (debug_lines_read(file, search, &own, &state, &error) == 0)
		debug_lines_child_write_message(pipe, MESSAGE_END, state, 0);
	_exit(fflush(pipe) != 0);
}

/* ---- the parent ---- */

/* The reading end of the pipe. */
struct listening {
	const struct debug_lines_request *request;
	int descriptor;
	size_t at, n;			/* in the buffer */
	char buffer[1 << 16];
	struct debug_location chain[DEBUG_CHAIN_MAX];
	char texts[DEBUG_CHAIN_MAX][N_TEXTS][TEXT_MAX];
};

/* Waits for more bytes; false at the end or after Ctrl-C. */
static bool
listen_more(struct listening *listening)
{
	ssize_t n;

	do
		n = read(listening->descriptor, listening->buffer,
		         sizeof listening->buffer);
	while (n < 0 && errno == EINTR && !interrupt_requested);
	listening->at = 0;
	listening->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool
listen_bytes(struct listening *listening, void *bytes, size_t size)
{
	while (size > 0) {
		size_t n = listening->n - listening->at;

		if (n == 0 && !listen_more(listening))
			return false;
		n = listening->n - listening->at;
		if (n > size)
			n = size;
		memcpy(bytes, listening->buffer + listening->at, n);
		listening->at += n;
		bytes = (char *)bytes + n;
		size -= n;
	}
	return true;
}

static bool
hear_level(struct listening *listening, struct debug_location *location,
           char (*texts)[TEXT_MAX])
{
	const char *heard[N_TEXTS] = { NULL };
	struct level_message level;

	if (!listen_bytes(listening, &level, sizeof level))
		return false;
	for (int i = 0; i < N_TEXTS; i++) {
		if (level.lengths[i] == TEXT_NONE)
			continue;
		if (level.lengths[i] >= TEXT_MAX ||
		    !listen_bytes(listening, texts[i], level.lengths[i]))
			return false;
		texts[i][level.lengths[i]] = '\0';
		heard[i] = texts[i];
	}
	*location = (struct debug_location){
		.function = heard[0],
		.copy = level.copy,
		.file = heard[1],
		.directory = heard[2],
		.line = level.line,
		.discriminator = level.discriminator,
		.declared = { heard[3], level.start_line },
	};
	return true;
}

/* 0; or -1: with *error set, or without if the message makes no sense. */
static int
hear_found(struct listening *listening, const struct child_message *message,
           struct error *error)
{
	const struct debug_lines_request *request = listening->request;

	if (message->a >= request->n || message->b == 0 ||
	    message->b > DEBUG_CHAIN_MAX)
		return -1;
	for (uint64_t i = 0; i < message->b; i++)
		if (!hear_level(listening, &listening->chain[i],
		                listening->texts[i]))
			return -1;
	return request->found(request->context, message->a, listening->chain,
	                      message->b, error);
}

/* Reads messages until the end or the first failure. */
static void
hear_all(struct listening *listening, enum debug_lines_state *state,
         struct error *error)
{
	struct child_message message;

	while (listen_bytes(listening, &message, sizeof message)) {
		if (message.kind == MESSAGE_END) {
			if (message.a <= DEBUG_LINES_INCOMPLETE)
				*state = (enum debug_lines_state)message.a;
			return;
		}
		if (message.kind == MESSAGE_PROGRESS ?
		    progress_step(listening->request->progress, message.a,
		                  message.b, error) != 0 :
		    hear_found(listening, &message, error) != 0)
			return;
	}
	progress_step(NULL, 0, 0, error);
}

/* Starts the child; *descriptor is the reading end of its pipe. */
static int
start_child(int *descriptor, pid_t *child, const struct elf_file *file,
            const struct symbol_search *search,
            const struct debug_lines_request *request, struct error *error)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set(error, "cannot make a pipe: %s",
		                 strerror(errno));
	*child = fork();
	if (*child == 0) {
		close(ends[0]);
		read_and_exit(ends[1], file, search, request);
	}
	close(ends[1]);
	if (*child > 0) {
		*descriptor = ends[0];
		return 0;
	}
	error_set(error, "cannot start a process for debug information: %s",
	          strerror(errno));
	close(ends[0]);
	return -1;
}

int
debug_lines_read_in_child(const struct elf_file *file,
                          const struct symbol_search *search,
                          const struct debug_lines_request *request,
                          enum debug_lines_state *state, struct error *error)
{
	struct listening *listening;
	pid_t child = -1;

	*state = DEBUG_LINES_NONE;
	if (!debug_lines_exist(file))
		return 0;
	listening = memory_array(1, sizeof *listening, error);
	if (listening == NULL)
		return -1;
	listening->request = request;
	if (start_child(&listening->descriptor, &child, file, search, request,
	                error) == 0) {
		*state = DEBUG_LINES_DAMAGED;	/* unless the child reports */
		hear_all(listening, state, error);
		close(listening->descriptor);
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(listening);
	return error->is_set ? -1 : 0;
}
