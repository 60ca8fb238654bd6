/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_table.c -- copies the sections, and sorts their FDEs by address.
 *
 * The sorted index in .eh_frame_hdr would save no time: it does not say where
 * ranges end, and a file need not have it.
 */
#include "src/symbols/unwind/stack_unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum {
	SECTIONS = 2,		/* .eh_frame is asked before .debug_frame */
	UNWIND_SECTION_MAX = 256 << 20,	/* bytes, uncompressed */
	SIGRETURNS_MAX = 4,	/* programs have one */
	STUB_SECTIONS = 2,
	GO_ENDS = 7,
	GO_CHANGES = 4,
};

/*
 * Functions of Go's runtime at which a stack ends: the outermost ones, and those
 * that change from a goroutine's stack to the thread's, or back.  The rules that
 * Go writes for them read a caller from whatever the stack has there.
 */
static const char *const go_ends[GO_ENDS] = {
	"runtime.goexit", "runtime.rt0_go", "runtime.systemstack",
	"runtime.mcall", "runtime.morestack", "runtime.gogo", "gogo",
};

/*
 * Functions of it that call the vdso on the thread's stack.  Meanwhile r12 has
 * what the stack pointer was, from which the rules begin; rbp is as ever.
 */
static const char *const go_changes[GO_CHANGES] = {
	"runtime.nanotime1", "runtime.walltime", "runtime.walltime1",
	"time.now",
};

struct unwind_range {
	uint64_t start, end;
	size_t offset;		/* of its FDE in the section */
};

struct unwind_part {
	struct cfi_section section;
	unsigned char *bytes;		/* of the section, a copy */
	struct unwind_range *ranges;		/* by start */
	size_t n, capacity;
};

/* Code that is known without rules, by addresses in the module. */
struct unwind_code {
	bool was_read;
	uint64_t sigreturns[SIGRETURNS_MAX];
	size_t n_sigreturns;
	struct code_range stubs[STUB_SECTIONS];
	struct code_range lazy;	/* stubs that have pushed two
					 * registers */
	struct code_range changes[GO_CHANGES];	/* where r12 has the stack
						 * pointer; {0}: nowhere */
};

struct unwind_table {
	const struct dwarf_arch *arch;
	struct unwind_part parts[SECTIONS];
	struct code_range go_ends[GO_ENDS];
	struct go_stacks *go;		/* NULL: it is not of Go */
	struct unwind_code code;
};

/*
 * The contents of a section; compressed ones, as Go's linker writes, are
 * decompressed in memory.  NULL: there are none that can be used.
 */
static Elf_Data *
unwind_section_contents(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr compressed;

	if ((header->sh_flags & SHF_COMPRESSED) == 0)
		return elf_file_contents(section);
	if (gelf_getchdr(section, &compressed) == NULL ||
	    compressed.ch_size > UNWIND_SECTION_MAX ||
	    elf_compress(section, 0, 0) < 0)
		return NULL;
	return elf_file_contents(section);
}

/*
 * Finds .eh_frame, which every program carries, or .debug_frame, which is debug
 * information.  The bytes live as long as the file is open.  False where there
 * is no such section, or its numbers are big-endian.
 */
