/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-unwind.c -- compares the collector's unwinder with libgcc's at every
 * frame.
 *
 * Code of difficult shapes runs under the processor's trace flag, which raises
 * SIGTRAP after every instruction, and under a fast timer.  The handler walks
 * the interrupted stack three times: by an unwinder that remembers the last
 * stack, by one that does not, and by _Unwind_Backtrace.  All three must find
 * the same addresses (tests/unwind-oracle.h).  Everything runs once without
 * the trampoline, and once with its mark set again in every handler, so that
 * the program returns, throws and jumps through it as often as possible.
 *
 * Faults of libgcc's unwinder are counted.  The collector's must have none.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>

#include "lib/base/process.h"
#include "lib/cpprofdata.h"
#include "lib/store/tree.h"
#include "lib/unwind/rules.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"
#include "tests/programs/shapes.h"
#include "tests/single-step.h"
#include "tests/unwind-oracle.h"

#define TRACE_FLAG 0x100

extern void *__libc_stack_end;
struct process_facts process;	/* no code counts as the library's own */

void
process_pause(void)
{
	sched_yield();
}

uint64_t
process_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct unwinder remembering, forgetting;
static struct oracle_tally tally;
static unsigned long n_deferred, n_marked;
static bool sets_marks, is_ticking;
static struct cpprofdata_node record;
/* The node of all frames. */
static struct tree_node node = { .returns.copy = &record.returns };

/* Only now and then, or no marked frame would be left to return by itself. */
static void
set_mark(void)
{
	static uint32_t random = 1;
	size_t i;

	for (i = remembering.n_kept; i < remembering.stack.n; i++)
		remembering.stack.frames[i].at.returns = &node.returns;
	random = random * 1664525 + 1013904223;
	if (random >> 24 < 16 || is_ticking)
		trampoline_place(&remembering);
	n_marked += remembering.trampoline.cfa != 0;
}

static void
check(const void *context)
{
	bool is_known = oracle_ask(oracle_pc(context));

	unwind_remember(&forgetting, 0);
	if (!unwind(&remembering, context)) {
		unwind(&forgetting, context);
		forgetting.end = UNWIND_COMPLETE;
		if (is_known)
			oracle_compare_walked(&forgetting, "deferred", &tally);
		n_deferred++;
		return;
	}
	unwind(&forgetting, context);
	tally.n_stacks++;
	if (!is_known) {
		tally.n_faults++;
		return;
	}
	oracle_compare(&remembering, "remembering", &tally);
	oracle_compare(&forgetting, "forgetting", &tally);
	tally.n_frames += oracle_depth();
	tally.n_kept += remembering.n_kept;
	if (oracle_depth() > tally.deepest)
		tally.deepest = oracle_depth();
	if (sets_marks)
		set_mark();
}

static void
handle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	check(context);
}

static void
install(int number)
{
	struct sigaction action = { .sa_sigaction = handle,
	    .sa_flags = SA_SIGINFO | SA_RESTART };

	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGSEGV);	/* see oracle_ask */
	sigaction(number, &action, NULL);
}

static void
begin(uintptr_t stack_end)
{
	trampoline_forget(&remembering);
	unwind_free(&remembering);
	unwind_free(&forgetting);
	readable_init(&remembering.readable,
	    (uintptr_t)__builtin_frame_address(0), stack_end);
	forgetting.readable = remembering.readable;
	trampoline_attach(&remembering);
	memset(&tally, 0, sizeof tally);
	n_deferred = n_marked = 0;
	node.returns.n = 0;
}

static void
report(const char *name)
{
	print_message("%s: %lu stacks, %lu frames, %lu kept, %lu guessed, "
	    "%lu faults and %lu errors of libgcc, %lu deferred, %lu marked, %lu returns, "
	    "deepest %zu\n", name, tally.n_stacks, tally.n_frames,
	    tally.n_kept, tally.n_guessed, tally.n_faults, tally.n_lost,
	    n_deferred,
	    n_marked, (unsigned long)node.returns.n, tally.deepest);
	if (tally.n_wrong > 0)
		fail_msg("%lu of %lu stacks differ; first: %s", tally.n_wrong,
		    tally.n_stacks, tally.first_wrong);
}

