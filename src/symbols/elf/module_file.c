/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_file.c -- finds the files of a module: its own, and those of its debug
 * information.
 */
#include "src/symbols/elf/elf_file.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "src/base/named_file.h"
#include "src/base/progress.h"
#include "src/symbols/elf/debuginfod.h"

struct module_file
module_file_of(const struct module *module, struct symbol_search search)
{
	return (struct module_file){
		.path = module->path,
		.build_id = module->build_id,
		.build_id_size = module->build_id_size,
		.size = module->file_size,
		.mtime_ns = module->file_mtime_ns,
		.search = search,
	};
}

/* ---- the module's own file ---- */

/*
 * Whether a file may be read that a profile names without a sign of which build
 * it is: anybody may read it, or it lies where the user works.
 */
static bool
is_open_to_profiles(const struct elf_file *file, const struct stat *status)
{
	char path[PATH_MAX];

	return (status->st_mode & S_IROTH) != 0 ||
	    (named_file_real_path(file->descriptor, path) &&
	     named_file_is_below(path, "."));
}

/* Whether an open file is the build, as far as that is known. */
static bool
is_build(const struct module_file *module, const struct elf_file *file,
         bool is_copy)
{
	struct stat status;
	uint64_t mtime_ns;

	if (module->build_id_size > 0)
		return elf_file_has_build_id(file, module->build_id,
		                             module->build_id_size);
	if (file->descriptor < 0)
		return true;
	if (fstat(file->descriptor, &status) != 0)
		return false;
	if (module->size == 0)
		return is_copy || is_open_to_profiles(file, &status);
	mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)status.st_mtim.tv_nsec;
	return module->size == (uint64_t)status.st_size &&
	    (is_copy || module->mtime_ns == mtime_ns);
}

/*
 * The result of opening a file, which is closed again if it is another build.
 */
static enum module_file_state
module_file_check(const struct module_file *module, struct elf_file *file,
                  enum elf_file_state state, bool is_copy)
{
	if (state == ELF_FILE_MISSING)
		return MODULE_FILE_MISSING;
	if (state == ELF_FILE_UNREADABLE)
		return MODULE_FILE_UNREADABLE;
	if (is_build(module, file, is_copy))
		return MODULE_FILE_OPEN;
	elf_file_close(file);
	return MODULE_FILE_DIFFERS;
}

static enum module_file_state
open_below_root(const struct module_file *module, const char *name,
                struct elf_file *file)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/%s", module->search.root,
	                      name);

	if (length < 0 || length >= (int)sizeof path)
		return MODULE_FILE_MISSING;
	return module_file_check(module, file, elf_file_open(file, path), true);
}

/* Whether one of the held files is the module's. */
static bool
open_held(const struct module_file *module, struct elf_file *file)
{
	const struct held_files *held = module->search.held;
	bool found = false;

	if (held == NULL || (module->build_id_size == 0 && module->size == 0))
		return false;
	for (size_t i = 0; i < held->n && !found; i++) {
		char path[40];

		snprintf(path, sizeof path, "/proc/self/fd/%d", held->files[i]);
		found = module_file_check(module, file,
		    elf_file_open(file, path), false) == MODULE_FILE_OPEN;
	}
	return found;
}

bool
module_file_is_vdso(const struct module_file *module)
{
	return strcmp(module->path, "[vdso]") == 0 ||
	    strncmp(last_component(module->path), "linux-vdso",
	            strlen("linux-vdso")) == 0;
}

enum module_file_state
module_file_open(const struct module_file *module, struct elf_file *file)
{
	const char *base = last_component(module->path);
	enum module_file_state first = MODULE_FILE_MISSING, state;

	if (module_file_is_vdso(module))
		return module_file_check(module, file,
		                         elf_file_open_own_vdso(file), true);
	if (module->search.root != NULL) {
		first = open_below_root(module, module->path, file);
		if (first == MODULE_FILE_OPEN)
			return first;
		state = open_below_root(module, base, file);
		if (state == MODULE_FILE_OPEN)
			return state;
		if (first == MODULE_FILE_MISSING)
			first = state;
	}
	state = *module->path == '/' ?
	    module_file_check(module, file, elf_file_open(file, module->path),
	                      false) :
	    MODULE_FILE_MISSING;
	if (state == MODULE_FILE_OPEN)
		return state;
	if (open_held(module, file))
		return MODULE_FILE_OPEN;
	return first == MODULE_FILE_MISSING ? state : first;
}

uint64_t
module_file_address(const struct module_file *module, uint64_t offset)
{
	uint64_t address = offset;
	struct elf_file file;
	size_t n;

	if (module_file_open(module, &file) != MODULE_FILE_OPEN)
		return offset;
	if (elf_getphdrnum(file.elf, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(file.elf, (int)i, &segment) != NULL &&
		    segment.p_type == PT_LOAD && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz) {
			address = offset - segment.p_offset + segment.p_vaddr;
			break;
		}
	}
	elf_file_close(&file);
	return address;
}

