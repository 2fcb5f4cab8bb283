#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_run.sh - tests/run.sh itself: programs that fail in every way that must not go unseen.
. "$(dirname "$0")/../tap.sh"

program() { # name; the body is on stdin
    { echo '#!/bin/bash'; cat; } >"$HB_TMP/$1"
    chmod +x "$HB_TMP/$1"
}

counts() { # item...: the last line of run.sh
    HB_TEST_TIMEOUT=2 "$HB_SRC/tests/run.sh" "$@" >"$HB_TMP/log" 2>&1
    tail -n 1 "$HB_TMP/log"
}

program tap_good <<'E'
echo "ok 1 - one"; echo "ok 2 - two # SKIP no such kernel"; echo "1..2"
E
is "$(counts "tap $HB_TMP/tap_good")" "1 passed, 0 failed, 1 skipped" "TAP results are counted"
ok "the reason of a skip is printed" grep -q "skipped: two: no such kernel" "$HB_TMP/log"

program tap_bad <<'E'
echo "1..2"; echo "ok 1 - one"; echo "not ok 2 - two"; echo "# the evidence"
E
is "$(counts "tap $HB_TMP/tap_bad")" "1 passed, 1 failed, 0 skipped" "a TAP failure is counted"
ok "the output of a failed program is printed" grep -q "the evidence" "$HB_TMP/log"

program tap_short <<'E'
echo "1..3"; echo "ok 1 - one"
E
is "$(counts "tap $HB_TMP/tap_short")" "1 passed, 1 failed, 0 skipped" \
    "fewer results than planned are a failure"

program tap_no_plan <<'E'
echo "ok 1 - one"
E
is "$(counts "tap $HB_TMP/tap_no_plan")" "1 passed, 1 failed, 0 skipped" \
    "a missing plan is a failure"

program tap_dies <<'E'
echo "1..1"; echo "ok 1 - one"; kill -SEGV $$
E
is "$(counts "tap $HB_TMP/tap_dies")" "1 passed, 1 failed, 0 skipped" \
    "a crash after the last result is a failure"

program silent <<'E'
exit 0
E
is "$(counts "tap $HB_TMP/silent" "cmocka $HB_TMP/silent")" "0 passed, 2 failed, 0 skipped" \
    "a program without a result has failed"

program tap_skipped <<'E'
echo "1..0 # SKIP needs root"
E
is "$(counts "tap $HB_TMP/tap_skipped")" "0 passed, 0 failed, 1 skipped" \
    "a script that skips all of itself is one skip"

program slow <<'E'
echo "1..1"; echo "ok 1 - one"; exec sleep 20
E
is "$(counts "tap $HB_TMP/slow")" "1 passed, 1 failed, 0 skipped" "a program over the limit has failed"
is "$(counts "tap $HB_TMP/not_there")" "0 passed, 1 failed, 0 skipped" \
    "a program that was not built has failed"

# As cmocka 1.1.5 prints: results on stdout, failures on stderr.
program cm_good <<'E'
echo "[==========] Running 3 test(s)."
echo "[ RUN      ] test_a"; echo "[       OK ] test_a"
echo "[ RUN      ] test_b"; echo "needs a Go toolchain"; echo "[  SKIPPED ] test_b"
echo "[ RUN      ] test_c"; echo "[       OK ] test_c"
echo "[==========] 3 test(s) run."; echo "[  PASSED  ] 2 test(s)."
echo "[  SKIPPED ] 1 test(s), listed below:"; echo "[  SKIPPED ] test_b"; echo; echo " 1 SKIPPED TEST(S)"
E
is "$(counts "cmocka $HB_TMP/cm_good")" "2 passed, 0 failed, 1 skipped" "cmocka results are counted"
is "$(grep -c "skipped: test_b: needs a Go toolchain" "$HB_TMP/log")" 1 \
    "what a cmocka test says before it skips is the reason, printed once"

program cm_bad <<'E'
echo "[==========] Running 2 test(s)."
echo "[ RUN      ] test_a"; echo "[       OK ] test_a"
echo "[ RUN      ] test_b"; echo "0x1 != 0x2" >&2; echo "[  FAILED  ] test_b" >&2
echo "[==========] 2 test(s) run."; echo "[  PASSED  ] 1 test(s)." >&2
echo "[  FAILED  ] 1 test(s), listed below:" >&2; echo "[  FAILED  ] test_b" >&2; echo " 1 FAILED TEST(S)" >&2
exit 1
E
is "$(counts "cmocka $HB_TMP/cm_bad")" "1 passed, 1 failed, 0 skipped" "a cmocka failure is counted"

