/* SPDX-License-Identifier: MIT */
/* java-interpreted.c -- names the methods that the collector has met in frames
 * of the interpreter; see java.h.
 *
 * HotSpot describes its structures in tables for debuggers (vmStructs.cpp).
 */
#include "lib/java/java-agent.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "lib/java/java.h"

/* Offsets in HotSpot's structures; 0: not found. */
static struct {
	uint64_t const_method, constants, name_index, signature_index;
	uint64_t pool_holder, class_name, symbol_length, symbol_text;
	uint64_t pool_size;		/* after which its entries begin */
} layout;

static const struct {
	const char *structure, *field;
	uint64_t *offset;
} fields[] = {
	{ "Method", "_constMethod", &layout.const_method },
	{ "ConstMethod", "_constants", &layout.constants },
	{ "ConstMethod", "_name_index", &layout.name_index },
	{ "ConstMethod", "_signature_index", &layout.signature_index },
	{ "ConstantPool", "_pool_holder", &layout.pool_holder },
	{ "Klass", "_name", &layout.class_name },
	{ "Symbol", "_length", &layout.symbol_length },
	{ "Symbol", "_body", &layout.symbol_text },
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Set once the interpreter is known. */
static struct java_methods *_Atomic interpreted;

/* A variable of HotSpot's that says where something is in its tables. */
static bool
find_number(void *machine, const char *name, uint64_t *number)
{
	const uint64_t *variable = dlsym(machine, name);

	if (variable == NULL)
		return false;
	*number = *variable;
	return true;
}

/* Rows of text and numbers, as vmStructs.hpp describes; ended by a NULL. */
static bool
read_structures(void *machine)
{
	uint64_t table, stride, structure, field, offset, n_found = 0;

	if (!find_number(machine, "gHotSpotVMStructs", &table) ||
	    !find_number(machine, "gHotSpotVMStructEntryArrayStride",
	                 &stride) ||
	    !find_number(machine, "gHotSpotVMStructEntryTypeNameOffset",
	                 &structure) ||
	    !find_number(machine, "gHotSpotVMStructEntryFieldNameOffset",
	                 &field) ||
	    !find_number(machine, "gHotSpotVMStructEntryOffsetOffset",
	                 &offset) || table == 0 || stride == 0)
		return false;
	for (const char *row = (const char *)(uintptr_t)table;
	     *(const char *const *)(row + structure) != NULL; row += stride)
		for (size_t i = 0; i < N_FIELDS; i++)
			if (strcmp(*(const char *const *)(row + structure),
			           fields[i].structure) == 0 &&
			    strcmp(*(const char *const *)(row + field),
			           fields[i].field) == 0) {
				*fields[i].offset = *(const uint64_t *)(row +
				    offset);
				n_found++;
			}
	return n_found == N_FIELDS;
}

static bool
read_types(void *machine)
{
	uint64_t table, stride, name, size;

	if (!find_number(machine, "gHotSpotVMTypes", &table) ||
	    !find_number(machine, "gHotSpotVMTypeEntryArrayStride", &stride) ||
	    !find_number(machine, "gHotSpotVMTypeEntryTypeNameOffset",
	                 &name) ||
	    !find_number(machine, "gHotSpotVMTypeEntrySizeOffset", &size) ||
	    table == 0 || stride == 0)
		return false;
	for (const char *row = (const char *)(uintptr_t)table;
	     *(const char *const *)(row + name) != NULL; row += stride)
		if (strcmp(*(const char *const *)(row + name),
		           "ConstantPool") == 0)
			layout.pool_size = *(const uint64_t *)(row + size);
	return layout.pool_size != 0;
}

/* Something to read from HotSpot's memory. */
struct agent_part {
	uint64_t address;
	void *to;
	size_t size;
};

/*
 * Reads up to three parts.  By a system call, since a class and its methods may
 * be unloaded meanwhile.
 */
static bool
read_parts(const struct agent_part *parts, unsigned n)
{
	struct iovec here[3], there[3];
	ssize_t size = 0;

	for (unsigned i = 0; i < n; i++) {
		here[i] = (struct iovec){ parts[i].to, parts[i].size };
		there[i] = (struct iovec){
			(void *)(uintptr_t)parts[i].address, parts[i].size };
		size += (ssize_t)parts[i].size;
	}
	return process_vm_readv(getpid(), here, n, there, n, 0) == size;
}

static bool
read_part(uint64_t address, void *to, size_t size)
{
	const struct agent_part part = { address, to, size };

	return read_parts(&part, 1);
}

/* Reads three symbols, cut, each ended by a NUL. */
static bool
read_symbols(const uint64_t symbols[3], char texts[3][1024])
{
	uint16_t lengths[3];
	struct agent_part parts[3];

	for (int i = 0; i < 3; i++)
		parts[i] = (struct agent_part){
			symbols[i] + layout.symbol_length, &lengths[i],
			sizeof lengths[i] };
	if (!read_parts(parts, 3))
		return false;
	for (int i = 0; i < 3; i++) {
		if (lengths[i] >= sizeof texts[i])
			lengths[i] = (uint16_t)(sizeof texts[i] - 1);
		texts[i][lengths[i]] = '\0';
		parts[i] = (struct agent_part){
			symbols[i] + layout.symbol_text, texts[i], lengths[i] };
	}
	return read_parts(parts, 3);
}

/* The names of a method's class, of itself, and its signature. */
static bool
read_method(uint64_t method, char texts[3][1024])
{
	uint64_t part, pool, class, symbols[3];
	uint16_t name, signature;

	if (!read_part(method + layout.const_method, &part, sizeof part) ||
	    !read_parts((struct agent_part[]){
	        { part + layout.constants, &pool, sizeof pool },
	        { part + layout.name_index, &name, sizeof name },
	        { part + layout.signature_index, &signature,
	          sizeof signature } }, 3))
		return false;
	pool += layout.pool_size;
	if (!read_parts((struct agent_part[]){
	        { pool - layout.pool_size + layout.pool_holder, &class,
	          sizeof class },
	        { pool + 8 * (uint64_t)name, &symbols[1], sizeof *symbols },
	        { pool + 8 * (uint64_t)signature, &symbols[2],
	          sizeof *symbols } }, 3))
		return false;
	return read_part(class + layout.class_name, &symbols[0],
	                 sizeof *symbols) &&
	    read_symbols(symbols, texts) && *texts[2] == '(';
}

/* Names a method like code of eight bytes. */
static void
write_interpreted(uint64_t method)
{
	struct agent_bytes records = { 0 }, name = { 0 };
	char texts[3][1024];

	if (!read_method(method, texts))
		return;
	agent_add_method_name(&name, texts[0], texts[1], texts[2]);
	if (!name.has_failed) {
		agent_add_load(&records, name.at, (const void *)(uintptr_t)method,
		         8);
		agent_write(&records);
	}
	free(records.at);
	free(name.at);
}

/* Names the methods that the collector has met since the last time. */
static void
write_met(struct java_methods *methods)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_written[JAVA_METHODS_MAX];
	static uint32_t n_seen;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; n_seen != methods->n_used &&
	     i < JAVA_METHODS_MAX; i++)
		if (methods->methods[i] != 0 && !is_written[i]) {
			is_written[i] = true;
			n_seen++;
			write_interpreted(methods->methods[i]);
		}
	pthread_mutex_unlock(&lock);
}

