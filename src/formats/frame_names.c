/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_names.c -- numbers of frame names, as fast as text can be read. */
#include "src/formats/collapsed/collapsed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "src/base/memory.h"
#include "src/symbols/names/program.h"

enum { WORDS = 8, PIECE = WORDS * 8, FIRST_SLOTS_BITS = 12 };

/* 64 bytes of a name, NULs after its end. */
struct names_piece {
	uint64_t words[WORDS];
};

struct names_slot {
	const struct names_piece *pieces;	/* NULL: empty */
	uint32_t hash;
	uint32_t number;
};

struct frame_names {
	struct profile *profile;
	struct arena arena;		/* pieces */
	struct names_slot *slots; /* at most half of them in use */
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

/* 64 bytes of which the first n belong to a name: ones, then zeros. */
static inline const char *
mask_of(size_t n)
{
#define EIGHT -1, -1, -1, -1, -1, -1, -1, -1
	static const char masks[2 * PIECE] = {
		EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,
	};
#undef EIGHT

	return masks + PIECE - (n < PIECE ? n : PIECE);
}

static inline uint64_t
frame_names_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The digits of pi. */
static const uint64_t keys[WORDS] = {
	0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0,
	0x082efa98ec4e6c89, 0x452821e638d01377, 0xbe5466cf34e90c6c,
	0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917,
};

#ifdef __SSE2__
/* In registers, zeros after the name. */
struct names_loaded {
	__m128i parts[4];
};

static inline struct names_loaded
load_piece(const char *text, size_t n)
{
	const char *mask = mask_of(n);
	struct names_loaded piece;

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		piece.parts[i] = _mm_and_si128(
		    _mm_loadu_si128((const void *)(text + 16 * i)),
		    _mm_loadu_si128((const void *)(mask + 16 * i)));
	return piece;
}

/* As XXH3 accumulates: the product of each word's halves, and the word. */
static inline uint64_t
hash_piece(struct names_loaded piece, uint64_t seed)
{
	__m128i sum = _mm_setzero_si128();

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		__m128i part = piece.parts[i];
		__m128i keyed = _mm_xor_si128(part, _mm_loadu_si128(
		    (const void *)(keys + 2 * i)));
		__m128i swapped = _mm_shuffle_epi32(keyed, 0xb1);

		sum = _mm_add_epi64(sum, _mm_mul_epu32(keyed, swapped));
		sum = _mm_add_epi64(_mm_shuffle_epi32(sum, 0x4e), part);
	}
	return frame_names_fold((uint64_t)_mm_cvtsi128_si64(sum) ^ seed ^
	                            keys[1],
	                        (uint64_t)_mm_cvtsi128_si64(
				    _mm_unpackhi_epi64(sum, sum)) ^
	                            keys[0]);
}

static inline bool
piece_is(const struct names_piece *known, struct names_loaded piece)
{
	__m128i equal = _mm_set1_epi8(-1);

#pragma GCC unroll 4
	for (int i = 0; i < 4; i++)
		equal = _mm_and_si128(equal, _mm_cmpeq_epi8(piece.parts[i],
		    _mm_loadu_si128((const void *)(known->words + 2 * i))));
	return _mm_movemask_epi8(equal) == 0xffff;
}
#else
/* Words are masked as they are read. */
struct names_loaded {
	const char *text, *mask;
};

static inline struct names_loaded
load_piece(const char *text, size_t n)
{
	return (struct names_loaded){ text, mask_of(n) };
}

static inline uint64_t
word(struct names_loaded piece, int i)
{
	uint64_t bytes, mask;

	memcpy(&bytes, piece.text + 8 * i, sizeof bytes);
	memcpy(&mask, piece.mask + 8 * i, sizeof mask);
	return bytes & mask;
}

/* Multiply and fold, as wyhash does. */
static inline uint64_t
hash_piece(struct names_loaded piece, uint64_t seed)
{
	uint64_t sum = seed;

	for (int i = 0; i < WORDS; i += 2)
		sum = (sum ^
		       frame_names_fold(word(piece, i) ^ keys[i],
		                        word(piece, i + 1) ^ keys[i + 1])) *
		    0x9e3779b97f4a7c15;
	return sum;
}

