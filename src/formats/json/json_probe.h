/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_probe.h -- recognises JSON formats by their keys. */
#ifndef CPPROF_FORMATS_JSON_JSON_PROBE_H
#define CPPROF_FORMATS_JSON_JSON_PROBE_H

#include <stddef.h>

/*
 * PROBE_SURE if the first bytes of an input (see struct format) are JSON and
 * hold one of the keys, else PROBE_NO or PROBE_OUT_OF_MEMORY.  paths ends with
 * NULL.  A path names a key by the keys above it, at most four levels:
 * "meta.interval", and for objects in arrays "profiles[].type".
 */
int json_probe(const void *head, size_t size, const char *const *paths);

#endif
