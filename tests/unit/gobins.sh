#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# gobins.sh OUTDIR - builds tests/unit/gobin in every way that changes how its functions are found.
# The unit tests read the programs from $HB_GO_BIN_DIR. What cannot be built here (no C compiler, no
# static libc) is left out with a line, and its test is skipped. Needs no network.
#
#   plain, stripped           Go's own linker; stripped: -s -w
#   pie, pie_stripped         position independent, Go's own linker: moduledata is in place
#   pie_ext, pie_ext_stripped by the system's linker: moduledata is in relocations
#   staticpie                 PIE without a dynamic linker
#   cgo, cgo_strip            with C: .text does not begin with Go code; cgo_strip: by strip(1)
#   cshared                   a library made of Go
#   nosections, pie_ext_nosections   plain and pie_ext without section headers
#   jsonv2                    GOEXPERIMENT=jsonv2 (Go 1.25 and later)
#   arm64                     for another machine
set -u

out=${1:?usage: gobins.sh OUTDIR}
here=$(cd "$(dirname "$0")" && pwd)
if ! go=$("$here/../find_go.sh"); then
    echo "gobins: no Go toolchain: the tests over Go programs will be skipped"
    exit 0
fi
export GOTOOLCHAIN=local GOFLAGS='-mod=mod -buildvcs=false' GOPROXY=off
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)

# Build again when the sources, this script or the toolchain have changed.
stamp=$({ "$go" version; cat "$here"/gobin/* "$0"; } | sha256sum)
[ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ] && exit 0
rm -f "$out"/*

# build NAME [VARIABLE=VALUE...] [-- FLAG...]: a failed build leaves no file behind.
build() {
    local name=$1 vars=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        vars+=("$1")
        shift
    done
    [ $# -gt 0 ] && shift
    if ! (cd "$here/gobin" && env "${vars[@]}" "$go" build -o "$out/$name" "$@" .) >"$out/log" 2>&1; then
        echo "gobins: $name left out: $(tail -n 1 "$out/log")"
        rm -f "$out/$name"
    fi
}

# The same file without section headers: e_shoff, and e_shentsize to e_shstrndx, become 0.
drop_sections() {
    [ -e "$out/$1" ] || return
    cp "$out/$1" "$out/$2" &&
        dd if=/dev/zero of="$out/$2" bs=1 seek=40 count=8 conv=notrunc status=none &&
        dd if=/dev/zero of="$out/$2" bs=1 seek=58 count=6 conv=notrunc status=none
}

ext=-linkmode=external
build plain CGO_ENABLED=0
build stripped CGO_ENABLED=0 -- -ldflags='-s -w'
build pie CGO_ENABLED=0 -- -buildmode=pie
build pie_stripped CGO_ENABLED=0 -- -buildmode=pie -ldflags='-s -w'
build pie_ext CGO_ENABLED=1 -- -buildmode=pie -ldflags="$ext"
build pie_ext_stripped CGO_ENABLED=1 -- -buildmode=pie -ldflags="$ext -s -w"
build staticpie CGO_ENABLED=1 -- -buildmode=pie -tags=withc,netgo,osusergo \
    -ldflags="$ext -extldflags=-static-pie"
build cgo CGO_ENABLED=1 -- -tags=withc
build cshared CGO_ENABLED=1 -- -buildmode=c-shared
build jsonv2 CGO_ENABLED=0 GOEXPERIMENT=jsonv2
build arm64 CGO_ENABLED=0 GOARCH=arm64
if [ -e "$out/cgo" ] && command -v strip >/dev/null; then
    strip -o "$out/cgo_strip" "$out/cgo" || rm -f "$out/cgo_strip"
fi
drop_sections plain nosections
drop_sections pie_ext pie_ext_nosections
rm -f "$out/log" "$out/cshared.h"
echo "$stamp" >"$out/stamp"
