/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_text.c -- the names of a path cell, fetched once and written often. */
#include "src/output/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"

/* How much of a name is shown. */
enum path_text_form {
	NAME_HIDDEN,
	NAME_NARROW,
	NAME_TINY,
	NAME_FORKED,
	NAME_WHOLE
};

/*
 * No ellipsis takes the place of fewer than GAP_LEAST bytes in a name; the last
 * name of a path has at least LAST_LEAST columns beside others that must be
 * shown, and an identifier beside words that must be shown IDENTIFIER_LEAST.
 * Where that is too wide, identifiers and words shrink to WORD_LEAST.
 */
enum { GAP_LEAST = 4, LAST_LEAST = 16, IDENTIFIER_LEAST = 8, WORD_LEAST = 4 };

void
path_names_free(struct path_names *path)
{
	free(path->path);
	free(path->form);
	text_free(&path->word);
	text_free(&path->cut);
	name_parts_free(&path->parts);
	*path = (struct path_names){ 0 };
}

int
path_names_get(struct path_names *path, const struct cell *cell,
               struct error *error)
{
	const struct call_paths *paths = cell->path.paths;
	uint32_t record = cell->path.record;
	size_t n = cell->kind == CELL_NAME
	    ? 1 : call_paths_length(paths, record);

	if (memory_grow(&path->path, &path->capacity, n, sizeof *path->path,
	                error) != 0 ||
	    memory_grow(&path->form, &path->form_capacity, n,
	                sizeof *path->form, error) != 0)
		return -1;
	path->names = paths->names;
	path->n = n;
	if (cell->kind == CELL_NAME)
		path->path[0] = record;
	else
		call_paths_get(paths, record, path->path);
	return 0;
}

/* The length of "libfoo.so" of "libfoo.so+0x1f40"; 0 of "0x1f40"; SIZE_MAX: it
 * has another form. */
static size_t
unnamed_module(const char *name, size_t n)
{
	size_t at = n;

	while (at > 0 && strchr("0123456789abcdef", name[at - 1]) != NULL)
		at--;
	if (at == n || at < 2 || memcmp(name + at - 2, "0x", 2) != 0)
		return SIZE_MAX;
	at -= 2;
	return at == 0 ? 0 : name[at - 1] == '+' ? at - 1 : SIZE_MAX;
}

bool
path_names_fold(struct path_names *path)
{
	const char *before = NULL;
	size_t n_before = SIZE_MAX, n = 0;
	const size_t n_whole = path->n;

	for (size_t i = 0; i < n_whole; i++) {
		const char *name = names_text(path->names, path->path[i]);
		size_t n_module = unnamed_module(name, names_length(
		    path->names, path->path[i]));

		if (n_module != SIZE_MAX && n_module == n_before &&
		    memcmp(name, before, n_module) == 0)
			n--;
		path->path[n++] = path->path[i];
		before = name;
		n_before = n_module;
	}
	path->n = n;
	return n < n_whole;
}

static const char *
name_bytes(const struct path_names *path, size_t i, size_t *n)
{
	if (path->shown != NULL)
		return shown_name(path->shown, path->names, path->path[i], n);
	*n = names_length(path->names, path->path[i]);
	return names_text(path->names, path->path[i]);
}

/* Writes a name, or a part of it, to path->word; its columns. */
static size_t
make_text(struct path_names *path, const char *name, size_t n)
{
	text_clear(&path->word);
	if (path->is_bare)
		text_add_printable(&path->word, name, n);
	else
		text_add_word(&path->word, name, n);
	return printable_width(path->word.bytes, path->word.length);
}

static size_t
make_word(struct path_names *path, size_t i)
{
	size_t n;
	const char *name = name_bytes(path, i, &n);

	return make_text(path, name, n);
}

