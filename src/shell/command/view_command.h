/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_command.h -- runs a view for a command. */
#ifndef CPPROF_SHELL_COMMAND_VIEW_COMMAND_H
#define CPPROF_SHELL_COMMAND_VIEW_COMMAND_H

#include "src/shell/command/arguments.h"
#include "src/shell/session/session.h"
#include "src/views/sections.h"

/* Shows a view of the profile with the current root and settings. */
int view_command(struct session *session, view_function *view,
                 struct table *table, struct error *error);

/* The same around the function that was given, if one was. */
int view_command_rooted(struct session *session, view_function *view,
                        const struct value *root, struct table *table,
                        struct error *error);

/*
 * The same for what matches the pattern that was given, if one was; an error if
 * nothing does.
 */
int view_command_matching(struct session *session, view_function *view,
                          const struct value *pattern, struct table *table,
                          struct error *error);

/*
 * The arguments [N] [PATTERN], in either order, and what runs a view with
 * them.
 */
#define LISTING_ARGUMENTS \
	{ "N", &arg_rows, ARG_OPTIONAL | ARG_ANYWHERE, \
	  "how many rows (default: as limit and threshold say)" }, \
	{ "PATTERN", &arg_pattern, ARG_OPTIONAL, \
	  "which functions to list (default: all)" }, \
	ARGUMENTS_END

int view_command_listing(struct session *session, view_function *view,
                         const struct arguments *arguments,
                         struct table *table, struct error *error);

/*
 * Shows a view of threads, processes or labels.  *wanted: what the command asks
 * for; the totals are filled in, and freed before it returns.
 */
int view_command_sections(struct session *session, section_view *view,
                          struct section_request *wanted,
                          struct table *table, struct error *error);

#endif
