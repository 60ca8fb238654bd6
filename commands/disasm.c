/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/disasm.c -- instructions of a function, with their hits. */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/shell/command/argument_kinds.h"
#include "src/shell/command/code_argument.h"
#include "src/shell/command/resolve_code.h"
#include "src/symbols/code/disassembly.h"
#include "src/symbols/lines/source_file.h"
#include "src/views/disasm.h"

static const char *const disasm_choices[] = { "--source", NULL };

static const struct argument disasm_arguments[] = {
	{ "--source", &arg_choice, ARG_OPTIONAL | ARG_SWITCH,
	  "show the source lines between the instructions" },
	{ "FUNCTION", &arg_code_function, 0, "the function to show" },
	ARGUMENTS_END
};

/* What is gathered for the view; texts are the table's. */
struct gathering {
	struct session *session;
	uint32_t function;
	struct table *table;
	uint32_t *frames;		/* [n_frames] the function's, by module
					 * and address */
	size_t n_frames;
	struct disassembly disassembly;
	enum disassembly_state state;	/* of the last module without code */
	uint32_t without;		/* that module */
	uint32_t *place;		/* [profile's frames] instruction */
	struct listed_instruction *instructions;
	uint64_t *addresses;		/* room */
	struct place_hits *hits;
	/* The sources that were read, one after the other. */
	struct source_file *sources;
	const char **source_names;
	size_t n_sources, sources_capacity, names_capacity;
};

static void
gathering_free(struct gathering *gathering)
{
	for (size_t i = 0; i < gathering->n_sources; i++)
		source_file_free(&gathering->sources[i]);
	free(gathering->sources);
	free(gathering->source_names);
	free(gathering->frames);
	free(gathering->place);
	free(gathering->instructions);
	free(gathering->addresses);
	free(gathering->hits);
	disassembly_free(&gathering->disassembly);
}

/* ---- which code ---- */

/* The frames whose code is the function's. */
static int
find_frames(struct gathering *gathering, struct error *error)
{
	const struct profile *profile = gathering->session->profile;

	gathering->frames = memory_array(profile->n_frames,
	                                 sizeof *gathering->frames, error);
	gathering->place = memory_array(profile->n_frames,
	                                sizeof *gathering->place, error);
	if (gathering->frames == NULL || gathering->place == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		gathering->place[i] = NO_PLACE;
		if (frame->module != NO_MODULE &&
		    profile->locations[frame->first_location].function ==
		    gathering->function)
			gathering->frames[gathering->n_frames++] = i;
	}
	profile_sort_frames(profile, gathering->frames, gathering->n_frames);
	return 0;
}

/* Decodes the code of frames[n], all of one module. */
static int
decode_module(struct gathering *gathering, const uint32_t *frames, size_t n,
              struct error *error)
{
	const struct profile *profile = gathering->session->profile;
	const struct module *module =
	    &profile->modules[profile->frames[frames[0]].module];
	const struct module_file wanted = module_file_of(module,
	    (struct symbol_search){ .root = gathering->session->symfs });
	struct disassembly *disassembly = &gathering->disassembly;
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
		gathering->state = state;
		gathering->without = profile->frames[frames[0]].module;
	}
	for (size_t i = 0; status == 0 && i < n; i++) {
		size_t at = disassembly_find(disassembly, first,
		                             disassembly->n, addresses[i]);

		gathering->place[frames[i]] = at == SIZE_MAX ? NO_PLACE :
		                              (uint32_t)at;
	}
	free(addresses);
	return status;
}

/* Takes over the instructions of the module that was decoded last. */
static int
list_instructions(struct gathering *gathering, size_t first,
                  const char *module, struct error *error)
{
	const struct disassembly *disassembly = &gathering->disassembly;
	struct listed_instruction *more = reallocarray(
	    gathering->instructions, disassembly->n + 1, sizeof *more);

	if (more == NULL)
		return error_out_of_memory(error);
	gathering->instructions = more;
	for (size_t i = first; i < disassembly->n; i++) {
		const struct instruction *from = &disassembly->items[i];

		more[i] = (struct listed_instruction){
			.address = from->address,
			.text = table_text(gathering->table, error, "%s",
			                   from->text),
			.module = module,
			.part = from->part,
		};
		if (more[i].text == NULL)
			return -1;
	}
	return 0;
}

