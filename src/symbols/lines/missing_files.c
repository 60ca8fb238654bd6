/* SPDX-License-Identifier: GPL-3.0-or-later */
/* missing_files.c -- the debug files that a profile needs and this machine does
 * not have.
 */
#include "src/symbols/lines/missing_files.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"
#include "src/symbols/lines/debug_lines.h"

enum { LEAST_PART = 1000 };	/* of all hits, that a module is on */

/* What the stacks have of a module. */
struct missing_candidate {
	const char *path;
	uint64_t hits;		/* of stacks that it is on */
	uint32_t module;
	uint32_t until;		/* the first node beyond the subtree that was
				 * counted last */
	bool is_unnamed, is_missing;
};

static int
missing_files_compare(const void *left, const void *right)
{
	const struct missing_candidate *a = left, *b = right;
	int order;

	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	order = strcmp(a->path, b->path);
	return order != 0 ? order : a->module < b->module ? -1 :
	    a->module > b->module;
}

/* Whether a frame's names and lines come from an ELF file. */
static bool
missing_files_has_frame(const struct frame *frame)
{
	return frame->module != NO_MODULE && !frame->is_interpreted;
}

static bool
missing_files_is_unnamed(const struct frame *frame)
{
	return frame->is_made_up ||
	    frame->placeholder == FRAME_OF_OTHER_BUILD;
}

/* Counts each module once on a stack. */
static int
missing_files_count(struct missing_candidate *candidates,
                    const struct profile *profile, uint32_t resource,
                    struct error *error)
{
	const struct sample_tree *tree = profile->tree;
	uint64_t *sums = sample_tree_new_sums(tree, tree->hits[resource],
	                                      error);

	if (sums == NULL)
		return -1;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const struct frame *frame =
		    &profile->frames[tree->label[node]];
		struct missing_candidate *of;

		if (!missing_files_has_frame(frame))
			continue;
		of = &candidates[frame->module];
		of->is_unnamed |= missing_files_is_unnamed(frame);
		if (node < of->until)
			continue;
		of->until = sample_tree_end(tree, node);
		of->hits += sample_tree_weight(tree, sums, node);
	}
	large_array_free(sums);
	return 0;
}

/* Whether a module's build is known and has no debug information here. */
static bool
missing_files_lacks(const struct module *module,
                    const struct symbol_search *search)
{
	const struct module_file wanted = module_file_of(module, *search);
	struct elf_file file;

	if (*module->path == '[' || module_file_is_vdso(&wanted) ||
	    !debuginfod_is_build_id(module->build_id, module->build_id_size))
		return false;
	if (!debug_lines_open(&wanted, &file))
		return true;
	elf_file_close(&file);
	return false;
}

/* candidates: by their modules. */
static void
missing_files_count_unnamed(struct missing_files *missing,
                            const struct missing_candidate *candidates,
                            const struct profile *profile, uint32_t resource)
{
	const struct sample_tree *tree = profile->tree;

	for (uint32_t node = 0; (node = node_numbers_next(&tree->rows, node,
	     tree->n_nodes)) < tree->n_nodes; node++) {
		const uint64_t hits = sample_tree_hits(tree, resource, node);
		uint32_t at = node;

		missing->hits += hits;
		/* The function, then its caller. */
		for (int i = 0; i < 2 && hits > 0 && at != NO_NODE; i++) {
			const struct frame *frame =
			    &profile->frames[tree->label[at]];

			if (missing_files_has_frame(frame) &&
			    missing_files_is_unnamed(frame) &&
			    candidates[frame->module].is_missing) {
				missing->unnamed_hits += hits;
				break;
			}
			at = sample_tree_parent(tree, at);
		}
	}
}

static int
missing_files_take(struct missing_files *missing,
                   struct missing_candidate *candidates, uint32_t n,
                   struct error *error)
{
	missing->modules = memory_array(n, sizeof *missing->modules, error);
	missing->is_unnamed = memory_array(n, sizeof *missing->is_unnamed,
	                                   error);
	if (missing->modules == NULL || missing->is_unnamed == NULL)
		return -1;
	qsort(candidates, n, sizeof *candidates, missing_files_compare);
	for (uint32_t i = 0; i < n; i++) {
		if (!candidates[i].is_missing)
			continue;
		missing->is_unnamed[missing->n] = candidates[i].is_unnamed;
		missing->modules[missing->n++] = candidates[i].module;
	}
	return 0;
}

