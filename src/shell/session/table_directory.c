/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_directory.c -- a merge is in a directory of tables as a whole, or not.
 *
 * Who reads the tables sees the files that are there, so what is in them is
 * decided by one change of names:
 *
 *   DIR/.cpprof-merge/hit/part-1.parquet      what this merge writes
 *   DIR/.cpprof-merge/stack/part-2.parquet
 *   DIR/hit/part-0.parquet                    what is there
 *   DIR/hit/.cpprof-members                   of which members, in which files
 *
 * At the end, the files of the other tables are moved into place: they only say
 * what hits are of, so they change no answer.  Then the new directory of hits
 * gets links to the old hits and a new list of members, and takes the place of
 * the old one in a single step.  Until then nothing of the merge counts, and
 * the next merge removes what the list does not have.  A lock on DIR makes two
 * merges wait for each other.
 *
 * DIR may come from an archive.  All below it is cpprof's own, so no link there
 * is followed, neither to write nor to remove; see own_file.h.
 */
#include "src/shell/session/path_tables.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/base/own_file.h"
#include "src/base/progress.h"
#include "src/base/writer.h"

#define TABLE_STAGE ".cpprof-merge"
#define TABLE_MEMBERS ".cpprof-members"

/* The first line of a list of members. */
static const char table_first_line[] = "cpprof members 1\n";

/* Tables beside that of hits. */
static const char *const table_others[] = { "stack", "path", "stack_path",
	"label", "member" };
enum { N_TABLE_OTHERS = sizeof table_others / sizeof *table_others };

struct table_directory {
	char *path, *stage, *hits, *new_hits;
	size_t own;			/* bytes of paths, see own_file.h */
	int lock;			/* -1: none */
	struct names *members;
	struct names *files;		/* "stack/part-..." */
	bool has_list;			/* there was one */
	bool is_kept;			/* it is not removed, even if empty */
};

/* ---- directories ---- */

static int
table_fail(const char *path, struct error *error)
{
	return error_set(error, "%.300s: %s", path, strerror(errno));
}

/* Finds what is to be there already.  1; 0: it is missing; -1 with *error. */
static int
table_find(struct own_place *place, const char *path, size_t own,
           struct error *error)
{
	struct error why = { 0 };

	if (own_place_open(place, path, own, 0, &why) != 0)
		return errno == ENOENT ? 0 : error_pass(error, &why);
	if (place->is_there)
		return 1;
	own_place_close(place);
	return 0;
}

/*
 * Calls back for each entry but "." and ".." of a directory, which is open as
 * `at`.  A missing one has none.
 */
static int
table_each_entry(const char *path, size_t own,
                 int (*found)(void *context, int at, const char *entry,
                              const struct stat *status,
                              struct error *error),
                 void *context, struct error *error)
{
	struct own_place place;
	const struct dirent *entry;
	struct stat status;
	int result = table_find(&place, path, own, error), descriptor;
	DIR *directory;

	if (result <= 0)
		return result;
	descriptor = openat(place.directory, place.name, O_RDONLY |
	                    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	directory = descriptor < 0 ? NULL : fdopendir(descriptor);
	if (directory == NULL) {
		table_fail(path, error);
		if (descriptor >= 0)
			close(descriptor);
		own_place_close(&place);
		return -1;
	}
	own_place_close(&place);
	result = 0;
	while (result == 0 && (entry = readdir(directory)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 &&
		    fstatat(dirfd(directory), entry->d_name, &status,
		            AT_SYMLINK_NOFOLLOW) == 0)
			result = found(context, dirfd(directory),
			               entry->d_name, &status, error);
	closedir(directory);
	return result;
}

/* A path below a directory, the caller's to free; NULL with *error set. */
static char *
table_below(const char *directory, const char *name, struct error *error)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) >= 0)
		return path;
	error_out_of_memory(error);
	return NULL;
}

/* Directories that are removed are at most this deep: stage/hit/key=value. */
enum { TABLE_DEPTH = 3 };

struct table_removing {
	const char *path;
	size_t own;
	int depth;
};

static int table_remove(const char *path, size_t own, int depth,
                        struct error *error);

