#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# articles.sh - measures servers as articles on serialization do, and prints docs/articles.md: `make
# articles`. Each table is what hbprof prints of a capture, below the command that made it; beside it stands
# what the same server says of itself in a run that nobody measures. Nothing is judged here.
#
# From the environment: HBPROF the tool, HB_WORK the built workloads; HB_ARTICLE_S how long the runs of gin
# and echo take, s (10).
set -eu -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
: "${HBPROF:?the program to measure}" "${HB_WORK:?the folder of the built workloads}"
seconds=${HB_ARTICLE_S:-10}

if [ "$(id -u)" != 0 ]; then
    echo "articles: probing needs root; run:  sudo make articles" >&2
    exit 1
fi
"$here/../setup.sh" --quiet bench
"$here/../workload/codecs.sh" "$HB_WORK/codecs" servers >&2
captures=$(mktemp -d)
trap 'rm -rf "$captures"' EXIT

load_average() { cut -d ' ' -f 1-3 /proc/loadavg; }

# tables FILE: of a report, the tables of calls and of requests, whose requests the calls are, and what was
# not counted.
tables() {
    awk '
        /^codec  +op / || /^around codecs/ { on = !skip }
        /^(percentiles|counters) / || /^\* / { on = 0 }
        /^counters per call/ { skip = 1 }
        /^requests  +of/ { on = 1 }
        /^(rule|pipelined) / { on = 0 }
        /^(tied|connections|lost|coverage) / { on = 1 }
        /^(drops|cost) / { on = 0 }
        on && (/[^ ]/ || filled) { print; filled = /[^ ]/ }' "$1"
}

# measure NAME PROGRAM ARG...: a run with hbprof, its command and tables; then a run without.
measure() {
    local name=$1 program=$2
    shift 2
    echo
    echo '```'
    echo "\$ hbprof run --requests --no-stacks --no-children -o $name.hbp -- $(basename "$program") $*"
    "$HBPROF" run --requests --no-stacks --no-children -o "$captures/$name.hbp" -- \
        "$HB_WORK/$program" "$@" >"$captures/$name.out" 2>"$captures/$name.err" || {
        cat "$captures/$name.err" >&2
        exit 1
    }
    echo "\$ hbprof report --wide $name.hbp"
    "$HBPROF" report --wide "$captures/$name.hbp" >"$captures/$name.txt"
    tables "$captures/$name.txt"
    echo '```'
    echo
    echo "What the server says of itself when nobody measures, in ns:"
    echo
    echo '```'
    "$HB_WORK/$program" "$@" | grep -E '^(LATENCY (request|handler)|SHARE|RATE|WAITED)' ||
        echo "(nothing)"
    echo '```'
}

# framework NAME RATE
framework() {
    measure "$1-$2" codecs/goservers -mode "$1" -n $((seconds * $2)) -g 8 -rate "$2" -ns 20000 -nowait
}

compare() {
    echo
    echo '```'
    echo "\$ hbprof compare --wide $1.hbp $2.hbp"
    "$HBPROF" compare --wide "$captures/$1.hbp" "$captures/$2.hbp" | sed "s|$captures/||g; s|$HB_WORK/||g" || true
    echo '```'
}

cpu=$("$HBPROF" check 2>/dev/null | sed -n 's/^ *cpu model *//p' | head -n 1)
cpu=${cpu:-$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)}

cat <<TEXT
# Tables of articles, measured

Made by \`make articles\` (tests/bench/articles.sh) and not edited: ${cpu:-unknown CPU}, $(nproc) CPUs, Linux $(uname -r), load
average at the start $(load_average), $(date -u +%Y-%m-%d). Each table is what hbprof prints of a capture, below its command. The
servers are those of tests/workload (README there); their load is another process on the same CPUs. Where other work
runs beside, percentiles far out and means are that work's: look at P50, and at the second run.
How near the two are here: [benchmarks.md](benchmarks.md), "Requests".

Requests of a server end in its last write, see "rule" in a report; handlers' rows are calls of that function. The server's own
"request" is by the rule of the connection, too, but takes handshakes and HTTP/2 frames for requests: compare handlers there.

## gin and echo: one handler, the same payloads

An endpoint that decodes a heartbeat of 128 bytes, works for 20 us and encodes it again, at 500 and at 2,000 requests a second over
8 connections. gin encodes by json.Marshal, echo by a json.Encoder on the response.
TEXT
for rate in 500 2000; do
    for name in gin echo; do
        echo
        echo "### $name, $rate/s"
        framework "$name" "$rate"
    done
done
echo
echo "### gin against echo, 2000/s"
compare gin-2000 echo-2000

echo
echo "## gRPC, unary calls"
echo
echo "HTTP/2 carries many requests on a connection, so the handler's row is the request."
measure grpc codecs/goservers -mode grpc -n 5000 -g 8 -ns 20000 -nowait
echo
echo "## TLS: connections for one handshake each, and requests on them"
measure tls goserver -mode tls -n 1000 -g 32 -ns 20000 -nowait
echo
echo "## database/sql: a query in each request, over a pool of two connections"
echo
echo "\`(*DB).conn\` is how long a request takes to get a connection of the pool, waiting included."
measure sql goserver -mode sql -n 5000 -g 8 -ns 20000 -nowait
echo
echo "Load average at the end: $(load_average)"
