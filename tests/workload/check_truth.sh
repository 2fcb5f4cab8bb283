#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_truth.sh - the workloads themselves: each is run without probes, and must print what the
# protocol (README.md) says, the counts that follow from its mode, and the same twice. Prints TAP.
# By hand: tests/workload/build.sh build/workload && HB_WORK=build/workload tests/workload/check_truth.sh
. "$(dirname "$0")/../tap.sh"

json=encoding/json
go=gojson_plain
[ -x "$HB_WORK/$go" ] || go=

# problems FILE - what is wrong with an output, line by line; nothing if nothing is.
problems() {
    awk '
    function value(key,   i) {
        for (i = 1; i <= NF; i++)
            if (index($i, key "=") == 1)
                return substr($i, length(key) + 2) + 0
        bad("has no " key)
    }
    function bad(what) { print "line " NR ": " what ": " $0 }
    /^LISTEN / { next }
    ++nr == 1 { if ($0 !~ /^PID [0-9]+$/) bad("is not the PID"); next }
    nr == 2 { if ($0 != "READY") bad("is not READY"); next }
    { last = $0 }
    $1 == "TRUTH" {
        if ($0 !~ /^TRUTH [^ ]+ (encode|decode|call) [^ ]+ calls=[0-9]+ entries=[0-9]+ errors=[0-9]+ size_sum=[0-9]+ size_max=[0-9]+ abandoned=[0-9]+$/)
            bad("has another form")
        if (value("entries") < value("calls") + value("abandoned")) bad("more calls than entries")
        if (value("errors") > value("calls")) bad("more errors than calls")
        if (value("size_sum") > value("size_max") * value("calls")) bad("the sum is too large")
        calls[$4] = value("calls"); truths++
        next
    }
    $1 == "LATENCY" {
        n = "[0-9]+"; f = "[0-9]+[.][0-9]"
        if ($0 !~ "^LATENCY [^ ]+ count=" n " mean=" f " min=" n " p50=" f " p90=" f " p99=" f " p999=" f " max=" n "$")
            bad("has another form")
        if ($2 in calls && value("count") != calls[$2]) bad("not all calls are in it")
        if (value("min") > value("p50") || value("p50") > value("p90") || value("p90") > value("p99") ||
            value("p99") > value("p999") || value("p999") > value("max"))
            bad("quantiles fall")
        if (value("mean") < value("min") || value("mean") > value("max")) bad("the mean is outside")
        next
    }
    /^CHECKSUM [0-9]+$/ { sums++; next }
    /^TIMER ns=[0-9]+$/ { timers++; next }
    /^(LOAD|RATE|SHARE|REQUESTS|GROUP|WAITED|INSTRUCTIONS|SWITCH|STOPS|GOROUTINES) / { next }
    /^(SPIN iters|COST [a-z_]+ ns|MIGRATED [^ ]+ calls|BLOCKED [^ ]+ calls|CALLER [a-z]+ [^ ]+ calls)=[0-9.]+/ { next }
    $0 == "DONE" { next }
    { bad("is not of the protocol") }
    END {
        if (last != "DONE") print "the last line is not DONE"
        if (!truths || sums != 1 || timers != 1) print "TRUTH, CHECKSUM or TIMER is missing"
    }' "$1"
}

# What must be the same in every run, with probes and without.
same_lines() {
    grep -Ev '^(PID|LATENCY|TIMER|COST|SPIN|MIGRATED|LISTEN|RATE|SHARE|REQUESTS|WAITED|INSTRUCTIONS|SWITCH|STOPS) ' "$1"
}

# case PROGRAM ARGS... -- "FUNCTION CALLS ENTRIES ERRORS SIZE_SUM SIZE_MAX ABANDONED"...
check() {
    local name="$*" args=() want=() seen line

    name=${name%% -- *}
    while [ "$1" != -- ]; do
        args+=("$1")
        shift
    done
    shift
    for line in "$@"; do
        want+=("$line")
    done
    if ! "$HB_WORK/${args[0]}" "${args[@]:1}" -nowait >"$HB_TMP/a" 2>"$HB_TMP/err" ||
        ! "$HB_WORK/${args[0]}" "${args[@]:1}" -nowait >"$HB_TMP/b" 2>>"$HB_TMP/err"; then
        fail "$name runs" "$(cat "$HB_TMP/err")"
        return
    fi
    is "$(problems "$HB_TMP/a")" "" "$name keeps to the protocol"
    seen=$(sed -n 's/^TRUTH [^ ]* [^ ]* //p' "$HB_TMP/a" | sed 's/ [a-z_]*=/ /g')
    is "$seen" "$(printf '%s\n' "${want[@]}")" "$name counts exactly"
    is "$(same_lines "$HB_TMP/b")" "$(same_lines "$HB_TMP/a")" "$name prints the same again"
}

