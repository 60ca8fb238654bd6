/* SPDX-License-Identifier: GPL-3.0-or-later */
/* argument_kinds.c -- the kinds of argument that commands share. */
#include "src/shell/command/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/shell/command/resolve.h"
#include "src/shell/terminal/terminal.h"

/* How much of a word an error shows. */
enum { SHOWN = 60, MOST_DIGITS = 15 };

static bool
is_last(const struct reading *reading)
{
	return reading->argument[1].name == NULL;
}

static const char *
rest_of_line(const struct reading *reading, size_t *length)
{
	const struct words *words = reading->words;
	size_t begin = words->words[reading->at].begin;

	*length = words->words[words->n - 1].end - begin;
	return arena_text(&reading->arguments->arena, reading->line + begin,
	                  *length, reading->error);
}

/*
 * A function's name may be typed with its blanks and without bars if the rest
 * of the line is exactly that name.
 */
static bool
read_rest_as_function(struct reading *reading, struct word *word)
{
	size_t length;
	const char *text;

	if (!is_last(reading) ||
	    reading->words->n - reading->at < 2)
		return false;
	text = rest_of_line(reading, &length);
	if (text == NULL || !resolve_is_function(reading->session, text,
	                                         length))
		return false;
	*word = (struct word){ .text = text, .length = length };
	reading->at = reading->words->n;
	return true;
}

static struct word
read_function_word(struct reading *reading)
{
	struct word word;

	if (!read_rest_as_function(reading, &word))
		word = *reading_next_word(reading);
	return word;
}

static int
argument_kinds_read_functions(struct reading *reading, struct value *value)
{
	const struct word word = read_function_word(reading);

	value->text = word.text;
	value->names = resolve_functions(reading->session, &word,
	                                 &reading->arguments->arena,
	                                 &value->n_names, reading->error);
	return value->names == NULL ? -1 : 0;
}

static int
read_function(struct reading *reading, struct value *value)
{
	const struct word word = read_function_word(reading);
	uint32_t *name = arena_alloc(&reading->arguments->arena, sizeof *name,
	                             reading->error);

	if (name == NULL)
		return -1;
	value->text = word.text;
	value->names = name;
	value->n_names = 1;
	*name = resolve_function(reading->session, &word, reading->error);
	return *name == NO_NAME ? -1 : 0;
}

static int
argument_kinds_read_pattern(struct reading *reading, struct value *value)
{
	const struct word word = read_function_word(reading);

	value->text = word.text;
	value->pattern = resolve_pattern(reading->session, &word,
	                                 reading->error);
	return value->pattern == NULL ? -1 : 0;
}

/* Whether a name is the "..." that a view on a terminal shows for several. */
static bool
is_gap(const struct reading *reading, const struct pattern_word *word)
{
	return !word->is_exact && (strcmp(word->text, "...") == 0 ||
	                           strcmp(word->text, "…") == 0) &&
	    session_find_function(reading->session, word->text,
	                          word->length) == NO_NAME;
}

static int
read_path(struct reading *reading, struct value *value)
{
	size_t n;
	struct pattern_word *words = path_words_read(reading, &n);
	uint32_t *path;

	if (words == NULL)
		return -1;
	path = arena_alloc(&reading->arguments->arena, n * sizeof *path,
	                   reading->error);
	if (path == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct word word = { .text = words[i].text,
			.length = words[i].length,
			.is_quoted = words[i].is_exact };

		if (is_gap(reading, &words[i]))
			return error_set(reading->error, "%s stands for names "
			                 "that are left out, and this command "
			                 "needs all; narrow takes paths with "
			                 "... between", words[i].text);
		path[i] = resolve_function(reading->session, &word,
		                           reading->error);
		if (path[i] == NO_NAME)
			return -1;
	}
	value->names = path;
	value->n_names = n;
	return 0;
}

