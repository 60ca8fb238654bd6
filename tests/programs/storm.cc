// SPDX-License-Identifier: GPL-3.0-or-later
// storm.cc -- ten threads, each doing what disturbs a sampler, all at once:
// throwing, loading libraries, starting threads, forking, switching contexts,
// jumping, allocating.  Prints a number that is the same every time.

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<unsigned long> total;

void
work(int n)
{
	volatile int x = 0;

	for (int i = 0; i < n; i++)
		x = x + i;
}

__attribute__((noinline)) int
thrower(int depth)
{
	std::string text(depth + 1, 'x');

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

void
throws()
{
	for (int i = 0; i < 8000; i++) {
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

	for (int i = 0; i < 1500; i++) {
		void *handle = dlopen(names[i % 5], RTLD_NOW);

		total++;
		if (handle != nullptr)
			dlclose(handle);
	}
}

void
starts()
{
	for (int i = 0; i < 600; i++)
		std::thread([] { work(100000); total++; }).join();
}

void
forks()
{
	for (int i = 0; i < 60; i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			work(3000000);
			_exit(i % 7);
		}
		waitpid(child, &status, 0);
		total += WEXITSTATUS(status) == i % 7;
	}
}

thread_local ucontext_t outside, inside;

void
coroutine()
{
	for (;;) {
		work(2000);
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
	for (int i = 0; i < 20000; i++) {
		swapcontext(&outside, &inside);
		total++;
	}
}

void
jumps()
{
	jmp_buf back;
	volatile int i;

	for (i = 0; i < 300000; i = i + 1) {
		if (setjmp(back) == 0)
			longjmp(back, 1);
		total++;
	}
}

void
allocates()
{
	for (int i = 0; i < 400000; i++) {
		volatile char *block = new char[i % 5000 + 1];

		block[0] = 1;
		total += block[0];
		delete[] block;
	}
}

}

int
main()
{
	void (*const all[])() = { throws, loads, starts, forks, switches,
	    jumps, allocates, throws, loads, allocates };
	std::vector<std::thread> threads;

	for (auto each : all)
		threads.emplace_back(each);
	for (auto &thread : threads)
		thread.join();
	std::printf("%lu\n", total.load());
}
