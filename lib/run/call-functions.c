/* SPDX-License-Identifier: MIT */
/* call-functions.c -- from a function's name to where its code is.
 *
 * The file of a module is read in pieces, never mapped: whoever truncates a
 * mapped file kills the program.  First the names that count are looked for in
 * the table of strings, and then the symbols that have them.
 */
#include "lib/run/sample.h"

#include <elf.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/sources/resource.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"

#define MAX_RANGES 256
#define MAX_FOUND 512		/* names in one module */
#define MAX_NAME 256		/* longest pattern */
#define MAX_PATTERNS 7		/* for each name */
#define PIECE ((size_t)64 << 10)

/* The code of a function: [start, end) as offsets in a module. */
struct call_range {
	uint64_t start, end;
	uint32_t module;
	unsigned function;
};

/* How the name of a symbol begins, and what may follow. */
struct name_pattern {
	unsigned function;
	size_t size;
	enum {
		NAME_WHOLE,	/* nothing; other texts may come before */
		NAME_CLONE,	/* a suffix of the compiler: ".cold" */
		NAME_MANGLED	/* the types of parameters */
	} kind;
	char text[MAX_NAME];
};

static struct call_range ranges[MAX_RANGES] WIPED_TABLE;
static _Atomic size_t n_ranges WIPED;
static _Atomic size_t n_counted WIPED;	/* ranges of which the file knows */
static _Atomic size_t n_looked WIPED;	/* modules that were looked at */
static atomic_flag is_looking WIPED;
static struct cpprofdata_call_function *records WIPED;

/* Under is_looking: */
static struct name_pattern patterns[CPPROFDATA_CALL_FUNCTIONS_MAX *
    MAX_PATTERNS] BIG_TABLE;
static size_t n_patterns;
static unsigned char piece[PIECE] BIG_TABLE;
static struct {
	uint32_t at;		/* in the table of strings; ascending */
	unsigned function;
} found[MAX_FOUND] BIG_TABLE;
static size_t n_found;

/*
 * The patterns.
 */

static void
functions_add_pattern(unsigned function, int kind, const char *before,
    const char *text, size_t length, const char *after)
{
	struct name_pattern *pattern = &patterns[n_patterns];
	const size_t a = strlen(before), b = strlen(after);

	if (a + length + b > MAX_NAME)
		return;
	memcpy(pattern->text, before, a);
	memcpy(pattern->text + a, text, length);
	memcpy(pattern->text + a + length, after, b);
	pattern->size = a + length + b;
	pattern->function = function;
	pattern->kind = kind;
	n_patterns++;
}

/*
 * Writes "space::type::name" as a C++ compiler encodes it, "5space4type4name".
 * Returns its length; 0: it is too long.
 */
static size_t
functions_encode(const char *name, char *text)
{
	const char *end;
	size_t n = 0, length, digits, i;

	for (; *name != '\0' && *name != '('; name = end) {
		if (name[0] == ':' && name[1] == ':')
			name += 2;
		for (end = name; *end != '\0' && *end != '(' &&
		    (end[0] != ':' || end[1] != ':'); end++)
			;
		length = (size_t)(end - name);
		digits = length >= 100 ? 3 : length >= 10 ? 2 : 1;
		if (length > 999 || n + digits + length > MAX_NAME)
			return 0;
		for (i = digits; i > 0; i--, length /= 10)
			text[n + i - 1] = (char)('0' + length % 10);
		length = (size_t)(end - name);
		memcpy(text + n + digits, name, length);
		n += digits + length;
	}
	return n;
}

static void
functions_add_patterns(unsigned function, const char *name)
{
	const bool is_nested = strstr(name, "::") != NULL;
	char text[MAX_NAME];
	const size_t size = functions_encode(name, text);

	functions_add_pattern(function, NAME_WHOLE, "", name, strlen(name),
	    "");
	functions_add_pattern(function, NAME_CLONE, "", name, strlen(name),
	    ".");
	if (size == 0 || strncmp(name, "_Z", 2) == 0)
		return;
	if (is_nested) {
		/* Rust's names end in a hash. */
		functions_add_pattern(function, NAME_MANGLED, "_ZN", text,
		    size, "E");
		functions_add_pattern(function, NAME_MANGLED, "_ZNK", text,
		    size, "E");
		functions_add_pattern(function, NAME_MANGLED, "_ZN", text,
		    size, "17h");
		functions_add_pattern(function, NAME_MANGLED, "_ZN", text,
		    size, "I");
	} else {
		functions_add_pattern(function, NAME_MANGLED, "_Z", text,
		    size, "");
		functions_add_pattern(function, NAME_MANGLED, "_ZL", text,
		    size, "");
		functions_add_pattern(function, NAME_MANGLED, "_ZN12_GLOBAL__"
		    "N_1", text, size, "E");
	}
}

