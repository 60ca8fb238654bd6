/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interpret.c -- runs a command line. */
#include "src/shell/command/interpret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/writer.h"
#include "src/output/output.h"
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"
#include "src/shell/line/words.h"
#include "src/shell/terminal/terminal.h"

/* Columns of a bar, and of a terminal that has room for them. */
enum { BAR_WIDTH = 10, ROOM_FOR_BARS = 100 };

/* Writes the bytes of a file; to a terminal, without control characters. */
static int
write_to_sink(struct session *session, const struct command *command,
              const struct arguments *arguments, struct sink *sink,
              struct error *error)
{
	struct printable_writer printable;
	int written;

	if (!sink->is_terminal)
		return command->write(session, arguments, &sink->writer,
		                      error);
	printable_writer_start(&printable, &sink->writer);
	written = command->write(session, arguments, &printable.writer, error);
	/* The sink's writer reports other failures. */
	if (printable_writer_end(&printable) == ENOMEM && written == 0)
		return error_out_of_memory(error);
	return written;
}

/* Replaces the file only if everything was written. */
static int
write_to_file(struct session *session, const struct command *command,
              const struct arguments *arguments, const char *path,
              struct error *error)
{
	struct new_file file;
	int written, closed;

	if (new_file_open(&file, path, error) != 0)
		return -1;
	written = command->write(session, arguments, &file.writer, error);
	closed = new_file_close(&file, written == 0, error);
	return written != 0 && error->is_set ? -1 : closed;
}

/*
 * Whether rows have numbers: at the prompt on a terminal, so that the output
 * of scripts, files and pipes does not change.
 */
static bool
interpret_has_numbers(const struct session *session, bool to_terminal)
{
	return to_terminal && session->is_interactive &&
	    !session->is_watching && session->settings.format == output_formats;
}

/* How text is laid out for a terminal, or for a file or pipe. */
static struct layout
text_layout(const struct session *session, bool to_terminal)
{
	const struct settings *settings = &session->settings;
	struct layout layout = {
		.digits = settings->digits,
		.unit = settings->unit,
		.has_color = terminal_wants_color(settings->color,
		                                  to_terminal),
		.has_numbers = interpret_has_numbers(session, to_terminal),
		.has_short_names = session_has_short_names(session,
		                                           to_terminal),
	};

	if (!to_terminal)
		return layout;
	terminal_size(&layout.width, &layout.height);
	if (settings->bars == BARS_ON || (settings->bars == BARS_AUTO &&
	    layout.has_color && layout.width >= ROOM_FOR_BARS))
		layout.bar_width = BAR_WIDTH;
	layout.has_blocks = terminal_has_unicode();
	return layout;
}

/* Which functions are the user's own, once a path is too wide for all. */
struct interpret_own {
	const struct profile *profile;
	struct own_functions *functions;
};

static bool
interpret_is_own(void *context, const struct names *names, uint32_t name)
{
	struct interpret_own *own = context;
	struct error ignored = { 0 };

	if (own->functions == NULL)
		own->functions = own_functions_new(own->profile, &ignored);
	return own->functions == NULL ||
	    own_functions_have(own->functions, names, name);
}

/* Draws a table that has something to show. */
static int
draw_table(struct session *session, const struct table *table,
           struct sink *sink, struct error *error)
{
	struct layout layout = text_layout(session, sink->is_terminal);
	struct interpret_own own = { session->subject->profile, NULL };
	int status;

	if (table->schema == NULL)
		return 0;
	if (layout.has_numbers && table_handle_column(table) < table->n_columns &&
	    last_rows_keep(&session->last_rows, table, error) != 0)
		return -1;
	if (own.profile != NULL) {
		layout.is_own = interpret_is_own;
		layout.own = &own;
	}
	status = session->settings.format->draw(table, &layout, &sink->writer,
	                                        error);
	own_functions_free(own.functions);
	return status;
}

/* Views of a part of the run say which part it is. */
static int
interpret_add_steps(const struct session *session, struct table *table,
                    struct error *error)
{
	bool is_of_part = false;
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement, &n);
	int status = 0;

	for (size_t i = 0; i < table->n_fields; i++)
		is_of_part |= strcmp(table->fields[i].key, "refined") == 0;
	for (size_t i = 0; is_of_part && status == 0 && i < n; i++)
		status = table_add_field(table, "steps[]", NULL,
		                         cell_text(steps[i]->text), error);
	return status;
}

static int
show_table(struct session *session, const struct table *table,
           const struct words *words, struct error *error)
{
	struct sink sink;
	int drawn, closed;

	if (sink_open(&sink, session, words->redirect, words->target,
	              SINK_OF_COMMAND, error) != 0)
		return -1;
	drawn = draw_table(session, table, &sink, error);
	closed = sink_close(&sink, session, drawn == 0, error);
	return drawn != 0 && error->is_set ? -1 : closed;
}