check_go() {
    local v

    for v in plain stripped pie staticpie nosect; do
        check gojson_$v -mode marshal -n 20 -- "$json.Marshal 20 20 0 2560 128 0"
    done
    check $go -mode marshal -n 20 -size tiny -- "$json.Marshal 20 20 0 220 11 0"
    check $go -mode marshal -n 20 -size order -g 3 -- "$json.Marshal 60 60 0 70080 1168 0"
    check $go -mode marshal -n 20 -size device -gc -procs 4 -- "$json.Marshal 20 20 0 176140 8807 0"
    check $go -mode marshal -n 20 -rate 1000 -- "$json.Marshal 20 20 0 2560 128 0"
    check $go -mode unmarshal -n 20 -- "$json.Unmarshal 20 20 0 2560 128 0"
    check $go -mode indent -n 20 -- "$json.MarshalIndent 20 20 0 2980 149 0" \
        "$json.Marshal 0 20 0 0 0 0"
    check $go -mode encoder -n 20 -g 2 -- "$json.(*Encoder).Encode 40 40 0 5160 129 0"
    check $go -mode decoder -n 20 -g 2 -- "$json.(*Decoder).Decode 40 40 0 5120 128 0"
    check $go -mode mixed -n 40 -- "$json.Marshal 8 16 0 20228 8807 0" \
        "$json.Unmarshal 8 8 0 20228 8807 0" "$json.MarshalIndent 8 8 0 54444 25119 0" \
        "$json.(*Encoder).Encode 8 8 0 20236 8808 0" "$json.(*Decoder).Decode 8 8 0 20228 8807 0"
    check $go -mode decodeerr -n 30 -- "$json.Unmarshal 30 30 10 3280 128 0"
    check $go -mode encodeerr -n 30 -- "$json.Marshal 30 30 10 2560 128 0"
    check $go -mode spin -n 50 -iters 300 -g 2 -- "main.Spin 100 100 0 0 0 0"
    check $go -mode grow -n 120 -- "$json.Marshal 120 120 0 15360 128 0"
    check $go -mode recursion -n 10 -g 2 -- "$json.Marshal 20 800 0 1580 79 0"
    check $go -mode panic -n 30 -g 2 -- "$json.Marshal 0 60 0 0 0 60"
    check $go -mode panicmix -n 20 -g 2 -- "$json.Marshal 280 920 0 21080 128 200"
    check $go -mode goexit -n 40 -- "$json.Marshal 20 40 0 2560 128 20"
    check $go -mode block -n 20 -g 4 -ns 10000 -- "$json.Marshal 80 80 0 80 1 0"
    check $go -mode counted -n 20 -- "$json.Marshal 20 20 0 2560 128 0"
    check $go -mode goroutines -n 2 -- "$json.Marshal 20000 20000 0 2242500 128 0"
    check gocgo -mode callback -n 30 -g 2 -- "$json.Marshal 60 60 0 7680 128 0"
    check gocgo -mode nested -n 30 -- "$json.Marshal 30 120 0 30 1 0"
    check gocgo -mode native -n 30 -- "$json.Marshal 30 30 0 3840 128 0" "cJSON_Parse 30 30 0 810 27 0" \
        "cJSON_ParseWithOpts 0 30 0 0 0 0" "cJSON_ParseWithLengthOpts 0 30 0 0 0 0"
    check gocgo -mode serve -n 30 -g 2 -- "$json.Marshal 60 60 0 7680 128 0" "cJSON_Parse 60 60 0 1620 27 0" \
        "cJSON_ParseWithOpts 0 60 0 0 0 0" "cJSON_ParseWithLengthOpts 0 60 0 0 0 0"
    check gocgo -mode thread -n 30 -g 2 -- "$json.Marshal 60 60 0 7680 128 0"
}

