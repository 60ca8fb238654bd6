/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_dump.c -- reads jit-PID.dump, perf's jitdump format.
 *
 * It has a header and then records.  Each record has its size, so that those of
 * unknown kinds can be skipped.  The lines of a piece of code are in a record
 * before it.  The file may end anywhere, since its process may have been
 * killed.
 */
#include "src/symbols/names/address_frames.h"

#include <stdlib.h>
#include <string.h>

#include "lib/jitdump.h"
#include "src/base/memory.h"
#include "src/base/progress.h"

enum {
	BODY_MAX = 64 << 20,		/* of a record that is read */
	RECORDS_MAX = 4 << 20,
	RECORDS_A_STEP = 4096,
	NAME_MAX_LENGTH = 65536,
	CALLS_MAX = 256,		/* functions at one place */
};

struct dump {
	struct jit_entries *entries;
	/* For the piece that comes next. */
	const struct jit_line *lines;
	size_t n_lines;
	uint64_t lines_address;
	unsigned char *body;
	size_t capacity;
};

void
jit_entries_free(struct jit_entries *entries)
{
	free(entries->items);
	arena_free(&entries->arena);
}

int
jit_entries_add(struct jit_entries *entries, const struct jit_entry *entry,
                const char *name, size_t length, struct error *error)
{
	struct jit_entry *new;
	struct v8_name v8;

	if (memory_grow(&entries->items, &entries->capacity, entries->n + 1,
	                sizeof *new, error) != 0)
		return -1;
	new = &entries->items[entries->n];
	*new = *entry;
	new->name = arena_text(&entries->arena, name,
	                       strnlen(name, length), error);
	if (new->name != NULL && v8_name_read(new->name, &v8)) {
		new->file = v8_name_file(&v8, &entries->arena, error);
		new->name = new->file == NULL ? NULL :
		    v8_name_shown(&v8, &entries->arena, error);
	}
	if (new->name == NULL)
		return -1;
	entries->n++;
	return 0;
}

static int
take_load(struct dump *dump, size_t size, struct error *error)
{
	struct jitdump_load load;
	struct jit_entry entry = { 0 };
	size_t left;

	if (size <= sizeof load)
		return 0;
	memcpy(&load, dump->body, sizeof load);
	left = size - sizeof load;
	entry.start = load.address;
	entry.size = load.size;
	if (dump->n_lines > 0 && dump->lines_address >= load.address &&
	    dump->lines_address - load.address <= load.size) {
		entry.lines = dump->lines;
		entry.n_lines = dump->n_lines;
	}
	dump->n_lines = 0;
	if (left > NAME_MAX_LENGTH)
		left = NAME_MAX_LENGTH;
	return jit_entries_add(dump->entries, &entry,
	    (const char *)dump->body + sizeof load, left, error);
}

/* Adds the last piece that began at the old place again, at its new place. */
static int
take_move(struct dump *dump, size_t size, struct error *error)
{
	struct jit_entries *entries = dump->entries;
	struct jit_entry entry;
	struct jitdump_move move;
	size_t i = entries->n;

	if (size < sizeof move)
		return 0;
	memcpy(&move, dump->body, sizeof move);
	/* Most moved pieces are recent ones. */
	while (i > 0 && entries->n - i < 256 &&
	       entries->items[i - 1].start != move.old)
		i--;
	if (i == 0 || entries->items[i - 1].start != move.old)
		return 0;
	entry = entries->items[i - 1];
	entry.start = move.new;
	if (move.size != 0)
		entry.size = move.size;
	return jit_entries_add(entries, &entry, entry.name,
	                       strlen(entry.name), error);
}

/* Lines are used as long as their addresses ascend. */
static int
jit_dump_take_lines(struct dump *dump, size_t size, struct error *error)
{
	const unsigned char *at = dump->body, *end = at + size;
	struct jitdump_lines head;
	struct jit_line *lines;
	const char *file = NULL;
	size_t n = 0;

	dump->n_lines = 0;
	if (size < sizeof head)
		return 0;
	memcpy(&head, at, sizeof head);
	at += sizeof head;
	if (head.n == 0 || head.n > size / sizeof(struct jitdump_line))
		return 0;
	lines = arena_alloc(&dump->entries->arena,
	                    (size_t)head.n * sizeof *lines, error);
	if (lines == NULL)
		return -1;
	while (n < head.n && (size_t)(end - at) > sizeof(struct jitdump_line)) {
		struct jitdump_line entry;
		size_t length;

		memcpy(&entry, at, sizeof entry);
		at += sizeof entry;
		length = strnlen((const char *)at, (size_t)(end - at));
		if (length == (size_t)(end - at) ||
		    entry.address < head.address ||
		    (n > 0 && entry.address - head.address <
		              lines[n - 1].offset))
			break;
		/* A single byte 0xff: the same file as before. */
		if (length != 1 || *at != 0xff)
			file = arena_text(&dump->entries->arena,
			    (const char *)at, length < NAME_MAX_LENGTH ?
			    length : NAME_MAX_LENGTH, error);
		if (file == NULL && error->is_set)
			return -1;
		at += length + 1;
		lines[n++] = (struct jit_line){
			.offset = entry.address - head.address, .file = file,
			.line = entry.line
		};
	}
	dump->lines = lines;
	dump->n_lines = n;
	dump->lines_address = head.address;
	return 0;
}

