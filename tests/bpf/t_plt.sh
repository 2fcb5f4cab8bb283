#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_plt.sh - calls of libraries, known before the first one; the tests are in plt.py.
. "$(dirname "$0")/live.sh"

live plt.py
