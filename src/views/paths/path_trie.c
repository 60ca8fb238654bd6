/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_trie.c -- the records of one call path profile, while they are counted.
 *
 * Finding a child by parent and name is the inner loop of down and up, and its
 * cost is cache misses.  Records are used in nearly the order in which they
 * were made.  Most are the first child of the record made just before, and are
 * looked for there and nowhere else.  Another child is looked for in a cache
 * line chosen by its parent's number; 16 parents share a line with room for
 * eight children.  Lines are then read and written nearly in sequence.  Only
 * when the line is full does the child go to a common hash table, so that a
 * record with very many children still costs one probe for each.  Nothing is
 * ever removed, so a line that is not full ends the search.
 *
 * What that gains over src/base/index.h: for a million records, 7 ns a step
 * instead of 34 if the paths come sorted, and 26 instead of 92 if shuffled.
 */
#include "src/views/paths/paths.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

enum {
	PARENTS_A_LINE = 16,
	CHILDREN_A_LINE = 8,
	FIRST_OVERFLOW = 256,
	FIRST_RECORDS = 256,
};

struct path_slot {
	uint32_t name;
	uint32_t record;	/* 0: empty, since record 0 is no child */
};

/* Children that do not directly follow their parent. */
struct path_line {
	struct path_slot slots[CHILDREN_A_LINE];
};

static int
reserve_records(struct path_trie *trie, uint32_t n, struct error *error)
{
	if (large_array_reserve(&trie->records, n, sizeof *trie->records,
	                        error) != 0 ||
	    large_array_reserve(&trie->lines, n / PARENTS_A_LINE + 1,
	                        sizeof *trie->lines, error) != 0 ||
	    (trie->returns != NULL &&
	     large_array_reserve(&trie->returns, n, sizeof *trie->returns,
	                         error) != 0) ||
	    (trie->own != NULL &&
	     large_array_reserve(&trie->own, n, sizeof *trie->own,
	                         error) != 0) ||
	    (trie->n_columns > 0 &&
	     large_array_reserve(&trie->columns, n,
	                         trie->n_columns * sizeof *trie->columns,
	                         error) != 0))
		return -1;
	trie->capacity = n;
	return 0;
}

/*
 * Makes the next record; its line is made with the first of those that share
 * it.
 */
static uint32_t
new_record(struct path_trie *trie, uint32_t parent, uint32_t name,
           struct error *error)
{
	uint32_t record = trie->n_records;

	if (record == MAX_RECORDS) {
		error_set(error, "more than %u call paths: too many to "
		          "count", record);
		return NO_RECORD;
	}
	if (record == trie->capacity &&
	    reserve_records(trie, record * 2, error) != 0)
		return NO_RECORD;
	if (record % PARENTS_A_LINE == 0)
		memset(&trie->lines[record / PARENTS_A_LINE], 0,
		       sizeof *trie->lines);
	trie->records[record] = (struct path_record){
		.parent = parent, .name = name,
	};
	if (trie->returns != NULL)
		trie->returns[record] = 0;
	if (trie->own != NULL)
		trie->own[record] = 0;
	if (trie->n_columns > 0)
		memset(&trie->columns[record * trie->n_columns], 0,
		       trie->n_columns * sizeof *trie->columns);
	trie->n_records++;
	return record;
}

static struct path_slot *
new_slots(size_t n, struct error *error)
{
	struct path_slot *slots = NULL;

	if (large_array_reserve(&slots, n, sizeof *slots, error) == 0)
		memset(slots, 0, n * sizeof *slots);
	return slots;
}

int
path_trie_begin(struct path_trie *trie, uint32_t root, uint32_t n_expected,
                struct error *error)
{
	uint32_t n = n_expected < FIRST_RECORDS ? FIRST_RECORDS :
	             n_expected < MAX_RECORDS ? n_expected : MAX_RECORDS;

	*trie = (struct path_trie){ .overflow_size = FIRST_OVERFLOW };
	trie->overflow = new_slots(FIRST_OVERFLOW, error);
	if (trie->overflow != NULL && reserve_records(trie, n, error) == 0 &&
	    new_record(trie, NO_RECORD, root, error) == 0) {
		if (root == NO_NAME)
			trie->records[0].hits = UINT64_MAX;
		return 0;
	}
	path_trie_free(trie);
	return -1;
}

