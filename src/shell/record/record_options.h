/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_options.h -- the options of record. */
#ifndef CPPROF_SHELL_RECORD_RECORD_OPTIONS_H
#define CPPROF_SHELL_RECORD_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cpprofdata.h"
#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/shell/line/completion.h"
#include "src/shell/line/option_row.h"
#include "src/shell/line/words.h"
#include "src/shell/record/resource_kinds.h"

struct record_options {
	const char *name;	/* directory; NULL: by the program's name */
	struct chosen_resource {
		const struct resource_kind *kind;
		uint64_t interval;	/* 0: not given */
	} resources[CPPROFDATA_MAX_RESOURCES];
	size_t n_resources;	/* 0: the collector's default */
	bool wants_prompt, wants_no_prompt;	/* neither: the setting */
	bool replaces;		/* an earlier recording of that name */
	unsigned frequency;	/* of -F; 0: not given */
	bool is_random;
	bool is_alone;		/* children are not sampled */
	bool counts_returns;
	bool keeps_no_names;
	uint64_t max_size;	/* of a file; 0: no limit */
	unsigned n_runs;	/* of --repeat; 0: not given */
	bool wants_list, wants_help;
	char *const *program;	/* its words, then NULL; itself NULL only if
				 * the list or help is wanted */
};

/* The rows; their options are a struct record_options. */
extern const struct option_row record_option_rows[];

/*
 * Reads words, which end with NULL and are borrowed.  0, or -1 with *error
 * set.
 */
int record_options_parse(struct record_options *options, char *const *words,
                         struct error *error);

/* Adds the resources as in CPPROF_RESOURCES: "cpu:1000,page-faults". */
void record_options_add_resources(const struct record_options *options,
                                  struct text_buffer *text);

/*
 * Offers what the word after n others may be, of which the first follows
 * `record`: a resource, an option, or a file.
 */
void record_options_complete(struct completion *completion,
                             const struct word *words, size_t n);

#endif
