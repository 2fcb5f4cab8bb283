#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_stacks.sh - CPU samples; the tests are in stacks.py.
. "$(dirname "$0")/live.sh"

live stacks.py
