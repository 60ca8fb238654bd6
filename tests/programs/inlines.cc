/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inlines.cc -- functions within functions within functions, to be inlined.
 *
 * test-debug-lines compiles this with optimisation and never runs it.
 */
#include <algorithm>
#include <string>
#include <vector>

extern volatile int source;
volatile int source = 3;

static inline int
sum_of_sources(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += source;
	return sum;
}

namespace {

inline int
hidden(int n)
{
	return sum_of_sources(n) + 1;
}

template <class Number> struct doubler {
	Number twice(Number n) { return hidden(n) * 2; }
};

} // namespace

namespace records {

inline int
seen(unsigned long n)
{
	return hidden((int)n) + 2;
}

struct record {
	int value;

	record(int n) : value(seen(n)) {}
	int plus(const char *text) const { return value + *text; }
};

} // namespace records

/* Inlined where it is called, but kept because of the pointer. */
static inline int
copied(int n)
{
	return sum_of_sources(n + 1) * 5;
}

extern int (*volatile pointer)(int);
int (*volatile pointer)(int) = copied;

__attribute__((noinline)) static int
work(int n, const char *text)
{
	doubler<int> number;
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += records::record(i).plus(text);
		sum += number.twice(i) + copied(i);
	}
	return sum;
}

__attribute__((noinline, cold)) static int
sorted(int n)
{
	std::vector<int> numbers;

	for (int i = 0; i < n; i++)
		numbers.push_back(i * 7919 % n);
	std::sort(numbers.begin(), numbers.end(),
	          [](int a, int b) { return a % 10 < b % 10; });
	return numbers[n / 2];
}

int
main(int argc, char **argv)
{
	std::string text(argv[0]);

	text += "more";
	return work(argc, text.c_str()) + sorted(argc) +
	    work(argc + 1, argv[0]);
}
