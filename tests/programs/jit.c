/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit.c -- runs code that it generates, and reports it as requested.
 *
 * jit WORDS...
 *	map: writes /tmp/perf-PID.map
 *	dump: writes ./jit-PID.dump
 *	dispatch: enters the functions as interpreters do, without a call
 *	MS: the time to run, three quarters in one function, one in another
 *
 * Prints what each used by its own clock.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void function(void);

static uint64_t
cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A frame with a frame pointer around a loop of n iterations. */
static size_t
make_loop(unsigned char *code, uint64_t n)
{
	static const unsigned char head[] = { 0x55, 0x48, 0x89, 0xe5, 0x48,
		0xb9 };
	static const unsigned char tail[] = { 0x48, 0xff, 0xc9, 0x75, 0xfb,
		0x5d, 0xc3 };

	memcpy(code, head, sizeof head);
	memcpy(code + sizeof head, &n, sizeof n);
	memcpy(code + sizeof head + sizeof n, tail, sizeof tail);
	return sizeof head + sizeof n + sizeof tail;
}

/* Jumps to a function, which returns to the code after the jump. */
static void
make_dispatcher(unsigned char *code, const unsigned char *to)
{
	static const unsigned char head[] = { 0x55, 0x48, 0x89, 0xe5,
		0x48, 0x8d, 0x05, 21, 0, 0, 0,	/* lea back(%rip), %rax */
		0x50, 0x48, 0xb8 };
	static const unsigned char tail[] = { 0xff, 0xe0,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x5d, 0xc3 };			/* back */

	memcpy(code, head, sizeof head);
	memcpy(code + sizeof head, &to, sizeof to);
	memcpy(code + sizeof head + sizeof to, tail, sizeof tail);
}

static void
put_load(FILE *file, const unsigned char *code, size_t size, const char *name)
{
	const uint64_t numbers[5] = { 0, (uintptr_t)code, (uintptr_t)code,
		size, 0 };
	const uint64_t lines[2] = { (uintptr_t)code, 1 };
	const uint32_t line[2] = { 42, 0 };
	uint32_t head[4] = { 2, 16 + 16 + 16 + 5 };

	fwrite(head, sizeof head, 1, file);
	fwrite(lines, sizeof lines, 1, file);
	fwrite(lines, 8, 1, file);
	fwrite(line, sizeof line, 1, file);
	fwrite("a.js", 5, 1, file);
	head[0] = 0;
	head[1] = (uint32_t)(16 + sizeof numbers + strlen(name) + 1 + size);
	fwrite(head, sizeof head, 1, file);
	fwrite(numbers, sizeof numbers, 1, file);
	fwrite(name, strlen(name) + 1, 1, file);
	fwrite(code, size, 1, file);
}

static void
tell(const char *how, unsigned char *one, unsigned char *other, size_t size)
{
	const uint32_t header[10] = { 0x4a695444, 1, 40, 62, 0,
		(uint32_t)getpid() };
	int is_map = strcmp(how, "map") == 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, is_map ? "/tmp/perf-%d.map" :
	         "jit-%d.dump", (int)getpid());
	file = fopen(path, "w");
	if (file == NULL)
		exit(2);
	if (is_map) {
		fprintf(file, "%lx %zx made::three quarters\n",
		        (unsigned long)(uintptr_t)one, size);
		fprintf(file, "%lx %zx made::one quarter\n",
		        (unsigned long)(uintptr_t)other, size);
	} else {
		fwrite(header, sizeof header, 1, file);
		put_load(file, one, size, "dumped::three quarters");
		put_load(file, other, size, "dumped::one quarter");
	}
	fclose(file);
}

int
main(int argc, char **argv)
{
	uint64_t wanted = 300, n[2] = { 0 }, begin, at;
	size_t entry = 0;
	unsigned char *code = mmap(NULL, 8192,
	    PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	size_t size;

	if (code == MAP_FAILED)
		return 3;
	size = make_loop(code, 300000);
	make_loop(code + 4096, 100000);
	for (size_t i = 0; i < 8192; i += 4096) {
		make_dispatcher(code + i + 1024, code + i);
		make_dispatcher(code + i + 2048, code + i + 1024);
	}
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "dispatch") == 0)
			entry = 2048;
		else if (argv[i][0] >= '0' && argv[i][0] <= '9')
			wanted = strtoul(argv[i], NULL, 10);
		else
			tell(argv[i], code, code + 4096, size);
	begin = at = cpu_ns();
	while (at - begin < wanted * 1000000) {
		uint64_t middle;

		((function *)(uintptr_t)(code + entry))();
		middle = cpu_ns();
		((function *)(uintptr_t)(code + 4096 + entry))();
		n[0] += middle - at;
		at = cpu_ns();
		n[1] += at - middle;
	}
	printf("%d %.4f\n", (int)getpid(),
	       (double)n[0] / (double)(n[0] + n[1]));
	return 0;
}
