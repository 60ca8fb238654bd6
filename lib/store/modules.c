/* SPDX-License-Identifier: MIT */
/* modules.c -- asks the loader without taking its lock, and keeps the answers.
 *
 * The table only grows while the process lives: handlers on other threads see
 * an entry once n_entries includes it.  Entries are added and closed with the
 * data file's lock held.
 */
#include "lib/store/thread-file.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/cpprof-shared.h"
#include "lib/store/datafile.h"
#include "lib/unwind/rules.h"
#include "lib/unwind/unwinder.h"

#define MAX_MODULES 65536
#define MAX_BUILD_ID 32
#define KERNEL_HALF ((uint64_t)1 << 63)	/* of the addresses, begins there */

struct module_entry {
	uint64_t start, end, bias;
	const void *map;		/* the loader's, or struct mapped_file */
	_Atomic bool open;
	uint32_t number;
	const char *path;		/* private memory */
	struct cpprofdata_module *record;
};

/* What identifies a module whose record is looked up. */
struct identity {
	uintptr_t start, end;
	const char *path;
	const unsigned char *build_id;
	size_t build_id_size;
	uint32_t flags;
};

static struct module_entry *entries;
static _Atomic size_t n_entries WIPED;
static _Atomic uint64_t epoch WIPED;

/* `at`: any address of it, or 0 if the map says enough. */
static struct module_entry *
find_open(const void *map, uintptr_t at)
{
	size_t i = atomic_load_explicit(&n_entries, memory_order_acquire);

	while (i > 0) {
		struct module_entry *entry = &entries[--i];

		/* Acquire: the fields guarded by `open` are read after it. */
		if (atomic_load_explicit(&entry->open, memory_order_acquire) &&
		    (at == 0 || (at >= entry->start && at < entry->end)) &&
		    entry->map == map)
			return entry;
	}
	return NULL;
}

/*
 * Path, kind and build-id, and for the executable also its extent: the kernel
 * leaves gaps between its segments, and the loader reports one segment at a
 * time.  Uses a static buffer: lock held.
 */
static struct identity
modules_identify(const struct dl_find_object *object)
{
	static char joined[2 * PATH_MAX] BIG_TABLE;
	const ElfW(Ehdr) *elf = object->dlfo_map_start;
	const uintptr_t bias = object->dlfo_link_map->l_addr;
	const ElfW(Phdr) *headers = NULL;
	struct identity identity = {
		.start = (uintptr_t)object->dlfo_map_start,
		.end = (uintptr_t)object->dlfo_map_end,
		.path = object->dlfo_link_map->l_name,
		.build_id = (const unsigned char *)""
	};
	size_t length, n = 0, i;

	if (identity.path == NULL || identity.path[0] == '\0') {
		identity.path = process_names.executable;
		identity.flags = CPPROFDATA_MODULE_MAIN;
	} else if ((uintptr_t)object->dlfo_map_start ==
	    getauxval(AT_SYSINFO_EHDR)) {
		identity.flags = CPPROFDATA_MODULE_VDSO;
	} else if (identity.path[0] != '/' &&
	    arch_system_call(SYS_getcwd, (long)joined, PATH_MAX, 0, 0) > 0) {
		length = strlen(joined);
		joined[length] = '/';
		strncpy(joined + length + 1, identity.path, PATH_MAX - 1);
		identity.path = joined;
	}
	if (identity.flags & CPPROFDATA_MODULE_MAIN) {
		headers = (const void *)getauxval(AT_PHDR);
		n = getauxval(AT_PHNUM);
	} else if (identity.end - identity.start >= CPPROFDATA_PAGE &&
	    memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
	    elf->e_phentsize == sizeof *headers &&
	    elf->e_phoff % sizeof(uint64_t) == 0 &&
	    elf->e_phoff < CPPROFDATA_PAGE && elf->e_phnum <=
	    (CPPROFDATA_PAGE - elf->e_phoff) / sizeof *headers) {
		headers = (const void *)(identity.start + elf->e_phoff);
		n = elf->e_phnum;
	}
	for (i = 0; i < n && identity.flags == CPPROFDATA_MODULE_MAIN; i++) {
		uintptr_t at = bias + headers[i].p_vaddr;

		if (headers[i].p_type != PT_LOAD)
			continue;
		if (at < identity.start)
			identity.start = at;
		if (at + headers[i].p_memsz > identity.end)
			identity.end = at + headers[i].p_memsz;
	}
	for (i = 0; i < n && identity.build_id_size == 0; i++) {
		uintptr_t at = bias + headers[i].p_vaddr;

		if (headers[i].p_type == PT_NOTE && at >= identity.start &&
		    at <= identity.end &&
		    headers[i].p_filesz <= identity.end - at)
			identity.build_id_size = mappings_find_build_id(
			    (const unsigned char *)at, headers[i].p_filesz,
			    &identity.build_id);
	}
	if (identity.build_id_size > MAX_BUILD_ID)
		identity.build_id_size = MAX_BUILD_ID;
	return identity;
}

