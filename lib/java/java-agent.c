/* SPDX-License-Identifier: MIT */
/* java-agent.c -- writes down what a Java virtual machine compiles.
 *
 * A library of its own, which the machine loads (-agentpath:FILE=DIRECTORY).
 * It is told of each method that was compiled and of the machine's own pieces
 * of code, and appends them to DIRECTORY/jit-PID.dump, in perf's jitdump
 * format without the code itself.  The methods that the compiler put into
 * another one, and lines, are in records of our own before that piece
 * (JITDUMP_CALLS); other readers skip
 * them.  What belongs together is one write, so that the file is valid if the
 * machine is killed.
 *
 * Source: JVM Tool Interface 1.2; jvmticmlr.h of the JDK for inlined methods.
 * None of this runs in a signal handler.  If anything fails, the machine goes
 * on without names.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <jvmti.h>
#include <jvmticmlr.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "lib/java/java.h"
#include "lib/jitdump.h"

enum { MACHINE_X86_64 = 62, NO_TEXT = -1 };

struct agent_bytes {
	char *at;
	size_t n, capacity;
	bool has_failed;		/* for want of memory */
};

/* A method that the current record names. */
struct java_method {
	jmethodID id;
	int32_t function, file;		/* numbers of texts; NO_TEXT */
	jvmtiLineNumberEntry *lines;
	jint n_lines;
};

/* Its lock is never held while the machine is asked something. */
static struct {
	pthread_mutex_t lock;
	int file;			/* -1: nothing is written any more */
	uint64_t n_loads;
} dump = { .lock = PTHREAD_MUTEX_INITIALIZER, .file = -1 };

/* What is said about one compiled method. */
static struct {
	pthread_mutex_t lock;
	struct java_method *methods;
	size_t n_methods, methods_capacity;
	int32_t n_texts;
	struct agent_bytes texts, places, records;
} compiled = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
bytes_add(struct agent_bytes *bytes, const void *more, size_t n)
{
	if (bytes->capacity - bytes->n < n) {
		size_t capacity = 2 * (bytes->n + n) + 4096;
		char *new = realloc(bytes->at, capacity);

		if (new == NULL) {
			bytes->has_failed = true;
			return;
		}
		bytes->at = new;
		bytes->capacity = capacity;
	}
	memcpy(bytes->at + bytes->n, more, n);
	bytes->n += n;
}

static int32_t
add_text(const char *text)
{
	bytes_add(&compiled.texts, text, strlen(text) + 1);
	return compiled.n_texts++;
}

static uint64_t
now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Begins a record; returns its place, for end_record. */
static size_t
begin_record(struct agent_bytes *bytes)
{
	const struct jitdump_record head = { 0 };

	bytes_add(bytes, &head, sizeof head);
	return bytes->n - sizeof head;
}

static void
end_record(struct agent_bytes *bytes, size_t begin, uint32_t kind)
{
	const struct jitdump_record head = { kind,
		(uint32_t)(bytes->n - begin), now_ns() };

	if (!bytes->has_failed)
		memcpy(bytes->at + begin, &head, sizeof head);
}

/* Writes records that belong together, unless memory has run out. */
static void
write_records(const struct agent_bytes *bytes)
{
	if (bytes->has_failed || bytes->n > INT32_MAX)
		return;
	pthread_mutex_lock(&dump.lock);
	if (dump.file >= 0 &&
	    write(dump.file, bytes->at, bytes->n) != (ssize_t)bytes->n) {
		/* After a part of a record no other can be read. */
		close(dump.file);
		dump.file = -1;
	}
	pthread_mutex_unlock(&dump.lock);
}

static void
add_load(struct agent_bytes *bytes, const char *name, const void *address,
         jint size)
{
	const struct jitdump_load load = {
		.pid = (uint32_t)getpid(), .tid = (uint32_t)gettid(),
		.virtual_address = (uintptr_t)address,
		.address = (uintptr_t)address, .size = (uint32_t)size,
		.index = __atomic_fetch_add(&dump.n_loads, 1,
		                            __ATOMIC_RELAXED),
	};
	const size_t begin = begin_record(bytes);

	bytes_add(bytes, &load, sizeof load);
	bytes_add(bytes, name, strlen(name) + 1);
	end_record(bytes, begin, JITDUMP_LOAD);
}

