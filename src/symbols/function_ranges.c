/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_ranges.c -- the ranges of .eh_frame, without its rules.
 *
 * The section is a row of entries: descriptions (FDE), each with the range of
 * code it is about, and what several have in common (CIE), to which they point
 * back.  Of a CIE only the encoding of addresses matters here; it is read anew
 * for each FDE, in bounded time.  The sorted index in .eh_frame_hdr would give
 * no more: it has no ends, and may be left out.
 *
 * Source: Linux Standard Base Core 5.0, sections 10.5 and 10.6.
 */
#include "src/symbols/function_ranges.h"

#include <string.h>

#include "src/base/bytes.h"

/* Encodings of addresses: a format, and what it is relative to. */
enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_SIZE = 0x07,		/* of the format */
	ENCODED_SIGNED = 0x08,
	ENCODED_RELATION = 0xf0,
	ENCODED_PCREL = 0x10,
	ENCODED_UNKNOWN = 0xff,		/* also the standard's "omitted" */
};

enum {
	AUGMENTATION_MAX = 8,	/* letters; compilers write up to 5 */
	LEB128_MAX = 10,	/* bytes */
};

struct unwind_section {
	struct bytes bytes;
	uint64_t address;
	size_t pointer_size;
};

/* One entry: its bytes behind the length, which keep the section's offsets. */
struct entry {
	struct bytes body;
	size_t id_offset;
	uint32_t id;		/* 0: a CIE; else how far back its CIE is */
};

/* False: there is none at the offset, or its end is not in the section. */
static bool
open_entry(const struct unwind_section *section, size_t offset,
           struct entry *entry)
{
	struct bytes *body = &entry->body;
	uint64_t length;

	*body = section->bytes;
	body->offset = offset;
	length = bytes_number(body, 4);
	if (length == UINT32_MAX)
		length = bytes_number(body, 8);
	if (bytes_failed(body) || length > body->size - body->offset)
		return false;
	body->size = body->offset + length;
	entry->id_offset = body->offset;
	/* An empty one ends a list, which linkers may leave in the middle. */
	entry->id = length == 0 ? 0 : (uint32_t)bytes_number(body, 4);
	return true;
}

static void
skip_leb128(struct bytes *in)
{
	for (int i = 0; i < LEB128_MAX; i++)
		if ((bytes_number(in, 1) & 0x80) == 0)
			return;
	in->failed = true;
}

/* The bytes of an encoded number; 0: of varying length, or unknown. */
static size_t
encoded_size(unsigned encoding, size_t pointer_size)
{
	static const uint8_t sizes[ENCODED_SIZE + 1] = {
		[2] = 2, [3] = 4, [4] = 8,
	};

	return (encoding & ENCODED_SIZE) == 0 ? pointer_size :
	    sizes[encoding & ENCODED_SIZE];
}

/* letters: behind the 'z'; in: what they announce. */
static unsigned
encoding_among(const char *letters, struct bytes *in, size_t pointer_size)
{
	for (; *letters != '\0'; letters++) {
		unsigned encoding;

		switch (*letters) {
		case 'R':
			encoding = (unsigned)bytes_number(in, 1);
			return bytes_failed(in) ? ENCODED_UNKNOWN : encoding;
		case 'L':
			bytes_take(in, 1);
			break;
		case 'P':
			encoding = (unsigned)bytes_number(in, 1);
			bytes_take(in, encoded_size(encoding, pointer_size));
			break;
		case 'S':
		case 'B':
			break;
		default:
			return ENCODED_UNKNOWN;
		}
	}
	return ENCODED_ABSOLUTE;
}

/* How the FDEs of the CIE at an offset write addresses. */
static unsigned
encoding_of(const struct unwind_section *section, size_t offset)
{
	struct entry cie;
	struct bytes *in = &cie.body;
	char letters[AUGMENTATION_MAX + 1];
	unsigned version;
	size_t n = 0;

	if (!open_entry(section, offset, &cie) || cie.id != 0)
		return ENCODED_UNKNOWN;
	version = (unsigned)bytes_number(in, 1);
	while (n < sizeof letters &&
	       (letters[n] = (char)bytes_number(in, 1)) != '\0')
		n++;
	skip_leb128(in);		/* unit of code */
	skip_leb128(in);		/* unit of data */
	if (version == 1)
		bytes_take(in, 1);	/* register of the return address */
	else
		skip_leb128(in);
	if (bytes_failed(in) || (version != 1 && version != 3) ||
	    n == sizeof letters)
		return ENCODED_UNKNOWN;
	if (n == 0)
		return ENCODED_ABSOLUTE;
	if (letters[0] != 'z')
		return ENCODED_UNKNOWN;
	skip_leb128(in);		/* size of what follows */
	return encoding_among(letters + 1, in, section->pointer_size);
}

/* An FDE's range, if it has one that lies in the address space. */
static bool
range_of(const struct unwind_section *section, struct entry *fde,
         uint64_t *start, uint64_t *size)
{
	struct bytes *in = &fde->body;
	unsigned encoding;
	uint64_t base, number_max;
	size_t n;

	if (fde->id > fde->id_offset)
		return false;
	encoding = encoding_of(section, fde->id_offset - fde->id);
	n = encoded_size(encoding, section->pointer_size);
	base = 0;
	if ((encoding & ENCODED_RELATION) == ENCODED_PCREL)
		base = section->address + in->offset;
	else if ((encoding & ENCODED_RELATION) != 0)
		return false;
	if (n == 0)
		return false;
	*start = bytes_number(in, n);
	*size = bytes_number(in, n);
	number_max = UINT64_MAX >> (64 - 8 * n);
	if ((encoding & ENCODED_SIGNED) != 0 && *start > number_max / 2)
		*start |= ~number_max;
	*start += base;
	if (section->pointer_size == 4)
		*start &= UINT32_MAX;
	return !bytes_failed(in) && *size <= UINT64_MAX - *start;
}

static int
add_ranges(struct symbol_table *table, const struct unwind_section *section,
           struct error *error)
{
	struct entry entry;
	uint64_t start, size;

	for (size_t at = 0; open_entry(section, at, &entry);
	     at = entry.body.size) {
		struct symbol symbol = { .name = "" };

		if (entry.id == 0 ||
		    !range_of(section, &entry, &start, &size))
			continue;
		symbol.start = start;
		symbol.size = size;
		symbol.limit = start + size;
		if (symbol_table_add(table, &symbol, error) != 0)
			return -1;
	}
	return 0;
}

int
function_ranges_add(struct symbol_table *table, const struct elf_file *file,
                    struct error *error)
{
	GElf_Shdr header;
	GElf_Ehdr file_header;
	Elf_Scn *section = elf_file_named_section(file, ".eh_frame", &header);
	Elf_Data *data = section != NULL ? elf_file_contents(section) : NULL;
	struct unwind_section unwind;

	if (data == NULL || gelf_getehdr(file->elf, &file_header) == NULL ||
	    file_header.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	unwind.bytes = bytes_of(data->d_buf, data->d_size);
	unwind.address = header.sh_addr;
	unwind.pointer_size =
	    file_header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	return add_ranges(table, &unwind, error);
}
