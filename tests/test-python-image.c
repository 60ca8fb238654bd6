/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-python-image.c -- the walk along CPython's frames, in recorded memory.
 *
 * An image is a text.  Its lines say where the interpreter is, which native frames
 * a thread had, outermost first, which functions it ran, as the program itself saw
 * them, and what was in the memory that the walk reads:
 *
 *	thread NUMBER
 *	runtime|code_type|version|loop|cold ADDRESS SIZE
 *	native PC SP
 *	function FIRST_LINE FILE NAME
 *	memory ADDRESS BYTES
 *
 * With the number of the thread as a second argument, the program walks through the
 * memory of this thread, and adds lines of memory, and that of the loop's cold part,
 * for which it needs one of the index .eh_frame_hdr (tests/record-python-image.py).
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <cmocka.h>

#include "cpython/layout.h"
#include "lib/cpprofdata.h"

#define PYTHON_MAX_STATES 4

enum {
	BLOCK = 64,
	MAX_BLOCKS = 1 << 14,
	MAX_FRAMES = 256,
	MAX_NATIVE = 1024,
	LARGEST = 1 << 20,	/* that is read at once */
};

struct image_block {
	uint64_t address;
	unsigned char bytes[BLOCK];
};

struct image_place {
	uint64_t address, size;
};

struct image {
	struct image_block *blocks;	/* [n_blocks] in any order */
	size_t n_blocks;
	int thread;		/* whose memory adds blocks; 0: none */
	uint64_t tid;
	struct image_place runtime, code_type, version, loop, cold, index;
	struct { uint64_t pc, sp; } native[MAX_NATIVE];
	size_t n_native;
	struct { unsigned line; char file[64], name[128]; } truth[MAX_FRAMES];
	size_t n_truth;
	uint64_t entry;		/* of an array that may just be moved; 0 */
	unsigned n_read, n_trusted;	/* how often it was read, and as live */
};

struct python_frame {
	uint64_t frame, code, tag, mark, probed;
	uint32_t offset, native;
};

struct python_frames {
	struct python_frame frames[MAX_FRAMES];
	size_t n;
};

struct python_walk {
	struct python_frames fresh;
	uint64_t states[PYTHON_MAX_STATES];
	unsigned n_states;
	uint32_t n_searched;
	uint64_t n_walks, code_type;
	unsigned char *copies[1 << 14];	/* [n_copies] what was read */
	size_t n_copies;
};

struct python_reading {
	const struct python_runtime *runtime;
	const struct python_layout *layout;
	struct python_walk *python;
	struct image *image;
	uint64_t state;
	size_t n_placed, innermost, outermost;
	bool is_cut, is_partial, is_of_array;
	unsigned n_objects;
};

#include "cpython/walk.h"

/* ---- memory ---- */

static struct image_block *
image_find(struct image *image, uint64_t address)
{
	for (size_t i = image->n_blocks; i > 0; i--)
		if (image->blocks[i - 1].address == address)
			return &image->blocks[i - 1];
	return NULL;
}

static struct image_block *
image_add(struct image *image, uint64_t address)
{
	struct image_block *block = &image->blocks[image->n_blocks];
	struct iovec local = { block->bytes, BLOCK };
	struct iovec remote = { (void *)(uintptr_t)address, BLOCK };

	if (image->thread == 0 || image->n_blocks == MAX_BLOCKS ||
	    process_vm_readv(image->thread, &local, 1, &remote, 1, 0) != BLOCK)
		return NULL;
	block->address = address;
	image->n_blocks++;
	return block;
}

/* A copy in memory of its own, so that a read beyond it is found. */
static const unsigned char *
image_read(struct image *image, struct python_walk *walk, uint64_t at,
           size_t size)
{
	unsigned char *copy;

	if (at > UINT64_MAX / 2 || size > LARGEST ||
	    walk->n_copies == sizeof walk->copies / sizeof *walk->copies)
		return NULL;
	copy = malloc(size + 1);
	assert_non_null(copy);
	walk->copies[walk->n_copies++] = copy;
	for (size_t i = 0; i < size; i++) {
		const uint64_t from = (at + i) & -(uint64_t)BLOCK;
		const struct image_block *block = image_find(image, from);

		if (block == NULL)
			block = image_add(image, from);
		if (block == NULL)
			return NULL;
		/* Up to the end of the block, or of what is wanted. */
		for (; i < size && at + i - from < BLOCK; i++)
			copy[i] = block->bytes[at + i - from];
		i--;
	}
	return copy;
}

