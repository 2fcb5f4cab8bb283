#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_cover.sh - probes that are taken off while it measures; the tests are in cover.py.
. "$(dirname "$0")/live.sh"

live cover.py
