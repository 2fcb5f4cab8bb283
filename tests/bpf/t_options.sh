#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_options.sh - options of a recording, and replay; the tests are in options.py.
. "$(dirname "$0")/live.sh"

live options.py
