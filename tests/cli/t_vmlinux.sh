#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_vmlinux.sh - tests/check_vmlinux.sh finds what is wrong in planted versions of vmlinux.h.
. "$(dirname "$0")/../tap.sh"

check=$HB_SRC/tests/check_vmlinux.sh
"$check" >"$HB_TMP/out" 2>&1
case $? in
77) skip_all "$(tail -n 1 "$HB_TMP/out")" ;;
esac
[ "$(uname -m)" = x86_64 ] || skip_all "the planted mistakes are in the x86 registers"

finds() { # sed command, expected, sentence
    local out rc
    sed -E "$1" "$HB_SRC/vmlinux/vmlinux.h" >"$HB_TMP/vmlinux.h"
    cmp -s "$HB_TMP/vmlinux.h" "$HB_SRC/vmlinux/vmlinux.h" && {
        fail "$3" "the sed command changed nothing: $1"
        return
    }
    out=$("$check" "$HB_TMP/vmlinux.h" 2>&1)
    rc=$?
    is "$rc $(grep -cE "$2" <<<"$out")" "1 1" "$3" || diag "$out"
}

finds 's/pid_t tgid;/pid_t tgidd;/' 'task_struct has no member tgidd' "a misspelt member is found"
finds 's/pid_t tgid;/u64 tgid;/' 'task_struct.tgid has 8 bytes, in the kernel 4' \
    "a relocated member of another size is found"
finds '/long unsigned int r15;/d' 'pt_regs.r14 is at bit 0, in the kernel at 64' \
    "a lost register moves the others"
finds 's/^struct task_struct/struct task_structure/' 'no struct task_structure' \
    "an unknown struct is found"
finds 's/BPF_MAP_TYPE_RINGBUF = 27/BPF_MAP_TYPE_RINGBUF = 28/' 'BPF_MAP_TYPE_RINGBUF is not 28' \
    "a wrong value is found"
finds 's/BPF_F_MMAPABLE/BPF_F_MMAPPABLE/' 'no enumerator BPF_F_MMAPPABLE' \
    "an unknown enumerator is found"
finds 's/^typedef int pid_t/typedef long pid_t/' 'typedef pid_t has 8 bytes, in the kernel 4' \
    "a typedef of another size is found"
ok "without BTF the check is skipped" exits 77 "$check" vmlinux/vmlinux.h "$HB_TMP/no_btf"

done_testing
