/* SPDX-License-Identifier: GPL-3.0-or-later */
/* member_file.h -- where the file of a merged profile's member is now.
 *
 * A merged profile has the name that the file had when it was merged, and the
 * identity: the hash of its content, or what --id said.  So a file under that
 * name is read and its hash compared; one with a given identity is believed.
 */
#ifndef CPPROF_SHELL_SESSION_MEMBER_FILE_H
#define CPPROF_SHELL_SESSION_MEMBER_FILE_H

#include "src/base/error.h"
#include "src/shell/session/member.h"
#include "src/shell/session/session.h"

enum member_file_state {
	MEMBER_FILE_MISSING,	/* nowhere, or its name is unknown */
	MEMBER_FILE_CHANGED,	/* files of that name have other content */
	MEMBER_FILE_UNCHECKED,	/* found by its name alone */
	MEMBER_FILE_CHECKED,	/* found, with the content that was merged */
};

struct member_file {
	enum member_file_state state;
	char *path;		/* freed with free(); NULL: missing.  Of
				 * MEMBER_FILE_CHANGED the first such file */
};

/*
 * Searches the name itself; then below the directories of the merged profiles and
 * below the session's directories, each with the whole name, the name without
 * its first component, and so on.  Only files and directories are opened.  0,
 * or -1 with *error set: no memory, or interrupted.
 */
int member_file_find(const struct session *session,
                     const struct found_member *member,
                     struct member_file *file, struct error *error);

#endif
