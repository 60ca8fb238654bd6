/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_names.c -- the names and lines of addresses that a recording keeps.
 *
 * All addresses are in one array, those of a module or process together and
 * ascending.  A key finds them: of a module its path and build, of a process
 * its pid and start.
 */
#include "src/symbols/names/address_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct kept_names {
	struct names *texts;
	struct names *keys;		/* number: index of the range */
	struct kept_range *ranges;
	struct kept_address *addresses;
	struct location *locations;
	size_t ranges_capacity;
	size_t n_addresses, addresses_capacity;
	size_t n_locations, locations_capacity;
	struct kept_range *last;	/* begun last; NULL: ignored */
};

struct kept_names *
kept_names_new(struct error *error)
{
	struct kept_names *kept = memory_array(1, sizeof *kept, error);

	if (kept == NULL)
		return NULL;
	kept->texts = names_new(error);
	kept->keys = names_new(error);
	if (kept->texts != NULL && kept->keys != NULL)
		return kept;
	kept_names_free(kept);
	return NULL;
}

void
kept_names_free(struct kept_names *kept)
{
	if (kept == NULL)
		return;
	names_free(kept->texts);
	names_free(kept->keys);
	free(kept->ranges);
	free(kept->addresses);
	free(kept->locations);
	free(kept);
}

struct names *
kept_names_texts(const struct kept_names *kept)
{
	return kept->texts;
}

/* key: the range's number in keys, below n_before if it is not new. */
static int
kept_names_begin(struct kept_names *kept, uint32_t n_before, uint32_t key,
                 struct error *error)
{
	kept->last = NULL;
	if (key == NO_NAME)
		return -1;
	if (key < n_before)
		return 0;
	if (memory_grow(&kept->ranges, &kept->ranges_capacity,
	                (size_t)key + 1, sizeof *kept->ranges, error) != 0)
		return -1;
	kept->last = &kept->ranges[key];
	*kept->last = (struct kept_range){ kept->n_addresses, 0 };
	return 0;
}

int
kept_names_begin_module(struct kept_names *kept, const struct module *module,
                        struct error *error)
{
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);
	uint32_t n_before = names_count(kept->keys);

	return kept_names_begin(kept, n_before,
	                        names_add_pair(kept->keys, module->path,
	                                       strlen(module->path), build,
	                                       size, error),
	                        error);
}

/* A path is not empty, so no module has this key. */
static void
write_process_key(char key[48], uint64_t pid, uint64_t start_ns)
{
	snprintf(key, 48, "%" PRIu64 " %" PRIu64, pid, start_ns);
}

int
kept_names_begin_process(struct kept_names *kept, uint64_t pid,
                         uint64_t start_ns, struct error *error)
{
	uint32_t n_before = names_count(kept->keys);
	char key[48];

	write_process_key(key, pid, start_ns);
	return kept_names_begin(kept, n_before,
	                        names_add_pair(kept->keys, "", 0, key,
	                                       strlen(key), error),
	                        error);
}

int
kept_names_add(struct kept_names *kept, const struct kept_address *address,
               const struct location *locations, struct error *error)
{
	struct kept_address *new;

	if (kept->last == NULL)
		return 0;
	if (kept->n_locations + address->n > UINT32_MAX)
		return error_set(error, "more than 4,294,967,295 lines");
	if (memory_grow(&kept->addresses, &kept->addresses_capacity,
	                kept->n_addresses + 1, sizeof *new, error) != 0 ||
	    memory_grow(&kept->locations, &kept->locations_capacity,
	                kept->n_locations + address->n, sizeof *locations,
	                error) != 0)
		return -1;
	new = &kept->addresses[kept->n_addresses++];
	*new = *address;
	new->first = (uint32_t)kept->n_locations;
	if (address->n > 0)
		memcpy(kept->locations + kept->n_locations, locations,
		       address->n * sizeof *locations);
	kept->n_locations += address->n;
	kept->last->n++;
	return 0;
}

static const struct kept_range *
kept_names_find_range(const struct kept_names *kept, const char *first,
                      const void *second, size_t size)
{
	uint32_t key = names_find_pair(kept->keys, first, strlen(first),
	                               second, size);

	return key != NO_NAME ? &kept->ranges[key] : NULL;
}

const struct kept_range *
kept_names_module(const struct kept_names *kept, const struct module *module)
{
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);

	return kept_names_find_range(kept, module->path, build, size);
}

const struct kept_range *
kept_names_process(const struct kept_names *kept, uint64_t pid,
                   uint64_t start_ns)
{
	char key[48];

	write_process_key(key, pid, start_ns);
	return kept_names_find_range(kept, "", key, strlen(key));
}

const struct kept_address *
kept_names_find(const struct kept_names *kept, const struct kept_range *range,
                uint64_t address)
{
	const struct kept_address *addresses;
	size_t at;

	if (range == NULL || range->n == 0)
		return NULL;
	addresses = &kept->addresses[range->first];
	at = partition_point(range->n, i, addresses[i].address < address);
	return at < range->n && addresses[at].address == address ?
	    &addresses[at] : NULL;
}

const struct location *
kept_names_locations(const struct kept_names *kept,
                     const struct kept_address *found)
{
	return found->n > 0 ? kept->locations + found->first : NULL;
}
