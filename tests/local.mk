# SPDX-License-Identifier: GPL-3.0-or-later
# Unit tests are tests/test-MODULE.c (cmocka), whole-program tests
# tests/*.sh; all speak TAP.  A unit test is one line in unit_tests; those of
# formats are in src/formats/local.mk.
TEST_EXTENSIONS = .sh .py
TEST_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TEST_LOG_DRIVER)
SH_LOG_DRIVER = $(TEST_LOG_DRIVER)
PY_LOG_DRIVER = $(TEST_LOG_DRIVER)
# Each test has a time limit, see tests/run-test.py.
if HAVE_PYTHON3
run_test = $(PYTHON3) $(srcdir)/tests/run-test.py
LOG_COMPILER = $(run_test)
SH_LOG_COMPILER = $(run_test) $(SHELL)
PY_LOG_COMPILER = $(run_test) $(PYTHON3) -u
else
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(SHELL) -c 'echo "1..0 \# SKIP python3 not found"'
endif
AM_TESTS_ENVIRONMENT = \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	CPPROF='$(abs_builddir)/cpprof'; export CPPROF; \
	srcdir='$(abs_srcdir)'; export srcdir; \
	builddir='$(abs_builddir)'; export builddir; \
	RETRIED_TESTS='$(measured_tests) $(recording_tests)'; \
	export RETRIED_TESTS; \
	PYTHON3='$(PYTHON3)'; export PYTHON3; \
	unset DEBUGINFOD_URLS; \
	DEBUGINFOD_CACHE_PATH=/nonexistent; export DEBUGINFOD_CACHE_PATH;

# Each case of a unit test has one, too, see tests/case-limit.c.
case_limit = -D_cmocka_run_group_tests=limited_run_group_tests
unit_cflags = $(AM_CFLAGS) $(SANITIZER_CFLAGS) $(CMOCKA_CFLAGS) $(case_limit)
case_libs = tests/libcaselimit.a $(CMOCKA_LIBS)
unit_libs = $(core_libs) $(case_libs)
# Of tests that include tests/failing-memory.h, perhaps by tests/reader-fixture.h.
failing_memory = -Wl,--wrap=malloc,--wrap=calloc -Wl,--wrap=realloc \
	-Wl,--wrap=reallocarray,--wrap=aligned_alloc -Wl,--wrap=progress_step

# The longest first, so that no processor is idle at the end.
script_tests = \
	tests/fleet-noise.py tests/keep.py tests/parquet.py tests/round-trips.py \
	tests/hostile.py tests/export.py tests/merge.py tests/merged-sums.py \
	tests/members.py tests/assert.py tests/grouped-calls.py \
	tests/merged-hostile.py tests/sides.py tests/random-calls.py tests/times.py \
	tests/refinements.py tests/pprof-samples.py tests/noise.py \
	tests/random-oracle.py tests/flame.py tests/fleet.py tests/gmon.py \
	tests/labels.py tests/many-paths.py tests/explain.py tests/section-steps.py \
	tests/short-names.py tests/ci.py tests/firefox.py tests/open.py \
	tests/columns.py tests/quickstart.sh tests/test-shell.sh tests/list.py \
	tests/specialise.py tests/modules.py tests/arguments.py tests/debuginfod.py \
	tests/cpuprofile.py \
	tests/layers.sh \
	tests/thread-frames.py tests/amounts.py tests/roots.py tests/callgrind.py \
	tests/pprof-raw.py tests/recursion.py tests/visible.py tests/limits.py \
	tests/manual.py tests/kernel.py tests/reference.sh tests/golden.sh \
	tests/legacy.py tests/aarch64.py tests/other-tools.py tests/completion.py \
	tests/packaging.py tests/dist.sh tests/test-judge.py \
	tests/places.py \
	tests/field-order.py

# Tests that measure: what they claim of times and counts can depend on the machine.
# They run last, one at a time (tests/order.mk).  Tests that record, but claim
# nothing of the kind, run in parallel.  These, and those of the collector in
# lib/local.mk.  tests/run-test.py says what it does if one of them fails.  What all
# others claim depends on the code alone.
measured_scripts = \
	tests/attach.py tests/python-parts.py tests/python-shares.py tests/real-outside.py \
	tests/short-outside.py tests/tasks.py