/* The last word of the path that words[i] opens, or SIZE_MAX. */
static size_t
end_of_parentheses(const struct words *words, size_t i)
{
	size_t depth = 0;

	for (; i < words->n; i++) {
		const struct word *word = &words->words[i];

		for (size_t at = 0; !word->is_quoted && at < word->length;
		     at++) {
			depth += word->text[at] == '(';
			if (word->text[at] == ')' && --depth == 0)
				return at + 1 == word->length ? i : SIZE_MAX;
		}
	}
	return SIZE_MAX;
}

/*
 * The last word of the path that begins at words[i], if it is a handle or in
 * parentheses; else SIZE_MAX.  The names that a handle stands for share its
 * place in the line.
 */
static size_t
end_of_path(const struct reading *reading, size_t i)
{
	const struct words *words = reading->words;
	const struct word *word = &words->words[i];

	if (!word->is_quoted)
		return word->length > 0 && word->text[0] == '(' ?
		       end_of_parentheses(words, i) : SIZE_MAX;
	if (reading->line[word->begin] != '%')
		return SIZE_MAX;
	while (i + 1 < words->n && words->words[i + 1].is_quoted &&
	       words->words[i + 1].begin == word->begin)
		i++;
	return i;
}

/* The number of paths that the words left are, 1 if they are not several. */
static size_t
argument_kinds_count_paths(const struct reading *reading)
{
	size_t n = 0;

	for (size_t i = reading->at; i < reading->words->n; n++) {
		size_t end = end_of_path(reading, i);

		if (end == SIZE_MAX)
			return 1;
		i = end + 1;
	}
	return n;
}

static int
read_paths(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	struct arena *arena = &reading->arguments->arena;
	size_t n = argument_kinds_count_paths(reading), n_names = 0;
	/* Each word is at most one name. */
	uint32_t *names = arena_alloc(arena, (words->n - reading->at) *
	                              sizeof *names, reading->error);
	size_t *ends = arena_alloc(arena, n * sizeof *ends, reading->error);

	if (names == NULL || ends == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct words part = *words;
		struct reading one = *reading;
		struct value path = { 0 };

		if (n > 1)
			part.n = end_of_path(reading, reading->at) + 1;
		one.words = &part;
		if (read_path(&one, &path) != 0)
			return -1;
		memcpy(names + n_names, path.names,
		       path.n_names * sizeof *names);
		n_names += path.n_names;
		ends[i] = n_names;
		reading->at = part.n;
	}
	value->names = names;
	value->n_names = n_names;
	value->path_ends = ends;
	value->n_paths = n;
	return 0;
}

/*
 * Whether a word is a pattern or "...".  Names between bars may be short: views
 * show them so.
 */
static bool
is_no_short_name(const struct pattern_word *word)
{
	return !word->is_exact && (strpbrk(word->text, "*?") != NULL ||
	    strchr("/@.", word->text[0]) != NULL);
}

/*
 * A step is to mean the same in other profiles, so a name that is short for one
 * function becomes that function's.
 */
static int
lengthen(struct reading *reading, struct pattern_word *word)
{
	const struct session *session = reading->session;
	const struct subject *subject = session->subject;
	uint32_t *found;
	enum name_reading how;
	size_t n;

	if (subject->profile == NULL || is_no_short_name(word) ||
	    session_find_function(session, word->text, word->length) !=
	    NO_NAME)
		return 0;
	found = resolve_short_names(session, word->text, word->length, &n,
	                            &how, reading->error);
	word->is_short = n > 1;
	word->reading = how;
	if (n == 1)
		*word = (struct pattern_word){
			.text = names_text(subject->profile->names, found[0]),
			.length = names_length(subject->profile->names,
			                       found[0]),
			.is_exact = true,
		};
	free(found);
	return reading->error->is_set ? -1 : 0;
}

static int
read_path_pattern(struct reading *reading, struct value *value)
{
	value->pattern_words = path_words_read(reading,
	                                       &value->n_pattern_words);
	for (size_t i = 0; value->pattern_words != NULL &&
	     i < value->n_pattern_words; i++)
		if (lengthen(reading, &value->pattern_words[i]) != 0)
			return -1;
	return value->pattern_words != NULL ? 0 : -1;
}

