/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forks.c -- where sorted texts part. */
#include "src/base/short_name.h"

void
forks_link(const uint32_t *fork, uint32_t *left, uint32_t *right, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t k = i - 1;

		while (k > 0 && fork[k] >= fork[i])
			k = left[k];
		left[i] = (uint32_t)k;
	}
	for (size_t i = n; i-- > 1;) {
		size_t k = i + 1;

		while (k < n && fork[k] >= fork[i])
			k = right[k];
		right[i] = (uint32_t)k;
	}
}
