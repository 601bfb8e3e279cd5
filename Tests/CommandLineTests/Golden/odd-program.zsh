#compdef odd-program
# zsh completion of odd-program, written by: odd-program --completion zsh
_odd-program() {
    local curcontext=$curcontext state line word skip command
    local -a commands flags
    typeset -A opt_args
    for word in "${(@)words[2,CURRENT-1]}"; do
        if [[ -n $skip ]]; then
            skip=
            [[ $word == --* ]] || continue
        fi
        case $word in
            (--text|--file|--log.level|--log.extra-levels|--listen|--completion) skip=1 ;;
            (-?*) ;;
            (*)
                command=$word
                break
                ;;
        esac
    done
    commands=(
        'check:Checks what [it] is'
        'play:Plays a file'
    )
    case $command in
        (play)
            flags=(
                '--once=-[end at the end]::value:(true false)'
                '--listen=[where to listen]:HOST\:PORT: '
            )
            ;;
        (*)
            flags=(
                '--text=[what'\''s said: \[anything\] \\ else, '\''quoted'\'']:TEXT: '
                '--file=[where -- if not --text]:FILE:_files'
                '--quiet=-[say less]::value:(true false)'
                '--log.level=[how much]:LEVEL:(high low)'
                '*--log.extra-levels=[more of them]:A\: B:(high low)'
            )
            ;;
    esac
    flags+=(
        '(- *)--help[print the flags, those of one command if it is named]'
        '(- *)--version[print the version]'
        '(- *)--man[print the manual page, for man -l -]'
        '(- *)--completion=[print the completion for bash, zsh or fish]:SHELL:(bash zsh fish)'
    )
    case $command in
        ('') _arguments -C -S : $flags '1: :->command' ;;
        (check) _arguments -C -S : $flags '1: : ' ;;
        (play) _arguments -C -S : $flags '1: : ' '2:FILE:_files' '3:KEY: ' ;;
        (*) _arguments -C -S : $flags ;;
    esac
    [[ $state != command ]] || _describe -t commands command commands
}
# As a file of $fpath this is the function's first call; else it is sourced.
if [[ $funcstack[1] == _odd-program ]]; then
    _odd-program "$@"
else
    compdef _odd-program odd-program
fi
