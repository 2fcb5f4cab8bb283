#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_counters.sh - counters of calls against known amounts; the tests are in counters.py.
. "$(dirname "$0")/live.sh"

live counters.py
