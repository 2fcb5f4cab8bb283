#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# codecs.sh OUTDIR [quick|servers|versions] - builds the workloads that call other libraries' codecs: for
# tests/bench/codecs.sh all of them, with quick the few that make check needs; with servers nothing but
# the servers in frameworks, with versions one program by several releases of Go. What does not build is an error. Generated code and copies of the sources that
# it belongs to are in OUTDIR/codecs.src.
set -eu -o pipefail

[ $# -ge 1 ] || { echo "usage: $0 OUTDIR [quick|servers|versions]" >&2; exit 2; }
src=$(cd "$(dirname "$0")" && pwd)
what=${2:-all}
mkdir -p "$1/codecs.src"
out=$(cd "$1" && pwd)
gen=$out/codecs.src
: "${CC:=gcc}" "${CXX:=g++}"
export GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local

die() {
    echo "$0: $*" >&2
    exit 1
}

# has NAME FOLDER...: whether the last build of it was with the same sources and the same way.
has() {
    (cd "$src" && find codecs.sh lib "${@:2}" -type f -print0 | sort -z | xargs -0 sha256sum) \
        >"$gen/$1.now"
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

    has "$name" c && return
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

# cxx_program NAME [SOURCE or option...]: codecs_NAME, of codecs/NAME.cc.
cxx_program() {
    local name=codecs_$1

    has "$name" c && return
    # shellcheck disable=SC2086 # a list of options
    "$CC" -std=gnu11 -O2 -g $warn -D_GNU_SOURCE -c -o "$gen/codecs_work.o" "$src/c/codecs_work.c" &&
        "$CXX" -std=gnu++17 -O2 -g $warn -D_GNU_SOURCE -I"$gen" -I"$src/c/codecs" -o "$out/$name" \
            "$src/c/codecs/$1.cc" "$gen/codecs_work.o" "${@:2}" -lpthread || die "cannot build $name"
    built "$name"
}

cxx_programs() {
    protoc --cpp_out="$gen" -I "$src/lib" "$src/lib/payload.proto" || die "no protoc"
    cxx_program protobuf "$gen/payload.pb.cc" -lprotobuf
    cxx_program simdjson -lsimdjson
    cxx_program nlohmann
    cxx_program rapidjson
}

# The Go module is copied, with what it refers to: code is generated into it.
go_program() { # name, tags, perhaps another version of a module
    local go name=$1

    has "$name" gocodecs go.mod && return
    go=$("$src/../find_go.sh") || die "no Go >= 1.22, see https://go.dev/dl/"
    rm -rf "$gen/$name"
    mkdir -p "$gen/$name"
    cp -r "$src/go.mod" "$src/lib" "$src/gocodecs" "$gen/$name/"
    [ -z "${3:-}" ] || (cd "$gen/$name/gocodecs" && "$go" get "$3") || die "no $3"
    "$gen/$name/gocodecs/gen.sh" "$go" "$gen/bin" "$2" || die "cannot generate the code of $name"
    (cd "$gen/$name/gocodecs" && CGO_ENABLED=0 "$go" build -tags "$2" -o "$out/$name" .) ||
        die "cannot build $name"
    built "$name"
}

# The codecs of gocodecs_quick in a test binary, from the folder that it was built in.
codec_benchmarks() {
    local go

    has gocodecs.test gocodecs lib go.mod && return
    go=$("$src/../find_go.sh") || die "no Go >= 1.22, see https://go.dev/dl/"
    (cd "$gen/gocodecs_quick/gocodecs" && CGO_ENABLED=0 "$go" test -c -tags quick \
        -o "$out/gocodecs.test" .) || die "cannot build gocodecs.test"
    built gocodecs.test
}

go_benchmarks() {
    local go

    has gobench.test gobench go.mod && return
    go=$("$src/../find_go.sh") || die "no Go >= 1.22, see https://go.dev/dl/"
    (cd "$src" && CGO_ENABLED=0 "$go" test -c -o "$out/gobench.test" ./gobench) ||
        die "cannot build gobench.test"
    built gobench.test
}

# Both programs are of one module. What they were built with is in its go.sum.
server_programs() {
    local go name

    has goservers goservers go.mod && has grpcload goservers go.mod && return
    go=$("$src/../find_go.sh") || die "no Go >= 1.22, see https://go.dev/dl/"
    (cd "$src/goservers" && GOFLAGS=-buildvcs=false CGO_ENABLED=0 "$go" build -o "$out/" . ./grpcload) ||
        die "cannot build goservers"
    (cd "$src" && GOFLAGS=-buildvcs=false CGO_ENABLED=0 "$go" build -o "$out/" ./goload) ||
        die "cannot build goload"
    for name in goservers grpcload; do
        has $name goservers go.mod || built $name
    done
}

# The releases are modules that the go command fetches, and keeps in its own cache.
version_programs() {
    local go name v

    go=$("$src/../find_go.sh") || die "no Go >= 1.22, see https://go.dev/dl/"
    for v in 1.20.14 1.22.12 1.24.11 1.26.8; do
        for name in goversions_$v goversions_${v}_stripped; do
            has $name goversions && continue
            (cd "$src/goversions" && GOTOOLCHAIN=go$v CGO_ENABLED=0 "$go" build \
                -ldflags "$([ $name = goversions_$v ] || echo '-s -w')" -o "$out/$name" .) ||
                die "cannot build $name"
            built $name
        done
    done
}

# As Cargo.lock has it, and with the profile that users build with.
rust_program() {
    has rustcodecs rust && return
    command -v cargo >/dev/null || die "no cargo, see https://rustup.rs/"
    cargo build --quiet --release --locked -j 2 --manifest-path "$src/rust/Cargo.toml" \
        --target-dir "$gen/rust" || die "cannot build rustcodecs"
    cp "$gen/rust/release/rustcodecs" "$out/"
    built rustcodecs
}

node_program() {
    has codecs_node.js node && return
    command -v node >/dev/null || die "no node, see https://nodejs.org/"
    cp "$src/node/codecs_node.js" "$out/"
    built codecs_node.js
}

case $what in
servers)
    server_programs
    exit
    ;;
versions)
    version_programs
    exit
    ;;
quick)
    c_programs
    go_program gocodecs_quick quick
    codec_benchmarks
    go_benchmarks
    exit
    ;;
esac
c_programs
cxx_programs
go_program gocodecs ""
GOEXPERIMENT=jsonv2 go_program gocodecs_v2 quick github.com/fxamacker/cbor/v2@v2.10.0
rust_program
node_program