static bool
find_section(struct cfi_section *section, const struct elf_file *file,
             bool is_debug_frame)
{
	GElf_Shdr header;
	GElf_Ehdr file_header;
	Elf_Scn *found = elf_file_named_section(file, is_debug_frame ?
	    ".debug_frame" : ".eh_frame", &header);
	Elf_Data *data = found != NULL ?
	    unwind_section_contents(found, &header) : NULL;

	if (data == NULL || data->d_size == 0 ||
	    gelf_getehdr(file->elf, &file_header) == NULL ||
	    file_header.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	*section = (struct cfi_section){
		.arch = dwarf_arch_of_machine(file_header.e_machine),
		.start = data->d_buf,
		.end = (const unsigned char *)data->d_buf + data->d_size,
		.address = header.sh_addr,
		.pointer_size =
		    file_header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
		.is_debug_frame = is_debug_frame,
	};
	return true;
}

int
unwind_ranges_add(struct symbol_table *ranges, const struct elf_file *file,
                  struct error *error)
{
	struct cfi_section section;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	const unsigned char *next;

	if (!find_section(&section, file, false))
		return 0;
	next = section.start;
	while (cfi_next_fde(&section, &next, &cie, &fde) != NULL) {
		const struct symbol symbol = {
			.name = "",
			.start = fde.start,
			.size = fde.size,
			.limit = fde.start + fde.size,
		};

		if (symbol_table_add(ranges, &symbol, error) != 0)
			return -1;
	}
	return 0;
}

void
unwind_table_free(struct unwind_table *table)
{
	for (size_t i = 0; table != NULL && i < SECTIONS; i++) {
		free(table->parts[i].bytes);
		free(table->parts[i].ranges);
	}
	if (table != NULL)
		go_stacks_free(table->go);
	free(table);
}

size_t
unwind_table_bytes(const struct unwind_table *table)
{
	size_t n = sizeof *table + go_stacks_bytes(table->go);

	for (size_t i = 0; i < SECTIONS; i++)
		n += (size_t)(table->parts[i].section.end -
		              table->parts[i].section.start) +
		     table->parts[i].capacity * sizeof(struct unwind_range);
	return n;
}

static int
compare_ranges(const void *left, const void *right)
{
	const struct unwind_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int
unwind_table_read_part(struct unwind_part *part, const struct elf_file *file,
                       bool is_debug_frame, struct error *error)
{
	struct cfi_section *section = &part->section;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	const unsigned char *next, *at;
	bool is_sorted = true;
	size_t size;

	if (!find_section(section, file, is_debug_frame))
		return 0;
	size = (size_t)(section->end - section->start);
	part->bytes = memory_copy(section->start, size, 1, error);
	if (part->bytes == NULL)
		return -1;
	section->start = next = part->bytes;
	section->end = part->bytes + size;
	while ((at = cfi_next_fde(section, &next, &cie, &fde)) != NULL) {
		if (memory_grow(&part->ranges, &part->capacity, part->n + 1,
		                sizeof *part->ranges, error) != 0)
			return -1;
		is_sorted &= part->n == 0 ||
		    part->ranges[part->n - 1].start <= fde.start;
		part->ranges[part->n++] = (struct unwind_range){ fde.start,
			fde.start + fde.size, (size_t)(at - section->start) };
	}
	if (!is_sorted)
		qsort(part->ranges, part->n, sizeof *part->ranges,
		      compare_ranges);
	return 0;
}

/* The processor of a file of 64-bit numbers; NULL: unknown. */
static const struct dwarf_arch *
unwind_file_arch(const struct elf_file *file)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->elf, &header) != NULL &&
	    header.e_ident[EI_DATA] == ELFDATA2LSB ?
	    dwarf_arch_of_machine(header.e_machine) : NULL;
}

struct unwind_table *
unwind_table_read(const struct module_file *module, struct error *error)
{
	struct unwind_table *table = memory_array(1, sizeof *table, error);
	struct elf_file file;
	int result = 0;

	if (table == NULL || module == NULL ||
	    module_file_open(module, &file) != MODULE_FILE_OPEN)
		return table;
	table->arch = unwind_file_arch(&file);
	for (size_t i = 0; i < SECTIONS && table->arch != NULL && result == 0;
	     i++)
		result = unwind_table_read_part(&table->parts[i], &file, i == 1,
		                                error);
	go_symbols_find(&file, go_ends, GO_ENDS, table->go_ends);
	if (result == 0 && table->arch == &dwarf_x86_64)
		result = go_stacks_read(&file, &table->go, error);
	elf_file_close(&file);
	if (result == 0)
		return table;
	unwind_table_free(table);
	return NULL;
}

const struct dwarf_arch *
unwind_table_arch(const struct unwind_table *table)
{
	return table->arch;
}

/* ---- code without rules ---- */

void
unwind_sigreturn_row(const struct dwarf_arch *arch, struct cfi_row *row)
{
	memset(row, 0, sizeof *row);
	row->is_signal = true;
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = arch->sp;
	for (unsigned i = 0; i < arch->n_registers; i++) {
		row->kinds[i] = CFI_OFFSET;
		row->operands[i].offset = arch->sigreturn_at[i];
	}
}

/* The frame pointer leads back from the thread's stack. */
static void
unwind_change_row(const struct dwarf_arch *arch, struct cfi_row *row)
{
	memset(row, 0, sizeof *row);
	row->leaves_stack = true;
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = arch->fp;
	row->operands[CFI_CFA].offset = 16;
	row->kinds[arch->fp] = CFI_OFFSET;
	row->operands[arch->fp].offset = -16;
	row->kinds[arch->return_address] = CFI_OFFSET;
	row->operands[arch->return_address].offset = -8;
}

