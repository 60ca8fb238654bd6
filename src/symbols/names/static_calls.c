/* SPDX-License-Identifier: GPL-3.0-or-later */
/* static_calls.c -- which functions a program's code calls.
 *
 * The code is decoded instead of searched for bytes that look like calls.  A
 * jump to the start of another function is a tail call.
 *
 * Source: Graham, Kessler & McKusick 1982, section 4: static arcs may complete
 * cycles, which are then the same in every run of the program.
 */
#include "src/symbols/names/program.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/symbols/names/code_decoder.h"

enum { INSTRUCTIONS_A_STEP = 16384 };

struct decoder {
	struct static_calls *calls;
	const struct program_functions *functions;
	struct code_decoder code;
	uint64_t n_decoded;	/* instructions */
	uint32_t *seen;		/* [functions] the last caller + 1 */
	uint32_t *next;		/* [functions + 1] the function itself if it has
				 * not been decoded; else a later one, at most
				 * the next one that has not been */
};

/* Opens the decoder for the file's machine; false: there is none. */
static bool
decoder_open(struct decoder *decoder, const struct elf_file *file)
{
	GElf_Ehdr header;
	cs_mode mode;

	if (gelf_getehdr(file->elf, &header) == NULL)
		return false;
	if (header.e_machine == EM_X86_64)
		mode = CS_MODE_64;
	else if (header.e_machine == EM_386)
		mode = CS_MODE_32;
	else
		return false;
	return code_decoder_open(&decoder->code, CS_ARCH_X86, mode, false);
}

static void
decoder_close(struct decoder *decoder)
{
	code_decoder_close(&decoder->code);
	free(decoder->seen);
	free(decoder->next);
}

/* Whether the instruction is a direct call or jump, to *target. */
static bool
static_calls_is_transfer(const struct decoder *decoder, bool *is_call,
                         uint64_t *target)
{
	const cs_x86 *x86 = &decoder->code.instruction->detail->x86;

	*is_call = code_decoder_is_in(&decoder->code, CS_GRP_CALL);
	if (!*is_call && !code_decoder_is_in(&decoder->code, CS_GRP_JUMP))
		return false;
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	return true;
}

static int
static_calls_add_call(struct decoder *decoder, uint32_t caller, bool is_call,
                      uint64_t target, struct error *error)
{
	struct static_calls *calls = decoder->calls;
	uint32_t callee = program_functions_find(decoder->functions, target);

	if (callee == UINT32_MAX ||
	    decoder->functions->items[callee].start != target ||
	    (!is_call && callee == caller) ||
	    decoder->seen[callee] == caller + 1)
		return 0;
	decoder->seen[callee] = caller + 1;
	if (memory_grow(&calls->items, &calls->capacity, (size_t)calls->n + 1,
	                sizeof *calls->items, error) != 0)
		return -1;
	calls->items[calls->n++] = (struct static_call){ caller, callee };
	return 0;
}

/* code: the bytes of the function, at its start. */
static int
decode_function(struct decoder *decoder, uint32_t number,
                const uint8_t *code, size_t size, struct error *error)
{
	uint64_t address = decoder->functions->items[number].start;

	while (code_decoder_next(&decoder->code, &code, &size, &address)) {
		uint64_t target;
		bool is_call;

		if (static_calls_is_transfer(decoder, &is_call, &target) &&
		    static_calls_add_call(decoder, number, is_call, target,
		                          error) != 0)
			return -1;
		if (++decoder->n_decoded % INSTRUCTIONS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
	}
	return 0;
}

/* The first function from this one that has not been decoded. */
static uint32_t
next_left(struct decoder *decoder, uint32_t number)
{
	uint32_t *next = decoder->next;

	while (next[number] != number)
		number = next[number] = next[next[number]];
	return number;
}

/* Decodes the functions that begin in a section, but in none before it. */
static int
decode_section(struct decoder *decoder, const GElf_Shdr *header,
               const Elf_Data *data, struct error *error)
{
	const struct program_functions *functions = decoder->functions;
	uint64_t begin = header->sh_addr, end = begin + data->d_size;
	uint32_t i = program_functions_from(functions, begin);

	while ((i = next_left(decoder, i)) < functions->n &&
	       functions->items[i].start < end) {
		const struct program_function *function =
		    &functions->items[i];
		uint64_t stop = function->end < end ? function->end : end;

		decoder->next[i] = i + 1;
		if (decode_function(decoder, i, (const uint8_t *)data->d_buf +
		                    (function->start - begin),
		                    (size_t)(stop - function->start),
		                    error) != 0)
			return -1;
	}
	return 0;
}

static int
decode_file(struct decoder *decoder, const struct elf_file *file,
            struct error *error)
{
	uint64_t left = UINT64_MAX;	/* bytes of sections still to come */
	Elf_Scn *section = NULL;
	struct stat status;

	/* Sections do not overlap: together they are no larger than the
	 * file. */
	if (file->descriptor >= 0 && fstat(file->descriptor, &status) == 0)
		left = (uint64_t)status.st_size;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_flags & SHF_EXECINSTR) == 0 ||
		    header.sh_type == SHT_NOBITS || header.sh_size > left)
			continue;
		left -= header.sh_size;
		data = elf_file_contents(section);
		if (data != NULL && data->d_buf != NULL &&
		    data->d_size <= UINT64_MAX - header.sh_addr &&
		    decode_section(decoder, &header, data, error) != 0)
			return -1;
	}
	return 0;
}

int
static_calls_find(struct static_calls *calls,
                  const struct program_functions *functions,
                  const struct elf_file *file, struct error *error)
{
	struct decoder decoder = { .calls = calls, .functions = functions };
	size_t n = functions->n;
	int result = -1;

	if (!decoder_open(&decoder, file))
		return 0;
	decoder.seen = memory_array(n, sizeof *decoder.seen, error);
	decoder.next = memory_array(n + 1, sizeof *decoder.next, error);
	if (decoder.seen != NULL && decoder.next != NULL) {
		for (size_t i = 0; i <= n; i++)
			decoder.next[i] = (uint32_t)i;
		result = decode_file(&decoder, file, error);
	}
	decoder_close(&decoder);
	return result;
}