recording_scripts = \
	tests/attached.py tests/compilers.py tests/descendants.py tests/diff.py tests/disasm.py \
	tests/go.py tests/greenlets.py tests/jit.py tests/launch-signals.py tests/lines.py \
	tests/mapped.py tests/mcp.py \
	tests/names.py tests/namespaces.py tests/python.py tests/python-outside.py tests/record.sh \
	tests/recordings.sh tests/report.py tests/spare-files.py \
	tests/static.py tests/stepped.py tests/tableless.py tests/task-list.py \
	tests/test-prompt.py \
	tests/threads.py
measured_tests += $(measured_scripts)
recording_tests += $(recording_scripts)
measured_logs = $(addsuffix .log,$(basename $(measured_tests)))
EXTRA_DIST += tests/order.mk
-include $(srcdir)/tests/order.mk

check_SCRIPTS += $(script_tests) $(recording_scripts) $(measured_scripts)
TESTS += $(script_tests) $(recording_tests) $(measured_tests)

check-exact:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(filter-out $(measured_tests),$(TESTS))'
check-measured:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(measured_tests)'
.PHONY: check-exact check-measured

unit_tests = $(format_tests) \
	tests/test-aarch64 \
	tests/test-address-lines \
	tests/test-arguments \
	tests/test-autofdo \
	tests/test-base \
	tests/test-call-flow \
	tests/test-call-lengths \
	tests/test-change \
	tests/test-change-points \
	tests/test-outliers \
	tests/test-own-file \
	tests/test-commands \
	tests/test-debug-lines \
	tests/test-debuginfod \
	tests/test-demangle \
	tests/test-distributions \
	tests/test-estimate \
	tests/test-dwarf \
	tests/test-earlier \
	tests/test-export \
	tests/test-foreign \
	tests/test-formats \
	tests/test-function-ranges \
	tests/test-json \
	tests/test-line-table \
	tests/test-module-symbols \
	tests/test-names \
	tests/test-naming \
	tests/test-out-of-memory \
	tests/test-output \
	tests/test-pattern \
	tests/test-profile \
	tests/test-python-image \
	tests/test-python-layout \
	tests/test-python-loop \
	tests/test-sample-tree \
	tests/test-sections \
	tests/test-timeline \
	tests/test-short-names \
	tests/test-source \
	tests/test-reader \
	tests/test-sample \
	tests/test-symbol-table \
	tests/test-views \
	tests/test-views-properties

# They know instructions of x86-64.
if COLLECTOR
unit_tests += tests/test-code-rules tests/test-stack-unwinder
endif

if HAVE_CMOCKA
check_LIBRARIES = tests/libcaselimit.a
if COLLECTOR
check_LIBRARIES += tests/libtableless.a
endif
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

tests_libcaselimit_a_SOURCES = tests/case-limit.c
tests_libcaselimit_a_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

tests_test_formats_SOURCES = tests/test-formats.c \
	tests/examples/trail.c tests/reader-fixture.h
tests_test_formats_CFLAGS = $(unit_cflags)
tests_test_formats_LDADD = $(unit_libs)
tests_test_formats_LDFLAGS = $(failing_memory)
EXTRA_DIST += tests/examples/sample.trail

tests_test_aarch64_SOURCES = tests/test-aarch64.c
tests_test_aarch64_CFLAGS = $(unit_cflags)
tests_test_aarch64_LDADD = $(unit_libs)

tests_test_address_lines_SOURCES = tests/test-address-lines.c \
	tests/module-fixture.h
tests_test_address_lines_CFLAGS = $(unit_cflags)
tests_test_address_lines_LDADD = $(unit_libs)

tests_test_own_file_SOURCES = tests/test-own-file.c
tests_test_own_file_CFLAGS = $(unit_cflags)
tests_test_own_file_LDADD = $(unit_libs)

tests_test_autofdo_SOURCES = tests/test-autofdo.c \
	tests/failing-memory.h tests/module-fixture.h
