/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/open.c -- the member of a merged profile that has most of a path. */
#include <stdlib.h>
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"
#include "src/shell/session/session.h"
#include "src/views/rows/rows.h"

/* What comes before the path. */
static const char *const openings[] = { "member", "of" };

enum { N_OPENINGS = sizeof openings / sizeof *openings };

static int
read_member(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;

	for (size_t i = 0; i < N_OPENINGS; i++) {
		if (reading->at + 1 >= words->n ||
		    strcmp(words->words[reading->at].text, openings[i]) != 0)
			return error_set(reading->error, "expected open member "
			                 "of PATH; load FILE opens a file");
		reading->at++;
	}
	return arg_path_pattern.read(reading, value);
}

static void
complete_member(struct completion *completion, const struct session *session,
                const struct command *command)
{
	size_t n = completion->n_before;

	if (n < N_OPENINGS)
		completion_offer(completion, openings[n], strlen(openings[n]));
	else
		arg_path_pattern.complete(completion, session, command);
}

static const struct argument_kind member_kind = {
	.read = read_member,
	.complete = complete_member,
	.handle = HANDLE_PATH,
	.takes_rest = true,
};

static const struct argument open_arguments[] = {
	{ "member of PATH", &member_kind, 0,
	  "functions or patterns of the stacks, as in narrow" },
	ARGUMENTS_END
};

static const char *const known[] = {
	[MEMBER_EXACT] = "exactly",
	[MEMBER_AT_LEAST] = "at least",
	[MEMBER_OF_NODE] = "of one node",
};

/* "member web7, which has at least 12 of 20 hits" */
static const char *
open_describe(const struct session *session, const struct found_member *member,
              struct table *table, struct error *error)
{
	const struct sample_set *set = &session->subject->set;
	const char *hits = member->knowledge == MEMBER_OF_NODE ?
	    hits_text(set, member->of, table, error) :
	    hits_text_of(set, member->hits, member->of, table, error);

	if (hits == NULL)
		return NULL;
	if (member->knowledge == MEMBER_OF_NODE)
		return table_text(table, error, "member %.200s, which has most "
		    "of the node with most of the %s", member->id, hits);
	return table_text(table, error, "member %.200s, which has %s%s",
	                  member->id, member->knowledge == MEMBER_AT_LEAST ?
	                  "at least " : "", hits);
}

/* Says why a member cannot be opened, and what to do. */
static int
open_report_missing(const struct session *session,
                    const struct found_member *member,
                    const struct member_file *file, struct table *table,
                    struct error *error)
{
	const char *who = open_describe(session, member, table, error);

	if (who == NULL)
		return -1;
	if (file->state == MEMBER_FILE_CHANGED)
		return error_set(error, "%s: %.300s has changed since it was "
		    "merged, or is another file; to open it, type: load %.300s",
		    who, file->path, file->path);
	if (*member->name == '\0')
		return error_set(error, "%s: the merged profile does not have "
		    "the name of its file; to open it, type: load FILE", who);
	return error_set(error, "%s: its file is not here: %.300s; if it was "
	    "moved, type: directories DIR, and this command again", who,
	    member->name);
}

static int
load_and_show(struct session *session, const struct found_member *member,
              const struct member_file *file, struct table *table,
              struct error *error)
{
	const struct subject *subject = session->subject;
	bool is_known;

	/* The profile that has these texts is about to be replaced. */
	const char *id = table_text(table, error, "%s", member->id);
	const char *path = table_text(table, error, "%s", file->path);

	table->gtick = table_text(table, error, "%s",
	                          subject->set.resource->gtick);
	table->interval = subject->set.resource->interval;
	table->has_unit = hits_have_unit(&subject->set);
	if (id == NULL || path == NULL || table->gtick == NULL ||
	    session_load(session, &path, 1, error) != 0)
		return -1;
	/* id, path: of the member and its file, the table's own. */
	is_known = member->knowledge != MEMBER_OF_NODE;
	table->schema = "cpprof.open/1";
	table_add_column(table, "hits", "hits", CELL_HITS);
	table_add_column(table, "known", "known", CELL_TEXT);
	table_add_column(table, "of", "of", CELL_HITS);
	table_add_column(table, "checked", "checked", CELL_TEXT);
	table_add_column(table, "member", "member", CELL_TEXT);
	table_add_column(table, "file", "file", CELL_TEXT);
	return table_add_row(table, (struct cell[]){
		is_known ? cell_hits(member->hits) : cell_unknown(),
		cell_text(known[member->knowledge]), cell_hits(member->of),
		cell_text(file->state == MEMBER_FILE_CHECKED ? "content" :
		          "name"),
		cell_text(id), cell_text(path),
	}, error);
}

static int
open_found(struct session *session, const struct found_member *member,
           struct table *table, struct error *error)
{
	struct member_file file;
	int result = -1;

	if (member_file_find(session, member, &file, error) != 0)
		return -1;
	if (file.state < MEMBER_FILE_UNCHECKED)
		open_report_missing(session, member, &file, table, error);
	else
		result = load_and_show(session, member, &file, table, error);
	free(file.path);
	return result;
}

static int
open_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	struct found_member member;
	struct step *step;
	int result;

	if (session_need_profile(session, error) != 0)
		return -1;
	step = selection_step(false, &arguments->values[0], error);
	if (step == NULL)
		return -1;
	result = session_find_member(session, step, &member, error);
	step_release(step);
	return result != 0 ? -1 : open_found(session, &member, table, error);
}

const struct command command_open = {
	.name = "open",
	.group = GROUP_ASK,
	.summary = "opens the member of a merged profile with most of a path",
	.description =
	    "For a file that cpprof merge wrote: opens, in place of it, the "
	    "profile that has most hits of the stacks with the path, as an "
	    "example to look at. The stacks are those that narrow PATH would "
	    "keep; open member of %3 is about row 3.\n\n"
	    "With merge --by id, the hits of each member are known exactly. "
	    "Otherwise the file knows for each node of the tree which member "
	    "has most of it. If the stacks are several such nodes, the one "
	    "with the greatest known sum is opened, and its hits are given as "
	    "at least. If only parts of nodes are left by steps, it is the "
	    "member with most of the heaviest node.\n\n"
	    "The file is searched under the name that it had when it was "
	    "merged, then below the directory of the merged file, then below "
	    "those of directories, there also without the first components of "
	    "its name. Its content is compared with the identity; an identity "
	    "that was given with --id cannot be checked, and then the name "
	    "decides. If it is not found, a line says whose file it is.",
	.example = "open member of db_get_property",
	.arguments = open_arguments,
	.run = open_run,
};
