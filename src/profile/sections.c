/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.c -- which stacks belong to which threads, processes and labels. */
#include "src/profile/sections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"
#include "src/profile/large_array.h"

enum { NUMBER_MAX = 24 };	/* of a pid or tid as text */

struct section
section_of(const struct profile *profile, uint32_t number)
{
	if (number < profile->n_sections)
		return profile->sections[number];
	return (struct section){ .thread = NO_THREAD, .label_set = NO_LABELS };
}

uint32_t
section_process(const struct profile *profile, const struct section *section)
{
	uint32_t process = section->thread != NO_THREAD ?
	    profile->threads[section->thread].process : 0;

	if (section->thread == NO_THREAD && profile->n_processes != 1)
		return NO_PROCESS;
	return process < profile->n_processes ? process : NO_PROCESS;
}

const char *
thread_title(const struct profile *profile, uint32_t thread)
{
	const char *name = thread == NO_THREAD ? NULL :
	    profile->threads[thread].name;

	return name != NULL && *name != '\0' ? name : UNKNOWN_NAME;
}

uint64_t
thread_count(const struct profile *profile, uint32_t thread)
{
	const struct thread *one = &profile->threads[thread];

	return one->tid == 0 && one->name != NULL &&
	    strcmp(one->name, NOT_A_THREAD) == 0 ? 0 : 1 + one->n_earlier;
}

const char *
process_title(const struct profile *profile, uint32_t process)
{
	const char *program = process == NO_PROCESS ? NULL :
	    profile->processes[process].program;

	if (process != NO_PROCESS &&
	    profile->processes[process].title != NULL)
		return profile->processes[process].title;
	if (program == NULL || *program == '\0')
		return UNKNOWN_NAME;
	/* The slash of "ksoftirqd/0", a command's name, is none of a path. */
	return *program == '/' || *program == '.' ? last_component(program) :
	       program;
}

const struct label *
section_label(const struct profile *profile, const struct section *section,
              const char *key)
{
	const struct label_set *set = section->label_set == NO_LABELS ? NULL :
	    &profile->label_sets[section->label_set];

	for (uint32_t i = 0; set != NULL && i < set->n; i++) {
		const struct label *label = &profile->labels[set->first + i];

		if (strcmp(names_text(profile->names, label->key), key) == 0)
			return label;
	}
	return NULL;
}

bool
sections_know(const struct profile *profile, enum section_kind kind)
{
	if (kind == SECTION_PROCESS && profile->n_processes == 1)
		return profile->processes[0].program != NULL ||
		       profile->processes[0].pid != 0;
	for (uint32_t i = 0; i < profile->n_sections; i++) {
		const struct section *section = &profile->sections[i];

		if (kind == SECTION_LABEL ? section->label_set != NO_LABELS :
		    section->thread != NO_THREAD)
			return true;
	}
	return false;
}

bool
sections_has_key(const struct profile *profile, const char *key)
{
	for (uint32_t i = 0; i < profile->n_labels; i++)
		if (strcmp(names_text(profile->names, profile->labels[i].key),
		           key) == 0)
			return true;
	return false;
}

uint32_t *
sections_of_nodes(const struct profile *profile, struct error *error)
{
	uint32_t n_nodes = profile->tree->n_nodes, n = 0, *section = NULL;

	if (large_array_reserve(&section, n_nodes, sizeof *section,
	                        error) != 0)
		return NULL;
	for (uint32_t i = 0; i < profile->n_sections; i++) {
		while (n < profile->sections[i].begin)
			section[n++] = profile->n_sections;
		while (n < profile->sections[i].end)
			section[n++] = i;
	}
	while (n < n_nodes)
		section[n++] = profile->n_sections;
	return section;
}

static void
sections_add_nodes(const struct sample_tree *tree, uint32_t resource,
                   uint32_t begin, uint32_t end, struct section_total *total)
{
	for (uint32_t n = begin; n < end; n++) {
		if (!sample_tree_has_row(tree, n))
			continue;
		total->hits += sample_tree_hits(tree, resource, n);
		total->samples += sample_tree_samples(tree, resource, n);
	}
}