int
path_trie_count_returns(struct path_trie *trie, struct error *error)
{
	if (large_array_reserve(&trie->returns, trie->capacity,
	                        sizeof *trie->returns, error) != 0)
		return -1;
	trie->returns[0] = 0;
	return 0;
}

int
path_trie_count_own(struct path_trie *trie, struct error *error)
{
	if (large_array_reserve(&trie->own, trie->capacity,
	                        sizeof *trie->own, error) != 0)
		return -1;
	trie->own[0] = 0;
	return 0;
}

int
path_trie_count_columns(struct path_trie *trie, size_t n,
                        struct error *error)
{
	trie->n_columns = n;
	if (n == 0)
		return 0;
	if (large_array_reserve(&trie->columns, trie->capacity,
	                        n * sizeof *trie->columns, error) != 0)
		return -1;
	memset(trie->columns, 0, n * sizeof *trie->columns);
	return 0;
}

void
path_trie_free(struct path_trie *trie)
{
	large_array_free(trie->columns);
	large_array_free(trie->records);
	large_array_free(trie->returns);
	large_array_free(trie->own);
	large_array_free(trie->lines);
	large_array_free(trie->overflow);
	*trie = (struct path_trie){ 0 };
}

static size_t
path_trie_hash_child(uint32_t parent, uint32_t name)
{
	uint64_t key = ((uint64_t)parent << 32 | name) *
	               UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(key ^ key >> 32);
}

static bool
path_trie_is_child(const struct path_trie *trie, const struct path_slot *slot,
                   uint32_t parent, uint32_t name)
{
	return slot->name == name &&
	    trie->records[slot->record].parent == parent;
}

/* The overflow slot that holds the child, or the empty one for it. */
static struct path_slot *
find_overflow(const struct path_trie *trie, uint32_t parent, uint32_t name)
{
	size_t mask = trie->overflow_size - 1;
	size_t i = path_trie_hash_child(parent, name) & mask;

	while (trie->overflow[i].record != 0 &&
	       !path_trie_is_child(trie, &trie->overflow[i], parent, name))
		i = (i + 1) & mask;
	return &trie->overflow[i];
}

static int
grow_overflow(struct path_trie *trie, struct error *error)
{
	struct path_slot *old = trie->overflow;
	size_t old_size = trie->overflow_size;
	struct path_slot *grown = new_slots(old_size * 2, error);

	if (grown == NULL)
		return -1;
	trie->overflow = grown;
	trie->overflow_size = old_size * 2;
	for (size_t i = 0; i < old_size; i++) {
		uint32_t record = old[i].record;

		if (record != 0)
			*find_overflow(trie, trie->records[record].parent,
			               old[i].name) = old[i];
	}
	large_array_free(old);
	return 0;
}

/* Finds or enters a child whose line is full. */
static uint32_t
overflow_child(struct path_trie *trie, uint32_t parent, uint32_t name,
               struct error *error)
{
	struct path_slot *slot = find_overflow(trie, parent, name);
	uint32_t record = slot->record;

	if (record != 0)
		return record;
	if (2 * (trie->n_overflow + 1) > trie->overflow_size) {
		if (grow_overflow(trie, error) != 0)
			return NO_RECORD;
		slot = find_overflow(trie, parent, name);
	}
	record = new_record(trie, parent, name, error);
	if (record != NO_RECORD) {
		trie->n_overflow++;
		*slot = (struct path_slot){ name, record };
	}
	return record;
}

static uint32_t
line_child(struct path_trie *trie, uint32_t parent, int i, uint32_t name,
           struct error *error)
{
	uint32_t record = new_record(trie, parent, name, error);

	if (record != NO_RECORD)
		trie->lines[parent / PARENTS_A_LINE].slots[i] =
		    (struct path_slot){ name, record };
	return record;
}

uint32_t
path_trie_child(struct path_trie *trie, uint32_t parent, uint32_t name,
                struct error *error)
{
	const struct path_line *line = &trie->lines[parent / PARENTS_A_LINE];
	const uint32_t next = parent + 1;

	if (next == trie->n_records)
		return new_record(trie, parent, name, error);
	if (trie->records[next].parent == parent &&
	    trie->records[next].name == name)
		return next;
	for (int i = 0; i < CHILDREN_A_LINE; i++) {
		const struct path_slot *slot = &line->slots[i];

		if (slot->record == 0)
			return line_child(trie, parent, i, name, error);
		if (path_trie_is_child(trie, slot, parent, name))
			return slot->record;
	}
	return overflow_child(trie, parent, name, error);
}

