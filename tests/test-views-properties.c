/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-views-properties.c -- properties that the views of any profile must
 * have.
 *
 * Checks thousands of small random profiles, most of them recursive, each made
 * from a seed that is printed when a claim fails.  Names are single letters,
 * so a stack or a path is a word, and byte order of words is the order of
 * paths.
 *
 * The oracle has no tree and no locks: the value of a path is the hits of the
 * stacks that have a frame whose canonical path, begun at the outermost frame
 * of the path's first name, is that path; each stack counts once.
 */
#include "tests/view-fixture.h"

#include "src/base/memory.h"
#include "src/profile/large_array.h"

enum {
	SEEDS = 3000,		/* CPPROF_SEEDS sets fewer, for valgrind */
	MOST_NAMES = 6,
	MOST_STACKS = 14,
	MOST_DEPTH = 12,
	LONGEST = 64,		/* of words; some properties lengthen stacks */
};

static uint64_t n_seeds = SEEDS;

struct stack {
	char word[LONGEST];
	uint64_t hits;
};

struct profile_of_words {
	struct stack stacks[2 * MOST_STACKS];
	size_t n;
};

/* Distinct words and their values. */
struct value {
	char word[LONGEST];
	uint64_t hits;
};

struct values {
	struct value *list;
	size_t n, capacity;
};

static uint64_t seed, random_state;

static uint64_t
draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % below;
}

/* Adds an empty value. */
static struct value *
values_append(struct values *values)
{
	struct error error = { 0 };

	assert_int_equal(memory_grow(&values->list, &values->capacity,
	                             values->n + 1, sizeof *values->list,
	                             &error), 0);
	memset(&values->list[values->n], 0, sizeof *values->list);
	return &values->list[values->n++];
}

static struct value *
values_find(const struct values *values, const char *word)
{
	for (size_t i = 0; i < values->n; i++)
		if (strcmp(values->list[i].word, word) == 0)
			return &values->list[i];
	return NULL;
}

static uint64_t
values_get(const struct values *values, const char *word)
{
	const struct value *value = values_find(values, word);

	return value == NULL ? 0 : value->hits;
}

static void
values_add(struct values *values, const char *word, uint64_t hits)
{
	struct value *value = values_find(values, word);

	if (value == NULL) {
		value = values_append(values);
		memccpy(value->word, word, '\0', LONGEST - 1);
	}
	value->hits += hits;
}

static int
compare_values(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return strcmp(x->word, y->word);
}

static bool
values_equal(const struct values *a, const struct values *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (values_find(b, a->list[i].word) == NULL ||
		    values_get(b, a->list[i].word) != a->list[i].hits)
			return false;
	return true;
}

/* Fails with the seed, the claim and the profile. */
static void
check(bool holds, const char *claim, const struct profile_of_words *profile,
      char root)
{
	if (holds)
		return;
	print_error("seed %llu, root %c: %s\n", (unsigned long long)seed,
	            root, claim);
	for (size_t i = 0; i < profile->n; i++)
		print_error("%s %llu\n", profile->stacks[i].word,
		            (unsigned long long)profile->stacks[i].hits);
	fail();
}

/* The oracle. */

/*
 * Adds to paths every canonical path of the stack that begins with `first`;
 * leaf, if not NULL, receives that of the innermost frame.
 */
static void
canonical_paths(const char *word, char first, struct values *paths, char *leaf)
{
	char path[LONGEST] = "";
	size_t n = 0;

	for (word = strchr(word, first); word && *word; word++) {
		char *known = n > 0 ? memchr(path, *word, n) : NULL;

		path[n] = *word;
		path[n + 1] = '\0';
		if (values_find(paths, path) == NULL)
			values_add(paths, path, 0);
		if (leaf != NULL)
			strcpy(leaf, path);
		n = known != NULL ? (size_t)(known - path) + 1 : n + 1;
	}
}

static bool
is_first(const char *word, const char *at)
{
	return strchr(word, *at) == at;
}

/* All canonical paths of a stack, from every name. */
static struct values
all_paths(const char *word)
{
	struct values paths = { 0 };

	for (const char *at = word; *at != '\0'; at++)
		if (is_first(word, at))
			canonical_paths(word, *at, &paths, NULL);
	return paths;
}

