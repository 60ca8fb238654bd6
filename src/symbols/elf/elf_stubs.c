/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_stubs.c -- the stubs of procedure linkage tables, as symbols.
 *
 * A stub jumps through a slot, and a relocation fills the slot.  So first all
 * relocations that can fill a slot are read and sorted by slot; then each
 * stub's instruction gives its slot.
 */
#include "src/symbols/elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct stub_slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct stub_slot *items;
	size_t n, capacity;
};

/* Names the function of a relocation. */
struct stub_naming {
	Elf_Data *symbols;
	const char *strings;	/* kept by the table of stubs */
	size_t strings_size;
	const struct symbol_table *table;
};

static const char *
name_of_relocation(const struct stub_naming *naming,
                   const GElf_Rela *relocation)
{
	GElf_Word type = GELF_R_TYPE(relocation->r_info);
	GElf_Sym raw;

	if (type == R_X86_64_IRELATIVE) {
		const struct symbol *symbol = symbol_table_find(naming->table,
		    (uint64_t)relocation->r_addend);

		return symbol != NULL ? symbol->name : NULL;
	}
	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
		return NULL;
	if (gelf_getsym(naming->symbols, (int)GELF_R_SYM(relocation->r_info),
	                &raw) == NULL || raw.st_name >= naming->strings_size ||
	    naming->strings[raw.st_name] == '\0')
		return NULL;
	return naming->strings + raw.st_name;
}

/*
 * Adds the slots that the relocations of a section fill: with `all` also those
 * without a name, so that a slot's number stays its relocation's.
 */
static int
add_slots(struct slots *slots, const struct elf_file *file,
          const char *section_name, const struct stub_naming *naming, bool all,
          struct error *error)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, section_name, &header);
	Elf_Data *data;
	GElf_Rela relocation;

	if (section == NULL || header.sh_type != SHT_RELA)
		return 0;
	data = elf_file_contents(section);
	if (data == NULL)
		return 0;
	for (int i = 0; gelf_getrela(data, i, &relocation) != NULL; i++) {
		const char *name = name_of_relocation(naming, &relocation);

		if (name == NULL && !all)
			continue;
		if (memory_grow(&slots->items, &slots->capacity, slots->n + 1,
		                sizeof *slots->items, error) != 0)
			return -1;
		slots->items[slots->n++] =
		    (struct stub_slot){ relocation.r_offset, name };
	}
	return 0;
}

static int
compare_slots(const void *left, const void *right)
{
	const struct stub_slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static const char *
name_of_slot(const struct slots *sorted, uint64_t address)
{
	struct stub_slot key = { .address = address };
	const struct stub_slot *slot;

	if (sorted->n == 0)
		return NULL;
	slot = bsearch(&key, sorted->items, sorted->n, sizeof key,
	               compare_slots);
	return slot != NULL ? slot->name : NULL;
}

static uint32_t
elf_stubs_number_at(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	    (uint32_t)bytes[3] << 24;
}

/*
 * The name of the stub[size >= 8] at an address: [endbr64] [bnd] jmp
 * *slot(%rip); or, if the jump is in .plt.sec, [endbr64] push $number.
 */
static const char *
name_of_stub(const unsigned char *stub, size_t size, uint64_t address,
             const struct slots *lazy, const struct slots *sorted)
{
	static const unsigned char endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (memcmp(stub, endbr64, sizeof endbr64) == 0)
		at += sizeof endbr64;
	if (size - at >= 5 && stub[at] == 0x68) {
		uint32_t number = elf_stubs_number_at(stub + at + 1);

		return number < lazy->n ? lazy->items[number].name : NULL;
	}
	if (stub[at] == 0xf2)
		at++;
	if (size - at < 6 || stub[at] != 0xff || stub[at + 1] != 0x25)
		return NULL;
	return name_of_slot(sorted, address + at + 6 +
	    (uint64_t)(int64_t)(int32_t)elf_stubs_number_at(stub + at + 2));
}

static int
add_stubs(struct symbol_table *stubs, const struct elf_file *file,
          const char *section_name, const struct slots *lazy,
          const struct slots *sorted, struct error *error)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, section_name, &header);
	Elf_Data *data;
	size_t size;

	if (section == NULL)
		return 0;
	data = elf_file_contents(section);
	if (data == NULL || header.sh_addr > UINT64_MAX - data->d_size)
		return 0;
	size = header.sh_entsize == 8 ? 8 : 16;
	for (size_t i = 0; i + size <= data->d_size; i += size) {
		struct symbol symbol = {
			.start = header.sh_addr + i,
			.size = size,
			.limit = header.sh_addr + data->d_size,
			.is_stub = true,
		};

		symbol.name = name_of_stub((unsigned char *)data->d_buf + i,
		                           size, symbol.start, lazy, sorted);
		if (symbol.name != NULL &&
		    symbol_table_add(stubs, &symbol, error) != 0)
			return -1;
	}
	return 0;
}

static int
naming_of(struct stub_naming *naming, struct symbol_table *stubs,
          const struct elf_file *file, struct error *error)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_typed_section(file, SHT_DYNSYM, &header);
	Elf_Scn *strings_section;
	Elf_Data *strings;

	if (section == NULL)
		return 0;
	naming->symbols = elf_file_contents(section);
	strings_section = elf_getscn(file->elf, header.sh_link);
	if (naming->symbols == NULL || strings_section == NULL)
		return 0;
	strings = elf_file_contents(strings_section);
	if (strings == NULL)
		return 0;
	naming->strings_size = strings->d_size;
	naming->strings = symbol_table_keep(stubs, strings->d_buf,
	                                    strings->d_size, error);
	return naming->strings != NULL ? 0 : -1;
}

int
elf_symbols_add_stubs(struct symbol_table *stubs,
                      const struct symbol_table *table,
                      const struct elf_file *file, struct error *error)
{
	static const char *const sections[] = { ".plt", ".plt.sec",
		".plt.got" };
	struct stub_naming naming = { .table = table };
	struct slots lazy = { 0 }, sorted = { 0 };
	GElf_Ehdr header;
	int result = -1;

	if (gelf_getehdr(file->elf, &header) == NULL ||
	    header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	if (naming_of(&naming, stubs, file, error) != 0)
		return -1;
	if (add_slots(&lazy, file, ".rela.plt", &naming, true, error) == 0)
		sorted.items = memory_copy(lazy.items, lazy.n,
		                           sizeof *lazy.items, error);
	if (sorted.items != NULL) {
		sorted.n = sorted.capacity = lazy.n;
		result = add_slots(&sorted, file, ".rela.dyn", &naming, false,
		                   error);
		qsort(sorted.items, sorted.n, sizeof *sorted.items,
		      compare_slots);
	}
	for (size_t i = 0; i < 3 && result == 0; i++)
		result = add_stubs(stubs, file, sections[i], &lazy, &sorted,
		                   error);
	free(lazy.items);
	free(sorted.items);
	return result;
}
