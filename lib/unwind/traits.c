/* SPDX-License-Identifier: MIT */
/* traits.c -- classifies modules by their names and dynamic symbols.
 *
 * Looks symbols up with lib/base/lookup.h, because dlsym takes the loader's
 * lock.
 */
#include "lib/unwind/traits.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"

/* The cached traits of a module, found by the address of its link map. */
struct cached_traits {
	_Atomic uint64_t key;	/* the link map's address | the traits */
};

#define N_CACHED 256
#define HAS_SENSITIVE 4u	/* some functions are caller-sensitive */

static struct cached_traits cached[N_CACHED] BIG_TABLE;
static _Atomic bool forbidden;

/* A module that is found when its code is first seen; NULL: not so far. */
struct found_module {
	const struct link_map *_Atomic map;
	void *_Atomic at;	/* an address in it */
};

static struct found_module python, greenlet;

/* Defined by Go's runtime if it can call C or be called from C. */
static const char go_runtime[] = "crosscall2";

/* Called when Python imports greenlet. */
static const char greenlet_begin[] = "PyInit__greenlet";

/*
 * Defined only by runtimes that walk stacks by return addresses (OCaml, .NET
 * compiled ahead of time, the Java virtual machine, Go), and by greenlet, which
 * copies stacks away.
 */
static const char *const forbidding[] = {
	"caml_frametable", "DotNetRuntimeDebugHeader", "JNI_CreateJavaVM",
	go_runtime, greenlet_begin
};

/* Functions of the C library that examine their caller's address. */
static const char *const sensitive[] = {
	"dlopen", "dlmopen", "dlsym", "dlvsym", "dl_iterate_phdr"
};

#define N_SENSITIVE (sizeof sensitive / sizeof *sensitive)

/* Their addresses in the program's own C library, set by the constructor. */
static struct libc {
	const struct link_map *map;
	struct {
		uintptr_t start;
		size_t size;
	} sensitive[N_SENSITIVE];
} own_libc;

/* Where functions of makecontext return to; 0: not known. */
static uint64_t context_end;

void *
traits_symbol(const struct link_map *map, const char *name)
{
	struct lookup symbols;
	const ElfW(Sym) *symbol;

	if (!lookup_open(map, &symbols) ||
	    (symbol = lookup_symbol(&symbols, name)) == NULL)
		return NULL;
	return (void *)(symbols.bias + symbol->st_value);
}

bool
traits_program_is_go(void)
{
	return _r_debug.r_map != NULL &&
	    traits_symbol(_r_debug.r_map, go_runtime) != NULL;
}

bool
traits_have_go(void)
{
	const struct link_map *map;

	for (map = _r_debug.r_map; map != NULL; map = map->l_next)
		if (traits_symbol(map, go_runtime) != NULL)
			return true;
	return false;
}

bool
traits_is_go(const void *address)
{
	struct dl_find_object object;

	return _dl_find_object((void *)(uintptr_t)address, &object) == 0 &&
	    traits_symbol(object.dlfo_link_map, go_runtime) != NULL;
}

/* Undefined symbols precede those in the hash table. */
static bool
imports(const struct lookup *symbols, const char *name)
{
	uint32_t i;

	for (i = 1; i < symbols->hash[1]; i++)
		if (symbols->symbols[i].st_shndx == SHN_UNDEF &&
		    strcmp(symbols->strings + symbols->symbols[i].st_name,
		    name) == 0)
			return true;
	return false;
}

static bool
traits_begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void
find_sensitive(const struct link_map *map, struct libc *libc)
{
	struct lookup symbols;
	unsigned i;

	*libc = (struct libc){ .map = map };
	if (!lookup_open(map, &symbols))
		return;
	for (i = 0; i < N_SENSITIVE; i++) {
		const ElfW(Sym) *symbol = lookup_symbol(&symbols, sensitive[i]);

		if (symbol == NULL)
			continue;
		libc->sensitive[i].start = symbols.bias + symbol->st_value;
		libc->sensitive[i].size = symbol->st_size;
	}
}

