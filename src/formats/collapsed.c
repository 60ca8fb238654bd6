/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed.c -- collapsed stacks, one a line.
 *
 * `main;read db;parse 12`: names outermost first, a blank, a count.  Header
 * lines may come first (doc/manual.md has the grammar).  A line shares its
 * outermost frames with the line before it wherever their texts agree, so
 * that in sorted input only the ends of lines are looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/format.h"

enum {
	MAX_LINE = 256 << 20,
	MAX_RESOURCES = 256,
};

static const char expected_stack[] =
    "expected names joined by ';', a blank and a count";

struct reader {
	struct source *source;
	const struct read_options *options;
	struct profile *profile;
	struct tree_builder *builder;	/* NULL until the first stack */
	struct process process;		/* texts are the profile's */
	bool has_process;

	uint64_t line_number;
	uint64_t n_skipped;		/* lines, when lenient */
	struct error first_skipped;

	/*
	 * The last stack that was entered: frame i ends with the ';' before
	 * offset frame_end[i] of its line, and is node[i] of the builder.
	 */
	size_t line_length;
	uint32_t depth;
	size_t *frame_end;
	uint32_t *node;
	size_t frame_end_capacity, node_capacity;

	uint64_t *counts;		/* [n_resources], of this line */
};

/* Sets an error at the line that is read; returns -1. */
static int
fail_line(const struct reader *reader, struct error *error, const char *what)
{
	return error_set(error, "%s:%llu: %s", source_name(reader->source),
	                 (unsigned long long)reader->line_number, what);
}

/* ---- header ---- */

/* The text behind the key when the line is "# KEY: text", or NULL. */
static const char *
header_value(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, "# ", 2) != 0 ||
	    strncmp(line + 2, key, length) != 0 || line[2 + length] != ':')
		return NULL;
	line += 2 + length + 1;
	return line + strspn(line, " ");
}

/* Digits up to end; false when there are none, others, or too many. */
static bool
parse_count(const char *text, const char *end, uint64_t *count)
{
	uint64_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return false;
	}
	*count = value;
	return true;
}

/* The attributes behind a resource's name: "gtick=UNIT; interval=N". */
static int
read_attributes(const struct reader *reader, char *text, const char **gtick,
                uint64_t *interval, struct error *error)
{
	char *rest, *attribute;

	for (attribute = strtok_r(text, ";", &rest); attribute != NULL;
	     attribute = strtok_r(NULL, ";", &rest)) {
		attribute += strspn(attribute, " ");
		if (strncmp(attribute, "gtick=", 6) == 0)
			*gtick = attribute + 6;
		if (strncmp(attribute, "interval=", 9) != 0)
			continue;
		attribute += 9;
		if (!parse_count(attribute, attribute + strlen(attribute),
		                 interval) || *interval == 0)
			return fail_line(reader, error,
			                 "expected interval=N, N a whole "
			                 "number of at least 1");
	}
	return 0;
}

static int
read_resource(struct reader *reader, char *text, struct error *error)
{
	struct profile *profile = reader->profile;
	const char *gtick = "";
	uint64_t interval = 1;
	char *attributes = strchr(text, ';');

	if (attributes != NULL) {
		*attributes++ = '\0';
		if (read_attributes(reader, attributes, &gtick, &interval,
		                    error) != 0)
			return -1;
	}
	if (*text == '\0')
		return fail_line(reader, error,
		                 "expected # resource: NAME; gtick=UNIT; "
		                 "interval=N");
	if (profile->n_resources == MAX_RESOURCES)
		return fail_line(reader, error, "more than 256 resources");
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (strcmp(profile->resources[r].name, text) == 0)
			return fail_line(reader, error,
			                 "a second resource of this name");
	return profile_add_resource(profile, text, gtick, interval, error) !=
	       UINT32_MAX ? 0 : -1;
}

static int
read_version(const struct reader *reader, const char *line,
             struct error *error)
{
	if (strncmp(line, "# cpprof ", 9) == 0 && strcmp(line + 9, "1") != 0)
		return fail_line(reader, error, "expected # cpprof 1");
	return 0;
}

/* Keeps what names the process; what it does not know is a comment. */
static int
read_process(struct reader *reader, const char *line, struct error *error)
{
	static const char *const keys[] = { "program", "command", "host" };
	const char **texts[] = { &reader->process.program,
		                 &reader->process.command,
		                 &reader->process.host };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *value = header_value(line, keys[i]);

		if (value == NULL)
			continue;
		reader->has_process = true;
		*texts[i] = arena_text(&reader->profile->arena, value,
		                       strlen(value), error);
		if (*texts[i] == NULL)
			return -1;
	}
	return 0;
}

