/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/tasks.c -- the tasks of asyncio that wait in a process. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/units.h"
#include "src/base/writer.h"
#include "src/sample/sample.h"
#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"
#include "src/shell/line/options.h"
#include "src/shell/terminal/terminal.h"

#define TASKS_DURATION_NS UINT64_C(1000000000)

extern const struct command command_tasks;

struct tasks_options {
	uint64_t duration_ns;
	const struct output_format *format;	/* NULL: the session's */
	bool wants_help;
};

static const struct argument tasks_arguments[] = {
	{ "[OPTIONS] PID", &arg_options_and_files, 0,
	  "the process, of CPython 3.11 to 3.15" },
	ARGUMENTS_END
};

static int
tasks_take_duration(void *all, const char *word, struct error *error)
{
	const char *end = text_read_duration(word,
	    &((struct tasks_options *)all)->duration_ns);

	return end != NULL && *end == '\0' ? 0 :
	    error_set(error, "--for %.40s: expected a time, like 10s or "
	              "500ms", word);
}

static int
tasks_take_format(void *all, const char *word, struct error *error)
{
	for (size_t i = 0; output_formats[i].name != NULL; i++)
		if (strcmp(output_formats[i].name, word) == 0) {
			((struct tasks_options *)all)->format =
			    &output_formats[i];
			return 0;
		}
	return error_set(error, "-F %.40s: expected text, tsv, csv or json",
	                 word);
}

static const struct option_row tasks_option_rows[] = {
	{ NULL, "--for", "TIME",
	  "how long to look, so how long a wait is seen at most (1s); 0: once",
	  tasks_take_duration, 0 },
	{ "-F", "--format", "FORMAT",
	  "prints the answer as text, tsv, csv or json", tasks_take_format,
	  0 },
	{ NULL, "--help", NULL, "prints this help", NULL,
	  offsetof(struct tasks_options, wants_help) },
	OPTIONS_END
};

/* ---- rows ---- */

static const char *const tasks_states[] = {
	[SAMPLE_TASK_WAITS] = "waits", [SAMPLE_TASK_READY] = "ready",
	[SAMPLE_TASK_NEW] = "new", [SAMPLE_TASK_RUNS] = "runs",
	[SAMPLE_TASK_MOVES] = "moves"
};

/* "sleep (asyncio/tasks.py:639) < fetch (app.py:7)" */
static struct cell
tasks_stack(const struct sample_task *task, struct table *table,
            struct error *error)
{
	struct text_buffer text = { 0 };
	const char *kept;

	for (size_t i = 0; i < task->n_frames; i++) {
		const struct sample_task_frame *frame = &task->frames[i];

		text_add_format(&text, "%s%s (%s", i == 0 ? "" : " < ",
		                frame->function, frame->file);
		if (frame->line > 0)
			text_add_format(&text, ":%" PRIu32, frame->line);
		text_add_string(&text, ")");
	}
	if (text.failed)
		error_out_of_memory(error);
	kept = table_text(table, error, "%s", text_string(&text));
	text_free(&text);
	return cell_text(kept);
}

/* Seconds to a millisecond; a number of others has no meaning. */
static struct cell
tasks_seconds(uint64_t ns)
{
	return ns == UINT64_MAX ? cell_unknown() :
	    cell_number((double)(ns / 1000000) / 1000);
}

static const char *
tasks_id(uint64_t address, struct table *table, struct error *error)
{
	return table_text(table, error, "0x%" PRIx64, address);
}

static int
tasks_add_row(const struct sample_task *task, struct table *table,
              struct error *error)
{
	const struct cell none = { .kind = CELL_EMPTY };
	const bool runs = task->state == SAMPLE_TASK_RUNS;
	const struct cell row[] = {
		runs ? none : tasks_seconds(task->at_least_ns),
		/* To the next millisecond. */
		runs ? none : tasks_seconds(task->less_than_ns == UINT64_MAX ?
		    UINT64_MAX : task->less_than_ns + 1000000),
		cell_number((double)task->time_ns / 1e9),
		cell_text(tasks_states[task->state]),
		task->thread == 0 ? cell_unknown() : cell_count(task->thread),
		cell_text(tasks_id(task->address, table, error)),
		cell_text(table_text(table, error, "%s", task->name)),
		task->awaited_by == 0 ? none :
		    cell_text(tasks_id(task->awaited_by, table, error)),
		task->awaited_by == 0 ? none : cell_text(table_text(table,
		    error, "%s", task->awaited_by_name)),
		tasks_stack(task, table, error)
	};

	return error->is_set ? -1 : table_add_row(table, row, error);
}

