/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script_frames.c -- frames from the lines that perf script printed.
 *
 * Names stay as perf wrote them, but for mangled ones, which it leaves where it
 * was built without a demangler or was asked to.  A frame with an address in a file becomes one
 * of a module; perf counts addresses by the file's offsets.
 */
#include "src/formats/perf/perf_script_frames.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/perf/perf_script_line.h"
#include "src/symbols/demangle.h"

struct maker {
	struct profile *profile;
	struct module_cache *modules;
	struct names *objects;	/* module i is object i */
	uint64_t *bias;		/* [modules], from offsets to addresses */
	size_t bias_capacity;
};

/* Enters a module; the offset is of some code in it. */
static int
add_module(struct maker *maker, const struct perf_text *object,
           uint64_t offset, struct error *error)
{
	uint32_t n = maker->profile->n_modules;
	char *path = memory_text(object->text, object->length, error);
	int result = -1;

	if (path == NULL)
		return -1;
	if (memory_grow(&maker->bias, &maker->bias_capacity, (size_t)n + 1,
	                sizeof *maker->bias, error) == 0 &&
	    profile_add_module(maker->profile, path, NULL, 0, error) !=
	        NO_MODULE) {
		maker->bias[n] = 0;
		if (path[0] == '/')
			maker->bias[n] = module_cache_address(maker->modules,
			    path, NULL, 0, offset) - offset;
		result = 0;
	}
	free(path);
	return result;
}

static bool
is_in_file(const char *line, const struct perf_script_frame *frame)
{
	const char *object = frame->object.text;
	size_t length = frame->object.length;

	return line[0] == '\t' && frame->has_address && length > 0 &&
	    !(length == 7 && memcmp(object, "inlined", 7) == 0) &&
	    !(length == 9 && memcmp(object, "[unknown]", 9) == 0);
}

static int
add_frame(struct maker *maker, const char *line, size_t length,
          struct error *error)
{
	struct profile *profile = maker->profile;
	struct location location = { .file = NO_NAME };
	struct perf_script_frame frame;
	uint32_t module;

	perf_script_read_frame(line, length, &frame);
	location.function = demangle_and_add(profile->names,
	                                     frame.symbol.text,
	                                     frame.symbol.length, error);
	if (location.function == NO_NAME)
		return -1;
	if (!is_in_file(line, &frame))
		return profile_add_named_frame(profile, location.function,
		                               error) != UINT32_MAX ? 0 : -1;
	module = names_add(maker->objects, frame.object.text,
	                   frame.object.length, error);
	if (module == NO_NAME ||
	    (module == profile->n_modules &&
	     add_module(maker, &frame.object, frame.address, error) != 0))
		return -1;
	return profile_add_frame(profile, module,
	                         frame.address + maker->bias[module],
	                         &location, 1, error) != UINT32_MAX ? 0 : -1;
}

int
perf_script_frames_enter(struct profile *profile, const struct names *lines,
                         struct module_cache *modules, struct error *error)
{
	struct maker maker = { .profile = profile, .modules = modules };
	uint32_t i = 0, n = names_count(lines);

	maker.objects = names_new(error);
	while (maker.objects != NULL && i < n &&
	       add_frame(&maker, names_text(lines, i), names_length(lines, i),
	                 error) == 0)
		i++;
	names_free(maker.objects);
	free(maker.bias);
	return error->is_set ? -1 : 0;
}
