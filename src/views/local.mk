# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/views/amount.c src/views/amount.h \
	src/views/bodies.c src/views/bodies.h \
	src/views/clones.c src/views/clones.h \
	src/views/compare.c src/views/compare.h \
	src/views/compared_heading.c src/views/compared_heading.h \
	src/views/compared_table.c \
	src/views/counted.c src/views/counted.h \
	src/views/code_hits.c src/views/code_hits.h \
	src/views/columns.c src/views/columns.h \
	src/views/disasm.c src/views/disasm.h \
	src/views/down.c \
	src/views/explain.c src/views/explain.h \
	src/views/flat.c \
	src/views/flow_paths.c src/views/flow_paths.h \
	src/views/flow_steps.c src/views/flow_steps.h \
	src/views/functions.c \
	src/views/graph.c src/views/graph.h \
	src/views/graph_entries.c src/views/graph_entries.h \
	src/views/group_noise.c src/views/group_noise.h \
	src/views/heading.c src/views/heading.h \
	src/views/hits_text.c src/views/hits_text.h \
	src/views/icicle.c \
	src/views/jit_runtimes.c src/views/jit_runtimes.h \
	src/views/list.c src/views/list.h \
	src/views/measure.c src/views/measure.h \
	src/views/neighbours.c \
	src/views/never.c \
	src/views/order.c src/views/order.h \
	src/views/outermost.c src/views/outermost.h \
	src/views/path.c \
	src/views/path_hits.c src/views/path_hits.h \
	src/views/path_trie.c src/views/path_trie.h \
	src/views/run_noise.c src/views/run_noise.h \
	src/views/rows.c src/views/rows.h \
	src/views/top.c \
	src/views/totals.c src/views/totals.h \
	src/views/members.c src/views/members.h \
	src/views/saving.c src/views/saving.h \
	src/views/sections.c src/views/sections.h \
	src/views/specialise.c src/views/specialise.h \
	src/views/times.c \
	src/views/times_chart.c src/views/times_chart.h \
	src/views/tree.c \
	src/views/up.c \
	src/views/view.h \
	src/views/work.c src/views/work.h \
	src/views/when.c src/views/when.h
