/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_lines.c -- source lines and inlined calls, read from DWARF by libdw.
 *
 * First each address is assigned to the compilation unit whose ranges contain
 * it; then each unit that has some is read once, for all of its addresses.
 * libdw keeps the line tables that it has read, so after LINES_KEPT lines it is
 * closed and opened again.
 */
#include "src/symbols/lines/debug_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"

#define NO_UNIT UINT64_MAX

enum {
	LINES_KEPT = 300000,		/* about 100 bytes each */
	STEPS_A_BYTE = 64,		/* sections may be compressed */
	STEPS_AT_LEAST = 1000000,
};

/* An address and the unit that it belongs to. */
struct owned {
	uint64_t unit;		/* the offset of its DIE, or NO_UNIT */
	size_t which;		/* of the request's addresses */
};

struct lines_reading {
	const struct elf_file *file;
	const struct debug_lines_request *request;
	struct die_walk walk;
	Elf *decompressed;		/* read instead of the file, unless
					 * NULL */
	char *image;			/* its bytes */
	Dwarf *dwarf;
	Dwarf *supplement;		/* NULL: none */
	struct elf_file supplement_file;
	size_t n_lines;			/* read since libdw was opened */
	bool is_split;			/* a unit's DIEs are in another file */
	struct scoped_names *names;
	struct owned *owned;		/* [request->n] */
	uint64_t *addresses;		/* [request->n], room for a unit's */
	struct debug_location chain[DEBUG_CHAIN_MAX];
};

bool
debug_lines_exist(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_file_named_section(file, ".debug_info", &header) != NULL ||
	    elf_file_named_section(file, ".zdebug_info", &header) != NULL;
}

/* What a section of debug information states as its size. */
static uint64_t
section_size(const struct elf_file *file, Elf_Scn *section,
             const GElf_Shdr *header, bool is_old)
{
	GElf_Chdr compressed;
	unsigned char start[12];	/* "ZLIB", then the size */
	uint64_t size = 0;

	if ((header->sh_flags & SHF_COMPRESSED) != 0)
		return gelf_getchdr(section, &compressed) != NULL ?
		       compressed.ch_size : header->sh_size;
	if (!is_old || file->descriptor < 0 ||
	    pread(file->descriptor, start, sizeof start,
	          (off_t)header->sh_offset) != sizeof start)
		return header->sh_size;
	for (size_t i = 4; i < sizeof start; i++)
		size = size << 8 | start[i];
	return size;
}

uint64_t
debug_lines_size(const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 1;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names) != 0)
		return sum;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		const char *name;
		bool is_old;

		if (gelf_getshdr(section, &header) == NULL ||
		    header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(file->elf, names, header.sh_name);
		is_old = name != NULL && strncmp(name, ".zdebug_", 8) == 0;
		if (!is_old && (name == NULL ||
		                strncmp(name, ".debug_", 7) != 0))
			continue;
		if (__builtin_add_overflow(sum, section_size(file, section,
		        &header, is_old), &sum))
			return UINT64_MAX;
	}
	return sum;
}

bool
debug_lines_open(const struct module_file *module, struct elf_file *file)
{
	struct elf_file own;
	bool has_own = module_file_open(module, &own) == MODULE_FILE_OPEN;
	bool has_debug;

	if (has_own && debug_lines_exist(&own)) {
		*file = own;
		return true;
	}
	has_debug = module_file_open_debug(module, has_own ? &own : NULL,
	                                   file);
	if (has_own)
		elf_file_close(&own);
	return has_debug;
}

/* ---- opening and closing ---- */

static int
open_dwarf(struct lines_reading *reading)
{
	reading->dwarf = dwarf_begin_elf(reading->decompressed != NULL ?
	    reading->decompressed : reading->file->elf, DWARF_C_READ, NULL);
	if (reading->dwarf == NULL)
		return -1;
	if (reading->supplement != NULL)
		dwarf_setalt(reading->dwarf, reading->supplement);
	reading->n_lines = 0;
	return 0;
}

