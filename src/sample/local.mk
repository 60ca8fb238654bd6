# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/sample/sample.h \
	src/sample/sample_events.c \
	src/sample/sample_file.c \
	src/sample/sample_held.c \
	src/sample/sample_interpreters.c \
	src/sample/sample_python.c \
	src/sample/sample_stack.c \
	src/sample/sample_target.c \
	src/sample/sample_tasks.c \
	src/sample/sampler.c \
	src/sample/sampler.h \
	src/sample/sampler_files.c \
	src/sample/sampler_kernel.c \
	src/sample/sampler_process.c \
	src/sample/sampler_waits.c