static int
table_remove_entry(void *context, int at, const char *entry,
                   const struct stat *status, struct error *error)
{
	const struct table_removing *removing = context;
	char *path = table_below(removing->path, entry, error);
	int result = path == NULL ? -1 : 0;

	if (result == 0 && S_ISDIR(status->st_mode) && removing->depth > 0)
		result = table_remove(path, removing->own, removing->depth - 1,
		                      error);
	else if (result == 0 && unlinkat(at, entry, 0) != 0 && errno != ENOENT)
		result = table_fail(path, error);
	free(path);
	return result;
}

/* Removes what merges write, and nothing deeper. */
static int
table_remove(const char *path, size_t own, int depth, struct error *error)
{
	struct table_removing removing = { path, own, depth };
	struct own_place place;
	int result = table_each_entry(path, own, table_remove_entry, &removing,
	                              error);

	if (result == 0)
		result = table_find(&place, path, own, error);
	if (result <= 0)
		return result;
	result = unlinkat(place.directory, place.name, AT_REMOVEDIR) == 0 ||
	    errno == ENOENT ? 0 : table_fail(path, error);
	own_place_close(&place);
	return result;
}

/* ---- the list of members ---- */

static int
table_take_line(struct table_directory *directory, const char *line,
                struct error *error)
{
	static const char member[] = "member ", file[] = "file ";

	if (strncmp(line, member, sizeof member - 1) == 0) {
		line += sizeof member - 1;
		return names_add(directory->members, line, strlen(line),
		                 error) == NO_NAME ? -1 : 0;
	}
	if (strncmp(line, file, sizeof file - 1) == 0) {
		line += sizeof file - 1;
		return names_add(directory->files, line, strlen(line),
		                 error) == NO_NAME ? -1 : 0;
	}
	return 0;
}

