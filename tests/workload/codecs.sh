#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# codecs.sh OUTDIR [quick] - builds the workloads that call other libraries' codecs: for tests/bench/codecs.sh
# all of them, with quick the few that make check needs. What does not build is an error. Generated code
# and copies of the sources that it belongs to are in OUTDIR/codecs.src.
set -eu -o pipefail

[ $# -ge 1 ] || { echo "usage: $0 OUTDIR [quick]" >&2; exit 2; }
src=$(cd "$(dirname "$0")" && pwd)
quick=${2:-}
mkdir -p "$1/codecs.src"
out=$(cd "$1" && pwd)
gen=$out/codecs.src
: "${CC:=gcc}" "${CXX:=g++}"
export GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local

die() {
    echo "$0: $*" >&2
    exit 1
}

# has NAME: whether the last build of it was with the same sources and the same way.
has() {
    find "$src" -type f -print0 | sort -z | xargs -0 sha256sum >"$gen/$1.now"
    [ -e "$out/$1" ] && cmp -s "$gen/$1.now" "$gen/$1.stamp"
}

built() {
    [ -s "$out/$1" ] || die "$1 was not built"
    mv "$gen/$1.now" "$gen/$1.stamp"
}

warn="-Wall -Wextra -Wshadow -Wvla -Wundef -Wformat=2 -Wno-unused-parameter -Werror"

# c_program NAME LIBRARY [SOURCE...]: codecs_NAME, of codecs/NAME.c.
c_program() {
    local name=codecs_$1 flags

    has "$name" && return
    flags=$(pkg-config --cflags --libs "$2") || die "no $2"
    # shellcheck disable=SC2086 # lists of options
    "$CC" -std=gnu11 -O2 -g $warn -Wstrict-prototypes -Wmissing-prototypes -D_GNU_SOURCE -I"$gen" \
        -o "$out/$name" "$src/c/codecs_work.c" "$src/c/codecs/$1.c" "${@:3}" $flags -lpthread ||
        die "cannot build $name"
    built "$name"
}

c_programs() {
    c_program jansson jansson
    c_program json_c json-c
    c_program yajl yajl
    c_program msgpack_c msgpack
    c_program libcbor libcbor
    protoc-c --c_out="$gen" -I "$src/lib" "$src/lib/payload.proto" || die "no protoc-c"
    c_program protobuf_c libprotobuf-c "$gen/payload.pb-c.c"
}

# The Go module is copied, with what it refers to: code is generated into it.
go_program() { # name, tags
    local go name=$1

    has "$name" && return
    go=$("$src/../find_go.sh") || die "no Go >= 1.22, see https://go.dev/dl/"
    rm -rf "$gen/$name"
    mkdir -p "$gen/$name"
    cp -r "$src/go.mod" "$src/lib" "$src/gocodecs" "$gen/$name/"
    "$gen/$name/gocodecs/gen.sh" "$go" "$gen/bin" "$quick" || die "cannot generate the code of $name"
    (cd "$gen/$name/gocodecs" && CGO_ENABLED=0 "$go" build -tags "$2" -o "$out/$name" .) ||
        die "cannot build $name"
    built "$name"
}

c_programs
if [ -n "$quick" ]; then
    go_program gocodecs_quick quick
    exit
fi
go_program gocodecs ""
