#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_vm_counters.sh - hardware counters on an emulated arm64 machine; the tests are in counters.py.
. "$(dirname "$0")/../tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "needs an x86-64 host"
command -v python3 >/dev/null || skip_all "needs python3"
PYTHONDONTWRITEBYTECODE=1 exec python3 "$(dirname "$0")/counters.py"
