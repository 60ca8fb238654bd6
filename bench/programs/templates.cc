// SPDX-License-Identifier: GPL-3.0-or-later
// templates.cc -- much of the standard library, to keep a compiler busy.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

int
main(int argc, char **argv)
{
	std::map<std::string, std::vector<double>> sums;
	std::unordered_map<std::string, std::shared_ptr<std::set<int>>> sets;
	std::regex pattern(argv[0]);
	std::mt19937 random(argc);

	for (int i = 0; i < argc; i++) {
		std::vector<int> numbers(100);
		std::ostringstream text;

		std::iota(numbers.begin(), numbers.end(), i);
		std::shuffle(numbers.begin(), numbers.end(), random);
		std::stable_sort(numbers.begin(), numbers.end(),
		                 std::greater<>());
		for (int number : numbers)
			text << number << ' ';
		if (std::regex_search(text.str(), pattern))
			sums[text.str()].push_back(numbers[0]);
		sets[argv[i]] = std::make_shared<std::set<int>>(
		    numbers.begin(), numbers.end());
	}
	for (auto &[text, values] : sums)
		std::cout << text << std::accumulate(values.begin(),
		                                     values.end(), 0.0);
}
