#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_latency.sh - latencies against those without probes; the tests are in latency.py.
. "$(dirname "$0")/live.sh"

live latency.py
