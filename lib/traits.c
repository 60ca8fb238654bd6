/* SPDX-License-Identifier: MIT */
/* traits.c -- judges modules by their names and dynamic symbols.
 *
 * Looks symbols up by itself, since dlsym takes the loader's lock.  Sources:
 * the ELF specification, chapter 5, and for the GNU hash table
 * https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html.
 */
#include "lib/traits.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/process.h"

struct symbols {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *hash;	/* DT_GNU_HASH */
	uintptr_t bias;
};

/* What a module was judged to be, found again by its link map. */
struct judgement {
	_Atomic uint64_t key;	/* the link map's address and the traits */
};

#define N_JUDGEMENTS 256
#define HAS_CURIOUS 4u		/* some of its functions are */

static struct judgement judgements[N_JUDGEMENTS];
static _Atomic bool forbidden;

/* Defined by Go's runtime, where it can call C or be called by it. */
static const char go_runtime[] = "crosscall2";

/*
 * Defined only by runtimes that walk stacks by return addresses: OCaml, .NET
 * compiled ahead, the Java virtual machine, Go; and by what copies stacks
 * away, greenlet.
 */
static const char *const forbidding[] = {
	"caml_frametable", "DotNetRuntimeDebugHeader", "JNI_CreateJavaVM",
	go_runtime, "PyInit__greenlet"
};

/* Of the C library, these ask who calls them. */
static const char *const curious[] = {
	"dlopen", "dlmopen", "dlsym", "dlvsym", "dl_iterate_phdr"
};

#define N_CURIOUS (sizeof curious / sizeof *curious)

/* Where these are: of the program's own C library, found by the constructor. */
static struct libc {
	const struct link_map *map;
	struct {
		uintptr_t start;
		size_t size;
	} curious[N_CURIOUS];
} own_libc;

/* The loader adds the bias to these in memory, but for read-only modules. */
static uintptr_t
relocated(const struct link_map *map, uintptr_t address)
{
	return address < map->l_addr ? address + map->l_addr : address;
}

static bool
open_symbols(const struct link_map *map, struct symbols *symbols)
{
	const ElfW(Dyn) *entry = map->l_ld;

	*symbols = (struct symbols){ .bias = map->l_addr };
	for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
		uintptr_t at = relocated(map, entry->d_un.d_ptr);

		if (entry->d_tag == DT_SYMTAB)
			symbols->symbols = (const ElfW(Sym) *)at;
		else if (entry->d_tag == DT_STRTAB)
			symbols->strings = (const char *)at;
		else if (entry->d_tag == DT_GNU_HASH)
			symbols->hash = (const uint32_t *)at;
	}
	return symbols->symbols != NULL && symbols->strings != NULL &&
	    symbols->hash != NULL;
}

static uint32_t
gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static const ElfW(Sym) *
find_symbol(const struct symbols *symbols, const char *name)
{
	const uint32_t n_buckets = symbols->hash[0];
	const uint32_t first = symbols->hash[1];
	const uint32_t *buckets = symbols->hash + 4 + symbols->hash[2] *
	    (sizeof(ElfW(Addr)) / sizeof *buckets);
	const uint32_t *chains = buckets + n_buckets, hash = gnu_hash(name);
	uint32_t i;

	if (n_buckets == 0 || (i = buckets[hash % n_buckets]) < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *symbol = &symbols->symbols[i];

		if (((chains[i - first] ^ hash) | 1) == 1 &&
		    symbol->st_shndx != SHN_UNDEF &&
		    strcmp(symbols->strings + symbol->st_name, name) == 0)
			return symbol;
		if ((chains[i - first] & 1) != 0)
			return NULL;
	}
}