tests_test_autofdo_CFLAGS = $(unit_cflags)
tests_test_autofdo_LDADD = $(unit_libs)
tests_test_autofdo_LDFLAGS = $(failing_memory)

tests_test_base_SOURCES = tests/test-base.c
tests_test_base_CFLAGS = $(unit_cflags)
tests_test_base_LDADD = $(unit_libs)

tests_test_call_flow_SOURCES = tests/test-call-flow.c
tests_test_call_flow_CFLAGS = $(unit_cflags)
tests_test_call_flow_LDADD = $(unit_libs)

tests_test_change_SOURCES = tests/test-change.c tests/failing-memory.h \
	tests/random-numbers.h
tests_test_change_CFLAGS = $(unit_cflags)
tests_test_change_LDADD = $(unit_libs)
tests_test_change_LDFLAGS = $(failing_memory)

tests_test_change_points_SOURCES = tests/test-change-points.c \
	tests/failing-memory.h tests/random-numbers.h
tests_test_change_points_CFLAGS = $(unit_cflags)
tests_test_change_points_LDADD = $(unit_libs)
tests_test_change_points_LDFLAGS = $(failing_memory)

tests_test_outliers_SOURCES = tests/test-outliers.c tests/failing-memory.h \
	tests/random-numbers.h
tests_test_outliers_CFLAGS = $(unit_cflags)
tests_test_outliers_LDADD = $(unit_libs)
tests_test_outliers_LDFLAGS = $(failing_memory)

tests_test_distributions_SOURCES = tests/test-distributions.c
tests_test_distributions_CFLAGS = $(unit_cflags)
tests_test_distributions_LDADD = $(unit_libs)

tests_test_call_lengths_SOURCES = tests/test-call-lengths.c \
	tests/random-numbers.h
tests_test_call_lengths_CFLAGS = $(unit_cflags)
tests_test_call_lengths_LDADD = $(unit_libs)

tests_test_estimate_SOURCES = tests/test-estimate.c tests/random-numbers.h
tests_test_estimate_CFLAGS = $(unit_cflags)
tests_test_estimate_LDADD = $(unit_libs)

tests_test_debuginfod_SOURCES = tests/test-debuginfod.c
tests_test_debuginfod_CFLAGS = $(unit_cflags)
tests_test_debuginfod_LDADD = $(unit_libs)

tests_test_earlier_SOURCES = tests/test-earlier.c
tests_test_earlier_CFLAGS = $(unit_cflags)
tests_test_earlier_LDADD = $(unit_libs)

tests_test_short_names_SOURCES = tests/test-short-names.c \
	tests/failing-memory.h
tests_test_short_names_CFLAGS = $(unit_cflags)
tests_test_short_names_LDADD = $(unit_libs)
tests_test_short_names_LDFLAGS = $(failing_memory)

tests_test_line_table_SOURCES = tests/test-line-table.c
tests_test_line_table_CFLAGS = $(unit_cflags)
tests_test_line_table_LDADD = $(unit_libs)

tests_test_json_SOURCES = tests/test-json.c tests/reader-fixture.h \
	tests/skip.h
tests_test_json_CFLAGS = $(unit_cflags)
tests_test_json_LDADD = $(unit_libs)
tests_test_json_LDFLAGS = $(failing_memory)

tests_test_profile_SOURCES = tests/test-profile.c
tests_test_profile_CFLAGS = $(unit_cflags)
tests_test_profile_LDADD = $(unit_libs)

tests_test_timeline_SOURCES = tests/test-timeline.c
tests_test_timeline_CFLAGS = $(unit_cflags)
tests_test_timeline_LDADD = $(unit_libs)

tests_test_sample_tree_SOURCES = tests/test-sample-tree.c
tests_test_sample_tree_CFLAGS = $(unit_cflags)
tests_test_sample_tree_LDADD = $(unit_libs)

tests_test_sections_SOURCES = tests/test-sections.c
tests_test_sections_CFLAGS = $(unit_cflags)
tests_test_sections_LDADD = $(unit_libs)

