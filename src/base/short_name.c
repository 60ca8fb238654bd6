/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_name.c -- names of functions as people say them.
 *
 * Names that are the same without their parts are sorted by their whole texts.
 * Where two neighbours first differ, each of them keeps the part that lies
 * there, and so do all others for which that is the first difference from one
 * of the two: in the tree of the names' prefixes, each name keeps what lies at
 * the forks on its way.  A return type is compared last, since it says least.
 */
#include "src/base/short_name.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum {
	ELLIPSIS_SIZE = sizeof ELLIPSIS - 1,
	ROUNDS_MAX = 4,		/* until all that look the same are whole */
};

/*
 * Which parts are shown.  kept: offsets of bytes whose parts must be, in order.
 */
struct short_showing {
	const char *name;
	size_t n;
	const struct name_parts *parts;
	const uint32_t *kept;
	size_t n_kept;
	bool keeps_declarators, keeps_all;
};

/* The number of kept offsets below `end`. */
static size_t
kept_below(const struct short_showing *showing, uint32_t end)
{
	return partition_point(showing->n_kept, i, showing->kept[i] < end);
}

static bool
has_kept(const struct short_showing *showing, uint32_t begin, uint32_t end)
{
	return kept_below(showing, end) > kept_below(showing, begin);
}

/* A blank between two closing brackets says nothing, even where names part. */
static bool
short_name_is_blank(const struct short_showing *showing,
                    const struct name_part *part)
{
	return part->end - part->begin == 1 &&
	    showing->name[part->begin] == ' ';
}

static bool
short_name_is_kept(const struct short_showing *showing,
                   const struct name_part *part)
{
	if (short_name_is_blank(showing, part))
		return false;
	if (showing->keeps_all || part->kind == NAME_PLACE)
		return true;
	if (part->kind == NAME_DECLARATOR)
		return showing->keeps_declarators;
	return has_kept(showing, part->begin, part->end);
}

/*
 * The item of a list that is shown last, among the parts from `first` on.  If
 * only the brackets were asked for, it is the last of all.
 */
static uint32_t
last_item(const struct short_showing *showing, uint32_t first)
{
	const struct name_part *parts = showing->parts->parts;
	uint32_t end = parts[first].after, last = first, last_kept = first;

	for (uint32_t i = first + 1; i < end; i = parts[i].after) {
		if (parts[i].kind != NAME_ITEM)
			continue;
		last = i;
		if (short_name_is_kept(showing, &parts[i]))
			last_kept = i;
	}
	return last_kept == first ? last : last_kept;
}

/*
 * Whether an item of a list that is shown is, too; last: the list's last item
 * that is.  One that is no longer than the ellipsis stays.
 */
static bool
shows_item(const struct short_showing *showing, uint32_t i, uint32_t last)
{
	const struct name_part *part = &showing->parts->parts[i];

	return short_name_is_kept(showing, part) || i == last ||
	    (i < last && part->end - part->content <= ELLIPSIS_SIZE);
}

/* Adds the name with only the parts that are kept. */
static int
add_shown(struct text_buffer *text, const struct short_showing *showing,
          struct error *error)
{
	const struct name_parts *parts = showing->parts;
	/* Of an item: the last one of its list that is shown. */
	uint32_t *last = memory_array(parts->n, sizeof *last, error);
	uint32_t at = 0, i = 0, elided_end = 0;

	if (last == NULL)
		return -1;
	while (i < parts->n) {
		const struct name_part *part = &parts->parts[i];
		bool is_item = part->kind == NAME_ITEM;
		uint32_t from = part->begin;

		if (is_item ? shows_item(showing, i, last[i]) :
		              short_name_is_kept(showing, part)) {
			uint32_t shown = part->kind != NAME_LIST ? 0 :
			                 last_item(showing, i);

			for (uint32_t k = i + 1; part->kind == NAME_LIST &&
			     k < part->after; k = parts->parts[k].after)
				last[k] = shown;
			i++;
			continue;
		}
		if (is_item && i < last[i]) {
			bool was_elided = elided_end == part->begin;

			elided_end = part->end;
			if (!was_elided)
				from = part->content;
			text_add(text, showing->name + at, from - at);
			text_add_string(text, was_elided ? "" : ELLIPSIS);
		} else {
			text_add(text, showing->name + at, from - at);
		}
		at = part->end;
		i = part->after;
	}
	text_add(text, showing->name + at, showing->n - at);
	free(last);
	return text->failed ? error_out_of_memory(error) : 0;
}

