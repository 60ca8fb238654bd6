# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/profile/call_flow.c src/profile/call_flow.h \
	src/profile/call_graph.c src/profile/call_graph.h \
	src/profile/call_graph_sum.c \
	src/profile/call_places.c \
	src/profile/components.c \
	src/profile/flow_calls.c src/profile/flow_hits.c \
	src/profile/flow_tree.c \
	src/profile/digest_index.c \
	src/profile/fleet.c src/profile/fleet.h \
	src/profile/fleet_accepts.c \
	src/profile/fleet_add.c \
	src/profile/fleet_lines.c \
	src/profile/fleet_order.c \
	src/profile/fleet_stacks.c \
	src/profile/fleet_sum.c \
	src/profile/fleet_tree.c \
	src/profile/frame_labels.c src/profile/frame_labels.h \
	src/profile/function_places.c \
	src/profile/frame_union.c \
	src/profile/large_array.c src/profile/large_array.h \
	src/profile/named_graph.c \
	src/profile/observed_calls.c \
	src/profile/count_kinds.c src/profile/count_kinds.h \
	src/profile/profile.c src/profile/profile.h \
	src/profile/merge_resources.c src/profile/profile_merge.h \
	src/profile/profile_merge.c \
	src/profile/profile_named_tree.c \
	src/profile/profile_adder.c \
	src/profile/sample_tree.c src/profile/sample_tree.h \
	src/profile/sections.c src/profile/sections.h \
	src/profile/run_names.c src/profile/run_names.h \
	src/profile/short_paths.c \
	src/profile/stack_list.c src/profile/stack_list.h \
	src/profile/timeline.c \
	src/profile/tree_builder.c src/profile/tree_builder.h \
	src/profile/tree_time.c \
	src/profile/tree_children.c \
	src/profile/tree_order.c src/profile/tree_relabel.c \
	src/profile/tree_spread.c
