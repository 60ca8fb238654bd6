/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_header.c -- the header of collapsed stacks. */
#include "src/formats/collapsed/collapsed.h"

#include <inttypes.h>
#include <string.h>

enum { TWO_COUNTS_SOUGHT = 32 << 10 };

bool
collapsed_parse_count(const char *text, const char *end, uint64_t *count)
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

bool
collapsed_parse_decimal(const char *text, const char *end, uint64_t *count,
                        double *fraction)
{
	const char *point = memchr(text, '.', (size_t)(end - text));
	double place = 0.1;

	if (!collapsed_parse_count(text, point != NULL ? point : end, count))
		return false;
	*fraction = 0;
	while (point != NULL && ++point < end) {
		unsigned digit = (unsigned)(*point - '0');

		if (digit > 9)
			return false;
		*fraction += digit * place;
		place /= 10;
	}
	return true;
}

const char *
collapsed_find_blank(const char *text, size_t length)
{
	while (length-- > 0)
		if (text[length] == ' ' || text[length] == '\t')
			return text + length;
	return NULL;
}

/* The text after the key if the line is "# KEY: text", otherwise NULL. */
static char *
header_value(char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, "# ", 2) != 0 ||
	    strncmp(line + 2, key, length) != 0 || line[2 + length] != ':')
		return NULL;
	line += 2 + length + 1;
	return line + strspn(line, " ");
}

/* Reads the text after a resource's name: "gtick=UNIT; interval=N". */
static int
read_attributes(char *text, const char **gtick, uint64_t *interval,
                struct error *error)
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
		if (!collapsed_parse_count(attribute,
		                           attribute + strlen(attribute),
		                           interval) || *interval == 0)
			return error_set(error, "expected interval=N, N a "
			                 "whole number of at least 1");
	}
	return 0;
}

static int
collapsed_header_read_resource(struct profile *profile, char *text,
                               struct error *error)
{
	const char *gtick = "";
	uint64_t interval = 1;
	char *attributes = strchr(text, ';');
	uint32_t resource;

	if (attributes != NULL) {
		*attributes++ = '\0';
		if (read_attributes(attributes, &gtick, &interval, error) != 0)
			return -1;
	}
	if (*text == '\0')
		return error_set(error, "expected # resource: NAME; "
		                 "gtick=UNIT; interval=N");
	if (profile_find_resource(profile, text) != NO_RESOURCE)
		return error_set(error, "a second resource %s", text);
	resource = profile_add_resource(profile, text, gtick, interval, error);
	if (resource == UINT32_MAX)
		return -1;
	/* With an interval of 1, an export from any format looks alike. */
	if (interval > 1)
		profile->resources[resource].counting = COUNTING_SAMPLED;
	return 0;
}

int
collapsed_header_line(struct collapsed_header *header,
                      struct profile *profile, const char *text,
                      size_t length, struct error *error)
{
	char *line = arena_text(&profile->arena, text, length, error);
	struct process *process = &header->process;
	char *value;

	if (line == NULL)
		return -1;
	if (strlen(line) != length)
		return error_set(error, "a NUL byte");
	if (strncmp(line, "# cpprof ", 9) == 0 && strcmp(line + 9, "1") != 0)
		return error_set(error, "expected # cpprof 1");
	if ((value = header_value(line, "resource")) != NULL)
		return collapsed_header_read_resource(profile, value, error);
	if ((value = header_value(line, "program")) != NULL)
		process->program = value;
	else if ((value = header_value(line, "command")) != NULL)
		process->command = value;
	else if ((value = header_value(line, "host")) != NULL)
		process->host = value;
	header->has_process |= value != NULL;
	return 0;
}

/*
 * Drops a blank and a number at the end; returns whether there was more than
 * these.
 */
static bool
drop_count(const char *line, size_t *length)
{
	const char *blank = collapsed_find_blank(line, *length);
	uint64_t count;
	double fraction;

	if (blank == NULL || blank == line ||
	    !collapsed_parse_decimal(blank + 1, line + *length, &count,
	                             &fraction))
		return false;
	*length = (size_t)(blank - line);
	return true;
}

bool
collapsed_has_count(const char *line, size_t length)
{
	return drop_count(line, &length);
}

