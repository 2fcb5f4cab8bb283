#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_requests.sh - requests of servers; the tests are in requests.py.
. "$(dirname "$0")/live.sh"

live requests.py
