/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit.c -- runs code that it generates, and reports it as requested.
 *
 * jit WORDS...
 *	map: writes /tmp/perf-PID.map
 *	dump: writes ./jit-PID.dump
 *	dispatch: enters the functions as interpreters do, without a call
 *	switch: runs on a stack of its own, from which it calls C code on the
 *		thread's stack (as Erlang does); writes its map, too
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

/*
 * To be copied.  Runs f on the stack that ends at %rdi, whose outermost frame
 * has no caller: it returns to `left`, which no call precedes.  f calls h, and
 * that calls %rsi on the thread's stack.
 */
__asm__(
	".pushsection .rodata\n"
	"switched:\n"
	"	push %rbp; push %rbx; push %r12\n"
	"	mov %rsp, %rbx\n"
	"	lea switched_left(%rip), %rax\n"
	"	movq $0, (%rdi)\n"
	"	mov %rax, 8(%rdi)\n"
	"	mov %rdi, %rsp\n"
	"	mov %rdi, %rbp\n"
	"switched_f:\n"
	"	call switched_h\n"
	"	pop %rbp\n"
	"	ret\n"
	"switched_h:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov %rsp, %r12\n"
	"	mov %rbx, %rsp\n"
	"	call *%rsi\n"
	"	mov %r12, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"	nop\n"
	"switched_left:\n"
	"	mov %rbx, %rsp\n"
	"	pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	"switched_end:\n"
	".popsection\n");
extern const unsigned char switched[], switched_f[], switched_h[],
    switched_left[], switched_end[];

__attribute__((noinline)) static void
on_thread_stack(void)
{
	const uint64_t begin = cpu_ns();

	while (cpu_ns() - begin < 10000000)
		;
}

/* The stack lies just below the thread's own, with a gap between. */
static void
run_switched(unsigned char *code, uint64_t ms)
{
	const uintptr_t below = ((uintptr_t)__builtin_frame_address(0) &
	    -(uintptr_t)4096) - ((uintptr_t)64 << 20);
	unsigned char *stack = mmap((void *)below, 65536,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t begin = cpu_ns();
	char path[64];
	FILE *file;

	if (stack == MAP_FAILED)
		exit(3);
	memcpy(code, switched, (size_t)(switched_end - switched));
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (file == NULL)
		exit(2);
	fprintf(file, "%lx %zx made::f\n%lx %zx made::h\n",
	        (unsigned long)(uintptr_t)(code + (switched_f - switched)),
	        (size_t)(switched_h - switched_f),
	        (unsigned long)(uintptr_t)(code + (switched_h - switched)),
	        (size_t)(switched_left - switched_h));
	fclose(file);
	while (cpu_ns() - begin < ms * 1000000)
		((void (*)(unsigned char *, void (*)(void)))(uintptr_t)code)(
		    stack + 65536 - 64, on_thread_stack);
	printf("%d 1\n", (int)getpid());
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
	int is_switched = 0;
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
		else if (strcmp(argv[i], "switch") == 0)
			is_switched = 1;
		else if (argv[i][0] >= '0' && argv[i][0] <= '9')
			wanted = strtoul(argv[i], NULL, 10);
		else
			tell(argv[i], code, code + 4096, size);
	if (is_switched) {
		run_switched(code, wanted);
		return 0;
	}
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
