/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines.c -- source lines and inlined calls, unit by unit.
 *
 * First each address is given to the compilation unit whose ranges hold it,
 * then each unit that got some is read once, with all of its addresses.  libdw
 * keeps the line tables that it has read, so after LINES_KEPT of them it is
 * begun anew.
 */
#include "src/symbols/lines/debug_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/symbols/lines/inlined_calls.h"
#include "src/symbols/elf/elf_zstd.h"

#define NO_UNIT UINT64_MAX

enum {
	LINES_KEPT = 300000,		/* about 100 bytes each */
	STEPS_A_BYTE = 64,		/* sections may be compressed */
	STEPS_AT_LEAST = 1000000,
};

/* An address and the unit that it belongs to. */
struct owned {
	uint64_t unit;		/* its entry's offset, or NO_UNIT */
	size_t which;
};

struct reading {
	const struct elf_file *file;
	const struct debug_lines_request *request;
	struct debug_walk walk;
	Elf *unpacked;			/* what is read instead of the file;
					 * NULL: the file */
	char *image;			/* its bytes */
	Dwarf *dwarf;
	Dwarf *supplement;		/* NULL: none */
	struct elf_file supplement_file;
	size_t n_lines;			/* read since libdw was begun */
	bool is_split;			/* a unit's entries are in another
					 * file */
	struct plain_functions *plain;
	struct owned *owned;		/* [request->n] */
	uint64_t *addresses;		/* [request->n], room for a unit's */
	struct debug_location chain[DEBUG_CHAIN_MAX];
};

static void
close_dwarf(struct reading *reading)
{
	dwarf_end(reading->dwarf);
	reading->dwarf = NULL;
}

/* libdw would by itself open whatever file a module names. */
static int
open_supplement(struct reading *reading, const struct symbol_search *search)
{
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(reading->dwarf, &name,
	                                            &id);

	if (size == 0)
		return 0;
	if (size < 0 || !debug_file_supplement(&reading->supplement_file,
	        search, reading->file, name, id, (size_t)size))
		return -1;
	reading->supplement = dwarf_begin_elf(reading->supplement_file.elf,
	                                      DWARF_C_READ, NULL);
	if (reading->supplement != NULL)
		return 0;
	elf_file_close(&reading->supplement_file);
	return -1;
}

static int
open_dwarf(struct reading *reading)
{
	reading->dwarf = dwarf_begin_elf(reading->unpacked != NULL ?
	    reading->unpacked : reading->file->elf, DWARF_C_READ, NULL);
	if (reading->dwarf == NULL)
		return -1;
	if (reading->supplement != NULL)
		dwarf_setalt(reading->dwarf, reading->supplement);
	reading->n_lines = 0;
	return 0;
}

/* Gives a unit the addresses in its ranges that no other unit has. */
static int
give_unit(struct reading *reading, Dwarf_Die *unit, struct error *error)
{
	const struct debug_lines_request *request = reading->request;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t first, end;

	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		if (debug_walk_step(&reading->walk, error) != 0)
			return -1;
		debug_addresses_in(request->addresses, request->n, low, high,
		                   &first, &end);
		for (size_t i = first; i < end; i++) {
			if (reading->owned[i].unit == NO_UNIT)
				reading->owned[i].unit =
				    dwarf_dieoffset(unit);
			if (debug_walk_step(&reading->walk, error) != 0)
				return -1;
		}
	}
	return 0;
}

static int
give_units(struct reading *reading, struct error *error)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	int result;

	/* The last NULL: a split unit's file is not to be opened. */
	while ((result = dwarf_get_units(reading->dwarf, unit, &unit, &version,
	                                 &type, &die, NULL)) == 0) {
		if (debug_walk_step(&reading->walk, error) != 0)
			return -1;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (give_unit(reading, &die, error) != 0)
			return -1;
		reading->is_split |= type == DW_UT_skeleton;
	}
	return result < 0 ? -1 : 0;
}

static void
set_line(struct debug_location *location, Dwarf_Line *line)
{
	int number;

	location->file = dwarf_linesrc(line, NULL, NULL);
	location->line = dwarf_lineno(line, &number) == 0 && number > 0 ?
	    (uint32_t)number : 0;
}

static const char *
directory_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(unit, DW_AT_comp_dir, &attribute) != NULL ?
	    dwarf_formstring(&attribute) : NULL;
}

/* Hands out what is known of an address. */
static int
report(struct reading *reading, Dwarf_Die *unit, const struct owned *owned,
       const struct inlined_calls *calls, uint32_t innermost,
       struct error *error)
{
	const char *directory = directory_of(unit);
	const struct debug_lines_request *request = reading->request;
	Dwarf_Line *line = dwarf_getsrc_die(unit,
	    request->addresses[owned->which]);
	struct debug_location *chain = reading->chain;
	size_t n = DEBUG_CHAIN_MAX - 1;	/* from the innermost outwards */

