/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/labels.c -- how much belongs to each label. */
#include <string.h>

#include "src/profile/sections.h"
#include "src/shell/command/command.h"

static void
labels_offer(void *context, const char *text, size_t length)
{
	completion_offer(context, text, length);
}

static void
complete_keys(struct completion *completion, const struct session *session,
              const struct command *command)
{
	(void)command;
	if (session->subject->profile != NULL)
		sections_offer(session->subject->profile, SECTION_LABEL, NULL,
		               labels_offer, completion, &completion->error);
}

static int
labels_read_key(struct reading *reading, struct value *value)
{
	const struct profile *profile = reading->session->subject->profile;
	struct section_selector selector = { .kind = SECTION_LABEL };

	value->text = reading_next_word(reading)->text;
	if (profile == NULL)
		return session_need_profile(reading->session, reading->error);
	selector.key = value->text;
	if (profile->tree != NULL && sections_has_key(profile, value->text))
		return 0;
	return sections_report_none(profile, &selector, "*", reading->error);
}

static const struct argument_kind arg_label_key = {
	.read = labels_read_key,
	.complete = complete_keys,
};

static const struct argument labels_arguments[] = {
	{ "KEY", &arg_label_key, ARG_OPTIONAL,
	  "the label whose values are shown (default: all labels)" },
	ARGUMENTS_END
};

const struct command command_labels = {
	.name = "labels",
	.words = COMMAND_WORDS(/* pprof */ MEANS("tags")),
	.group = GROUP_LOOK,
	.summary = "what was used under each label of the samples",
	.description =
	    "Programs can label their samples, for example with the request "
	    "that they serve; pprof profiles keep such labels. labels shows "
	    "each label with the number of its values and the hits of samples "
	    "that have it. labels KEY shows the hits of each value of a "
	    "label; [none] stands for samples without it.\n\n"
	    "If a sample has several values of one label, it counts for each.",
	.example = "labels",
	.arguments = labels_arguments,
	.section_view = view_labels,
};
