#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_servers.sh - servers under load; the tests are in servers.py.
. "$(dirname "$0")/live.sh"

[ -x "$HB_WORK/goload" ] || skip_all "the load needs Go >= 1.22"
live servers.py
