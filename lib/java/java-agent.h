/* SPDX-License-Identifier: MIT */
/* java-agent.h -- what the parts of the agent for Java share.
 *
 * java-dump.c writes records, java-agent.c is told of compiled methods, and
 * java-interpreted.c names those that are interpreted.  All functions: any
 * thread, not in a signal handler.
 */
#ifndef CPPROF_JAVA_AGENT_H
#define CPPROF_JAVA_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- java-dump.c ---- */

/* Starts with { 0 }; the owner frees `at`. */
struct agent_bytes {
	char *at;
	size_t n, capacity;
	bool has_failed;		/* for want of memory */
};

void agent_bytes_add(struct agent_bytes *bytes, const void *more, size_t n);

/* Begins a record; returns its place, for agent_record_end. */
size_t agent_record_begin(struct agent_bytes *bytes);
void agent_record_end(struct agent_bytes *bytes, size_t begin, uint32_t kind);

/* Adds a JITDUMP_LOAD: a name for size bytes of code. */
void agent_add_load(struct agent_bytes *bytes, const char *name,
                    const void *address, uint64_t size);

/*
 * Appends "com.example.App.parse(int, java.lang.String)" and a NUL.  The class
 * is com/example/App, the signature (ILjava/lang/String;)V.
 */
void agent_add_method_name(struct agent_bytes *name, const char *class,
                           const char *method, const char *signature);

/* Creates the file in a directory.  False: nothing can be written. */
bool agent_open(const char *directory);

/*
 * Writes records that belong together, unless memory has run out.  After a
 * failure, nothing more is written.
 */
void agent_write(const struct agent_bytes *bytes);

/* ---- java-interpreted.c ---- */

/*
 * Finds HotSpot's structures in the library of that function.  Without them,
 * the others do nothing.
 */
void interpreted_find_layout(const void *function);

/*
 * The interpreter's code, once it is known: the collector, if it is here, tells
 * from now on which methods it meets, and a thread names them.
 */
void interpreted_start(const void *address, uint64_t size);

/* Names those that were met last. */
void interpreted_end(void);

#endif
