# SPDX-License-Identifier: MIT
# How libcpprof is linked, and why:
# - All symbols are bound at the start: binding one in a signal handler could wait
#   for the loader's lock.  For the same reason thread-local variables use the
#   initial-exec model.
# - Its constructor runs before those of all other libraries (lib/collector.c).
# - Without the compiler's start files: nothing here needs them, and their _fini
#   lies on a separate page that every process would touch.
# - In three mappings instead of five (noseparate-code: constants lie next to the
#   code), because every process creates them and every fork copies them.
# - Only EXPORTED functions are visible.
# - Without link-time optimisation, which would move functions, and leave
#   lib/make-static no code to work on.

# CURRENT:REVISION:AGE of libtool, so the soname is libcpprof.so.0.  REVISION grows
# with each release; CURRENT and AGE if cpprof.h gets a function; CURRENT grows and
# AGE is 0 if a program that was linked before cannot use the new library.  Then
# CPPROF_LIBRARY of lib/cpprof-environment.h changes, too.
libcpprof_version = 0:0:0
EXTRA_DIST += lib/COPYING lib/README.md

noinst_HEADERS = lib/cpprofdata.h lib/cpprof-environment.h \
	lib/cpprof-code.h lib/cpprof-inside.h lib/cpprof-shared.h lib/jitdump.h \
	lib/counts.def

if COLLECTOR
lib_LTLIBRARIES += libcpprof.la
include_HEADERS += lib/cpprof.h
pkgconfig_DATA += lib/libcpprof.pc
endif

# The agent for Java has none of this: the virtual machine loads it like any other
# library, and it asks for nothing but libc.
if JAVA_AGENT
pkglib_LTLIBRARIES += libcpprof-java.la
endif
libcpprof_java_la_SOURCES = lib/java/java-agent.c lib/java/java-agent.h \
	lib/java/java-dump.c lib/java/java-interpreted.c lib/java/java.h
libcpprof_java_la_CFLAGS = $(AM_CFLAGS) $(JAVA_CFLAGS) -fvisibility=hidden
libcpprof_java_la_LDFLAGS = -avoid-version -shared -module -Wl,-z,defs

# LuaJIT names what it compiles by this; LUA_INIT loads it.
dist_pkgdata_DATA = lib/luajit-map.lua

