#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# setup.sh - installs from Debian's packages what building and testing need and is not there yet.
#
#   tests/setup.sh [-q|--quiet] [build|demo|test|bench]     (default: test)
#
# Each contains those before it.
#
# With everything in place it is one dpkg-query. Without root it prints the command to run and
# fails, so that nothing goes on half-equipped.
set -u -o pipefail

quiet=
want=test
for arg in "$@"; do
    case $arg in
    -q | --quiet) quiet=1 ;;
    build | demo | test | bench) want=$arg ;;
    *)
        echo "usage: tests/setup.sh [-q|--quiet] [build|demo|test|bench]" >&2
        exit 2
        ;;
    esac
done

# Package, the first stage that needs it, why. (No apostrophes: it is one quoted string.)
list='
gcc             build the compiler
libc6-dev       build headers of the C library
make            build the build
pkg-config      build finding the libraries
clang           build the compiler of the BPF programs
bpftool         build linking BPF objects, generating the skeleton
libbpf-dev      build loading BPF programs
libelf-dev      build reading ELF files
zlib1g-dev      build compressing captures
libcjson-dev    build reading and writing JSON
libzydis-dev    build decoding x86 instructions
libiberty-dev   build demangling C++ and Rust names
procps          demo finding processes
binutils        demo dissecting the bundled programs
g++             demo the bundled C++ program
libcmocka-dev   test the unit tests
clang-format-14 test make check-format
lld             test a program whose segments share pages of the file
scdoc           test the manual pages
python3         test checking JSON output
tmux            test the live view
libxml2-utils   test checking that flame graphs are well-formed
chromium        test zooming and searching flame graphs in a browser
libcap2-bin     test running hbprof with file capabilities
python3-prometheus-client test reading OpenMetrics
bpftrace        bench the cost of other probes, to compare with
'

wanted() { # the packages of this stage, with their reasons
    awk -v want="$want" '
        BEGIN { rank["build"] = 1; rank["demo"] = 2; rank["test"] = 3; rank["bench"] = 4 }
        NF && rank[$2] <= rank[want] { p = $1; $1 = $2 = ""; sub(/^ +/, ""); print p "\t" $0 }' <<<"$list"
}

missing() {
    local installed
    # A virtual package (pkg-config is one since Debian 12) counts by what provides it.
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' 2>/dev/null |
        sed -n 's/^installed //p' | tr -d ' ' | tr ',' '\n' | sed 's/(.*//' | sort -u)
    wanted | awk -F '\t' 'NR == FNR { have[$1] = 1; next } !($1 in have)' <(echo "$installed") -
}

if ! command -v dpkg-query >/dev/null; then
    echo "setup.sh: this system does not use Debian's packages; install what corresponds to:" >&2
    wanted | sed 's/^/  /' >&2
    exit 0
fi

# Go has no package that is new enough in Debian 12: a versioned one of backports or of a later
# release is taken where apt knows it. That none is found stops nothing here: tests/check_go.sh
# says what is then not run.
go_package() {
    "$(dirname "$0")/find_go.sh" >/dev/null && return
    apt-cache --names-only search '^golang-1\.[0-9]+-go$' 2>/dev/null | cut -d ' ' -f 1 |
        awk -F '[.-]' '$3 >= 22' | sort -V | tail -n 1
}

need=$(missing)
go=
[ "$want" = build ] || go=$(go_package)
if [ -z "$need$go" ]; then
    [ -n "$quiet" ] || echo "setup: nothing to install"
    exit 0
fi
[ -z "$go" ] || need+=${need:+$'\n'}$go$'\t'"a Go of at least 1.22, for the Go test programs"
packages=$(cut -f 1 <<<"$need" | tr '\n' ' ')
echo "setup: missing packages:"
sed 's/^/  /' <<<"$need"

if [ "$(id -u)" != 0 ]; then
    echo "setup.sh: not root; run:  sudo apt-get install $packages" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

install_them() { # package...
    apt-get install -y -q --no-install-recommends "$@" >>"$log" 2>&1 || {
        cat "$log"
        echo "setup.sh: apt-get could not install: $*" >&2
        return 1
    }
    echo "setup: installed $*"
}

apt-get update -q >"$log" 2>&1 || echo "setup: apt-get update failed; trying with the old lists"
# shellcheck disable=SC2086 # a list of names
install_them $packages || exit 1
# The lists are new: a Go that was not known before may be now.
if [ "$want" != build ] && [ -z "$go" ] && go=$(go_package) && [ -n "$go" ]; then
    install_them "$go" || exit 1
fi