/* Copies n texts, each ended by a NUL; NULL: there are fewer, or *error is set. */
static const char **
jit_dump_take_texts(struct dump *dump, const unsigned char **at,
                    const unsigned char *end, size_t n, struct error *error)
{
	const char **texts;

	if (n > (size_t)(end - *at) ||
	    (texts = arena_alloc(&dump->entries->arena, (n + 1) *
	                         sizeof *texts, error)) == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t length = strnlen((const char *)*at,
		                        (size_t)(end - *at));

		if (length == (size_t)(end - *at))
			return NULL;
		texts[i] = arena_text(&dump->entries->arena,
		    (const char *)*at, length < NAME_MAX_LENGTH ? length :
		    NAME_MAX_LENGTH, error);
		if (texts[i] == NULL)
			return NULL;
		*at += length + 1;
	}
	return texts;
}

/* The file and line of a place are those of its outermost frame. */
static int
take_place(struct dump *dump, const unsigned char *frames, uint32_t n,
           const char *const *texts, uint32_t n_texts, struct jit_line *line,
           struct error *error)
{
	struct jit_call *calls;

	if (n > CALLS_MAX)
		n = CALLS_MAX;
	calls = arena_alloc(&dump->entries->arena, n * sizeof *calls, error);
	if (calls == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct jitdump_frame frame;

		memcpy(&frame, frames + i * sizeof frame, sizeof frame);
		calls[i] = (struct jit_call){
			(uint32_t)frame.function < n_texts ?
			    texts[frame.function] : "[inlined]",
			(uint32_t)frame.file < n_texts ? texts[frame.file] :
			    NULL,
			frame.line > 0 ? (uint32_t)frame.line : 0
		};
	}
	line->file = calls[0].file;
	line->line = calls[0].line;
	line->calls = calls + 1;
	line->n_calls = n - 1;
	return 0;
}

/* Places are used as long as their offsets ascend. */
static int
take_calls(struct dump *dump, size_t size, struct error *error)
{
	const unsigned char *at = dump->body, *end = at + size;
	struct jitdump_calls head;
	struct jitdump_place place;
	struct jit_line *lines;
	const char **texts;
	size_t n = 0;

	dump->n_lines = 0;
	if (size < sizeof head)
		return 0;
	memcpy(&head, at, sizeof head);
	at += sizeof head;
	texts = jit_dump_take_texts(dump, &at, end, head.n_texts, error);
	if (texts == NULL || head.n_places == 0 ||
	    head.n_places > (size_t)(end - at) / sizeof place)
		return error->is_set ? -1 : 0;
	lines = arena_alloc(&dump->entries->arena,
	                    head.n_places * sizeof *lines, error);
	if (lines == NULL)
		return -1;
	while (n < head.n_places && (size_t)(end - at) > sizeof place) {
		memcpy(&place, at, sizeof place);
		at += sizeof place;
		if (place.n_frames == 0 || place.n_frames > (size_t)
		    (end - at) / sizeof(struct jitdump_frame) ||
		    (n > 0 && place.offset < lines[n - 1].offset))
			break;
		lines[n] = (struct jit_line){ .offset = place.offset };
		if (take_place(dump, at, place.n_frames, texts, head.n_texts,
		               &lines[n], error) != 0)
			return -1;
		at += place.n_frames * sizeof(struct jitdump_frame);
		n++;
	}
	dump->lines = lines;
	dump->n_lines = n;
	dump->lines_address = head.address;
	return 0;
}

/* Reads the first `wanted` bytes after a record's head, and skips the rest. */
static bool
read_body(struct dump *dump, FILE *file, size_t size, size_t wanted,
          struct error *error)
{
	if (memory_grow(&dump->body, &dump->capacity, wanted + 1, 1,
	                error) != 0 ||
	    fread(dump->body, 1, wanted, file) != wanted)
		return false;
	return size == wanted ||
	    fseeko(file, (off_t)(size - wanted), SEEK_CUR) == 0;
}

/* How much of a record to read: not the code after the name of a piece. */
static size_t
wanted_of(const struct jitdump_record *record, size_t size)
{
	size_t most = BODY_MAX;

	if (record->kind == JITDUMP_LOAD)
		most = sizeof(struct jitdump_load) + NAME_MAX_LENGTH;
	else if (record->kind == JITDUMP_MOVE)
		most = sizeof(struct jitdump_move);
	else if (record->kind != JITDUMP_LINES && record->kind != JITDUMP_CALLS)
		most = 0;
	return size < most ? size : most;
}

int
jit_dump_read(struct jit_entries *entries, FILE *file, uint32_t pid,
              struct error *error)
{
	struct dump dump = { .entries = entries };
	struct jitdump_header header;
	struct jitdump_record record;
	int result = 0;

	if (fread(&header, sizeof header, 1, file) != 1 ||
	    header.magic != JITDUMP_MAGIC || header.size < sizeof header ||
	    header.pid != pid ||
	    fseeko(file, (off_t)header.size, SEEK_SET) != 0)
		return 0;
	for (size_t n = 0; n < RECORDS_MAX && result == 0 &&
	     fread(&record, sizeof record, 1, file) == 1 &&
	     record.size >= sizeof record; n++) {
		size_t size = record.size - sizeof record;
		size_t wanted = wanted_of(&record, size);

		if ((n % RECORDS_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0) ||
		    !read_body(&dump, file, size, wanted, error))
			break;
		if (record.kind == JITDUMP_LOAD)
			result = take_load(&dump, wanted, error);
		else if (record.kind == JITDUMP_MOVE)
			result = take_move(&dump, wanted, error);
		else if (record.kind == JITDUMP_LINES)
			result = jit_dump_take_lines(&dump, wanted, error);
		else if (record.kind == JITDUMP_CALLS)
			result = take_calls(&dump, wanted, error);
	}
	free(dump.body);
	return error->is_set ? -1 : 0;
}