/*
 * The file.
 */

static bool
functions_read(int fd, uint64_t at, void *to, size_t size)
{
	return arch_system_call(SYS_pread64, fd, (long)to, (long)size,
	    (long)at) == (long)size;
}

/*
 * Whether the text at piece[i], after the byte `before`, is a name that counts.
 * Tables share the ends of names, so a whole name may begin within another.
 */
static bool
functions_matches(const struct name_pattern *pattern, size_t i,
    unsigned char before)
{
	if (pattern->kind != NAME_WHOLE && before != '\0')
		return false;
	return memcmp(piece + i, pattern->text, pattern->size) == 0 &&
	    (pattern->kind != NAME_WHOLE || piece[i + pattern->size] == '\0');
}

/* Finds the names that count in the table of strings. */
static void
functions_find_names(int fd, uint64_t offset, uint64_t size)
{
	const size_t most = MAX_NAME + 1;
	unsigned char before = 0;
	bool may_begin[256] = { false };
	uint64_t at;
	size_t n, i, p;

	n_found = 0;
	for (p = 0; p < n_patterns; p++)
		may_begin[(unsigned char)patterns[p].text[0]] = true;
	for (at = 0; at < size; at += n) {
		size_t read = size - at < PIECE ? (size_t)(size - at) : PIECE;

		if (!functions_read(fd, offset + at, piece, read))
			return;
		/* What follows the last names is in the next piece, too. */
		n = at + read == size ? read : read - most;
		memset(piece + read, 0, read + most <= PIECE ? most :
		    PIECE - read);
		for (i = 0; i < n; before = piece[i++]) {
			if (!may_begin[piece[i]])
				continue;
			for (p = 0; p < n_patterns && n_found < MAX_FOUND; p++)
				if (i + patterns[p].size < PIECE &&
				    functions_matches(&patterns[p], i,
				    before)) {
					found[n_found].at = (uint32_t)(at + i);
					found[n_found++].function =
					    patterns[p].function;
				}
		}
	}
}

static void
functions_add_range(uint32_t module, uint64_t start, uint64_t size,
    unsigned function)
{
	const size_t n = atomic_load_explicit(&n_ranges, memory_order_relaxed);

	if (n == MAX_RANGES || size == 0)
		return;
	ranges[n] = (struct call_range){ start, start + size, module,
	    function };
	atomic_store_explicit(&n_ranges, n + 1, memory_order_release);
}

/* The name at that place in the table of strings, if it counts; or n_found. */
static size_t
functions_found(uint32_t at)
{
	size_t low = 0, high = n_found;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (found[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n_found && found[low].at == at ? low : n_found;
}

/* Finds the symbols of these names. */
static void
functions_find_symbols(int fd, const Elf64_Shdr *table, uint32_t module)
{
	const size_t at_once = PIECE / sizeof(Elf64_Sym);
	uint64_t n = table->sh_size / sizeof(Elf64_Sym), i;
	size_t part, k, name;

	for (i = 0; i < n; i += part) {
		part = n - i < at_once ? (size_t)(n - i) : at_once;
		if (!functions_read(fd, table->sh_offset +
		    i * sizeof(Elf64_Sym), piece, part * sizeof(Elf64_Sym)))
			return;
		for (k = 0; k < part; k++) {
			Elf64_Sym symbol;

			memcpy(&symbol, piece + k * sizeof symbol,
			    sizeof symbol);
			if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
			    symbol.st_shndx == SHN_UNDEF)
				continue;
			name = functions_found(symbol.st_name);
			if (name < n_found)
				functions_add_range(module, symbol.st_value,
				    symbol.st_size, found[name].function);
		}
	}
}

/*
 * The table of symbols, or else that of dynamic ones, and the table of its
 * strings.
 */
static bool
functions_find_tables(int fd, Elf64_Shdr *symbols, Elf64_Shdr *strings)
{
	Elf64_Ehdr elf;
	Elf64_Shdr section;
	unsigned i;

	*symbols = *strings = (Elf64_Shdr){ .sh_type = SHT_NULL };
	if (!functions_read(fd, 0, &elf, sizeof elf) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_shentsize != sizeof section)
		return false;
	for (i = 0; i < elf.e_shnum; i++) {
		if (!functions_read(fd, elf.e_shoff + i * sizeof section,
		    &section, sizeof section))
			return false;
		if (section.sh_type == SHT_SYMTAB ||
		    (section.sh_type == SHT_DYNSYM &&
		    symbols->sh_type == SHT_NULL))
			*symbols = section;
	}
	return symbols->sh_type != SHT_NULL && symbols->sh_link < elf.e_shnum &&
	    functions_read(fd, elf.e_shoff + symbols->sh_link * sizeof section,
	    strings, sizeof *strings);
}

static void
functions_look_in(const char *path, uint32_t module)
{
	Elf64_Shdr symbols, strings;
	const int fd = path[0] != '/' ? -1 :
	    files_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);

	if (fd < 0)
		return;
	if (functions_find_tables(fd, &symbols, &strings)) {
		functions_find_names(fd, strings.sh_offset, strings.sh_size);
		if (n_found > 0)
			functions_find_symbols(fd, &symbols, module);
	}
	files_close(fd);
}

