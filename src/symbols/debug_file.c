/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_file.c -- by build-id, and by link and checksum. */
#include "src/symbols/debug_file.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

bool
debug_file_by_build_id(struct elf_file *file, const char *directory,
                       const unsigned char *id, size_t size)
{
	char hex[2 * BUILD_ID_MAX + 1], path[PATH_MAX];
	int length;

	if (size < 2 || size > BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	length = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug",
	                  directory, hex, hex + 2);
	if (length >= (int)sizeof path ||
	    elf_file_open(file, path) != ELF_FILE_OPEN)
		return false;
	if (elf_file_has_build_id(file, id, size))
		return true;
	elf_file_close(file);
	return false;
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
	ssize_t n;

	while ((n = pread(file->descriptor, block, sizeof block, offset)) > 0) {
		checksum = crc32(checksum, block, (uInt)n);
		offset += n;
	}
	return n == 0 && checksum == wanted;
}

static bool
open_if_same(struct elf_file *file, const char *path,
             const struct elf_file *module, uint32_t checksum)
{
	unsigned char id[BUILD_ID_MAX];
	size_t size = elf_file_build_id(module, id);

	if (elf_file_open(file, path) != ELF_FILE_OPEN)
		return false;
	if (size > 0 ? elf_file_has_build_id(file, id, size) :
	    has_checksum(file, checksum))
		return true;
	elf_file_close(file);
	return false;
}

bool
debug_file_by_link(struct elf_file *file, const char *directory,
                   const struct elf_file *module, const char *path)
{
	const char *name;
	char *own, candidate[PATH_MAX];
	uint32_t checksum;
	bool found = false;

	if (!link_of(module, &name, &checksum))
		return false;
	own = realpath(path, NULL);	/* a library's name is often a link */
	if (own == NULL)
		return false;
	*strrchr(own, '/') = '\0';
	for (int i = 0; i < 3 && !found; i++) {
		int length = snprintf(candidate, sizeof candidate,
		    "%s%s%s/%s", i == 2 ? directory : "", own,
		    i == 1 ? "/.debug" : "", name);

		found = length < (int)sizeof candidate &&
		    open_if_same(file, candidate, module, checksum);
	}
	free(own);
	return found;
}
