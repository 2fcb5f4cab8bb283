#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_pauses.sh - what happens to the processes of requests meanwhile; the tests are in pauses.py.
. "$(dirname "$0")/live.sh"

live pauses.py