static int
read_header(struct reader *reader, const char *text, size_t length,
            struct error *error)
{
	char *line = arena_text(&reader->profile->arena, text, length, error);
	const char *resource;

	if (line == NULL)
		return -1;
	if (strlen(line) != length)
		return fail_line(reader, error, "a NUL byte");
	resource = header_value(line, "resource");
	if (resource != NULL)
		return read_resource(reader, line + (resource - line), error);
	if (read_version(reader, line, error) != 0)
		return -1;
	return read_process(reader, line, error);
}

/* The header is over: resources are known. */
static int
begin_stacks(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;

	if (profile->n_resources == 0 &&
	    profile_add_resource(profile, "samples", "sample", 1, error) ==
	    UINT32_MAX)
		return -1;
	if (reader->has_process &&
	    profile_add_process(profile, &reader->process, error) ==
	    UINT32_MAX)
		return -1;
	reader->counts = memory_array(profile->n_resources,
	                              sizeof *reader->counts, error);
	if (reader->counts == NULL)
		return -1;
	reader->builder = tree_builder_new(profile->n_resources, error);
	return reader->builder != NULL ? 0 : -1;
}

/* ---- stacks ---- */

/*
 * Reads the counts at the end of the line into reader->counts; the length of
 * the stack before them, or 0 with *error set.
 */
static size_t
read_counts(struct reader *reader, const char *line, size_t length,
            struct error *error)
{
	for (uint32_t r = reader->profile->n_resources; r-- > 0;) {
		const char *blank = memrchr(line, ' ', length);

		if (blank == NULL) {
			fail_line(reader, error, expected_stack);
			return 0;
		}
		if (!parse_count(blank + 1, line + length,
		                 &reader->counts[r])) {
			fail_line(reader, error, "expected a whole number "
			          "below 2^64 behind the last blank");
			return 0;
		}
		length = (size_t)(blank - line);
	}
	if (length == 0)
		fail_line(reader, error, expected_stack);
	return length;
}

