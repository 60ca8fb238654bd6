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
