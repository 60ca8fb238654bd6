/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort.cc [NUMBERS] -- sorts NUMBERS numbers: shallow stacks, one hot loop. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int
main(int argc, char **argv)
{
	std::vector<uint32_t> numbers(argc > 1 ? std::atol(argv[1]) : 50000000);
	uint64_t state = 1;

	for (uint32_t &number : numbers) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		number = state >> 32;
	}
	std::sort(numbers.begin(), numbers.end());
	std::printf("%u\n", numbers[numbers.size() / 2]);
	return 0;
}
