/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-unwind-edges.c -- the collector's unwinder where mappings begin and end.
 *
 * Compilers at run time put code anywhere in the memory that they have mapped: a
 * call may be its first instruction, or its last.  Each case writes such code
 * between two pages that cannot be read, and walks the stack from a function
 * that it calls.  The code's frame and that of the function that entered it must
 * be found, and nothing outside the mapping be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/unwind/unwinder.h"

extern void *__libc_stack_end;

/* What the unwinder needs of the collector. */
struct process_facts process;	/* no code counts as the library's own */
volatile uint32_t sampling_same_process = 1;

void
process_pause(void)
{
}

uint64_t
process_clock(clockid_t clock)
{
	(void)clock;
	return 0;
}

static struct unwinder unwinder;

#define EDGE_PAGE 4096
#define EDGE_CALLER_SIZE 256	/* more than these functions have */

static struct {
	unsigned char *start, *end;	/* of the readable pages */
	uint64_t caller;		/* the function that entered them */
	volatile bool is_done;		/* so that no call of it is the last */
} edge;

/* The walk from here must find code at that address, and who entered that. */
static void
walk_from_edge(uint64_t expected)
{
	const struct walked_frame *frames;
	ucontext_t context;
	size_t i;

	getcontext(&context);
	unwind_remember(&unwinder, 0);
	assert_true(unwind(&unwinder, &context));
	assert_int_equal(unwinder.end, UNWIND_COMPLETE);
	frames = unwinder.stack.frames;
	for (i = 1; i < unwinder.stack.n; i++)
		if (frames[i].address == expected)
			break;
	assert_true(i < unwinder.stack.n);
	while (i > 0 && frames[i].address - edge.caller >= EDGE_CALLER_SIZE)
		i--;
	assert_true(i > 0);
}

static sigjmp_buf out_of_edge;
static uint64_t edge_expects;

static void
walk_below_edge(void)
{
	walk_from_edge(edge_expects);
}

static void
walk_and_leave_edge(void)
{
	walk_from_edge(edge_expects);
	siglongjmp(out_of_edge, 1);
}

static void
walk_in_handler(int number)
{
	(void)number;
	walk_from_edge(edge_expects);
}

static void
edge_begin(void)
{
	unwind_free(&unwinder);
	readable_init(&unwinder.readable,
	    (uintptr_t)__builtin_frame_address(0), (uintptr_t)__libc_stack_end);
}

