#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_reqways.sh - requests by other system calls and protocols; the tests are in reqways.py.
. "$(dirname "$0")/live.sh"

live reqways.py
