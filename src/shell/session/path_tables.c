/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_tables.c -- profiles as tables for engines that know SQL.
 *
 * Rows are collected in memory and written as new files, so memory is bounded
 * and no file is changed; table_directory.c shows them all at once.  The numbers
 * of stacks, paths and sets of labels that were written are remembered, up to a
 * limit; what is forgotten is written again, which changes no answer: only hits
 * are added up.
 */
#include "src/shell/session/path_tables.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/own_file.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/formats/parquet/parquet.h"
#include "src/profile/large_array.h"
#include "src/profile/sections.h"
#include "src/shell/session/naming.h"

enum {
	TABLE_BYTES = 32 << 20,		/* of each that are collected */
	HITS_BYTES = 64 << 20,		/* of all directories of hits */
	PARTS_MOST = 64,		/* of these, collected at once */
	SEEN_MOST = 8 << 20,		/* numbers that are remembered */
	ROWS_A_STEP = 1 << 16,
};

/* What Hive calls the directory of rows without a value. */
static const char no_value[] = "__HIVE_DEFAULT_PARTITION__";

/* ---- the tables ---- */

enum { STACK_ID, STACK_NAMES, STACK_LEAF };
static const struct parquet_column stack_columns[] = {
	{ "stack", PARQUET_NUMBER, false },
	{ "names", PARQUET_TEXTS, false },
	{ "leaf", PARQUET_TEXT, false },
};

enum { PATH_ID, PATH_NAMES, PATH_PARENT };
static const struct parquet_column path_columns[] = {
	{ "path", PARQUET_NUMBER, false },
	{ "names", PARQUET_TEXTS, false },
	{ "parent", PARQUET_NUMBER, true },
};

static const struct parquet_column stack_path_columns[] = {
	{ "stack", PARQUET_NUMBER, false },
	{ "path", PARQUET_NUMBER, false },
};

enum { LABEL_SET, LABEL_KEY, LABEL_VALUE };
static const struct parquet_column label_columns[] = {
	{ "labels", PARQUET_NUMBER, false },
	{ "key", PARQUET_TEXT, false },
	{ "value", PARQUET_TEXT, false },
};

enum { MEMBER_ID, MEMBER_FILE, MEMBER_PROGRAM, MEMBER_COMMAND, MEMBER_HOST,
       MEMBER_START, MEMBER_END };
static const struct parquet_column member_columns[] = {
	{ "member", PARQUET_TEXT, false },
	{ "file", PARQUET_TEXT, false },
	{ "program", PARQUET_TEXT, false },
	{ "command", PARQUET_TEXT, false },
	{ "host", PARQUET_TEXT, false },
	{ "start_ns", PARQUET_NUMBER, true },
	{ "end_ns", PARQUET_NUMBER, true },
};

enum { HIT_MEMBER, HIT_LABELS, HIT_TIME, HIT_RESOURCE, HIT_GTICK, HIT_INTERVAL,
       HIT_STACK, HIT_COUNT };
static const struct parquet_column hit_columns[] = {
	{ "member", PARQUET_TEXT, false },
	{ "labels", PARQUET_NUMBER, false },
	{ "time_ns", PARQUET_NUMBER, true },
	{ "resource", PARQUET_TEXT, false },
	{ "gtick", PARQUET_TEXT, false },
	{ "interval", PARQUET_NUMBER, false },
	{ "stack", PARQUET_NUMBER, false },
	{ "count", PARQUET_NUMBER, false },
};

enum { TABLE_STACK, TABLE_PATH, TABLE_STACK_PATH, TABLE_LABEL, TABLE_MEMBER,
       N_TABLES };

static const struct {
	const char *name;
	const struct parquet_column *columns;
	size_t n;
} table_kinds[N_TABLES] = {
#define ROW(name, columns) { name, columns, sizeof columns / sizeof *columns }
	[TABLE_STACK] = ROW("stack", stack_columns),
	[TABLE_PATH] = ROW("path", path_columns),
	[TABLE_STACK_PATH] = ROW("stack_path", stack_path_columns),
	[TABLE_LABEL] = ROW("label", label_columns),
	[TABLE_MEMBER] = ROW("member", member_columns),
#undef ROW
};

