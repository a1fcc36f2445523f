# SPDX-License-Identifier: Apache-2.0
# Fish completion for zklock. Put it into a folder of $fish_complete_path, for instance ~/.config/fish/completions.

# The command behind the first `--` is completed as a command line of its own.
function __zklock_has_command
    contains -- -- (commandline -opc)
end

function __zklock_complete_command
    set -l words (commandline -opc) (commandline -ct)
    set -l at (contains -i -- -- $words)
    complete -C "$(string escape -- $words[(math $at + 1)..-1] | string join ' ')"
end

# The words before the cursor that are neither options nor their values.
function __zklock_words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case --servers --session-timeout --connect-timeout --auth-file --acl --tls-ca --tls-cert --tls-key \
                    --tls-server-name --timeout --conflict-exit-code --command --grace --label --peer --slots --min-hold --once-per --report --priority --count --replace --jobs --max-attempts \
                    --retry-delay --max-latency --max-outstanding --min-servers --probe --format --interval --name --data \
                    --data-file --at-least --at-most --default --if-version --equals --newer-than
                set skip 1
            case '--*'
            case '-*'
                # A letter with a value takes the rest of the word, or the next one.
                if string match -qr -- '^-[hnqrsvVx0l]*[SwEcpNIj]$' $word
                    set skip 1
                end
            case '*'
                printf '%s\n' $word
        end
    end
end

# __zklock_at NAME...: at one of these subcommands, "queue push"; '' is none as yet.
function __zklock_at
    __zklock_has_command; and return 1
    set -l words (__zklock_words)
    set -l at "$words[1]"
    if contains -- "$at" queue group value
        set at "$words[1..2]"
    end
    contains -- "$at" $argv
end

# How many words it has been given.
function __zklock_has_operands
    set -l words (__zklock_words)
    set -l first 2
    if contains -- "$words[1]" queue group value
        set first 3
    end
    test (count $words[$first..-1]) -ge $argv[1]
end

function __zklock_asks
    __zklock_at ruok stat srvr mntr 4lw
end

function __zklock_has_session
    __zklock_at '' run show break health top 'queue '{push,pull,list,count,requeue,purge,delete} \
        'group '{join,list,watch,wait,create,delete} 'value '{get,set,delete,list,watch,wait}
end

# The nodes that the server has, which fish quotes as the word is. Nothing if no server answers in time.
function __zklock_paths
    set -l words (commandline -opc)
    set -l prefix (string replace -r -- '^--probe=' '' (commandline -ct))
    set -l plain (string unescape -- $prefix)
    and set prefix $plain
    if test -z "$prefix"
        set prefix /
    end
    set -l program $words[1]
    if not string match -q '*/*' -- $program; or not test -x $program
        set program zklock
    end
    set -l paths (command $program complete-path $prefix -- $words[2..-1] 2>/dev/null)
    # Behind the only one fish puts a space. Where there is something below it, to go on with "/" is the user's to choose.
    if test (count $paths) = 1; and count (command $program complete-path $paths/ -- $words[2..-1] 2>/dev/null) >/dev/null
        set paths $paths $paths/
    end
    string join -- \n $paths
end

function __zklock_wants_path
    __zklock_at show; and return
    # Behind the first lock a command is more likely than another lock.
    __zklock_at run; and begin
        not __zklock_has_operands 1; or test -n "$(commandline -ct)"
        return
    end
    __zklock_at break top 'queue '{push,pull,list,count,requeue,purge,delete} \
        'group '{join,list,watch,wait,create,delete} 'value '{get,set,delete,list,watch,wait}; and not __zklock_has_operands 1
end

# Behind the lock, queue, group or node that a command goes with.
function __zklock_wants_end
    __zklock_at run 'queue pull' 'group join' 'group watch' 'value watch'; and __zklock_has_operands 1
    and not contains -- -c (commandline -opc); and not contains -- --command (commandline -opc)
end

