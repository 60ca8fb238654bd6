/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_stacks.c -- the threads of a Firefox profile as a sample tree.
 *
 * A frame is described by its row and the rows that this refers to.  Frames of
 * the same description, in any thread, are one known_frame, whose number is the
 * label in the tree.  At the end the profile gets all frames, and labels become
 * theirs.
 */
#include "src/formats/firefox/firefox_stacks.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/formats/stack_rows.h"
#include "src/symbols/address_frames.h"
#include "src/symbols/demangle.h"

/* A file may have this many nodes, and one more for each of its bytes. */
enum { NODES_MIN = 4 << 20 };

/* Rows between two checks for an interrupt. */
enum { ROWS_A_STEP = 1 << 14 };

/* A frame.  It has no padding, since its bytes are a key. */
struct known_frame {
	uint64_t address;		/* in the module; 0 where there is none */
	uint32_t module;
	uint32_t function;		/* a name; NO_NAME: the address's */
	uint32_t file, line;
};

_Static_assert(sizeof(struct known_frame) == 24, "its bytes are a key");

/* One set of tables, with what entering its stacks needs. */
struct stack_set {
	const struct firefox_tables *tables;	/* stacks, frames, functions */
	const struct firefox_tables *strings, *libraries, *sources;
	uint32_t *parent, *label;		/* [n], by stack */
	uint32_t *frame_labels;			/* by frame; NO_LABEL: not yet */
	uint32_t *own_names;			/* by string; NO_NAME: not yet */
	uint32_t **names;			/* these, or the shared strings' */
	struct stack_rows rows;
};

struct firefox_stacks {
	struct profile *profile;
	const struct firefox_tables *shared;
	const struct firefox_meta *meta;
	struct json_reader *json;
	struct module_cache *modules;
	struct tree_builder *builder;
	struct stack_set common;		/* of the shared tables */
	bool has_common;
	uint32_t *shared_names;			/* by shared string, likewise */
	uint32_t n_merged, merged_begin;	/* threads in the last section,
						 * and where it begins */

	struct names *frames;			/* known_frame i, as bytes */
	struct names *seen_modules;		/* module i, by path and id */
	uint64_t *bases;			/* of the modules' images */
	size_t bases_capacity;
	struct names *pids;			/* process i, by its text */
	uint32_t resources[N_FIREFOX_WEIGHTS];	/* + 1; 0: none yet */
	uint32_t cpu;				/* likewise */
	uint64_t n_samples, n_rounded;
};

struct firefox_stacks *
firefox_stacks_new(struct profile *profile,
                   const struct firefox_tables *shared,
                   const struct firefox_meta *meta, struct json_reader *json,
                   struct module_cache *modules, struct error *error)
{
	struct firefox_stacks *stacks = memory_array(1, sizeof *stacks, error);

	if (stacks == NULL)
		return NULL;
	stacks->profile = profile;
	stacks->shared = shared;
	stacks->meta = meta;
	stacks->json = json;
	stacks->modules = modules;
	stacks->builder = tree_builder_new(0, error);
	stacks->frames = names_new(error);
	stacks->seen_modules = names_new(error);
	stacks->pids = names_new(error);
	if (!error->is_set)
		return stacks;
	firefox_stacks_free(stacks);
	return NULL;
}

static void
free_set(struct stack_set *set)
{
	stack_rows_free(&set->rows);
	free(set->parent);
	free(set->label);
	free(set->frame_labels);
	free(set->own_names);
}

void
firefox_stacks_free(struct firefox_stacks *stacks)
{
	if (stacks == NULL)
		return;
	free_set(&stacks->common);
	free(stacks->shared_names);
	tree_builder_free(stacks->builder);
	names_free(stacks->frames);
	names_free(stacks->seen_modules);
	names_free(stacks->pids);
	free(stacks->bases);
	free(stacks);
}

uint64_t
firefox_stacks_count(const struct firefox_stacks *stacks)
{
	return stacks->n_samples;
}

/* ---- modules ---- */

