/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_zstd.c -- decompresses the sections of an ELF file that zstd compressed.
 *
 * The decompressed sections follow a copy of the file, whose section headers
 * are changed to refer to them.
 */
#include "src/symbols/elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

enum {
	COMPRESSED_BY_ZSTD = 2,	/* ELFCOMPRESS_ZSTD, of newer headers */
	ALIGNMENT = 16,
	RATIO_MAX = 4096,	/* a larger ratio is not debug information */
};

/* The compressed file. */
struct packed {
	const char *bytes;
	size_t size;
	Elf64_Ehdr header;
	size_t n_sections;
	size_t unpacked;	/* bytes of all compressed sections, once
				 * decompressed */
};

static size_t
align(size_t size)
{
	return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool
elf_zstd_read_header(const struct elf_file *file, struct packed *packed)
{
	unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
	                      ELFDATA2LSB : ELFDATA2MSB;

	packed->bytes = elf_rawfile(file->elf, &packed->size);
	if (packed->bytes == NULL || packed->size < sizeof packed->header ||
	    elf_getshdrnum(file->elf, &packed->n_sections) != 0)
		return false;
	memcpy(&packed->header, packed->bytes, sizeof packed->header);
	return packed->header.e_ident[EI_CLASS] == ELFCLASS64 &&
	    packed->header.e_ident[EI_DATA] == order &&
	    packed->header.e_shentsize == sizeof(Elf64_Shdr) &&
	    packed->header.e_shoff <= packed->size &&
	    packed->n_sections <= (packed->size - packed->header.e_shoff) /
	    sizeof(Elf64_Shdr);
}

static Elf64_Shdr
elf_zstd_section_of(const struct packed *packed, size_t i)
{
	Elf64_Shdr section;

	memcpy(&section, packed->bytes + packed->header.e_shoff +
	       i * sizeof section, sizeof section);
	return section;
}

/* Whether zstd compressed a section; *compression is then its header. */
static bool
is_packed(const struct packed *packed, const Elf64_Shdr *section,
          Elf64_Chdr *compression)
{
	if ((section->sh_flags & SHF_COMPRESSED) == 0 ||
	    section->sh_type == SHT_NOBITS ||
	    section->sh_offset > packed->size ||
	    section->sh_size > packed->size - section->sh_offset ||
	    section->sh_size < sizeof *compression)
		return false;
	memcpy(compression, packed->bytes + section->sh_offset,
	       sizeof *compression);
	return compression->ch_type == COMPRESSED_BY_ZSTD &&
	    compression->ch_size / RATIO_MAX <= section->sh_size;
}

/* Decompresses section i to image + *at, and moves *at to its end. */
static bool
elf_zstd_unpack(const struct packed *packed, size_t i, char *image, size_t *at)
{
	Elf64_Shdr section = elf_zstd_section_of(packed, i);
	Elf64_Chdr compression;
	size_t size;

	if (!is_packed(packed, &section, &compression))
		return true;
	size = ZSTD_decompress(image + *at, compression.ch_size,
	    packed->bytes + section.sh_offset + sizeof compression,
	    section.sh_size - sizeof compression);
	if (ZSTD_isError(size) || size != compression.ch_size)
		return false;
	section.sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
	section.sh_offset = *at;
	section.sh_size = size;
	section.sh_addralign = compression.ch_addralign;
	memcpy(image + packed->header.e_shoff + i * sizeof section, &section,
	       sizeof section);
	*at += align(size);
	return true;
}

Elf *
elf_file_decompress(const struct elf_file *file, char **image)
{
	struct packed packed = { 0 };
	Elf64_Chdr compression;
	bool is_whole = true;
	Elf *elf = NULL;
	size_t at;

	*image = NULL;
	if (!elf_zstd_read_header(file, &packed))
		return NULL;
	for (size_t i = 0; i < packed.n_sections; i++) {
		Elf64_Shdr section = elf_zstd_section_of(&packed, i);

		if (is_packed(&packed, &section, &compression))
			packed.unpacked += align(compression.ch_size);
	}
	if (packed.unpacked == 0)
		return NULL;
	at = align(packed.size);
	*image = malloc(at + packed.unpacked);
	if (*image == NULL)
		return NULL;
	memcpy(*image, packed.bytes, packed.size);
	for (size_t i = 0; i < packed.n_sections && is_whole; i++)
		is_whole = elf_zstd_unpack(&packed, i, *image, &at);
	if (is_whole)
		elf = elf_memory(*image, align(packed.size) + packed.unpacked);
	if (elf == NULL) {
		free(*image);
		*image = NULL;
	}
	return elf;
}
