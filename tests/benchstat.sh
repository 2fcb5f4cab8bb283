#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# benchstat.sh - prints where benchstat is; exit status 1: nowhere, with the reason on stderr.
#
#   tests/benchstat.sh FOLDER
#
# Unless it is in PATH, it is built once from golang.org/x/perf into FOLDER.
set -u -o pipefail

command -v benchstat && exit 0
dir=${1:?usage: tests/benchstat.sh FOLDER}
if [ ! -x "$dir/benchstat" ]; then
    go=${HB_GO_BIN:-$(command -v go)} || { echo "no benchstat, and no Go to build it" >&2; exit 1; }
    GOTOOLCHAIN=local GOFLAGS=-mod=mod GOBIN=$dir timeout 120 "$go" install \
        golang.org/x/perf/cmd/benchstat@latest >&2 || {
        echo "no benchstat, and it could not be fetched" >&2
        exit 1
    }
fi
echo "$dir/benchstat"