program cm_dies <<'E'
echo "[==========] Running 2 test(s)."; echo "[ RUN      ] test_a"; echo "[       OK ] test_a"; kill -ABRT $$
E
is "$(counts "cmocka $HB_TMP/cm_dies")" "0 passed, 1 failed, 0 skipped" \
    "a cmocka program that dies on the way has failed"

program cm_leaks <<'E'
echo "[==========] Running 1 test(s)."; echo "[ RUN      ] test_a"; echo "[       OK ] test_a"
echo "[==========] 1 test(s) run."; echo "[  PASSED  ] 1 test(s)."; exit 23
E
is "$(counts "cmocka $HB_TMP/cm_leaks")" "1 passed, 1 failed, 0 skipped" \
    "a sanitizer's exit status after the last result is a failure"

program skips <<'E'
echo "no BTF here"; exit 77
E
is "$(counts "single $HB_TMP/skips" "single true" "single false")" "1 passed, 1 failed, 1 skipped" \
    "a single check is one result by its exit status"
is "$(counts "nonsense x")" "0 passed, 1 failed, 0 skipped" "an unknown kind of test is a failure"
# ---- side by side --------------------------------------------------------------------------------

# Each of the two ends only if the other one runs at the same time.
program meets <<'E'
touch "$1.$2"
for _ in $(seq 60); do
    [ -e "$1.$3" ] && { sleep "0.$4"; echo "ok 1 - $2 met $3"; echo "1..1"; exit 0; }
    sleep 0.1
done
exit 1
E
if [ "$(nproc)" -gt 1 ]; then
    HB_TEST_TIMEOUT=10 "$HB_SRC/tests/run.sh" --jobs 2 "tap $HB_TMP/meets $HB_TMP/m a b 5" \
        "tap $HB_TMP/meets $HB_TMP/m b a 1" >"$HB_TMP/log" 2>&1
    is "$(tail -n 1 "$HB_TMP/log")" "2 passed, 0 failed, 0 skipped" "two programs run side by side"
    is "$(sed -n 's/^ok .*m \([ab]\) .*/\1/p' "$HB_TMP/log" | xargs)" "a b" \
        "what they print comes in the order of the arguments"
else
    skip "two programs run side by side" "one CPU"
fi

program alone <<'E'
mkdir "$1/lock" || { echo "not alone"; exit 1; }
sleep 0.2
rmdir "$1/lock"
E
mkdir "$HB_TMP/d"
is "$(counts --jobs 2 "single true" "single sleep 0.3" --jobs 1 "single $HB_TMP/alone $HB_TMP/d" \
    "single $HB_TMP/alone $HB_TMP/d")" "4 passed, 0 failed, 0 skipped" "one job is one at a time"
is "$(counts --jobs 2 "single mkdir $HB_TMP/e" "single true" --jobs 2 "single rmdir $HB_TMP/e")" \
    "3 passed, 0 failed, 0 skipped" "a group begins when the one before has ended"
is "$(counts --jobs 2 "single false" "single true" "tap $HB_TMP/slow")" \
    "2 passed, 2 failed, 0 skipped" "side by side too a program over the limit has failed"
is "$(counts --jobs none "single true")" "1 passed, 1 failed, 0 skipped" \
    "a wrong number of jobs is a failure"

# In the background a shell ignores SIGINT, and what it starts would, too.
program interrupted <<'E'
kill -INT $$
sleep 1
E
is "$(counts "single $HB_TMP/interrupted")" "0 passed, 1 failed, 0 skipped" \
    "programs are not started with SIGINT ignored"

program long <<'E'
sleep 60 &
echo "$!" >"$1"
wait
E
is_gone() { # pid: ended, or about to be reaped
    local i
    for i in $(seq 50); do
        grep -qs '^State:.[^Z]' "/proc/$1/status" || return 0
        sleep 0.1
    done
    return 1
}
"$HB_SRC/tests/run.sh" --jobs 2 "single $HB_TMP/long $HB_TMP/p1" "single $HB_TMP/long $HB_TMP/p2" \
    >"$HB_TMP/log" 2>&1 &
runner=$!
for _ in $(seq 100); do
    [ -s "$HB_TMP/p1" ] && { [ -s "$HB_TMP/p2" ] || [ "$(nproc)" = 1 ]; } && break
    sleep 0.1
done
kill -TERM "$runner"
wait "$runner"
is "$?" 130 "a run that is ended says so by its exit status"
for p in "$HB_TMP"/p?; do
    ok "what its programs have started ends with it" is_gone "$(cat "$p")"
done

ok "a failure is the exit status" exits 1 "$HB_SRC/tests/run.sh" "single false"
ok "no failure is exit status 0" exits 0 "$HB_SRC/tests/run.sh" "single true"

done_testing
