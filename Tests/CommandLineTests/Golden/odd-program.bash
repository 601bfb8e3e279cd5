# bash completion of odd-program, written by: odd-program --completion bash
_odd_program() {
    # Bash ends words at = and : too; the program, only at blanks.
    local IFS=$' \t\n' rest=${COMP_LINE:0:COMP_POINT} word place
    local -a words=()
    for ((place = 0; place <= COMP_CWORD; place++)); do
        word=${COMP_WORDS[place]}
        if [[ $place == 0 || $rest == [[:blank:]]* ]]; then
            rest=${rest#"${rest%%[![:blank:]]*}"}
            words+=('')
        fi
        [[ $rest == "$word"* ]] || word=$rest
        words[-1]+=$word
        rest=${rest:${#word}}
    done

    local current=${words[-1]} command= operands=0 flag= given=' ' ended=
    for word in "${words[@]:1:${#words[@]}-2}"; do
        if [[ -n $flag && $word != --* ]]; then
            flag=
            continue
        fi
        flag=
        [[ -z $ended ]] || word=./$word
        case $word in
            --) ended=1 ;;
            --*=*) given+="${word%%=*} " ;;
            --text | --file | --log.level | --log.extra-levels | --listen | --completion) flag=$word given+="$word " ;;
            -?*) given+="$word " ;;
            check | play)
                if [[ -z $command && $operands == 0 ]]; then command=$word; else ((operands++)); fi
                ;;
            *) ((operands++)) ;;
        esac
    done

    local before= candidates= files= flags= repeatable=' '
    [[ $current != --* ]] || flag=
    if [[ -z $flag && -z $ended && $current == --*=* ]]; then
        flag=${current%%=*} before=$flag=
    fi
    case $command in
        play)
            flags='--once --listen='
            repeatable=' '
            case $flag in
                --once) candidates='true false' ;;
            esac
            ;;
        *)
            flags='--text= --file= --quiet --log.level= --log.extra-levels='
            repeatable=' --log.extra-levels '
            case $flag in
                --file) files=1 ;;
                --quiet) candidates='true false' ;;
                --log.level) candidates='high low' ;;
                --log.extra-levels) candidates='high low' ;;
            esac
            ;;
    esac
    [[ $flag != --completion ]] || candidates='bash zsh fish'
    if [[ -z $flag && -z $ended && $current == -* ]]; then
        for word in $flags --help --version --man --completion=; do
            [[ $given == *" ${word%=} "* && $repeatable != *" ${word%=} "* ]] || candidates+=" $word"
        done
    elif [[ -z $flag ]]; then
        case $command:$operands in
            :0) candidates='check play' ;;
            play:0) files=1 ;;
        esac
    fi

    COMPREPLY=()
    if [[ -n $files ]]; then
        # Readline itself completes files: it knows quotes, tildes and folders.
        compopt -o default
        return
    fi
    # Readline replaces $2, which begins behind the last = or : of the word.
    local kept=${current%"$2"}
    for word in $candidates; do
        word=$before$word
        [[ $word != "$current"* ]] || COMPREPLY+=("${word#"$kept"}")
    done
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -F _odd_program odd-program