static size_t
parse_build_id(const char *text, size_t length, unsigned char *id, size_t max)
{
	size_t n = 0;

	for (; n < max && 2 * n + 1 < length &&
	     isxdigit((unsigned char)text[2 * n]) &&
	     isxdigit((unsigned char)text[2 * n + 1]); n++) {
		const char digits[3] = { text[2 * n], text[2 * n + 1], '\0' };

		id[n] = (unsigned char)strtoul(digits, NULL, 16);
	}
	return 2 * n == length ? n : 0;
}

/* Adds a module.  Addresses in a library count from its first segment. */
static int
add_module(struct firefox_stacks *stacks, const char *path,
           size_t path_length, const char *id_text, size_t id_length,
           struct error *error)
{
	unsigned char id[sizeof stacks->profile->modules->build_id];
	size_t size = parse_build_id(id_text, id_length, id, sizeof id);
	char *copy = memory_text(path, path_length, error);
	uint32_t module = NO_MODULE;

	if (copy != NULL)
		module = profile_add_module(stacks->profile, copy, id,
		                            (uint32_t)size, error);
	if (module != NO_MODULE &&
	    memory_grow(&stacks->bases, &stacks->bases_capacity,
	                (size_t)module + 1, sizeof *stacks->bases,
	                error) == 0)
		stacks->bases[module] = module_cache_address(stacks->modules,
		    copy, id, size, 0);
	free(copy);
	return error->is_set ? -1 : 0;
}

/* The module of a library; NO_MODULE: it has no path, or *error is set. */
static uint32_t
find_module(struct firefox_stacks *stacks, const struct text_column *libraries,
            uint32_t library, struct error *error)
{
	size_t path_length, id_length;
	const char *path = text_column_at(libraries, 2 * (size_t)library,
	                                  &path_length);
	const char *id = text_column_at(libraries, 2 * (size_t)library + 1,
	                                &id_length);
	uint32_t n = names_count(stacks->seen_modules), module;

	path_length = strnlen(path, path_length);
	if (path_length == 0)
		return NO_MODULE;
	module = names_add_pair(stacks->seen_modules, path, path_length, id,
	                        id_length, error);
	if (module == NO_NAME || (module == n &&
	    add_module(stacks, path, path_length, id, id_length, error) != 0))
		return NO_MODULE;
	return module;
}

/* ---- frames ---- */

/* The number of a frame; NO_LABEL with *error set. */
static uint32_t
add_known(struct firefox_stacks *stacks, const struct known_frame *known,
          struct error *error)
{
	uint32_t number = names_add(stacks->frames, (const char *)known,
	                            sizeof *known, error);

	return number == NO_NAME ? NO_LABEL : number;
}

static uint32_t
add_named(struct firefox_stacks *stacks, const char *name,
          struct error *error)
{
	struct known_frame known = { .module = NO_MODULE, .file = NO_NAME };

	known.function = names_add(stacks->profile->names, name, strlen(name),
	                           error);
	return known.function == NO_NAME ? NO_LABEL :
	       add_known(stacks, &known, error);
}

static int
fail_index(struct firefox_stacks *stacks, const struct index_column *column,
           const char *name, size_t row, size_t n)
{
	if (column->values[row] == NO_INDEX)
		json_fail(stacks->json, column->offset, "%s[%zu] is null, "
		          "expected an index below %zu", name, row, n);
	else
		json_fail(stacks->json, column->offset, "%s[%zu] is %" PRIu32 " of "
	          "%zu", name, row, column->values[row], n);
	return -1;
}

/* The rows that a frame refers to, NO_INDEX where there is none. */
struct frame_rows {
	uint32_t function, name, file, library;
};

/* The string that is a function's file; 1, 0 and -1 as find_rows. */
static int
find_file(struct firefox_stacks *stacks, const struct stack_set *set,
          uint32_t function, uint32_t *string, bool is_cut)
{
	const struct index_column *files = &set->tables->function_file;
	const char *column = "funcTable.fileName";
	uint32_t row = function;

	if (files->n == 0) {
		row = index_column_at(&set->tables->function_source, row);
		files = &set->sources->source_file;
		column = "sources.filename";
	}
	*string = index_column_at(files, row);
	if (*string == NO_INDEX || *string < set->strings->strings.n)
		return 1;
	return is_cut ? 0 : fail_index(stacks, files, column, row,
	                               set->strings->strings.n);
}

