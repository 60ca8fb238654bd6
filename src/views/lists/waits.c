/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.c -- who has waited, and for whom.
 *
 * A pair is a stack of the resource LOCK_PAIRS: the path that waited, a mark,
 * and the path that it waited for (src/profile/profile.h).  So steps select
 * pairs as they select any stacks.
 *
 * Rows come in groups (lists.h), first those in which one holds another up:
 * every program with threads waits for their ends, and workers for work.
 *
 * Cost: one pass over the nodes, and the frames of the rows shown.
 */
#include "src/views/lists/lists.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { LONG_NAME = 100 };

static const struct view_kind waits_kind = {
	.schema = "cpprof.waits/1",
	.title = "Who Waited for Whom",
};

/* A stack that is a pair. */
struct waits_pair {
	uint32_t node;		/* the innermost of what was waited for */
	uint32_t mark;		/* NO_NODE: a step has taken it away */
	enum wait_group group;
	uint64_t hits;
};

struct waits {
	const struct sample_tree *tree;
	uint32_t resource;
	struct waits_pair *items;
	uint32_t n;
	uint64_t total;
};

/* ---- groups ---- */

static const char *const group_titles[N_WAIT_GROUPS] = {
	[WAIT_HELD_UP] = "held up by others",
	[WAIT_JOIN] = "waiting for threads to end",
	[WAIT_IDLE] = "waiting for work, or for a result",
};

/* The functions of the C library by which threads wait without a lock. */
static const char *const joins[] = {
	"pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np",
	"thrd_join", NULL
};

static const char *const idle_waits[] = {
	"pthread_cond_wait", "pthread_cond_timedwait",
	"pthread_cond_clockwait", "cnd_wait", "cnd_timedwait", "sem_wait",
	"sem_timedwait", "sem_clockwait", "read", "readv", "recv", "recvfrom",
	"recvmsg", "poll", "ppoll", "eventfd_read", NULL
};

/* What ends a hold, so the wait was for a lock whatever it began with. */
static const char *const releases[] = {
	"pthread_mutex_unlock", "pthread_rwlock_unlock", "pthread_spin_unlock",
	"mtx_unlock", NULL
};

/* Locks that are made of conditions and semaphores. */
static const char *const built_locks[] = {
	"take_gil", "PyThread_acquire_lock_timed", "PyMutex_LockTimed", NULL
};

/* Python's conditions and queues, which are made of such locks. */
static const char *const built_idle_waits[] = {
	"wait (threading.py", "queue_SimpleQueue_get_impl",
	"simplequeue_pop_item", NULL
};

/* Whether a name is one of the list's, but for what the C library adds. */
static bool
waits_is_any(const char *name, const char *const *list)
{
	name += strspn(name, "_");
	for (; *list != NULL; list++) {
		const size_t length = strlen(*list);
		const char *end = name + length;

		if (strncmp(name, *list, length) != 0)
			continue;
		if (strncmp(end, "64", 2) == 0)
			end += 2;
		if (*end == '\0' || strchr("@:)( ", *end) != NULL)
			return true;
	}
	return false;
}

/* Whether a name of the list is on the path from `node` out. */
static bool
waits_has_any(const struct names *names, const struct sample_tree *tree,
              uint32_t node, const char *const *list)
{
	for (; node != NO_NODE; node = sample_tree_parent(tree, node))
		if (waits_is_any(names_text(names, tree->label[node]), list))
			return true;
	return false;
}

enum wait_group
waits_group(const struct names *names, const struct sample_tree *tree,
            uint32_t node, uint32_t mark)
{
	const uint32_t waiter = mark == NO_NODE ? NO_NODE :
	    sample_tree_parent(tree, mark);
	const char *name;

	if (waiter == NO_NODE || waits_is_any(names_text(names,
	                                      tree->label[node]), releases))
		return WAIT_HELD_UP;
	name = names_text(names, tree->label[waiter]);
	if (waits_is_any(name, joins))
		return WAIT_JOIN;
	if (!waits_is_any(name, idle_waits) ||
	    (waits_has_any(names, tree, waiter, built_locks) &&
	     !waits_has_any(names, tree, waiter, built_idle_waits)))
		return WAIT_HELD_UP;
	return WAIT_IDLE;
}

/* ---- rows ---- */

/* The mark on the stack of a node; *is_wanted: whether a function on it is. */
static uint32_t
waits_find_mark(const struct waits *waits, const struct view_request *request,
                uint32_t mark, uint32_t node, bool *is_wanted)
{
	const struct sample_tree *tree = waits->tree;
	uint32_t found = NO_NODE;

	*is_wanted = false;
	for (; node != NO_NODE; node = sample_tree_parent(tree, node)) {
		if (tree->label[node] == mark)
			found = node;
		else
			*is_wanted |= view_wants(request, tree->label[node]);
	}
	return found;
}

static int
waits_collect(struct waits *waits, const struct view_request *request,
              struct error *error)
{
	const struct sample_tree *tree = waits->tree;
	const uint32_t mark = names_find(request->set->names, LOCK_PAIRS_MARK,
	                                 strlen(LOCK_PAIRS_MARK));

	waits->items = memory_array(tree->n_rows, sizeof *waits->items, error);
	if (waits->items == NULL)
		return -1;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		struct waits_pair pair = { .node = node,
			.hits = sample_tree_hits(tree, waits->resource, node) };
		bool is_wanted;

		if (pair.hits == 0)
			continue;
		waits->total += pair.hits;
		pair.mark = waits_find_mark(waits, request, mark, node,
		                            &is_wanted);
		pair.group = waits_group(request->set->names, tree, node,
		                         pair.mark);
		if (is_wanted)
			waits->items[waits->n++] = pair;
	}
	return 0;
}

