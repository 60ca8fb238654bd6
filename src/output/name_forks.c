/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_forks.c -- in which words names with the same last identifier differ.
 *
 * Such names are sorted by their texts.  In the tree of the texts' prefixes,
 * each name has the forks on its way (src/base/short_name.h); a word of it is the
 * identifier at such a place.
 */
#include "src/output/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"

struct fork_finding {
	struct name_forks *forks;
	const struct short_name *names;
	size_t n;
	struct name_word *last;	/* [n] the last identifiers */
	uint32_t *order;		/* [n] */
	uint32_t *fork, *left, *right;	/* [n] of a run of names */
	struct error *error;
};

void
name_forks_free(struct name_forks *forks)
{
	free(forks->words);
	free(forks->of);
	*forks = (struct name_forks){ 0 };
}

static int
name_forks_compare_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
	int order = memcmp(a, b, n_a < n_b ? n_a : n_b);

	return order != 0 ? order : n_a < n_b ? -1 : n_a > n_b;
}

static int
compare_last(const struct fork_finding *finding, uint32_t i, uint32_t j)
{
	const struct name_word *x = &finding->last[i], *y = &finding->last[j];

	return name_forks_compare_bytes(finding->names[i].text + x->begin,
	                                x->end - x->begin,
	                                finding->names[j].text + y->begin,
	                                y->end - y->begin);
}

static int
name_forks_compare_names(const void *a, const void *b, void *context)
{
	const struct fork_finding *finding = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct short_name *x = &finding->names[i];
	const struct short_name *y = &finding->names[j];
	int order = compare_last(finding, i, j);

	return order != 0 ? order :
	       name_forks_compare_bytes(x->text, x->length, y->text, y->length);
}

static bool
name_forks_is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '~' ||
	    (unsigned char)c >= 0x80;
}

/*
 * The identifier at a place.  A sign comes with the identifier before it, since
 * it says nothing alone: "Record*".
 */
static struct name_word
name_forks_word_at(const struct short_name *name, uint32_t at)
{
	struct name_word word = { at, at + 1, at };

	while (word.begin > 0 &&
	       name_forks_is_identifier(name->text[word.begin - 1]))
		word.begin--;
	while (name_forks_is_identifier(name->text[at]) &&
	       word.end < name->length &&
	       name_forks_is_identifier(name->text[word.end]))
		word.end++;
	return word;
}

static int
compare_words(const void *a, const void *b)
{
	uint32_t x = ((const struct name_word *)a)->at;
	uint32_t y = ((const struct name_word *)b)->at;

	return x < y ? -1 : x > y;
}

/* Adds the word at a fork, unless the name ends there. */
static int
name_forks_add_word(struct fork_finding *finding, uint32_t name, uint32_t fork)
{
	struct name_forks *forks = finding->forks;

	if (fork >= finding->names[name].length)
		return 0;
	if (memory_grow(&forks->words, &forks->capacity, forks->n_words + 1,
	                sizeof *forks->words, finding->error) != 0)
		return -1;
	forks->words[forks->n_words++] =
	    name_forks_word_at(&finding->names[name], fork);
	return 0;
}

/* Sorts the words of a name, which are the last ones, and joins them. */
static void
join_words(struct name_forks *forks, uint32_t name)
{
	size_t first = forks->of[name].first;
	struct name_word *words = forks->words + first;
	size_t n = 0;

	if (forks->n_words == first)
		return;
	qsort(words, forks->n_words - first, sizeof *words, compare_words);
	for (size_t i = 1; i < forks->n_words - first; i++) {
		if (words[i].begin > words[n].end)
			words[++n] = words[i];
		else if (words[i].end > words[n].end)
			words[n].end = words[i].end;
	}
	forks->of[name].n = n + 1;
	forks->n_words = first + n + 1;
}

/* Finds the words of a run of n names with the same last identifier. */
static int
name_forks_find_words(struct fork_finding *finding, const uint32_t *run,
                      size_t n)
{
	struct name_forks *forks = finding->forks;

	for (size_t i = 1; i < n; i++) {
		const struct short_name *x = &finding->names[run[i - 1]];
		const struct short_name *y = &finding->names[run[i]];
		uint32_t k = 0;

		while (k < x->length && k < y->length &&
		       x->text[k] == y->text[k])
			k++;
		finding->fork[i] = k;
	}
	forks_link(finding->fork, finding->left, finding->right, n);
	for (size_t i = 0; i < n; i++) {
		forks->of[run[i]].first = forks->n_words;
		for (size_t k = i; k > 0; k = finding->left[k])
			if (name_forks_add_word(finding, run[i],
			                        finding->fork[k]) != 0)
				return -1;
		for (size_t k = i + 1; k < n; k = finding->right[k])
			if (name_forks_add_word(finding, run[i],
			                        finding->fork[k]) != 0)
				return -1;
		join_words(forks, run[i]);
	}
	return 0;
}

static int
name_forks_find_all(struct fork_finding *finding)
{
	struct name_parts parts = { 0 };
	int status = 0;

	for (size_t i = 0; status == 0 && i < finding->n; i++) {
		status = name_parts_find(&parts, finding->names[i].text,
		                         finding->names[i].length,
		                         finding->error);
		finding->order[i] = (uint32_t)i;
		finding->last[i] = (struct name_word){
			.begin = parts.last_begin, .end = parts.last_end,
		};
	}
	name_parts_free(&parts);
	if (status != 0)
		return -1;
	if (sort_items(finding->order, finding->n, sizeof *finding->order,
	               name_forks_compare_names, finding, finding->error) != 0)
		return -1;
	for (size_t i = 0, end; i < finding->n; i = end) {
		const uint32_t *run = finding->order + i;

		for (end = i + 1; end < finding->n && compare_last(finding,
		     run[0], finding->order[end]) == 0; end++)
			;
		if (name_forks_find_words(finding, run, end - i) != 0)
			return -1;
	}
	return 0;
}

int
name_forks_make(struct name_forks *forks, const struct short_name *names,
                size_t n, struct error *error)
{
	struct fork_finding finding = {
		.forks = forks,
		.names = names,
		.n = n,
		.last = memory_array(n, sizeof *finding.last, error),
		.order = memory_array(n, sizeof *finding.order, error),
		.fork = memory_array(n, sizeof *finding.fork, error),
		.left = memory_array(n, sizeof *finding.left, error),
		.right = memory_array(n, sizeof *finding.right, error),
		.error = error,
	};
	int status = -1;

	forks->of = memory_array(n, sizeof *forks->of, error);
	if (!error->is_set)
		status = name_forks_find_all(&finding);
	free(finding.last);
	free(finding.order);
	free(finding.fork);
	free(finding.left);
	free(finding.right);
	return status;
}
