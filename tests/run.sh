#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh - runs test programs, counts their results, shows what failed in full and ends with the line
# "N passed, N failed, N skipped".
#
#   tests/run.sh [--jobs N] 'KIND COMMAND ARG...' ... [--jobs N] ...
#
# --jobs begins a group: once all before have ended, up to N of its programs run side by side, though no
# more than there are CPUs. Without it one runs after the other. What they print comes in the order of the
# arguments, each program's in one piece. Ctrl-C ends those that run, with all that they have started.
#
# Each other argument is one program. KIND says how it reports:
#   cmocka  groups of tests, by cmocka's own output; a skipped test prints why before it skips
#   tap     "ok N - sentence", "not ok N - sentence", "ok N - sentence # SKIP reason", "1..N"
#   single  one check: exit status 0 passed, 77 skipped (the last line says why), else failed
#
# A program that is not there, crashes, takes longer than HB_TEST_TIMEOUT seconds, exits with a
# failure that it did not report, prints no result or fewer than it planned has failed.
#
# Programs get, beside what the Makefile sets: HB_TMP, an empty folder of their own, removed
# afterwards; HB_GO_BIN, a Go of at least 1.22, also first in PATH, or unset.
set -u -o pipefail

limit=${HB_TEST_TIMEOUT:-600} # a hang; on a busy machine a test takes five times as long as alone
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'stop_all; exit 130' INT TERM

passed=0 failed=0 skipped=0
jobs=1 cpus=$(nproc)
nr=0 printed=0 # programs begun, and those whose results are printed
declare -A running=() # their numbers, by process id

if HB_GO_BIN=$("$here/find_go.sh"); then
    export HB_GO_BIN PATH="${HB_GO_BIN%/*}:$PATH"
else
    unset HB_GO_BIN
fi