void
section_totals(const struct profile *profile, const struct sample_tree *tree,
               uint32_t resource, struct section_total *totals)
{
	uint32_t n = profile->n_sections, done = 0;

	memset(totals, 0, (n + (size_t)1) * sizeof *totals);
	for (uint32_t i = 0; i < n; i++) {
		const struct section *section = &profile->sections[i];

		sections_add_nodes(tree, resource, done, section->begin,
		                   &totals[n]);
		sections_add_nodes(tree, resource, section->begin, section->end,
		                   &totals[i]);
		done = section->end;
	}
	sections_add_nodes(tree, resource, done, tree->n_nodes, &totals[n]);
}

/* ---- selecting ---- */

static bool
sections_matches(const struct pattern *pattern, const char *text)
{
	return pattern_matches(pattern, text, strlen(text));
}

/* What stands for a missing name is no name, so that no glob finds it. */
static bool
placeholder_matches(const struct pattern *pattern, const char *placeholder)
{
	return !pattern_is_general(pattern) &&
	    sections_matches(pattern, placeholder);
}

static bool
title_matches(const struct pattern *pattern, const char *title)
{
	return strcmp(title, UNKNOWN_NAME) == 0 ?
	    placeholder_matches(pattern, title) :
	    sections_matches(pattern, title);
}

static bool
number_matches(const struct pattern *pattern, uint64_t number)
{
	char text[NUMBER_MAX];

	snprintf(text, sizeof text, "%" PRIu64, number);
	return number != 0 && !pattern_is_general(pattern) &&
	       sections_matches(pattern, text);
}

static bool
thread_matches(const struct profile *profile, uint32_t thread,
               const struct pattern *pattern)
{
	return title_matches(pattern, thread_title(profile, thread)) ||
	    (thread != NO_THREAD &&
	     number_matches(pattern, profile->threads[thread].tid));
}

static bool
process_matches(const struct profile *profile, uint32_t process,
                const struct pattern *pattern)
{
	const struct process *known = process == NO_PROCESS ? NULL :
	    &profile->processes[process];

	return title_matches(pattern, process_title(profile, process)) ||
	    (known != NULL &&
	     (number_matches(pattern, known->pid) ||
	      (known->program != NULL &&
	       sections_matches(pattern, known->program))));
}

/* A number with its unit, "512 bytes", in text[n]. */
static const char *
value_with_unit(const struct profile *profile, const struct label *label,
                char *text, size_t n)
{
	snprintf(text, n, "%s %s", names_text(profile->names, label->value),
	         names_text(profile->names, label->unit));
	return text;
}

enum { VALUE_MAX = 200 };	/* of a number with its unit */

static bool
has_unit(const struct profile *profile, const struct label *label)
{
	return label->unit != NO_NAME &&
	       names_length(profile->names, label->unit) > 0;
}

/* A label's unit in ns; 0: it is none of time. */
static double
unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "nanoseconds", 1 }, { "ns", 1 },
		{ "microseconds", 1e3 }, { "us", 1e3 },
		{ "milliseconds", 1e6 }, { "ms", 1e6 },
		{ "seconds", 1e9 }, { "s", 1e9 },
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

static bool
value_is_in_bound(const struct profile *profile, const struct label *label,
                  const struct label_bound *bound)
{
	double number, scale;

	if (label->unit == NO_NAME)
		return false;
	number = strtod(names_text(profile->names, label->value), NULL);
	scale = bound->is_time ? unit_ns(names_text(profile->names,
	                                            label->unit)) : 1;
	return scale > 0 && (bound->kind == BOUND_BELOW ?
	    number * scale < bound->number : number * scale >= bound->number);
}

