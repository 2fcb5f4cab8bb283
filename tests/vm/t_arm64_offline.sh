#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_arm64_offline.sh - what needs no kernel, of the build for arm64, under QEMU's user emulation: it prints
# what the build for this machine prints. Some unit tests of that build run here too, those whose code
# depends on the architecture or on how the compiler sees a char.
. "$(dirname "$0")/../tap.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "needs an x86-64 host"
command -v qemu-aarch64-static >/dev/null || skip_all "needs qemu-user-static"
[ -x "${HB_ARM64:-}/hbprof" ] || skip_all "not built: make build-arm64"
root=$("$(dirname "$0")/sysroot.sh" arm64) || exit 1
data=$HB_SRC/tests/data
lib=usr/lib/aarch64-linux-gnu:$root/lib/aarch64-linux-gnu:/usr/aarch64-linux-gnu/lib

emulated() {
    qemu-aarch64-static -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$root/$lib" "$@"
}

same() { # SENTENCE ARGUMENT...
    local sentence=$1

    shift
    "$HBPROF" "$@" >here 2>here.err
    echo $? >>here
    emulated "$HB_ARM64/hbprof" "$@" >there 2>there.err
    echo $? >>there
    ok "$sentence" cmp here there
    [ "$(wc -l <here)" -gt 3 ] || ok "$sentence: there is something to print" false
}

cd "$HB_TMP" || exit 1
like "$(emulated "$HB_ARM64/hbprof" --version)" 'built for arm64 .*no x86-64 code' \
    "the build for arm64 starts"
same "report prints the same table" report "$data/sample.hbp"
same "report prints the same JSON" report --format json "$data/sample.hbp"
same "compare prints the same" compare "$data/sample.hbp" "$data/sample-stacks.hbp"
same "export writes the same profile" export --format openmetrics "$data/sample.hbp"
"$HBPROF" flamegraph "$data/sample-stacks.hbp" -o here.svg
emulated "$HB_ARM64/hbprof" flamegraph "$data/sample-stacks.hbp" -o there.svg
ok "flamegraph draws the same picture" cmp here.svg there.svg
HBPROF_STATE=none same "list looks into a program for arm64" list --format json --probe codec \
    "$HB_ARM64/workload/hostile"
like "$("$HBPROF" list --probe codec "$HB_ARM64/workload/hostile")" \
    'Cost in ns: n/a \(it is a program for another machine' "and has no cost measured here"
emulated "$HB_ARM64/hbprof" list "$HBPROF" >/dev/null 2>err
like "$(cat err)" 'is code for x86-64, which this build of hbprof cannot decode: use one for x86-64' \
    "a program for x86-64 is refused with the remedy"

for t in insn_arm64 site_arm64 capture util fsutil; do
    ok "unit test $t passes" emulated "$HB_ARM64/tests/unit/test_$t"
done

done_testing
