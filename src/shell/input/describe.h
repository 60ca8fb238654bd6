/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.h -- describes the session at the prompt. */
#ifndef CPPROF_SHELL_INPUT_DESCRIBE_H
#define CPPROF_SHELL_INPUT_DESCRIBE_H

#include "src/base/text_buffer.h"
#include "src/shell/session/session.h"

/* Adds "(cpprof main cpu) ". */
void describe_prompt(const struct session *session, struct text_buffer *text);

/* Writes a line about the profile: program, samples, resource. */
void describe_profile(const struct session *session, int descriptor);

/* Writes the banner: the version and the profile. */
void describe_welcome(const struct session *session, int descriptor);

/* Writes which commands to begin with. */
void describe_commands(int descriptor);

#endif