static void
close_dwarf(struct lines_reading *reading)
{
	dwarf_end(reading->dwarf);
	reading->dwarf = NULL;
}

/* By itself, libdw would open any file that a module names. */
static int
open_supplement(struct lines_reading *reading,
                const struct symbol_search *search)
{
	const char *name;
	const void *id;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(reading->dwarf, &name,
	                                            &id);

	if (size == 0)
		return 0;
	if (size < 0 || !module_file_open_supplement(search, reading->file,
	        name, id, (size_t)size, &reading->supplement_file))
		return -1;
	reading->supplement = dwarf_begin_elf(reading->supplement_file.elf,
	                                      DWARF_C_READ, NULL);
	if (reading->supplement == NULL) {
		elf_file_close(&reading->supplement_file);
		return -1;
	}
	dwarf_setalt(reading->dwarf, reading->supplement);
	return 0;
}

/* ---- which unit an address belongs to ---- */

/* Assigns to a unit the addresses in its ranges that no other unit has. */
static int
give_unit(struct lines_reading *reading, Dwarf_Die *unit, struct error *error)
{
	const struct debug_lines_request *request = reading->request;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t first, end;

	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		if (die_walk_step(&reading->walk, error) != 0)
			return -1;
		die_addresses_in(request->addresses, request->n, low, high,
		                   &first, &end);
		for (size_t i = first; i < end; i++) {
			if (reading->owned[i].unit == NO_UNIT)
				reading->owned[i].unit =
				    dwarf_dieoffset(unit);
			if (die_walk_step(&reading->walk, error) != 0)
				return -1;
		}
	}
	return 0;
}

static int
give_units(struct lines_reading *reading, struct error *error)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	int result;

	/* The last NULL: so that libdw does not open a split unit's file. */
	while ((result = dwarf_get_units(reading->dwarf, unit, &unit, &version,
	                                 &type, &die, NULL)) == 0) {
		if (die_walk_step(&reading->walk, error) != 0)
			return -1;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		if (give_unit(reading, &die, error) != 0)
			return -1;
		reading->is_split |= type == DW_UT_skeleton;
	}
	return result < 0 ? -1 : 0;
}

/* ---- reading a unit ---- */

/* Reports what is known of an address, number `which` of the unit's calls. */
static int
report(struct lines_reading *reading, Dwarf_Die *unit,
       const struct owned *owned, const struct inlined_calls *calls,
       size_t which, struct error *error)
{
	const char *directory = die_text(unit, DW_AT_comp_dir);
	const struct debug_lines_request *request = reading->request;
	Dwarf_Line *line = dwarf_getsrc_die(unit,
	    request->addresses[owned->which]);
	struct debug_location *chain = reading->chain;
	const struct debug_function *function = &calls->functions[which];
	uint32_t innermost = calls->innermost[which];
	size_t n = DEBUG_CHAIN_MAX - 1;	/* filled from the innermost outwards */
	unsigned discriminator;
	int number;

	chain[n] = (struct debug_location){ .directory = directory };
	if (line != NULL) {
		chain[n].file = dwarf_linesrc(line, NULL, NULL);
		if (dwarf_lineno(line, &number) == 0 && number > 0)
			chain[n].line = (uint32_t)number;
		if (dwarf_linediscriminator(line, &discriminator) == 0)
			chain[n].discriminator = discriminator;
	}
	for (uint32_t i = innermost; i != NO_CALL && n > 0;
	     i = calls->calls[i].outer, n--) {
		chain[n].function = calls->calls[i].function;
		chain[n].copy = calls->calls[i].copy;
		chain[n].declared = calls->calls[i].inlined;
		chain[n - 1] = (struct debug_location){
			.file = calls->calls[i].file,
			.directory = directory,
			.line = calls->calls[i].line,
			.discriminator = calls->calls[i].discriminator,
		};
	}
	chain[n].declared = *function;
	if (n == DEBUG_CHAIN_MAX - 1 && line == NULL)
		return 0;
	return request->found(request->context, owned->which, chain + n,
	                      DEBUG_CHAIN_MAX - n, error);
}

