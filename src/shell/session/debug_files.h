/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_files.h -- whether and when debuginfod servers are asked.
 *
 * A server learns what is profiled here, and a profile may name any build.  So
 * none is asked unless the user wants that: the setting `debuginfod` is on, by
 * the user's hand or by DEBUGINFOD_URLS, or the user answers yes.  Scripts and
 * assistants are never asked, and with --read-only no server is.
 */
#ifndef CPPROF_SHELL_SESSION_DEBUG_FILES_H
#define CPPROF_SHELL_SESSION_DEBUG_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/profile.h"

struct session;

/* In the order of the setting's values. */
enum debug_files_choice { DEBUG_FILES_ASK, DEBUG_FILES_ON, DEBUG_FILES_OFF };

/* What a session asked the servers.  Start with `{ 0 }`. */
struct debug_files {
	struct names *asked;	/* each build-id, or it and a source's path;
				 * NULL: none */
	bool was_told;		/* that no server is known */
	bool was_failure_noted;	/* of a server or of this machine */
	unsigned n_failures;	/* one after the other */
	char *hint;		/* what to type for names that are missing;
				 * NULL: nothing is */
};

void debug_files_free(struct debug_files *files);

/*
 * The setting at the start: on if the user has set DEBUGINFOD_URLS, else to ask
 * if standard input and output are terminals, else off.
 */
enum debug_files_choice debug_files_start(void);

/*
 * Whether this command may turn the setting on: one that the user typed, on the
 * command line, at the prompt or in an own file.  A script may be from somebody
 * else.
 */
bool debug_files_may_turn_on(const struct session *session);

/*
 * Fetches the debug files that a profile lacks, if the user wants that; of a
 * resource, by its hits.  May ask the user.  Sets *has_new: files came, so that
 * reading the profile again gives it more names.  Else says what to type for
 * these names (hint).  Notes tell what came and what failed, each once.  Ctrl-C
 * ends the fetching, not the caller's work.  0, or -1 with *error set.
 */
int debug_files_get(struct session *session, const struct profile *profile,
                    uint32_t resource, bool *has_new, struct error *error);

/* Forgets what was asked, so that servers are asked again. */
void debug_files_forget(struct session *session);

/*
 * Fetches a source file of a module, if the setting is on.  Whether it is at
 * *found now.
 */
bool debug_files_get_source(struct session *session,
                            const struct module *module, const char *source,
                            char found[PATH_MAX]);

#endif
