/* SPDX-License-Identifier: MIT */
/* thread-file.c -- writes a thread's record. */
#include "lib/store/thread-file.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

#include "lib/base/process.h"
#include "lib/store/datafile.h"

static __thread char given_name[16];	/* set by the program; "": none */

/*
 * Adds a record for a state that has none, with the fields that never change.
 */
static enum store_result
add_record(struct thread *thread)
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
		datafile_publish(CPPROFDATA_THREADS, 1);
		thread->file->record = record;
		thread->file->wait_mapped = &((struct cpprofdata_thread *)
		    datafile_mapped(CPPROFDATA_THREADS, record))->wait;
		thread->file->tree.owner = number;
	}
	datafile_unlock();
	return record != NULL ? STORE_OK : STORE_FULL;
}

/* Copies a thread's record to the file, except for its waits. */
static void
note(const struct thread *thread)
{
	datafile_update(CPPROFDATA_THREADS, thread->file->record,
	    offsetof(struct cpprofdata_thread, wait));
}

enum store_result
thread_file_announce(struct thread *thread)
{
	enum store_result result = STORE_OK;

	if (thread->file->record == NULL)
		result = add_record(thread);
	if (result != STORE_OK)
		return result;
	thread->file->record->tid = thread->tid;
	thread->file->record->n_threads++;
	thread->file->record->end_ns = 0;
	note(thread);
	thread->file->is_announced = true;
	thread_file_note_name(thread);
	return STORE_OK;
}

void
thread_file_note_end(struct thread *thread)
{
	thread->file->record->end_ns = process_now();
	note(thread);
}

void
thread_file_note_name(struct thread *thread)
{
	char name[sizeof given_name] = "";

	if (given_name[0] != '\0')
		memcpy(name, given_name, sizeof name);
	else if (prctl(PR_GET_NAME, name) != 0)
		return;
	if (memcmp(thread->file->record->name, name, sizeof name) == 0)
		return;
	memcpy(thread->file->record->name, name, sizeof name);
	note(thread);
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
	file->is_announced = false;
	file->wait_mapped = NULL;
	if (file->record != NULL)
		tree_forked(&file->tree);
	file->record = NULL;
}
