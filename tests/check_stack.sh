#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_stack.sh - the stacks of BPF functions along any chain of calls are 512 bytes together, each
# rounded up to 32: what Linux 6.1 allows (kernel/bpf/verifier.c, check_max_stack_depth()). Newer kernels
# give some programs a stack of their own, so loading there shows nothing.
#
#   tests/check_stack.sh OBJECT...     relocatable BPF objects, before they are linked
set -u -o pipefail

objdump=$(command -v llvm-objdump-14 || command -v llvm-objdump) || {
    echo "llvm-objdump is not installed (Debian package llvm-14)"
    exit 77
}

for object; do
    "$objdump" -d -r --no-show-raw-insn "$object"
done | awk '
    /^[0-9a-f]+ <.*>:$/ {
        name = $2
        gsub(/[<>:]/, "", name)
        if (name !~ /^LBB/) {
            fn = name
            depth[fn] += 0
        }
        next
    }
    /R_BPF_64_32/ { calls[fn] = calls[fn] " " $NF }
    # A store or load at r10 - N, or an address made of it.
    match($0, /r10 - 0?x?[0-9a-f]+/) { seen(substr($0, RSTART + 6, RLENGTH - 6)) }
    match($0, /r[0-9] \+= -[0-9]+$/) { seen(substr($0, RSTART + 7, RLENGTH - 6)) }
    function seen(text) {
        if (number(text) > depth[fn])
            depth[fn] = number(text)
    }
    function number(text,    n, i) {
        if (text !~ /^0x/)
            return text + 0
        for (i = 3; i <= length(text); i++)
            n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
        return n
    }
    function rounded(n) {
        return n <= 32 ? 32 : int((n + 31) / 32) * 32
    }
    # The deepest chain from f on; its text in path[f]. No function here calls itself.
    function chain(f,    list, n, i, most, below) {
        if (f in total)
            return total[f]
        n = split(calls[f], list, " ")
        for (i = 1; i <= n; i++)
            if (list[i] in depth && chain(list[i]) > most) {
                most = total[list[i]]
                below = path[list[i]]
            }
        total[f] = most + rounded(depth[f])
        path[f] = f " " depth[f] (below == "" ? "" : ", " below)
        return total[f]
    }
    END {
        for (f in depth) {
            nr++
            if (chain(f) > 512) {
                print total[f] " bytes of stack: " path[f]
                bad = 1
            }
        }
        if (!nr) {
            print "no function found"
            bad = 1
        }
        exit bad
    }'
