#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_ended.sh - processes that end while they are measured; the tests are in ended.py.
. "$(dirname "$0")/live.sh"

live ended.py
