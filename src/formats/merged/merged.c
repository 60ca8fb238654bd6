/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merged.c -- reads the file of a merged profile.
 *
 * doc/merged.md describes it.  A sum of which a part is missing is wrong, not
 * incomplete: so a file that is cut short or damaged is refused.  Every number is
 * checked: counts of things against the bytes that are left, of which each
 * thing has at least one; numbers of things against their counts; and what
 * should be in ascending order for being so, which makes it unique.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/formats/merged/merged_file.h"
#include "src/formats/reader.h"
#include "src/profile/fleet.h"
#include "src/profile/large_array.h"

enum {
	/* Bytes of names, each of which may have the beginning of a long one. */
	NAMES_ALWAYS = 64 << 20, NAMES_A_BYTE = 100,
	TALLIES_MAX = 1000,	/* each is looked for among all;
				 * there are fewer than 100 */
	/* Of the probe: */
	WRONG_BYTES_MAX = 8,	/* of the first line */
	LINE_MAX_SIZE = 128,	/* bytes in which the tables begin */
	TEXT_MAX = 512,		/* the first tables have no more text */
};

struct merged_reading {
	struct reader reader;
	struct fleet *fleet;
	const unsigned char *begin, *at, *end;
	const char *wrong;		/* NULL: nothing so far */
};

/* ---- numbers and texts; after the first that is wrong all are 0 ---- */

/* Notes what is wrong at the current place, unless something was before. */
static void
merged_reject(struct merged_reading *input, const char *what)
{
	if (input->wrong != NULL)
		return;
	input->wrong = what;
	input->reader.place = (uint64_t)(input->at - input->begin);
	input->at = input->end;
}

static uint64_t
merged_take(struct merged_reading *input)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char byte;

		if (input->at == input->end) {
			merged_reject(input, "the file is cut short within a number");
			return 0;
		}
		byte = *input->at++;
		number |= (uint64_t)(byte & 0x7f) << shift;
		/* A last byte of 0 would be one too many. */
		if (byte < 0x80 && (byte != 0 || shift == 0) &&
		    (shift < 63 || byte < 2))
			return number;
		if (byte < 0x80 || shift == 63)
			break;
	}
	merged_reject(input, "no number of 64 bits");
	return 0;
}

/* A number below `limit`. */
static uint32_t
take_below(struct merged_reading *input, uint64_t limit, const char *what)
{
	uint64_t number = merged_take(input);

	if (number < limit)
		return (uint32_t)number;
	merged_reject(input, what);
	return 0;
}

/* How many things follow, each of which has at least one byte. */
static uint32_t
take_count(struct merged_reading *input)
{
	uint64_t n = merged_take(input);

	if (n <= (size_t)(input->end - input->at) && n < UINT32_MAX - 2)
		return (uint32_t)n;
	merged_reject(input, "more things than bytes that are left");
	return 0;
}

/* Bytes in the file; *n: how many. */
static const char *
take_bytes(struct merged_reading *input, size_t *n)
{
	const unsigned char *bytes;

	*n = take_count(input);
	bytes = input->at;
	input->at += *n;
	return (const char *)bytes;
}

/* A text that ends in NUL, in the profile's arena; NULL with *error set. */
static const char *
merged_take_text(struct merged_reading *input, struct error *error)
{
	size_t n;
	const char *bytes = take_bytes(input, &n);

	if (n > 0 && memchr(bytes, '\0', n) != NULL) {
		merged_reject(input, "a NUL in a text");
		n = 0;
	}
	return arena_text(&input->fleet->profile->arena, bytes, n, error);
}

static const char *
take_agreed(struct merged_reading *input, struct error *error)
{
	switch (take_below(input, MERGED_TEXT + 1, "expected a text")) {
	case MERGED_TEXT:
		return merged_take_text(input, error);
	case MERGED_TEXTS_DIFFER:
		return fleet_several;
	default:
		return NULL;
	}
}

/* ---- what is small ---- */

