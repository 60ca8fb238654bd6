/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapped.c -- runs code from a mapping of a file that the loader did not make.
 *
 * mapped again MS: MS of CPU time in a second mapping of this program.
 * mapped moved MS: in a mapping that was then moved by mremap, as V8 does.
 * mapped deleted MS: in one of this program's file after that was removed.
 * mapped memfd MS: in one of a copy in memory.
 * mapped replaced MS: half of it in one, half in code at the same address that
 *	is in no file.
 * mapped FILE MS ADDRESS: in a mapping of another ELF file, which has a
 *	function at that address.
 *
 * Prints the microseconds spent in mapped code.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STAYS __attribute__((noinline, noclone, noipa))

/* Neither uses data or other functions, which would not be where they expect.
 * They have frames without a frame pointer. */

STAYS static uint64_t
mapped_inner(uint64_t n)
{
	volatile uint64_t sum[5] = { 0 };

	for (uint64_t i = 0; i < n; i++)
		sum[i % 5] += i;
	return sum[0];
}

STAYS static uint64_t
mapped_outer(uint64_t n)
{
	volatile uint64_t sum[11] = { n };

	sum[3] = mapped_inner(sum[0]);
	return sum[3] + sum[0];
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

STAYS static double
spend(uint64_t (*function)(uint64_t), double us)
{
	const double start = now();
	volatile uint64_t sum = 0;

	while (now() - start < us)
		sum += function(100000);
	return now() - start;
}

/* Where a function is in this program's file, and the part that is mapped. */
static void
find_part(uintptr_t function, uintptr_t *start, uintptr_t *end,
          unsigned long *offset)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];

	while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %lx", start,
		           end, offset) == 3 &&
		    function >= *start && function < *end)
			break;
	if (maps != NULL)
		fclose(maps);
}

static int
copy_to_memory(int file)
{
	int copy = memfd_create("copy", 0);
	char bytes[4096];
	ssize_t n;

	while ((n = read(file, bytes, sizeof bytes)) > 0)
		if (write(copy, bytes, (size_t)n) != n)
			return -1;
	return copy;
}

static void *
map_code(void *at, int file, size_t size, off_t offset)
{
	void *memory = mmap(at, size, PROT_READ | PROT_EXEC, MAP_PRIVATE |
	                    (at != NULL ? MAP_FIXED : 0), file, offset);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(77);
	}
	return memory;
}

/* Replaces code by a copy in memory that belongs to no file. */
static void
replace(void *code, size_t size)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	                  MAP_ANONYMOUS, -1, 0);

	memcpy(copy, code, size);
	mprotect(copy, size, PROT_READ | PROT_EXEC);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, code) !=
	    code)
		exit(77);
}

static double
run_own(const char *mode, double us)
{
	const uintptr_t function = (uintptr_t)mapped_outer;
	uintptr_t start = 0, end = 0;
	unsigned long offset = 0;
	int file = open("/proc/self/exe", O_RDONLY);
	char name[4096];
	char *code;
	ssize_t n = readlink("/proc/self/exe", name, sizeof name - 1);
	uint64_t (*mapped)(uint64_t);
	double used;

	find_part(function, &start, &end, &offset);
	if (strcmp(mode, "memfd") == 0)
		file = copy_to_memory(file);
	if (strcmp(mode, "deleted") == 0 && n > 0) {
		name[n] = '\0';
		unlink(name);
	}
	code = map_code(NULL, file, end - start, (off_t)offset);
	if (strcmp(mode, "moved") == 0) {
		char *place = mmap(NULL, end - start, PROT_NONE, MAP_PRIVATE |
		                   MAP_ANONYMOUS, -1, 0);

		code = mremap(code, end - start, end - start, MREMAP_MAYMOVE |
		              MREMAP_FIXED, place);
	}
	mapped = (uint64_t (*)(uint64_t))(uintptr_t)(code +
	    (function - start));
	if (strcmp(mode, "replaced") != 0)
		return spend(mapped, us);
	used = spend(mapped, us / 2);
	replace(code, end - start);
	spend(mapped, us / 2);
	return used;
}

static double
run_file(const char *path, double us, uintptr_t address)
{
	int file = open(path, O_RDONLY);
	Elf64_Ehdr elf;
	Elf64_Phdr header;
	char *code;

	if (pread(file, &elf, sizeof elf, 0) != sizeof elf)
		return 0;
	for (int i = 0; i < elf.e_phnum; i++) {
		if (pread(file, &header, sizeof header, (off_t)(elf.e_phoff +
		        (size_t)i * sizeof header)) != sizeof header ||
		    header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		code = map_code(NULL, file, header.p_filesz +
		                header.p_offset % 4096,
		                (off_t)(header.p_offset & -4096ul));
		return spend((uint64_t (*)(uint64_t))(uintptr_t)(code +
		    header.p_offset % 4096 + (address - header.p_vaddr)), us);
	}
	return 0;
}

int
main(int n, char **words)
{
	if (n < 3)
		return 2;
	printf("%.0f\n", n > 3 ?
	       run_file(words[1], 1000 * atof(words[2]),
	                strtoul(words[3], NULL, 16)) :
	       run_own(words[1], 1000 * atof(words[2])));
	return 0;
}
