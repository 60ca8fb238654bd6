/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_frames.h -- names of addresses in a process: of its modules, of code
 * made at run time, and those that a recording kept.
 */
#ifndef CPPROF_SYMBOLS_NAMES_ADDRESS_FRAMES_H
#define CPPROF_SYMBOLS_NAMES_ADDRESS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/program.h"

/* ---- jit_dump.c ---- */

/*
 * Pieces of code made at run time, from jit-PID.dump.
 *
 * New code may take the place of older code, and code may be moved.  So the
 * order matters: the last piece at an address counts.
 */

/* A function that the compiler put into its caller. */
struct jit_call {
	const char *name, *file;	/* file NULL: unknown */
	uint32_t line;			/* 0: unknown */
};

/* The line of the code up to the next one of the same piece. */
struct jit_line {
	uint64_t offset;	/* from the piece's start */
	const char *file;	/* NULL: unknown */
	uint32_t line;
	uint32_t n_calls;
	const struct jit_call *calls;	/* [n_calls], outermost first */
};

struct jit_entry {
	uint64_t start, size;
	const char *name;
	const char *file;	/* of all of it; NULL: see the lines */
	const struct jit_line *lines;	/* [n_lines], by offset */
	size_t n_lines;
};

/* Starts with `{ 0 }`. */
struct jit_entries {
	struct jit_entry *items;	/* [n] in their order */
	size_t n, capacity;
	struct arena arena;		/* texts and lines */
};

void jit_entries_free(struct jit_entries *entries);

/* Adds a piece, with a copy of name[length], or what v8_name_shown makes of it. */
int jit_entries_add(struct jit_entries *entries, const struct jit_entry *entry,
                    const char *name, size_t length, struct error *error);

/*
 * Adds the pieces of a jitdump file, up to the first damaged record; none if it
 * is of another process or no such file.
 */
int jit_dump_read(struct jit_entries *entries, FILE *file, uint32_t pid,
                  struct error *error);

/* ---- v8_name.c ---- */

/*
 * The names that V8 (node, Chromium, deno) gives to JavaScript functions:
 *
 *	JS:*sortAll /home/me/app.js:11:17
 *
 * That is what has been compiled, how (interpreted ~, baseline ^, mid-tier +,
 * optimised *), the function's name, which may be empty, and where it begins.
 * Source: V8, src/logging/log.cc, and code-kind.cc for the marks.
 */

/* Parts of the text, of which only `place` is ended by a NUL. */
struct v8_name {
	const char *function, *file;
	size_t function_length, file_length;
	const char *place;	/* "11:17" */
	size_t line_length, place_length;
};

/* Whether the text is such a name. */
bool v8_name_read(const char *text, struct v8_name *found);

/*
 * The name that a programmer expects, one for all ways of compiling the
 * function: "sortAll (app.js:11)".  Those without a name, and those far to the
 * right as in minified files, have their column, too: "(anonymous)
 * (app.js:3:21)".  In the arena; NULL with *error set.
 */
const char *v8_name_shown(const struct v8_name *name, struct arena *arena,
                          struct error *error);

/* The file's path, without "file://".  Likewise. */
const char *v8_name_file(const struct v8_name *name, struct arena *arena,
                         struct error *error);

/* ---- jit_map.c ---- */

/*
 * Names for code that a process made at run time.
 *
 * Runtimes write the names while they compile, in one of two forms: to
 * /tmp/perf-PID.map, with a line "START SIZE NAME" for each piece of code, in
 * hexadecimal; or to jit-PID.dump, as records with names, lines and the code.
 * Source: linux, tools/perf/Documentation/jit-interface.txt and
 * jitdump-specification.txt.  Our agent for Java writes records of its own to
 * the second (lib/java/java-agent.c).
 */

struct jit_map;

/* The code at an address; texts are valid as long as the map. */
struct jit_code {
	const char *name;
	uint64_t start;
	const char *file;	/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
	uint32_t n_calls;	/* put into it at this address */
	const struct jit_call *calls;	/* as in struct jit_line */
};

/*
 * Reads the map of a process: tmp/perf-PID.map or perf-PID.map below the root
 * of the search (which may be NULL), else the one in /tmp.  That one must
 * belong to root or to our user, as perf also requires, since anybody can make
 * a file of that name.  Empty if there is none; of a very large map only the
 * first part is read.  Freed with jit_map_free; NULL with *error set for want
 * of memory or after Ctrl-C.
 */
struct jit_map *jit_map_new(const struct symbol_search *search, uint32_t pid,
                            struct error *error);
void jit_map_free(struct jit_map *map);

/* A process of this machine that may have ended. */
struct jit_process {
	uint32_t pid;
	uid_t owner;
	uint64_t begin_ns, end_ns;	/* about; since 1970 */
	const char *directory;	/* where it was started; may be NULL */
	const char *recording;	/* the directory of its recording; likewise */
};

/*
 * Reads what that process wrote: /tmp/perf-PID.map, and jit-PID.dump in its two
 * directories, in /tmp, in $JITDUMPDIR, and in the directories that perf's agents
 * make below ~/.debug/jit.  A file must be a regular file and no link, belong
 * to the process's user or root, and have been written last while the process
 * ran.  Returns as above.
 */
struct jit_map *jit_map_of_process(const struct jit_process *process,
                                   struct error *error);

/*
 * Why a /tmp/perf-PID.map, or a part of it, was not read: "PATH belongs to
 * another user".  NULL: it was read completely, or does not exist.  Owned by
 * the map.
 */
const char *jit_map_problem(const struct jit_map *map);

/*
 * Finds the code at an address, the last piece that was made there.  Returns
 * whether there is any.  O(log n).
 */