/* How many members there are, and of which groups. */
static void
read_members_counts(struct merged_reading *input, struct fleet *fleet)
{
	uint64_t left;

	fleet->n_members = left = merged_take(input);
	fleet->n_warned = merged_take(input);
	/* The groups are all members. */
	for (uint32_t g = 0; g < FLEET_GROUPS; g++) {
		fleet->group_members[g] = merged_take(input);
		if (fleet->group_members[g] > left)
			merged_reject(input,
			              "groups that are more than all members");
		left -= fleet->group_members[g];
	}
	if (left != 0)
		merged_reject(input, "groups that are fewer than all members");
	if (fleet->n_members == 0)
		merged_reject(input, "no member");
	if (fleet->n_warned > fleet->n_members)
		merged_reject(input, "more warnings than members");
}

static int
read_summary(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;
	struct fleet_process *process = &fleet->process;
	uint32_t flags;

	read_members_counts(input, fleet);
	process->program = take_agreed(input, error);
	process->command = take_agreed(input, error);
	process->host = take_agreed(input, error);
	process->start_ns = merged_take(input);
	process->end_ns = merged_take(input);
	process->cpu_ns = merged_take(input);
	process->sampling_ns = merged_take(input);
	flags = take_below(input, 4, "unknown flags of the process");
	process->is_cpu_unknown = (flags & MERGED_CPU_UNKNOWN) != 0;
	process->cpu_is_least = (flags & MERGED_CPU_LEAST) != 0;
	return error->is_set ? -1 : 0;
}

static int
read_tallies(struct merged_reading *input, struct error *error)
{
	struct profile *profile = input->fleet->profile;
	uint32_t n = take_count(input);

	if (n > TALLIES_MAX)
		merged_reject(input, "too many statistics");
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		struct tally tally = { .what = merged_take_text(input, error) };

		if (tally.what == NULL)
			return -1;
		tally.count = merged_take(input);
		tally.loss = (enum loss)take_below(input, N_LOSSES + 1,
		                                   "an unknown kind of loss");
		if (i > 0 && strcmp(profile->tallies[i - 1].what,
		                    tally.what) >= 0)
			merged_reject(input, "statistics out of order");
		else if (profile_copy_tally(profile, &tally, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether a comes before b, as they are sorted. */
static bool
merged_is_before(const struct resource *a, const struct resource *b)
{
	int order = strcmp(a->name, b->name);

	if (order == 0)
		order = strcmp(a->gtick, b->gtick);
	return order < 0 || (order == 0 && a->interval < b->interval);
}

/* How a resource was counted. */
static void
take_counting(struct merged_reading *input, struct resource *resource)
{
	const uint32_t number = take_below(input,
	    MERGED_DRAWN + COUNTING_EXACT + 1, "an unknown way of counting");

	resource->counting = (enum counting)(number % MERGED_DRAWN);
	if (number % MERGED_DRAWN > COUNTING_EXACT)
		merged_reject(input, "an unknown way of counting");
	if (number < MERGED_DRAWN)
		return;
	resource->drawn_most = merged_take(input);
	if (resource->drawn_most == 0)
		merged_reject(input, "drawn samples without hits");
}

static int
read_resources(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;
	uint32_t n = take_count(input);

	if (n == 0)
		merged_reject(input, "no resource");
	for (uint32_t r = 0; r < n && input->wrong == NULL; r++) {
		const char *name = merged_take_text(input, error);
		const char *gtick = merged_take_text(input, error);
		uint64_t interval = merged_take(input);
		struct resource *resource;

		if (name == NULL || gtick == NULL)
			return -1;
		if (interval == 0)
			merged_reject(input, "an interval of 0");
		if (r == RESOURCES_MAX)
			merged_reject(input, "more than 256 resources");
		if (input->wrong != NULL)
			return 0;
		if (fleet_add_resource(fleet, name, gtick, interval, error) ==
		    UINT32_MAX)
			return -1;
		resource = &fleet->resources[r].column;
		if (fleet->n_resources != r + 1 ||
		    (r > 0 && !merged_is_before(&fleet->resources[r - 1].column,
		                                resource))) {
			merged_reject(input, "resources out of order");
			return 0;
		}
		resource->n_files = merged_take(input);
		take_counting(input, resource);
		resource->first_column = take_below(input, RESOURCES_MAX,
		                                    "no such column");
		for (int loss = 0; loss < N_LOSSES; loss++)
			resource->lost[loss] = merged_take(input);
	}
	n = take_count(input);
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		const char *text = merged_take_text(input, error);
		uint32_t r = take_below(input, fleet->n_resources,
		                        "no such resource");

		if (text == NULL ||
		    names_add_pair(fleet->sources, text, strlen(text), &r,
		                   sizeof r, error) == NO_NAME)
			return -1;
	}
	return 0;
}

static int
read_members(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;
	uint32_t n = take_count(input);

	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		const char *id = merged_take_text(input, error);

		if (id == NULL ||
		    fleet_add_member(fleet, id, "", error) == UINT32_MAX)
			return -1;
	}
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		fleet->members[i].name = merged_take_text(input, error);
		if (fleet->members[i].name == NULL)
			return -1;
	}
	fleet->key = take_agreed(input, error);
	if (fleet->key == fleet_several)
		merged_reject(input, "expected a key");
	n = take_count(input);
	if (n > 0 && (fleet->key == NULL || n > FLEET_VALUES_MAX))
		merged_reject(input, "too many values of a key");
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		size_t size;
		const char *bytes = take_bytes(input, &size);

		if (names_add(fleet->values, bytes, size, error) == NO_NAME)
			return -1;
		if (names_count(fleet->values) != i + 1 ||
		    (i > 0 && names_compare(fleet->values, i - 1, i) >= 0))
			merged_reject(input, "values out of order");
	}
	return error->is_set ? -1 : 0;
}