/* Values of all paths with that first or last name; '\0' for any. */
static struct values
oracle(const struct profile_of_words *profile, char first, char last)
{
	struct values values = { 0 };

	for (size_t i = 0; i < profile->n; i++) {
		struct values paths = all_paths(profile->stacks[i].word);

		for (size_t k = 0; k < paths.n; k++) {
			const char *path = paths.list[k].word;

			if ((first == '\0' || path[0] == first) &&
			    (last == '\0' || path[strlen(path) - 1] == last))
				values_add(&values, path,
				           profile->stacks[i].hits);
		}
		free(paths.list);
	}
	return values;
}

static uint64_t
total_of(const struct profile_of_words *profile)
{
	uint64_t total = 0;

	for (size_t i = 0; i < profile->n; i++)
		total += profile->stacks[i].hits;
	return total;
}

/* Random profiles. */

static void
random_stack(struct stack *stack, const struct stack *earlier, size_t n,
             uint64_t n_names)
{
	size_t length = 0, wanted = 1 + draw(MOST_DEPTH);

	memset(stack, 0, sizeof *stack);
	if (n > 0 && draw(3) > 0) {
		const char *other = earlier[draw(n)].word;

		length = draw(strlen(other) + 1);
		memcpy(stack->word, other, length);
	}
	while (length < wanted)
		stack->word[length++] = (char)('a' + draw(n_names));
	stack->hits = draw(4) == 0 ? 0 : draw(10);
}

static void
random_profile(struct profile_of_words *profile, uint64_t this_seed)
{
	uint64_t n_names;

	seed = this_seed;
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < 8; i++)
		draw(2);
	n_names = 1 + draw(MOST_NAMES);
	memset(profile, 0, sizeof *profile);
	profile->n = 1 + draw(MOST_STACKS);
	for (size_t i = 0; i < profile->n; i++)
		random_stack(&profile->stacks[i], profile->stacks, i,
		             n_names);
}

static bool
has_name(const struct profile_of_words *profile, char name)
{
	for (size_t i = 0; i < profile->n; i++)
		if (strchr(profile->stacks[i].word, name) != NULL)
			return true;
	return false;
}

/* What the views say. */

static void
begin(struct fixture *fixture, const struct profile_of_words *profile)
{
	char *folded = NULL;
	size_t size;
	FILE *file = open_memstream(&folded, &size);

	assert_non_null(file);
	for (size_t i = 0; i < profile->n; i++) {
		const char *word = profile->stacks[i].word;

		for (const char *at = word; *at != '\0'; at++)
			fprintf(file, "%s%c", at > word ? ";" : "", *at);
		fprintf(file, " %llu\n",
		        (unsigned long long)profile->stacks[i].hits);
	}
	fclose(file);
	fixture_begin(fixture, folded);
	free(folded);
}

/* The view's rows in order, with the numbers of this column. */
static struct values
ask_for(struct fixture *fixture, view_function *view, char root,
        const char *column, uint64_t *hidden)
{
	struct view_request request = fixture->request;
	struct values values = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];
	struct table table = { 0 };
	struct error error = { 0 };
	char name[2] = { root, '\0' };

	if (root != '\0')
		request.root = fixture_name(fixture, name);
	if (view(&request, &table, &error) != 0)
		fail_msg("%s", error.text);
	for (size_t i = 0; i < table.n_rows; i++) {
		struct value *value = values_append(&values);
		char *path;

		table_get_row(&table, i, cells);
		path = path_text(&cells[find_column(&table, "path")], "");
		memccpy(value->word, path, '\0', LONGEST - 1);
		value->hits = cells[find_column(&table, column)].count;
		free(path);
	}
	if (hidden != NULL)
		*hidden = field_count(&table, "hidden");
	table_free(&table);
	return values;
}

/*
 * The view's rows in order; *hidden, if not NULL, is its count of hidden ones.
 */
static struct values
ask(struct fixture *fixture, view_function *view, char root, uint64_t *hidden)
{
	return ask_for(fixture, view, root, "hits", hidden);
}

/* The same, for a profile that is freed here. */
static struct values
ask_once(const struct profile_of_words *profile, view_function *view,
         char root)
{
	struct fixture fixture;
	struct values values;

	begin(&fixture, profile);
	values = ask(&fixture, view, root, NULL);
	fixture_end(&fixture);
	return values;
}

