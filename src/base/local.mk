# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/base/arena.c \
	src/base/bytes.h \
	src/base/call_paths.c \
	src/base/clock.h \
	src/base/error.c src/base/error.h \
	src/base/expression.c \
	src/base/forks.c \
	src/base/index.c src/base/index.h \
	src/base/json_string.c \
	src/base/memory.c src/base/memory.h \
	src/base/name_parts.c \
	src/base/named_file.c src/base/named_file.h \
	src/base/names.c src/base/names.h \
	src/base/near.c \
	src/base/new_file.c \
	src/base/own_file.c \
	src/base/own_file.h \
	src/base/pattern.c src/base/pattern.h \
	src/base/printable.c \
	src/base/progress.c src/base/progress.h \
	src/base/read_only.c \
	src/base/shared_library.c src/base/shared_library.h \
	src/base/short_name.c src/base/short_name.h \
	src/base/sort.c \
	src/base/table.c src/base/table.h \
	src/base/task.c src/base/task.h \
	src/base/text_buffer.c src/base/text_buffer.h \
	src/base/text_lines.c \
	src/base/typed_name.c \
	src/base/units.c src/base/units.h \
	src/base/utf8.c \
	src/base/worker.c src/base/worker.h \
	src/base/wrapping.c \
	src/base/writer.c src/base/writer.h