/* ---- names, modules, frames ---- */

/* Columns of numbers below `limit`; freed with free().  NULL with *error set. */
static uint32_t *
take_column(struct merged_reading *input, uint32_t n, uint64_t limit,
            const char *what, struct error *error)
{
	uint32_t *column;

	if (n > (size_t)(input->end - input->at)) {
		merged_reject(input, "the file is cut short within a column");
		n = 0;
	}
	column = memory_array(n, sizeof *column, error);
	for (uint32_t i = 0; column != NULL && i < n; i++)
		column[i] = take_below(input, limit, what);
	return column;
}

/* Names are what the one before begins with and more. */
static int
merged_read_names(struct merged_reading *input, struct error *error)
{
	struct names *names = input->fleet->profile->names;
	uint32_t n = take_count(input);
	uint32_t *shared = take_column(input, n, UINT32_MAX,
	                               "a name too long", error);
	uint64_t most = NAMES_ALWAYS + NAMES_A_BYTE *
	    (uint64_t)(input->end - input->begin), sum = 0;
	struct text_buffer name = { 0 };

	if (shared == NULL)
		return -1;
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		size_t size;
		const char *rest = take_bytes(input, &size);

		if (shared[i] > name.length) {
			merged_reject(input,
			              "a name shorter than what it shares");
			break;
		}
		sum += shared[i] + size;
		if (sum > most) {
			merged_reject(input, "names too long for the file");
			break;
		}
		name.length = shared[i];
		text_add(&name, rest, size);
		if (name.failed) {
			error_out_of_memory(error);
			break;
		}
		/* (The first name may be empty, and nothing allocated.) */
		if (names_add(names, name.bytes != NULL ? name.bytes : "",
		              name.length, error) == NO_NAME)
			break;
		if (names_count(names) != i + 1 ||
		    (i > 0 && names_compare(names, i - 1, i) >= 0))
			merged_reject(input, "names out of order");
	}
	free(shared);
	text_free(&name);
	return error->is_set ? -1 : 0;
}

static int
read_modules(struct merged_reading *input, struct error *error)
{
	struct profile *profile = input->fleet->profile;
	uint32_t n = take_count(input);

	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		const char *path = merged_take_text(input, error), *build_id;
		size_t size;

		if (path == NULL)
			return -1;
		build_id = take_bytes(input, &size);
		if (size > sizeof profile->modules->build_id) {
			merged_reject(input, "a build-id too long");
			return 0;
		}
		if (profile_add_module(profile, path, build_id, (uint32_t)size,
		                       error) == UINT32_MAX)
			return -1;
		profile->modules[i].file_size = merged_take(input);
		profile->modules[i].file_mtime_ns = merged_take(input);
	}
	return 0;
}

/* The columns of the frames, while they are read. */
struct frame_columns {
	uint32_t n;
	uint32_t *module, *offset, *flags, *n_locations;
	uint64_t *address;
	struct location *locations;
	size_t n_all;			/* locations */
};

static int
take_locations(struct merged_reading *input, struct frame_columns *columns,
               struct error *error)
{
	uint32_t n_names = names_count(input->fleet->profile->names);