/* Runs a program with its standard output where the line says. */
static int
run_redirected(struct session *session, const struct command *command,
               const struct arguments *arguments, const struct words *words,
               struct error *error)
{
	struct table table = { .view = command->name };
	struct sink sink;
	int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), status;

	if (output < 0)
		return error_set(error, "standard output: %s",
		                 strerror(errno));
	if (sink_open(&sink, session, words->redirect, words->target,
	              SINK_OF_PROGRAM, error) != 0) {
		close(output);
		return -1;
	}
	dup2(sink.descriptor, STDOUT_FILENO);
	status = command->run(session, arguments, &table, error);
	dup2(output, STDOUT_FILENO);
	close(output);
	if (status == 0)
		status = draw_table(session, &table, &sink, error);
	table_free(&table);
	return sink_close(&sink, session, status == 0, error) != 0 ? -1 : status;
}

/* Fills the table of a command. */
static int
interpret_fill(struct session *session, const struct command *command,
               const struct arguments *arguments, struct table *table,
               struct error *error)
{
	if (command->view != NULL || command->section_view != NULL)
		return view_command(session, command, arguments, table, error);
	if (command->run != NULL)
		return command->run(session, arguments, table, error);
	return setting_run(session, command, arguments, table, error);
}

static int
interpret_run(struct session *session, const struct command *command,
              const struct arguments *arguments, const struct words *words,
              struct error *error)
{
	struct table table = { .view = command->name };
	struct error shown = { 0 };
	int status;

	session->writes_to_terminal = words->redirect == REDIRECT_NONE &&
	    terminal_is_output();
	if (words->redirect != REDIRECT_NONE && command->arguments != NULL &&
	    command->arguments[0].kind->runs_program)
		return run_redirected(session, command, arguments, words,
		                      error);
	if (command->write != NULL) {
		struct file_answer file = { .path = NULL };
		struct sink sink;
		int written, closed;

		/* Runs a command that answers with the bytes of a file. */
		if (command->prepare(session, arguments, &file, error) != 0)
			return -1;
		if (file.path != NULL &&
		    write_to_file(session, command, arguments, file.path,
		                  error) != 0)
			return -1;
		/* A redirection is opened even if nothing goes to it. */
		if (sink_open(&sink, session, words->redirect, words->target,
		              SINK_OF_COMMAND, error) != 0)
			return -1;
		if (file.path != NULL)
			written = 0;
		else if (file.is_binary && sink.is_terminal)
			written = error_set(error, "the output is binary; name "
			                    "a file");
		else
			written = write_to_sink(session, command, arguments,
			                        &sink, error);
		closed = sink_close(&sink, session, written == 0, error);
		return written != 0 && error->is_set ? -1 : closed;
	}
	status = interpret_fill(session, command, arguments, &table, error);
	if (arguments_check_patterns(arguments, error) != 0) {
		table_free(&table);
		return -1;
	}
	if (status == 0)
		status = interpret_add_steps(session, &table, error);
	if (status == 0 || table.n_rows > 0) {
		int drawn = show_table(session, &table, words, &shown);

		if (status == 0) {
			status = drawn;
			if (shown.is_set)
				error_pass(error, &shown);
		}
	}
	table_free(&table);
	return status;
}

static int
parse_and_run(struct session *session, const struct command *command,
              const struct words *words, size_t first, const char *line,
              struct error *error)
{
	struct arguments arguments;
	int status = arguments_parse(&arguments, session, command, words,
	                             first, line, error);

	if (status == 0)
		status = interpret_run(session, command, &arguments, words,
		                       error);
	arguments_free(&arguments);
	return status;
}

/* Runs the line[length], which begins with a command of today. */
static int
interpret_current(struct session *session, const char *line, size_t length,
                  struct error *error)
{
	const struct command *command;
	struct words words;
	size_t n = 1, n_words = 1;
	bool is_raw;
	int status;

	command = *line == '!' ? command_lookup("shell", 5, error)
	    : command_of_line(line, length, &n, &n_words, error);
	if (command == NULL)
		return -1;
	is_raw = command->arguments != NULL &&
	    command->arguments[0].kind->is_raw;
	if (is_raw) {
		n_words = 0;
		status = words_take_whole(&words, line + n, length - n, error);
	} else {
		status = words_split(&words, line, length, error);
	}
	if (status == 0)
		status = words_check(&words, error);
	if (status == 0)
		status = parse_and_run(session, command, &words, n_words,
		                       line, error);
	words_free(&words);
	return status;
}

int
interpret_line(struct session *session, const char *line, size_t length,
               struct error *error)
{
	struct text_buffer now = { 0 };
	int status;

