#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# setup.sh - installs from Debian's packages what building and testing need and is not there yet.
#
#   tests/setup.sh [-q|--quiet] [--sudo] [build|demo|deb|test|bench]     (default: test)
#
# build is part of all others; test has demo and deb, bench has test.
#
# With everything in place it is one dpkg-query. Without root it prints the command to run and
# fails, so that nothing goes on half-equipped; with --sudo it runs that command by sudo.
set -u -o pipefail

quiet= with_sudo=
want=test
for arg in "$@"; do
    case $arg in
    -q | --quiet) quiet=1 ;;
    --sudo) with_sudo=1 ;;
    build | demo | deb | test | bench) want=$arg ;;
    *)
        echo "usage: tests/setup.sh [-q|--quiet] [--sudo] [build|demo|deb|test|bench]" >&2
        exit 2
        ;;
    esac
done

# Package, what needs it first, why. (No apostrophes: it is one quoted string.)
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
scdoc           deb the manual pages
debhelper       deb make deb
dpkg-dev        deb make deb
build-essential deb make deb: what dpkg takes for granted
procps          test finding processes
binutils        test dissecting the bundled programs
g++             test the bundled C++ program
libcmocka-dev   test the unit tests
clang-format-14 test make check-format
llvm-14         test llvm-objdump, for make check-stack
lld             test a program whose segments share pages of the file
lintian         test checking the Debian package
zsh             test its completion
python3         test checking JSON output
tmux            test the live view
libxml2-utils   test checking that flame graphs are well-formed
chromium        test zooming and searching flame graphs in a browser
libcap2-bin     test running hbprof with file capabilities
python3-prometheus-client test reading OpenMetrics
libjansson-dev  test counting the calls of other libraries
libjson-c-dev   test counting the calls of other libraries
qemu-system-x86 test measuring on other kernels
busybox-static  test what a virtual machine for that runs
gcc-aarch64-linux-gnu test building for arm64
libc6-dev-arm64-cross test building for arm64
qemu-system-arm test measuring on kernels of arm64
qemu-user-static test running programs of arm64
libyajl-dev     test counting the calls of other libraries
libmsgpack-dev  test counting the calls of other libraries
libcbor-dev     test counting the calls of other libraries
libprotobuf-c-dev test counting the calls of other libraries
protobuf-c-compiler test generating code for counting the calls of other libraries
protobuf-compiler test generating code for counting the calls of other libraries
libprotobuf-dev bench calling other libraries
libsimdjson-dev bench calling other libraries
nlohmann-json3-dev bench calling other libraries
rapidjson-dev   bench calling other libraries
bpftrace        bench the cost of other probes, to compare with
'

wanted() { # the packages of this stage, with their reasons
    awk -v want="$want" '
        BEGIN {
            has["build"] = "build"; has["demo"] = "build demo"; has["deb"] = "build deb"
            has["test"] = "build demo deb test"; has["bench"] = has["test"] " bench"
        }
        NF && index(" " has[want] " ", " " $2 " ") {
            p = $1; $1 = $2 = ""; sub(/^ +/, ""); print p "\t" $0
        }' <<<"$list"
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
go= wants_go=1
case $want in build | deb) wants_go= ;; esac
[ -z "$wants_go" ] || go=$(go_package)
if [ -z "$need$go" ]; then
    [ -n "$quiet" ] || echo "setup: nothing to install"
    exit 0
fi
[ -z "$go" ] || need+=${need:+$'\n'}$go$'\t'"a Go of at least 1.22, for the Go test programs"
packages=$(cut -f 1 <<<"$need" | tr '\n' ' ')
echo "setup: missing packages:"
sed 's/^/  /' <<<"$need"

if [ "$(id -u)" = 0 ]; then
    with_sudo=
elif [ -z "$with_sudo" ] || ! command -v sudo >/dev/null; then
    echo "setup.sh: not root; run:  sudo apt-get install $packages" >&2
    exit 1
fi
apt() { # the environment does not pass sudo
    ${with_sudo:+sudo} env DEBIAN_FRONTEND=noninteractive apt-get "$@"
}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

install_them() { # package...
    apt install -y -q --no-install-recommends "$@" >>"$log" 2>&1 || {
        cat "$log"
        echo "setup.sh: apt-get could not install: $*" >&2
        return 1
    }
    echo "setup: installed $*"
}

echo "setup: installing them"
apt update -q >"$log" 2>&1 || echo "setup: apt-get update failed; trying with the old lists"
# shellcheck disable=SC2086 # a list of names
install_them $packages || exit 1
# The lists are new: a Go that was not known before may be now.
if [ -n "$wants_go" ] && [ -z "$go" ] && go=$(go_package) && [ -n "$go" ]; then
    install_them "$go" || exit 1
fi
