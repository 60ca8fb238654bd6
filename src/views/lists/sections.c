/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.c -- who used it: threads, processes, labels.
 *
 * Rows are sums over sections of the profile's tree (sections.h), so the hits
 * of all rows are those of the stacks; only values of a label that a stack has
 * twice count it in both rows.  Threads and processes are one row for each
 * name, or for each of them.  Cost: one pass over the nodes, O(N), and over the
 * sections.
 */
#include "src/views/lists/lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

#define NO_ITEM UINT32_MAX

/* A row: the sections of one name, or of one thread, process or value. */
struct sections_group {
	uint32_t item;		/* the first thread, process or label in it;
				 * NO_ITEM: what is unknown */
	uint32_t process;	/* threads: of the first, or NO_PROCESS */
	uint64_t hits[COLUMN_SETS_MAX + 1];	/* of the request's own set, and
						 * of its columns */
	uint64_t samples;
	uint64_t n_threads, n_processes, n_values;
	uint32_t last_section;	/* keys: the last that was added, + 1 */
	const char *text;	/* labels: the key, or the value */
};

struct groups {
	const struct view_request *request;
	const struct section_request *wanted;
	const struct profile *profile;
	struct names *keys;		/* group i by what it has in common */
	struct sections_group *items;		/* [n] */
	size_t n, capacity;
	const char **arguments;		/* of each process; or NULL */
	struct arena arena;		/* their texts */
};

static void
groups_free(void *found)
{
	struct groups *groups = found;

	names_free(groups->keys);
	free(groups->items);
	free(groups->arguments);
	arena_free(&groups->arena);
	free(groups);
}

/* The group of a key, made if new; NULL with *error set. */
static struct sections_group *
sections_find_group(struct groups *groups, const char *first,
                    const void *second, size_t n_second, uint32_t item,
                    struct error *error)
{
	uint32_t number = names_add_pair(groups->keys, first, strlen(first),
	                                 second, n_second, error);

	if (number == NO_NAME)
		return NULL;
	if (number == groups->n) {
		if (memory_grow(&groups->items, &groups->capacity,
		                groups->n + 1, sizeof *groups->items,
		                error) != 0)
			return NULL;
		groups->items[groups->n++] = (struct sections_group){
			.item = item, .process = NO_PROCESS
		};
	}
	return &groups->items[number];
}

/* Whether a section has hits that no thread or label explains. */
static bool
is_empty(const struct groups *groups, uint32_t section)
{
	const struct section_request *wanted = groups->wanted;
	bool is_empty = wanted->totals[section].hits == 0 &&
	                wanted->totals[section].samples == 0;

	for (size_t i = 0; i < groups->request->n_columns; i++)
		is_empty &= wanted->columns[i][section].hits == 0;
	return is_empty;
}

static void
sections_add_total(const struct groups *groups, struct sections_group *group,
                   uint32_t section)
{
	const struct section_request *wanted = groups->wanted;

	group->hits[0] += wanted->totals[section].hits;
	group->samples += wanted->totals[section].samples;
	for (size_t i = 0; i < groups->request->n_columns; i++)
		group->hits[i + 1] += i + 1 == groups->request->samples ?
		    wanted->columns[i][section].samples :
		    wanted->columns[i][section].hits;
}

/* ---- sorting and showing ---- */

/*
 * Collects groups by `collect`, and has a row for each above the threshold; the
 * row's name is the group's number.
 */
static int
sections_collect(struct list *list, const char *what,
                 int (*collect)(struct groups *groups, struct error *error),
                 struct error *error)
{
	const struct section_request *wanted = list->wanted;
	struct rows *rows = &list->rows;
	struct groups *groups;

	if (wanted->totals == NULL)
		return error_set(error, "the profile has calls between "
		    "functions and no stacks, so it has no %s", what);
	list->found = groups = memory_array(1, sizeof *groups, error);
	if (groups == NULL)
		return -1;
	groups->request = list->request;
	groups->wanted = wanted;
	groups->profile = list->set->profile;
	groups->keys = names_new(error);
	if (groups->keys == NULL || collect(groups, error) != 0 ||
	    rows_make(rows, list->set, (uint32_t)groups->n, error) != 0 ||
	    rows_make_columns(rows, list->request, (uint32_t)groups->n,
	                      error) != 0)
		return -1;
	for (uint32_t i = 0; i < groups->n; i++) {
		const uint64_t *hits = groups->items[i].hits;

		if (hits[0] < list->measure.least) {
			list->hidden.below_threshold++;
			continue;
		}
		for (size_t c = 0; c < rows->n_columns; c++)
			rows->columns[c][rows->n] = hits[c + 1];
		rows->items[rows->n++] = (struct row){
			.hits = hits[0], .name = i, .parent = NO_RECORD,
		};
	}
	return 0;
}

