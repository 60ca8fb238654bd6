/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_entries.c -- the entries of a module's unwind tables.
 *
 * What was last read of what descriptions share is kept, since those of one
 * object file stand together; so an entry costs no more than its own bytes.
 * The sorted index in .eh_frame_hdr would give no more: it has no ends, and
 * may be left out.
 */
#include "src/symbols/unwind_entries.h"

#include <string.h>

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

/* An entry: its bytes behind the length, with the section's offsets. */
struct body {
	struct bytes bytes;
	size_t id_offset;
	bool is_common;
	size_t common;		/* of a description: what it points to */
};

bool
unwind_section_find(struct unwind_section *section,
                    const struct elf_file *file, bool is_debug)
{
	GElf_Shdr header;
	GElf_Ehdr file_header;
	Elf_Scn *found = elf_file_named_section(file, is_debug ?
	    ".debug_frame" : ".eh_frame", &header);
	Elf_Data *data = found != NULL ? elf_file_contents(found) : NULL;

	if (data == NULL || gelf_getehdr(file->elf, &file_header) == NULL ||
	    file_header.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	*section = (struct unwind_section){
		.bytes = bytes_of(data->d_buf, data->d_size),
		.address = header.sh_addr,
		.pointer_size =
		    file_header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
		.is_debug = is_debug,
	};
	return true;
}

/* ---- numbers ---- */

uint64_t
unwind_take_uleb(struct bytes *in)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < LEB128_MAX; i++) {
		uint64_t byte = bytes_number(in, 1);

		number |= (byte & 0x7f) << 7 * i;
		if ((byte & 0x80) == 0)
			return number;
	}
	in->failed = true;
	return 0;
}

int64_t
unwind_take_sleb(struct bytes *in)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < LEB128_MAX; i++) {
		uint64_t byte = bytes_number(in, 1);

		number |= (byte & 0x7f) << 7 * i;
		if ((byte & 0x80) != 0)
			continue;
		if ((byte & 0x40) != 0 && i < LEB128_MAX - 1)
			number |= UINT64_MAX << 7 * (i + 1);
		return (int64_t)number;
	}
	in->failed = true;
	return 0;
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

uint64_t
unwind_take_address(const struct unwind_section *section, struct bytes *in,
                    unsigned encoding)
{
	size_t n = encoded_size(encoding, section->pointer_size);
	uint64_t base = 0, number, number_max;

	if ((encoding & ENCODED_RELATION) == ENCODED_PCREL)
		base = section->address + in->offset;
	else if ((encoding & ENCODED_RELATION) != 0)
		in->failed = true;
	if (n == 0)
		in->failed = true;
	if (bytes_failed(in))
		return 0;
	number = bytes_number(in, n);
	number_max = UINT64_MAX >> (64 - 8 * n);
	if ((encoding & ENCODED_SIGNED) != 0 && number > number_max / 2)
		number |= ~number_max;
	number += base;
	return section->pointer_size == 4 ? number & UINT32_MAX : number;
}

/* ---- entries ---- */

/*
 * Tells a description from what several share.  In .eh_frame the number that
 * leads from one to the other is how far back, and 0 in the latter.
 */
static void
read_id(const struct unwind_section *section, struct body *body, size_t size)
{
	struct bytes *in = &body->bytes;
	uint64_t id;

	body->id_offset = in->offset;
	if (section->is_debug) {
		id = bytes_number(in, size);
		body->is_common = id == UINT64_MAX >> (64 - 8 * size);
		body->common = id < SIZE_MAX ? (size_t)id : SIZE_MAX;
		return;
	}
	id = bytes_number(in, 4);
	body->is_common = id == 0;
	body->common = id <= body->id_offset ? body->id_offset - (size_t)id :
	               SIZE_MAX;
}

/* False: there is none at the offset, or its end is not in the section. */
static bool
open_entry(const struct unwind_section *section, size_t offset,
           struct body *body)
{
	struct bytes *in = &body->bytes;
	size_t size = 4;
	uint64_t length;

	*in = section->bytes;
	if (offset > in->size)
		return false;
	in->offset = offset;
	length = bytes_number(in, 4);
	if (length == UINT32_MAX) {
		size = 8;
		length = bytes_number(in, 8);
	}
	if (bytes_failed(in) || length > in->size - in->offset)
		return false;
	in->size = in->offset + (size_t)length;
	/* An empty one ends a list, which linkers may leave in the middle. */
	body->is_common = true;
	if (length > 0)
		read_id(section, body, size);
	return true;
}

