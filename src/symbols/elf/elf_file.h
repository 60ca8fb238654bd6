/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_file.h -- ELF files and the kernel's list: finding them, and their
 * symbols.
 */
#ifndef CPPROF_SYMBOLS_ELF_ELF_FILE_H
#define CPPROF_SYMBOLS_ELF_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* ---- elf_file.c ---- */

/*
 * One ELF file, opened to read its tables.
 *
 * The file is read with pread where needed and never mapped, so that a file
 * that shrinks meanwhile leads to a missing table and not to a signal.  Data
 * from libelf lie within the file, but the numbers in them have not been
 * checked.
 */

enum { BUILD_ID_MAX = 64 };	/* bytes; GNU ld writes 16 or 20 */

struct elf_file {
	Elf *elf;
	int descriptor;		/* -1: an image in memory */
};

enum elf_file_state {
	ELF_FILE_OPEN,
	ELF_FILE_MISSING,
	ELF_FILE_UNREADABLE,	/* no permission, no file that named_file.h
				 * opens, no ELF, or most of it is holes */
};

/*
 * Opens a program, a library or a file of their debug symbols.  Only after
 * ELF_FILE_OPEN must it be closed with elf_file_close.
 */
enum elf_file_state elf_file_open(struct elf_file *file, const char *path);

/* The same for any ELF file: files that dwz makes are marked relocatable. */
enum elf_file_state elf_file_open_any(struct elf_file *file,
                                      const char *path);

/* The same for the vdso that the kernel mapped into this process. */
enum elf_file_state elf_file_open_own_vdso(struct elf_file *file);

void elf_file_close(struct elf_file *file);

/* The first section of this name, or of this type; NULL: none. */
Elf_Scn *elf_file_named_section(const struct elf_file *file, const char *name,
                                GElf_Shdr *header);
Elf_Scn *elf_file_typed_section(const struct elf_file *file, GElf_Word type,
                                GElf_Shdr *header);

/*
 * The contents of a section, valid until elf_file_close; NULL if the file does
 * not have them, or only compressed.
 */
Elf_Data *elf_file_contents(Elf_Scn *section);

/*
 * Copies the build-id, from its section or the program's notes, to
 * id[BUILD_ID_MAX].  Returns its size in bytes; 0: there is none.
 */
size_t elf_file_build_id(const struct elf_file *file, unsigned char *id);

/* Whether the file has exactly this build-id. */
bool elf_file_has_build_id(const struct elf_file *file,
                           const unsigned char *id, size_t size);

/*
 * A copy of the file in memory whose zstd-compressed sections are decompressed:
 * libelf can do that only from 0.189 on, and may be built without.  The bytes
 * are at *image, to be freed after elf_end.  NULL: there is no such section, or
 * it is damaged; only for 64-bit files in this machine's byte order.
 */
Elf *elf_file_decompress(const struct elf_file *file, char **image);

/* ---- symbol_table.c ---- */

/*
 * Which symbol an address belongs to.
 *
 * Symbols are added in any order and then sorted.  Every address then belongs
 * to at most one symbol, the same on every machine:
 * - to the sized function that contains it; of several, to the one that starts
 *   last, so that the inner of two nested ones wins;
 * - else to the last label or function without size that starts at or before
 *   the address, which reaches up to its size, or else to the next symbol of
 *   either kind, but never beyond its section;
 * - of several with the same start, functions win over labels, then symbols
 *   that are visible outside their file over local ones, then fewer leading
 *   underscores, then the shorter name, then byte order.  (Global and weak make
 *   no difference: in libc, `read` is weak and `__read` global.)
 */

struct symbol {
	uint64_t start;
	uint64_t size;		/* bytes, 0: unknown */
	uint64_t limit;		/* where its section ends */
	const char *name;	/* valid as long as the table; empty: unknown */
	bool is_label;		/* code without a type, from assemblers */
	bool is_local;
	bool is_stub;		/* of the procedure linkage table */
};

struct symbol_table;

/* An empty table, freed with symbol_table_free; NULL with *error set. */
struct symbol_table *symbol_table_new(struct error *error);
void symbol_table_free(struct symbol_table *table);

/*
 * Copies a string table that has names of symbols; the copy, which ends in a
 * NUL, lives as long as the table.  NULL with *error set.
 */
const char *symbol_table_keep(struct symbol_table *table, const void *strings,
                              size_t size, struct error *error);

/* Adds a symbol, unless it starts at its limit or after it. */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol,
                     struct error *error);

/* Must be called after the last addition, before find.  O(n log n). */
int symbol_table_sort(struct symbol_table *table, struct error *error);

