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
};

struct groups {
	const struct view_request *request;
	const struct section_request *wanted;
	const struct profile *profile;
	struct names *keys;		/* group i by what it has in common */
	struct sections_group *items;		/* [n] */
	size_t n, capacity;
	uint32_t *shown;		/* [n_shown] in order */
	uint32_t n_shown;
	struct column_view columns;
};

static void
groups_free(struct groups *groups)
{
	names_free(groups->keys);
	free(groups->items);
	free(groups->shown);
}

static int
groups_start(struct groups *groups, const struct view_request *request,
             const struct section_request *wanted, const char *what,
             struct error *error)
{
	*groups = (struct groups){ .request = request, .wanted = wanted,
		.profile = request->set->profile };
	if (wanted->totals == NULL)
		return error_set(error, "the profile has calls between "
		    "functions and no stacks, so it has no %s", what);
	groups->keys = names_new(error);
	return groups->keys != NULL ? 0 : -1;
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

struct sections_comparison {
	const struct groups *groups;
	/* The order of two groups with the same hits. */
	int (*compare)(const struct groups *groups,
	               const struct sections_group *a,
	               const struct sections_group *b);
};

static int
compare_groups(const void *left, const void *right, void *context)
{
	const struct sections_comparison *comparison = context;
	const struct groups *groups = comparison->groups;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct sections_group *a = &groups->items[i],
				    *b = &groups->items[j];
	int order;

	if (a->hits[0] != b->hits[0])
		return a->hits[0] > b->hits[0] ? -1 : 1;
	order = comparison->compare(groups, a, b);
	return order != 0 ? order : i < j ? -1 : i > j;
}

/* Sorts groups by the first column, if it is not the request's own set. */
static int
sections_sort_by_column(struct groups *groups, struct error *error)
{
	const struct view_request *request = groups->request;
	const uint32_t n = groups->n_shown;
	struct rows rows = { 0 };
	int status = -1;

	if (request->n_shown == 0)
		return 0;
	rows.items = memory_array(n, sizeof *rows.items, error);
	rows.order = memory_array(n, sizeof *rows.order, error);
	if (rows.items != NULL && rows.order != NULL &&
	    rows_make_columns(&rows, request, n, error) == 0) {
		for (rows.n = 0; rows.n < n; rows.n++) {
			const uint64_t *hits =
			    groups->items[groups->shown[rows.n]].hits;

			rows.order[rows.n] = rows.n;
			rows.items[rows.n].hits = hits[0];
			for (size_t c = 0; c < rows.n_columns; c++)
				rows.columns[c][rows.n] = hits[c + 1];
		}
		status = columns_sort(&groups->columns, &rows, error);
		for (uint32_t i = 0; i < n; i++)
			rows.order[i] = groups->shown[rows.order[i]];
		memcpy(groups->shown, rows.order, n * sizeof *rows.order);
	}
	rows_free(&rows);
	return status;
}

/* The columns that all rows begin with. */
static int
sections_add_columns(const struct view_request *request, struct table *table,
                     struct error *error)
{
	if (columns_add_before(request, table, error) != 0)
		return -1;
	table_add_column(table, "fraction", "share", CELL_FRACTION);
	table_add_column(table, "hits", request->n_shown > 0 ?
	                 request->set->resource->name : "hits", CELL_HITS);
	table_add_column(table, "samples", "samples", CELL_COUNT);
	return columns_add_after(request, table, error);
}

/* Sorts what is above the threshold, and describes the view in the table. */
static int
sections_show(struct groups *groups, const struct view_kind *kind,
              int (*compare)(const struct groups *groups,
                             const struct sections_group *a,
                             const struct sections_group *b),
              struct measure *measure, struct table *table, struct error *error)
{
	struct sections_comparison comparison = { groups, compare };
	struct hidden hidden = { 0 };