static void
tasks_add_columns(struct table *table)
{
	static const struct column columns[] = {
		{ "at_least_s", "at_least_s", .kind = CELL_NUMBER },
		{ "less_than_s", "less_than_s", .kind = CELL_NUMBER },
		{ "monotonic_s", "monotonic_s", .kind = CELL_NUMBER,
		  .is_data_only = true },
		{ "state", "state", .kind = CELL_TEXT },
		{ "thread", "thread", .kind = CELL_COUNT, .gives_way = true },
		{ "id", "id", .kind = CELL_TEXT, .is_data_only = true },
		{ "task", "task", .kind = CELL_TEXT },
		{ "awaited_by_id", "awaited_by_id", .kind = CELL_TEXT,
		  .is_data_only = true },
		{ "awaited_by", "awaited_by", .kind = CELL_TEXT },
		{ "stack", "stack", .kind = CELL_TEXT, .is_elastic = true,
		  .cuts_end = true },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
}

static int
tasks_fill(const struct sample_tasks *tasks, struct table *table,
           struct error *error)
{
	table->schema = "cpprof.tasks/1";
	tasks_add_columns(table);
	for (size_t i = 0; i < tasks->n; i++)
		if (tasks_add_row(&tasks->tasks[i], table, error) != 0)
			return -1;
	if (table_add_field(table, "looks", NULL, cell_count(tasks->n_looks),
	                    error) != 0 ||
	    table_add_field(table, "moving", NULL,
	                    cell_count(tasks->n_others), error) != 0)
		return -1;
	if (tasks->n == 0 && tasks->n_others == 0)
		return table_add_footer(table, error, "no task has yet to end");
	if (tasks->n_others > 0 && table_add_footer(table, error,
	        "%zu more did not stay at one place, or could not be read",
	        tasks->n_others) != 0)
		return -1;
	return !tasks->is_cut ? 0 : table_add_footer(table, error,
	    "there are more tasks than cpprof lists");
}

/* ---- the command ---- */

static int
tasks_watch(const struct tasks_options *options, const char *word,
            struct session *session, struct table *table,
            struct error *error)
{
	struct sample_tasks tasks;
	char *end;
	const long pid = strtol(word, &end, 10);
	int result;

	if (*end != '\0' || pid <= 0 || pid > INT32_MAX)
		return error_set(error, "%.60s: expected the number of a "
		                 "process, as ps -e shows it", word);
	interrupt_catch();
	result = sample_tasks_watch((pid_t)pid, options->duration_ns, &tasks,
	                            error);
	if (result == 0)
		result = tasks_fill(&tasks, table, error);
	if (result == 0 && options->format != NULL &&
	    session->is_lone_command)
		session->settings.format = options->format;
	sample_tasks_free(&tasks);
	return result;
}

static int
tasks_parse(struct tasks_options *options, const struct value *words,
            const char **others, struct error *error)
{
	size_t n;

	if (options_take_among(tasks_option_rows, "tasks", options,
	                       (char *const *)words->words, others, &n,
	                       error) != 0)
		return -1;
	return options->wants_help || n == 1 ? 0 :
	    error_set(error, "tasks: expected one process, like tasks 1234");
}

static int
tasks_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct value *words = &arguments->values[0];
	struct tasks_options options = { .duration_ns = TASKS_DURATION_NS };
	const char **others = memory_array(words->n_words + 1, sizeof *others,
	                                   error);
	int result;

	if (others == NULL)
		return -1;
	if (tasks_parse(&options, words, others, error) != 0) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
		result = -1;
	} else if (options.wants_help) {
		result = help_describe(&command_tasks, table, error);
	} else if (options.format != NULL && !session->is_lone_command) {
		result = error_set(error, "-F: only of cpprof tasks; here, "
		                   "type format %s", options.format->name);
	} else {
		result = read_only_check("tasks", error) != 0 ? -1 :
		    tasks_watch(&options, others[0], session, table, error);
	}
	free(others);
	return result;
}

static void
tasks_complete(struct completion *completion, const struct word *words,
               size_t n)
{
	(void)words, (void)n;
	completion_offer_options(completion, tasks_option_rows);
}

const struct command command_tasks = {
	.name = "tasks",
	.group = GROUP_FILES,
	.summary = "the asyncio tasks of a running process, and how long they "
	           "wait",
	.description =
	    "Lists the tasks of asyncio that have yet to end in a process, "
	    "those that wait longest first: each with the task that awaits it, "
	    "and its coroutines from the innermost one, where it waits, "
	    "outwards. From the shell: cpprof tasks PID\n\n"
	    "Python does not note when a task began to wait, so cpprof looks "
	    "every 10 ms for as long as --for says. A task was at_least so "
	    "many seconds at its place, and less_than so many if it was seen "
	    "elsewhere before; a task that left its await and came back to it "
	    "between two looks counts as if it had stayed. Of asyncio.sleep "
	    "the beginning is known, however long ago. States: waits, ready "
	    "and new (for its turn, new if for the first one), runs.\n\n"
	    "The process is neither stopped nor changed. Its user may do that, "
	    "or only root where kernel.yama.ptrace_scope is above 0.",
	.options = tasks_option_rows,
	.complete_words = tasks_complete,
	.example = "tasks --help",
	.arguments = tasks_arguments,
	.run = tasks_run,
};
