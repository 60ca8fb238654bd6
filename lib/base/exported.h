/* SPDX-License-Identifier: MIT */
/* exported.h -- marks the functions that programs see; all others are hidden.
 */
#ifndef CPPROF_EXPORTED_H
#define CPPROF_EXPORTED_H

#define EXPORTED __attribute__((visibility("default")))

#endif
