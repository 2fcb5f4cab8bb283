#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# run.sh - what hbprof costs and how exact it is, on this machine: `make bench`. Prints Markdown, of
# which docs/benchmarks.md is made; a number that misses its target is printed like any other.
#
#   tests/bench/run.sh [SECTION...]     accuracy cost counters vm layers attach start untraced processes
#                               requests own bpf (default: all)
#
# From the environment: HBPROF the tool, HB_WORK the built workloads, beside which the programs of the
# benchmark's own are built; HB_ARM64 what `make build-arm64` has built, without
# which vm is left out; HB_BENCH_ROUNDS how many times each pair of runs is made (9).
set -eu -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
: "${HBPROF:?the program to measure}" "${HB_WORK:?the folder of the built workloads}"
: "${CC:=gcc}"

if [ "$(id -u)" != 0 ]; then
    echo "bench: probing needs root; run:  sudo make bench" >&2
    exit 1
fi
"$here/../setup.sh" --quiet bench

export HB_BENCH_DIR=$HB_WORK/bench
mkdir -p "$HB_BENCH_DIR"

# newer FILE SOURCE...: whether FILE has to be built.
newer() {
    local out=$1
    shift
    [ ! -e "$out" ] || [ -n "$(find "$@" -newer "$out" -print -quit)" ]
}

# 8,000 calls of one function, in as many places.
build_callsites() {
    if newer "$HB_BENCH_DIR/callsites" "$here/callsites.py"; then
        python3 "$here/callsites.py" 8000 >"$HB_BENCH_DIR/callsites.c"
        "$CC" -std=gnu11 -O2 -g -Wall -Wextra -Werror -o "$HB_BENCH_DIR/callsites" \
            "$HB_BENCH_DIR/callsites.c"
    fi
}

# A loop of system calls.
build_syscalls() {
    if newer "$HB_BENCH_DIR/syscalls" "$here/syscalls.c"; then
        "$CC" -std=gnu11 -O2 -g -Wall -Wextra -Werror -o "$HB_BENCH_DIR/syscalls" "$here/syscalls.c"
    fi
}

# A large Go program. Its modules come through the Go module proxy; without that, or without Go, what
# is measured of it is left out, and said.
build_bigbin() {
    local go
    go=$("$here/../find_go.sh") || {
        echo "bench: no Go >= 1.22: no large program" >&2
        return
    }
    if newer "$HB_BENCH_DIR/bigbin" "$here/bigbin" -type f; then
        (cd "$here/bigbin" && GOFLAGS="-mod=mod -buildvcs=false" CGO_ENABLED=0 \
            "$go" build -o "$HB_BENCH_DIR/bigbin" .) || {
            echo "bench: the large program cannot be built here" >&2
            rm -f "$HB_BENCH_DIR/bigbin"
        }
    fi
}

# Starts of goroutines. Without Go they are not measured.
build_goroutines() {
    local go
    go=$("$here/../find_go.sh") || return 0
    if newer "$HB_BENCH_DIR/goroutines" "$here/goroutines" -type f; then
        (cd "$here/goroutines" && GOFLAGS="-mod=mod -buildvcs=false" CGO_ENABLED=0 \
            "$go" build -o "$HB_BENCH_DIR/goroutines" .)
    fi
}

build_callsites
build_goroutines
build_syscalls
build_bigbin
export PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/bench.py" "$@"