static uint64_t
ask_path(struct fixture *fixture, const char *word)
{
	struct view_request request = fixture->request;
	struct table table = { 0 };
	struct error error = { 0 };
	struct cell cells[TABLE_MAX_COLUMNS];
	uint32_t path[LONGEST];

	for (; word[request.n_path] != '\0'; request.n_path++)
		path[request.n_path] = fixture_name(fixture,
		    (char[]){ word[request.n_path], '\0' });
	request.path = path;
	assert_int_equal(view_path(&request, &table, &error), 0);
	table_get_row(&table, 0, cells);
	table_free(&table);
	return cells[0].count;
}

static void
give_returns(struct fixture *fixture)
{
	struct sample_tree *tree = fixture->tree;
	struct error error = { 0 };

	if (large_array_reserve(&tree->returns, tree->n_nodes,
	                        sizeof *tree->returns, &error) != 0)
		fail_msg("%s", error.text);
	for (uint32_t n = 0; n < tree->n_nodes; n++)
		tree->returns[n] = draw(1000);
}

/* Checks a property for each seed's profile and each name in it. */
static void
for_all(void (*claim)(struct fixture *fixture,
                      const struct profile_of_words *profile, char root),
        uint64_t n)
{
	for (uint64_t s = 1; s <= n; s++) {
		struct profile_of_words profile;
		struct fixture fixture;

		random_profile(&profile, s);
		begin(&fixture, &profile);
		for (char root = 'a'; root < 'a' + MOST_NAMES; root++)
			if (has_name(&profile, root))
				claim(&fixture, &profile, root);
		fixture_end(&fixture);
	}
}

/* Claims about one profile and one root. */

static void
same_rows(const struct values *got, struct values *wanted, const char *claim,
          const struct profile_of_words *profile, char root)
{
	if (wanted->n > 0)
		qsort(wanted->list, wanted->n, sizeof *wanted->list,
		      compare_values);
	check(got->n == wanted->n, claim, profile, root);
	for (size_t i = 0; i < got->n; i++)
		check(compare_values(&got->list[i], &wanted->list[i]) == 0,
		      claim, profile, root);
}

static void
matches_oracle(struct fixture *fixture,
               const struct profile_of_words *profile, char root)
{
	struct values down = ask(fixture, view_down, root, NULL);
	struct values up = ask(fixture, view_up, root, NULL);
	struct values all_down = oracle(profile, root, '\0');
	struct values all_up = oracle(profile, '\0', root);

	same_rows(&down, &all_down, "down is the oracle's", profile, root);
	same_rows(&up, &all_up, "up is the oracle's", profile, root);
	free(down.list);
	free(up.list);
	free(all_down.list);
	free(all_up.list);
}

static void
is_one_number(struct fixture *fixture, const struct profile_of_words *profile,
              char root)
{
	const char word[2] = { root, '\0' };
	struct values down = ask(fixture, view_down, root, NULL);
	struct values up = ask(fixture, view_up, root, NULL);
	struct values functions = ask(fixture, view_functions, '\0', NULL);
	uint64_t value = values_get(&functions, word);

	check(values_get(&down, word) == value &&
	      values_get(&up, word) == value,
	      "(r) in down and up is body+descendants", profile, root);
	for (size_t i = 0; i < up.n; i++)
		check(ask_path(fixture, up.list[i].word) == up.list[i].hits,
		      "path shows what up shows", profile, root);
	for (size_t i = 0; i < down.n; i++)
		check(ask_path(fixture, down.list[i].word) ==
		      down.list[i].hits,
		      "path shows what down shows", profile, root);
	free(down.list);
	free(up.list);
	free(functions.list);
}

/* path accepts any word; most are no canonical path. */
static void
path_of_any_word(struct fixture *fixture,
                 const struct profile_of_words *profile, char root)
{
	struct values all = oracle(profile, root, '\0');
	char word[8] = { root };
	size_t n = 1 + draw(6);

	for (size_t i = 1; i < n; i++)
		word[i] = (char)('a' + draw(MOST_NAMES));
	check(ask_path(fixture, word) == values_get(&all, word),
	      "path of any word is the oracle's", profile, root);
	free(all.list);
}

