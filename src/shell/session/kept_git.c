/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_git.c -- what git knows of commits.
 *
 * git is asked for hashes, parents and subjects only, which runs none of the
 * programs that the settings of a repository may name.
 */
#include "src/shell/session/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/shell/terminal/terminal.h"

enum {
	FEWEST_DIGITS = 7,		/* of a hash */
	OUTPUT_MOST = 256 << 20,	/* 3 million hashes */
	WORDS_MOST = 12,		/* before the commits */
	SLACK_SECONDS = 30 * 24 * 60 * 60,	/* by which clocks may differ */
};

/*
 * Runs git at the top of the work tree; whether it succeeded, with its output
 * as text.  words end with NULL.  *why is set if it cannot be run.
 */
static bool
git_read(const struct kept *kept, const char *const *words,
         struct text_buffer *output, struct error *why)
{
	const char **all = NULL;
	size_t n = 0;
	int status = -1;

	while (words[n] != NULL)
		n++;
	all = memory_array(n + 6, sizeof *all, why);
	if (all == NULL || kept->top == NULL)
		goto end;
	all[0] = "git";
	all[1] = "--no-optional-locks";
	all[2] = "-c";
	all[3] = "core.fsmonitor=false";
	all[4] = "-C";
	all[5] = kept->top;
	memcpy(all + 6, words, n * sizeof *words);
	if (child_read(all, n + 6, OUTPUT_MOST, output, &status, why) != 0)
		status = -1;
end:
	free(all);
	return status == 0;
}

/* Whether a name may be that of one of git's commits. */
static bool
may_be_commit(const char *name)
{
	return name[0] != '-' && (strlen(name) >= FEWEST_DIGITS ||
	    name[strspn(name, "0123456789abcdefABCDEF")] != '\0');
}

const char *
kept_git_id(struct kept *kept, const char *name, struct error *error)
{
	struct text_buffer output = { 0 };
	struct error why = { 0 };
	const char *wanted, *id = NULL;

	wanted = arena_format(&kept->arena, error, "%s^{commit}",
	                      name == NULL ? "HEAD" : name);
	if (wanted == NULL)
		return NULL;
	if ((name == NULL || may_be_commit(name)) &&
	    git_read(kept, (const char *const[]){ "rev-parse", "--verify",
	             "--quiet", "--end-of-options", wanted, NULL }, &output,
	             &why))
		id = arena_format(&kept->arena, error, "%.*s",
		    (int)strcspn(text_string(&output), "\n"),
		    text_string(&output));
	else if (name != NULL)
		id = arena_format(&kept->arena, error, "%s", name);
	else if (kept->foreign != NULL)
		error_set(error, "%.200s/.git belongs to another user, so git "
		          "is not asked which commit this is; name it with --id",
		          kept->foreign);
	else if (why.is_set)
		error_set(error, "%s; name the commit with --id", why.text);
	else
		error_set(error, kept->top == NULL ? "no work tree of git is "
		          "here to say which commit this is; name it with --id" :
		          "git does not say which commit HEAD is; name it "
		          "with --id");
	text_free(&output);
	return id;
}

bool
kept_git_has_changes(struct kept *kept)
{
	struct text_buffer output = { 0 };
	struct error ignored = { 0 };
	bool has_changes = git_read(kept, (const char *const[]){ "status",
	    "--porcelain", "--untracked-files=no", NULL }, &output, &ignored) &&
	    output.length > 0;

	text_free(&output);
	return has_changes;
}

/* ---- the order ---- */

/* What git says of the listed commits. */
struct git_order {
	struct kept *kept;
	struct names *ids;		/* the commits, numbered as listed */
	bool *is_placed;		/* [kept->n] */
	struct kept_commit *placed;	/* [n_placed] */
	size_t n_placed;
	int64_t oldest;			/* seconds, by their committers */
};

/* The commit of a line's hash; NO_NAME: it is not listed. */
static uint32_t
commit_of(const struct git_order *order, const char *line)
{
	const size_t n = strcspn(line, " \n");

	return names_find(order->ids, line, n);
}

/*
 * Asks for the subjects and times of the commits that git knows; whether there
 * are any.
 */
