# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/refine/frame_pattern.c \
	src/refine/hidden.c src/refine/interpreter.def \
	src/refine/own_functions.c \
	src/refine/path_chains.c \
	src/refine/path_pattern.c \
	src/refine/ready_groups.def \
	src/refine/refine.c src/refine/refine.h \
	src/refine/refine_graph.c \
	src/refine/refinement.c \
	src/refine/refining.c src/refine/refining.h \
	src/refine/section_pattern.c \
	src/refine/stacks.c \
	src/refine/startup.c src/refine/startup.def \
	src/refine/step.c \
	src/refine/step_apply.c