/* down(a) and up(z) agree on (a ... z), and functions on (a). */
static void
returns_are_one_number(struct fixture *fixture,
                       const struct profile_of_words *profile, char root)
{
	struct values down, functions;
	const char word[2] = { root, '\0' };

	if (fixture->tree->returns == NULL)
		give_returns(fixture);
	down = ask_for(fixture, view_down, root, "returns", NULL);
	functions = ask_for(fixture, view_functions, '\0', "returns", NULL);
	check(values_get(&down, word) == values_get(&functions, word),
	      "(r) returns as the function does", profile, root);
	for (size_t i = 0; i < down.n; i++) {
		const struct value *path = &down.list[i];
		char last = path->word[strlen(path->word) - 1];
		struct values up = ask_for(fixture, view_up, last, "returns",
		                           NULL);

		check(values_get(&up, path->word) == path->hits,
		      "down and up return as often", profile, root);
		free(up.list);
	}
	free(down.list);
	free(functions.list);
}

static void
paths_are_canonical_and_ordered(struct fixture *fixture,
                                const struct profile_of_words *profile,
                                char root)
{
	struct values down = ask(fixture, view_down, root, NULL);
	struct values up = ask(fixture, view_up, root, NULL);

	for (size_t i = 0; i < down.n; i++) {
		char *word = down.list[i].word;
		uint64_t hits = down.list[i].hits;
		size_t n = strlen(word);

		for (size_t k = 0; k + 1 < n; k++)
			check(memchr(word, word[k], k) == NULL,
			      "names but the last are distinct",
			      profile, root);
		word[n - 1] = '\0';
		check(n == 1 || values_get(&down, word) >= hits,
		      "no path passes its prefix", profile, root);
	}
	for (size_t i = 0; i < up.n; i++) {
		const char *word = up.list[i].word;

		check(word[1] == '\0' ||
		      values_get(&up, word + 1) >= up.list[i].hits,
		      "no path passes its suffix", profile, root);
	}
	free(down.list);
	free(up.list);
}

static void
leaves_share_the_root(struct fixture *fixture,
                      const struct profile_of_words *profile, char root)
{
	struct values down = ask(fixture, view_down, root, NULL);
	struct values self = { 0 };
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->n; i++) {
		struct values paths = { 0 };
		char leaf[LONGEST] = "";

		canonical_paths(profile->stacks[i].word, root, &paths, leaf);
		if (*leaf != '\0')
			values_add(&self, leaf, profile->stacks[i].hits);
		free(paths.list);
	}
	for (size_t i = 0; i < self.n; i++) {
		check(self.list[i].hits <=
		      values_get(&down, self.list[i].word),
		      "a path's own hits are among its hits", profile,
		      root);
		sum += self.list[i].hits;
	}
	check(sum == values_get(&down, (char[]){ root, '\0' }),
	      "paths' own hits sum to (r)", profile, root);
	free(down.list);
	free(self.list);
}

static void
neighbours_are_calls(struct fixture *fixture,
                     const struct profile_of_words *profile, char root)
{
	struct values callers = ask(fixture, view_callers, root, NULL);
	struct values callees = ask(fixture, view_callees, root, NULL);
	struct values in = { 0 }, out = { 0 };

	for (size_t i = 0; i < profile->n; i++) {
		const struct stack *stack = &profile->stacks[i];

		for (char other = 'a'; other < 'a' + MOST_NAMES; other++) {
			const char call[] = { other, root, '\0' };
			const char call_out[] = { root, other, '\0' };

			if (strstr(stack->word, call) != NULL)
				values_add(&in, call, stack->hits);
			if (strstr(stack->word, call_out) != NULL)
				values_add(&out, call_out, stack->hits);
		}
	}
	same_rows(&callers, &in, "callers are calls", profile, root);
	same_rows(&callees, &out, "callees are calls", profile, root);
	free(callers.list);
	free(callees.list);
	free(in.list);
	free(out.list);
}

/* Those whose rows are hits of a function or a path. */
static view_function *const views[] = {
	view_down, view_up, view_functions, view_body, view_tree,
	view_callers, view_callees, view_flat, view_top,
};