static void
argument_kinds_complete_functions(struct completion *completion,
                                  const struct session *session,
                                  const struct command *command)
{
	(void)command;
	resolve_offer_functions(session, session_has_short_names(session,
	                        terminal_is_output()), completion);
}

/* Offers a word made of two parts, unless a pattern would read it as another. */
static void
offer_pattern(struct completion *completion, const char *before,
              const char *text)
{
	const char *word;

	if (strpbrk(text, "*?[|") != NULL)
		return;
	word = arena_format(&completion->arena, &completion->error, "%s%s",
	                    before, text);
	if (word != NULL)
		completion_offer(completion, word, strlen(word));
}

/* Ready groups, and the modules whose functions have samples. */
static void
complete_modules(struct completion *completion, const struct profile *profile)
{
	bool *is_used = arena_alloc(&completion->arena, profile->n_modules + 1,
	                            &completion->error);
	const char *group;

	for (size_t i = 0; (group = frame_pattern_ready_group(i)) != NULL; i++)
		offer_pattern(completion, "@", group);
	if (is_used == NULL)
		return;
	memset(is_used, 0, profile->n_modules + 1);
	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (profile->frames[i].module != NO_MODULE)
			is_used[profile->frames[i].module] = true;
	for (uint32_t i = 0; i < profile->n_modules; i++)
		if (is_used[i])
			offer_pattern(completion, "@",
			              profile_module_name(profile, i));
}

/* Source files, by the last component of their paths. */
static void
complete_sources(struct completion *completion, const struct profile *profile)
{
	uint32_t n_names = names_count(profile->names);
	bool *is_offered = arena_alloc(&completion->arena, n_names,
	                               &completion->error);

	if (is_offered == NULL)
		return;
	memset(is_offered, 0, n_names);
	for (uint32_t i = 0; i < profile->n_locations; i++) {
		uint32_t file = profile->locations[i].file;

		if (file == NO_NAME || is_offered[file])
			continue;
		is_offered[file] = true;
		offer_pattern(completion, "file:", last_component(
		              names_text(profile->names, file)));
	}
}

/* What narrow, drop, group and members take besides functions. */
static void
complete_patterns(struct completion *completion,
                  const struct profile *profile)
{
	if (profile == NULL || completion->is_open)
		return;
	if (completion->prefix[0] == '@')
		complete_modules(completion, profile);
	else if (strncmp(completion->prefix, "file:", 5) == 0)
		complete_sources(completion, profile);
}

/* Also after the parenthesis that opens a path. */
static void
complete_path(struct completion *completion, const struct session *session,
              const struct command *command)
{
	if (!completion->is_open && completion->prefix[0] == '(') {
		completion->opens_path = true;
		completion->prefix++;
		completion->prefix_length--;
	}
	argument_kinds_complete_functions(completion, session, command);
}

static void
complete_path_pattern(struct completion *completion,
                      const struct session *session,
                      const struct command *command)
{
	complete_path(completion, session, command);
	complete_patterns(completion, session->subject->profile);
}

const struct argument_kind arg_function = {
	.read = read_function,
	.complete = argument_kinds_complete_functions,
	.handle = HANDLE_FUNCTION,
};

const struct argument_kind arg_functions = {
	.read = argument_kinds_read_functions,
	.complete = argument_kinds_complete_functions,
	.handle = HANDLE_FUNCTION,
};

const struct argument_kind arg_pattern = {
	.read = argument_kinds_read_pattern,
	.complete = argument_kinds_complete_functions,
	.handle = HANDLE_FUNCTION,
};

const struct argument_kind arg_path = {
	.read = read_path,
	.complete = complete_path,
	.takes_rest = true,
	.handle = HANDLE_PATH,
};

