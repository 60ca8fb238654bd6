/* SPDX-License-Identifier: MIT */
/* tableless.c -- rules for code that no unwind table covers, from a file.
 *
 * When such code of a module is met, `record` is asked for the file of rules
 * that it makes by reading the code (lib/cpprof-code.h).  Later look-ups find
 * that it has answered, read the file into memory, since somebody may truncate
 * it, and use it from then on.  Nothing waits.
 *
 * The list of modules only grows.  Whoever changes it holds a lock that nobody
 * waits for: a handler that interrupts another one, or a second thread, goes on
 * without rules.  A file that was read is never freed.
 */
#include "lib/unwind/rules.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/readable.h"
#include "lib/base/shared.h"
#include "lib/unwind/traits.h"

#define MAX_TABLELESS 64	/* modules */
#define MAX_PATH_OF_CALLS 64	/* functions between a call and a callee that
				   end by jumping */
/*
 * To read all code of a large module takes `record` seconds.  If most of it has
 * tables, which is so if there is one for so many bytes, the rest must be met so
 * often before it is asked for.
 */
#define BYTES_OF_TABLE 2048
#define OFTEN 8

struct tableless_rules {
	const struct cpprof_code_header *header;
	const struct cpprof_code_range *ranges;
	const struct cpprof_code_function *functions;
	const struct cpprof_code_extent *extents;
	const uint32_t *tails;
};

struct tableless_module {
	const struct link_map *_Atomic map;	/* NULL: it was unloaded */
	const void *start;		/* a program's segments may be apart */
	_Atomic uint64_t epoch;		/* in which that is known */
	uint64_t key;
	bool is_asked;			/* `record`, if it answers */
	unsigned n_met;			/* before that */
	bool has_tables;		/* for most of its code */
	_Atomic uint32_t n_answers;	/* when its file was last sought, + 1 */
	_Atomic bool has_rules;
	struct tableless_rules rules;
};

static struct tableless_module modules[MAX_TABLELESS] BIG_TABLE;
static struct cpprof_code_module identity BIG_TABLE;
static _Atomic size_t n_modules;
static atomic_flag is_changing WIPED;

/* ---- files ---- */

/* The parts of a file; false: they do not lie in it. */
static bool
tableless_open(const void *file, uint64_t size, struct tableless_rules *rules)
{
	const struct cpprof_code_header *header = file;

	if (size < sizeof *header || header->magic != CPPROF_CODE_MAGIC ||
	    cpprof_code_size(header) != size)
		return false;
	rules->header = header;
	rules->ranges = (const void *)(header + 1);
	rules->functions = (const void *)(rules->ranges + header->n_ranges);
	rules->extents = (const void *)(rules->functions +
	    header->n_functions);
	rules->tails = (const void *)(rules->extents + header->n_extents);
	return true;
}

static bool
tableless_read(uint64_t key, struct tableless_rules *rules)
{
	static char path[PATH_MAX] BIG_TABLE;
	const size_t length = strlen(process.output);
	struct stat status;
	void *memory;
	size_t size;
	bool is_good;
	int fd;

	if (length + 1 + CPPROF_CODE_NAME_SIZE > sizeof path)
		return false;
	memcpy(path, process.output, length);
	path[length] = '/';
	cpprof_code_name(key, path + length + 1);
	fd = files_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (files_status(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_size <= 0 ||
	    (uint64_t)status.st_size > CPPROF_CODE_MAX_SIZE) {
		files_close(fd);
		return false;
	}
	size = (size_t)status.st_size;
	memory = files_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	/* An empty file says that the code could not be read. */
	is_good = memory != MAP_FAILED &&
	    files_read(fd, memory, size) == (ssize_t)size &&
	    tableless_open(memory, size, rules) &&
	    (rules->header->n_ranges > 0 || rules->header->n_functions > 0);
	files_close(fd);
	if (memory != MAP_FAILED && !is_good)
		files_unmap(memory, size);
	return is_good;
}

/* ---- modules ---- */

/* The build-id in those notes of a module that are loaded. */
static void
tableless_identify_build(const struct dl_find_object *object)
{
	const uintptr_t bias = object->dlfo_link_map->l_addr;
	const ElfW(Phdr) *headers;
	const unsigned char *id;
	size_t n, i, k, size;

	headers = traits_headers(object, &n);
	for (i = 0; i < n && identity.build_id_size == 0; i++) {
		const ElfW(Phdr) *notes = &headers[i];

		for (k = 0; k < n && (headers[k].p_type != PT_LOAD ||
		    notes->p_vaddr - headers[k].p_vaddr >
		    headers[k].p_filesz || notes->p_filesz >
		    headers[k].p_filesz - (notes->p_vaddr -
		    headers[k].p_vaddr)); k++)
			;
		if (notes->p_type != PT_NOTE || k == n)
			continue;
		size = mappings_find_build_id((const unsigned char *)bias +
		    notes->p_vaddr, notes->p_filesz, &id);
		if (size == 0 || size > sizeof identity.build_id)
			continue;
		memcpy(identity.build_id, id, size);
		identity.build_id_size = (uint32_t)size;
	}
}

/* Sets `identity`.  False: nobody can read the module's file. */
static bool
tableless_identify(const struct dl_find_object *object)
{
	const char *path = object->dlfo_link_map->l_name;
	const bool is_program = path == NULL || path[0] == '\0';
	struct stat status;

	memset(&identity, 0, sizeof identity);
	if (is_program)
		path = process_names.executable;
	if (path[0] != '/' || strlen(path) >= sizeof identity.path ||
	    (uintptr_t)object->dlfo_map_start == getauxval(AT_SYSINFO_EHDR))
		return false;
	strcpy(identity.path, path);
	tableless_identify_build(object);
	if (identity.build_id_size > 0)
		return true;
	if (files_status_of(is_program ? "/proc/self/exe" : path, &status) != 0)
		return false;
	identity.file_size = (uint64_t)status.st_size;
	identity.file_mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)status.st_mtim.tv_nsec;
	return identity.file_size != 0;
}

