/* SPDX-License-Identifier: MIT */
/* mappings.c -- reads /proc/self/maps, and the headers of files that it names.
 *
 * The list of mappings is read when an address is met that is in no known
 * mapping, and again when what is known is old.  A table of all executable
 * mappings that the loader did not make replaces the last one.  Readers take a
 * copy of one row, and discard it if a writer was at work meanwhile.
 *
 * Most such files are also loaded by the loader.  Then its module, its tables
 * and its names serve for both mappings.  Of other ELF files the headers are
 * read, and the unwind tables are copied: memory mapped from a file that
 * somebody truncates would fault.
 */
#include "lib/unwind/rules.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/unwind/traits.h"

#define MAX_MAPPINGS 64
#define MAX_FILES 32
#define MAX_HEADERS 32			/* program headers of a file */
#define MAX_TABLES ((size_t)64 << 20)	/* bytes to copy */
#define MISS_NS 20000000		/* least age of the table when an
					   address in no row makes it be read
					   again, */
#define HIT_NS 1000000000		/* or in any case */
#define COST_PART 200			/* and at least this many times what
					   reading it took */

/* A file seen in the list. */
struct mappings_file {
	uint64_t device, inode;
	bool is_usable;			/* its code is in a module */
	bool is_loaded;			/* by the loader: */
	struct dl_find_object object;	/* some part of it, */
	uint64_t bias;			/* and its address - ELF address */
	struct mapped_file *file;	/* otherwise what was read */
	size_t n_headers;
	ElfW(Phdr) headers[MAX_HEADERS];
	uint64_t tables_shift;		/* address of the copy - ELF address */
};

/* A line of the list. */
struct mappings_line {
	uint64_t start, end, offset, device, inode;
	bool is_accessible, is_executable;
	const char *path;
};

static struct mapping table[MAX_MAPPINGS] BIG_TABLE;
static struct mapping next[MAX_MAPPINGS] BIG_TABLE;
static struct mappings_file files[MAX_FILES] BIG_TABLE;
static char text[8192] BIG_TABLE;

static _Atomic uint32_t version WIPED;	/* odd: the table is being written */
static _Atomic size_t n_rows WIPED;
static size_t n_files WIPED;
static atomic_flag is_reading WIPED;
static _Atomic uint64_t read_ns WIPED;	/* when, by CLOCK_MONOTONIC; 0: never */
static _Atomic uint64_t cost_ns WIPED;

/* ---- the list ---- */

/* Reads a number up to a character that is no digit of the base. */
static uint64_t
mappings_take_number(const char **at, unsigned base)
{
	uint64_t number = 0;
	unsigned digit;

	for (;; ++*at) {
		digit = **at >= 'a' ? (unsigned)(**at - 'a') + 10 :
		    (unsigned)(**at - '0');
		if (digit >= base)
			return number;
		number = number * base + digit;
	}
}

/* "7efd8ae00000-7efd8af92000 r-xp 014c4000 fe:00 247823      /usr/bin/node" */
static void
mappings_parse(const char *at, struct mappings_line *line)
{
	line->start = mappings_take_number(&at, 16);
	at += *at == '-';
	line->end = mappings_take_number(&at, 16);
	at += *at == ' ';
	line->is_accessible = strncmp(at, "---", 3) != 0;
	line->is_executable = strnlen(at, 5) == 5 && at[2] == 'x';
	at += strnlen(at, 5);
	line->offset = mappings_take_number(&at, 16);
	at += *at == ' ';
	line->device = mappings_take_number(&at, 16) << 32;
	at += *at == ':';
	line->device |= mappings_take_number(&at, 16);
	at += *at == ' ';
	line->inode = mappings_take_number(&at, 10);
	while (*at == ' ')
		at++;
	line->path = at;
}

