// SPDX-License-Identifier: GPL-3.0-or-later
// contexts.cc -- an interpreter of expressions, most of whose time is in
// lookups of variables.
//
//	contexts [ROUNDS]
//
// Under recursion: `let` and `sum` evaluate expressions, in which there are
// `let` and `sum`.  Built with -DSTEP=1, lookups below a let are specialised as
//
//	specialise (eval_let eval eval_variable lookup)
//
// says: copies of eval, eval_variable and lookup, which eval_let calls, and
// eval_sum_1, a detour that calls eval_1 again.  lookup_1 keeps what it found,
// so that it is as good as free.  Both versions print the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#ifndef STEP
#define STEP 0
#endif

// A frame of its own on the stack: not inlined, not cloned.
#ifdef __clang__
#define OWN_FRAME __attribute__((noinline))
#else
#define OWN_FRAME __attribute__((noipa))
#endif

using Scope = std::unordered_map<std::string, std::uint64_t>;

struct Expression {
	enum Kind { VARIABLE, SUM, LET } kind;
	std::string name;
	std::vector<std::unique_ptr<Expression>> parts;
	mutable const std::uint64_t *found = nullptr;
};

std::vector<Scope> scopes;	// outermost first

OWN_FRAME const std::uint64_t &
lookup(const Expression &expression)
{
	for (auto scope = scopes.rbegin();; ++scope) {
		const auto found = scope->find(expression.name);

		if (found != scope->end())
			return found->second;
	}
}

OWN_FRAME std::uint64_t eval(const Expression &expression);

OWN_FRAME std::uint64_t
eval_variable(const Expression &expression)
{
	return lookup(expression) + 1;
}

OWN_FRAME std::uint64_t
eval_sum(const Expression &expression)
{
	std::uint64_t sum = 0;

	for (const auto &part : expression.parts)
		sum += eval(*part);
	return sum;
}

#if STEP == 1

OWN_FRAME std::uint64_t eval_1(const Expression &expression);
OWN_FRAME std::uint64_t eval_let(const Expression &expression);

OWN_FRAME const std::uint64_t &
lookup_1(const Expression &expression)
{
	if (expression.found == nullptr)
		expression.found = &lookup(expression);
	return *expression.found;
}

OWN_FRAME std::uint64_t
eval_variable_1(const Expression &expression)
{
	return lookup_1(expression) + 1;
}

OWN_FRAME std::uint64_t
eval_sum_1(const Expression &expression)
{
	std::uint64_t sum = 0;

	for (const auto &part : expression.parts)
		sum += eval_1(*part);
	return sum;
}

OWN_FRAME std::uint64_t
eval_1(const Expression &expression)
{
	switch (expression.kind) {
	case Expression::VARIABLE:
		return eval_variable_1(expression) * 3;
	case Expression::SUM:
		return eval_sum_1(expression) + 1;
	default:
		return eval_let(expression) ^ 1;
	}
}

#define EVAL_OF_LET eval_1
#else
#define EVAL_OF_LET eval
#endif

// The value of the last part; the others are evaluated for their effects.
OWN_FRAME std::uint64_t
eval_let(const Expression &expression)
{
	std::uint64_t last = 0;

	for (const auto &part : expression.parts)
		last = last / 2 + EVAL_OF_LET(*part);
	return last;
}

OWN_FRAME std::uint64_t
eval(const Expression &expression)
{
	switch (expression.kind) {
	case Expression::VARIABLE:
		return eval_variable(expression) * 3;
	case Expression::SUM:
		return eval_sum(expression) + 1;
	default:
		return eval_let(expression) ^ 1;
	}
}

std::uint64_t seed = 1;

unsigned
random_below(unsigned n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return static_cast<unsigned>(seed >> 33) % n;
}

std::string
name_of(unsigned i)
{
	return "a name as long as those in programs, number " +
	    std::to_string(i);
}

std::unique_ptr<Expression>
make(unsigned depth)
{
	auto expression = std::make_unique<Expression>();

	expression->kind = depth == 0 ? Expression::VARIABLE :
	    random_below(5) == 0 ? Expression::LET : Expression::SUM;
	if (depth == 0)
		expression->name = name_of(random_below(60));
	else
		for (unsigned i = 0; i < 4; i++)
			expression->parts.push_back(make(depth - 1));
	return expression;
}

int
main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) :
	    20000;
	std::uint64_t sum = 0;

	scopes.resize(8);
	for (unsigned i = 0; i < 300; i++)
		scopes[i < 60 ? 0 : 1 + i % 7][name_of(i)] = random_below(1000);
	const auto program = make(5);
	for (unsigned i = 0; i < rounds; i++)
		sum = sum * 31 + eval(*program);
	std::printf("%llu\n", static_cast<unsigned long long>(sum));
	return 0;
}
