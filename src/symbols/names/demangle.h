/* SPDX-License-Identifier: GPL-3.0-or-later */
/* demangle.h -- symbols as their programmers wrote them. */
#ifndef CPPROF_SYMBOLS_NAMES_DEMANGLE_H
#define CPPROF_SYMBOLS_NAMES_DEMANGLE_H

#include <stddef.h>

#include "src/base/error.h"
#include "src/base/names.h"

/*
 * The readable form of a C++, Rust or D symbol with its parameters; any other
 * name, and one that passes the limits below, as it stands.  The caller frees
 * it; NULL with *error set for want of memory.
 *
 * ".cold", with which compilers name the unlikely part of a function that they
 * laid elsewhere, is dropped: control jumps there and back, so that it is the
 * same activation of the same function.  Other clones (.constprop.0, .part.1)
 * keep their suffix: they are called.  A version ("memcpy@@GLIBC_2.14") goes.
 *
 * Names are untrusted.  A few bytes can stand for gigabytes of text (each
 * substitution may double), so text beyond DEMANGLED_MAX bytes is given up,
 * and names beyond MANGLED_MAX bytes are not tried; any name longer than
 * DEMANGLED_MAX is cut there and ends in "...".
 */
enum { MANGLED_MAX = 8192, DEMANGLED_MAX = 65536 };

char *demangle(const char *symbol, struct error *error);

/*
 * Adds to the names text[length], or where that begins as mangled ones do what
 * demangle makes of it; likewise where a demangler of C++ left one of Rust half
 * readable, "_$LT$T$GT$::f::h0123456789abcdef".  NO_NAME with *error set for
 * want of memory.
 */
uint32_t demangle_and_add(struct names *names, const char *text,
                          size_t length, struct error *error);

#endif
