/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_git.c -- what git knows of commits, read by libgit2.
 *
 * The repository may be somebody else's: cloned, or unpacked.  The program git
 * would run what its settings name: filters to compare files, helpers to fetch
 * a commit that lacks.  libgit2 runs no program unless it fetches, which it is
 * never asked to do; commits that lack are not known.  No settings but the
 * repository's own are read, and of those only what libgit2 needs to open it.
 * What it opens was looked at before (kept_git_check.c).
 *
 * libgit2 brings a dozen libraries for networks, so it is loaded when it is
 * first needed.
 */
#include "src/shell/session/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/named_file.h"
#include "src/base/names.h"
#include "src/base/progress.h"
#include "src/base/shared_library.h"
#include "src/shell/terminal/terminal.h"

enum {
	FEWEST_DIGITS = 7,		/* of a hash */
	COMMITS_MOST = 3000000,		/* that are walked */
	COMMIT_BYTES_MOST = 4 << 20,	/* of one, with its message */
	SLACK_SECONDS = 30 * 24 * 60 * 60,	/* by which clocks may differ */
};

/* ---- the library ---- */

#define GIT_LIBRARY "libgit2.so." LIBGIT2_SOVERSION

#define GIT_FUNCTIONS(each) \
	each(libgit2_init) each(libgit2_opts) each(error_last) \
	each(repository_open_ext) each(repository_free) \
	each(repository_odb) each(repository_index) each(repository_config) \
	each(repository_commondir) \
	each(reference_name_to_id) each(revparse_single) \
	each(object_peel) each(object_id) each(object_free) \
	each(oid_tostr) each(oid_fromstr) \
	each(odb_free) each(odb_read_header) each(odb_hash) \
	each(odb_hashfile) \
	each(commit_lookup) each(commit_free) each(commit_time) \
	each(commit_summary) each(commit_parentcount) \
	each(commit_parent_id) each(commit_tree) each(tree_free) \
	each(index_free) each(index_path) each(index_entrycount) \
	each(index_get_byindex) \
	each(diff_tree_to_index) each(diff_num_deltas) each(diff_free) \
	each(config_free) each(config_get_bool)

#define GIT_POINTER(name) __typeof__(git_##name) *name;
static struct {
	GIT_FUNCTIONS(GIT_POINTER)
	bool is_loaded;
} git;

#define GIT_ROW(name) { "git_" #name, &git.name },

/* Options that were added to libgit2 later are no matter if they fail. */
static void
kept_git_set_options(void)
{
	static const int levels[] = {
		GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_PROGRAMDATA,
	};
#if LIBGIT2_VER_MAJOR > 1 || LIBGIT2_VER_MINOR >= 4
	/* Formats that do not concern commits and the index. */
	static const char *const extensions[] = {
		"noop", "partialclone", "preciousobjects", "worktreeconfig",
		"relativeworktrees",
	};

	git.libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions,
	                 sizeof extensions / sizeof *extensions);
#endif
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		git.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	/* Each commit is read once. */
	git.libgit2_opts(GIT_OPT_ENABLE_CACHING, 0);
}

static bool
kept_git_load(struct error *why)
{
	static const struct shared_library_function functions[] = {
		GIT_FUNCTIONS(GIT_ROW)
	};

	if (git.is_loaded)
		return true;
	if (!shared_library_load(GIT_LIBRARY, functions,
	                         sizeof functions / sizeof *functions)) {
		error_set(why, "%s cannot be loaded: is libgit2 installed?",
		          GIT_LIBRARY);
		return false;
	}
	if (git.libgit2_init() < 0) {
		error_set(why, "libgit2 does not start");
		return false;
	}
	kept_git_set_options();
	git.is_loaded = true;
	return true;
}

/* What libgit2 says of the last failure. */
static void
kept_git_fail(struct error *why)
{
	const git_error *last = git.error_last();

	error_set(why, "git: %.200s", last == NULL || last->message == NULL ?
	          "unknown error" : last->message);
}

