# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# apt.sh - packages of other suites and architectures, for the scripts beside it. The host's apt is left
# alone: lists, cache and sources are private ones, in the cache folder; nothing is installed.
#
# Uses what the script has set: arch, suite, and dir, the folder of both under $cache.

cache=${HB_VM_CACHE:-${XDG_CACHE_HOME:-/var/cache}/hbprof-vm}

die() {
    echo "${0##*/}: $*" >&2
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

# Lists of $suite for $arch, fresh. Leaves APT_CONFIG set, and what apt said in $dir/apt/log.
private_apt() {
    local uri
    uri=$(mirror) || { echo "${0##*/}: apt has no mirror of Debian's own suites here" >&2; return 1; }
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
    apt-get update -q >"$dir/apt/log" 2>&1
}

# asked_lately: was apt asked within a day? Once a day is often enough.
asked_lately() {
    [ -e "$dir/asked" ] && [ -z "$(find "$dir/asked" -mmin +1440 2>/dev/null)" ]
}