tests_test_source_SOURCES = tests/test-source.c
tests_test_source_CFLAGS = $(unit_cflags)
tests_test_source_LDADD = $(unit_libs)

tests_test_reader_SOURCES = tests/test-reader.c tests/reader-fixture.h
tests_test_reader_CFLAGS = $(unit_cflags)
tests_test_reader_LDADD = $(unit_libs)
tests_test_reader_LDFLAGS = $(failing_memory)

# Without frame pointers; the shapes as the collector's test has them.
tests_test_stack_unwinder_SOURCES = tests/test-stack-unwinder.c \
	tests/single-step.h \
	tests/programs/shapes.c tests/programs/shapes.h
tests_test_stack_unwinder_CFLAGS = $(unit_cflags) -O2 -fomit-frame-pointer
tests_test_stack_unwinder_LDADD = $(unit_libs)

tests_test_code_rules_SOURCES = tests/test-code-rules.c tests/random-numbers.h
tests_test_code_rules_CFLAGS = $(unit_cflags)
tests_test_code_rules_LDADD = $(unit_libs)
EXTRA_DIST += tests/circles.awk tests/fuzz-dwarf.c

# It has addresses in its own code.
tests_test_python_image_SOURCES = tests/test-python-image.c
tests_test_python_image_CFLAGS = $(unit_cflags)
tests_test_python_image_LDADD = $(unit_libs)
EXTRA_DIST += tests/record-python-image.py tests/programs/pyimage.py \
	tests/python-root.sh \
	tests/data/python/3.11.image tests/data/python/3.14.image \
	tests/data/python/3.15.image
tests_test_python_layout_SOURCES = tests/test-python-layout.c
tests_test_python_layout_CFLAGS = $(unit_cflags)
tests_test_python_layout_LDADD = $(unit_libs)
tests_test_python_loop_SOURCES = tests/test-python-loop.c
tests_test_python_loop_CFLAGS = $(unit_cflags)
tests_test_python_loop_LDADD = $(unit_libs)
tests_test_sample_SOURCES = tests/test-sample.c tests/reader-fixture.h
tests_test_sample_CFLAGS = $(unit_cflags)
tests_test_sample_LDADD = $(unit_libs)
tests_test_sample_LDFLAGS = $(failing_memory)

tests_test_debug_lines_SOURCES = tests/test-debug-lines.c \
	tests/module-fixture.h
tests_test_debug_lines_CFLAGS = $(unit_cflags)
tests_test_debug_lines_LDADD = $(unit_libs)
EXTRA_DIST += tests/programs/greenlets.py \
	tests/programs/pystacks.py tests/programs/pytouch.py \
	tests/programs/tasks.py tests/programs/waiting.py \
	tests/programs/named.c
EXTRA_DIST += tests/programs/inlines.c tests/programs/inlines.cc \
	tests/programs/jit.c tests/programs/mapped.c tests/programs/kept.cc \
	tests/programs/no-tables.c tests/programs/told-paths.c \
	tests/programs/asks-codes.c \
	tests/programs/profiled.cc \
	tests/fuzz-lines.c

tests_test_demangle_SOURCES = tests/test-demangle.c
tests_test_demangle_CFLAGS = $(unit_cflags)
tests_test_demangle_LDADD = $(unit_libs)

# Of the library and nothing else.
tests_test_dwarf_SOURCES = tests/test-dwarf.c $(dwarf_sources)
tests_test_dwarf_CFLAGS = $(unit_cflags)
tests_test_dwarf_LDADD = $(case_libs)

tests_test_export_SOURCES = tests/test-export.c tests/reader-fixture.h
tests_test_export_CFLAGS = $(unit_cflags)
tests_test_export_LDADD = $(unit_libs)
tests_test_export_LDFLAGS = $(failing_memory)

tests_test_foreign_SOURCES = tests/test-foreign.c tests/skip.h
tests_test_foreign_CFLAGS = $(unit_cflags)
tests_test_foreign_LDADD = $(unit_libs)

tests_test_function_ranges_SOURCES = tests/test-function-ranges.c \
	tests/module-fixture.h