# The files of the first block are in memory in this order.  They run in every
# process, and in a forked child before it executes a program.  The kernel maps
# sixteen pages of code at a time, and most processes are short.  The other blocks
# are the rest of each room, lowest first.  The last file has the only unwind table
# that the loader changes, so that it lies on a page with other such data.
libcpprof_la_SOURCES = \
	lib/base/copying.c lib/base/process.c lib/base/meter.c \
	lib/base/allowance.c lib/run/settings.c \
	lib/base/sampling.c lib/base/shared.c lib/collector.c lib/run/start.c \
	lib/base/lookup.c lib/run/own-resource.c lib/sources/resource.c \
	lib/sources/timer.c lib/sources/unsampled.c lib/run/sampler.c \
	lib/run/threads.c \
	lib/store/thread-file.c lib/signals/action.c lib/signals/signals.c \
	lib/sources/tick-mode.c \
	lib/sources/perf.c lib/sources/perf-event.c lib/sources/perf-stack.c \
	lib/sources/usage.c lib/sources/perf-clock.c \
	lib/wrap/wrapped.c lib/wrap/current.c lib/wrap/wall.c \
	lib/wrap/exec.c lib/run/sample.c lib/run/waits.c \
	lib/signals/sigsys.c lib/base/readable.c lib/store/disk.c \
	lib/store/memory.c \
	lib/store/datafile.c lib/store/modules.c lib/store/brief.c \
	lib/unwind/trampoline.c \
	lib/signals/alternate.c lib/signals/interrupted.c \
	lib/run/control.c lib/sources/dispatch.c lib/sources/exceptions.c \
	lib/store/phase.c \
	\
	lib/cpprof.h lib/counts.def \
	\
	lib/base/proc.c lib/base/proc.h \
	$(dwarf_sources) lib/unwind/tables.c \
	lib/unwind/mappings.c \
	\
	lib/base/arch-x86_64.c lib/base/arch-inline-x86_64.h lib/base/arch.h \
	lib/base/allowance.h lib/base/attributes.h lib/base/files.h \
	lib/base/fpu-x86_64.c lib/base/fpu.h lib/base/lookup.h \
	lib/base/meter.h lib/base/next.def lib/base/process.h lib/base/sampling.h \
	lib/base/readable.h lib/base/real.def \
	lib/base/shared.h \
	lib/base/thread.h lib/base/unfortified.h \
	\
	lib/signals/restorer-x86_64.S lib/signals/signals.h \
	\
	lib/unwind/compact-x86_64.c \
	lib/unwind/rules.c lib/unwind/rules.h \
	lib/unwind/section.c lib/unwind/tableless.c \
	lib/unwind/traits.c lib/unwind/traits.h \
	lib/unwind/trampoline-personality.c lib/unwind/trampoline-table.h \
	lib/unwind/trampoline.h \
	lib/unwind/unwind.c lib/unwind/unwinder.h \
	\
	$(cpython_sources) \
	lib/java/java.h lib/java/java-frames.c lib/java/java-frames.h \
	lib/python/python-layout.c lib/python/python.c lib/python/python.h \
	\
	lib/store/call-counts.c \
	lib/store/datafile.h \
	lib/store/functions.c \
	lib/store/insert.c lib/store/kernel-modules.c \
	lib/store/live.c lib/store/live.h \
	lib/store/pairs.c lib/store/pairs.h \
	lib/store/slices.c \
	lib/store/thread-file.h lib/store/tree.c \
	lib/store/tree.h \
	\
	lib/sources/dispatch-sites.h lib/sources/dispatch-x86_64.S \
	lib/sources/resource.h \
	lib/sources/sources.h \
	\
	lib/run/call-functions.c lib/run/open-calls.c \
	lib/run/inside.c lib/run/off-cpu.c lib/run/offer.c lib/run/output.c \
	lib/run/parallel.c \
	lib/run/progress.c \
	lib/run/sample.h \
	lib/run/start.h \
	\
	lib/wrap/blame.c lib/wrap/blame.h \
	lib/wrap/blocking.c lib/wrap/blocking.def \
	lib/wrap/calls-x86_64.S lib/wrap/calls.c lib/wrap/changes.c \
	lib/wrap/confine.c lib/wrap/contention.c lib/wrap/contention.h \
	lib/wrap/imports.c lib/wrap/io.c lib/wrap/io.def \
	lib/wrap/kernel.c lib/wrap/kernel.def lib/wrap/memory.c \
	lib/wrap/locks.c lib/wrap/locks.def \
	lib/wrap/memory.def lib/wrap/signal-calls.c lib/wrap/stdio.c \
	lib/wrap/stdio.def lib/wrap/wakers.c lib/wrap/wrapped.h \
	\
	lib/unwind/trampoline-x86_64.S
# Its tables have only its own machine's registers, which keeps them small.
libcpprof_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden -DDWARF_REGISTERS=17 \
	-fno-lto \
	-include $(srcdir)/lib/base/unfortified.h \
	-fno-tree-loop-distribute-patterns -fno-tree-slp-vectorize \
	-ftls-model=initial-exec
libcpprof_la_CCASFLAGS = $(AM_CCASFLAGS)
libcpprof_la_LDFLAGS = -version-info $(libcpprof_version) -shared -Wl,-z,defs -Wl,-z,now \
	-Wl,-z,nodelete -Wl,-z,initfirst -Wl,--sort-section=name \
	-Wl,-z,noseparate-code -XCClinker -nostartfiles

