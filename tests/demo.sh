#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# demo.sh - profiles a bundled program for some seconds and prints the report: `make demo`.
#
# From the environment: HBPROF the tool, beside which the capture is left; HB_WORK the built workloads;
# HB_DEMO_TIME how long (6s).
set -eu -o pipefail

time=${HB_DEMO_TIME:-6s}

if [ "$(id -u)" != 0 ]; then
    echo "demo: probing needs root; run:  sudo make demo" >&2
    exit 1
fi

# 20,000 orders a second, encoded and decoded, by 4 goroutines; in C flat out, one thread.
if [ -x "$HB_WORK/gojson" ]; then
    program=("$HB_WORK/gojson" -mode mixed -size order -g 4 -rate 20000 -n 1000000000 -nowait)
elif [ -x "$HB_WORK/cjson_work" ]; then
    echo "demo: no Go >= 1.22 here, so the C program is profiled instead of the Go one"
    program=("$HB_WORK/cjson_work" -n 1000000000 -nowait)
else
    echo "demo: no workload was built in $HB_WORK" >&2
    exit 1
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-demo.XXXXXX")
"${program[@]}" >"$dir/out" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true; rm -rf "$dir"' EXIT

sleep 1 # the program's own start is not what the demo is about
if ! kill -0 "$pid" 2>/dev/null; then
    cat "$dir/out" >&2
    echo "demo: the workload ended at once: ${program[*]}" >&2
    exit 1
fi
echo "demo: ${program[*]}"
echo "demo: hbprof --pid $pid --duration $time"
"$HBPROF" --pid "$pid" --duration "$time" --output "$(dirname "$HBPROF")/demo.hbp"
