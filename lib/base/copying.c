/* SPDX-License-Identifier: MIT */
/* copying.c -- private versions of the C library's functions for memory, strings
 * and sets of signals that samples use.
 *
 * A thread sanitizer intercepts the C library's, would report what a sample
 * writes as data races of the program, and takes locks that the interrupted
 * thread may hold: one call of it in a handler can stop the program for ever.
 * And a page of the C library costs a short process more than these loops.
 * Compiled so that the compiler does not turn the loops into calls of themselves.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OURS __attribute__((visibility("hidden")))

OURS void *
memcpy(void *restrict to, const void *restrict from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t)) {
		__builtin_memcpy(t, f, sizeof(uint64_t));
		t += sizeof(uint64_t);
		f += sizeof(uint64_t);
	}
	while (n-- > 0)
		*t++ = *f++;
	return to;
}

OURS void *
memset(void *to, int byte, size_t n)
{
	const uint64_t word = (unsigned char)byte * UINT64_C(0x0101010101010101);
	unsigned char *t = to;

	for (; n >= sizeof word; n -= sizeof word, t += sizeof word)
		__builtin_memcpy(t, &word, sizeof word);
	while (n-- > 0)
		*t++ = (unsigned char)byte;
	return to;
}

OURS int
memcmp(const void *left, const void *right, size_t n)
{
	const unsigned char *l = left, *r = right;

	for (; n > 0; n--, l++, r++)
		if (*l != *r)
			return *l < *r ? -1 : 1;
	return 0;
}

OURS size_t
strlen(const char *text)
{
	const char *end = text;

	while (*end != '\0')
		end++;
	return (size_t)(end - text);
}

OURS int
strcmp(const char *left, const char *right)
{
	while (*left != '\0' && *left == *right)
		left++, right++;
	return (int)(unsigned char)*left - (int)(unsigned char)*right;
}

OURS void *
memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= n)
		return memcpy(to, from, n);
	while (n-- > 0)
		t[n] = f[n];
	return to;
}

OURS void *
memchr(const void *memory, int byte, size_t n)
{
	const unsigned char *at = memory;

	for (; n > 0; n--, at++)
		if (*at == (unsigned char)byte)
			return (void *)(uintptr_t)at;
	return NULL;
}

OURS size_t
strnlen(const char *text, size_t most)
{
	size_t n = 0;

	while (n < most && text[n] != '\0')
		n++;
	return n;
}

OURS int
strncmp(const char *left, const char *right, size_t n)
{
	for (; n > 0; n--, left++, right++)
		if (*left != *right || *left == '\0')
			return (int)(unsigned char)*left -
			    (int)(unsigned char)*right;
	return 0;
}

OURS char *
strrchr(const char *text, int byte)
{
	const char *found = NULL;

	do {
		if (*text == (char)byte)
			found = text;
	} while (*text++ != '\0');
	return (char *)(uintptr_t)found;
}

OURS char *
strstr(const char *text, const char *part)
{
	const size_t n = strlen(part);

	for (;; text++) {
		if (strncmp(text, part, n) == 0)
			return (char *)(uintptr_t)text;
		if (*text == '\0')
			return NULL;
	}
}

/* The compiler makes a strcpy of a stpcpy, so neither calls the other. */
static char *
copy_text(char *to, const char *from)
{
	while ((*to = *from++) != '\0')
		to++;
	return to;
}

static char *
copy_padded(char *to, const char *from, size_t n)
{
	const size_t length = strnlen(from, n);
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = i < length ? from[i] : '\0';
	return to + length;
}

OURS char *
stpcpy(char *restrict to, const char *restrict from)
{
	return copy_text(to, from);
}

OURS char *
strcpy(char *restrict to, const char *restrict from)
{
	copy_text(to, from);
	return to;
}

OURS char *
stpncpy(char *restrict to, const char *restrict from, size_t n)
{
	return copy_padded(to, from, n);
}

OURS char *
strncpy(char *restrict to, const char *restrict from, size_t n)
{
	copy_padded(to, from, n);
	return to;
}

enum { SET_WORD = 8 * (int)sizeof(unsigned long) };

static unsigned long *
set_word(const sigset_t *set, int number)
{
	return (unsigned long *)(uintptr_t)set + (number - 1) / SET_WORD;
}

static unsigned long
set_bit(int number)
{
	return 1UL << (number - 1) % SET_WORD;
}

OURS int
sigemptyset(sigset_t *set)
{
	memset(set, 0, sizeof *set);
	return 0;
}

OURS int
sigaddset(sigset_t *set, int number)
{
	*set_word(set, number) |= set_bit(number);
	return 0;
}

OURS int
sigdelset(sigset_t *set, int number)
{
	*set_word(set, number) &= ~set_bit(number);
	return 0;
}

OURS int
sigismember(const sigset_t *set, int number)
{
	return (*set_word(set, number) & set_bit(number)) != 0;
}
