/* SPDX-License-Identifier: GPL-3.0-or-later */
/* md5.h -- the MD5 digest of bytes (RFC 1321), by which DWARF 5 names sources.
 *
 * It tells whether a source file is the one that was compiled.  It is no
 * protection: whoever wants to can make another file with the same digest.
 */
#ifndef CPPROF_BASE_MD5_H
#define CPPROF_BASE_MD5_H

#include <stddef.h>

enum { MD5_SIZE = 16 };

/* Writes the digest of bytes[size]; any size, no allocation.  O(size). */
void md5_of(const void *bytes, size_t size, unsigned char digest[MD5_SIZE]);

#endif