/* Remembers the first module that defines a symbol. */
static void
traits_look_for(struct found_module *module, const struct link_map *map,
    const struct lookup *symbols, const char *name)
{
	const ElfW(Sym) *symbol;

	if (atomic_load_explicit(&module->map, memory_order_relaxed) != NULL ||
	    (symbol = lookup_symbol(symbols, name)) == NULL)
		return;
	atomic_store(&module->at, (void *)(symbols->bias + symbol->st_value));
	atomic_store(&module->map, map);
}

/*
 * An interpreter that is part of a program without symbols has its structure in a
 * section of its own.
 */
static void
traits_look_for_python(const struct link_map *program)
{
	enum { RUNTIME_SIZE = 65536 };	/* all are several times as large */
	void *runtime;

	if (atomic_load(&python.map) != NULL)
		return;
	runtime = traits_section(program, ".PyRuntime", RUNTIME_SIZE);
	if (runtime == NULL)
		return;
	atomic_store(&python.at, runtime);
	atomic_store(&python.map, program);
}

/* Forgets a module that was unloaded. */
static void
traits_check_found(struct found_module *module)
{
	struct dl_find_object object;

	if (atomic_load(&module->map) != NULL &&
	    (_dl_find_object(atomic_load(&module->at), &object) != 0 ||
	    object.dlfo_link_map != atomic_load(&module->map)))
		atomic_store(&module->map, NULL);
}

/* Examines a module. */
static unsigned
classify(const struct link_map *map)
{
	const char *name = map->l_name != NULL ? map->l_name : "";
	const char *slash = strrchr(name, '/');
	struct lookup symbols;
	unsigned i;

	if (slash != NULL)
		name = slash + 1;
	if (traits_begins(name, "libgcc_s") || traits_begins(name, "libunwind"))
		return TRAIT_UNWINDS | TRAIT_READS_RETURN;
	if (traits_begins(name, "ld-linux") || traits_begins(name, "ld.so") ||
	    traits_begins(name, "ld64") || traits_begins(name, "linux-vdso"))
		return TRAIT_READS_RETURN;
	if (traits_begins(name, "libc.so"))
		return HAS_SENSITIVE;
	if (!lookup_open(map, &symbols))
		return 0;
	traits_look_for(&python, map, &symbols, "_PyRuntime");
	traits_look_for(&greenlet, map, &symbols, greenlet_begin);
	for (i = 0; i < sizeof forbidding / sizeof *forbidding; i++)
		if (lookup_symbol(&symbols, forbidding[i]) != NULL)
			forbidden = true;
	/*
	 * A statically linked unwinder (-static-libgcc) asks the C library for
	 * unwind tables and exports nothing.  The stub needs functions of the
	 * unwinder to pass an exception on, and could not find them.
	 */
	if ((imports(&symbols, "dl_iterate_phdr") ||
	    imports(&symbols, "_dl_find_object")) &&
	    !imports(&symbols, "_Unwind_Resume") &&
	    lookup_symbol(&symbols, "_Unwind_Resume") == NULL)
		forbidden = true;
	return 0;
}

static unsigned
traits_of(const struct link_map *map)
{
	const uint64_t at = (uintptr_t)map;
	struct cached_traits *entry = &cached[at / 64 % N_CACHED];
	uint64_t key = atomic_load_explicit(&entry->key,
	    memory_order_relaxed);
	unsigned traits;

	if ((key & ~(uint64_t)7) == at)
		return key & 7;
	traits = classify(map);
	atomic_store_explicit(&entry->key, at | traits,
	    memory_order_relaxed);
	return traits;
}

unsigned
traits_find(uint64_t address, const struct dl_find_object *object)
{
	const struct link_map *const map = object->dlfo_link_map;
	const struct libc *libc = &own_libc;
	struct libc other;
	unsigned traits, i;

	if (address >= process.own_start && address < process.own_end)
		return TRAIT_READS_RETURN;
	if (map == NULL)	/* see rules.h */
		return 0;
	traits = traits_of(map);
	if ((traits & HAS_SENSITIVE) == 0)
		return traits;
	if (libc->map != map) {		/* loaded by dlmopen */
		find_sensitive(map, &other);
		libc = &other;
	}
	for (i = 0; i < N_SENSITIVE; i++)
		if (address - libc->sensitive[i].start <
		    libc->sensitive[i].size)
			return TRAIT_READS_RETURN;
	return 0;
}

