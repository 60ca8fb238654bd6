/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_files.c -- whether and when debuginfod servers are asked. */
#include "src/shell/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/base/writer.h"
#include "src/shell/terminal/terminal.h"
#include "src/symbols/elf/debuginfod.h"
#include "src/symbols/lines/missing_files.h"

enum {
	DEBUG_FILES_LISTED = 3,		/* modules that a note names */
	DEBUG_FILES_WIDTH = 40,		/* columns of a name */
	DEBUG_FILES_FAILURES = 3,	/* after which no server is asked */
	DEBUG_FILES_SECONDS = 900,	/* for all debug files of a profile, and
					 * for a source */
	DEBUG_FILES_PART = 100,		/* of the hits, without names, for which
					 * the user is bothered */
	DEBUG_FILES_URLS = 8192,	/* bytes */
};

enum debug_files_choice
debug_files_start(void)
{
	if (debuginfod_is_set_by_user(DEBUGINFOD_DIRECTORY))
		return DEBUG_FILES_ON;
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ?
	       DEBUG_FILES_ASK : DEBUG_FILES_OFF;
}

bool
debug_files_may_turn_on(const struct session *session)
{
	return session->reads_own_files ||
	    (session->reads_arguments && session->script_depth == 0) ||
	    (session->is_interactive && session->script_depth == 0);
}

/* Whether there is somebody to ask, who waits for the profile. */
static bool
debug_files_may_ask(const struct session *session)
{
	return session->settings.debuginfod == DEBUG_FILES_ASK &&
	    isatty(STDIN_FILENO) && terminal_is_output() &&
	    (session->opens_prompt || session->is_interactive) &&
	    session->script_depth == 0 && !session->is_watching;
}

void
debug_files_free(struct debug_files *files)
{
	names_free(files->asked);
	free(files->hint);
	*files = (struct debug_files){ 0 };
}

void
debug_files_forget(struct session *session)
{
	debug_files_free(&session->debug_files);
}

/* ---- what a user reads ---- */

/* Adds "libfoo.so.1, prog and 2 more": the modules with a state. */
static void
debug_files_add_list(struct text_buffer *text, const struct profile *profile,
                     const struct missing_files *missing, const bool *has)
{
	struct text_buffer printable = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < missing->n; i++) {
		const char *name = profile_module_name(profile,
		                                       missing->modules[i]);

		if (!has[i] || n++ >= DEBUG_FILES_LISTED)
			continue;
		text_add_string(text, n > 1 ? ", " : "");
		text_clear(&printable);
		text_add_printable(&printable, name, strlen(name));
		text_add_elided(text, printable.bytes, printable.length,
		                DEBUG_FILES_WIDTH);
	}
	if (n > DEBUG_FILES_LISTED)
		text_add_format(text, " and %u more", n - DEBUG_FILES_LISTED);
	text_free(&printable);
}

/* Whether so many hits lack names that the user may want them. */
static bool
debug_files_are_worth(const struct missing_files *missing)
{
	return missing->unnamed_hits > 0 &&
	    missing->unnamed_hits >= missing->hits / DEBUG_FILES_PART;
}

/*
 * "43% of cpu is in functions without names: no debug file of prog on this
 * machine"
 */
static void
debug_files_add_lack(struct text_buffer *text, const struct profile *profile,
                     uint32_t resource, const struct missing_files *missing)
{
	const char *name = profile->resources[resource].name;

	text_add_rough_percent(text, (double)missing->unnamed_hits /
	                       (double)missing->hits);
	text_add_string(text, " of ");
	text_add_printable(text, name, strlen(name));
	text_add_string(text, " is in functions without names: no debug file of ");
	debug_files_add_list(text, profile, missing, missing->is_unnamed);
	text_add_string(text, " on this machine");
}

static int
debug_files_make_hint(struct session *session, const struct profile *profile,
                      uint32_t resource, const struct missing_files *missing,
                      bool has_servers, struct error *error)
{
	struct text_buffer text = { 0 };

	if (read_only_is_on() || !debug_files_are_worth(missing))
		return 0;
	debug_files_add_lack(&text, profile, resource, missing);
	text_add_string(&text, has_servers ? "; type \"debuginfod on\"" :
	                "; type \"help debuginfod\"");
	session->debug_files.hint = memory_string(text_string(&text), error);
	text_free(&text);
	return session->debug_files.hint != NULL ? 0 : -1;
}

/*
 * Asks the user whether to ask the servers; the answer becomes the setting.
 * Whoever typed ahead is not asked.
 */
