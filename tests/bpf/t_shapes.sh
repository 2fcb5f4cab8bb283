#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_shapes.sh - what optimizing compilers make of functions and calls; the tests are in shapes.py.
. "$(dirname "$0")/live.sh"

live shapes.py