static void
threshold_hides_the_rest(struct fixture *fixture,
                         const struct profile_of_words *profile, char root)
{
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		struct values all, some;
		uint64_t hidden, least;

		all = ask(fixture, views[i], root, NULL);
		fixture->request.threshold = (double)(1 + draw(40)) / 100;
		fixture->request.limit = draw(2) == 0 ? SIZE_MAX : draw(6);
		fixture->request.depth = draw(2) == 0 ? SIZE_MAX :
		                         1 + draw(4);
		some = ask(fixture, views[i], root, &hidden);
		least = (uint64_t)(fixture->request.threshold * 100 + 0.5) *
		        total_of(profile);
		check(some.n + hidden == all.n,
		      "rows and hidden are all rows", profile, root);
		check(some.n <= fixture->request.limit,
		      "no more rows than the limit", profile, root);
		for (size_t k = 0, j = 0; k < some.n; k++, j++) {
			while (j < all.n &&
			       (all.list[j].hits * 100 < least ||
			        strlen(all.list[j].word) >
			        fixture->request.depth))
				j++;
			check(j < all.n && strcmp(some.list[k].word,
			                          all.list[j].word) == 0,
			      "rows are the first that are not hidden",
			      profile, root);
		}
		fixture->request.threshold = 0;
		fixture->request.limit = SIZE_MAX;
		fixture->request.depth = SIZE_MAX;
		free(all.list);
		free(some.list);
	}
}

/* Claims about a profile and another made from it. */

static bool
same_views(const struct profile_of_words *a, const struct profile_of_words *b)
{
	struct fixture one, other;
	bool same = true;

	begin(&one, a);
	begin(&other, b);
	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		for (char root = 'a'; root < 'a' + MOST_NAMES; root++) {
			char name[2] = { root, '\0' };
			char *x = shown(&one, views[i], name);
			char *y = shown(&other, views[i], name);

			same = same && strcmp(x, y) == 0;
			free(x);
			free(y);
		}
	fixture_end(&one);
	fixture_end(&other);
	return same;
}

static void
swap_stacks(struct stack *a, struct stack *b)
{
	struct stack kept = *a;

	*a = *b;
	*b = kept;
}

static void
order_of_input_changes_nothing(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds / 3; s++) {
		struct profile_of_words profile, other;

		random_profile(&profile, s);
		other = profile;
		for (size_t i = other.n; i-- > 1;)
			swap_stacks(&other.stacks[i],
			            &other.stacks[draw(i + 1)]);
		check(same_views(&profile, &other),
		      "order of stacks changes nothing", &profile, '-');
	}
}

static void
views_of_a_sum_are_sums_of_views(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds / 3; s++) {
		struct profile_of_words a, b, both;
		size_t v = s % (sizeof views / sizeof *views);

		random_profile(&a, s + n_seeds);
		random_profile(&b, s);
		both = a;
		memcpy(&both.stacks[a.n], b.stacks, b.n * sizeof *b.stacks);
		both.n += b.n;
		for (char root = 'a'; root < 'a' + MOST_NAMES; root++) {
			struct values sum = ask_once(&a, views[v], root);
			struct values part = ask_once(&b, views[v], root);
			struct values whole = ask_once(&both, views[v], root);

			for (size_t i = 0; i < part.n; i++) {
				check(part.list[i].hits <= values_get(&whole,
				          part.list[i].word),
				      "more samples, no fewer hits",
				      &both, root);
				values_add(&sum, part.list[i].word,
				           part.list[i].hits);
			}
			check(values_equal(&sum, &whole),
			      "a sum's view is the views' sum", &both,
			      root);
			free(sum.list);
			free(part.list);
			free(whole.list);
		}
	}
}

static void
bodies_sum_to_the_total(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds; s++) {
		struct profile_of_words profile;
		struct values bodies;
		uint64_t sum = 0;

		random_profile(&profile, s);
		bodies = ask_once(&profile, view_body, '\0');
		for (size_t i = 0; i < bodies.n; i++)
			sum += bodies.list[i].hits;
		check(sum == total_of(&profile),
		      "bodies sum to the total", &profile, '-');
		free(bodies.list);
	}
}

static void
tree_nodes_weigh_their_stacks(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds; s++) {
		struct profile_of_words profile;
		struct values nodes, wanted = { 0 };

		random_profile(&profile, s);
		nodes = ask_once(&profile, view_tree, '\0');
		for (size_t i = 0; i < profile.n; i++) {
			struct stack *stack = &profile.stacks[i];
			char word[LONGEST] = "";

			for (size_t n = 0; stack->word[n] != '\0'; n++) {
				word[n] = stack->word[n];
				values_add(&wanted, word, stack->hits);
			}
		}
		check(values_equal(&nodes, &wanted),
		      "a node weighs the stacks through it", &profile, '-');
		for (size_t i = 1; i < nodes.n; i++) {
			const char *word = nodes.list[i].word;
			const char *before = nodes.list[i - 1].word;
			size_t n = strlen(word) - 1;

			check(strncmp(word, before, n) == 0,
			      "a node lies below its parent", &profile,
			      '-');
		}
		free(nodes.list);
		free(wanted.list);
	}
}