int
text_add_short_name(struct text_buffer *text, struct name_parts *parts,
                    const char *name, size_t n, struct error *error)
{
	struct short_showing showing = { .name = name, .n = n, .parts = parts };

	if (name_parts_find(parts, name, n, error) != 0)
		return -1;
	return add_shown(text, &showing, error);
}

/* Names that are being shortened. */
struct shortening {
	struct short_name *names;
	size_t n;
	uint32_t *begin;	/* [n] where each begins, after a return type */
	uint32_t *order;	/* [n] of names, by their texts */
	uint32_t *forks, *left, *right;	/* [n] of a run of names, see short_name.h;
					 * in the order of compare_whole */
	uint32_t *kept;		/* offsets in a name */
	size_t kept_capacity;
	struct name_parts parts;
	struct text_buffer text;
	struct arena *arena;
	struct error *error;
};

static int
short_name_compare_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
	int order = memcmp(a, b, n_a < n_b ? n_a : n_b);

	return order != 0 ? order : n_a < n_b ? -1 : n_a > n_b;
}

static int
short_name_compare_texts(const void *a, const void *b, void *context)
{
	const struct shortening *all = context;
	const struct short_name *x = &all->names[*(const uint32_t *)a];
	const struct short_name *y = &all->names[*(const uint32_t *)b];

	return short_name_compare_bytes(x->text, x->length, y->text, y->length);
}

/* By the whole names, return types last. */
static int
compare_whole(const void *a, const void *b, void *context)
{
	const struct shortening *all = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct short_name *x = &all->names[i], *y = &all->names[j];
	uint32_t at_x = all->begin[i], at_y = all->begin[j];
	int order = short_name_compare_bytes(x->whole + at_x, x->n_whole - at_x,
	                                     y->whole + at_y,
	                                     y->n_whole - at_y);

	return order != 0 ? order :
	       short_name_compare_bytes(x->whole, at_x, y->whole, at_y);
}

static uint32_t
short_name_common_length(const char *a, size_t n_a, const char *b, size_t n_b)
{
	uint32_t i = 0;

	while (i < n_a && i < n_b && a[i] == b[i])
		i++;
	return i;
}

/*
 * The place where two names first differ, in the order of compare_whole: an end
 * of the name is a byte, too, and the return type follows it.
 */
static uint32_t
short_name_find_fork(const struct shortening *all, uint32_t i, uint32_t j)
{
	const struct short_name *x = &all->names[i], *y = &all->names[j];
	uint32_t at_x = all->begin[i], at_y = all->begin[j];
	size_t n_x = x->n_whole - at_x, n_y = y->n_whole - at_y;
	uint32_t place = short_name_common_length(x->whole + at_x, n_x,
	                                          y->whole + at_y, n_y);

	if (place < n_x || place < n_y)
		return place;
	return place + 1 +
	    short_name_common_length(x->whole, at_x, y->whole, at_y);
}

/* Adds the offset of a fork's place in a name, unless it is at its end. */
static void
short_name_keep(struct shortening *all, uint32_t name, uint32_t place,
                size_t *n)
{
	uint32_t begin = all->begin[name];
	uint32_t length = (uint32_t)all->names[name].n_whole - begin;

	if (place < length)
		all->kept[(*n)++] = begin + place;
	else if (place > length && place - length - 1 < begin)
		all->kept[(*n)++] = place - length - 1;
}

