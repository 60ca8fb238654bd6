/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_pattern.c -- which frames a user means. */
#include "src/refine/refine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"
#include "src/base/text_buffer.h"
#include "src/profile/large_array.h"

enum { SHOWN = 80, MOST_GLOBS = 24 };	/* bytes of a word in an error */

struct ready_group {
	const char *name;
	const char *modules[MOST_GLOBS], *names[MOST_GLOBS];	/* globs */
};

static const struct ready_group ready_groups[] = {
#define GLOBS(...) { __VA_ARGS__ }
#define READY_GROUP(name, modules, names) { name, modules, names },
#include "src/refine/ready_groups.def"
#undef READY_GROUP
#undef GLOBS
};

enum { N_READY_GROUPS = sizeof ready_groups / sizeof *ready_groups };

enum pattern_subject { OF_NAME, OF_MODULE, OF_FILE };

struct frame_pattern {
	char *text;
	size_t length;
	bool is_exact;			/* the text is a name, or short for
					 * some */
	enum pattern_subject subject;
	struct pattern *pattern;	/* of what follows @ or file: */
	/* A ready group; both end with NULL, and are NULL for other patterns. */
	struct pattern *modules[MOST_GLOBS], *names[MOST_GLOBS];
};

const char *
frame_pattern_ready_group(size_t i)
{
	return i < N_READY_GROUPS ? ready_groups[i].name : NULL;
}

static int
make_globs(struct pattern **patterns, const char *const *globs,
           struct error *error)
{
	for (size_t i = 0; i < MOST_GLOBS && globs[i] != NULL; i++) {
		patterns[i] = pattern_new(globs[i], error);
		if (patterns[i] == NULL)
			return -1;
	}
	return 0;
}

static int
fill_ready_group(struct frame_pattern *pattern, struct error *error)
{
	for (size_t i = 0; i < N_READY_GROUPS; i++)
		if (strcmp(ready_groups[i].name, pattern->text + 1) == 0)
			return make_globs(pattern->modules,
			    ready_groups[i].modules, error) != 0 ? -1 :
			    make_globs(pattern->names, ready_groups[i].names,
			               error);
	return 0;
}

static int
frame_pattern_fill(struct frame_pattern *pattern,
                   const struct pattern_word *word, struct error *error)
{
	const char *rest = pattern->text;

	if (word->is_short) {
		pattern->pattern = pattern_new_typed(rest, word->reading,
		                                     error);
		return pattern->pattern == NULL ? -1 : 0;
	}
	if (!word->is_exact && rest[0] == '@' && rest[1] != '\0') {
		pattern->subject = OF_MODULE;
		rest++;
	} else if (!word->is_exact && strncmp(rest, "file:", 5) == 0 &&
	           rest[5] != '\0' && rest[5] != ':') {
		pattern->subject = OF_FILE;
		rest += 5;
	}
	pattern->pattern = word->is_exact ? pattern_new_exact(rest, error) :
	    pattern_new(rest, error);
	if (pattern->pattern == NULL)
		return -1;
	return pattern->subject == OF_MODULE ?
	    fill_ready_group(pattern, error) : 0;
}

struct frame_pattern *
frame_pattern_new(const struct pattern_word *word, struct error *error)
{
	struct frame_pattern *pattern = memory_array(1, sizeof *pattern,
	                                             error);

	if (pattern == NULL)
		return NULL;
	pattern->is_exact = word->is_exact || word->is_short;
	pattern->length = word->length;
	pattern->text = memory_text(word->text, word->length, error);
	if (pattern->text == NULL ||
	    frame_pattern_fill(pattern, word, error) != 0) {
		frame_pattern_free(pattern);
		return NULL;
	}
	return pattern;
}

void
frame_pattern_free(struct frame_pattern *pattern)
{
	if (pattern == NULL)
		return;
	for (size_t i = 0; i < MOST_GLOBS; i++) {
		pattern_free(pattern->modules[i]);
		pattern_free(pattern->names[i]);
	}
	pattern_free(pattern->pattern);
	free(pattern->text);
	free(pattern);
}

