#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_perf.sh - probes by perf events, as kernels before 6.6 need them, on this one; the tests are in
# perf.py.
. "$(dirname "$0")/live.sh"

HBPROF_ATTACH=perf live perf.py
