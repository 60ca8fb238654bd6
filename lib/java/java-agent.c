/* SPDX-License-Identifier: MIT */
/* java-agent.c -- writes down what a Java virtual machine compiles.
 *
 * A library of its own, which the machine loads (-agentpath:FILE=DIRECTORY).
 * It is told of each method that was compiled and of the machine's own pieces
 * of code.  The methods that the compiler put into another one, and lines, are
 * in a record of our own before that piece (JITDUMP_CALLS of lib/jitdump.h).
 *
 * Source: JVM Tool Interface 1.2; jvmticmlr.h of the JDK for inlined methods.
 * None of this runs in a signal handler.  If anything fails, the machine goes
 * on without names.
 */
#include "lib/java/java-agent.h"

#include <jvmti.h>
#include <jvmticmlr.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jitdump.h"

enum { NO_TEXT = -1 };

/* A method that the current record names. */
struct java_method {
	jmethodID id;
	int32_t function, file;		/* numbers of texts; NO_TEXT */
	jvmtiLineNumberEntry *lines;
	jint n_lines;
};

/* What is said about one compiled method. */
static struct {
	pthread_mutex_t lock;
	struct java_method *methods;
	size_t n_methods, methods_capacity;
	int32_t n_texts;
	struct agent_bytes texts, places, records;
} compiled = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int32_t
add_text(const char *text)
{
	agent_bytes_add(&compiled.texts, text, strlen(text) + 1);
	return compiled.n_texts++;
}

/* "com/example/App.java": where a source path has it. */
static void
add_file_name(struct agent_bytes *name, const char *class, const char *file)
{
	const char *slash = strrchr(class, '/');

	if (*class == 'L' && slash != NULL)
		agent_bytes_add(name, class + 1, (size_t)(slash - class));
	agent_bytes_add(name, file, strlen(file) + 1);
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
		agent_add_method_name(&compiled.texts,
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
		agent_bytes_add(&compiled.places, &place, sizeof place);
		for (jint k = info->numstackframes - 1; k >= 0; k--) {
			const struct java_method *method = find_method(jvmti,
			    info->methods[k]);
			struct jitdump_frame frame = { NO_TEXT, NO_TEXT, 0 };

			if (method != NULL) {
				frame.function = method->function;
				frame.file = method->file;
				frame.line = find_line(method, info->bcis[k]);
			}
			agent_bytes_add(&compiled.places, &frame, sizeof frame);
		}
		head.n_places++;
		from = to;
	}
	if (head.n_places == 0 || compiled.places.has_failed ||
	    compiled.texts.has_failed)
		return;
	head.n_texts = (uint32_t)compiled.n_texts;
	begin = agent_record_begin(&compiled.records);
	agent_bytes_add(&compiled.records, &head, sizeof head);
	agent_bytes_add(&compiled.records, compiled.texts.at, compiled.texts.n);
	agent_bytes_add(&compiled.records, compiled.places.at, compiled.places.n);
	agent_record_end(&compiled.records, begin, JITDUMP_CALLS);
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
		agent_add_load(&compiled.records, compiled.texts.at, address,
		               (uint64_t)size);
	agent_write(&compiled.records);
	forget_methods(jvmti);
	pthread_mutex_unlock(&compiled.lock);
}

/* The interpreter, stubs, adapters. */
static void JNICALL
on_generated(jvmtiEnv *jvmti, const char *name, const void *address, jint size)
{
	struct agent_bytes records = { 0 };

	(void)jvmti;
	if (strcmp(name, "Interpreter") == 0)
		interpreted_start(address, (uint64_t)size);
	agent_add_load(&records, name, address, (uint64_t)size);
	agent_write(&records);
	free(records.at);
}

static void JNICALL
on_end(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti, (void)jni;
	interpreted_end();
}

/* ---- start ---- */

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
	if (!agent_open(options))
		return 0;
	interpreted_find_layout((const void *)(*jvmti)->GetMethodName);
	ask_for_events(jvmti);
	return 0;
}
