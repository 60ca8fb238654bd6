/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_map.c -- copies the sections, and goes through all code once.
 *
 * Instructions of x86-64 have no fixed places, but whoever starts at a wrong
 * one is soon at a right one.  So code is decoded from the start of its section
 * to the end; a byte that is no instruction is skipped.
 */
#include "src/symbols/unwind/code_rules.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/unwind/stack_unwinder.h"

enum {
	CODE_MAP_SIZE_MAX = 64 << 20,	/* bytes of all sections */
	CODE_MAP_SECTIONS_MAX = 256,
	R_RELATIVE = 8,			/* R_X86_64_RELATIVE */
};

/* ---- sections ---- */

static int
code_map_compare_sections(const void *left, const void *right, void *context)
{
	const struct code_section *a = left, *b = right;

	(void)context;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Copies those that are loaded and that the file has. */
static int
code_map_copy(struct code_map *map, const struct elf_file *file,
              struct error *error)
{
	Elf_Scn *section = NULL;
	size_t left = CODE_MAP_SIZE_MAX;
	GElf_Shdr header;

	map->sections = memory_array(CODE_MAP_SECTIONS_MAX,
	                             sizeof *map->sections, error);
	if (map->sections == NULL)
		return -1;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		struct code_section *copy;
		Elf_Data *data;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_flags & SHF_ALLOC) == 0 ||
		    (data = elf_file_contents(section)) == NULL ||
		    data->d_size == 0 ||
		    data->d_size > UINT64_MAX / 2 - header.sh_addr ||
		    header.sh_addr > UINT64_MAX / 2)
			continue;
		/* A part of a file would look like a whole one. */
		if (data->d_size > left ||
		    map->n_sections == CODE_MAP_SECTIONS_MAX) {
			code_map_free(map);
			return 0;
		}
		left -= data->d_size;
		copy = &map->sections[map->n_sections];
		copy->bytes = memory_copy(data->d_buf, data->d_size, 1, error);
		if (copy->bytes == NULL)
			return -1;
		copy->start = header.sh_addr;
		copy->end = header.sh_addr + data->d_size;
		copy->is_code = (header.sh_flags & SHF_EXECINSTR) != 0;
		map->n_sections++;
	}
	return sort_items(map->sections, map->n_sections,
	                  sizeof *map->sections, code_map_compare_sections, NULL,
	                  error);
}

static const struct code_section *
code_map_section(const struct code_map *map, uint64_t address)
{
	const size_t n = partition_point(map->n_sections, i,
	    map->sections[i].start <= address);

	return n > 0 && address < map->sections[n - 1].end ?
	    &map->sections[n - 1] : NULL;
}

const unsigned char *
code_map_at(const struct code_map *map, uint64_t address, size_t *size)
{
	const struct code_section *section = code_map_section(map, address);

	if (section == NULL)
		return NULL;
	*size = (size_t)(section->end - address);
	return section->bytes + (address - section->start);
}

const unsigned char *
code_map_code_at(const struct code_map *map, uint64_t address, size_t *size)
{
	const struct code_section *section = code_map_section(map, address);

	if (section == NULL || !section->is_code)
		return NULL;
	*size = (size_t)(section->end - address);
	return section->bytes + (address - section->start);
}

static bool
code_map_is_code(const struct code_map *map, uint64_t address)
{
	size_t size;

	return code_map_code_at(map, address, &size) != NULL;
}

/* ---- what is noted ---- */

static int
code_map_add_start(struct code_map *map, uint64_t address, unsigned why,
                   struct error *error)
{
	if (!code_map_is_code(map, address))
		return 0;
	if (memory_grow(&map->starts, &map->starts_capacity, map->n_starts + 1,
	                sizeof *map->starts, error) != 0)
		return -1;
	map->starts[map->n_starts++] = (struct code_start){ address, why };
	return 0;
}

static int
code_map_add_address(uint64_t **list, size_t *n, size_t *capacity,
                     uint64_t address, struct error *error)
{
	if (memory_grow(list, capacity, *n + 1, sizeof **list, error) != 0)
		return -1;
	(*list)[(*n)++] = address;
	return 0;
}

static int
code_map_add_taken(struct code_map *map, uint64_t address,
                   struct error *error)
{
	return !code_map_is_code(map, address) ? 0 :
	    code_map_add_address(&map->taken, &map->n_taken,
	                         &map->taken_capacity, address, error);
}

static int
code_map_add_symbols(struct code_map *map, const struct module_file *module,
                     const struct elf_file *file, struct error *error)
{
	struct symbol_table *symbols = symbol_table_new(error);
	struct elf_file debug;
	int result = -1;

	if (symbols != NULL &&
	    elf_symbols_add(symbols, file, SHT_DYNSYM, error) == 0 &&
	    elf_symbols_add(symbols, file, SHT_SYMTAB, error) == 0 &&
	    unwind_ranges_add(symbols, file, error) == 0)
		result = 0;
	if (result == 0 && module_file_open_debug(module, file, &debug)) {
		result = elf_symbols_add(symbols, &debug, SHT_SYMTAB, error);
		elf_file_close(&debug);
	}
	for (size_t i = 0; result == 0 && i < symbol_table_count(symbols);
	     i++) {
		const struct symbol *symbol = symbol_table_at(symbols, i);

		/* Of assemblers' labels, many are not functions. */
		if (symbol->is_label && symbol->is_local)
			continue;
		result = code_map_add_start(map, symbol->start,
		    symbol->is_local || *symbol->name == '\0' ? CODE_LOCAL :
		    CODE_GLOBAL, error);
	}
	symbol_table_free(symbols);
	return result;
}

