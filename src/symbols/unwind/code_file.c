/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_file.c -- a file of rules for a module's code without unwind tables.
 *
 * Goes over all code that the loaded tables do not cover: what other tables say
 * of it (.debug_frame; .eh_frame without an index, which is not loaded), else
 * what its instructions do.  Then all functions that are called are followed, to
 * know which calls lead to such code; those that cannot are left out.
 */
#include "src/symbols/unwind/code_rules.h"

#include <stdlib.h>
#include <string.h>

#include "lib/cpprof-code.h"
#include "src/base/memory.h"
#include "src/symbols/unwind/stack_unwinder.h"

enum {
	CODE_FILE_ASK = 64,	/* look-ups from one question whether to give
				 * up to the next */
	CODE_FILE_TAILS_MAX = 64,	/* functions between a call and a
					 * callee, each ended by a jump */
};

struct code_piece {
	uint64_t start, end;
};

struct code_file {
	const struct module_file *module;
	struct unwind_table *table;
	struct code_rules *rules;
	struct cfi_scratch scratch;
	bool (*is_over)(void *context);
	void *context;
	unsigned n_asked;
	bool is_given_up;
	bool has_index;			/* .eh_frame is loaded */
	uint64_t base;
	struct code_piece *pieces;	/* [n_pieces] without tables, by
					 * start */
	size_t n_pieces, pieces_capacity;
	struct cpprof_code_range *ranges;
	size_t n_ranges, ranges_capacity;
	const struct code_function **followed;	/* [n_followed] by start */
	bool *is_kept;
	size_t n_followed;
	struct cpprof_code_function *functions;
	size_t n_functions, functions_capacity;
	struct cpprof_code_extent *extents;
	size_t n_extents, extents_capacity;
	uint32_t *tails;
	size_t n_tails, tails_capacity;
};

static bool
code_file_goes_on(struct code_file *file)
{
	if (file->n_asked++ % CODE_FILE_ASK == 0 &&
	    file->is_over(file->context))
		file->is_given_up = true;
	return !file->is_given_up;
}

/* ---- code without tables ---- */

static int
code_file_add_piece(struct code_file *file, uint64_t start, uint64_t end,
                    struct error *error)
{
	if (memory_grow(&file->pieces, &file->pieces_capacity,
	                file->n_pieces + 1, sizeof *file->pieces, error) != 0)
		return -1;
	file->pieces[file->n_pieces++] = (struct code_piece){ start, end };
	return 0;
}

static int
code_file_find_pieces(struct code_file *file, struct error *error)
{
	const struct code_map *map = code_rules_map(file->rules);

	file->base = map->n_sections > 0 ? map->sections[0].start : 0;
	file->is_given_up = map->n_sections == 0;
	for (size_t i = 0; i < map->n_sections; i++) {
		const struct code_section *section = &map->sections[i];
		uint64_t at = section->start, end;

		if (!section->is_code ||
		    section->end - file->base > UINT32_MAX)
			continue;
		for (; at < section->end; at = end) {
			const bool is_covered = unwind_table_covers(
			    file->table, at, &end) && file->has_index;

			if (end > section->end)
				end = section->end;
			if (!is_covered && code_file_add_piece(file, at, end,
			                                       error) != 0)
				return -1;
		}
	}
	return 0;
}

/* ---- ranges ---- */

/*
 * The row as the collector can use it.  False: it cannot, but may find the caller
 * by the frame pointer.
 */
static bool
code_range_make(const struct cfi_row *row, struct cpprof_code_range *range)
{
	const int64_t cfa = row->operands[CFI_CFA].offset;
	const int64_t saved = row->operands[X86_64_RBP].offset;

	if (row->kinds[X86_64_RIP] == CFI_UNDEFINED) {
		range->kind = CPPROF_CODE_END;
		return true;
	}
	if (row->kinds[X86_64_RIP] != CFI_OFFSET ||
	    row->operands[X86_64_RIP].offset != -8 ||
	    row->kinds[X86_64_RSP] != CFI_UNSPECIFIED) {
		range->kind = CPPROF_CODE_OTHER;
		return true;
	}
	if (row->kinds[CFI_CFA] != CFI_REGISTER ||
	    (row->cfa_register != X86_64_RSP &&
	     row->cfa_register != X86_64_RBP) || cfa != (int32_t)cfa)
		return false;
	range->kind = row->cfa_register == X86_64_RSP ? CPPROF_CODE_STACK :
	    CPPROF_CODE_FRAME;
	range->cfa_offset = (int32_t)cfa;
	switch (row->kinds[X86_64_RBP]) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		range->saved = CPPROF_CODE_SAME;
		break;
	case CFI_OFFSET:
		range->saved = saved != (int32_t)saved || saved == 0 ?
		    CPPROF_CODE_LOST : CPPROF_CODE_SAVED;
		range->frame_offset = (int32_t)saved;
		break;
	default:
		range->saved = CPPROF_CODE_LOST;
		break;
	}
	if (range->saved == CPPROF_CODE_LOST)
		range->frame_offset = 0;
	return true;
}

