/* SPDX-License-Identifier: MIT */
/* arch.h -- what the collector must know about the machine.
 *
 * A machine's header defines the names below.  Registers have their DWARF
 * numbers.
 *
 *   ARCH_N_REGISTERS, ARCH_STACK, ARCH_FRAME, ARCH_RETURN  register numbers
 *   ARCH_PRESERVED       set of registers that calls preserve
 *   ARCH_PERF_REGISTERS  set of stack pointer and pc, in that order, as perf
 *                        numbers registers
 *   ARCH_ELF_MACHINE     e_machine
 *   ARCH_AUDIT           the machine's name in system call filters
 *   ARCH_CALL_SIZE       bytes of a system call instruction
 *   ARCH_STUB_SIZE       bytes of a stub of lib/sources/dispatch-*.S
 *   ARCH_CALLING_SIZE    bytes before a return address that show its call
 *   ARCH_RETURN_SIZE     bytes of code that ends a signal handler, at most
 *   ARCH_JUMP_SIZE       bytes of a stub that jumps, at most
 *   ARCH_LEAVING_SIZE    bytes in which most functions leave their frame
 *   arch_here(context)   fills in the registers of a ucontext_t as a signal at
 *                        this point would find them, but only those that calls
 *                        preserve; the others are 0
 *   arch_system_call(number, a, b, c, d), arch_system_call_6(number, a, ..., f)
 *                        a system call that bypasses the C library; returns the
 *                        result or -errno
 *   arch_pc(context)     the pc of a ucontext_t, which can be assigned
 *   arch_stack(context)  its stack pointer
 *   arch_call_number(context), arch_call_argument(context, i),
 *   arch_call_result(context)  number, arguments (i < 6) and result of a system
 *                        call that was stopped
 *   arch_repeats_call(context)  whether a system call was interrupted and is to
 *                        be made again; its number and arguments are there
 *   arch_call_frame(context)  the context that a stopped rt_sigreturn restores
 *   arch_has_shadow_stack()  whether return addresses must not be changed
 *
 * All of these and all functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_ARCH_H
#define CPPROF_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/step.h"

#if defined(__x86_64__) && defined(__LP64__)
#include "lib/base/arch-inline-x86_64.h"
#else
#error "the collector does not know this machine yet"
#endif

/* Registers at a signal, from the ucontext_t. */
void arch_registers(const void *context, struct cfi_registers *registers);

/*
 * Where the function of a context that makecontext has made returns to.
 */
uint64_t arch_context_return(const void *context);

/*
 * Whether a call instruction ends right before a return address, as far as the
 * `size` bytes before it show, which must be readable.  Calls are of different
 * lengths, so that a short one can be recognised at the start of a mapping.
 * More than ARCH_CALLING_SIZE bytes are not looked at.
 */
bool arch_follows_call(const unsigned char *return_address, size_t size);

/*
 * The target of that call; 0 if the instruction does not contain it, or lies
 * not in these bytes.
 */
uint64_t arch_call_target(const unsigned char *return_address, size_t size);

/*
 * Whether the code only jumps to an address in memory, as the stubs do by which
 * other modules are called.  `size` bytes are readable.
 */
bool arch_jumps_through_memory(const unsigned char *code, size_t size);

/*
 * Whether the code only leaves its frame and returns, within `size` bytes,
 * which must be readable.  *cfa becomes the distance from the stack pointer up
 * to the caller's; *saved_at that to the saved frame pointer, or -1 if it is
 * not saved.
 */
bool arch_is_left(const unsigned char *code, size_t size, uint64_t *cfa,
    int64_t *saved_at);

/*
 * Whether a signal handler returns to the code at an address, of which `size`
 * bytes are readable.  If so, the context is at the stack pointer after that
 * return.  More than ARCH_RETURN_SIZE bytes are not looked at.
 */
bool arch_is_signal_return(const unsigned char *code, size_t size);

/*
 * The context that a handler was called with, if the handler has not executed
 * an instruction yet because another signal came.  0 otherwise.
 */
uint64_t arch_context_below(const struct cfi_registers *registers);

#endif