# The same objects for static programs (lib/make-static says how).
EXTRA_DIST += lib/make-static
if STATIC_COLLECTOR
static_collectordir = $(libdir)
static_collector_DATA = libcpprof.a
endif
CLEANFILES += libcpprof.a libcpprof.a.options
libcpprof.a: libcpprof.la $(srcdir)/lib/make-static
	$(AM_V_GEN)CC='$(CC)' LD='$(LD)' NM='$(NM)' AR='$(AR)' \
	OBJCOPY='$(OBJCOPY)' READELF='$(READELF)' \
	$(SHELL) $(srcdir)/lib/make-static $@ `for object in \
	$(libcpprof_la_OBJECTS); do echo $$object | \
	sed 's,\(.*\)/\(.*\)\.lo$$,\1/.libs/\2.o,'; done`

# Tests, on code like that of most programs.
EXTRA_DIST += tests/compat.sh tests/kills.py tests/suites.sh \
	tests/undisturbed.py tests/live.py tests/linked.py tests/programs/linked.c
EXTRA_DIST += tests/test-collector.py tests/collector_file.py \
	tests/rooms.sh tests/storm-collector.sh

if COLLECTOR
check_PROGRAMS += tests/programs/target tests/programs/hostile \
	tests/programs/storm tests/programs/held_fork
TESTS += tests/rooms.sh
recording_tests += tests/test-collector.py tests/linked.py tests/live.py tests/undisturbed.py \
	tests/compat.sh
if HAVE_CMOCKA
check_PROGRAMS += $(collector_unit_tests)
TESTS += $(collector_unit_tests)
endif
endif
collector_unit_tests = tests/test-allowance tests/test-carryover \
	tests/test-contention \
	tests/test-copying tests/test-meter tests/test-perf-clock \
	tests/test-perf-stack tests/test-progress tests/test-store \
	tests/test-tableless tests/test-timer tests/test-unwind \
	tests/test-unwind-edges

shape_flags = $(AM_CFLAGS) -O2 -fomit-frame-pointer

tests_programs_hostile_SOURCES = tests/programs/hostile.c tests/programs/spin.h
tests_programs_hostile_CFLAGS = $(shape_flags)
# The loader may save 11 KB of registers on the stack to bind a function late,
# which is more than the small stacks have (glibc before 2.39, AMX).
tests_programs_hostile_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,now

tests_programs_target_SOURCES = tests/programs/target.c tests/programs/spin.h
tests_programs_target_CFLAGS = $(shape_flags)

tests_programs_held_fork_SOURCES = tests/programs/held_fork.c \
	tests/programs/spin.h
tests_programs_held_fork_CFLAGS = $(shape_flags)
tests_programs_held_fork_LDADD = -lpthread

# Loaded into processes that run.
EXTRA_DIST += tests/hosted.py tests/inside.py tests/inside-runs.py \
	tests/inside-wrapped.py tests/inside-stopped.py
if COLLECTOR
check_PROGRAMS += tests/programs/hosted tests/programs/served
measured_tests += tests/inside.py
recording_tests += tests/inside-runs.py tests/inside-wrapped.py \
	tests/inside-stopped.py
endif
tests_programs_served_SOURCES = tests/programs/served.c
tests_programs_served_CFLAGS = $(shape_flags)
tests_programs_served_LDADD = -lpthread
tests_programs_hosted_SOURCES = tests/programs/hosted.c
tests_programs_hosted_CFLAGS = $(shape_flags)
tests_programs_hosted_LDADD = -lpthread

# Resources of library calls.
EXTRA_DIST += tests/test-wrappers.py
if COLLECTOR
check_PROGRAMS += tests/programs/spender
recording_tests += tests/test-wrappers.py
endif
tests_programs_spender_SOURCES = tests/programs/spender.c
tests_programs_spender_CFLAGS = $(shape_flags)

