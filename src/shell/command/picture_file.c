/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture_file.c -- commands that draw a view into a file. */
#include "src/shell/command/view_command.h"

#include <string.h>

#include "src/base/writer.h"
#include "src/shell/command/command.h"

static const struct {
	const char *ending;
	draw_function *draw;
} file_kinds[] = {
	{ ".svg", output_svg },
	{ ".html", output_html },
};

static bool
has_ending(const char *name, const char *ending)
{
	size_t length = strlen(name), n = strlen(ending);

	return length > n && strcmp(name + length - n, ending) == 0;
}

/* How a file of that name is drawn; NULL: the name has no such ending. */
static draw_function *
file_draw(const char *name)
{
	for (size_t i = 0; i < sizeof file_kinds / sizeof *file_kinds; i++)
		if (has_ending(name, file_kinds[i].ending))
			return file_kinds[i].draw;
	return NULL;
}

/*
 * Whether a word names a picture.  Other endings of files are taken for them,
 * too, so that the message is about them, and not about a function.
 */
static bool
is_picture(const struct word *word)
{
	static const char *const others[] = { ".htm", ".png", ".pdf", ".jpg",
		".jpeg", ".gif", ".eps", ".txt" };

	if (word->is_quoted)
		return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (has_ending(word->text, others[i]))
			return true;
	return file_draw(word->text) != NULL;
}

static int
read_picture(struct reading *reading, struct value *value)
{
	return arg_file.read(reading, value);
}

static void
complete_picture(struct completion *completion, const struct session *session,
                 const struct command *command)
{
	arg_file.complete(completion, session, command);
}

const struct argument_kind arg_picture = {
	.read = read_picture,
	.wants = is_picture,
	.complete = complete_picture,
};

/* Draws the table to a file, which is replaced only by a whole picture. */
static int
picture_file_write_file(struct session *session, const struct table *table,
                        draw_function *draw, const char *name,
                        struct error *error)
{
	const struct settings *settings = &session->settings;
	const struct layout layout = { .digits = settings->digits,
		                       .unit = settings->unit };
	struct new_file file;
	int drawn, closed;

	if (new_file_open(&file, name, error) != 0)
		return -1;
	drawn = draw(table, &layout, &file.writer, error);
	closed = new_file_close(&file, drawn == 0, error);
	return drawn != 0 ? -1 : closed;
}

/* The parts of a picture's width in which boxes are drawn: pixels. */
enum { RESOLUTION = 1200 };

int
picture_file_write(struct session *session, const char *command,
                   view_function *view, const struct view_request *request,
                   const char *name, struct error *error)
{
	struct view_request with_picture = *request;
	draw_function *draw = file_draw(name);
	struct table table = { .view = command };
	int status;

	if (draw == NULL)
		return error_set(error, "%.200s: a picture's name ends in "
		                 ".svg or .html", name);
	with_picture.resolution = RESOLUTION;
	status = view(&with_picture, &table, error);
	if (status == 0)
		status = picture_file_write_file(session, &table, draw, name,
		                                 error);
	table_free(&table);
	return status;
}
