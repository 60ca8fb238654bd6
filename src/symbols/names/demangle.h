/* SPDX-License-Identifier: GPL-3.0-or-later */
/* demangle.h -- symbols as their programmers wrote them. */
#ifndef CPPROF_SYMBOLS_NAMES_DEMANGLE_H
#define CPPROF_SYMBOLS_NAMES_DEMANGLE_H

#include <stddef.h>

#include "src/base/error.h"
#include "src/base/names.h"

/*
 * The readable form of a C++, Rust or D symbol with its parameters.  Any other
 * name, and one beyond the limits below, is returned as it is.  The caller
 * frees it; NULL with *error set for want of memory.
 *
 * ".cold" is dropped: compilers append it to the name of a function for its
 * unlikely part, if they placed that elsewhere.  Control jumps there and back,
 * so it is the same activation of the same function.  Other clones
 * (.constprop.0, .part.1) are called and keep their suffix.  A version
 * ("memcpy@@GLIBC_2.14") is dropped.
 *
 * Names are untrusted.  A few bytes can stand for gigabytes of text, since each
 * substitution may double it.  So a name longer than MANGLED_MAX bytes, or
 * whose text is longer than DEMANGLED_MAX bytes, is not demangled; a name
 * longer than DEMANGLED_MAX is cut there and ends in "...".
 */
enum { MANGLED_MAX = 8192, DEMANGLED_MAX = 65536 };

char *demangle(const char *symbol, struct error *error);

/*
 * Adds text[length] to the names; demangled if it begins like a mangled name,
 * or if it is a Rust name that a C++ demangler left half readable, such as
 * "_$LT$T$GT$::f::h0123456789abcdef".  NO_NAME with *error set for want of
 * memory.
 */
uint32_t demangle_and_add(struct names *names, const char *text,
                          size_t length, struct error *error);

#endif