# Memory in use.
EXTRA_DIST += tests/heap.py
if COLLECTOR
check_PROGRAMS += tests/programs/heap
measured_tests += tests/heap.py
endif
tests_programs_heap_SOURCES = tests/programs/heap.c
tests_programs_heap_CFLAGS = $(shape_flags)
tests_programs_heap_LDADD = -lm -lpthread

# Waits of threads for each other.
EXTRA_DIST += tests/locks.py
if COLLECTOR
check_PROGRAMS += tests/programs/locks tests/programs/locks-own
measured_tests += tests/locks.py
endif
tests_programs_locks_SOURCES = tests/programs/locks.c
tests_programs_locks_CFLAGS = $(shape_flags)
tests_programs_locks_LDADD = -lpthread
tests_programs_locks_own_SOURCES = tests/programs/locks-own.c
tests_programs_locks_own_CFLAGS = $(shape_flags)
tests_programs_locks_own_LDADD = -lpthread

# Mistakes, and an assistant that looks for them.
EXTRA_DIST += tests/planted.py
if COLLECTOR
check_PROGRAMS += tests/programs/planted
measured_tests += tests/planted.py
endif
tests_programs_planted_SOURCES = tests/programs/planted.c
# A function that calls another one last would not be on the stack.
tests_programs_planted_CFLAGS = $(AM_CFLAGS) -O2 -g -fno-optimize-sibling-calls
tests_programs_planted_LDADD = -lpthread

# Lengths of calls.
EXTRA_DIST += tests/calls.py tests/preempted-calls.py
if COLLECTOR
check_PROGRAMS += tests/programs/calls
measured_tests += tests/calls.py tests/preempted-calls.py
endif
tests_programs_calls_SOURCES = tests/programs/calls.cc
tests_programs_calls_CXXFLAGS = -O2 -fno-optimize-sibling-calls
tests_programs_calls_LDADD = -lm -lpthread

# Time in user mode of short processes.
EXTRA_DIST += tests/user-time.py
if COLLECTOR
measured_tests += tests/user-time.py
endif

# The manual's story of slow calls.
EXTRA_DIST += tests/ledger.py
if COLLECTOR
measured_tests += tests/ledger.py
endif

# Many short processes, and programs that are not sampled.
EXTRA_DIST += tests/brief.py tests/together.py
if COLLECTOR
check_PROGRAMS += tests/programs/brief
measured_tests += tests/together.py
recording_tests += tests/brief.py
endif
tests_programs_brief_SOURCES = tests/programs/brief.c
tests_programs_brief_CFLAGS = $(shape_flags)

# CPU time divided by how many ran.
EXTRA_DIST += tests/latency.py
if COLLECTOR
check_PROGRAMS += tests/programs/runners
measured_tests += tests/latency.py
endif
tests_programs_runners_SOURCES = tests/programs/runners.c
tests_programs_runners_CFLAGS = $(shape_flags)

# Shares within short threads, processes and turns; nothing is held up.
EXTRA_DIST += tests/turns.py
if COLLECTOR
check_PROGRAMS += tests/programs/turns
measured_tests += tests/turns.py
endif
tests_programs_turns_SOURCES = tests/programs/turns.c tests/programs/spin.h
tests_programs_turns_CFLAGS = $(shape_flags)

# Waits that have not ended.
EXTRA_DIST += tests/waits.py tests/real-errors.py tests/endings.py
if COLLECTOR
check_PROGRAMS += tests/programs/waiter
measured_tests += tests/real-errors.py
recording_tests += tests/waits.py tests/endings.py
endif
tests_programs_waiter_SOURCES = tests/programs/waiter.c
tests_programs_waiter_CFLAGS = $(shape_flags)

# Waits that are followed from outside.
if COLLECTOR
check_PROGRAMS += tests/programs/sleeper
endif
tests_programs_sleeper_SOURCES = tests/programs/sleeper.c
tests_programs_sleeper_CFLAGS = $(shape_flags)
tests_programs_sleeper_LDADD = -lpthread