static int
short_name_compare_offsets(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Collects the forks on the way to name i of a run of n. */
static int
collect_forks(struct shortening *all, const uint32_t *run, size_t n, size_t i,
              size_t *n_kept)
{
	size_t most = 2 * (all->names[run[i]].n_whole + 1);

	*n_kept = 0;
	if (memory_grow(&all->kept, &all->kept_capacity, most,
	                sizeof *all->kept, all->error) != 0)
		return -1;
	for (size_t k = i; k > 0; k = all->left[k])
		short_name_keep(all, run[i], all->forks[k], n_kept);
	for (size_t k = i + 1; k < n; k = all->right[k])
		short_name_keep(all, run[i], all->forks[k], n_kept);
	qsort(all->kept, *n_kept, sizeof *all->kept,
	      short_name_compare_offsets);
	return 0;
}

/* Sets the short text of a name to `text`. */
static int
short_name_set_text(struct shortening *all, struct short_name *name)
{
	const struct text_buffer *text = &all->text;

	if (text->length == name->n_whole) {
		name->text = name->whole;
		name->length = name->n_whole;
		return 0;
	}
	name->text = arena_text(all->arena, text->bytes, text->length,
	                        all->error);
	name->length = text->length;
	return name->text == NULL ? -1 : 0;
}

static int
show_forks(struct shortening *all, const uint32_t *run, size_t n, size_t i)
{
	struct short_name *name = &all->names[run[i]];
	struct short_showing showing = {
		.name = name->whole,
		.n = name->n_whole,
		.parts = &all->parts,
	};

	if (name_parts_find(&all->parts, name->whole, name->n_whole,
	                    all->error) != 0 ||
	    collect_forks(all, run, n, i, &showing.n_kept) != 0)
		return -1;
	showing.kept = all->kept;
	for (size_t k = 0; k < all->parts.n; k++) {
		const struct name_part *part = &all->parts.parts[k];

		showing.keeps_declarators |= part->kind == NAME_DECLARATOR &&
		    has_kept(&showing, part->begin, part->end);
	}
	text_clear(&all->text);
	if (add_shown(&all->text, &showing, all->error) != 0)
		return -1;
	return short_name_set_text(all, name);
}

/* Tells a run of n names apart that have the same short text. */
static int
tell_apart(struct shortening *all, uint32_t *run, size_t n)
{
	if (sort_items(run, n, sizeof *run, compare_whole, all,
	               all->error) != 0)
		return -1;
	for (size_t i = 1; i < n; i++)
		all->forks[i] = short_name_find_fork(all, run[i - 1], run[i]);
	forks_link(all->forks, all->left, all->right, n);
	for (size_t i = 0; i < n; i++)
		if (show_forks(all, run, n, i) != 0)
			return -1;
	return 0;
}

/* Shows all parts of the names of a run. */
static int
show_all_parts(struct shortening *all, const uint32_t *run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct short_name *name = &all->names[run[i]];
		const struct short_showing showing = {
			.name = name->whole,
			.n = name->n_whole,
			.parts = &all->parts,
			.keeps_all = true,
		};

		text_clear(&all->text);
		if (name_parts_find(&all->parts, name->whole, name->n_whole,
		                    all->error) != 0 ||
		    add_shown(&all->text, &showing, all->error) != 0 ||
		    short_name_set_text(all, name) != 0)
			return -1;
	}
	return 0;
}

/* Makes the names of a run whole.  Returns whether one was not. */
static bool
make_whole(struct shortening *all, const uint32_t *run, size_t n)
{
	bool changed = false;

	for (size_t i = 0; i < n; i++) {
		struct short_name *name = &all->names[run[i]];

		changed |= name->length < name->n_whole;
		name->text = name->whole;
		name->length = name->n_whole;
	}
	return changed;
}

/* What is done to names with the same text. */
enum stage { SHOW_FORKS, SHOW_ALL_PARTS, MAKE_WHOLE };

/* Finds the runs of names with the same text, which then are shown longer. */
static int
go_through_runs(struct shortening *all, enum stage stage, bool *changed)
{
	*changed = false;
	if (sort_items(all->order, all->n, sizeof *all->order,
	               short_name_compare_texts, all, all->error) != 0)
		return -1;
	for (size_t i = 0, end; i < all->n; i = end) {
		uint32_t *run = all->order + i;

		for (end = i + 1; end < all->n && short_name_compare_texts(
		     run, all->order + end, all) == 0; end++)
			;
		if (end == i + 1)
			continue;
		if (stage == MAKE_WHOLE)
			*changed |= make_whole(all, run, end - i);
		else if (stage == SHOW_FORKS
		         ? tell_apart(all, run, end - i) != 0
		         : show_all_parts(all, run, end - i) != 0)
			return -1;
	}
	return 0;
}

