/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_names.c -- numbers of frame names, as fast as text can be read. */
#include "src/formats/frame_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/arena.h"
#include "src/base/memory.h"

enum { WORDS = 8, PIECE = WORDS * 8, FIRST_SLOTS_BITS = 12 };

/* 64 bytes of a name, NULs behind its end. */
struct piece {
	uint64_t words[WORDS];
};

struct slot {
	const struct piece *pieces;	/* NULL: empty */
	uint32_t hash;
	uint32_t number;
};

struct frame_names {
	struct profile *profile;
	struct arena arena;		/* pieces */
	struct slot *slots;		/* at most half of them in use */
	unsigned slots_bits;
	uint32_t n_names;
};

struct frame_names *
frame_names_new(struct profile *profile, struct error *error)
{
	struct frame_names *frames = memory_array(1, sizeof *frames, error);

	if (frames == NULL)
		return NULL;
	frames->profile = profile;
	frames->slots_bits = FIRST_SLOTS_BITS;
	frames->slots = memory_array((size_t)1 << FIRST_SLOTS_BITS,
	                             sizeof *frames->slots, error);
	if (frames->slots == NULL) {
		free(frames);
		return NULL;
	}
	return frames;
}

void
frame_names_free(struct frame_names *frames)
{
	if (frames == NULL)
		return;
	arena_free(&frames->arena);
	free(frames->slots);
	free(frames);
}

/* The first n <= 64 bytes of text, which has 64 that can be read. */
static inline struct piece
load_piece(const char *text, size_t n)
{
	static const unsigned char masks[2 * PIECE] = {
#define EIGHT 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
		EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
#undef EIGHT
	};
	struct piece piece, mask;

	memcpy(&piece, text, sizeof piece);
	memcpy(&mask, masks + PIECE - n, sizeof mask);
	for (int i = 0; i < WORDS; i++)
		piece.words[i] &= mask.words[i];
	return piece;
}

static inline uint64_t
fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Multiply and fold, as wyhash does; the numbers are pi's digits. */
static inline uint64_t
hash_piece(const struct piece *piece, uint64_t seed)
{
	const uint64_t *w = piece->words;

	seed ^= fold(w[0] ^ 0x243f6a8885a308d3, w[1] ^ 0x13198a2e03707344);
	seed += fold(w[2] ^ 0xa4093822299f31d0, w[3] ^ 0x082efa98ec4e6c89);
	seed ^= fold(w[4] ^ 0x452821e638d01377, w[5] ^ 0xbe5466cf34e90c6c);
	seed += fold(w[6] ^ 0xc0ac29b7c97c50dd, w[7] ^ 0x3f84d5b5b5470917);
	return seed * 0x9e3779b97f4a7c15;
}

static inline bool
pieces_equal(const struct piece *a, const struct piece *b)
{
	uint64_t difference = 0;

	for (int i = 0; i < WORDS; i++)
		difference |= a->words[i] ^ b->words[i];
	return difference == 0;
}

static uint64_t
hash_rest(const char *text, size_t length, uint64_t hash)
{
	while (length > PIECE) {
		struct piece piece;

		text += PIECE;
		length -= PIECE;
		piece = load_piece(text, length < PIECE ? length : PIECE);
		hash = hash_piece(&piece, hash);
	}
	return hash;
}

/* Whether the pieces behind the first are those of text, too. */
static bool
rest_equal(const struct piece *pieces, const char *text, size_t length)
{
	while (length > PIECE) {
		struct piece piece;

		text += PIECE;
		length -= PIECE;
		piece = load_piece(text, length < PIECE ? length : PIECE);
		if (!pieces_equal(++pieces, &piece))
			return false;
	}
	/* A longer name would go on in a full piece's successor. */
	return length < PIECE || pieces[1].words[0] == 0;
}

static int
grow_slots(struct frame_names *frames, struct error *error)
{
	unsigned bits = frames->slots_bits + 1;
	size_t n_old = (size_t)1 << frames->slots_bits;
	size_t mask = ((size_t)1 << bits) - 1;
	struct slot *slots = memory_array(mask + 1, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (size_t old = 0; old < n_old; old++) {
		const struct slot *slot = &frames->slots[old];
		size_t i = (size_t)((uint64_t)slot->hash << bits >> 32);

		if (slot->pieces == NULL)
			continue;
		while (slots[i].pieces != NULL)
			i = (i + 1) & mask;
		slots[i] = *slot;
	}
	free(frames->slots);
	frames->slots = slots;
	frames->slots_bits = bits;
	return 0;
}

/* The name as pieces, the last of which ends with a NUL. */
static const struct piece *
copy_pieces(struct frame_names *frames, const char *text, size_t length,
            struct error *error)
{
	size_t size = (length / PIECE + 1) * PIECE;
	struct piece *pieces = arena_alloc(&frames->arena, size, error);

	if (pieces != NULL)
		memcpy(pieces, text, length);
	return pieces;
}

static uint32_t
enter_name(struct frame_names *frames, struct slot *slot, const char *text,
           size_t length, uint32_t hash, struct error *error)
{
	struct profile *profile = frames->profile;
	const struct piece *pieces = copy_pieces(frames, text, length, error);
	uint32_t number;

	if (pieces == NULL)
		return NO_NAME;
	number = names_add(profile->names, text, length, error);
	if (number == NO_NAME ||
	    profile_add_named_frame(profile, number, error) == UINT32_MAX)
		return NO_NAME;
	*slot = (struct slot){ pieces, hash, number };
	frames->n_names++;
	if (frames->n_names > (size_t)1 << (frames->slots_bits - 1) &&
	    grow_slots(frames, error) != 0)
		return NO_NAME;
	return number;
}

uint32_t
frame_names_add(struct frame_names *frames, const char *text, size_t length,
                struct error *error)
{
	struct piece piece = load_piece(text, length < PIECE ? length : PIECE);
	uint64_t hash64 = hash_rest(text, length, hash_piece(&piece, length));
	uint32_t hash = (uint32_t)(hash64 >> 32);
	size_t mask = ((size_t)1 << frames->slots_bits) - 1;
	size_t i = (size_t)(hash64 >> (64 - frames->slots_bits));

	for (;; i = (i + 1) & mask) {
		struct slot *slot = &frames->slots[i];

		if (slot->pieces == NULL)
			return enter_name(frames, slot, text, length, hash,
			                  error);
		if (slot->hash == hash &&
		    pieces_equal(slot->pieces, &piece) &&
		    (length < PIECE ||
		     rest_equal(slot->pieces, text, length)))
			return slot->number;
	}
}
