#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_libraries.sh - the quick part of docs/codecs.md's table: exact counts of calls of C and Go libraries.
# The tests are in libraries.py.
. "$(dirname "$0")/live.sh"

live libraries.py
