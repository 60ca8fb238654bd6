# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/inject/inject.c \
	src/inject/inject.h \
	src/inject/inject_call.c \
	src/inject/inject_place.c \
	src/inject/inject_process.c \
	src/inject/inject_thread.c