/* Replaces the piece [from, to) by n copies of it. */
static void
repeat_piece(char *word, size_t from, size_t to, size_t n)
{
	char repeated[2 * LONGEST] = "";
	size_t length = from;

	memcpy(repeated, word, from);
	while (n-- > 0) {
		memcpy(&repeated[length], &word[from], to - from);
		length += to - from;
	}
	strcpy(&repeated[length], &word[to]);
	assert_true(strlen(repeated) < LONGEST);
	strcpy(word, repeated);
}

/* All values, except those of paths that end in the same name twice. */
static struct values
without_stutters(const struct profile_of_words *profile)
{
	struct values all = { 0 };

	for (char root = 'a'; root < 'a' + MOST_NAMES; root++) {
		struct values down = ask_once(profile, view_down, root);

		for (size_t i = 0; i < down.n; i++) {
			const char *word = down.list[i].word;
			size_t n = strlen(word);

			if (n < 2 || word[n - 1] != word[n - 2])
				values_add(&all, word, down.list[i].hits);
		}
		free(down.list);
	}
	return all;
}

static void
a_frame_twice_changes_only_calls_to_itself(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds / 3; s++) {
		struct profile_of_words profile, other;
		struct values before, after;
		struct stack *stack;
		size_t at;

		random_profile(&profile, s);
		other = profile;
		stack = &other.stacks[draw(other.n)];
		at = draw(strlen(stack->word));
		repeat_piece(stack->word, at, at + 1, 2 + draw(3));
		before = without_stutters(&profile);
		after = without_stutters(&other);
		check(values_equal(&before, &after),
		      "x x for x changes only paths that end so",
		      &profile, '-');
		free(before.list);
		free(after.list);
	}
}

static void
three_turns_of_recursion_are_as_two(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds; s++) {
		struct profile_of_words two, many;
		size_t i, from, to, length;
		static view_function *const both[] = { view_down, view_up };

		random_profile(&two, s);
		i = draw(two.n);
		length = strlen(two.stacks[i].word);
		from = draw(length);
		to = from + 1 + draw(length - from);
		many = two;
		repeat_piece(two.stacks[i].word, from, to, 2);
		repeat_piece(many.stacks[i].word, from, to, 3 + draw(2));
		for (char root = 'a'; root < 'a' + MOST_NAMES; root++)
			for (size_t v = 0; v < 2; v++) {
				struct values a = ask_once(&two, both[v],
				                           root);
				struct values b = ask_once(&many, both[v],
				                           root);

				check(values_equal(&a, &b),
				      "w w w has the paths of w w",
				      &two, root);
				free(a.list);
				free(b.list);
			}
	}
}

static void
other_names_give_the_same_paths(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds / 3; s++) {
		struct profile_of_words profile, other;
		uint64_t shift = 1 + draw(MOST_NAMES - 1);

		random_profile(&profile, s);
		other = profile;
		for (size_t i = 0; i < other.n; i++)
			for (char *c = other.stacks[i].word; *c != '\0'; c++)
				*c = (char)('a' + (*c - 'a' + (int)shift) %
				            MOST_NAMES);
		for (char root = 'a'; root < 'a' + MOST_NAMES; root++) {
			char renamed = (char)('a' + (root - 'a' +
			    (int)shift) % MOST_NAMES);
			struct values a = ask_once(&profile, view_up, root);
			struct values b = ask_once(&other, view_up, renamed);

			for (size_t i = 0; i < a.n; i++)
				for (char *c = a.list[i].word; *c; c++)
					*c = (char)('a' + (*c - 'a' +
					    (int)shift) % MOST_NAMES);
			check(values_equal(&a, &b),
			      "renaming commutes with up", &profile,
			      root);
			free(a.list);
			free(b.list);
		}
	}
}

