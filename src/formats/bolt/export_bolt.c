/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_bolt.c -- where a program's own code was sampled, for llvm-bolt.
 *
 *	no_lbr cpu
 *	1 main 1f 20
 *
 * 20 hits at 0x1f bytes from the symbol main, in hexadecimal digits; without
 * branches, which no sample of time has.  llvm-bolt reorders one file, so the
 * module with the most hits is written, by the symbols of its file, which
 * llvm-bolt needs as well.  A symbol that is local to its source file has
 * "/NUMBER" after it, to tell those of one name apart by their addresses.
 * Source: LLVM, bolt/lib/Profile/DataReader.cpp, parseInNoLBRMode, and
 * bolt/lib/Rewrite/RewriteInstance.cpp, discoverFileObjects.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/formats/exporter.h"
#include "src/symbols/elf/elf_file.h"

struct bolt {
	const struct profile *profile;
	const char *resource;
	uint64_t *hits;			/* [frames] their own */
	uint64_t *by_module;		/* [modules] */
	uint64_t all, placed;
	uint32_t module;		/* with the most */
	struct symbol_table *symbols;	/* of its file */
	struct names *local_names;
	uint32_t *n_of_name;		/* [local_names] symbols so far */
	uint32_t *number;		/* [symbols] of local ones */
};

/* ---- hits ---- */

static int
bolt_count(struct bolt *bolt, uint32_t resource, struct writer *writer,
           struct error *error)
{
	const struct sample_tree *tree = bolt->profile->tree;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t label = tree->label[n];
		const struct frame *frame = &bolt->profile->frames[label];
		uint64_t hits = sample_tree_hits(tree, resource, n);

		bolt->hits[label] += hits;
		bolt->all += hits;
		if (frame->module != NO_MODULE && !frame->is_interpreted)
			bolt->by_module[frame->module] += hits;
		if (export_may_go_on(n, writer, error) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < bolt->profile->n_modules; i++)
		if (bolt->by_module[i] > (bolt->module == NO_MODULE ? 0 :
		                          bolt->by_module[bolt->module]))
			bolt->module = i;
	return bolt->module != NO_MODULE ? 0 :
	       error_set(error, "no hit has an address in a module, which is "
	                 "what bolt holds");
}

/* ---- symbols ---- */

static int
bolt_read_symbols(struct bolt *bolt, const char *root, struct error *error)
{
	const struct module *module = &bolt->profile->modules[bolt->module];
	const struct symbol_search search = { .root = root };
	const struct module_file wanted = module_file_of(module, search);
	struct elf_file file;
	enum module_file_state state = module_file_open(&wanted, &file);
	int result;

	if (state != MODULE_FILE_OPEN)
		return error_set(error, "bolt needs the program's symbols: %s "
		                 "%s; symfs DIRECTORY says where the right one "
		                 "is", module->path,
		                 state == MODULE_FILE_DIFFERS ?
		                 "was built again since" : "cannot be read");
	bolt->symbols = symbol_table_new(error);
	result = bolt->symbols == NULL ? -1 :
	    elf_symbols_add(bolt->symbols, &file, SHT_SYMTAB, error);
	if (result == 0)
		result = symbol_table_sort(bolt->symbols, error);
	elf_file_close(&file);
	if (result == 0 && symbol_table_count(bolt->symbols) == 0)
		return error_set(error, "%s has no symbols, and llvm-bolt "
		                 "needs a program that has", module->path);
	return result;
}

/* Numbers local symbols of one name by their addresses. */
static int
bolt_number_symbols(struct bolt *bolt, struct error *error)
{
	size_t n = symbol_table_count(bolt->symbols);

	bolt->local_names = names_new(error);
	bolt->n_of_name = memory_array(n, sizeof *bolt->n_of_name, error);
	bolt->number = memory_array(n, sizeof *bolt->number, error);
	for (size_t i = 0; !error->is_set && i < n; i++) {
		const struct symbol *symbol = symbol_table_at(bolt->symbols,
		                                              i);
		uint32_t name;

		if (!symbol->is_local)
			continue;
		name = names_add(bolt->local_names, symbol->name,
		                 strlen(symbol->name), error);
		if (name != NO_NAME)
			bolt->number[i] = ++bolt->n_of_name[name];
	}
	return error->is_set ? -1 : 0;
}

