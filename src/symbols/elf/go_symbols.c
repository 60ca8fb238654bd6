/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_symbols.c -- the functions that a Go program names for itself, and the sizes
 * of their frames.
 *
 * Go's runtime needs both for its own stack traces, so a stripped program has
 * them, too: in the section .gopclntab.
 * Source: debug/gosym/pclntab.go of Go 1.2 to 1.23; runtime/symtab.go, pcHeader.
 */
#include "src/symbols/elf/elf_file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum {
	FUNCTIONS_A_STEP = 65536,
	MOST_TRIES = 16,	/* beginnings of what may be a table */
};

/* What the table begins with tells how it is laid out. */
enum go_version {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,	/* names apart */
	GO_1_18 = 0xfffffff0,	/* addresses count from the program's text */
	GO_1_20 = 0xfffffff1,
};

struct go_table {
	const unsigned char *bytes;	/* [size] */
	size_t size;
	enum go_version version;
	size_t pointer_size;		/* 4 or 8 */
	size_t field_size;		/* of an entry of the list of functions,
					 * which has two */
	size_t n_functions;
	size_t functions;		/* where the list begins; the places of
					 * functions count from here */
	size_t names;			/* where the names begin */
	size_t values;			/* where values by address begin */
	uint64_t text;			/* what addresses count from */
};

/* The number of n bytes at `at`; 0 if they are not all there. */
static uint64_t
go_number(const struct go_table *table, size_t at, size_t n)
{
	uint64_t number = 0;

	if (at > table->size || table->size - at < n)
		return 0;
	memcpy(&number, table->bytes + at, n);
	return le64toh(number);
}

/* Number i of the header's numbers, which are as wide as pointers. */
static uint64_t
go_header_number(const struct go_table *table, size_t i)
{
	return go_number(table, 8 + i * table->pointer_size,
	                 table->pointer_size);
}

/* The section of code that has the address; false: none. */
static bool
go_code_at(const struct elf_file *file, uint64_t address, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL)
		if (gelf_getshdr(section, header) != NULL &&
		    (header->sh_flags & SHF_EXECINSTR) != 0 &&
		    address >= header->sh_addr &&
		    address - header->sh_addr < header->sh_size)
			return true;
	return false;
}

/*
 * What the loader adds at an address when it relocates the file: the addend of
 * a relocation without a symbol.  0: it does not.
 */
static uint64_t
go_relocated(const struct elf_file *file, uint64_t address)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, ".rela.dyn", &header);
	Elf_Data *data = section == NULL ? NULL : elf_file_contents(section);
	GElf_Rela rela;

	for (int i = 0; data != NULL && gelf_getrela(data, i, &rela) != NULL;
	     i++)
		if (rela.r_offset == address && GELF_R_SYM(rela.r_info) == 0)
			return (uint64_t)rela.r_addend;
	return 0;
}

/*
 * Where the text of Go begins.  The header says it, but in a program that can
 * be loaded anywhere perhaps only after relocation.
 */
static uint64_t
go_text(const struct go_table *table, const struct elf_file *file,
        uint64_t table_address)
{
	uint64_t text = go_header_number(table, 2);
	GElf_Shdr header;

	if (text == 0)
		text = go_relocated(file, table_address + 8 +
		                    2 * table->pointer_size);
	if (text != 0 && go_code_at(file, text, &header))
		return text;
	return elf_file_named_section(file, ".text", &header) != NULL ?
	    header.sh_addr : 0;
}

/*
 * Reads what bytes[size], which are loaded at that address, begin with.  False:
 * it is no table, or of a version that is not known.
 */
static bool
go_table_of(struct go_table *table, const struct elf_file *file,
            const unsigned char *bytes, size_t size, uint64_t address)
{
	uint64_t version, n, names = 0, values = 0, functions;
	size_t entry;

	*table = (struct go_table){ .bytes = bytes, .size = size };
	version = go_number(table, 0, 4);
	table->version = (enum go_version)version;
	table->pointer_size = (size_t)go_number(table, 7, 1);
	if (go_number(table, 4, 2) != 0 ||
	    (table->pointer_size != 4 && table->pointer_size != 8))
		return false;
	table->field_size = table->pointer_size;
	switch (version) {
	case GO_1_18:
	case GO_1_20:
		names = go_header_number(table, 3);
		values = go_header_number(table, 6);
		functions = go_header_number(table, 7);
		table->field_size = 4;
		table->text = go_text(table, file, address);
		break;
	case GO_1_16:
		names = go_header_number(table, 2);
		values = go_header_number(table, 5);
		functions = go_header_number(table, 6);
		break;
	case GO_1_2:
		functions = 8 + table->pointer_size;
		break;
	default:
		return false;
	}
	n = go_header_number(table, 0);
	entry = 2 * table->field_size;
	if (names >= table->size || functions >= table->size ||
	    values >= table->size ||
	    n > (table->size - functions) / entry)
		return false;
	table->n_functions = (size_t)n;
	table->names = (size_t)names;
	table->values = (size_t)values;
	table->functions = (size_t)functions;
	return true;
}