/* ---- source lines ---- */

/* The text of a line, or NULL; reads each file once. */
static const char *
source_line(struct gathering *gathering, const char *file, uint32_t line,
            struct error *error)
{
	const struct session *session = gathering->session;
	const struct source_search search = {
		.directories = (const char *const *)session->directories,
		.n_directories = session->n_directories,
		.root = session->symfs,
	};
	const struct text_lines *text;
	size_t i = 0;

	while (i < gathering->n_sources &&
	       strcmp(gathering->source_names[i], file) != 0)
		i++;
	if (i == gathering->n_sources) {
		if (memory_grow(&gathering->sources,
		                &gathering->sources_capacity, i + 1,
		                sizeof *gathering->sources, error) != 0 ||
		    memory_grow(&gathering->source_names,
		                &gathering->names_capacity, i + 1,
		                sizeof *gathering->source_names, error) != 0)
			return NULL;
		gathering->source_names[i] = file;
		gathering->n_sources++;
		if (source_file_read(&gathering->sources[i], file, &search,
		                     error) != 0)
			return NULL;
	}
	text = &gathering->sources[i].text;
	return line >= 1 && line <= text->n ?
	       table_text(gathering->table, error, "%s",
	                  text->lines[line - 1]) : NULL;
}

/* The addresses of one module's instructions, from number `first` on. */
struct asking {
	struct gathering *gathering;
	size_t first;
};

static int
take_line(void *context, size_t which, const struct location *chain, size_t n,
          const struct names *names, struct error *error)
{
	const struct asking *asking = context;
	struct listed_instruction *instruction =
	    &asking->gathering->instructions[asking->first + which];
	const struct location *innermost = &chain[n - 1];

	if (innermost->file == NO_NAME || innermost->line == 0)
		return 0;
	instruction->file = names_text(names, innermost->file);
	instruction->line = innermost->line;
	instruction->source = source_line(asking->gathering,
	    instruction->file, instruction->line, error);
	return error->is_set ? -1 : 0;
}

static int
find_lines(struct gathering *gathering, size_t first,
           const struct module *module, struct error *error)
{
	size_t n = gathering->disassembly.n - first;
	struct address_lines *lines = session_address_lines(
	    gathering->session, error);
	uint64_t *addresses = memory_array(n, sizeof *addresses, error);
	struct asking asking = { gathering, first };
	int status = -1;

	for (size_t i = 0; addresses != NULL && i < n; i++)
		addresses[i] = gathering->instructions[first + i].address;
	if (lines != NULL && addresses != NULL)
		status = address_lines_find(lines, module, addresses, n, NULL,
		                            take_line, &asking, error);
	free(addresses);
	return status;
}

/* ---- the command ---- */

static int
gather(struct gathering *gathering, bool has_lines, struct error *error)
{
	const struct profile *profile = gathering->session->profile;
	size_t begin, end;

	for (begin = 0; begin < gathering->n_frames; begin = end) {
		uint32_t module =
		    profile->frames[gathering->frames[begin]].module;
		size_t first = gathering->disassembly.n;

		for (end = begin + 1; end < gathering->n_frames &&
		     profile->frames[gathering->frames[end]].module == module;
		     end++)
			;
		if (decode_module(gathering, gathering->frames + begin,
		                  end - begin, error) != 0 ||
		    list_instructions(gathering, first,
		                      profile_module_name(profile, module),
		                      error) != 0 ||
		    (has_lines && find_lines(gathering, first,
		                             &profile->modules[module],
		                             error) != 0))
			return -1;
	}
	return 0;
}