const struct argument_kind arg_paths = {
	.read = read_paths,
	.complete = complete_path,
	.takes_rest = true,
	.handle = HANDLE_PATH,
};

const struct argument_kind arg_path_pattern = {
	.read = read_path_pattern,
	.complete = complete_path_pattern,
	.handle = HANDLE_PATH,
	.takes_rest = true,
};

const struct argument_kind arg_frame_patterns = {
	.read = read_path_pattern,
	.complete = complete_path_pattern,
	.handle = HANDLE_FUNCTION,
	.takes_rest = true,
};

/* A plain decimal number, perhaps with a point and an exponent. */
static bool
parse_number(const char *text, double *number, const char **end)
{
	size_t n = strspn(text, "0123456789.eE+-");
	char *stop;

	if (n == 0 || strchr("0123456789.", text[0]) == NULL)
		return false;
	*number = strtod(text, &stop);
	*end = stop;
	return stop == text + n && isfinite(*number);
}

static int
read_fraction(struct reading *reading, struct value *value)
{
	const char *end;
	double number;

	value->text = reading_next_word(reading)->text;
	if (!parse_number(value->text, &number, &end) ||
	    (end[0] != '\0' && strcmp(end, "%") != 0))
		return error_set(reading->error, "%.*s: expected a fraction, "
		                 "such as 0.01 or 1%%", SHOWN, value->text);
	if (*end == '\0' && number >= 1)
		return error_set(reading->error, "%.*s is not below 1: write "
		                 "%.*s%% or %.15g", SHOWN, value->text, SHOWN,
		                 value->text, number / 100);
	value->fraction = *end == '%' ? number / 100 : number;
	if (value->fraction > 1)
		return error_set(reading->error, "%.*s is more than "
		                 "100%%", SHOWN, value->text);
	return 0;
}

const struct argument_kind arg_fraction = { .read = read_fraction };

static bool
is_whole_number(const char *text)
{
	return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

/* Reads digits only; 0, or -1 if the text is anything else or too large. */
static int
parse_count(const char *text, size_t *count)
{
	char *end;
	unsigned long long number;

	if (!is_whole_number(text))
		return -1;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || number >= SIZE_MAX)
		return -1;
	*count = (size_t)number;
	return 0;
}

/* Of a number that could not be read. */
static bool
is_too_large(const char *text)
{
	return is_whole_number(text) && strspn(text, "0") < strlen(text);
}

/* Reads a positive number, or the word for no limit. */
static int
read_limit(struct reading *reading, struct value *value, const char *no_limit,
           const char *hint)
{
	value->text = reading_next_word(reading)->text;
	value->count = SIZE_MAX;
	if (strcmp(value->text, no_limit) == 0 ||
	    (parse_count(value->text, &value->count) == 0 && value->count > 0))
		return 0;
	if (is_too_large(value->text))
		return error_set(reading->error, "%.*s is too large%s", SHOWN,
		                 value->text, hint);
	return error_set(reading->error, "%.*s: expected a positive number or "
	                 "%s", SHOWN, value->text, no_limit);
}

static int
argument_kinds_read_count(struct reading *reading, struct value *value)
{
	return read_limit(reading, value, "off", "; write off for no limit");
}

static void
complete_off(struct completion *completion, const struct session *session,
             const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer(completion, "off", 3);
}

const struct argument_kind arg_count = {
	.read = argument_kinds_read_count,
	.complete = complete_off,
};

/* A function that is called 10 or all is written between bars. */
static bool
argument_kinds_is_rows(const struct word *word)
{
	return !word->is_quoted && (is_whole_number(word->text) ||
	    strcmp(word->text, "all") == 0);
}

static int
argument_kinds_read_rows(struct reading *reading, struct value *value)
{
	return read_limit(reading, value, "all", "");
}

static void
complete_all(struct completion *completion, const struct session *session,
             const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer(completion, "all", 3);
}