/* The table in a section of its own. */
static bool
go_find_section(struct go_table *table, const struct elf_file *file,
                const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, name, &header);
	Elf_Data *data = section == NULL ? NULL : elf_file_contents(section);

	return data != NULL && go_table_of(table, file, data->d_buf,
	                                   data->d_size, header.sh_addr);
}

/* Where function i begins; function n_functions: where the last one ends. */
static uint64_t
go_entry(const struct go_table *table, size_t i)
{
	return table->text + go_number(table, table->functions +
	    i * 2 * table->field_size, table->field_size);
}

/*
 * The table somewhere in a section, where the C compiler's linker has put it
 * among other data: it is the one that names a function.
 */
static bool
go_search_section(struct go_table *table, const struct elf_file *file,
                  const char *name)
{
	GElf_Shdr header, code;
	Elf_Scn *section = elf_file_named_section(file, name, &header);
	Elf_Data *data = section == NULL ? NULL : elf_file_contents(section);
	const unsigned char *bytes;
	size_t n_tries = 0;

	if (data == NULL)
		return false;
	bytes = data->d_buf;
	for (size_t at = 0; n_tries < MOST_TRIES && at + 8 <= data->d_size;
	     at += 8) {
		/* All versions are alike in this. */
		if (memcmp(bytes + at + 1, "\xff\xff\xff\0\0", 5) != 0)
			continue;
		n_tries++;
		if (go_table_of(table, file, bytes + at, data->d_size - at,
		                header.sh_addr + at) &&
		    table->n_functions > 0 &&
		    go_code_at(file, go_entry(table, 0), &code))
			return true;
	}
	return false;
}

static bool
go_find(struct go_table *table, const struct elf_file *file)
{
	GElf_Shdr header;

	if (go_find_section(table, file, ".gopclntab") ||
	    go_find_section(table, file, ".data.rel.ro.gopclntab"))
		return true;
	return elf_file_named_section(file, ".note.go.buildid", &header) !=
	    NULL && go_search_section(table, file, ".data.rel.ro");
}

/*
 * A number of function i, of 4 bytes, `skipped` bytes behind its address.  False
 * if it lies outside the table.
 */
static bool
go_function_number(const struct go_table *table, size_t i, size_t skipped,
                   size_t *number)
{
	const size_t from = table->version == GO_1_2 ? 0 : table->functions;
	const uint64_t place = go_number(table, table->functions +
	    (2 * i + 1) * table->field_size, table->field_size);

	if (place >= table->size - from)
		return false;
	*number = (size_t)go_number(table, from + (size_t)place +
	                            table->field_size + skipped, 4);
	return true;
}

/* The offset of function i's name, from the start of all names. */
static size_t
go_name(const struct go_table *table, size_t i)
{
	size_t name;

	return go_function_number(table, i, 0, &name) ? name : SIZE_MAX;
}

/* names: a copy of the table from its names on, which ends in a NUL. */
static int
go_symbols_add_all(struct symbol_table *symbols, const struct go_table *table,
                   const struct elf_file *file, const char *names,
                   struct error *error)
{
	GElf_Shdr code = { 0 };

	for (size_t i = 0; i < table->n_functions; i++) {
		const uint64_t start = go_entry(table, i);
		const uint64_t end = go_entry(table, i + 1);
		const size_t name = go_name(table, i);

		if (i % FUNCTIONS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (name >= table->size - table->names || names[name] == '\0' ||
		    ((start < code.sh_addr || start - code.sh_addr >=
		      code.sh_size) && !go_code_at(file, start, &code)))
			continue;
		if (symbol_table_add(symbols, &(struct symbol){
			.start = start,
			.size = end > start ? end - start : 0,
			.limit = code.sh_addr + code.sh_size,
			.name = names + name,
		    }, error) != 0)
			return -1;
	}
	return 0;
}

int
go_symbols_add(struct symbol_table *symbols, const struct elf_file *file,
               struct error *error)
{
	struct go_table table;
	const char *names;

