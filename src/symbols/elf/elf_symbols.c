/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_symbols.c -- symbols of code, each limited to its section. */
#include "src/symbols/elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

enum { SYMBOLS_A_STEP = 65536 };

/* Where the sections of code lie, by section number; elsewhere end is 0. */
struct elf_code {
	size_t n_sections;
	struct {
		uint64_t begin, end;
	} *sections;
};

static int
code_of(struct elf_code *code, const struct elf_file *file, struct error *error)
{
	if (elf_getshdrnum(file->elf, &code->n_sections) != 0)
		code->n_sections = 0;
	code->sections = memory_array(code->n_sections,
	                              sizeof *code->sections, error);
	if (code->sections == NULL)
		return -1;
	for (size_t i = 0; i < code->n_sections; i++) {
		Elf_Scn *section = elf_getscn(file->elf, i);
		GElf_Shdr header;

		if (section == NULL || gelf_getshdr(section, &header) == NULL)
			continue;
		if ((header.sh_flags & SHF_EXECINSTR) == 0 ||
		    header.sh_size > UINT64_MAX - header.sh_addr)
			continue;
		code->sections[i].begin = header.sh_addr;
		code->sections[i].end = header.sh_addr + header.sh_size;
	}
	return 0;
}

/* Assemblers give such names to data inside code and to their own labels. */
static bool
is_private_label(const char *name)
{
	return name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

/* Whether it is a symbol of code, which is then *symbol. */
static bool
symbol_of(struct symbol *symbol, const GElf_Sym *raw,
          const struct elf_code *code, const char *strings, size_t strings_size)
{
	int type = GELF_ST_TYPE(raw->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (raw->st_shndx == SHN_UNDEF || raw->st_shndx >= code->n_sections ||
	    raw->st_name >= strings_size || strings[raw->st_name] == '\0')
		return false;
	if (raw->st_value < code->sections[raw->st_shndx].begin)
		return false;
	symbol->start = raw->st_value;
	symbol->size = raw->st_size;
	symbol->limit = code->sections[raw->st_shndx].end;
	symbol->name = strings + raw->st_name;
	symbol->is_label = type == STT_NOTYPE;
	symbol->is_local = GELF_ST_BIND(raw->st_info) == STB_LOCAL;
	symbol->is_stub = false;
	return !(symbol->is_label && is_private_label(symbol->name));
}

static int
add_all(struct symbol_table *table, Elf_Data *data, size_t n,
        const struct elf_code *code, const char *strings, size_t strings_size,
        struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		GElf_Sym raw;
		struct symbol symbol;

		if (gelf_getsym(data, (int)i, &raw) == NULL)
			break;
		if (i % SYMBOLS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (symbol_of(&symbol, &raw, code, strings, strings_size) &&
		    symbol_table_add(table, &symbol, error) != 0)
			return -1;
	}
	return 0;
}

int
elf_symbols_add(struct symbol_table *table, const struct elf_file *file,
                GElf_Word type, struct error *error)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_typed_section(file, type, &header);
	Elf_Scn *strings_section;
	Elf_Data *data, *strings;
	struct elf_code code;
	const char *kept;
	size_t entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	int result = -1;

	if (section == NULL || entry == 0)
		return 0;
	strings_section = elf_getscn(file->elf, header.sh_link);
	data = elf_file_contents(section);
	if (strings_section == NULL || data == NULL)
		return 0;
	strings = elf_file_contents(strings_section);
	if (strings == NULL)
		return 0;
	if (code_of(&code, file, error) != 0)
		return -1;
	kept = symbol_table_keep(table, strings->d_buf, strings->d_size,
	                         error);
	if (kept != NULL)
		result = add_all(table, data, data->d_size / entry, &code,
		                 kept, strings->d_size, error);
	free(code.sections);
	return result;
}

bool
elf_symbols_lookup(const struct elf_file *file, GElf_Word type,
                   const char *name, uint64_t *address, uint64_t *size)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_typed_section(file, type, &header);
	Elf_Scn *strings_section = section == NULL ? NULL :
	    elf_getscn(file->elf, header.sh_link);
	Elf_Data *data, *strings;
	GElf_Sym raw;

	if (strings_section == NULL)
		return false;
	data = elf_file_contents(section);
	strings = elf_file_contents(strings_section);
	if (data == NULL || strings == NULL)
		return false;
	for (int i = 0; gelf_getsym(data, i, &raw) != NULL; i++) {
		const size_t left = raw.st_name >= strings->d_size ? 0 :
		    strings->d_size - raw.st_name;

		if (raw.st_shndx == SHN_UNDEF || left <= strlen(name) ||
		    strcmp((const char *)strings->d_buf + raw.st_name,
		           name) != 0)
			continue;
		*address = raw.st_value;
		*size = raw.st_size;
		return true;
	}
	return false;
}
