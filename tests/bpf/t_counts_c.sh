#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_counts_c.sh - exact counts of C and C++ programs; the tests are in counts_c.py.
. "$(dirname "$0")/live.sh"

live counts_c.py