/* Whether a bare word would mean something else than this name. */
static bool
frame_pattern_is_special(const char *text)
{
	return strpbrk(text, "*?") != NULL || text[0] == '@' ||
	    text[0] == '/' || text[0] == '%' ||
	    strncmp(text, "file:", 5) == 0 || strcmp(text, "...") == 0 ||
	    strcmp(text, "…") == 0;
}

/* A word that was typed bare stays so: it may be a regular expression. */
void
frame_pattern_add_text(const struct frame_pattern *pattern,
                       struct text_buffer *text)
{
	if (!pattern->is_exact)
		text_add_printable(text, pattern->text, pattern->length);
	else if (frame_pattern_is_special(pattern->text))
		text_add_between_bars(text, pattern->text, pattern->length);
	else
		text_add_word(text, pattern->text, pattern->length);
}

static bool
any_matches(struct pattern *const *patterns,
            bool (*matches)(const struct pattern *, const char *, size_t),
            const char *text, size_t length)
{
	for (size_t i = 0; i < MOST_GLOBS && patterns[i] != NULL; i++)
		if (matches(patterns[i], text, length))
			return true;
	return false;
}

/* A module is "libc.so.6" as well as "libc". */
static bool
matches_module(const struct frame_pattern *pattern, const char *module)
{
	const char *end = strstr(module, ".so");
	size_t length = end != NULL && end > module ?
	                (size_t)(end - module) : strlen(module);

	return pattern_matches(pattern->pattern, module, strlen(module)) ||
	    pattern_matches(pattern->pattern, module, length) ||
	    any_matches(pattern->modules, pattern_matches, module, length);
}

/* A file is "/usr/src/a/b.c" as well as "a/b.c" and "b.c". */
static bool
matches_file(const struct frame_pattern *pattern, const char *file)
{
	for (;;) {
		const char *slash = strchr(file, '/');

		if (pattern_matches(pattern->pattern, file, strlen(file)))
			return true;
		if (slash == NULL)
			return false;
		file = slash + 1;
	}
}

bool
frame_pattern_has(const struct frame_pattern *group, const char *module,
                  const char *name, size_t length)
{
	return module != NULL ? matches_module(group, module) :
	    any_matches(group->names, pattern_matches_function, name, length);
}

int
frame_pattern_is_ready(const char *module, const char *name, size_t length,
                       struct error *error)
{
	int found = 0;

	for (size_t i = 0; found == 0 && i < N_READY_GROUPS; i++) {
		char text[40];
		struct pattern_word word = { .text = text };
		struct frame_pattern *group;

		word.length = (size_t)snprintf(text, sizeof text, "@%s",
		                               ready_groups[i].name);
		group = frame_pattern_new(&word, error);
		if (group == NULL)
			return -1;
		found = frame_pattern_has(group, module, name, length);
		frame_pattern_free(group);
	}
	return found;
}

static bool
matches_name(const struct frame_pattern *pattern, const struct names *names,
             uint32_t name)
{
	const char *text = names_text(names, name);
	size_t length = names_length(names, name);

	if (pattern->subject == OF_NAME)
		return pattern_matches_function(pattern->pattern, text,
		                                length);
	return any_matches(pattern->names, pattern_matches_function, text,
	                   length);
}

/* What is known of a name, or of a module, so far. */
enum { UNKNOWN, MATCHES, DIFFERS };

static int
match_kinds(const struct frame_pattern *pattern,
            const struct refining *refining, struct frame_matches *matches,
            struct error *error)
{
	const struct profile *profile = refining->stacks->profile;
	const struct names *names = profile->names;
	unsigned char *by_name = memory_array(names_count(names), 1, error);
	unsigned char *by_module = memory_array(names_count(names), 1, error);

