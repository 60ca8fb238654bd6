/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines_choice.c -- which debug information is read together with a profile. */
#include "src/symbols/lines/address_lines.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/symbols/lines/debug_lines.h"

struct lines_candidate {
	const char *path;
	uint32_t module;
	uint32_t n_frames;	/* that lack lines */
	bool is_certain;	/* its file is the one that was profiled, or
				 * gave the frames their names anyway */
};

static int
lines_choice_compare_candidates(const void *left, const void *right)
{
	const struct lines_candidate *a = left, *b = right;
	int order;

	if (a->n_frames != b->n_frames)
		return a->n_frames > b->n_frames ? -1 : 1;
	order = strcmp(a->path, b->path);
	return order != 0 ? order : a->module < b->module ? -1 :
	    a->module > b->module;
}

/* The size of the debug information of a module; 0: it has none. */
static uint64_t
lines_choice_size_of(const struct module *module,
                     const struct symbol_search *search)
{
	const struct module_file wanted = module_file_of(module, *search);
	struct elf_file file;
	uint64_t size;

	if (!debug_lines_open(&wanted, &file))
		return 0;
	size = debug_lines_size(&file);
	elf_file_close(&file);
	return size;
}

/* Sets chosen[n_modules]; candidates are in order. */
static int
lines_choice_choose(struct profile *profile, const struct symbol_search *search,
                    const struct lines_candidate *candidates,
                    uint64_t most_bytes, bool *chosen, struct error *error)
{
	for (uint32_t i = 0; i < profile->n_modules &&
	     candidates[i].n_frames > 0; i++) {
		struct module *module =
		    &profile->modules[candidates[i].module];
		uint64_t size = candidates[i].is_certain ?
		    lines_choice_size_of(module, search) : 0;

		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
		profile->may_have_inlined |= size > 0;
		chosen[candidates[i].module] = size > 0 && size <= most_bytes;
		module->deferred_bytes = size > most_bytes ? size : 0;
		if (size <= most_bytes)
			most_bytes -= size;
	}
	return 0;
}

int
lines_choose(struct profile *profile, const struct symbol_search *search,
             uint64_t most_bytes, struct error *error)
{
	uint32_t n = profile->n_modules;
	struct lines_candidate *candidates = memory_array(n, sizeof *candidates,
	                                                  error);
	bool *chosen = memory_array(n, sizeof *chosen, error);
	unsigned char build[MODULE_BUILD_MAX];
	int result = -1;

	for (uint32_t i = 0; candidates != NULL && i < n; i++)
		candidates[i] = (struct lines_candidate){
			.path = profile->modules[i].path,
			.module = i,
			.is_certain = module_build(&profile->modules[i],
			                           build) > 0,
		};
	if (candidates != NULL && chosen != NULL) {
		for (uint32_t i = 0; i < profile->n_frames; i++) {
			struct frame *frame = &profile->frames[i];

			profile->may_have_inlined |= frame->n_locations > 1;
			frame->lacked_lines |= profile_lacks_lines(profile,
			                                           frame);
			if (!frame->lacked_lines)
				continue;
			candidates[frame->module].n_frames++;
			candidates[frame->module].is_certain |=
			    frame->function_offset != NO_OFFSET;
		}
		if (n > 0)
			qsort(candidates, n, sizeof *candidates,
			      lines_choice_compare_candidates);
		result = lines_choice_choose(profile, search, candidates,
		                             most_bytes, chosen, error);
	}
	for (uint32_t i = 0; result == 0 && i < profile->n_frames; i++) {
		struct frame *frame = &profile->frames[i];

		frame->is_deferred = frame->lacked_lines &&
		    !chosen[frame->module];
	}
	free(candidates);
	free(chosen);
	return result;
}
