# SPDX-License-Identifier: GPL-3.0-or-later
# bench/local.mk -- the benchmarks behind doc/performance.md and doc/measurements/.

noinst_PROGRAMS += bench/generate
bench_generate_SOURCES = bench/generate.c bench/random.h
bench_generate_CFLAGS = $(AM_CFLAGS)
bench_generate_LDADD = -lm

noinst_PROGRAMS += bench/make-members
bench_make_members_SOURCES = bench/make-members.c bench/random.h
bench_make_members_CFLAGS = $(AM_CFLAGS)
bench_make_members_LDADD = $(ZLIB_LIBS) -lm

noinst_PROGRAMS += bench/bench-views
bench_bench_views_SOURCES = bench/bench-views.c bench/walks.c bench/walks.h
bench_bench_views_CFLAGS = $(AM_CFLAGS) $(SANITIZER_CFLAGS)
bench_bench_views_LDADD = $(core_libs)

noinst_PROGRAMS += bench/bench-steps
bench_bench_steps_SOURCES = bench/bench-steps.c bench/walks.c bench/walks.h
bench_bench_steps_CFLAGS = $(AM_CFLAGS) $(SANITIZER_CFLAGS)
bench_bench_steps_LDADD = $(core_libs)

noinst_PROGRAMS += bench/scan
bench_scan_SOURCES = bench/scan.c
bench_scan_CFLAGS = $(AM_CFLAGS)

noinst_PROGRAMS += bench/scan-pprof
bench_scan_pprof_SOURCES = bench/scan-pprof.c
bench_scan_pprof_CFLAGS = $(AM_CFLAGS)
bench_scan_pprof_LDADD = $(ZLIB_LIBS)

noinst_PROGRAMS += bench/bench-load
bench_bench_load_SOURCES = bench/bench-load.c
bench_bench_load_CFLAGS = $(AM_CFLAGS) $(SANITIZER_CFLAGS)
bench_bench_load_LDADD = $(core_libs)

# Loads and views; bench/run.sh says what BENCH_DIR and the like are for.
EXTRA_DIST += bench/run.sh bench/pprof.sh bench/merge.sh bench/parquet.sh bench/measure.sh \
	bench/make-source.awk
bench: all
	bash $(srcdir)/bench/run.sh bench
	CPPROF=./cpprof bash $(srcdir)/bench/pprof.sh bench
	CPPROF=./cpprof BENCH_FILES=100 bash $(srcdir)/bench/merge.sh bench
	bench/bench-views
	bench/bench-steps
.PHONY: bench

# Merging 1,000 profiles of 1 to 5 MB; bench/merge.sh has its options.
bench-merge: all
	CPPROF=./cpprof bash $(srcdir)/bench/merge.sh bench
.PHONY: bench-merge

# Tables of profiles, and DuckDB's answers; bench/parquet.sh has its options.
bench-parquet: all
	CPPROF=./cpprof bash $(srcdir)/bench/parquet.sh bench
.PHONY: bench-parquet

# What the collector and its peers cost: `make bench-collector`, or with
# ROUNDS=20, or with SHORT=--short.
EXTRA_DIST += bench/collector.py bench/log.py bench/profilers.py \
	bench/workloads.py \
	bench/programs/allocate.c \
	bench/programs/calls.c bench/programs/deep.c bench/programs/sort.cc \
	bench/programs/pieces.c \
	bench/depths.py bench/programs/depths.c bench/programs/templates.cc \
	bench/outside.py bench/redis.py bench/slow-calls.py bench/own-clock.c \
	bench/blame-servers.py

bench-collector: all
	CPPROF='$(abs_builddir)/cpprof' $(PYTHON3) $(srcdir)/bench/collector.py \
		-n $${ROUNDS:-5} $${SHORT:-}
.PHONY: bench-collector

# Stacks from outside beside gdb's, kills of record -p, and what tasks of asyncio
# cost: see the scripts.
EXTRA_DIST += bench/gdb-stacks.py bench/outside-kills.py bench/attach.py \
	bench/tasks.py
EXTRA_PROGRAMS += bench/unwind-stopped
bench_unwind_stopped_SOURCES = bench/unwind-stopped.c
bench_unwind_stopped_LDADD = $(core_libs)

# Whether tests find the faults that they are there to find.
EXTRA_DIST += bench/sensitivity.py
sensitivity: all
	$(PYTHON3) $(srcdir)/bench/sensitivity.py -n $${ROUNDS:-5}
.PHONY: sensitivity

# What slices of time add to a sample.
EXTRA_DIST += bench/slices.py
bench-slices: all
	$(PYTHON3) $(srcdir)/bench/slices.py $${ROUNDS:-9}
.PHONY: bench-slices

# What following blocks of memory adds to malloc and free.
EXTRA_DIST += bench/heap.py bench/programs/pairs.c
bench-heap: all
	builddir='$(abs_builddir)' $(PYTHON3) $(srcdir)/bench/heap.py \
		$${ROUNDS:-30}
.PHONY: bench-heap

EXTRA_DIST += bench/latency.py bench/programs/crew.c
bench-latency: all
	builddir='$(abs_builddir)' $(PYTHON3) $(srcdir)/bench/latency.py \
		$${ROUNDS:-7}
.PHONY: bench-latency
# What blame adds to locks.
EXTRA_DIST += bench/locks.py bench/programs/locks.c
bench-locks: all
	builddir='$(abs_builddir)' $(PYTHON3) $(srcdir)/bench/locks.py \
		$${ROUNDS:-15}
.PHONY: bench-locks

