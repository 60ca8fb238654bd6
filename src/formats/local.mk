# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/formats/collapsed.c \
	src/formats/collapsed_header.c src/formats/collapsed_header.h \
	src/formats/collapsed_lines.c src/formats/collapsed_lines.h \
	src/formats/collapsed_stack.c src/formats/collapsed_stack.h \
	src/formats/delimiters.h \
	src/formats/cpprofdata.c \
	src/formats/cpprofdata_file.c src/formats/cpprofdata_file.h \
	src/formats/cpprofdata_summary.c src/formats/cpprofdata_summary.h \
	src/formats/format.c src/formats/format.h src/formats/list.def \
	src/formats/frame_names.c src/formats/frame_names.h \
	src/formats/load.c \
	src/formats/source.c src/formats/source.h \
	src/formats/stack_writer.c src/formats/stack_writer.h \
	src/formats/worker.c src/formats/worker.h
