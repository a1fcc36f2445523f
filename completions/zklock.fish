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

function __zklock_in
    not __zklock_has_command; and __fish_seen_subcommand_from $argv
end

function __zklock_before_subcommand
    not __zklock_has_command; and not __fish_seen_subcommand_from run show break queue group health ruok stat srvr mntr 4lw
end

function __zklock_has_session
    not __zklock_has_command; and not __fish_seen_subcommand_from ruok stat srvr mntr 4lw
end

complete -c zklock -f
complete -c zklock -n __zklock_has_command -a '(__zklock_complete_command)'
complete -c zklock -n __zklock_before_subcommand -a run -d 'Run a command under a lock'
complete -c zklock -n __zklock_before_subcommand -a show -d 'Show who holds a lock and who waits for it'
complete -c zklock -n __zklock_before_subcommand -a break -d 'Have the holders of a lock let go of it'
complete -c zklock -n __zklock_before_subcommand -a queue -d 'Put items into queues, take them out'
complete -c zklock -n __zklock_before_subcommand -a health -d 'Tell whether the ensemble is well'
complete -c zklock -n __zklock_before_subcommand -a ruok -d 'Ask servers whether their process runs'
complete -c zklock -n __zklock_before_subcommand -a stat -d 'Ask servers for their state and their clients'
complete -c zklock -n __zklock_before_subcommand -a srvr -d 'Ask servers for their state'
complete -c zklock -n __zklock_before_subcommand -a mntr -d 'Ask servers for their measurements'
complete -c zklock -n __zklock_before_subcommand -a 4lw -d 'Ask servers any four-letter word'
complete -c zklock -n __zklock_before_subcommand -a group -d 'Be a member of a group, see who is'
complete -c zklock -n __zklock_before_subcommand -s V -l version -d 'Print the version'

complete -c zklock -n 'not __zklock_has_command' -s h -l help -d 'Print a summary'
complete -c zklock -n 'not __zklock_has_command' -s S -l servers -x -d 'Servers, HOST[:PORT][,...][/CHROOT]'
complete -c zklock -n __zklock_has_session -l session-timeout -x -d 'Ask for this one (15s)'
complete -c zklock -n __zklock_has_session -l connect-timeout -x -d 'Give up when no server answers (15s)'
complete -c zklock -n __zklock_has_session -l auth-file -r -F -d 'Credentials, digest:USER:PASSWORD'
complete -c zklock -n __zklock_has_session -l acl -x -a 'open creator creator-world-read' -d 'Of nodes made'
complete -c zklock -n 'not __zklock_has_command' -s v -l verbose -d 'Say what happens'
complete -c zklock -n 'not __zklock_has_command' -s q -l quiet -d 'No message where the status is 75'

complete -c zklock -n '__zklock_in run' -s n -l nonblock -d 'Do not wait: 75 if the lock is busy'
complete -c zklock -n '__zklock_in run' -s w -l timeout -x -d 'Wait at most so long'
complete -c zklock -n '__zklock_in run' -s E -l conflict-exit-code -x -d 'Exit with N instead of 75'
complete -c zklock -n '__zklock_in run' -s c -l command -x -d 'Run STRING with /bin/sh -c'
complete -c zklock -n '__zklock_in run' -s s -l shared -d 'Together with other shared holders'
complete -c zklock -n '__zklock_in run' -s x -l exclusive -d 'Alone (the default)'
complete -c zklock -n '__zklock_in run' -l peer -x -a 'curator-rw kazoo kazoo-extra' -d 'Lock in the names of other programs'
complete -c zklock -n '__zklock_in run' -l grace -x -d 'From SIGTERM to SIGKILL when the lock is lost'
complete -c zklock -n '__zklock_in run' -l wait-all -d 'Hold the lock for what the command leaves behind'
complete -c zklock -n '__zklock_in run' -l label -x -d 'What others read about this holder'
complete -c zklock -n '__zklock_in run' -l slots -x -d 'Together with N - 1 others'
complete -c zklock -n '__zklock_in run' -l min-hold -x -d 'Hold the lock at least so long'
complete -c zklock -n '__zklock_in run' -l once-per -x -d '75 if one succeeded less than DUR ago'
complete -c zklock -n '__zklock_in run' -l restart -d 'After a loss take the lock and run again'

complete -c zklock -n '__zklock_in show' -s r -l recursive -d 'All locks in the tree below'
complete -c zklock -n '__zklock_in show' -l json -d 'An object a line'

complete -c zklock -n '__zklock_in break' -s w -l timeout -x -d 'Wait at most so long until they let go (30s)'
complete -c zklock -n '__zklock_in break' -l force -d 'Then take the lock away'
complete -c zklock -n '__zklock_in break' -l yes -d 'Do not ask'

function __zklock_before_queue_command
    __zklock_in queue; and not __fish_seen_subcommand_from push pull list count requeue purge delete
end