/*
 * Checks every instruction of one call of a shape; libgcc may fault in a few
 * of a thousand.
 */
static void
step_through(unsigned (*shape)(unsigned), unsigned n, unsigned may_fault)
{
	unsigned expected = shape(n), result;

	begin((uintptr_t)__libc_stack_end);
	install(SIGTRAP);
	set_trace_flag(true);
	result = shape(n);
	set_trace_flag(false);
	trampoline_attach(NULL);
	report("stepped");
	assert_int_equal(result, expected);
	assert_true(tally.n_stacks > 100);
	assert_true(tally.n_kept > tally.n_stacks);
	assert_true(tally.n_guessed * 50 < tally.n_stacks);
	assert_true(tally.n_faults * 1000 <= tally.n_stacks * may_fault);
	assert_true(tally.n_lost <= 8 || tally.n_lost * 500 <= tally.n_stacks);
}

/* Which takes longest: less in `make check` than in `make check-rounds`. */
static unsigned
rounds_of(unsigned n, unsigned n_in_check)
{
	return getenv("TEST_ROUNDS") != NULL ? n : n_in_check;
}

#define STEPPED(shape, n, may_fault) \
	static void \
	steps_through_##shape(void **state) \
	{ \
		(void)state; \
		step_through(shape_##shape, n, may_fault); \
	}

STEPPED(recursion, 20, 0)
STEPPED(callback, 30, 0)
STEPPED(variable, 20, 0)
STEPPED(realigned, 10, 0)
STEPPED(library, 3, 0)
STEPPED(jump, 12, 0)
STEPPED(alternate_stack, 2, 0)
STEPPED(exceptions, 3, 10)

/*
 * Within libgcc's own functions, where libgcc cannot walk the stack either,
 * the program itself knows its calls.
 */

extern const char __start_steep[], __stop_steep[];
static struct {
	unsigned long n_stacks, n_in_libgcc, n_partial, n_wrong;
	uint64_t root;
	char first_wrong[200];
} steep;

static void
find_wrong_steep(const char *what, size_t i, const struct unwinder *unwinder)
{
	if (steep.n_wrong++ == 0)
		snprintf(steep.first_wrong, sizeof steep.first_wrong,
		    "%s, frame %zu of %zu, %#lx, calls %u; pc %#lx end %d",
		    what, i, unwinder->stack.n, (unsigned long)
		    unwinder->stack.frames[i].address, shape_n_steep_calls,
		    (unsigned long)unwinder->stack.frames[
		    unwinder->stack.n - 1].address, (int)unwinder->end);
}

static void
check_steep_calls(const struct unwinder *unwinder)
{
	const struct walked_frame *frames = unwinder->stack.frames;
	unsigned n = 0;
	size_t i;

	for (i = 1; i < unwinder->stack.n; i++) {
		/*
		 * The return address, which is there until the last
		 * instruction.
		 */
		const uint64_t local = (uintptr_t)shape_steep_calls[n] + 8;

		if (frames[i].address - (uintptr_t)__start_steep >=
		    (uintptr_t)(__stop_steep - __start_steep))
			continue;
		if (n++ < shape_n_steep_calls && (local < frames[i].sp ||
		    local >= frames[i - 1].sp)) {
			find_wrong_steep("another call", i, unwinder);
			return;
		}
	}
	if (n > shape_n_steep_calls + 1)
		find_wrong_steep("too many calls", i - 1, unwinder);
}

static void
check_steep(int number, siginfo_t *info, void *context)
{
	const struct unwinder *unwinder = &forgetting;
	Dl_info module;

	(void)number, (void)info;
	unwind_remember(&forgetting, 0);
	unwind(&forgetting, context);
	if (steep.n_stacks++ == 0)
		steep.root = unwinder->stack.frames[0].address;
	if (dladdr((void *)(uintptr_t)unwinder->stack.frames[
	    unwinder->stack.n - 1].address, &module) != 0 &&
	    strstr(module.dli_fname, "libgcc_s") != NULL)
		steep.n_in_libgcc++;
	if (dladdr((void *)(uintptr_t)unwinder->stack.frames[0].address,
	    &module) == 0)
		find_wrong_steep("no code", 0, unwinder);
	if (unwinder->end != UNWIND_COMPLETE) {
		steep.n_partial++;
		return;
	}
	if (unwinder->stack.frames[0].address != steep.root)
		find_wrong_steep("another root", 0, unwinder);
	check_steep_calls(unwinder);
}

static void
steps_through_unwinding_itself(void **state)
{
	struct sigaction action = { .sa_sigaction = check_steep,
	    .sa_flags = SA_SIGINFO };
	/* The first five calls have all ways to leave a frame. */
	const unsigned n = rounds_of(8, 5), expected = shape_steep(n);

	(void)state;
	begin((uintptr_t)__libc_stack_end);
	memset(&steep, 0, sizeof steep);
	sigaction(SIGTRAP, &action, NULL);
	set_trace_flag(true);
	assert_int_equal(shape_steep(n), expected);
	set_trace_flag(false);
	trampoline_attach(NULL);
	print_message("unwinding: %lu stacks, %lu in libgcc, %lu partial, "
	    "%lu wrong; %s\n", steep.n_stacks, steep.n_in_libgcc,
	    steep.n_partial, steep.n_wrong, steep.first_wrong);
	assert_true(steep.n_in_libgcc > 1000);
	assert_int_equal(steep.n_wrong, 0);
}

/*
 * Two signals at once: the second interrupts the first's handler at its first
 * instruction, before it was executed.
 */

static uint64_t entered[64];
static size_t n_entered;
static bool has_come[2];

static void
take_first(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	has_come[0] = true;
}

static void
take_second(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	has_come[1] = true;
	if (has_come[0])
		return;
	unwind_remember(&forgetting, 0);
	unwind(&forgetting, context);
	for (n_entered = 0; n_entered < forgetting.stack.n; n_entered++)
		entered[n_entered] = forgetting.stack.frames[
		    forgetting.stack.n - 1 - n_entered].address;
}

static void
handlers_that_have_not_begun_are_no_frames(void **state)
{
	struct sigaction action = { .sa_sigaction = take_first,
	    .sa_flags = SA_SIGINFO };
	Dl_info function;
	sigset_t set, old;
	size_t i;

	(void)state;
	begin((uintptr_t)__libc_stack_end);
	trampoline_attach(NULL);
	sigaction(SIGUSR1, &action, NULL);
	action.sa_sigaction = take_second;
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	raise(SIGUSR1);
	raise(SIGUSR2);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_true(has_come[0] && has_come[1]);
	assert_int_equal(forgetting.end, UNWIND_COMPLETE);
	assert_true(n_entered >= 4);
	for (i = 0; i < n_entered; i++)
		assert_int_not_equal(entered[i], (uintptr_t)take_first);
	/* Where the mask was changed, in the C library. */
	assert_int_not_equal(dladdr((void *)(uintptr_t)entered[0], &function),
	    0);
	assert_non_null(strstr(function.dli_fname, "libc"));
}

static void
set_timer(suseconds_t us)
{
	struct itimerval when = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &when, NULL);
}

