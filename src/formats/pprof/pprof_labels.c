/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_labels.c -- what the labels of a pprof file's samples say.
 *
 * All labels are kept as such.  Some keys are what producers call threads and
 * processes by; their values also make the sample's thread and process.
 */
#include "src/formats/pprof/pprof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* What a label may tell, with the keys for it, the best first. */
enum fact { THREAD_NAME, THREAD_ID, PROCESS_ID, N_FACTS };

static const char *const fact_keys[N_FACTS][6] = {
	[THREAD_NAME] = { "thread", "thread name", "thread_name", "comm" },
	[THREAD_ID] = { "thread id", "thread_id", "tid" },
	[PROCESS_ID] = { "pid", "process id", "process_id" },
};

bool
pprof_is_thread_key(const char *key)
{
	for (int fact = THREAD_NAME; fact <= THREAD_ID; fact++)
		for (size_t i = 0; fact_keys[fact][i] != NULL; i++)
			if (strcmp(fact_keys[fact][i], key) == 0)
				return true;
	return false;
}

/* A fact's value so far, and the rank of its key. */
struct pprof_found {
	size_t rank;
	uint32_t value;		/* a name; NO_NAME: none */
};

struct pprof_entry {
	const struct pprof_tables *tables;
	struct profile *profile;
	bool drops_numbers;
	struct names *threads;	/* thread i by its name, id and process */
	struct id_table pids;	/* number i is process i */
	struct label *labels;	/* of one set */
	size_t capacity;
};

static uint32_t
pprof_labels_add_name(struct pprof_entry *entry, uint64_t string,
                      struct error *error)
{
	size_t length;
	const char *text = pprof_tables_string(entry->tables, string, &length);

	return names_add(entry->profile->names, text != NULL ? text : "",
	                 text != NULL ? length : 0, error);
}

/* Makes a label of its encoding; 1, 0 if it is left out, or -1. */
static int
read_label(struct pprof_entry *entry, const unsigned char *bytes, size_t size,
           struct label *label, struct error *error)
{
	struct protobuf_field part, field = {
		.wire = PROTOBUF_BYTES, .bytes = bytes, .value = size };
	struct protobuf message = protobuf_message(&field);
	uint64_t values[LABEL_NUM_UNIT + 1] = { 0 };

	while (protobuf_next(&message, &part) == PROTOBUF_FIELD)
		if (part.number <= LABEL_NUM_UNIT)
			values[part.number] = part.value;
	if (values[LABEL_STR] == 0 && entry->drops_numbers)
		return 0;
	*label = (struct label){
		.key = pprof_labels_add_name(entry, values[LABEL_KEY], error),
		.unit = NO_NAME,
	};
	if (values[LABEL_STR] != 0) {
		label->value = pprof_labels_add_name(entry, values[LABEL_STR],
		                                     error);
	} else {
		label->value = names_add_format(entry->profile->names, error,
		    "%" PRId64, (int64_t)values[LABEL_NUM]);
		label->unit = pprof_labels_add_name(entry,
		                                    values[LABEL_NUM_UNIT],
		                                    error);
	}
	return error->is_set ? -1 : 1;
}

/* Notes the facts that a label tells. */
static void
note_facts(const struct profile *profile, const struct label *label,
           struct pprof_found *found)
{
	const char *key = names_text(profile->names, label->key);

	if (names_length(profile->names, label->value) == 0)
		return;
	for (int fact = 0; fact < N_FACTS; fact++)
		for (size_t rank = 0; rank < found[fact].rank &&
		     fact_keys[fact][rank] != NULL; rank++)
			if (strcmp(fact_keys[fact][rank], key) == 0)
				found[fact] = (struct pprof_found){ rank,
					label->value };
}

/* The number that a fact is; 0 if it is none. */
static uint64_t
pprof_labels_number_of(const struct profile *profile,
                       const struct pprof_found *found)
{
	const char *text = found->value == NO_NAME ? "" :
	    names_text(profile->names, found->value);
	char *end;
	uint64_t number;

	if (*text < '0' || *text > '9')
		return 0;
	number = strtoull(text, &end, 10);
	return *end == '\0' ? number : 0;
}

/*
 * The process with that number, 0 if none is known.  The first is the file's
 * own process.
 */
