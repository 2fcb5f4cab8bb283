#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_completion.sh - the completions of bash and zsh offer every command, every option of --help, and
# values that the tool takes.
. "$(dirname "$0")/../tap.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}

mkdir "$HB_TMP/bin"
cp "$HBPROF" "$HB_TMP/bin/hbprof"
PATH=$HB_TMP/bin:$PATH
. "$HB_SRC/docs/completion/hbprof.bash"

# What bash offers for the last of these words, as bash splits them. One a line, sorted.
offers() {
    COMP_WORDS=(hbprof "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _hbprof hbprof "${@: -1}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}" | sort
}

# As the user is told: "--long", "--long=" and "-x". The version is an option of the tool itself.
help_options() { # command
    "$HBPROF" help "$1" | grep -E '^ +-' | sed -E 's/^ +//; s/   .*//' | tr ',' '\n' |
        sed -nE 's/^ *(--?[A-Za-z0-9?][a-z0-9-]*=?).*/\1/p'
    [ "$1" != record ] || printf '%s\n' --version -V
}

commands=$("$HBPROF" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
is "$(offers '')" "$(sort <<<"$commands")" "bash completes every command"
is "$(offers rep)" report "bash completes the beginning of a command"
is "$(offers help rep)" report "bash completes the command behind help"
for cmd in $commands; do
    [ "$cmd" != help ] || continue
    want=$(help_options "$cmd" | sort)
    is "$(offers "$cmd" -)" "$want" "bash completes every option of $cmd, and no other"
done
is "$(offers --pi)" --pid= "without a command bash completes the options of record"
is "$(offers report --format = j)" json "bash completes the value behind an equals sign"
is "$(offers report --format j)" json "bash completes the value behind a blank"
like "$(offers --pid '')" "^$$\$" "bash completes process ids"
touch "$HB_TMP/a b.hbp"
is "$(offers report "$HB_TMP/a")" "$HB_TMP/a b.hbp" "bash completes captures"
is "$(offers flamegraph x --diff "$HB_TMP/a")" "$HB_TMP/a b.hbp" "bash completes files that options take"

# Values are written down in the completions. The tool takes each: what is wrong then is the input.
capture=$HB_TMP/none.hbp
wrong=
while read -r cmd option values; do
    for value in $values; do
        case $cmd in
        record) set -- --pid 4194304 "$option=$value" -o "$HB_TMP/x" ;;
        compare) set -- "$capture" "$capture" "$option=$value" ;;
        export)
            set -- "$capture" "$option=$value"
            [ "$option" = --format ] || set -- "$@" --format=pprof
            ;;
        *) set -- "$capture" "$option=$value" ;;
        esac
        "$HBPROF" "$cmd" "$@" >"$HB_TMP/out" 2>&1
        [ $? != 2 ] || wrong+="$cmd $*: $(head -n 1 "$HB_TMP/out")"$'\n'
    done
    is "$(offers "$cmd" "$option" = '')" "$(tr ' ' '\n' <<<"$values" | sort)" \
        "bash completes the values of $cmd $option"
    like "$("$HBPROF" "$cmd" --help)" "^ .* $option=" "$cmd --help has $option"
done <<'END'
record --format table json csv
record --exit site ret
list --format table json
list --exit site ret
report --format table json csv
report --by codec process size
compare --format table json html
compare --by codec size
compare --metric mean p50 p90 p99 p99.9 calls/s cycles instructions ipc cache-misses cache-references cache-miss-rate branches branch-misses page-faults context-switches task-clock on-cpu waiting blocked
export --format csv json pprof speedscope openmetrics benchstat folded
export --of calls stacks
flamegraph --by codec
flamegraph --colors hot mem io hash
END
is "$wrong" "" "the tool takes every value that is offered"

# ---- zsh ----

if ! command -v zsh >/dev/null; then
    skip "zsh completes every option" "zsh is not installed"
    done_testing
fi

# A shell on a pseudo terminal, asked as a user asks it. LIST: all of a menu without questions.
cat >"$HB_TMP/ask.zsh" <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
ask() { # text: types it and Tab; prints what comes
    local chunk all=
    zpty -w -n z "$1"$'\t'
    while zpty -r -t z chunk || { sleep 1; zpty -r -t z chunk }; do
        all+=$chunk
    done
    print -r -- "$all"
    zpty -w -n z $'\C-u'
}
zpty -w z "PS1='> '; stty columns 200 rows 200; COLUMNS=200 LINES=200 LISTMAX=9999; unsetopt beep"
zpty -w z "fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; zstyle ':completion:*' menu no"
zpty -w z "zstyle ':completion:*' list-prompt ''; echo REA''DY"
zpty -r z chunk '*READY*'
shift
for text; do
    print -r -- "ASKED $text"
    ask "$text"
done
zpty -d z
END
answers() { # text...: zsh's answers, without what colours and moves
    timeout 60 zsh -f "$HB_TMP/ask.zsh" "$HB_SRC/docs/completion" "$@" 2>&1 |
        sed -E 's/\x1b\[[0-9;?]*[a-zA-Z]//g; s/\r//g'
}
of() { # the answer to a text, of stdin
    awk -v asked="ASKED $1" '/^ASKED /{ on = $0 == asked; next } on'
}

texts=("hbprof re" "hbprof report --format=j" "hbprof export --of s")
for cmd in $commands; do
    [ "$cmd" = help ] || texts+=("hbprof $cmd --")
done
answers "${texts[@]}" >"$HB_TMP/zsh"
like "$(of "hbprof re" <"$HB_TMP/zsh")" '^record .*--.*attach' "zsh completes commands, with what they do"
like "$(of "hbprof report --format=j" <"$HB_TMP/zsh")" '--format=json' "zsh completes a value"
like "$(of "hbprof export --of s" <"$HB_TMP/zsh")" '--of stacks' "zsh completes a value behind a blank"
for cmd in $commands; do
    [ "$cmd" != help ] || continue
    is "$(of "hbprof $cmd --" <"$HB_TMP/zsh" | grep -oE '(^|  )--[a-z-]+ ' | tr -d ' ' | sort -u)" \
        "$(help_options "$cmd" | grep -- '^--' | tr -d = | sort)" \
        "zsh completes every option of $cmd, and no other"
done

done_testing
