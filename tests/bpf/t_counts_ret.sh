#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_counts_ret.sh - exact counts with --exit=ret; the tests are in counts_ret.py.
. "$(dirname "$0")/live.sh"

live counts_ret.py