	matches->kinds = memory_array(refining->n_kinds, 1, error);
	if (by_name == NULL || by_module == NULL || matches->kinds == NULL)
		goto fail;
	for (uint32_t i = 0; i < refining->n_kinds; i++) {
		const struct frame_kind *kind = &refining->kinds[i];
		unsigned char *known = &by_name[kind->names[refining->by]];
		bool found;

		if (!kind->is_used)
			continue;
		if (*known == UNKNOWN)
			*known = matches_name(pattern, names,
			                      kind->names[refining->by]) ?
			         MATCHES : DIFFERS;
		found = *known == MATCHES &&
		    (pattern->subject == OF_NAME || !kind->is_group);
		if (!found && pattern->subject == OF_MODULE &&
		    kind->module != NO_NAME) {
			known = &by_module[kind->module];
			if (*known == UNKNOWN)
				*known = matches_module(pattern,
				    names_text(names, kind->module)) ?
				    MATCHES : DIFFERS;
			found = *known == MATCHES;
		}
		if (!found && pattern->subject == OF_FILE &&
		    kind->file != NO_NAME)
			found = matches_file(pattern,
			                     names_text(names, kind->file));
		matches->kinds[i] = found;
		matches->any |= found;
	}
	if (pattern_check(pattern->pattern, error) != 0)
		goto fail;
	free(by_name);
	free(by_module);
	return 0;
fail:
	free(by_name);
	free(by_module);
	return -1;
}

int
frame_pattern_match(const struct frame_pattern *pattern,
                    const struct refining *refining,
                    struct frame_matches *matches, struct error *error)
{
	uint32_t name = names_find(refining->stacks->profile->names,
	                           pattern->text, pattern->length);

	*matches = (struct frame_matches){ .name = NO_NAME };
	if (name >= refining->n_names || !refining->has_name[name])
		return match_kinds(pattern, refining, matches, error);
	matches->name = name;
	matches->any = true;
	return 0;
}

int
frame_pattern_expand(const struct frame_pattern *pattern, const char *name,
                     size_t length, const char *template,
                     struct text_buffer *text, struct error *error)
{
	struct capture captures[N_CAPTURES] = { { 0, length } };
	const char *at = template;

	if (pattern->subject == OF_NAME)
		pattern_captures(pattern->pattern, name, length, captures);
	while (*at != '\0') {
		if (at[0] == '{' && at[1] >= '0' && at[1] <= '9' &&
		    at[2] == '}') {
			const struct capture *capture =
			    &captures[at[1] - '0'];

			text_add(text, name + capture->begin,
			         capture->length);
			at += 3;
		} else {
			text_add_char(text, *at++);
		}
	}
	return pattern_check(pattern->pattern, error);
}

size_t
frame_pattern_n_captures(const struct frame_pattern *pattern)
{
	return pattern->subject == OF_NAME ?
	    pattern_n_captures(pattern->pattern) : 0;
}

/* Offers the modules, each once. */
static int
offer_modules(const struct refining *refining, struct near *near,
              struct error *error)
{
	const struct names *names = refining->stacks->profile->names;
	bool *seen = memory_array(names_count(names), sizeof *seen, error);

	for (uint32_t i = 0; seen != NULL && i < refining->n_kinds; i++) {
		uint32_t module = refining->kinds[i].module;

		if (module == NO_NAME || seen[module])
			continue;
		seen[module] = true;
		near_offer(near, names_text(names, module),
		           names_length(names, module));
	}
	if (seen == NULL)
		return -1;
	free(seen);
	return 0;
}

/* Whether a function occurs, but only as inlined code that is not shown. */
static bool
is_hidden_inline(const struct refining *refining, const char *function)
{
	const struct profile *profile = refining->stacks->profile;
	const uint32_t name = names_find(profile->names, function,
	                                 strlen(function));
	bool is_inlined = false;

	for (uint32_t i = 0; name != NO_NAME && i < refining->n_kinds; i++)
		if (refining->kinds[i].names[GRANULARITY_FUNCTION] == name)
			return false;
	for (uint32_t i = 0; name != NO_NAME && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 1; k < frame->n_locations; k++)
			is_inlined |= profile->locations[
			    frame->first_location + k].function == name;
	}
	return is_inlined;
}

/* What near names are looked for by. */
static void
start_near(struct near *near, const struct frame_pattern *pattern,
           const char *wanted)
{
	const char *literal;
	size_t n;

	if (pattern->is_exact || !pattern_is_general(pattern->pattern)) {
		near_start(near, wanted, strlen(wanted));
		return;
	}
	literal = pattern_literal(pattern->pattern, &n);
	near_start_part(near, literal, n);
}

/*
 * How large functions are, by their names: hits of the first resource.  NULL:
 * not known, as of a call graph; free with free().
 */