static void
walk_free(struct python_walk *walk)
{
	for (size_t i = 0; i < walk->n_copies; i++)
		free(walk->copies[i]);
	free(walk);
}

/* ---- what the walk needs ---- */

static inline const unsigned char *
python_memory(struct python_reading *reading, uint64_t at, size_t size,
              bool is_live)
{
	if (at == reading->image->entry) {
		reading->image->n_read++;
		reading->image->n_trusted += is_live;
	}
	return image_read(reading->image, reading->python, at, size);
}

static inline bool
python_is_state_live(uint64_t state)
{
	(void)state;
	return false;
}

static inline bool
python_is_thread(const struct python_reading *reading, uint64_t ident,
                 uint64_t tid)
{
	(void)ident;
	return tid == reading->image->tid;
}

static bool
python_reserve(struct python_frames *frames, size_t n)
{
	(void)frames;
	return n <= MAX_FRAMES;
}

static bool
python_is_as_before(struct python_reading *reading, struct python_frame *frame,
                    uint64_t instruction)
{
	(void)reading;
	(void)frame;
	(void)instruction;
	return false;
}

static bool
python_place(struct python_reading *reading, size_t from, uint64_t anchor)
{
	const size_t native = python_note_native(reading, anchor);

	if (native == PYTHON_NOT_PLACED)
		return false;
	for (size_t i = from; i < reading->python->fresh.n; i++)
		reading->python->fresh.frames[i].native = (uint32_t)native;
	return true;
}

static inline size_t
python_n_native(const struct python_reading *reading)
{
	return reading->image->n_native;
}

static inline uint64_t
python_native_sp(const struct python_reading *reading, size_t i)
{
	return reading->image->native[i].sp;
}

static inline uint64_t
python_native_address(const struct python_reading *reading, size_t i)
{
	return reading->image->native[i].pc - (i + 1 < python_n_native(
	    reading));
}

static inline bool
python_is_greenlet(const struct python_reading *reading, size_t i)
{
	(void)reading;
	(void)i;
	return false;
}

/* ---- a walk ---- */

/* Finds the interpreter, as the recorders do; false: it is not supported. */
static bool
image_open(struct image *image, struct python_walk *walk, bool has_symbols,
           struct python_runtime *runtime)
{
	const unsigned char *table = image_read(image, walk,
	    image->runtime.address, PYTHON_TABLE_SIZE);
	const unsigned char *version = image_read(image, walk,
	    image->version.address, 8);

	*runtime = (struct python_runtime){
		.runtime = image->runtime.address,
		.code_type = has_symbols ? image->code_type.address : 0,
		.loop = image->loop.address,
		.loop_end = image->loop.address + image->loop.size,
		.cold = image->cold.address,
		.cold_end = image->cold.address + image->cold.size,
	};
	return table != NULL && version != NULL && python_layout_find(has_symbols ?
	    (uint32_t)python_word(version) : 0, table, &runtime->layout);
}

/* Whether the interpreter can be found without symbols: from 3.13 on. */
static bool
image_has_table(struct image *image)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	const unsigned char *version = image_read(image, walk,
	    image->version.address, 8);
	bool has_table;

	assert_non_null(version);
	has_table = python_word(version) >= 0x030d0000;
	walk_free(walk);
	return has_table;
}