	*measure = measure_of(groups->request);
	groups->shown = memory_array(groups->n, sizeof *groups->shown, error);
	if (groups->shown == NULL)
		return -1;
	for (uint32_t i = 0; i < groups->n; i++)
		if (groups->items[i].hits[0] >= measure->least)
			groups->shown[groups->n_shown++] = i;
		else
			hidden.below_threshold++;
	if (groups->n_shown > 1)
		qsort_r(groups->shown, groups->n_shown, sizeof *groups->shown,
		        compare_groups, &comparison);
	groups->columns = columns_of(groups->request, measure);
	if (sections_sort_by_column(groups, error) != 0)
		return -1;
	if (groups->n_shown > groups->request->limit) {
		hidden.beyond_limit = groups->n_shown -
		                      groups->request->limit;
		groups->n_shown = (uint32_t)groups->request->limit;
	}
	if (view_describe(groups->request, kind, measure, &hidden, table,
	                  error) != 0)
		return -1;
	return sections_add_columns(groups->request, table, error);
}

/* Writes the cells that all rows begin with; returns their number. */
static size_t
sections_begin_row(const struct groups *groups,
                   const struct sections_group *group, struct cell *cells)
{
	const struct column_view *columns = &groups->columns;
	size_t n = columns_cells_before(columns, group->hits, cells);

	cells[n++] = cell_fraction(measure_fraction(&columns->measures[0],
	                                            group->hits[0]));
	cells[n++] = cell_hits(group->hits[0]);
	cells[n++] = cell_count(group->samples);
	return n + columns_cells_after(columns, group->hits, &cells[n]);
}

/* A number that is known, or nothing. */
static struct cell
sections_cell_known(uint64_t number)
{
	return number != 0 ? cell_count(number) :
	       (struct cell){ .kind = CELL_EMPTY };
}

/* ---- threads ---- */

static const struct view_kind threads_kind = {
	.schema = "cpprof.threads/1",
	.title = "Thread Profile",
	.has_columns = true,
	.ignores_inlined = true,
};

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
		const struct thread *thread = &profile->threads[i];
		const struct section section = { .thread = i };