static int
code_file_add_range(struct code_file *file, const struct cfi_row *row,
                    uint64_t start, uint64_t end, bool is_proved,
                    struct error *error)
{
	struct cpprof_code_range range = { .is_proved = is_proved }, *last;

	if (!code_range_make(row, &range))
		return 0;
	range.start = (uint32_t)(start - file->base);
	range.end = (uint32_t)(end - file->base);
	last = file->n_ranges > 0 ? &file->ranges[file->n_ranges - 1] : NULL;
	if (last != NULL && last->end == range.start &&
	    last->kind == range.kind && last->saved == range.saved &&
	    last->cfa_offset == range.cfa_offset &&
	    last->frame_offset == range.frame_offset &&
	    last->is_proved == range.is_proved) {
		last->end = range.end;
		return 0;
	}
	if (memory_grow(&file->ranges, &file->ranges_capacity,
	                file->n_ranges + 1, sizeof range, error) != 0)
		return -1;
	file->ranges[file->n_ranges++] = range;
	return 0;
}

/*
 * What a table says of an address, up to *end: 1; 0 if none does, or it is the
 * code that a signal handler returns to, which the collector knows; or -1.
 */
static int
code_file_from_table(struct code_file *file, uint64_t address, uint64_t *end,
                     struct error *error)
{
	struct cfi_scratch *scratch = &file->scratch;

	scratch->row_start = scratch->row_end = 0;
	if (!unwind_table_find(file->table, file->module, address, scratch) ||
	    scratch->row.is_signal || address < scratch->row_start ||
	    address >= scratch->row_end)
		return 0;
	if (*end > scratch->row_end)
		*end = scratch->row_end;
	return code_file_add_range(file, &scratch->row, address, *end, true,
	                           error) != 0 ? -1 : 1;
}

/* Goes on behind the instruction, or behind what shares its rule. */
static int
code_file_from_code(struct code_file *file, uint64_t address, uint64_t *end,
                    struct error *error)
{
	const struct code_map *map = code_rules_map(file->rules);
	const uint64_t next = code_map_end(map, address);
	const struct code_rule *rule;
	struct x86_instruction i;
	struct cfi_row row;
	const unsigned char *code;
	size_t size;

	if (code_rules_find_rule(file->rules, address, &rule, error) != 0)
		return -1;
	if (rule == NULL) {
		code = code_map_code_at(map, address, &size);
		*end = address + (code != NULL &&
		    x86_decode(code, size, address, &i) ? i.size : 1);
		return 0;
	}
	if (*end > rule->end)
		*end = rule->end;
	/* There another function may be the one. */
	if (*end > next && next > address)
		*end = next;
	if (!rule->is_known)
		return 0;
	code_rule_make_row(rule, &row);
	return code_file_add_range(file, &row, address, *end, false, error);
}