# Threads and processes too short to be sampled from outside.
check_PROGRAMS += tests/programs/shorts
tests_programs_shorts_SOURCES = tests/programs/shorts.c
tests_programs_shorts_CFLAGS = $(shape_flags)
tests_programs_shorts_LDADD = -lpthread

# More threads than processors.
EXTRA_DIST += tests/crowd.py
if COLLECTOR
check_PROGRAMS += tests/programs/crowd
measured_tests += tests/crowd.py
endif
tests_programs_crowd_SOURCES = tests/programs/crowd.c
tests_programs_crowd_CFLAGS = $(shape_flags)

# Floating-point exceptions.
EXTRA_DIST += tests/test-exceptions.py
if COLLECTOR
check_PROGRAMS += tests/programs/exceptions
recording_tests += tests/test-exceptions.py
endif
tests_programs_exceptions_SOURCES = tests/programs/exceptions.c \
	tests/programs/spin.h
tests_programs_exceptions_CFLAGS = $(shape_flags) -frounding-math
tests_programs_exceptions_LDADD = -lm

# Other programs that write to a recording or truncate it.
EXTRA_DIST += tests/test-attacks.py
if COLLECTOR
check_PROGRAMS += tests/programs/victim
recording_tests += tests/test-attacks.py
endif
tests_programs_victim_SOURCES = tests/programs/victim.c
tests_programs_victim_CFLAGS = $(shape_flags) -fno-optimize-sibling-calls

# When hits were counted.
EXTRA_DIST += tests/test-slices.py
if COLLECTOR
check_PROGRAMS += tests/programs/phases
recording_tests += tests/test-slices.py
endif
tests_programs_phases_SOURCES = tests/programs/phases.c tests/programs/spin.h
tests_programs_phases_CFLAGS = $(shape_flags)

# Resources that the kernel counts.
EXTRA_DIST += tests/test-resources.py
if COLLECTOR
check_PROGRAMS += tests/programs/consumer tests/programs/counters
recording_tests += tests/test-resources.py
endif
tests_programs_consumer_SOURCES = tests/programs/consumer.c \
	tests/programs/spin.h
tests_programs_consumer_CFLAGS = $(shape_flags)
tests_programs_counters_SOURCES = tests/programs/counters.c

# Stacks that are not a thread's own.
EXTRA_DIST += tests/test-stacks.py tests/programs/cgo.go \
	tests/programs/fibers.cc tests/programs/sanitized.c

# What handlers call.
EXTRA_DIST += tests/handler-calls.py tests/programs/intercepting.c
if COLLECTOR
check_PROGRAMS += tests/programs/stacks
recording_tests += tests/test-stacks.py tests/handler-calls.py
endif
tests_programs_stacks_SOURCES = tests/programs/stacks.c
tests_programs_stacks_CFLAGS = $(shape_flags)

# Shares of CPU time, by each way of sampling it.
EXTRA_DIST += tests/test-parts.py tests/kernel-inside.py tests/kernel-shares.py
if COLLECTOR
check_PROGRAMS += tests/programs/parts
measured_tests += tests/test-parts.py tests/kernel-shares.py
recording_tests += tests/kernel-inside.py
endif
tests_programs_parts_SOURCES = tests/programs/parts.c tests/programs/spin.h
tests_programs_parts_CFLAGS = $(shape_flags)

# One program that does what a script says, and the tests whose claims
# tests/judge.py decides.
EXTRA_DIST += tests/judge.py tests/shares.py tests/holders.py \
	tests/programs/holders.rs
if COLLECTOR
check_PROGRAMS += tests/programs/scripted tests/programs/holders
measured_tests += tests/shares.py tests/holders.py
endif
tests_programs_scripted_SOURCES = tests/programs/scripted.c \
	tests/programs/spin.h
