#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# kernel.sh - fetches a Debian kernel to boot in a virtual machine, once, and prints the path of its
# image.
#
#   tests/vm/kernel.sh SUITE        (bullseye: 5.10; bookworm: 6.1; bookworm-backports: 6.12)
#
# The host's apt is left alone: lists, cache and sources are private ones, in the cache folder. The
# package is the cloud flavour: small, and what machines in clouds run. Which build of it is current
# changes all the time, so it is asked of the metapackage. The image is kept by that name, and a
# kernel that was fetched before serves when the mirror cannot be reached.
set -u -o pipefail

suite=$1
arch=amd64
cache=${HB_VM_CACHE:-${XDG_CACHE_HOME:-/var/cache}/hbprof-vm}
dir=$cache/$arch-$suite

die() {
    echo "kernel.sh: $*" >&2
    exit 1
}

# The mirror that the host uses; snapshots of one do not keep the suites apart.
mirror() {
    local m
    m=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1)
    [ -n "$m" ] || m=$(sed -n 's/^deb *\(\[[^]]*\] *\)*\([^ ]*debian\/*\) .*/\2/p' \
        /etc/apt/sources.list 2>/dev/null | head -1)
    [ -n "$m" ] && echo "$m"
}

newest() { # the image that is here already
    find "$dir" -maxdepth 1 -name 'vmlinuz-*' 2>/dev/null | sort -V | tail -n 1
}

private_apt() {
    local uri
    uri=$(mirror) || { echo "kernel.sh: apt has no mirror of Debian's own suites here" >&2; return 1; }
    mkdir -p "$dir"/apt/{lists/partial,cache/archives/partial,parts} || return 1
    : >"$dir/apt/status"
    cat >"$dir/apt/apt.conf" <<-CONF
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Sandbox::User "root";
	APT::Default-Release "$suite";
	Dir::Etc::sourcelist "/dev/null";
	Dir::Etc::sourceparts "$dir/apt/parts";
	Dir::State::lists "$dir/apt/lists";
	Dir::State::status "$dir/apt/status";
	Dir::Cache "$dir/apt/cache";
	Acquire::Languages "none";
	Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	CONF
    cat >"$dir/apt/parts/vm.sources" <<-SOURCES
	Types: deb
	URIs: $uri
	Suites: $suite
	Components: main
	Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	SOURCES
    export APT_CONFIG=$dir/apt/apt.conf
}

fetch() {
    local package log=$dir/apt/log

    private_apt || return 1
    apt-get update -q >"$log" 2>&1 || return 1
    package=$(apt-cache depends linux-image-cloud-$arch 2>>"$log" |
        sed -n 's/.*Depends: *\(linux-image-[0-9].*\)/\1/p' | head -1)
    [ -n "$package" ] || return 1
    [ ! -e "$dir/vmlinuz-${package#linux-image-}" ] || return 0
    rm -rf "$dir/new" && mkdir "$dir/new" || return 1
    (cd "$dir/new" && apt-get download -q "$package" >>"$log" 2>&1 &&
        dpkg-deb -x ./*.deb root) || return 1
    mv "$dir"/new/root/boot/vmlinuz-* "$dir/" && rm -rf "$dir/new"
}

[ "$(uname -m)" = x86_64 ] || die "only for x86-64 hosts"
mkdir -p "$dir" || die "cannot make $dir; name another folder with HB_VM_CACHE"
# Once a day is often enough to ask whether there is a newer one.
if [ -z "$(newest)" ] || [ -n "$(find "$dir/asked" -mmin +1440 2>/dev/null)" ]; then
    if fetch; then
        touch "$dir/asked"
    elif [ -n "$(newest)" ]; then
        echo "kernel.sh: cannot ask for a newer kernel; taking the one that is here" >&2
    else
        cat "$dir/apt/log" >&2
        die "cannot fetch the kernel of $suite"
    fi
fi
newest