/* The number of the thread's loops that were left; SIZE_MAX: no frames. */
static size_t
image_walk(struct python_reading *reading)
{
	size_t n_loops = 0, last = 0;
	uint64_t start;

	reading->innermost = reading->outermost = PYTHON_NOT_PLACED;
	python_find_states(reading);
	if (reading->python->n_states == 0)
		return SIZE_MAX;
	reading->state = reading->python->states[0];
	if (!python_read_start(reading, reading->state, &start) || start == 0 ||
	    !(reading->layout->is_entry != PYTHON_NO_FIELD ?
	      python_read_cframes(reading, start) :
	      python_read_frames(reading, start)))
		return SIZE_MAX;
	python_sort_frames(&reading->python->fresh);
	for (size_t i = python_n_outside(reading); i < python_n_native(reading); i++)
		if (python_is_loop(reading->runtime,
		                   python_native_address(reading, i))) {
			n_loops++;
			last = i;
		}
	return python_loops_fit(reading, n_loops, last, true) ? n_loops :
	    SIZE_MAX;
}

/* ---- images ---- */

static bool
read_place(const char *line, const char *name, struct image_place *place)
{
	const size_t length = strlen(name);

	return strncmp(line, name, length) == 0 && line[length] == ' ' &&
	    sscanf(line + length, " %lx %lu", &place->address,
	           &place->size) == 2;
}

static void
read_memory(struct image *image, const char *line)
{
	struct image_block *block = &image->blocks[image->n_blocks++];
	int at;

	assert_true(image->n_blocks <= MAX_BLOCKS);
	assert_int_equal(sscanf(line, "memory %lx %n", &block->address, &at),
	                 1);
	line += at;
	for (int i = 0; i < BLOCK; i++)
		assert_int_equal(sscanf(line + 2 * i, "%2hhx",
		                        &block->bytes[i]), 1);
}

static struct image *
image_read_file(const char *path)
{
	struct image *image = calloc(1, sizeof *image);
	FILE *file = fopen(path, "r");
	char line[512];

	assert_non_null(image);
	assert_non_null(file);
	image->blocks = calloc(MAX_BLOCKS, sizeof *image->blocks);
	assert_non_null(image->blocks);
	while (fgets(line, sizeof line, file) != NULL) {
		if (sscanf(line, "thread %lu", &image->tid) == 1 ||
		    read_place(line, "runtime", &image->runtime) ||
		    read_place(line, "code_type", &image->code_type) ||
		    read_place(line, "version", &image->version) ||
		    read_place(line, "loop", &image->loop) ||
		    read_place(line, "cold", &image->cold) ||
		    read_place(line, "index", &image->index))
			continue;
		if (sscanf(line, "native %lx %lx",
		           &image->native[image->n_native].pc,
		           &image->native[image->n_native].sp) == 2)
			image->n_native++;
		else if (sscanf(line, "function %u %63s %127[^\n]",
		                &image->truth[image->n_truth].line,
		                image->truth[image->n_truth].file,
		                image->truth[image->n_truth].name) == 3)
			image->n_truth++;
		else
			read_memory(image, line);
		assert_true(image->n_native < MAX_NATIVE &&
		            image->n_truth < MAX_FRAMES);
	}
	fclose(file);
	return image;
}

static void
image_free(struct image *image)
{
	free(image->blocks);
	free(image);
}

/* ---- the stack ---- */

static void
check_function(struct python_reading *reading, size_t i)
{
	const struct image *image = reading->image;
	const struct python_frames *fresh = &reading->python->fresh;
	struct python_code code;
	char text[256];

	assert_true(python_read_description(reading,
	    fresh->frames[fresh->n - 1 - i].code, &code));
	assert_true(python_read_text(reading, code.name, text, sizeof text) !=
	            SIZE_MAX);
	assert_string_equal(text, image->truth[i].name);
	assert_true(python_read_text(reading, code.file, text, sizeof text) !=
	            SIZE_MAX);
	assert_non_null(strstr(text, image->truth[i].file));
	assert_int_equal(code.first_line, image->truth[i].line);
	assert_true(code.lines_size > 0);
}

