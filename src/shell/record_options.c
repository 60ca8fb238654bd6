/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_options.c -- what stands before the program behind `record`. */
#include "src/shell/record_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/shell/near.h"

struct parser {
	struct record_options *options;
	unsigned frequency;	/* of -F; 0: not given */
	struct error *error;
};

static int
take_resource(struct parser *parser, const char *word)
{
	struct record_options *options = parser->options;
	struct chosen_resource *chosen =
	    &options->resources[options->n_resources];
	size_t length = strcspn(word, ":");

	if (options->n_resources == CPPROFDATA_MAX_RESOURCES)
		return error_set(parser->error, "-r %s: at most %d resources "
		                 "can be recorded at once", word,
		                 CPPROFDATA_MAX_RESOURCES);
	chosen->kind = resource_kind_find(word, length, parser->error);
	chosen->interval = 0;
	if (chosen->kind == NULL)
		return -1;
	for (size_t i = 0; i < options->n_resources; i++)
		if (options->resources[i].kind == chosen->kind)
			return error_set(parser->error, "-r %s: named twice",
			                 chosen->kind->name);
	options->n_resources++;
	if (word[length] == '\0')
		return 0;
	return resource_kind_interval(chosen->kind, word + length + 1,
	                              &chosen->interval, parser->error);
}

static int
take_frequency(struct parser *parser, const char *word)
{
	char *end;
	unsigned long frequency = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end != '\0' || frequency < 1 ||
	    frequency > 10000)
		return error_set(parser->error, "-F %s: expected samples per "
		                 "second of CPU time, 1 to 10000", word);
	parser->frequency = (unsigned)frequency;
	return 0;
}

static int
take_name(struct parser *parser, const char *word)
{
	parser->options->name = word;
	return 0;
}

static int
take_max_size(struct parser *parser, const char *word)
{
	return resource_kind_bytes(word, &parser->options->max_size,
	                           parser->error);
}

static int
take_random(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->is_random = true;
	return 0;
}

static int
take_alone(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->is_alone = true;
	return 0;
}

static int
take_returns(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->counts_returns = true;
	return 0;
}

static int
take_force(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->replaces = true;
	return 0;
}

static int
take_prompt(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->wants_prompt = true;
	parser->options->wants_no_prompt = false;
	return 0;
}

static int
take_no_prompt(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->wants_prompt = false;
	parser->options->wants_no_prompt = true;
	return 0;
}

static int
take_no_symbols(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->keeps_no_names = true;
	return 0;
}

static int
take_list(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->wants_list = true;
	return 0;
}

static int
take_help(struct parser *parser, const char *word)
{
	(void)word;
	parser->options->wants_help = true;
	return 0;
}

static const struct record_option {
	const char *option;
	const char *value;	/* what it takes; NULL: nothing */
	int (*take)(struct parser *parser, const char *word);
} record_option_rows[] = {
	{ "-r", "a resource, RESOURCE[:INTERVAL]", take_resource },
	{ "-F", "samples per second", take_frequency },
	{ "-o", "a directory's name", take_name },
	{ "--force", NULL, take_force },
	{ "--prompt", NULL, take_prompt },
	{ "--no-prompt", NULL, take_no_prompt },
	{ "--no-children", NULL, take_alone },
	{ "--returns", NULL, take_returns },
	{ "--random", NULL, take_random },
	{ "--max-size", "a number of bytes", take_max_size },
	{ "--no-symbols", NULL, take_no_symbols },
	{ "--list", NULL, take_list },
	{ "--help", NULL, take_help },
	{ NULL, NULL, NULL }
};

/* The option that a word begins with, or NULL; *rest is what follows it. */
static const struct record_option *
match_option(const char *word, const char **rest)
{
	const struct record_option *row = record_option_rows;

	for (; row->option != NULL; row++) {
		size_t length = strlen(row->option);
		bool is_long = row->option[1] == '-';

		*rest = word + length;
		if (strncmp(word, row->option, length) != 0 ||
		    (**rest != '\0' && (row->value == NULL ||
		                        (is_long && **rest != '='))))
			continue;
		*rest += is_long && **rest == '=';
		return row;
	}
	return NULL;
}

