# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/views/amount.c \
	src/views/bodies.c \
	src/views/clones.c \
	src/views/compare.c src/views/compare.h \
	src/views/compared_heading.c \
	src/views/compared_table.c \
	src/views/counted.c \
	src/views/code_hits.c src/views/code_hits.h \
	src/views/columns.c \
	src/views/disasm.c \
	src/views/down.c \
	src/views/explain.c \
	src/views/flat.c \
	src/views/flow_paths.c \
	src/views/flow_steps.c src/views/paths.h \
	src/views/functions.c \
	src/views/graph.c \
	src/views/graph_entries.c \
	src/views/group_noise.c \
	src/views/heading.c \
	src/views/hits_text.c \
	src/views/icicle.c \
	src/views/jit_runtimes.c \
	src/views/list.c \
	src/views/measure.c \
	src/views/neighbours.c \
	src/views/never.c \
	src/views/order.c \
	src/views/outermost.c \
	src/views/path.c \
	src/views/path_hits.c \
	src/views/path_trie.c \
	src/views/run_noise.c \
	src/views/rows.c src/views/rows.h \
	src/views/top.c \
	src/views/totals.c \
	src/views/members.c \
	src/views/saving.c \
	src/views/sections.c \
	src/views/specialise.c src/views/specialise.h \
	src/views/times.c \
	src/views/times_chart.c \
	src/views/tree.c \
	src/views/up.c \
	src/views/view.h \
	src/views/work.c \
	src/views/when.c
