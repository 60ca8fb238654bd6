/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept.h -- profiles that are kept for commits, and what they say.
 *
 * Each commit has a file, .cpprof/history/COMMIT.merged: the merged profile of
 * its runs, with the counts of each run (merge --by id).  When a commit was
 * first kept is the time of its file, which does not change when runs are
 * added.
 */
#ifndef CPPROF_SHELL_SESSION_KEPT_H
#define CPPROF_SHELL_SESSION_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/noise/noise.h"
#include "src/profile/profile.h"
#include "src/refine/refine.h"
#include "src/shell/session/naming.h"

/* ---- kept.c ---- */

/* Which commits have profiles, and where these are. */

enum {
	KEPT_COMMITS = 1000,		/* at most, unless one says else */
	KEPT_COMMITS_MOST = 4000,	/* that log can compare */
	KEPT_RUNS = 100,		/* at most of a commit */
	KEPT_ID = 120,			/* bytes of a commit's name */
};

/* The profiles take no more than this; the oldest are removed. */
#define KEPT_BYTES ((uint64_t)1 << 30)

/* A larger file is not written, and not read. */
#define KEPT_FILE_BYTES (KEPT_BYTES / 8)

struct kept_commit {
	const char *id;		/* git's hash, or as it was named */
	const char *path;
	int64_t time_ns;	/* when it was first kept */
	uint64_t size;		/* of the file */
	const char *subject;	/* git's; NULL: unknown */
};

/* Start with { 0 }. */
struct kept {
	struct arena arena;	/* all texts */
	const char *top;	/* of git's work tree; NULL: there is none */
	const char *foreign;	/* the same of another user's, which git is
				 * not asked about; NULL: there is none */
	const char *directory;	/* .cpprof/history there, or here */
	size_t own;		/* where .cpprof begins in it; below it no link
				 * is followed to write, see own_file.h */
	struct kept_commit *commits;	/* [n] */
	size_t n, capacity;
	size_t n_damaged;	/* set by who reads them */
	bool is_shallow;	/* git lacks the older commits; set by who
				 * orders them */
	int lock, opened;	/* of kept_lock: its file and the directory;
				 * 0: none */
};

/*
 * Finds the directory: that at the top of the work tree of git which the
 * current directory is in, if the user owns it, or in the current directory.  It
 * need not exist.  Call kept_close even if it fails.
 */
int kept_open(struct kept *kept, struct error *error);
void kept_close(struct kept *kept);

/*
 * Makes the directory, which git ignores, and waits until no other process
 * changes it, until kept_close.
 */
int kept_lock(struct kept *kept, struct error *error);

/* Lists the commits, in the order in which they were kept; none is no error. */
int kept_list(struct kept *kept, struct error *error);

/* The file of a commit, in the arena; NULL with *error set. */
const char *kept_path(struct kept *kept, const char *id, struct error *error);

/*
 * Removes the files of those that were kept first, and not this one, until there
 * are at most so many with so many bytes; *n_removed.
 */
int kept_prune(struct kept *kept, const char *id, size_t most_commits,
               uint64_t most_bytes, size_t *n_removed, struct error *error);

/* ---- kept_git.c ---- */

/* What git knows of commits, read from its files: no program is run. */

/*
 * The whole hash of a commit that git knows by that name, NULL: HEAD; the name
 * itself if git does not know it.  In the arena; NULL with *error set.  A name
 * of fewer than 7 hexadecimal digits is no commit's, but a number of the
 * user's.
 */
const char *kept_git_id(struct kept *kept, const char *name,
                        struct error *error);

/* Whether files that git knows differ from HEAD. */
bool kept_git_has_changes(struct kept *kept);

/*
 * Puts the commits into git's order, each after its parents, and sets their
 * subjects.  Takes those that are no ancestors of HEAD off the list, as many as
 * it returns; all stay in the order in which they were kept if git knows none
 * of them, or cannot be read, when *why is set.
 */
size_t kept_git_order(struct kept *kept, bool *is_ordered, struct error *why);

/* ---- kept_git_check.c ---- */

/*
 * Whether libgit2 may read the repository of a work tree: settings include no
 * files, and what it opens is no pipe or device.  0, or -1 with *error set.
 */
int kept_git_check(const char *top, struct error *error);

/* ---- kept_runs.c ---- */

/* What the runs of commits have of a path. */

/* What is asked of each commit. */
struct kept_request {
	struct naming_rule rule;
	unsigned hidden;		/* enum hidden_frames */
	struct step *const *steps;	/* [n_steps] */
	size_t n_steps;
	const char *resource;		/* NULL: the first one of the newest
					 * commit with any */
	const char *const *path;	/* [n_path] names */
	size_t n_path;
};

/* A commit's profile: its only resource has a part for each run. */
struct kept_profile {
	struct profile *profile;
	struct naming naming;
};

/* The request's steps and path may be of another profile.  0, or -1 with *error
 * set. */
int kept_profile_open(const struct kept_commit *commit,
                      const struct kept_request *request,
                      struct kept_profile *opened, struct error *error);
void kept_profile_close(struct kept_profile *opened);

/* Of all commits that have the resource. */
struct kept_runs {
	size_t *commit;		/* [series.n_points] in the list */
	uint64_t *members;	/* [series.n_points] runs */
	double *totals;		/* [series.n_points] hits that the steps left */
	struct series series;	/* hits of the path; work: runs that a column
				 * stands for */
	char *gtick;
	uint64_t interval;	/* of a hit */
	uint64_t drawn_most;	/* as of a resource */
	bool is_seen;		/* the path, in any commit */
	size_t n_others;	/* commits that lack the resource */
	struct kept_arrays *arrays;	/* what the series points to */
};

/*
 * Reads all commits of the list.  Those whose files cannot be read are counted
 * in kept->n_damaged, and *why says what is wrong with the first.  0, or -1 with
 * *error set.  Call kept_runs_free even if it fails.
 */
int kept_runs_read(struct kept *kept, const struct kept_request *request,
                   struct kept_runs *runs, struct error *why,
                   struct error *error);
void kept_runs_free(struct kept_runs *runs);

#endif
