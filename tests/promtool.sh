#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# promtool.sh - prints where Prometheus' promtool is; exit status 1: nowhere, with the reason on stderr.
#
#   tests/promtool.sh FOLDER
#
# Debian has it in the package prometheus, whose installation starts a server. So, unless promtool is
# in PATH, the one file is taken out of the package into FOLDER, where the next run finds it.
set -u -o pipefail

command -v promtool && exit 0
dir=${1:?usage: tests/promtool.sh FOLDER}
if [ ! -x "$dir/promtool" ]; then
    command -v apt-get >/dev/null || { echo "no promtool, and no apt-get to fetch it" >&2; exit 1; }
    work=$(mktemp -d "${TMPDIR:-/tmp}/hbprof-promtool.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work" # apt fetches as a user of its own
    mkdir -p "$dir" || exit 1
    (cd "$work" && apt-get download -q prometheus) >/dev/null 2>&1 &&
        dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb |
        tar -x -O -f - ./usr/bin/promtool >"$work/promtool" &&
        chmod 755 "$work/promtool" && mv "$work/promtool" "$dir/promtool" || {
        echo "no promtool, and the package prometheus could not be fetched" >&2
        exit 1
    }
fi
echo "$dir/promtool"
