/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands.c -- the table of commands, from the list of their names. */
#include "src/shell/command/command.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands/names.def"
#undef COMMAND

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands/names.def"
#undef COMMAND
	NULL
};
