/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/save.c -- the settings and steps as a script. */
#include <string.h>

#include "src/base/writer.h"
#include "src/shell/command/command.h"

static const struct argument save_arguments[] = {
	{ "FILE", &arg_file, ARG_OPTIONAL,
	  "the script to write (default: standard output, > or |)" },
	ARGUMENTS_END
};

static int
save_prepare(struct session *session, const struct arguments *arguments,
             struct file_answer *file, struct error *error)
{
	(void)session;
	(void)error;
	if (arguments->values[0].is_given)
		file->path = arguments->values[0].words[0];
	return 0;
}

static int
save_add_setting(const struct session *session, const struct command *setting,
                 struct text_buffer *text, struct arena *arena,
                 struct error *error)
{
	const char *value = setting->get(session, setting, arena, error);

	if (value == NULL)
		return -1;
	while (*value != '\0') {
		size_t n = strcspn(value, "\n");

		text_add_format(text, "%s %.*s\n", setting->name, (int)n,
		                value);
		value += n + (value[n] == '\n');
	}
	return 0;
}

static const struct command *
save_find_setting(const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* Each step names frames by the granularity that was set when it was made. */
static int
save_add_steps(const struct session *session, struct text_buffer *text,
               struct arena *arena, struct error *error)
{
	const struct command *setting = save_find_setting("granularity");
	enum granularity now = session->settings.naming.granularity;
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement,
	                                             &n);

	for (size_t i = 0; i < n; i++) {
		if (steps[i]->granularity != now)
			text_add_format(text, "granularity %s\n",
			    setting->choices[steps[i]->granularity]);
		now = steps[i]->granularity;
		text_add_format(text, "%s\n", steps[i]->text);
	}
	return now == session->settings.naming.granularity ? 0 :
	    save_add_setting(session, setting, text, arena, error);
}

/* The path of a file so that base takes it for one; NULL with *error set. */
static const char *
save_base_path(const char *file, struct arena *arena, struct error *error)
{
	static const char *const words[] = { "off", "label", "time", "calls" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(file, words[i]) == 0)
			return arena_format(arena, error, "./%s", file);
	return file;
}

/* The base, if there is one; standard input cannot be read again. */
static int
add_base(const struct session *session, struct text_buffer *text,
         struct arena *arena, struct error *error)
{
	const struct comparison *comparison = &session->comparison;
	const struct sides *sides = comparison->sides;

	if (sides != NULL && sides->calls != NULL) {
		text_add_format(text, "base calls %s\n", sides->calls);
	} else if (sides != NULL) {
		text_add_format(text, "base %s %s", sides->are_times ? "time" :
		                "label", sides->texts[0]);
		if (sides->texts[1] != NULL)
			text_add_format(text, " against %s", sides->texts[1]);
		text_add_char(text, '\n');
	}
	if (comparison->n_files == 0)
		return 0;
	for (size_t i = 0; i < comparison->n_files; i++)
		if (strcmp(comparison->files[i], "-") == 0) {
			text_add_string(text, "# the base was read from "
			                "standard input\n");
			return 0;
		}
	text_add_string(text, "base");
	for (size_t i = 0; i < comparison->n_files; i++) {
		const char *word;
		const char *path = save_base_path(comparison->files[i], arena,
		                                  error);

		if (path == NULL)
			return -1;
		word = setting_word(path, strlen(path), arena, error);
		if (word == NULL)
			return -1;
		text_add_format(text, " %s", word);
	}
	text_add_char(text, '\n');
	return 0;
}

/* What a comparison is per, which may be a function that a group made. */
static int
save_add_scale(const struct session *session, struct text_buffer *text,
               struct arena *arena, struct error *error)
{
	const struct scale *scale = &session->scale;
	const char *word = NULL;

	switch (scale->kind) {
	case SCALE_ABSOLUTE:
		if (comparison_has_base(&session->comparison))
			text_add_string(text, "scale absolute\n");
		return 0;
	case SCALE_WORK:
		text_add_format(text, "scale work %.17g\n", scale->work);
		return 0;
	case SCALE_BY:
		word = setting_word(scale->function, strlen(scale->function),
		                    arena, error);
		if (word == NULL)
			return -1;
		text_add_format(text, "scale by %s\n", word);
		return 0;
	case SCALE_ROBUST:
		text_add_string(text, "scale robust\n");
	}
	return 0;
}

/* The base comes before the steps; the root comes last: it may be a group. */
static int
save_add_lines(const struct session *session, struct text_buffer *text,
               struct arena *arena, struct error *error)
{
	const struct command *root = save_find_setting("root");

	for (size_t i = 0; commands[i] != NULL; i++)
		if (commands[i]->get != NULL && commands[i] != root &&
		    save_add_setting(session, commands[i], text, arena,
		                     error) != 0)
			return -1;
	if (add_base(session, text, arena, error) != 0 ||
	    save_add_steps(session, text, arena, error) != 0 ||
	    save_add_scale(session, text, arena, error) != 0)
		return -1;
	return save_add_setting(session, root, text, arena, error);
}

static int
save_write(struct session *session, const struct arguments *arguments,
           struct writer *writer, struct error *error)
{
	struct text_buffer text = { 0 };
	struct arena arena = { 0 };
	int status;

	(void)arguments;
	status = save_add_lines(session, &text, &arena, error);
	if (status == 0 && text.failed)
		status = error_out_of_memory(error);
	if (status == 0)
		writer_put(writer, text.bytes, text.length);
	text_free(&text);
	arena_free(&arena);
	return status;
}

const struct command command_save = {
	.name = "save",
	.group = GROUP_REFINE,
	.summary = "writes the settings and steps as a script that source reads",
	.description =
	    "The script has a line for each setting, then the base of "
	    "comparisons, if there is one, a line for each step of the "
	    "refinement, the scale and the root. source FILE at the prompt or "
	    "cpprof -x FILE PROFILE brings everything back, also for another "
	    "profile.",
	.example = "save",
	.arguments = save_arguments,
	.prepare = save_prepare,
	.write = save_write,
};
