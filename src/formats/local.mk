# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/formats/collapsed/collapsed.h \
	src/formats/exporter.c src/formats/exporter.h \
	src/formats/exporters.def \
	src/formats/foreign.c \
	src/formats/format.c src/formats/format.h \
	src/formats/frame_names.c \
	src/formats/id_table.c \
	src/formats/list.def \
	src/formats/load.c \
	src/formats/reader.c src/formats/reader.h \
	src/formats/memory_map.c \
	src/formats/packer.c \
	src/formats/run_list.c \
	src/formats/source.c src/formats/source.h \
	src/formats/stack_writer.c \
	src/formats/unpacker.c \
	src/formats/autofdo/export_autofdo.c \
	src/formats/bolt/export_bolt.c \
	src/formats/callgrind/callgrind.c \
	src/formats/callgrind/callgrind.h \
	src/formats/callgrind/callgrind_names.c \
	src/formats/callgrind/export_callgrind.c \
	src/formats/chrome/chrome_trace.c \
	src/formats/chrome/cpuprofile.c src/formats/chrome/cpuprofile.h \
	src/formats/collapsed/collapsed.c \
	src/formats/collapsed/export_collapsed.c \
	src/formats/cpprofdata/cpprofdata.c \
	src/formats/cpprofdata/cpprofdata_calls.c \
	src/formats/cpprofdata/cpprofdata_internal.h \
	src/formats/cpprofdata/interpreted.h \
	src/formats/cpprofdata/cpprofdata_file.c \
	src/formats/cpprofdata/cpprofdata_functions.c \
	src/formats/cpprofdata/cpprofdata_file.h \
	src/formats/cpprofdata/cpprofdata_process.c \
	src/formats/cpprofdata/cpprofdata_summary.c \
	src/formats/cpprofdata/export_cpprofdata.c \
	src/formats/cpprofdata/names_file.c \
	src/formats/cpprofdata/names_writer.c \
	src/formats/cpprofdata/recording_names.c \
	src/formats/firefox/firefox.c \
	src/formats/gmon/gmon.c \
	src/formats/gperftools/gperftools.c \
	src/formats/json/json_fields.c \
	src/formats/json/json_reader.c src/formats/json/json_reader.h \
	src/formats/legacy/legacy.c \
	src/formats/legacy/legacy.h \
	src/formats/legacy/legacy_lines.c \
	src/formats/merged/merged.c \
	src/formats/merged/merged_file.h \
	src/formats/merged/merged_write.c \
	src/formats/merged/merging.c src/formats/merged/merging.h \
	src/formats/flames/flames.c \
	src/formats/otlp/otlp.c \
	src/formats/otlp/otlp_fields.h \
	src/formats/otlp/otlp_json.c \
	src/formats/otlp/otlp_messages.c \
	src/formats/parquet/parquet.c src/formats/parquet/parquet.h \
	src/formats/perf/perf_data.c \
	src/formats/perf/perf_deferred.c src/formats/perf/perf_data.h \
	src/formats/perf/perf_events.c \
	src/formats/perf/perf_features.c \
	src/formats/perf/perf_machine.c \
	src/formats/perf/perf_sample.c \
	src/formats/perf/perf_script.c \
	src/formats/perf/perf_script_line.c \
	src/formats/perf/perf_script_line.h \
	src/formats/perf/perf_session.c \
	src/formats/perf/perf_stacks.c \
	src/formats/perf/perf_tree.c \
	src/formats/phpspy/phpspy.c \
	src/formats/pprof/export_pprof.c \
	src/formats/pprof/pprof.c \
	src/formats/pprof/pprof_builder.c src/formats/pprof/pprof.h \
	src/formats/pprof/pprof_frames.c \
	src/formats/pprof/pprof_labels.c \
	src/formats/pprof/pprof_profile.c \
	src/formats/pprof/pprof_raw.c \
	src/formats/pprof/pprof_samples.c \
	src/formats/pprof/pprof_tables.c \
	src/formats/sentry/sentry.c \
	src/formats/speedscope/export_speedscope.c \
	src/formats/speedscope/speedscope.c \
	src/formats/xhprof/xhprof.c

# Their unit tests.
format_tests = tests/test-callgrind \
	tests/test-collapsed \
	tests/test-cpprofdata \
	tests/test-cpuprofile \
	tests/test-firefox \
	tests/test-gmon \
	tests/test-gperftools \
	tests/test-legacy \
	tests/test-merged \
	tests/test-flames \
	tests/test-sentry \
	tests/test-otlp \
	tests/test-perf-data \
	tests/test-perf-script \
	tests/test-phpspy \
	tests/test-pprof \
	tests/test-pprof-raw \
	tests/test-speedscope \
	tests/test-xhprof

tests_test_callgrind_SOURCES = tests/test-callgrind.c
tests_test_callgrind_CFLAGS = $(unit_cflags)
tests_test_callgrind_LDADD = $(unit_libs)
tests_test_callgrind_LDFLAGS = $(failing_memory)

tests_test_collapsed_SOURCES = tests/test-collapsed.c \
	tests/failing-memory.h
tests_test_collapsed_CFLAGS = $(unit_cflags)
tests_test_collapsed_LDADD = $(unit_libs)
tests_test_collapsed_LDFLAGS = $(failing_memory)

