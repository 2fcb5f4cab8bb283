#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# aa.sh - what `hbprof compare` says of the same program measured twice on this machine (A/A): PAIRS pairs
# of recordings of SECONDS each, of a Go program that encodes JSON, one process for all. Prints the P50
# and P99 of each pair with ratio, limits and verdict, and then all first runs against all second ones. Every
# verdict but "no difference shown" is a false one. Needs root; nothing here fails by what it finds.
#
#	HBPROF=build/hbprof HB_WORK=build/workload tests/bench/aa.sh [PAIRS [SECONDS]]
set -eu -o pipefail

pairs=${1:-5} seconds=${2:-30}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-aa.XXXXXX")
"$HB_WORK/gojson" -mode mixed -nowait -n 2000000000 >"$tmp/out" 2>&1 &
pid=$!
trap 'kill "$pid"; rm -rf "$tmp"' EXIT
sleep 1

record() { # FILE
    "$HBPROF" --pid "$pid" -d "${seconds}s" -q --no-stacks -o "$1"
}

verdicts() { # captures as compare takes them
    "$HBPROF" compare --metric p50 --metric p99 --metric mean --format json "$@" | python3 -c '
import json, sys
c = json.load(sys.stdin)
flagged = judged = 0
for row in c["rows"]:
    for m in row["metrics"]:
        s = m["sides"][-1]
        judged += s["verdict"] not in ("too few calls", "not comparable", None)
        flagged += s["verdict"] in ("faster", "slower")
        if m["metric"] != "mean" and s.get("ratio") and s.get("ratio_low"):
            name, metric = row["function"], m["metric"]
            print("  %-24s %-4s %.4f  %.4f..%.4f  %s" %
                  (name, metric, s["ratio"], s["ratio_low"], s["ratio_high"], s["verdict"]))
print("  called different: %d of %d" % (flagged, judged))'
}

for ((i = 1; i <= pairs; i++)); do
    record "$tmp/a$i.hbp"
    record "$tmp/b$i.hbp"
    echo "pair $i, ${seconds} s each"
    verdicts "$tmp/a$i.hbp" "$tmp/b$i.hbp"
done
if ((pairs > 1)); then
    echo "all first against all second runs"
    verdicts "$tmp"/a*.hbp : "$tmp"/b*.hbp
fi
