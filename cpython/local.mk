# SPDX-License-Identifier: MIT
# cpython/ is compiled into the program and into the collector.
EXTRA_DIST += cpython/COPYING
cpython_sources = cpython/layout.c cpython/layout.h \
	cpython/loop.c cpython/objects.h \
	cpython/tasks.h cpython/walk.h

libcore_a_SOURCES += $(cpython_sources)
