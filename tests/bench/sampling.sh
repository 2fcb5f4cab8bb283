#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sampling.sh - what CPU samples cost the program that is sampled. Prints Markdown; see sampling.py.
# From the environment: HBPROF the tool, HB_WORK the built workloads.
set -eu -o pipefail

: "${HBPROF:?the program to measure}" "${HB_WORK:?the folder of the built workloads}"
if [ "$(id -u)" != 0 ]; then
    echo "sampling: probing needs root; run it with sudo" >&2
    exit 1
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/sampling.py"