/* ---- the text ---- */

static void
bolt_add_line(struct bolt *bolt, struct text_buffer *text, uint64_t address,
              uint64_t hits)
{
	const struct symbol *symbol = symbol_table_find(bolt->symbols, address);
	const struct symbol *first = symbol_table_at(bolt->symbols, 0);

	if (symbol == NULL || *symbol->name == '\0' ||
	    strchr(symbol->name, ' ') != NULL)
		return;
	bolt->placed += hits;
	text_add_format(text, "1 %s", symbol->name);
	if (symbol->is_local)
		text_add_format(text, "/%" PRIu32, bolt->number[symbol - first]);
	text_add_format(text, " %" PRIx64 " %" PRIu64 "\n",
	                address - symbol->start, hits);
}

static int
bolt_write_lines(struct bolt *bolt, struct writer *writer, struct error *error)
{
	const struct frame *frames = bolt->profile->frames;
	uint32_t n = bolt->profile->n_frames, n_sorted = 0;
	uint32_t *sorted = memory_array(n, sizeof *sorted, error);
	struct text_buffer text = { 0 };
	int result = sorted != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < n; i++)
		if (bolt->hits[i] > 0 && frames[i].module == bolt->module)
			sorted[n_sorted++] = i;
	if (result == 0)
		profile_sort_frames(bolt->profile, sorted, n_sorted);
	text_add_format(&text, "no_lbr %s\n", bolt->resource);
	for (uint32_t i = 0, end; result == 0 && i < n_sorted; i = end) {
		uint64_t address = frames[sorted[i]].address, hits = 0;

		/* Frames of one address may differ in their names. */
		for (end = i; end < n_sorted &&
		     frames[sorted[end]].address == address; end++)
			hits += bolt->hits[sorted[end]];
		bolt_add_line(bolt, &text, address, hits);
		result = export_flush(&text, writer, error);
	}
	text_free(&text);
	free(sorted);
	return result;
}

static int
bolt_write(const struct export_source *source, struct writer *writer,
           uint64_t *n_changed, struct error *error)
{
	const struct profile *profile = source->profile;
	struct bolt bolt = {
		.profile = profile,
		.resource = profile->resources[source->resource].name,
		.hits = memory_array(profile->n_frames, sizeof *bolt.hits,
		                     error),
		.by_module = memory_array(profile->n_modules,
		                          sizeof *bolt.by_module, error),
		.module = NO_MODULE,
	};
	int result = -1;

	*n_changed = 0;
	if (!error->is_set &&
	    bolt_count(&bolt, source->resource, writer, error) == 0 &&
	    bolt_read_symbols(&bolt, source->symfs, error) == 0 &&
	    bolt_number_symbols(&bolt, error) == 0)
		result = bolt_write_lines(&bolt, writer, error);
	if (result == 0)
		text_add_format(source->remark, "%.1f%% of %" PRIu64 " hits "
		    "are in functions of %s; hits are samples of time, not "
		    "counts of branches",
		    100.0 * (double)bolt.placed / (double)bolt.all, bolt.all,
		    profile->modules[bolt.module].path);
	symbol_table_free(bolt.symbols);
	names_free(bolt.local_names);
	free(bolt.n_of_name);
	free(bolt.number);
	free(bolt.hits);
	free(bolt.by_module);
	return result;
}

const struct exporter exporter_bolt = {
	.summary = "one resource by addresses of one module, for llvm-bolt",
	.carries = EXPORT_ADDRESSES,
	.write = bolt_write,
};
