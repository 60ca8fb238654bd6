/* SPDX-License-Identifier: MIT */
/* copying.c -- private memcpy, memcmp, strlen and strcmp.
 *
 * A thread sanitizer intercepts the C library's functions, and would report
 * what a sample writes as data races of the program.  And a page of the C
 * library costs a short process more than these loops.  Compiled so that the
 * compiler does not turn the loops into calls of themselves.
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
