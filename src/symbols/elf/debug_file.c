/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_file.c -- by build-id, and by link and checksum. */
#include "src/symbols/elf/debug_file.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "src/base/progress.h"

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

bool
debug_file_by_build_id(struct elf_file *file,
                       const struct symbol_search *search,
                       const unsigned char *id, size_t size)
{
	const char *directory = debug_directory(search);
	char hex[2 * BUILD_ID_MAX + 1];

	if (size < 2 || size > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return (search->root != NULL &&
	        open_with_build_id(file, id, size,
	            "%s%s/.build-id/%.2s/%s.debug", search->root, directory,
	            hex, hex + 2)) ||
	    open_with_build_id(file, id, size, "%s/.build-id/%.2s/%s.debug",
	                       directory, hex, hex + 2);
}

/* The name and checksum in a module's link; the name is a bare file name. */
static bool
link_of(const struct elf_file *module, const char **name, uint32_t *checksum)
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
	*name = data->d_buf;
	length = strnlen(*name, data->d_size);
	at = (length + 4) & ~(size_t)3;
	if (length == 0 || at + 4 > data->d_size ||
	    memchr(*name, '/', length) != NULL)
		return false;
	raw.d_buf = (char *)data->d_buf + at;
	native.d_buf = checksum;
	raw.d_size = native.d_size = sizeof *checksum;
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

	while (!interrupt_requested && (n = pread(file->descriptor, block, sizeof block, offset)) > 0) {
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
 * The directory in which a file really is (a library's name is often a link),
 * the caller's; *below_root is its part behind the root, if that is there.
 */
static char *
directory_of(const char *path, const char *root, const char **below_root)
{
	char *own = realpath(path, NULL);
	char *real_root = root != NULL ? realpath(root, NULL) : NULL;
	size_t length = real_root != NULL ? strlen(real_root) : 0;

	*below_root = NULL;
	if (own != NULL) {
		*strrchr(own, '/') = '\0';
		if (length > 1 && strncmp(own, real_root, length) == 0 &&
		    (own[length] == '/' || own[length] == '\0'))
			*below_root = own + length;
	}
	free(real_root);
	return own;
}

bool
debug_file_by_link(struct elf_file *file, const struct symbol_search *search,
                   const struct elf_file *module, const char *path)
{
	const char *name, *below_root, *directory = debug_directory(search);
	char *own;
	uint32_t checksum;
	bool found;

	if (!link_of(module, &name, &checksum))
		return false;
	own = directory_of(path, search->root, &below_root);
	if (own == NULL)
		return false;
	found = open_if_same(file, module, checksum, "%s/%s", own, name) ||
	    open_if_same(file, module, checksum, "%s/.debug/%s", own, name) ||
	    (below_root != NULL &&
	     open_if_same(file, module, checksum, "%s%s%s/%s", search->root,
	                  directory, below_root, name)) ||
	    open_if_same(file, module, checksum, "%s%s/%s", directory,
	                 below_root != NULL ? below_root : own, name);
	free(own);
	return found;
}

bool
debug_file_supplement(struct elf_file *supplement,
                      const struct symbol_search *search,
                      const struct elf_file *file, const char *name,
                      const unsigned char *id, size_t size)
{
	const char *ignored;
	char link[40], *own;
	bool found;

	if (debug_file_by_build_id(supplement, search, id, size))
		return true;
	if (*name == '/')
		return (search->root != NULL &&
		        open_with_build_id(supplement, id, size, "%s%s",
		                           search->root, name)) ||
		    open_with_build_id(supplement, id, size, "%s", name);
	if (file->descriptor < 0)
		return false;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file->descriptor);
	own = directory_of(link, NULL, &ignored);
	found = own != NULL &&
	    open_with_build_id(supplement, id, size, "%s/%s", own, name);
	free(own);
	return found;
}