/* Why there is no instruction, and what to do. */
static int
explain_no_code(const struct gathering *gathering, struct error *error)
{
	static const char *const why[] = {
		[DISASSEMBLY_MISSING] = "was not found; say where it is with "
		    "\"symfs DIR\"",
		[DISASSEMBLY_UNREADABLE] = "cannot be read",
		[DISASSEMBLY_DIFFERS] = "is another build than the one that "
		    "was profiled; say where that is with \"symfs DIR\"",
		[DISASSEMBLY_NO_DECODER] = "is for a machine whose code "
		    "cpprof cannot decode",
		[DISASSEMBLY_NO_CODE] = "has no function at the addresses of "
		    "the samples",
	};
	const struct profile *profile = gathering->session->profile;
	const char *name = names_text(profile->names, gathering->function);

	if (gathering->n_frames == 0)
		return code_is_inlined_only(profile, gathering->function,
		    "disassemble that", error) ? -1 :
		    error_set(error, "%.80s has no code that can be shown: "
		              "the profile has no addresses for it", name);
	return error_set(error, "no code for %.80s: %.200s %s", name,
	                 profile->modules[gathering->without].path,
	                 why[gathering->state]);
}

static int
show(struct gathering *gathering, bool has_lines, struct error *error)
{
	struct session *session = gathering->session;
	const struct view_request request = session_request(session);
	uint32_t n = (uint32_t)gathering->disassembly.n;
	struct disassembled code = {
		.function = gathering->function,
		.instructions = gathering->instructions,
		.n = n,
		.has_lines = has_lines,
	};
	struct code_set set;

	/* Addresses that no instruction has share a place. */
	for (size_t i = 0; i < gathering->n_frames; i++)
		if (gathering->place[gathering->frames[i]] == NO_PLACE)
			gathering->place[gathering->frames[i]] = n;
	gathering->hits = memory_array((size_t)n + 1, sizeof *gathering->hits,
	                               error);
	if (gathering->hits == NULL ||
	    session_code(session, &set, error) != 0 ||
	    code_hits_of_frames(&set, gathering->place, n + 1,
	                        gathering->hits, &code.all, error) != 0)
		return -1;
	code.hits = gathering->hits;
	return view_disasm(&request, &code, gathering->table, error);
}

/* Inlined functions are known only once lines were read. */
static int
resolve(struct session *session, const char *text, uint32_t *function,
        struct error *error)
{
	struct code_scope scope;
	struct error first = { 0 };
	uint32_t line;
	int status = resolve_code(session->profile, CODE_FUNCTIONS, text,
	                          &scope, &line, &first);

	if (status != 0 && (session_read_lines(session, error) != 0 ||
	                    resolve_code(session->profile, CODE_FUNCTIONS,
	                                 text, &scope, &line, error) != 0))
		return -1;
	*function = scope.function;
	return 0;
}

static int
disasm_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	bool has_lines = arguments->values[0].is_given;
	struct gathering gathering = { .session = session, .table = table };
	int status = -1;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (session->profile->tree == NULL)
		return error_set(error, "disasm needs addresses, and a profile "
		                 "of calls without stacks has none");
	if (resolve(session, arguments->values[1].text, &gathering.function,
	            error) == 0 && find_frames(&gathering, error) == 0 &&
	    gather(&gathering, has_lines, error) == 0)
		status = gathering.disassembly.n == 0 ?
		         explain_no_code(&gathering, error) :
		         show(&gathering, has_lines, error);
	gathering_free(&gathering);
	return status;
}

const struct command command_disasm = {
	.name = "disasm",
	.summary = "instructions of a function, with their hits",
	.description =
	    "For each instruction: self, the hits at which it was the one "
	    "that the processor was about to execute or had just executed, "
	    "and total, the hits of the stacks that contain it. Each stack "
	    "counts once for an instruction, however often recursion repeats "
	    "it. The stack contains the address to which a call will return; "
	    "its hits belong to the call.\n\n"
	    "Time shows up a little late: a sample is taken at the "
	    "instruction after the one that took the time, or further on.\n\n"
	    "The code comes from the program or library of the build that was "
	    "profiled, and the addresses are those of its file, as objdump -d "
	    "shows them. Inlined calls are part of the function's code. With "
	    "--source, each run of instructions is below its source line. "
	    "Instructions with less than the threshold's share of the "
	    "function are shown only beside others; ... stands for those "
	    "left out.",
	.example = "disasm main",
	.arguments = disasm_arguments,
	.choices = disasm_choices,
	.run = disasm_run,
};
