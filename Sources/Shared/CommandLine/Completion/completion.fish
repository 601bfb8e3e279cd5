# fish completion of PROGRAM, written by: PROGRAM --completion fish
function _PROGRAM
    set -l words (commandline -opc) "$(commandline -ct)"
    set -l found (command $words[1] __complete $words[2..])
    if test "$found[1]" != :files
        printf '%s\n' $found
    else
        set -l flag (string match --regex -- '^--[^=]*=|^' $words[-1])
        printf "$flag%s\n" (__fish_complete_path (string replace -- "$flag" '' $words[-1]))
    end
end
complete -c PROGRAM -f -a '(_PROGRAM)'