/* Likewise the library of a frame; one that was cut off is NO_INDEX. */
static int
find_library(struct firefox_stacks *stacks, const struct stack_set *set,
             uint32_t frame, uint32_t function, uint32_t *library,
             bool is_cut)
{
	const struct firefox_tables *tables = set->tables;
	size_t n = set->libraries->libraries.n / 2;

	*library = index_column_at(&tables->frame_library, frame);
	if (tables->frame_library.n == 0)
		*library = index_column_at(&tables->resource_library,
		    index_column_at(&tables->function_resource, function));
	if (*library == NO_INDEX || *library < n)
		return 1;
	if (!is_cut) {
		json_fail(stacks->json, tables->frame_function.offset,
		          "frame %" PRIu32 " is of library %" PRIu32 " of %zu",
		          frame, *library, n);
		return -1;
	}
	*library = NO_INDEX;
	return 1;
}

/*
 * Looks up what a frame names.  1: found, 0: the input was cut before it, -1:
 * an index is out of range.
 */
static int
find_rows(struct firefox_stacks *stacks, const struct stack_set *set,
          uint32_t frame, struct frame_rows *rows, bool is_cut)
{
	const struct firefox_tables *tables = set->tables;
	int found;

	rows->function = tables->frame_function.values[frame];
	if (rows->function >= tables->function_name.n)
		return is_cut ? 0 : fail_index(stacks,
		    &tables->frame_function, "frameTable.func", frame,
		    tables->function_name.n);
	rows->name = tables->function_name.values[rows->function];
	if (rows->name >= set->strings->strings.n)
		return is_cut ? 0 : fail_index(stacks,
		    &tables->function_name, "funcTable.name", rows->function,
		    set->strings->strings.n);
	found = find_file(stacks, set, rows->function, &rows->file, is_cut);
	return found <= 0 ? found :
	       find_library(stacks, set, frame, rows->function, &rows->library,
	                    is_cut);
}

