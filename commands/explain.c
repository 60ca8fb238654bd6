/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/explain.c -- what dominates, how sure that is, and what to ask. */
#include <stdlib.h>
#include <string.h>

#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/refine/refine.h"
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"
#include "src/shell/session/session_left.h"
#include "src/shell/terminal/terminal.h"
#include "src/views/advice/advice.h"

static bool
is_words(const struct word *word)
{
	return !word->is_quoted && strcmp(word->text, "--words") == 0;
}

/* --words N, two words. */
static int
explain_read_words(struct reading *reading, struct value *value)
{
	if (++reading->at == reading->words->n)
		return error_set(reading->error, "--words needs a number");
	return arg_rows.read(reading, value);
}

static void
explain_complete_words(struct completion *completion,
                       const struct session *session,
                       const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer(completion, "--words", strlen("--words"));
}

static const struct argument_kind words_kind = {
	.read = explain_read_words,
	.complete = explain_complete_words,
	.wants = is_words,
};

static const struct argument explain_arguments[] = {
	{ "--words N", &words_kind, ARG_OPTIONAL | ARG_ANYWHERE,
	  "how many words the findings and commands may have (a screen)" },
	ARGUMENTS_END
};

/* ---- what to type next ---- */

enum { COMMAND_WIDTH = 150 };	/* longer commands are not proposed */

/* Adds a name as it is read as a function, and nothing else. */
static void
explain_add_name(struct text_buffer *text, const struct names *names,
                 uint32_t name)
{
	const char *bytes = names_text(names, name);
	size_t length = names_length(names, name);

	if (length > 0 && (strchr("%@/", *bytes) != NULL ||
	    memchr(bytes, ':', length) != NULL ||
	    memchr(bytes, '.', length) != NULL))
		text_add_between_bars(text, bytes, length);
	else
		text_add_word(text, bytes, length);
}

static void
add_command(struct text_buffer *text, const struct names *names,
            const struct lead *lead)
{
	static const char *const beginnings[] = {
		[LEAD_DOWN] = "down ",
		[LEAD_CALL] = "narrow ",
		[LEAD_PATH] = "narrow ",
		[LEAD_UP] = "up ",
		[LEAD_LINES] = "list ",
		[LEAD_INSTRUCTIONS] = "disasm ",
		[LEAD_TOP] = "top 10",
		[LEAD_COMMAND] = "",
	};

	text_add_string(text, beginnings[lead->kind]);
	if (lead->kind == LEAD_CALL || lead->kind == LEAD_PATH) {
		explain_add_name(text, names, lead->from);
		text_add_string(text, lead->kind == LEAD_CALL ? " " : " ... ");
	}
	if (lead->kind == LEAD_COMMAND)
		text_add_string(text, lead->command);
	else if (lead->kind != LEAD_TOP)
		explain_add_name(text, names, lead->function);
}

/* The file name of the first module that has a function; NULL: none is known. */
static const char *
module_of(const struct profile *profile, uint32_t function)
{
	const struct call_graph *graph = profile->graph;

	for (uint32_t i = 0; graph != NULL && i < graph->n_nodes; i++)
		if (graph->nodes[i].name == function &&
		    graph->nodes[i].object != NO_NAME)
			return last_component(names_text(profile->names,
			                      graph->nodes[i].object));
	for (uint32_t i = profile_next_frame(profile, function, 0);
	     i < profile->n_frames;
	     i = profile_next_frame(profile, function, i + 1))
		if (profile->frames[i].module != NO_MODULE)
			return profile_module_name(profile,
			                           profile->frames[i].module);
	return NULL;
}

/*
 * Drops the lead to the code of a function of the C library, the kernel or the
 * like: few users can change it, so who calls it is the next question.
 */
static int
drop_library_code(struct leads *leads, const struct profile *profile,
                  struct error *error)
{
	size_t n = 0;

	for (size_t i = 0; i < leads->n; i++) {
		const struct lead lead = leads->leads[i];
		int is_library = 0;

		if (lead.kind == LEAD_LINES || lead.kind == LEAD_INSTRUCTIONS)
			is_library = frame_pattern_is_ready(module_of(profile,
			    lead.function), names_text(profile->names,
			    lead.function), names_length(profile->names,
			    lead.function), error);
		if (is_library < 0)
			return -1;
		if (is_library == 0)
			leads->leads[n++] = lead;
	}
	leads->n = n;
	return 0;
}

/* Adds the commands that follow the leads, as far as there are words left. */
static int
propose(struct table *table, const struct names *names, struct leads *leads,
        struct error *error)
{
	static const char *const keys[LEADS_SHOWN] = {
		"next.1", "next.2", "next.3"
	};
	size_t n_shown = 0;

