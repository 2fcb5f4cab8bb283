#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_refuse.sh - what hbprof cannot do, and how it says so; the tests are in refuse.py.
. "$(dirname "$0")/live.sh"

live refuse.py