tests_test_function_ranges_CFLAGS = $(unit_cflags)
tests_test_function_ranges_LDADD = $(unit_libs)

tests_test_module_symbols_SOURCES = tests/test-module-symbols.c \
	tests/module-fixture.h
tests_test_module_symbols_CFLAGS = $(unit_cflags)
tests_test_module_symbols_LDADD = $(unit_libs)

tests_test_symbol_table_SOURCES = tests/test-symbol-table.c
tests_test_symbol_table_CFLAGS = $(unit_cflags)
tests_test_symbol_table_LDADD = $(unit_libs)

tests_test_pattern_SOURCES = tests/test-pattern.c
tests_test_pattern_CFLAGS = $(unit_cflags)
tests_test_pattern_LDADD = $(unit_libs)

tests_test_names_SOURCES = tests/test-names.c
tests_test_names_CFLAGS = $(unit_cflags)
tests_test_names_LDADD = $(unit_libs)

tests_test_naming_SOURCES = tests/test-naming.c
tests_test_naming_CFLAGS = $(unit_cflags)
tests_test_naming_LDADD = $(unit_libs)

tests_test_out_of_memory_SOURCES = tests/test-out-of-memory.c \
	tests/failing-memory.h
tests_test_out_of_memory_CFLAGS = $(unit_cflags)
tests_test_out_of_memory_LDADD = $(unit_libs)
tests_test_out_of_memory_LDFLAGS = $(failing_memory)

tests_test_output_SOURCES = tests/test-output.c
tests_test_output_CFLAGS = $(unit_cflags)
tests_test_output_LDADD = $(unit_libs)

tests_test_arguments_SOURCES = tests/test-arguments.c
tests_test_arguments_CFLAGS = $(unit_cflags)
tests_test_arguments_LDADD = $(unit_libs)

tests_test_commands_SOURCES = tests/test-commands.c \
	tests/examples/count.c
tests_test_commands_CFLAGS = $(unit_cflags)
tests_test_commands_LDADD = $(unit_libs)

tests_test_views_SOURCES = tests/test-views.c tests/view-fixture.h
tests_test_views_CFLAGS = $(unit_cflags)
tests_test_views_LDADD = $(unit_libs)

tests_test_views_properties_SOURCES = tests/test-views-properties.c \
	tests/view-fixture.h
tests_test_views_properties_CFLAGS = $(unit_cflags)
tests_test_views_properties_LDADD = $(unit_libs)

# It executes programs of stepped.py step by step.
check_PROGRAMS += tests/step-stacks
EXTRA_DIST += tests/programs/tableless.c tests/programs/tableless-hand.S
tests_step_stacks_SOURCES = tests/step-stacks.c
tests_step_stacks_CFLAGS = $(AM_CFLAGS) $(SANITIZER_CFLAGS)
tests_step_stacks_LDADD = $(core_libs)

# It writes tables for parquet.py.
check_PROGRAMS += tests/parquet-tables
tests_parquet_tables_SOURCES = tests/parquet-tables.c tests/random-numbers.h
tests_parquet_tables_CFLAGS = $(AM_CFLAGS) $(SANITIZER_CFLAGS)
tests_parquet_tables_LDADD = $(core_libs)

EXTRA_DIST += $(script_tests) $(recording_scripts) \
	$(measured_scripts) tests/tap.sh tests/run-test.py \
	tests/claims.py tests/cpprof.py tests/devtools.py tests/filters.py tests/mcp_server.py tests/merged_file.py tests/outside.py tests/parquet_reader.py tests/pprof_writer.py tests/skip.h tests/oracle.py tests/random-stacks.py tests/terminal.py