/* No hits at all are those of an empty list. */
static int
table_read_list(struct table_directory *directory, struct error *error)
{
	struct stat status;
	struct own_place place;
	char *path = table_below(directory->hits, TABLE_MEMBERS, error);
	const int is_there = path == NULL ? -1 :
	    table_find(&place, path, directory->own, error);
	int descriptor = -1;
	FILE *file;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t n;

	if (is_there > 0) {
		descriptor = openat(place.directory, place.name, O_RDONLY |
		                    O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		own_place_close(&place);
	}
	file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
	free(path);
	if (file == NULL) {
		directory->has_list = fstatat(directory->lock, "hit", &status,
		    AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
		if (descriptor >= 0)
			close(descriptor);
		return error->is_set ? -1 : 0;
	}
	directory->has_list = getline(&line, &capacity, file) > 0 &&
	    strcmp(line, table_first_line) == 0;
	while (directory->has_list && !error->is_set &&
	       (n = getline(&line, &capacity, file)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		table_take_line(directory, line, error);
	}
	free(line);
	fclose(file);
	return error->is_set ? -1 : 0;
}

/* Nothing else removes what the list has. */
static int
table_check_list(const struct table_directory *directory, struct error *error)
{
	struct own_place place;
	int result = 1;

	for (uint32_t i = 0; result > 0 &&
	     i < names_count(directory->files); i++) {
		const char *name = names_text(directory->files, i);
		char *path = table_below(directory->path, name, error);

		result = path == NULL ? -1 :
		    table_find(&place, path, directory->own, error);
		if (result > 0)
			own_place_close(&place);
		else if (result == 0)
			error_set(error, "%.300s was rewritten by another "
			          "program; merge into a new directory (it "
			          "lacks %.100s)", directory->path, name);
		free(path);
	}
	return result > 0 ? 0 : -1;
}

static int
table_write_list(const struct table_directory *directory, const char *path,
                 struct error *error)
{
	const struct {
		const char *kind;
		const struct names *names;
	} parts[] = {
		{ "member ", directory->members }, { "file ", directory->files },
	};
	struct new_file file;

	if (new_file_open_own(&file, path, directory->own, error) != 0)
		return -1;
	writer_put(&file.writer, table_first_line,
	           sizeof table_first_line - 1);
	for (int part = 0; part < 2; part++)
		for (uint32_t i = 0; i < names_count(parts[part].names); i++) {
			writer_put(&file.writer, parts[part].kind,
			           strlen(parts[part].kind));
			writer_put(&file.writer,
			           names_text(parts[part].names, i),
			           names_length(parts[part].names, i));
			writer_put(&file.writer, "\n", 1);
		}
	return new_file_close(&file, true, error);
}

/* ---- what an earlier merge has left ---- */

struct table_sweeping {
	struct table_directory *directory;
	const char *table;		/* the path below it */
	const char *from;		/* where the files lie */
	bool enters;			/* all, and removes none */
	int depth;			/* of directories below */
};

static int table_sweep_entry(void *context, int at, const char *entry,
                             const struct stat *status, struct error *error);

/* Hits may be in directories of a key's values. */
static int
table_sweep_below(const struct table_sweeping *sweeping, const char *table,
                  const char *from, struct error *error)
{
	struct table_sweeping below = *sweeping;

	below.table = table;
	below.from = from;
	below.depth--;
	return table_each_entry(from, below.directory->own, table_sweep_entry,
	                        &below, error);
}

/* Whether it is a name that tables_write gives. */
static bool
table_is_ours(const char *entry)
{
	static const char first[] = "part-", digits[] = "0123456789";
	size_t n;

	if (strncmp(entry, first, sizeof first - 1) != 0)
		return false;
	entry += sizeof first - 1;
	if (strspn(entry, "0123456789abcdef") != 16 || entry[16] != '-')
		return false;
	entry += 17;
	n = strspn(entry, digits);
	return n >= 4 && strcmp(entry + n, ".parquet") == 0;
}

/*
 * Removes a file that is of no merge, or enters it in the list.  Other programs
 * give their files names of their own, and these stay.
 */
static int
table_sweep_entry(void *context, int at, const char *entry,
                  const struct stat *status, struct error *error)
{
	const struct table_sweeping *sweeping = context;
	struct table_directory *directory = sweeping->directory;
	char *name, *path;
	int result = 0;

	if (!S_ISDIR(status->st_mode) &&
	    (!S_ISREG(status->st_mode) || !table_is_ours(entry)))
		return 0;
	name = table_below(sweeping->table, entry, error);
	path = table_below(sweeping->from, entry, error);
	if (error->is_set)
		result = -1;
	else if (S_ISDIR(status->st_mode))
		result = sweeping->depth == 0 ? 0 :
		    table_sweep_below(sweeping, name, path, error);
	else if (sweeping->enters)
		result = names_add(directory->files, name, strlen(name),
		                   error) == NO_NAME ? -1 : 0;
	else if (names_find(directory->files, name, strlen(name)) == NO_NAME &&
	         unlinkat(at, entry, 0) != 0 && errno != ENOENT)
		result = table_fail(path, error);
	free(name);
	free(path);
	return result;
}

static int
table_sweep(struct table_directory *directory, struct error *error)
{
	if (table_remove(directory->stage, directory->own, TABLE_DEPTH,
	                 error) != 0)
		return -1;
	for (int i = 0; i <= N_TABLE_OTHERS; i++) {
		const char *table = i < N_TABLE_OTHERS ? table_others[i] :
		    "hit";
		char *path = table_below(directory->path, table, error);
		struct table_sweeping sweeping = { directory, table, path,
			!directory->has_list, i < N_TABLE_OTHERS ? 0 : 1 };
		int result = path == NULL ? -1 : table_each_entry(path,
		    directory->own, table_sweep_entry, &sweeping, error);

		free(path);
		if (result != 0)
			return -1;
	}
	return 0;
}

/* ---- beginning ---- */

struct table_telling {
	void (*warn)(void *context, const char *text);
	void *context;
	bool is_told;			/* that it waits */
};

/* Tells once that it waits. */
static int
table_wait(const struct table_directory *directory,
           struct table_telling *telling, struct error *error)
{
	char *text;
	int status = flock(directory->lock, LOCK_EX | LOCK_NB);

	if (status == 0 || errno != EWOULDBLOCK)
		return status;
	if (!telling->is_told) {
		if (asprintf(&text, "waits for another merge into %s",
		             directory->path) < 0)
			return error_out_of_memory(error);
		telling->warn(telling->context, text);
		free(text);
		telling->is_told = true;
	}
	do
		status = flock(directory->lock, LOCK_EX);
	while (status != 0 && errno == EINTR && !interrupt_requested);
	return status;
}

/* Some file systems have no locks; there, users see to it themselves. */
static bool
table_has_no_locks(int number)
{
	return number == ENOLCK || number == EOPNOTSUPP || number == ENOSYS;
}

/* 1: it is locked; 0: another one has its place now; -1 with *error set. */
static int
table_lock(struct table_directory *directory, struct table_telling *telling,
           struct error *error)
{
	struct stat locked, named;

	if (own_directory_make(directory->path, OWN_NOTHING, 0777, error) != 0)
		return -1;
	directory->lock = open(directory->path, O_RDONLY | O_DIRECTORY |
	                       O_CLOEXEC);
	if (directory->lock < 0)
		return errno == ENOENT ? 0 : table_fail(directory->path, error);
	if (table_wait(directory, telling, error) != 0 &&
	    (error->is_set || !table_has_no_locks(errno)))
		return error->is_set ? -1 : interrupt_requested ?
		    progress_step(NULL, 0, 0, error) :
		    table_fail(directory->path, error);
	/* A merge that failed may have removed it again. */
	if (fstat(directory->lock, &locked) == 0 &&
	    stat(directory->path, &named) == 0 &&
	    locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)
		return 1;
	close(directory->lock);
	directory->lock = -1;
	return 0;
}

struct table_directory *
table_directory_new(const char *path,
                    void (*warn)(void *context, const char *text),
                    void *context, struct error *error)
{
	struct table_telling telling = { warn, context, false };
	struct table_directory *directory = memory_array(1, sizeof *directory,
	                                                 error);
	int status = 0;

	if (directory == NULL)
		return NULL;
	directory->lock = -1;
	directory->own = strlen(path) + 1;
	directory->path = memory_string(path, error);
	directory->members = names_new(error);
	directory->files = names_new(error);
	directory->stage = table_below(path, TABLE_STAGE, error);
	directory->hits = table_below(path, "hit", error);
	directory->new_hits = table_below(path, TABLE_STAGE "/hit", error);
	while (!error->is_set && status == 0)
		status = table_lock(directory, &telling, error);
	if (!error->is_set && table_read_list(directory, error) == 0 &&
	    table_check_list(directory, error) == 0 &&
	    table_sweep(directory, error) == 0 &&
	    own_directory_make(directory->stage, directory->own, 0777,
	                       error) == 0)
		return directory;
	table_directory_free(directory);
	return NULL;
}

void
table_directory_free(struct table_directory *directory)
{
	struct error ignored = { 0 };

	if (directory == NULL)
		return;
	if (directory->lock >= 0) {
		table_remove(directory->stage, directory->own, TABLE_DEPTH,
		             &ignored);
		if (!directory->is_kept)
			rmdir(directory->path);	/* if it is empty */
		close(directory->lock);
	}
	names_free(directory->members);
	names_free(directory->files);
	free(directory->path);
	free(directory->stage);
	free(directory->hits);
	free(directory->new_hits);
	free(directory);
}

const char *
table_directory_stage(const struct table_directory *directory)
{
	return directory->stage;
}

int
table_directory_add(struct table_directory *directory, const char *member,
                    struct error *error)
{
	const uint32_t n = names_count(directory->members);
	const uint32_t number = names_add(directory->members, member,
	                                  strlen(member), error);

	return number == NO_NAME ? -1 : number == n;
}

/* ---- the end ---- */

struct table_moving {
	struct table_directory *directory;
	const char *from, *to;		/* directories */
	const char *table;		/* NULL: of hits */
	bool links;			/* instead of moving */
	bool is_too_deep;		/* there was a directory in one */
	int depth;
	int into;			/* `to`, while it is open */
};

static int table_move_all(struct table_moving *moving, struct error *error);

static int
table_move_directory(struct table_moving *moving, const char *from,
                     const char *to, struct error *error)
{
	struct table_moving below = *moving;
	int result;

	below.from = from;
	below.to = to;
	below.depth--;
	result = table_move_all(&below, error);
	moving->is_too_deep |= below.is_too_deep;
	return result;
}

static int
table_move_entry(void *context, int at, const char *entry,
                 const struct stat *status, struct error *error)
{
	struct table_moving *moving = context;
	char *from = table_below(moving->from, entry, error);
	char *to = table_below(moving->to, entry, error);
	int result = error->is_set ? -1 : 0;

	if (result != 0 || strcmp(entry, TABLE_MEMBERS) == 0) {
	} else if (S_ISDIR(status->st_mode)) {
		if (moving->depth == 0)
			moving->is_too_deep = true;
		else
			result = table_move_directory(moving, from, to, error);
	} else if ((moving->links ?
	            linkat(at, entry, moving->into, entry, 0) :
	            renameat(at, entry, moving->into, entry)) != 0) {
		result = table_fail(to, error);
	} else if (moving->table != NULL) {
		char *name = table_below(moving->table, entry, error);

		if (name == NULL ||
		    names_add(moving->directory->files, name, strlen(name),
		              error) == NO_NAME)
			result = -1;
		free(name);
	}
	free(from);
	free(to);
	return result;
}

static int
table_move_all(struct table_moving *moving, struct error *error)
{
	const size_t own = moving->directory->own;
	int result;

	moving->into = own_directory_open(moving->to, own, 0777, error);
	if (moving->into < 0)
		return -1;
	result = table_each_entry(moving->from, own, table_move_entry, moving,
	                          error);
	close(moving->into);
	return result;
}

/* The files of the tables that only say what hits are of. */
static int
table_move_others(struct table_directory *directory, struct error *error)
{
	int result = 0;

	for (int i = 0; result == 0 && i < N_TABLE_OTHERS; i++) {
		char *from = table_below(directory->stage, table_others[i],
		                         error);
		char *to = table_below(directory->path, table_others[i],
		                       error);
		struct table_moving moving = { .directory = directory,
			.from = from, .to = to, .table = table_others[i] };

		result = error->is_set ? -1 : table_move_all(&moving, error);
		free(from);
		free(to);
	}
	return result;
}

/*
 * Lets the new hits take the place of the old ones, in one step.  1: done; 0:
 * the file system cannot; -1 with *error set.
 */
static int
table_exchange(struct table_directory *directory, const char *list,
               struct error *error)
{
	struct table_moving linking = { .directory = directory,
		.from = directory->hits, .to = directory->new_hits,
		.links = true, .depth = 1 };
	struct error refused = { 0 };
	struct stat old;

	if (table_move_all(&linking, &refused) != 0 || linking.is_too_deep)
		return refused.is_out_of_memory ? error_pass(error, &refused) :
		    0;
	if (table_write_list(directory, list, error) != 0)
		return -1;
	if (stat(directory->hits, &old) != 0)
		return rename(directory->new_hits, directory->hits) == 0 ? 1 :
		    table_fail(directory->hits, error);
	/* What users have changed stays. */
	if (chmod(directory->new_hits, old.st_mode & 07777) != 0 ||
	    renameat2(AT_FDCWD, directory->new_hits, AT_FDCWD, directory->hits,
	              RENAME_EXCHANGE) != 0)
		return 0;
	return 1;
}

/*
 * Where files have no links, or directories cannot be exchanged: one file after
 * the other, and the list last.  A merge that is killed in between may show some
 * hits until the next one, which removes what the list does not have.
 */
static int
table_move_hits(struct table_directory *directory, struct error *error)
{
	struct table_moving moving = { .directory = directory,
		.from = directory->new_hits, .to = directory->hits,
		.depth = 1 };
	char *list = table_below(directory->hits, TABLE_MEMBERS, error);
	int result = list == NULL ? -1 : table_move_all(&moving, error);

	if (result == 0)
		result = table_write_list(directory, list, error);
	free(list);
	return result;
}

int
table_directory_end(struct table_directory *directory, struct error *error)
{
	struct table_sweeping entering = { directory, "hit",
		directory->new_hits, true, 1 };
	char *list = table_below(directory->new_hits, TABLE_MEMBERS, error);
	int result = list == NULL ||
	    own_directory_make(directory->new_hits, directory->own, 0777,
	                       error) != 0 ? -1 :
	    table_each_entry(directory->new_hits, directory->own,
	                     table_sweep_entry, &entering, error);

	if (result == 0)
		result = table_move_others(directory, error);
	if (result == 0)
		result = table_exchange(directory, list, error);
	if (result == 0)
		result = table_move_hits(directory, error);
	directory->is_kept = result >= 0;
	free(list);
	return result < 0 ? -1 : 0;
}