/* Calls `each` for each line; those that are too long are left out. */
static void
mappings_read_list(void (*each)(const struct mappings_line *line))
{
	int fd = files_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	bool is_skipping = false;
	size_t used = 0;
	ssize_t n;

	while (fd >= 0 && (n = files_read(fd, text + used,
	    sizeof text - 1 - used)) > 0) {
		char *at = text, *end;

		used += (size_t)n;
		while ((end = memchr(at, '\n', (size_t)(text + used - at))) !=
		    NULL) {
			struct mappings_line line;

			*end = '\0';
			if (!is_skipping) {
				mappings_parse(at, &line);
				each(&line);
			}
			is_skipping = false;
			at = end + 1;
		}
		used -= (size_t)(at - text);
		memmove(text, at, used);
		if (used == sizeof text - 1) {
			used = 0;
			is_skipping = true;
		}
	}
	if (fd >= 0)
		files_close(fd);
}

/* ---- files ---- */

static bool
is_of_file(const struct mappings_line *line, const struct mappings_file *file)
{
	return line->inode == file->inode && line->device == file->device;
}

static bool
mappings_read_part(int fd, void *to, size_t size, uint64_t offset)
{
	return arch_system_call(SYS_pread64, fd, (long)to, (long)size,
	    (long)offset) == (long)size;
}

size_t
mappings_find_build_id(const unsigned char *notes, size_t size,
    const unsigned char **build_id)
{
	size_t at = 0, name_size, data_size;
	ElfW(Nhdr) note;

	while (size - at >= sizeof note) {
		memcpy(&note, notes + at, sizeof note);
		at += sizeof note;
		name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		data_size = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name_size > size - at || data_size > size - at - name_size)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + at, "GNU", 4) == 0) {
			*build_id = notes + at + name_size;
			return note.n_descsz;
		}
		at += name_size + data_size;
	}
	return 0;
}

