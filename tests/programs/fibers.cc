// SPDX-License-Identifier: GPL-3.0-or-later
// fibers.cc -- half of the work in each of two boost.context fibers.
#include <boost/context/fiber.hpp>
#include <cstdio>

#include "tests/programs/spin.h"

namespace context = boost::context;

static __attribute__((noinline)) void
work_in_fiber()
{
	spin(20);
	sink = sink + 1;
}

static context::fiber
begin(context::fiber &&other)
{
	for (int i = 0; i < 10; i++) {
		work_in_fiber();
		other = std::move(other).resume();
	}
	return std::move(other);
}

int
main()
{
	context::fiber one(begin), two(begin);

	while (one && two) {
		one = std::move(one).resume();
		two = std::move(two).resume();
	}
	std::puts("done");
}