size_t symbol_table_count(const struct symbol_table *table);

/*
 * Symbol i < count of a sorted table, by start; of several with the same start
 * the preferred one is the last.
 */
const struct symbol *symbol_table_at(const struct symbol_table *table,
                                     size_t i);

/* The symbol that the address belongs to, or NULL.  O(log n). */
const struct symbol *symbol_table_find(const struct symbol_table *table,
                                       uint64_t address);

/* ---- elf_symbols.c ---- */

/*
 * Adds the symbols of an ELF file to a symbol table.
 *
 * A file without such symbols adds none.  The functions return 0, or -1 with
 * *error set for want of memory or after Ctrl-C.
 */

/*
 * The symbols of code in the first section of this type, SHT_SYMTAB or
 * SHT_DYNSYM: functions, indirect functions and labels without a type, each
 * only if it lies in a section of code.
 */
int elf_symbols_add(struct symbol_table *table, const struct elf_file *file,
                    GElf_Word type, struct error *error);

/*
 * Where a file has a symbol of that name, of code or data, in the first section
 * of this type.  False: it defines none.
 */
bool elf_symbols_lookup(const struct elf_file *file, GElf_Word type,
                        const char *name, uint64_t *address, uint64_t *size);

/*
 * The stubs in .plt, .plt.sec and .plt.got of an x86-64 file, through which
 * other modules are called.  Each becomes a symbol that is marked as a stub and
 * named after the function it jumps to.  A stub for an indirect function of the
 * module itself takes the name from `table`, which must be sorted; the symbols
 * go to `stubs`.  Other machines: none.
 *
 * The slot that a stub jumps through is read from its instruction and not
 * derived from the stub's position, since linkers lay out stubs in several
 * ways.  A lazy stub that only pushes a number belongs to that relocation of
 * .rela.plt.
 * Source: System V ABI, AMD64 supplement, 5.2 and 13.2; binutils'
 * elf_x86_64_get_synthetic_symtab reads the same layouts.
 */
int elf_symbols_add_stubs(struct symbol_table *stubs,
                          const struct symbol_table *table,
                          const struct elf_file *file, struct error *error);

/* ---- go_symbols.c ---- */

/*
 * The functions of a Go program, by the table that its runtime has for stack
 * traces (Go 1.2 and later), also in a stripped program.  Likewise.
 */
int go_symbols_add(struct symbol_table *table, const struct elf_file *file,
                   struct error *error);

/* Code from start up to end, by addresses in the file. */
struct code_range {
	uint64_t start, end;
};

/*
 * Where the functions of these names lie; {0}: there is none, also in a file
 * that is not of Go.  O(functions * n).
 */
void go_symbols_find(const struct elf_file *file, const char *const *names,
                     size_t n, struct code_range *ranges);

/*
 * How many bytes each instruction of a Go program has on the stack, without the
 * return address: exact in prologues and leaves, too.
 */
struct go_stacks;

/*
 * Copies the table; NULL in *stacks: the file has none.  Freed with
 * go_stacks_free.  0, or -1 with *error set for want of memory.
 */
int go_stacks_read(const struct elf_file *file, struct go_stacks **stacks,
                   struct error *error);
void go_stacks_free(struct go_stacks *stacks);
size_t go_stacks_bytes(const struct go_stacks *stacks);

/*
 * The bytes before the instruction at an address is executed.  False where the
 * table does not tell.  O(log functions + bytes of one).
 */
bool go_stacks_find(const struct go_stacks *stacks, uint64_t address,
                    uint32_t *size);

/* ---- module_file.c ---- */

/*
 * Finds the files of a module: its own, and those of its debug information.
 *
 * Files are untrusted, may be missing, and may have been rebuilt since the
 * profile was taken.  Only the build that was profiled is opened.
 */

/* Where distributions install separate debug files. */
#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Open files that may be modules', wherever they are, or were. */
struct held_files {
	const int *files;		/* [n] */
	size_t n;
};

/* Where to search.  All is borrowed. */
struct symbol_search {
	const char *root;		/* searched first: a directory with a
					 * copy of another machine's files;
					 * NULL: none */
	const char *debug_directory;	/* NULL: DEBUG_DIRECTORY */
	const struct held_files *held;	/* those that may have been removed
					 * since, or that only other processes
					 * see; used only if they are certain
					 * to be the build; NULL: none */
};