/* Finds where signal handlers return to in a section. */
static void
unwind_code_find_sigreturns(struct unwind_code *code,
                            const struct dwarf_arch *arch,
                            const Elf_Data *data, uint64_t address)
{
	const char *bytes = data->d_buf, *at = bytes;

	while (code->n_sigreturns < SIGRETURNS_MAX &&
	       (at = memmem(at, data->d_size - (size_t)(at - bytes),
	                    arch->sigreturn, arch->sigreturn_size)) != NULL) {
		code->sigreturns[code->n_sigreturns++] = address +
		    (uint64_t)(at - bytes);
		at++;
	}
}

/*
 * The stubs of AArch64 change no register that a walk needs; but what lazy
 * binding jumps to begins with stp x16, x30, [sp, #-16]!, perhaps after bti c.
 * (Those of x86-64 are described by .eh_frame.)
 */
static void
unwind_code_note_stubs(struct unwind_code *code, size_t i,
                       const Elf_Data *data, uint64_t address)
{
	enum { PUSH = 0xa9bf7bf0, HEAD_SIZE = 32 };

	code->stubs[i] = (struct code_range){ address,
		address + data->d_size };
	for (size_t at = 0; at < 8 && data->d_size >= HEAD_SIZE; at += 4) {
		uint32_t word;

		memcpy(&word, (const char *)data->d_buf + at, sizeof word);
		if (le32toh(word) == (uint32_t)PUSH)
			code->lazy = (struct code_range){ address + at + 4,
				address + HEAD_SIZE };
	}
}

/* Finds what lies from mov %rsp, %r12 to mov %r12, %rsp in a function. */
static void
unwind_code_note_change(struct unwind_code *code, size_t i,
                        const struct code_range *function,
                        const Elf_Data *data, uint64_t address)
{
	static const unsigned char begin[] = { 0x49, 0x89, 0xe4 },
	    end[] = { 0x4c, 0x89, 0xe4 };
	const size_t size = (size_t)(function->end - function->start);
	const char *bytes, *from, *to = NULL;

	if (function->start < address || function->end < function->start ||
	    function->end > address + data->d_size)
		return;
	bytes = (const char *)data->d_buf + (function->start - address);
	from = memmem(bytes, size, begin, sizeof begin);
	if (from != NULL)
		to = memmem(from, size - (size_t)(from - bytes), end,
		            sizeof end);
	if (to != NULL)
		code->changes[i] = (struct code_range){
			function->start + (uint64_t)(from - bytes),
			function->start + (uint64_t)(to - bytes) + sizeof end };
}

static void
unwind_code_read(struct unwind_code *code, const struct dwarf_arch *arch,
                 const struct module_file *module)
{
	static const char *const names[STUB_SECTIONS] = { ".plt", ".iplt" };
	struct code_range changes[GO_CHANGES] = { 0 };
	Elf_Scn *section = NULL;
	struct elf_file file;
	GElf_Shdr header;
	Elf_Data *data;

	code->was_read = true;
	if (module_file_open(module, &file) != MODULE_FILE_OPEN)
		return;
	if (arch == &dwarf_x86_64)
		go_symbols_find(&file, go_changes, GO_CHANGES, changes);
	while ((section = elf_nextscn(file.elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_flags & SHF_EXECINSTR) == 0 ||
		    (data = elf_file_contents(section)) == NULL)
			continue;
		unwind_code_find_sigreturns(code, arch, data, header.sh_addr);
		for (size_t i = 0; i < GO_CHANGES; i++)
			if (changes[i].start != 0)
				unwind_code_note_change(code, i, &changes[i],
				                        data, header.sh_addr);
	}
	for (size_t i = 0; i < STUB_SECTIONS && arch == &dwarf_aarch64; i++)
		if ((section = elf_file_named_section(&file, names[i],
		                                      &header)) != NULL &&
		    (data = elf_file_contents(section)) != NULL)
			unwind_code_note_stubs(code, i, data, header.sh_addr);
	elf_file_close(&file);
}