static int
waits_compare(const void *left, const void *right)
{
	const struct waits_pair *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Drops those below the threshold, sorts the others and limits them. */
static void
waits_choose(struct waits *waits, const struct view_request *request,
             const struct measure *measure, struct hidden *hidden)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < waits->n; i++)
		if (waits->items[i].hits >= measure->least)
			waits->items[n++] = waits->items[i];
	hidden->below_threshold = waits->n - n;
	if (n > 1)
		qsort(waits->items, n, sizeof *waits->items, waits_compare);
	waits->n = rows_limit(request, n, hidden);
}

/* A table of paths, while it is filled. */
struct waits_paths {
	struct call_paths paths;
	uint32_t *parent, *name;
	uint32_t n;
};

/* Appends the path of the nodes from `node` out to `end`; its record. */
static uint32_t
waits_append_path(struct waits_paths *to, const struct sample_tree *tree,
                  uint32_t node, uint32_t end)
{
	const uint32_t record = to->n;

	for (; node != end; node = sample_tree_parent(tree, node), to->n++) {
		to->name[to->n] = tree->label[node];
		to->parent[to->n] = sample_tree_parent(tree, node) == end ?
		    NO_RECORD :
		                    to->n + 1;
	}
	return record;
}

static int
waits_make_paths(const struct waits *waits, struct waits_paths *paths,
                 const struct names *names, struct table *table,
                 struct error *error)
{
	const struct sample_tree *tree = waits->tree;
	size_t n = 1;

	for (uint32_t i = 0; i < waits->n; i++)
		for (uint32_t node = waits->items[i].node; node != NO_NODE;
		     node = sample_tree_parent(tree, node))
			n++;
	if (n > UINT32_MAX)
		return error_set(error, "too many paths; set a threshold");
	paths->parent = arena_alloc(&table->arena, n * sizeof *paths->parent,
	                            error);
	paths->name = arena_alloc(&table->arena, n * sizeof *paths->name,
	                          error);
	if (error->is_set)
		return -1;
	paths->paths = (struct call_paths){ names, paths->parent, paths->name,
		false };
	return 0;
}

/*
 * Names of the C++ library can be longer than a screen, of which a path has
 * several.
 */
static int
waits_add_advice(const struct waits_paths *paths, const struct names *names,
                 struct table *table, struct error *error)
{
	for (uint32_t i = 0; i < paths->n; i++) {
		const char *text = names_text(names, paths->name[i]);

		if (strlen(text) > LONG_NAME && strstr(text, "std::") != NULL)
			return table_add_footer(table, error, "long names of "
			    "the C++ library become one with: group std = "
			    "std::* @libstdc++*");
	}
	return 0;
}

/* Each row: hits, share, who waited, for whom. */
static int
waits_add_rows(const struct waits *waits, const struct measure *measure,
               const struct names *names, struct table *table,
               struct error *error)
{
	const struct sample_tree *tree = waits->tree;
	struct waits_paths *to = arena_alloc(&table->arena, sizeof *to, error);

	if (to == NULL)
		return -1;
	*to = (struct waits_paths){ .n = 0 };
	if (waits_make_paths(waits, to, names, table, error) != 0)
		return -1;
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct waits_pair *pair = &waits->items[i];
		const uint32_t by = waits_append_path(to, tree, pair->node,
		                                      pair->mark);
		/* Without a mark, the paths cannot be told apart. */
		uint32_t waiter = by;
		struct cell cells[5];

		if (pair->mark != NO_NODE)
			waiter = waits_append_path(to, tree,
			    sample_tree_parent(tree, pair->mark), NO_NODE);
		cells[0] = cell_hits(pair->hits);
		cells[1] = cell_fraction(measure_fraction(measure,
		                                          pair->hits));
		cells[2] = cell_text(group_titles[pair->group]);
		cells[3] = cell_path(&to->paths, waiter);
		cells[4] = cell_path(&to->paths, by);
		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return waits_add_advice(to, names, table, error);
}

static void
waits_add_columns(struct table *table)
{
	table_add_column(table, "hits", "#hits", CELL_HITS);
	table_add_column(table, "fraction", "usage_fraction",
	                 CELL_FRACTION)->short_title = "fraction";
	table_add_column(table, "group", "", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "path", "who waited", CELL_PATH);
	table_add_column(table, "by", "for whom", CELL_PATH);
	table->group_key = "group";
}

int
view_waits(const struct view_request *request, struct table *table,
           struct error *error)
{
	const struct profile *profile = request->set->profile;
	struct sample_set pairs = *request->set;
	struct view_request of_pairs = *request;
	struct hidden hidden = { 0 };
	struct waits waits = { .tree = pairs.tree,
		.resource = profile_find_resource(profile, LOCK_PAIRS) };
	struct measure measure;
	int status = -1;

	if (waits.resource == NO_RESOURCE || pairs.tree == NULL)
		return error_set(error, "the profile does not say who waited "
		                 "for whom; record it with: cpprof record "
		                 "-r blame");
	if (waits_collect(&waits, request, error) != 0)
		return -1;
	pairs.resource = &profile->resources[waits.resource];
	pairs.resource_number = waits.resource;
	pairs.self = pairs.tree->hits[waits.resource];
	pairs.left = waits.total;
	pairs.total = profile_hits(profile, waits.resource, &pairs.n_samples);
	pairs.whole = "all waits";
	of_pairs.set = &pairs;
	measure = measure_of(&of_pairs);
	waits_choose(&waits, &of_pairs, &measure, &hidden);
	if (view_describe(&of_pairs, &waits_kind, &measure, &hidden, table,
	                  error) == 0) {
		waits_add_columns(table);
		status = waits_add_rows(&waits, &measure, pairs.names, table,
		                        error);
	}
	free(waits.items);
	return status;
}
