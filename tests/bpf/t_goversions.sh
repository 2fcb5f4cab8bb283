#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_goversions.sh - one program by several releases of Go; the tests are in goversions.py.
. "$(dirname "$0")/live.sh"

live goversions.py
