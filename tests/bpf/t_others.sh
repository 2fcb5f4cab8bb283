#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_others.sh - what others do to the target while it is measured; the tests are in others.py.
. "$(dirname "$0")/live.sh"

live others.py