static uint64_t *
name_hits(const struct refining *refining)
{
	const struct sample_tree *tree = refining->tree;
	struct error ignored = { 0 };
	uint64_t *sums, *hits;
	uint32_t *until;

	if (tree == NULL || tree->n_resources == 0)
		return NULL;
	sums = sample_tree_new_sums(tree, tree->hits[0], &ignored);
	hits = memory_array(refining->n_names, sizeof *hits, &ignored);
	until = memory_array(refining->n_names, sizeof *until, &ignored);
	for (uint32_t node = 0; !ignored.is_set && node < tree->n_nodes;
	     node++) {
		const uint32_t name = refining_name(refining,
		                                    refining->kind[node]);

		/* Only the outermost activation counts. */
		if (node < until[name])
			continue;
		hits[name] += sample_tree_weight(tree, sums, node);
		until[name] = sample_tree_end(tree, node);
	}
	large_array_free(sums);
	free(until);
	if (!ignored.is_set)
		return hits;
	free(hits);
	return NULL;
}

/* Offers the functions that are left. */
static void
frame_pattern_offer_functions(const struct refining *refining,
                              struct near *near)
{
	const struct names *names = refining->stacks->profile->names;
	uint64_t *hits = name_hits(refining);

	for (uint32_t name = 0; name < refining->n_names; name++)
		if (refining->has_name[name])
			near_offer_function(near, names_text(names, name),
			                    names_length(names, name),
			                    hits == NULL ? 0 : hits[name]);
	free(hits);
}

int
frame_pattern_report_none(const struct frame_pattern *pattern,
                          const struct refining *refining,
                          struct error *error)
{
	struct text_buffer near_ones = { 0 };
	struct near near;
	static const struct {
		unsigned kind;		/* of enum hidden_frames */
		const char *what, *setting;
	} inner[] = {
		{ HIDES_KERNEL, "frames of the kernel", "kernel" },
		{ HIDES_INTERPRETER, "the interpreter's own frames",
		  "interpreter" },
		{ HIDES_AWAIT, "coroutines that await others", "await" },
	};
	const char *what = pattern->subject == OF_MODULE ? "of the module" :
	    pattern->subject == OF_FILE ? "of the file" : "called";
	const char *wanted = pattern->text +
	    (pattern->subject == OF_MODULE ? 1 :
	     pattern->subject == OF_FILE ? 5 : 0);

	if (pattern->subject == OF_NAME &&
	    refining->stacks->granularity == GRANULARITY_FUNCTION &&
	    is_hidden_inline(refining, wanted))
		return error_set(error, "no frame is called %.*s, which was "
		                 "inlined wherever it occurs: say \"inlines "
		                 "on\"", SHOWN, wanted);
	if (pattern->subject == OF_NAME && refining->stacks->folded != NULL &&
	    startup_has_name(wanted, strlen(wanted)))
		return error_set(error, "no frame is called %.*s: start-up "
		                 "frames are not shown; say \"startup show\"",
		                 SHOWN, wanted);
	for (size_t i = 0; pattern->subject == OF_NAME && i < sizeof inner /
	     sizeof *inner && refining->stacks->joined != NULL; i++)
		if (hidden_has_function(refining->stacks->profile,
		        inner[i].kind,
		        names_find(refining->stacks->profile->names, wanted,
		                   strlen(wanted))))
			return error_set(error, "no frame is called %.*s: %s "
			                 "are not shown; say \"%s show\"",
			                 SHOWN, wanted, inner[i].what,
			                 inner[i].setting);
	start_near(&near, pattern, wanted);
	if (pattern->subject == OF_NAME)
		frame_pattern_offer_functions(refining, &near);
	if (pattern->subject == OF_MODULE &&
	    offer_modules(refining, &near, error) != 0)
		return -1;
	near_add(&near, &near_ones);
	if (pattern->subject == OF_NAME && !pattern->is_exact &&
	    wanted[0] == '/' && !pattern_is_general(pattern->pattern))
		text_add_string(&near_ones, "; a regular expression ends with "
		                "/ too");
	error_set(error, "no frame is %s %.*s%s", what, SHOWN,
	          wanted[0] != '\0' ? wanted : "||", text_string(&near_ones));
	text_free(&near_ones);
	return -1;
}