complete -c zklock -f
complete -c zklock -n __zklock_has_command -a '(__zklock_complete_command)'
complete -c zklock -n __zklock_wants_path -a '(__zklock_paths)'
complete -c zklock -n __zklock_wants_end -a -- -d 'The command follows'
complete -c zklock -n '__zklock_at help; and not __zklock_has_operands 1' -a 'run show break queue group value health top ruok stat srvr mntr 4lw'
complete -c zklock -n '__zklock_at help; and string match -q "* queue" -- (commandline -opc | string join " ")' -a 'push pull list count requeue purge delete'
complete -c zklock -n '__zklock_at help; and string match -q "* group" -- (commandline -opc | string join " ")' -a 'join list watch wait create delete'
complete -c zklock -n '__zklock_at help; and string match -q "* value" -- (commandline -opc | string join " ")' -a 'get set delete list watch wait'
complete -c zklock -n '__zklock_at ""' -a run -d 'Run a command under a lock'
complete -c zklock -n '__zklock_at ""' -a show -d 'Show who holds a lock and who waits for it'
complete -c zklock -n '__zklock_at ""' -a break -d 'Ask the holders of a lock to let go of it'
complete -c zklock -n '__zklock_at ""' -a queue -d 'Put items into queues, take them out'
complete -c zklock -n '__zklock_at ""' -a health -d 'Check whether the ensemble is well'
complete -c zklock -n '__zklock_at ""' -a top -d 'Show locks, queues, groups and the ensemble live'
complete -c zklock -n '__zklock_at ""' -a ruok -d 'Ask servers whether their process runs'
complete -c zklock -n '__zklock_at ""' -a stat -d 'Ask servers for their state and their clients'
complete -c zklock -n '__zklock_at ""' -a srvr -d 'Ask servers for their state'
complete -c zklock -n '__zklock_at ""' -a mntr -d 'Ask servers for their measurements'
complete -c zklock -n '__zklock_at ""' -a 4lw -d 'Ask servers any four-letter word'
complete -c zklock -n '__zklock_at ""' -a group -d 'Be a member of a group, see who is'
complete -c zklock -n '__zklock_at ""' -a value -d 'Read, write and watch configuration'
complete -c zklock -n '__zklock_at ""' -a help -d 'List the commands, or show the manual of one'
complete -c zklock -n '__zklock_at ""' -s V -l version -d 'Print the version'

complete -c zklock -n 'not __zklock_has_command' -s h -l help -d 'Print a summary'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -s S -l servers -x -d 'Servers, HOST[:PORT][,...][/CHROOT]'
complete -c zklock -n __zklock_has_session -l session-timeout -x -d 'Ask for this one (30s)'
complete -c zklock -n __zklock_has_session -l connect-timeout -x -d 'Give up when no server answers (15s)'
complete -c zklock -n __zklock_has_session -l auth-file -r -F -d 'Credentials, digest:USER:PASSWORD'
complete -c zklock -n __zklock_has_session -l acl -x -a 'open creator creator-world-read' -d 'Of new znodes'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -l tls -d 'Encrypt, and check the servers'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -l tls-ca -r -F -d 'TLS, with these authorities (PEM)'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -l tls-cert -r -F -d 'TLS, with this certificate (PEM)'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -l tls-key -r -F -d 'The key of the certificate (PEM)'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -l tls-server-name -x -d 'The name in the servers\' certificates'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -s v -l verbose -d 'Say what happens'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -s q -l quiet -d 'No message if the exit status is 75'
complete -c zklock -n '__zklock_has_session; or __zklock_asks' -l no-color -d 'No colours'

complete -c zklock -n '__zklock_at run' -l any -d 'Take only one lock, the first that is free'
complete -c zklock -n '__zklock_at run' -s n -l nonblock -d 'Do not wait: exit 75 if the lock is busy'
complete -c zklock -n '__zklock_at run' -s w -l timeout -x -d 'Wait at most DUR'
complete -c zklock -n '__zklock_at run' -s E -l conflict-exit-code -x -d 'Exit with N instead of 75'
complete -c zklock -n '__zklock_at run' -s c -l command -x -d 'Run STRING with /bin/sh -c'
complete -c zklock -n '__zklock_at run' -s s -l shared -d 'Share the lock with other -s holders'
complete -c zklock -n '__zklock_at run' -s x -l exclusive -d 'Hold the lock alone (the default)'
complete -c zklock -n '__zklock_at run' -l peer -x -a 'curator-rw kazoo kazoo-extra' -d 'Stand in line with other programs'
complete -c zklock -n '__zklock_at run' -l grace -x -d 'From SIGTERM to SIGKILL if the lock is lost'
complete -c zklock -n '__zklock_at run' -l wait-all -d 'Wait for what the command left running, too'
complete -c zklock -n '__zklock_at run' -l label -x -d 'Text that zklock show has for this holder'
complete -c zklock -n '__zklock_at run' -l slots -x -d 'Let up to N hold the lock at once'
complete -c zklock -n '__zklock_at run' -l min-hold -x -d 'Hold the lock for at least DUR'
complete -c zklock -n '__zklock_at run' -l once-per -x -d 'exit 75 if it has succeeded in the last DUR'
complete -c zklock -n '__zklock_at run' -l restart -d 'If the lock is lost, take it again and rerun'
complete -c zklock -n '__zklock_at run' -l report -r -F -d 'Append a JSON line on how it ended'

