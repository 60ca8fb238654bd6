/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script_frames.c -- frames from the lines that perf script printed.
 *
 * Names stay as perf wrote them, but for mangled ones, which it leaves where it
 * was built without a demangler or was asked to.  A frame with an address in a
 * file becomes one of a module; perf counts addresses by the file's offsets.
 */
#include "src/formats/perf/perf_script_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/perf/perf_script_line.h"
#include "src/symbols/names/demangle.h"

struct maker {
	struct profile *profile;
	struct module_cache *modules;
	struct names *objects;	/* module i is object i */
	uint64_t *bias;		/* [modules], from offsets to addresses */
	size_t bias_capacity;
	bool has_symbols;	/* any frame with an address, */
	bool has_bare_addresses;	/* and any without a symbol */
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
is_known(const struct perf_text *object)
{
	size_t length = object->length;

	return length > 0 &&
	    !(length == 7 && memcmp(object->text, "inlined", 7) == 0) &&
	    !(length == 9 && memcmp(object->text, "[unknown]", 9) == 0);
}

static bool
is_in_file(const char *line, const struct perf_script_frame *frame)
{
	return line[0] == '\t' && frame->has_address &&
	       is_known(&frame->object);
}

/*
 * A frame that was printed without a symbol (-F ip,dso) is named after its
 * object; if that is missing, too, it has no name.
 */
static uint32_t
name_frame(struct maker *maker, const struct perf_script_frame *frame,
           struct error *error)
{
	struct names *names = maker->profile->names;
	const char *object = frame->object.text;
	const char *end = object + frame->object.length, *slash;

	if (frame->lacks_symbol)
		maker->has_bare_addresses = true;
	else if (frame->has_address)
		maker->has_symbols = true;
	if (!frame->lacks_symbol || !is_known(&frame->object))
		return demangle_and_add(names, frame->symbol.text,
		                        frame->symbol.length, error);
	slash = memrchr(object, '/', frame->object.length);
	if (slash != NULL && slash + 1 < end)
		object = slash + 1;
	return names_add_format(names, error, "%.*s+0x%" PRIx64,
	                        (int)(end - object), object, frame->address);
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
	location.function = name_frame(maker, &frame, error);
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
                         struct module_cache *modules, bool *lack_symbols,
                         struct error *error)
{
	struct maker maker = { .profile = profile, .modules = modules };
	uint32_t i = 0, n = names_count(lines);

	maker.objects = names_new(error);
	while (maker.objects != NULL && i < n &&
	       add_frame(&maker, names_text(lines, i), names_length(lines, i),
	                 error) == 0)
		i++;
	*lack_symbols = maker.has_bare_addresses && !maker.has_symbols;
	names_free(maker.objects);
	free(maker.bias);
	return error->is_set ? -1 : 0;
}