/* ---- numbers that were written ---- */

/* A set of numbers other than 0; start with { 0 }. */
struct seen {
	uint64_t *slots;	/* [n_slots], a power of 2 */
	size_t n, n_slots;
};

static int
seen_grow(struct seen *seen, struct error *error)
{
	const size_t n_slots = seen->n_slots == 0 ? 1024 : 2 * seen->n_slots;
	uint64_t *slots = memory_array(n_slots, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (size_t i = 0; i < seen->n_slots; i++) {
		size_t at = (size_t)seen->slots[i] & (n_slots - 1);

		if (seen->slots[i] == 0)
			continue;
		while (slots[at] != 0)
			at = (at + 1) & (n_slots - 1);
		slots[at] = seen->slots[i];
	}
	free(seen->slots);
	seen->slots = slots;
	seen->n_slots = n_slots;
	return 0;
}

/* 1: the number is new, and now is in; 0: it was; -1 with *error set. */
static int
seen_add(struct seen *seen, uint64_t number, struct error *error)
{
	size_t at;

	if (seen->n == SEEN_MOST) {
		memset(seen->slots, 0, seen->n_slots * sizeof *seen->slots);
		seen->n = 0;
	}
	if (2 * seen->n >= seen->n_slots && seen_grow(seen, error) != 0)
		return -1;
	at = (size_t)number & (seen->n_slots - 1);
	while (seen->slots[at] != 0 && seen->slots[at] != number)
		at = (at + 1) & (seen->n_slots - 1);
	if (seen->slots[at] == number)
		return 0;
	seen->slots[at] = number;
	seen->n++;
	return 1;
}

/* ---- what is collected ---- */

/* Rows of hits that go to one directory. */
struct part {
	uint32_t value;			/* of the key; NO_NAME: none */
	struct parquet_table *table;
};

struct path_tables {
	struct path_tables_request request;
	struct table_directory *directory;
	const char *stage;		/* where files are written first */
	struct names *names;		/* all texts */
	struct text_buffer paths_of_members;	/* "ID\tPATH\n": of this merge */
	bool has_rows;			/* a member was added */
	struct parquet_table *tables[N_TABLES];
	bool is_written[N_TABLES];	/* a file of it */
	struct part parts[PARTS_MOST];
	size_t n_parts;
	uint64_t members;		/* of all rows that are collected, a
					 * hash of their identities */
	uint64_t n_files;
	struct seen stacks, paths, labels;
	struct stack_paths paths_of_stack;	/* of the last one */
	uint32_t *stack;		/* [depth] names of a stack */
	size_t stack_capacity;
	struct arena arena;		/* of one call */
};

struct path_tables *
path_tables_new(const struct path_tables_request *request,
                void (*warn)(void *context, const char *text),
                void *context, struct error *error)
{
	struct path_tables *tables = memory_array(1, sizeof *tables, error);

	if (tables == NULL)
		return NULL;
	tables->request = *request;
	tables->names = names_new(error);
	tables->directory = error->is_set ? NULL :
	    table_directory_new(request->directory, warn, context, error);
	if (tables->directory != NULL)
		tables->stage = table_directory_stage(tables->directory);
	for (size_t i = 0; i < N_TABLES && !error->is_set; i++)
		tables->tables[i] = parquet_table_new(table_kinds[i].columns,
		    table_kinds[i].n, tables->names, error);
	if (!error->is_set)
		return tables;
	path_tables_free(tables);
	return NULL;
}

void
path_tables_free(struct path_tables *tables)
{
	if (tables == NULL)
		return;
	for (size_t i = 0; i < N_TABLES; i++)
		parquet_table_free(tables->tables[i]);
	for (size_t i = 0; i < tables->n_parts; i++)
		parquet_table_free(tables->parts[i].table);
	free(tables->stacks.slots);
	free(tables->paths.slots);
	free(tables->labels.slots);
	stack_paths_free(&tables->paths_of_stack);
	free(tables->stack);
	names_free(tables->names);
	arena_free(&tables->arena);
	text_free(&tables->paths_of_members);
	table_directory_free(tables->directory);
	free(tables);
}

/* ---- files ---- */

/*
 * Writes a table to a new file.  Its name depends on the members and the number
 * of files before; a member is only once in a directory, so it is a new name.
 */
static int
tables_write(struct path_tables *tables, struct parquet_table *table,
             const char *directory, struct error *error)
{
	const size_t own = strlen(tables->request.directory) + 1;
	const char *path;

	path = arena_format(&tables->arena, error,
	    "%s/part-%016" PRIx64 "-%04" PRIu64 ".parquet", directory,
	    tables->members, tables->n_files++);
	return path == NULL ||
	    own_directory_make(directory, own, 0777, error) != 0 ? -1 :
	    parquet_table_write(table, path, own, error);
}

static int
tables_write_kind(struct path_tables *tables, size_t kind,
                  struct error *error)
{
	const char *directory = arena_format(&tables->arena, error, "%s/%s",
	    tables->stage, table_kinds[kind].name);

	/* Engines do not like tables without any file. */
	if (parquet_table_rows(tables->tables[kind]) == 0 &&
	    tables->is_written[kind])
		return 0;
	tables->is_written[kind] = true;
	return directory == NULL ? -1 :
	    tables_write(tables, tables->tables[kind], directory, error);
}

static int
tables_write_kinds(struct path_tables *tables, struct error *error)
{
	for (size_t i = 0; i < N_TABLES; i++)
		if (tables_write_kind(tables, i, error) != 0)
			return -1;
	return 0;
}

/* Adds KEY=VALUE as the name of a directory. */
static void
add_partition(struct text_buffer *text, const char *key, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@+";
	const char *const sides[] = { key, value };

	for (int side = 0; side < 2; side++) {
		text_add_string(text, side == 0 ? "/" : "=");
		for (const char *c = sides[side]; *c != '\0'; c++)
			if (strchr(plain, *c) != NULL)
				text_add_char(text, *c);
			else
				text_add_format(text, "%%%02X",
				                (unsigned char)*c);
	}
}

/* Writes hits, and before them what says what they are of, so that who reads
 * meanwhile finds that. */
static int
tables_write_part(struct path_tables *tables, struct part *part,
                  struct error *error)
{
	const char *const value = part->value == NO_NAME ? no_value :
	    names_text(tables->names, part->value);
	struct text_buffer text = { 0 };
	size_t above;
	int status;

	if (parquet_table_rows(part->table) == 0)
		return 0;
	if (tables_write_kinds(tables, error) != 0)
		return -1;
	text_add_format(&text, "%s/hit", tables->stage);
	status = own_directory_make(text_string(&text),
	                            strlen(tables->request.directory) + 1,
	                            0777, error);
	above = text.length + 1;
	if (tables->request.key != NULL)
		add_partition(&text, tables->request.key, value);
	if (status == 0 && text.length > above + NAME_MAX)
		status = error_set(error, "%.60s is too long for the name of a "
		                   "directory, %.40s...; merge --by another "
		                   "key", tables->request.key, value);
	if (status == 0)
		status = tables_write(tables, part->table, text_string(&text),
		                      error);
	text_free(&text);
	return status;
}

int
path_tables_end(struct path_tables *tables, struct error *error)
{
	if (!tables->has_rows)
		return 0;
	if (tables_write_kinds(tables, error) != 0)
		return -1;
	for (size_t i = 0; i < tables->n_parts; i++)
		if (tables_write_part(tables, &tables->parts[i], error) != 0)
			return -1;
	return table_directory_end(tables->directory, error);
}

/* Writes what there is too much of. */
static int
tables_flush(struct path_tables *tables, struct error *error)
{
	size_t bytes = 0, largest = 0;

	arena_free(&tables->arena);
	for (size_t i = 0; i < N_TABLES; i++)
		if (parquet_table_bytes(tables->tables[i]) > TABLE_BYTES &&
		    tables_write_kind(tables, i, error) != 0)
			return -1;
	for (size_t i = 0; i < tables->n_parts; i++) {
		const size_t own = parquet_table_bytes(tables->parts[i].table);

		bytes += own;
		if (own > parquet_table_bytes(tables->parts[largest].table))
			largest = i;
	}
	return bytes <= HITS_BYTES ? 0 :
	    tables_write_part(tables, &tables->parts[largest], error);
}

/* The rows of a value; if there are too many, the place of the largest. */
static struct part *
tables_part(struct path_tables *tables, uint32_t value, struct error *error)
{
	struct part *part = tables->parts;

	for (size_t i = 0; i < tables->n_parts; i++)
		if (tables->parts[i].value == value)
			return &tables->parts[i];
	if (tables->n_parts < PARTS_MOST) {
		part = &tables->parts[tables->n_parts];
		*part = (struct part){ value, parquet_table_new(hit_columns,
		    sizeof hit_columns / sizeof *hit_columns, tables->names,
		    error) };
		if (part->table == NULL)
			return NULL;
		tables->n_parts++;
		return part;
	}
	for (size_t i = 1; i < tables->n_parts; i++)
		if (parquet_table_bytes(tables->parts[i].table) >
		    parquet_table_bytes(part->table))
			part = &tables->parts[i];
	if (tables_write_part(tables, part, error) != 0)
		return NULL;
	part->value = value;
	return part;
}

/* ---- stacks and their paths ---- */

/* Writes a path that was not written. */
static int
add_path(void *context, uint64_t id, const uint32_t *names, size_t n,
         uint64_t before, struct error *error)
{
	struct path_tables *tables = context;
	struct parquet_table *table = tables->tables[TABLE_PATH];
	const int is_new = seen_add(&tables->paths, id, error);

	if (is_new <= 0)
		return is_new;
	if (parquet_put_number(table, PATH_ID, (int64_t)id, error) != 0 ||
	    parquet_put_texts(table, PATH_NAMES, names, n, error) != 0 ||
	    parquet_put_number(table, PATH_PARENT, n == 1 ? PARQUET_NULL :
	                       (int64_t)before, error) != 0)
		return -1;
	parquet_end_row(table);
	return 0;
}

/* Writes a stack that was not written, with its paths. */
static int
add_stack(struct path_tables *tables, uint64_t id, size_t depth,
          struct error *error)
{
	struct parquet_table *table = tables->tables[TABLE_STACK];
	struct stack_paths *paths = &tables->paths_of_stack;
	const int is_new = seen_add(&tables->stacks, id, error);

	if (is_new <= 0)
		return is_new;
	if (parquet_put_number(table, STACK_ID, (int64_t)id, error) != 0 ||
	    parquet_put_texts(table, STACK_NAMES, tables->stack, depth,
	                      error) != 0 ||
	    parquet_put_text(table, STACK_LEAF, tables->stack[depth - 1],
	                     error) != 0)
		return -1;
	parquet_end_row(table);
	if (stack_paths_find(paths, tables->names, tables->stack, depth,
	                     tables->request.most_names, add_path, tables,
	                     error) != 0)
		return -1;
	table = tables->tables[TABLE_STACK_PATH];
	for (size_t i = 0; i < paths->n_found; i++) {
		if (parquet_put_number(table, 0, (int64_t)id, error) != 0 ||
		    parquet_put_number(table, 1, (int64_t)paths->found[i],
		                       error) != 0)
			return -1;
		parquet_end_row(table);
	}
	return 0;
}

/* ---- a member ---- */

struct adding {
	struct path_tables *tables;
	const struct profile *profile;
	const struct stacks *stacks;
	const struct process *process;	/* the first; NULL: none is known */
	uint32_t member;		/* a name */
	uint32_t *name_of;		/* [profile's names] in the tables' */
	uint64_t *id_of;		/* [nodes] of the stack that ends
					 * there */
	uint32_t *depth_of;		/* [nodes] */
	uint64_t *labels_of;		/* [n_sections + 1] */
	uint32_t *value_of;		/* [n_sections + 1] of the key */
	uint32_t *resource_of, *gtick_of;	/* [n_resources] */
};

static uint32_t
tables_add_text(struct path_tables *tables, const char *text,
                struct error *error)
{
	if (text == NULL)
		text = "";
	return names_add(tables->names, text, strlen(text), error);
}

/* A label of a section: enters it into the set, of which *id is the number. */
struct label_pair {
	uint32_t key, value;		/* names of the tables */
};

static int
tables_add_pair(struct adding *adding, struct label_pair *pairs, size_t *n,
                uint64_t *id, const char *key, const char *value,
                struct error *error)
{
	struct path_tables *tables = adding->tables;
	struct label_pair *pair = &pairs[(*n)++];

	pair->key = tables_add_text(tables, key, error);
	pair->value = tables_add_text(tables, value, error);
	*id = path_number_after(*id, key, strlen(key));
	*id = path_number_after(*id, value, strlen(value));
	return error->is_set ? -1 : 0;
}

/* The labels of a section, with what `merge --by` takes for one. */
static int
tables_add_section(struct adding *adding, uint32_t number, struct error *error)
{
	struct path_tables *tables = adding->tables;
	const struct profile *profile = adding->profile;
	const struct section section = section_of(profile, number);
	const uint32_t process = section_process(profile, &section);
	const struct label_set none = { 0, 0 };
	const struct label_set *set = section.label_set == NO_LABELS ? &none :
	    &profile->label_sets[section.label_set];
	const char *const known[][2] = {
		{ "host", process == NO_PROCESS ? NULL :
		    profile->processes[process].host },
		{ "process", process == NO_PROCESS ||
		    strcmp(process_title(profile, process),
		           UNKNOWN_NAME) == 0 ? NULL :
		    process_title(profile, process) },
		{ "thread", section.thread == NO_THREAD ? NULL :
		    thread_title(profile, section.thread) },
	};
	struct label_pair *pairs = memory_array(set->n + (size_t)3,
	                                        sizeof *pairs, error);
	struct text_buffer value = { 0 };
	uint64_t id = 0;
	size_t n = 0;
	int is_new;

	for (uint32_t i = 0; pairs != NULL && i < set->n; i++) {
		const struct label *label = &profile->labels[set->first + i];

		text_clear(&value);
		text_add_string(&value, names_text(profile->names,
		                                   label->value));
		if (label->unit != NO_NAME &&
		    names_length(profile->names, label->unit) > 0)
			text_add_format(&value, " %s", names_text(
			    profile->names, label->unit));
		tables_add_pair(adding, pairs, &n, &id,
		                names_text(profile->names, label->key),
		                text_string(&value), error);
	}
	for (size_t i = 0; pairs != NULL && i < 3; i++)
		if (known[i][1] != NULL &&
		    section_label(profile, &section, known[i][0]) == NULL)
			tables_add_pair(adding, pairs, &n, &id, known[i][0],
			                known[i][1], error);
	text_free(&value);
	adding->labels_of[number] = id;
	adding->value_of[number] = NO_NAME;
	for (size_t i = 0; i < n && !error->is_set; i++)
		if (tables->request.key != NULL &&
		    adding->value_of[number] == NO_NAME &&
		    strcmp(names_text(tables->names, pairs[i].key),
		           tables->request.key) == 0)
			adding->value_of[number] = pairs[i].value;
	if (tables->request.key != NULL &&
	    strcmp(tables->request.key, "id") == 0 &&
	    section_label(profile, &section, "id") == NULL)
		adding->value_of[number] = adding->member;
	is_new = n == 0 || error->is_set ? 0 :
	    seen_add(&tables->labels, id, error);
	for (size_t i = 0; is_new > 0 && i < n && !error->is_set; i++) {
		struct parquet_table *table = tables->tables[TABLE_LABEL];

		if (parquet_put_number(table, LABEL_SET, (int64_t)id,
		                       error) == 0 &&
		    parquet_put_text(table, LABEL_KEY, pairs[i].key,
		                     error) == 0 &&
		    parquet_put_text(table, LABEL_VALUE, pairs[i].value,
		                     error) == 0)
			parquet_end_row(table);
	}
	free(pairs);
	return error->is_set ? -1 : 0;
}

static int
tables_add_member(struct adding *adding, const char *path, struct error *error)
{
	static const struct process unknown = { 0 };
	struct path_tables *tables = adding->tables;
	struct parquet_table *table = tables->tables[TABLE_MEMBER];
	const struct process *process = adding->process != NULL ?
	    adding->process : &unknown;
	const uint32_t texts[] = {
		adding->member, tables_add_text(tables, path, error),
		tables_add_text(tables, process->program, error),
		tables_add_text(tables, process->command, error),
		tables_add_text(tables, process->host, error),
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (error->is_set ||
		    parquet_put_text(table, MEMBER_ID + i, texts[i],
		                     error) != 0)
			return -1;
	if (parquet_put_number(table, MEMBER_START, process->start_ns == 0 ?
	        PARQUET_NULL : (int64_t)process->start_ns, error) != 0 ||
	    parquet_put_number(table, MEMBER_END, process->end_ns == 0 ?
	        PARQUET_NULL : (int64_t)process->end_ns, error) != 0)
		return -1;
	parquet_end_row(table);
	return 0;
}

static int
add_hit(struct adding *adding, uint32_t node, uint32_t r, int64_t time_ns,
        uint64_t count, struct error *error)
{
	struct path_tables *tables = adding->tables;
	const struct resource *resource = &adding->profile->resources[r];
	const uint32_t section = adding->stacks->section == NULL ?
	    adding->profile->n_sections : adding->stacks->section[node];
	struct part *part;

	if (count == 0)
		return 0;
	if (count > INT64_MAX)
		return error_set(error, "a stack has 2^63 hits or more, which "
		                 "no table can have");
	part = tables_part(tables, adding->value_of[section], error);
	if (part == NULL ||
	    parquet_put_text(part->table, HIT_MEMBER, adding->member,
	                     error) != 0 ||
	    parquet_put_number(part->table, HIT_LABELS,
	                       (int64_t)adding->labels_of[section],
	                       error) != 0 ||
	    parquet_put_number(part->table, HIT_TIME, time_ns, error) != 0 ||
	    parquet_put_text(part->table, HIT_RESOURCE,
	                     adding->resource_of[r], error) != 0 ||
	    parquet_put_text(part->table, HIT_GTICK, adding->gtick_of[r],
	                     error) != 0 ||
	    parquet_put_number(part->table, HIT_INTERVAL,
	                       (int64_t)resource->interval, error) != 0 ||
	    parquet_put_number(part->table, HIT_STACK,
	                       (int64_t)adding->id_of[node], error) != 0 ||
	    parquet_put_number(part->table, HIT_COUNT, (int64_t)count,
	                       error) != 0)
		return -1;
	parquet_end_row(part->table);
	return 0;
}

/* A node's own hits of a resource, by slices of time where these are known. */
static int
add_hits(struct adding *adding, uint32_t node, uint32_t r,
         struct error *error)
{
	const struct sample_tree *tree = adding->stacks->tree;
	const struct timeline *timeline = tree->timeline;
	const uint32_t row = sample_tree_row(tree, node);
	uint64_t left = sample_tree_hits(tree, r, node);

	for (size_t i = timeline == NULL ? 0 : timeline->first[row];
	     timeline != NULL && i < timeline->first[row + 1]; i++) {
		const uint64_t hits = timeline->hits[r][i];

		if (hits > left ||
		    add_hit(adding, node, r, (int64_t)(timeline->origin_ns +
		            timeline->slice[i] * timeline->width_ns), hits,
		            error) != 0)
			break;
		left -= hits;
	}
	/* Of the others no more is known than when the run began. */
	return error->is_set ? -1 :
	    add_hit(adding, node, r, adding->process == NULL ||
	            adding->process->start_ns == 0 ? PARQUET_NULL :
	            (int64_t)adding->process->start_ns, left, error);
}

/* Names the stack that ends at a node. */
static int
tables_find_stack(struct adding *adding, uint32_t node, struct error *error)
{
	struct path_tables *tables = adding->tables;
	const struct stacks *stacks = adding->stacks;
	const struct sample_tree *tree = stacks->tree;
	const uint32_t parent = sample_tree_parent(tree, node);
	const struct frame_kind *kind =
	    &stacks->kinds[stacks->kind_of[tree->label[node]]];
	uint32_t name = kind->names[stacks->granularity];

	adding->id_of[node] = parent == NO_NODE ? 0 : adding->id_of[parent];
	adding->depth_of[node] = parent == NO_NODE ? 0 :
	    adding->depth_of[parent];
	if (parent != NO_NODE && stacks->joined != NULL &&
	    stacks->joined[node])
		return 0;
	if (adding->name_of[name] == NO_NAME)
		adding->name_of[name] = names_add(tables->names,
		    names_text(adding->profile->names, name),
		    names_length(adding->profile->names, name), error);
	name = adding->name_of[name];
	if (memory_grow(&tables->stack, &tables->stack_capacity,
	                adding->depth_of[node] + (size_t)1,
	                sizeof *tables->stack, error) != 0 || error->is_set)
		return -1;
	/* Nodes come depth first: what is above it is still there. */
	tables->stack[adding->depth_of[node]++] = name;
	adding->id_of[node] = path_number(tables->names, adding->id_of[node],
	                                  name);
	return 0;
}

static int
add_nodes(struct adding *adding, struct error *error)
{
	const struct sample_tree *tree = adding->stacks->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint64_t hits = 0;

		if (tables_find_stack(adding, node, error) != 0 ||
		    (node % ROWS_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
		if (!sample_tree_has_row(tree, node))
			continue;
		for (uint32_t r = 0; r < adding->profile->n_resources; r++)
			hits |= sample_tree_hits(tree, r, node);
		if (hits == 0)
			continue;
		if (add_stack(adding->tables, adding->id_of[node],
		              adding->depth_of[node], error) != 0)
			return -1;
		for (uint32_t r = 0; r < adding->profile->n_resources; r++)
			if (add_hits(adding, node, r, error) != 0)
				return -1;
		if (tables_flush(adding->tables, error) != 0)
			return -1;
	}
	return 0;
}

/* What is allocated stays the caller's, even if it fails. */
static int
adding_begin(struct adding *adding, struct error *error)
{
	const struct profile *profile = adding->profile;
	const uint32_t n_names = names_count(profile->names);
	const size_t n_sections = profile->n_sections + (size_t)1;

	if (profile->n_processes > 0)
		adding->process = &profile->processes[0];
	adding->name_of = memory_array(n_names, sizeof *adding->name_of,
	                               error);
	adding->labels_of = memory_array(n_sections,
	                                 sizeof *adding->labels_of, error);
	adding->value_of = memory_array(n_sections, sizeof *adding->value_of,
	                                error);
	adding->resource_of = memory_array(profile->n_resources,
	                                   sizeof *adding->resource_of, error);
	adding->gtick_of = memory_array(profile->n_resources,
	                                sizeof *adding->gtick_of, error);
	if (error->is_set ||
	    large_array_reserve(&adding->id_of, adding->stacks->tree->n_nodes,
	                        sizeof *adding->id_of, error) != 0 ||
	    large_array_reserve(&adding->depth_of,
	                        adding->stacks->tree->n_nodes,
	                        sizeof *adding->depth_of, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n_names; i++)
		adding->name_of[i] = NO_NAME;
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		adding->resource_of[r] = tables_add_text(adding->tables,
		    profile->resources[r].name, error);
		adding->gtick_of[r] = tables_add_text(adding->tables,
		    profile->resources[r].gtick, error);
	}
	for (uint32_t i = 0; i < n_sections && !error->is_set; i++)
		tables_add_section(adding, i, error);
	return error->is_set ? -1 : 0;
}

static int
tables_add_profile(struct path_tables *tables, struct profile *profile,
                   const char *path, const char *id, struct error *error)
{
	const struct naming_request naming = {
		.profile = profile, .rule = tables->request.rule,
		.hidden = tables->request.hidden,
	};
	struct stacks stacks = { 0 };
	struct adding adding = {
		.tables = tables, .profile = profile, .stacks = &stacks,
		.member = names_add(tables->names, id, strlen(id), error),
	};
	int status = -1;

	/* A sum, so that the order of members changes no name. */
	tables->members += path_number_after(0, id, strlen(id));
	tables->has_rows = true;
	if (adding.member != NO_NAME &&
	    naming_stacks(&naming, profile->n_sections > 0, &stacks,
	                  error) == 0 &&
	    adding_begin(&adding, error) == 0 &&
	    tables_add_member(&adding, path, error) == 0)
		status = add_nodes(&adding, error);
	free(adding.name_of);
	large_array_free(adding.id_of);
	large_array_free(adding.depth_of);
	free(adding.labels_of);
	free(adding.value_of);
	free(adding.resource_of);
	free(adding.gtick_of);
	stacks_free(&stacks);
	return status;
}

/* The path of a member of this merge; NULL: it was in the tables before. */
static const char *
tables_path_of(struct path_tables *tables, const char *member)
{
	const size_t n = strlen(member);
	const char *line = text_string(&tables->paths_of_members);

	for (; *line != '\0'; line += strcspn(line, "\n") + 1)
		if (strncmp(line, member, n) == 0 && line[n] == '\t')
			return line + n + 1;
	return NULL;
}

/*
 * Enters a member by its content, and by the name that the user gave it.  1: it
 * is new; 0: it is there, which is told; -1 with *error set.
 */
static int
tables_enter(struct path_tables *tables, const char *path, const char *content,
             const char *id, void (*warn)(void *context, const char *text),
             void *context, struct error *error)
{
	const char *member = id == NULL ? content : arena_format(
	    &tables->arena, error, "%s-%016" PRIx64, content,
	    path_number_after(0, id, strlen(id)));
	const char *first, *text;
	const int is_new = member == NULL ? -1 :
	    table_directory_add(tables->directory, member, error);

	if (is_new > 0) {
		text_add_format(&tables->paths_of_members, "%s\t%s\n", member,
		                path);
		return !tables->paths_of_members.failed ? 1 :
		    error_out_of_memory(error);
	}
	if (is_new < 0)
		return -1;
	first = tables_path_of(tables, member);
	text = first != NULL ? arena_format(&tables->arena, error,
	    "%s and %.*s have the same content, which counts once", path,
	    (int)strcspn(first, "\n"), first) : arena_format(&tables->arena,
	    error, "%s is in %s already, and counts once", path,
	    tables->request.directory);
	if (text == NULL)
		return -1;
	warn(context, text);
	return 0;
}

enum merged_input
path_tables_add(struct path_tables *tables, const char *path, const char *id,
                void (*warn)(void *context, const char *text), void *context,
                struct error *error)
{
	struct content content = { 0 };
	struct read_options options = *tables->request.read;
	char content_id[CONTENT_ID_SIZE];
	enum merged_input result;
	struct profile *profile;
	int is_new;

	options.content = &content;
	profile = merging_load(path, &options, warn, context, &result, error);
	if (profile == NULL)
		return result;
	source_content_id(content.hash, content_id);
	if (profile->tree == NULL) {
		error_set(error, "%s: has calls and no stacks", path);
		profile_free(profile);
		return result;
	}
	is_new = tables_enter(tables, path, content_id, id, warn, context,
	                      error);
	if (is_new < 0)
		result = MERGED_FAILED;
	else if (is_new > 0 && tables_add_profile(tables, profile,
	                       strcmp(path, "-") == 0 ? "" : path,
	                       id != NULL ? id : content_id, error) != 0)
		result = MERGED_FAILED;
	else
		result = profile->is_cut_short ? MERGED_CUT_SHORT :
		    MERGED_ADDED;
	profile_free(profile);
	return result;
}
