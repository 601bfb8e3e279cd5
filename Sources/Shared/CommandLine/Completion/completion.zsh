#compdef PROGRAM
# zsh completion of PROGRAM, written by: PROGRAM --completion zsh
_PROGRAM() {
    local -a found=("${(@f)$(command "${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    local -a flags=(${(M)found:#--*=(|$'\t'*)}) others=(${found:#--*=(|$'\t'*)})
    if [[ $found[1] == :files ]]; then
        compset -P '--*='
        _files
        return
    fi
    compadd -S '=' -q -d flags -- "${(@)flags%%=*}"
    compadd -d others -- "${(@)others%%$'\t'*}"
}
# If autoloaded from $fpath, this is the first call of the function; otherwise the file is sourced.
if [[ $funcstack[1] == _PROGRAM ]]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
