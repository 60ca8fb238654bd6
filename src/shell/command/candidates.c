/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates.c -- what each kind of argument may be. */
#include "src/shell/command/candidates.h"

#include <string.h>

#include "src/shell/command/command.h"

void
complete_functions(struct completion *completion,
                   const struct session *session,
                   const struct command *command)
{
	uint32_t n;
	const uint32_t *functions = session_functions(session, &n);

	(void)command;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t name = functions[i];
		const struct names *names = session->profile->names;

		completion_offer(completion, names_text(names, name),
		                 names_length(names, name));
	}
}

void
complete_off(struct completion *completion, const struct session *session,
             const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer(completion, "off", 3);
}

void
complete_choices(struct completion *completion,
                 const struct session *session, const struct command *command)
{
	(void)session;
	for (size_t i = 0; command->choices[i] != NULL; i++)
		completion_offer(completion, command->choices[i],
		                 strlen(command->choices[i]));
}

void
complete_resources(struct completion *completion,
                   const struct session *session,
                   const struct command *command)
{
	(void)command;
	for (uint32_t r = 0; session->profile != NULL &&
	     r < session->profile->n_resources; r++) {
		const char *name = session->profile->resources[r].name;

		completion_offer(completion, name, strlen(name));
	}
}

void
complete_files(struct completion *completion, const struct session *session,
               const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer_files(completion);
}

void
complete_commands(struct completion *completion,
                  const struct session *session,
                  const struct command *command)
{
	(void)session;
	(void)command;
	for (size_t i = 0; commands[i] != NULL; i++)
		completion_offer(completion, commands[i]->name,
		                 strlen(commands[i]->name));
}

void
complete_settings(struct completion *completion,
                  const struct session *session,
                  const struct command *command)
{
	(void)session;
	(void)command;
	for (size_t i = 0; commands[i] != NULL; i++)
		if (commands[i]->set != NULL)
			completion_offer(completion, commands[i]->name,
			                 strlen(commands[i]->name));
}