	for (uint32_t i = 0; i < columns->n; i++) {
		if (columns->n_locations[i] == 0)
			merged_reject(input, "a frame without a location");
		columns->n_all += columns->n_locations[i];
	}
	if (columns->n_all > (size_t)(input->end - input->at)) {
		merged_reject(input, "more locations than bytes that are left");
		columns->n_all = 0;
	}
	columns->locations = memory_array(columns->n_all,
	                                  sizeof *columns->locations, error);
	if (columns->locations == NULL)
		return -1;
	for (size_t i = 0; i < columns->n_all; i++)
		columns->locations[i].linkage = NO_NAME;
	for (size_t i = 0; i < columns->n_all; i++)
		columns->locations[i].function = take_below(input, n_names,
		                                            "no such name");
	for (size_t i = 0; i < columns->n_all; i++)
		columns->locations[i].file = take_below(input,
		    (uint64_t)n_names + 1, "no such name") - 1;
	for (size_t i = 0; i < columns->n_all; i++)
		columns->locations[i].line = take_below(input,
		    (uint64_t)UINT32_MAX + 1, "no such line");
	return 0;
}

static int
merged_take_frames(struct merged_reading *input, struct frame_columns *columns,
                   struct error *error)
{
	const uint64_t any = (uint64_t)UINT32_MAX + 1;
	uint32_t n = columns->n = take_count(input);
	uint64_t module = 0;

	columns->module = take_column(input, n, any, "no such module", error);
	if (columns->module == NULL)
		return -1;
	if (input->wrong != NULL)
		columns->n = n = 0;
	columns->address = memory_array(n, sizeof *columns->address, error);
	if (columns->address == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		module += columns->module[i];
		if (module > input->fleet->profile->n_modules) {
			merged_reject(input, "no such module");
			module = 0;
		}
		columns->module[i] = (uint32_t)module;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t more = merged_take(input);

		columns->address[i] = more;
		if (i > 0 && columns->module[i] == columns->module[i - 1] &&
		    __builtin_add_overflow(columns->address[i - 1], more,
		                           &columns->address[i]))
			merged_reject(input, "addresses out of order");
	}
	columns->offset = take_column(input, n, any, "no such offset", error);
	if (columns->offset == NULL)
		return -1;
	columns->flags = take_column(input, n, MERGED_FRAME_FLAGS,
	                             "unknown flags of a frame", error);
	if (columns->flags == NULL)
		return -1;
	columns->n_locations = take_column(input, n, any, "too many locations",
	                                   error);
	if (columns->n_locations == NULL)
		return -1;
	if (input->wrong != NULL)
		columns->n = 0;
	return take_locations(input, columns, error);
}

static int
merged_read_frames(struct merged_reading *input, struct error *error)
{
	struct profile *profile = input->fleet->profile;
	struct frame_columns columns = { 0 };
	int result = merged_take_frames(input, &columns, error);
	const struct location *locations = columns.locations;

	for (uint32_t i = 0; result == 0 && input->wrong == NULL &&
	     i < columns.n; i++) {
		uint32_t flags = columns.flags[i];
		struct frame *frame;

		if (profile_add_frame(profile, columns.module[i] - 1,
		                      columns.address[i], locations,
		                      columns.n_locations[i], error) ==
		    UINT32_MAX) {
			result = -1;
			break;
		}
		locations += columns.n_locations[i];
		frame = &profile->frames[i];
		frame->function_offset = columns.offset[i] - 1;
		frame->is_made_up = (flags & MERGED_MADE_UP) != 0;
		frame->has_debug_lines = (flags & MERGED_DEBUG_LINES) != 0;
		frame->is_interpreted = (flags & MERGED_INTERPRETED) != 0;
		frame->is_awaiting = (flags & MERGED_AWAITING) != 0;
		frame->placeholder = (enum frame_placeholder)(
		    (flags & (MERGED_INTERPRETED - 1)) / MERGED_PLACEHOLDER);
		if (frame->placeholder >= N_FRAME_PLACEHOLDERS ||
		    (frame->is_awaiting && !frame->is_interpreted)) {
			frame->placeholder = FRAME_IS_NAMED;
			merged_reject(input, "unknown flags of a frame");
		}
	}
	free(columns.module);
	free(columns.offset);
	free(columns.flags);
	free(columns.n_locations);
	free(columns.address);
	free(columns.locations);
	return result;
}

