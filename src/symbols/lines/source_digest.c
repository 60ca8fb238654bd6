/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_digest.c -- the digest that debug information has of a source file.
 *
 * libdw does not give it, so the headers of the line tables are read here.
 * Source: DWARF 5, section 6.2.4.
 */
#include "src/symbols/lines/address_lines.h"

#include <limits.h>
#include <string.h>

#include <dwarf.h>

#include "src/base/bytes.h"
#include "src/symbols/lines/debug_lines.h"

enum {
	FORMATS_MAX = 16,	/* members of an entry; there are 5 */
	DIRECTORIES_MAX = 4096,
};

/* What an entry of the tables of directories and files has. */
struct digest_format {
	uint64_t content, form;
};

/* One table's header, while it is read. */
struct digest_table {
	struct bytes in;
	struct bytes strings, line_strings;	/* sections */
	unsigned offset_size;
	struct digest_format formats[FORMATS_MAX];
	uint64_t n_formats;
	const char *directories[DIRECTORIES_MAX];
	uint64_t n_directories;
};

/* A file or directory; path is NULL if it was not understood. */
struct digest_entry {
	const char *path;
	uint64_t directory;
	const unsigned char *digest;	/* NULL: it has none */
};

static uint64_t
take_uleb(struct bytes *in)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = bytes_number(in, 1);

		number |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	in->failed = true;
	return 0;
}

/* A string within bytes, at an offset; NULL if it is not terminated there. */
static const char *
source_digest_string_at(const struct bytes *bytes, uint64_t offset)
{
	const char *text;

	if (bytes->data == NULL || offset >= bytes->size)
		return NULL;
	text = (const char *)bytes->data + offset;
	return memchr(text, '\0', bytes->size - offset) != NULL ? text : NULL;
}

static const char *
source_digest_take_string(struct bytes *in)
{
	const char *text = in->failed ? NULL :
					source_digest_string_at(in, in->offset);

	if (text == NULL || bytes_take(in, strlen(text) + 1) == NULL)
		in->failed = true;
	return text;
}

/* Reads one member of an entry; one of an unknown form ends the table. */
static void
take_member(struct digest_table *table, const struct digest_format *format,
            struct digest_entry *entry)
{
	struct bytes *in = &table->in;
	const char *text = NULL;
	const unsigned char *block = NULL;
	uint64_t number = 0;

	switch (format->form) {
	case DW_FORM_string:
		text = source_digest_take_string(in);
		break;
	case DW_FORM_line_strp:
		text = source_digest_string_at(
		    &table->line_strings, bytes_number(in, table->offset_size));
		break;
	case DW_FORM_strp:
		text = source_digest_string_at(
		    &table->strings, bytes_number(in, table->offset_size));
		break;
	case DW_FORM_udata:
		number = take_uleb(in);
		break;
	case DW_FORM_data1:
		number = bytes_number(in, 1);
		break;
	case DW_FORM_data2:
		number = bytes_number(in, 2);
		break;
	case DW_FORM_data4:
		number = bytes_number(in, 4);
		break;
	case DW_FORM_data8:
		number = bytes_number(in, 8);
		break;
	case DW_FORM_data16:
		block = bytes_take(in, MD5_DIGEST_LENGTH);
		break;
	case DW_FORM_block:
		bytes_take(in, take_uleb(in));
		break;
	default:
		in->failed = true;
		break;
	}
	if (format->content == DW_LNCT_path)
		entry->path = text;
	else if (format->content == DW_LNCT_directory_index)
		entry->directory = number;
	else if (format->content == DW_LNCT_MD5)
		entry->digest = block;
}

static struct digest_entry
take_entry(struct digest_table *table)
{
	struct digest_entry entry = { 0 };

	for (uint64_t i = 0; i < table->n_formats; i++)
		take_member(table, &table->formats[i], &entry);
	return entry;
}

/* Reads the formats; returns the number of entries that follow. */
static uint64_t
take_formats(struct digest_table *table)
{
	table->n_formats = bytes_number(&table->in, 1);
	if (table->n_formats == 0 || table->n_formats > FORMATS_MAX) {
		table->n_formats = 0;
		take_uleb(&table->in);
		return 0;	/* entries of nothing would never end */
	}
	for (uint64_t i = 0; i < table->n_formats; i++) {
		table->formats[i].content = take_uleb(&table->in);
		table->formats[i].form = take_uleb(&table->in);
	}
	return take_uleb(&table->in);
}

