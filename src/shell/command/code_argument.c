/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_argument.c -- what list and disasm share. */
#include "src/shell/command/resolve.h"

#include <string.h>

#include "src/base/text_buffer.h"
#include "src/shell/terminal/terminal.h"

enum { LISTED = 3 };	/* functions that a message names */

static int
read_code(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	const struct word *first = &words->words[reading->at];
	const struct word *last = &words->words[words->n - 1];

	value->text = first == last ? first->text :
	    arena_text(&reading->arguments->arena,
	               reading->line + first->begin, last->end - first->begin,
	               reading->error);
	reading->at = words->n;
	return value->text != NULL ? 0 : -1;
}

static void
complete_code(struct completion *completion, const struct session *session,
              const struct command *command)
{
	(void)command;
	if (session->subject->profile != NULL)
		resolve_code_complete(session,
		    CODE_FUNCTIONS_AND_FILES, session_has_short_names(session,
		    terminal_is_output()), completion);
}

static void
complete_code_function(struct completion *completion,
                       const struct session *session,
                       const struct command *command)
{
	(void)command;
	if (session->subject->profile != NULL)
		resolve_code_complete(session, CODE_FUNCTIONS,
		    session_has_short_names(session, terminal_is_output()),
		    completion);
}

const struct argument_kind arg_code = {
	.read = read_code,
	.complete = complete_code,
	.handle = HANDLE_FUNCTION,
	.takes_rest = true,
};

const struct argument_kind arg_code_function = {
	.read = read_code,
	.complete = complete_code_function,
	.handle = HANDLE_FUNCTION,
	.takes_rest = true,
};

/* Adds the functions into which one was inlined, at most LISTED of them. */
static size_t
code_argument_add_callers(const struct profile *profile, uint32_t function,
                          struct text_buffer *text)
{
	uint32_t listed[LISTED];
	size_t n = 0;

	for (uint32_t i = 0; i < profile->n_frames && n < LISTED; i++) {
		const struct frame *frame = &profile->frames[i];
		const struct location *chain =
		    &profile->locations[frame->first_location];
		bool is_listed = false;

		for (size_t j = 0; j < n; j++)
			is_listed |= listed[j] == chain[0].function;
		for (uint32_t k = 1; k < frame->n_locations && !is_listed;
		     k++) {
			if (chain[k].function != function)
				continue;
			text_add_string(text, n == 0 ? "" : ", ");
			text_add_word(text, names_text(profile->names,
			              chain[0].function), names_length(
			              profile->names, chain[0].function));
			listed[n++] = chain[0].function;
			is_listed = true;
		}
	}
	return n;
}

bool
code_is_inlined_only(const struct profile *profile, uint32_t function,
                     const char *what, struct error *error)
{
	struct text_buffer callers = { 0 };

	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (profile->locations[profile->frames[i].first_location].
		    function == function)
			return false;
	if (code_argument_add_callers(profile, function, &callers) > 0)
		error_set(error, "%.80s was inlined wherever it occurs, into "
		          "%s: %s", names_text(profile->names, function),
		          text_string(&callers), what);
	text_free(&callers);
	return error->is_set;
}

/* "slow (cart.js:9)", as names of node's code are shown. */
static bool
code_argument_is_javascript(const char *name)
{
	static const char *const endings[] = {
		".js:", ".mjs:", ".cjs:", ".ts:",
	};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (strstr(name, endings[i]) != NULL)
			return true;
	return false;
}

int
code_explain_no_lines(const struct session *session, uint32_t function,
                      struct error *error)
{
	const struct profile *profile = session->subject->profile;
	const uint32_t first = profile_next_frame(profile, function, 0);
	const struct frame *frame = first < profile->n_frames ?
	    &profile->frames[first] : NULL;
	const char *name = function == NO_NAME ? "this" :
	    names_text(profile->names, function);
	const char *module;

	if (function != NO_NAME && code_is_inlined_only(profile, function,
	    "inlines is off; say \"inlines auto\"", error))
		return -1;
	if (profile->graph != NULL)
		return error_set(error, "no lines are known for %.80s: compile "
		                 "the program with -g and profile it again",
		                 name);
	if ((frame == NULL || frame->module == NO_MODULE) &&
	    code_argument_is_javascript(name))
		return error_set(error, "no lines are known for %.80s: node "
		                 "--perf-basic-prof, which --node adds, writes "
		                 "names only; record node --perf-prof, or open "
		                 "what node --cpu-prof writes", name);
	if (frame == NULL || frame->module == NO_MODULE)
		return error_set(error, frame != NULL && frame->placeholder ==
		    FRAME_OF_JIT ? "no lines are known for %.80s: it is code "
		    "generated at run time" : "no lines are known for %.80s: "
		    "the profile has its name, but neither lines nor "
		    "addresses", name);
	module = profile_module_name(profile, frame->module);
	if (*profile->modules[frame->module].path == '[')
		return error_set(error, "no lines are known for %.80s: %.80s "
		                 "is not a file", name, module);
	return error_set(error, "no lines are known for %.80s: there is no "
	    "debug information for %.80s; compile it with -g, or install its "
	    "debug symbols, then start cpprof again", name, module);
}

int
code_explain_no_code(const struct profile *profile,
                     const struct function_code *code, struct error *error)
{
	static const char *const why[] = {
		[DISASSEMBLY_MISSING] = "was not found; say where it is with "
		    "\"symfs DIR\"",
		[DISASSEMBLY_UNREADABLE] = "cannot be read",
		[DISASSEMBLY_DIFFERS] = "is another build than the one that "
		    "was profiled; say where that is with \"symfs DIR\"",
		[DISASSEMBLY_NO_DECODER] = "cannot be decoded: capstone "
		    "does not know its machine, or is not installed",
		[DISASSEMBLY_NO_CODE] = "has no function at the addresses of "
		    "the samples",
	};
	const char *name = names_text(profile->names, code->function);

	if (code->n_frames == 0)
		return code_is_inlined_only(profile, code->function,
		    "disassemble that", error) ? -1 :
		    error_set(error, "%.80s has no code that can be shown: "
		              "the profile has no address of it in a file",
		              name);
	return error_set(error, "no code for %.80s: %.200s %s", name,
	                 profile->modules[code->without].path,
	                 why[code->state]);
}
