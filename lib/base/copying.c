/* SPDX-License-Identifier: MIT */
/* copying.c -- private versions of the C library's functions for memory and
 * strings that samples use.
 *
 * A thread sanitizer intercepts the C library's, would report what a sample
 * writes as data races of the program, and takes locks that the interrupted
 * thread may hold.  And a page of the C library costs a short process more than
 * these loops.  Compiled so that the compiler does not turn the loops into calls
 * of themselves.
 */
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
