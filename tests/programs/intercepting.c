/* SPDX-License-Identifier: GPL-3.0-or-later */
/* intercepting.c -- a preloaded library that stands before the C library, as a
 * thread sanitizer does, and says which functions a signal handler calls.
 *
 * INTERCEPTED names a file of lines "FUNCTION(name)".  Each is passed on to the
 * next object that has the name.  A call by the object whose name has
 * $INTERCEPTED_OBJECT in it, from a stack with a signal's frame, is said once on
 * standard error: "handler calls NAME at OFFSET", of the object's code.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#define HIDDEN __attribute__((visibility("hidden")))

struct function {
	const char *name;
	void *next;
	int is_said;
};

void __tsan_init(void);
void *find_next(struct function *function, char *from);

static const char *object;
static __thread int is_inside __attribute__((tls_model("initial-exec")));

/* What the collector knows a thread sanitizer by. */
void
__tsan_init(void)
{
}

__attribute__((constructor)) static void
begin(void)
{
	object = getenv("INTERCEPTED_OBJECT");
}

static _Unwind_Reason_Code
is_signal_frame(struct _Unwind_Context *frame, void *found)
{
	int is_interrupted = 0;

	_Unwind_GetIPInfo(frame, &is_interrupted);
	if (is_interrupted)
		*(int *)found = 1;
	return is_interrupted ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void
say_if_in_handler(struct function *function, char *from)
{
	int is_in_handler = 0, length;
	char text[200];
	Dl_info caller;

	if (object == NULL || dladdr(from, &caller) == 0 ||
	    strstr(caller.dli_fname, object) == NULL)
		return;
	_Unwind_Backtrace(is_signal_frame, &is_in_handler);
	if (!is_in_handler ||
	    __atomic_exchange_n(&function->is_said, 1, __ATOMIC_RELAXED) != 0)
		return;
	length = snprintf(text, sizeof text, "handler calls %s at %#lx\n",
	    function->name, (unsigned long)(from - (char *)caller.dli_fbase));
	syscall(SYS_write, STDERR_FILENO, text, length);
}

HIDDEN void *
find_next(struct function *function, char *from)
{
	if (function->next == NULL)
		function->next = dlsym(RTLD_NEXT, function->name);
	if (!is_inside) {
		is_inside = 1;
		say_if_in_handler(function, from);
		is_inside = 0;
	}
	return function->next;
}

/* Keeps all registers that can hold arguments; vectors are not touched, see
 * the compiler's options. */
#define PUSH(register) "push %" register "\n.cfi_adjust_cfa_offset 8\n"
#define POP(register) "pop %" register "\n.cfi_adjust_cfa_offset -8\n"
#define FUNCTION(name)                                                        \
	HIDDEN struct function function_##name = { #name, NULL, 0 };          \
	__asm__ (".text\n.globl " #name "\n.type " #name ", @function\n"      \
	    #name ":\n.cfi_startproc\n"                                       \
	    PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8")        \
	    PUSH("r9") PUSH("rax")                                            \
	    "lea function_" #name "(%rip), %rdi\nmov 56(%rsp), %rsi\n"        \
	    "call find_next\nmov %rax, %r11\n"                                \
	    POP("rax") POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi")   \
	    POP("rdi")                                                        \
	    "jmp *%r11\n.cfi_endproc\n.size " #name ", . - " #name "\n");
#include INTERCEPTED