static bool
find_subjects(struct git_order *order, struct error *error)
{
	struct kept *kept = order->kept;
	struct text_buffer output = { 0 };
	const char **words = memory_array(kept->n + WORDS_MOST, sizeof *words,
	                                  error);
	static const char *const first[] = { "log", "--no-walk=unsorted",
		"--ignore-missing", "--no-show-signature", "--no-color",
		"--format=%H %ct %s" };
	struct error ignored = { 0 };
	size_t n = 0;
	bool is_known = false;

	for (size_t i = 0; words != NULL &&
	     i < sizeof first / sizeof *first; i++)
		words[n++] = first[i];
	for (size_t i = 0; words != NULL && i < kept->n; i++)
		if (may_be_commit(kept->commits[i].id))
			words[n++] = kept->commits[i].id;
	if (words == NULL || n == sizeof first / sizeof *first) {
		free(words);
		return false;
	}
	words[n] = "--";
	if (!git_read(kept, words, &output, &ignored))
		text_clear(&output);
	for (const char *line = text_string(&output); *line != '\0';) {
		const char *end = strchrnul(line, '\n');
		const uint32_t i = commit_of(order, line);
		char *subject;
		int64_t seconds;

		if (i != NO_NAME) {
			line += strcspn(line, " ");
			seconds = strtoll(line, &subject, 10);
			if (!is_known || seconds < order->oldest)
				order->oldest = seconds;
			is_known = true;
			subject += *subject == ' ';
			kept->commits[i].subject = arena_format(&kept->arena,
			    error, "%.*s", (int)(end - subject), subject);
		}
		line = end + (*end != '\0');
	}
	text_free(&output);
	free(words);
	return is_known && !error->is_set;
}

/* Places the ancestors of HEAD, each after its parents. */
static void
place_ancestors(struct git_order *order, struct error *error)
{
	struct kept *kept = order->kept;
	struct text_buffer output = { 0 };
	struct error ignored = { 0 };
	const char *since = arena_format(&kept->arena, error,
	    "--since=%" PRId64, order->oldest - SLACK_SECONDS);

	if (since == NULL || !git_read(kept, (const char *const[]){ "rev-list",
	        "--topo-order", "--reverse", since, "HEAD", "--", NULL },
	        &output, &ignored))
		text_clear(&output);
	for (const char *line = text_string(&output); *line != '\0';) {
		const uint32_t i = commit_of(order, line);
		const char *end = strchrnul(line, '\n');

		if (i != NO_NAME && !order->is_placed[i]) {
			order->is_placed[i] = true;
			order->placed[order->n_placed++] = kept->commits[i];
		}
		line = end + (*end != '\0');
	}
	text_free(&output);
}

/* Whether the clone lacks the older part of the history. */
static bool
git_is_shallow(struct kept *kept, struct error *error)
{
	const char *path = arena_format(&kept->arena, error, "%s/.git/shallow",
	                                kept->top);

	return path != NULL && access(path, F_OK) == 0;
}

size_t
kept_git_order(struct kept *kept, bool *is_ordered)
{
	struct error ignored = { 0 };
	struct git_order order = {
		.kept = kept,
		.ids = names_new(&ignored),
		.is_placed = memory_array(kept->n, sizeof(bool), &ignored),
		.placed = memory_array(kept->n, sizeof *order.placed, &ignored),
	};
	size_t n_others = 0;

	*is_ordered = false;
	for (size_t i = 0; !ignored.is_set && i < kept->n; i++)
		names_add(order.ids, kept->commits[i].id,
		          strlen(kept->commits[i].id), &ignored);
	if (!ignored.is_set && kept->top != NULL &&
	    find_subjects(&order, &ignored))
		place_ancestors(&order, &ignored);
	if (!ignored.is_set && order.n_placed > 0) {
		n_others = kept->n - order.n_placed;
		kept->is_shallow = git_is_shallow(kept, &ignored);
		memcpy(kept->commits, order.placed,
		       order.n_placed * sizeof *order.placed);
		kept->n = order.n_placed;
		*is_ordered = true;
	}
	names_free(order.ids);
	free(order.is_placed);
	free(order.placed);
	return n_others;
}
