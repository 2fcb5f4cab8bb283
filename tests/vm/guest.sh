# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# guest.sh - for /test.sh inside of the virtual machine: measures a workload (tests/workload/README.md)
# from READY to DONE. busybox's shell.

# wait_for PATTERN FILE PID: until a line has it; false when the process has ended before, or it takes
# too long.
wait_for() {
    tries=0
    until grep -q "$1" "$2" 2>/dev/null; do
        if ! kill -0 "$3" 2>/dev/null && ! grep -q "$1" "$2"; then
            echo "ended without '$1'"
            return 1
        fi
        tries=$((tries + 1))
        if [ $tries -gt 600 ]; then
            echo "waited too long for '$1'"
            return 1
        fi
        sleep 0.05
    done
}

# measure NAME OPTIONS WORKLOAD...: leaves /out/NAME.lines of the workload, and .hbp, .json, .err and
# .status of hbprof.
measure() {
    name=$1 options=$2
    shift 2
    rm -f /tmp/go && mkfifo /tmp/go
    "$@" </tmp/go >"/out/$name.lines" 2>&1 &
    workload=$!
    exec 9>/tmp/go
    wait_for READY "/out/$name.lines" $workload || return 1
    # shellcheck disable=SC2086 # options are words
    hbprof --pid $workload $options -v --format json -o "/out/$name.hbp" 9>&- \
        >"/out/$name.json" 2>"/out/$name.err" &
    hbprof=$!
    if wait_for 'measuring' "/out/$name.err" $hbprof; then
        echo >&9
        wait_for DONE "/out/$name.lines" $workload
        kill -TERM $hbprof
    fi
    wait $hbprof
    echo $? >"/out/$name.status"
    exec 9>&-
    wait $workload
    echo "$name: hbprof $(cat "/out/$name.status"), workload $?"
}