/*
 * The records in the data file.
 */

uint64_t
call_functions_interval_ns(void)
{
	const unsigned column = resources.place[RESOURCE_REAL];
	const uint64_t interval_ns = column == 0 ? 0 :
	    resources.columns[column - 1].interval * 1000;

	/* Ticks come no faster than the kernel's. */
	return interval_ns > process_kernel_tick() ? interval_ns :
	    process_kernel_tick();
}

static bool
functions_add_records(void)
{
	const char *name = process.call_functions;
	struct cpprofdata_call_function *added;
	uint32_t number;
	unsigned f;

	if (records != NULL)
		return true;
	if (!datafile_lock())
		return false;
	added = datafile_add_records(CPPROFDATA_CALL_FUNCTIONS, sizeof *added,
	    process.n_call_functions, &number);
	for (f = 0; added != NULL && f < process.n_call_functions; f++) {
		added[f].name = datafile_add_string(name, strlen(name) + 1,
		    NULL);
		added[f].interval_ns = call_functions_interval_ns();
		name += strlen(name) + 1;
	}
	if (added != NULL)
		datafile_publish(CPPROFDATA_CALL_FUNCTIONS,
		    process.n_call_functions);
	records = added;
	datafile_unlock();
	return added != NULL;
}

/* If the file is busy, the next sample tries again. */
static void
functions_count_places(void)
{
	size_t i;

	if (!datafile_lock())
		return;
	for (i = 0; i < process.n_call_functions; i++)
		records[i].n_places = 0;
	for (i = 0; i < n_ranges; i++)
		records[ranges[i].function].n_places++;
	datafile_update(CPPROFDATA_CALL_FUNCTIONS, records,
	    process.n_call_functions * sizeof *records);
	n_counted = n_ranges;
	datafile_unlock();
}

size_t
call_functions_refresh(void)
{
	const size_t n = modules_count();
	const char *name = process.call_functions;
	uint32_t module;
	unsigned f;

	if ((n_looked >= n && n_counted == n_ranges) ||
	    atomic_flag_test_and_set_explicit(&is_looking,
	    memory_order_acquire))
		return n_ranges;
	if (n_patterns == 0)
		for (f = 0; f < process.n_call_functions; f++) {
			functions_add_patterns(f, name);
			name += strlen(name) + 1;
		}
	if (functions_add_records()) {
		for (; n_looked < n; n_looked++) {
			const char *path = modules_file(n_looked, &module);

			functions_look_in(path, module);
		}
		if (n_counted != n_ranges)
			functions_count_places();
	}
	atomic_flag_clear_explicit(&is_looking, memory_order_release);
	return n_ranges;
}

bool
call_functions_are_known(void)
{
	return n_looked >= modules_count();
}

unsigned
call_functions_find(uint32_t module, uint64_t offset)
{
	const size_t n = atomic_load_explicit(&n_ranges, memory_order_acquire);
	size_t i;

	for (i = 0; i < n; i++)
		if (ranges[i].module == module && offset >= ranges[i].start &&
		    offset < ranges[i].end)
			return ranges[i].function;
	return CPPROFDATA_CALL_FUNCTIONS_MAX;
}