	chain[n] = (struct debug_location){ .directory = directory };
	if (line != NULL)
		set_line(&chain[n], line);
	for (uint32_t i = innermost; i != NO_CALL && n > 0;
	     i = calls->calls[i].outer, n--) {
		chain[n].function = calls->calls[i].function;
		chain[n].copy = calls->calls[i].copy;
		chain[n - 1] = (struct debug_location){
			.file = calls->calls[i].file,
			.directory = directory,
			.line = calls->calls[i].line,
		};
	}
	if (n == DEBUG_CHAIN_MAX - 1 && line == NULL)
		return 0;
	return request->found(request->context, owned->which, chain + n,
	                      DEBUG_CHAIN_MAX - n, error);
}

static int
read_lines(struct reading *reading, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (!dwarf_hasattr(unit, DW_AT_stmt_list))
		return 0;
	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return -1;
	reading->n_lines += n;
	return 0;
}

/* Reads the unit that owned[n] belong to. */
static int
read_unit(struct reading *reading, const struct owned *owned, size_t n,
          struct error *error)
{
	struct inlined_calls calls;
	Dwarf_Die unit;
	int result = -1;

	if (reading->n_lines > LINES_KEPT) {
		close_dwarf(reading);
		if (open_dwarf(reading) != 0)
			return -1;
	}
	if (dwarf_offdie(reading->dwarf, owned->unit, &unit) == NULL ||
	    read_lines(reading, &unit) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		reading->addresses[i] =
		    reading->request->addresses[owned[i].which];
	if (inlined_calls_find(&calls, &unit, reading->addresses, n,
	                       reading->plain, &reading->walk, error) == 0) {
		result = 0;
		for (size_t i = 0; result == 0 && i < n; i++)
			result = report(reading, &unit, &owned[i], &calls,
			                calls.innermost[i], error);
	}
	inlined_calls_free(&calls);
	return result;
}

static int
compare_owned(const void *left, const void *right)
{
	const struct owned *a = left, *b = right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->which < b->which ? -1 : a->which > b->which;
}

static int
read_units(struct reading *reading, struct error *error)
{
	struct owned *owned = reading->owned;
	size_t n = reading->request->n, begin, end;

	qsort(owned, n, sizeof *owned, compare_owned);
	while (n > 0 && owned[n - 1].unit == NO_UNIT)
		n--;
	reading->walk.total = n > 0 ? owned[n - 1].unit : 0;
	for (begin = 0; begin < n; begin = end) {
		for (end = begin + 1; end < n &&
		     owned[end].unit == owned[begin].unit; end++)
			;
		reading->walk.done = owned[begin].unit;
		if (read_unit(reading, owned + begin, end - begin,
		              error) != 0)
			return -1;
	}
	return 0;
}

static int
start(struct reading *reading, struct error *error)
{
	size_t n = reading->request->n;
	struct stat status;
	uint64_t size = 0;

	if (reading->file->descriptor >= 0 &&
	    fstat(reading->file->descriptor, &status) == 0)
		size = (uint64_t)status.st_size;
	reading->walk.steps_left = STEPS_AT_LEAST + STEPS_A_BYTE * size;
	reading->walk.progress = reading->request->progress;
	reading->owned = memory_array(n, sizeof *reading->owned, error);
	reading->addresses = memory_array(n, sizeof *reading->addresses,
	                                  error);
	reading->plain = plain_functions_new(error);
	if (reading->owned == NULL || reading->addresses == NULL ||
	    reading->plain == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		reading->owned[i] = (struct owned){ NO_UNIT, i };
	return 0;
}

static void
end(struct reading *reading)
{
	if (reading->dwarf != NULL)
		close_dwarf(reading);
	if (reading->supplement != NULL) {
		dwarf_end(reading->supplement);
		elf_file_close(&reading->supplement_file);
	}
	elf_end(reading->unpacked);
	free(reading->image);
	plain_functions_free(reading->plain);
	free(reading->owned);
	free(reading->addresses);
	free(reading);
}

static enum debug_lines_state
read_all(struct reading *reading, const struct symbol_search *search,
         struct error *error)
{
	reading->unpacked = unpacked_elf_begin(reading->file,
	                                       &reading->image);
	if (open_dwarf(reading) != 0)
		return DEBUG_LINES_DAMAGED;
	if (open_supplement(reading, search) != 0)
		return DEBUG_LINES_INCOMPLETE;
	if (reading->supplement != NULL)
		dwarf_setalt(reading->dwarf, reading->supplement);
	if (give_units(reading, error) != 0 ||
	    read_units(reading, error) != 0)
		return DEBUG_LINES_DAMAGED;
	return reading->is_split ? DEBUG_LINES_SPLIT : DEBUG_LINES_READ;
}

int
debug_units_read(const struct elf_file *file,
                 const struct symbol_search *search,
                 const struct debug_lines_request *request,
                 enum debug_lines_state *state, struct error *error)
{
	struct reading *reading = memory_array(1, sizeof *reading, error);

	if (reading == NULL)
		return -1;
	reading->file = file;
	reading->request = request;
	if (start(reading, error) == 0)
		*state = read_all(reading, search, error);
	end(reading);
	return error->is_set ? -1 : 0;
}