		group = group_of_thread(groups, i,
		    section_process(profile, &section), error);
		if (group == NULL)
			return -1;
		group->n_threads += 1 + thread->n_earlier;
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
compare_threads(const struct groups *groups, const struct sections_group *a,
                const struct sections_group *b)
{
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

static int
add_thread_rows(const struct groups *groups, struct table *table,
                struct error *error)
{
	const struct profile *profile = groups->profile;
	bool is_each = groups->wanted->is_each;

	table_add_column(table, "threads", "threads", CELL_COUNT);
	if (is_each) {
		table_add_column(table, "pid", "pid", CELL_COUNT);
		table_add_column(table, "tid", "tid", CELL_COUNT);
	}
	table_add_column(table, "program", "program", CELL_TEXT);
	table_add_column(table, "name", "name", CELL_TEXT);
	table->handle_key = "name";
	for (uint32_t i = 0; i < groups->n_shown; i++) {
		const struct sections_group
		    *group = &groups->items[groups->shown[i]];
		struct cell cells[TABLE_MAX_COLUMNS];
		size_t n = sections_begin_row(groups, group, cells);

		cells[n++] = sections_cell_known(group->n_threads);
		if (is_each) {
			cells[n++] = sections_cell_known(pid_of(groups, group));
			cells[n++] = sections_cell_known(tid_of(groups, group));
		}
		cells[n++] = cell_text(process_title(profile, group->process));
		cells[n++] = cell_text(thread_title(profile, group->item));
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

int
view_threads(const struct view_request *request,
             const struct section_request *wanted, struct table *table,
             struct error *error)
{
	struct measure measure;
	struct groups groups;
	int result = -1;

	if (groups_start(&groups, request, wanted, "threads", error) == 0 &&
	    collect_threads(&groups, error) == 0 &&
	    sections_show(&groups, &threads_kind, compare_threads, &measure,
	                  table, error) == 0 &&
	    add_thread_rows(&groups, table, error) == 0)
		result = sections_know(request->set->profile,
		                       SECTION_THREAD) ? 0 :
		    table_add_footer(table, error, "the profile does not tell "
		                     "threads apart");
	groups_free(&groups);
	return result;
}

/* ---- processes ---- */

static const struct view_kind processes_kind = {
	.schema = "cpprof.processes/1",
	.title = "Process Profile",
	.has_columns = true,
	.ignores_inlined = true,
};

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
		group->n_threads += 1 + profile->threads[i].n_earlier;
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
sections_compare_processes(const struct groups *groups,
                           const struct sections_group *a,
                           const struct sections_group *b)
{
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

static int
add_process_rows(const struct groups *groups, struct table *table,
                 struct error *error)
{
	const struct profile *profile = groups->profile;
	bool is_each = groups->wanted->is_each;

	if (!is_each)
		table_add_column(table, "processes", "processes", CELL_COUNT);
	table_add_column(table, "threads", "threads", CELL_COUNT);
	if (is_each)
		table_add_column(table, "pid", "pid", CELL_COUNT);
	table_add_column(table, "program", "program", CELL_TEXT);
	table->handle_key = "program";
	if (is_each)
		table_add_column(table, "command", "command",
		                 CELL_TEXT)->is_elastic = true;
	for (uint32_t i = 0; i < groups->n_shown; i++) {
		const struct sections_group
		    *group = &groups->items[groups->shown[i]];
		const struct process *process = group->item == NO_ITEM ? NULL :
		    &profile->processes[group->item];
		struct cell cells[TABLE_MAX_COLUMNS];
		size_t n = sections_begin_row(groups, group, cells);

		if (!is_each)
			cells[n++] = sections_cell_known(group->n_processes);
		cells[n++] = sections_cell_known(group->n_threads);
		if (is_each)
			cells[n++] = sections_cell_known(process == NULL ? 0 :
			                         process->pid);
		cells[n++] = cell_text(process_title(profile, group->item));
		cells[n++] = process != NULL && process->command != NULL ?
		    cell_text(process->command) :
		    (struct cell){ .kind = CELL_EMPTY };
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

int
view_processes(const struct view_request *request,
               const struct section_request *wanted, struct table *table,
               struct error *error)
{
	struct measure measure;
	struct groups groups;
	int result = -1;

	if (groups_start(&groups, request, wanted, "processes", error) == 0 &&
	    collect_processes(&groups, error) == 0 &&
	    sections_show(&groups, &processes_kind, sections_compare_processes,
	                  &measure, table, error) == 0 &&
	    add_process_rows(&groups, table, error) == 0)
		result = sections_know(request->set->profile,
		                       SECTION_PROCESS) ? 0 :
		    table_add_footer(table, error, "the profile does not tell "
		                     "processes apart");
	groups_free(&groups);
	return result;
}

/* ---- labels ---- */

static const struct view_kind labels_kind = {
	.schema = "cpprof.labels/1",
	.title = "Label Profile",
	.has_columns = true,
	.ignores_inlined = true,
};

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
compare_label_groups(const struct groups *groups,
                     const struct sections_group *a,
                     const struct sections_group *b)
{
	const struct profile *profile = groups->profile;
	const struct label *left, *right;

	if (a->item == NO_ITEM || b->item == NO_ITEM)
		return a->item == NO_ITEM ? 1 : -1;
	left = &profile->labels[a->item];
	right = &profile->labels[b->item];
	return groups->wanted->label_key == NULL ?
	    names_compare(profile->names, left->key, right->key) :
	    names_compare(profile->names, left->value, right->value);
}

static int
add_label_rows(const struct groups *groups, struct table *table,
               struct error *error)
{
	const struct profile *profile = groups->profile;
	bool are_keys = groups->wanted->label_key == NULL;

	if (are_keys)
		table_add_column(table, "values", "values", CELL_COUNT);
	table_add_column(table, are_keys ? "key" : "value",
	                 are_keys ? "key" : "value", CELL_TEXT);
	for (uint32_t i = 0; i < groups->n_shown; i++) {
		const struct sections_group
		    *group = &groups->items[groups->shown[i]];
		const struct label *label = group->item == NO_ITEM ? NULL :
		    &profile->labels[group->item];
		struct cell cells[TABLE_MAX_COLUMNS];
		size_t n = sections_begin_row(groups, group, cells);
		const char *text = label == NULL ? NO_VALUE : are_keys ?
		    names_text(profile->names, label->key) :
		    value_text(profile, label, table, error);

		if (text == NULL)
			return -1;
		if (are_keys)
			cells[n++] = cell_count(group->n_values);
		cells[n++] = cell_text(text);
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

int
view_labels(const struct view_request *request,
            const struct section_request *wanted, struct table *table,
            struct error *error)
{
	struct measure measure;
	struct groups groups;
	int result = -1;

	if (groups_start(&groups, request, wanted, "labels", error) == 0 &&
	    collect_labels(&groups, error) == 0 &&
	    (wanted->label_key != NULL ||
	     sections_count_values(&groups, error) == 0) &&
	    sections_show(&groups, &labels_kind, compare_label_groups, &measure,
	                  table, error) == 0 &&
	    (wanted->label_key == NULL ||
	     table_add_header(table, error, "label: %s", wanted->label_key) ==
	         0) &&
	    add_label_rows(&groups, table, error) == 0)
		result = sections_know(request->set->profile,
		                       SECTION_LABEL) ? 0 :
		    table_add_footer(table, error, "the profile has no "
		                     "labels");
	groups_free(&groups);
	return result;
}
