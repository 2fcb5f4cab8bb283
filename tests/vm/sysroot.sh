#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# sysroot.sh - what a build for another architecture needs of it, fetched once, and prints the folder:
#
#   make ARCH=arm64 SYSROOT="$(tests/vm/sysroot.sh arm64)" O=build-arm64
#
# In it are Debian's libraries that hbprof and its tests are linked with, for that architecture, and a
# static busybox for virtual machines. The C library is the cross compiler's own (libc6-dev-arm64-cross).
# A machine on which the libraries are installed by multiarch (dpkg --add-architecture) needs none of
# this. They are of bookworm, like the cross compiler's C library.
set -u -o pipefail

arch=${1:-arm64}
suite=bookworm
. "$(dirname "$0")/apt.sh"
dir=$cache/$arch-sysroot
root=$dir/root
packages="libbpf-dev libbpf1 libelf-dev libelf1 zlib1g-dev zlib1g libcjson-dev libcjson1 libiberty-dev
	libcmocka-dev libcmocka0 busybox-static"

fetch() {
    private_apt || return 1
    rm -rf "$dir/new" && mkdir -p "$dir/new" || return 1
    # shellcheck disable=SC2086 # a list of names
    (cd "$dir/new" && apt-get download -q $packages >>"$dir/apt/log" 2>&1) || return 1
    for deb in "$dir"/new/*.deb; do
        dpkg-deb -x "$deb" "$dir/new/root" || return 1
    done
    rm -rf "$root" && mv "$dir/new/root" "$root" && rm -rf "$dir/new" &&
        echo "$packages" >"$dir/packages"
}

[ "$arch" = arm64 ] || die "knows arm64, not $arch"
mkdir -p "$dir" || die "cannot make $dir; name another folder with HB_VM_CACHE"
# Their version matters little: once is enough.
if [ ! -d "$root" ] || [ "$(cat "$dir/packages" 2>/dev/null)" != "$packages" ]; then
    fetch || { cat "$dir/apt/log" >&2; die "cannot fetch libraries for $arch"; }
fi
echo "$root"
