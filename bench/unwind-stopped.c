/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind-stopped.c -- stacks of a stopped process: `unwind-stopped PID`.
 *
 * Reads a line for each thread, "TID" and 17 registers in hexadecimal, in the
 * order of DWARF.  Copies the top of its stack as the kernel does for a sample,
 * walks it as record -p does, and prints "TID", then the addresses of the
 * frames, innermost first, and "partial" where the walk ended too early.  Used
 * by gdb-stacks.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "src/sample/sample.h"
#include "src/symbols/names/program.h"

enum { COPY = 8192 };

static void
check(bool holds, const struct error *error)
{
	if (holds && !error->is_set)
		return;
	fprintf(stderr, "unwind-stopped: %s\n", error->text);
	exit(1);
}

/* Tells the machine what the process has mapped. */
static void
read_maps(struct perf_machine *machine, uint32_t pid)
{
	unsigned char bytes[8 + 32 + 5000];
	unsigned long start, limit, offset;
	char line[5000], rights[8], path[4500];
	struct error error = { 0 };
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
		uint64_t numbers[3];
		const uint32_t type = PERF_MMAP, ids[] = { pid, pid };
		const uint16_t misc = PERF_MODE_USER;
		uint16_t size;
		struct perf_record record;

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4400s", &start,
		           &limit, rights, &offset, path) != 5 ||
		    rights[2] != 'x')
			continue;
		numbers[0] = start;
		numbers[1] = limit - start;
		numbers[2] = offset;
		memset(bytes, 0, sizeof bytes);
		memcpy(bytes, &type, 4);
		memcpy(bytes + 4, &misc, 2);
		memcpy(bytes + 8, ids, 8);
		memcpy(bytes + 16, numbers, 24);
		strcpy((char *)bytes + 40, path);
		size = (uint16_t)(40 + (strlen(path) + 8) / 8 * 8);
		memcpy(bytes + 6, &size, 2);
		record = perf_record_at(bytes, 0);
		check(perf_machine_apply(machine, &record, &error) == 0,
		      &error);
	}
	if (maps != NULL)
		fclose(maps);
}

/* Where a frame's address is in the process. */
static uint64_t
runtime_address(const struct perf_space *space,
                const struct sample_frame *frame)
{
	for (size_t i = 0; i < space->n; i++) {
		const struct perf_map *map = &space->maps[i];

		if (map->module == frame->module && map->has_bias &&
		    frame->address - map->bias >= map->start &&
		    frame->address - map->bias < map->end)
			return frame->address - map->bias;
	}
	return frame->address;
}

int
main(int argc, char **argv)
{
	/* From DWARF's order to the kernel's. */
	static const unsigned order[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10,
		11, 12, 13, 14, 15 };
	const struct perf_attr attr = { .user_registers = 0xff01ff };
	const struct symbol_search search = { 0 };
	struct error error = { 0 };
	const uint32_t pid = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
	struct profile *profile = profile_new(&error);
	struct module_cache *modules = module_cache_new(&search, &error);
	struct perf_machine *machine;
	struct sample_space space;
	struct sample_walker *walker;
	unsigned tid;

	check(profile != NULL && modules != NULL, &error);
	machine = perf_machine_new(profile, modules, &error);
	check(machine != NULL, &error);
	space = (struct sample_space){ machine, profile, modules };
	walker = sample_walker_new(&space, &error);
	check(walker != NULL, &error);
	read_maps(machine, pid);
	while (scanf("%u", &tid) == 1) {
		unsigned long registers[17];
		uint64_t ordered[17];
		unsigned char copy[COPY];
		struct iovec local = { copy, COPY }, remote;
		const struct sample_stack *stack;
		struct perf_sample sample = { .pid = pid, .tid = tid, .abi = 2,
			.registers = (const unsigned char *)ordered,
			.stack = copy };
		ssize_t n;

		for (int i = 0; i < 17; i++)
			if (scanf("%lx", &registers[i]) != 1)
				return 1;
		for (int i = 0; i < 17; i++)
			ordered[i] = registers[order[i]];
		remote = (struct iovec){ (void *)registers[7], COPY };
		n = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);
		sample.stack_size = n > 0 ? (uint64_t)n : 0;
		stack = sample_walk(walker, &attr, &sample, &error);
		check(stack != NULL, &error);
		printf("%u", tid);
		for (size_t i = 0; i < stack->n; i++)
			printf(" %lx", (unsigned long)runtime_address(
			    perf_machine_space(machine, pid, &error),
			    &stack->frames[i]));
		puts(stack->is_partial ? " partial" : "");
	}
	sample_walker_free(walker);
	perf_machine_free(machine);
	module_cache_free(modules);
	profile_free(profile);
	return 0;
}
