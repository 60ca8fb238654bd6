/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_decoder.h -- machine code, instruction by instruction, by capstone.
 *
 * The library is loaded with the first decoder: its tables need 77,000
 * relocations, which would take two fifths of the start of every command.
 */
#ifndef CPPROF_SYMBOLS_NAMES_CODE_DECODER_H
#define CPPROF_SYMBOLS_NAMES_CODE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <capstone/capstone.h>

struct code_decoder {
	csh engine;
	cs_insn *instruction;	/* the last one that was decoded, in detail */
};

/*
 * Opens a decoder, which is closed with code_decoder_close.  shows_data: bytes that
 * are no instruction are decoded as data, whose id is 0.  False: capstone is
 * not installed or does not know the machine, or for want of memory.
 */
bool code_decoder_open(struct code_decoder *decoder, cs_arch arch, cs_mode mode,
                  bool shows_data);
void code_decoder_close(struct code_decoder *decoder);

/*
 * Decodes the instruction at *code, and moves *code, *size and *address behind
 * it.  False: there is none, or it is unknown.
 */
bool code_decoder_next(struct code_decoder *decoder, const uint8_t **code,
                       size_t *size, uint64_t *address);

/* Whether the last instruction is of a group, such as CS_GRP_CALL. */
bool code_decoder_is_in(const struct code_decoder *decoder, cs_group_type group);

#endif
