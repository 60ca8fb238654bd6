// SPDX-License-Identifier: GPL-3.0-or-later
// kept.cc -- templates, inlined calls, a library's functions and recursion:
// what a recording has to keep names of.
#include <algorithm>
#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace parts {

template <typename T> inline T
square(T x)
{
	T sum = 0;

	for (int i = 1; i < 40; i++)
		sum += x * x / i;
	return sum;
}

struct by_square {
	bool operator()(double a, double b) const
	{
		return square(a) < square(b);
	}
};

__attribute__((noinline)) double
sort_some(int seed)
{
	std::vector<double> numbers(2000);

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] = static_cast<double>(i * 7919 % 2003 + seed);
	std::sort(numbers.begin(), numbers.end(), by_square());
	return numbers[7];
}

__attribute__((noinline)) double
descend(int n)
{
	double below = n > 0 ? descend(n - 1) : 0;

	for (int i = 0; i < 2000; i++)
		below += square<float>(static_cast<float>(i + n));
	return below;
}

}

static int
compare(const void *a, const void *b)
{
	return *static_cast<const int *>(a) < *static_cast<const int *>(b);
}

int
main(int argc, char **argv)
{
	/*
	 * CPU time, so that the number of samples does not depend on the load.
	 */
	auto end = std::clock() + static_cast<std::clock_t>(
	    (argc > 1 ? atoi(argv[1]) : 300) * (CLOCKS_PER_SEC / 1000));
	static int numbers[4000];
	double sum = 0;

	while (std::clock() < end) {
		sum += parts::sort_some(1) + parts::descend(9);
		for (int i = 0; i < 4000; i++)
			numbers[i] = i * 7919 % 4001;
		qsort(numbers, 4000, sizeof *numbers, compare);
	}
	printf("%d\n", sum > 0);
	fflush(stdout);
	if (argc > 2)		// until it is killed
		for (;;)
			sum += parts::descend(5);
	return 0;
}
