#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_reqprocs.sh - requests of servers of several processes; the tests are in reqprocs.py.
. "$(dirname "$0")/live.sh"

live reqprocs.py
