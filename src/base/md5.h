/* SPDX-License-Identifier: GPL-3.0-or-later */
/* md5.h -- the MD5 digest of bytes (RFC 1321), which DWARF has of sources. */
#ifndef CPPROF_BASE_MD5_H
#define CPPROF_BASE_MD5_H

#include <stddef.h>

enum { MD5_SIZE = 16 };

void md5_of(const void *bytes, size_t size, unsigned char digest[MD5_SIZE]);

#endif