# Results of one program, as lines "pass N", "fail N", "skip N", "why TEXT".
# Both readers get the exit status, and say what is inconsistent.
read_cmocka() {
    awk -v rc="$1" '
    /^\[==========\] .*Running [0-9]+ test\(s\)/ { planned += number("Running ") }
    /^\[ RUN      \] / { said = "" ; next }
    /^\[  PASSED  \] [0-9]+ test\(s\)/ { pass += number("PASSED  ] "); groups++; next }
    /^\[  FAILED  \] [0-9]+ test\(s\)/ { fail += number("FAILED  ] "); next }
    /^\[  SKIPPED \] [0-9]+ test\(s\)/ { skip += number("SKIPPED ] "); listed = 1; next }
    /^\[  SKIPPED \] / { if (!listed) print "why " substr($0, 14) ": " (said == "" ? "no reason given" : said); next }
    /^\[/ { listed = 0; next }
    /[^ \t]/ { said = $0 }
    function number(after,   s) {
        s = substr($0, index($0, after) + length(after))
        sub(/[^0-9].*/, "", s)
        return s + 0
    }
    END {
        if (!groups)
            bad = "printed no result"
        else if (pass + fail + skip != planned)
            bad = "ran " pass + fail + skip " of " planned " tests"
        else if (rc && !fail)
            bad = "reported no failure"
        if (bad != "") {
            fail++
            print "bad " bad
        }
        print "pass " pass + 0
        print "fail " fail + 0
        print "skip " skip + 0
    }'
}

read_tap() {
    awk -v rc="$1" '
    /^not ok([ \t]|$)/ { fail++; next }
    /^ok([ \t]|$)/ {
        if (match($0, /# *[Ss][Kk][Ii][Pp]/)) {
            skip++
            print "why " reason($0, RSTART)
        } else {
            pass++
        }
        next
    }
    /^1\.\.[0-9]+/ {
        plans++
        planned = substr($1, 4) + 0
        if (match($0, /# *[Ss][Kk][Ii][Pp]/)) {
            all = 1
            print "why " substr($0, RSTART + RLENGTH + 1)
        }
    }
    /^Bail out!/ { bail = $0 }
    function reason(line, at,   text) {
        text = substr(line, 1, at - 1)
        sub(/^ok[ \t]*[0-9]*[ \t]*-?[ \t]*/, "", text)
        sub(/[ \t]+$/, "", text)
        line = substr(line, at)
        sub(/^# *[A-Za-z]+:?[ \t]*/, "", line)
        return text ": " (line == "" ? "no reason given" : line)
    }
    END {
        ran = pass + fail + skip
        if (bail != "")
            bad = bail
        else if (!plans)
            bad = ran ? "printed no plan" : "printed no result"
        else if (plans > 1)
            bad = "printed more than one plan"
        else if (ran != planned)
            bad = "ran " ran " of " planned " tests"
        else if (!planned && !all)
            bad = "printed no result"
        else if (rc && !fail)
            bad = "reported no failure"
        if (bad != "") {
            fail++
            print "bad " bad
        }
        print "pass " pass + 0
        print "fail " fail + 0
        print "skip " (all && !ran ? 1 : skip + 0)
    }'
}

read_single() {
    case $1 in
    0) echo "pass 1" ;;
    77)
        echo "skip 1"
        awk '/[^ \t]/ { last = $0 } END { print "why " (last == "" ? "no reason given" : last) }'
        ;;
    *) echo "fail 1" ;;
    esac
}

ended() { # how a program ended that did not exit with 0
    if (($1 == 124 || $1 == 137)); then
        echo "exit status $1: over the limit of $limit s, or killed"
    elif (($1 == 126 || $1 == 127)); then
        echo "exit status $1: was it built?"
    elif (($1 > 128)); then
        echo "ended by signal $(($1 - 128))"
    else
        echo "exit status $1"
    fi
}

# A program has its own process group, made by timeout, which passes TERM on to all of it. In the background
# bash has SIGINT ignored, which programs would inherit, and Python would then leave so.
begin_one() { # kind, command...
    nr=$((nr + 1))
    local job=$work/$nr
    mkdir -p "$job/tmp"
    printf '%s\n' "$1" >"$job/kind"
    shift
    printf '%s\n' "$*" >"$job/name"
    echo "$SECONDS" >"$job/begin"
    HB_TMP=$job/tmp exec_one "$@" >"$job/out" 2>&1 </dev/null &
    running[$!]=$nr
}

exec_one() {
    export HB_TMP
    exec env --default-signal=INT,QUIT timeout -k 10 "$limit" "$@"
}

# Waits until one has ended; then prints what is next in order, as far as it is known.
end_one() {
    local pid rc
    wait -n -p pid "${!running[@]}"
    rc=$?
    local job=$work/${running[$pid]}
    unset "running[$pid]"
    rm -rf "$job/tmp"
    echo "$((SECONDS - $(<"$job/begin")))" >"$job/seconds"
    echo "$rc" >"$job/rc"
    while [ -e "$work/$((printed + 1))/rc" ]; do
        printed=$((printed + 1))
        print_one "$work/$printed"
        rm -rf "${work:?}/$printed"
    done
}

print_one() { # folder of the program
    local name rc p f s bad
    name=$(<"$1/name") rc=$(<"$1/rc")
    name=${name#true } # `single true NAME`, `single false NAME`: a result that is known already
    name=${name#false }
    "read_$(<"$1/kind")" "$rc" <"$1/out" >"$1/result"
    p=$(sed -n 's/^pass //p' "$1/result") f=$(sed -n 's/^fail //p' "$1/result")
    s=$(sed -n 's/^skip //p' "$1/result") bad=$(sed -n 's/^bad //p' "$1/result")
    : "${p:=0}" "${f:=0}" "${s:=0}"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if ((f)); then
        printf 'FAIL %s: %d of %d failed%s (%s)\n' "$name" "$f" "$((p + f + s))" \
            "${bad:+, $bad}" "$(ended "$rc")"
        sed 's/^/     | /' "$1/out"
    elif ((p == 0 && s)); then
        printf 'skip %s\n' "$name"
    else
        printf 'ok   %s: %d passed%s (%d s)\n' "$name" "$p" \
            "$( ((s)) && echo ", $s skipped")" "$(<"$1/seconds")"
    fi
    sed -n 's/^why /     skipped: /p' "$1/result"
}

await() { # until no more than so many run
    while ((${#running[@]} > $1)); do
        end_one
    done
}

stop_all() {
    ((${#running[@]})) || return
    kill -TERM "${!running[@]}" 2>/dev/null
    wait
}

refuse() { # what is wrong with the arguments
    echo "run.sh: $1" >&2
    failed=$((failed + 1))
}

while (($#)); do
    item=$1
    shift
    if [ "$item" = --jobs ]; then
        await 0
        [[ ${1:-} =~ ^[1-9][0-9]?$ ]] || refuse "--jobs '${1:-}' is not a number from 1 to 99"
        [[ ${1:-} =~ ^[1-9][0-9]?$ ]] && jobs=$(($1 < cpus ? $1 : cpus))
        (($# == 0)) || shift
        continue
    fi
    read -r -a words <<<"$item"
    case ${words[0]:-} in
    cmocka | tap | single)
        await $((jobs - 1))
        begin_one "${words[@]}"
        ;;
    *) refuse "'$item' does not begin with cmocka, tap or single" ;;
    esac
done
await 0

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