/* ---- separate debug files ---- */

static const char *
debug_directory(const struct symbol_search *search)
{
	return search->debug_directory != NULL ? search->debug_directory :
	    DEBUG_DIRECTORY;
}

/* Opens the file of that path if it has the build-id. */
__attribute__((format(printf, 4, 5))) static bool
open_with_build_id(struct elf_file *file, const unsigned char *id, size_t size,
                   const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	if (length < 0 || length >= (int)sizeof path ||
	    elf_file_open_any(file, path) != ELF_FILE_OPEN)
		return false;
	if (elf_file_has_build_id(file, id, size))
		return true;
	elf_file_close(file);
	return false;
}

/*
 * Opens .build-id/xx/yyyy.debug, below the root of the search first, or what was
 * fetched from a debuginfod server.
 */
static bool
open_by_build_id(const struct symbol_search *search, const unsigned char *id,
                 size_t size, struct elf_file *file)
{
	const char *directory = debug_directory(search);
	char hex[2 * BUILD_ID_MAX + 1], cached[PATH_MAX];

	if (size < 2 || size > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return (search->root != NULL &&
	        open_with_build_id(file, id, size,
	            "%s%s/.build-id/%.2s/%s.debug", search->root, directory,
	            hex, hex + 2)) ||
	    open_with_build_id(file, id, size, "%s/.build-id/%.2s/%s.debug",
	                       directory, hex, hex + 2) ||
	    (debuginfod_cached_path(id, size, cached) &&
	     open_with_build_id(file, id, size, "%s", cached));
}

/* The .gnu_debuglink of a module: the name of a file, without directory. */
struct debug_link {
	const char *name;
	uint32_t checksum;
};

static bool
module_file_read_link(const struct elf_file *module, struct debug_link *link)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(module, ".gnu_debuglink",
	                                          &header);
	Elf_Data *data = section != NULL ? elf_file_contents(section) : NULL;
	Elf_Data raw = { 0 }, native = { 0 };
	GElf_Ehdr file_header;
	size_t length, at;

	if (data == NULL || gelf_getehdr(module->elf, &file_header) == NULL)
		return false;
	link->name = data->d_buf;
	length = strnlen(link->name, data->d_size);
	at = (length + 4) & ~(size_t)3;
	if (length == 0 || at + 4 > data->d_size ||
	    memchr(link->name, '/', length) != NULL)
		return false;
	raw.d_buf = (char *)data->d_buf + at;
	native.d_buf = &link->checksum;
	raw.d_size = native.d_size = sizeof link->checksum;
	raw.d_type = ELF_T_WORD;
	raw.d_version = native.d_version = EV_CURRENT;
	return gelf_xlatetom(module->elf, &native, &raw,
	                     file_header.e_ident[EI_DATA]) != NULL;
}

static bool
has_checksum(const struct elf_file *file, uint32_t wanted)
{
	unsigned char block[65536];
	uLong checksum = crc32(0, NULL, 0);
	off_t offset = 0;
	ssize_t n = -1;

	while (!interrupt_requested && (n = pread(file->descriptor, block,
	           sizeof block, offset)) > 0) {
		checksum = crc32(checksum, block, (uInt)n);
		offset += n;
	}
	return n == 0 && checksum == wanted;
}

/* Opens the file of that path if it belongs to the module. */
__attribute__((format(printf, 4, 5))) static bool
open_if_same(struct elf_file *file, const struct elf_file *module,
             uint32_t checksum, const char *format, ...)
{
	unsigned char id[BUILD_ID_MAX];
	size_t size = elf_file_build_id(module, id);
	char path[PATH_MAX];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(path, sizeof path, format, arguments);
	va_end(arguments);
	if (length < 0 || length >= (int)sizeof path ||
	    elf_file_open(file, path) != ELF_FILE_OPEN)
		return false;
	if (size > 0 ? elf_file_has_build_id(file, id, size) :
	    has_checksum(file, checksum))
		return true;
	elf_file_close(file);
	return false;
}

/*
 * The directory that an open file really lies in (the path of a library is
 * often a link), the caller's to free.  *below_root: the part after the root,
 * if it lies there, else NULL.  NULL: unknown.
 */
