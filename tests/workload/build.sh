#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# build.sh OUTDIR - builds the workloads, checks that the compilers did what the tests rely on, and
# does nothing when nothing has changed. Whatever does not build, or is not what it should be, is an
# error. Only without any Go >= 1.22, and not in CI (HB_CI=1), the Go programs are left out, loudly.
set -eu -o pipefail

[ $# -eq 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
src=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
: "${CC:=gcc}" "${CXX:=g++}"
export GOFLAGS="-mod=mod -buildvcs=false" GOTOOLCHAIN=local

die() {
    echo "$0: $*" >&2
    exit 1
}

go=$("$src/../find_go.sh") || go=
if [ -z "$go" ]; then
    [ "${HB_CI:-}" = 1 ] && die "no Go >= 1.22"
    echo "$0: NOT BUILT: gojson_*, gocgo, goserver, gotls, gowire, goload (epoll_server has no load without it): no Go >= 1.22, see https://go.dev/dl/" >&2
fi

# lld, or the one that comes with Rust: a -B option for the compiler; "" is its usual place.
lld_dir() {
    local dir

    for dir in "" $(rustc --print sysroot 2>/dev/null)/lib/rustlib/*/bin/gcc-ld/; do
        if "$CC" -B"$dir" -fuse-ld=lld -Wl,--version -x c - 2>/dev/null </dev/null | grep -q LLD; then
            echo "-B$dir"
            return 0
        fi
    done
    return 1
}
if ! lld=$(lld_dir); then
    lld=none
    echo "$0: NOT BUILT: hostile_lld: no lld (Debian package lld)" >&2
fi

# ---- has anything changed? ------------------------------------------------------------------

# The outputs, so that one that was removed is built again.
files="actor hist_check counted switches cjson_work cjson_noplt cjson_cet cjson_fixed cjson_stripped spin shapes layers hostile hostile_cet hostile_cxx epoll_server libtestcodec.so liblatecodec.so
    librelay_a.so librelay_b.so"
[ "$lld" = none ] || files="$files hostile_lld"
[ -z "$go" ] || files="$files gojson gojson_plain gojson_stripped gojson_pie gojson_staticpie
    gojson_nosect gocgo goserver goload gotls gowire"
goasm=
[ -z "$go" ] || [ "$(uname -m)" != x86_64 ] || goasm=goasm
files="$files $goasm"

state() {
    find "$src" -type f \( -name '*.go' -o -name '*.[chSs]' -o -name '*.cc' -o -name 'go.mod' \
        -o -name build.sh \) -print0 | sort -z | xargs -0 sha256sum
    "$CC" --version
    "$CXX" --version
    [ -z "$go" ] || "$go" version
    (cd "$out" && ls $files 2>&1 || true)
}

if [ -f "$out/stamp" ] && state | cmp -s - "$out/stamp"; then
    exit 0
fi
rm -f "$out/stamp"

# ---- C --------------------------------------------------------------------------------------

cet=
[ "$(uname -m)" != x86_64 ] || cet="-fcf-protection=full -Wl,-z,ibtplt" # a second PLT, .plt.sec
warn="-Wall -Wextra -Wshadow -Wvla -Wundef -Wformat=2 -Wno-unused-parameter -Werror"
cc() {
    "$CC" -std=gnu11 -O2 -g $warn -Wstrict-prototypes -Wmissing-prototypes -D_GNU_SOURCE "$@"
}

build_c() {
    local c=$src/c lib

    for lib in testcodec latecodec; do
        # Lazy binding: the first call goes through the dynamic linker.
        cc -fPIC -shared -DPREFIX=$lib -Wl,-z,lazy -Wl,-soname,lib$lib.so -o "$out/lib$lib.so" \
            "$c/testcodec.c"
    done
    for lib in 1a 2b; do
        cc -fPIC -shared -DRELAY_NR=${lib%?} -Wl,-z,lazy -Wl,-rpath,'$ORIGIN' -L"$out" \
            -o "$out/librelay_${lib#?}.so" "$c/relay.c" -ltestcodec
    done
    cc -o "$out/hist_check" "$c/hist_check.c" -lpthread
    cc -o "$out/cjson_work" "$c/cjson_work.c" -lcjson -lpthread
    cc -o "$out/actor" "$c/actor.c" -lcjson
    # The same, with other ways to call a library.
    cc -fno-plt -o "$out/cjson_noplt" "$c/cjson_work.c" -lcjson -lpthread
    cc -Wl,-z,lazy $cet -o "$out/cjson_cet" "$c/cjson_work.c" -lcjson -lpthread
    cc -fno-pie -no-pie -Wl,-z,now -o "$out/cjson_fixed" "$c/cjson_work.c" -lcjson -lpthread
    cc -s -o "$out/cjson_stripped" "$c/cjson_work.c" -lcjson -lpthread
    cc -o "$out/spin" "$c/spin.c" "$c/stubs.S" -lpthread
    cc -o "$out/counted" "$c/counted.c" -lpthread
    cc -o "$out/switches" "$c/switches.c" -lpthread
    cc -o "$out/shapes" "$c/shapes.c" -lpthread
    cc -o "$out/layers" "$c/layers.c" -lpthread
    cc -o "$out/epoll_server" "$c/epoll_server.c" -lcjson -lpthread
    cc -o "$out/sockets" "$c/sockets.c" -lpthread
    cc -o "$out/hostile" "$c/hostile.c" "$c/seccomp.c" "$c/stubs.S" -Wl,-z,lazy \
        -Wl,-rpath,'$ORIGIN' -L"$out" -ltestcodec -lpthread -ldl
    [ "$lld" = none ] || cc $lld -fuse-ld=lld -o "$out/hostile_lld" "$c/hostile.c" \
        "$c/seccomp.c" "$c/stubs.S" -Wl,-rpath,'$ORIGIN' -L"$out" -ltestcodec -lpthread -ldl
    # Functions that do not begin where they are probed: with endbr64, and a frame.
    cc -O0 $cet -o "$out/hostile_cet" "$c/hostile.c" "$c/seccomp.c" "$c/stubs.S" -Wl,-z,lazy \
        -Wl,-rpath,'$ORIGIN' -L"$out" -ltestcodec -lpthread -ldl
    "$CXX" -std=gnu++17 -O2 -g $warn -D_GNU_SOURCE -o "$out/hostile_cxx" "$c/hostile_cxx.cc" \
        -lpthread
}

# ---- Go -------------------------------------------------------------------------------------

# build_go NAME PACKAGE [FLAG...]
build_go() {
    local name=$1 package=$2

    shift 2
    (cd "$src" && "$go" build -o "$out/$name" "$@" "./$package") || die "cannot build $name"
}

# Sets the fields of the ELF header that lead to the section headers to 0: offset, number, names.
drop_sections() {
    dd if=/dev/zero of="$1" bs=1 seek=40 count=8 conv=notrunc status=none
    dd if=/dev/zero of="$1" bs=1 seek=60 count=4 conv=notrunc status=none
}

build_all_go() {
    CGO_ENABLED=0 build_go gojson_plain gojson
    CGO_ENABLED=0 build_go gojson_stripped gojson -ldflags "-s -w"
    CGO_ENABLED=0 build_go gojson_pie gojson -buildmode=pie
    CGO_ENABLED=1 build_go gojson_staticpie gojson -buildmode=pie \
        -ldflags "-linkmode external -extldflags -static-pie"
    CGO_ENABLED=1 build_go gocgo gocgo
    CGO_ENABLED=0 build_go goserver goserver
    CGO_ENABLED=0 build_go goload goload
    CGO_ENABLED=0 build_go gotls gotls
    CGO_ENABLED=0 build_go gowire gowire
    [ -z "$goasm" ] || CGO_ENABLED=0 build_go goasm goasm
    cp -f "$out/gojson_stripped" "$out/gojson_nosect"
    drop_sections "$out/gojson_nosect"
    ln -sf gojson_plain "$out/gojson"
}

# ---- is it what it should be? ---------------------------------------------------------------

# code FILE FUNCTION - the instructions of a function, without addresses and bytes.
code() {
    objdump -d --no-show-raw-insn --disassemble="$2" "$1" | sed -n 's/^ *[0-9a-f]*:\t//p'
}

# expect FILE FUNCTION [!]PATTERN WHY - the function has code, and one line of it (no line of it)
# matches.
expect() {
    local text pattern=${3#!}

    text=$(code "$out/$1" "$2")
    [ -n "$text" ] || die "$1 has no function $2"
    if grep -Eq -- "$pattern" <<<"$text"; then
        [ "$pattern" = "$3" ] || die "$1: $2 $4; the compiler does that differently now"
    elif [ "$pattern" = "$3" ]; then
        die "$1: $2 $4; the compiler does that differently now"
    fi
}

# first FILE FUNCTION TEXT - what the first instruction begins with.
first() {
    local text

    text=$(code "$out/$1" "$2")
    [[ $text == "$3"* ]] || die "$1: $2 does not begin with $3"
}

check_c() {
    local f

    for f in spin nop; do
        first spin ${f}_push 'push '
        first spin ${f}_endbr 'endbr64'
        first spin ${f}_lea 'lea '
        expect spin ${f}_lea '!push ' "must have no push"
    done
    first spin nop_lea_branch 'lea '
    expect spin nop_lea_branch '^jle ' "must have a branch"
    expect spin call_nop_ret 'call .*<nop_ret>' "must call nop_ret"
    expect spin call_nop_ret '!(push|j[a-z]+) ' "must have nothing that is emulated but the call"
    expect spin cost_nop_push "call .*<nop_push>" "must call nop_push"
    expect hostile codec '^push ' "must have a push"
    expect hostile codec_deep 'call .*<codec_deep>' "must call itself"
    expect hostile chain_a 'jmp .*<chain_b>' "must jump to chain_b"
    expect hostile chain_b 'jmp .*<chain_c>' "must jump to chain_c"
    expect hostile tail_a 'jmp .*<tail_b>' "must jump to tail_b"
    expect hostile step_funcptr 'call +\*' "must call through a pointer"
    expect hostile over_stale 'sub +\$0x[0-9a-f]{3},%rsp' "must have a large frame"
    expect shapes step_after '^rep movsb' "must copy behind the call"
    expect layers layers_outer 'call .*<layers_inner>' "must call layers_inner"
    expect layers step_later 'call .*<layers_inner>' "must call layers_inner"
    expect layers step_pointer 'call +\*' "must call through a pointer"
    expect shapes filled '^rep stos' "must fill at its beginning"
    expect hostile_cxx _ZN7hostile5codecEi 'call .*<_ZL6nestedi>' "must call nested"
    expect hostile_cxx _ZL6nestedi 'call .*<_ZN7hostile5codecEi>' "must call codec"
    expect cjson_work step_print 'call .*<cJSON_Print@plt>' "must go through the PLT"
    expect cjson_noplt step_print 'call +\*0x.*<cJSON_Print' "must go around the PLT"
    says '\.plt\.sec' readelf -SW "$out/cjson_cet" || die "cjson_cet has no .plt.sec"
    says 'Type:.*EXEC' readelf -h "$out/cjson_fixed" || die "cjson_fixed is position independent"
    expect libtestcodec.so testcodec_encode 'call .*<testcodec_block@plt>' "must go through the PLT"
    expect libtestcodec.so testcodec_decode 'call .*<testcodec_block@plt>' "must go through the PLT"
}

# Its code is to begin within a page of the file, behind the end of another segment.
check_lld() {
    says 'LOAD +0x[0-9a-f]+ .* R E' readelf -lW "$out/hostile_lld" ||
        die "hostile_lld has one segment for data and code"
    ! says 'LOAD +0x[0-9a-f]+000 .* R E' readelf -lW "$out/hostile_lld" ||
        die "hostile_lld has its code in pages of its own"
}

check_go() {
    local g=gojson_plain f

    for f in Spin Outer Bare; do
        expect $g main.$f 'push +%rbp' "must have a frame"
    done
    expect $g main.Outer 'call .*<main.Spin>' "must call Spin"
    expect $g main.runSpin.func1 'call .*<main.Spin>' "must call Spin"
    expect $g main.callDirect 'call .*<encoding/json.Marshal>' "must call directly"
    for f in callFuncValue callInterface callPromoted callMethodValue; do
        expect $g main.$f 'call +\*' "must call indirectly"
        expect $g main.$f '!call .*<encoding/json' "must not call directly"
    done
    expect $g main.callReflect 'call .*<reflect.Value.Call>' "must call by reflection"
    expect $g 'main.(*promoted).Encode' 'jmp .*<encoding/json.\(\*Encoder\).Encode>' "must jump"
    expect $g main.callDeferLoop 'call .*<runtime.deferproc>' "must use a list of defers"
    expect $g main.goMarshal.gowrap1 'call .*<encoding/json.Marshal>' "must call directly"
    expect $g main.overStale 'sub +\$0x[0-9a-f]{3,},%rsp' "must have a large frame"
    expect $g 'main.(*worker).marshalFar' 'sub +\$0x[0-9a-f]{3,},%rsp' "must have a large frame"
    expect goasm main.total 'call .*<main.Sum.abi0>' "must call Sum"
    expect goasm main.Sum.abi0 ',%r14$' "must use the goroutine's register"
    expect $g encoding/json.MarshalIndent 'call .*<encoding/json.Marshal>' "must call Marshal"
}

# says PATTERN COMMAND... - a line of the command's output matches. No grep -q: it would close the
# pipe early, and the command would fail of that.
says() {
    local pattern=$1

    shift
    "$@" 2>&1 | grep -E -- "$pattern" >/dev/null
}

check_variants() {
    local f

    for f in gojson_pie gojson_staticpie; do
        says 'Type:.*DYN' readelf -h "$out/$f" || die "$f is not position independent"
    done
    ! says INTERP readelf -lW "$out/gojson_staticpie" || die "gojson_staticpie is not static"
    says 'no symbols' nm "$out/gojson_stripped" || die "gojson_stripped has symbols"
    says 'no sections' readelf -SW "$out/gojson_nosect" || die "gojson_nosect has sections"
    says ' hbWorkloadCallback$' nm "$out/gocgo" || die "gocgo has no callback"
}

build_c
[ -z "$go" ] || build_all_go
if [ "$(uname -m)" = x86_64 ]; then
    check_c
    [ "$lld" = none ] || check_lld
    [ -z "$go" ] || check_go
else
    echo "$0: NOT CHECKED: the machine code; the patterns are those of x86-64" >&2
fi
[ -z "$go" ] || check_variants
state >"$out/stamp"