static inline bool
piece_is(const struct names_piece *known, struct names_loaded piece)
{
	uint64_t differ = 0;

	for (int i = 0; i < WORDS; i++)
		differ |= known->words[i] ^ word(piece, i);
	return differ == 0;
}
#endif

static uint64_t
hash_rest(const char *text, size_t length, uint64_t hash)
{
	while (length > PIECE) {
		text += PIECE;
		length -= PIECE;
		hash = hash_piece(load_piece(text, length), hash);
	}
	return hash;
}

/* Whether the pieces after the first are those of text, too. */
static bool
rest_is(const struct names_piece *known, const char *text, size_t length)
{
	while (length > PIECE) {
		text += PIECE;
		length -= PIECE;
		if (!piece_is(++known, load_piece(text, length)))
			return false;
	}
	/* A longer name would go on in a full piece's successor. */
	return length < PIECE || known[1].words[0] == 0;
}

static int
frame_names_grow_slots(struct frame_names *frames, struct error *error)
{
	unsigned bits = frames->slots_bits + 1;
	size_t n_old = (size_t)1 << frames->slots_bits;
	size_t mask = ((size_t)1 << bits) - 1;
	struct names_slot *slots = memory_array(mask + 1, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (size_t old = 0; old < n_old; old++) {
		const struct names_slot *slot = &frames->slots[old];
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
static const struct names_piece *
copy_pieces(struct frame_names *frames, const char *text, size_t length,
            struct error *error)
{
	size_t size = (length / PIECE + 1) * PIECE;
	struct names_piece *pieces = arena_alloc(&frames->arena, size, error);

	if (pieces != NULL)
		memcpy(pieces, text, length);
	return pieces;
}

static uint32_t
frame_names_enter_name(struct frame_names *frames, struct names_slot *slot,
                       const char *text, size_t length, uint32_t hash,
                       struct error *error)
{
	struct profile *profile = frames->profile;
	const struct names_piece *pieces = copy_pieces(frames, text, length,
	                                               error);
	uint32_t number;

	if (pieces == NULL)
		return NO_NAME;
	number = length > 0 ?
	    demangle_and_add(profile->names, text, length, error) :
	    names_add(profile->names, "[unknown]", 9, error);
	if (number == NO_NAME)
		return NO_NAME;
	/* Else several texts are one name, which has its frame. */
	if (number == profile->n_frames &&
	    profile_add_named_frame(profile, number, error) == UINT32_MAX)
		return NO_NAME;
	*slot = (struct names_slot){ pieces, hash, number };
	frames->n_names++;
	if (frames->n_names > (size_t)1 << (frames->slots_bits - 1) &&
	    frame_names_grow_slots(frames, error) != 0)
		return NO_NAME;
	return number;
}

static inline uint32_t
frame_names_add_name(struct frame_names *frames, const char *text,
                     size_t length, struct error *error)
{
	struct names_loaded first = load_piece(text, length);
	uint64_t hash64 = hash_piece(first, length);
	size_t mask = ((size_t)1 << frames->slots_bits) - 1;
	uint32_t hash;

	if (length > PIECE)
		hash64 = hash_rest(text, length, hash64);
	hash = (uint32_t)(hash64 >> 32);
	for (size_t i = (size_t)(hash64 >> (64 - frames->slots_bits));;
	     i = (i + 1) & mask) {
		struct names_slot *slot = &frames->slots[i];

		if (slot->pieces == NULL)
			return frame_names_enter_name(frames, slot, text,
			                              length, hash, error);
		if (slot->hash == hash && piece_is(slot->pieces, first) &&
		    (length < PIECE || rest_is(slot->pieces, text, length)))
			return slot->number;
	}
}

int
frame_names_add(struct frame_names *frames, const char *line, size_t begin,
                const uint32_t *next, size_t n, uint32_t *numbers,
                struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		numbers[i] = frame_names_add_name(frames, line + begin,
		                                  next[i] - 1 - begin, error);
		if (numbers[i] == NO_NAME)
			return -1;
		begin = next[i];
	}
	return 0;
}