tests_programs_scripted_CFLAGS = $(shape_flags)
tests_programs_scripted_LDADD = -lpthread
tests_programs_holders_SOURCES = tests/programs/holders.c
tests_programs_holders_CFLAGS = $(shape_flags)
tests_programs_holders_LDADD = -lpthread

tests_test_copying_SOURCES = tests/test-copying.c lib/base/copying.c
tests_test_copying_CFLAGS = $(unit_cflags) -fno-builtin \
	-fno-tree-loop-distribute-patterns
tests_test_copying_LDADD = $(case_libs)

tests_test_allowance_SOURCES = tests/test-allowance.c lib/base/allowance.c \
	lib/base/meter.c
tests_test_allowance_CFLAGS = $(unit_cflags)
tests_test_allowance_LDADD = $(case_libs)

tests_test_carryover_SOURCES = tests/test-carryover.c lib/sources/resource.c \
	lib/base/meter.c
tests_test_carryover_CFLAGS = $(unit_cflags)
tests_test_carryover_LDADD = $(case_libs)

tests_test_contention_SOURCES = tests/test-contention.c \
	lib/wrap/contention.c
tests_test_contention_CFLAGS = $(unit_cflags)
tests_test_contention_LDADD = $(case_libs)

tests_test_meter_SOURCES = tests/test-meter.c lib/base/meter.c
tests_test_meter_CFLAGS = $(unit_cflags)
tests_test_meter_LDADD = $(case_libs)

tests_test_perf_clock_SOURCES = tests/test-perf-clock.c \
	lib/sources/perf-clock.c \
	lib/sources/usage.c lib/base/meter.c lib/base/shared.c
tests_test_perf_clock_CFLAGS = $(unit_cflags)
tests_test_perf_clock_LDADD = $(case_libs) -lm

tests_test_perf_stack_SOURCES = tests/test-perf-stack.c \
	lib/sources/perf-stack.c
tests_test_perf_stack_CFLAGS = $(unit_cflags)
tests_test_perf_stack_LDADD = $(case_libs)

tests_test_timer_SOURCES = tests/test-timer.c lib/sources/timer.c \
	lib/base/meter.c lib/base/arch-x86_64.c
tests_test_timer_CFLAGS = $(unit_cflags)
tests_test_timer_LDADD = $(case_libs)

tests_test_progress_SOURCES = tests/test-progress.c lib/run/progress.c \
	lib/base/arch-x86_64.c
tests_test_progress_CFLAGS = $(unit_cflags)
tests_test_progress_LDADD = $(case_libs)

tests_test_store_SOURCES = tests/test-store.c lib/store/tree.c \
	lib/store/slices.c lib/store/datafile.c lib/store/disk.c \
	lib/store/memory.c \
	lib/base/process.c
tests_test_store_CFLAGS = $(unit_cflags)
tests_test_store_LDADD = $(case_libs)

# Linked by the C++ compiler, because of exceptions.
tests_test_unwind_SOURCES = tests/test-unwind.c \
	tests/single-step.h \
	tests/unwind-oracle.c tests/unwind-oracle.h \
	tests/programs/shapes.c tests/programs/shapes.h \
	tests/programs/throws.cc $(unwinder)
tests_test_unwind_CFLAGS = $(shape_flags) $(CMOCKA_CFLAGS) $(case_limit)
tests_test_unwind_CXXFLAGS = -O2 -fomit-frame-pointer
tests_test_unwind_CCASFLAGS = $(AM_CCASFLAGS)
tests_test_unwind_LDADD = $(case_libs)
tests_test_unwind_LDFLAGS = -Wl,-z,lazy
tests_test_unwind_edges_SOURCES = tests/test-unwind-edges.c $(unwinder)
tests_test_unwind_edges_CFLAGS = $(shape_flags) $(CMOCKA_CFLAGS) $(case_limit)
tests_test_unwind_edges_CCASFLAGS = $(AM_CCASFLAGS)
tests_test_unwind_edges_LDADD = $(case_libs)

