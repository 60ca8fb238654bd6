# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/formats/callgrind.c src/formats/callgrind_reader.h \
	src/formats/callgrind_body.c src/formats/callgrind_head.c \
	src/formats/callgrind_costs.c src/formats/callgrind_costs.h \
	src/formats/callgrind_events.c src/formats/callgrind_events.h \
	src/formats/callgrind_names.c src/formats/callgrind_names.h \
	src/formats/callgrind_output.c src/formats/callgrind_output.h \
	src/formats/collapsed.c \
	src/formats/collapsed_header.c src/formats/collapsed_header.h \
	src/formats/collapsed_lines.c src/formats/collapsed_lines.h \
	src/formats/collapsed_stack.c src/formats/collapsed_stack.h \
	src/formats/delimiters.h \
	src/formats/cpprofdata.c \
	src/formats/export_callgrind.c \
	src/formats/export_collapsed.c \
	src/formats/export_cpprofdata.c \
	src/formats/export_pprof.c \
	src/formats/export_speedscope.c \
	src/formats/exporter.c src/formats/exporter.h \
	src/formats/exporters.def \
	src/formats/cpprofdata_file.c src/formats/cpprofdata_file.h \
	src/formats/cpprofdata_summary.c src/formats/cpprofdata_summary.h \
	src/formats/cpprofdata_writer.c src/formats/cpprofdata_writer.h \
	src/formats/format.c src/formats/format.h src/formats/list.def \
	src/formats/frame_names.c src/formats/frame_names.h \
	src/formats/gperftools.c \
	src/formats/gperftools_maps.c src/formats/gperftools_maps.h \
	src/formats/id_table.c src/formats/id_table.h \
	src/formats/gmon.c \
	src/formats/gzip_output.c src/formats/gzip_output.h \
	src/formats/load.c \
	src/formats/perf_event.c src/formats/perf_event.h \
	src/formats/perf_data.c \
	src/formats/perf_events.c src/formats/perf_events.h \
	src/formats/perf_features.c src/formats/perf_features.h \
	src/formats/perf_frames.c src/formats/perf_frames.h \
	src/formats/perf_queue.c src/formats/perf_queue.h \
	src/formats/perf_records.h \
	src/formats/perf_session.c src/formats/perf_session.h \
	src/formats/perf_space.c src/formats/perf_space.h \
	src/formats/perf_spaces.c src/formats/perf_spaces.h \
	src/formats/perf_stacks.c src/formats/perf_stacks.h \
	src/formats/perf_unpacker.c src/formats/perf_unpacker.h \
	src/formats/perf_script.c \
	src/formats/perf_script_frames.c src/formats/perf_script_frames.h \
	src/formats/perf_script_line.c src/formats/perf_script_line.h \
	src/formats/pprof.c \
	src/formats/pprof_code.c \
	src/formats/pprof_encoding.h \
	src/formats/pprof_frames.c src/formats/pprof_frames.h \
	src/formats/pprof_origin.c src/formats/pprof_origin.h \
	src/formats/pprof_profile.c src/formats/pprof_profile.h \
	src/formats/pprof_samples.c src/formats/pprof_samples.h \
	src/formats/pprof_tables.c src/formats/pprof_tables.h \
	src/formats/protobuf.h \
	src/formats/protobuf_output.h \
	src/formats/source.c src/formats/source.h \
	src/formats/stack_feed.c src/formats/stack_feed.h \
	src/formats/stack_writer.c src/formats/stack_writer.h \
	src/formats/thread_sections.c src/formats/thread_sections.h \
	src/formats/worker.c src/formats/worker.h
