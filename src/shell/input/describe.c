/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.c -- describes the session at the prompt. */
#include "src/shell/input/input.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/short_name.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/base/writer.h"
#include "src/shell/help/help_text.h"
#include "src/shell/terminal/terminal.h"

/* Most columns of a name in the prompt. */
enum { LONGEST = 30 };

static void
add_short(struct text_buffer *text, const char *name, size_t length)
{
	struct text_buffer whole = { 0 };

	text_add_printable(&whole, name, length);
	text_add_elided(text, whole.bytes, whole.length, LONGEST);
	text_free(&whole);
}

/* Adds the short name of the root without the scopes that it has no room for. */
static void
describe_add_root(struct text_buffer *text, const char *name, size_t length)
{
	struct name_parts parts = { 0 };
	struct text_buffer root = { 0 };
	struct error error = { 0 };
	size_t begin = 0;

	if (text_add_short_name(&root, &parts, name, length, &error) != 0 ||
	    name_parts_find(&parts, root.bytes, root.length, &error) != 0) {
		text->failed = true;
	} else {
		for (size_t k = 0; k < parts.n_scopes && printable_width(
		     root.bytes + begin, root.length - begin) > LONGEST; k++)
			begin = parts.scopes[k];
		text_add_string(text, begin > 0 ? ELLIPSIS : "");
		add_short(text, root.bytes + begin, root.length - begin);
	}
	name_parts_free(&parts);
	text_free(&root);
}

void
describe_prompt(const struct session *session, struct text_buffer *text)
{
	const struct subject *subject = session->subject;
	const struct resource *resource = session_resource(session);
	size_t n_steps;

	refinement_steps(&session->refinement, &n_steps);
	text_add_string(text, "(cpprof");
	if (subject->root != NO_NAME) {
		struct names *names = subject->profile->names;

		text_add_char(text, ' ');
		if (session_has_short_names(session, true))
			describe_add_root(text,
			                  names_text(names, subject->root),
			                  names_length(names, subject->root));
		else
			add_short(text, names_text(names, subject->root),
			          names_length(names, subject->root));
	}
	if (resource != NULL) {
		text_add_char(text, ' ');
		add_short(text, resource->name, strlen(resource->name));
	}
	if (n_steps > 0)
		text_add_format(text, ", %zu step%s", n_steps,
		                n_steps == 1 ? "" : "s");
	text_add_string(text, ") ");
}

static int
describe_add_line(void *context, const char *line, size_t length)
{
	text_add(context, line, length);
	text_add_char(context, '\n');
	return 0;
}

/*
 * Writes lines, wrapped between words on a terminal, unless the descriptor is
 * -1; frees them and returns how many they are.
 */
static size_t
write_text(struct text_buffer *text, int descriptor)
{
	struct text_buffer wrapped = { 0 };
	size_t columns = SIZE_MAX, lines, n_lines = 0;

	if (terminal_is_output())
		terminal_size(&columns, &lines);
	help_wrap(text_string(text), columns, describe_add_line, &wrapped);
	if (descriptor >= 0)
		write_to_descriptor(&descriptor, wrapped.bytes,
		                    wrapped.length);
	for (size_t i = 0; i < wrapped.length; i++)
		n_lines += wrapped.bytes[i] == '\n';
	text_free(&wrapped);
	text_free(text);
	return n_lines;
}

/* As hits_have_unit: recordings always say what samples stand for. */
static bool
describe_wants_amount(const struct resource *resource)
{
	long double size;

	return resource->source != NULL && unit_find(resource->gtick,
	    strlen(resource->gtick), &size, NULL) != UNIT_IS_OTHER;
}

/*
 * "614 samples of cpu, one per 4 ms"; of a recording, or where a sample stands
 * for several hits, what all of them have used, "614 samples of cpu, 4.32 s".
 * Of costs of calls, which are no samples, "16384 instructions of Ir".
 */
static void
describe_add_resource(const struct session *session, uint32_t number,
                      struct text_buffer *text)
{
	const struct subject *subject = session->subject;
	const struct resource *resource =
	    &subject->profile->resources[number];
	uint64_t samples;
	const uint64_t hits = profile_hits(subject->profile, number, &samples);
	const bool is_cost = subject->profile->graph != NULL &&
	                     resource->interval == 1;

	if (is_cost)
		text_add_total_gticks(text, hits, 1, resource->gtick);
	else
		text_add_format(text, "%" PRIu64 " sample%s", samples,
		                samples == 1 ? "" : "s");
	/* "614 samples of samples" would say it twice. */
	if (strcmp(resource->name, "samples") != 0) {
		text_add_string(text, " of ");
		text_add_printable(text, resource->name,
		                   strlen(resource->name));
	}
	if (is_cost || resource->gtick[0] == '\0' ||
	    strcmp(resource->gtick, "sample") == 0)
		return;
	if (hits == samples && !describe_wants_amount(resource)) {
		text_add_string(text, ", one per ");
		text_add_interval(text, resource->interval, resource->gtick);
	} else {
		text_add_string(text, ", ");
		text_add_total_gticks(text, hits, resource->interval,
		                      resource->gtick);
	}
}

