#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# codecs.sh - builds programs that call each codec that hbprof knows, measures them, and writes the table
# of docs/codecs.md: `make codecs-table`. What does not build, or does not count what the program
# counted itself, is a failure, and the table stays as it was.
#
#   tests/bench/codecs.sh [MODE...]     these modes only, and the table on stdout only
#
# From the environment: HBPROF the tool, HB_WORK where to build, HB_BENCH_ROUNDS how many times each
# pair of runs is made (3).
set -eu -o pipefail

here=$(cd "$(dirname "$0")" && pwd)
: "${HBPROF:?the program to measure}" "${HB_WORK:?the folder to build in}"

if [ "$(id -u)" != 0 ]; then
    echo "codecs: probing needs root; run:  sudo make codecs-table" >&2
    exit 1
fi
"$here/../setup.sh" --quiet bench
"$here/../workload/codecs.sh" "$HB_WORK/codecs"
export PYTHONDONTWRITEBYTECODE=1 HB_BENCH_DIR=$HB_WORK/codecs HB_BENCH_ROUNDS=${HB_BENCH_ROUNDS:-3}
exec python3 "$here/codecs.py" "$@"