/* ---- what descriptions share ---- */

/* letters: behind the 'z'; in: what they announce. */
static void
read_augmentation(const char *letters, struct bytes *in, size_t pointer_size,
                  struct unwind_common *common)
{
	bool has_encoding = false;
	size_t size;

	for (; *letters != '\0'; letters++) {
		switch (*letters) {
		case 'R':
			common->encoding = (uint8_t)bytes_number(in, 1);
			has_encoding = true;
			break;
		case 'L':
			bytes_take(in, 1);
			break;
		case 'P':
			size = encoded_size((unsigned)bytes_number(in, 1),
			                    pointer_size);
			bytes_take(in, size);
			break;
		case 'S':
			common->is_signal = true;
			break;
		case 'B':
			break;
		default:	/* the size says where it ends */
			common->is_known = has_encoding;
			return;
		}
	}
}

/* The letters that say what else there is; false: too many. */
static bool
take_letters(struct bytes *in, char letters[AUGMENTATION_MAX + 1])
{
	for (size_t n = 0; n <= AUGMENTATION_MAX; n++) {
		letters[n] = (char)bytes_number(in, 1);
		if (letters[n] == '\0')
			return true;
	}
	return false;
}

static bool
is_known_version(const struct unwind_section *section, unsigned version)
{
	return version == 1 || version == 3 ||
	    (version == 4 && section->is_debug);
}

/* The part behind the version and the letters. */
static void
read_common_rest(const struct unwind_section *section, struct bytes *in,
                 unsigned version, const char *letters,
                 struct unwind_common *common)
{
	struct bytes augmentation;
	uint64_t size;

	if (version == 4 && (bytes_number(in, 1) != section->pointer_size ||
	                     bytes_number(in, 1) != 0))
		return;		/* other addresses, or segments */
	common->code_unit = unwind_take_uleb(in);
	common->data_unit = unwind_take_sleb(in);
	common->return_register = version == 1 ? bytes_number(in, 1) :
	                          unwind_take_uleb(in);
	common->is_known = letters[0] == '\0' || letters[0] == 'z';
	if (letters[0] == 'z') {
		common->has_augmentation = true;
		size = unwind_take_uleb(in);
		augmentation = *in;
		bytes_take(in, (size_t)size);
		augmentation.size = in->offset;
		read_augmentation(letters + 1, &augmentation,
		                  section->pointer_size, common);
		in->failed |= augmentation.failed;
	}
	common->rules = *in;
	if (bytes_failed(in))
		common->is_known = false;
}

static void
read_common(const struct unwind_section *section, size_t offset,
            struct unwind_common *common)
{
	char letters[AUGMENTATION_MAX + 1];
	struct body body;
	unsigned version;

	*common = (struct unwind_common){ .offset = offset,
		.encoding = ENCODED_ABSOLUTE };
	if (!open_entry(section, offset, &body) || !body.is_common)
		return;
	version = (unsigned)bytes_number(&body.bytes, 1);
	if (is_known_version(section, version) &&
	    take_letters(&body.bytes, letters))
		read_common_rest(section, &body.bytes, version, letters,
		                 common);
}

/* ---- descriptions ---- */

/* False where it has no range that lies in the address space. */
static bool
read_description(const struct unwind_section *section,
                 const struct body *body, struct unwind_entry *entry)
{
	struct bytes in = body->bytes;
	size_t n;

	if (entry->common.rules.data == NULL ||
	    entry->common.offset != body->common)
		read_common(section, body->common, &entry->common);
	if (!entry->common.is_known)
		return false;
	n = encoded_size(entry->common.encoding, section->pointer_size);
	entry->start = unwind_take_address(section, &in,
	                                   entry->common.encoding);
	entry->size = bytes_number(&in, n);
	entry->rest = in;
	return !bytes_failed(&in) &&
	    entry->size <= UINT64_MAX - entry->start;
}

bool
unwind_entries_next(const struct unwind_section *section, size_t *offset,
                    struct unwind_entry *entry, size_t *at)
{
	struct body body;

	while (open_entry(section, *offset, &body)) {
		size_t begin = *offset;

		*offset = body.bytes.size;
		if (body.is_common ||
		    !read_description(section, &body, entry))
			continue;
		if (at != NULL)
			*at = begin;
		return true;
	}
	return false;
}