/* What follows the unit of the processor: "cycles/P" of "cpu_core/cycles/P". */
static const char *
describe_event(const struct resource *resource)
{
	const char *slash = strchr(resource->name, '/');

	return strncmp(resource->name, "cpu_", 4) == 0 && slash != NULL ?
	    slash + 1 : NULL;
}

/*
 * Where there are cores of two kinds, each counts an event in a resource of its
 * own: what share of all this one holds, if it holds most.
 */
static void
describe_add_share(const struct profile *profile, uint32_t number,
                   struct text_buffer *text)
{
	const char *event = describe_event(&profile->resources[number]);
	double hits, of = 0;
	uint64_t samples;
	bool is_most = event != NULL;

	hits = (double)profile_hits(profile, number, &samples);
	for (uint32_t i = 0; is_most && i < profile->n_resources; i++) {
		const char *other = describe_event(&profile->resources[i]);
		double others;

		if (other == NULL || strcmp(other, event) != 0)
			continue;
		others = (double)profile_hits(profile, i, &samples);
		of += others;
		is_most = i == number || others < hits;
	}
	if (is_most && of > hits)
		text_add_format(text, " (%.0f%% of all kinds of cores)",
		                100 * hits / of);
}

/*
 * Adds what share of the current resource the kernel has: by its frames or, of
 * cpu where these are unknown, by its ticks.
 */
static void
describe_add_kernel(const struct session *session, struct text_buffer *text)
{
	const struct profile *profile = session->subject->profile;
	const uint32_t number = session->subject->resource;
	const struct count_kind *kind = profile->resources[number].kind;
	struct error ignored = { 0 };
	uint64_t samples, of = profile_hits(profile, number, &samples), hits;

	if (profile->tree == NULL || of == 0 ||
	    hidden_kernel_hits(profile, number, &hits, &ignored) != 0)
		return;
	for (uint32_t i = 0; hits == 0 && i < profile->n_tallies &&
	     kind != NULL && kind->is_cpu_time; i++)
		if (strcmp(profile->tallies[i].what, TALLY_KERNEL_TICKS) == 0)
			hits = profile->tallies[i].count;
	if (hits == 0 || hits > of)
		return;
	text_add_string(text, ", ");
	text_add_rough_percent(text, (double)hits / (double)of);
	text_add_string(text, " in the kernel");
}

/* Names all resources, the current one first. */
static void
add_profile(const struct session *session, struct text_buffer *text)
{
	const struct subject *subject = session->subject;
	const struct profile *profile = subject->profile;
	const struct process *process = session_first_process(session);
	const char *program = process != NULL ? process->program : NULL;
	struct error ignored = { 0 };

	if (program == NULL)
		program = session->files[0];
	text_add_printable(text, program, strlen(program));
	text_add_string(text, ": ");
	describe_add_resource(session, subject->resource, text);
	describe_add_share(profile, subject->resource, text);
	describe_add_kernel(session, text);
	runs_add_values((const char *const *)session->files, session->n_files,
	                profile, subject->resource, text, &ignored);
	for (uint32_t i = 0; i < profile->n_resources; i++) {
		if (i == subject->resource)
			continue;
		text_add_string(text, "; ");
		describe_add_resource(session, i, text);
		describe_add_share(profile, i, text);
	}
	if (profile_is_growing(profile))
		text_add_string(text, "; still running, try reload");
	text_add_char(text, '\n');
}

/* Says what to type for names that the profile lacks. */
static void
describe_add_hint(const struct session *session, struct text_buffer *text)
{
	if (session->debug_files.hint == NULL)
		return;
	text_add_string(text, session->debug_files.hint);
	text_add_char(text, '\n');
}

size_t
describe_profile(const struct session *session, int descriptor)
{
	struct text_buffer text = { 0 };

	add_profile(session, &text);
	describe_add_hint(session, &text);
	return write_text(&text, descriptor);
}

size_t
describe_welcome(const struct session *session, int descriptor)
{
	struct text_buffer text = { 0 };

	text_add_string(&text, "cpprof " PACKAGE_VERSION
	                ", an interactive call path profiler\n");
	if (session->subject->profile != NULL)
		add_profile(session, &text);
	else
		text_add_string(&text, "No profile yet: load FILE opens one, "
		                "record PROG makes one.\n");
	describe_add_hint(session, &text);
	return write_text(&text, descriptor);
}

size_t
describe_commands(int descriptor)
{
	struct text_buffer text = { 0 };

	text_add_string(&text, "Try top, functions, root FUNCTION, up, down; help "
	                "lists all commands, quit leaves.\n");
	return write_text(&text, descriptor);
}