static int
make_bare(struct shortening *all, uint32_t i)
{
	struct short_name *name = &all->names[i];

	text_clear(&all->text);
	if (text_add_short_name(&all->text, &all->parts, name->whole,
	                        name->n_whole, all->error) != 0)
		return -1;
	all->order[i] = i;
	all->begin[i] = all->parts.begin;
	return short_name_set_text(all, name);
}

static int
make_all(struct shortening *all)
{
	bool changed = true;

	for (uint32_t i = 0; i < all->n; i++)
		if (make_bare(all, i) != 0)
			return -1;
	if (go_through_runs(all, SHOW_FORKS, &changed) != 0 ||
	    go_through_runs(all, SHOW_ALL_PARTS, &changed) != 0)
		return -1;
	changed = true;
	for (int k = 0; changed && k < ROUNDS_MAX; k++)
		if (go_through_runs(all, MAKE_WHOLE, &changed) != 0)
			return -1;
	if (changed)
		make_whole(all, all->order, all->n);
	return 0;
}

int
short_names_make(struct short_name *names, size_t n, struct arena *arena,
                 struct error *error)
{
	struct shortening all = {
		.names = names,
		.n = n,
		.begin = memory_array(n, sizeof *all.begin, error),
		.order = memory_array(n, sizeof *all.order, error),
		.forks = memory_array(n, sizeof *all.forks, error),
		.left = memory_array(n, sizeof *all.left, error),
		.right = memory_array(n, sizeof *all.right, error),
		.arena = arena,
		.error = error,
	};
	int status = error->is_set ? -1 : make_all(&all);

	free(all.begin);
	free(all.order);
	free(all.forks);
	free(all.left);
	free(all.right);
	free(all.kept);
	name_parts_free(&all.parts);
	text_free(&all.text);
	return status;
}

/* The length of the ellipsis that begins there, or 0. */
static size_t
ellipsis_length(const char *typed, size_t n)
{
	return n >= ELLIPSIS_SIZE && memcmp(typed, ELLIPSIS, ELLIPSIS_SIZE) ==
	       0 ? ELLIPSIS_SIZE : 0;
}

/* Where a part can be left out, what follows may come next, too. */
static void
skip_parts(bool *at, const struct name_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (at[parts->parts[i].begin])
			at[parts->parts[i].end] = true;
}

/* Reads an ellipsis: in place of items of a list, or of the outer scopes. */
static void
read_ellipsis(const bool *at, bool *next, const struct name_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct name_part *part = &parts->parts[i];

		/* The item after an elided one may be elided with it. */
		if (part->kind == NAME_ITEM &&
		    (at[part->content] || next[part->begin]))
			next[part->end] = true;
	}
	for (size_t i = 0; at[0] && i < parts->n_scopes; i++)
		next[parts->scopes[i]] = true;
}

/* Sets where the name can begin. */
static void
begin_reading(bool *at, const char *name, const struct name_parts *parts,
              bool lacks_scopes)
{
	at[0] = true;
	if (!lacks_scopes)
		return;
	at[parts->begin] = true;
	for (size_t i = 0; i < parts->n_scopes; i++) {
		uint32_t end = parts->scopes[i];

		at[end + (name[end] == ':' ? 2 : 1)] = true;
	}
}

bool
short_name_stands_for(const char *typed, size_t n_typed, const char *name,
                      size_t n, const struct name_parts *parts,
                      bool lacks_scopes, struct error *error)
{
	/* Which offsets of the name may come next. */
	bool *at = memory_array(n + 1, sizeof *at, error);
	bool *next = memory_array(n + 1, sizeof *next, error), *swap;
	bool stands = at != NULL && next != NULL;

	if (stands)
		begin_reading(at, name, parts, lacks_scopes);
	for (size_t i = 0, step; stands && i < n_typed; i += step) {
		step = ellipsis_length(typed + i, n_typed - i);
		skip_parts(at, parts);
		memset(next, false, n + 1);
		if (step > 0)
			read_ellipsis(at, next, parts);
		else
			step = 1;
		for (size_t k = 0; k + step <= n; k++)
			next[k + step] |= at[k] &&
			    memcmp(name + k, typed + i, step) == 0;
		swap = at;
		at = next;
		next = swap;
	}
	if (stands)
		skip_parts(at, parts);
	stands = stands && at[n];
	free(at);
	free(next);
	return stands;
}