static const struct groups *
groups_of(const struct list *list)
{
	return list->found;
}

static const struct sections_group *
group_of(const struct list *list, uint32_t i)
{
	return &groups_of(list)->items[list_row(list, i)->name];
}

/* A footer if the profile cannot answer. */
static int
sections_describe(const struct list *list, enum section_kind kind,
                  const char *lack, struct table *table, struct error *error)
{
	return sections_know(list->set->profile, kind) ? 0 :
	    table_add_footer(table, error, "the profile %s", lack);
}

/* A number that is known, or nothing. */
static struct cell
sections_cell_known(uint64_t number)
{
	return number != 0 ? cell_count(number) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static struct cell
cell_samples(const struct list *list, uint32_t i)
{
	return cell_count(group_of(list, i)->samples);
}

static struct cell
cell_threads(const struct list *list, uint32_t i)
{
	return sections_cell_known(group_of(list, i)->n_threads);
}

static bool
is_each(const struct list *list)
{
	return groups_of(list)->wanted->is_each;
}

static bool
is_by_name(const struct list *list)
{
	return !is_each(list);
}

/* The columns that all three begin with. */
#define SECTION_COLUMNS \
	{ "fraction", "share", CELL_FRACTION, .cell = list_fraction }, \
	{ "hits", "hits", CELL_HITS, .cell = list_hits, \
	  .names_resource = true }, \
	{ "samples", "samples", CELL_COUNT, .cell = cell_samples }

/* ---- threads ---- */

/* The group of a thread: with others of its name and program, or its own. */
static struct sections_group *
group_of_thread(struct groups *groups, uint32_t thread, uint32_t process,
                struct error *error)
{
	const struct profile *profile = groups->profile;
	const char *program = process_title(profile, process);
	struct sections_group *group = groups->wanted->is_each ?
	    sections_find_group(groups, "", &thread, sizeof thread, thread,
	                        error) :
	    sections_find_group(groups, thread_title(profile, thread), program,
	                        strlen(program), thread, error);

	if (group != NULL && group->process == NO_PROCESS)
		group->process = process;
	return group;
}

static int
collect_threads(struct groups *groups, struct error *error)
{
	const struct profile *profile = groups->profile;
	struct sections_group *group;

	for (uint32_t i = 0; i < profile->n_threads; i++) {
		const struct section section = { .thread = i };

		group = group_of_thread(groups, i,
		    section_process(profile, &section), error);
		if (group == NULL)
			return -1;
		group->n_threads += thread_count(profile, i);
	}
	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		struct section section = section_of(profile, i);

		if (section.thread == NO_THREAD && is_empty(groups, i))
			continue;
		group = group_of_thread(groups, section.thread,
		    section_process(profile, &section), error);
		if (group == NULL)
			return -1;
		sections_add_total(groups, group, i);
	}
	return 0;
}

static uint64_t
tid_of(const struct groups *groups, const struct sections_group *group)
{
	return group->item == NO_ITEM ? 0 :
	       groups->profile->threads[group->item].tid;
}

static uint64_t
pid_of(const struct groups *groups, const struct sections_group *group)
{
	return group->process == NO_PROCESS ? 0 :
	       groups->profile->processes[group->process].pid;
}

static int
compare_threads(const struct list *list, uint32_t left, uint32_t right)
{
	const struct groups *groups = groups_of(list);
	const struct sections_group *a = &groups->items[left];
	const struct sections_group *b = &groups->items[right];
	const struct profile *profile = groups->profile;
	int order = strcmp(thread_title(profile, a->item),
	                   thread_title(profile, b->item));
	uint64_t pid_a = pid_of(groups, a), pid_b = pid_of(groups, b);
	uint64_t tid_a = tid_of(groups, a), tid_b = tid_of(groups, b);

	if (order == 0)
		order = strcmp(process_title(profile, a->process),
		               process_title(profile, b->process));
	if (order != 0)
		return order;
	if (pid_a != pid_b)
		return pid_a < pid_b ? -1 : 1;
	return tid_a < tid_b ? -1 : tid_a > tid_b;
}

static struct cell
cell_pid_of_thread(const struct list *list, uint32_t i)
{
	return sections_cell_known(pid_of(groups_of(list), group_of(list, i)));
}

