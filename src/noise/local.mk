# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/noise/call_lengths.c \
	src/noise/change.c src/noise/noise.h \
	src/noise/change_points.c \
	src/noise/distributions.c \
	src/noise/estimate.c \
	src/noise/jackknife.c \
	src/noise/outliers.c