/* ---- nodes and rows ---- */

/* The frames of the newest siblings, outermost first, and their nodes. */
struct newest {
	uint32_t *node, *label;
	size_t node_capacity, label_capacity, depth;
};

static int
merged_add_node(struct merged_reading *input, struct newest *newest,
                uint32_t levels, uint32_t label, struct error *error)
{
	struct fleet *fleet = input->fleet;
	uint32_t n = fleet->n_nodes;

	if (levels > newest->depth) {
		merged_reject(input, "a node outside the outermost one");
		return 0;
	}
	/* Children of the last node have none before them. */
	if (levels > 0 && newest->label[newest->depth - levels] >= label) {
		merged_reject(input, "nodes out of order");
		return 0;
	}
	newest->depth -= levels;
	if (memory_grow(&newest->node, &newest->node_capacity,
	                newest->depth + 1, sizeof *newest->node, error) != 0 ||
	    memory_grow(&newest->label, &newest->label_capacity,
	                newest->depth + 1, sizeof *newest->label, error) != 0)
		return -1;
	if (fleet_add_node(fleet, newest->depth == 0 ? NO_NODE :
	                   newest->node[newest->depth - 1], label, error) != n)
		return -1;
	newest->node[newest->depth] = n;
	newest->label[newest->depth++] = label;
	return 0;
}

static int
merged_read_nodes(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;
	struct newest newest = { 0 };
	uint32_t n = take_count(input);
	uint32_t *levels;
	int result = 0;

	if (n == 0)
		merged_reject(input, "no stack");
	/* The members that have most have a number for each of these. */
	if ((uint64_t)n * fleet->n_resources >
	    (size_t)(input->end - input->at))
		merged_reject(input, "more counts than bytes that are left");
	levels = take_column(input, n, UINT32_MAX, "no such level", error);
	if (levels == NULL)
		return -1;
	for (uint32_t i = 0; i < n && result == 0 && input->wrong == NULL;
	     i++) {
		uint32_t label = take_below(input, fleet->profile->n_frames,
		                            "no such frame");

		if (input->wrong == NULL)
			result = merged_add_node(input, &newest, levels[i],
			                         label, error);
		if (result == 0 && i % 65536 == 0)
			result = reader_step(&input->reader, error);
	}
	free(levels);
	free(newest.node);
	free(newest.label);
	if (result == 0 && input->wrong == NULL &&
	    take_below(input, 2, "expected 0 or 1") != 0)
		for (uint32_t i = 0; i < n && result == 0; i++)
			result = fleet_add_returns(fleet, i, merged_take(input),
			                           error);
	return result;
}

static int
merged_read_rows(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;
	uint32_t n = take_count(input);
	uint64_t node = 0;

	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		uint64_t more = merged_take(input);

		if ((i > 0 && more == 0) || more >= fleet->n_nodes - node)
			merged_reject(input, "no such node");
		else if (fleet_need_row(fleet, (uint32_t)(node += more),
		                        error) == UINT32_MAX)
			return -1;
	}
	for (uint32_t r = 0; r < fleet->n_resources && input->wrong == NULL;
	     r++) {
		uint64_t *hits = fleet->resources[r].hits;
		uint64_t *samples = fleet->resources[r].samples;
		bool is_same;

		for (uint32_t row = 1; row < fleet->n_rows; row++)
			hits[row] = merged_take(input);
		is_same = take_below(input, 2, "expected 0 or 1") != 0;
		for (uint32_t row = 1; row < fleet->n_rows; row++)
			samples[row] = is_same ? hits[row] :
			               merged_take(input);
		for (uint32_t row = 1; row < fleet->n_rows; row++) {
			uint64_t own_hits = hits[row];
			uint64_t own_samples = samples[row];

			hits[row] = samples[row] = 0;
			if (fleet_add_counts(fleet, row, r, own_hits,
			                     own_samples, error) != 0)
				return -1;
		}
	}
	return 0;
}

/* One member has as much as all of them, at most; and some, if they have. */
static int
check_most(struct merged_reading *input, const struct fleet_resource *resource,
           struct error *error)
{
	const struct fleet *fleet = input->fleet;
	uint64_t *weight = NULL;

