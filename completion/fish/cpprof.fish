# SPDX-License-Identifier: GPL-3.0-or-later
# cpprof.fish -- completion of cpprof in fish.  cpprof --complete says what a word
# may become (src/shell/command/complete_shell.c); this only asks and shows.

function __cpprof_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct | string replace -r '^["\']' '')
    set -l answer (command $words[1] --complete $words[2..-1] "$last" 2>/dev/null)
    switch "$answer[1]"
        case 'program *'
            set -l n (string replace 'program ' '' $answer[1])
            set -l program (string escape -- $words[(math $n + 2)..-1])
            complete -C (string join ' ' -- $program "$last")
        case 'files*'
            # In --base=FILE, so many bytes precede the name.
            set -l n (string replace -r 'files ?' '' $answer[1])
            printf '%s\n' $answer[2..-1]
            test -n "$n"; or set n 0
            printf '%s\n' (string sub -l $n -- "$last")(__fish_complete_path \
                (string sub -s (math $n + 1) -- "$last"))
        case '*'
            printf '%s\n' $answer[2..-1]
    end
end

complete -c cpprof -f -a '(__cpprof_complete)'
