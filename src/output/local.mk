# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/output/alike_rows.c \
	src/output/box_label.c \
	src/output/chart_svg.c \
	src/output/drawing.c src/output/drawing.h \
	src/output/json.c \
	src/output/name_forks.c \
	src/output/number_text.c \
	src/output/output.c src/output/output.h \
	src/output/output_formats.c \
	src/output/path_text.c \
	src/output/picture_script.c \
	src/output/picture_svg.c \
	src/output/picture_text.c \
	src/output/printable_writer.c \
	src/output/report_page.c \
	src/output/report_script.c \
	src/output/separated.c \
	src/output/shown_names.c \
	src/output/svg.c \
	src/output/text.c \
	src/output/text_columns.c \
	src/output/text_pattern.c