/* Likewise a part of a name, with an ellipsis for what is cut off. */
static size_t
make_part(struct path_names *path, const char *name, size_t begin, size_t end,
          size_t n)
{
	text_clear(&path->cut);
	text_add_string(&path->cut, begin > 0 ? ELLIPSIS : "");
	text_add(&path->cut, name + begin, end - begin);
	text_add_string(&path->cut, end < n ? ELLIPSIS : "");
	path->word.failed |= path->cut.failed;
	return path->cut.failed ? 0 :
	       make_text(path, path->cut.bytes, path->cut.length);
}

/*
 * A name without as many of its outer scopes as the width demands; if that is
 * not enough, and is_cut, also without what follows its last identifier.  Its
 * columns, which may be more than the width.
 */
static size_t
make_narrow_name(struct path_names *path, const char *name, size_t n,
                 size_t width, bool is_cut)
{
	const struct name_parts *parts = &path->parts;
	struct error error = { 0 };
	size_t begin = 0, columns = make_text(path, name, n);

	if (columns <= width)
		return columns;
	if (name_parts_find(&path->parts, name, n, &error) != 0) {
		path->word.failed = true;
		return 0;
	}
	for (size_t k = 0; columns > width && k < parts->n_scopes; k++) {
		begin = parts->scopes[k];
		columns = make_part(path, name, begin, n, n);
	}
	if (columns > width && is_cut && begin < parts->last_begin)
		columns = make_part(path, name, parts->last_begin, n, n);
	if (columns > width && is_cut && parts->last_end < n)
		columns = make_part(path, name, parts->last_begin,
		                    parts->last_end, n);
	return columns;
}

/* Likewise name i. */
static size_t
make_narrow_word(struct path_names *path, size_t i, size_t width, bool is_cut)
{
	size_t n;
	const char *name = name_bytes(path, i, &n);

	return make_narrow_name(path, name, n, width, is_cut);
}

/*
 * Adds a part of the bytes [begin, end) of a name, which are a word, in at most
 * `width` columns: from where it differs from others, if it is too long.
 */
static void
add_part_of_word(struct text_buffer *text, const char *name, size_t begin,
                 size_t end, size_t at, size_t width)
{
	bool is_long = printable_width(name + begin, end - begin) > width;
	size_t from = at > begin ? at - 1 : begin;

	if (is_long && end - from < width)
		from = end - (width - 1);
	if (is_long && from > begin + 1) {
		while (from < end && (name[from] & 0xc0) == 0x80)
			from++;
		text_add_string(text, ELLIPSIS);
		begin = from;
		width--;
	}
	if (printable_width(name + begin, end - begin) > width) {
		end = begin + printable_prefix(name + begin, end - begin,
		                               width - 1);
		text_add(text, name + begin, end - begin);
		text_add_string(text, ELLIPSIS);
	} else {
		text_add(text, name + begin, end - begin);
	}
}

static bool
ends_with_ellipsis(const struct text_buffer *text)
{
	const size_t n = strlen(ELLIPSIS);

	return text->length >= n &&
	    memcmp(text->bytes + text->length - n, ELLIPSIS, n) == 0;
}

/*
 * Writes of a name, whose parts are known, its last identifier and the n words.
 * The bracket after the identifier stays if a word is behind it.  The identifier
 * has at most `most` columns, each word words_most.  has_tail: what is behind
 * the last word stays.  Returns the columns.
 */