/* Ends with the process. */
static void *
watch_methods(void *methods)
{
	const struct timespec pause = { .tv_nsec = 50000000 };

	for (;;) {
		write_met(methods);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Shares what is known of the interpreter with the collector, if it is here. */
void
interpreted_start(const void *address, uint64_t size)
{
	java_start_function *start = (java_start_function *)dlsym(RTLD_DEFAULT,
	                                                          JAVA_START);
	struct java_methods *methods = calloc(1, sizeof *methods);
	sigset_t all, before;
	pthread_t thread;

	if (interpreted != NULL || layout.pool_size == 0 || start == NULL ||
	    methods == NULL) {
		free(methods);
		return;
	}
	methods->begin = (uintptr_t)address;
	methods->end = methods->begin + size;
	methods->const_method = (uint32_t)layout.const_method;
	methods->constants = (uint32_t)layout.constants;
	methods->pool_holder = (uint32_t)layout.pool_holder;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, watch_methods, methods) == 0) {
		pthread_detach(thread);
		interpreted = methods;
		start(methods);
	} else {
		free(methods);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The virtual machine's library, in which the function lies. */
void
interpreted_find_layout(const void *function)
{
	Dl_info found;
	void *machine;

	if (dladdr(function, &found) == 0 ||
	    (machine = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) ==
	    NULL)
		return;
	if (!read_structures(machine) || !read_types(machine))
		layout.pool_size = 0;
	dlclose(machine);
}

void
interpreted_end(void)
{
	if (interpreted != NULL)
		write_met(interpreted);
}