# Modes in which not every call can be timed: their LATENCY lines say so.
check_go_untimed() {
    check $go -mode callers -n 10 -- "$json.Marshal 80 80 0 7755 128 0" \
        "$json.(*Encoder).Encode 30 30 0 3870 129 0" "main.Bare 10 10 0 0 0 0"
    check $go -mode spinouter -n 50 -iters 300 -own 100 -- "main.Outer 50 50 0 0 0 0" \
        "main.Spin 100 100 0 0 0 0"
    is "$("$HB_WORK/$go" -mode callers -n 10 -nowait | grep -c '^CALLER .* calls=10$')" 12 \
        "mode callers has twelve ways"
}

check_cjson() {
    local nested="cJSON_ParseWithOpts 0 30 0 0 0 0" end="cJSON_ParseWithLengthOpts 0 30 0 0 0 0"

    check cjson_work -mode parse -n 30 -- "cJSON_Parse 30 30 0 3750 125 0" "$nested" "$end"
    check cjson_work -mode parseerr -n 30 -- "cJSON_Parse 30 30 10 3740 125 0" "$nested" "$end"
    check cjson_work -mode parselen -n 30 -size order -- \
        "cJSON_ParseWithLength 30 30 0 35040 1168 0" "$end"
    check cjson_work -mode print -n 10 -size order -- "cJSON_Print 10 10 0 14800 1480 0"
    check cjson_work -mode printunformatted -n 10 -size device -- \
        "cJSON_PrintUnformatted 10 10 0 86790 8679 0"
    check cjson_work -mode threads -n 5 -g 3 -size tiny -- "cJSON_Parse 15 15 0 165 11 0" \
        "cJSON_ParseWithOpts 0 15 0 0 0 0" "cJSON_ParseWithLength 15 15 0 165 11 0" \
        "cJSON_ParseWithLengthOpts 0 30 0 0 0 0" "cJSON_Print 15 15 0 225 15 0" \
        "cJSON_PrintUnformatted 15 15 0 165 11 0"
}

check_hostile() {
    local f=()

    check spin -mode spin -n 50 -iters 200 -- "spin_push 50 50 0 0 0 0" \
        "spin_endbr 50 50 0 0 0 0" "spin_lea 50 50 0 0 0 0"
    check spin -mode lea -n 50 -iters 200 -g 2 -- "spin_lea 100 100 0 0 0 0"
    check switches -n 20 -iters 320 -- "switches_call 40 40 0 0 0 0"
    check switches -mode other -n 20 -iters 320 -- "switches_call 0 0 0 0 0 0"
    check spin -mode cost -n 1001 -- "nop_push 1001 1001 0 0 0 0" "nop_endbr 1001 1001 0 0 0 0" \
        "nop_lea 1001 1001 0 0 0 0" "nop_lea_branch 1001 1001 0 0 0 0" "nop_ret 1001 1001 0 0 0 0"
    check hostile -mode plain -n 20 -procs 1 -- "codec 20 30 0 0 0 0"
    check hostile -mode longjmp -n 20 -g 2 -- "codec 120 360 0 0 0 120"
    check hostile -mode threadexit -n 20 -- "codec 20 60 0 0 0 40"
    check hostile -mode recursion -n 20 -- "codec_deep 20 20000 0 0 0 0"
    check hostile -mode threads -n 20 -- "codec 80 120 0 0 0 0"
    check hostile -mode seccomp -n 20 -rate 5000 -- "codec 20 30 0 0 0 0"
    check hostile -mode sigaltstack -n 20 -- "codec 30 40 0 0 0 0"
    check hostile -mode fibers -n 20 -- "codec 40 40 0 0 0 0"
    check hostile -mode yield -n 20 -- "codec 80 80 0 0 0 0"
    check hostile -mode tailcalls -n 20 -- "chain_a 20 20 0 0 0 0" "tail_a 20 20 0 0 0 0" \
        "chain_b 20 20 0 0 0 0" "tail_b 20 20 0 0 0 0" "chain_c 20 20 0 0 0 0" \
        "tail_c 20 20 0 0 0 0"
    for f in testcodec:dso latecodec:dlopen; do
        check hostile -mode "${f#*:}" -n 100 -- "${f%:*}_encode 100 100 0 0 0 0" \
            "${f%:*}_decode 100 100 0 0 0 0" "${f%:*}_block 236 236 0 0 0 0"
    done
    check hostile -mode reload -n 20 -- "testcodec_block 20 20 0 0 0 0"
    check hostile_cxx -mode throw -n 30 -- "hostile::codec(int) 20 30 0 0 0 10"
    check hostile_cxx -mode throwdeep -n 20 -g 2 -- "hostile::codec(int) 80 280 0 0 0 80"
    check hostile_cxx -mode throwcaught -n 20 -- "hostile::codec(int) 20 40 0 0 0 0"
}