# How often diff is wrong: `make bench-comparisons`, or with PLANTED=--planted.
EXTRA_DIST += bench/comparisons.py bench/programs/planted.c
bench-comparisons: all
	CPPROF='$(abs_builddir)/cpprof' $(PYTHON3) \
		$(srcdir)/bench/comparisons.py -n $${RUNS:-30} $${PLANTED:-}
.PHONY: bench-comparisons

# How many stacks of programs without unwind tables are whole.
EXTRA_DIST += bench/tableless.py
bench-tableless: all
	CPPROF='$(abs_builddir)/cpprof' $(PYTHON3) \
		$(srcdir)/bench/tableless.py $${ROUNDS:-3}
.PHONY: bench-tableless

# Calls that could wait, and hardly do, under `-r real`.
EXTRA_DIST += bench/waits.py
if COLLECTOR
noinst_PROGRAMS += bench/programs/waits
endif
bench_programs_waits_SOURCES = bench/programs/waits.c
bench_programs_waits_CFLAGS = $(AM_CFLAGS) -O2 -fomit-frame-pointer
bench-waits: all
	$(PYTHON3) $(srcdir)/bench/waits.py ./cpprof bench/programs/waits 5
.PHONY: bench-waits

# Many short processes.
EXTRA_DIST += bench/brief.py
if COLLECTOR
noinst_PROGRAMS += bench/programs/children
endif
bench_programs_children_SOURCES = bench/programs/children.c
bench_programs_children_CFLAGS = $(AM_CFLAGS) -O2
bench-brief: all
	$(PYTHON3) $(srcdir)/bench/brief.py ./cpprof bench/programs/children \
		$${ROUNDS:-7} $${PROCESSES:-600} $${OTHER:-}

# Shares within them, and within threads and turns.
EXTRA_DIST += bench/turns.py
bench-turns: all tests/programs/turns
	CPPROF=./cpprof builddir=. $(PYTHON3) $(srcdir)/bench/turns.py
.PHONY: bench-turns

# Thousands of them: this project's configure.
EXTRA_DIST += bench/configure.py
bench-configure: all
	$(PYTHON3) $(srcdir)/bench/configure.py ./cpprof $(srcdir)/configure \
		$${ROUNDS:-3}
.PHONY: bench-brief bench-configure

# Counts of perf script's text, whatever fields it prints (perf, root).
EXTRA_DIST += bench/perf-fields.py
bench-perf-fields: all
	$(PYTHON3) $(srcdir)/bench/perf-fields.py --share $${SHARE:-0.01} ./cpprof
.PHONY: bench-perf-fields

# What keeping the names of a recording takes.
EXTRA_DIST += bench/names.py
bench-names: all
	$(PYTHON3) $(srcdir)/bench/names.py ./cpprof
.PHONY: bench-names

# What specialise predicts, and what programs then take that were changed so.
EXTRA_DIST += bench/pgo.py bench/specialise.py bench/programs/contexts.cc
bench-specialise: all
	$(PYTHON3) $(srcdir)/bench/specialise.py ./cpprof $(srcdir) \
		$${ROUNDS:-9}
.PHONY: bench-specialise

# What reading debug information with a profile takes (g++, objcopy).
EXTRA_DIST += bench/inlined.py bench/programs/boxes.cc
bench-inlined: all
	$(PYTHON3) $(srcdir)/bench/inlined.py ./cpprof
.PHONY: bench-inlined

# list and disasm (node).
EXTRA_DIST += bench/code.py
bench-code: all
	$(PYTHON3) $(srcdir)/bench/code.py ./cpprof
.PHONY: bench-code

# Loading callgrind's files, beside callgrind_annotate (valgrind, GNU time).
EXTRA_DIST += bench/callgrind.sh
bench-callgrind: all
	bash $(srcdir)/bench/callgrind.sh ./cpprof
.PHONY: bench-callgrind

# Loading JSON, beside Python and jq.
EXTRA_DIST += bench/json-load.py
bench-json: all
	$(PYTHON3) $(srcdir)/bench/json-load.py ./cpprof
.PHONY: bench-json

# The first answer about large files, beside unpacking and hashing them.
EXTRA_DIST += bench/first.sh
bench-first: all
	CPPROF=./cpprof bash $(srcdir)/bench/first.sh bench
.PHONY: bench-first

# Loading perf's files, beside perf report (perf, GNU time).
EXTRA_DIST += bench/perf.sh
bench-perf: all
	bash $(srcdir)/bench/perf.sh ./cpprof
.PHONY: bench-perf

# How the code is taken apart: make structure writes doc/measurements/structure.md.
EXTRA_DIST += bench/structure.py
structure:
	cd $(srcdir) && $(PYTHON3) bench/structure.py \
		>doc/measurements/structure.md
.PHONY: structure

# What profilers say of recursive functions: make recursion writes doc/recursion.md
# (perf, go, gprof, valgrind; flamegraph.pl in PATH or the folder FLAMEGRAPH).
EXTRA_DIST += bench/recursion.py bench/programs/recursion.c
recursion: all
	$(PYTHON3) $(srcdir)/bench/recursion.py ./cpprof $${ROUNDS:-1000} \
		>recursion.md
	mv recursion.md $(srcdir)/doc/recursion.md
.PHONY: recursion

# What share of samples runtimes name; bench/runtimes.py has what it needs.
EXTRA_DIST += bench/runtimes.py
bench-runtimes: all
	CPPROF=./cpprof python3 $(srcdir)/bench/runtimes.py
.PHONY: bench-runtimes
