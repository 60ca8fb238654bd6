/* SPDX-License-Identifier: MIT */
/* section.c -- finds a section of the program's own file.
 *
 * Sections are not mapped: the file has the table of them, and the names.
 */
#include "lib/unwind/traits.h"

#include <string.h>
#include <sys/auxv.h>

#include "lib/base/files.h"

#define MAX_SECTIONS 128
#define MAX_NAMES 8192		/* bytes */
#define ANYWHERE UINT64_MAX

static bool
read_part(int fd, uint64_t offset, void *to, size_t size)
{
	return files_seek(fd, (off_t)offset, SEEK_SET) == (off_t)offset &&
	    files_read(fd, to, size) == (ssize_t)size;
}

/* The section of that name; NULL: there is none, or its name lies too far. */
static const ElfW(Shdr) *
find_section(const ElfW(Shdr) *sections, size_t n, const char *names,
    size_t size, const char *name)
{
	const size_t length = strlen(name) + 1;
	size_t i;

	for (i = 0; i < n; i++)
		if (sections[i].sh_name < size &&
		    size - sections[i].sh_name >= length &&
		    memcmp(names + sections[i].sh_name, name, length) == 0)
			return &sections[i];
	return NULL;
}

static bool
read_section(int fd, const char *name, ElfW(Shdr) *section)
{
	ElfW(Shdr) sections[MAX_SECTIONS];
	const ElfW(Shdr) *found;
	char names[MAX_NAMES];
	ElfW(Ehdr) header;
	size_t size;

	if (!read_part(fd, 0, &header, sizeof header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_shentsize != sizeof *sections ||
	    header.e_shnum > MAX_SECTIONS ||
	    header.e_shstrndx >= header.e_shnum ||
	    !read_part(fd, header.e_shoff, sections, header.e_shnum *
	    sizeof *sections))
		return false;
	size = sections[header.e_shstrndx].sh_size;
	if (size > sizeof names)
		size = sizeof names;
	if (!read_part(fd, sections[header.e_shstrndx].sh_offset, names, size))
		return false;
	found = find_section(sections, header.e_shnum, names, size, name);
	if (found != NULL)
		*section = *found;
	return found != NULL;
}

/*
 * Whether a segment that may be changed has `size` bytes of the file, at an
 * address or at ANYWHERE.
 */
static bool
has_data(uint64_t address, uint64_t size)
{
	const ElfW(Phdr) *header = (const void *)getauxval(AT_PHDR);
	size_t n = header != NULL ? getauxval(AT_PHNUM) : 0;
	uint64_t offset;

	for (; n > 0; n--, header++) {
		offset = address == ANYWHERE ? 0 : address - header->p_vaddr;
		if (header->p_type == PT_LOAD &&
		    (header->p_flags & PF_W) != 0 &&
		    offset <= header->p_filesz &&
		    size <= header->p_filesz - offset)
			return true;
	}
	return false;
}

void *
traits_section(const struct link_map *program, const char *name, size_t size)
{
	ElfW(Shdr) section;
	bool found;
	int fd;

	/* Most programs are too small, and need not be read. */
	if (!has_data(ANYWHERE, size))
		return NULL;
	fd = files_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	found = read_section(fd, name, &section);
	files_close(fd);
	return found && section.sh_size >= size &&
	    has_data(section.sh_addr, section.sh_size) ?
	    (void *)(program->l_addr + section.sh_addr) : NULL;
}
