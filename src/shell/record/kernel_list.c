/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_list.c -- writes where the kernel and its modules are. */
#include "src/shell/record/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"
#include "src/base/memory.h"
#include "src/sample/sample.h"
#include "src/symbols/elf/elf_file.h"

/* What is written. */
struct kernel_rows {
	struct cpprof_kernel_module *rows;
	size_t n, capacity;
};

/* Adds an empty row; NULL on out of memory, or if there are too many. */
static struct cpprof_kernel_module *
kernel_list_add(struct kernel_rows *rows)
{
	struct error error = { 0 };
	struct cpprof_kernel_module *row;

	if (rows->n == CPPROF_KERNEL_MODULES ||
	    memory_grow(&rows->rows, &rows->capacity, rows->n + 1, sizeof *row,
	                &error) != 0)
		return NULL;
	row = &rows->rows[rows->n++];
	memset(row, 0, sizeof *row);
	return row;
}

static int
kernel_list_compare(const void *left, const void *right)
{
	const struct cpprof_kernel_module *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/*
 * The kernel first, to which all addresses belong that are in no module, and
 * its modules, which lie behind it.  If the kernel hides its addresses, there
 * are none.
 */
static void
kernel_list_collect(struct kernel_rows *rows)
{
	struct kernel_module module = { 0 };
	const uint64_t base = kernel_base();
	struct cpprof_kernel_module *row;

	row = base != 0 ? kernel_list_add(rows) : NULL;
	if (row == NULL)
		return;
	row->start = base;
	row->end = UINT64_MAX;
	row->build_id_size = (uint32_t)kernel_build_id(NULL, row->build_id,
	    sizeof row->build_id);
	strcpy(row->path, CPPROF_KERNEL_PATH);
	while (kernel_module_next(&module)) {
		row = module.start > base ? kernel_list_add(rows) : NULL;
		if (row == NULL)
			continue;
		row->start = module.start;
		row->end = module.start + module.size;
		row->build_id_size = (uint32_t)module.build_id_size;
		memcpy(row->build_id, module.build_id, module.build_id_size);
		strcpy(row->path, module.path);
	}
	qsort(rows->rows, rows->n, sizeof *rows->rows, kernel_list_compare);
}

static bool
kernel_list_write(int directory, const struct kernel_rows *rows)
{
	const size_t size = rows->n * sizeof *rows->rows;
	int file = openat(directory, CPPROF_KERNEL_FILE, O_WRONLY | O_CREAT |
	                  O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool is_written;

	if (file < 0)
		return false;
	is_written = write(file, rows->rows, size) == (ssize_t)size;
	return close(file) == 0 && is_written;
}

bool
kernel_list_start(struct kernel_list *list, const struct recording *recording)
{
	struct kernel_rows rows = { 0 };
	bool is_written;

	list->directory = recording->directory;
	list->event = sample_events_keep_stacks();
	if (list->event < 0)
		return false;
	kernel_list_collect(&rows);
	is_written = kernel_list_write(list->directory, &rows);
	free(rows.rows);
	return is_written;
}

void
kernel_list_end(struct kernel_list *list)
{
	if (list->event < 0)
		return;
	close(list->event);
	unlinkat(list->directory, CPPROF_KERNEL_FILE, 0);
}
