/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argument_kinds.h -- the kinds of argument that commands share.
 *
 * A command's row names them; see struct argument_kind for what a kind says.
 * The comments say what a kind sets in struct value besides is_given and text.
 */
#ifndef CPPROF_SHELL_COMMAND_ARGUMENT_KINDS_H
#define CPPROF_SHELL_COMMAND_ARGUMENT_KINDS_H

#include "src/shell/command/arguments.h"

extern const struct argument_kind
    arg_function,	/* one function of the profile, or a pattern that
			 * matches only one: names[1] */
    arg_functions,	/* the same, but a pattern may match several: names */
    arg_pattern,	/* a name, glob or /expression/: pattern */
    arg_path,		/* (main f |operator new(unsigned long)|): names */
    arg_paths,		/* the same, or several, each in parentheses or a
			 * handle: names, path_ends */
    arg_path_pattern,	/* one path with patterns and "..."; also a
			 * list of patterns: pattern_words */
    arg_frame_patterns,	/* patterns of functions, each on its own, so that
			 * %3 is one: pattern_words */
    arg_fraction,	/* 0.01 or 1%: fraction */
    arg_count,		/* a positive number or "off", called N|off in the
			 * row: count */
    arg_rows,		/* a positive number: count */
    arg_digits,		/* a number from 0 to 15: count */
    arg_choice,		/* one of the command's choices: count */
    arg_resource,	/* a resource of the profile: count */
    arg_file,		/* a file name: words */
    arg_file_or_off,	/* the same, or "off": words */
    arg_command,	/* the name of a command: command */
    arg_setting,	/* the name of a setting: command */
    arg_setting_value,	/* after arg_setting: all that is left but
			 * redirections, as typed */
    arg_word,		/* any word */
    arg_group,		/* the same, usually the name of a group */
    arg_new_group,	/* the same, a name that may be new */
    arg_group_sign,	/* arg_choice, after such a name */
    arg_words,		/* a program to run with its arguments: words */
    arg_options_and_files,	/* words, of which some are options: words */
    arg_shell_line,	/* the rest of the line, for sh */
    arg_command_line;	/* the rest of the line, one of our commands,
			 * perhaps after a number */

#endif