/* The same, with *error set where there is none. */
static const struct record_option *
find_option(const char *word, const char **rest, struct error *error)
{
	const struct record_option *row = match_option(word, rest);
	struct text_buffer text = { 0 };
	struct near near;

	if (row != NULL)
		return row;
	near_start(&near, word, strlen(word));
	for (row = record_option_rows; row->option != NULL; row++)
		near_offer(&near, row->option, strlen(row->option));
	near_add(&near, &text);
	error_set(error, "record has no option %s (see record --help)%s",
	          word, text_string(&text));
	text_free(&text);
	return NULL;
}

/* -F is the interval of what is counted in time and was given none. */
static int
apply_frequency(struct parser *parser)
{
	struct record_options *options = parser->options;
	size_t n = 0;

	if (parser->frequency == 0)
		return 0;
	if (options->n_resources == 0 &&
	    take_resource(parser, resource_kinds[0].name) != 0)
		return -1;
	for (size_t i = 0; i < options->n_resources; i++) {
		struct chosen_resource *chosen = &options->resources[i];

		if (strcmp(chosen->kind->gtick, "microsecond") != 0 ||
		    chosen->interval != 0)
			continue;
		chosen->interval = (1000000 + parser->frequency / 2) /
		    parser->frequency;
		n++;
	}
	if (n == 0)
		return error_set(parser->error, "-F %u: no resource that is "
		                 "measured in time lacks an interval",
		                 parser->frequency);
	return 0;
}

int
record_options_parse(struct record_options *options, char *const *words,
                     struct error *error)
{
	struct parser parser = { options, 0, error };

	*options = (struct record_options){ 0 };
	for (; *words != NULL && **words == '-'; words++) {
		const struct record_option *row;
		const char *value;

		if (strcmp(*words, "--") == 0) {
			words++;
			break;
		}
		row = find_option(*words, &value, error);
		if (row == NULL)
			return -1;
		if (row->value != NULL && *value == '\0' &&
		    (value = *++words) == NULL)
			return error_set(error, "%s: expected %s",
			                 row->option, row->value);
		if (row->take(&parser, value) != 0)
			return -1;
	}
	if (apply_frequency(&parser) != 0)
		return -1;
	if (*words != NULL)
		options->program = words;
	else if (!options->wants_list && !options->wants_help)
		return error_set(error, "expected a program to run");
	return 0;
}

/* What the word behind n others is: an option's value, or *takes_options. */
static const struct record_option *
find_place(const struct word *words, size_t n, bool *takes_options)
{
	const struct record_option *row;
	const char *rest;

	*takes_options = false;
	for (size_t i = 0; i < n; i++) {
		row = words[i].text[0] == '-' &&
		    strcmp(words[i].text, "--") != 0
		    ? match_option(words[i].text, &rest) : NULL;
		if (row == NULL)
			return NULL;
		if (row->value != NULL && *rest == '\0' && ++i == n)
			return row;
	}
	*takes_options = true;
	return NULL;
}

void
record_options_complete(struct completion *completion,
                        const struct word *words, size_t n)
{
	bool takes_options;
	const struct record_option *row = find_place(words, n, &takes_options);

	if (row != NULL && row->take == take_resource) {
		for (size_t i = 0; resource_kinds[i].name != NULL; i++)
			completion_offer(completion, resource_kinds[i].name,
			                 strlen(resource_kinds[i].name));
	} else if (takes_options && completion->prefix[0] == '-') {
		for (row = record_option_rows; row->option != NULL; row++)
			completion_offer(completion, row->option,
			                 strlen(row->option));
	} else {
		completion_offer_files(completion);
	}
}

void
record_options_add_resources(const struct record_options *options,
                             struct text_buffer *text)
{
	for (size_t i = 0; i < options->n_resources; i++) {
		const struct chosen_resource *chosen = &options->resources[i];

		text_add_format(text, "%s%s", i > 0 ? "," : "",
		                chosen->kind->name);
		if (chosen->interval != 0)
			text_add_format(text, ":%" PRIu64, chosen->interval);
	}
	if (options->n_resources == 0)
		text_add_string(text, resource_kinds[0].name);
}