static bool
is_in_range(const struct code_range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

/* The row of an address in such code. */
static bool
unwind_code_find(const struct unwind_code *code, const struct dwarf_arch *arch,
                 uint64_t address, struct cfi_row *row)
{
	bool is_stub = false;

	/* Of a frame that is returned to, the address is the one before; of who
	 * is in the kernel for this, the one behind. */
	for (size_t i = 0; i < code->n_sigreturns; i++)
		if (address - code->sigreturns[i] + 1 <=
		    (uint64_t)arch->sigreturn_size + 1) {
			unwind_sigreturn_row(arch, row);
			return true;
		}
	for (size_t i = 0; i < GO_CHANGES; i++)
		if (is_in_range(&code->changes[i], address)) {
			unwind_change_row(arch, row);
			return true;
		}
	for (size_t i = 0; i < STUB_SECTIONS; i++)
		is_stub |= is_in_range(&code->stubs[i], address);
	if (!is_stub)
		return false;
	memset(row, 0, sizeof *row);
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = arch->sp;
	if (is_in_range(&code->lazy, address)) {
		row->operands[CFI_CFA].offset = 16;
		row->kinds[arch->return_address] = CFI_OFFSET;
		row->operands[arch->return_address].offset = -8;
	}
	return true;
}

/* Go's functions save no register but the frame pointer. */
static void
unwind_go_row(uint32_t size, struct cfi_row *row)
{
	memset(row, 0, sizeof *row);
	row->kinds[CFI_CFA] = CFI_REGISTER;
	row->cfa_register = X86_64_RSP;
	row->operands[CFI_CFA].offset = (int64_t)size + 8;
	row->kinds[X86_64_RIP] = CFI_OFFSET;
	row->operands[X86_64_RIP].offset = -8;
}

/* ---- look-up ---- */

/* The last range that starts at an address or before it; NULL: none. */
static const struct unwind_range *
unwind_table_find_range(const struct unwind_part *part, uint64_t address)
{
	size_t n = partition_point(part->n, i,
	                           part->ranges[i].start <= address);

	return n > 0 ? &part->ranges[n - 1] : NULL;
}

bool
unwind_table_covers(const struct unwind_table *table, uint64_t address,
                    uint64_t *end)
{
	const struct unwind_part *part = &table->parts[0];
	const size_t n = partition_point(part->n, i,
	                                 part->ranges[i].start <= address);

	if (n > 0 && address < part->ranges[n - 1].end) {
		*end = part->ranges[n - 1].end;
		return true;
	}
	*end = n < part->n ? part->ranges[n].start : UINT64_MAX;
	return false;
}

bool
unwind_table_is_go(const struct unwind_table *table)
{
	return table->go != NULL;
}

bool
unwind_table_find(struct unwind_table *table, const struct module_file *module,
                  uint64_t address, struct cfi_scratch *scratch)
{
	const struct dwarf_arch *arch = table->arch;
	uint32_t size;

	for (size_t i = 0; i < GO_ENDS && arch != NULL; i++)
		if (is_in_range(&table->go_ends[i], address)) {
			memset(&scratch->row, 0, sizeof scratch->row);
			scratch->row.kinds[arch->return_address] =
			    CFI_UNDEFINED;
			return true;
		}
	for (size_t i = 0; i < SECTIONS && arch != NULL; i++) {
		const struct unwind_part *part = &table->parts[i];
		const struct unwind_range *range =
		    unwind_table_find_range(part, address);
		struct cfi_fde fde;

		if (range != NULL && address < range->end) {
			if (!cfi_read_fde(&part->section, part->section.start +
			                  range->offset, &scratch->cie,
			                  &fde) ||
			    cfi_find_row(&part->section, &fde, address,
			                 scratch) != CFI_FOUND)
				return false;
			/* Rules have no column for both pc and return
			 * address of who was interrupted. */
			if (scratch->row.is_signal &&
			    arch->return_address != arch->pc)
				unwind_sigreturn_row(arch, &scratch->row);
			return true;
		}
		if (i > 0)
			continue;
		if (!table->code.was_read)
			unwind_code_read(&table->code, arch, module);
		if (unwind_code_find(&table->code, arch, address,
		                     &scratch->row))
			return true;
	}
	if (table->go == NULL || !go_stacks_find(table->go, address, &size))
		return false;
	unwind_go_row(size, &scratch->row);
	return true;
}