/* Pointers to code in data, as the file has them or the loader makes them. */
static int
code_map_add_pointers(struct code_map *map, const struct elf_file *file,
                      struct error *error)
{
	GElf_Shdr header;
	Elf_Scn *relocations = elf_file_named_section(file, ".rela.dyn",
	                                              &header);
	Elf_Data *data = relocations != NULL ? elf_file_contents(relocations) :
	    NULL;
	GElf_Rela rela;

	for (size_t i = 0; i < map->n_sections; i++) {
		const struct code_section *section = &map->sections[i];
		const size_t size = (size_t)(section->end - section->start);

		for (size_t at = (size_t)(-section->start & 7);
		     !section->is_code && size >= 8 && at <= size - 8;
		     at += 8) {
			uint64_t word;

			memcpy(&word, section->bytes + at, sizeof word);
			if (code_map_add_taken(map, le64toh(word),
			                       error) != 0)
				return -1;
		}
	}
	for (int i = 0; data != NULL && gelf_getrela(data, i, &rela) != NULL;
	     i++)
		if (GELF_R_TYPE(rela.r_info) == R_RELATIVE &&
		    code_map_add_taken(map, (uint64_t)rela.r_addend,
		                       error) != 0)
			return -1;
	return 0;
}

/* ---- all instructions ---- */

/* An address that an instruction puts into a register; 0: none. */
static uint64_t
code_map_address_in(const struct x86_instruction *i)
{
	if (i->map != X86_ONE_BYTE || i->is_vex)
		return 0;
	if (i->opcode == 0x8d && i->is_relative)
		return i->target;
	return (i->opcode & 0xf8) == 0xb8 || i->opcode == 0xc7 ||
	    i->opcode == 0x68 ? (uint64_t)i->immediate : 0;
}

static int
code_map_note(struct code_map *map, const struct x86_instruction *i,
              uint64_t address, struct error *error)
{
	const uint64_t taken = code_map_address_in(i);

	if (taken != 0 && code_map_add_taken(map, taken, error) != 0)
		return -1;
	if (i->flow == X86_CALL)
		return i->target == address + i->size ? 0 :
		    code_map_add_start(map, i->target, CODE_CALLED, error);
	if (i->flow != X86_JUMP && i->flow != X86_BRANCH)
		return 0;
	if (memory_grow(&map->jumps, &map->jumps_capacity, map->n_jumps + 1,
	                sizeof *map->jumps, error) != 0)
		return -1;
	map->jumps[map->n_jumps++] = (struct code_jump){ i->target, address };
	return 0;
}

static int
code_map_read_section(struct code_map *map, const struct code_section *section,
                      struct error *error)
{
	const size_t size = (size_t)(section->end - section->start);
	struct x86_instruction i;
	bool is_end = true;	/* whether the last instruction goes nowhere */

	for (size_t at = 0; at < size;) {
		const uint64_t address = section->start + at;

		if (is_end) {
			at += x86_padding(section->bytes + at, size - at);
			is_end = false;
			if (at < size && code_map_add_address(&map->unreached,
			    &map->n_unreached, &map->unreached_capacity,
			    section->start + at, error) != 0)
				return -1;
			continue;
		}
		if (!x86_decode(section->bytes + at, size - at, address, &i)) {
			at++;
			continue;
		}
		if (code_map_note(map, &i, address, error) != 0)
			return -1;
		is_end = i.flow == X86_JUMP || i.flow == X86_JUMP_INDIRECT ||
		    i.flow == X86_RETURN || i.flow == X86_STOP;
		at += i.size;
	}
	return 0;
}

/* ---- order ---- */

