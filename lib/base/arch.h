/* SPDX-License-Identifier: MIT */
/* arch.h -- what the collector must know about the machine.
 *
 * A machine gives the names below; registers are numbered as its DWARF does.
 *   ARCH_N_REGISTERS, ARCH_STACK, ARCH_FRAME, ARCH_RETURN  register numbers
 *   ARCH_PRESERVED       set of registers that calls preserve
 *   ARCH_ELF_MACHINE     e_machine
 *   ARCH_AUDIT           how system call filters name the machine
 *   ARCH_CALL_SIZE       bytes of the instruction that makes a system call
 *   ARCH_STUB_SIZE       bytes of a stub of lib/dispatch-*.S
 *   ARCH_RETURN_SIZE     bytes of code that ends a signal handler
 *   ARCH_LEAVING_SIZE    bytes of code in which most functions leave their frame
 *   struct compact_rule  how most frames are left, in 64 bits
 *   arch_here(context)   fills in a ucontext_t's registers as a signal at this
 *                        point would find them; only those that calls
 *                        preserve, the others are 0.  Async-signal-safe.
 *   arch_system_call(number, a, b, c, d)  makes one here, not in the C library;
 *                        its result, or -errno; arch_system_call_6(number, a,
 *                        b, c, d, e, f) likewise
 *   arch_pc(context)     where a ucontext_t goes on, to be changed
 *   arch_call_number(context), arch_call_argument(context, i),
 *   arch_call_result(context)  a system call that was stopped on its way: what
 *                        it is, what it gets, i < 6, and what it gives
 *   arch_call_frame(context)  the context that a stopped rt_sigreturn returns to
 *   arch_has_shadow_stack()  whether return addresses must not be changed
 * and the functions declared at the end.
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

/* Registers at a signal, from the ucontext_t.  Async-signal-safe. */
void arch_registers(const void *context, struct cfi_registers *registers);

/*
 * The compact form of a row at an address, or one of kind COMPACT_GENERIC if
 * it has none.  Async-signal-safe.
 */
struct compact_rule arch_compact(const struct cfi_row *row, uint64_t address);

/*
 * Whether the bytes before a return address are a call.  The 8 bytes before
 * it must be readable.  Async-signal-safe.
 */
bool arch_follows_call(const unsigned char *return_address);

/* Where that call leads, if it says so itself; 0: it does not. */
uint64_t arch_call_target(const unsigned char *return_address);

/*
 * Whether code does nothing more before it returns than to leave its frame, in
 * up to `size` bytes that must be readable: *cfa is how far above the stack
 * pointer the caller's is, and *saved_at where the frame pointer is taken from,
 * counted from there, too, or -1 if it stays.
 */
bool arch_is_left(const unsigned char *code, size_t size, uint64_t *cfa,
    int64_t *saved_at);

/*
 * Whether the ARCH_RETURN_SIZE bytes at an address, which must be readable,
 * are where a signal handler returns to.  Then the context is at the stack
 * pointer after that return.
 */
bool arch_is_signal_return(const unsigned char *code);

/*
 * The context that a handler has been called with, if it has not begun yet:
 * another signal came with its own, and found it at its first instruction.  0:
 * it is not so.
 */
uint64_t arch_context_below(const struct cfi_registers *registers);

#endif
