/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disassembly.c -- the instructions of functions.
 *
 * Bytes that the decoder does not know, such as instructions that are newer
 * than it, are passed over one at a time and shown as data.
 */
#include "src/symbols/code/disassembly.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/symbols/names/code_decoder.h"
#include "src/symbols/names/program.h"

enum {
	INSTRUCTIONS_A_STEP = 16384,
	PART_MAX = 64 << 20,		/* bytes: no function is larger */
};

struct decoding {
	struct disassembly *disassembly;
	struct elf_file file;
	struct module_symbols *symbols;
	struct code_decoder decoder;
};

void
disassembly_free(struct disassembly *disassembly)
{
	free(disassembly->items);
	arena_free(&disassembly->arena);
}

size_t
disassembly_find(const struct disassembly *disassembly, size_t first,
                 size_t end, uint64_t address)
{
	const struct instruction *items;
	size_t n;

	if (first == end)
		return SIZE_MAX;
	items = &disassembly->items[first];
	n = partition_point(end - first, i, items[i].address <= address);
	if (n == 0 || address - items[n - 1].address >= items[n - 1].size)
		return SIZE_MAX;
	return first + n - 1;
}

/* Whether an instruction ends its block, whatever jumps behind it. */
static bool
disassembly_is_last(const struct disassembly *disassembly, size_t i)
{
	const struct instruction *items = disassembly->items;

	return items[i].ends_block || items[i].part != items[i + 1].part;
}

void
disassembly_blocks(const struct disassembly *disassembly, size_t first,
                   size_t end, size_t *blocks)
{
	const struct instruction *items = disassembly->items;

	/* At first 1 where a block begins, else 0. */
	for (size_t i = first; i < end; i++)
		blocks[i - first] = i == first ||
		    disassembly_is_last(disassembly, i - 1);
	for (size_t i = first; i < end; i++) {
		size_t at = items[i].target == 0 ? SIZE_MAX :
		    disassembly_find(disassembly, first, end, items[i].target);

		if (at != SIZE_MAX)
			blocks[at - first] = 1;
	}
	for (size_t i = first; i < end; i++)
		blocks[i - first] = blocks[i - first] != 0 ? i - first :
		    blocks[i - first - 1];
}

/* ---- the decoder ---- */

static bool
disassembly_open_decoder(struct decoding *decoding)
{
	static const struct {
		GElf_Half machine;
		cs_arch arch;
		cs_mode mode;
	} machines[] = {
		{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
		{ EM_386, CS_ARCH_X86, CS_MODE_32 },
		{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN },
	};
	GElf_Ehdr header;
	size_t i = 0, n = sizeof machines / sizeof *machines;

	if (gelf_getehdr(decoding->file.elf, &header) == NULL)
		return false;
	while (i < n && machines[i].machine != header.e_machine)
		i++;
	return i < n && code_decoder_open(&decoding->decoder, machines[i].arch,
	                                  machines[i].mode, true);
}

/* Where a direct call or jump goes; 0: the instruction is none. */
static uint64_t
disassembly_target(const struct decoding *decoding)
{
	const cs_insn *instruction = decoding->decoder.instruction;
	const char *text;
	uint64_t target;
	char *end;

	if (instruction->id == 0 ||
	    (!code_decoder_is_in(&decoding->decoder, CS_GRP_CALL) &&
	     !code_decoder_is_in(&decoding->decoder, CS_GRP_JUMP)))
		return 0;
	/* An address of code is the last operand, as in "cbz x0, 0x1160". */
	text = strrchr(instruction->op_str, ' ');
	text = text == NULL ? instruction->op_str : text + 1;
	text += *text == '#';
	target = strtoull(text, &end, 16);
	return strncmp(text, "0x", 2) == 0 && *end == '\0' ? target : 0;
}

/*
 * Adds " <checksum+0x4>", where a call or jump out of the function goes, and
 * sets which bytes of the instruction's text are the name.
 */
static int
add_target(struct decoding *decoding, uint64_t target, uint64_t start,
           uint64_t end, struct text_buffer *text,
           struct instruction *instruction, struct error *error)
{
	const struct symbol *symbol;
	char *name;

	if (target >= start && target < end)
		return 0;
	if (module_symbols_find(decoding->symbols, target, &symbol,
	                        error) != 0)
		return -1;
	if (symbol == NULL || *symbol->name == '\0')
		return 0;
	name = module_symbols_name(symbol, error);
	if (name == NULL)
		return -1;
	text_add_string(text, " <");
	instruction->name_begin = (uint32_t)text->length;
	text_add_string(text, name);
	instruction->n_name = (uint32_t)text->length - instruction->name_begin;
	if (target > symbol->start)
		text_add_format(text, "+0x%" PRIx64, target - symbol->start);
	text_add_char(text, '>');
	free(name);
	return 0;
}

static int
add_instruction(struct decoding *decoding, uint64_t start, uint64_t end,
                struct error *error)
{
	struct disassembly *disassembly = decoding->disassembly;
	const cs_insn *decoded = decoding->decoder.instruction;
	struct text_buffer text = { 0 };
	struct instruction instruction = {
		.address = decoded->address,
		.size = decoded->size,
		.part = disassembly->n_parts,
	};

	text_add_string(&text, decoded->mnemonic);
	if (*decoded->op_str != '\0')
		text_add_format(&text, " %s", decoded->op_str);
	instruction.ends_block = decoded->id != 0 &&
	    (code_decoder_is_in(&decoding->decoder, CS_GRP_JUMP) ||
	     code_decoder_is_in(&decoding->decoder, CS_GRP_RET));
	instruction.target = disassembly_target(decoding);
	if (instruction.target != 0 &&
	    add_target(decoding, instruction.target, start, end, &text,
	               &instruction, error) != 0) {
		text_free(&text);
		return -1;
	}
	instruction.text = text_move(&text, &disassembly->arena, error);
	if (instruction.text == NULL ||
	    memory_grow(&disassembly->items, &disassembly->capacity,
	                disassembly->n + 1, sizeof instruction, error) != 0)
		return -1;
	disassembly->items[disassembly->n++] = instruction;
	if (disassembly->n % INSTRUCTIONS_A_STEP == 0)
		return progress_step(NULL, 0, 0, error);
	return 0;
}

/* ---- functions ---- */

/* The code from an address to the end of its section; NULL: the file has none. */
static const uint8_t *
code_at(const struct decoding *decoding, uint64_t address, size_t *size)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(decoding->file.elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_flags & SHF_EXECINSTR) == 0 ||
		    header.sh_type == SHT_NOBITS ||
		    address < header.sh_addr ||
		    address - header.sh_addr >= header.sh_size)
			continue;
		data = elf_file_contents(section);
		if (data == NULL || data->d_buf == NULL ||
		    address - header.sh_addr >= data->d_size)
			return NULL;
		*size = data->d_size - (size_t)(address - header.sh_addr);
		return (const uint8_t *)data->d_buf +
		    (address - header.sh_addr);
	}
	return NULL;
}

