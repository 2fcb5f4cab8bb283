#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kernel.sh - fetches a Debian kernel to boot in a virtual machine, once, and prints the path of its
# image.
#
#   tests/vm/kernel.sh SUITE [amd64|arm64]
#
#   bullseye: 5.10; bookworm: 6.1; bookworm-backports: 6.12; trixie-backports: the newest
#
# The package is the cloud flavour: small, and what machines in clouds run. Which build of it is current
# changes all the time, so it is asked of the metapackage. The image is kept by that name, and a
# kernel that was fetched before serves when the mirror cannot be reached.
set -u -o pipefail

suite=$1
arch=${2:-amd64}
. "$(dirname "$0")/apt.sh"
dir=$cache/$arch-$suite

newest() { # the image that is here already
    find "$dir" -maxdepth 1 -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1
}

# The package with the image. Since 6.16 what the metapackage depends on is a metapackage too, and the
# image is in linux-binary-*, at another place.
image_package() {
    local image binary
    image=$(apt-cache depends "linux-image-cloud-$arch" 2>>"$dir/apt/log" |
        sed -n 's/.*Depends: *\(linux-image-[0-9].*\)/\1/p' | head -1)
    [ -n "$image" ] || return 1
    binary=$(apt-cache depends "$image" 2>>"$dir/apt/log" |
        sed -n 's/.*Depends: *\(linux-binary-[0-9].*\)/\1/p' | head -1)
    echo "${binary:-$image}"
}

fetch() {
    local package release found

    private_apt || return 1
    package=$(image_package) || return 1
    release=${package#linux-*-}
    [ ! -e "$dir/vmlinuz-$release" ] || return 0
    rm -rf "$dir/new" && mkdir "$dir/new" || return 1
    (cd "$dir/new" && apt-get download -q "$package" >>"$dir/apt/log" 2>&1 &&
        dpkg-deb -x ./*.deb root) || return 1
    found=$(find "$dir/new/root" -name 'vmlinuz*' | head -1)
    [ -n "$found" ] && mv "$found" "$dir/vmlinuz-$release" && rm -rf "$dir/new"
}

[ "$(uname -m)" = x86_64 ] || die "only for x86-64 hosts"
mkdir -p "$dir" || die "cannot make $dir; name another folder with HB_VM_CACHE"
if [ -z "$(newest)" ] || ! asked_lately; then
    if fetch; then
        touch "$dir/asked"
    elif [ -n "$(newest)" ]; then
        echo "kernel.sh: cannot ask for a newer kernel; taking the one that is here" >&2
    else
        cat "$dir/apt/log" >&2
        die "cannot fetch the kernel of $suite for $arch"
    fi
fi
newest