static void
a_group_has_the_bodies_of_its_functions(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds; s++) {
		struct profile_of_words profile, grouped;
		struct values fine, fine_bodies, coarse, coarse_bodies;
		uint64_t a, b, group;

		random_profile(&profile, s);
		grouped = profile;
		for (size_t i = 0; i < grouped.n; i++)
			for (char *c = grouped.stacks[i].word; *c; c++)
				if (*c == 'b')
					*c = 'a';
		fine = ask_once(&profile, view_functions, '\0');
		fine_bodies = ask_once(&profile, view_body, '\0');
		coarse = ask_once(&grouped, view_functions, '\0');
		coarse_bodies = ask_once(&grouped, view_body, '\0');
		a = values_get(&fine, "a");
		b = values_get(&fine, "b");
		group = values_get(&coarse, "a");
		check(values_get(&coarse_bodies, "a") ==
		      values_get(&fine_bodies, "a") +
		      values_get(&fine_bodies, "b"),
		      "a group's body is the sum of bodies", &profile,
		      '-');
		check(group >= a && group >= b && group <= a + b,
		      "a group is between its most and its sum",
		      &profile, '-');
		free(fine.list);
		free(fine_bodies.list);
		free(coarse.list);
		free(coarse_bodies.list);
	}
}

static void
a_piece_of_a_stack_has_no_other_paths(void **state)
{
	(void)state;
	for (uint64_t s = 1; s <= n_seeds; s++) {
		struct profile_of_words profile, piece;
		char *word;
		size_t length, from;

		random_profile(&profile, s);
		profile.n = 1;
		piece = profile;
		word = piece.stacks[0].word;
		length = strlen(word);
		from = draw(length);
		memmove(word, word + from, length - from + 1);
		word[1 + draw(length - from)] = '\0';
		for (char root = 'a'; root < 'a' + MOST_NAMES; root++) {
			struct values all = ask_once(&profile, view_up, root);
			struct values some = ask_once(&piece, view_up, root);

			for (size_t i = 0; i < some.n; i++)
				check(values_find(&all,
				                  some.list[i].word) != NULL,
				      "a cut stack invents no path", &profile,
				      root);
			free(all.list);
			free(some.list);
		}
	}
}

static void
down_and_up_are_the_oracles(void **state)
{
	(void)state;
	for_all(matches_oracle, n_seeds);
}

static void
a_path_has_one_number_everywhere(void **state)
{
	(void)state;
	for_all(is_one_number, n_seeds / 3);
}

static void
a_path_has_one_number_of_returns(void **state)
{
	(void)state;
	for_all(returns_are_one_number, n_seeds / 3);
}

static void
path_is_the_oracles_for_any_word(void **state)
{
	(void)state;
	for_all(path_of_any_word, n_seeds);
}

static void
paths_fall_with_length(void **state)
{
	(void)state;
	for_all(paths_are_canonical_and_ordered, n_seeds);
}

static void
own_hits_of_paths_sum_to_the_root(void **state)
{
	(void)state;
	for_all(leaves_share_the_root, n_seeds / 3);
}

static void
callers_and_callees_are_calls(void **state)
{
	(void)state;
	for_all(neighbours_are_calls, n_seeds);
}

static void
rows_and_hidden_are_all_rows(void **state)
{
	(void)state;
	for_all(threshold_hides_the_rest, n_seeds / 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(down_and_up_are_the_oracles),
		cmocka_unit_test(a_path_has_one_number_everywhere),
		cmocka_unit_test(a_path_has_one_number_of_returns),
		cmocka_unit_test(path_is_the_oracles_for_any_word),
		cmocka_unit_test(paths_fall_with_length),
		cmocka_unit_test(own_hits_of_paths_sum_to_the_root),
		cmocka_unit_test(callers_and_callees_are_calls),
		cmocka_unit_test(rows_and_hidden_are_all_rows),
		cmocka_unit_test(order_of_input_changes_nothing),
		cmocka_unit_test(views_of_a_sum_are_sums_of_views),
		cmocka_unit_test(bodies_sum_to_the_total),
		cmocka_unit_test(tree_nodes_weigh_their_stacks),
		cmocka_unit_test(a_frame_twice_changes_only_calls_to_itself),
		cmocka_unit_test(three_turns_of_recursion_are_as_two),
		cmocka_unit_test(other_names_give_the_same_paths),
		cmocka_unit_test(a_group_has_the_bodies_of_its_functions),
		cmocka_unit_test(a_piece_of_a_stack_has_no_other_paths),
	};
	const char *seeds = getenv("CPPROF_SEEDS");

	if (seeds != NULL)
		n_seeds = strtoull(seeds, NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
