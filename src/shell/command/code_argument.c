/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_argument.c -- what list and disasm share. */
#include "src/shell/command/code_argument.h"

#include "src/shell/command/resolve_code.h"

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
	if (session->profile != NULL)
		resolve_code_complete(session->profile,
		                      CODE_FUNCTIONS_AND_FILES, completion);
}

static void
complete_code_function(struct completion *completion,
                       const struct session *session,
                       const struct command *command)
{
	(void)command;
	if (session->profile != NULL)
		resolve_code_complete(session->profile, CODE_FUNCTIONS,
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

/* The first frame with the function; NULL: there is none. */
static const struct frame *
frame_of(const struct profile *profile, uint32_t function)
{
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; k < frame->n_locations; k++)
			if (profile->locations[frame->first_location +
			                       k].function == function)
				return frame;
	}
	return NULL;
}

int
code_explain_no_lines(const struct session *session, uint32_t function,
                      struct error *error)
{
	const struct profile *profile = session->profile;
	const struct frame *frame = frame_of(profile, function);
	const char *name = function == NO_NAME ? "this" :
	    names_text(profile->names, function);
	const char *module;

	if (profile->graph != NULL)
		return error_set(error, "no lines are known for %.80s: compile "
		                 "the program with -g and profile it again",
		                 name);
	if (frame == NULL || frame->module == NO_MODULE)
		return error_set(error, frame != NULL && frame->stand_in ==
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