static size_t
make_words(struct path_names *path, const char *name, size_t length,
           const struct name_word *words, size_t n, size_t most,
           size_t words_most, bool has_tail)
{
	const size_t begin = path->parts.last_begin;
	const size_t end = path->parts.last_end;
	const bool has_bracket = words[n - 1].begin > end;
	struct text_buffer *cut = &path->cut;
	size_t at = 0;

	text_clear(cut);
	for (size_t i = 0, is_last_done = 0; i < n || !is_last_done;) {
		bool is_last = !is_last_done &&
		    (i == n || words[i].begin >= begin);
		size_t from = is_last ? begin : words[i].begin;
		size_t to = is_last ? end + has_bracket : words[i].end;

		is_last_done |= is_last;
		i += !is_last;
		if (to <= at)
			continue;
		if (from < at)
			from = at;
		if (from - at < GAP_LEAST)
			text_add(cut, name + at, from - at);
		else
			text_add_string(cut, ELLIPSIS);
		if (is_last)
			text_add_elided(cut, name + from, to - from, most);
		else
			add_part_of_word(cut, name, from, to, words[i - 1].at,
			                 words_most);
		at = to;
	}
	/* A bracket at the end may ask for bars, which take more room. */
	if (has_tail || length - at < (path->has_last_word ? 1 : GAP_LEAST))
		text_add(cut, name + at, length - at);
	else if (!ends_with_ellipsis(cut))
		text_add_string(cut, ELLIPSIS);
	path->word.failed |= cut->failed;
	return cut->failed ? 0 : make_text(path, cut->bytes, cut->length);
}

/*
 * Name i without as many of its outer scopes as the width demands, but with the
 * words in which it differs from others; if that is not enough, only these words
 * and its last identifier, which keeps at least `least` columns.  Its columns,
 * which may be more than the width.
 */
static size_t
make_forked_word(struct path_names *path, size_t i, size_t width,
                 size_t least)
{
	const struct name_parts *parts = &path->parts;
	size_t n, n_words = 0, columns = make_narrow_word(path, i, width, true);
	size_t most;
	const char *name = name_bytes(path, i, &n);
	const struct name_word *words = path->shown == NULL ? NULL :
	    shown_name_words(path->shown, path->names, path->path[i],
	                     &n_words);

	if (n_words == 0 || path->word.failed || make_word(path, i) <= width)
		return columns;
	if (path->has_last_word) {
		words += n_words - 1;
		n_words = 1;
	}
	if (name_parts_find(&path->parts, name, n, &(struct error){ 0 }) != 0) {
		path->word.failed = true;
		return 0;
	}
	for (size_t k = 0; k < parts->n_scopes &&
	     parts->scopes[k] <= words[0].begin; k++) {
		columns = make_part(path, name, parts->scopes[k], n, n);
		if (columns <= width)
			return columns;
	}
	columns = make_words(path, name, n, words, n_words, n, n, true);
	if (columns <= width)
		return columns;
	columns = make_words(path, name, n, words, n_words, n, n, false);
	most = parts->last_end - parts->last_begin + 1;
	if (columns <= width || least == SIZE_MAX)
		return columns;
	if (most > least && columns - width <= most - least)
		return make_words(path, name, n, words, n_words,
		                  most - (columns - width), n, false);
	return make_words(path, name, n, words, n_words, least, least,
	                  false);
}

static bool
is_last_forked(const struct path_names *path)
{
	return path->is_forked || (path->n_must > 0 &&
	    path->must[path->n_must - 1] == path->n - 1);
}

/* The last name within a width, likewise. */
static size_t
make_last_word(struct path_names *path, size_t width)
{
	size_t last = path->n - 1;

	return is_last_forked(path) ?
	       make_forked_word(path, last, width, path->least) :
	       make_narrow_word(path, last, width, true);
}

/* Adds path->word, cut in the middle if it still is too wide. */
static void
add_made_word(struct text_buffer *text, const struct path_names *path,
              size_t width)
{
	text_add_elided(text, path->word.bytes, path->word.length, width);
}

/* The columns that a path takes with name i, which is not in it yet. */
static size_t
with_name(const struct path_names *path, size_t used, size_t i, size_t columns)
{
	bool is_gap_before = i > 0 && path->form[i - 1] == NAME_HIDDEN;
	bool is_gap_behind = i + 1 < path->n &&
	    path->form[i + 1] == NAME_HIDDEN;

	/* A gap is an ellipsis and a blank; one has been there before. */
	return used + columns + 1 + 2u * is_gap_before + 2u * is_gap_behind - 2;
}