/* ---- names ---- */

/*
 * Appends a type of a signature as it is written in Java: "[Ljava/lang/Object;"
 * is java.lang.Object[].  Returns the next type's place.
 */
static const char *
add_type(struct agent_bytes *name, const char *type)
{
	static const char letters[] = "ZBCSIJFDV";
	static const char *const words[] = { "boolean", "byte", "char",
		"short", "int", "long", "float", "double", "void" };
	const char *letter;
	size_t dimensions = strspn(type, "[");

	type += dimensions;
	letter = *type != '\0' ? strchr(letters, *type) : NULL;
	if (*type == 'L') {
		for (type++; *type != '\0' && *type != ';'; type++)
			bytes_add(name, *type == '/' ? "." : type, 1);
	} else if (letter != NULL) {
		bytes_add(name, words[letter - letters],
		          strlen(words[letter - letters]));
	}
	while (dimensions-- > 0)
		bytes_add(name, "[]", 2);
	return *type != '\0' ? type + 1 : type;
}

/*
 * Appends "com.example.App.parse(int, java.lang.String)" and a NUL.  The class
 * is com/example/App.
 */
static void
add_method_name(struct agent_bytes *name, const char *class, const char *method,
                const char *signature)
{
	const char *at = signature + 1;

	for (; *class != '\0' && *class != ';'; class++)
		bytes_add(name, *class == '/' ? "." : class, 1);
	bytes_add(name, ".", 1);
	bytes_add(name, method, strlen(method));
	bytes_add(name, "(", 1);
	while (*at != '\0' && *at != ')') {
		at = add_type(name, at);
		if (*at != ')' && *at != '\0')
			bytes_add(name, ", ", 2);
	}
	bytes_add(name, ")", 2);
}

/* "com/example/App.java": where a source path has it. */
static void
add_file_name(struct agent_bytes *name, const char *class, const char *file)
{
	const char *slash = strrchr(class, '/');

	if (*class == 'L' && slash != NULL)
		bytes_add(name, class + 1, (size_t)(slash - class));
	bytes_add(name, file, strlen(file) + 1);
}

static void
name_method(jvmtiEnv *jvmti, struct java_method *method)
{
	char *name = NULL, *signature = NULL, *class_name = NULL, *file = NULL;
	jclass class;

	*method = (struct java_method){ method->id, NO_TEXT, NO_TEXT, NULL, 0 };
	if ((*jvmti)->GetMethodName(jvmti, method->id, &name, &signature,
	                            NULL) != JVMTI_ERROR_NONE ||
	    (*jvmti)->GetMethodDeclaringClass(jvmti, method->id, &class) !=
	    JVMTI_ERROR_NONE ||
	    (*jvmti)->GetClassSignature(jvmti, class, &class_name, NULL) !=
	    JVMTI_ERROR_NONE) {
		method->function = add_text("[unknown method]");
	} else {
		method->function = compiled.n_texts++;
		add_method_name(&compiled.texts,
		                class_name + (*class_name == 'L'), name,
		                signature);
		if ((*jvmti)->GetSourceFileName(jvmti, class, &file) ==
		    JVMTI_ERROR_NONE) {
			method->file = compiled.n_texts++;
			add_file_name(&compiled.texts, class_name, file);
		}
		/* Native methods have none. */
		if ((*jvmti)->GetLineNumberTable(jvmti, method->id,
		    &method->n_lines, &method->lines) != JVMTI_ERROR_NONE)
			method->n_lines = 0;
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)class_name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
}

