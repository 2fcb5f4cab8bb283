#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_view.sh - the live view on a terminal, that of tmux; the tests are in view.py.
. "$(dirname "$0")/live.sh"

command -v tmux >/dev/null || skip_all "needs tmux"
live view.py