static void
tick_through(void)
{
	unsigned i;

	install(SIGALRM);
	is_ticking = true;
	set_timer(1000);
	/* Fast machines need more rounds. */
	for (i = 0; i < 300 || tally.n_stacks < 200; i++) {
		shape_recursion(i % 40 * 10);
		shape_callback(3000);
		shape_library(300);
		shape_alternate_stack(30);
		shape_jump(300);
		shape_exceptions(100);
		shape_realigned(1000);
	}
	set_timer(0);
	is_ticking = false;
	trampoline_attach(NULL);
}

static void
ticks_agree(void **state)
{
	(void)state;
	begin((uintptr_t)__libc_stack_end);
	tick_through();
	report("ticks");
	assert_true(tally.n_stacks > 100);
	/* Where ticks fall is chance: of 200 with 3 in 100, 18 are within five
	 * standard deviations. */
	assert_true(tally.n_faults * 10 < tally.n_stacks);
}

static void *
tick_in_thread(void *argument)
{
	begin((uintptr_t)pthread_self());
	tick_through();
	return argument;
}

/* The timer's signal is sent to the process, so the main thread blocks it. */
static void
ticks_agree_in_a_thread(void **state)
{
	pthread_t thread;
	sigset_t set, old;

	(void)state;
	sigemptyset(&set);
	assert_int_equal(pthread_create(&thread, NULL, tick_in_thread, NULL),
	    0);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	report("ticks in a thread");
	assert_true(tally.n_stacks > 100);
	assert_true(tally.n_faults * 10 < tally.n_stacks);
}