const struct argument_kind arg_rows = {
	.read = argument_kinds_read_rows,
	.complete = complete_all,
	.wants = argument_kinds_is_rows,
};

static int
read_digits(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	if (parse_count(value->text, &value->count) == 0 &&
	    value->count <= MOST_DIGITS)
		return 0;
	return error_set(reading->error, "%.*s: expected a number from 0 to %d",
	                 SHOWN, value->text, MOST_DIGITS);
}

const struct argument_kind arg_digits = { .read = read_digits };

/* A choice may be shortened to a unique prefix. */
static int
read_choice(struct reading *reading, struct value *value)
{
	const char *const *choices = reading->command->choices;
	const struct word *word = reading_next_word(reading);
	size_t n = 0;
	bool is_ambiguous;
	struct text_buffer known;

	value->text = word->text;
	for (size_t i = 0; choices[i] != NULL; i++) {
		if (strncmp(choices[i], word->text, word->length) != 0)
			continue;
		value->count = i;
		n++;
		if (strlen(choices[i]) == word->length)
			return 0;
	}
	if (n == 1 && word->length > 0)
		return 0;
	/* The word is the beginning of no choice, or of several. */
	is_ambiguous = n > 1 && word->length > 0;
	known = (struct text_buffer){ 0 };
	for (size_t i = 0; reading->command->choices[i] != NULL; i++) {
		const char *choice = reading->command->choices[i];

		if (!is_ambiguous ||
		    strncmp(choice, word->text, word->length) == 0)
			text_add_format(&known, "%s%s",
			                known.length == 0 ? "" : ", ", choice);
	}
	error_set(reading->error, is_ambiguous ?
	          "\"%.*s\" is ambiguous: %s" : "%.*s: expected one of %s",
	          SHOWN, word->text, text_string(&known));
	text_free(&known);
	return -1;
}

/* Whether a word is a choice in full. */
static bool
is_choice(const struct reading *reading, const struct word *word)
{
	const char *const *choices = reading->command->choices;

	for (; !word->is_quoted && *choices != NULL; choices++)
		if (strcmp(*choices, word->text) == 0)
			return true;
	return false;
}

static void
complete_choices(struct completion *completion,
                 const struct session *session, const struct command *command)
{
	(void)session;
	for (size_t i = 0; command->choices[i] != NULL; i++)
		completion_offer(completion, command->choices[i],
		                 strlen(command->choices[i]));
}

static void
add_choices(struct text_buffer *text, const struct command *command)
{
	for (size_t i = 0; command->choices[i] != NULL; i++)
		text_add_format(text, "%s%s", i == 0 ? "" : "|",
		                command->choices[i]);
}

const struct argument_kind arg_choice = {
	.read = read_choice,
	.complete = complete_choices,
	.add_usage = add_choices,
};

/* The sign after a group's name; other words before it belong to the name. */
static int
read_group_sign(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	size_t first = reading->at, sign = first, begin;
	int length;

	while (sign < words->n && !is_choice(reading, &words->words[sign]))
		sign++;
	if (sign == first || sign == words->n)
		return read_choice(reading, value);
	begin = words->words[first - 1].begin;
	length = words->words[sign - 1].end - begin > SHOWN ? SHOWN :
	         (int)(words->words[sign - 1].end - begin);
	return error_set(reading->error, "%.*s: expected one of =, =>; a name "
	                 "with blanks goes between bars: group |%.*s| %s",
	                 SHOWN, words->words[first].text,
	                 length,
	                 reading->line + begin, words->words[sign].text);
}

const struct argument_kind arg_group_sign = {
	.read = read_group_sign,
	.complete = complete_choices,
	.add_usage = add_choices,
};

/* A resource's name may have blanks and needs no bars for them. */
static int
argument_kinds_read_resource(struct reading *reading, struct value *value)
{
	size_t length;

	if (is_last(reading) &&
	    reading->words->n - reading->at > 1) {
		value->text = rest_of_line(reading, &length);
		reading->at = reading->words->n;
	} else {
		value->text = reading_next_word(reading)->text;
	}
	if (value->text == NULL)
		return -1;
	value->count = resolve_resource(reading->session, value->text,
	                                reading->error);
	return value->count == UINT32_MAX ? -1 : 0;
}

