#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_counts_go.sh - exact counts of Go programs; the tests are in counts_go.py.
. "$(dirname "$0")/live.sh"

live counts_go.py
