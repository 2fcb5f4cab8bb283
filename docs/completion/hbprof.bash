# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# hbprof.bash - completion for bash. Commands and options are asked of the hbprof that is being typed,
# so they are always its own; what values an option takes stands here.

_hbprof_commands() { # hbprof
    "$1" help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

_hbprof_options() { # hbprof, command: "--format=" where a value follows
    ARGP_HELP_FMT='' "$1" help "$2" 2>/dev/null | sed -n '/^ *-/{s/^ *//;s/   .*//;s/, /\n/g;p}' |
        sed -n -e 's/^\(--[a-z-]*\)\[*=.*/\1=/p' -e 's/^\(--[a-z-]*\)$/\1/p' -e 's/^\(-.\)$/\1/p'
    [ "$2" != record ] || printf '%s\n' --version -V
}

# The words that an option takes; "FILE", "PID"; nothing: whatever the user has in mind.
_hbprof_values() { # command, option
    case $1$2 in
    record--format | run--format | report--format) echo table json csv ;;
    list--format) echo table json ;;
    compare--format) echo table json html ;;
    export--format) echo csv json pprof speedscope openmetrics benchstat folded ;;
    export--of) echo calls stacks ;;
    report--by) echo codec size process ;;
    compare--by) echo codec size ;;
    compare--order-by) echo gomaxprocs go cpus cpu payload calls/s begin quota ;;
    flamegraph--by) echo codec ;;
    flamegraph--colors) echo hot mem io hash ;;
    compare--metric)
        echo mean p50 p90 p99 p99.9 calls/s cycles instructions ipc cache-misses cache-references \
            cache-miss-rate branches branch-misses page-faults context-switches task-clock \
            on-cpu waiting blocked
        ;;
    record--counters | run--counters)
        echo none cycles instructions cache-references cache-misses branches branch-misses \
            L1-dcache-loads L1-dcache-load-misses task-clock page-faults context-switches
        ;;
    record--exit | run--exit | list--exit) echo site ret ;;
    record--pid | record-p | list--pid | list-p) echo PID ;;
    record--cgroup) echo CGROUP ;;
    *--output | *-o | *--codecs | *--diff | *--color-by) echo FILE ;;
    esac
}

_hbprof_add_files() { # word
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    # shellcheck disable=SC2207 # a name with a line break has no completion
    COMPREPLY=($(compgen -f -- "$1"))
}

_hbprof_add_words() { # word, words...
    local word=$1
    shift
    # shellcheck disable=SC2207
    COMPREPLY=($(compgen -W "$*" -- "$word"))
    # "--format=": the value comes without a blank.
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

_hbprof_has_value() { # option: does one of the command's options take its value from the next word
    local opt long
    # shellcheck disable=SC2154 # those of _hbprof
    while read -r opt long; do
        [ "$opt" != "$1" ] || [[ $long != *=* ]] || return 0
    done < <(ARGP_HELP_FMT='' "$hbprof" help "$command" 2>/dev/null |
        sed -n 's/^ *\(-.\), \(--[^ ]*\).*/\1 \2/p; s/^ *.*\(--[a-z-]*\)\(=[^ ]*\).*/\1 \1\2/p')
    return 1
}

# "hbprof run -- COMMAND ...": behind the "--" it is the command's word, completed as such.
_hbprof_in_command() {
    local i

    for ((i = 2; i < COMP_CWORD; i++)); do
        [ "${COMP_WORDS[i]}" = -- ] || continue
        if ((i + 1 == COMP_CWORD)); then
            # shellcheck disable=SC2207
            COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
        else
            _hbprof_add_files "${COMP_WORDS[COMP_CWORD]}"
        fi
        return 0
    done
    return 1
}

_hbprof() {
    local hbprof=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command values

    COMPREPLY=()
    # Bash splits "--format=js" at the "=".
    if [ "$word" = = ]; then
        word=
    elif [ "$before" = = ]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    command=${COMP_WORDS[1]}
    if [ "$command" = run ] && _hbprof_in_command; then
        return
    fi
    if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
        _hbprof_add_words "$word" "$(_hbprof_commands "$hbprof")"
        return
    fi
    [[ $command != -* ]] || command=record
    if [[ $before == -* ]] && _hbprof_has_value "$before"; then
        values=$(_hbprof_values "$command" "$before")
        case $values in
        '') ;;
        FILE) _hbprof_add_files "$word" ;;
        CGROUP) _hbprof_add_words "$word" "$(cd /sys/fs/cgroup && find . -maxdepth 3 -type d -printf '%P\n')" ;;
        PID) _hbprof_add_words "$word" "$(cd /proc && echo [0-9]*)" ;;
        *) _hbprof_add_words "$word" "$values" ;;
        esac
    elif [[ $word == -* ]]; then
        _hbprof_add_words "$word" "$(_hbprof_options "$hbprof" "$command")"
    elif [ "$command" = help ]; then
        _hbprof_add_words "$word" "$(_hbprof_commands "$hbprof")"
    elif [ "$command" != record ] && [ "$command" != run ] && [ "$command" != check ]; then
        _hbprof_add_files "$word"
    fi
}

complete -F _hbprof hbprof