/* "0x1a2b", the name of a function without a symbol. */
static bool
is_address(const char *text, size_t length)
{
	if (length < 3 || text[0] != '0' || text[1] != 'x')
		return false;
	for (size_t i = 2; i < length; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Demangling is slow, so each string is demangled only once. */
static uint32_t
name_function(struct firefox_stacks *stacks, const struct stack_set *set,
              uint32_t string, struct error *error)
{
	uint32_t *name = &(*set->names)[string];
	size_t length;
	const char *text = text_column_at(&set->strings->strings, string,
	                                  &length);

	if (*name == NO_NAME)
		*name = length == 0 ?
		    names_add(stacks->profile->names, "(anonymous)", 11,
		              error) :
		    demangle_and_add(stacks->profile->names, text, length,
		                     error);
	return *name;
}

static uint32_t
name_file(struct firefox_stacks *stacks, const struct stack_set *set,
          uint32_t string, struct error *error)
{
	size_t length;
	const char *text = text_column_at(&set->strings->strings, string,
	                                  &length);

	return length == 0 ? NO_NAME :
	       names_add(stacks->profile->names, text, length, error);
}

static uint32_t
find_line(const struct stack_set *set, uint32_t frame, uint32_t function)
{
	uint32_t line = index_column_at(&set->tables->frame_line, frame);

	if (line == NO_INDEX)
		line = index_column_at(&set->tables->function_line, function);
	return line == NO_INDEX ? 0 : line;
}

/* The label of a row of the frames; NO_LABEL with *error set. */
static uint32_t
make_frame(struct firefox_stacks *stacks, const struct stack_set *set,
           uint32_t frame, bool is_cut, struct error *error)
{
	const struct address_column *addresses = &set->tables->frame_address;
	uint64_t address = frame < addresses->n ? addresses->values[frame] :
	                   NO_ADDRESS;
	struct known_frame known = { .module = NO_MODULE, .file = NO_NAME,
		.function = NO_NAME };
	struct frame_rows rows = { 0 };
	size_t length;
	const char *name;
	int found = find_rows(stacks, set, frame, &rows, is_cut);

	if (found <= 0)
		return found < 0 ? NO_LABEL :
		       add_named(stacks, "[unknown]", error);
	if (address != NO_ADDRESS && rows.library != NO_INDEX)
		known.module = find_module(stacks, &set->libraries->libraries,
		                           rows.library, error);
	if (error->is_set)
		return NO_LABEL;
	if (known.module != NO_MODULE)
		known.address = address + stacks->bases[known.module];
	name = text_column_at(&set->strings->strings, rows.name, &length);
	if (known.module == NO_MODULE || !is_address(name, length)) {
		known.function = name_function(stacks, set, rows.name, error);
		known.line = find_line(set, frame, rows.function);
		if (rows.file != NO_INDEX)
			known.file = name_file(stacks, set, rows.file, error);
	}
	return error->is_set ? NO_LABEL : add_known(stacks, &known, error);
}

/* ---- sets of tables ---- */

/* The callers' rows, of either form; 0, or -1 with *error set. */
static int
make_parents(struct firefox_stacks *stacks, struct stack_set *set, uint32_t n)
{
	const struct index_column *offsets = &set->tables->stack_offset;
	const struct index_column *prefixes = &set->tables->stack_prefix;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t back;

		if (prefixes->n > 0) {
			set->parent[i] = prefixes->values[i];
			if (set->parent[i] != NO_INDEX && set->parent[i] >= n)
				return fail_index(stacks, prefixes,
				    "stackTable.prefix", i, n);
			continue;
		}
		back = offsets->values[i];
		if (back != NO_INDEX && back > i)
			return fail_index(stacks, offsets,
			                  "stackTable.prefixOffset", i, n);
		set->parent[i] = back == NO_INDEX || back == 0 ? NO_ROW :
		                 i - back;
	}
	return 0;
}

static int
make_labels(struct firefox_stacks *stacks, struct stack_set *set, uint32_t n,
            bool is_cut, struct error *error)
{
	const struct index_column *frames = &set->tables->stack_frame;
	size_t n_frames = set->tables->frame_function.n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t frame = frames->values[i], *label = NULL;

		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (frame >= n_frames && !is_cut)
			return fail_index(stacks, frames, "stackTable.frame",
			                  i, n_frames);
		if (frame < n_frames)
			label = &set->frame_labels[frame];
		if (label == NULL)
			set->label[i] = add_named(stacks, "[unknown]", error);
		else if (*label == NO_LABEL)
			set->label[i] = *label = make_frame(stacks, set, frame,
			                                    is_cut, error);
		else
			set->label[i] = *label;
		if (error->is_set)
			return -1;
	}
	return 0;
}

/* Makes the table of the strings' names; 0, or -1 with *error set. */
static int
need_names(struct firefox_stacks *stacks, struct stack_set *set,
           struct error *error)
{
	size_t n = set->strings->strings.n;

	set->names = set->strings == stacks->shared ? &stacks->shared_names :
	             &set->own_names;
	if (*set->names != NULL)
		return 0;
	*set->names = memory_array(n, sizeof **set->names, error);
	if (*set->names == NULL)
		return -1;
	memset(*set->names, 0xff, n * sizeof **set->names);
	return 0;
}

/* Fills a set from its tables; of a cut input, rows with both columns. */
static int
make_set(struct firefox_stacks *stacks, struct stack_set *set, bool is_cut,
         struct error *error)
{
	const struct firefox_tables *tables = set->tables;
	size_t n = tables->stack_frame.n, n_frames = tables->frame_function.n;
	size_t n_callers = tables->stack_prefix.n > 0 ?
	                   tables->stack_prefix.n : tables->stack_offset.n;

	if (n != n_callers && !is_cut) {
		json_fail(stacks->json, tables->stack_frame.offset,
		          "%zu stacks have %zu callers", n, n_callers);
		return -1;
	}
	if (n > n_callers)
		n = n_callers;
	if (n >= NO_ROW)
		return error_set(error, "more than 4,294,967,294 stacks");
	set->parent = memory_array(n, sizeof *set->parent, error);
	set->label = memory_array(n, sizeof *set->label, error);
	set->frame_labels = memory_array(n_frames, sizeof *set->frame_labels,
	                                 error);
	if (error->is_set || need_names(stacks, set, error) != 0)
		return -1;
	memset(set->frame_labels, 0xff, n_frames * sizeof *set->frame_labels);
	set->rows = (struct stack_rows){ .parent = set->parent,
		.label = set->label, .n = (uint32_t)n };
	return make_parents(stacks, set, (uint32_t)n) == 0 &&
	    make_labels(stacks, set, (uint32_t)n, is_cut, error) == 0 ? 0 : -1;
}

