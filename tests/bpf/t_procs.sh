#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_procs.sh - many processes in one recording, and commands that it starts; the tests are in procs.py.
. "$(dirname "$0")/live.sh"

live procs.py