/* How many bytes two texts begin with in common, at most n. */
static size_t
common_prefix(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	while (i + 8 <= n) {
		uint64_t x, y;

		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			break;
		i += 8;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* Forgets the frames of the last stack that this line does not begin with. */
static void
keep_common_frames(struct reader *reader, const char *last, const char *line,
                   size_t length)
{
	size_t n = length < reader->line_length ? length :
	           reader->line_length;
	size_t common = reader->depth > 0 ? common_prefix(last, line, n) : 0;

	while (reader->depth > 0 &&
	       reader->frame_end[reader->depth - 1] > common)
		reader->depth--;
}

static uint32_t
name_frame(struct reader *reader, const char *name, size_t length,
           struct error *error)
{
	struct profile *profile = reader->profile;
	uint32_t number = names_add(profile->names, name, length, error);

	/* Frame i is name i, so that no tree of names need be made. */
	if (number == profile->n_frames &&
	    profile_add_named_frame(profile, number, error) == UINT32_MAX)
		return NO_NAME;
	return number;
}

static int
push_frame(struct reader *reader, size_t end, uint32_t node,
           struct error *error)
{
	uint32_t depth = reader->depth;

	if (memory_grow(&reader->frame_end, &reader->frame_end_capacity,
	                (size_t)depth + 1, sizeof *reader->frame_end,
	                error) != 0 ||
	    memory_grow(&reader->node, &reader->node_capacity,
	                (size_t)depth + 1, sizeof *reader->node, error) != 0)
		return -1;
	reader->frame_end[depth] = end;
	reader->node[depth] = node;
	reader->depth++;
	return 0;
}

static int
check_frames(struct reader *reader, const char *stack, size_t length,
             struct error *error)
{
	bool is_empty = length == 0 || stack[0] == ';' ||
	                stack[length - 1] == ';' ||
	                memmem(stack, length, ";;", 2) != NULL;

	if (is_empty)
		return fail_line(reader, error, "an empty name in the stack");
	if (memchr(stack, '\0', length) != NULL)
		return fail_line(reader, error, "a NUL byte");
	return 0;
}

/* Enters line[0..length), whose frames in common are on the reader's stack. */
static int
enter_frames(struct reader *reader, const char *line, size_t length,
             struct error *error)
{
	size_t at = 0;

	if (reader->depth > 0)
		at = reader->frame_end[reader->depth - 1];
	while (at < length) {
		const char *end = memchr(line + at, ';', length - at);
		size_t stop = end != NULL ? (size_t)(end - line) : length;
		uint32_t above = NO_NODE, node, name;

		if (reader->depth > 0)
			above = reader->node[reader->depth - 1];
		name = name_frame(reader, line + at, stop - at, error);
		if (name == NO_NAME)
			return -1;
		node = tree_builder_child(reader->builder, above, name, error);
		if (node == NO_NODE ||
		    push_frame(reader, stop + 1, node, error) != 0)
			return -1;
		at = stop + 1;
	}
	return 0;
}

static int
add_counts(struct reader *reader, struct error *error)
{
	uint32_t node = reader->node[reader->depth - 1];

	for (uint32_t r = 0; r < reader->profile->n_resources; r++) {
		struct error sum = { 0 };

		if (reader->counts[r] != 0 &&
		    tree_builder_add(reader->builder, node, r,
		                     reader->counts[r], reader->counts[r],
		                     &sum) != 0)
			return fail_line(reader, error, sum.text);
	}
	return 0;
}

/* 1: a stack was entered; 0: a malformed line, *malformed set; -1: *error. */
static int
read_stack(struct reader *reader, const char *last, const char *line,
           size_t length, struct error *malformed, struct error *error)
{
	size_t stack_length = read_counts(reader, line, length, malformed);

	if (stack_length == 0 ||
	    check_frames(reader, line, stack_length, malformed) != 0)
		return 0;
	keep_common_frames(reader, last, line, stack_length);
	reader->line_length = stack_length;
	if (enter_frames(reader, line, stack_length, error) != 0 ||
	    add_counts(reader, error) != 0)
		return -1;
	return 1;
}

/* ---- lines ---- */

/* A line that fits no rule: skipped when lenient, else the load's error. */
static int
reject_line(struct reader *reader, const struct error *malformed,
            struct error *error)
{
	if (!reader->options->lenient)
		return error_set(error, "%s", malformed->text);
	if (reader->n_skipped++ == 0)
		reader->first_skipped = *malformed;
	return 0;
}

/*
 * One line without its end.  *last is the line before it if that was entered
 * as a stack, else NULL; then this one.  0, or -1 with *malformed or *error
 * set.
 */
static int
read_line(struct reader *reader, const char **last, const char *line,
          size_t length, struct error *malformed, struct error *error)
{
	const char *before = *last;
	int entered;

	*last = NULL;
	if (before == NULL)
		reader->depth = 0;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return 0;
	if (reader->builder == NULL) {
		if (line[0] == '#')
			return read_header(reader, line, length, error);
		if (begin_stacks(reader, error) != 0)
			return -1;
	}
	entered = read_stack(reader, before, line, length, malformed, error);
	if (entered == 1)
		*last = line;
	return entered == 1 ? 0 : -1;
}

/*
 * The whole lines among size bytes.  *last as above.  The number of bytes
 * that they take, or -1 with *error set.
 */
static ssize_t
read_lines(struct reader *reader, const char **last, const char *bytes,
           size_t size, struct error *error)
{
	const char *line = bytes, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		struct error malformed = { 0 };

		reader->line_number++;
		if (read_line(reader, last, line, (size_t)(end - line),
		              &malformed, error) != 0 &&
		    (error->is_set ||
		     reject_line(reader, &malformed, error) != 0))
			return -1;
		line = end + 1;
	}
	return line - bytes;
}

/*
 * What stands behind the last end of line.  It may have been cut anywhere:
 * in packed input that was cut it is not believed, else if it makes sense.
 */
static int
read_last_line(struct reader *reader, const char *last, const char *line,
               size_t length, struct error *error)
{
	struct error malformed = { 0 };
	bool is_cut = source_is_truncated(reader->source);

	if (!is_cut && length == 0)
		return 0;
	reader->line_number++;
	if (!is_cut && read_line(reader, &last, line, length, &malformed,
	                         error) == 0)
		return 0;
	if (error->is_set)
		return -1;
	if (reader->builder == NULL || tree_builder_count(reader->builder) == 0)
		return malformed.is_set ?
		       error_set(error, "%s", malformed.text) : 0;
	return profile_warn(reader->profile, error, "%s:%llu: the input is "
	                    "cut off here; what came before was read",
	                    source_name(reader->source),
	                    (unsigned long long)reader->line_number);
}

/*
 * Lines from bytes[size], of which the first *kept are the last stack's line.
 * What can be done without is skipped; *kept and *wanted are set for the next
 * look at the source.
 */
static int
read_block(struct reader *reader, const char *bytes, size_t size,
           size_t *kept, size_t *wanted, struct error *error)
{
	const char *last = *kept > 0 ? bytes : NULL;
	ssize_t taken = read_lines(reader, &last, bytes + *kept, size - *kept,
	                           error);
	const char *next = bytes + *kept + taken;
	size_t left = size - *kept - (size_t)taken;

	if (taken < 0)
		return -1;
	if (left > MAX_LINE) {
		reader->line_number++;
		return fail_line(reader, error,
		                 "a line longer than 256 MiB");
	}
	*kept = last != NULL ? (size_t)(next - last) : 0;
	*wanted = *kept + 2 * left + 1;
	source_skip(reader->source, (size_t)(next - bytes) - *kept);
	return progress_step(reader->options->progress,
	                     source_done(reader->source),
	                     source_size(reader->source), error);
}

static int
read_source(struct reader *reader, struct error *error)
{
	size_t kept = 0, wanted = 1, size;
	const char *bytes;

	while ((bytes = source_peek(reader->source, wanted, &size, error))) {
		bool is_end = size < wanted;

		if (read_block(reader, bytes, size, &kept, &wanted,
		               error) != 0)
			return -1;
		if (!is_end)
			continue;
		/* Looked at only, so still in place. */
		bytes = source_peek(reader->source, 0, &size, error);
		if (bytes == NULL ||
		    read_last_line(reader, kept > 0 ? bytes : NULL,
		                   bytes + kept, size - kept, error) != 0)
			return -1;
		source_skip(reader->source, size);
		if (source_peek(reader->source, 1, &size, error) == NULL)
			return -1;
		return 0;
	}
	return -1;
}

static int
finish_profile(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;

	if (reader->n_skipped > 0 &&
	    profile_warn(profile, error, "%s: %llu lines skipped, the first: "
	                 "%s", source_name(reader->source),
	                 (unsigned long long)reader->n_skipped,
	                 reader->first_skipped.text) != 0)
		return -1;
	if (reader->builder == NULL || tree_builder_count(reader->builder) == 0)
		return error_set(error, "%s: no stacks in it",
		                 source_name(reader->source));
	profile->tree = tree_builder_finish(reader->builder, NULL, error);
	return profile->tree != NULL ? 0 : -1;
}

static struct profile *
collapsed_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct reader reader = { .source = source, .options = options };
	struct profile *profile = NULL;

	reader.profile = profile_new(error);
	if (reader.profile != NULL && read_source(&reader, error) == 0 &&
	    finish_profile(&reader, error) == 0) {
		profile = reader.profile;
		reader.profile = NULL;
	}
	tree_builder_free(reader.builder);
	profile_free(reader.profile);
	free(reader.frame_end);
	free(reader.node);
	free(reader.counts);
	return profile;
}

