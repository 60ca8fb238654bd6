/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resource_kinds.h -- the resources that the collector knows. */
#ifndef CPPROF_SHELL_RECORD_RESOURCE_KINDS_H
#define CPPROF_SHELL_RECORD_RESOURCE_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct resource_kind {
	const char *name;
	const char *gtick;
	uint64_t interval, least;	/* default and smallest, in gticks */
	const char *summary;
};

/* In the order of lib/resources.def; ends with a NULL name. */
extern const struct resource_kind resource_kinds[];

/* The kind with that name; NULL with *error naming similar ones. */
const struct resource_kind *resource_kind_find(const char *name, size_t length,
                                               struct error *error);

/*
 * Reads an interval: a number of gticks, or a number with a unit, which for
 * time is us, ms or s, for memory B, K, M or G (powers of 1024), and otherwise
 * k, M or G (powers of 1000).  0, or -1 with *error set.
 */
int resource_kind_interval(const struct resource_kind *kind, const char *text,
                           uint64_t *interval, struct error *error);

/* Reads a number of bytes in the same way. */
int resource_kind_bytes(const char *text, uint64_t *bytes,
                        struct error *error);

#endif
