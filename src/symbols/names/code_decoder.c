/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_decoder.c -- capstone, loaded when it is first needed. */
#include "src/symbols/names/code_decoder.h"

#include "src/base/shared_library.h"

#define CODE_DECODER_TEXT_OF(number) #number
#define CODE_DECODER_LIBRARY(version) "libcapstone.so." CODE_DECODER_TEXT_OF(version)

static struct {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *allocate;
	__typeof__(cs_free) *release;
	__typeof__(cs_disasm_iter) *decode;
	__typeof__(cs_insn_group) *is_in;
} capstone;

static bool
code_decoder_load(void)
{
	static const struct shared_library_function functions[] = {
		{ "cs_close", &capstone.close },
		{ "cs_option", &capstone.option },
		{ "cs_malloc", &capstone.allocate },
		{ "cs_free", &capstone.release },
		{ "cs_disasm_iter", &capstone.decode },
		{ "cs_insn_group", &capstone.is_in },
		{ "cs_open", &capstone.open },
	};

	return capstone.open != NULL || shared_library_load(
	    CODE_DECODER_LIBRARY(CS_API_MAJOR), functions,
	    sizeof functions / sizeof *functions);
}

bool
code_decoder_open(struct code_decoder *decoder, cs_arch arch, cs_mode mode,
                  bool shows_data)
{
	if (!code_decoder_load() ||
	    capstone.open(arch, mode, &decoder->engine) != CS_ERR_OK)
		return false;
	capstone.option(decoder->engine, CS_OPT_DETAIL, CS_OPT_ON);
	if (shows_data)
		capstone.option(decoder->engine, CS_OPT_SKIPDATA, CS_OPT_ON);
	decoder->instruction = capstone.allocate(decoder->engine);
	if (decoder->instruction != NULL)
		return true;
	capstone.close(&decoder->engine);
	return false;
}

void
code_decoder_close(struct code_decoder *decoder)
{
	capstone.release(decoder->instruction, 1);
	capstone.close(&decoder->engine);
}

bool
code_decoder_next(struct code_decoder *decoder, const uint8_t **code,
                  size_t *size, uint64_t *address)
{
	return capstone.decode(decoder->engine, code, size, address,
	                       decoder->instruction);
}

bool
code_decoder_is_in(const struct code_decoder *decoder, cs_group_type group)
{
	return capstone.is_in(decoder->engine, decoder->instruction, group);
}