/* ---- probe ---- */

/* The first line that is neither blank nor begins with '#', or NULL. */
static const char *
first_stack(const char *head, size_t size, size_t *length)
{
	const char *end = head + size;

	while (head < end) {
		const char *stop = memchr(head, '\n', (size_t)(end - head));

		if (stop == NULL)
			stop = end;
		*length = (size_t)(stop - head);
		if (*length > 0 && head[*length - 1] == '\r')
			--*length;
		if (*length > 0 && head[0] != '#')
			return head;
		head = stop + 1;
	}
	return NULL;
}

static bool
is_text(const char *head, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)head[i] < ' ' && head[i] != '\t' &&
		    head[i] != '\n' && head[i] != '\r' && head[i] != '\033')
			return false;
	return true;
}

static int
collapsed_probe(const void *head, size_t size)
{
	const char *stack, *blank;
	size_t length;
	uint64_t count;

	if (size >= 10 && memcmp(head, "# cpprof 1", 10) == 0)
		return PROBE_SURE;
	stack = first_stack(head, size, &length);
	if (stack != NULL && memchr(stack, '\0', length) == NULL) {
		blank = memrchr(stack, ' ', length);
		if (blank != NULL && blank > stack &&
		    parse_count(blank + 1, stack + length, &count))
			return PROBE_SURE;
	}
	return is_text(head, size) ? PROBE_MAYBE : PROBE_NO;
}

const struct format format_collapsed = {
	.name = "collapsed stacks",
	.summary = "collapsed stacks, one a line, perhaps with a header",
	.probe = collapsed_probe,
	.read = collapsed_read,
};