/* The repository of the work tree; NULL with *why set. */
static git_repository *
kept_git_open(const struct kept *kept, struct error *why)
{
	git_repository *repository = NULL;

	if (kept->top == NULL || kept_git_check(kept->top, why) != 0 ||
	    !kept_git_load(why))
		return NULL;
	if (git.repository_open_ext(&repository, kept->top,
	                            GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0)
		return repository;
	kept_git_fail(why);
	return NULL;
}

/* ---- one commit ---- */

/* Whether a name may be that of one of git's commits. */
static bool
may_be_commit(const char *name)
{
	return name[0] != '-' && (strlen(name) >= FEWEST_DIGITS ||
	    name[strspn(name, "0123456789abcdefABCDEF")] != '\0');
}

/* The hash of the commit that a name means; whether there is one. */
static bool
kept_git_find(git_repository *repository, const char *name,
         char id[GIT_OID_HEXSZ + 1], struct error *why)
{
	git_object *named = NULL, *commit = NULL;
	bool is_found = git.revparse_single(&named, repository, name) == 0 &&
	    git.object_peel(&commit, named, GIT_OBJECT_COMMIT) == 0;

	if (is_found)
		git.oid_tostr(id, GIT_OID_HEXSZ + 1, git.object_id(commit));
	else
		kept_git_fail(why);
	if (commit != NULL)
		git.object_free(commit);
	if (named != NULL)
		git.object_free(named);
	return is_found;
}

const char *
kept_git_id(struct kept *kept, const char *name, struct error *error)
{
	char id[GIT_OID_HEXSZ + 1];
	struct error why = { 0 };
	git_repository *repository = NULL;
	bool is_found = false;

	if (name == NULL || may_be_commit(name))
		repository = kept_git_open(kept, &why);
	if (repository != NULL) {
		is_found = kept_git_find(repository, name == NULL ? "HEAD" : name,
		                    id, &why);
		git.repository_free(repository);
	}
	if (is_found || name != NULL)
		return arena_format(&kept->arena, error, "%s",
		                    is_found ? id : name);
	if (kept->foreign != NULL)
		error_set(error, "%.200s/.git belongs to another user, so git "
		          "is not asked which commit this is; name it with --id",
		          kept->foreign);
	else if (kept->top == NULL)
		error_set(error, "no work tree of git is here to say which "
		          "commit this is; name it with --id");
	else
		error_set(error, "%s; name the commit with --id", why.text);
	return NULL;
}

/* ---- whether files differ ---- */

/* A work tree that is compared with its index. */
struct kept_git_files {
	git_repository *repository;
	int top;			/* its directory */
	const char *top_path;
	struct timespec written;	/* when the index was */
	bool has_modes;			/* the bits for execution mean something */
};

/* The hash of a file's bytes, as they are; whether that succeeded. */
static bool
kept_git_hash_file(const struct kept_git_files *files, const char *path,
              const struct stat *status, git_oid *hash)
{
	char text[PATH_MAX], real[PATH_MAX];
	ssize_t n;
	int file;
	bool is_done;

	if (S_ISLNK(status->st_mode)) {
		n = readlinkat(files->top, path, text, sizeof text);
		return n >= 0 && n < (ssize_t)sizeof text &&
		    git.odb_hash(hash, text, (size_t)n, GIT_OBJECT_BLOB) == 0;
	}
	n = snprintf(text, sizeof text, "%s/%s", files->top_path, path);
	if (n >= (ssize_t)sizeof text ||
	    named_file_open(text, O_NOFOLLOW, &file, NULL) != NAMED_FILE_OPEN)
		return false;
	/* The index is no more to be believed than other files of git. */
	snprintf(text, sizeof text, "/proc/self/fd/%d", file);
	is_done = named_file_real_path(file, real) &&
	    (files->top_path[1] == '\0' ||
	     named_file_is_below(real, files->top_path)) &&
	    git.odb_hashfile(hash, text, GIT_OBJECT_BLOB) == 0;
	close(file);
	return is_done;
}

/* Whether a file has the time of its entry, and that was some time ago. */
static bool
kept_git_is_untouched(const struct kept_git_files *files,
                      const git_index_entry *entry,
                      const struct stat *status)
{
	const int64_t seconds = (int32_t)status->st_mtim.tv_sec;

	return seconds == entry->mtime.seconds &&
	    (entry->mtime.nanoseconds == 0 ||
	     entry->mtime.nanoseconds == status->st_mtim.tv_nsec) &&
	    entry->mtime.seconds < (int32_t)files->written.tv_sec;
}

static bool
kept_git_differs(const struct kept_git_files *files,
                 const git_index_entry *entry)
{
	struct stat status;
	git_oid hash;

	/* A submodule, or what the user told git not to look at. */
	if (entry->mode == GIT_FILEMODE_COMMIT ||
	    (entry->flags & GIT_INDEX_ENTRY_VALID) != 0 ||
	    (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0)
		return false;
	if (fstatat(files->top, entry->path, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return true;
	if (S_ISLNK(status.st_mode) != (entry->mode == GIT_FILEMODE_LINK) ||
	    !(S_ISLNK(status.st_mode) || S_ISREG(status.st_mode)) ||
	    (S_ISREG(status.st_mode) && files->has_modes &&
	     ((status.st_mode ^ entry->mode) & S_IXUSR) != 0))
		return true;
	/* The size 0 may stand for a file that changed as git looked. */
	if (entry->file_size != 0 &&
	    entry->file_size != (uint32_t)status.st_size)
		return true;
	if (entry->file_size != 0 && kept_git_is_untouched(files, entry, &status))
		return false;
	return !kept_git_hash_file(files, entry->path, &status, &hash) ||
	    memcmp(&hash, &entry->id, sizeof hash) != 0;
}

/* Whether the index differs from HEAD. */
static bool
kept_git_index_differs(git_repository *repository, git_index *index)
{
	git_oid head;
	git_commit *commit = NULL;
	git_tree *tree = NULL;
	git_diff *diff = NULL;
	bool differs = false;

	if (git.reference_name_to_id(&head, repository, "HEAD") == 0 &&
	    git.commit_lookup(&commit, repository, &head) == 0 &&
	    git.commit_tree(&tree, commit) == 0 &&
	    git.diff_tree_to_index(&diff, repository, tree, index, NULL) == 0)
		differs = git.diff_num_deltas(diff) > 0;
	if (diff != NULL)
		git.diff_free(diff);
	if (tree != NULL)
		git.tree_free(tree);
	if (commit != NULL)
		git.commit_free(commit);
	return differs;
}

/* Whether the bits for execution mean something; git found out. */
static bool
kept_git_has_modes(git_repository *repository)
{
	git_config *config = NULL;
	int has_modes = 1;

	if (git.repository_config(&config, repository) == 0) {
		git.config_get_bool(&has_modes, config, "core.filemode");
		git.config_free(config);
	}
	return has_modes != 0;
}

static bool
kept_git_files_differ(struct kept_git_files *files, git_index *index)
{
	const size_t n = git.index_entrycount(index);
	struct error interrupted = { 0 };
	struct stat status;

	if (git.index_path(index) == NULL ||
	    stat(git.index_path(index), &status) != 0)
		return false;
	files->written = status.st_mtim;
	for (size_t i = 0; i < n &&
	     progress_step(NULL, 0, 0, &interrupted) == 0; i++)
		if (kept_git_differs(files, git.index_get_byindex(index, i)))
			return true;
	return false;
}

bool
kept_git_has_changes(struct kept *kept)
{
	struct error ignored = { 0 };
	struct kept_git_files files = { .repository = kept_git_open(kept, &ignored) };
	git_index *index = NULL;
	bool has_changes = false;

	if (files.repository == NULL)
		return false;
	files.top_path = kept->top;
	files.top = open(kept->top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	files.has_modes = kept_git_has_modes(files.repository);
	if (files.top >= 0 &&
	    git.repository_index(&index, files.repository) == 0)
		has_changes = kept_git_index_differs(files.repository, index) ||
		    kept_git_files_differ(&files, index);
	if (index != NULL)
		git.index_free(index);
	if (files.top >= 0)
		close(files.top);
	git.repository_free(files.repository);
	return has_changes;
}

/* ---- the order ---- */

/* A commit whose parents are being placed. */
struct kept_git_step {
	git_commit *commit;
	git_oid id;
	unsigned next;			/* parent */
};

/* What git says of the listed commits. */
struct kept_git_order {
	struct kept *kept;
	git_repository *repository;
	git_odb *objects;
	struct names *listed;		/* hashes of commits */
	size_t *of_listed;		/* [kept->n] in the list */
	struct names *walked;		/* hashes that were looked at */
	struct kept_git_step *steps;		/* [n_steps] from HEAD down */
	size_t n_steps, capacity;
	struct kept_commit *placed;	/* [n_placed] */
	size_t n_placed;
	int64_t oldest;			/* seconds, by their committers */
};

/* The commit; NULL: it lacks, or is none. */
static git_commit *
kept_git_read_commit(const struct kept_git_order *order, const git_oid *id)
{
	git_commit *commit = NULL;
	git_object_t type;
	size_t size;

	/* What unpacks to more is not unpacked. */
	if (git.odb_read_header(&size, &type, order->objects, id) != 0 ||
	    type != GIT_OBJECT_COMMIT || size > COMMIT_BYTES_MOST ||
	    git.commit_lookup(&commit, order->repository, id) != 0)
		return NULL;
	return commit;
}

/*
 * Finds the subjects and times of the commits that git knows; whether there are
 * any.
 */
static bool
kept_git_find_subjects(struct kept_git_order *order, struct error *error)
{
	struct kept *kept = order->kept;
	bool is_known = false;

	for (size_t i = 0; i < kept->n && !error->is_set; i++) {
		const char *id = kept->commits[i].id, *subject;
		git_commit *commit;
		git_oid hash;
		uint32_t listed;

		if (strlen(id) != GIT_OID_HEXSZ ||
		    git.oid_fromstr(&hash, id) != 0 ||
		    (commit = kept_git_read_commit(order, &hash)) == NULL)
			continue;
		subject = git.commit_summary(commit);
		kept->commits[i].subject = arena_format(&kept->arena, error,
		    "%s", subject == NULL ? "" : subject);
		if (!is_known || git.commit_time(commit) < order->oldest)
			order->oldest = git.commit_time(commit);
		is_known = true;
		git.commit_free(commit);
		listed = names_add(order->listed, (char *)hash.id,
		                   sizeof hash.id, error);
		if (listed != NO_NAME)
			order->of_listed[listed] = i;
	}
	return is_known && !error->is_set;
}

/*
 * Goes on to a commit, unless it was walked already, lacks, or is older than
 * all that are listed.
 */
static int
kept_git_push(struct kept_git_order *order, const git_oid *id,
              struct error *error)
{
	const uint32_t n = names_count(order->walked);
	git_commit *commit;

	if (names_add(order->walked, (const char *)id->id, sizeof id->id,
	              error) != n)
		return error->is_set ? -1 : 0;
	/* An order of a part would take the others for no ancestors. */
	if (n >= COMMITS_MOST)
		return error_set(error, "more than %d commits of git to look "
		                 "at", COMMITS_MOST);
	commit = kept_git_read_commit(order, id);
	if (commit != NULL &&
	    git.commit_time(commit) >= order->oldest - SLACK_SECONDS &&
	    memory_grow(&order->steps, &order->capacity, order->n_steps + 1,
	                sizeof *order->steps, error) == 0) {
		order->steps[order->n_steps++] = (struct kept_git_step){
			.commit = commit, .id = *id,
		};
		return 0;
	}
	if (commit != NULL)
		git.commit_free(commit);
	return error->is_set ? -1 : 0;
}

/* All parents of the last step are placed: so it is, if it is listed. */
static void
kept_git_place(struct kept_git_order *order)
{
	const struct kept_git_step *step = &order->steps[--order->n_steps];
	const uint32_t i = names_find(order->listed, (char *)step->id.id,
	                              sizeof step->id.id);

	git.commit_free(step->commit);
	if (i != NO_NAME)
		order->placed[order->n_placed++] =
		    order->kept->commits[order->of_listed[i]];
}

/* Places the ancestors of HEAD, each after its parents: the first parent and
 * what is behind it first, so that branches stay together. */
static void
kept_git_place_ancestors(struct kept_git_order *order, struct error *error)
{
	git_oid head;

	if (git.reference_name_to_id(&head, order->repository, "HEAD") != 0 ||
	    kept_git_push(order, &head, error) != 0)
		return;
	while (order->n_steps > 0 &&
	       progress_step(NULL, 0, 0, error) == 0) {
		struct kept_git_step *step = &order->steps[order->n_steps - 1];

		if (step->next == git.commit_parentcount(step->commit))
			kept_git_place(order);
		else if (kept_git_push(order, git.commit_parent_id(step->commit,
		                  step->next++), error) != 0)
			return;
	}
}

/*
 * Whether the clone lacks the older part of the history.  All its work trees
 * have one list of where it ends; git_repository_is_shallow looks for one of
 * each.
 */
static bool
kept_git_is_shallow(const struct kept_git_order *order, struct error *error)
{
	const char *path = arena_format(&order->kept->arena, error, "%s/shallow",
	    git.repository_commondir(order->repository));
	struct stat status;

	return path != NULL && stat(path, &status) == 0 && status.st_size > 0;
}

static void
kept_git_order_free(struct kept_git_order *order)
{
	while (order->n_steps > 0)
		git.commit_free(order->steps[--order->n_steps].commit);
	free(order->steps);
	free(order->placed);
	free(order->of_listed);
	names_free(order->listed);
	names_free(order->walked);
	if (order->objects != NULL)
		git.odb_free(order->objects);
	if (order->repository != NULL)
		git.repository_free(order->repository);
}

size_t
kept_git_order(struct kept *kept, bool *is_ordered, struct error *why)
{
	struct kept_git_order order = {
		.kept = kept,
		.repository = kept_git_open(kept, why),
	};
	size_t n_others = 0;

	*is_ordered = false;
	if (order.repository == NULL)
		return 0;
	order.listed = names_new(why);
	order.walked = names_new(why);
	order.of_listed = memory_array(kept->n, sizeof(size_t), why);
	order.placed = memory_array(kept->n, sizeof *order.placed, why);
	if (!why->is_set &&
	    git.repository_odb(&order.objects, order.repository) == 0 &&
	    kept_git_find_subjects(&order, why))
		kept_git_place_ancestors(&order, why);
	if (!why->is_set && order.n_placed > 0) {
		n_others = kept->n - order.n_placed;
		kept->is_shallow = kept_git_is_shallow(&order, why);
		memcpy(kept->commits, order.placed,
		       order.n_placed * sizeof *order.placed);
		kept->n = order.n_placed;
		*is_ordered = true;
	}
	kept_git_order_free(&order);
	return n_others;
}