/* Copies the segment with the unwind tables that `header` tells of. */
static void
copy_tables(int fd, const ElfW(Phdr) *header, struct mappings_file *file)
{
	const ElfW(Phdr) *segment = file->headers;
	const ElfW(Phdr) *end = segment + file->n_headers;
	unsigned char *copy;

	while (segment < end && (segment->p_type != PT_LOAD ||
	    header->p_vaddr - segment->p_vaddr >= segment->p_filesz))
		segment++;
	if (segment == end || segment->p_filesz > MAX_TABLES)
		return;
	copy = files_map(segment->p_filesz, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (copy == MAP_FAILED)
		return;
	if (!mappings_read_part(fd, copy, segment->p_filesz,
	                        segment->p_offset)) {
		files_unmap(copy, segment->p_filesz);
		return;
	}
	file->tables_shift = (uintptr_t)copy - segment->p_vaddr;
	file->object.dlfo_map_start = copy;
	file->object.dlfo_map_end = copy + segment->p_filesz;
	file->object.dlfo_eh_frame = copy + (header->p_vaddr -
	    segment->p_vaddr);
}

/* Reads a file that the loader has not loaded, if its name still leads to it. */
static void
mappings_read_file(const char *path, struct mappings_file *file)
{
	int fd = *path == '/' ? files_open(path, O_RDONLY | O_CLOEXEC |
	    O_NONBLOCK | O_NOCTTY, 0) : -1;
	const size_t length = strlen(path);
	const ElfW(Phdr) *header;
	struct mapped_file *mapped;
	const unsigned char *id;
	unsigned char notes[1024];
	struct stat status;
	ElfW(Ehdr) elf;
	size_t size, i;

	if (fd < 0)
		return;
	if (files_status(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_ino != file->inode || length >= sizeof mapped->path ||
	    !mappings_read_part(fd, &elf, sizeof elf, 0) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_phentsize != sizeof file->headers[0] ||
	    elf.e_phnum > MAX_HEADERS ||
	    !mappings_read_part(fd, file->headers,
	    elf.e_phnum * sizeof(ElfW(Phdr)), elf.e_phoff))
		goto end;
	file->n_headers = elf.e_phnum;
	mapped = files_map(sizeof *mapped, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (mapped == MAP_FAILED)
		goto end;
	memcpy(mapped->path, path, length + 1);
	mapped->inode = status.st_ino;
	mapped->size = (uint64_t)status.st_size;
	mapped->mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)status.st_mtim.tv_nsec;
	for (i = 0; i < file->n_headers; i++) {
		header = &file->headers[i];
		if (header->p_type == PT_GNU_EH_FRAME)
			copy_tables(fd, header, file);
		size = header->p_filesz < sizeof notes ? header->p_filesz :
		    sizeof notes;
		if (header->p_type != PT_NOTE || mapped->build_id_size > 0 ||
		    !mappings_read_part(fd, notes, size, header->p_offset))
			continue;
		size = mappings_find_build_id(notes, size, &id);
		if (size > MAPPINGS_MAX_BUILD_ID)
			size = MAPPINGS_MAX_BUILD_ID;
		if (size > 0)
			memcpy(mapped->build_id, id, size);
		mapped->build_id_size = size;
	}
	file->file = mapped;
	file->is_usable = true;
end:
	files_close(fd);
}

/* ---- the table ---- */

static bool
mappings_is_loaded(uint64_t address, struct dl_find_object *object)
{
	return _dl_find_object((void *)(uintptr_t)address, object) == 0;
}

static struct mappings_file *
mappings_find_file(const struct mappings_line *line)
{
	size_t i;

	for (i = 0; i < n_files; i++)
		if (is_of_file(line, &files[i]))
			return &files[i];
	return NULL;
}

/* The files of mappings that the loader did not make, and that are new. */
static size_t n_new;

static void
note_new(const struct mappings_line *line)
{
	struct dl_find_object object;

	if (line->is_executable && line->inode != 0 &&
	    n_files + n_new < MAX_FILES && mappings_find_file(line) == NULL &&
	    !mappings_is_loaded(line->start, &object))
		files[n_files + n_new++] = (struct mappings_file){
			.device = line->device, .inode = line->inode };
}

static void
note_loaded(const struct mappings_line *line)
{
	const ElfW(Phdr) *headers;
	size_t i, j, n;

	for (i = n_files; i < n_files + n_new; i++) {
		struct mappings_file *file = &files[i];
		struct dl_find_object object;

		if (!is_of_file(line, file) || file->is_loaded ||
		    !mappings_is_loaded(line->start, &object))
			continue;
		headers = traits_headers(&object, &n);
		if (n > MAX_HEADERS)
			continue;
		for (j = 0; j < n; j++)
			file->headers[j] = headers[j];
		file->n_headers = n;
		file->object = object;
		file->bias = object.dlfo_link_map->l_addr;
		file->is_loaded = file->is_usable = true;
	}
}

static size_t n_next;

static void
mappings_add_row(const struct mappings_line *line)
{
	struct mapping *row = &next[n_next];
	struct dl_find_object object;
	struct mappings_file *file = mappings_find_file(line);
	const ElfW(Phdr) *header, *end;

	if (!line->is_executable || file == NULL || n_next == MAX_MAPPINGS ||
	    mappings_is_loaded(line->start, &object))
		return;
	if (!file->is_usable && file->file == NULL && file->n_headers == 0)
		mappings_read_file(line->path, file);
	if (!file->is_usable)
		return;
	/* The segment of code there.  Whole pages are mapped. */
	header = file->headers;
	end = header + file->n_headers;
	while (header < end && (header->p_type != PT_LOAD ||
	    (header->p_flags & PF_X) == 0 ||
	    line->offset - header->p_offset + header->p_offset % 4096 >=
	    header->p_filesz + header->p_offset % 4096))
		header++;
	if (header == end)
		return;
	/* The loader may have unloaded it since. */
	if (file->is_loaded && (!mappings_is_loaded((uintptr_t)
	    file->object.dlfo_map_start, &object) ||
	    object.dlfo_link_map != file->object.dlfo_link_map))
		return;
	*row = (struct mapping){ .start = line->start, .end = line->end };
	row->to_file = header->p_vaddr + (line->offset - header->p_offset) -
	    line->start;
	row->object = file->object;
	row->file = file->file;
	row->to_object = row->to_file + (file->is_loaded ? file->bias :
	    file->tables_shift);
	n_next++;
}

/* In three passes: a loaded part of a file may come before or after others. */
static void
mappings_read_all(void)
{
	bool is_gone = false;
	size_t i, j;

	n_new = n_next = 0;
	mappings_read_list(note_new);
	if (n_new > 0)
		mappings_read_list(note_loaded);
	n_files += n_new;
	if (n_files > 0)
		mappings_read_list(mappings_add_row);
	/* What was cached about a row that is gone must be forgotten. */
	for (i = 0; i < n_rows; i++) {
		for (j = 0; j < n_next; j++)
			if (next[j].start == table[i].start &&
			    next[j].end == table[i].end &&
			    next[j].to_object == table[i].to_object &&
			    next[j].file == table[i].file)
				break;
		is_gone |= j == n_next;
	}
	atomic_fetch_add(&version, 1);
	memcpy(table, next, n_next * sizeof *table);
	n_rows = n_next;
	atomic_fetch_add(&version, 1);
	if (is_gone)
		tables_new_epoch();
}

/* Copies the row that contains an address. */
static bool
mappings_find_row(uint64_t address, struct mapping *mapping)
{
	const uint32_t before = atomic_load_explicit(&version,
	    memory_order_acquire);
	size_t i;

	for (i = 0; i < n_rows; i++) {
		if (address < table[i].start || address >= table[i].end)
			continue;
		*mapping = table[i];
		atomic_thread_fence(memory_order_acquire);
		return before % 2 == 0 && before == atomic_load_explicit(
		    &version, memory_order_relaxed);
	}
	return false;
}

bool
mappings_find(uint64_t address, struct mapping *mapping)
{
	const int saved = errno;
	const uint64_t now = process_clock(CLOCK_MONOTONIC);
	const uint64_t last = atomic_load_explicit(&read_ns,
	    memory_order_relaxed);
	uint64_t least = COST_PART * atomic_load_explicit(&cost_ns,
	    memory_order_relaxed);
	bool is_found = mappings_find_row(address, mapping);

	if (least < (is_found ? HIT_NS : MISS_NS))
		least = is_found ? HIT_NS : MISS_NS;
	/* Unless another thread does it now. */
	if ((last == 0 || now - last >= least) && !process.reads_no_files &&
	    !atomic_flag_test_and_set_explicit(&is_reading,
	    memory_order_acquire)) {
		mappings_read_all();
		cost_ns = process_clock(CLOCK_MONOTONIC) - now;
		read_ns = now + cost_ns;
		atomic_flag_clear_explicit(&is_reading, memory_order_release);
		is_found = mappings_find_row(address, mapping);
	}
	errno = saved;
	return is_found;
}

/* What mappings_is_memory asks for, and the answer. */
static uint64_t asked_address;
static bool asked_is_memory;

/* Shared memory without a file has these names. */
static void
mappings_judge(const struct mappings_line *line)
{
	if (asked_address - line->start < line->end - line->start)
		asked_is_memory = line->is_accessible && (line->inode == 0 ||
		    strncmp(line->path, "/dev/zero", 9) == 0 ||
		    strncmp(line->path, "/anon_hugepage", 14) == 0);
}

bool
mappings_is_memory(uint64_t address)
{
	const int saved = errno;
	bool is_memory;
	int i;

	if (process.reads_no_files)
		return true;
	for (i = 0; atomic_flag_test_and_set_explicit(&is_reading,
	    memory_order_acquire); i++) {
		if (i == PROCESS_LONG_WAITS)
			return true;
		process_pause();
	}
	asked_address = address;
	asked_is_memory = true;
	mappings_read_list(mappings_judge);
	is_memory = asked_is_memory;
	atomic_flag_clear_explicit(&is_reading, memory_order_release);
	errno = saved;
	return is_memory;
}

bool
mappings_find_object(uint64_t address, struct dl_find_object *object,
    uint64_t *shift)
{
	struct mapping mapping;

	*shift = 0;
	if (mappings_is_loaded(address, object))
		return true;
	if (!mappings_find(address, &mapping))
		return false;
	*shift = mapping.to_object;
	*object = mapping.object;
	/* The loader may report each segment as an object of its own. */
	return mapping.file != NULL ||
	    mappings_is_loaded(address + *shift, object);
}
