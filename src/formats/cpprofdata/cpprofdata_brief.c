/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_brief.c -- processes that left a single record. */
#include "src/formats/cpprofdata/cpprofdata_brief.h"

#include <endian.h>
#include <string.h>

static int
add_process(const struct cpprofdata_brief *brief, struct profile *profile,
            struct error *error)
{
	char executable[sizeof brief->executable + 1] = "";
	struct process process = {
		.pid = le32toh(brief->pid),
		.parent_pid = le32toh(brief->parent_pid),
		.start_ns = le64toh(brief->start_ns),
		.end_ns = le64toh(brief->start_ns),
		.cpu_ns = le64toh(brief->cpu_ns),
		.cpu_is_least = true,
	};

	memcpy(executable, brief->executable, sizeof brief->executable);
	process.program = executable[0] != '\0' ? executable : NULL;
	return profile_add_process(profile, &process,
	                           error) != UINT32_MAX ? 0 : -1;
}

static int
add_brief(const struct cpprofdata_brief *brief, uint32_t frame,
          struct tree_builder *builder, struct profile *profile,
          struct error *error)
{
	char name[sizeof brief->name + 1] = "";
	struct thread thread = {
		.process = (uint32_t)profile->n_processes,
		.tid = le32toh(brief->pid),
	};
	uint32_t number, begin, node;

	memcpy(name, brief->name, sizeof brief->name);
	thread.name = name[0] != '\0' ? name : NULL;
	if (add_process(brief, profile, error) != 0)
		return -1;
	number = profile_add_thread(profile, &thread, error);
	if (number == UINT32_MAX)
		return -1;
	begin = tree_builder_begin_section(builder);
	node = tree_builder_child(builder, NO_NODE, frame, error);
	if (node == NO_NODE || tree_builder_add(builder, node, 0,
	        le64toh(brief->count.hits), le64toh(brief->count.samples),
	        error) != 0)
		return -1;
	return profile_add_section(profile, begin, tree_builder_count(builder),
	                           number, error) != UINT32_MAX ? 0 : -1;
}

int
cpprofdata_add_briefs(const struct cpprofdata_file *file, uint32_t frame,
                      struct tree_builder *builder, struct profile *profile,
                      struct error *error)
{
	for (size_t i = 0; i < file->n_briefs; i++) {
		struct cpprofdata_brief brief;

		memcpy(&brief, file->bytes + CPPROFDATA_HEADER_SIZE +
		       i * sizeof brief, sizeof brief);
		if (add_brief(&brief, frame, builder, profile, error) != 0)
			return -1;
	}
	return file->n_briefs == 0 ? 0 : profile_add_tally(profile,
	    "threads started", file->n_briefs, error);
}
