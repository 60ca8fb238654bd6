// SPDX-License-Identifier: GPL-3.0-or-later
// throws.cc -- exceptions; see shapes.h.
#include "tests/programs/shapes.h"

#include <stdexcept>
#include <string>

namespace {

unsigned destroyed;

struct guard {
	explicit guard(unsigned n) : text(n % 50 + 1, 'x') {}
	~guard() { destroyed += static_cast<unsigned>(text.size()); }
	std::string text;
};

__attribute__((noinline)) unsigned
fall(unsigned depth)
{
	guard here(depth);

	if (depth == 0)
		throw std::runtime_error("deep");
	try {
		return fall(depth - 1) + 1;
	} catch (const std::runtime_error &) {
		if (depth % 3 == 0)
			throw;
		throw std::runtime_error(here.text);
	}
}

}

extern "C" unsigned
shape_exceptions(unsigned n)
{
	unsigned sum = 0;

	destroyed = 0;
	for (unsigned i = 0; i < n; i++) {
		try {
			sum += fall(i % 10);
		} catch (const std::exception &problem) {
			sum += static_cast<unsigned>(
			    std::string(problem.what()).size());
		}
	}
	return sum + destroyed;
}

extern "C" {
const volatile void *volatile shape_steep_calls[SHAPE_STEEP_MAX];
volatile unsigned shape_n_steep_calls;
}

namespace {

/* An exception that leaves a call also passes through _Unwind_Resume. */
__attribute__((noinline, section("steep"))) unsigned
fall_steeply(unsigned depth, unsigned left)
{
	volatile char *room = static_cast<volatile char *>(
	    __builtin_alloca(left + 1));
	guard here(left);

	room[left] = 1;
	shape_steep_calls[depth] = __builtin_frame_address(0);
	shape_n_steep_calls = depth + 1;
	if (left == 0)
		throw std::runtime_error("steep");
	if (left % 4 == 1)		/* destroys `here`, and resumes */
		return fall_steeply(depth + 1, left - 1) + room[left];
	try {
		return fall_steeply(depth + 1, left - 1) + room[left];
	} catch (const std::runtime_error &) {
		shape_n_steep_calls = depth + 1;
		if (left % 4 == 2)
			throw;
		if (left % 4 == 3)
			throw std::runtime_error(here.text);
		return room[left];
	}
}

}

extern "C" unsigned
shape_steep(unsigned n)
{
	unsigned sum = 0;

	destroyed = 0;
	for (unsigned i = 0; i < n; i++) {
		try {
			sum += fall_steeply(0, i % (SHAPE_STEEP_MAX - 1));
		} catch (const std::exception &) {
			sum += 7;
		}
		shape_n_steep_calls = 0;
	}
	return sum + destroyed;
}