/*
 * Whether there are stacks, all with two counts.  The amount of a pipe that is
 * buffered must not make a difference, so no more is inspected than is always
 * available.
 */
static bool
have_two_counts(const char *stacks, size_t size)
{
	const char *line = stacks, *end;
	bool is_any = false;

	if (size > TWO_COUNTS_SOUGHT)
		size = TWO_COUNTS_SOUGHT;
	while ((end = memchr(line, '\n', size - (size_t)(line - stacks)))) {
		size_t length = (size_t)(end - line);

		if (length > 0 && line[length - 1] == '\r')
			length--;
		if (length > 0 && !collapsed_is_comment(line, length)) {
			if (!drop_count(line, &length) ||
			    !drop_count(line, &length))
				return false;
			is_any = true;
		}
		line = end + 1;
	}
	return is_any;
}

static int
collapsed_header_add_resource(struct profile *profile, const char *name,
                              struct error *error)
{
	return profile_add_resource(profile, name, "sample", 1, error) !=
	       UINT32_MAX ? 0 : -1;
}

int
collapsed_header_end(const struct collapsed_header *header,
                     struct profile *profile, const char *name,
                     const char *stacks, size_t size, struct error *error)
{
	if (header->has_process &&
	    profile_add_process(profile, &header->process, error) ==
	    UINT32_MAX)
		return -1;
	if (profile->n_resources > 0)
		return 0;
	if (!have_two_counts(stacks, size))
		return collapsed_header_add_resource(profile, "samples", error);
	if (collapsed_header_add_resource(profile, "before", error) != 0 ||
	    collapsed_header_add_resource(profile, "after", error) != 0)
		return -1;
	return profile_warn(profile, error, "%s: two profiles in one, as "
	                    "written by difffolded.pl and "
	                    "inferno-diff-folded; shown as the resources before and after",
	                    name);
}

/* ---- writing ---- */

/*
 * Adds a text to the header, up to a character that would end it; returns
 * whether it is unchanged.
 */
static bool
add_header_text(struct text_buffer *header, const char *text,
                const char *stops)
{
	bool is_whole = true;

	for (; *text != '\0'; text++) {
		bool is_stop = ((unsigned char)*text < ' ' && *text != '\t') ||
		    strchr(stops, *text) != NULL;

		text_add_char(header, is_stop ? '?' : *text);
		is_whole &= !is_stop;
	}
	return is_whole;
}

/*
 * Adds a resource's line up to the ';' after its name.  Blanks before the name
 * would be skipped, and a second resource of the same name refused.
 */
static bool
add_resource_name(struct text_buffer *header, const struct profile *profile,
                  uint32_t r)
{
	const char *name = profile->resources[r].name;
	size_t begin = header->length, n_blanks = strspn(name, " ");
	bool is_whole = n_blanks == 0;

	text_add_string(header, "\n# resource: ");
	for (size_t i = 0; i < n_blanks; i++)
		text_add_char(header, '_');
	is_whole &= add_header_text(header, name + n_blanks, ";");
	text_add_char(header, ';');
	if (header->failed || memmem(header->bytes, begin,
	                             header->bytes + begin,
	                             header->length - begin) == NULL)
		return is_whole;
	header->length--;
	text_add_format(header, "-%" PRIu32 ";", r + 1);
	return false;
}

static void
add_process_text(struct text_buffer *header, const char *key, const char *text)
{
	if (text == NULL)
		return;
	text_add_format(header, "# %s: ", key);
	add_header_text(header, text, "");
	text_add_char(header, '\n');
}

uint32_t
collapsed_header_add(struct text_buffer *header, const struct profile *profile)
{
	uint32_t n_changed = 0;

	text_add_string(header, "# cpprof 1");
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];
		bool is_whole = add_resource_name(header, profile, r);

		text_add_string(header, " gtick=");
		is_whole &= add_header_text(header, resource->gtick, ";");
		text_add_format(header, "; interval=%" PRIu64,
		                resource->interval);
		n_changed += !is_whole;
	}
	text_add_char(header, '\n');
	if (profile->n_processes > 0) {
		const struct process *process = &profile->processes[0];

		add_process_text(header, "program", process->program);
		add_process_text(header, "command", process->command);
		add_process_text(header, "host", process->host);
	}
	return n_changed;
}
