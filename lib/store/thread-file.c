/* SPDX-License-Identifier: MIT */
/* thread-file.c -- writes a thread's record.
 *
 * A thread has the record and the tree of the state that it was given, which
 * an earlier thread of the same start routine may have used.  If that had
 * another name, they are put aside, and the thread gets those of an earlier
 * thread of its own name, or new ones.
 */
#include "lib/store/thread-file.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/process.h"
#include "lib/store/datafile.h"

static __thread char given_name[16];	/* set by the program; "": none */

/* A record and its tree that no thread has now. */
struct thread_place {
	struct thread_place *next;
	const void *routine;
	struct cpprofdata_thread *record;
	struct cpprofdata_wait *wait_mapped;
	struct tree tree;
};

/* More are not put aside: names may be numbered without end. */
#define PLACES_MAX 64

/* Under the file's lock. */
static struct thread_place *places WIPED;
static unsigned n_places WIPED;


/*
 * The thread's name, of THREAD_NAME_SIZE bytes; false if it is unknown.  Called
 * while a sample is taken, so not by the C library's prctl, which a sanitizer may
 * have replaced by one that takes locks.
 */
static bool
thread_file_find_name(char *name)
{
	memcpy(name, given_name, THREAD_NAME_SIZE);
	return name[0] != '\0' || arch_system_call(SYS_prctl, PR_GET_NAME,
	    (long)name, 0, 0) == 0;
}

/*
 * Adds a record for a state that has none, with the fields that never change.
 */
static enum store_result
thread_file_add_record(struct thread *thread)
{
	struct cpprofdata_thread *record;
	uint32_t number, module = CPPROFDATA_NO_MODULE;
	uint64_t offset = 0;

	if (!thread->is_main &&
	    modules_find(&thread->file->modules, (uintptr_t)thread->routine,
	    &module, &offset) == STORE_BUSY)
		return STORE_BUSY;
	if (!datafile_lock())
		return STORE_BUSY;
	record = datafile_add_records(CPPROFDATA_THREADS, sizeof *record, 1,
	    &number);
	if (record != NULL) {
		record->start_module = module;
		record->start_offset = offset;
		record->start_ns = process_now();
		record->flags = thread->is_main ? CPPROFDATA_THREAD_MAIN : 0;
		record->tid = thread->tid;
		thread_file_find_name(record->name);
		datafile_publish(CPPROFDATA_THREADS, 1);
		thread->file->record = record;
		thread->file->wait_mapped = &((struct cpprofdata_thread *)
		    datafile_mapped(CPPROFDATA_THREADS, record))->wait;
		thread->file->tree.owner = number;
	}
	datafile_unlock();
	return record != NULL ? STORE_OK : STORE_FULL;
}

/* Copies a record to the file, except for its waits. */
static void
thread_file_note(const struct cpprofdata_thread *record)
{
	datafile_update(CPPROFDATA_THREADS, record,
	    offsetof(struct cpprofdata_thread, wait));
}

