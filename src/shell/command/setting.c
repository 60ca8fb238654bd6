/* SPDX-License-Identifier: GPL-3.0-or-later */
/* setting.c -- commands that hold a value. */
#include "src/shell/command/setting.h"

int
setting_run(struct session *session, const struct command *command,
            const struct arguments *arguments, struct table *table,
            struct error *error)
{
	if (arguments->values[0].is_given)
		return command->set(session, &arguments->values[0], error);
	return setting_show(session, command, command->name, table, error);
}

/* One that has no value yet is left out: its line would set nothing. */
static int
add_setting(const struct session *session, const struct command *setting,
            struct table *table, struct error *error)
{
	const char *value = setting->get(session, &table->arena, error);
	struct cell cells[] = { cell_text(setting->name), cell_text(value) };

	if (value == NULL)
		return -1;
	return *value == '\0' ? 0 : table_add_row(table, cells, error);
}

int
setting_show(const struct session *session, const struct command *setting,
             const char *view, struct table *table, struct error *error)
{
	int status = 0;

	table->view = view;
	table->schema = "cpprof.settings/1";
	table->is_plain = true;
	table_add_column(table, "name", "name", CELL_TEXT);
	table_add_column(table, "value", "value", CELL_TEXT);
	if (setting != NULL)
		return add_setting(session, setting, table, error);
	for (size_t i = 0; status == 0 && commands[i] != NULL; i++)
		if (commands[i]->get != NULL)
			status = add_setting(session, commands[i], table,
			                     error);
	return status;
}
