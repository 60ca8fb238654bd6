# SPDX-License-Identifier: GPL-3.0-or-later
# The commands, in the order of help and the manual: those of a group (enum
# command_group) follow each other.
command_sources = \
	commands/top.c \
	commands/explain.c \
	commands/functions.c \
	commands/body.c \
	commands/flat.c \
	commands/down.c \
	commands/up.c \
	commands/tree.c \
	commands/flame.c \
	commands/callers.c \
	commands/callees.c \
	commands/graph.c \
	commands/never.c \
	commands/timeline.c \
	commands/leaks.c \
	commands/waits.c \
	commands/calls.c \
	commands/modules.c \
	commands/threads.c \
	commands/processes.c \
	commands/labels.c \
	commands/path.c \
	commands/specialise.c \
	commands/members.c \
	commands/open.c \
	commands/list.c \
	commands/disasm.c \
	commands/narrow.c \
	commands/drop.c \
	commands/group.c \
	commands/ungroup.c \
	commands/steps.c \
	commands/undo.c \
	commands/redo.c \
	commands/reset.c \
	commands/save.c \
	commands/base.c \
	commands/diff.c \
	commands/scale.c \
	commands/assert.c \
	commands/budget.c \
	commands/keep.c \
	commands/log.c \
	commands/settings.def \
	commands/set.c \
	commands/show.c \
	commands/info.c \
	commands/record.c \
	commands/tasks.c \
	commands/merge.c \
	commands/mcp.c \
	commands/load.c \
	commands/reload.c \
	commands/watch.c \
	commands/export.c \
	commands/report.c \
	commands/symfs.c \
	commands/directories.c \
	commands/source.c \
	commands/help.c \
	commands/apropos.c \
	commands/history.c \
	commands/shell.c \
	commands/quit.c

# Settings with code of their own; their place is in settings.def.
libcore_a_SOURCES += $(command_sources) commands/commands.c \
	commands/column.c commands/columns.c commands/resource.c \
	commands/root.c

commands/names.def: commands/local.mk
	$(AM_V_GEN)$(MKDIR_P) commands && for source in $(command_sources); do \
		case $$source in \
		*.c) echo "$$source" | sed 's|.*/\(.*\)\.c|COMMAND(\1)|' ;; \
		*) echo '#define SETTING(name, ...) COMMAND(name)'; \
			echo "#include \"$$source\""; \
			echo '#undef SETTING' ;; \
		esac; \
	done >$@
$(libcore_a_OBJECTS) $(tests_test_commands_OBJECTS): | commands/names.def
BUILT_SOURCES += commands/names.def
CLEANFILES += commands/names.def
