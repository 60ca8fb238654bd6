/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_probe.h -- which JSON it is, by the keys that it has. */
#ifndef CPPROF_FORMATS_JSON_JSON_PROBE_H
#define CPPROF_FORMATS_JSON_JSON_PROBE_H

#include <stddef.h>

/*
 * Whether the first bytes of an input (see struct format) are JSON with one of
 * these keys: PROBE_SURE or PROBE_NO.  paths ends with NULL; each is the keys
 * down to it, of at most four levels: "meta.interval", and for objects in
 * arrays "profiles[].type".
 */
int json_probe(const void *head, size_t size, const char *const *paths);

#endif