/* Makes the set of a thread that has stacks of its own. */
static int
make_own_set(struct firefox_stacks *stacks, struct stack_set *set,
             const struct firefox_tables *own, bool is_cut,
             struct error *error)
{
	const struct firefox_tables *shared = stacks->shared;

	*set = (struct stack_set){
		.tables = own,
		.strings = own->has_strings ? own : shared,
		.libraries = own->has_libraries ? own : shared,
		.sources = own->has_sources ? own : shared,
	};
	return make_set(stacks, set, is_cut, error);
}

/* The set of the shared tables, made on first use; NULL with *error set. */
static struct stack_set *
need_common_set(struct firefox_stacks *stacks, bool is_cut,
                struct error *error)
{
	struct stack_set *set = &stacks->common;

	if (stacks->has_common)
		return set;
	stacks->has_common = true;
	set->tables = set->strings = set->libraries = set->sources =
	    stacks->shared;
	return make_set(stacks, set, is_cut, error) == 0 ? set : NULL;
}

/* ---- samples ---- */

/* A resource, made if there is none; NO_RESOURCE with *error set. */
static uint32_t
need_resource(struct firefox_stacks *stacks, uint32_t *number,
              const char *name, const char *gtick, uint64_t interval,
              struct error *error)
{
	uint32_t resource;

	if (*number > 0)
		return *number - 1;
	resource = profile_add_resource(stacks->profile, name, gtick, interval,
	                                error);
	if (resource == NO_RESOURCE ||
	    tree_builder_add_resource(stacks->builder, error) != 0)
		return NO_RESOURCE;
	*number = resource + 1;
	return resource;
}

static uint32_t
need_weight(struct firefox_stacks *stacks, enum firefox_weight weight,
            struct error *error)
{
	uint32_t *number = &stacks->resources[weight];
	uint64_t interval = stacks->meta->interval_ns;

	if (weight == WEIGHT_TIME)
		return need_resource(stacks, number, "time", "nanosecond", 1,
		                     error);
	if (weight == WEIGHT_BYTES)
		return need_resource(stacks, number, "bytes", "byte", 1,
		                     error);
	return need_resource(stacks, number, "samples", interval > 0 ?
	                     "nanosecond" : "", interval > 0 ? interval : 1,
	                     error);
}

static uint32_t
need_cpu(struct firefox_stacks *stacks, struct error *error)
{
	switch (stacks->meta->cpu_unit) {
	case CPU_NS:
	case CPU_US:
		return need_resource(stacks, &stacks->cpu, "cpu", "nanosecond",
		                     1, error);
	case CPU_CYCLES:
		return need_resource(stacks, &stacks->cpu, "cpu-cycles",
		                     "cycle", 1, error);
	default:
		return need_resource(stacks, &stacks->cpu, "cpu", "", 1,
		                     error);
	}
}

/* The node of a stack; NO_NODE with *error set. */
static uint32_t
find_node(struct firefox_stacks *stacks, struct stack_set *set,
          const struct firefox_thread *thread, uint32_t stack, bool is_cut,
          struct error *error)
{
	struct error why = { 0 };
	uint32_t node, label;

	if (stack == NO_INDEX || (stack >= set->rows.n && is_cut)) {
		label = add_named(stacks, stack == NO_INDEX ? "[no stack]" :
		                  "[unknown]", error);
		return label == NO_LABEL ? NO_NODE :
		       tree_builder_child(stacks->builder, NO_NODE, label,
		                          error);
	}
	if (stack >= set->rows.n)
		json_fail(stacks->json, thread->offset, "a sample of stack %"
		          PRIu32 " of %" PRIu32, stack, set->rows.n);
	else if (stack_rows_enter(&set->rows, stacks->builder, stack, &node,
	                          &why) != 0)
		json_fail(stacks->json, set->tables->stack_frame.offset, "%s",
		          why.text);
	else
		return node;
	return NO_NODE;
}