static bool
path_text_is_own(const struct path_names *path, size_t i)
{
	const struct layout *layout = path->layout;

	return layout == NULL || layout->is_own == NULL ||
	    layout->is_own(layout->own, path->names, path->path[i]);
}

/*
 * Takes names from the end and the front in turn, without their outer scopes,
 * each side as far as they fit; only the user's own, or all.  Returns the
 * columns that are used then.
 */
static size_t
choose_ends(struct path_names *path, size_t width, size_t used, bool is_of_own)
{
	size_t head = 0, tail = path->n - 1;
	bool is_full[2] = { false, false };	/* the front, the end */

	for (int end = 1; head < tail && !(is_full[0] && is_full[1]);
	     end = !end) {
		size_t i, columns;

		if (is_full[end])
			continue;
		/* The next name of that side that may be taken. */
		do
			i = end ? --tail : head++;
		while (head < tail && is_of_own && !path_text_is_own(path, i));
		if (path->form[i] != NAME_HIDDEN ||
		    (is_of_own && !path_text_is_own(path, i)))
			continue;
		columns = with_name(path, used, i,
		                    make_narrow_word(path, i, 0, false));
		is_full[end] = columns > width;
		if (is_full[end])
			continue;
		path->form[i] = NAME_NARROW;
		used = columns;
	}
	return used;
}

/* The columns of a name before the last as it is shown. */
static size_t
make_formed_word(struct path_names *path, size_t i)
{
	switch (path->form[i]) {
	case NAME_TINY:
		return make_forked_word(path, i, 0, path->least);
	case NAME_FORKED:
		return make_forked_word(path, i, 0, SIZE_MAX);
	case NAME_NARROW:
		return make_narrow_word(path, i, 0, false);
	default:
		return make_word(path, i);
	}
}

/* Makes names whole where there is room, the innermost first. */
static void
path_text_widen(struct path_names *path, size_t width, size_t used)
{
	for (size_t i = path->n - 1; i-- > 0 && used < width;) {
		size_t narrow, whole;

		if (path->form[i] == NAME_HIDDEN ||
		    path->form[i] == NAME_WHOLE)
			continue;
		narrow = make_formed_word(path, i);
		whole = make_word(path, i);
		if (whole > narrow && whole - narrow > width - used)
			continue;
		path->form[i] = NAME_WHOLE;
		used += whole - narrow;
	}
}

/*
 * Shows the last name and, in a form, those before it that must be.  Returns the
 * columns that are used; the last name is counted without its text.
 */
static size_t
show_must(struct path_names *path, enum path_text_form form)
{
	size_t last = path->n - 1, used = 2;

	memset(path->form, NAME_HIDDEN, path->n);
	for (size_t i = 0; i < path->n_must; i++) {
		size_t k = path->must[i];

		if (k == last)
			continue;
		path->form[k] = (unsigned char)form;
		used = with_name(path, used, k, make_formed_word(path, k));
	}
	used = with_name(path, used, last, 0);
	path->form[last] = NAME_WHOLE;
	/* Each name is counted with a blank; the last has none after it. */
	return used - 1;
}

/* Whether the last name has the room that it needs beside the others. */
static bool
has_room(struct path_names *path, size_t width, size_t used)
{
	size_t need = make_last_word(path, 0);

	if (path->least < IDENTIFIER_LEAST && need > LAST_LEAST &&
	    !is_last_forked(path))
		need = LAST_LEAST;
	return used + need <= width;
}

/*
 * Shows the last name and those before it that must be, each with less of it
 * until they fit, then without the outermost of them.  Returns the columns that
 * are used, without the last name.
 */
