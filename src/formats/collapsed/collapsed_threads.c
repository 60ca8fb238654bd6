/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_threads.c -- collapsed stacks whose outermost frame is a thread.
 *
 * Sources: stackcollapse-perf.pl (options --pid and --tid); async-profiler's
 * frames of threads.
 */
#include "src/formats/collapsed/collapsed.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/names.h"

/* What a frame says of its thread. */
struct thread_frame {
	const char *name;
	size_t length;		/* 0: no name */
	uint64_t pid, tid;	/* 0: unknown */
};

/*
 * Takes digits, or a '?' for an unknown number, off the end of text[*length];
 * false if there are none or the number is too large.
 */
static bool
collapsed_threads_take_number(const char *text, size_t *length,
                              uint64_t *number)
{
	size_t n = *length;
	uint64_t value = 0;

	if (n > 0 && text[n - 1] == '?') {
		*length = n - 1;
		*number = 0;
		return true;
	}
	while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
		n--;
	if (n == *length || *length - n > 10)
		return false;
	for (size_t i = n; i < *length; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	*length = n;
	*number = value;
	return true;
}

/* "java-4711/4712" or "java-4711" */
static bool
read_perf(const char *text, size_t length, struct thread_frame *frame)
{
	uint64_t last, first;
	size_t n = length;

	if (!collapsed_threads_take_number(text, &n, &last) || n == 0)
		return false;
	*frame = (struct thread_frame){ text, n - 1, last, 0 };
	if (text[n - 1] == '/') {
		n--;
		if (!collapsed_threads_take_number(text, &n, &first) || n == 0)
			return false;
		*frame = (struct thread_frame){ text, n - 1, first, last };
	}
	return text[n - 1] == '-' && n > 1;
}

/* "[main tid=4712]" or "[tid=4712]" */
static bool
read_async(const char *text, size_t length, struct thread_frame *frame)
{
	static const char key[] = "tid=";
	const size_t n_key = sizeof key - 1;
	size_t n = length;

	if (n < 2 || text[0] != '[' || text[n - 1] != ']')
		return false;
	n--;
	*frame = (struct thread_frame){ .name = text + 1 };
	if (!collapsed_threads_take_number(text, &n, &frame->tid) ||
	    n < n_key + 1 || memcmp(text + n - n_key, key, n_key) != 0)
		return false;
	n -= n_key;
	if (n > 1 && text[n - 1] != ' ')
		return false;
	frame->length = n > 1 ? n - 2 : 0;
	return true;
}

static struct thread_frame
collapsed_threads_read_frame(const char *text, size_t length)
{
	struct thread_frame frame;

	if (read_perf(text, length, &frame) ||
	    read_async(text, length, &frame))
		return frame;
	return (struct thread_frame){ text, length, 0, 0 };
}

/*
 * The process of a thread, made if new; process i after the file's own has the
 * number pids[i].  A thread without a number of a process belongs to the file's
 * own, if it has one, else to one that is unknown.
 */
static uint32_t
collapsed_threads_find_process(struct profile *profile,
                               const struct thread_frame *frame,
                               const char *name, struct names *pids,
                               struct error *error)
{
	uint32_t n = names_count(pids), n_own = profile->n_processes - n;
	struct process process = { .pid = frame->pid };
	uint32_t number;

	if (frame->pid == 0 && n_own > 0)
		return 0;
	number = names_add(pids, (const char *)&frame->pid, sizeof frame->pid,
	                   error);
	if (number == NO_NAME)
		return UINT32_MAX;
	if (number < n)
		return n_own + number;
	process.program = frame->pid != 0 ? name : NULL;
	return profile_add_process(profile, &process, error);
}

/* The thread of an outermost frame; NO_THREAD with *error set. */
static uint32_t
collapsed_threads_add_thread(struct profile *profile, uint32_t label,
                             struct names *pids, struct error *error)
{
	const struct frame *of = &profile->frames[label];
	uint32_t name = profile->locations[of->first_location].function;
	const struct thread_frame frame = collapsed_threads_read_frame(
	    names_text(profile->names, name),
	    names_length(profile->names, name));
	struct thread thread = { .tid = frame.tid };

	if (frame.length > 0) {
		thread.name = arena_text(&profile->arena, frame.name,
		                         frame.length, error);
		if (thread.name == NULL)
			return NO_THREAD;
	}
	thread.process = collapsed_threads_find_process(profile, &frame,
	                                                thread.name, pids,
	                                                error);
	return error->is_set ? NO_THREAD :
	       profile_add_thread(profile, &thread, error);
}

/*
 * Moves the nodes below a root, which are [root + 1, end), to `to`, where they
 * are outermost; the root stays before them if stacks end there.  Returns the
 * next free place.
 */
static uint32_t
move_below(struct sample_tree *tree, uint32_t root, uint32_t end, uint32_t to)
{
	if (tree->row[root] != 0) {
		tree->parent[to] = NO_NODE;
		tree->end[to] = to + 1;
		tree->label[to] = tree->label[root];
		tree->row[to] = tree->row[root];
		to++;
	}
	for (uint32_t n = root + 1, down = n - to; n < end; n++, to++) {
		uint32_t parent = tree->parent[n];

		tree->parent[to] = parent == root ? NO_NODE : parent - down;
		tree->end[to] = tree->end[n] - down;
		tree->label[to] = tree->label[n];
		tree->row[to] = tree->row[n];
	}
	return to;
}

int
collapsed_take_threads(struct profile *profile, struct error *error)
{
	struct sample_tree *tree = profile->tree;
	struct names *pids = names_new(error);
	uint32_t to = 0;
	int result = pids != NULL ? 0 : -1;

	for (uint32_t root = 0, end; result == 0 && root < tree->n_nodes;
	     root = end) {
		uint32_t begin = to;
		uint32_t thread =
		    collapsed_threads_add_thread(profile, tree->label[root],
		                                 pids, error);

		end = tree->end[root];
		if (thread == NO_THREAD)
			result = -1;
		to = move_below(tree, root, end, to);
		if (result == 0 && to > begin &&
		    profile_add_section(profile, begin, to, thread, error) ==
		    UINT32_MAX)
			result = -1;
	}
	tree->n_nodes = to;
	if (tree->deepest > 1)
		tree->deepest--;
	names_free(pids);
	return result;
}
