/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_file.c -- one ELF file, opened to read its tables. */
#include "src/symbols/elf/elf_file.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "src/base/named_file.h"

enum {
	NOTES_MAX = 65536,	/* bytes of notes that are searched */
	NOTE_SEGMENTS_MAX = 32,
	HOLES_MAX = 1024,	/* that are examined */
	HOLE_BYTES = 64 << 20,	/* that any file may have */
};

static bool
is_program(Elf *elf)
{
	GElf_Ehdr header;

	return elf_kind(elf) == ELF_K_ELF &&
	    gelf_getehdr(elf, &header) != NULL &&
	    (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

/*
 * Whether most of a file is holes: sections of gigabytes, without room on the
 * disk, would take it in memory.  Not every file system reports holes.
 */
static bool
is_mostly_holes(int descriptor)
{
	uint64_t n_data = 0, n_holes = 0;
	off_t at = 0;

	for (int i = 0; i < HOLES_MAX; i++) {
		off_t hole = lseek(descriptor, at, SEEK_HOLE), data;

		if (hole < 0)
			break;
		n_data += (uint64_t)(hole - at);
		data = lseek(descriptor, hole, SEEK_DATA);
		at = data >= 0 ? data : lseek(descriptor, 0, SEEK_END);
		n_holes += (uint64_t)(at - hole);
		if (data < 0)
			break;
	}
	lseek(descriptor, 0, SEEK_SET);
	return n_holes > HOLE_BYTES && n_holes > n_data;
}

enum elf_file_state
elf_file_open_any(struct elf_file *file, const char *path)
{
	enum named_file_state state;

	elf_version(EV_CURRENT);
	state = named_file_open(path, 0, &file->descriptor, NULL);
	if (state != NAMED_FILE_OPEN)
		return state == NAMED_FILE_MISSING ? ELF_FILE_MISSING :
		    ELF_FILE_UNREADABLE;
	if (is_mostly_holes(file->descriptor)) {
		close(file->descriptor);
		return ELF_FILE_UNREADABLE;
	}
	file->elf = elf_begin(file->descriptor, ELF_C_READ, NULL);
	if (file->elf != NULL && elf_kind(file->elf) == ELF_K_ELF)
		return ELF_FILE_OPEN;
	elf_file_close(file);
	return ELF_FILE_UNREADABLE;
}

enum elf_file_state
elf_file_open(struct elf_file *file, const char *path)
{
	enum elf_file_state state = elf_file_open_any(file, path);

	if (state != ELF_FILE_OPEN || is_program(file->elf))
		return state;
	elf_file_close(file);
	return ELF_FILE_UNREADABLE;
}

/*
 * The kernel maps the image as a whole and gives its size nowhere; the section
 * headers are its end.
 */
enum elf_file_state
elf_file_open_own_vdso(struct elf_file *file)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)address;
	size_t size;

	if (header == NULL)
		return ELF_FILE_MISSING;
	elf_version(EV_CURRENT);
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	file->descriptor = -1;
	file->elf = elf_memory((char *)address, size);
	if (file->elf != NULL && is_program(file->elf))
		return ELF_FILE_OPEN;
	elf_file_close(file);
	return ELF_FILE_UNREADABLE;
}

void
elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	if (file->descriptor >= 0)
		close(file->descriptor);
}

Elf_Scn *
elf_file_named_section(const struct elf_file *file, const char *name,
                       GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		const char *text;

		if (gelf_getshdr(section, header) == NULL)
			continue;
		text = elf_strptr(file->elf, names, header->sh_name);
		if (text != NULL && strcmp(text, name) == 0)
			return section;
	}
	return NULL;
}

Elf_Scn *
elf_file_typed_section(const struct elf_file *file, GElf_Word type,
                       GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL)
		if (gelf_getshdr(section, header) != NULL &&
		    header->sh_type == type)
			return section;
	return NULL;
}

Elf_Data *
elf_file_contents(Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (gelf_getshdr(section, &header) == NULL ||
	    header.sh_type == SHT_NOBITS ||
	    (header.sh_flags & SHF_COMPRESSED) != 0)
		return NULL;
	data = elf_getdata(section, NULL);
	return data != NULL && data->d_buf != NULL ? data : NULL;
}

static size_t
build_id_in_notes(Elf_Data *notes, unsigned char *id)
{
	size_t offset = 0, name, contents;
	GElf_Nhdr note;

	while (offset < notes->d_size && (offset = gelf_getnote(notes, offset,
	           &note, &name, &contents)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)notes->d_buf + name, "GNU", 4) != 0 ||
		    note.n_descsz == 0 || note.n_descsz > BUILD_ID_MAX)
			continue;
		memcpy(id, (char *)notes->d_buf + contents, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

static size_t
build_id_in_segments(Elf *elf, unsigned char *id)
{
	size_t n_segments, n_seen = 0, size = 0;

	if (elf_getphdrnum(elf, &n_segments) != 0)
		return 0;
	for (size_t i = 0; i < n_segments && size == 0; i++) {
		GElf_Phdr segment;
		Elf_Data *notes;

		if (gelf_getphdr(elf, (int)i, &segment) == NULL ||
		    segment.p_type != PT_NOTE ||
		    segment.p_filesz > NOTES_MAX)
			continue;
		if (n_seen++ == NOTE_SEGMENTS_MAX)
			break;
		notes = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset,
		    segment.p_filesz,
		    segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (notes != NULL && notes->d_buf != NULL)
			size = build_id_in_notes(notes, id);
	}
	return size;
}

size_t
elf_file_build_id(const struct elf_file *file, unsigned char *id)
{
	GElf_Shdr header;
	/* A debug file has the section, but no segments of its own. */
	Elf_Scn *section = elf_file_named_section(file, ".note.gnu.build-id",
	                                          &header);
	Elf_Data *notes = NULL;
	size_t size = 0;

	if (section != NULL && header.sh_type == SHT_NOTE)
		notes = elf_file_contents(section);
	if (notes != NULL)
		size = build_id_in_notes(notes, id);
	return size > 0 ? size : build_id_in_segments(file->elf, id);
}

bool
elf_file_has_build_id(const struct elf_file *file, const unsigned char *id,
                      size_t size)
{
	unsigned char own[BUILD_ID_MAX];

	return size > 0 && elf_file_build_id(file, own) == size &&
	    memcmp(own, id, size) == 0;
}
