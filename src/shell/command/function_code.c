/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_code.c -- the instructions of a profile's function. */
#include "src/shell/command/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/views/code/code.h"

void
function_code_free(struct function_code *code)
{
	free(code->frames);
	free(code->place);
	free(code->modules);
	disassembly_free(&code->disassembly);
}

/* Decodes the code of frames[n], all of one module. */
static int
decode_module(struct function_code *code, const struct session *session,
              const uint32_t *frames, size_t n, struct error *error)
{
	const struct profile *profile = session->subject->profile;
	uint32_t module = profile->frames[frames[0]].module;
	const struct module_file wanted = module_file_of(
	    &profile->modules[module],
	    (struct symbol_search){ .root = session->symfs });
	struct disassembly *disassembly = &code->disassembly;
	uint64_t *addresses = memory_array(n, sizeof *addresses, error);
	size_t first = disassembly->n;
	enum disassembly_state state;
	int status;

	if (addresses == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		addresses[i] = profile->frames[frames[i]].address;
	status = disassembly_add(disassembly, &wanted, addresses, n, &state,
	                         error);
	if (status == 0 && state != DISASSEMBLY_READ) {
		code->state = state;
		code->without = module;
	}
	for (size_t i = 0; status == 0 && i < n; i++) {
		size_t at = disassembly_find(disassembly, first,
		                             disassembly->n, addresses[i]);

		code->place[frames[i]] = at == SIZE_MAX ? NO_PLACE :
		                         (uint32_t)at;
	}
	free(addresses);
	code->modules[code->n_modules++] = (struct module_code){
		module, first, disassembly->n,
	};
	return status;
}

int
function_code_read(struct function_code *code, const struct session *session,
                   uint32_t function, struct error *error)
{
	const struct profile *profile = session->subject->profile;
	size_t begin, end;

	*code = (struct function_code){
		.function = function,
		.without = NO_MODULE,
	};
	code->frames = memory_array(profile->n_frames, sizeof *code->frames,
	                            error);
	code->place = memory_array(profile->n_frames, sizeof *code->place,
	                           error);
	code->modules = memory_array(profile->n_modules,
	                             sizeof *code->modules, error);
	if (code->frames == NULL || code->place == NULL ||
	    code->modules == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		code->place[i] = NO_PLACE;
		if (frame->module != NO_MODULE &&
		    profile->locations[frame->first_location].function ==
		    code->function)
			code->frames[code->n_frames++] = i;
	}
	profile_sort_frames(profile, code->frames, code->n_frames);
	for (begin = 0; begin < code->n_frames; begin = end) {
		uint32_t module = profile->frames[code->frames[begin]].module;

		for (end = begin + 1; end < code->n_frames &&
		     profile->frames[code->frames[end]].module == module;
		     end++)
			;
		if (decode_module(code, session, code->frames + begin,
		                  end - begin, error) != 0)
			return -1;
	}
	return 0;
}

/* Passes on what is found of a module, with the instruction's number. */
struct asking {
	size_t first;
	int (*found)(void *context, size_t instruction,
	             const struct location *chain, size_t n,
	             const struct names *names, struct error *error);
	void *context;
};

static int
function_code_take(void *context, size_t which, const struct location *chain,
                   size_t n, const struct names *names, struct error *error)
{
	const struct asking *asking = context;

	return asking->found(asking->context, asking->first + which, chain, n,
	                     names, error);
}

int
function_code_lines(const struct function_code *code,
                    struct session *session, uint64_t most_bytes,
                    int (*found)(void *context, size_t instruction,
                                 const struct location *chain, size_t n,
                                 const struct names *names,
                                 struct error *error),
                    void *context, struct error *error)
{
	struct address_lines *lines = session_address_lines(session, error);
	uint64_t *addresses = memory_array(code->disassembly.n,
	                                   sizeof *addresses, error);
	int status = lines != NULL && addresses != NULL ? 0 : -1;

	for (size_t i = 0; status == 0 && i < code->disassembly.n; i++)
		addresses[i] = code->disassembly.items[i].address;
	for (size_t i = 0; status == 0 && i < code->n_modules; i++) {
		const struct module_code *part = &code->modules[i];
		struct asking asking = { part->first, found, context };

		status = address_lines_find(lines,
		    &session->subject->profile->modules[part->module],
		    addresses + part->first, part->end - part->first,
		    most_bytes, function_code_take, &asking, error);
	}
	free(addresses);
	return status;
}

/* ---- where the function begins and ends ---- */

/* Beyond it, lines of all the function's code would take too long to read. */
enum { DEBUG_BYTES_MOST = 32 << 20 };

/* The file whose lines are looked for, and the first and last of them. */
struct code_extent {
	const char *file;
	uint32_t first, last;
};

static int
function_code_take_line(void *context, size_t instruction,
                        const struct location *chain, size_t n,
                        const struct names *names, struct error *error)
{
	struct code_extent *extent = context;

	(void)instruction;
	(void)n;
	(void)error;
	if (chain[0].line == 0 || chain[0].file == NO_NAME ||
	    strcmp(names_text(names, chain[0].file), extent->file) != 0)
		return 0;
	if (extent->first == 0 || chain[0].line < extent->first)
		extent->first = chain[0].line;
	if (chain[0].line > extent->last)
		extent->last = chain[0].line;
	return 0;
}

int
function_code_extent(struct session *session, uint32_t function,
                     const char *file, uint32_t *first, uint32_t *last,
                     struct error *error)
{
	struct code_extent extent = { .file = file };
	struct function_code code;
	int status = function_code_read(&code, session, function, error);

	if (status == 0)
		status = function_code_lines(&code, session, DEBUG_BYTES_MOST,
		                             function_code_take_line, &extent,
		                             error);
	function_code_free(&code);
	*first = extent.first;
	*last = extent.last;
	return status;
}