static void
complete_resources(struct completion *completion,
                   const struct session *session,
                   const struct command *command)
{
	const struct subject *subject = session->subject;

	(void)command;
	for (uint32_t r = 0; subject->profile != NULL &&
	     r < subject->profile->n_resources; r++) {
		const char *name = subject->profile->resources[r].name;

		completion_offer(completion, name, strlen(name));
	}
}

const struct argument_kind arg_resource = {
	.read = argument_kinds_read_resource,
	.complete = complete_resources,
};

/* ~/ at the start of a word is the home directory, unless between bars. */
static const char *
expand_home(const struct reading *reading, const struct word *word)
{
	const char *home = getenv("HOME");

	if (word->is_quoted || strncmp(word->text, "~/", 2) != 0 ||
	    home == NULL)
		return word->text;
	return arena_format(&reading->arguments->arena, reading->error,
	                    "%s%s", home, word->text + 1);
}

/* Reads n words into a list in the arena, which ends with NULL. */
static int
argument_kinds_read_list(struct reading *reading, struct value *value, size_t n,
                         bool are_files)
{
	const char **list = arena_alloc(&reading->arguments->arena,
	                                (n + 1) * sizeof *list,
	                                reading->error);

	if (list == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct word *word = reading_next_word(reading);

		list[i] = are_files ? expand_home(reading, word) : word->text;
		if (list[i] == NULL)
			return -1;
		if (are_files && strlen(word->text) != word->length)
			return error_set(reading->error, "a file name "
			                 "cannot contain a NUL byte");
	}
	value->text = list[0];
	value->words = list;
	value->n_words = n;
	return 0;
}

static int
argument_kinds_read_file(struct reading *reading, struct value *value)
{
	bool is_repeated = reading->argument->flags & ARG_REPEATED;
	size_t left = reading->words->n - reading->at;

	return argument_kinds_read_list(reading, value, is_repeated ? left : 1,
	                                true);
}

static void
complete_files(struct completion *completion, const struct session *session,
               const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer_files(completion);
}

const struct argument_kind arg_file = {
	.read = argument_kinds_read_file,
	.complete = complete_files,
};

static void
complete_files_or_off(struct completion *completion,
                      const struct session *session,
                      const struct command *command)
{
	complete_files(completion, session, command);
	completion_offer(completion, "off", strlen("off"));
}

const struct argument_kind arg_file_or_off = {
	.read = argument_kinds_read_file,
	.complete = complete_files_or_off,
};

static int
read_command(struct reading *reading, struct value *value)
{
	const struct word *word = reading_next_word(reading);

	value->text = word->text;
	value->command = command_lookup(word->text, word->length,
	                              reading->error);
	return value->command == NULL ? -1 : 0;
}

static void
complete_commands(struct completion *completion,
                  const struct session *session,
                  const struct command *command)
{
	(void)session;
	(void)command;
	for (size_t i = 0; commands[i] != NULL; i++)
		completion_offer(completion, commands[i]->name,
		                 strlen(commands[i]->name));
}

const struct argument_kind arg_command = {
	.read = read_command,
	.complete = complete_commands,
};

static int
read_setting(struct reading *reading, struct value *value)
{
	if (read_command(reading, value) != 0)
		return -1;
	if (value->command->set != NULL)
		return 0;
	return error_set(reading->error, "%s is a command, not a setting; "
	                 "\"show\" lists the settings",
	                 value->command->name);
}

static void
complete_settings(struct completion *completion,
                  const struct session *session,
                  const struct command *command)
{
	(void)session;
	(void)command;
	for (size_t i = 0; commands[i] != NULL; i++)
		if (commands[i]->set != NULL)
			completion_offer(completion, commands[i]->name,
			                 strlen(commands[i]->name));
}