static int
code_file_make_ranges(struct code_file *file, struct error *error)
{
	for (size_t i = 0; i < file->n_pieces; i++) {
		const struct code_piece *piece = &file->pieces[i];
		uint64_t at = piece->start, end;

		for (; at < piece->end && code_file_goes_on(file); at = end) {
			int found;

			end = piece->end;
			found = code_file_from_table(file, at, &end, error);
			if (found == 0)
				found = code_file_from_code(file, at, &end,
				                            error);
			if (found < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- functions ---- */

/* Follows all that are called, and those that they end by jumping to. */
static int
code_file_follow(struct code_file *file, struct error *error)
{
	const struct code_map *map = code_rules_map(file->rules);
	const struct code_function *function;

	for (size_t i = 0; i < map->n_starts && code_file_goes_on(file); i++) {
		const uint64_t start = map->starts[i].address;

		if ((map->starts[i].why & CODE_CALLED) == 0)
			continue;
		function = code_rules_function(file->rules, start, error);
		if (function == NULL)
			return -1;
		file->is_given_up |= function->start != start;
	}
	for (size_t i = 0; i < code_rules_count(file->rules) &&
	     code_file_goes_on(file); i++) {
		const struct code_function *from = code_rules_at(file->rules,
		                                                 i);

		for (size_t k = 0; k < from->n_tails; k++) {
			function = code_rules_function(file->rules,
			    from->tails[k], error);
			if (function == NULL)
				return -1;
			file->is_given_up |= function->start != from->tails[k];
		}
	}
	return 0;
}

static int
code_file_compare(const void *left, const void *right, void *context)
{
	const struct code_function *const *a = left, *const *b = right;

	(void)context;
	return (*a)->start < (*b)->start ? -1 : (*a)->start > (*b)->start;
}

static int
code_file_sort(struct code_file *file, struct error *error)
{
	file->n_followed = code_rules_count(file->rules);
	file->followed = memory_array(file->n_followed,
	                              sizeof *file->followed, error);
	file->is_kept = memory_array(file->n_followed, sizeof *file->is_kept,
	                             error);
	if (file->followed == NULL || file->is_kept == NULL)
		return -1;
	for (size_t i = 0; i < file->n_followed; i++)
		file->followed[i] = code_rules_at(file->rules, i);
	return sort_items(file->followed, file->n_followed,
	                  sizeof(struct code_function *), code_file_compare,
	                  NULL, error);
}

/* The first piece that ends after an address. */
static size_t
code_file_piece_after(const struct code_file *file, uint64_t address)
{
	return partition_point(file->n_pieces, k,
	                       file->pieces[k].end <= address);
}

/* Whether some of a function's code has no table. */
static bool
code_file_has_code(const struct code_file *file,
                   const struct code_function *function)
{
	for (size_t i = 0; i < function->n_rules; i++) {
		const size_t k = code_file_piece_after(file,
		    function->rules[i].start);

		if (k < file->n_pieces &&
		    file->pieces[k].start < function->rules[i].end)
			return true;
	}
	return false;
}

/* Adds the parts of [start, end) that have no table, as a function's. */
static int
code_file_add_extents(struct code_file *file, uint64_t start, uint64_t end,
                      const struct cpprof_code_function *function,
                      struct error *error)
{
	for (size_t i = code_file_piece_after(file, start);
	     i < file->n_pieces && file->pieces[i].start < end; i++) {
		const struct code_piece *piece = &file->pieces[i];
		const struct cpprof_code_extent extent = {
			(uint32_t)((start > piece->start ? start :
			    piece->start) - file->base),
			(uint32_t)((end < piece->end ? end : piece->end) -
			    file->base),
		};

		if (file->n_extents > function->first_extent &&
		    file->extents[file->n_extents - 1].end == extent.start) {
			file->extents[file->n_extents - 1].end = extent.end;
			continue;
		}
		if (memory_grow(&file->extents, &file->extents_capacity,
		                file->n_extents + 1, sizeof extent,
		                error) != 0)
			return -1;
		file->extents[file->n_extents++] = extent;
	}
	return 0;
}

/* Whether it ends by jumping to one that is kept. */
static bool
code_file_goes_to_kept(const struct code_file *file,
                       const struct code_function *function)
{
	for (size_t k = 0; k < function->n_tails; k++) {
		const size_t i = partition_point(file->n_followed, m,
		    file->followed[m]->start < function->tails[k]);

		if (i < file->n_followed && file->is_kept[i] &&
		    file->followed[i]->start == function->tails[k])
			return true;
	}
	return false;
}

static void
code_file_choose(struct code_file *file)
{
	bool has_changed = true;

	for (size_t i = 0; i < file->n_followed; i++)
		file->is_kept[i] = file->followed[i]->leads_anywhere ||
		    file->followed[i]->is_incomplete ||
		    code_file_has_code(file, file->followed[i]);
	for (int round = 0; has_changed && round < CODE_FILE_TAILS_MAX;
	     round++) {
		has_changed = false;
		for (size_t i = 0; i < file->n_followed; i++) {
			if (file->is_kept[i] ||
			    !code_file_goes_to_kept(file, file->followed[i]))
				continue;
			file->is_kept[i] = has_changed = true;
		}
	}
}

static int
code_file_add_function(struct code_file *file,
                       const struct code_function *function,
                       struct error *error)
{
	struct cpprof_code_function *added;

	if (memory_grow(&file->functions, &file->functions_capacity,
	                file->n_functions + 1, sizeof *added, error) != 0 ||
	    memory_grow(&file->tails, &file->tails_capacity,
	                file->n_tails + function->n_tails,
	                sizeof *file->tails, error) != 0)
		return -1;
	added = &file->functions[file->n_functions++];
	*added = (struct cpprof_code_function){
		.start = (uint32_t)(function->start - file->base),
		.flags = (function->leads_anywhere ? CPPROF_CODE_ANYWHERE :
		    0) | (function->is_incomplete ? CPPROF_CODE_UNSURE : 0),
		.first_extent = (uint32_t)file->n_extents,
		.first_tail = (uint32_t)file->n_tails,
		.n_tails = (uint32_t)function->n_tails,
	};
	for (size_t i = 0; i < function->n_rules; i++)
		if (code_file_add_extents(file, function->rules[i].start,
		                          function->rules[i].end, added,
		                          error) != 0)
			return -1;
	added->n_extents = (uint32_t)file->n_extents - added->first_extent;
	for (size_t i = 0; i < function->n_tails; i++)
		file->tails[file->n_tails++] =
		    (uint32_t)(function->tails[i] - file->base);
	return 0;
}

static int
code_file_make_functions(struct code_file *file, struct error *error)
{
	if (code_file_follow(file, error) != 0 ||
	    code_file_sort(file, error) != 0)
		return -1;
	code_file_choose(file);
	for (size_t i = 0; i < file->n_followed; i++)
		if (file->is_kept[i] && code_file_add_function(file,
		        file->followed[i], error) != 0)
			return -1;
	return 0;
}

/* ---- the file ---- */

static unsigned char *
code_file_put(unsigned char *at, const void *items, size_t n, size_t size)
{
	if (n > 0)
		memcpy(at, items, n * size);
	return at + n * size;
}

static int
code_file_write(const struct code_file *file, unsigned char **bytes,
                size_t *size, struct error *error)
{
	struct cpprof_code_header header = {
		.magic = CPPROF_CODE_MAGIC,
		.n_ranges = (uint32_t)file->n_ranges,
		.n_functions = (uint32_t)file->n_functions,
		.n_extents = (uint32_t)file->n_extents,
		.n_tails = (uint32_t)file->n_tails,
		.is_complete = !file->is_given_up,
		.base = file->base,
	};
	unsigned char *at;

	if (cpprof_code_size(&header) > CPPROF_CODE_MAX_SIZE)
		header = (struct cpprof_code_header){
			.magic = CPPROF_CODE_MAGIC };
	*size = (size_t)cpprof_code_size(&header);
	*bytes = at = memory_array(*size, 1, error);
	if (at == NULL)
		return -1;
	at = code_file_put(at, &header, 1, sizeof header);
	at = code_file_put(at, file->ranges, header.n_ranges,
	                   sizeof *file->ranges);
	at = code_file_put(at, file->functions, header.n_functions,
	                   sizeof *file->functions);
	at = code_file_put(at, file->extents, header.n_extents,
	                   sizeof *file->extents);
	code_file_put(at, file->tails, header.n_tails, sizeof *file->tails);
	return 0;
}

static void
code_file_free(struct code_file *file)
{
	unwind_table_free(file->table);
	code_rules_free(file->rules);
	free(file->pieces);
	free(file->ranges);
	free(file->followed);
	free(file->is_kept);
	free(file->functions);
	free(file->extents);
	free(file->tails);
	free(file);
}

static bool
code_file_is_indexed(const struct module_file *module)
{
	struct elf_file elf;
	GElf_Shdr header;
	bool is_indexed;

	if (module_file_open(module, &elf) != MODULE_FILE_OPEN)
		return false;
	is_indexed = elf_file_named_section(&elf, ".eh_frame_hdr",
	                                    &header) != NULL;
	elf_file_close(&elf);
	return is_indexed;
}

int
code_file_make(const struct module_file *module,
               bool (*is_over)(void *context), void *context,
               unsigned char **bytes, size_t *size, struct error *error)
{
	struct code_file *file = memory_array(1, sizeof *file, error);
	int result = -1;

	if (file == NULL)
		return -1;
	file->module = module;
	file->is_over = is_over;
	file->context = context;
	file->has_index = code_file_is_indexed(module);
	file->table = unwind_table_read(module, error);
	if (file->table != NULL)
		file->rules = code_rules_new(
		    unwind_table_is_go(file->table) ? NULL : module, error);
	if (file->rules != NULL &&
	    code_file_find_pieces(file, error) == 0 &&
	    code_file_make_ranges(file, error) == 0 &&
	    code_file_make_functions(file, error) == 0)
		result = code_file_write(file, bytes, size, error);
	code_file_free(file);
	return result;
}
