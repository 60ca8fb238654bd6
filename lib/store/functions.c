/* SPDX-License-Identifier: MIT */
/* functions.c -- the records of interpreted functions, by their code objects.
 *
 * Two hash tables in private memory.  One leads from a code object to its
 * number.  Handlers on all threads read it without a lock: an entry has a count
 * that is odd while it is written.  A code object at the address of one that was
 * freed takes over its entry, so the table is as large as the largest number of
 * code objects at a time that were sampled.  The other leads from a record's
 * contents to its number, and is used with the file's lock held.
 *
 * Function 0 stands for those that could not be read, or had no room.
 */
#include "lib/store/thread-file.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/base/attributes.h"
#include "lib/python/python.h"
#include "lib/store/datafile.h"

#define FIRST_ENTRIES ((size_t)1024)
#define MAX_ENTRIES ((size_t)1 << 20)
#define FUNCTION_NAME_SIZE 1024
#define FUNCTION_FILE_SIZE 4096

struct function_entry {
	_Atomic uint32_t count;		/* odd: it is being written */
	_Atomic uint32_t number;
	_Atomic uint64_t code;		/* 0: the entry is free */
	_Atomic uint64_t tag;
};

/* Its size is a power of two, and at most half of it is used. */
struct function_table {
	size_t size, n_used;
	struct function_entry entries[];
};

struct function_contents {
	uint64_t hash;			/* 0: the entry is free */
	uint32_t number;
};

static struct function_table *_Atomic by_code WIPED;
static struct {
	struct function_contents *entries;
	size_t size, n_used;
} by_contents WIPED;
/* The text last written, whose string the next function may share. */
static struct {
	uint64_t hash;
	uint32_t file;
} last_file WIPED;