const struct argument_kind arg_setting = {
	.read = read_setting,
	.complete = complete_settings,
};

static int
read_rest(struct reading *reading, struct value *value)
{
	size_t length;

	value->text = rest_of_line(reading, &length);
	reading->at = reading->words->n;
	return value->text == NULL ? -1 : 0;
}

/* set NAME VALUE: from NAME on it is the command line of the setting. */
static size_t
argument_kinds_find_setting(const struct word *words, size_t n)
{
	(void)words;
	return n > 1 ? 1 : 0;
}

const struct argument_kind arg_setting_value = {
	.read = read_rest,
	.find_command = argument_kinds_find_setting,
	.takes_rest = true,
};

static int
argument_kinds_read_words(struct reading *reading, struct value *value)
{
	return argument_kinds_read_list(reading, value,
	                                reading->words->n - reading->at, false);
}

/* The command knows what its words are. */
static void
argument_kinds_complete_words(struct completion *completion,
                              const struct session *session,
                              const struct command *command)
{
	(void)session;
	command->complete_words(completion, completion->before,
	                        completion->n_before);
}

const struct argument_kind arg_words = {
	.read = argument_kinds_read_words,
	.complete = argument_kinds_complete_words,
	.takes_rest = true,
	.runs_program = true,
};

static int
read_options_and_files(struct reading *reading, struct value *value)
{
	return argument_kinds_read_list(reading, value,
	                                reading->words->n - reading->at, true);
}

const struct argument_kind arg_options_and_files = {
	.read = read_options_and_files,
	.complete = argument_kinds_complete_words,
	.takes_rest = true,
};

static int
read_word(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	return 0;
}

const struct argument_kind arg_word = { .read = read_word };

/*
 * The name of a group may also be in quotes, as sh wants them: '{1}'.  A word
 * between bars keeps its quotes.
 */
static int
read_group(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	const struct word *first = &words->words[reading->at];
	char quote = first->text[0];
	size_t last = reading->at;

	if (first->is_quoted || (quote != '\'' && quote != '"'))
		return read_word(reading, value);
	for (; last < words->n; last++) {
		const struct word *word = &words->words[last];

		if (!word->is_quoted && word->text[word->length - 1] == quote &&
		    (word != first || word->length > 1))
			break;
	}
	if (last == words->n)
		return read_word(reading, value);
	value->text = arena_text(&reading->arguments->arena,
	                         reading->line + first->begin + 1,
	                         words->words[last].end - first->begin - 2,
	                         reading->error);
	reading->at = last + 1;
	return value->text == NULL ? -1 : 0;
}

static void
complete_groups(struct completion *completion, const struct session *session,
                const struct command *command)
{
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement,
	                                             &n);

	(void)command;
	for (size_t i = 0; i < n; i++)
		if (steps[i]->name != NULL)
			completion_offer(completion, steps[i]->name,
			                 strlen(steps[i]->name));
}

const struct argument_kind arg_group = {
	.read = read_group,
	.complete = complete_groups,
};

const struct argument_kind arg_new_group = { .read = read_group };

/* File names are quoted for sh, which reads the line. */
static void
complete_for_sh(struct completion *completion, const struct session *session,
                const struct command *command)
{
	completion->is_for_sh = true;
	complete_files(completion, session, command);
}

const struct argument_kind arg_shell_line = {
	.read = read_word,
	.complete = complete_for_sh,
	.takes_rest = true,
	.is_raw = true,
};

/* A number may come before the command. */
static size_t
find_watched(const struct word *words, size_t n)
{
	size_t at = 1;

	if (n > 1 && strspn(words[1].text, "0123456789.") > 0)
		at++;
	return n > at ? at : 0;
}

const struct argument_kind arg_command_line = {
	.read = read_word,
	.complete = complete_commands,
	.find_command = find_watched,
	.takes_rest = true,
	.is_raw = true,
};
