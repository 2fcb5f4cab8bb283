# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# live.sh - what the scripts here have in common, which are written in Python: sourced by t_*.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

# These tests use more probes than perf events allow, on kernels before uprobe_multi links; what runs
# there is tested in tests/vm and by t_perf.sh.
live_kernel_ok() {
    local major minor
    IFS=. read -r major minor _ < <(uname -r)
    ((major > 6 || (major == 6 && ${minor%%[!0-9]*} >= 6)))
}

# live SCRIPT: runs a test script of this folder, which prints TAP and the plan.
live() {
    need_root
    live_kernel_ok || skip_all "needs Linux 6.6 or later, for uprobe_multi links"
    [ -e /sys/kernel/btf/vmlinux ] || skip_all "needs a kernel with BTF"
    command -v python3 >/dev/null || skip_all "needs python3"
    PYTHONDONTWRITEBYTECODE=1 python3 "$(dirname "$0")/$1"
    exit $?
}
