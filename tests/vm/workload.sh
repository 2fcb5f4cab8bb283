#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# workload.sh OUTDIR SYSROOT - cross-builds for arm64 those workloads that virtual machines run. SYSROOT is
# what sysroot.sh prints. Does nothing when nothing has changed.
set -eu -o pipefail

[ $# -eq 2 ] || { echo "usage: $0 OUTDIR SYSROOT" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
src=$here/../workload
mkdir -p "$1"
out=$(cd "$1" && pwd)
root=$2
: "${CROSS_CC:=aarch64-linux-gnu-gcc}"
export GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local
go=$("$here/../find_go.sh") || go=

state() {
    find "$src" "$here/workload.sh" -type f \( -name '*.go' -o -name '*.[chSs]' -o -name 'go.mod' \
        -o -name workload.sh \) -print0 | sort -z | xargs -0 sha256sum
    "$CROSS_CC" --version
    [ -z "$go" ] || "$go" version
    ls -I "stamp*" "$out"
}

cc() {
    "$CROSS_CC" -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror -D_GNU_SOURCE \
        -isystem "$root/usr/include" "$@"
}

# Without branch protection, with it (paciasp, autiasp; the machine may know neither), and as debug builds
# have it.
build_c() {
    local c=$src/c lib links

    links="-L$root/usr/lib/aarch64-linux-gnu -lcjson -lpthread -lm"
    for lib in testcodec latecodec; do
        cc -fPIC -shared -DPREFIX=$lib -Wl,-z,lazy -Wl,-soname,lib$lib.so -o "$out/lib$lib.so" \
            "$c/testcodec.c"
    done
    for lib in 1a 2b; do
        cc -fPIC -shared -DRELAY_NR=${lib%?} -Wl,-z,lazy -Wl,-rpath,'$ORIGIN' -L"$out" \
            -o "$out/librelay_${lib#?}.so" "$c/relay.c" -ltestcodec
    done
    # shellcheck disable=SC2086 # lists of words
    {
        cc -o "$out/cjson_work" "$c/cjson_work.c" $links
        cc -fno-plt -o "$out/cjson_noplt" "$c/cjson_work.c" $links
    }
    cc -o "$out/spin" "$c/spin.c" "$c/stubs.S" -lpthread
    cc -o "$out/counted" "$c/counted.c" -lpthread
    cc -o "$out/switches" "$c/switches.c" -lpthread
    cc_hostile hostile -Wl,-z,lazy
    cc_hostile hostile_pac -mbranch-protection=standard
    cc_hostile hostile_debug -O0
}

cc_hostile() { # NAME FLAG...
    local name=$1 c=$src/c

    shift
    cc "$@" -o "$out/$name" "$c/hostile.c" "$c/seccomp.c" "$c/stubs.S" -Wl,-rpath,'$ORIGIN' -L"$out" \
        -ltestcodec -lpthread -ldl
}

if [ -f "$out/stamp" ] && state | cmp -s - "$out/stamp"; then
    exit 0
fi
rm -f "$out/stamp"
build_c
if [ -n "$go" ]; then
    (cd "$src" && CGO_ENABLED=0 GOARCH=arm64 "$go" build -ldflags "-s -w" \
        -o "$out/gojson_stripped" ./gojson)
    (cd "$src/goversions" && CGO_ENABLED=0 GOARCH=arm64 "$go" build -ldflags "-s -w" \
        -o "$out/goversions_stripped" .)
fi
state >"$out/stamp"
