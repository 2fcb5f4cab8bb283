#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_lines.sh - where stdout is no terminal but stderr is, there is a plain line each second.
. "$(dirname "$0")/live.sh"
need_root
live_kernel_ok || skip_all "needs Linux 6.6 or later, for uprobe_multi links"
command -v script >/dev/null || skip_all "needs script, of bsdutils"

"$HB_WORK/spin" -mode push -n 8000 -iters 100 -rate 1000 -nowait >/dev/null &
pid=$!
run="'$HBPROF' --pid $pid --probe spin_push -d 3500ms -o '$HB_TMP/l.hbp'"
seen=$(script -qec "$run >'$HB_TMP/report'" /dev/null </dev/null | tr -d '\r')
is "$(grep -Ec '^hbprof: [123]s: [0-9,]+ calls, [0-9,]+ in the last second$' <<<"$seen")" 3 \
    "three seconds are three plain lines"
ok "the report is in the file, and nothing else" grep -q '^hbprof [0-9.]*: 3.50s recorded' "$HB_TMP/report"
seen=$(script -qec "$run --no-live >'$HB_TMP/report'" /dev/null </dev/null)
is "$(grep -c 'in the last second' <<<"$seen")" 0 "--no-live leaves them out"
kill "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
done_testing
