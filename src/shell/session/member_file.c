/* SPDX-License-Identifier: GPL-3.0-or-later */
/* member_file.c -- where the file of a merged profile's member is now. */
#include "src/shell/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/formats/format.h"

/* Whether an identity is the hash of a content, or looks like one. */
static bool
is_hash(const char *id)
{
	return strlen(id) == CONTENT_ID_SIZE - 1 &&
	    strspn(id, "0123456789abcdef") == CONTENT_ID_SIZE - 1;
}

/* A pipe or a device is never opened because a profile names it. */
static bool
is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 &&
	    (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/* 1: the content is the member's; 0: it is not; -1 with *error set. */
static int
has_content(const struct session *session, const char *path, const char *id,
            struct error *error)
{
	struct content content = { 0 };
	const struct read_options options = {
		.lenient = session->is_lenient,
		.has_thread_frames = session->has_thread_frames,
		.symfs = session->symfs,
		.content = &content,
	};
	char own[CONTENT_ID_SIZE];
	struct error why = { 0 };
	struct profile *profile = load_profiles(&path, 1, &options, &why);

	if (profile == NULL && (why.is_out_of_memory || interrupt_requested)) {
		*error = why;
		return -1;
	}
	profile_free(profile);
	source_content_id(content.hash, own);
	return profile != NULL && strcmp(own, id) == 0;
}

/* 1: the search is over; 0: it goes on; -1 with *error set. */
static int
member_file_try_path(const struct session *session, const char *path,
                     const char *id, struct member_file *file,
                     struct error *error)
{
	int is_same;

	if (!is_file(path))
		return 0;
	is_same = is_hash(id) ? has_content(session, path, id, error) : 1;
	if (is_same < 0 || (is_same == 0 && file->path != NULL))
		return is_same;
	free(file->path);
	file->path = memory_string(path, error);
	if (file->path == NULL)
		return -1;
	file->state = is_same == 0 ? MEMBER_FILE_CHANGED :
	    is_hash(id) ? MEMBER_FILE_CHECKED : MEMBER_FILE_UNCHECKED;
	return is_same;
}

/* The name below a directory, and without each of its components. */
static int
member_file_try_directory(const struct session *session, const char *directory,
                          size_t length, const struct found_member *member,
                          struct member_file *file, struct error *error)
{
	const char *name = member->name;
	int result = 0;

	while (result == 0 && *name != '\0') {
		char *path = NULL;

		name += strspn(name, "/");
		if (*name == '\0')
			break;
		if (asprintf(&path, "%.*s/%s", (int)length, directory,
		             name) < 0)
			return error_out_of_memory(error);
		result = member_file_try_path(session, path, member->id, file,
		                              error);
		free(path);
		name += strcspn(name, "/");
	}
	return result;
}

/* Where the merged profiles are. */
static int
try_beside(const struct session *session, const struct found_member *member,
           struct member_file *file, struct error *error)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < session->n_files; i++) {
		const char *merged = session->files[i];
		const char *slash = strrchr(merged, '/');

		if (strcmp(merged, "-") == 0)
			continue;
		result = slash == NULL ?
		    member_file_try_directory(session, ".", 1, member, file,
		                              error) :
		    member_file_try_directory(session, merged,
		                              (size_t)(slash - merged), member,
		                              file, error);
	}
	return result;
}

int
member_file_find(const struct session *session,
                 const struct found_member *member, struct member_file *file,
                 struct error *error)
{
	int result;

	*file = (struct member_file){ .state = MEMBER_FILE_MISSING };
	if (*member->name == '\0')
		return 0;
	result = member_file_try_path(session, member->name, member->id, file,
	                              error);
	if (result == 0)
		result = try_beside(session, member, file, error);
	for (size_t i = 0; result == 0 && i < session->n_directories; i++)
		result = member_file_try_directory(session,
		                                   session->directories[i],
		                                   strlen(
						       session->directories[i]),
		                                   member, file, error);
	if (result >= 0)
		return 0;
	free(file->path);
	file->path = NULL;
	return -1;
}