static int
add_charge(struct firefox_stacks *stacks, const struct firefox_thread *thread,
           const struct firefox_charge *charge, uint32_t node,
           struct error *error)
{
	uint64_t weight = charge->weight, cpu = charge->cpu;
	uint32_t resource = need_weight(stacks, thread->weight, error);

	if (thread->weight != WEIGHT_TIME) {
		stacks->n_rounded += weight % WEIGHT_ONE != 0;
		weight = weight / WEIGHT_ONE +
		         (weight % WEIGHT_ONE >= WEIGHT_ONE / 2);
	}
	if (resource == NO_RESOURCE ||
	    tree_builder_add(stacks->builder, node, resource, weight,
	                     charge->n_samples, error) != 0)
		return -1;
	stacks->n_samples += charge->n_samples;
	if (stacks->meta->cpu_unit != CPU_US)
		cpu /= DELTA_ONE;
	if (cpu == 0)
		return 0;
	resource = need_cpu(stacks, error);
	return resource != NO_RESOURCE &&
	    tree_builder_add(stacks->builder, node, resource, cpu,
	                     charge->n_samples, error) == 0 ? 0 : -1;
}

/* ---- threads ---- */

static uint64_t
number_of(const char *text)
{
	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

static uint32_t
find_process(struct firefox_stacks *stacks,
             const struct firefox_thread *thread, struct error *error)
{
	const char *pid = thread->pid != NULL ? thread->pid : "";
	uint32_t n = names_count(stacks->pids);
	uint32_t number = names_add(stacks->pids, pid, strlen(pid), error);
	struct process process = {
		.pid = number_of(pid),
		.program = thread->process_name != NULL ?
		    thread->process_name : stacks->meta->product,
		.start_ns = stacks->meta->start_ns,
	};

	if (number == NO_NAME)
		return UINT32_MAX;
	return number < n ? number :
	       profile_add_process(stacks->profile, &process, error);
}

static int
add_section(struct firefox_stacks *stacks, const struct firefox_thread *from,
            uint32_t begin, struct error *error)
{
	uint32_t end = tree_builder_count(stacks->builder), number;
	struct thread thread = {
		.process = find_process(stacks, from, error),
		.tid = number_of(from->tid),
		.name = from->name,
	};

	if (thread.process == UINT32_MAX)
		return -1;
	number = profile_add_thread(stacks->profile, &thread, error);
	return number != UINT32_MAX && (begin == end || profile_add_section(
	    stacks->profile, begin, end, number, error) != UINT32_MAX) ?
	    0 : -1;
}

static int
add_charges(struct firefox_stacks *stacks,
            const struct firefox_thread *thread, struct stack_set *set,
            bool is_cut, struct error *error)
{
	for (size_t i = 0; i < thread->n_charges; i++) {
		const struct firefox_charge *charge = &thread->charges[i];
		struct error why = { 0 };
		uint32_t node = find_node(stacks, set, thread, charge->stack,
		                          is_cut, error);

		if (node == NO_NODE || (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0))
			return -1;
		if (add_charge(stacks, thread, charge, node, &why) != 0) {
			json_fail(stacks->json, thread->offset, "%s",
			          why.text);
			return -1;
		}
	}
	return 0;
}

static int
add_thread(struct firefox_stacks *stacks, const struct firefox_thread *thread,
           struct stack_set *set, bool is_cut, struct error *error)
{
	uint32_t begin = tree_builder_begin_section(stacks->builder);

	if (add_charges(stacks, thread, set, is_cut, error) != 0)
		return -1;
	stack_rows_reset(&set->rows);
	return add_section(stacks, thread, begin, error);
}

/*
 * Each thread gets its own nodes for the stacks that it shares with others, so
 * a small file could ask for any number of nodes.  When there are too many, all
 * further threads share one set of nodes.
 */
static int
add_shared_thread(struct firefox_stacks *stacks,
                  const struct firefox_thread *thread, bool is_cut,
                  struct error *error)
{
	struct stack_set *set = need_common_set(stacks, is_cut, error);

	if (set == NULL)
		return -1;
	if (stacks->n_merged == 0 && tree_builder_count(stacks->builder) <
	    NODES_MIN + json_offset(stacks->json))
		return add_thread(stacks, thread, set, is_cut, error);
	if (stacks->n_merged++ == 0)
		stacks->merged_begin =
		    tree_builder_begin_section(stacks->builder);
	return add_charges(stacks, thread, set, is_cut, error);
}

int
firefox_stacks_add(struct firefox_stacks *stacks,
                   const struct firefox_thread *thread, bool is_cut,
                   struct error *error)
{
	struct stack_set own = { 0 };
	int result;

	if (!thread->tables.has_stacks)
		return add_shared_thread(stacks, thread, is_cut, error);
	result = make_own_set(stacks, &own, &thread->tables, is_cut, error);
	if (result == 0)
		result = add_thread(stacks, thread, &own, is_cut, error);
	free_set(&own);
	return result;
}

/* ---- the end ---- */

static struct known_frame
get_known(const struct firefox_stacks *stacks, uint32_t number)
{
	struct known_frame known;

	memcpy(&known, names_text(stacks->frames, number), sizeof known);
	return known;
}

/* Frames without a name go first, since address_frames.h counts from 0. */
static int
add_addresses(struct firefox_stacks *stacks, uint32_t *frames,
              struct error *error)
{
	struct address_frames *addresses = address_frames_new(error);
	int result = addresses != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < names_count(stacks->frames);
	     i++) {
		struct known_frame known = get_known(stacks, i);

		if (known.function != NO_NAME)
			continue;
		frames[i] = address_frames_add(addresses, known.module,
		                               known.address, error);
		result = frames[i] != UINT32_MAX ? 0 : -1;
	}
	if (result == 0)
		result = address_frames_finish(addresses, stacks->profile,
		                               stacks->modules, error);
	address_frames_free(addresses);
	return result;
}

