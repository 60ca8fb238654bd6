/* SPDX-License-Identifier: MIT */
/* dispatch-sites.h -- how many sites of system calls there can be. */
#ifndef CPPROF_DISPATCH_SITES_H
#define CPPROF_DISPATCH_SITES_H

/* A power of two; the C library has some 600, used or not. */
#define DISPATCH_SITES 4096

#endif