static size_t
fit_must(struct path_names *path, size_t width)
{
	size_t used;

	path->least = IDENTIFIER_LEAST;
	path->has_last_word = false;
	for (enum path_text_form form = NAME_WHOLE; form >= NAME_TINY; form--) {
		used = show_must(path, form);
		if (path->n_must == 0 || has_room(path, width, used))
			return used;
	}
	path->has_last_word = true;
	for (; path->least >= WORD_LEAST; path->least--) {
		used = show_must(path, NAME_TINY);
		if (has_room(path, width, used))
			return used;
	}
	path->least = WORD_LEAST;
	do {
		path->must++;
		path->n_must--;
		used = show_must(path, NAME_TINY);
	} while (path->n_must > 0 && !has_room(path, width, used));
	return used;
}

/*
 * Chooses the names that are shown within a width: the last and those that
 * must be, then others.  Returns the columns for the last one.
 */
static size_t
choose_names(struct path_names *path, size_t width)
{
	size_t used = fit_must(path, width);
	size_t room = width > used ? width - used : 1;

	used += make_last_word(path, room);
	if (used < width) {
		used = choose_ends(path, width, used, true);
		path_text_widen(path, width,
		                choose_ends(path, width, used, false));
	}
	return room;
}

void
text_add_path(struct text_buffer *text, struct path_names *path, size_t width,
              const char *before, const char *after)
{
	size_t room = width == 0 ? SIZE_MAX : choose_names(path, width);

	for (size_t i = 0; i < path->n; i++) {
		bool is_last = i + 1 == path->n;
		int form = width == 0 ? NAME_WHOLE : path->form[i];

		if (form == NAME_HIDDEN) {
			if (i == 0 || path->form[i - 1] != NAME_HIDDEN)
				text_add_string(text, i == 0 ? ELLIPSIS :
				                " " ELLIPSIS);
			continue;
		}
		if (i > 0)
			text_add_char(text, ' ');
		if (is_last && room != SIZE_MAX)
			make_last_word(path, room);
		else if (width == 0)
			make_word(path, i);
		else
			make_formed_word(path, i);
		text_add_string(text, is_last ? before : "");
		add_made_word(text, path, is_last ? room : SIZE_MAX);
		text_add_string(text, is_last ? after : "");
	}
}

uint64_t
path_shown_hash(const struct path_names *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < path->n; i++) {
		bool is_gap = path->form[i] == NAME_HIDDEN;

		if (is_gap && i > 0 && path->form[i - 1] == NAME_HIDDEN)
			continue;
		hash = (hash ^ (is_gap ? UINT64_MAX : path->path[i])) *
		    UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash == 0 ? 1 : hash;
}

void
text_add_bare_name(struct text_buffer *text, struct path_names *path,
                   size_t width)
{
	path->is_bare = true;
	path->least = IDENTIFIER_LEAST;
	path->has_last_word = false;
	if (width == 0)
		make_word(path, 0);
	else
		make_last_word(path, width);
	add_made_word(text, path, width == 0 ? SIZE_MAX : width);
	path->is_bare = false;
}

void
text_add_name(struct text_buffer *text, struct path_names *path,
              const char *name, size_t n, size_t width)
{
	path->is_bare = true;
	if (width == 0)
		make_text(path, name, n);
	else
		make_narrow_name(path, name, n, width, true);
	add_made_word(text, path, width == 0 ? SIZE_MAX : width);
	path->is_bare = false;
}

static bool
needs_bars_collapsed(const char *name, size_t n)
{
	if (n == 0 || *name == '|' || memchr(name, ';', n) != NULL)
		return true;
	while (n > 0) {
		uint32_t character;
		size_t length = utf8_decode(name, n, &character);

		if (length == 0 || !character_is_printable(character))
			return true;
		name += length;
		n -= length;
	}
	return false;
}

void
text_add_collapsed(struct text_buffer *text, const struct path_names *path)
{
	for (size_t i = 0; i < path->n; i++) {
		size_t n;
		const char *name = name_bytes(path, i, &n);

		if (i > 0)
			text_add_char(text, ';');
		if (needs_bars_collapsed(name, n))
			text_add_between_bars(text, name, n);
		else
			text_add(text, name, n);
	}
}
