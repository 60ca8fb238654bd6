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
	src/formats/callgrind/callgrind.c \
	src/formats/callgrind/callgrind_contexts.c \
	src/formats/callgrind/callgrind.h \
	src/formats/callgrind/callgrind_costs.c \
	src/formats/callgrind/callgrind_events.c \
	src/formats/callgrind/callgrind_names.c \
	src/formats/callgrind/callgrind_output.c \
	src/formats/callgrind/callgrind_words.c \
	src/formats/callgrind/export_callgrind.c \
	src/formats/chrome/chrome_trace.c \
	src/formats/chrome/cpuprofile.c \
	src/formats/chrome/v8_profile.c src/formats/chrome/v8_profile.h \
	src/formats/chrome/v8_tree.c \
	src/formats/collapsed/collapsed.c \
	src/formats/collapsed/collapsed_header.c \
	src/formats/collapsed/collapsed_lines.c \
	src/formats/collapsed/collapsed_probe.c \
	src/formats/collapsed/collapsed_stack.c \
	src/formats/collapsed/collapsed_threads.c \
	src/formats/collapsed/export_collapsed.c \
	src/formats/cpprofdata/cpprofdata.c \
	src/formats/cpprofdata/cpprofdata_code.c \
	src/formats/cpprofdata/cpprofdata_internal.h \
	src/formats/cpprofdata/cpprofdata_file.c \
	src/formats/cpprofdata/cpprofdata_file.h \
	src/formats/cpprofdata/cpprofdata_process.c \
	src/formats/cpprofdata/cpprofdata_slices.c \
	src/formats/cpprofdata/cpprofdata_summary.c \
	src/formats/cpprofdata/export_cpprofdata.c \
	src/formats/cpprofdata/names_file.c \
	src/formats/cpprofdata/names_writer.c \
	src/formats/cpprofdata/recording_names.c \
	src/formats/cpprofdata/slices_writer.c \
	src/formats/firefox/firefox.c \
	src/formats/firefox/firefox_frames.c \
	src/formats/firefox/firefox.h \
	src/formats/firefox/firefox_tables.c \
	src/formats/firefox/firefox_thread.c \
	src/formats/firefox/firefox_tree.c \
	src/formats/gmon/gmon.c \
	src/formats/gperftools/gperftools.c \
	src/formats/json/json_number.c \
	src/formats/json/json_probe.c \
	src/formats/json/json_reader.c src/formats/json/json_reader.h \
	src/formats/legacy/legacy.c \
	src/formats/legacy/legacy.h \
	src/formats/legacy/legacy_lines.c \
	src/formats/merged/merged.c \
	src/formats/merged/merged_file.h \
	src/formats/merged/merged_probe.c \
	src/formats/merged/merged_write.c \
	src/formats/merged/merging.c src/formats/merged/merging.h \
	src/formats/otlp/otlp.c \
	src/formats/otlp/otlp_fields.h \
	src/formats/otlp/otlp_json.c \
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
	src/formats/speedscope/export_speedscope.c \
	src/formats/speedscope/speedscope.c \
	src/formats/speedscope/speedscope_stacks.c \
	src/formats/speedscope/speedscope.h \
	src/formats/speedscope/speedscope_times.c \
	src/formats/xhprof/xhprof.c
