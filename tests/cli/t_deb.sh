#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_deb.sh - `make deb` makes a Debian package that has what `make install` installs.
. "$(dirname "$0")/../tap.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS CC CLANG BPFTOOL ARCH # of `make check`

# ---- what is written down twice: no package is needed for this ---------------------------------

version=$(sed -n 's/^#define HBPROF_VERSION "\(.*\)"/\1/p' "$HB_SRC/include/hbprof/version.h")
is "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$HB_SRC/docs/debian/changelog")" "$version" \
    "the package has the version of hbprof"
depends=$(sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([a-z0-9-]*\).*/\1/p' "$HB_SRC/docs/debian/control")
# build-essential is there for every package.
is "$(grep -v '^debhelper' <<<"$depends" | sort)" \
    "$({ sed -n 's/^\([a-z][^ ]*\)  *build .*/\1/p' "$HB_SRC/tests/setup.sh" |
        grep -vxE 'gcc|libc6-dev|make'; echo scdoc; } | sort)" \
    "the package is built with what setup.sh installs for the build"

# ---- the package ------------------------------------------------------------------------------

for tool in dh dpkg-buildpackage scdoc; do
    command -v "$tool" >/dev/null || {
        skip "make deb makes a package" "$tool is not installed: tests/setup.sh deb"
        done_testing
    }
done

make -C "$HB_SRC" --no-print-directory O="$HB_TMP" HB_NEEDS_SEEN= deb >"$HB_TMP/log" 2>&1 || {
    fail "make deb makes a package" "$(tail -n 20 "$HB_TMP/log")"
    done_testing
}
deb=$(echo "$HB_TMP"/hbprof_*.deb)
ok "make deb makes a package" test -f "$deb"
ok "the source tree has no debian/ afterwards" test ! -e "$HB_SRC/debian"
root=$HB_TMP/root
ok "it unpacks" dpkg -x "$deb" "$root"
is "$("$root/usr/bin/hbprof" --version | head -n 1)" "hbprof $version" "its hbprof runs"
is "$(cd "$root/usr/share/man/man1" && echo *)" \
    "$(cd "$HB_SRC/docs/man" && for f in *.scd; do echo "${f%.scd}.gz"; done | xargs)" \
    "it has every manual page"
ok "it has the completion of bash where bash looks" \
    cmp "$root/usr/share/bash-completion/completions/hbprof" "$HB_SRC/docs/completion/hbprof.bash"
ok "it has the completion of zsh where Debian's zsh looks" \
    cmp "$root/usr/share/zsh/vendor-completions/_hbprof" "$HB_SRC/docs/completion/_hbprof"
like "$(dpkg -I "$deb")" '^ Depends: .*libbpf1.*libcjson1.*libzydis4' "it depends on the libraries"
if command -v lintian >/dev/null; then
    is "$(lintian --allow-root "$HB_TMP"/hbprof_*.changes 2>&1 | grep '^[EW]:')" "" \
        "lintian finds neither errors nor warnings"
else
    skip "lintian finds neither errors nor warnings" "lintian is not installed"
fi

done_testing