/* ---- records as rows ---- */

/*
 * Copies the records of at least measure->least hits to rows, which have room
 * for them.  The field `until` of a record is no longer needed and holds its
 * row's number.  A row is one longer than its parent; all descendants of rows
 * that are too long are too long.
 */
static int
path_trie_fill_rows(const struct path_trie *trie, struct rows *rows,
                    const struct view_request *request, uint32_t n_rows,
                    uint64_t least, struct error *error)
{
	/* Record 0 can stand above all stacks, and so is no row. */
	const bool is_forest = trie->n_records > 0 &&
	                       trie->records[0].name == NO_NAME;
	const bool has_limit = request->depth != SIZE_MAX;
	uint32_t *length = NULL;

	if (has_limit &&
	    (length = memory_array(n_rows, sizeof *length, error)) == NULL)
		return -1;
	if (is_forest)
		trie->records[0].until = NO_RECORD;
	for (uint32_t r = is_forest; r < trie->n_records; r++) {
		struct path_record *record = &trie->records[r];
		uint32_t parent = record->parent, row = rows->n;

		if (record->hits < least)
			continue;
		record->until = NO_RECORD;
		if (is_forest && parent == 0)
			parent = NO_RECORD;
		if (parent != NO_RECORD) {
			parent = trie->records[parent].until;
			if (parent == NO_RECORD)
				continue;
		}
		if (has_limit) {
			length[row] = parent == NO_RECORD ? 1 :
			              length[parent] + 1;
			if (length[row] > request->depth)
				continue;
		}
		record->until = row;
		rows->items[row] = (struct row){
			.hits = record->hits,
			.returns = trie->returns != NULL ? trie->returns[r] : 0,
			.name = record->name,
			.parent = parent,
		};
		if (rows->disjoint != NULL)
			rows->disjoint[row].own = trie->own[r];
		for (size_t i = 0; i < rows->n_columns; i++)
			rows->columns[i][row] =
			    trie->columns[r * trie->n_columns + i];
		rows->n++;
	}
	free(length);
	return 0;
}

/*
 * Gives the rows all hits of their paths and of the extensions, each hit
 * counted for one path only.  Returns the number of records without hits.
 */
static uint32_t
path_trie_sum_disjoint(struct path_trie *trie, struct rows *rows,
                       uint64_t least)
{
	uint32_t n_empty = 0;

	for (uint32_t r = trie->n_records; r-- > 1;)
		trie->own[trie->records[r].parent] += trie->own[r];
	for (uint32_t r = 0; r < trie->n_records; r++) {
		const struct path_record *record = &trie->records[r];

		n_empty += record->hits == 0;
		if (record->hits >= least && record->until != NO_RECORD)
			rows->disjoint[record->until].all = trie->own[r];
	}
	return n_empty;
}

int
rows_from_trie(struct rows *rows, struct path_trie *trie,
               const struct view_request *request,
               const struct measure *measure, struct hidden *hidden,
               struct error *error)
{
	const uint64_t least = measure->least;
	uint32_t n_kept = 0, n_empty, n;

	for (uint32_t r = 0; r < trie->n_records; r++)
		n_kept += trie->records[r].hits >= least;
	n = n_kept - (trie->n_records > 0 && trie->records[0].name == NO_NAME);
	rows->are_paths = true;
	if (rows_make(rows, request->set, n, error) != 0 ||
	    rows_make_columns(rows, request, n, error) != 0)
		return -1;
	rows->has_returns = trie->returns != NULL;
	if (trie->own != NULL && (rows->disjoint = memory_array(n,
	        sizeof *rows->disjoint, error)) == NULL)
		return -1;
	if (path_trie_fill_rows(trie, rows, request, n, least, error) != 0)
		return -1;
	if (hidden == NULL)
		return 0;
	if (trie->own != NULL) {
		n_empty = path_trie_sum_disjoint(trie, rows, least);
		if (least > 0)
			hidden->empty = n_empty;
	}
	hidden->below_threshold = trie->n_records - n_kept;
	hidden->too_long = n - rows->n;
	return 0;
}
