# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# captures.sh - sourced by tests of captures that tests/data/make_compare.c draws.

# make_captures FOLDER: builds that program and lets it write there. Its words are in $HB_TMP/log.
make_captures() {
    local build=${HBPROF%/*}

    (cd "$HB_SRC" && make -s O="$build" "$build/libpure.a") >"$HB_TMP/log" 2>&1 &&
        "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -I"$HB_SRC/include" -I"$HB_SRC/user" -I"$HB_SRC" \
            "$HB_SRC/tests/data/make_compare.c" "$build/libpure.a" -lcjson -lz -lm \
            -o "$HB_TMP/make_compare" >>"$HB_TMP/log" 2>&1 &&
        "$HB_TMP/make_compare" "$1" >>"$HB_TMP/log" 2>&1
}

# prometheus_python: a Python that has Prometheus' reader of OpenMetrics; fails if there is none.
prometheus_python() {
    local python

    # Debian's, where another comes first in PATH.
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import prometheus_client.openmetrics.parser' 2>/dev/null && echo "$python" && return
    done
    return 1
}
