/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/timeline.c -- hits from the start of the run to its end. */
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"

static const struct argument timeline_arguments[] = {
	{ "FILE", &arg_picture, ARG_OPTIONAL | ARG_ANYWHERE,
	  "the picture to write: a name that ends in .svg or .html" },
	{ "PATH", &arg_path, ARG_OPTIONAL,
	  "the functions of a path, outermost first (default: the whole run)" },
	ARGUMENTS_END
};

static int
timeline_run(struct session *session, const struct arguments *arguments,
             struct table *table, struct error *error)
{
	const struct value *file = &arguments->values[0];
	const struct value *path = &arguments->values[1];
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	if (path->is_given) {
		request.path = path->names;
		request.n_path = path->n_names;
	}
	if (file->is_given)
		return picture_file_write(session, "timeline", view_timeline,
		                          &request, file->words[0], error);
	return view_timeline(&request, table, error);
}

const struct command command_timeline = {
	.name = "timeline",
	.group = GROUP_LOOK,
	.summary = "the run, or one call path in it, from start to end",
	.description =
	    "Divides the run into up to 64 slices of equal width and shows how "
	    "many hits each has. With a path, shows those of the path, and "
	    "what share of the slice they are.\n\n"
	    "Times count from the start of the recording, which is the same "
	    "for all its processes. The time of a wait is spread over its "
	    "slices. In a sum of several recordings, times count from the "
	    "start of each.\n\n"
	    "With FILE, writes a picture to that file: a bar for each slice, "
	    "divided by the functions with the largest bodies and the others, "
	    "or with a path, by the path and the other stacks. Groups (see "
	    "group) are such functions, too. If writing fails, FILE stays as "
	    "it was.\n\n"
	    "Recordings of cpprof, perf.data, perf script, .cpuprofile, "
	    "speedscope files and Firefox profiles say when hits were counted, "
	    "other inputs do not. See also when.",
	.example = "timeline",
	.arguments = timeline_arguments,
	.run = timeline_run,
};
