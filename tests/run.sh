#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh - runs test programs one after the other, counts their results, shows what failed in full
# and ends with the line "N passed, N failed, N skipped".
#
#   tests/run.sh 'KIND COMMAND ARG...' ...
#
# Each argument is one program. KIND says how it reports:
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

limit=${HB_TEST_TIMEOUT:-300}
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

passed=0 failed=0 skipped=0

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

run_one() { # kind, command...
    local kind=$1 rc name p f s bad start=$SECONDS
    shift
    name="$*"
    name=${name#true } # `single true NAME`, `single false NAME`: a result that is known already
    name=${name#false }
    HB_TMP=$(mktemp -d "$work/tmp.XXXXXX")
    export HB_TMP
    timeout -k 10 "$limit" "$@" >"$work/out" 2>&1 </dev/null
    rc=$?
    rm -rf "$HB_TMP"
    "read_$kind" "$rc" <"$work/out" >"$work/result"
    p=$(sed -n 's/^pass //p' "$work/result") f=$(sed -n 's/^fail //p' "$work/result")
    s=$(sed -n 's/^skip //p' "$work/result") bad=$(sed -n 's/^bad //p' "$work/result")
    : "${p:=0}" "${f:=0}" "${s:=0}"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if ((f)); then
        printf 'FAIL %s: %d of %d failed%s (%s)\n' "$name" "$f" "$((p + f + s))" \
            "${bad:+, $bad}" "$(ended "$rc")"
        sed 's/^/     | /' "$work/out"
    elif ((p == 0 && s)); then
        printf 'skip %s\n' "$name"
    else
        printf 'ok   %s: %d passed%s (%d s)\n' "$name" "$p" \
            "$( ((s)) && echo ", $s skipped")" "$((SECONDS - start))"
    fi
    sed -n 's/^why /     skipped: /p' "$work/result"
}

for item in "$@"; do
    read -r -a words <<<"$item"
    case ${words[0]:-} in
    cmocka | tap | single) run_one "${words[@]}" ;;
    *)
        echo "run.sh: '$item' does not begin with cmocka, tap or single" >&2
        failed=$((failed + 1))
        ;;
    esac
done

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