static void
check_stack(struct image *image, bool has_symbols)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	const struct python_frames *fresh = &walk->fresh;
	size_t n_loops;

	assert_non_null(walk);
	assert_true(image_open(image, walk, has_symbols, &runtime));
	n_loops = image_walk(&reading);
	assert_true(n_loops != SIZE_MAX && n_loops > 3);
	assert_int_equal(reading.n_placed, n_loops);
	assert_int_equal(fresh->n, image->n_truth);
	for (size_t i = 0; i < fresh->n; i++) {
		check_function(&reading, i);
		assert_true(i == 0 || fresh->frames[i].native <=
		            fresh->frames[i - 1].native);
	}
	walk_free(walk);
}

/* Calls a function for each image. */
static void
for_images(void (*check)(struct image *image))
{
	const char *source = getenv("srcdir");
	char place[4096], path[8192];
	size_t n = 0;
	struct dirent *entry;
	DIR *directory;

	snprintf(place, sizeof place, "%s/tests/data/python",
	         source != NULL ? source : ".");
	directory = opendir(place);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL) {
		struct image *image;

		if (strstr(entry->d_name, ".image") == NULL)
			continue;
		snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
		image = image_read_file(path);
		check(image);
		image_free(image);
		n++;
	}
	closedir(directory);
	assert_true(n >= 3);
}

static void
check_both(struct image *image)
{
	check_stack(image, true);
	if (image_has_table(image))
		check_stack(image, false);
}

/* With one more of the loop's native frames, the list is not that of the stack. */
static void
check_more(struct image *image)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	size_t i = 0;

	assert_non_null(walk);
	assert_true(image_open(image, walk, true, &runtime));
	while (!python_is_loop(&runtime, python_native_address(&reading, i)))
		i++;
	image->native[i - 1].pc = image->native[i].pc;
	assert_true(image_walk(&reading) == SIZE_MAX);
	walk_free(walk);
}

static void
walk_refuses_a_stack_with_a_loop_of_no_list(void **state)
{
	(void)state;
	for_images(check_more);
}

static void
walk_finds_the_stack_that_the_program_sees(void **state)
{
	(void)state;
	for_images(check_both);
}

/* ---- tasks that await each other ---- */

/* The word of the image's memory at an address; NULL: it was not read. */
static unsigned char *
image_word(struct image *image, uint64_t address)
{
	struct image_block *block = image_find(image, address & -(uint64_t)BLOCK);

	return block == NULL ? NULL : block->bytes + address % BLOCK;
}

/* The task that has a coroutine; 0: none. */
static uint64_t
find_task(struct python_reading *reading, uint64_t coroutine)
{
	const struct image *image = reading->image;
	const uint32_t at = reading->layout->tasks.coroutine;

	for (size_t i = 0; i < image->n_blocks; i++)
		for (int k = 0; k < BLOCK; k += 8) {
			const uint64_t task = image->blocks[i].address +
			    (uint64_t)k - at;

			if (python_word(image->blocks[i].bytes + k) ==
			    coroutine && python_kind(reading, task) ==
			    PYTHON_TASK)
				return task;
		}
	return 0;
}

/* The two outermost tasks of a walk, the outermost first. */
static void
find_outermost_tasks(struct python_reading *reading, uint64_t tasks[2])
{
	const struct python_frames *fresh = &reading->python->fresh;
	size_t n = 0;

	for (size_t i = fresh->n; i > 0 && n < 2; i--) {
		const struct python_frame *frame = &fresh->frames[i - 1];

		if ((frame->offset & CPPROFDATA_AWAITS) == 0)
			continue;
		tasks[n] = find_task(reading, frame->frame -
		                     reading->layout->tasks.frame);
		n += tasks[n] != 0;
	}
	assert_int_equal(n, 2);
}

static void
put_word(struct image *image, uint64_t address, uint64_t word)
{
	unsigned char *place = image_word(image, address);

	if (place == NULL) {
		struct image_block *block = &image->blocks[image->n_blocks++];

		assert_true(image->n_blocks <= MAX_BLOCKS);
		block->address = address & -(uint64_t)BLOCK;
		memset(block->bytes, 0, BLOCK);
		place = image_word(image, address);
	}
	memcpy(place, &word, sizeof word);
}

/*
 * The outermost task awaits the next one by a list of callbacks, or, from 3.14
 * on, as one of a set, which the program may just be moving.
 */
