#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_names.sh - names that are not one function: none, several, too many; the tests are in names.py.
. "$(dirname "$0")/live.sh"

live names.py
