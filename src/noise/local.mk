# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/noise/change.c src/noise/change.h \
	src/noise/distributions.c src/noise/distributions.h \
	src/noise/estimate.c src/noise/estimate.h \
	src/noise/jackknife.c src/noise/jackknife.h \
	src/noise/outliers.c src/noise/outliers.h
