/* SPDX-License-Identifier: MIT */
/* dispatch-sites.h -- the number of system call sites that can have a stub. */
#ifndef CPPROF_DISPATCH_SITES_H
#define CPPROF_DISPATCH_SITES_H

/* A power of two.  The C library has some 600, used or not. */
#define DISPATCH_SITES 4096

#endif
