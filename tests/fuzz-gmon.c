/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-gmon.c -- the reader of gmon.out, on any bytes.
 *
 * 	clang -g -O1 -fsanitize=fuzzer,address,undefined ...
 *
 * The program is ./program, which fuzz.sh makes.  If the input's first byte is
 * even, the program is the rest of the input, and its result is not checked.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/formats/format.h"
#include "src/profile/call_flow.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/program.h"

extern const struct format format_gmon;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void
check_flow(const struct profile *profile)
{
	struct error error = { 0 };
	struct call_flow *flow = call_flow_new(profile->graph,
	                                       names_count(profile->names), 0,
	                                       true, &error);

	require(flow != NULL, error.text);
	for (uint32_t i = 0; i < flow->n_arcs; i++)
		require(flow->arcs[i].hits <=
		        flow->vertices[flow->arcs[i].callee].total, "share");
	call_flow_free(flow);
}

static void
try_profile(const uint8_t *data, size_t size)
{
	struct read_options options = { .program = "./program" };
	struct error error = { 0 };
	struct source *source = source_of_memory("input", data, size, &error);
	struct profile *profile;

	if (source == NULL)
		return;
	profile = format_gmon.read(source, &options, &error);
	source_close(source);
	require((profile == NULL) == error.is_set, "an error and a profile");
	if (profile != NULL)
		check_flow(profile);
	profile_free(profile);
}

static void
try_program(const uint8_t *data, size_t size)
{
	const struct symbol_search search = { .debug_directory = "/nowhere" };
	struct error error = { 0 };
	struct names *names = names_new(&error);
	int descriptor = memfd_create("program", 0);
	struct program *program;
	char path[50];

	require(descriptor >= 0 && names != NULL, "no memory");
	require(write(descriptor, data, size) == (ssize_t)size, "no memory");
	snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
	program = program_read(path, &search, names, &error);
	require((program == NULL) == error.is_set, "an error and a program");
	for (uint32_t i = 0; program != NULL && i < program->functions.n; i++)
		require(program->functions.items[i].start <
		        program->functions.items[i].end, "an empty function");
	program_free(program);
	names_free(names);
	close(descriptor);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	format_gmon.probe(data, size);
	if (size > 0 && data[0] % 2 == 0)
		try_program(data + 1, size - 1);
	else
		try_profile(data, size);
	return 0;
}