	if (large_array_zeroed(&weight, fleet->n_nodes, sizeof *weight,
	                       error) != 0)
		return -1;
	for (uint32_t n = fleet->n_nodes; n-- > 0;) {
		uint64_t most = resource->most_hits[n];

		if (fleet->row[n] != 0)
			weight[n] += resource->hits[fleet->row[n]];
		if (fleet->parent[n] != NO_NODE)
			weight[fleet->parent[n]] += weight[n];
		if (most > weight[n] || (most == 0 && weight[n] > 0))
			merged_reject(input, "a member that has not the most");
	}
	large_array_free(weight);
	return 0;
}

static int
read_most(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;

	for (uint32_t r = 0; r < fleet->n_resources && input->wrong == NULL;
	     r++) {
		struct fleet_resource *resource = &fleet->resources[r];

		for (uint32_t n = 0; n < fleet->n_nodes; n++)
			resource->most_hits[n] = merged_take(input);
		for (uint32_t n = 0; n < fleet->n_nodes; n++)
			resource->most_member[n] =
			    resource->most_hits[n] == 0 ? NO_MEMBER :
			    take_below(input, fleet->n_listed,
			               "no such member");
		if (input->wrong == NULL &&
		    check_most(input, resource, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- cells ---- */

static int
take_cells(struct merged_reading *input, struct fleet_cells *cells,
           uint32_t n_parts, bool has_samples, struct error *error)
{
	const struct fleet *fleet = input->fleet;
	uint32_t n = take_count(input);
	struct fleet_cell *cell;
	uint64_t code = 0;

	if (large_array_zeroed(&cells->cells, n, sizeof *cell, error) != 0)
		return -1;
	cell = cells->cells;
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		code += take_below(input, (uint64_t)UINT32_MAX + 1,
		                   "no such part");
		if (code > UINT32_MAX || fleet_part((uint32_t)code) >= n_parts ||
		    fleet_resource_of((uint32_t)code) >= fleet->n_resources)
			merged_reject(input, "no such part or resource");
		cell[i].code = (uint32_t)code;
	}
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++) {
		uint64_t row = merged_take(input);
		bool follows = i > 0 && cell[i].code == cell[i - 1].code;

		if (row == 0 || row >= fleet->n_rows -
		    (follows ? cell[i - 1].row : 0))
			merged_reject(input, "no such row");
		cell[i].row = (uint32_t)row + (follows ? cell[i - 1].row : 0);
	}
	for (uint32_t i = 0; i < n && input->wrong == NULL; i++)
		cell[i].hits = merged_take(input);
	for (uint32_t i = 0; has_samples && i < n && input->wrong == NULL; i++)
		cell[i].samples = merged_take(input);
	cells->n = n;
	return 0;
}

/* What is left of the counts of one kind without all cells. */
static int
check_cells(struct merged_reading *input, const struct fleet_cells *cells,
            bool are_samples, bool must_be_whole, struct error *error)
{
	const struct fleet *fleet = input->fleet;
	uint64_t *left[RESOURCES_MAX];
	uint32_t n = 0;

	for (; n < fleet->n_resources; n++)
		left[n] = memory_copy(are_samples ?
		    fleet->resources[n].samples : fleet->resources[n].hits,
		    fleet->n_rows, sizeof **left, error);
	for (size_t i = 0; !error->is_set && i < cells->n; i++) {
		const struct fleet_cell *cell = &cells->cells[i];
		uint64_t *row = &left[fleet_resource_of(cell->code)][cell->row];
		uint64_t counts = are_samples ? cell->samples : cell->hits;

		if (counts > *row) {
			merged_reject(input,
			              "parts that are more than their sum");
			break;
		}
		*row -= counts;
	}
	for (uint32_t r = 0; must_be_whole && !error->is_set &&
	     r < fleet->n_resources; r++)
		for (uint32_t row = 1; row < fleet->n_rows; row++)
			if (left[r][row] != 0)
				merged_reject(input,
				              "groups that are less than their "
				              "sum");
	while (n-- > 0)
		free(left[n]);
	return error->is_set ? -1 : 0;
}

static int
read_parts(struct merged_reading *input, struct error *error)
{
	struct fleet *fleet = input->fleet;

	if (take_cells(input, &fleet->groups, FLEET_GROUPS, false, error) !=
	        0 ||
	    take_cells(input, &fleet->by, names_count(fleet->values), true,
	               error) != 0)
		return -1;
	if (input->at != input->end)
		merged_reject(
		    input,
		    memmem(input->at, (size_t)(input->end - input->at),
		           MERGED_MAGIC, strlen(MERGED_MAGIC)) == input->at ?
			"another one follows; add them up with cpprof merge" :
			"more bytes than the profile has");
	if (input->wrong != NULL)
		return 0;
	for (size_t i = 0; i < fleet->groups.n; i++)
		if (fleet->group_members[fleet_part(
		        fleet->groups.cells[i].code)] == 0)
			merged_reject(input, "hits of a group without members");
	if (check_cells(input, &fleet->groups, false, true, error) != 0 ||
	    check_cells(input, &fleet->by, false, false, error) != 0)
		return -1;
	return check_cells(input, &fleet->by, true, false, error);
}

/* ---- the file ---- */

static int
merged_read_tables(struct merged_reading *input, struct error *error)
{
	int (*const tables[])(struct merged_reading *, struct error *) = {
		read_summary,       read_tallies,      read_resources,
		read_members,       merged_read_names, read_modules,
		merged_read_frames, merged_read_nodes, merged_read_rows,
		read_most,          read_parts,
	};
	struct reader *reader = &input->reader;

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		if (reader_step(reader, error) != 0)
			return -1;
		if (tables[i](input, error) != 0)
			return -1;
		if (input->wrong != NULL)
			return reader_fail(reader, error, "not a whole merged "
			                   "profile: %s", input->wrong);
	}
	return 0;
}

/* Says what is wrong with the first line: cut short, of another version or damaged. */
static int
refuse_first_line(const struct reader *reader, const unsigned char *bytes,
                  size_t size, struct error *error)
{
	static const char name[] = "cpprof merged profile ";
	const size_t length = sizeof name - 1;
	const size_t same = size < length ? size : length;
	const unsigned char *end = memchr(bytes, '\n', size);
	size_t n_digits = 0;

	if (memcmp(bytes, MERGED_MAGIC, size < strlen(MERGED_MAGIC) ? size :
	           strlen(MERGED_MAGIC)) == 0)
		return reader_fail_file(reader, error, "not a whole merged "
		    "profile: the file is cut short in its first line");
	if (memcmp(bytes, name, same) == 0 && end != NULL)
		n_digits = strspn((const char *)bytes + length, "0123456789");
	if (n_digits > 0 && bytes + length + n_digits == end)
		return reader_fail_file(reader, error, "a merged profile of "
		    "version %.*s, and this cpprof reads version 1; use the "
		    "cpprof that wrote it, or a newer one", (int)n_digits,
		    bytes + length);
	return reader_fail_file(reader, error, "a damaged merged profile: its "
	    "first line is not \"%.*s\"; use another copy, or merge its "
	    "members again", (int)strlen(MERGED_MAGIC) - 1, MERGED_MAGIC);
}

/*
 * Refuses what cannot be a merged profile by its beginning, so that the rest of
 * a large file need not be had in memory.
 */
static int
merged_check_head(struct merged_reading *input, struct error *error)
{
	struct reader *reader = &input->reader;
	const size_t magic = strlen(MERGED_MAGIC);
	struct fleet counts;
	size_t size;
	const unsigned char *bytes = reader_peek(reader, FORMAT_HEAD_SIZE,
	                                         &size, error);

	if (bytes == NULL)
		return -1;
	/* What is short is read whole, and says best what is wrong with it. */
	if (size < FORMAT_HEAD_SIZE)
		return 0;
	if (memcmp(bytes, MERGED_MAGIC, magic) != 0)
		return refuse_first_line(reader, bytes, size, error);
	input->begin = bytes;
	input->at = bytes + magic;
	input->end = bytes + size;
	read_members_counts(input, &counts);
	return input->wrong == NULL ? 0 :
	    reader_fail(reader, error, "not a whole merged profile: %s",
	                input->wrong);
}

static int
merged_read_file(struct merged_reading *input, struct error *error)
{
	struct reader *reader = &input->reader;
	size_t size;
	const unsigned char *bytes = merged_check_head(input, error) != 0 ?
	    NULL : reader_peek(reader, SIZE_MAX, &size, error);
	const size_t magic = strlen(MERGED_MAGIC);

	if (bytes == NULL)
		return -1;
	if (source_damage(reader->source) != NULL)
		return reader_fail_file(reader, error, "%s: a merged profile "
		    "can be used only whole", source_damage(reader->source));
	if (size < magic || memcmp(bytes, MERGED_MAGIC, magic) != 0)
		return refuse_first_line(reader, bytes, size, error);
	input->begin = bytes;
	input->at = bytes + magic;
	input->end = bytes + size;
	input->fleet = fleet_new(reader->profile, error);
	if (input->fleet == NULL || merged_read_tables(input, error) != 0)
		return -1;
	reader_skip(reader, size);
	return reader->options->has_runs ?
	    fleet_make_runs(input->fleet, reader->options->resource, error) :
	    fleet_make_tree(input->fleet, error);
}

static struct profile *
merged_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct merged_reading input = { .wrong = NULL };
	struct error why = { 0 };
	const char *name = source_name(source);
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	/* Errors of the profile's functions do not say which file it was. */
	if (result == 0 && merged_read_file(&input, &why) != 0)
		result = strncmp(why.text, name, strlen(name)) == 0 ?
		    error_pass(error, &why) :
		    reader_pass_file(&input.reader, &why, error);
	return reader_end(&input.reader, result);
}

