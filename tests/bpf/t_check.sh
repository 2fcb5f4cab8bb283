#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_check.sh - is it true what `hbprof check` and its manual page say; the tests are in check.py.
. "$(dirname "$0")/live.sh"

live check.py