static void
edge_map(void)
{
	unsigned char *at = mmap(NULL, 4 * EDGE_PAGE, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	edge.start = at + EDGE_PAGE;
	edge.end = at + 3 * EDGE_PAGE;
	assert_int_equal(mprotect(edge.start, 2 * EDGE_PAGE, PROT_READ |
	    PROT_WRITE | PROT_EXEC), 0);
	memset(edge.start, 0xcc, 2 * EDGE_PAGE);
}

static void
edge_unmap(void)
{
	munmap(edge.start - EDGE_PAGE, 4 * EDGE_PAGE);
}

typedef void edge_entry(void (*const *functions)(void));

/*
 * Enters code, whose argument is an array with the function that it calls in
 * [1].
 */
__attribute__((noinline, noclone)) static void
edge_enter(const unsigned char *code, void (*function)(void))
{
	void (*const functions[2])(void) = { NULL, function };

	edge.caller = (uint64_t)(uintptr_t)edge_enter;
	((edge_entry *)(uintptr_t)code)(functions);
	edge.is_done = true;
}

struct edge_call {
	unsigned char size, bytes[7];
};

/* With the function in 8(%rdi) and in %rax. */
static const struct edge_call edge_calls[] = {
	{ 2, { 0xff, 0xd0 } },			/* call *%rax */
	{ 3, { 0xff, 0x57, 8 } },		/* call *8(%rdi) */
	{ 4, { 0xff, 0x54, 0x27, 8 } },		/* with a SIB byte */
	{ 5, { 0xe8, 59, 0, 0, 0 } },		/* call 64 bytes further on */
	{ 6, { 0xff, 0x97, 8, 0, 0, 0 } },	/* a long displacement */
	{ 7, { 0xff, 0x94, 0x27, 8, 0, 0, 0 } },
};

/*
 * A function whose first instruction, at `code`, is that call.  Its entry is
 * 32 bytes further on.  With a frame pointer, or one that holds something else.
 */
static void
edge_write_call(unsigned char *code, const struct edge_call *call,
                bool has_frame, const unsigned char *after, size_t size)
{
	static const unsigned char entry[] = {
		0x55,				/* push %rbp */
		0x48, 0x89, 0xe5,		/* mov %rsp, %rbp */
		0x48, 0x8b, 0x47, 8,		/* mov 8(%rdi), %rax */
		0xeb, 0xd6			/* jmp code */
	}, no_frame[] = { 0x6a, 1, 0x5d };	/* push $1; pop %rbp */

	memcpy(code, call->bytes, call->size);
	memcpy(code + call->size, after, size);
	memcpy(code + 32, entry, sizeof entry);
	if (!has_frame)
		memcpy(code + 33, no_frame, sizeof no_frame);
	memcpy(code + 64, "\xff\xe0", 2);	/* jmp *%rax */
}

/* How compilers at run time end a function that only calls, and another. */
static const struct edge_end {
	bool has_frame;
	unsigned char size, bytes[4];
} edge_ends[] = {
	{ false, 2, { 0x5d, 0xc3 } },		/* pop %rbp; ret */
	{ true, 2, { 0x5d, 0xc3 } },
	{ true, 3, { 0x90, 0x5d, 0xc3 } },	/* nop first */
};

static void
calls_at_the_start_of_a_mapping_are_calls(void **state)
{
	(void)state;
	edge_begin();
	for (size_t i = 0; i < sizeof edge_calls / sizeof *edge_calls; i++)
		for (size_t j = 0; j < sizeof edge_ends / sizeof *edge_ends;
		     j++) {
			edge_map();
			edge_write_call(edge.start, &edge_calls[i],
			    edge_ends[j].has_frame, edge_ends[j].bytes,
			    edge_ends[j].size);
			edge_expects = (uintptr_t)edge.start +
			    edge_calls[i].size - 1u;
			edge_enter(edge.start + 32, walk_below_edge);
			edge_unmap();
		}
}

static void
calls_that_never_return_may_end_a_mapping(void **state)
{
	static const unsigned char entry[] = {
		0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp, %rbp */
		0x48, 0x8b, 0x47, 8,		/* mov 8(%rdi), %rax */
	};

	(void)state;
	edge_begin();
	for (size_t i = 0; i < sizeof edge_calls / sizeof *edge_calls; i++) {
		const struct edge_call *call = &edge_calls[i];
		unsigned char *code;

		if (call->bytes[0] == 0xe8)
			continue;
		edge_map();
		code = edge.end - call->size - sizeof entry;
		memcpy(code, entry, sizeof entry);
		memcpy(edge.end - call->size, call->bytes, call->size);
		edge_expects = (uintptr_t)edge.end - 1;
		if (sigsetjmp(out_of_edge, 1) == 0)
			edge_enter(code, walk_and_leave_edge);
		edge_unmap();
	}
}

static void
functions_may_be_left_across_two_pages(void **state)
{
	(void)state;
	edge_begin();
	for (size_t before = 0; before <= 2; before++) {
		unsigned char *code;

		edge_map();
		code = edge.start + EDGE_PAGE - edge_calls[0].size - before;
		edge_write_call(code, &edge_calls[0], false,
		    edge_ends[0].bytes, edge_ends[0].size);
		edge_expects = (uintptr_t)code + edge_calls[0].size - 1u;
		edge_enter(code + 32, walk_below_edge);
		edge_unmap();
	}
}

/* As the kernel takes it; the C library has a restorer of its own. */
struct edge_action {
	void (*handler)(int);
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

__attribute__((noinline, noclone)) static void
edge_raise(void)
{
	edge.caller = (uint64_t)(uintptr_t)edge_raise;
	syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGUSR1);
	edge.is_done = true;
}

static void
handlers_may_return_to_the_edges_of_a_mapping(void **state)
{
	static const unsigned char code[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	(void)state;
	edge_begin();
	for (int is_at_end = 0; is_at_end <= 1; is_at_end++) {
		struct edge_action old, action = { .handler = walk_in_handler,
			.flags = 0x04000000 };		/* SA_RESTORER */
		unsigned char *at;

		edge_map();
		at = is_at_end ? edge.end - sizeof code : edge.start;
		memcpy(at, code, sizeof code);
		action.restorer = at;
		edge_expects = (uintptr_t)at;
		assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR1, &action,
		    &old, 8), 0);
		edge_raise();
		syscall(SYS_rt_sigaction, SIGUSR1, &old, NULL, 8);
		edge_unmap();
	}
}