static uint64_t
function_hash(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (; size > 0; size--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

/*
 * The entry of a code object, or a free one.
 */
static struct function_entry *
seek_entry(struct function_table *table, uint64_t code)
{
	size_t at = (size_t)((code >> 4) * 0x9e3779b97f4a7c15u >> 20);

	for (;; at++) {
		struct function_entry *entry = &table->entries[at &
		    (table->size - 1)];
		const uint64_t known = atomic_load_explicit(&entry->code,
		    memory_order_relaxed);

		if (known == code || known == 0)
			return entry;
	}
}

static bool
find_number(const struct python_frame *frame, uint32_t *number)
{
	struct function_table *table = atomic_load_explicit(&by_code,
	    memory_order_acquire);
	struct function_entry *entry;
	uint32_t count;
	bool is_same;

	if (table == NULL)
		return false;
	entry = seek_entry(table, frame->code);
	count = atomic_load_explicit(&entry->count, memory_order_acquire);
	is_same = atomic_load_explicit(&entry->code, memory_order_relaxed) ==
	    frame->code && atomic_load_explicit(&entry->tag,
	    memory_order_relaxed) == frame->tag;
	*number = atomic_load_explicit(&entry->number, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return is_same && count % 2 == 0 && atomic_load_explicit(
	    &entry->count, memory_order_relaxed) == count;
}

/* Lock held, for this and the functions below. */
static void
write_entry(struct function_table *table, uint64_t code, uint64_t tag,
    uint32_t number)
{
	struct function_entry *entry = seek_entry(table, code);

	table->n_used += atomic_load(&entry->code) == 0;
	atomic_fetch_add(&entry->count, 1);
	atomic_store(&entry->tag, tag);
	atomic_store(&entry->number, number);
	atomic_store(&entry->code, code);
	atomic_fetch_add(&entry->count, 1);
}

/* A table with room for one more entry; NULL: there is no memory. */
static struct function_table *
make_room(void)
{
	struct function_table *table = atomic_load(&by_code), *larger;
	const size_t size = table == NULL ? FIRST_ENTRIES : table->size * 2;
	size_t i;

	if (table != NULL && table->n_used * 2 < table->size)
		return table;
	larger = size > MAX_ENTRIES ? NULL : store_memory(
	    sizeof *larger + size * sizeof *larger->entries);
	if (larger == NULL)
		return NULL;
	larger->size = size;
	for (i = 0; table != NULL && i < table->size; i++)
		if (atomic_load(&table->entries[i].code) != 0)
			write_entry(larger, table->entries[i].code,
			    table->entries[i].tag, table->entries[i].number);
	/* Others may still read the smaller one. */
	atomic_store_explicit(&by_code, larger, memory_order_release);
	return larger;
}

/* The entry of these contents, or a free one; NULL: there is no memory. */
static struct function_contents *
seek_contents(uint64_t hash)
{
	struct function_contents *old = by_contents.entries, *entry;
	const size_t old_size = by_contents.size;
	size_t size = old_size, i;

	if (by_contents.n_used * 2 >= size) {
		size = size == 0 ? FIRST_ENTRIES : size * 2;
		entry = size > MAX_ENTRIES ? NULL :
		    store_memory(size * sizeof *entry);
		if (entry == NULL)
			return NULL;
		by_contents.entries = entry;
		by_contents.size = size;
		for (i = 0; i < old_size; i++)
			if (old[i].hash != 0)
				*seek_contents(old[i].hash) = old[i];
		if (old != NULL)
			store_free(old, old_size * sizeof *old);
	}
	for (i = hash;; i++) {
		entry = &by_contents.entries[i & (size - 1)];
		if (entry->hash == hash || entry->hash == 0)
			return entry;
	}
}

static uint32_t
add_record(const struct cpprofdata_function *function)
{
	struct cpprofdata_function *record;
	uint32_t number;

	record = datafile_add_records(CPPROFDATA_FUNCTIONS, sizeof *record, 1,
	    &number);
	if (record == NULL)
		return 0;
	*record = *function;
	datafile_publish(CPPROFDATA_FUNCTIONS, 1);
	return number;
}

static uint32_t
add_lines(const void *lines, size_t size)
{
	uint32_t number;
	void *at = size == 0 ? NULL :
	    datafile_add_records(CPPROFDATA_LINES, 1, size, &number);

	if (at == NULL)
		return 0;
	memcpy(at, lines, size);
	datafile_publish(CPPROFDATA_LINES, size);
	return number;
}

/* The number of a code object's record, which is added if it is new. */
static uint32_t
enter_function(struct thread *thread, const struct python_frame *frame)
{
	static char name[FUNCTION_NAME_SIZE] BIG_TABLE,
	    file[FUNCTION_FILE_SIZE] BIG_TABLE;
	struct cpprofdata_function function = {
		.language = CPPROFDATA_PYTHON };
	struct function_contents *contents;
	uint64_t hash, file_hash;
	size_t n_name, n_file;
	struct python_code code;

	if (!python_describe(thread->python, thread->unwinder, frame, &code))
		return 0;
	n_name = python_copy_text(thread->python, thread->unwinder, code.name,
	    name, sizeof name);
	n_file = python_copy_text(thread->python, thread->unwinder, code.file,
	    file, sizeof file);
	if (n_name == SIZE_MAX || n_file == SIZE_MAX)
		return 0;
	file_hash = function_hash(0xcbf29ce484222325u, file, n_file + 1);
	hash = function_hash(file_hash, name, n_name + 1);
	hash = function_hash(hash, &code.first_line, sizeof code.first_line);
	hash = function_hash(hash, code.lines, code.lines_size) | 1;
	contents = seek_contents(hash);
	if (contents == NULL)
		return 0;
	if (contents->hash == hash)
		return contents->number;
	if (last_file.file == 0 || last_file.hash != file_hash) {
		last_file.file = datafile_add_string(file, n_file + 1, NULL);
		last_file.hash = file_hash;
	}
	function.file = last_file.file;
	function.name = datafile_add_string(name, n_name + 1, NULL);
	function.first_line = code.first_line;
	function.lines = add_lines(code.lines, code.lines_size);
	if (function.lines != 0)
		function.lines_size = (uint32_t)code.lines_size;
	contents->number = add_record(&function);
	if (contents->number != 0) {
		contents->hash = hash;
		by_contents.n_used++;
	}
	return contents->number;
}

enum store_result
functions_find(struct thread *thread, struct python_frame *frame)
{
	struct function_table *table;

	if (find_number(frame, &frame->function))
		return STORE_OK;
	if (!datafile_lock())
		return STORE_BUSY;
	if (!find_number(frame, &frame->function)) {
		if (atomic_load(&by_code) == NULL) {
			/* Number 0 stands for what is not known. */
			add_record(&(struct cpprofdata_function){ 0 });
			add_lines("", 1);
		}
		table = make_room();
		frame->function = table != NULL ?
		    enter_function(thread, frame) : 0;
		if (table != NULL)
			write_entry(table, frame->code, frame->tag,
			    frame->function);
	}
	datafile_unlock();
	return STORE_OK;
}
