# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tap.sh - what the shell tests share; sourced by tests/cli/t_*.sh and tests/bpf/t_*.sh.
#
#	#!/bin/bash
#	. "$(dirname "$0")/../tap.sh"
#	need_root
#	ok "an unknown option is a usage error" exits 2 "$HBPROF" report --nonsense
#	is "$calls" 6001 "every call is counted once"
#	done_testing
#
# A test is a sentence. Rules for the root tests (tests/bpf): compare exact call counts and known
# sleeps, and drops with 0; skip with the reason where the kernel lacks something; end the programs
# that you started, by pid (reap does so at exit).
#
# From the environment: HBPROF the program, HB_WORK the built workloads, HB_SRC the source tree,
# HB_TMP an empty folder. By hand: HBPROF=build/hbprof HB_WORK=build/workload tests/cli/t_x.sh
set -u -o pipefail

tap_nr=0
tap_failed=0
tap_pids=()
HB_SRC=${HB_SRC:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
HBPROF=${HBPROF:-$HB_SRC/build/hbprof}
HB_WORK=${HB_WORK:-$HB_SRC/build/workload}
tap_own_tmp=
if [ -z "${HB_TMP:-}" ]; then
    HB_TMP=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-tap.XXXXXX") || exit 1
    tap_own_tmp=$HB_TMP
fi
export HB_SRC HBPROF HB_WORK HB_TMP

# reap PID...: these are ended when the test script exits.
reap() {
    tap_pids+=("$@")
}

tap_cleanup() {
    local pid
    for pid in "${tap_pids[@]}"; do
        kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
    done
    [ -z "$tap_own_tmp" ] || rm -rf "$tap_own_tmp"
}
trap tap_cleanup EXIT

diag() {
    printf '%s\n' "$*" | sed 's/^/# /'
}

pass() { # sentence
    tap_nr=$((tap_nr + 1))
    echo "ok $tap_nr - $1"
}

fail() { # sentence, what was seen
    tap_nr=$((tap_nr + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_nr - $1"
    shift
    [ $# -eq 0 ] || diag "$*"
    return 1
}

skip() { # sentence, reason
    tap_nr=$((tap_nr + 1))
    echo "ok $tap_nr - $1 # SKIP $2"
}

skip_all() { # reason: the whole script
    echo "1..0 # SKIP $1"
    exit 0
}

need_root() {
    [ "$(id -u)" = 0 ] || skip_all "needs root"
}

# ok SENTENCE COMMAND...: passes if the command succeeds; its output is shown if it does not.
ok() {
    local sentence=$1 out
    shift
    if out=$("$@" 2>&1); then
        pass "$sentence"
    else
        fail "$sentence" "$* failed: $out"
    fi
}

# is GOT EXPECTED SENTENCE
is() {
    if [ "$1" = "$2" ]; then
        pass "$3"
    else
        fail "$3" "got:      $1"$'\n'"expected: $2"
    fi
}

# like TEXT REGEX SENTENCE (extended, some line)
like() {
    if grep -Eq -- "$2" <<<"$1"; then
        pass "$3"
    else
        fail "$3" "no line like: $2"$'\n'"in: $1"
    fi
}

# exits STATUS COMMAND...: succeeds if the command ends with this status.
exits() {
    local want=$1 got
    shift
    "$@"
    got=$?
    [ "$got" = "$want" ] || {
        echo "exit status $got, expected $want"
        return 1
    }
}

# Prints the plan; the exit status is that of the script.
done_testing() {
    echo "1..$tap_nr"
    exit $((tap_failed > 0))
}