static void
debug_files_ask(struct session *session, const struct profile *profile,
                uint32_t resource, const struct missing_files *missing,
                const char *servers)
{
	struct text_buffer text = { 0 };

	debug_files_add_lack(&text, profile, resource, missing);
	text_add_string(&text, ".\nAsk ");
	text_add_printable(&text, servers, strlen(servers));
	text_add_string(&text, " for debug files and sources? (y or n) ");
	switch (terminal_ask(text_string(&text))) {
	case TERMINAL_YES:
		session->settings.debuginfod = DEBUG_FILES_ON;
		break;
	case TERMINAL_NO:
		session->settings.debuginfod = DEBUG_FILES_OFF;
		session->debug_files.was_told = true;
		break;
	case TERMINAL_NOT_ASKED:
		break;
	}
	text_free(&text);
}

/* ---- fetching ---- */

/* The files of a profile while they are fetched. */
struct debug_files_fetching {
	struct session *session;
	const struct profile *profile;
	const struct missing_files *missing;
	struct debuginfod_request request;
	bool *has[DEBUGINFOD_STOPPED + 1];	/* by state, [missing->n] */
};

/* Whether it is the first time that this is asked for. */
static bool
debug_files_is_new(struct debug_files *files, const struct module *module,
                   struct error *error)
{
	uint32_t before;

	if (files->asked == NULL)
		files->asked = names_new(error);
	if (files->asked == NULL)
		return false;
	before = names_count(files->asked);
	return names_add(files->asked, (const char *)module->build_id,
	                 module->build_id_size, error) == before;
}

/* Counts failures; says what stands in the way of all files. */
static void
debug_files_note_failure(struct debug_files *files, const char *servers,
                         enum debuginfod_state state, const char *why)
{
	if (state == DEBUGINFOD_ABSENT)
		return;
	if (state == DEBUGINFOD_FOUND || state == DEBUGINFOD_WRONG ||
	    state == DEBUGINFOD_TOO_LARGE) {
		files->n_failures = 0;
		return;
	}
	if (state == DEBUGINFOD_UNREACHABLE)
		files->n_failures++;
	else
		files->n_failures = DEBUG_FILES_FAILURES;
	if (files->was_failure_noted && state != DEBUGINFOD_STOPPED)
		return;
	files->was_failure_noted = true;
	switch (state) {
	case DEBUGINFOD_UNREACHABLE:
		message_note("debuginfod: %s cannot be reached or does not "
		             "answer as it should; \"debuginfod on\" tries "
		             "again", servers);
		break;
	case DEBUGINFOD_TIMED_OUT:
		message_note("debuginfod: no file came in time from %s (%u "
		             "seconds without a byte, DEBUGINFOD_TIMEOUT "
		             "changes that); \"debuginfod on\" tries again",
		             servers, debuginfod_patience());
		break;
	case DEBUGINFOD_NO_LIBRARY:
		message_note("debuginfod: the library libdebuginfod.so.1 "
		             "cannot be loaded: is it installed? (Debian: "
		             "libdebuginfod1)");
		break;
	case DEBUGINFOD_STOPPED:
		message_note("debuginfod: stopped; \"debuginfod on\" goes on");
		break;
	default:
		message_note("debuginfod: no file can be fetched: %s", why);
		break;
	}
}

static int
debug_files_fetch_all(struct debug_files_fetching *fetching,
                      struct error *error)
{
	const struct profile *profile = fetching->profile;
	const struct missing_files *missing = fetching->missing;
	struct debug_files *files = &fetching->session->debug_files;
	const struct symbol_search search = {
		.root = fetching->session->symfs,
	};

	uint32_t i;

	for (i = 0; i < missing->n &&
	     files->n_failures < DEBUG_FILES_FAILURES &&
	     clock_ms() < fetching->request.deadline_ms; i++) {
		const struct module *module =
		    &profile->modules[missing->modules[i]];
		struct progress_line line;
		struct error why = { 0 };
		enum debuginfod_state state;
		char what[48];

		if (!debug_files_is_new(files, module, error)) {
			if (error->is_set)
				return -1;
			continue;
		}
		snprintf(what, sizeof what, "debug file %u of %u", i + 1,
		         missing->n);
		fetching->request.progress = progress_line_start(&line, what);
		state = missing_files_fetch(module, &search,
		                            fetching->request, &why);
		progress_line_end(&line);
		fetching->has[state][i] = true;
		debug_files_note_failure(files, fetching->request.servers,
		                         state, why.text);
	}
	if (i < missing->n && files->n_failures < DEBUG_FILES_FAILURES)
		message_note("debuginfod: %u of %u files were asked for in %d "
		             "minutes; \"debuginfod on\" goes on", i,
		             missing->n, DEBUG_FILES_SECONDS / 60);
	/* Ctrl-C ends the fetching only, not the caller's work. */
	interrupt_requested = 0;
	return 0;
}

