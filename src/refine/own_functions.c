/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own_functions.c -- which functions are the user's own.
 *
 * Those of the program itself, and those whose source is known, but none of the
 * ready groups and nothing whose source lies where only libraries do.  A
 * function of which neither a module nor a source is known counts as own, since
 * nothing speaks against it.
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { OWN_IS_UNKNOWN, IS_OWN, IS_NOT_OWN };

/* Sources below these are a library's, or an interpreter's own. */
static const char *const library_sources[] = {
	"/site-packages/", "/dist-packages/", "/lib/python", "/node_modules/",
	"/rustc/", "/.cargo/registry/", "/go/src/", "/pkg/mod/",
};
static const char *const library_beginnings[] = {
	"/usr/lib/", "/usr/include/", "/usr/share/", "/usr/src/", "node:",
	"<frozen ",
};

struct own_functions {
	const struct profile *profile;
	struct frame_pattern **groups;	/* [n_groups] the ready ones */
	size_t n_groups;
	uint32_t *frame;		/* [n_names] the first one of each
					 * function; NO_FRAME: it has none */
	unsigned char *known;		/* [n_names] */
	uint32_t n_names;
};

#define NO_FRAME UINT32_MAX

void
own_functions_free(struct own_functions *own)
{
	if (own == NULL)
		return;
	for (size_t i = 0; i < own->n_groups; i++)
		frame_pattern_free(own->groups[i]);
	free(own->groups);
	free(own->frame);
	free(own->known);
	free(own);
}

static int
own_functions_make_groups(struct own_functions *own, struct error *error)
{
	size_t n = 0;

	while (frame_pattern_ready_group(n) != NULL)
		n++;
	own->groups = memory_array(n, sizeof *own->groups, error);
	for (; own->groups != NULL && own->n_groups < n; own->n_groups++) {
		const char *name = frame_pattern_ready_group(own->n_groups);
		char text[40] = "@";
		const struct pattern_word word = {
			.text = text,
			.length = 1 + strlen(name),
		};

		memccpy(text + 1, name, '\0', sizeof text - 1);
		own->groups[own->n_groups] = frame_pattern_new(&word, error);
		if (own->groups[own->n_groups] == NULL)
			return -1;
	}
	return error->is_set ? -1 : 0;
}

struct own_functions *
own_functions_new(const struct profile *profile, struct error *error)
{
	struct own_functions *own = memory_array(1, sizeof *own, error);

	if (own == NULL)
		return NULL;
	own->profile = profile;
	own->n_names = names_count(profile->names);
	own->frame = memory_array(own->n_names, sizeof *own->frame, error);
	own->known = memory_array(own->n_names, 1, error);
	if (error->is_set || own_functions_make_groups(own, error) != 0) {
		own_functions_free(own);
		return NULL;
	}
	memset(own->frame, 0xff, own->n_names * sizeof *own->frame);
	for (uint32_t i = profile->n_frames; i-- > 0;) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; k < frame->n_locations; k++)
			own->frame[profile->locations[frame->first_location +
			           k].function] = i;
	}
	return own;
}

/* "libz.so.1", "[vdso]", "ext4.ko", "msvcrt.dll" */
static bool
own_functions_is_library(const char *module)
{
	const char *at = strstr(module, ".so");

	return *module == '[' || (at != NULL && strchr("-.", at[3]) != NULL) ||
	    strstr(module, ".dylib") != NULL ||
	    strcasestr(module, ".dll") != NULL;
}

static bool
own_functions_is_library_source(const char *path)
{
	for (size_t i = 0; i < sizeof library_sources / sizeof *library_sources;
	     i++)
		if (strstr(path, library_sources[i]) != NULL)
			return true;
	for (size_t i = 0; i < sizeof library_beginnings /
	     sizeof *library_beginnings; i++)
		if (strncmp(path, library_beginnings[i],
		            strlen(library_beginnings[i])) == 0)
			return true;
	return false;
}

/* Where the function is in a frame. */
static const struct location *
own_functions_location(const struct profile *profile,
                       const struct frame *frame, uint32_t function)
{
	const struct location *location =
	    &profile->locations[frame->first_location];

	while (location->function != function)
		location++;
	return location;
}

static bool
own_functions_find(const struct own_functions *own, const struct names *names,
                   uint32_t name)
{
	const struct profile *profile = own->profile;
	const bool has_frame = names == profile->names && name < own->n_names &&
	    own->frame[name] != NO_FRAME;
	const struct frame *frame = !has_frame ? NULL :
	    &profile->frames[own->frame[name]];
	const char *module = frame == NULL || frame->module == NO_MODULE ?
	    NULL : profile_module_name(profile, frame->module);
	uint32_t file;

	/* "[partial]" is no function. */
	if (*names_text(names, name) == '[')
		return false;
	for (size_t i = 0; i < own->n_groups; i++)
		if (frame_pattern_has(own->groups[i], module,
		                      names_text(names, name),
		                      names_length(names, name)))
			return false;
	if (frame == NULL)
		return true;
	file = own_functions_location(profile, frame, name)->file;
	if (file != NO_NAME)
		return !own_functions_is_library_source(names_text(
		    profile->names, file));
	return module == NULL || !own_functions_is_library(module);
}

bool
own_functions_have(struct own_functions *own, const struct names *names,
                   uint32_t name)
{
	unsigned char known = OWN_IS_UNKNOWN;
	const bool is_kept = names == own->profile->names &&
	    name < own->n_names;

	if (is_kept)
		known = own->known[name];
	if (known == OWN_IS_UNKNOWN)
		known = own_functions_find(own, names, name) ? IS_OWN :
		        IS_NOT_OWN;
	if (is_kept)
		own->known[name] = known;
	return known == IS_OWN;
}