/* The method among those of this record; NULL for want of memory. */
static const struct java_method *
find_method(jvmtiEnv *jvmti, jmethodID id)
{
	struct java_method *new;

	for (size_t i = 0; i < compiled.n_methods; i++)
		if (compiled.methods[i].id == id)
			return &compiled.methods[i];
	if (compiled.n_methods == compiled.methods_capacity) {
		size_t capacity = 2 * compiled.methods_capacity + 64;

		new = realloc(compiled.methods, capacity * sizeof *new);
		if (new == NULL)
			return NULL;
		compiled.methods = new;
		compiled.methods_capacity = capacity;
	}
	new = &compiled.methods[compiled.n_methods++];
	new->id = id;
	name_method(jvmti, new);
	return new;
}

static void
forget_methods(jvmtiEnv *jvmti)
{
	for (size_t i = 0; i < compiled.n_methods; i++)
		(*jvmti)->Deallocate(jvmti,
		    (unsigned char *)compiled.methods[i].lines);
	compiled.n_methods = 0;
	compiled.n_texts = 0;
	compiled.texts.n = compiled.places.n = 0;
	compiled.texts.has_failed = compiled.places.has_failed = false;
}

/* The line of a byte code: the last entry that begins at or before it. */
static int32_t
find_line(const struct java_method *method, jlocation byte_code)
{
	const jvmtiLineNumberEntry *best = NULL;

	for (jint i = 0; i < method->n_lines; i++) {
		const jvmtiLineNumberEntry *line = &method->lines[i];

		if (line->start_location <= byte_code &&
		    (best == NULL ||
		     line->start_location >= best->start_location))
			best = line;
	}
	return best != NULL ? best->line_number : 0;
}

/* ---- what was compiled ---- */

/*
 * The frames at each place of a piece of code.  The machine describes the end
 * of each instruction that it knows of: so what it says holds from the place
 * before to this one.
 */
static void
add_calls(jvmtiEnv *jvmti, const char *start,
            const jvmtiCompiledMethodLoadInlineRecord *inlined)
{
	struct jitdump_calls head = { .address = (uintptr_t)start };
	size_t from = 0, begin;

	for (jint i = 0; i < inlined->numpcs; i++) {
		const PCStackInfo *info = &inlined->pcinfo[i];
		const size_t to = (size_t)((const char *)info->pc - start);
		const struct jitdump_place place = { (uint32_t)from,
			(uint32_t)info->numstackframes };

		if (to <= from)
			continue;
		bytes_add(&compiled.places, &place, sizeof place);
		for (jint k = info->numstackframes - 1; k >= 0; k--) {
			const struct java_method *method = find_method(jvmti,
			    info->methods[k]);
			struct jitdump_frame frame = { NO_TEXT, NO_TEXT, 0 };

			if (method != NULL) {
				frame.function = method->function;
				frame.file = method->file;
				frame.line = find_line(method, info->bcis[k]);
			}
			bytes_add(&compiled.places, &frame, sizeof frame);
		}
		head.n_places++;
		from = to;
	}
	if (head.n_places == 0 || compiled.places.has_failed ||
	    compiled.texts.has_failed)
		return;
	head.n_texts = (uint32_t)compiled.n_texts;
	begin = begin_record(&compiled.records);
	bytes_add(&compiled.records, &head, sizeof head);
	bytes_add(&compiled.records, compiled.texts.at, compiled.texts.n);
	bytes_add(&compiled.records, compiled.places.at, compiled.places.n);
	end_record(&compiled.records, begin, JITDUMP_CALLS);
}

static void JNICALL
on_compiled(jvmtiEnv *jvmti, jmethodID id, jint size, const void *address,
            jint n_map, const jvmtiAddrLocationMap *map, const void *details)
{
	const jvmtiCompiledMethodLoadRecordHeader *record = details;
	const struct java_method *method;

	(void)n_map;
	(void)map;
	pthread_mutex_lock(&compiled.lock);
	compiled.records.n = 0;
	compiled.records.has_failed = false;
	for (; record != NULL; record = record->next)
		if (record->kind == JVMTI_CMLR_INLINE_INFO)
			add_calls(jvmti, address,
			    (const jvmtiCompiledMethodLoadInlineRecord *)record);
	forget_methods(jvmti);
	method = find_method(jvmti, id);
	if (method != NULL && !compiled.texts.has_failed)
		add_load(&compiled.records, compiled.texts.at, address, size);
	write_records(&compiled.records);
	forget_methods(jvmti);
	pthread_mutex_unlock(&compiled.lock);
}

