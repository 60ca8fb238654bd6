/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merging.c -- from inputs to the file of a merged profile. */
#include "src/formats/merged/merging.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"
#include "src/formats/exporter.h"
#include "src/formats/merged/merged_file.h"
#include "src/profile/fleet.h"
#include "src/profile/stack_list.h"

extern const struct format format_merged;

/* Keys that are kept at most. */
enum { MOST_KEYS = 1000 };

struct merging {
	struct read_options options;
	const char *key;
	struct profile *sum;
	struct stack_list stacks;	/* of one input */
	uint64_t n_without_key;		/* of the members that were added */
	struct names *keys;		/* what counts could be by, as far as
					 * it is known; NULL: no key */
	bool skips_known;
};

struct merging *
merging_new(const struct read_options *options, const char *key,
            struct error *error)
{
	/* The keys that are no labels. */
	static const char *const always[] = { "host", "process", "thread", "id" };
	struct merging *merging = memory_array(1, sizeof *merging, error);

	if (merging == NULL)
		return NULL;
	merging->options = *options;
	merging->key = key;
	merging->sum = profile_new(error);
	if (merging->sum != NULL)
		fleet_new(merging->sum, error);
	if (key != NULL)
		merging->keys = names_new(error);
	for (size_t i = 0; merging->keys != NULL && !error->is_set &&
	     i < sizeof always / sizeof *always; i++)
		names_add(merging->keys, always[i], strlen(always[i]), error);
	if (!error->is_set)
		return merging;
	merging_free(merging);
	return NULL;
}

void
merging_free(struct merging *merging)
{
	if (merging == NULL)
		return;
	profile_free(merging->sum);
	stack_list_free(&merging->stacks);
	names_free(merging->keys);
	free(merging);
}

const struct fleet *
merging_fleet(const struct merging *merging)
{
	return merging->sum->fleet;
}

uint64_t
merging_without_key(const struct merging *merging)
{
	return merging->n_without_key;
}

/* Sets *note to "no hits have a value of Host; did you mean host?" */
static void
note_no_value(const struct merging *merging, struct error *note)
{
	const struct names *keys = merging->keys;
	const char *key = merging->sum->fleet->key;
	struct text_buffer text = { 0 };
	struct near near;

	near_start(&near, key, strlen(key));
	for (uint32_t i = 0; keys != NULL && i < names_count(keys); i++)
		if (strcmp(names_text(keys, i), key) != 0)
			near_offer(&near, names_text(keys, i),
			           names_length(keys, i));
	near_add(&near, &text);
	error_set(note, "no hits have a value of %.200s%s", key,
	          text_string(&text));
	text_free(&text);
}

int
merging_check_key(const struct merging *merging, uint64_t n_without_key,
                  struct error *note, struct error *error)
{
	const struct fleet *fleet = merging->sum->fleet;

	if (fleet->key == NULL)
		return 0;
	if (n_without_key >= fleet->n_members)
		return error_set(error, "none of %" PRIu64 " members has "
		                 "counts by %.200s; merge their profiles with "
		                 "--by %.200s", fleet->n_members, fleet->key,
		                 fleet->key);
	if (n_without_key > 0)
		error_set(note, "%" PRIu64 " of %" PRIu64 " members were merged "
		          "without --by %.200s: their hits have no value of it",
		          n_without_key, fleet->n_members, fleet->key);
	else if (fleet->by.n == 0 && fleet->n_rows > 1)
		note_no_value(merging, note);
	return 0;
}

/*
 * Notes what is to be said of the sum's key once a profile has been added: its
 * members of which no counts by a key came, and the keys of its labels.
 */
static int
merging_note_key(struct merging *merging, const struct profile *profile,
                 struct error *error)
{
	const struct fleet *fleet = profile->fleet;
	uint64_t n = merging->key == NULL ? 1 : 0;

	if (fleet != NULL)
		n = fleet->key == NULL ? fleet->n_members : 0;
	count_add(&merging->n_without_key, n);
	if (merging->keys == NULL || merging->sum->fleet->by.n > 0)
		return 0;
	for (uint32_t i = 0; i < profile->n_labels; i++) {
		uint32_t key = profile->labels[i].key;

		if (names_count(merging->keys) < MOST_KEYS &&
		    names_add(merging->keys, names_text(profile->names, key),
		              names_length(profile->names, key),
		              error) == NO_NAME)
			return -1;
	}
	return 0;
}

/* Whether the sum has counts by such an identity. */
static bool
merging_knows_id(const struct merging *merging, const char *id, size_t length)
{
	const struct names *values = merging->sum->fleet->values;

	return values != NULL && names_find(values, id, length) != NO_NAME;
}

/* Whether the sum has the profile, or one of its members. */
static bool
merging_knows(const struct merging *merging, const struct profile *profile,
              const char *id)
{
	const struct fleet *fleet = profile->fleet;

	if (fleet == NULL)
		return merging_knows_id(merging, id, strlen(id));
	for (uint32_t i = 0; i < names_count(fleet->values); i++)
		if (merging_knows_id(merging, names_text(fleet->values, i),
		                     names_length(fleet->values, i)))
			return true;
	return false;
}

void
merging_skip_known(struct merging *merging)
{
	merging->skips_known = true;
}

