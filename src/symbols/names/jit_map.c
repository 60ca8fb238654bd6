/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_map.c -- names for code that a process made at run time.
 *
 * New code may take the place of older code.  So the pieces are cut until each
 * address belongs to the last piece that covers it.  That is a sweep over their
 * starts; a heap has the pieces that cover the current address, the last on
 * top.
 */
#include "src/symbols/names/address_frames.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/named_file.h"
#include "src/base/progress.h"

enum {
	NAME_MAX_LENGTH = 65536,
	LINE_MAX_LENGTH = NAME_MAX_LENGTH + 64,	/* and two numbers */
	/* Bytes read of a map; the largest ones seen have some hundred MB. */
	MAP_MAX = 256 << 20,
	PIECES_MAX = 4 << 20,
	PIECES_A_STEP = 4096,
};

static const uint64_t second_ns = 1000000000;

/* From here to the next cut is this piece, or none. */
struct cut {
	uint64_t start;
	size_t entry;		/* index; SIZE_MAX: none */
};

struct jit_map {
	struct jit_entries entries;
	struct cut *cuts;	/* by start */
	size_t n_cuts, capacity;
	char *problem;		/* see jit_map_problem; NULL: none */
};

void
jit_map_free(struct jit_map *map)
{
	if (map == NULL)
		return;
	jit_entries_free(&map->entries);
	free(map->cuts);
	free(map->problem);
	free(map);
}

/* Keeps the first reason why a file, or a part of it, was not read. */
static void
set_problem(struct jit_map *map, const char *path, const char *what)
{
	if (map->problem == NULL &&
	    asprintf(&map->problem, "%s %s", path, what) < 0)
		map->problem = NULL;
}

/*
 * Opens a regular file only, since opening others could block or have effects.
 * NULL: there is none; *why then says what is there, or is NULL if nothing is.
 */
static FILE *
jit_map_open_regular(const char *path, int more_flags, struct stat *status,
                     const char **why)
{
	FILE *file;
	int descriptor;

	*why = NULL;
	switch (named_file_open(path, more_flags, &descriptor, status)) {
	case NAMED_FILE_OPEN:
		break;
	case NAMED_FILE_MISSING:
		return NULL;
	case NAMED_FILE_FORBIDDEN:
		*why = "may not be read by you";
		return NULL;
	case NAMED_FILE_IS_LINK:
		*why = "is a symbolic link";
		return NULL;
	default:
		*why = "is not a plain file";
		return NULL;
	}
	file = fdopen(descriptor, "r");
	if (file == NULL)
		close(descriptor);
	return file;
}

/* Opens the map in /tmp, which anybody may have made. */
static FILE *
open_own_map(struct jit_map *map, uint32_t pid)
{
	struct stat status;
	const char *why;
	char path[64];
	FILE *file;

	snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
	file = jit_map_open_regular(path, O_NOFOLLOW, &status, &why);
	if (file != NULL && status.st_uid != 0 && status.st_uid != geteuid()) {
		why = "belongs to another user";
		fclose(file);
		file = NULL;
	}
	if (why != NULL)
		set_problem(map, path, why);
	return file;
}

static FILE *
open_map(struct jit_map *map, const struct symbol_search *search, uint32_t pid)
{
	static const char *const below[] = { "tmp/", "", NULL };
	struct stat status;
	const char *why;
	FILE *file = NULL;
	char *path;

	for (size_t i = 0; search != NULL && search->root != NULL &&
	     below[i] != NULL && file == NULL; i++) {
		if (asprintf(&path, "%s/%sperf-%u.map", search->root,
		             below[i], pid) < 0)
			return NULL;
		file = jit_map_open_regular(path, 0, &status, &why);
		if (why != NULL)
			set_problem(map, path, why);
		free(path);
	}
	return file != NULL ? file : open_own_map(map, pid);
}

