/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/prompt.c -- whether `cpprof record` goes on to the prompt. */
#include "src/shell/command/arguments.h"

/* In the order of enum prompt_choice. */
static const char *const prompt_choices[] = { "auto", "always", "never",
                                              NULL };

static const struct argument prompt_arguments[] = {
	{ "CHOICE", ARG_CHOICE, ARG_OPTIONAL,
	  "when to open the prompt (default: show the setting)" },
	ARGUMENTS_END
};

static const char *
prompt_get(const struct session *session, struct arena *arena,
           struct error *error)
{
	(void)arena;
	(void)error;
	return prompt_choices[session->settings.prompt];
}

static int
prompt_set(struct session *session, const struct value *value,
           struct error *error)
{
	(void)error;
	session->settings.prompt = (enum prompt_choice)value->count;
	return 0;
}

const struct command command_prompt = {
	.name = "prompt",
	.summary =
	    "whether cpprof record opens the prompt when the program ends",
	.description =
	    "auto (the default): on a terminal, cpprof record opens the "
	    "recording at the prompt, unless something was written to the "
	    "terminal while the program ran; then the output stays visible "
	    "and the shell returns. always and never ignore what was written. "
	    "The options record --prompt and --no-prompt override the setting "
	    "for one recording.\n\n"
	    "To keep a setting, write it to $XDG_CONFIG_HOME/cpprof/settings "
	    "(~/.config/cpprof/settings if that is not set), in the form that "
	    "show prints. The file is read before the prompt opens and by "
	    "record on a terminal, never by scripts.",
	.example = "prompt never",
	.arguments = prompt_arguments,
	.choices = prompt_choices,
	.get = prompt_get,
	.set = prompt_set,
};
