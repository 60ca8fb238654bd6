# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES += \
	src/shell/terminal/child.c \
	src/shell/terminal/history.c \
	src/shell/terminal/interrupt.c \
	src/shell/terminal/message.c \
	src/shell/terminal/progress_line.c \
	src/shell/terminal/terminal.c src/shell/terminal/terminal.h \
	src/shell/terminal/terminal_watch.c \
	src/shell/line/completion.c \
	src/shell/line/option_row.c \
	src/shell/line/options.c src/shell/line/options.h \
	src/shell/line/words.c src/shell/line/words.h \
	src/shell/record/attach.c \
	src/shell/record/attach_inside.c \
	src/shell/record/code_answers.c \
	src/shell/record/companion.c \
	src/shell/record/file_watch.c \
	src/shell/record/earlier.c \
	src/shell/record/keep_names.c \
	src/shell/record/kernel_list.c \
	src/shell/record/launch.c \
	src/shell/record/offer_list.c \
	src/shell/record/offers.c \
	src/shell/record/preload.c \
	src/shell/record/record_checks.c \
	src/shell/record/record_options.c \
	src/shell/record/recording.c src/shell/record/recording.h \
	src/shell/record/recording_report.c \
	src/shell/record/resource_kinds.c \
	src/shell/record/sampled_time.c \
	src/shell/record/spare_files.c \
	src/shell/record/unsampled_time.c \
	src/shell/session/code.c \
	src/shell/session/column_list.c \
	src/shell/session/comparison.c src/shell/session/comparison.h \
	src/shell/session/comparison_scale.c \
	src/shell/session/debug_files.c \
	src/shell/session/kept.c src/shell/session/kept.h \
	src/shell/session/kept_git.c \
	src/shell/session/kept_git_check.c \
	src/shell/session/kept_runs.c \
	src/shell/session/last_rows.c \
	src/shell/session/member.c \
	src/shell/session/member_file.c \
	src/shell/session/naming.c src/shell/session/naming.h \
	src/shell/session/path_tables.c \
	src/shell/session/table_directory.c \
	src/shell/session/path_tables.h src/shell/session/stack_paths.c \
	src/shell/session/root.c \
	src/shell/session/runs.c \
	src/shell/session/session.c src/shell/session/session.h \
	src/shell/session/session_left.c \
	src/shell/session/session_left.h \
	src/shell/session/sides.c \
	src/shell/command/argument_kinds.c \
	src/shell/command/arguments.c \
	src/shell/command/asserting.c src/shell/command/asserting.h \
	src/shell/command/assertion.c \
	src/shell/command/code_argument.c \
	src/shell/command/code_sources.c \
	src/shell/command/column_argument.c \
	src/shell/command/command.c src/shell/command/command.h \
	src/shell/command/complete.c \
	src/shell/command/complete_shell.c \
	src/shell/command/handles.c \
	src/shell/command/function_code.c \
	src/shell/command/interpret.c src/shell/command/interpret.h \
	src/shell/command/settings.c \
	src/shell/command/path_words.c \
	src/shell/command/picture_file.c \
	src/shell/command/reporting.c src/shell/command/reporting.h \
	src/shell/command/resolve.c src/shell/command/resolve.h \
	src/shell/command/selection.c \
	src/shell/command/resolve_code.c \
	src/shell/command/resolve_short.c \
	src/shell/command/sink.c \
	src/shell/command/view_command.c src/shell/command/view_command.h \
	src/shell/help/help_text.c src/shell/help/help_text.h \
	src/shell/help/manual.c \
	src/shell/input/describe.c src/shell/input/input.h \
	src/shell/input/prompt.c \
	src/shell/input/script.c \
	src/shell/input/settings_file.c \
	src/shell/input/startup.c \
	src/shell/mcp/mcp.c src/shell/mcp/mcp.h \
	src/shell/mcp/mcp_message.c src/shell/mcp/mcp_tool.c