static struct cell
cell_tid(const struct list *list, uint32_t i)
{
	return sections_cell_known(tid_of(groups_of(list), group_of(list, i)));
}

static struct cell
cell_program_of_thread(const struct list *list, uint32_t i)
{
	return cell_text(process_title(groups_of(list)->profile,
	                               group_of(list, i)->process));
}

static struct cell
cell_thread_name(const struct list *list, uint32_t i)
{
	return cell_text(thread_title(groups_of(list)->profile,
	                              group_of(list, i)->item));
}

static int
collect_thread_rows(struct list *list, struct table *table,
                    struct error *error)
{
	table->handle_key = "name";
	return sections_collect(list, "threads", collect_threads, error);
}

static int
describe_threads(const struct list *list, struct table *table,
                 struct error *error)
{
	return sections_describe(list, SECTION_THREAD,
	                         "does not tell threads apart", table, error);
}

static const struct list_column thread_columns[] = {
	SECTION_COLUMNS,
	{ "threads", "threads", CELL_COUNT, .cell = cell_threads,
	  .is_after = true },
	{ "pid", "pid", CELL_COUNT, .cell = cell_pid_of_thread,
	  .is_there = is_each,
	  .is_after = true },
	{ "tid", "tid", CELL_COUNT, .cell = cell_tid, .is_there = is_each,
	  .is_after = true },
	{ "program", "program", CELL_TEXT, .cell = cell_program_of_thread,
	  .is_after = true },
	{ "name", "name", CELL_TEXT, .cell = cell_thread_name,
	  .is_after = true },
	{ .key = NULL }
};

static const struct list_view threads_list = {
	.kind = { .schema = "cpprof.threads/1", .title = "Thread Profile",
	          .has_columns = true, .ignores_inlined = true },
	.collect = collect_thread_rows,
	.columns = thread_columns,
	.compare = compare_threads,
	.describe = describe_threads,
	.free_found = groups_free,
};

int
view_threads(const struct view_request *request,
             const struct section_request *wanted, struct table *table,
             struct error *error)
{
	return list_show(&threads_list, request, wanted, table, error);
}

/* ---- processes ---- */

static struct sections_group *
group_of_process(struct groups *groups, uint32_t process, struct error *error)
{
	return groups->wanted->is_each ?
	    sections_find_group(groups, "", &process, sizeof process, process,
	                        error) :
	    sections_find_group(groups, process_title(groups->profile, process),
	                        "", 0, process, error);
}

static int
collect_processes(struct groups *groups, struct error *error)
{
	const struct profile *profile = groups->profile;
	struct sections_group *group;

	for (uint32_t i = 0; i < profile->n_processes; i++) {
		group = group_of_process(groups, i, error);
		if (group == NULL)
			return -1;
		group->n_processes++;
	}
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		const struct section section = { .thread = i };

		group = group_of_process(groups, section_process(profile,
		                                      &section), error);
		if (group == NULL)
			return -1;
		group->n_threads += thread_count(profile, i);
	}
	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		struct section section = section_of(profile, i);
		uint32_t process = section_process(profile, &section);

		if (process == NO_PROCESS && is_empty(groups, i))
			continue;
		group = group_of_process(groups, process, error);
		if (group == NULL)
			return -1;
		sections_add_total(groups, group, i);
	}
	return 0;
}

static int
sections_compare_processes(const struct list *list, uint32_t left, uint32_t right)
{
	const struct groups *groups = groups_of(list);
	const struct sections_group *a = &groups->items[left];
	const struct sections_group *b = &groups->items[right];
	const struct profile *profile = groups->profile;
	int order = strcmp(process_title(profile, a->item),
	                   process_title(profile, b->item));
	uint64_t pid_a, pid_b;

	if (order != 0 || a->item == NO_ITEM || b->item == NO_ITEM)
		return order;
	pid_a = profile->processes[a->item].pid;
	pid_b = profile->processes[b->item].pid;
	return pid_a < pid_b ? -1 : pid_a > pid_b;
}

static const struct process *
process_of(const struct list *list, uint32_t i)
{
	uint32_t item = group_of(list, i)->item;

	return item == NO_ITEM ? NULL :
	       &groups_of(list)->profile->processes[item];
}

static struct cell
cell_processes(const struct list *list, uint32_t i)
{
	return sections_cell_known(group_of(list, i)->n_processes);
}