EXTRA_DIST += \
	tests/golden/export.cmd tests/golden/export.out \
	tests/golden/calls.cmd tests/golden/calls.out \
	tests/golden/slow-calls.cmd tests/golden/slow-calls.out \
	tests/golden/compare.cmd tests/golden/compare.out \
	tests/golden/flame.cmd tests/golden/flame.out \
	tests/golden/formats.cmd tests/golden/formats.out \
	tests/golden/forms.cmd tests/golden/forms.out \
	tests/golden/json.cmd tests/golden/json.out \
	tests/golden/language.cmd tests/golden/language.out \
	tests/golden/leaks.cmd tests/golden/leaks.out \
	tests/golden/waits.cmd tests/golden/waits.out \
	tests/golden/lines.cmd tests/golden/lines.out \
	tests/golden/list.cmd tests/golden/list.out \
	tests/golden/process_db.cmd tests/golden/process_db.out \
	tests/golden/refine.cmd tests/golden/refine.out \
	tests/golden/separated.cmd tests/golden/separated.out \
	tests/golden/views.cmd tests/golden/views.out

# Part of check, to be run after each change: all unit tests without the cases
# that skip_if_quick of tests/skip.h leaves out, and golden scripts.  It builds
# only what these need, and uses all cores unless told.  ("+": a make that is told by
# -j shares its places with these, which run one at a time otherwise.)
quick_tests = $(filter $(TESTS),tests/golden.sh tests/layers.sh \
	$(unit_tests) $(collector_unit_tests))
quick_make = $(MAKE) $(AM_MAKEFLAGS) \
	$(if $(filter -j%,$(MAKEFLAGS)),,-j`nproc`)
check-quick:
	+$(quick_make) cpprof$(EXEEXT) $(filter $(check_PROGRAMS),$(quick_tests))
	+@start=`date +%s`; \
	CHECK_QUICK=1 $(quick_make) check-TESTS TESTS='$(quick_tests)' check_PROGRAMS= \
		check_LIBRARIES= check_LTLIBRARIES= check_SCRIPTS=; \
	status=$$?; \
	echo "check-quick ran its tests in $$((`date +%s` - start)) s"; \
	exit $$status
.PHONY: check-quick

# Not part of check: tests that draw at random or depend on moments, ten times as
# long.
random_tests = tests/assert.py tests/brief.py tests/diff.py tests/export.py \
	tests/grouped-calls.py tests/hostile.py tests/inside-runs.py \
	tests/inside-wrapped.py tests/members.py tests/merge.py \
	tests/merged-sums.py tests/modules.py tests/names.py tests/pprof-samples.py tests/random-calls.py \
	tests/random-oracle.py tests/refinements.py tests/round-trips.py \
	tests/section-steps.py \
	tests/sides.py tests/test-attacks.py tests/test-resources.py \
	tests/test-unwind tests/undisturbed.py
check-rounds: all
	TEST_ROUNDS=10 TEST_TIME_LIMIT=36000 TEST_CASE_LIMIT=36000 \
		$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(filter $(TESTS),$(random_tests))'
.PHONY: check-rounds

# Not part of check: what is measured, three times as exactly (tests/judge.py),
# and all interpreters of Python.
check-strict: all
	CHECK_LONG=1 TEST_TIME_LIMIT=36000 TEST_CASE_LIMIT=36000 \
		$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(filter $(TESTS),$(measured_tests) tests/python.py)'
.PHONY: check-strict

# Not part of check: each reader's fuzz target for ten minutes (clang).
callgrind_data = tests/data/callgrind
EXTRA_DIST += \
	$(callgrind_data)/cache.out.gz \
	$(callgrind_data)/cache.out.exclusive.txt.gz \
	$(callgrind_data)/cache.out.inclusive.txt.gz \
	$(callgrind_data)/cache.out.lines.txt.gz \
	$(callgrind_data)/cachegrind.out.gz \
	$(callgrind_data)/cachegrind.out.exclusive.txt.gz \
	$(callgrind_data)/cachegrind.out.lines.txt.gz \
	$(callgrind_data)/callers.out.gz \
	$(callgrind_data)/callers.out.exclusive.txt.gz \
	$(callgrind_data)/callers.out.inclusive.txt.gz \
	$(callgrind_data)/callers.out.lines.txt.gz \
	$(callgrind_data)/instr.out.gz \
	$(callgrind_data)/instr.out.exclusive.txt.gz \
	$(callgrind_data)/instr.out.inclusive.txt.gz \
	$(callgrind_data)/instr.out.lines.txt.gz \
	$(callgrind_data)/parts.out.gz \
	$(callgrind_data)/recs.out.gz \
	$(callgrind_data)/recs.out.exclusive.txt.gz \
	$(callgrind_data)/recs.out.inclusive.txt.gz \
	$(callgrind_data)/recs.out.lines.txt.gz \
	$(callgrind_data)/uncompressed.out.gz \
	$(callgrind_data)/uncompressed.out.exclusive.txt.gz \
	$(callgrind_data)/uncompressed.out.inclusive.txt.gz \
	$(callgrind_data)/uncompressed.out.lines.txt.gz

