/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/flame.c -- call paths as a picture. */
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"

enum { DOWN, UP, TREE };

static const char *const flame_choices[] = { "down", "up", "tree", NULL };

static const struct argument flame_arguments[] = {
	{ "down|up|tree", &arg_choice, ARG_OPTIONAL | ARG_SWITCH,
	  "the paths from the root, those to it, or the sampled stacks (down)" },
	{ "ROOT", &arg_function, ARG_OPTIONAL,
	  "the first function of the paths, or for up the last (the root)" },
	{ "FILE", &arg_picture, ARG_OPTIONAL | ARG_ANYWHERE,
	  "the picture to write: a name that ends in .svg or .html (the "
	  "terminal)" },
	ARGUMENTS_END
};

static int
flame_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	static view_function *const views[] = {
		view_icicle_down, view_icicle_up, view_icicle_tree,
	};
	const struct value *root = &arguments->values[1];
	const struct value *file = &arguments->values[2];
	size_t choice = arguments->values[0].is_given ?
	                arguments->values[0].count : DOWN;
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (choice == TREE && root->is_given)
		return error_set(error, "flame tree has no root; leave out "
		                 "%.200s", root->text);
	request = session_request(session);
	if (request.compared == NULL)
		request.n_columns = 0;
	if (root->is_given)
		request.root = root->names[0];
	if (file->is_given)
		return picture_file_write(session, "flame", views[choice],
		                          &request, file->words[0], error);
	if (session->settings.format->draw == output_text) {
		bool is_terminal = terminal_is_output();
		bool has_color = terminal_wants_color(session->settings.color,
		                                      is_terminal);
		size_t columns = PICTURE_COLUMNS, lines;

		/*
		 * The parts of a terminal's width in which boxes are drawn:
		 * halves of columns, or columns where there is no colour.
		 */
		if (is_terminal)
			terminal_size(&columns, &lines);
		request.resolution = (uint32_t)(has_color ? 2 * columns :
		                                            columns - 1);
	}
	return views[choice](&request, table, error);
}

const struct command command_flame = {
	.name = "flame",
	.words = COMMAND_WORDS(
	    /* pprof */ TYPE("web", "flame FILE.html"),
	    TYPE("svg", "flame FILE.svg"), TYPE("png", "flame FILE.svg"),
	    TYPE("pdf", "flame FILE.svg")),
	.group = GROUP_LOOK,
	.summary = "call paths as a picture, in the terminal or as SVG or HTML",
	.description =
	    "Draws call paths as boxes, each below the path that it extends. "
	    "down draws the paths that begin with the root, up those that "
	    "end in it, with callers below callees. The width of a box is "
	    "the path's value, the number that down and up show. tree draws "
	    "the sampled stacks, as flame graphs do. Where there is no root "
	    "(see root), down draws the paths of all stacks from their "
	    "outermost functions.\n\n"
	    "In down and up, recursion is folded, so that the picture is "
	    "never deeper than there are functions. Each hit of the root is "
	    "solid in one box of a level at most, and the solid parts "
	    "below a box never exceed its own solid part. The hatched rest "
	    "of a box are hits that passed through the path and re-entered "
	    "one of its functions; they are solid where they went. Since one "
	    "hit can be hatched in several boxes, the boxes below a box can "
	    "overhang it.\n\n"
	    "With FILE, writes the picture to that file, which needs no "
	    "other file. Where scripts run, a click zooms in, and the search "
	    "field marks functions and shows their share of the run, each "
	    "hit counted once. Paths narrower than a pixel are not drawn; "
	    "the picture says how many. If writing fails, FILE stays as it "
	    "was. Without FILE, the picture fits the terminal. The threshold "
	    "and the limit do not apply to pictures; with format json, csv or "
	    "tsv, they apply to the boxes, which are then listed.",
	.example = "flame up db_read_record",
	.arguments = flame_arguments,
	.choices = flame_choices,
	.run = flame_run,
	.is_compared = true,
};
