#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# demo.sh - builds a bundled program, profiles it for some seconds, prints the report and draws the
# flame graph: `make demo`.
#
# From the environment: HBPROF the tool, beside which the capture and the picture are left; CC;
# HB_DEMO_TIME how long (10s). Only hbprof itself needs root: of another user it is run by sudo.
set -eu -o pipefail

time=${HB_DEMO_TIME:-10s}
out=$(dirname "$HBPROF")
here=$(dirname "$0")
capture=$out/demo.hbp
picture=$out/demo.svg

sudo=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "demo: probing needs root, and there is no sudo; run this as root:  make demo" >&2
        exit 1
    }
    sudo=(sudo)
fi

# ---- a program to look at -------------------------------------------------------------------

# 20,000 calls a second by 4 goroutines or threads (in C, 5,000 rounds of 4): in Go five ways to call
# encoding/json, over documents
# of 11 B to 8.7 KB; in C four functions of cJSON, over 1.2 KB.
mkdir -p "$out/demo"
if go=$("$here/find_go.sh"); then
    echo "demo: building a Go program to look at, with $("$go" env GOVERSION)"
    (cd "$here/workload" && GOTOOLCHAIN=local GOFLAGS="-mod=mod -buildvcs=false" CGO_ENABLED=0 \
        "$go" build -o "$(cd "$OLDPWD" && cd "$out/demo" && pwd)/gojson" ./gojson)
    program=("$out/demo/gojson" -mode mixed -g 4 -rate 20000 -n 1000000000 -nowait)
else
    echo "demo: there is no Go >= 1.22 here (Debian 12 packages 1.19), so it is a C program that is profiled"
    "${CC:-gcc}" -std=gnu11 -O2 -g -fno-omit-frame-pointer -D_GNU_SOURCE -o "$out/demo/cjson_work" \
        "$here/workload/c/cjson_work.c" -lcjson -lpthread
    program=("$out/demo/cjson_work" -mode threads -size order -rate 5000 -n 1000000000 -nowait)
fi

"${program[@]}" >"$out/demo/output" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true' EXIT

sleep 1 # the program's own start is not what the demo is about
if ! kill -0 "$pid" 2>/dev/null; then
    cat "$out/demo/output" >&2
    echo "demo: the program ended at once: ${program[*]}" >&2
    exit 1
fi

# ---- the demo -------------------------------------------------------------------------------

run() { # what is run can be copied from the line above its output
    echo "demo: $*"
    "$@"
}

echo "demo: started process $pid: ${program[*]}"
run "${sudo[@]}" "$HBPROF" --pid "$pid" --duration "$time" --output "$capture"
echo
run "$HBPROF" flamegraph "$capture" --by codec --output "$picture"
cat <<END

The capture:       $capture    again: $HBPROF report $capture
The flame graph:   $picture    open it in a browser, click a box, search with /
Your own program:  sudo $HBPROF --pid N
END