static bool
value_matches(const struct profile *profile, const struct label *label,
              const struct section_selector *selector)
{
	const struct pattern *pattern = selector->pattern;
	char text[VALUE_MAX];

	if (selector->bound.kind != BOUND_NONE)
		return value_is_in_bound(profile, label, &selector->bound);
	if (pattern == NULL ||
	    pattern_matches(pattern, names_text(profile->names, label->value),
	                    names_length(profile->names, label->value)))
		return true;
	return has_unit(profile, label) && sections_matches(pattern,
	    value_with_unit(profile, label, text, sizeof text));
}

static bool
label_set_matches(const struct profile *profile, uint32_t number,
                  const struct section_selector *selector)
{
	const struct label_set none = { 0, 0 };
	const struct label_set *set = number == NO_LABELS ? &none :
	    &profile->label_sets[number];
	bool has_key = false;

	for (uint32_t i = 0; i < set->n; i++) {
		const struct label *label = &profile->labels[set->first + i];

		if (strcmp(names_text(profile->names, label->key),
		           selector->key) != 0)
			continue;
		has_key = true;
		if (value_matches(profile, label, selector))
			return true;
	}
	return !has_key && selector->pattern != NULL &&
	       placeholder_matches(selector->pattern, NO_VALUE);
}

uint32_t
sections_select(const struct profile *profile,
                const struct section_selector *selector, bool *is_selected)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		struct section section = section_of(profile, i);

		switch (selector->kind) {
		case SECTION_THREAD:
			is_selected[i] = thread_matches(profile,
			    section.thread, selector->pattern);
			break;
		case SECTION_PROCESS:
			is_selected[i] = process_matches(profile,
			    section_process(profile, &section),
			    selector->pattern);
			break;
		case SECTION_LABEL:
			is_selected[i] = label_set_matches(profile,
			    section.label_set, selector);
			break;
		}
		n += is_selected[i];
	}
	return n;
}

bool
section_add_value(const struct profile *profile, uint32_t number,
                  const char *key, struct text_buffer *text)
{
	uint32_t labels = section_of(profile, number).label_set;
	const struct label_set *set;
	bool has_key = false;
	char buffer[VALUE_MAX];

	if (labels == NO_LABELS)
		return false;
	set = &profile->label_sets[labels];
	for (uint32_t i = 0; i < set->n; i++) {
		const struct label *label = &profile->labels[set->first + i];

		if (strcmp(names_text(profile->names, label->key), key) != 0)
			continue;
		text_add_string(text, has_key ? ", " : "");
		text_add_string(text, has_unit(profile, label) ?
		    value_with_unit(profile, label, buffer, sizeof buffer) :
		    names_text(profile->names, label->value));
		has_key = true;
	}
	return has_key;
}

/* ---- names that can be selected ---- */

/* Adds a text to those that are offered; 0 or -1. */
static int
sections_list(struct names *texts, const char *text, struct error *error)
{
	return names_add(texts, text, strlen(text), error) != NO_NAME ? 0 : -1;
}

/* Lists the keys of labels, or the values of one key. */
static int
list_labels(const struct profile *profile, const char *key,
            struct names *texts, struct error *error)
{
	char text[VALUE_MAX];

	for (uint32_t i = 0; i < profile->n_labels; i++) {
		const struct label *label = &profile->labels[i];
		const char *known = names_text(profile->names, label->key);
		const char *value = names_text(profile->names, label->value);

		if (key != NULL && strcmp(known, key) != 0)
			continue;
		if (has_unit(profile, label))
			value = value_with_unit(profile, label, text,
			                        sizeof text);
		if (sections_list(texts, key == NULL ? known : value,
		                  error) != 0)
			return -1;
	}
	return 0;
}

static int
list_titles(const struct profile *profile, enum section_kind kind,
            struct names *texts, struct error *error)
{
	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		struct section section = section_of(profile, i);
		const char *title = kind == SECTION_THREAD ?
		    thread_title(profile, section.thread) :
		    process_title(profile, section_process(profile,
		                                           &section));