static struct cell
cell_pid(const struct list *list, uint32_t i)
{
	const struct process *process = process_of(list, i);

	return sections_cell_known(process == NULL ? 0 : process->pid);
}

static struct cell
cell_program(const struct list *list, uint32_t i)
{
	return cell_text(process_title(groups_of(list)->profile,
	                               group_of(list, i)->item));
}

static struct cell
cell_command(const struct list *list, uint32_t i)
{
	const struct process *process = process_of(list, i);

	return process != NULL && process->command != NULL ?
	       cell_text(process->command) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static struct cell
cell_arguments(const struct list *list, uint32_t i)
{
	const struct process *process = process_of(list, i);

	return process != NULL && process->command != NULL ?
	       cell_text(groups_of(list)->arguments[group_of(list, i)->item]) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static int
collect_process_rows(struct list *list, struct table *table,
                     struct error *error)
{
	struct groups *groups;

	table->handle_key = "program";
	if (sections_collect(list, "processes", collect_processes, error) != 0)
		return -1;
	groups = list->found;
	if (groups->wanted->is_each)
		groups->arguments = process_arguments_find(groups->profile,
		    &groups->arena, error);
	return error->is_set ? -1 : 0;
}

static int
describe_processes(const struct list *list, struct table *table,
                   struct error *error)
{
	return sections_describe(list, SECTION_PROCESS,
	                         "does not tell processes apart", table,
	                         error);
}

static const struct list_column process_columns[] = {
	SECTION_COLUMNS,
	{ "processes", "processes", CELL_COUNT, .cell = cell_processes,
	  .is_there = is_by_name,
	  .is_after = true },
	{ "threads", "threads", CELL_COUNT, .cell = cell_threads,
	  .is_after = true },
	{ "pid", "pid", CELL_COUNT, .cell = cell_pid, .is_there = is_each,
	  .is_after = true },
	{ "program", "program", CELL_TEXT, .cell = cell_program,
	  .is_after = true },
	{ "command", "command", CELL_TEXT, .cell = cell_command,
	  .is_there = is_each, .is_data_only = true,
	  .is_after = true },
	{ "arguments", "arguments", CELL_TEXT, .cell = cell_arguments,
	  .is_there = is_each,
	  .is_after = true, .is_elastic = true },
	{ .key = NULL }
};

static const struct list_view processes_list = {
	.kind = { .schema = "cpprof.processes/1", .title = "Process Profile",
	          .has_columns = true, .ignores_inlined = true },
	.collect = collect_process_rows,
	.columns = process_columns,
	.compare = sections_compare_processes,
	.describe = describe_processes,
	.free_found = groups_free,
};

int
view_processes(const struct view_request *request,
               const struct section_request *wanted, struct table *table,
               struct error *error)
{
	return list_show(&processes_list, request, wanted, table, error);
}

/* ---- labels ---- */

/* A number with its unit, or a text; NULL with *error set. */
static const char *
value_text(const struct profile *profile, const struct label *label,
           struct table *table, struct error *error)
{
	const char *value = names_text(profile->names, label->value);

	if (label->unit == NO_NAME ||
	    names_length(profile->names, label->unit) == 0)
		return value;
	return table_text(table, error, "%s %s", value,
	                  names_text(profile->names, label->unit));
}

/* Adds a section's hits to a group, once. */
static void
add_section(struct groups *groups, struct sections_group *group,
            uint32_t section)
{
	if (group->last_section == section + 1)
		return;
	group->last_section = section + 1;
	sections_add_total(groups, group, section);
}

/* Adds a section to the groups of its labels; *found: whether it has any. */
static int
collect_set(struct groups *groups, uint32_t number,
            const struct label_set *set, bool *found, struct error *error)
{
	const struct profile *profile = groups->profile;
	const char *key = groups->wanted->label_key;

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t item = set->first + i;
		const struct label *label = &profile->labels[item];
		const char *known = names_text(profile->names, label->key);
		struct sections_group *group;

		if (key != NULL && strcmp(known, key) != 0)
			continue;
		*found = true;
		group = key == NULL ?
		    sections_find_group(groups, known, "", 0, item, error) :
		    sections_find_group(groups,
		                        names_text(profile->names,
		                                   label->value),
		                        &label->unit, sizeof label->unit, item,
		                        error);
		if (group == NULL)
			return -1;
		add_section(groups, group, number);
	}
	return 0;
}

static int
collect_labels(struct groups *groups, struct error *error)
{
	const struct profile *profile = groups->profile;

	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		struct section section = section_of(profile, i);
		struct sections_group *group;
		bool found = false;

		if (section.label_set != NO_LABELS &&
		    collect_set(groups, i,
		                &profile->label_sets[section.label_set],
		                &found, error) != 0)
			return -1;
		if (found || groups->wanted->label_key == NULL ||
		    is_empty(groups, i))
			continue;
		group = sections_find_group(groups, "", NULL, 0, NO_ITEM,
		                            error);
		if (group == NULL)
			return -1;
		sections_add_total(groups, group, i);
	}
	return 0;
}