static enum merged_input
merging_add_file(struct merging *merging, const struct profile *profile,
                 const char *path, const char *id,
                 const struct content *content, struct error *error)
{
	struct fleet_identity identity = {
		.id = id,
		.name = strcmp(path, "-") == 0 ? "" : path,
		.key = merging->key,
	};
	char content_id[CONTENT_ID_SIZE];
	struct fleet *fleet = merging->sum->fleet;
	enum merged_input result = MERGED_SKIPPED;
	struct error why = { 0 };

	source_content_id(content->hash, content_id);
	if (id == NULL)
		identity.id = content_id;
	if (merging->skips_known &&
	    merging_knows(merging, profile, identity.id))
		error_set(&why, "it is there already");
	else if (fleet_accepts(fleet, profile, &identity, &why))
		result = fleet_add_profile(fleet, profile, &identity, &why) ==
		         0 ? MERGED_ADDED : MERGED_FAILED;
	if (why.is_out_of_memory)
		error_pass(error, &why);
	else if (why.is_set)
		error_set(error, "%s: cannot merge: %s", path, why.text);
	return result;
}

struct profile *
merging_load(const char *path, const struct read_options *options,
             void (*warn)(void *context, const char *text), void *context,
             enum merged_input *result, struct error *error)
{
	struct profile *profile = load_profiles(&path, 1, options, error);

	*result = profile == NULL && (error->is_out_of_memory ||
	    interrupt_requested) ? MERGED_FAILED : MERGED_SKIPPED;
	for (uint32_t i = 0; profile != NULL && i < profile->n_warnings; i++)
		warn(context, profile->warnings[i]);
	return profile;
}

enum merged_input
merging_add(struct merging *merging, const char *path, const char *id,
            void (*warn)(void *context, const char *text), void *context,
            struct error *error)
{
	struct content content = { 0 };
	struct read_options options = merging->options;
	struct profile *profile;
	enum merged_input result;

	options.content = &content;
	/* Counts by a key are those of threads and labels, so of a tree. */
	if (merging->key == NULL)
		options.stacks = &merging->stacks;
	profile = merging_load(path, &options, warn, context, &result, error);
	if (profile == NULL)
		return result;
	if (profile->fleet != NULL && id != NULL)
		error_set(error, "%s: a merged profile, whose members have "
		          "their own identities: --id is not for it", path);
	else
		result = merging_add_file(merging, profile, path, id, &content,
		                          error);
	if (result == MERGED_ADDED &&
	    merging_note_key(merging, profile, error) != 0)
		result = MERGED_FAILED;
	if (result == MERGED_ADDED && profile->is_cut_short)
		result = MERGED_CUT_SHORT;
	profile_free(profile);
	return result;
}

int
merging_check_whole(const struct merging_lack *lack, size_t n,
                    const char *output, struct error *error)
{
	if (lack->n_skipped > 0 && lack->n_cut > 0)
		return error_set(error, "%s: %" PRIu64 " of %zu inputs are not "
		                 "in it, and of %" PRIu64 " only the beginning",
		                 output, lack->n_skipped, n, lack->n_cut);
	if (lack->n_skipped > 0)
		return error_set(error, "%s: %" PRIu64 " of %zu inputs are not "
		                 "in it", output, lack->n_skipped, n);
	if (lack->n_cut > 0)
		return error_set(error, "%s: of %" PRIu64 " of %zu inputs only "
		                 "the beginning is in it", output, lack->n_cut,
		                 n);
	return 0;
}

int
merging_add_written(struct merging *merging, const char *name,
                    const void *bytes, size_t size, struct error *error)
{
	const struct content content = { 0 };
	struct source *source = source_of_memory(name, bytes, size, error);
	struct profile *profile = source == NULL ? NULL :
	    format_merged.read(source, &merging->options, error);
	enum merged_input result = profile == NULL ? MERGED_FAILED :
	    merging_add_file(merging, profile, name, NULL, &content, error);

	source_close(source);
	profile_free(profile);
	return result == MERGED_ADDED ? 0 : -1;
}

/* Writes the sum as views would see it. */
static int
export_sum(struct merging *merging, const char *name, struct writer *writer,
           struct error *error)
{
	const struct naming_rule rule = { GRANULARITY_FUNCTION, INLINES_AUTO };
	struct profile *sum = merging->sum;
	struct export_source source = { .profile = sum };
	struct sample_tree *named;
	uint64_t n_changed;
	bool is_own = false;
	size_t i = 0;
	int result;

	while (strcmp(exporter_names[i], name) != 0)
		i++;
	if (fleet_make_tree(sum->fleet, error) != 0)
		return -1;
	named = profile_named_tree(sum, &rule, &is_own, error);
	if (named == NULL)
		return -1;
	source.named = named;
	source.inlines = rule.inlines;
	result = exporters[i]->write(&source, writer, &n_changed, error);
	if (is_own)
		sample_tree_free(named);
	return result;
}

const char *
merging_exporter_of(const char *path)
{
	static const char *const ends[] = { ".pb.gz", ".pprof" };
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n_end = strlen(ends[i]);

		if (n >= n_end && strcmp(path + n - n_end, ends[i]) == 0)
			return "pprof";
	}
	return NULL;
}

int
merging_write(struct merging *merging, const char *exporter,
              struct writer *writer, struct error *error)
{
	if (fleet_order(merging->sum->fleet, error) != 0)
		return -1;
	return exporter == NULL ?
	       merged_write(merging->sum->fleet, writer, error) :
	       export_sum(merging, exporter, writer, error);
}

struct profile *
merged_read_runs(const char *path, const char *resource, struct error *error)
{
	const struct read_options options = {
		.has_runs = true, .resource = resource,
	};

	return load_of_format(path, &format_merged, &options, error);
}