void *
traits_symbol(const struct link_map *map, const char *name)
{
	struct symbols symbols;
	const ElfW(Sym) *symbol;

	if (!open_symbols(map, &symbols) ||
	    (symbol = find_symbol(&symbols, name)) == NULL)
		return NULL;
	return (void *)(symbols.bias + symbol->st_value);
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

/* Undefined symbols come before those in the hash table. */
static bool
imports(const struct symbols *symbols, const char *name)
{
	uint32_t i;

	for (i = 1; i < symbols->hash[1]; i++)
		if (symbols->symbols[i].st_shndx == SHN_UNDEF &&
		    strcmp(symbols->strings + symbols->symbols[i].st_name,
		    name) == 0)
			return true;
	return false;
}

/*
 * An unwinder that is linked in statically (-static-libgcc) asks the C library
 * for the tables and exports nothing.  Exceptions that pass a stub would have
 * to be handed on by functions that cannot be found.
 */
static bool
has_hidden_unwinder(const struct symbols *symbols)
{
	return (imports(symbols, "dl_iterate_phdr") ||
	    imports(symbols, "_dl_find_object")) &&
	    !imports(symbols, "_Unwind_Resume") &&
	    find_symbol(symbols, "_Unwind_Resume") == NULL;
}

static const char *
last_component(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL ? slash + 1 : path != NULL ? path : "";
}

static bool
begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static unsigned
judge(const struct link_map *map)
{
	const char *name = last_component(map->l_name);
	struct symbols symbols;
	unsigned i;

	if (begins(name, "libgcc_s") || begins(name, "libunwind"))
		return TRAIT_UNWINDS | TRAIT_READS_RETURN;
	if (begins(name, "ld-linux") || begins(name, "ld.so") ||
	    begins(name, "ld64") || begins(name, "linux-vdso"))
		return TRAIT_READS_RETURN;
	if (begins(name, "libc.so"))
		return HAS_CURIOUS;
	if (!open_symbols(map, &symbols))
		return 0;
	for (i = 0; i < sizeof forbidding / sizeof *forbidding; i++)
		if (find_symbol(&symbols, forbidding[i]) != NULL)
			forbidden = true;
	if (has_hidden_unwinder(&symbols))
		forbidden = true;
	return 0;
}

static void
find_curious(const struct link_map *map, struct libc *libc)
{
	struct symbols symbols;
	unsigned i;

	*libc = (struct libc){ .map = map };
	if (!open_symbols(map, &symbols))
		return;
	for (i = 0; i < N_CURIOUS; i++) {
		const ElfW(Sym) *symbol = find_symbol(&symbols, curious[i]);

		if (symbol == NULL)
			continue;
		libc->curious[i].start = symbols.bias + symbol->st_value;
		libc->curious[i].size = symbol->st_size;
	}
}

/* Whether the address lies in a function of that C library that is curious. */
static bool
is_curious(uint64_t address, const struct link_map *map)
{
	const struct libc *libc = &own_libc;
	struct libc other;
	unsigned i;

	if (libc->map != map) {		/* loaded by dlmopen */
		find_curious(map, &other);
		libc = &other;
	}
	for (i = 0; i < N_CURIOUS; i++)
		if (address - libc->curious[i].start < libc->curious[i].size)
			return true;
	return false;
}

static unsigned
traits_of(const struct link_map *map)
{
	const uint64_t at = (uintptr_t)map;
	struct judgement *judgement = &judgements[at / 64 % N_JUDGEMENTS];
	uint64_t key = atomic_load_explicit(&judgement->key,
	    memory_order_relaxed);
	unsigned traits;

	if ((key & ~(uint64_t)7) == at)
		return key & 7;
	traits = judge(map);
	atomic_store_explicit(&judgement->key, at | traits,
	    memory_order_relaxed);
	return traits;
}

unsigned
traits_find(uint64_t address, const struct dl_find_object *object)
{
	unsigned traits;

	if (address >= process.own_start && address < process.own_end)
		return TRAIT_READS_RETURN;
	traits = traits_of(object->dlfo_link_map);
	if ((traits & HAS_CURIOUS) != 0)
		traits = is_curious(address, object->dlfo_link_map) ?
		    TRAIT_READS_RETURN : 0;
	return traits;
}

/* The program's own headers, or those at the start of a module's mapping. */
static const ElfW(Phdr) *
headers_of(const struct dl_find_object *object, size_t *n)
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
	headers = headers_of(&object, &n);
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

void
traits_new_epoch(void)
{
	unsigned i;

	for (i = 0; i < N_JUDGEMENTS; i++)
		atomic_store_explicit(&judgements[i].key, 0,
		    memory_order_relaxed);
}

void
traits_begin(void)
{
	const struct link_map *map = _r_debug.r_map;

	for (; map != NULL; map = map->l_next)
		if (((uintptr_t)map->l_ld < process.own_start ||
		    (uintptr_t)map->l_ld >= process.own_end) &&
		    (traits_of(map) & HAS_CURIOUS) != 0)
			find_curious(map, &own_libc);
}
