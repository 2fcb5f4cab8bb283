#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# flamegraph.sh - time and memory of `hbprof flamegraph` for many different stacks, beside
# inferno-flamegraph where that is installed (cargo install inferno). Prints numbers, never fails by
# time.
#
#   HBPROF=build/hbprof tests/bench/flamegraph.sh [STACKS [RUNS]]      (default: 1000000 3)
set -u -o pipefail

stacks=${1:-1000000}
runs=${2:-3}
src=$(cd "$(dirname "$0")/../.." && pwd)
HBPROF=${HBPROF:-$src/build/hbprof}
inferno=${INFERNO:-$(command -v inferno-flamegraph)}
work=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-flame.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Different stacks of 5 to 25 frames out of 200 names as Go has them; some callees are likelier.
make_stacks() {
    python3 - "$stacks" <<'END'
import random, sys
rnd, want, lines = random.Random(1), int(sys.argv[1]), set()
names = ["github.com/acme/service/internal/%s.(*%s).%s" % (a, b, c)
         for a in ("codec", "http", "store", "queue", "cache")
         for b in ("Server", "Conn", "Buffer", "Tree", "Encoder")
         for c in ("Encode", "Decode", "Read", "Write", "Flush", "Handle", "lookup", "grow")]
while len(lines) < want:
    stack, k = ["main.main"], 0
    for i in range(rnd.randint(4, 24)):
        k = (k * 31 + min(int(rnd.expovariate(.9)), 7) * 7 + i) % len(names)
        stack.append(names[k])
    lines.add(";".join(stack))
for line in sorted(lines):
    print(line, rnd.randint(1, 100))
END
}

# best COMMAND...: of the run with the least CPU time. The elapsed time of a busy machine says little.
best() {
    local i
    for ((i = 0; i < runs; i++)); do
        "$@" 2>"$work/err" >/dev/null || { cat "$work/err" >&2; return 1; }
        tail -n 1 "$work/err"
    done | awk '{ print $1 + $2, $3, $4 }' | sort -n | head -n 1 |
        awk '{ printf "%.2f s CPU, %.2f s elapsed, %d MB", $1, $2, $3 / 1024 }'
}

timed() {
    /usr/bin/time -f '%U %S %e %M' "$@"
}

[ -x /usr/bin/time ] || { echo "flamegraph.sh: needs /usr/bin/time: apt-get install time" >&2; exit 1; }
make_stacks >"$work/sorted.folded" || exit 1
shuf --random-source="$work/sorted.folded" "$work/sorted.folded" >"$work/shuffled.folded"
echo "$stacks different stacks, $(($(stat -c %s "$work/sorted.folded") >> 20)) MB, the best of $runs runs"
for order in sorted shuffled; do
    file=$work/$order.folded
    cat "$file" >/dev/null # into the page cache, for both
    echo "$order: hbprof  $(best timed "$HBPROF" flamegraph "$file" -o "$work/x.svg")"
    [ -z "$inferno" ] || echo "$order: inferno $(best timed "$inferno" "$file")"
done
[ -n "$inferno" ] || echo "inferno-flamegraph is not installed: nothing to compare with"
