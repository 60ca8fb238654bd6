/* SPDX-License-Identifier: MIT */
/* java-dump.c -- the agent's file: DIRECTORY/jit-PID.dump.
 *
 * In perf's jitdump format (lib/jitdump.h) without the code itself.  What
 * belongs together is one write, so that the file is valid if the machine is
 * killed.
 */
#include "lib/java/java-agent.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/jitdump.h"

enum { MACHINE_X86_64 = 62 };

/* Its lock is never held while the machine is asked something. */
static struct {
	pthread_mutex_t lock;
	int file;			/* -1: nothing is written any more */
	uint64_t n_loads;
} dump = { .lock = PTHREAD_MUTEX_INITIALIZER, .file = -1 };

void
agent_bytes_add(struct agent_bytes *bytes, const void *more, size_t n)
{
	if (bytes->capacity - bytes->n < n) {
		size_t capacity = 2 * (bytes->n + n) + 4096;
		char *new = realloc(bytes->at, capacity);

		if (new == NULL) {
			bytes->has_failed = true;
			return;
		}
		bytes->at = new;
		bytes->capacity = capacity;
	}
	memcpy(bytes->at + bytes->n, more, n);
	bytes->n += n;
}

static uint64_t
now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Begins a record; returns its place, for end_record. */
size_t
agent_record_begin(struct agent_bytes *bytes)
{
	const struct jitdump_record head = { 0 };

	agent_bytes_add(bytes, &head, sizeof head);
	return bytes->n - sizeof head;
}

void
agent_record_end(struct agent_bytes *bytes, size_t begin, uint32_t kind)
{
	const struct jitdump_record head = { kind,
		(uint32_t)(bytes->n - begin), now_ns() };

	if (!bytes->has_failed)
		memcpy(bytes->at + begin, &head, sizeof head);
}

void
agent_write(const struct agent_bytes *bytes)
{
	if (bytes->has_failed || bytes->n > INT32_MAX)
		return;
	pthread_mutex_lock(&dump.lock);
	if (dump.file >= 0 &&
	    write(dump.file, bytes->at, bytes->n) != (ssize_t)bytes->n) {
		/* After a part of a record no other can be read. */
		close(dump.file);
		dump.file = -1;
	}
	pthread_mutex_unlock(&dump.lock);
}

void
agent_add_load(struct agent_bytes *bytes, const char *name, const void *address,
               uint64_t size)
{
	const struct jitdump_load load = {
		.pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(),
		.virtual_address = (uintptr_t)address,
		.address = (uintptr_t)address, .size = size,
		.index = __atomic_fetch_add(&dump.n_loads, 1,
		                            __ATOMIC_RELAXED),
	};
	const size_t begin = agent_record_begin(bytes);

	agent_bytes_add(bytes, &load, sizeof load);
	agent_bytes_add(bytes, name, strlen(name) + 1);
	agent_record_end(bytes, begin, JITDUMP_LOAD);
}

/*
 * Appends a type of a signature as it is written in Java: "[Ljava/lang/Object;"
 * is java.lang.Object[].  Returns the next type's place.
 */
static const char *
agent_add_type(struct agent_bytes *name, const char *type)
{
	static const char letters[] = "ZBCSIJFDV";
	static const char *const words[] = { "boolean", "byte", "char",
		"short", "int", "long", "float", "double", "void" };
	const char *letter;
	size_t dimensions = strspn(type, "[");

	type += dimensions;
	letter = *type != '\0' ? strchr(letters, *type) : NULL;
	if (*type == 'L') {
		for (type++; *type != '\0' && *type != ';'; type++)
			agent_bytes_add(name, *type == '/' ? "." : type, 1);
	} else if (letter != NULL) {
		agent_bytes_add(name, words[letter - letters],
		          strlen(words[letter - letters]));
	}
	while (dimensions-- > 0)
		agent_bytes_add(name, "[]", 2);
	return *type != '\0' ? type + 1 : type;
}

/*
 * Appends "com.example.App.parse(int, java.lang.String)" and a NUL.  The class
 * is com/example/App.
 */
void
agent_add_method_name(struct agent_bytes *name, const char *class, const char *method,
                const char *signature)
{
	const char *at = signature + 1;

	for (; *class != '\0' && *class != ';'; class++)
		agent_bytes_add(name, *class == '/' ? "." : class, 1);
	agent_bytes_add(name, ".", 1);
	agent_bytes_add(name, method, strlen(method));
	agent_bytes_add(name, "(", 1);
	while (*at != '\0' && *at != ')') {
		at = agent_add_type(name, at);
		if (*at != ')' && *at != '\0')
			agent_bytes_add(name, ", ", 2);
	}
	agent_bytes_add(name, ")", 2);
}

bool
agent_open(const char *directory)
{
	const struct jitdump_header header = {
		.magic = JITDUMP_MAGIC, .version = 1, .size = sizeof header,
		.machine = MACHINE_X86_64, .pid = (uint32_t)getpid(),
		.timestamp = now_ns(),
	};
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof path, "%s/jit-%ld.dump", directory,
	                     (long)getpid()) >= sizeof path)
		return false;
	/* A process that was executed by another has its number. */
	unlink(path);
	dump.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	                 O_APPEND | O_CLOEXEC, 0600);
	if (dump.file >= 0 &&
	    write(dump.file, &header, sizeof header) != sizeof header) {
		close(dump.file);
		dump.file = -1;
	}
	return dump.file >= 0;
}
