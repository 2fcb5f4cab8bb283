#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# hostile.sh - what tests/bpf/t_hostile_codecs.sh does, as often as the numbers of docs/benchmarks.md ask for:
# 100 times attached and detached, 100 times killed, half of them while attaching. Takes about two minutes.
#
#   HBPROF=build/hbprof HB_WORK=build/workload tests/bench/hostile.sh
set -eu

: "${HBPROF:?the program to measure}" "${HB_WORK:?the folder of the built workloads}"
here=$(cd "$(dirname "$0")" && pwd)
export HBPROF HB_WORK HB_ATTACHES="${HB_ATTACHES:-100}" HB_KILLS="${HB_KILLS:-100}"
exec "$here/../bpf/t_hostile_codecs.sh"
