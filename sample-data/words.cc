/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.cc -- counts the words of a text, and how to make that faster.
 *
 * STEP=0 is the program as it was written, STEP=1 and STEP=2 are what the
 * manual's second story makes of it.
 */
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_set>
#include <vector>

#ifndef STEP
#define STEP 0
#endif

#define NOINLINE __attribute__((noinline))

namespace words {

class StopWords {
public:
	StopWords();
	bool contains(const std::string &word) const;

private:
	std::vector<std::string> list;
	std::unordered_set<std::string> set;
};

StopWords::StopWords()
{
	static const char *const beginnings[] = { "th", "wh", "be", "a", "o",
		"f", "i", "y", "h", "s" };
	static const char *const ends[] = { "e", "at", "en", "en", "ere",
		"ose", "ich", "ing", "is", "er", "out", "ou", "ey", "ow" };

	for (const char *beginning : beginnings)
		for (const char *middle : { "", "er", "as" })
			for (const char *end : ends) {
				list.push_back(std::string(beginning) + middle +
				               end);
				set.insert(list.back());
			}
}

NOINLINE bool
StopWords::contains(const std::string &word) const
{
#if STEP < 1
	return std::find(list.begin(), list.end(), word) != list.end();
#else
	return set.count(word) != 0;
#endif
}

/* The word in lower case, without what is not a letter. */
NOINLINE std::string
normalise(const std::string &word)
{
	std::string result;

	for (char c : word)
		if (isalpha(static_cast<unsigned char>(c)))
#if STEP < 2
			result = result + std::string(1, tolower(c));
#else
			result += static_cast<char>(tolower(c));
#endif
	return result;
}

class Index {
public:
	void add(const std::string &word);
	std::size_t size() const { return counts.size(); }

private:
	StopWords stop_words;
	std::map<std::string, int> counts;
};

NOINLINE void
Index::add(const std::string &word)
{
	std::string normal = normalise(word);

	if (!stop_words.contains(normal))
		counts[normal]++;
}

NOINLINE void
add_line(Index &index, const std::string &line)
{
	std::istringstream in(line);
	std::string word;

	while (in >> word)
		index.add(word);
}

/* A line of a text that nobody wrote, always the same. */
NOINLINE std::string
make_line(unsigned number)
{
	static const char *const syllables[] = { "The", "re", "com", "pi",
		"ler", "stack", "sam", "ple", "is", "er", "out", "ing" };
	std::string line;

	for (int i = 0; i < 12; i++) {
		for (unsigned n = 1 + number % 4; n > 0; n--) {
			line += syllables[number % 12];
			number = number * 1664525 + 1013904223;
			number ^= number >> 13;
		}
		line += i % 5 == 4 ? ", " : " ";
	}
	return line;
}

} // namespace words

int
main()
{
	words::Index index;

	for (unsigned i = 0; i < 150000; i++)
		words::add_line(index, words::make_line(i));
	std::cout << index.size() << '\n';
}