tests_test_cpprofdata_SOURCES = tests/test-cpprofdata.c
tests_test_cpprofdata_CFLAGS = $(unit_cflags)
tests_test_cpprofdata_LDADD = $(unit_libs)
tests_test_cpprofdata_LDFLAGS = $(failing_memory)

tests_test_cpuprofile_SOURCES = tests/test-cpuprofile.c \
	tests/reader-fixture.h
tests_test_cpuprofile_CFLAGS = $(unit_cflags)
tests_test_cpuprofile_LDADD = $(unit_libs)
tests_test_cpuprofile_LDFLAGS = $(failing_memory)

tests_test_firefox_SOURCES = tests/test-firefox.c tests/reader-fixture.h
tests_test_firefox_CFLAGS = $(unit_cflags)
tests_test_firefox_LDADD = $(unit_libs)
tests_test_firefox_LDFLAGS = $(failing_memory)

tests_test_gmon_SOURCES = tests/test-gmon.c
tests_test_gmon_CFLAGS = $(unit_cflags)
tests_test_gmon_LDADD = $(unit_libs)
tests_test_gmon_LDFLAGS = $(failing_memory)

tests_test_gperftools_SOURCES = tests/test-gperftools.c \
	tests/reader-fixture.h tests/failing-memory.h \
	tests/profile-digest.h tests/reading-again.h
tests_test_gperftools_CFLAGS = $(unit_cflags)
tests_test_gperftools_LDADD = $(unit_libs)
tests_test_gperftools_LDFLAGS = $(failing_memory)

tests_test_legacy_SOURCES = tests/test-legacy.c tests/reader-fixture.h
tests_test_legacy_CFLAGS = $(unit_cflags)
tests_test_legacy_LDADD = $(unit_libs)
tests_test_legacy_LDFLAGS = $(failing_memory)

tests_test_merged_SOURCES = tests/test-merged.c \
	tests/reader-fixture.h tests/failing-memory.h \
	tests/profile-digest.h tests/reading-again.h
tests_test_merged_CFLAGS = $(unit_cflags)
tests_test_merged_LDADD = $(unit_libs)
tests_test_merged_LDFLAGS = $(failing_memory)

tests_test_sentry_SOURCES = tests/test-sentry.c tests/reader-fixture.h
tests_test_sentry_CFLAGS = $(unit_cflags)
tests_test_sentry_LDADD = $(unit_libs)
tests_test_sentry_LDFLAGS = $(failing_memory)

tests_test_flames_SOURCES = tests/test-flames.c tests/reader-fixture.h
tests_test_flames_CFLAGS = $(unit_cflags)
tests_test_flames_LDADD = $(unit_libs)
tests_test_flames_LDFLAGS = $(failing_memory)

tests_test_otlp_SOURCES = tests/test-otlp.c tests/reader-fixture.h
tests_test_otlp_CFLAGS = $(unit_cflags)
tests_test_otlp_LDADD = $(unit_libs)
tests_test_otlp_LDFLAGS = $(failing_memory)

tests_test_perf_data_SOURCES = tests/test-perf-data.c \
	tests/reader-fixture.h
tests_test_perf_data_CFLAGS = $(unit_cflags)
tests_test_perf_data_LDADD = $(unit_libs)
tests_test_perf_data_LDFLAGS = $(failing_memory)

tests_test_perf_script_SOURCES = tests/test-perf-script.c \
	tests/reader-fixture.h
tests_test_perf_script_CFLAGS = $(unit_cflags)
tests_test_perf_script_LDADD = $(unit_libs)
tests_test_perf_script_LDFLAGS = $(failing_memory)

tests_test_phpspy_SOURCES = tests/test-phpspy.c tests/reader-fixture.h
tests_test_phpspy_CFLAGS = $(unit_cflags)
tests_test_phpspy_LDADD = $(unit_libs)
tests_test_phpspy_LDFLAGS = $(failing_memory)

tests_test_pprof_SOURCES = tests/test-pprof.c tests/reader-fixture.h
tests_test_pprof_CFLAGS = $(unit_cflags)
tests_test_pprof_LDADD = $(unit_libs)
tests_test_pprof_LDFLAGS = $(failing_memory)

tests_test_pprof_raw_SOURCES = tests/test-pprof-raw.c \
	tests/reader-fixture.h
tests_test_pprof_raw_CFLAGS = $(unit_cflags)
tests_test_pprof_raw_LDADD = $(unit_libs)
tests_test_pprof_raw_LDFLAGS = $(failing_memory)

tests_test_speedscope_SOURCES = tests/test-speedscope.c \
	tests/reader-fixture.h
tests_test_speedscope_CFLAGS = $(unit_cflags)
tests_test_speedscope_LDADD = $(unit_libs)
tests_test_speedscope_LDFLAGS = $(failing_memory)

tests_test_xhprof_SOURCES = tests/test-xhprof.c tests/reader-fixture.h
tests_test_xhprof_CFLAGS = $(unit_cflags)
tests_test_xhprof_LDADD = $(unit_libs)
tests_test_xhprof_LDFLAGS = $(failing_memory)
