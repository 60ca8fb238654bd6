/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profiled.cc -- what a compiler's profile has to tell apart.
 *
 * Inlined calls in inlined calls, few and many blocks on a line, a loop that is
 * unrolled, lines far from where their function begins, functions that are
 * local to the file, members of classes, and calls through pointers.  Prints a
 * number that depends on all of them; as a recording it takes some 100 ms for
 * each 10 rounds.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

struct Mixer {
	explicit Mixer(uint64_t seed) : state(seed * 2 + 1) {}
	uint64_t
	next()
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return state;
	}
	uint64_t state;
};

uint64_t
rotate(uint64_t value, unsigned by)
{
	return value << (by & 63) | value >> (-by & 63);
}

uint64_t
pick(uint64_t value)
{
	return value % 5 == 0 ? value / 3 : value % 3 == 0 ? rotate(value, 5) : value + 1;
}

}

static uint64_t __attribute__((noinline))
local_sum(Mixer &mixer, long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) if (mixer.next() & 1) sum += pick(sum); else sum ^= i / 7;
	return sum;
}

struct Shape {
	virtual ~Shape() {}
	virtual uint64_t area(uint64_t x) const = 0;
};

struct Square : Shape {
	uint64_t
	area(uint64_t x) const override
	{
		uint64_t y = x;

		for (int i = 0; i < 50; i++)
			y = y * y + i;
		return y;
	}
};

struct Circle : Shape {
	uint64_t area(uint64_t x) const override;
};

uint64_t
Circle::area(uint64_t x) const
{
	uint64_t y = x;

	for (int i = 0; i < 20; i++)
		y = y / 3 * 22 / 7 + i;
	return y;
}

static uint64_t __attribute__((noinline))
many_blocks(uint64_t value)
{
#define STEP(k) if (value >> (k) & 1) value = value * (2 * (k) + 3) ^ value >> 7; else value += value / ((k) + 3);
#define STEPS(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) STEP(k + 4) STEP(k + 5) STEP(k + 6) STEP(k + 7)
	STEPS(0) STEPS(8) STEPS(16) STEPS(24) STEPS(32) STEPS(40)
	return value;
}

static uint64_t __attribute__((noinline))
unrolled(const uint64_t *values, long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++)
		sum = sum * 31 ^ values[i];
	return sum;
}

static uint64_t __attribute__((noinline))
far_away(uint64_t value)
{
	uint64_t sum = value;

#line 70000
	for (int i = 0; i < 40; i++)
		sum = sum * 31 + sum / 7 + i;
	return sum;
}

int
main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	Square square;
	Circle circle;
	const Shape *shapes[] = { &square, &circle, &square };
	Mixer mixer(rounds);
	uint64_t sum = 0, values[63];

	for (uint64_t i = 0; i < 63; i++)
		values[i] = i * i;
	for (long i = 0; i < rounds; i++) {
		sum += local_sum(mixer, 400000);
		for (long k = 0; k < 60000; k++)
			sum += shapes[k % 3]->area(sum);
		for (long k = 0; k < 20000; k++)
			sum += many_blocks(sum) + unrolled(values, 63) +
			       far_away(sum);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