static void *
recurse_deeply(void *argument)
{
	begin((uintptr_t)pthread_self());
	install(SIGALRM);
	is_ticking = true;
	set_timer(30000);
	while (tally.n_stacks < 4 || tally.deepest < 100000)
		shape_recursion(150000);
	set_timer(0);
	is_ticking = false;
	trampoline_attach(NULL);
	return argument;
}

static void
walks_100000_frames(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t set, old;

	(void)state;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 20);
	assert_int_equal(pthread_create(&thread, &attr, recurse_deeply, NULL),
	    0);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	report("deep");
}

/* An invalid stack pointer must end the walk, not the program. */
static void
survives_wild_registers(void **state)
{
	static const uint64_t wild[] = { 0, 8, 0xdeadbeef, UINT64_MAX,
	    UINT64_MAX - 7, (uint64_t)1 << 47, (uint64_t)1 << 63 };
	ucontext_t context;
	size_t i, j, k;

	(void)state;
	begin((uintptr_t)__libc_stack_end);
	memset(&context, 0, sizeof context);
	for (i = 0; i < sizeof wild / sizeof *wild; i++)
		for (j = 0; j < sizeof wild / sizeof *wild; j++)
			for (k = 0; k < 3; k++) {
				greg_t *gregs = context.uc_mcontext.gregs;

				gregs[REG_RSP] = (greg_t)wild[i];
				gregs[REG_RBP] = (greg_t)wild[j];
				gregs[REG_RIP] = k == 0 ? (greg_t)wild[j] :
				    k == 1 ? (greg_t)(uintptr_t)shape_variable :
				    (greg_t)(uintptr_t)shape_variable + 40;
				unwind(&remembering, &context);
				assert_int_not_equal(remembering.end,
				    UNWIND_COMPLETE);
				assert_int_equal(remembering.stack.n, 1);
			}
}

/* A stack that was cut is remembered so: the next walk ends where it begins. */
static void
remembers_a_stack_that_was_cut(void **state)
{
	uint64_t outermost;
	ucontext_t context;
	size_t n;

	(void)state;
	begin((uintptr_t)__libc_stack_end);
	assert_int_equal(getcontext(&context), 0);
	assert_true(unwind(&remembering, &context));
	n = remembering.stack.n;
	assert_true(n > 3);
	outermost = remembering.stack.frames[2].sp;
	remembering.end = UNWIND_BAD_STACK;
	assert_true(unwind_cut(&remembering, 2));
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(remembering.n_kept, i == 0 ? 0 : n - 2);
		assert_int_equal(remembering.stack.n, n - 2);
		assert_int_equal(remembering.stack.frames[0].sp, outermost);
		assert_int_equal(remembering.end, UNWIND_COMPLETE);
		assert_true(unwind(&remembering, &context));
	}
	/* What a guess further out led to does not concern it. */
	remembering.stack.frames[0].flags |= FRAME_GUESSED;
	remembering.stack.frames[1].flags |= FRAME_GUESSED;
	assert_true(unwind_cut(&remembering, 1));
	assert_int_equal(remembering.stack.frames[0].flags & FRAME_GUESSED, 0);
	assert_false(remembering.guessed);
	/* Marks are counted by frames. */
	remembering.trampoline.cfa = 8;
	assert_false(unwind_cut(&remembering, 1));
	remembering.trampoline.cfa = 0;
	assert_int_equal(remembering.stack.n, n - 3);
	unwind_remember(&remembering, 0);
}

