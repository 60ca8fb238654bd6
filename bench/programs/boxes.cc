/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boxes.cc -- templates of the standard library, for bench/inlined.py. */
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
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
#include <optional>
#include <future>
#include <filesystem>

namespace {

template <int N> struct Box {
	std::map<std::string, std::vector<std::pair<int, std::string>>> m;
	std::unordered_map<int, std::set<long>> u;
	std::variant<int, double, std::string, std::vector<int>> v;

	long run(int n)
	{
		std::mt19937 g(N);
		long sum = 0;
		for (int i = 0; i < n; i++) {
			std::string k = std::to_string(g() % (100 + N));
			m[k].push_back({ i, k + "x" });
			u[(int)(g() % 50)].insert((long)g());
			std::sort(m[k].begin(), m[k].end(),
			          [](auto &a, auto &b) { return a > b; });
			v = k;
			sum += std::accumulate(m[k].begin(), m[k].end(), 0L,
			    [](long s, auto &p) { return s + p.first; });
		}
		std::ostringstream o;
		for (auto &e : m)
			o << e.first << e.second.size();
		std::regex r("([0-9]+)x");
		std::smatch sm;
		std::string t = o.str().substr(0, 200);
		if (std::regex_search(t, sm, r))
			sum++;
		std::function<long(long)> f = [&](long x) {
			return x < 2 ? x : f(x - 1) + N;
		};
		return sum + f(10);
	}
};

}

extern "C" long
work(int n)
{
	return Box<1>().run(n) + Box<2>().run(n) + Box<3>().run(n) +
	    Box<4>().run(n) + Box<5>().run(n) + Box<6>().run(n) +
	    Box<7>().run(n) + Box<8>().run(n);
}
