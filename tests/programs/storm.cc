// SPDX-License-Identifier: GPL-3.0-or-later
// storm.cc [NAME...] -- threads, each doing what disturbs a sampler, all at
// once, or only those named.  Everyone allocates all the time, so that a
// collector of allocations can take a sample at every step.  Prints a number
// that is the same every time.  STORM_SHARE: percent of the rounds, 100 by
// default.

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<unsigned long> total;

// That many rounds, or the share of them that is asked for.
int
rounds(int n)
{
	const char *share = std::getenv("STORM_SHARE");

	return share == nullptr ? n : std::max(1, n * std::atoi(share) / 100);
}

void
work(int n)
{
	volatile int x = 0;

	for (int i = 0; i < n; i++)
		x = x + i;
}

// An allocation that no compiler takes away.
__attribute__((noinline)) void
tick()
{
	void *volatile block = std::malloc(1);

	std::free(block);
}

__attribute__((noinline)) int
thrower(int depth)
{
	std::string text(depth + 1, 'x');

	tick();
	if (depth == 0)
		throw std::runtime_error("bottom");
	try {
		return thrower(depth - 1) + 1;
	} catch (const std::runtime_error &) {
		if (depth % 3 != 0)
			throw;
		throw std::runtime_error(text);
	}
}

// Goes down that far and up again; returns n.
__attribute__((noinline)) int
climb(int n)
{
	int below;

	tick();
	if (n == 0)
		return 0;
	below = climb(n - 1);
	if (n % 8 == 0)
		tick();
	return below + 1;
}

// At each of the n levels that divide by `step`, climbs some more.
__attribute__((noinline)) int
sink(int n, int step)
{
	int more;

	if (n == 0)
		return climb(100);
	more = sink(n - 1, step);
	if (step > 0 && n % step == 0)
		more += climb(300);
	return more + 1;
}

void
throws()
{
	for (int i = 0, n = rounds(8000); i < n; i++) {
		try {
			thrower(i % 20);
		} catch (const std::exception &) {
			total++;
		}
	}
}

void
loads()
{
	static const char *const names[] = { "libm.so.6", "libutil.so.1",
	    "libanl.so.1", "libnss_compat.so.2", "librt.so.1" };

	for (int i = 0, n = rounds(1500); i < n; i++) {
		void *handle = dlopen(names[i % 5], RTLD_NOW);

		total++;
		if (handle != nullptr)
			dlclose(handle);
	}
}

void
starts()
{
	for (int i = 0, n = rounds(600); i < n; i++)
		std::thread([] { work(100000); total++; }).join();
}

void
forks()
{
	for (int i = 0, n = rounds(60); i < n; i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			work(3000000);
			_exit(climb(i % 50) % 7 + i % 7 - i % 50 % 7);
		}
		waitpid(child, &status, 0);
		total += WEXITSTATUS(status) == i % 7;
	}
}

thread_local ucontext_t outside, inside;

// A tail call: what it saves is the return address of its caller's caller.
__attribute__((noinline)) int
leave(int n)
{
	climb(n);
	return swapcontext(&outside, &inside);
}

void
coroutine()
{
	for (int i = 0;; i++) {
		work(2000);
		climb(i % 40);
		swapcontext(&inside, &outside);
	}
}

void
switches()
{
	std::vector<char> stack(65536);

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack.data();
	inside.uc_stack.ss_size = stack.size();
	inside.uc_link = nullptr;
	makecontext(&inside, coroutine, 0);
	for (int i = 0, n = rounds(20000); i < n; i++) {
		leave(i % 30);
		total++;
	}
}

thread_local jmp_buf back;

__attribute__((noinline)) int
jump_from(int depth)
{
	tick();
	if (depth == 0)
		longjmp(back, 1);
	return jump_from(depth - 1) + climb(depth % 3);
}

void
jumps()
{
	int n = rounds(100000);
	volatile int i;

	for (i = 0; i < n; i = i + 1) {
		if (setjmp(back) == 0)
			jump_from(i % 40);
		total++;
	}
}

thread_local sigjmp_buf interrupted;

void
jump_out(int)
{
	climb(20);
	siglongjmp(interrupted, 1);
}

__attribute__((noinline)) int
raise_from(int depth)
{
	tick();
	if (depth == 0)
		return raise(SIGUSR1);
	return raise_from(depth - 1) + 1;
}