	if (!go_find(&table, file))
		return 0;
	names = symbol_table_keep(symbols, table.bytes + table.names,
	                          table.size - table.names, error);
	return names == NULL ? -1 :
	    go_symbols_add_all(symbols, &table, file, names, error);
}

/* Which of the names function i has; n: none of them. */
static size_t
go_name_among(const struct go_table *table, size_t i, const char *const *names,
              size_t n)
{
	const size_t at = go_name(table, i);
	const size_t size = table->size - table->names;
	size_t which = at < size ? 0 : n;

	while (which < n && (size - at <= strlen(names[which]) ||
	       memcmp(table->bytes + table->names + at, names[which],
	              strlen(names[which]) + 1) != 0))
		which++;
	return which;
}

void
go_symbols_find(const struct elf_file *file, const char *const *names, size_t n,
                struct code_range *ranges)
{
	struct go_table table;

	memset(ranges, 0, n * sizeof *ranges);
	if (!go_find(&table, file))
		return;
	for (size_t i = 0; i < table.n_functions; i++) {
		const size_t which = go_name_among(&table, i, names, n);

		if (which < n)
			ranges[which] = (struct code_range){
				go_entry(&table, i), go_entry(&table, i + 1) };
	}
}

/* ---- stacks ---- */

struct go_stacks {
	struct go_table table;
	unsigned char *bytes;	/* a copy */
	unsigned quantum;	/* bytes that addresses are counted in */
};

int
go_stacks_read(const struct elf_file *file, struct go_stacks **stacks,
               struct error *error)
{
	struct go_table table;

	*stacks = NULL;
	if (!go_find(&table, file) || table.n_functions == 0)
		return 0;
	*stacks = memory_array(1, sizeof **stacks, error);
	if (*stacks == NULL)
		return -1;
	(*stacks)->bytes = memory_copy(table.bytes, table.size, 1, error);
	if ((*stacks)->bytes == NULL) {
		free(*stacks);
		*stacks = NULL;
		return -1;
	}
	table.bytes = (*stacks)->bytes;
	(*stacks)->table = table;
	(*stacks)->quantum = table.bytes[6];
	return 0;
}

void
go_stacks_free(struct go_stacks *stacks)
{
	if (stacks == NULL)
		return;
	free(stacks->bytes);
	free(stacks);
}

size_t
go_stacks_bytes(const struct go_stacks *stacks)
{
	return stacks == NULL ? 0 : sizeof *stacks + stacks->table.size;
}

/* Takes 7 bits from each byte, the lowest first; false: no end. */
static bool
go_take_number(const struct go_table *table, size_t *at, uint32_t *number)
{
	*number = 0;
	for (unsigned bits = 0; bits < 35 && *at < table->size; bits += 7) {
		const unsigned char byte = table->bytes[(*at)++];

		*number |= (uint32_t)(byte & 0x7f) << bits;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/*
 * Values by address are pairs: by how much the value differs from the one
 * before (the first from -1), with the sign in the lowest bit, and for how many
 * quanta of code it holds.  A difference of 0 after the first ends them.
 */
bool
go_stacks_find(const struct go_stacks *stacks, uint64_t address,
               uint32_t *size)
{
	enum {
		BEFORE_PCSP = 8,	/* arguments, deferreturn */
		MOST_PAIRS = 1 << 16,
	};
	const struct go_table *table = &stacks->table;
	const size_t n = partition_point(table->n_functions, i,
	                                 go_entry(table, i) <= address);
	uint32_t value = UINT32_MAX, difference, distance;
	uint64_t until;
	size_t at;

	if (n == 0 || address >= go_entry(table, n) ||
	    !go_function_number(table, n - 1, 4 + BEFORE_PCSP, &at) ||
	    at == 0 || at >= table->size - table->values)
		return false;
	at += table->values;
	until = go_entry(table, n - 1);
	for (unsigned i = 0;; i++) {
		if (i == MOST_PAIRS ||
		    !go_take_number(table, &at, &difference) ||
		    (difference == 0 && i > 0) ||
		    !go_take_number(table, &at, &distance))
			return false;
		value += (difference & 1) != 0 ? ~(difference >> 1) :
		    difference >> 1;
		until += (uint64_t)distance * stacks->quantum;
		if (address < until)
			break;
	}
	*size = value;
	return value <= INT32_MAX;
}
