#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# find_go.sh - prints the path of a Go toolchain that can build the test programs (1.22 or later):
# the one in PATH, go.dev's own place, or Debian's versioned packages. Exit status 1: there is none.
set -u
min=22

minor() {
    local v
    v=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
    v=${v#go1.}
    echo "${v%%[!0-9]*}"
}

for go in "$(command -v go)" /usr/local/go/bin/go $(ls -d /usr/lib/go-1.*/bin/go 2>/dev/null | sort -rV); do
    [ -x "$go" ] || continue
    m=$(minor "$go")
    if [ "${m:-0}" -ge "$min" ]; then
        echo "$(GOTOOLCHAIN=local "$go" env GOROOT)/bin/go"
        exit 0
    fi
done
exit 1
