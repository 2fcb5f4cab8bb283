#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_make.sh - what the Makefile says when something is missing, and that it keeps the tree clean.
. "$(dirname "$0")/../tap.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS

# None of make's variables of this run: the environment of `make check` would decide.
mk() {
    make -C "$HB_SRC" --no-print-directory O="$HB_TMP/build" HB_NEEDS_SEEN= "$@" 2>&1
}

out=$(mk build-needs)
is "$?/$out" "0/" "with everything installed the check of the packages is silent"

out=$(mk build-needs PKG_CONFIG=false)
is "$?" 2 "a missing library stops the build"
for package in libbpf-dev libelf-dev zlib1g-dev libcjson-dev; do
    like "$out" "apt-get install.* $package" "a missing library is named by its package: $package"
done

out=$(mk build-needs CLANG=no-such-clang)
like "$out" 'apt-get install clang ' "a missing compiler is named by its package"
out=$(mk build-needs BPFTOOL=/no/such/bpftool)
like "$out" 'apt-get install bpftool ' "a missing bpftool is named by its package"

out=$(mk build-needs CC="${CC:-gcc} -nostdinc")
like "$out" 'apt-get install libzydis-dev libiberty-dev' "a missing header is named by its package"

out=$(mk all ARCH=sparc)
is "$?" 2 "an unknown architecture is refused"
like "$out" 'ARCH=sparc is not supported' "an unknown architecture is named"

out=$(mk help)
is "$?" 0 "make help succeeds"
for target in check check-unit check-cli check-bpf check-vm check-fuzz bench demo install uninstall deb man clean; do
    like "$out" "make $target( |,|\$)" "make help has $target"
done

if command -v scdoc >/dev/null && [ -x "$HBPROF" ]; then
    build=$(dirname "$HBPROF")
    out=$(make -C "$HB_SRC" -n --no-print-directory O="$build" HB_NEEDS_SEEN=1 V=1 install \
        DESTDIR="$HB_TMP/root" prefix=/usr 2>&1)
    like "$out" "/root/usr/bin/hbprof" "install puts the binary under DESTDIR and prefix"
    like "$out" "/root/usr/share/man/man1/hbprof-report.1" "install puts the pages in man1"
    like "$out" "/root/usr/share/bash-completion/completions/hbprof" "install puts bash's completion there"
    like "$out" "/root/usr/share/zsh/site-functions/_hbprof" "install puts zsh's completion there"
    files=$(grep -oE "$HB_TMP/root/[^ ]*" <<<"$out" | sort -u)
    xargs dirname <<<"$files" | xargs mkdir -p
    xargs touch <<<"$files"
    touch "$HB_TMP/root/usr/bin/other"
    mk uninstall DESTDIR="$HB_TMP/root" prefix=/usr >"$HB_TMP/out"
    is "$(find "$HB_TMP/root" -type f)" "$HB_TMP/root/usr/bin/other" \
        "uninstall removes what install has installed, and nothing else"
else
    skip "install puts files under DESTDIR and prefix" "not built, or no scdoc"
fi

done_testing
