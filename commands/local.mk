# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += commands/list.def commands/settings.def \
	commands/abbreviations.def commands/words.def \
	commands/apropos.c \
	commands/body.c \
	commands/callees.c \
	commands/callers.c \
	commands/commands.c \
	commands/directories.c \
	commands/down.c \
	commands/drop.c \
	commands/export.c \
	commands/find.c \
	commands/flame.c \
	commands/flat.c \
	commands/functions.c \
	commands/graph.c \
	commands/group.c \
	commands/help.c \
	commands/history.c \
	commands/info.c \
	commands/list.c \
	commands/load.c \
	commands/narrow.c \
	commands/never.c \
	commands/path.c \
	commands/processes.c \
	commands/quit.c \
	commands/record.c \
	commands/redo.c \
	commands/reload.c \
	commands/reset.c \
	commands/watch.c \
	commands/resource.c \
	commands/root.c \
	commands/save.c \
	commands/set.c \
	commands/shell.c \
	commands/show.c \
	commands/source.c \
	commands/steps.c \
	commands/symfs.c \
	commands/threads.c \
	commands/top.c \
	commands/tree.c \
	commands/undo.c \
	commands/ungroup.c \
	commands/up.c