/* From the first of these on, it applies for the rest of the process. */
static int
set_up_marks(void **state)
{
	(void)state;
	if (sets_marks)
		return 0;
	sets_marks = true;
	return trampoline_begin(TRAMPOLINE_ALWAYS) ? 0 : -1;
}

#define WITH_MARKS(test) \
	cmocka_unit_test_setup(test, set_up_marks)

/* Compilers rarely write these, so that no shape above has them. */
static void
rows_that_load_the_cfa_are_compact(void **state)
{
	enum { RBP = 6, RSP = 7, BREG = 0x70, DEREF = 0x06 };
	static const struct {
		unsigned char expression[4];	/* the length first */
		enum compact_kind kind;
		int offset;
	} cases[] = {
		{ { 3, BREG + RBP, 0x40, DEREF }, COMPACT_FRAME_LOAD, -64 },
		{ { 3, BREG + RBP, 0x20, DEREF }, COMPACT_FRAME_LOAD, 32 },
		{ { 3, BREG + RSP, 24, DEREF }, COMPACT_STACK_LOAD, 24 },
		{ { 3, BREG + 3, 24, DEREF }, COMPACT_GENERIC, 0 },
		{ { 2, BREG + RBP, 24 }, COMPACT_GENERIC, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cfi_row row = { .kinds[X86_64_RIP] = CFI_OFFSET,
			.kinds[CFI_CFA] = CFI_VALUE_EXPRESSION };
		struct compact_rule rule;

		row.operands[X86_64_RIP].offset = -8;
		row.operands[CFI_CFA].expression = cases[i].expression;
		rule = compact_row(&row, 0);
		assert_int_equal(rule.kind, cases[i].kind);
		assert_int_equal(rule.cfa_offset, cases[i].offset);
		assert_false(rule.saves_frame);
		/* Where rbp is saved by an expression, all of it is needed. */
		row.kinds[RBP] = CFI_EXPRESSION;
		assert_int_equal(compact_row(&row, 0).kind, COMPACT_GENERIC);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_through_recursion),
		cmocka_unit_test(steps_through_callback),
		cmocka_unit_test(steps_through_variable),
		cmocka_unit_test(steps_through_realigned),
		cmocka_unit_test(steps_through_library),
		cmocka_unit_test(steps_through_jump),
		cmocka_unit_test(steps_through_alternate_stack),
		cmocka_unit_test(steps_through_exceptions),
		cmocka_unit_test(steps_through_unwinding_itself),
		cmocka_unit_test(handlers_that_have_not_begun_are_no_frames),
		cmocka_unit_test(rows_that_load_the_cfa_are_compact),
		cmocka_unit_test(ticks_agree),
		cmocka_unit_test(ticks_agree_in_a_thread),
		cmocka_unit_test(walks_100000_frames),
		cmocka_unit_test(survives_wild_registers),
		cmocka_unit_test(remembers_a_stack_that_was_cut),
		WITH_MARKS(steps_through_recursion),
		WITH_MARKS(steps_through_callback),
		WITH_MARKS(steps_through_variable),
		WITH_MARKS(steps_through_realigned),
		WITH_MARKS(steps_through_library),
		WITH_MARKS(steps_through_jump),
		WITH_MARKS(steps_through_alternate_stack),
		WITH_MARKS(steps_through_exceptions),
		WITH_MARKS(ticks_agree),
		WITH_MARKS(ticks_agree_in_a_thread),
		WITH_MARKS(walks_100000_frames),
		WITH_MARKS(survives_wild_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
