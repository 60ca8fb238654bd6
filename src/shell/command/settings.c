/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settings.c -- commands that hold a value.
 *
 * Each kind of setting in commands/settings.def has three definitions here:
 * TYPED_kind, its argument; HELD_kind, the type of its field; and the two
 * functions get_kind and set_kind between the field and the typed value.
 */
#include "src/shell/command/command.h"

#include <string.h>

#include "src/base/text_buffer.h"
#include "src/base/writer.h"
#include "src/shell/terminal/terminal.h"

/* The field of a setting whose type is HELD_kind. */
#define FIELD(session, setting, kind) \
	((HELD_##kind *)((char *)&(session)->settings + (setting)->field))

/* After a field was set: does what depends on it, or takes the change back. */
static int
settings_apply(struct session *session, const struct command *setting,
               const struct settings *before, struct error *error)
{
	if (session_settings_changed(session, setting->change, error) == 0)
		return 0;
	session->settings = *before;
	return -1;
}

/* Defines set_kind, which stores an expression of the value. */
#define DEFINE_SET(kind, expression) \
	static int \
	set_##kind(struct session *session, const struct command *setting, \
	           const struct value *value, struct error *error) \
	{ \
		const struct settings before = session->settings; \
	\
		*FIELD(session, setting, kind) = (expression); \
		return settings_apply(session, setting, &before, error); \
	}

#define TYPED_fraction "FRACTION", &arg_fraction
#define HELD_fraction double

static const char *
get_fraction(const struct session *session, const struct command *setting,
             struct arena *arena, struct error *error)
{
	double fraction = *FIELD(session, setting, fraction);

	/* A plain 1 could also mean 1%, so it cannot be typed. */
	if (fraction == 1)
		return "100%";
	return arena_format(arena, error, "%.15g", fraction);
}

DEFINE_SET(fraction, value->fraction)

#define TYPED_count "N|off", &arg_count
#define HELD_count size_t

static const char *
get_count(const struct session *session, const struct command *setting,
          struct arena *arena, struct error *error)
{
	size_t count = *FIELD(session, setting, count);

	if (count == SIZE_MAX)
		return "off";
	return arena_format(arena, error, "%zu", count);
}

DEFINE_SET(count, value->count)

/* A count, which is 0 as long as each view has its own. */
#define TYPED_depth TYPED_count
#define HELD_depth HELD_count

static const char *
get_depth(const struct session *session, const struct command *setting,
          struct arena *arena, struct error *error)
{
	if (*FIELD(session, setting, depth) == 0)
		return arena_format(arena, error, "%d", DEFAULT_DEPTH);
	return get_count(session, setting, arena, error);
}

#define set_depth set_count

#define TYPED_digits "N", &arg_digits
#define HELD_digits int

static const char *
get_digits(const struct session *session, const struct command *setting,
           struct arena *arena, struct error *error)
{
	return arena_format(arena, error, "%d",
	                    *FIELD(session, setting, digits));
}

DEFINE_SET(digits, (int)value->count)

#define TYPED_choice "CHOICE", &arg_choice
#define HELD_choice unsigned	/* an enum */

static const char *
get_choice(const struct session *session, const struct command *setting,
           struct arena *arena, struct error *error)
{
	(void)arena, (void)error;
	return setting->choices[*FIELD(session, setting, choice)];
}

DEFINE_SET(choice, (unsigned)value->count)

/* A choice of off and on. */
#define TYPED_flag TYPED_choice
#define HELD_flag bool

static const char *
get_flag(const struct session *session, const struct command *setting,
         struct arena *arena, struct error *error)
{
	(void)arena, (void)error;
	return setting->choices[*FIELD(session, setting, flag)];
}

DEFINE_SET(flag, value->count == 1)

/*
 * Notes that a choice was not taken.  That is no error, so that what show and save
 * write can be read by others.
 */
static int
settings_note_kept(const struct command *setting, size_t kept, size_t wanted,
                   const char *why)
{
	if (kept != wanted)
		message_note("%s is still %s: %s", setting->name,
		             setting->choices[kept], why);
	return 0;
}

/*
 * A flag that only the user's own files may change: what else runs commands,
 * such as a script that came with a profile, could give itself more rights.
 */
#define TYPED_guarded TYPED_flag
#define HELD_guarded HELD_flag
#define get_guarded get_flag

static int
set_guarded(struct session *session, const struct command *setting,
            const struct value *value, struct error *error)
{
	bool *field = FIELD(session, setting, guarded);
	bool is_on = value->count == 1;

	(void)error;
	if (is_on != *field && !session->reads_own_files)
		return settings_note_kept(setting, *field, is_on,
		    "only ~/.config/cpprof/init can change it");
	*field = is_on;
	return 0;
}

/*
 * A choice of which `on` may use the network: only the user can choose that, and
 * choosing it again means to try again.
 */
#define TYPED_network TYPED_choice
#define HELD_network HELD_choice
#define get_network get_choice

static int
set_network(struct session *session, const struct command *setting,
            const struct value *value, struct error *error)
{
	const bool turns_on = value->count == DEBUG_FILES_ON;

	if (turns_on && read_only_is_on()) {
		message_note("%s: not with --read-only", setting->name);
		return 0;
	}
	if (turns_on && !debug_files_may_turn_on(session))
		return settings_note_kept(setting,
		    *FIELD(session, setting, network), value->count,
		    "a script cannot turn it on; -e, the prompt, settings and "
		    "init in ~/.config/cpprof, and DEBUGINFOD_URLS can");
	debug_files_forget(session);
	return set_choice(session, setting, value, error);
}

/* A choice of the output formats. */
#define TYPED_format TYPED_choice
#define HELD_format const struct output_format *

static const char *
get_format(const struct session *session, const struct command *setting,
           struct arena *arena, struct error *error)
{
	(void)arena, (void)error;
	return (*FIELD(session, setting, format))->name;
}

DEFINE_SET(format, &output_formats[value->count])

/* The commands that the rows stand for. */
#define CHOICES(...) (const char *const []){ __VA_ARGS__, NULL }
#define COMMAND(name)
#define SETTING(name_, kind, member, start, change_, argument_help, ...) \
	_Static_assert(_Generic(((struct settings *)0)->member, \
	                        HELD_##kind: 1, default: 0), \
	               "the field of " #name_ " has another type"); \
	static const struct argument name_##_arguments[] = { \
		{ TYPED_##kind, ARG_OPTIONAL, \
		  argument_help " (default: show the setting)" }, \
		ARGUMENTS_END \
	}; \
	const struct command command_##name_ = { \
		.name = #name_, \
		.group = GROUP_SETTINGS, \
		.arguments = name_##_arguments, \
		.get = get_##kind, \
		.set = set_##kind, \
		.field = offsetof(struct settings, member), \
		.change = change_, \
		__VA_ARGS__ \
	};
#include "commands/settings.def"
#undef SETTING
#undef COMMAND

const char *
setting_word(const char *text, size_t length, struct arena *arena,
             struct error *error)
{
	struct text_buffer word = { 0 };

	text_add_word(&word, text, length);
	return text_move(&word, arena, error);
}

static int
settings_add_setting(const struct session *session,
                     const struct command *setting, struct table *table,
                     struct error *error)
{
	const char *value = setting->get(session, setting, &table->arena,
	                                 error);
	if (value == NULL)
		return -1;
	while (*value != '\0') {
		size_t n = strcspn(value, "\n");
		struct cell cells[] = {
			cell_text(setting->name),
			cell_text(table_text(table, error, "%.*s", (int)n,
			                     value)),
		};

		if (cells[1].text == NULL ||
		    table_add_row(table, cells, error) != 0)
			return -1;
		value += n + (value[n] == '\n');
	}
	return 0;
}

int
setting_show(const struct session *session, const struct command *setting,
             struct table *table, struct error *error)
{
	int status = 0;

	table->schema = "cpprof.settings/1";
	table->is_plain = true;
	table_add_column(table, "name", "name", CELL_TEXT);
	table_add_column(table, "value", "value", CELL_TEXT);
	if (setting != NULL)
		return settings_add_setting(session, setting, table, error);
	for (size_t i = 0; status == 0 && commands[i] != NULL; i++)
		if (commands[i]->get != NULL)
			status = settings_add_setting(session, commands[i],
			                              table, error);
	return status;
}

int
setting_run(struct session *session, const struct command *setting,
            const struct arguments *arguments, struct table *table,
            struct error *error)
{
	if (arguments->values[0].is_given)
		return setting->set(session, setting, &arguments->values[0],
		                    error);
	return setting_show(session, setting, table, error);
}
