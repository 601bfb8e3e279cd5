# fish completion of odd-program, written by: odd-program --completion fish

# The command that the line names, if any.
function __odd_program_command
    set -l skips 0
    for word in (commandline -opc)[2..]
        if test $skips = 1
            set skips 0
            string match -q -- '--*' $word; or continue
        end
        switch $word
            case --text --file --log.level --log.extra-levels --listen --completion
                set skips 1
            case '-?*'
            case check play
                echo $word
                return
            case '*'
                break
        end
    end
    echo ''
end

function __odd_program_is
    contains -- (__odd_program_command) $argv
end

# Whether one of the commands can take the flag: it is not given up to the word at the end, -1 = the last. That
# one does not count for a flag whose value is next.
function __odd_program_takes -a end flag
    __odd_program_is $argv[3..]; or return 1
    set -l words (commandline -opc)
    string match -q -- "$flag=*" $words; and return 1
    not contains -- $flag $words[2..$end]
end

# Whether the word at the cursor is neither a flag nor a flag's value, and behind one of the commands.
function __odd_program_is_operand
    string match -q -- '-*' (commandline -ct); and return 1
    contains -- (commandline -opc)[-1] --text --file --log.level --log.extra-levels --listen --completion; and return 1
    __odd_program_is $argv
end

complete -c odd-program -f
complete -c odd-program -n "__odd_program_is ''" -a check -d 'Checks what [it] is'
complete -c odd-program -n "__odd_program_is ''" -a play -d 'Plays a file'
complete -c odd-program -n "__odd_program_takes -2 --text '' check" -l text -x -d 'what\'s said: [anything] \\ else, \'quoted\''
complete -c odd-program -n "__odd_program_takes -2 --file '' check" -l file -r -F -d 'where -- if not --text'
complete -c odd-program -n "__odd_program_takes -1 --quiet '' check" -l quiet -f -a 'true false' -d 'say less'
complete -c odd-program -n "__odd_program_takes -2 --log.level '' check" -l log.level -x -a 'high low' -d 'how much'
complete -c odd-program -n "__odd_program_is '' check" -l log.extra-levels -x -a 'high low' -d 'more of them'
complete -c odd-program -n "__odd_program_takes -1 --once play" -l once -f -a 'true false' -d 'end at the end'
complete -c odd-program -n "__odd_program_takes -2 --listen play" -l listen -x -d 'where to listen'
complete -c odd-program -n "__odd_program_takes -1 --help '' check play" -l help -f -d 'print the flags, those of one command if it is named'
complete -c odd-program -n "__odd_program_takes -1 --version '' check play" -l version -f -d 'print the version'
complete -c odd-program -n "__odd_program_takes -1 --man '' check play" -l man -f -d 'print the manual page, for man -l -'
complete -c odd-program -n "__odd_program_takes -2 --completion '' check play" -l completion -x -a 'bash zsh fish' -d 'print the completion for bash, zsh or fish'
complete -c odd-program -n "__odd_program_is_operand play" -F