/* Reads the unit that owned[n] belong to. */
static int
debug_lines_read_unit(struct lines_reading *reading, const struct owned *owned,
                      size_t n, struct error *error)
{
	struct inlined_calls calls;
	Dwarf_Lines *lines;
	size_t n_lines;
	Dwarf_Die unit;
	int result = -1;

	if (reading->n_lines > LINES_KEPT) {
		close_dwarf(reading);
		if (open_dwarf(reading) != 0)
			return -1;
	}
	if (dwarf_offdie(reading->dwarf, owned->unit, &unit) == NULL)
		return -1;
	if (dwarf_hasattr(&unit, DW_AT_stmt_list)) {
		if (dwarf_getsrclines(&unit, &lines, &n_lines) != 0)
			return -1;
		reading->n_lines += n_lines;
	}
	for (size_t i = 0; i < n; i++)
		reading->addresses[i] =
		    reading->request->addresses[owned[i].which];
	if (inlined_calls_find(&calls, &unit, reading->addresses, n,
	                       reading->names, &reading->walk, error) == 0) {
		result = 0;
		for (size_t i = 0; result == 0 && i < n; i++)
			result = report(reading, &unit, &owned[i], &calls, i,
			                error);
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
debug_lines_read_units(struct lines_reading *reading, struct error *error)
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
		if (debug_lines_read_unit(reading, owned + begin, end - begin,
		                          error) != 0)
			return -1;
	}
	return 0;
}

static enum debug_lines_state
debug_lines_read_all(struct lines_reading *reading,
                     const struct symbol_search *search, struct error *error)
{
	reading->decompressed = elf_file_decompress(reading->file,
	                                            &reading->image);
	if (open_dwarf(reading) != 0)
		return DEBUG_LINES_DAMAGED;
	if (open_supplement(reading, search) != 0)
		return DEBUG_LINES_INCOMPLETE;
	if (give_units(reading, error) != 0 ||
	    debug_lines_read_units(reading, error) != 0)
		return DEBUG_LINES_DAMAGED;
	return reading->is_split ? DEBUG_LINES_SPLIT : DEBUG_LINES_READ;
}

int
debug_lines_read(const struct elf_file *file,
                 const struct symbol_search *search,
                 const struct debug_lines_request *request,
                 enum debug_lines_state *state, struct error *error)
{
	struct lines_reading *reading = memory_array(1, sizeof *reading, error);
	size_t n = request->n;
	struct stat status;
	uint64_t size = 0;

	if (reading == NULL)
		return -1;
	reading->file = file;
	reading->request = request;
	if (file->descriptor >= 0 && fstat(file->descriptor, &status) == 0)
		size = (uint64_t)status.st_size;
	reading->walk.steps_left = STEPS_AT_LEAST + STEPS_A_BYTE * size;
	reading->walk.progress = request->progress;
	reading->owned = memory_array(n, sizeof *reading->owned, error);
	reading->addresses = memory_array(n, sizeof *reading->addresses,
	                                  error);
	reading->names = scoped_names_new(error);
	if (!error->is_set) {
		for (size_t i = 0; i < n; i++)
			reading->owned[i] = (struct owned){ NO_UNIT, i };
		*state = debug_lines_read_all(reading, search, error);
	}
	if (reading->dwarf != NULL)
		close_dwarf(reading);
	if (reading->supplement != NULL) {
		dwarf_end(reading->supplement);
		elf_file_close(&reading->supplement_file);
	}
	elf_end(reading->decompressed);
	free(reading->image);
	scoped_names_free(reading->names);
	free(reading->owned);
	free(reading->addresses);
	free(reading);
	return error->is_set ? -1 : 0;
}