	while (length > 0 && memchr(" \t\r\n", *line, 4) != NULL) {
		line++;
		length--;
	}
	if (length == 0 || *line == '#')
		return 0;
	if (*line == '|' || *line == '>')
		return error_set(error, "a line must begin with a command; see "
		                 "help");
	if (command_replace_former(&now, line, length) && !now.failed) {
		message_note("%.*s is now called: %s",
		             (int)strcspn(line, " \t\r\n"), line,
		             text_string(&now));
		line = text_string(&now);
		length = now.length;
	}
	status = now.failed ? error_out_of_memory(error) :
	    interpret_current(session, line, length, error);
	text_free(&now);
	return status;
}

int
interpret_words(struct session *session, const struct command *command,
                char *const *texts, size_t n, struct error *error)
{
	struct words words = { .n = n };
	int status;

	words.words = memory_array(n, sizeof *words.words, error);
	if (words.words == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		words.words[i] = (struct word){
			.text = texts[i],
			.length = strlen(texts[i]),
			.is_quoted = true,
		};
	status = parse_and_run(session, command, &words, 0, "", error);
	words_free(&words);
	return status;
}

/* The lines that texts take on a terminal of so many columns. */
static size_t
interpret_count_lines(const char *const *texts, size_t n, size_t columns)
{
	size_t n_lines = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t width = printable_width(texts[i],
		                                     strlen(texts[i]));

		n_lines += width == 0 ? 1 : (width + columns - 1) / columns;
	}
	return n_lines;
}

/* Leaves out rows that, with the lines above groups, have no room. */
static void
interpret_cut_rows(struct table *table, size_t n_lines)
{
	struct cell cells[TABLE_MAX_COLUMNS];
	size_t column = 0, used = 0, n = 0;
	uint64_t group = 0;

	while (table->group_lines != NULL && column < table->n_columns &&
	       strcmp(table->columns[column].key, table->group_key) != 0)
		column++;
	for (; n < table->n_rows; n++) {
		used++;
		if (table->group_lines != NULL) {
			table_get_row(table, n, cells);
			used += cells[column].count != group;
			group = cells[column].count;
		}
		if (used > n_lines)
			break;
	}
	table->n_rows = n;
}

int
interpret_beginning(struct session *session, const char *command,
                    size_t n_lines, struct error *error)
{
	enum { OTHER_LINES = 3 };	/* headings and rules */
	const struct command *found = command_lookup(command, strlen(command),
	                                             error);
	const struct words words = { .redirect = REDIRECT_NONE };
	struct table table = { .view = command };
	struct arguments none = { 0 };
	size_t columns, lines, n_others;
	int status;

	session->beginning_lines = n_lines;
	status = found == NULL ? -1 :
	    interpret_fill(session, found, &none, &table, error);
	session->beginning_lines = 0;
	table.n_header = table.n_first_lines;
	terminal_size(&columns, &lines);
	n_others = OTHER_LINES +
	    interpret_count_lines(table.header, table.n_header, columns) +
	    interpret_count_lines(table.footer, table.n_footer, columns);
	interpret_cut_rows(&table, n_lines > n_others ? n_lines - n_others : 0);
	if (status == 0)
		status = show_table(session, &table, &words, error);
	table_free(&table);
	return status;
}

int
interpret_answer(struct session *session, const char *line,
                 answer_function *take, void *context, struct error *error)
{
	struct arguments arguments = { 0 };
	const struct command *command;
	struct table table = { 0 };
	struct text_buffer now = { 0 };
	struct words words;
	const bool was_to_terminal = session->writes_to_terminal;
	size_t length = strlen(line), n, n_words;
	int status;

	if (command_replace_former(&now, line, length)) {
		line = text_string(&now);
		length = now.length;
	}
	command = now.failed ? NULL :
	    command_of_line(line, length, &n, &n_words, error);
	if (now.failed)
		error_out_of_memory(error);
	if (command == NULL || words_split(&words, line, length, error) != 0) {
		text_free(&now);
		return -1;
	}
	status = words_check(&words, error);
	if (status == 0)
		status = arguments_parse(&arguments, session, command, &words,
		                         n_words, line, error);
	/* Fills the table and shows it as interpret_run does, for no terminal. */
	session->writes_to_terminal = false;
	table.view = command->name;
	if (status == 0)
		status = interpret_fill(session, command, &arguments, &table,
		                        error);
	if (status == 0)
		status = arguments_check_patterns(&arguments, error);
	if (status == 0)
		status = interpret_add_steps(session, &table, error);
	if (status == 0)
		status = take(&table, context, error);
	session->writes_to_terminal = was_to_terminal;
	table_free(&table);
	arguments_free(&arguments);
	words_free(&words);
	text_free(&now);
	return status;
}