/* Counts the different values of each key. */
static int
sections_count_values(struct groups *groups, struct error *error)
{
	const struct profile *profile = groups->profile;
	struct names *seen = names_new(error);

	for (uint32_t i = 0; seen != NULL && i < profile->n_labels; i++) {
		const struct label *label = &profile->labels[i];
		uint32_t n = names_count(seen);
		uint32_t number = names_add(seen, (const char *)label,
		                            sizeof *label, error);
		struct sections_group *group;

		if (number == NO_NAME)
			break;
		group = sections_find_group(groups, names_text(profile->names,
		                            label->key), "", 0, i, error);
		if (group == NULL)
			break;
		group->n_values += number == n;
	}
	names_free(seen);
	return error->is_set ? -1 : 0;
}

static int
compare_label_groups(const struct list *list, uint32_t left, uint32_t right)
{
	const struct groups *groups = groups_of(list);
	const struct sections_group *a = &groups->items[left];
	const struct sections_group *b = &groups->items[right];
	const struct profile *profile = groups->profile;
	const struct label *x, *y;

	if (a->item == NO_ITEM || b->item == NO_ITEM)
		return a->item == NO_ITEM ? 1 : -1;
	x = &profile->labels[a->item];
	y = &profile->labels[b->item];
	return groups->wanted->label_key == NULL ?
	    names_compare(profile->names, x->key, y->key) :
	    names_compare(profile->names, x->value, y->value);
}

static struct cell
cell_values(const struct list *list, uint32_t i)
{
	return cell_count(group_of(list, i)->n_values);
}

static struct cell
cell_label(const struct list *list, uint32_t i)
{
	return cell_text(group_of(list, i)->text);
}

static bool
are_keys(const struct list *list)
{
	return groups_of(list)->wanted->label_key == NULL;
}

static bool
are_values(const struct list *list)
{
	return !are_keys(list);
}

static int
collect_label_rows(struct list *list, struct table *table,
                   struct error *error)
{
	const struct profile *profile = list->set->profile;
	struct groups *groups;

	if (sections_collect(list, "labels", collect_labels, error) != 0)
		return -1;
	groups = list->found;
	if (are_keys(list) && sections_count_values(groups, error) != 0)
		return -1;
	for (size_t i = 0; i < groups->n; i++) {
		struct sections_group *group = &groups->items[i];
		const struct label *label = group->item == NO_ITEM ? NULL :
		    &profile->labels[group->item];

		group->text = label == NULL ? NO_VALUE : are_keys(list) ?
		    names_text(profile->names, label->key) :
		    value_text(profile, label, table, error);
		if (group->text == NULL)
			return -1;
	}
	return 0;
}

static int
describe_labels(const struct list *list, struct table *table,
                struct error *error)
{
	if (are_values(list) &&
	    table_add_header(table, error, "label: %s",
	                     groups_of(list)->wanted->label_key) != 0)
		return -1;
	return sections_describe(list, SECTION_LABEL, "has no labels", table,
	                         error);
}

static const struct list_column label_columns[] = {
	SECTION_COLUMNS,
	{ "values", "values", CELL_COUNT, .cell = cell_values,
	  .is_there = are_keys,
	  .is_after = true },
	{ "key", "key", CELL_TEXT, .cell = cell_label, .is_there = are_keys,
	  .is_after = true },
	{ "value", "value", CELL_TEXT, .cell = cell_label,
	  .is_there = are_values,
	  .is_after = true },
	{ .key = NULL }
};

static const struct list_view labels_list = {
	.kind = { .schema = "cpprof.labels/1", .title = "Label Profile",
	          .has_columns = true, .ignores_inlined = true },
	.collect = collect_label_rows,
	.columns = label_columns,
	.compare = compare_label_groups,
	.describe = describe_labels,
	.free_found = groups_free,
};

int
view_labels(const struct view_request *request,
            const struct section_request *wanted, struct table *table,
            struct error *error)
{
	return list_show(&labels_list, request, wanted, table, error);
}