/* ---- what is interpreted ---- */

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
	add_method_name(&name, texts[0], texts[1], texts[2]);
	if (!name.has_failed) {
		add_load(&records, name.at, (const void *)(uintptr_t)method,
		         8);
		write_records(&records);
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
static void
start_interpreted(void *address, jint size)
{
	java_start_function *start = (java_start_function *)dlsym(RTLD_DEFAULT,
	                                                          JAVA_START);
	struct java_methods *methods = calloc(1, sizeof *methods);
	sigset_t all, before;
	pthread_t thread;

	if (start == NULL || methods == NULL) {
		free(methods);
		return;
	}
	methods->begin = (uintptr_t)address;
	methods->end = methods->begin + (uint64_t)size;
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

/* The interpreter, stubs, adapters. */
static void JNICALL
on_generated(jvmtiEnv *jvmti, const char *name, const void *address, jint size)
{
	struct agent_bytes records = { 0 };

	(void)jvmti;
	if (interpreted == NULL && layout.pool_size != 0 &&
	    strcmp(name, "Interpreter") == 0)
		start_interpreted((void *)(uintptr_t)address, size);
	add_load(&records, name, address, size);
	write_records(&records);
	free(records.at);
}

static void JNICALL
on_end(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	if (interpreted != NULL)
		write_met(interpreted);
}

/* ---- start ---- */

static void
open_dump(const char *directory)
{
	const struct jitdump_header header = {
		.magic = JITDUMP_MAGIC, .version = 1, .size = sizeof header,
		.machine = MACHINE_X86_64, .pid = (uint32_t)getpid(),
		.timestamp = now_ns(),
	};
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof path, "%s/jit-%ld.dump", directory,
	                     (long)getpid()) >= sizeof path)
		return;
	/* A process that was executed by another has its number. */
	unlink(path);
	dump.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	                 O_APPEND | O_CLOEXEC, 0600);
	if (dump.file >= 0 &&
	    write(dump.file, &header, sizeof header) != sizeof header) {
		close(dump.file);
		dump.file = -1;
	}
}

static void
ask_for_events(jvmtiEnv *jvmti)
{
	const jvmtiEventCallbacks callbacks = {
		.CompiledMethodLoad = on_compiled,
		.DynamicCodeGenerated = on_generated,
		.VMDeath = on_end,
	};
	jvmtiCapabilities capabilities = { 0 };

	capabilities.can_generate_compiled_method_load_events = 1;
	capabilities.can_get_source_file_name = 1;
	capabilities.can_get_line_numbers = 1;
	if ((*jvmti)->AddCapabilities(jvmti, &capabilities) !=
	    JVMTI_ERROR_NONE ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks,
	                                sizeof callbacks) != JVMTI_ERROR_NONE)
		return;
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
	    JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
	    JVMTI_EVENT_DYNAMIC_CODE_GENERATED, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE,
	    JVMTI_EVENT_VM_DEATH, NULL);
}

/* The virtual machine's library, in which the function lies. */
static void
find_layout(const void *function)
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

/* Whatever fails, the machine starts: a status other than 0 would end it. */
JNIEXPORT jint JNICALL
Agent_OnLoad(JavaVM *machine, char *options, void *reserved)
{
	jvmtiEnv *jvmti;

	(void)reserved;
	if (options == NULL || *options != '/' ||
	    (*machine)->GetEnv(machine, (void **)&jvmti, JVMTI_VERSION_1_2) !=
	    JNI_OK)
		return 0;
	open_dump(options);
	find_layout((const void *)(*jvmti)->GetMethodName);
	if (dump.file >= 0)
		ask_for_events(jvmti);
	return 0;
}