static int
code_map_compare_starts(const void *left, const void *right, void *context)
{
	const struct code_start *a = left, *b = right;

	(void)context;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int
code_map_compare_jumps(const void *left, const void *right, void *context)
{
	const struct code_jump *a = left, *b = right;

	(void)context;
	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return a->source < b->source ? -1 : a->source > b->source;
}

static int
code_map_compare_addresses(const void *left, const void *right, void *context)
{
	const uint64_t *a = left, *b = right;

	(void)context;
	return *a < *b ? -1 : *a > *b;
}

static void
code_map_join_starts(struct code_map *map)
{
	size_t n = 0;

	for (size_t i = 0; i < map->n_starts; i++)
		if (n > 0 && map->starts[n - 1].address ==
		    map->starts[i].address)
			map->starts[n - 1].why |= map->starts[i].why;
		else
			map->starts[n++] = map->starts[i];
	map->n_starts = n;
}

/* Leaves out what a jump goes to. */
static void
code_map_sift_unreached(struct code_map *map)
{
	size_t n = 0;

	for (size_t i = 0; i < map->n_unreached; i++) {
		const uint64_t address = map->unreached[i];
		const size_t jump = code_map_jumps_from(map, address);

		if (jump == map->n_jumps ||
		    map->jumps[jump].target != address)
			map->unreached[n++] = address;
	}
	map->n_unreached = n;
}

static int
code_map_sort(struct code_map *map, struct error *error)
{
	if (sort_items(map->starts, map->n_starts, sizeof *map->starts,
	               code_map_compare_starts, NULL, error) != 0 ||
	    sort_items(map->jumps, map->n_jumps, sizeof *map->jumps,
	               code_map_compare_jumps, NULL, error) != 0 ||
	    sort_items(map->taken, map->n_taken, sizeof *map->taken,
	               code_map_compare_addresses, NULL, error) != 0 ||
	    sort_items(map->unreached, map->n_unreached,
	               sizeof *map->unreached, code_map_compare_addresses, NULL,
	               error) != 0)
		return -1;
	code_map_join_starts(map);
	code_map_sift_unreached(map);
	return 0;
}

static int
code_map_read_file(struct code_map *map, const struct module_file *module,
                   const struct elf_file *file, struct error *error)
{
	GElf_Ehdr header;

	if (gelf_getehdr(file->elf, &header) == NULL ||
	    header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	if (code_map_copy(map, file, error) != 0)
		return -1;
	if (map->n_sections == 0)
		return 0;
	map->entry = header.e_entry;
	if (code_map_add_start(map, map->entry, CODE_GLOBAL, error) != 0 ||
	    code_map_add_symbols(map, module, file, error) != 0 ||
	    code_map_add_pointers(map, file, error) != 0)
		return -1;
	for (size_t i = 0; i < map->n_sections; i++)
		if (map->sections[i].is_code &&
		    (code_map_add_start(map, map->sections[i].start,
		                        CODE_LOCAL, error) != 0 ||
		     code_map_read_section(map, &map->sections[i],
		                           error) != 0))
			return -1;
	return code_map_sort(map, error);
}

int
code_map_read(struct code_map *map, const struct module_file *module,
              struct error *error)
{
	struct elf_file file;
	int result;

	*map = (struct code_map){ 0 };
	if (module_file_open(module, &file) != MODULE_FILE_OPEN)
		return 0;
	result = code_map_read_file(map, module, &file, error);
	elf_file_close(&file);
	return result;
}

void
code_map_free(struct code_map *map)
{
	for (size_t i = 0; i < map->n_sections; i++)
		free(map->sections[i].bytes);
	free(map->sections);
	free(map->starts);
	free(map->jumps);
	free(map->taken);
	free(map->unreached);
	*map = (struct code_map){ 0 };
}

size_t
code_map_bytes(const struct code_map *map)
{
	size_t n = map->starts_capacity * sizeof *map->starts +
	    map->jumps_capacity * sizeof *map->jumps +
	    (map->taken_capacity + map->unreached_capacity) *
	    sizeof(uint64_t);

	for (size_t i = 0; i < map->n_sections; i++)
		n += (size_t)(map->sections[i].end - map->sections[i].start);
	return n;
}

/* ---- look-up ---- */

const struct code_start *
code_map_start(const struct code_map *map, uint64_t address)
{
	const struct code_section *section = code_map_section(map, address);
	const size_t n = partition_point(map->n_starts, i,
	    map->starts[i].address <= address);

	return section != NULL && n > 0 &&
	    map->starts[n - 1].address >= section->start ?
	    &map->starts[n - 1] : NULL;
}

unsigned
code_map_why(const struct code_map *map, uint64_t address)
{
	const struct code_start *start = code_map_start(map, address);

	return start != NULL && start->address == address ? start->why : 0;
}

uint64_t
code_map_end(const struct code_map *map, uint64_t address)
{
	const struct code_section *section = code_map_section(map, address);
	const size_t n = partition_point(map->n_starts, i,
	    map->starts[i].address <= address);

	if (section == NULL)
		return address;
	return n < map->n_starts && map->starts[n].address < section->end ?
	    map->starts[n].address : section->end;
}

size_t
code_map_jumps_from(const struct code_map *map, uint64_t address)
{
	return partition_point(map->n_jumps, i,
	                       map->jumps[i].target < address);
}

bool
code_map_is_taken(const struct code_map *map, uint64_t address)
{
	const size_t n = partition_point(map->n_taken, i,
	    map->taken[i] < address);

	return n < map->n_taken && map->taken[n] == address;
}

static uint64_t
code_map_last(const uint64_t *list, size_t n_all, uint64_t address)
{
	const size_t n = partition_point(n_all, i, list[i] <= address);

	return n > 0 ? list[n - 1] : 0;
}

uint64_t
code_map_last_unreached(const struct code_map *map, uint64_t address)
{
	return code_map_last(map->unreached, map->n_unreached, address);
}

uint64_t
code_map_last_taken(const struct code_map *map, uint64_t address)
{
	return code_map_last(map->taken, map->n_taken, address);
}
