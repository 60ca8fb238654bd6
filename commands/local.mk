# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += commands/list.def \
	commands/apropos.c \
	commands/body.c \
	commands/callees.c \
	commands/callers.c \
	commands/color.c \
	commands/depth.c \
	commands/digits.c \
	commands/down.c \
	commands/find.c \
	commands/flat.c \
	commands/format.c \
	commands/functions.c \
	commands/granularity.c \
	commands/help.c \
	commands/history.c \
	commands/info.c \
	commands/inlines.c \
	commands/limit.c \
	commands/load.c \
	commands/pager.c \
	commands/path.c \
	commands/percent.c \
	commands/quit.c \
	commands/record.c \
	commands/reload.c \
	commands/resource.c \
	commands/root.c \
	commands/set.c \
	commands/shell.c \
	commands/show.c \
	commands/source.c \
	commands/symfs.c \
	commands/threshold.c \
	commands/tree.c \
	commands/unit.c \
	commands/up.c