/* Code that is entered by a return, as Java's interpreter. */
static void
code_that_is_returned_to_may_end_a_mapping(void **state)
{
	static const unsigned char code[] = {
		0x55, 0x48, 0x89, 0xe5,		/* push %rbp; mov %rsp, %rbp */
		0x48, 0x8b, 0x47, 8,		/* mov 8(%rdi), %rax */
		0x56,				/* push %rsi: where to return */
		0x55, 0x48, 0x89, 0xe5,
		0xff, 0xd0, 0x5d, 0xc3		/* call *%rax; pop %rbp; ret */
	}, load[] = { 0x48, 0xbe };		/* movabs $there, %rsi */
	void *there;

	(void)state;
	edge_begin();
	edge_map();
	there = edge.end - 2;
	memcpy(edge.end - 3, "\x90\x5d\xc3", 3);	/* nop; pop %rbp; ret */
	memcpy(edge.start, load, sizeof load);
	memcpy(edge.start + 2, &there, sizeof there);
	memcpy(edge.start + 10, code, sizeof code);
	edge_expects = (uintptr_t)there - 1;
	edge_enter(edge.start, walk_below_edge);
	edge_unmap();
}

/* With tables, in this program's own code. */
extern unsigned char edge_page_before[], edge_at_start[], edge_enter_start[];
__asm__(
    ".pushsection .text.edge, \"ax\", @progbits\n"
    ".balign 4096\n"
    "edge_page_before: .skip 4096, 0xcc\n"
    ".cfi_startproc\n"
    "edge_at_start: .cfi_def_cfa_offset 16\n"
    "	call *%rax\n"
    "	add $8, %rsp\n"
    "	.cfi_def_cfa_offset 8\n"
    "	ret\n"
    "edge_enter_start:\n"
    "	sub $8, %rsp\n"
    "	.cfi_def_cfa_offset 16\n"
    "	mov 8(%rdi), %rax\n"
    "	jmp edge_at_start\n"
    ".cfi_endproc\n"
    ".balign 4096\n"
    ".popsection\n");

static void
calls_with_tables_may_begin_a_mapping(void **state)
{
	(void)state;
	edge_begin();
	edge.start = edge_page_before;
	edge.end = edge_page_before + 2 * EDGE_PAGE;
	assert_int_equal(mprotect(edge_page_before, EDGE_PAGE, PROT_NONE), 0);
	unwind_new_epoch();
	edge_expects = (uintptr_t)edge_at_start + 1;
	edge_enter(edge_enter_start, walk_below_edge);
	assert_int_equal(mprotect(edge_page_before, EDGE_PAGE, PROT_READ |
	    PROT_EXEC), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_at_the_start_of_a_mapping_are_calls),
		cmocka_unit_test(calls_with_tables_may_begin_a_mapping),
		cmocka_unit_test(calls_that_never_return_may_end_a_mapping),
		cmocka_unit_test(functions_may_be_left_across_two_pages),
		cmocka_unit_test(handlers_may_return_to_the_edges_of_a_mapping),
		cmocka_unit_test(code_that_is_returned_to_may_end_a_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
