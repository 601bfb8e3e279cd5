# bash completion of PROGRAM, written by: PROGRAM --completion bash
_PROGRAM() {
    # Bash also splits words at = and :, the program only at blanks.
    local words line=${COMP_LINE:0:COMP_POINT} found word
    read -ra words <<<"$line"
    [[ $line != *[[:blank:]] ]] || words+=('')
    mapfile -t found < <(command "$1" __complete "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    # Leaves file names to Readline, which handles quotes, tildes and directories.
    [[ ${found[0]} != :files ]] || { compopt -o default; return; }
    # Readline replaces only $2, the part after the last = or : of the word.
    for word in "${found[@]%%$'\t'*}"; do COMPREPLY+=("${word#"${words[-1]%"$2"}"}"); done
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
}
complete -F _PROGRAM PROGRAM
