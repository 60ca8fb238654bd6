/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_union.c -- the modules and frames of several profiles, each once. */
#include "src/profile/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/tree_builder.h"

struct frame_union {
	struct profile *sum;
	struct names *module_keys;	/* pairs of path and build: number of
					 * the module in the sum */
	struct digest_index *frame_keys;	/* struct frame_key and
					 * locations: number of the frame in
					 * the sum */
	uint32_t *names;		/* of the sum, by those of the profile
					 * at hand; NO_NAME: not yet */
	size_t names_capacity;
	bool with_origins;
	struct location *locations;	/* scratch */
	char *key;			/* scratch */
	size_t locations_capacity, key_capacity;
};

/* Without padding, since it is compared as bytes. */
struct frame_key {
	uint64_t address;
	uint32_t module, function_offset;
	uint32_t placeholder, flags;
};

struct frame_union *
frame_union_new(struct profile *sum, bool with_origins, struct error *error)
{
	struct frame_union *frames = memory_array(1, sizeof *frames, error);

	if (frames == NULL)
		return NULL;
	frames->sum = sum;
	frames->with_origins = with_origins;
	frames->module_keys = names_new(error);
	frames->frame_keys = digest_index_new(error);
	if (!error->is_set)
		return frames;
	frame_union_free(frames);
	return NULL;
}

void
frame_union_free(struct frame_union *frames)
{
	if (frames == NULL)
		return;
	names_free(frames->module_keys);
	digest_index_free(frames->frame_keys);
	free(frames->names);
	free(frames->locations);
	free(frames->key);
	free(frames);
}

int
frame_union_module(struct frame_union *frames, const struct module *module,
                   uint32_t *number, struct error *error)
{
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);
	struct profile *sum = frames->sum;

	*number = names_add_pair(frames->module_keys, module->path,
	    strlen(module->path), build, size, error);
	if (*number == NO_NAME)
		return -1;
	if (*number < sum->n_modules)
		return 0;
	if (profile_add_module(sum, module->path, module->build_id,
	                       module->build_id_size, error) == UINT32_MAX)
		return -1;
	sum->modules[*number].file_size = module->file_size;
	sum->modules[*number].file_mtime_ns = module->file_mtime_ns;
	return 0;
}

int
frame_union_begin(struct frame_union *frames, const struct profile *from,
                  struct error *error)
{
	uint32_t n = names_count(from->names);

	if (memory_grow(&frames->names, &frames->names_capacity, n,
	                sizeof *frames->names, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		frames->names[i] = NO_NAME;
	return 0;
}

static uint32_t
frame_union_copy_name(struct frame_union *frames, const struct profile *from,
                      uint32_t name, struct error *error)
{
	uint32_t *known;

	if (name == NO_NAME)
		return NO_NAME;
	known = &frames->names[name];
	if (*known == NO_NAME)
		*known = names_add(frames->sum->names,
		                   names_text(from->names, name),
		                   names_length(from->names, name), error);
	return *known;
}

/* Writes the frame's locations, with the sum's names, to the scratch. */
static int
rename_locations(struct frame_union *frames, const struct profile *from,
                 const struct frame *frame, struct error *error)
{
	if (memory_grow(&frames->locations, &frames->locations_capacity,
	                frame->n_locations, sizeof *frames->locations,
	                error) != 0)
		return -1;
	for (uint32_t i = 0; i < frame->n_locations; i++) {
		const struct location *old =
		    &from->locations[frame->first_location + i];

		frames->locations[i] = (struct location){
			.function = frame_union_copy_name(frames, from,
			                                  old->function, error),
			.file = frame_union_copy_name(frames, from, old->file,
			                              error),
			.line = old->line,
			.linkage = NO_NAME,
		};
		if (!frames->with_origins)
			continue;
		frames->locations[i].linkage = frame_union_copy_name(frames,
		    from, old->linkage, error);
		frames->locations[i].start_line = old->start_line;
		frames->locations[i].discriminator = old->discriminator;
	}
	return error->is_set ? -1 : 0;
}

/* Writes the frame's identity as bytes to the scratch; its size, or 0. */
static size_t
make_frame_key(struct frame_union *frames, const struct frame *frame,
               uint32_t module, struct error *error)
{
	const struct frame_key key = {
		.address = frame->address,
		.module = module,
		.function_offset = frame->function_offset,
		.placeholder = frame->placeholder,
		.flags = frame->is_made_up | frame->has_debug_lines << 1 |
		    frame->is_interpreted << 2 | frame->is_awaiting << 3,
	};
	size_t locations_size = frame->n_locations *
	                        sizeof *frames->locations;
	size_t size = sizeof key + locations_size;

	if (memory_grow(&frames->key, &frames->key_capacity, size, 1,
	                error) != 0)
		return 0;
	memcpy(frames->key, &key, sizeof key);
	memcpy(frames->key + sizeof key, frames->locations, locations_size);
	return size;
}

int
frame_union_frame(struct frame_union *frames, const struct profile *from,
                  uint32_t from_number, const uint32_t *module_map,
                  uint32_t *number, struct error *error)
{
	const struct frame *frame = &from->frames[from_number];
	struct profile *sum = frames->sum;
	uint32_t module = frame->module;
	XXH128_hash_t digest;
	size_t key_size;

	if (module != NO_MODULE)
		module = module_map[module];
	if (rename_locations(frames, from, frame, error) != 0)
		return -1;
	key_size = make_frame_key(frames, frame, module, error);
	if (key_size == 0)
		return -1;
	digest = digest_index_hash(frames->frame_keys, frames->key, key_size);
	*number = digest_index_find(frames->frame_keys, &digest);
	if (*number != UINT32_MAX)
		return 0;
	*number = profile_add_frame(sum, module, frame->address,
	                            frames->locations, frame->n_locations,
	                            error);
	if (*number == UINT32_MAX ||
	    digest_index_enter(frames->frame_keys, &digest, *number,
	                       error) != 0)
		return -1;
	sum->frames[*number].function_offset = frame->function_offset;
	sum->frames[*number].has_debug_lines = frame->has_debug_lines;
	sum->frames[*number].lacked_lines = frame->lacked_lines;
	sum->frames[*number].is_deferred = frame->is_deferred;
	sum->frames[*number].placeholder = frame->placeholder;
	sum->frames[*number].is_made_up = frame->is_made_up;
	sum->frames[*number].is_interpreted = frame->is_interpreted;
	sum->frames[*number].is_awaiting = frame->is_awaiting;
	return 0;
}
