/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_tables.h -- profiles as tables for engines that know SQL.
 *
 * An engine cannot tell which canonical paths a stack counts for.  A table has
 * that, so that the value of a path is a sum over the stacks in it, each of
 * which counts once, also under recursion.  doc/tables.md describes the tables.
 */
#ifndef CPPROF_SHELL_SESSION_PATH_TABLES_H
#define CPPROF_SHELL_SESSION_PATH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/format.h"
#include "src/formats/merged/merging.h"
#include "src/profile/profile.h"

/* ---- path_tables.c ---- */

enum { PATH_TABLES_NAMES = 8 };	/* of a path, unless one says else */

struct path_tables;

/* Borrowed. */
struct path_tables_request {
	const char *directory;		/* made if it is missing */
	const char *key;		/* by which hits are in directories of
					 * their own; NULL: none */
	size_t most_names;		/* of a path */
	struct naming_rule rule;
	unsigned hidden;		/* enum hidden_frames */
	const struct read_options *read;
};

/*
 * Calls warn if it waits for another merge.  Freed with path_tables_free; NULL
 * with *error set.
 */
struct path_tables *path_tables_new(const struct path_tables_request *request,
                                    void (*warn)(void *context,
                                                 const char *text),
                                    void *context, struct error *error);
void path_tables_free(struct path_tables *tables);

/*
 * Adds the profile that load_profiles reads at the path, unless its content is
 * in the tables already, with the same id; id: who it is; NULL: its content.
 * Calls warn for each warning, and then.  What there is too much of in memory
 * is written.
 */
enum merged_input path_tables_add(struct path_tables *tables, const char *path,
                                  const char *id,
                                  void (*warn)(void *context,
                                               const char *text),
                                  void *context, struct error *error);

/*
 * Writes the rest, and adds all to what is in the directory: as a whole, or not
 * at all.  The directory is as it was if this fails or is not called.
 */
int path_tables_end(struct path_tables *tables, struct error *error);

/* ---- table_directory.c ---- */

/* A directory of tables, and what one merge adds to it. */
struct table_directory;

/*
 * Makes the directory if it is missing, waits for other merges into it, which
 * it tells by warn (where the file system has locks), and removes what those
 * that did not end have left.  Freed with table_directory_free, which leaves
 * the directory as it was unless table_directory_end has succeeded; NULL with
 * *error set.
 */
struct table_directory *table_directory_new(const char *path,
                                            void (*warn)(void *context,
                                                         const char *text),
                                            void *context,
                                            struct error *error);
void table_directory_free(struct table_directory *directory);

/* Where files are written first, as they are to lie below the directory. */
const char *table_directory_stage(const struct table_directory *directory);

/*
 * Enters a member, a text without newline.  1: it is new; 0: it is in the
 * tables or was entered before; -1 with *error set.
 */
int table_directory_add(struct table_directory *directory, const char *member,
                        struct error *error);

/* Adds what was written, and the members.  0, or -1 with *error set. */
int table_directory_end(struct table_directory *directory,
                        struct error *error);

/* ---- stack_paths.c ---- */

/*
 * The number of a path is a hash (XXH3, 64 bits) of its last name, seeded by the
 * number of the path before it (0: there is none), so it is the same in every
 * merge.  It is never 0.
 */
uint64_t path_number(const struct names *names, uint64_t before,
                     uint32_t name);

/* Likewise of any texts. */
uint64_t path_number_after(uint64_t before, const char *text, size_t length);

/* The paths of a stack, and room to find them.  Starts with `{ 0 }`. */
struct stack_paths {
	uint64_t *found;		/* [n_found] their numbers, ascending */
	size_t n_found, found_capacity;
	/* The path that is being walked. */
	uint32_t *names;
	uint64_t *ids;			/* of what it begins with */
	struct name_place *places;	/* [names] */
	size_t capacity, ids_capacity, places_capacity;
};

void stack_paths_free(struct stack_paths *paths);

/* Takes a path of n names, perhaps one that came before; 0 or -1. */
typedef int new_path(void *context, uint64_t id, const uint32_t *names,
                     size_t n, uint64_t before, struct error *error);

/*
 * Finds the canonical paths of at most so many names that stack[depth], the
 * outermost name first, counts for.  0, or -1 with *error set.
 */
int stack_paths_find(struct stack_paths *paths, const struct names *names,
                     const uint32_t *stack, size_t depth, size_t most_names,
                     new_path *take, void *context, struct error *error);

#endif