		/* Nodes outside all sections are usually none. */
		if (i == profile->n_sections && i > 0)
			break;
		if (sections_list(texts, title, error) != 0)
			return -1;
	}
	return 0;
}

/* The names that can be selected; freed by the caller; NULL with *error set. */
static struct names *
sections_list_names(const struct profile *profile, enum section_kind kind,
                    const char *key, struct error *error)
{
	struct names *texts = names_new(error);

	if (texts != NULL &&
	    (kind == SECTION_LABEL ? list_labels(profile, key, texts, error) :
	     list_titles(profile, kind, texts, error)) == 0)
		return texts;
	names_free(texts);
	return NULL;
}

int
sections_offer(const struct profile *profile, enum section_kind kind,
               const char *key,
               void (*offer)(void *context, const char *text, size_t length),
               void *context, struct error *error)
{
	struct names *texts = sections_list_names(profile, kind, key, error);
	uint32_t n = texts != NULL ? names_count(texts) : 0;
	uint32_t *sorted = memory_array(n, sizeof *sorted, error);

	if (texts == NULL || sorted == NULL) {
		names_free(texts);
		free(sorted);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = i;
	if (n > 1)
		qsort_r(sorted, n, sizeof *sorted, names_compare_items,
		        texts);
	for (uint32_t i = 0; i < n; i++)
		offer(context, names_text(texts, sorted[i]),
		      names_length(texts, sorted[i]));
	free(sorted);
	names_free(texts);
	return 0;
}

/* ---- nothing selected ---- */

/* Adds the similar ones among the names of that kind. */
static void
add_similar(const struct profile *profile, enum section_kind kind,
            const char *key, const char *what, struct text_buffer *text)
{
	struct error no_memory = { 0 };
	struct names *texts = sections_list_names(profile, kind, key,
	                                          &no_memory);
	struct near near;

	near_start(&near, what, strlen(what));
	for (uint32_t i = 0; texts != NULL && i < names_count(texts); i++)
		near_offer(&near, names_text(texts, i),
		           names_length(texts, i));
	near_add(&near, text);
	if (near.n == 0 && kind == SECTION_LABEL)
		text_add_format(text, "; labels%s%s lists them",
		                key == NULL ? "" : " ",
		                key == NULL ? "" : key);
	else if (near.n == 0)
		text_add_format(text, "; %s lists them",
		                kind == SECTION_THREAD ? "threads" :
		                "processes");
	names_free(texts);
}

int
sections_report_none(const struct profile *profile,
                     const struct section_selector *selector,
                     const char *what, struct error *error)
{
	static const struct {
		const char *nothing, *none;
	} texts[] = {
		[SECTION_THREAD] = { "the profile does not tell threads apart",
		                     "no thread" },
		[SECTION_PROCESS] = { "the profile does not tell processes "
		                      "apart", "no process" },
		[SECTION_LABEL] = { "the profile has no labels", "no value" },
	};
	const char *key = selector->key;
	struct text_buffer text = { 0 };

	if (profile->tree == NULL)
		return error_set(error, "the profile has calls between "
		    "functions and no stacks, so %s cannot be told apart",
		    selector->kind == SECTION_THREAD ? "threads" :
		    selector->kind == SECTION_PROCESS ? "processes" :
		    "labels");
	if (!sections_know(profile, selector->kind))
		return error_set(error, "%s", texts[selector->kind].nothing);
	if (selector->kind == SECTION_LABEL && !sections_has_key(profile, key)) {
		text_add_format(&text, "no label is called %s", key);
		add_similar(profile, SECTION_LABEL, NULL, key, &text);
	} else {
		text_add_string(&text, texts[selector->kind].none);
		if (key != NULL)
			text_add_format(&text, " of %s", key);
		text_add_format(&text, " matches %s", what);
		add_similar(profile, selector->kind, key, what, &text);
	}
	error_set(error, "%s", text_string(&text));
	text_free(&text);
	return -1;
}