static struct tableless_module *
tableless_find_module(const struct dl_find_object *object, bool in_any_epoch)
{
	const uint64_t epoch = atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed);
	size_t n = atomic_load_explicit(&n_modules, memory_order_acquire), i;

	for (i = 0; i < n; i++)
		if (atomic_load_explicit(&modules[i].map,
		    memory_order_relaxed) == object->dlfo_link_map &&
		    modules[i].start == object->dlfo_map_start &&
		    (in_any_epoch || atomic_load_explicit(&modules[i].epoch,
		    memory_order_relaxed) == epoch))
			return &modules[i];
	return NULL;
}

/* Looks for the module's file, and asks for it.  Lock held. */
static void
tableless_seek_rules(struct tableless_module *module)
{
	const uint32_t n_answers = shared_code_answers();

	if (module->key == 0 || module->has_rules)
		return;
	if (tableless_read(module->key, &module->rules))
		atomic_store_explicit(&module->has_rules, true,
		    memory_order_release);
	else if (!module->is_asked && (!module->has_tables ||
	    ++module->n_met >= OFTEN))
		module->is_asked = !shared_answers_codes() ||
		    shared_ask_code(&identity);
	/* Without a place for the question, it is asked again. */
	if (module->is_asked)
		module->n_answers = n_answers + 1;
}

/* Adds a module, or finds out whether it is still the same.  Lock held. */
static void
tableless_add(const struct dl_find_object *object)
{
	const uint64_t epoch = atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed);
	struct tableless_module *module = tableless_find_module(object, true);
	const uint64_t key = tableless_identify(object) ?
	    cpprof_code_key(&identity) : 0;

	if (module != NULL && module->key != key) {
		atomic_store(&module->map, NULL);
		module = NULL;
	}
	if (module == NULL) {
		if (n_modules == MAX_TABLELESS)
			return;
		module = &modules[n_modules];
		module->start = object->dlfo_map_start;
		module->key = key;
		module->has_tables = tables_count(object) * BYTES_OF_TABLE >=
		    (size_t)((const char *)object->dlfo_map_end -
		    (const char *)object->dlfo_map_start);
		atomic_store(&module->map, object->dlfo_link_map);
		atomic_store(&module->epoch, epoch);
		tableless_seek_rules(module);
		atomic_fetch_add_explicit(&n_modules, 1, memory_order_release);
		return;
	}
	tableless_seek_rules(module);
	atomic_store(&module->epoch, epoch);
}

/* The rules of a module's code; NULL: not yet, or there are none. */
static const struct tableless_rules *
tableless_rules_of(const struct dl_find_object *object)
{
	struct tableless_module *module = tableless_find_module(object, false);
	const int saved = errno;

	if (module == NULL ||
	    (!atomic_load_explicit(&module->has_rules, memory_order_acquire) &&
	    module->key != 0 &&
	    module->n_answers != shared_code_answers() + 1)) {
		if (process.output == NULL || process.reads_no_files ||
		    !process.has_executable || object->dlfo_link_map == NULL ||
		    atomic_flag_test_and_set_explicit(&is_changing,
		    memory_order_acquire))
			return NULL;
		if (module == NULL || !module->is_asked)
			tableless_add(object);
		else
			tableless_seek_rules(module);
		atomic_flag_clear_explicit(&is_changing, memory_order_release);
		errno = saved;
		module = tableless_find_module(object, false);
	}
	return module != NULL && atomic_load_explicit(&module->has_rules,
	    memory_order_acquire) ? &module->rules : NULL;
}

/* ---- rules ---- */