	for (size_t i = 0; i < leads->n && n_shown < LEADS_SHOWN; i++) {
		struct text_buffer text = { 0 };
		const char *line;
		size_t n_words;

		add_command(&text, names, &leads->leads[i]);
		n_words = text_count_words(text.bytes, text.length);
		if (!text.failed && (text.length > COMMAND_WIDTH ||
		                     n_words > leads->words_left)) {
			text_free(&text);
			continue;
		}
		leads->words_left -= n_words;
		line = text_move(&text, &table->arena, error);
		if (line == NULL ||
		    table_add_field(table, keys[n_shown], NULL,
		                    cell_text(line), error) != 0 ||
		    table_add_footer(table, error, "%s%s", n_shown == 0 ?
		                     "type next: " : "           ",
		                     line) != 0)
			return -1;
		n_shown++;
	}
	return 0;
}

/* ---- the command ---- */

/*
 * What the groups have of the module with more than half of the hits.  *found:
 * there is one.
 */
static int
find_module_groups(const struct session *session, const uint64_t *hits,
                   struct group_hits *groups, bool *found,
                   struct error *error)
{
	uint32_t n = names_count(session->subject->set.names), most = 0;

	*found = false;
	if (hits == NULL || n == 0)
		return 0;
	for (uint32_t i = 1; i < n; i++)
		if (hits[i] > hits[most])
			most = i;
	*found = hits[most] > session->subject->set.left / 2;
	return !*found ? 0 :
	    session_module_in_groups(session, most, groups, error);
}

/*
 * If there is a base, *compared becomes the request for views of its runs and
 * the loaded ones, or *why says that they cannot be compared.  Call it before
 * other requests are made.
 */
static int
explain_compare(struct session *session, struct explain_request *wanted,
                struct view_request *compared, struct error *why,
                struct error *error)
{
	const struct subject *subject;

	if (!comparison_has_base(&session->comparison))
		return 0;
	subject = session_compared(session, why);
	if (subject == NULL) {
		if (interrupt_requested || why->is_out_of_memory)
			return error_pass(error, why);
		wanted->not_compared = why->text;
		return 0;
	}
	session->subject = subject;
	*compared = session_request(session);
	session->subject = &session->loaded;
	wanted->compared = compared;
	return 0;
}

static int
explain_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	struct explain_request wanted = { 0 };
	struct view_request request, compared;
	struct group_hits groups;
	struct leads leads;
	struct error why = { 0 };
	uint64_t *module_hits = NULL;
	bool has_module = false;
	size_t columns;
	int status;

	if (session_need_profile(session, error) != 0 ||
	    explain_compare(session, &wanted, &compared, &why, error) != 0 ||
	    session_module_hits(session, &module_hits, error) != 0)
		return -1;
	status = session_noise_request(session, &request, error);
	if (status == 0 && request.root == NO_NAME) {
		request.root = outermost_heaviest(request.set, error);
		status = error->is_set ? -1 : 0;
	}
	if (status == 0 && request.groups != NULL)
		status = find_module_groups(session, module_hits, &groups,
		                            &has_module, error);
	if (session->beginning_lines > 0) {
		wanted.n_lines = session->beginning_lines;
		wanted.is_beginning = true;
	} else if (session->writes_to_terminal &&
	           session->settings.format == output_formats) {
		terminal_size(&columns, &wanted.n_lines);
		wanted.n_lines -= wanted.n_lines > 1;	/* for the prompt */
	}
	wanted.module_hits = module_hits;
	wanted.module_groups = has_module ? &groups : NULL;
	if (arguments->values[0].is_given)
		wanted.n_words = arguments->values[0].count;
	if (status == 0)
		status = view_explain(&request, &wanted, &leads, table,
		                      error);
	if (status == 0)
		status = drop_library_code(&leads, request.set->profile, error);
	if (status == 0)
		status = propose(table, request.set->names, &leads, error);
	free(module_hits);
	return status;
}

const struct command command_explain = {
	.name = "explain",
	.group = GROUP_LOOK,
	.summary = "what dominates, how sure that is, and what to type next",
	.description =
	    "Shows on one screen what dominates the current resource in what "
	    "the refinement left, by fixed rules: the hot path from the root, "
	    "as long as one callee holds more than half of its caller, and "
	    "why it stops; the bodies that used most; functions that "
	    "re-enter; the callers of the first body; a module that holds "
	    "most; stacks that the root is not on, or that were cut. With a "
	    "base, it begins with what changed since: the whole run, and the "
	    "functions that changed most by diff functions. With "
	    "latency and cpu in one recording, it first shows a serial part, "
	    "where the share of latency is the larger one; of memory in use, "
	    "what grew in the second half of the run; of real, what slow calls "
	    "do that others do not (record --calls); of blame, who waits most "
	    "for whom. If "
	    "there is no root, it is the outermost function with most hits "
	    "here. Where "
	    "hits are counts of samples, each share has its standard error; "
	    "in a merged profile it comes from its groups (see noise). "
	    "Commands that look further are "
	    "below. Section 2.11 of the manual has the rules.\n\n"
	    "--words N is for programs that read a limited text: findings "
	    "and commands then have at most N words in all; what comes "
	    "first matters most. With format json, each row has the kind of "
	    "its finding, its sentence, and the numbers.",
	.example = "explain",
	.arguments = explain_arguments,
	.run = explain_run,
};