complete -c zklock -n '__zklock_at show health "queue list"' -s l -l long -d 'All columns, whatever the width'
complete -c zklock -n '__zklock_at show' -s r -l recursive -d 'All locks in the tree below'
complete -c zklock -n '__zklock_at show' -l follow -d 'Then print each change'
complete -c zklock -n '__zklock_at show "queue count" "group list"' -l format -x -a 'text json prometheus' -d 'Of what is printed'
complete -c zklock -n '__zklock_at show' -l json -d 'One JSON object per line'

complete -c zklock -n '__zklock_at break' -s w -l timeout -x -d 'Wait at most DUR for them to let go (30s)'
complete -c zklock -n '__zklock_at break' -l force -d 'Then take the lock away'
complete -c zklock -n '__zklock_at break' -l yes -d 'Do not ask for confirmation'

complete -c zklock -n '__zklock_at queue' -a push -d 'Put items into a queue'
complete -c zklock -n '__zklock_at queue' -a list -d 'Show what is in a queue'
complete -c zklock -n '__zklock_at queue' -a count -d 'Count the items of a queue'
complete -c zklock -n '__zklock_at queue' -a requeue -d 'Put dead letters back into a queue'
complete -c zklock -n '__zklock_at queue' -a purge -d 'Delete the items of a queue'
complete -c zklock -n '__zklock_at queue' -a delete -d 'Remove an empty queue'
complete -c zklock -n '__zklock_at "queue push"' -s 0 -l null -d 'Items end with NUL'
complete -c zklock -n '__zklock_at "queue push"' -l whole -d 'All of standard input is one item'
complete -c zklock -n '__zklock_at "queue push"' -s p -l priority -x -d '0 to 999; lower goes first (100)'
complete -c zklock -n '__zklock_at "queue list"' -s N -l count -x -d 'Only the first N'
complete -c zklock -n '__zklock_at "queue list" "queue purge"' -l dead -d 'The dead letters instead'
complete -c zklock -n '__zklock_at "queue list"' -l format -x -a 'text json' -d 'Of what is printed'
complete -c zklock -n '__zklock_at "queue list" "queue count"' -l json -d 'For programs'
complete -c zklock -n '__zklock_at "queue count"' -l exact -d 'Also count the items in work'
complete -c zklock -n '__zklock_at "queue purge" "queue delete"' -l yes -d 'Do not ask for confirmation'
complete -c zklock -n '__zklock_at break "queue requeue" "queue purge" "queue delete" "value delete"' -l dry-run -d 'Change nothing'
complete -c zklock -n '__zklock_at queue' -a pull -d 'Take items out'
complete -c zklock -n '__zklock_at "queue pull"' -s N -l count -x -d 'Take so many items (1)'
complete -c zklock -n '__zklock_at "queue pull"' -l all -d 'Until the queue is empty, items in work included'
complete -c zklock -n '__zklock_at "queue pull"' -l follow -d 'Keep waiting for more items'
complete -c zklock -n '__zklock_at "queue pull"' -s w -l timeout -x -d 'Wait at most DUR for an item'
complete -c zklock -n '__zklock_at "queue pull"' -s 0 -l null -d 'end each item with NUL, not newline'
complete -c zklock -n '__zklock_at "queue pull"' -l whole -d 'Print items as they are, nothing in between'
complete -c zklock -n '__zklock_at "queue pull"' -s I -l replace -x -d 'Put the item in place of STR, not on stdin'
complete -c zklock -n '__zklock_at "queue pull"' -s j -l jobs -x -d 'Run N commands at a time (1)'
complete -c zklock -n '__zklock_at "queue pull"' -l max-attempts -x -d 'After N failures, make it a dead letter (5)'
complete -c zklock -n '__zklock_at "queue pull"' -l retry-delay -x -d 'Wait DUR before a retry; doubles each time (1s)'
complete -c zklock -n '__zklock_at "queue pull"' -l halt -d 'Stop at the first failure'

complete -c zklock -n '__zklock_at health ruok stat srvr mntr 4lw' -s w -l timeout -x -d 'Wait at most DUR for all replies (5s)'
complete -c zklock -n '__zklock_at health ruok stat srvr mntr 4lw' -l json -d 'For programs'
complete -c zklock -n '__zklock_at ruok stat srvr mntr 4lw' -l format -x -a 'text json' -d 'Of what is printed'
complete -c zklock -n '__zklock_at health' -l max-latency -x -d 'Warning where the average is higher'
complete -c zklock -n '__zklock_at health' -l max-outstanding -x -d 'Warning where more requests wait'
complete -c zklock -n '__zklock_at health' -l min-servers -x -d 'Critical if fewer serve'
complete -c zklock -n '__zklock_at health' -l probe -x -a '(__zklock_paths)' -d 'Also take a lock and give it back'
complete -c zklock -n '__zklock_at health' -l format -x -a 'text json nagios prometheus' -d 'Of what is printed'
complete -c zklock -n '__zklock_at health' -l interval -x -d 'Look again and again'
complete -c zklock -n '__zklock_at 4lw; and not __zklock_has_operands 1' -a 'conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs'