static uint32_t
pprof_labels_find_process(struct pprof_entry *entry, uint64_t pid,
                          struct error *error)
{
	struct profile *profile = entry->profile;
	struct process process = { .pid = pid };
	uint32_t n = entry->pids.n, number;

	if (pid == 0)
		return 0;
	number = id_table_add(&entry->pids, pid, error);
	if (number == NO_ID || number < n)
		return number;
	if (number > 0)
		return profile_add_process(profile, &process, error);
	profile->processes[0].pid = pid;
	return 0;
}

/* The thread that the facts tell, entered if new; NO_THREAD if they do not. */
static uint32_t
pprof_labels_find_thread(struct pprof_entry *entry,
                         const struct pprof_found *found, struct error *error)
{
	struct profile *profile = entry->profile;
	const struct pprof_found *name = &found[THREAD_NAME];
	struct thread thread = {
		.tid = pprof_labels_number_of(profile, &found[THREAD_ID])
	};
	uint64_t pid = pprof_labels_number_of(profile, &found[PROCESS_ID]);
	uint32_t n = names_count(entry->threads), number;
	struct {
		uint64_t tid;
		uint32_t process, name;
	} key;

	/* A thread may be known by a number only, or by what should be one. */
	if (name->value == NO_NAME)
		name = &found[THREAD_ID];
	if (name->value == NO_NAME && pid == 0)
		return NO_THREAD;
	thread.process = pprof_labels_find_process(entry, pid, error);
	if (name->value != NO_NAME)
		thread.name = names_text(profile->names, name->value);
	memset(&key, 0, sizeof key);
	key.tid = thread.tid;
	key.process = thread.process;
	key.name = name->value;
	number = names_add(entry->threads, (const char *)&key, sizeof key,
	                   error);
	if (error->is_set || number < n)
		return number;
	return profile_add_thread(profile, &thread, error);
}

/* Enters one set: labels[n] as pprof.h keeps them. */
static int
enter_set(struct pprof_entry *entry, const unsigned char *bytes, size_t n,
          struct reader_section *section, struct error *error)
{
	struct pprof_found found[N_FACTS];
	uint32_t n_labels = 0;
	size_t size;

	for (int fact = 0; fact < N_FACTS; fact++)
		found[fact] = (struct pprof_found){ SIZE_MAX, NO_NAME };
	for (size_t at = 0; at < n; at += sizeof size + size) {
		int is_kept;

		memcpy(&size, bytes + at, sizeof size);
		if (memory_grow(&entry->labels, &entry->capacity,
		                (size_t)n_labels + 1, sizeof *entry->labels,
		                error) != 0)
			return -1;
		is_kept = read_label(entry, bytes + at + sizeof size, size,
		                     &entry->labels[n_labels], error);
		if (is_kept < 0)
			return -1;
		if (is_kept)
			note_facts(entry->profile, &entry->labels[n_labels++],
			           found);
	}
	section->thread = pprof_labels_find_thread(entry, found, error);
	section->label_set = profile_add_label_set(entry->profile,
	    entry->labels, n_labels, error);
	return error->is_set ? -1 : 0;
}

int
pprof_labels_enter(const struct pprof_tables *tables,
                   const struct pprof_samples *samples,
                   struct reader_section *sections, struct error *error)
{
	const struct names *sets = samples->label_sets;
	struct pprof_entry entry = {
		.tables = tables,
		.profile = samples->reader->profile,
		.drops_numbers = samples->drops_numbers,
		.threads = names_new(error),
	};
	int result = error->is_set ? -1 : 0;

	for (uint32_t i = 0; result == 0 && i < names_count(sets); i++)
		result = enter_set(&entry,
		    (const unsigned char *)names_text(sets, i),
		    names_length(sets, i), &sections[i], error);
	names_free(entry.threads);
	id_table_free(&entry.pids);
	free(entry.labels);
	if (result != 0)
		return -1;
	if (samples->has_too_many_sets &&
	    reader_warn(samples->reader, error,
	                "samples have more than %d "
	                "combinations of labels; the threads and labels of the "
	                "rest are unknown",
	                PPROF_LABEL_SETS_MAX) != 0)
		return -1;
	if (samples->drops_numbers &&
	    reader_warn(samples->reader, error,
	                "labels that are numbers have "
	                "more than %d combinations; they are not read",
	                PPROF_NUMBER_SETS_MAX) != 0)
		return -1;
	return 0;
}
