/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest_index.h -- finds the number of some bytes by their hash alone.
 *
 * Nothing is compared, so a search is one cache miss.  That two texts have one
 * hash of 96 bits does not happen by chance; each process has its own seed, so
 * that no input can be made for it either.
 */
#ifndef CPPROF_PROFILE_DIGEST_INDEX_H
#define CPPROF_PROFILE_DIGEST_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "src/base/error.h"

struct digest_index;

/* NULL with *error set. */
struct digest_index *digest_index_new(struct error *error);
void digest_index_free(struct digest_index *index);

/* Forgets all numbers.  Takes no longer than entering those would have. */
void digest_index_clear(struct digest_index *index);

/* The hash of bytes[n], whose place is brought into the cache. */
XXH128_hash_t digest_index_hash(const struct digest_index *index,
                                const void *bytes, size_t n);

/* The number of the bytes with that hash, or UINT32_MAX. */
uint32_t digest_index_find(const struct digest_index *index,
                           const XXH128_hash_t *hash);

/* Sets it, below UINT32_MAX; 0, or -1 with *error set for want of memory. */
int digest_index_enter(struct digest_index *index, const XXH128_hash_t *hash,
                       uint32_t number, struct error *error);

#endif
