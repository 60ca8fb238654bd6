/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/disasm.c -- instructions of a function, with their hits. */
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/shell/command/command.h"
#include "src/shell/command/resolve.h"
#include "src/views/code/code.h"

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
	struct table *table;
	struct function_code code;
	struct listed_instruction *instructions;	/* [of the code] */
	struct place_hits *hits;
	struct code_sources sources;
};

static int
list_instructions(struct gathering *gathering, struct error *error)
{
	const struct function_code *code = &gathering->code;
	struct listed_instruction *list = memory_array(code->disassembly.n,
	                                               sizeof *list, error);

	gathering->instructions = list;
	for (size_t k = 0; list != NULL && k < code->n_modules; k++) {
		const struct module_code *part = &code->modules[k];

		for (size_t i = part->first; i < part->end; i++) {
			const struct instruction *from =
			    &code->disassembly.items[i];

			list[i] = (struct listed_instruction){
				.address = from->address,
				.text = table_text(gathering->table, error,
				                   "%s", from->text),
				.name_begin = from->name_begin,
				.n_name = from->n_name,
				.module = profile_module_name(
				    gathering->session->subject->profile,
				    part->module),
				.part = from->part,
			};
			if (list[i].text == NULL)
				return -1;
		}
	}
	return list != NULL ? 0 : -1;
}

/* ---- source lines ---- */

static int
disasm_take_line(void *context, size_t number, const struct location *chain,
                 size_t n, const struct names *names, struct error *error)
{
	struct gathering *gathering = context;
	struct listed_instruction *instruction =
	    &gathering->instructions[number];
	const struct location *innermost = &chain[n - 1];
	const uint32_t line = innermost->line;
	const struct code_source *source;

	if (innermost->file == NO_NAME || line == 0)
		return 0;
	instruction->file = names_text(names, innermost->file);
	instruction->line = line;
	instruction->source = NULL;
	source = code_sources_read(&gathering->sources, instruction->file,
	                           error);
	if (source != NULL && line <= source->file.text.n)
		instruction->source = table_text(gathering->table, error, "%s",
		    source->file.text.lines[line - 1]);
	return error->is_set ? -1 : 0;
}

/* ---- the command ---- */

static int
disasm_show(struct gathering *gathering, bool has_lines, struct error *error)
{
	struct session *session = gathering->session;
	const struct view_request request = session_request(session);
	struct function_code *code = &gathering->code;
	uint32_t n = (uint32_t)code->disassembly.n;
	struct disassembled disassembled = {
		.function = code->function,
		.n = n,
		.has_lines = has_lines,
	};
	struct code_set set;

	if (list_instructions(gathering, error) != 0 ||
	    (has_lines && function_code_lines(code, session, UINT64_MAX,
	                                      disasm_take_line, gathering,
	                                      error) != 0))
		return -1;
	/* Addresses that no instruction has share a place. */
	for (size_t i = 0; i < code->n_frames; i++)
		if (code->place[code->frames[i]] == NO_PLACE)
			code->place[code->frames[i]] = n;
	gathering->hits = memory_array((size_t)n + 1, sizeof *gathering->hits,
	                               error);
	if (gathering->hits == NULL ||
	    session_code(session, &set, error) != 0 ||
	    code_hits_of_frames(&set, code->place, n + 1, gathering->hits,
	                        &disassembled.all, error) != 0)
		return -1;
	disassembled.instructions = gathering->instructions;
	disassembled.hits = gathering->hits;
	return view_disasm(&request, &disassembled, gathering->table, error);
}

/* Inlined functions are known only once lines were read. */
static int
disasm_resolve(struct session *session, const char *text, uint32_t *function,
               struct error *error)
{
	struct code_scope scope;
	struct error first = { 0 };
	uint32_t line;
	int status = resolve_code(session, CODE_FUNCTIONS, text,
	                          &scope, &line, &first);

	if (status != 0 && (session_read_lines(session, error) != 0 ||
	                    resolve_code(session, CODE_FUNCTIONS,
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
	struct gathering gathering = {
		.session = session,
		.table = table,
		.sources = { .session = session },
	};
	uint32_t function;
	int status;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (session->subject->profile->tree == NULL)
		return error_set(error, "disasm needs addresses, and a profile "
		                 "of calls without stacks has none");
	if (disasm_resolve(session, arguments->values[1].text, &function,
	                   error) != 0)
		return -1;
	status = function_code_read(&gathering.code, session, function, error);
	if (status == 0)
		status = gathering.code.disassembly.n == 0 ?
		         code_explain_no_code(session->subject->profile,
		                              &gathering.code, error) :
		         disasm_show(&gathering, has_lines, error);
	code_sources_free(&gathering.sources);
	free(gathering.instructions);
	free(gathering.hits);
	function_code_free(&gathering.code);
	return status;
}

const struct command command_disasm = {
	.name = "disasm",
	.words = COMMAND_WORDS(/* gdb */ MEANS("disassemble")),
	.group = GROUP_ASK,
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
