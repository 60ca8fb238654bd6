# SPDX-License-Identifier: GPL-3.0-or-later
# bench/local.mk -- what the figures in doc/performance.md are measured with.

noinst_PROGRAMS += bench/generate
bench_generate_SOURCES = bench/generate.c
bench_generate_CFLAGS = $(AM_CFLAGS)
bench_generate_LDADD = -lm

noinst_PROGRAMS += bench/bench-views
bench_bench_views_SOURCES = bench/bench-views.c
bench_bench_views_CFLAGS = $(AM_CFLAGS) $(SANITIZER_CFLAGS)
bench_bench_views_LDADD = $(core_libs)
