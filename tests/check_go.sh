#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_go.sh - a Go toolchain is there, so that the tests over Go programs are run and not skipped.
# On a developer's machine its absence is a skip; in CI (HB_CI=1) it is a failure, as a run without
# them says little about a profiler of Go programs.
if go=$("$(dirname "$0")/find_go.sh"); then
    "$go" version
    exit 0
fi
echo "no Go >= 1.22 (Debian 12 packages 1.19): the tests over Go programs are not run; see https://go.dev/dl/"
[ "${HB_CI:-}" = 1 ] && exit 1
exit 77