/* The program's own headers, or those at the start of a module's mapping. */
const ElfW(Phdr) *
traits_headers(const struct dl_find_object *object, size_t *n)
{
	const ElfW(Ehdr) *elf = object->dlfo_map_start;
	const char *name = object->dlfo_link_map->l_name;

	if (name == NULL || name[0] == '\0') {
		*n = getauxval(AT_PHNUM);
		return (const ElfW(Phdr) *)getauxval(AT_PHDR);
	}
	*n = 0;
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_phentsize != sizeof(ElfW(Phdr)))
		return NULL;
	*n = elf->e_phnum;
	return (const ElfW(Phdr) *)((const char *)elf + elf->e_phoff);
}

bool
traits_is_code(uint64_t address)
{
	struct dl_find_object object;
	const ElfW(Phdr) *headers;
	size_t n, i;

	if (_dl_find_object((void *)(uintptr_t)address, &object) != 0)
		return false;
	headers = traits_headers(&object, &n);
	for (i = 0; i < n; i++)
		if (headers[i].p_type == PT_LOAD &&
		    (headers[i].p_flags & PF_X) != 0 &&
		    address - object.dlfo_link_map->l_addr -
		    headers[i].p_vaddr < headers[i].p_memsz)
			return true;
	return false;
}

bool
traits_forbid_trampoline(void)
{
	return atomic_load_explicit(&forbidden, memory_order_relaxed);
}

void *
traits_python_runtime(void)
{
	return atomic_load_explicit(&python.at, memory_order_relaxed);
}

const struct link_map *
traits_python(void)
{
	return atomic_load_explicit(&python.map, memory_order_acquire);
}

bool
traits_have_greenlet(void)
{
	return atomic_load_explicit(&greenlet.map, memory_order_acquire) !=
	    NULL;
}

bool
traits_is_greenlet(uint64_t address)
{
	const struct link_map *const map = atomic_load_explicit(&greenlet.map,
	    memory_order_acquire);
	struct dl_find_object object;

	return map != NULL && _dl_find_object((void *)(uintptr_t)address,
	    &object) == 0 && object.dlfo_link_map == map;
}

void
traits_new_epoch(void)
{
	unsigned i;

	traits_check_found(&python);
	traits_check_found(&greenlet);
	for (i = 0; i < N_CACHED; i++)
		atomic_store_explicit(&cached[i].key, 0,
		    memory_order_relaxed);
}

static void
do_nothing(void)
{
}

bool
traits_ends_context(uint64_t start, uint64_t end)
{
	return context_end - start < end - start;
}

void
traits_begin(void)
{
	void (*make)(ucontext_t *, void (*)(void), int, ...);
	uint64_t stack[32];
	ucontext_t context = { .uc_stack = { .ss_sp = stack,
	    .ss_size = sizeof stack } };
	void *symbol = NULL;
	size_t n;
	const struct link_map *map = lookup_loaded(&n);
	const struct link_map *const program = map;

	for (; n > 0; n--, map = map->l_next)
		if (((uintptr_t)map->l_ld < process.own_start ||
		    (uintptr_t)map->l_ld >= process.own_end) &&
		    (traits_of(map) & HAS_SENSITIVE) != 0)
			find_sensitive(map, &own_libc);
	traits_look_for_python(program);
	/*
	 * Make a context that never runs.  Not through the linker, since
	 * sanitizers replace makecontext; and not where it would make a shadow
	 * stack.
	 */
	if (own_libc.map != NULL)
		symbol = traits_symbol(own_libc.map, "makecontext");
	if (symbol == NULL || arch_has_shadow_stack())
		return;
	memcpy(&make, &symbol, sizeof make);
	make(&context, do_nothing, 0);
	context_end = arch_context_return(&context);
}
