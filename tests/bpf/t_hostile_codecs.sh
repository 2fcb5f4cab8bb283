#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_hostile_codecs.sh - several codecs at once, under what a target may do and what may happen to hbprof;
# the tests are in hostile_codecs.py. How often it is attached, killed and so on in a run:
#   HB_ATTACHES (12)   HB_KILLS (8)
# tests/bench/hostile.sh has more of both.
. "$(dirname "$0")/live.sh"

live hostile_codecs.py