bool jit_map_at(const struct jit_map *map, uint64_t address,
                struct jit_code *found);

/* Only its name, or NULL. */
const char *jit_map_find(const struct jit_map *map, uint64_t address);

/* ---- kept_names.c ---- */

/*
 * The names and lines of addresses that a recording keeps.
 *
 * Programs are rebuilt, removed, or left on other machines.  So names that were
 * kept when the program was recorded are used before its files are searched.
 */

enum { KEPT_CHAIN_MAX = 256 };	/* locations of one address */

struct kept_address {
	uint64_t address;
	uint32_t function;	/* one of kept_names_texts */
	uint32_t offset;	/* into the function, or NO_OFFSET */
	uint32_t first, n;	/* its locations, outermost first */
	bool is_symbol;		/* else a name made up for want of a symbol */
	bool has_lines;		/* debug information was read; it has these n
				 * locations and no more */
	bool is_told;		/* the locations come from a profile of another
				 * format instead */
	bool is_only_names;	/* the address is only a number, and no code is
				 * there */
	bool is_interpreted, is_awaiting;	/* as in struct frame */
};

/* The addresses of one module, or of one process outside all modules. */
struct kept_range {
	size_t first, n;
};

struct kept_names;

/* Without names; freed with kept_names_free.  NULL with *error set. */
struct kept_names *kept_names_new(struct error *error);
void kept_names_free(struct kept_names *kept);

/* The names of functions and files, to which the caller adds. */
struct names *kept_names_texts(const struct kept_names *kept);

/*
 * Begins the addresses of a module, or those of a process outside all modules.
 * If that module or process was begun before, kept_names_add will ignore the
 * addresses.
 */
int kept_names_begin_module(struct kept_names *kept,
                            const struct module *module, struct error *error);
int kept_names_begin_process(struct kept_names *kept, uint64_t pid,
                             uint64_t start_ns, struct error *error);

/*
 * Adds an address, greater than the last one, to the module or process that was
 * begun last.  Copies its n locations, and sets `first` in the copy.
 */
int kept_names_add(struct kept_names *kept, const struct kept_address *address,
                   const struct location *locations, struct error *error);

/* The kept addresses of a module or process; NULL: none.  Expected O(1). */
const struct kept_range *kept_names_module(const struct kept_names *kept,
                                           const struct module *module);
const struct kept_range *kept_names_process(const struct kept_names *kept,
                                            uint64_t pid, uint64_t start_ns);

/* Finds an address in a range (or NULL); NULL: it is not kept.  O(log n). */
const struct kept_address *kept_names_find(const struct kept_names *kept,
                                           const struct kept_range *range,
                                           uint64_t address);

/*
 * The locations of an address, NULL if it has none; their names are of
 * kept_names_texts.
 */
const struct location *kept_names_locations(const struct kept_names *kept,
                                            const struct kept_address *found);

/* ---- address_frames.c ---- */

/*
 * Makes a profile's frames from program addresses.
 *
 * A reader adds every address it reads and gets the number of its frame.  At
 * the end each distinct address is looked up once, module by module, and the
 * frames are added to the profile.
 */

struct address_frames;

/* An empty set, freed with address_frames_free; NULL with *error set. */
struct address_frames *address_frames_new(struct error *error);
void address_frames_free(struct address_frames *frames);

/*
 * The number of the frame of an address: in a module of the profile, as
 * program.h defines it (of a caller: the return address minus 1); or
 * with NO_MODULE, in the process.  Expected O(1).  UINT32_MAX with *error set
 * for want of memory.
 */
uint32_t address_frames_add(struct address_frames *frames, uint32_t module,
                            uint64_t address, struct error *error);

/* Likewise the frame that has only a name, one of the profile's names. */
uint32_t address_frames_add_name(struct address_frames *frames, uint32_t name,
                                 struct error *error);

/*
 * Likewise the frame of an interpreted function: what is known of it is given.
 * The key distinguishes it from the set's other interpreted frames.
 */
struct interpreted_frame {
	uint64_t key;
	uint32_t module;	/* of the profile: the function's source file */
	uint32_t first_line;	/* of the function */
	struct location location;	/* names of the profile */
	bool is_awaiting;	/* as in struct frame */
};

uint32_t address_frames_add_interpreted(struct address_frames *frames,
                                        const struct interpreted_frame *frame,
                                        struct error *error);

/*
 * Uses the names that a recording keeps, before the modules' files are
 * searched, and the lines that it keeps; NULL: none.  They must live until
 * address_frames_finish.
 */
void address_frames_use(struct address_frames *frames,
                        const struct kept_names *kept);

/*
 * From now on, addresses in no module are code that a single process made at
 * run time.  Its names come from the kept names or from the map, either of
 * which may be NULL; without a name the code is "[jit]".  Both must live as
 * long.
 */
void address_frames_use_jit(struct address_frames *frames,
                            const struct kept_range *kept,
                            const struct jit_map *jit);

/*
 * Adds all frames under their numbers to a profile that has none yet.  A frame
 * has one location, whose function is
 * - the symbol's demangled name;
 * - outside of every symbol "module+0xoffset": the start of the function if the
 *   module's unwind tables have it, else the address itself;
 * - in a module without symbols that is in brackets, "[kernel]", its path;
 * - in a module whose file is another build, "[module]";
 * - without a module "0xaddress", or see address_frames_use_jit.
 *
 * Warns in the profile of modules whose file is missing, unreadable or another
 * build: of a few one by one, of the rest with their number; but not if an
 * earlier profile got the module from the same cache.  modules: reads the
 * symbols; NULL: a cache for this call only.
 */
int address_frames_finish(struct address_frames *frames,
                          struct profile *profile,
                          struct module_cache *modules, struct error *error);

#endif