EXTRA_DIST += tests/fuzz.sh tests/fuzz-callgrind.c tests/fuzz-collapsed.c \
	tests/fuzz-cpprofdata.c tests/fuzz-demangle.c tests/fuzz-foreign.c \
	tests/fuzz-format.c tests/fuzz-gmon.c tests/fuzz-jit.c tests/fuzz-names.c \
	tests/fuzz-perf_data.c tests/fuzz-reader.h tests/fuzz-symbols.c
fuzz:
	$(SHELL) $(srcdir)/tests/fuzz.sh $${SECONDS_EACH:-600}
.PHONY: fuzz

# Not part of check: what breaks and no test notices; hours for the whole of it.
EXTRA_DIST += tests/mutate.py tests/slow-machine.sh
mutate:
	srcdir=$(srcdir) $(PYTHON3) $(srcdir)/tests/mutate.py $(MUTATE)
.PHONY: mutate

# The program of perf's profiles: make's own rules would rebuild it from rec.c.
tests/data/perf/rec: ;

# Profiles of other tools, with what these print; made as their sources say.
legacy_data = tests/data/legacy
EXTRA_DIST += \
	$(legacy_data)/alloc.c $(legacy_data)/go-block.raw \
	$(legacy_data)/go-block.txt $(legacy_data)/go-goroutine.raw \
	$(legacy_data)/go-goroutine.txt $(legacy_data)/go-heap.raw \
	$(legacy_data)/go-heap.txt $(legacy_data)/go-mutex.raw \
	$(legacy_data)/go-mutex.txt $(legacy_data)/grow.cc \
	$(legacy_data)/growth.heap $(legacy_data)/growth.raw \
	$(legacy_data)/jemalloc.cum $(legacy_data)/jemalloc.heap \
	$(legacy_data)/tcmalloc.heap $(legacy_data)/tcmalloc.raw \
	$(legacy_data)/text.go \
	tests/data/raw/cpu.raw.gz tests/data/raw/heap.raw.gz \
	tests/data/raw/labels.go tests/data/raw/labels.pb.gz \
	tests/data/raw/labels.raw.gz
EXTRA_DIST += \
	tests/data/live/server.c tests/data/live/server.cpprofdata.gz \
	tests/data/locks/server.c tests/data/locks/server.cpprofdata.gz \
	tests/data/calls/planted.cpprofdata.gz \
	tests/data/node/busy.cpuprofile.gz tests/data/node/busy.js \
	tests/data/go/cpu.pb.gz tests/data/go/cpu.samples.top-cum.txt \
	tests/data/go/cpu.top-cum.txt tests/data/go/heap.pb.gz \
	tests/data/go/heap.alloc_space.top-cum.txt \
	tests/data/go/heap.top-cum.txt tests/data/go/work.go \
	tests/data/gperftools/rec.cum.txt tests/data/gperftools/rec.prof \
	tests/data/perf/aarch64/stacks \
	tests/data/perf/aarch64/stacks.data.gz \
	tests/data/perf/aarch64/stacks.txt tests/programs/aarch64.c \
	tests/data/perf/rec tests/data/perf/rec.data \
	tests/data/perf/rec-dwarf.children.txt \
	tests/data/perf/rec-dwarf.data.gz tests/data/perf/rec-dwarf.self.txt \
	tests/data/perf/rec-group.data tests/data/perf/rec-group.self.txt \
	tests/data/perf/rec.c tests/data/perf/rec.children.txt \
	tests/data/perf/rec.script tests/data/perf/rec.self.txt