complete -c zklock -n '__zklock_at top' -l interval -x -d 'Look again so often (2s)'
complete -c zklock -n '__zklock_at top' -l once -d 'One look, as text'

complete -c zklock -n '__zklock_at group' -a join -d 'Be a member'
complete -c zklock -n '__zklock_at group' -a list -d 'Show who is in'
complete -c zklock -n '__zklock_at group' -a watch -d 'Print who joins and who leaves'
complete -c zklock -n '__zklock_at group' -a wait -d 'Until enough have come, or gone'
complete -c zklock -n '__zklock_at group' -a create -d 'Make a group that stays'
complete -c zklock -n '__zklock_at group' -a delete -d 'Remove an empty group'
complete -c zklock -n '__zklock_at "group join"' -l name -x -d 'Under this name'
complete -c zklock -n '__zklock_at "group join"' -l unique -d 'Exactly that name'
complete -c zklock -n '__zklock_at "group join" "group wait"' -s w -l timeout -x -d 'Wait at most DUR'
complete -c zklock -n '__zklock_at "group join"' -l data -x -d 'What others can read'
complete -c zklock -n '__zklock_at "group join"' -l data-file -r -F -d 'The same from a file'
complete -c zklock -n '__zklock_at "group list"' -s l -l long -d 'Since when, session and data'
complete -c zklock -n '__zklock_at "group watch"' -l format -x -a 'text json' -d 'Of what is printed'
complete -c zklock -n '__zklock_at "group list" "group watch"' -l json -d 'One JSON object per line'
complete -c zklock -n '__zklock_at "group list" "group wait"' -l at-least -x -d 'So many members or more'
complete -c zklock -n '__zklock_at "group wait"' -l at-most -x -d 'So many members or fewer'
complete -c zklock -n '__zklock_at "group delete"' -l force -d 'Remove its members too'

complete -c zklock -n '__zklock_at value' -a get -d 'Print a value'
complete -c zklock -n '__zklock_at value' -a set -d 'Write a value'
complete -c zklock -n '__zklock_at value' -a delete -d 'Delete a node, or a whole tree'
complete -c zklock -n '__zklock_at value' -a list -d 'Show the nodes below a path'
complete -c zklock -n '__zklock_at value' -a watch -d 'Tell each change'
complete -c zklock -n '__zklock_at value' -a wait -d 'Until a node is there, gone, or has changed'
complete -c zklock -n '__zklock_at "value get"' -l default -x -d 'Printed where there is no such node'
complete -c zklock -n '__zklock_at "value get" "value list" "value watch"' -l format -x -a 'text json' -d 'Of what is printed'
complete -c zklock -n '__zklock_at "value get" "value list" "value watch"' -l json -d 'One JSON object per line'
complete -c zklock -n '__zklock_at "value set" "value delete"' -l if-version -x -d 'Only where it has this version'
complete -c zklock -n '__zklock_at "value set"' -l if-missing -d 'Only where there is no such node'
complete -c zklock -n '__zklock_at "value set" "value delete"' -l fenced -d 'Only while the lock around us is held'
complete -c zklock -n '__zklock_at "value set"' -l print-version -d 'Print the new version'
complete -c zklock -n '__zklock_at "value delete"' -s r -l recursive -d 'All that is below it, too'
complete -c zklock -n '__zklock_at "value delete"' -l yes -d 'Do not ask for confirmation'
complete -c zklock -n '__zklock_at "value list"' -s l -l long -d 'A table'
complete -c zklock -n '__zklock_at "value list"' -s r -l recursive -d 'All that is below it'
complete -c zklock -n '__zklock_at "value list" "value watch"' -s 0 -l null -d 'As it is, with a NUL behind it'
complete -c zklock -n '__zklock_at "value watch"' -l list -d 'The names below it, not its value'
complete -c zklock -n '__zklock_at "group watch" "value watch"' -l halt -d 'End where the command fails'
complete -c zklock -n '__zklock_at "value wait"' -s w -l timeout -x -d 'Wait at most DUR'
complete -c zklock -n '__zklock_at "value wait"' -l gone -d 'Until there is no such node'
complete -c zklock -n '__zklock_at "value wait"' -l equals -x -d 'Until it has this value'
complete -c zklock -n '__zklock_at "value wait"' -l newer-than -x -d 'Until it has a later version'
