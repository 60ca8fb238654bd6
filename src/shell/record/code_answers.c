/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_answers.c -- writes rules for code without unwind tables while the
 * program runs.
 *
 * The collector asks for them when it meets such code (lib/cpprof-shared.h), and
 * a thread here reads the module's code and writes a file to the recording's
 * directory (lib/cpprof-code.h).  Any process of the recording may ask for
 * anything, so a question is copied before it is looked at; what one answer and
 * all together may take is bounded.
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"
#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/worker.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/unwind/code_rules.h"

enum {
	CODE_ANSWERS_MAX = 512,		/* files */
};

#define CODE_ANSWER_NS 10000000000	/* CPU time for one of them, */
#define CODE_ANSWERS_NS 60000000000	/* and for all */

struct code_answers {
	struct cpprof_shared *shared;
	int directory;		/* the recording's; not owned */
	const char *symfs;
	struct worker *worker;
	uint64_t keys[CODE_ANSWERS_MAX];	/* [n] of those answered */
	size_t n;
	uint64_t end_ns;	/* of the present answer, by this thread's CPU
				 * clock */
	atomic_bool is_over;
};

static bool
code_answers_end_now(void *context)
{
	const struct code_answers *answers = context;

	return answers->is_over ||
	    clock_ns(CLOCK_THREAD_CPUTIME_ID) >= answers->end_ns;
}

/* Readers see all of the file or nothing. */
static void
code_answers_write(const struct code_answers *answers, uint64_t key,
                   const unsigned char *bytes, size_t size)
{
	char name[CPPROF_CODE_NAME_SIZE], temporary[sizeof name + 4];
	bool is_written;
	int file;

	cpprof_code_name(key, name);
	snprintf(temporary, sizeof temporary, "%s.new", name);
	file = openat(answers->directory, temporary, O_WRONLY | O_CREAT |
	              O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	is_written = write(file, bytes, size) == (ssize_t)size;
	if (close(file) != 0 || !is_written ||
	    renameat(answers->directory, temporary, answers->directory,
	             name) != 0)
		unlinkat(answers->directory, temporary, 0);
}

static bool
code_answers_is_known(const struct code_answers *answers, uint64_t key)
{
	for (size_t i = 0; i < answers->n; i++)
		if (answers->keys[i] == key)
			return true;
	return false;
}

static void
code_answers_make(struct code_answers *answers,
                  const struct cpprof_code_module *asked)
{
	const uint64_t key = cpprof_code_key(asked);
	const uint64_t now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const struct module_file module = {
		.path = asked->path,
		.build_id = asked->build_id,
		.build_id_size = asked->build_id_size,
		.size = asked->file_size,
		.mtime_ns = asked->file_mtime_ns,
		.search = { .root = answers->symfs },
	};
	struct error error = { 0 };
	unsigned char *bytes;
	size_t size;

	if (answers->n == CODE_ANSWERS_MAX || now >= CODE_ANSWERS_NS ||
	    code_answers_is_known(answers, key))
		return;
	answers->keys[answers->n++] = key;
	answers->end_ns = now + CODE_ANSWER_NS;
	if (code_file_make(&module, code_answers_end_now, answers, &bytes,
	                   &size, &error) != 0)
		return;
	if (!answers->is_over)
		code_answers_write(answers, key, bytes, size);
	free(bytes);
}

/* A copy of a question, which nobody changes; false: it cannot be one. */
static bool
code_answers_take(struct cpprof_shared_code *code,
                  struct cpprof_code_module *asked)
{
	if (__atomic_load_n(&code->state, __ATOMIC_ACQUIRE) !=
	    CPPROF_SHARED_CODE_ASKED)
		return false;
	*asked = code->module;
	__atomic_store_n(&code->state, CPPROF_SHARED_CODE_FREE,
	                 __ATOMIC_RELEASE);
	return asked->build_id_size <= sizeof asked->build_id &&
	    (asked->build_id_size > 0 || asked->file_size > 0) &&
	    asked->path[0] == '/' &&
	    memchr(asked->path, '\0', sizeof asked->path) != NULL;
}

static void
code_answers_run(void *context)
{
	struct code_answers *answers = context;
	struct cpprof_shared *shared = answers->shared;
	struct cpprof_code_module asked;
	uint32_t seen = 0;

	while (!answers->is_over) {
		const uint32_t n_asked = __atomic_load_n(
		    &shared->n_codes_asked, __ATOMIC_ACQUIRE);

		if (n_asked == seen)
			syscall(SYS_futex, &shared->n_codes_asked, FUTEX_WAIT,
			        seen, NULL, NULL, 0);
		seen = n_asked;
		for (size_t i = 0; i < CPPROF_SHARED_CODES &&
		     !answers->is_over; i++) {
			if (!code_answers_take(&shared->codes[i], &asked))
				continue;
			code_answers_make(answers, &asked);
			__atomic_fetch_add(&shared->n_codes_answered, 1,
			                   __ATOMIC_RELEASE);
		}
	}
}

struct code_answers *
code_answers_start(const struct recording *recording,
                   const struct sampled_time *time, const char *symfs)
{
	struct error ignored = { 0 };
	struct code_answers *answers = time->shared == NULL ? NULL :
	    memory_array(1, sizeof *answers, &ignored);

	if (answers == NULL)
		return NULL;
	answers->shared = time->shared;
	answers->directory = recording->directory;
	answers->symfs = symfs;
	answers->worker = worker_new();
	/* Without a thread, the job would be done here. */
	if (answers->worker != NULL) {
		__atomic_store_n(&answers->shared->answers_codes, 1,
		                 __ATOMIC_RELEASE);
		worker_start(answers->worker, code_answers_run, answers);
	}
	return answers;
}

static void
code_answers_remove(int directory)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (code_answers_has(entry->d_name))
			unlinkat(directory, entry->d_name, 0);
	if (entries != NULL)
		closedir(entries);
	else if (copy >= 0)
		close(copy);
}

void
code_answers_end(struct code_answers *answers)
{
	struct cpprof_shared *shared;

	if (answers == NULL)
		return;
	shared = answers->shared;
	answers->is_over = true;
	__atomic_store_n(&shared->answers_codes, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&shared->n_codes_asked, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->n_codes_asked, FUTEX_WAKE, INT_MAX, NULL,
	        NULL, 0);
	worker_free(answers->worker);
	if (answers->n > 0)
		code_answers_remove(answers->directory);
	free(answers);
}

bool
code_answers_has(const char *entry)
{
	const char *key = entry + strlen(CPPROF_CODE_FILE);
	size_t n;

	if (strncmp(entry, CPPROF_CODE_FILE, strlen(CPPROF_CODE_FILE)) != 0)
		return false;
	n = strspn(key, "0123456789abcdef");
	return n == 16 && (key[n] == '\0' || strcmp(key + n, ".new") == 0);
}
