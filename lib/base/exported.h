/* SPDX-License-Identifier: MIT */
/* exported.h -- what programs see of the library: all else is hidden. */
#ifndef CPPROF_EXPORTED_H
#define CPPROF_EXPORTED_H

#define EXPORTED __attribute__((visibility("default")))

#endif