static int
add_others(struct firefox_stacks *stacks, uint32_t *frames,
           struct error *error)
{
	for (uint32_t i = 0; i < names_count(stacks->frames); i++) {
		struct known_frame known = get_known(stacks, i);
		const struct location location = {
			known.function, known.file, known.line
		};

		if (known.function == NO_NAME)
			continue;
		frames[i] = profile_add_frame(stacks->profile, known.module,
		    known.address, &location, 1, error);
		if (frames[i] == UINT32_MAX)
			return -1;
		/* Inlined calls are frames of their own already. */
		stacks->profile->frames[frames[i]].has_debug_lines =
		    known.module != NO_MODULE;
	}
	return 0;
}

static int
end_merged(struct firefox_stacks *stacks, struct error *error)
{
	uint32_t end = tree_builder_count(stacks->builder);

	if (stacks->n_merged == 0)
		return 0;
	if (stacks->merged_begin < end && profile_add_section(stacks->profile,
	    stacks->merged_begin, end, NO_THREAD, error) == UINT32_MAX)
		return -1;
	return profile_warn(stacks->profile, error, "%s: the last %" PRIu32
	                    " threads are shown as one: the file has too many "
	                    "that share their stacks",
	                    json_source_name(stacks->json), stacks->n_merged);
}

static int
warn_of_rounded(struct firefox_stacks *stacks, struct error *error)
{
	return stacks->n_rounded == 0 ? 0 :
	    profile_warn(stacks->profile, error, "%s: stacks whose weights "
	                 "were rounded to whole numbers: %" PRIu64,
	                 json_source_name(stacks->json), stacks->n_rounded);
}

int
firefox_stacks_finish(struct firefox_stacks *stacks, struct error *error)
{
	uint32_t *frames = memory_array(names_count(stacks->frames),
	                                sizeof *frames, error);
	struct sample_tree *tree = NULL;
	int result = -1;

	if (frames != NULL && end_merged(stacks, error) == 0 &&
	    warn_of_rounded(stacks, error) == 0 &&
	    add_addresses(stacks, frames, error) == 0 &&
	    add_others(stacks, frames, error) == 0)
		tree = tree_builder_finish(stacks->builder, error);
	if (tree != NULL) {
		for (uint32_t i = 0; i < tree->n_nodes; i++)
			tree->label[i] = frames[tree->label[i]];
		stacks->profile->tree = tree;
		result = 0;
	}
	free(frames);
	return result;
}
