#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_harm.sh - what may happen while hbprof is attached; the tests are in harm.py.
. "$(dirname "$0")/live.sh"

live harm.py
