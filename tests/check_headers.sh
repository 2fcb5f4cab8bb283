#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_headers.sh - every header of the user side compiles alone: it includes what it uses.
#
#   tests/check_headers.sh [GENERATED]       GENERATED: folder of the skeletons, build/gen
set -u -o pipefail

gen=${1:-build/gen}
failed=0
nr=0

while read -r header; do
    nr=$((nr + 1))
    # Twice: the guard is checked, too.
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "${CC:-gcc}" -std=gnu11 -Wall -Wextra -Wstrict-prototypes -Wundef -Wno-unused-parameter \
            -Werror -D_GNU_SOURCE -Iinclude -Iuser -I. -I"$gen" -fsyntax-only -x c - || {
        echo "$header does not compile alone"
        failed=1
    }
done < <(find include user flamegraph -name '*.h' 2>/dev/null | sort)

((nr)) || {
    echo "no headers found: not in the source tree?"
    exit 1
}
echo "$nr headers"
exit $failed
