#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_vm_switched.sh - counters of calls that leave their CPU; the tests are in switched.py.
. "$(dirname "$0")/../tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "needs an x86-64 host"
command -v python3 >/dev/null || skip_all "needs python3"
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/switched.py"
