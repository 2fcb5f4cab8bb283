#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_codecs.sh - codecs of other libraries, called a known number of times; the tests are in codecs.py.
. "$(dirname "$0")/live.sh"

live codecs.py