static void
write_wait(struct cpprofdata_wait *to, const struct cpprofdata_wait *wait)
{
	__atomic_store_n(&to->since_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&to->check_ns, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	to->node = wait->node;
	to->columns = wait->columns;
	to->left = wait->left;
	to->io_left = wait->io_left;
	to->gathered_ns = wait->gathered_ns;
	__atomic_store_n(&to->check_ns, wait->since_ns, __ATOMIC_RELEASE);
	__atomic_store_n(&to->since_ns, wait->since_ns, __ATOMIC_RELEASE);
}

void
thread_file_note_wait(struct thread *thread,
    const struct cpprofdata_wait *wait)
{
	if (thread->file->wait_mapped == NULL)
		return;
	thread->file->wait = *wait;
	write_wait(thread->file->wait_mapped, wait);
}

enum store_result
thread_file_announce(struct thread *thread)
{
	struct thread_file *file = thread->file;
	enum store_result result = STORE_OK;

	if (file->record == NULL)
		result = thread_file_add_record(thread);
	if (result != STORE_OK)
		return result;
	file->earlier_tid = file->record->tid;
	file->earlier_end_ns = file->record->end_ns;
	file->record->tid = thread->tid;
	file->record->n_threads++;
	file->record->end_ns = 0;
	thread_file_note(file->record);
	file->is_announced = true;
	file->has_own_name = false;
	return STORE_OK;
}

/*
 * Exchanges the record and tree for those of the thread's name.  They stay if
 * there are too many.
 */
static enum store_result
change_place(struct thread *thread, const char *name)
{
	const struct cpprofdata_wait no_wait = { 0 };
	struct thread_file *file = thread->file;
	struct thread_place *place, mine = { .record = file->record,
		.wait_mapped = file->wait_mapped, .tree = file->tree };

	if (!datafile_lock())
		return STORE_BUSY;
	for (place = places; place != NULL; place = place->next)
		if (place->routine == thread->routine &&
		    memcmp(place->record->name, name, THREAD_NAME_SIZE) == 0)
			break;
	if (place == NULL && n_places < PLACES_MAX)
		place = store_memory(sizeof *place);
	if (place != NULL && place->record == NULL) {
		place->routine = thread->routine;
		place->next = places;
		places = place;
		n_places++;
	}
	if (place != NULL) {
		/* Undo thread_file_announce for the record put aside. */
		file->record->tid = file->earlier_tid;
		file->record->end_ns = file->earlier_end_ns;
		file->record->n_threads--;
		thread_file_note(file->record);
		write_wait(file->wait_mapped, &no_wait);
		file->record = place->record;
		file->wait_mapped = place->wait_mapped;
		file->tree = place->tree;
		place->record = mine.record;
		place->wait_mapped = mine.wait_mapped;
		place->tree = mine.tree;
		file->is_announced = false;
	}
	datafile_unlock();
	return STORE_OK;
}

enum store_result
thread_file_take_name(struct thread *thread)
{
	struct thread_file *file = thread->file;
	enum store_result result = STORE_OK;
	char name[THREAD_NAME_SIZE];

	if (file->has_own_name || !thread_file_find_name(name))
		return STORE_OK;
	if (file->record->n_threads > 1 &&
	    memcmp(file->record->name, name, sizeof name) != 0)
		result = change_place(thread, name);
	if (result == STORE_OK && !file->is_announced) {
		result = thread_file_announce(thread);
		if (result == STORE_OK)
			write_wait(file->wait_mapped, &file->wait);
	}
	if (result != STORE_OK)
		return result;
	if (memcmp(file->record->name, name, sizeof name) != 0) {
		memcpy(file->record->name, name, sizeof name);
		thread_file_note(file->record);
	}
	file->has_own_name = true;
	return STORE_OK;
}

bool
thread_file_is_renamed(const struct thread *thread)
{
	char name[THREAD_NAME_SIZE];

	return thread_file_find_name(name) &&
	    memcmp(thread->file->record->name, name, sizeof name) != 0;
}

void
thread_file_name_of(const struct thread *any, const void *routine, char *name)
{
	while (any != NULL &&
	    (any->routine != routine || any->file->record == NULL))
		any = any->next;
	if (any != NULL)
		memcpy(name, any->file->record->name, THREAD_NAME_SIZE);
	else if (!thread_file_find_name(name))
		name[0] = '\0';
	name[THREAD_NAME_SIZE - 1] = '\0';
}

void
thread_file_note_end(struct thread *thread)
{
	thread->file->record->end_ns = process_now();
	thread_file_note(thread->file->record);
}

void
thread_file_note_name(struct thread *thread)
{
	struct cpprofdata_thread *record = thread->file->record;
	char name[THREAD_NAME_SIZE];

	if (record->n_threads > 1 || !thread_file_find_name(name) ||
	    memcmp(record->name, name, sizeof name) == 0)
		return;
	memcpy(record->name, name, sizeof name);
	thread_file_note(record);
}

void
thread_file_name(const char *name)
{
	struct thread *self;

	thread_hold_off();
	memset(given_name, 0, sizeof given_name);
	if (name != NULL)
		strncpy(given_name, name, sizeof given_name - 1);
	self = thread_self;
	if (self != NULL && self->file->is_announced)
		thread_file_note_name(self);
	thread_resume();
}

void
thread_file_forked(struct thread *thread)
{
	struct thread_file *file = thread->file;

	modules_forget(&file->modules);
	file->is_announced = file->has_own_name = false;
	file->n_samples = 0;
	file->wait = (struct cpprofdata_wait){ 0 };
	file->wait_mapped = NULL;
	if (file->record != NULL)
		tree_forked(&file->tree);
	file->record = NULL;
}
