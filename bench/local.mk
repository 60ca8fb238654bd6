# SPDX-License-Identifier: GPL-3.0-or-later
# bench/local.mk -- what the figures in doc/performance.md are measured with.

noinst_PROGRAMS += bench/generate
bench_generate_SOURCES = bench/generate.c
bench_generate_CFLAGS = $(AM_CFLAGS)
bench_generate_LDADD = -lm