static char *
directory_of(const struct elf_file *file, const char *root,
             const char **below_root)
{
	char link[40], *directory, *real_root;
	size_t length;

	*below_root = NULL;
	if (file->descriptor < 0)
		return NULL;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file->descriptor);
	directory = realpath(link, NULL);
	if (directory == NULL)
		return NULL;
	*strrchr(directory, '/') = '\0';
	real_root = root != NULL ? realpath(root, NULL) : NULL;
	length = real_root != NULL ? strlen(real_root) : 0;
	if (length > 1 && strncmp(directory, real_root, length) == 0 &&
	    (directory[length] == '/' || directory[length] == '\0'))
		*below_root = directory + length;
	free(real_root);
	return directory;
}

/*
 * Where the module's path has it below the root of the search.  (The file itself
 * may be open by way of a process that has another view of it.)
 */
static bool
open_by_link_below_root(const struct module_file *module,
                        const struct elf_file *own,
                        const struct debug_link *link, struct elf_file *file)
{
	const char *root = module->search.root, *path = module->path;
	const char *directory = debug_directory(&module->search);
	const int length = (int)(last_component(path) - path);

	return root != NULL && *path == '/' &&
	    (open_if_same(file, own, link->checksum, "%s%.*s%s", root, length,
	                  path, link->name) ||
	     open_if_same(file, own, link->checksum, "%s%.*s.debug/%s", root,
	                  length, path, link->name) ||
	     open_if_same(file, own, link->checksum, "%s%s%.*s%s", root,
	                  directory, length, path, link->name));
}

static bool
open_by_link(const struct module_file *module, const struct elf_file *own,
             struct elf_file *file)
{
	const struct symbol_search *search = &module->search;
	const char *below_root, *directory = debug_directory(search);
	struct debug_link link;
	char *own_directory;
	bool found;

	if (!module_file_read_link(own, &link))
		return false;
	own_directory = directory_of(own, search->root, &below_root);
	if (own_directory == NULL)
		return false;
	found = open_by_link_below_root(module, own, &link, file) ||
	    open_if_same(file, own, link.checksum, "%s/%s", own_directory,
	                 link.name) ||
	    open_if_same(file, own, link.checksum, "%s/.debug/%s",
	                 own_directory, link.name) ||
	    (below_root != NULL &&
	     open_if_same(file, own, link.checksum, "%s%s%s/%s", search->root,
	                  directory, below_root, link.name)) ||
	    open_if_same(file, own, link.checksum, "%s%s/%s", directory,
	                 below_root != NULL ? below_root : own_directory,
	                 link.name);
	free(own_directory);
	return found;
}

static bool
is_same_file(const struct elf_file *file, const struct elf_file *other)
{
	struct stat a, b;

	return other != NULL && other->descriptor >= 0 &&
	    fstat(file->descriptor, &a) == 0 &&
	    fstat(other->descriptor, &b) == 0 && a.st_ino == b.st_ino &&
	    a.st_dev == b.st_dev;
}

/* Whether one of the held files is the debug file of a build, and not `own`. */
static bool
open_held_debug(const struct symbol_search *search, const unsigned char *id,
                size_t size, const struct elf_file *own, struct elf_file *file)
{
	const struct held_files *held = search->held;
	GElf_Shdr header;
	char path[40];

	for (size_t i = 0; held != NULL && size > 0 && i < held->n; i++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", held->files[i]);
		if (elf_file_open_any(file, path) != ELF_FILE_OPEN)
			continue;
		if (elf_file_has_build_id(file, id, size) &&
		    !is_same_file(file, own) &&
		    elf_file_named_section(file, ".symtab", &header) != NULL)
			return true;
		elf_file_close(file);
	}
	return false;
}

bool
module_file_open_debug(const struct module_file *module,
                       const struct elf_file *own, struct elf_file *file)
{
	unsigned char id[BUILD_ID_MAX];
	const unsigned char *wanted = module->build_id;
	size_t size = module->build_id_size;

	if (size == 0 && own != NULL) {
		size = elf_file_build_id(own, id);
		wanted = id;
	}
	return open_by_build_id(&module->search, wanted, size, file) ||
	    (own != NULL && open_by_link(module, own, file)) ||
	    open_held_debug(&module->search, wanted, size, own, file);
}

bool
module_file_open_supplement(const struct symbol_search *search,
                            const struct elf_file *file, const char *name,
                            const unsigned char *id, size_t id_size,
                            struct elf_file *supplement)
{
	const char *below_root;
	char *directory;
	bool found;

	if (open_by_build_id(search, id, id_size, supplement))
		return true;
	if (*name == '/')
		return (search->root != NULL &&
		        open_with_build_id(supplement, id, id_size, "%s%s",
		                           search->root, name)) ||
		    open_with_build_id(supplement, id, id_size, "%s", name);
	directory = directory_of(file, NULL, &below_root);
	found = directory != NULL &&
	    open_with_build_id(supplement, id, id_size, "%s/%s", directory,
	                       name);
	free(directory);
	return found;
}
