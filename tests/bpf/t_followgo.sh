#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_followgo.sh - goroutines that requests start; the tests are in followgo.py.
. "$(dirname "$0")/live.sh"

live followgo.py