/* What to find.  All texts are borrowed. */
struct module_file {
	const char *path;		/* where it was mapped from; "[vdso]" or
					 * linux-vdso*: the kernel's own */
	const unsigned char *build_id;	/* [build_id_size] */
	size_t build_id_size;		/* 0: unknown */
	/* Of the file, for want of a build-id; size 0: unknown, any will do
	 * that everyone may read, or that lies below the current directory.
	 * A copy below the root of the search may have another mtime. */
	uint64_t size, mtime_ns;
	struct symbol_search search;
};

/* The files of a profile's module, which is borrowed. */
struct module_file module_file_of(const struct module *module,
                                  struct symbol_search search);

/* Whether it is the kernel's own. */
bool module_file_is_vdso(const struct module_file *module);

enum module_file_state {
	MODULE_FILE_OPEN,
	MODULE_FILE_MISSING,
	MODULE_FILE_UNREADABLE,		/* no permission, or no ELF program */
	MODULE_FILE_DIFFERS,		/* not the build that was profiled */
};

/*
 * Opens the module's own file.  Tries the path below the root of the search,
 * then its last component there, then the path itself if it is absolute, then
 * the held files.  (A relative path could lead to a file next to the profile,
 * perhaps from the same archive.)  Only with MODULE_FILE_OPEN must *file be
 * closed; else the state is that of the file that was found first.
 */
enum module_file_state module_file_open(const struct module_file *module,
                                        struct elf_file *file);

/*
 * Opens the separate file that the module's symbols and debug information were
 * moved to: by build-id, .build-id/xx/yyyy.debug in the debug directory, or in
 * the cache of debuginfod.h; or by the .gnu_debuglink of `own`, in that file's
 * directory, in .debug below it, or in the debug directory's copy of it; or
 * among the held files, by build-id.  A file that was found by link must have
 * the module's build-id or, if the module has none, the link's CRC.
 *
 * own: the module's file, or NULL if it could not be opened.  Returns whether
 * the file was found; it must then be closed.
 * Source: gdb manual, "Debugging Information in Separate Files".
 */
bool module_file_open_debug(const struct module_file *module,
                            const struct elf_file *own,
                            struct elf_file *file);

/*
 * Opens the file that several debug files share (dwz makes such files): by its
 * build-id, or else by its name, which is absolute or starts from the directory
 * of the file that names it.  Returns likewise.
 */
bool module_file_open_supplement(const struct symbol_search *search,
                                 const struct elf_file *file,
                                 const char *name, const unsigned char *id,
                                 size_t id_size, struct elf_file *supplement);

/*
 * The virtual address, as program.h defines it, of the byte at an offset
 * of the module's own file.  The offset itself if no loaded segment has that
 * byte, or if there is no such file.
 */
uint64_t module_file_address(const struct module_file *module,
                             uint64_t offset);

/* ---- kernel_symbols.c ---- */

/* Adds the kernel's symbols to a symbol table. */

/*
 * The path that stands for the kernel.  Since the kernel is loaded at another
 * address with each boot, its addresses here count from its symbol _text.
 */
#define KERNEL_PATH "[kernel]"

bool is_kernel_path(const char *path);

/*
 * Whether the path stands for a loaded module of the kernel, "[ext4]".
 * Addresses in it count from where it was loaded.
 */
bool is_kernel_module_path(const char *path);

/*
 * Adds the functions of the kernel or of one of its modules, from proc/kallsyms
 * below the root of the search, which is trusted to be the right one; or else
 * from this machine's /proc/kallsyms, if the running kernel or its module has
 * the build-id.  (The kernel shows addresses only to root.)  proc/modules next
 * to it says where a module was loaded.  0 with *state, or -1 with *error set
 * for want of memory.
 */
int kernel_symbols_add(struct symbol_table *table,
                       const struct module_file *module,
                       enum module_file_state *state, struct error *error);

/*
 * Where the running kernel was loaded: the address of _text.  0: the kernel
 * hides that from this user (kernel.kptr_restrict).
 */
uint64_t kernel_base(void);

/*
 * A loaded module of the running kernel, with its path as above.  Starts with
 * file NULL; kernel_module_next returns false after the last one, or if where
 * they are is hidden, and has closed the file then.
 */
struct kernel_module {
	FILE *file;
	char path[64 + 2];		/* "[ext4]" */
	unsigned char build_id[20];
	size_t build_id_size;		/* 0: unknown */
	uint64_t start, size;
};

bool kernel_module_next(struct kernel_module *module);

/*
 * The build-id of the running kernel, if its release is this one ("6.1.0-18")
 * or release is NULL.  Copies it to id[max] and returns its size in bytes; 0:
 * another release, or unknown.
 */
size_t kernel_build_id(const char *release, unsigned char *id, size_t max);

#endif