# Without debug information, which would bring tables.
tableless_flags = -g0 -O2 -fomit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions
tests_libtableless_a_SOURCES = tests/programs/tableless.c \
	tests/programs/tableless-hand.S
tests_libtableless_a_CPPFLAGS = $(AM_CPPFLAGS) -DINSIDE \
	-Dmain=tableless_main
tests_libtableless_a_CFLAGS = $(AM_CFLAGS) $(tableless_flags)
tests_libtableless_a_CCASFLAGS = $(AM_CCASFLAGS) -g0
tests_test_tableless_SOURCES = tests/test-tableless.c tests/single-step.h \
	$(unwinder)
tests_test_tableless_CFLAGS = $(shape_flags) $(CMOCKA_CFLAGS) $(case_limit)
tests_test_tableless_CCASFLAGS = $(AM_CCASFLAGS)
tests_test_tableless_LDADD = tests/libtableless.a $(unit_libs)

# Preloaded by tests/real-stacks.py.
unwinder = \
	$(dwarf_sources) lib/base/arch-x86_64.c \
	lib/unwind/compact-x86_64.c lib/unwind/tables.c \
	lib/base/lookup.c lib/base/readable.c \
	lib/unwind/mappings.c \
	lib/unwind/rules.c lib/unwind/section.c lib/unwind/tableless.c \
	lib/unwind/traits.c \
	lib/unwind/trampoline.c \
	lib/unwind/trampoline-personality.c lib/unwind/trampoline-x86_64.S \
	lib/unwind/unwind.c tests/no-recorder.c
EXTRA_DIST += tests/real-stacks.py
if COLLECTOR
check_LTLIBRARIES = tests/check-stacks.la
endif
tests_check_stacks_la_SOURCES = tests/check-stacks.c \
	tests/unwind-oracle.c tests/unwind-oracle.h $(unwinder)
tests_check_stacks_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden \
	-ftls-model=initial-exec
tests_check_stacks_la_CCASFLAGS = $(AM_CCASFLAGS)
tests_check_stacks_la_LDFLAGS = -module -avoid-version -shared \
	-rpath /nowhere
tests_check_stacks_la_LIBADD = -lgcc_s

tests_programs_storm_SOURCES = tests/programs/storm.cc
tests_programs_storm_CXXFLAGS = -O2 -fomit-frame-pointer

check-storm: libcpprof.la tests/programs/target tests/programs/storm
	$(AM_TESTS_ENVIRONMENT) \
	$(SHELL) $(srcdir)/tests/storm-collector.sh $${SECONDS_IN_ALL:-3600}

# Not part of check: an hour of everything that could break a sampled program.
check-kills: all tests/programs/target
	$(AM_TESTS_ENVIRONMENT) KILLS=1000 $(PYTHON3) $(srcdir)/tests/kills.py

# Other projects' own tests; tests/suites.sh says where it looks for bash's.
check-suites: all
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/suites.sh

# Stacks of real programs, many times as many as in check.
check-stacks: all tests/check-stacks.la
	$(AM_TESTS_ENVIRONMENT) ROUNDS=20 $(PYTHON3) $(srcdir)/tests/real-stacks.py

# A hundred times as many steps of programs without unwind tables.
check-steps: all tests/step-stacks
	$(AM_TESTS_ENVIRONMENT) STEPS=600000 $(PYTHON3) $(srcdir)/tests/stepped.py

# All programs once more, with resources of every kind at once.
check-compat: all
	$(AM_TESTS_ENVIRONMENT) \
	options='-r cpu -r real -r alloc-bytes -r page-faults' \
	$(SHELL) $(srcdir)/tests/compat.sh

# What is measured has the machine for itself.
check-long: check-storm check-kills check-suites check-stacks check-steps \
	check-compat check-rounds
	$(MAKE) $(AM_MAKEFLAGS) check-strict
.PHONY: check-storm check-kills check-suites check-stacks check-steps \
	check-compat check-long