/* ---- the probe ----
 *
 * The first line and a newline or two look like collapsed stacks.  So a merged
 * profile whose first line is damaged must not be left to that format: it would
 * read a few of the bytes and call them a profile.  It is known by a line that
 * is almost the right one, or by its first tables, wherever they begin.  Both
 * need bytes that no text has.
 */

/* Takes a text; whether it is not empty. */
static bool
skip_text(struct merged_reading *input)
{
	size_t n;
	const char *bytes = take_bytes(input, &n);

	if (n > 0 && memchr(bytes, '\0', n) != NULL)
		merged_reject(input, "a NUL in a text");
	return n > 0;
}

/* Whether these are the first tables, up to the first resource. */
static bool
are_tables(const unsigned char *at, const unsigned char *end)
{
	struct merged_reading input = { .begin = at, .at = at, .end = end };
	uint64_t n_members = merged_take(&input), left = n_members, n;

	/* The groups have all members, and then there is a process. */
	if (n_members == 0 || merged_take(&input) > n_members)
		return false;
	for (int g = 0; g < FLEET_GROUPS; g++) {
		n = merged_take(&input);
		if (n > left)
			return false;
		left -= n;
	}
	if (left != 0)
		return false;
	for (int text = 0; text < 3; text++) {
		n = merged_take(&input);
		if (n > MERGED_TEXT)
			return false;
		if (n == MERGED_TEXT)
			skip_text(&input);
	}
	for (int number = 0; number < 4; number++)
		merged_take(&input);
	if (merged_take(&input) > (MERGED_CPU_UNKNOWN | MERGED_CPU_LEAST))
		return false;
	for (n = merged_take(&input); n > 0 && input.wrong == NULL; n--) {
		skip_text(&input);
		merged_take(&input);
		if (merged_take(&input) > N_LOSSES)
			return false;
	}
	n = merged_take(&input);
	return n > 0 && n <= RESOURCES_MAX && skip_text(&input) &&
	       skip_text(&input) && merged_take(&input) > 0;
}

static int
merged_probe(const void *head, size_t size)
{
	const size_t length = strlen(MERGED_MAGIC), least = strlen("cpprof ");
	const unsigned char *at = head, *end = at + size;
	size_t n_text = size < TEXT_MAX ? size : TEXT_MAX, n_wrong = 0;

	/* One cut short in its first line would be taken for a stack. */
	if (size >= least &&
	    memcmp(head, MERGED_MAGIC, size < length ? size : length) == 0)
		return PROBE_SURE;
	if (line_find_binary(head, n_text) == n_text)
		return PROBE_NO;
	for (size_t i = 0; i < length && i < size; i++)
		n_wrong += at[i] != (unsigned char)MERGED_MAGIC[i];
	if (size >= length && n_wrong <= WRONG_BYTES_MAX)
		return PROBE_SURE;
	for (size_t i = 0; i < LINE_MAX_SIZE && i < size; i++)
		if (are_tables(at + i, end))
			return PROBE_SURE;
	return PROBE_NO;
}

const struct format format_merged = {
	.name = "merged profile",
	.summary = "the sum of many profiles, written by `cpprof merge`",
	.probe = merged_probe,
	.read = merged_read,
};