static struct module_entry *
modules_add_entry(const struct identity *identity)
{
	const bool is_main = (identity->flags & CPPROFDATA_MODULE_MAIN) != 0;
	struct cpprofdata_module *record;
	struct module_entry *entry;
	const char *text = "";
	uint32_t number, path;
	struct stat status;

	if (entries == NULL) {
		void *memory = files_map(MAX_MODULES * sizeof *entries,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

		if (memory == MAP_FAILED)
			return NULL;
		entries = memory;
	}
	if (n_entries == MAX_MODULES)
		return NULL;
	path = datafile_add_string(identity->path, strlen(identity->path) + 1,
	    &text);
	record = datafile_add_records(CPPROFDATA_MODULES, sizeof *record, 1,
	    &number);
	if (record == NULL)
		return NULL;
	record->path = path;
	record->flags = identity->flags;
	record->build_id_size = (uint32_t)identity->build_id_size;
	memcpy(record->build_id, identity->build_id, identity->build_id_size);
	record->opened_ns = process_now();
	/*
	 * Without a build-id, builds are told apart by the module's file.  If
	 * the file is replaced before its module is first sampled, the new file
	 * is mistaken for the one that runs.
	 */
	if (identity->build_id_size == 0 && identity->path[0] != '[' &&
	    (identity->flags & CPPROFDATA_MODULE_VDSO) == 0 &&
	    files_status_of(is_main ? "/proc/self/exe" : identity->path,
	    &status) == 0) {
		record->file_size = (uint64_t)status.st_size;
		record->file_mtime_ns = (uint64_t)status.st_mtim.tv_sec *
		    1000000000 + (uint64_t)status.st_mtim.tv_nsec;
		record->file_inode = status.st_ino;
	}
	datafile_publish(CPPROFDATA_MODULES, 1);
	entry = &entries[n_entries];
	entry->number = number;
	entry->record = record;
	entry->path = text;
	return entry;
}

/* Opens a module seen for the first time, or again.  Lock held. */
static struct module_entry *
open_module(const struct identity *identity, const void *map, uint64_t bias)
{
	struct module_entry *entry = entries, *const end = entries + n_entries;
	bool is_new;

	/* A closed entry of the same file can be opened again. */
	while (entry < end && (entry->open ||
	    strcmp(entry->path, identity->path) != 0 ||
	    entry->record->build_id_size != identity->build_id_size ||
	    memcmp(entry->record->build_id, identity->build_id,
	    identity->build_id_size) != 0))
		entry++;
	is_new = entry == end;
	if (is_new)
		entry = modules_add_entry(identity);
	if (entry == NULL)
		return NULL;
	entry->start = identity->start;
	entry->end = identity->end;
	entry->bias = bias;
	entry->map = map;
	entry->record->start = entry->start;
	entry->record->end = entry->end;
	entry->record->bias = entry->bias;
	entry->record->closed_ns = 0;
	entry->record->n_opened++;
	datafile_update(CPPROFDATA_MODULES, entry->record,
	    sizeof *entry->record);
	atomic_store_explicit(&entry->open, true, memory_order_release);
	if (is_new)
		atomic_fetch_add_explicit(&n_entries, 1, memory_order_release);
	return entry;
}

/*
 * The range that contains an address, moved one place to the front; NULL: none.
 */
static const struct module_range *
modules_find_range(struct recent_modules *cache, uint64_t address)
{
	struct module_range *ranges = cache->ranges;
	size_t i;

	for (i = 0; i < MODULE_CACHE_SIZE; i++) {
		struct module_range found = ranges[i];

		if (address < found.start || address >= found.end)
			continue;
		if (i == 0)
			return &ranges[0];
		ranges[i] = ranges[i - 1];
		ranges[i - 1] = found;
		return &ranges[i - 1];
	}
	return NULL;
}

/*
 * The entry of a module, which is opened if necessary: of a module of the loader
 * (`object`), or of a file that the program has mapped itself (`mapping`), which
 * may be mapped at several places; the record has the first.
 */
static enum store_result
modules_get(const struct dl_find_object *object, const struct mapping *mapping,
    struct module_entry **entry)
{
	const void *map = mapping != NULL ? (const void *)mapping->file :
	    object->dlfo_link_map;
	const uintptr_t at = mapping != NULL ? 0 :
	    (uintptr_t)object->dlfo_map_start;
	struct identity identity;

	*entry = find_open(map, at);
	if (*entry == NULL) {
		if (!datafile_lock())
			return STORE_BUSY;
		*entry = find_open(map, at);
		if (*entry == NULL && mapping != NULL) {
			identity = (struct identity){
				.start = mapping->start, .end = mapping->end,
				.path = mapping->file->path,
				.build_id = mapping->file->build_id,
				.build_id_size = mapping->file->build_id_size };
			*entry = open_module(&identity, map,
			    -mapping->to_file);
		} else if (*entry == NULL) {
			identity = modules_identify(object);
			*entry = open_module(&identity, map,
			    object->dlfo_link_map->l_addr);
		}
		datafile_unlock();
	}
	return *entry != NULL ? STORE_OK : STORE_FULL;
}

static bool
modules_is_loaded(uint64_t address, struct dl_find_object *object)
{
	return _dl_find_object((void *)(uintptr_t)address, object) == 0;
}

enum store_result
modules_find(struct recent_modules *cache, uint64_t address, uint32_t *module,
    uint64_t *offset)
{
	const struct module_range *range = modules_find_range(cache, address);
	struct dl_find_object object;
	struct module_entry *entry;
	struct mapping mapping;
	enum store_result result;

	if (range == NULL && !modules_is_loaded(address, &object)) {
		*module = CPPROFDATA_NO_MODULE;
		*offset = address;
		if (!mappings_find(address, &mapping))
			return STORE_OK;
		if (mapping.file != NULL) {
			*offset = address + mapping.to_file;
			result = modules_get(NULL, &mapping, &entry);
			if (result == STORE_OK)
				*module = entry->number;
			return result;
		}
		/* The loader knows the same code at another address. */
		address += mapping.to_object;
		range = modules_find_range(cache, address);
		if (range == NULL && !modules_is_loaded(address, &object))
			return STORE_OK;
	}
	if (range == NULL) {
		result = modules_get(&object, NULL, &entry);
		if (result != STORE_OK)
			return result;
		/* In place of the last range. */
		cache->ranges[MODULE_CACHE_SIZE - 1] = (struct module_range){
			.start = (uintptr_t)object.dlfo_map_start,
			.end = (uintptr_t)object.dlfo_map_end,
			.bias = entry->bias, .number = entry->number };
		range = &cache->ranges[MODULE_CACHE_SIZE - 1];
	}
	*module = range->number;
	*offset = address - range->bias;
	return STORE_OK;
}

/* The module of a range, or the kernel as a whole, whose parts are not known. */
static enum store_result
modules_get_kernel(uint64_t address, struct kernel_range *range,
    struct module_entry **entry)
{
	static const struct cpprof_kernel_module unknown = {
		.start = KERNEL_HALF, .end = UINT64_MAX,
		.path = CPPROF_KERNEL_PATH };
	const struct cpprof_kernel_module *module;

	*entry = NULL;
	if (!datafile_lock())
		return STORE_BUSY;
	*range = (struct kernel_range){ .start = KERNEL_HALF,
		.end = UINT64_MAX, .module = &unknown };
	if (kernel_modules_read())
		*range = kernel_modules_find(address);
	module = range->module;
	if (module != NULL)
		*entry = find_open(module, 0);
	if (module != NULL && *entry == NULL)
		*entry = open_module(&(struct identity){
			.start = module->start, .end = module->end,
			.path = module->path, .build_id = module->build_id,
			.build_id_size = module->build_id_size }, module,
			module == &unknown ? 0 : module->start);
	datafile_unlock();
	return module == NULL || *entry != NULL ? STORE_OK : STORE_FULL;
}

enum store_result
modules_find_kernel(struct recent_modules *cache, uint64_t address,
    uint32_t *module, uint64_t *offset)
{
	const struct module_range *range = modules_find_range(cache, address);
	struct module_entry *entry;
	struct kernel_range around;
	enum store_result result;

	*module = CPPROFDATA_NO_MODULE;
	*offset = address;
	if (range == NULL) {
		result = modules_get_kernel(address, &around, &entry);
		if (result != STORE_OK || entry == NULL)
			return result;
		/* In place of the last range. */
		cache->ranges[MODULE_CACHE_SIZE - 1] = (struct module_range){
			.start = around.start, .end = around.end,
			.bias = entry->bias, .number = entry->number };
		range = &cache->ranges[MODULE_CACHE_SIZE - 1];
	}
	*module = range->number;
	*offset = range->bias == 0 ? 0 : address - range->bias;
	return STORE_OK;
}

size_t
modules_count(void)
{
	return atomic_load_explicit(&n_entries, memory_order_acquire);
}

const char *
modules_file(size_t i, uint32_t *number)
{
	*number = entries[i].number;
	return entries[i].record->flags & CPPROFDATA_MODULE_MAIN ?
	    "/proc/self/exe" : entries[i].path;
}

uint64_t
modules_epoch(void)
{
	return atomic_load_explicit(&epoch, memory_order_acquire);
}

bool
modules_refresh(struct recent_modules *cache)
{
	uint64_t now = modules_epoch();

	if (cache->epoch == now)
		return false;
	memset(cache, 0, sizeof *cache);
	cache->epoch = now;
	return true;
}

void
modules_unloaded(void)
{
	struct dl_find_object object;
	size_t i;

	datafile_lock_wait();
	for (i = 0; i < n_entries; i++) {
		struct module_entry *entry = &entries[i];

		if (!entry->open || entry->path[0] == '[' ||
		    (modules_is_loaded(entry->start, &object) &&
		    object.dlfo_link_map == entry->map &&
		    object.dlfo_link_map->l_addr == entry->bias))
			continue;
		atomic_store(&entry->open, false);
		entry->record->closed_ns = process_now();
		datafile_update(CPPROFDATA_MODULES, entry->record,
		    sizeof *entry->record);
		datafile_count_closed();
	}
	unwind_new_epoch();
	atomic_fetch_add(&epoch, 1);
	datafile_unlock();
}