check_servers() {
    local mode o="cJSON_ParseWithLength 120 120 0 15360 128 0"

    for mode in rw recv msg vec threads short unix; do
        check epoll_server -mode $mode -n 120 -g 4 -- "$o" "cJSON_ParseWithLengthOpts 0 120 0 0 0 0" \
            "cJSON_PrintUnformatted 120 120 0 15360 128 0"
    done
    check epoll_server -mode tail -n 200 -g 2 -- "cJSON_ParseWithLength 200 200 0 60316 8807 0" \
        "cJSON_ParseWithLengthOpts 0 200 0 0 0 0" "cJSON_PrintUnformatted 200 200 0 60316 8807 0"
    for mode in json handoff relay pool tls sql "json -short" "json -unix"; do
        check goserver -mode $mode -n 120 -g 4 -- "$json.Marshal 120 120 0 15360 128 0" \
            "$json.Unmarshal 120 120 0 15360 128 0"
    done
    check goserver -mode fan -n 120 -g 4 -- "$json.Marshal 240 240 0 1200 5 0" \
        "$json.Unmarshal 120 120 0 15360 128 0"
    check goserver -mode proxy -n 120 -g 4 -- "$json.Marshal 240 240 0 30720 128 0" \
        "$json.Unmarshal 360 360 0 46080 128 0"
    check goserver -mode stream -n 200 -g 2 -tail -work sleep -ns 50000 -- \
        "$json.(*Encoder).Encode 200 200 0 60516 8808 0" \
        "$json.(*Decoder).Decode 200 200 0 60316 8807 0"
}

# How often qsort compares is libc's affair: here only that it is the same twice.
check_funcptr() {
    local a b

    a=$("$HB_WORK/hostile" -mode funcptr -n 20 -nowait | grep '^TRUTH')
    b=$("$HB_WORK/hostile" -mode funcptr -n 20 -nowait | grep '^TRUTH')
    is "$a" "$b" "mode funcptr counts the same again"
    ok "mode funcptr calls codec through a pointer" \
        grep -q 'TRUTH probe call codec calls=20 entries=20 ' <<<"$a"
}

test_go() {
    cd "$HB_SRC/tests/workload" && GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local \
        "$(../find_go.sh)" test ./lib
}

# A profiler attaches between READY and the first call, and looks once more after DONE.
check_waiting() {
    local program=$1 pid line

    coproc W { exec "$HB_WORK/$program" -n 5; }
    pid=$W_PID
    read -r line <&"${W[0]}"
    is "$line" "PID $pid" "$program says its pid"
    read -r line <&"${W[0]}"
    is "$line" READY "$program is ready"
    read -r -t 0.2 line <&"${W[0]}" && fail "$program waits for a line" "$line"
    echo go >&"${W[1]}"
    while read -r line <&"${W[0]}" && [ "$line" != DONE ]; do
        :
    done
    ok "$program is there after DONE" kill -0 "$pid"
    echo end >&"${W[1]}"
    wait "$pid"
    is $? 0 "$program ends well"
}

ok "the histogram of truth.h has the quantiles of a ramp" "$HB_WORK/hist_check"
check_cjson
check_hostile
check_funcptr
check_waiting hostile
ok "an unknown mode is a usage error" exits 2 "$HB_WORK/hostile" -mode none
if [ -n "$go" ]; then
    ok "the histogram and the documents of the Go workloads are right" test_go
    check_go
    check_go_untimed
    check_servers
    check_waiting $go
    ok "an unknown mode is a usage error in Go" exits 2 "$HB_WORK/$go" -mode none
else
    skip "the Go workloads" "not built: no Go >= 1.22"
fi
done_testing
