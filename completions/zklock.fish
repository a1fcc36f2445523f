# SPDX-License-Identifier: Apache-2.0
# Fish completion for zklock. Put it into a folder of $fish_complete_path, for instance ~/.config/fish/completions. What
# to offer is answered by "zklock complete" (src/command/subcommands.h).

function __zklock_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lead (string match -r -- '^--[^=]+=' $typed)
    set -l plain (string unescape -- $typed)
    and set typed $plain
    set -l program $words[1]
    if not string match -q '*/*' -- $program; or not test -x $program
        set program zklock
    end
    set -l answer (command $program complete -- $words[2..-1] "$typed" 2>/dev/null)
    test (count $answer) -gt 0; or return
    set -l kind (string split ' ' -- $answer[1])
    set -e answer[1]
    switch $kind[1]
        case words
            string replace -r -- '^' "$lead" $answer
        case paths
            # Behind the only one fish puts a space. Where there is something below it, to go on with "/" is the user's
            # to choose.
            if test (count $answer) = 1; and count (command $program complete -- $words[2..-1] "$lead$answer/" 2>/dev/null) >/dev/null
                set answer $answer $answer/
            end
            string replace -r -- '^' "$lead" $answer
        case files
            __fish_complete_path (string replace -- "$lead" '' $typed) | string replace -r -- '^' "$lead"
        case command
            # It is completed as a command line of its own.
            set -l all $words (commandline -ct)
            complete -C "$(string escape -- $all[(math $kind[2] + 2)..-2] | string join ' ') $(commandline -ct)"
    end
end

complete -c zklock -f -a '(__zklock_complete)'