/* Notes the modules with a state, if there are any. */
static void
debug_files_note(const struct debug_files_fetching *fetching,
                 enum debuginfod_state state, const char *before,
                 const char *after)
{
	struct text_buffer text = { 0 };

	debug_files_add_list(&text, fetching->profile, fetching->missing,
	                     fetching->has[state]);
	if (text.length > 0)
		message_note("debuginfod: %s%s%s", before, text_string(&text),
		             after);
	text_free(&text);
}

static int
debug_files_fetch(struct session *session, const struct profile *profile,
                  const struct missing_files *missing, const char *servers,
                  bool *has_new, struct error *error)
{
	struct debug_files_fetching fetching = {
		.session = session,
		.profile = profile,
		.missing = missing,
		.request = {
			.servers = servers,
			.deadline_ms = clock_ms() +
			               (int64_t)DEBUG_FILES_SECONDS * 1000,
		},
	};
	bool *has = memory_array(missing->n * (DEBUGINFOD_STOPPED + 1),
	                         sizeof *has, error);
	int status;

	if (has == NULL)
		return -1;
	for (size_t i = 0; i <= DEBUGINFOD_STOPPED; i++)
		fetching.has[i] = has + i * missing->n;
	status = debug_files_fetch_all(&fetching, error);
	debug_files_note(&fetching, DEBUGINFOD_FOUND, "got the debug files of ",
	                 "");
	debug_files_note(&fetching, DEBUGINFOD_ABSENT,
	                 "no server has the debug files of ", "");
	debug_files_note(&fetching, DEBUGINFOD_WRONG, "what came for ",
	                 " is damaged or not of that build, and was removed");
	debug_files_note(&fetching, DEBUGINFOD_TOO_LARGE, "the debug files of ",
	                 " are too large for the disk or for DEBUGINFOD_MAXSIZE "
	                 "(bytes)");
	for (uint32_t i = 0; i < missing->n; i++)
		*has_new |= fetching.has[DEBUGINFOD_FOUND][i];
	free(has);
	return status;
}

int
debug_files_get(struct session *session, const struct profile *profile,
                uint32_t resource, bool *has_new, struct error *error)
{
	const struct symbol_search search = { .root = session->symfs };
	struct debug_files *files = &session->debug_files;
	struct missing_files missing = { 0 };
	char servers[DEBUG_FILES_URLS];
	bool has_servers;
	int status;

	*has_new = false;
	free(files->hint);
	files->hint = NULL;
	if (read_only_is_on() ||
	    (session->settings.debuginfod != DEBUG_FILES_ON &&
	     !session->opens_prompt && !session->is_interactive))
		return 0;
	has_servers = debuginfod_servers(servers, sizeof servers,
	                                 DEBUGINFOD_DIRECTORY);
	status = missing_files_find(&missing, profile, &search, resource,
	                            error);
	if (missing.n > 0 && !has_servers && !files->was_told &&
	    session->settings.debuginfod == DEBUG_FILES_ON) {
		message_note("debuginfod: no server is known: start cpprof "
		             "with DEBUGINFOD_URLS=URL (see help debuginfod)");
		files->was_told = true;
	}
	if (status == 0 && has_servers && debug_files_are_worth(&missing) &&
	    debug_files_may_ask(session))
		debug_files_ask(session, profile, resource, &missing, servers);
	if (status == 0 && missing.n > 0 && has_servers &&
	    session->settings.debuginfod == DEBUG_FILES_ON)
		status = debug_files_fetch(session, profile, &missing, servers,
		                           has_new, error);
	else if (status == 0 && !files->was_told)
		status = debug_files_make_hint(session, profile, resource,
		                               &missing, has_servers, error);
	missing_files_free(&missing);
	return status;
}

bool
debug_files_get_source(struct session *session, const struct module *module,
                       const char *source, char found[PATH_MAX])
{
	struct debug_files *files = &session->debug_files;
	struct error why = { 0 };
	struct progress_line line;
	char servers[DEBUG_FILES_URLS];
	struct debuginfod_request request = {
		.servers = servers,
		.build_id = module->build_id,
		.build_id_size = module->build_id_size,
		.source = source,
		.deadline_ms = clock_ms() +
		               (int64_t)DEBUG_FILES_SECONDS * 1000,
	};
	enum debuginfod_state state;

	if (session->settings.debuginfod != DEBUG_FILES_ON ||
	    read_only_is_on() || files->n_failures >= DEBUG_FILES_FAILURES ||
	    !debuginfod_servers(servers, sizeof servers, DEBUGINFOD_DIRECTORY))
		return false;
	request.progress = progress_line_start(&line, "source");
	state = debuginfod_fetch(&request, found, &why);
	progress_line_end(&line);
	debug_files_note_failure(files, servers, state, why.text);
	if (state == DEBUGINFOD_STOPPED)
		interrupt_requested = 0;
	return state == DEBUGINFOD_FOUND;
}