/*
 * A symbol without size ends before the first instruction that belongs to
 * another one.  *is_in: whether an address belongs to it.
 */
static int
belongs(struct decoding *decoding, const struct symbol *symbol,
        uint64_t address, bool *is_in, struct error *error)
{
	const struct symbol *other;

	*is_in = symbol->size > 0;
	if (*is_in)
		return 0;
	if (module_symbols_find(decoding->symbols, address, &other,
	                        error) != 0)
		return -1;
	*is_in = other == symbol;
	return 0;
}

/* Decodes a function; *end is the address after its last instruction. */
static int
decode(struct decoding *decoding, const struct symbol *symbol, uint64_t *end,
       struct error *error)
{
	uint64_t address = symbol->start;
	size_t size = 0;
	const uint8_t *code = code_at(decoding, address, &size);
	size_t before = decoding->disassembly->n;

	if (size > PART_MAX)
		size = PART_MAX;
	if (symbol->size > 0 && size > symbol->size)
		size = (size_t)symbol->size;
	*end = address + (symbol->size > 0 ? symbol->size : size);
	while (code != NULL && size > 0) {
		bool is_in;

		if (belongs(decoding, symbol, address, &is_in, error) != 0)
			return -1;
		if (!is_in || !code_decoder_next(&decoding->decoder, &code,
		                                 &size, &address))
			break;
		if (add_instruction(decoding, symbol->start, *end,
		                    error) != 0)
			return -1;
	}
	if (symbol->size == 0)
		*end = address;
	decoding->disassembly->n_parts += decoding->disassembly->n > before;
	return 0;
}

/* Where functions are nested, the outer one is decoded as a whole. */
static void
drop_from(struct disassembly *disassembly, size_t first, uint64_t address)
{
	while (disassembly->n > first &&
	       disassembly->items[disassembly->n - 1].address >= address)
		disassembly->n--;
}

static int
decode_functions(struct decoding *decoding, const uint64_t *addresses,
                 size_t n, struct error *error)
{
	size_t first = decoding->disassembly->n;
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol;

		if (addresses[i] < end)
			continue;
		if (module_symbols_find(decoding->symbols, addresses[i],
		                        &symbol, error) != 0)
			return -1;
		if (symbol == NULL)
			continue;
		drop_from(decoding->disassembly, first, symbol->start);
		if (decode(decoding, symbol, &end, error) != 0)
			return -1;
	}
	return 0;
}

static enum disassembly_state
disassembly_open_file(struct decoding *decoding,
                      const struct module_file *module)
{
	static const enum disassembly_state states[] = {
		[MODULE_FILE_OPEN] = DISASSEMBLY_READ,
		[MODULE_FILE_MISSING] = DISASSEMBLY_MISSING,
		[MODULE_FILE_UNREADABLE] = DISASSEMBLY_UNREADABLE,
		[MODULE_FILE_DIFFERS] = DISASSEMBLY_DIFFERS,
	};

	return states[module_file_open(module, &decoding->file)];
}

int
disassembly_add(struct disassembly *disassembly,
                const struct module_file *module, const uint64_t *addresses,
                size_t n, enum disassembly_state *state, struct error *error)
{
	struct decoding decoding = { .disassembly = disassembly };
	enum module_symbols_state symbols_state;
	size_t before = disassembly->n;
	int result = -1;

	*state = disassembly_open_file(&decoding, module);
	if (*state != DISASSEMBLY_READ)
		return 0;
	if (!disassembly_open_decoder(&decoding)) {
		*state = DISASSEMBLY_NO_DECODER;
		elf_file_close(&decoding.file);
		return 0;
	}
	decoding.symbols = module_symbols_of(module, error);
	if (decoding.symbols != NULL &&
	    module_symbols_read(decoding.symbols, &symbols_state, error) == 0)
		result = decode_functions(&decoding, addresses, n, error);
	if (disassembly->n == before)
		*state = DISASSEMBLY_NO_CODE;
	module_symbols_free(decoding.symbols);
	code_decoder_close(&decoding.decoder);
	elf_file_close(&decoding.file);
	return result;
}