// Handlers on an alternate stack that jump out of what they interrupt.
void
interrupts()
{
	std::vector<char> memory(1 << 16);
	stack_t stack = {}, none = {};
	struct sigaction action = {};
	int n = rounds(20000);
	volatile int i;

	stack.ss_sp = memory.data();
	stack.ss_size = memory.size();
	sigaltstack(&stack, nullptr);
	action.sa_handler = jump_out;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (i = 0; i < n; i = i + 1) {
		if (sigsetjmp(interrupted, 1) == 0)
			raise_from(i % 30);
		total++;
	}
	none.ss_flags = SS_DISABLE;
	sigaltstack(&none, nullptr);
}

__attribute__((noinline)) int
trace_from(int depth)
{
	void *frames[200];
	int n;

	tick();
	if (depth == 0) {
		n = backtrace(frames, 200);
		tick();
		return n;
	}
	n = trace_from(depth - 1);
	tick();
	return n;
}

void
traces()
{
	for (int i = 0, n = rounds(20000); i < n; i++)
		total += trace_from(i % 60) > i % 60;
}

struct cleaner {
	~cleaner() { climb(5); }
};

__attribute__((noinline)) int
exit_from(int depth)
{
	cleaner here;

	tick();
	if (depth == 0)
		pthread_exit(nullptr);
	return exit_from(depth - 1) + climb(3);
}

__attribute__((noinline)) int
wait_from(int depth)
{
	cleaner here;

	tick();
	if (depth == 0)
		for (;;)
			pause();
	return wait_from(depth - 1) + climb(3);
}

void *
end_by_exit(void *depth)
{
	exit_from(static_cast<int>(reinterpret_cast<intptr_t>(depth)));
	return nullptr;
}

void *
end_by_cancel(void *depth)
{
	wait_from(static_cast<int>(reinterpret_cast<intptr_t>(depth)));
	return nullptr;
}

void
ends()
{
	for (intptr_t i = 0, n = rounds(500); i < n; i++) {
		pthread_t exiting, cancelled;

		pthread_create(&exiting, nullptr, end_by_exit,
		    reinterpret_cast<void *>(i % 40));
		pthread_create(&cancelled, nullptr, end_by_cancel,
		    reinterpret_cast<void *>(20));
		climb(static_cast<int>(i % 50));
		pthread_cancel(cancelled);
		pthread_join(exiting, nullptr);
		pthread_join(cancelled, nullptr);
		total++;
	}
}

void
spawns()
{
	static char name[] = "true";
	static char *arguments[] = { name, nullptr };
	char *environment[] = { nullptr };

	for (int i = 0, n = rounds(60); i < n; i++) {
		int status = 0;
		pid_t child = 0;

		climb(i);
		if (i % 2 == 0) {
			posix_spawnp(&child, name, nullptr, nullptr, arguments,
			    environment);
		} else if ((child = vfork()) == 0) {
			execve("/bin/true", arguments, environment);
			_exit(1);
		}
		waitpid(child, &status, 0);
		total += status == 0;
	}
}

// Deep stacks that come and go, by steps large and small.
void
dives()
{
	for (int i = 0, n = rounds(60); i < n; i++) {
		climb(i % 7 * 3000);
		sink(20000, i % 5 * 1999);
		total++;
	}
}

void
allocates()
{
	for (int i = 0, n = rounds(400000); i < n; i++) {
		volatile char *block = new char[i % 5000 + 1];

		block[0] = 1;
		total += block[0];
		delete[] block;
	}
}

}

const struct {
	const char *name;
	void (*run)();
} all[] = {
	{ "throws", throws }, { "loads", loads }, { "starts", starts },
	{ "forks", forks }, { "switches", switches }, { "jumps", jumps },
	{ "interrupts", interrupts }, { "traces", traces }, { "ends", ends },
	{ "spawns", spawns }, { "dives", dives }, { "allocates", allocates },
	{ "throws", throws },
};

int
main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	for (const auto &each : all) {
		bool wanted = argc == 1;

		for (int i = 1; i < argc; i++)
			wanted |= std::strcmp(argv[i], each.name) == 0;
		if (wanted)
			threads.emplace_back(each.run);
	}
	for (auto &thread : threads)
		thread.join();
	std::printf("%lu\n", total.load());
}