complete -c zklock -n __zklock_before_queue_command -a push -d 'Put items into a queue'
complete -c zklock -n __zklock_before_queue_command -a list -d 'Show what is in a queue'
complete -c zklock -n __zklock_before_queue_command -a count -d 'Count the items of a queue'
complete -c zklock -n __zklock_before_queue_command -a requeue -d 'Put back what was given up on'
complete -c zklock -n __zklock_before_queue_command -a purge -d 'Throw away what is in a queue'
complete -c zklock -n __zklock_before_queue_command -a delete -d 'Remove a queue that is empty'
complete -c zklock -n '__zklock_in queue; and __zklock_in push' -s 0 -l null -d 'Items end with NUL'
complete -c zklock -n '__zklock_in queue; and __zklock_in push' -l whole -d 'All of standard input is one item'
complete -c zklock -n '__zklock_in queue; and __zklock_in push' -s p -l priority -x -d '0 to 999, lower ones first (100)'
complete -c zklock -n '__zklock_in queue; and __zklock_in list' -s N -l count -x -d 'The first N'
complete -c zklock -n '__zklock_in queue; and __zklock_in list purge' -l dead -d 'What was given up on instead'
complete -c zklock -n '__zklock_in queue; and __zklock_in list count' -l json -d 'For programs'
complete -c zklock -n '__zklock_in queue; and __zklock_in count' -l exact -d 'Also how many are in work'
complete -c zklock -n '__zklock_in queue; and __zklock_in purge delete' -l yes -d 'Do not ask'
complete -c zklock -n __zklock_before_queue_command -a pull -d 'Take items out'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -s N -l count -x -d 'Take so many items (1)'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -l all -d 'Until the queue has none, in work included'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -l follow -d 'Wait for more, for ever'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -s w -l timeout -x -d 'Wait for an item at most so long'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -s 0 -l null -d 'NUL behind each item, not a newline'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -l whole -d 'Nothing behind an item'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -s I -l replace -x -d 'Item in place of this, not on standard input'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -s j -l jobs -x -d 'Run so many commands at a time (1)'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -l max-attempts -x -d 'Then to the dead letters (5)'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -l retry-delay -x -d 'Before a second attempt, then doubling (1s)'
complete -c zklock -n '__zklock_in queue; and __zklock_in pull' -l halt -d 'Stop at the first failure'

complete -c zklock -n '__zklock_in health ruok stat srvr mntr 4lw' -s w -l timeout -x -d 'Wait at most so long for all replies (5s)'
complete -c zklock -n '__zklock_in health ruok stat srvr mntr 4lw' -l json -d 'For programs'
complete -c zklock -n '__zklock_in health' -l max-latency -x -d 'Warning where the average is higher'
complete -c zklock -n '__zklock_in health' -l max-outstanding -x -d 'Warning where more requests wait'
complete -c zklock -n '__zklock_in health' -l min-servers -x -d 'Critical if fewer serve'
complete -c zklock -n '__zklock_in health' -l probe -x -d 'Also take a lock and give it back'
complete -c zklock -n '__zklock_in health' -l format -x -a 'text json nagios prometheus' -d 'Of what is printed'
complete -c zklock -n '__zklock_in health' -l interval -x -d 'Look again and again'
complete -c zklock -n '__zklock_in 4lw' -a 'conf cons crst dirs dump envi gtmk hash isro srst wchc wchp wchs'

function __zklock_before_group_command
    __zklock_in group; and not __fish_seen_subcommand_from join list watch wait create delete
end

complete -c zklock -n __zklock_before_group_command -a join -d 'Be a member'
complete -c zklock -n __zklock_before_group_command -a list -d 'Show who is in'
complete -c zklock -n __zklock_before_group_command -a watch -d 'Tell who comes and who goes'
complete -c zklock -n __zklock_before_group_command -a wait -d 'Until enough have come, or gone'
complete -c zklock -n __zklock_before_group_command -a create -d 'Make a group that stays'
complete -c zklock -n __zklock_before_group_command -a delete -d 'Remove a group that is empty'
complete -c zklock -n '__zklock_in group; and __zklock_in join' -l name -x -d 'Under this name'
complete -c zklock -n '__zklock_in group; and __zklock_in join' -l unique -d 'Exactly that name'
complete -c zklock -n '__zklock_in group; and __zklock_in join wait' -s w -l timeout -x -d 'Wait at most so long'
complete -c zklock -n '__zklock_in group; and __zklock_in join' -l data -x -d 'What others can read'
complete -c zklock -n '__zklock_in group; and __zklock_in join' -l data-file -r -F -d 'The same from a file'
complete -c zklock -n '__zklock_in group; and __zklock_in list' -s l -l long -d 'Since when, session and data'
complete -c zklock -n '__zklock_in group; and __zklock_in list watch' -l json -d 'An object a line'
complete -c zklock -n '__zklock_in group; and __zklock_in list wait' -l at-least -x -d 'So many members or more'
complete -c zklock -n '__zklock_in group; and __zklock_in wait' -l at-most -x -d 'So many members or fewer'
complete -c zklock -n '__zklock_in group; and __zklock_in delete' -l force -d 'Remove its members too'