/* Ignores a line that has another form. */
static int
jit_map_add_line(struct jit_map *map, char *line, struct error *error)
{
	struct jit_entry entry = { 0 };
	char *end;

	entry.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return 0;
	line = end + 1;
	entry.size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || end[1] == '\0' || end[1] == '\n')
		return 0;
	return jit_entries_add(&map->entries, &entry, end + 1,
	                       NAME_MAX_LENGTH, error);
}

/* Skips the rest of a line that is too long. */
static void
skip_line(FILE *file, size_t *n_read)
{
	int c;

	do {
		c = getc_unlocked(file);
		(*n_read)++;
	} while (c != '\n' && c != '\0' && c != EOF && *n_read < MAP_MAX);
}

/*
 * A map contains no NUL byte; after one, the file has a hole or is something
 * else. *why says what was not read, NULL if everything was.
 */
static int
jit_map_read_lines(struct jit_map *map, char *line, FILE *file,
                   const char **why, struct error *error)
{
	size_t n_read = 0;

	for (size_t n = 0; fgets(line, LINE_MAX_LENGTH, file) != NULL; n++) {
		size_t length = strlen(line);

		if (n_read >= MAP_MAX || map->entries.n >= PIECES_MAX) {
			*why = "is too large; its first part was used";
			break;
		}
		n_read += length;
		if (length > 0 && line[length - 1] == '\n') {
			line[length - 1] = '\0';
		} else if (length == 0 ||
		           (length < LINE_MAX_LENGTH - 1 && !feof(file))) {
			*why = "has a NUL byte; only the lines before it "
			    "were used";
			break;
		} else {
			skip_line(file, &n_read);
		}
		if (jit_map_add_line(map, line, error) != 0 ||
		    (n % PIECES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

static int
jit_map_read_map(struct jit_map *map, FILE *file, uint32_t pid,
                 struct error *error)
{
	char *line = memory_array(LINE_MAX_LENGTH, 1, error);
	const char *why = NULL;
	char name[32];
	int result = line == NULL ? -1 :
	             jit_map_read_lines(map, line, file, &why, error);

	snprintf(name, sizeof name, "perf-%u.map", pid);
	if (why != NULL)
		set_problem(map, name, why);
	free(line);
	return result;
}

/* ---- cutting ---- */

struct sweep {
	const struct jit_entry *entries;
	size_t *heap;			/* indices, the greatest on top */
	size_t n;
};

static void
jit_map_push(struct sweep *sweep, size_t entry)
{
	size_t i = sweep->n++;

	for (; i > 0 && sweep->heap[(i - 1) / 2] < entry; i = (i - 1) / 2)
		sweep->heap[i] = sweep->heap[(i - 1) / 2];
	sweep->heap[i] = entry;
}

static void
jit_map_pop(struct sweep *sweep)
{
	size_t last = sweep->heap[--sweep->n], i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < sweep->n &&
		    sweep->heap[child + 1] > sweep->heap[child])
			child++;
		if (child >= sweep->n || sweep->heap[child] < last)
			break;
		sweep->heap[i] = sweep->heap[child];
		i = child;
	}
	sweep->heap[i] = last;
}

static uint64_t
end_of(const struct jit_entry *entry)
{
	return entry->size > UINT64_MAX - entry->start ? UINT64_MAX :
	       entry->start + entry->size;
}

/* From `at` on is that piece. */
static int
jit_map_add_cut(struct jit_map *map, uint64_t at, size_t entry,
                struct error *error)
{
	if (map->n_cuts > 0 && map->cuts[map->n_cuts - 1].start == at)
		map->n_cuts--;
	if (memory_grow(&map->cuts, &map->capacity, map->n_cuts + 1,
	                sizeof *map->cuts, error) != 0)
		return -1;
	map->cuts[map->n_cuts++] = (struct cut){ at, entry };
	return 0;
}

/* Adds the cuts where pieces end, up to `until`. */
static int
end_pieces(struct jit_map *map, struct sweep *sweep, uint64_t until,
           struct error *error)
{
	while (sweep->n > 0) {
		uint64_t at = end_of(&sweep->entries[sweep->heap[0]]);

		if (at > until)
			return 0;
		/* Pieces below it in the heap may have ended before. */
		while (sweep->n > 0 &&
		       end_of(&sweep->entries[sweep->heap[0]]) <= at)
			jit_map_pop(sweep);
		if (jit_map_add_cut(map, at,
		                    sweep->n > 0 ? sweep->heap[0] : SIZE_MAX,
		                    error) != 0)
			return -1;
	}
	return 0;
}

/* One pass of a radix sort: to[] is from[] in the order of one byte. */
static void
sort_by_byte(const struct jit_entry *entries, const size_t *from, size_t *to,
             size_t n, int shift)
{
	size_t begin[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		begin[entries[i].start >> shift & 0xff]++;
	for (int byte = 0; byte < 256; byte++) {
		size_t count = begin[byte];

		begin[byte] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[begin[entries[from[i]].start >> shift & 0xff]++] = from[i];
}

/* Fills sorted[n] with the pieces by start; equal ones keep their order. */
static int
sort_starts(const struct jit_entry *entries, size_t *sorted, size_t *room,
            size_t n, struct error *error)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = i;
	for (int shift = 0; shift < 64; shift += 16) {
		sort_by_byte(entries, sorted, room, n, shift);
		sort_by_byte(entries, room, sorted, n, shift + 8);
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
	}
	return 0;
}

static int
cut_sorted(struct jit_map *map, const size_t *sorted, struct sweep *sweep,
           struct error *error)
{
	for (size_t i = 0; i < map->entries.n; i++) {
		uint64_t start = map->entries.items[sorted[i]].start;

		if (i % PIECES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (map->entries.items[sorted[i]].size == 0)
			continue;
		if (end_pieces(map, sweep, start, error) != 0)
			return -1;
		jit_map_push(sweep, sorted[i]);
		if (sweep->heap[0] == sorted[i] &&
		    jit_map_add_cut(map, start, sorted[i], error) != 0)
			return -1;
	}
	return end_pieces(map, sweep, UINT64_MAX, error);
}

/* Makes the cuts, once all pieces are there. */
static int
cut(struct jit_map *map, struct error *error)
{
	size_t n = map->entries.n;
	size_t *sorted = memory_array(n, sizeof *sorted, error);
	struct sweep sweep = {
		.entries = map->entries.items,
		.heap = memory_array(n, sizeof *sorted, error),
	};
	int result = -1;

	if (sorted != NULL && sweep.heap != NULL &&
	    sort_starts(map->entries.items, sorted, sweep.heap, n,
	                error) == 0)
		result = cut_sorted(map, sorted, &sweep, error);
	free(sorted);
	free(sweep.heap);
	return result;
}

struct jit_map *
jit_map_new(const struct symbol_search *search, uint32_t pid,
            struct error *error)
{
	struct jit_map *map = memory_array(1, sizeof *map, error);
	FILE *file;
	int result;

	if (map == NULL)
		return NULL;
	file = open_map(map, search, pid);
	if (file == NULL)
		return map;
	result = jit_map_read_map(map, file, pid, error);
	fclose(file);
	if (result == 0 && cut(map, error) == 0)
		return map;
	jit_map_free(map);
	return NULL;
}

/* ---- a process of this machine ---- */

/* Opens a file that the process wrote; NULL: there is none, *why as above. */
static FILE *
open_of_process(const struct jit_process *process, const char *path,
                const char **why)
{
	struct stat status;
	FILE *file = jit_map_open_regular(path, O_NOFOLLOW, &status, why);
	uint64_t written_ns;

	if (file == NULL)
		return NULL;
	written_ns = (uint64_t)status.st_mtim.tv_sec * second_ns +
	    (uint64_t)status.st_mtim.tv_nsec;
	/* Clocks of file systems are coarse, and the last output of a process
	 * may come late.  Files of other times are another process's. */
	if (written_ns + second_ns >= process->begin_ns &&
	    written_ns <= process->end_ns + 60 * second_ns) {
		if (status.st_uid == process->owner || status.st_uid == 0)
			return file;
		*why = "belongs to another user";
	}
	fclose(file);
	return NULL;
}

static int
read_dump(struct jit_map *map, const struct jit_process *process,
          const char *directory, struct error *error)
{
	const char *why;
	FILE *file;
	char *path;
	int result = 0;

	if (directory == NULL || *directory == '\0')
		return 0;
	if (asprintf(&path, "%s/jit-%u.dump", directory, process->pid) < 0)
		return error_out_of_memory(error);
	file = open_of_process(process, path, &why);
	if (file != NULL) {
		result = jit_dump_read(&map->entries, file, process->pid,
		                       error);
		fclose(file);
	}
	free(path);
	return result;
}

/* Perf's agents make a directory for each run. */
static int
read_agents_dumps(struct jit_map *map, const struct jit_process *process,
                  struct error *error)
{
	const char *home = getenv("HOME");
	glob_t found;
	char *pattern;
	int result = 0;

	if (home == NULL || *home != '/')
		return 0;
	if (asprintf(&pattern, "%s/.debug/jit/*/jit-%u.dump", home,
	             process->pid) < 0)
		return error_out_of_memory(error);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && result == 0; i++) {
			*strrchr(found.gl_pathv[i], '/') = '\0';
			result = read_dump(map, process, found.gl_pathv[i],
			                   error);
		}
		globfree(&found);
	}
	free(pattern);
	return result;
}

static int
read_process(struct jit_map *map, const struct jit_process *process,
             struct error *error)
{
	const char *why;
	char path[64];
	FILE *file;
	int result = 0;

	snprintf(path, sizeof path, "/tmp/perf-%u.map", process->pid);
	file = open_of_process(process, path, &why);
	/* Without an owner, the process was not on this machine. */
	if (why != NULL && process->owner != (uid_t)-1)
		set_problem(map, path, why);
	if (file != NULL) {
		result = jit_map_read_map(map, file, process->pid, error);
		fclose(file);
	}
	/* A dump has more details, so it comes after the map. */
	if (result != 0 || read_dump(map, process, "/tmp", error) != 0 ||
	    read_dump(map, process, getenv("JITDUMPDIR"), error) != 0 ||
	    read_agents_dumps(map, process, error) != 0 ||
	    read_dump(map, process, process->recording, error) != 0)
		return -1;
	if (process->directory == NULL ||
	    strcmp(process->directory, "/tmp") == 0)
		return 0;
	return read_dump(map, process, process->directory, error);
}

struct jit_map *
jit_map_of_process(const struct jit_process *process, struct error *error)
{
	struct jit_map *map = memory_array(1, sizeof *map, error);

	if (map == NULL)
		return NULL;
	if (read_process(map, process, error) == 0 && cut(map, error) == 0)
		return map;
	jit_map_free(map);
	return NULL;
}

/* ---- asking ---- */

const char *
jit_map_problem(const struct jit_map *map)
{
	return map->problem;
}

bool
jit_map_at(const struct jit_map *map, uint64_t address, struct jit_code *found)
{
	const struct jit_entry *entry;
	size_t n = partition_point(map->n_cuts, i,
	                           map->cuts[i].start <= address);

	if (n == 0 || map->cuts[n - 1].entry == SIZE_MAX)
		return false;
	entry = &map->entries.items[map->cuts[n - 1].entry];
	*found = (struct jit_code){ .name = entry->name, .start = entry->start,
		.file = entry->file };

	n = partition_point(entry->n_lines, i,
	                    entry->lines[i].offset <= address - entry->start);
	if (n > 0) {
		found->file = entry->lines[n - 1].file;
		found->line = entry->lines[n - 1].line;
		found->calls = entry->lines[n - 1].calls;
		found->n_calls = entry->lines[n - 1].n_calls;
	}
	return true;
}

const char *
jit_map_find(const struct jit_map *map, uint64_t address)
{
	struct jit_code found;

	return jit_map_at(map, address, &found) ? found.name : NULL;
}