/* Whether an entry is the file of that path. */
static bool
is_path(const struct digest_table *table, const struct digest_entry *entry,
        const char *path)
{
	char directory[PATH_MAX], clean[PATH_MAX];
	uint64_t number = entry->directory;

	if (entry->path == NULL || number >= table->n_directories ||
	    table->directories[number] == NULL ||
	    table->directories[0] == NULL ||
	    source_path_clean(directory, sizeof directory,
	        number > 0 ? table->directories[0] : NULL,
	        table->directories[number]) == 0)
		return false;
	return source_path_clean(clean, sizeof clean, directory,
	                         entry->path) > 0 && strcmp(clean, path) == 0;
}

/* Reads the header of a table of version 5; whether it has the digest. */
static bool
source_digest_read_table(struct digest_table *table, const char *path,
                         unsigned char digest[MD5_DIGEST_LENGTH])
{
	uint64_t n, opcode_base;

	bytes_take(&table->in, 2);	/* sizes of addresses and selectors */
	bytes_take(&table->in, table->offset_size);	/* of the header */
	bytes_take(&table->in, 5);	/* how the program is to be read */
	opcode_base = bytes_number(&table->in, 1);
	bytes_take(&table->in, opcode_base > 0 ? opcode_base - 1 : 0);
	n = take_formats(table);
	table->n_directories = n < DIRECTORIES_MAX ? n : DIRECTORIES_MAX;
	for (uint64_t i = 0; i < n && !bytes_failed(&table->in); i++) {
		struct digest_entry entry = take_entry(table);

		if (i < DIRECTORIES_MAX)
			table->directories[i] = entry.path;
	}
	n = take_formats(table);
	for (uint64_t i = 0; i < n && !bytes_failed(&table->in); i++) {
		struct digest_entry entry = take_entry(table);

		if (bytes_failed(&table->in) || entry.digest == NULL ||
		    !is_path(table, &entry, path))
			continue;
		memcpy(digest, entry.digest, MD5_DIGEST_LENGTH);
		return true;
	}
	return false;
}

static bool
source_digest_read_tables(struct digest_table *table, struct bytes section,
                          const char *path, unsigned char digest[MD5_DIGEST_LENGTH])
{
	while (section.offset < section.size && !bytes_failed(&section)) {
		uint64_t length = bytes_number(&section, 4);
		const void *unit;

		table->offset_size = length == UINT32_MAX ? 8 : 4;
		if (length == UINT32_MAX)
			length = bytes_number(&section, 8);
		unit = bytes_take(&section, length);
		if (unit == NULL)
			return false;
		table->in = bytes_of(unit, length);
		if (bytes_number(&table->in, 2) == 5 &&
		    source_digest_read_table(table, path, digest))
			return true;
	}
	return false;
}

static struct bytes
source_digest_section_of(const struct elf_file *file, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_named_section(file, name, &header);
	Elf_Data *data = section != NULL ? elf_file_contents(section) : NULL;

	if (data == NULL || data->d_buf == NULL)
		return bytes_of(NULL, 0);
	return bytes_of(data->d_buf, data->d_size);
}

bool
source_digest_find(const struct module_file *module, const char *path,
                   unsigned char digest[MD5_DIGEST_LENGTH])
{
	struct digest_table table;
	struct elf_file file;
	GElf_Ehdr header;
	bool is_found;

	if (!debug_lines_open(module, &file))
		return false;
	table.strings = source_digest_section_of(&file, ".debug_str");
	table.line_strings = source_digest_section_of(&file, ".debug_line_str");
	is_found = gelf_getehdr(file.elf, &header) != NULL &&
	    header.e_ident[EI_DATA] == ELFDATA2LSB &&
	    source_digest_read_tables(&table,
	                              source_digest_section_of(&file,
	                                                       ".debug_line"),
	                              path, digest);
	elf_file_close(&file);
	return is_found;
}
