#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_format.sh - C sources are as clang-format 14 would write them. Another version formats
# differently, so no other will do. vmlinux.h is left out: its columns follow the kernel's.
set -u -o pipefail

format=clang-format-14
command -v $format >/dev/null || {
    echo "$format is not installed: apt-get install clang-format-14"
    exit 77
}
find bpf user include flamegraph tests -name '*.[ch]' 2>/dev/null | sort |
    xargs -r $format --dry-run -Werror --ferror-limit=3