static void
check_array(struct image *image)
{
	const uint64_t object = UINT64_C(1) << 40, array = object + 2 * BLOCK,
	    pair = array + BLOCK;
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	const struct python_tasks *layout = &runtime.layout.tasks;
	uint64_t tasks[2];

	assert_non_null(walk);
	assert_true(image_open(image, walk, true, &runtime));
	assert_true(image_walk(&reading) != SIZE_MAX);
	find_outermost_tasks(&reading, tasks);
	if (layout->awaited_by != PYTHON_NO_FIELD) {
		*image_word(image, tasks[1] + layout->awaited_by_is_set) = 1;
		put_word(image, tasks[1] + layout->awaited_by, object);
		put_word(image, object + PYTHON_SET_TABLE, array);
		put_word(image, array, tasks[0]);
	} else {
		put_word(image, pair + PYTHON_TUPLE_ITEM, python_word(
		    image_word(image, tasks[1] + PYTHON_CALLBACK)));
		put_word(image, tasks[1] + PYTHON_CALLBACK, 0);
		put_word(image, tasks[1] + PYTHON_CALLBACKS, object);
		put_word(image, object + PYTHON_ITEMS, 1);
		put_word(image, object + PYTHON_LIST_ITEMS, array);
		put_word(image, array, pair);
	}
	image->entry = array;
	check_stack(image, true);
	assert_true(image->n_read > 0);
	assert_int_equal(image->n_trusted, 0);
	walk_free(walk);
}

static void
walk_trusts_no_entry_of_an_array(void **state)
{
	(void)state;
	for_images(check_array);
}

/* The outermost task becomes one that the next one awaits. */
static void
check_circle(struct image *image)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	uint64_t tasks[2];

	assert_non_null(walk);
	assert_true(image_open(image, walk, true, &runtime));
	assert_true(image_walk(&reading) != SIZE_MAX);
	find_outermost_tasks(&reading, tasks);
	if (runtime.layout.tasks.awaited_by != PYTHON_NO_FIELD) {
		put_word(image, tasks[0] + runtime.layout.tasks.awaited_by,
		         tasks[1]);
		check_stack(image, true);
	}
	walk_free(walk);
}

static void
walk_goes_once_around_a_circle_of_tasks(void **state)
{
	(void)state;
	for_images(check_circle);
}

/* How many frames of a walk await what is below them. */
static size_t
count_awaiting(struct image *image)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	size_t n = 0;

	assert_non_null(walk);
	assert_true(image_open(image, walk, true, &runtime));
	assert_true(image_walk(&reading) != SIZE_MAX);
	for (size_t i = 0; i < walk->fresh.n; i++)
		n += (walk->fresh.frames[i].offset & CPPROFDATA_AWAITS) != 0;
	walk_free(walk);
	return n;
}

/* Each coroutine in turn runs, as it seems, so that its frame awaits nothing. */
static void
check_holes(struct image *image)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	size_t n = 0, n_before = 0, n_inner = 0;

	assert_non_null(walk);
	assert_true(image_open(image, walk, true, &runtime));
	assert_true(image_walk(&reading) != SIZE_MAX);
	for (size_t i = 0; i < walk->fresh.n; i++) {
		const struct python_frame *frame = &walk->fresh.frames[i];
		const uint64_t coroutine = frame->frame -
		    runtime.layout.tasks.frame;
		unsigned char *state, before;

		if ((frame->offset & CPPROFDATA_AWAITS) == 0)
			continue;
		state = image_word(image, coroutine +
		                   runtime.layout.tasks.state);
		before = *state;
		*state = 100;
		/* Only those of the tasks that are nearer are left. */
		assert_int_equal(count_awaiting(image), n_before);
		*state = before;
		n++;
		if (find_task(&reading, coroutine) != 0)
			n_before = n;
		else
			n_inner++;
	}
	assert_true(n_inner > 0 && n_before == n);
	assert_int_equal(count_awaiting(image), n);
	walk_free(walk);
}

static void
walk_leaves_no_hole_in_a_task(void **state)
{
	(void)state;
	for_images(check_holes);
}

/* ---- memory that changes ---- */

