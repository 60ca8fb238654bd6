/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_arguments.c -- what tells the processes of one program apart.
 *
 * A build runs a compiler hundreds of times, with the same dozens of options
 * and another file. So a word that all processes of a program have in their
 * command lines is left out; what is left distinguishes them:
 *
 *	cc1 -quiet -O2 a.c -o /tmp/1.s		a.c /tmp/1.s
 *	cc1 -quiet -O2 b.c -o /tmp/2.s		b.c /tmp/2.s
 *
 * Of a program that ran once, all arguments are left. Cost: O(bytes of the
 * command lines).
 */
#include "src/views/lists/lists.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/profile/sections.h"

enum { ARGUMENTS_SHOWN = 200 };		/* bytes of a process */

/* A word of a program's command lines; also the program itself. */
struct argument_word {
	uint32_t n_processes;
	uint32_t last;		/* the last of these, + 1 */
};

struct argument_words {
	struct names *names;	/* pairs of program and word; a program is one
				 * with no word */
	struct argument_word *items;	/* [n] by their numbers */
	size_t n, capacity;
};

/* The next word of a command line; false: there is none. */
static bool
argument_next(const char **at, const char **word, size_t *n)
{
	*word = *at + strspn(*at, " ");
	*n = strcspn(*word, " ");
	*at = *word + *n;
	return *n > 0;
}

/* Counts a process for a word, once. */
static int
argument_count(struct argument_words *words, const char *program,
               const char *word, size_t n, uint32_t process,
               struct error *error)
{
	const uint32_t number = names_add_pair(words->names, program,
	    strlen(program), word, n, error);
	struct argument_word *item;

	if (number == NO_NAME ||
	    memory_grow(&words->items, &words->capacity, (size_t)number + 1,
	                sizeof *words->items, error) != 0)
		return -1;
	item = &words->items[number];
	if (number == words->n) {
		*item = (struct argument_word){ 0 };
		words->n++;
	}
	if (item->last != process + 1)
		item->n_processes++;
	item->last = process + 1;
	return 0;
}

static int
argument_count_process(struct argument_words *words,
                       const struct profile *profile, uint32_t process,
                       struct error *error)
{
	const char *at = profile->processes[process].command, *word;
	const char *program = process_title(profile, process);
	size_t n;

	if (at == NULL || !argument_next(&at, &word, &n))
		return 0;
	if (argument_count(words, program, "", 0, process, error) != 0)
		return -1;
	while (argument_next(&at, &word, &n))
		if (argument_count(words, program, word, n, process, error) !=
		    0)
			return -1;
	return 0;
}

static uint32_t
argument_n_processes(const struct argument_words *words,
                     const char *program, const char *word, size_t n)
{
	return words->items[names_find_pair(words->names, program,
	    strlen(program), word, n)].n_processes;
}

/* Cuts what is longer than is shown, between characters. */
static void
argument_cut(struct text_buffer *text)
{
	size_t n = ARGUMENTS_SHOWN;

	if (text->length <= n)
		return;
	while (n > 0 && (text->bytes[n] & 0xc0) == 0x80)
		n--;
	text->length = n;
	text_add_string(text, ELLIPSIS);
}

static const char *
argument_texts_of(const struct argument_words *words,
                  const struct profile *profile, uint32_t process,
                  struct arena *arena, struct error *error)
{
	const char *at = profile->processes[process].command, *word, *kept;
	const char *program = process_title(profile, process);
	struct text_buffer text = { 0 };
	uint32_t all;
	size_t n;

	if (at == NULL || !argument_next(&at, &word, &n))
		return "";
	all = argument_n_processes(words, program, "", 0);
	while (text.length <= ARGUMENTS_SHOWN &&
	       argument_next(&at, &word, &n)) {
		if (all > 1 &&
		    argument_n_processes(words, program, word, n) == all)
			continue;
		text_add_string(&text, text.length > 0 ? " " : "");
		text_add(&text, word, n);
	}
	argument_cut(&text);
	kept = text.failed ? NULL :
	    arena_text(arena, text_string(&text), text.length, error);
	if (text.failed)
		error_out_of_memory(error);
	text_free(&text);
	return kept;
}

const char **
process_arguments_find(const struct profile *profile, struct arena *arena,
                       struct error *error)
{
	struct argument_words words = { .names = names_new(error) };
	const char **arguments = memory_array(profile->n_processes,
	                                      sizeof *arguments, error);

	for (uint32_t i = 0; !error->is_set && i < profile->n_processes; i++)
		argument_count_process(&words, profile, i, error);
	for (uint32_t i = 0; !error->is_set && i < profile->n_processes; i++)
		arguments[i] = argument_texts_of(&words, profile, i, arena,
		                                 error);
	names_free(words.names);
	free(words.items);
	if (!error->is_set)
		return arguments;
	free(arguments);
	return NULL;
}