int
missing_files_find(struct missing_files *missing,
                   const struct profile *profile,
                   const struct symbol_search *search, uint32_t resource,
                   struct error *error)
{
	struct missing_candidate *candidates;
	uint32_t n_builds = 0;
	uint64_t samples;
	const uint64_t least = profile_hits(profile, resource, &samples) /
	                       LEAST_PART;
	int status = -1;

	for (uint32_t i = 0; i < profile->n_modules; i++)
		n_builds += profile->modules[i].build_id_size > 0;
	if (profile->tree == NULL || n_builds == 0)
		return 0;
	candidates = memory_array(profile->n_modules, sizeof *candidates,
	                          error);
	if (candidates == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_modules; i++) {
		candidates[i].module = i;
		candidates[i].path = profile->modules[i].path;
	}
	if (missing_files_count(candidates, profile, resource, error) == 0) {
		for (uint32_t i = 0; i < profile->n_modules; i++)
			candidates[i].is_missing = candidates[i].hits > least &&
			    missing_files_lacks(&profile->modules[i], search);
		missing_files_count_unnamed(missing, candidates, profile,
		                            resource);
		status = missing_files_take(missing, candidates,
		                            profile->n_modules, error);
	}
	free(candidates);
	return status;
}

void
missing_files_free(struct missing_files *missing)
{
	free(missing->modules);
	free(missing->is_unnamed);
	*missing = (struct missing_files){ 0 };
}

/* ---- fetching ---- */

/*
 * The build-id of the file that a debug file refers to: .gnu_debugaltlink has its
 * name, a NUL, and the id.  Its size; 0: it refers to none.
 */
static size_t
missing_files_shared_id(const struct elf_file *file,
                        unsigned char id[BUILD_ID_MAX])
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, ".gnu_debugaltlink",
	                                          &header);
	const Elf_Data *data = section != NULL ? elf_file_contents(section) :
	                       NULL;
	size_t name, size;

	if (data == NULL || data->d_buf == NULL)
		return 0;
	name = strnlen(data->d_buf, data->d_size);
	size = data->d_size - name;
	if (size < 2 || size - 1 > BUILD_ID_MAX)
		return 0;
	memcpy(id, (const char *)data->d_buf + name + 1, size - 1);
	return size - 1;
}

/* Whether the debug file at a path refers to one that is not here. */
static bool
missing_files_lacks_shared(const char *path,
                           const struct symbol_search *search,
                           unsigned char id[BUILD_ID_MAX], size_t *size)
{
	struct elf_file file, shared;
	bool is_lacking = false;

	if (elf_file_open_any(&file, path) != ELF_FILE_OPEN)
		return false;
	*size = missing_files_shared_id(&file, id);
	if (*size > 0) {
		is_lacking = !module_file_open_supplement(search, &file, "/",
		    id, *size, &shared);
		if (!is_lacking)
			elf_file_close(&shared);
	}
	elf_file_close(&file);
	return is_lacking;
}

enum debuginfod_state
missing_files_fetch(const struct module *module,
                    const struct symbol_search *search,
                    struct debuginfod_request request, struct error *why)
{
	unsigned char id[BUILD_ID_MAX];
	enum debuginfod_state state;
	char path[PATH_MAX], shared[PATH_MAX];

	request.build_id = module->build_id;
	request.build_id_size = module->build_id_size;
	request.source = NULL;
	state = debuginfod_fetch(&request, path, why);
	/* Without the other file, it has names, but no lines. */
	if (state == DEBUGINFOD_FOUND &&
	    missing_files_lacks_shared(path, search, id,
	                               &request.build_id_size)) {
		request.build_id = id;
		debuginfod_fetch(&request, shared, &(struct error){ 0 });
	}
	return state;
}