static uint64_t
draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static void
walk_changed(struct image *image)
{
	struct python_walk *walk = calloc(1, sizeof *walk);
	struct python_runtime runtime;
	struct python_reading reading = { .runtime = &runtime,
		.layout = &runtime.layout, .python = walk, .image = image };
	struct python_code code;
	char text[256];

	assert_non_null(walk);
	if (image_open(image, walk, draw(&(uint64_t){ image->tid }) % 2 == 0,
	               &runtime)) {
		image_walk(&reading);
		for (size_t i = 0; i < walk->fresh.n; i++)
			if (python_read_description(&reading,
			        walk->fresh.frames[i].code, &code))
				python_read_text(&reading, code.name, text,
				                 sizeof text);
	}
	walk_free(walk);
}

/* Words of the memory become other words that are there, or odd ones. */
static void
check_changed(struct image *image)
{
	struct image_block *blocks = calloc(MAX_BLOCKS, sizeof *blocks);
	uint64_t seed = 88172645463325252u;

	assert_non_null(blocks);
	memcpy(blocks, image->blocks, image->n_blocks * sizeof *blocks);
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < 1 + round % 8; i++) {
			struct image_block *to = &image->blocks[draw(&seed) %
			    image->n_blocks];
			const struct image_block *from = &blocks[draw(&seed) %
			    image->n_blocks];
			uint64_t word = draw(&seed) >> draw(&seed) % 64;

			if (draw(&seed) % 2 == 0)
				memcpy(&word, from->bytes + draw(&seed) %
				       (BLOCK / 8) * 8, sizeof word);
			memcpy(to->bytes + draw(&seed) % (BLOCK / 8) * 8, &word,
			       sizeof word);
		}
		walk_changed(image);
		memcpy(image->blocks, blocks,
		       image->n_blocks * sizeof *blocks);
	}
	free(blocks);
}

static void
walk_ends_in_memory_of_any_contents(void **state)
{
	(void)state;
	for_images(check_changed);
}

/* ---- recording ---- */

static unsigned char *
copy_place(int thread, const struct image_place *place)
{
	unsigned char *copy = malloc(place->size);
	struct iovec local = { copy, place->size };
	struct iovec remote = { (void *)(uintptr_t)place->address,
		place->size };

	assert_non_null(copy);
	assert_int_equal(process_vm_readv(thread, &local, 1, &remote, 1, 0),
	                 (ssize_t)place->size);
	return copy;
}

static void
find_cold(struct image *image)
{
	struct python_runtime runtime = { .loop = image->loop.address,
		.loop_end = image->loop.address + image->loop.size };
	unsigned char *index = copy_place(image->thread, &image->index);
	unsigned char *code = copy_place(image->thread, &image->loop);

	python_find_cold(&runtime, code, index, image->index.size,
	                 image->index.address);
	image->cold = (struct image_place){ runtime.cold,
		runtime.cold_end - runtime.cold };
	free(index);
	free(code);
}

static int
record(const char *path, int thread)
{
	struct image *image = image_read_file(path);
	FILE *file;

	image->thread = thread;
	find_cold(image);
	check_both(image);
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file, "cold 0x%lx %lu\n", image->cold.address,
	        image->cold.size);
	for (size_t i = 0; i < image->n_blocks; i++) {
		fprintf(file, "memory 0x%lx ", image->blocks[i].address);
		for (int k = 0; k < BLOCK; k++)
			fprintf(file, "%02x", image->blocks[i].bytes[k]);
		fprintf(file, "\n");
	}
	image_free(image);
	return fclose(file) == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_finds_the_stack_that_the_program_sees),
		cmocka_unit_test(walk_refuses_a_stack_with_a_loop_of_no_list),
		cmocka_unit_test(walk_goes_once_around_a_circle_of_tasks),
		cmocka_unit_test(walk_leaves_no_hole_in_a_task),
		cmocka_unit_test(walk_trusts_no_entry_of_an_array),
		cmocka_unit_test(walk_ends_in_memory_of_any_contents),
	};

	if (argc == 3)
		return record(argv[1], atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