struct compact_rule
tableless_find(uint64_t address, const struct dl_find_object *object)
{
	const struct tableless_rules *rules = tableless_rules_of(object);
	struct compact_rule rule = { .kind = COMPACT_NONE };
	const struct cpprof_code_range *range;
	int64_t cfa, saved;
	uint64_t offset;
	size_t low = 0, high, middle;

	if (rules == NULL)
		return rule;
	offset = address - object->dlfo_link_map->l_addr - rules->header->base;
	for (high = rules->header->n_ranges; low < high;) {
		middle = low + (high - low) / 2;
		if (rules->ranges[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	rule.kind = COMPACT_CODE_UNKNOWN;
	if (low == 0 || offset >= rules->ranges[low - 1].end)
		return rule;
	range = &rules->ranges[low - 1];
	rule.traits = range->is_proved != 0 ? TABLELESS_PROVED : 0;
	cfa = range->cfa_offset;
	rule.cfa_offset = cfa;
	rule.saves_frame = range->saved != CPPROF_CODE_SAME;
	saved = range->saved == CPPROF_CODE_SAVED ? range->frame_offset : 0;
	rule.frame_offset = saved;
	if (rule.cfa_offset != cfa || rule.frame_offset != saved)
		return (struct compact_rule){ .kind = COMPACT_CODE_OTHER };
	switch (range->kind) {
	case CPPROF_CODE_STACK:
		rule.kind = COMPACT_CODE_STACK;
		break;
	case CPPROF_CODE_FRAME:
		rule.kind = COMPACT_CODE_FRAME;
		break;
	case CPPROF_CODE_END:
		return (struct compact_rule){ .kind = COMPACT_CODE_END };
	case CPPROF_CODE_OTHER:
		return (struct compact_rule){ .kind = COMPACT_CODE_OTHER };
	}
	return rule;
}

/* ---- calls ---- */

/* The function that starts there; NULL: it leads to no such code. */
static const struct cpprof_code_function *
tableless_find_function(const struct tableless_rules *rules, uint32_t start)
{
	size_t low = 0, high = rules->header->n_functions, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (rules->functions[middle].start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rules->header->n_functions &&
	    rules->functions[low].start == start ? &rules->functions[low] :
	    NULL;
}

static bool
tableless_has(const struct tableless_rules *rules,
    const struct cpprof_code_function *function, uint64_t offset)
{
	const uint32_t n = rules->header->n_extents;
	size_t low = function->first_extent, high, middle;

	if (function->first_extent > n ||
	    function->n_extents > n - function->first_extent)
		return false;
	high = low + function->n_extents;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (rules->extents[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < function->first_extent + (size_t)function->n_extents &&
	    rules->extents[low].start <= offset;
}

/* Whether a function has the callee, or those do that it ends by jumping to. */
static enum tableless_answer
tableless_leads_to(const struct tableless_rules *rules, uint64_t start,
    uint64_t callee, bool is_other)
{
	const uint32_t n_tails = rules->header->n_tails;
	enum tableless_answer answer = rules->header->is_complete != 0 ?
	    TABLELESS_NO : TABLELESS_UNKNOWN;
	uint32_t path[MAX_PATH_OF_CALLS];
	size_t n = 1, i, k, known;

	if (start > UINT32_MAX)
		return TABLELESS_UNKNOWN;
	path[0] = (uint32_t)start;
	for (i = 0; i < n; i++) {
		const struct cpprof_code_function *function =
		    tableless_find_function(rules, path[i]);

		if (function == NULL)
			continue;
		if ((function->flags & CPPROF_CODE_ANYWHERE) != 0 ||
		    (!is_other && tableless_has(rules, function, callee)))
			return TABLELESS_YES;
		if ((function->flags & CPPROF_CODE_UNSURE) != 0)
			answer = TABLELESS_UNKNOWN;
		if (function->first_tail > n_tails ||
		    function->n_tails > n_tails - function->first_tail)
			return TABLELESS_UNKNOWN;
		for (k = 0; k < function->n_tails; k++) {
			const uint32_t tail =
			    rules->tails[function->first_tail + k];

			for (known = 0; known < n && path[known] != tail;
			    known++)
				;
			if (known < n)
				continue;
			if (n == MAX_PATH_OF_CALLS)
				return TABLELESS_UNKNOWN;
			path[n++] = tail;
		}
	}
	return answer;
}

enum tableless_answer
tableless_is_called(struct readable *readable, uint64_t return_address,
    uint64_t callee)
{
	const unsigned char *ra =
	    (const unsigned char *)(uintptr_t)return_address;
	const size_t size = readable_before(readable, return_address,
	    ARCH_CALLING_SIZE);
	const uint64_t target = arch_call_target(ra, size);
	struct dl_find_object object, callees;
	const struct tableless_rules *rules;
	uint64_t base;

	/* Bytes of another call may look like one whose target is nowhere. */
	if (target == 0 || !traits_is_code(target))
		return TABLELESS_YES;
	if (arch_jumps_through_memory((const unsigned char *)(uintptr_t)target,
	    readable_after(readable, target, ARCH_JUMP_SIZE)))
		return TABLELESS_YES;
	if (_dl_find_object((void *)(uintptr_t)target, &object) != 0 ||
	    _dl_find_object((void *)(uintptr_t)callee, &callees) != 0 ||
	    (rules = tableless_rules_of(&object)) == NULL)
		return TABLELESS_UNKNOWN;
	base = object.dlfo_link_map->l_addr + rules->header->base;
	return tableless_leads_to(rules, target - base, callee - base,
	    object.dlfo_link_map != callees.dlfo_link_map);
}
