#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_vmlinux.sh - vmlinux/vmlinux.h says of the kernel's types what the running kernel's BTF says.
#
#   tests/check_vmlinux.sh [HEADER [BTF]]
#
# Relocated structs (between the clang attribute lines): each member exists and has its size.
# Fixed structs: each member also has its offset; one may be narrower than the kernel's (the low
# half of a word), never wider. Typedefs have their size, enumerators their value.
set -u -o pipefail

cd "$(dirname "$0")/.." || exit 1
header=${1:-vmlinux/vmlinux.h}
btf=${2:-/sys/kernel/btf/vmlinux}
clang=${CLANG:-clang}
bpftool=${BPFTOOL:-$(command -v bpftool || echo /usr/sbin/bpftool)}

for tool in "$clang" "$bpftool"; do
    command -v "$tool" >/dev/null || {
        echo "$tool is not installed"
        exit 77
    }
done
[ -r "$btf" ] || {
    echo "this kernel has no readable BTF in $btf"
    exit 77
}
case $(uname -m) in
x86_64) arch=x86 ;;
aarch64) arch=arm64 ;;
*)
    echo "vmlinux.h has no registers for $(uname -m)"
    exit 77
    ;;
esac

dir=$(mktemp -d "${HB_TMP:-/tmp}/vmlinux.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

# What this architecture sees of the header, comments and conditions resolved.
"$clang" -E -P -target bpf -D__TARGET_ARCH_$arch "$header" >"$dir/seen.h" || exit 1

# A variable of each type, so that clang writes the type into the object's BTF.
{
    printf '#include "%s"\n' "$(realpath "$header")"
    sed -nE 's/^struct ([a-z_0-9]+) \{.*/struct \1 v_\1;/p
        s/^typedef .* ([a-z_0-9]+);.*/\1 t_\1;/p' "$dir/seen.h"
} >"$dir/all.c"
"$clang" -g -O2 -target bpf -D__TARGET_ARCH_$arch -c "$dir/all.c" -o "$dir/all.o" || exit 1

"$bpftool" btf dump file "$dir/all.o" format raw >"$dir/ours" || exit 1
"$bpftool" btf dump file "$btf" format raw >"$dir/kernel" || exit 1

# Facts about the header that BTF does not keep: "relocated STRUCT", "value ENUMERATOR N".
awk '/^#pragma clang attribute push/ { on = 1 }
    /^#pragma clang attribute pop/ { on = 0 }
    on && /^struct [a-z_0-9]+ \{/ { print "relocated", $2 }' "$dir/seen.h" >"$dir/facts"
awk '/^enum/ { on = 1 }
    on { while (match($0, /[A-Za-z_0-9]+ = [0-9]+/)) {
        print "value", substr($0, RSTART, RLENGTH)
        $0 = substr($0, RSTART + RLENGTH) } }
    /\};/ { on = 0 }' "$dir/seen.h" | sed 's/ = / /' >>"$dir/facts"

awk -v header="$header" '
FNR == 1 { file++ }
file == 1 && $1 == "relocated" { relocated[$2] = 1 }
file == 1 && $1 == "value" { value[$2] = $3 }
file == 1 { next }
{ side = file == 2 ? "o" : "k" }
/^\[/ {
    id = side substr($1, 2, length($1) - 2)
    kind[id] = $2
    name = quoted($0)
    size[id] = field("size")
    of[id] = side field("type_id")
    if ($2 == "ARRAY")
        nr[id] = field("nr_elems")
    if ($2 == "STRUCT" || $2 == "TYPEDEF" || $2 == "UNION") {
        key = side ($2 == "TYPEDEF" ? "t" : "s") name
        if (name != "(anon)" && !(key in by_name))
            by_name[key] = id
        if (side == "o" && $2 != "UNION")
            ours[++nr_ours] = id
        name_of[id] = name
    }
    next
}
/bits_offset=/ {
    n = ++members[id]
    m_name[id, n] = quoted($0)
    m_type[id, n] = side field("type_id")
    m_off[id, n] = field("bits_offset")
    next
}
/ val=/ && side == "k" { known[quoted($0), field("val")] = 1; named[quoted($0)] = 1 }

function quoted(s) {
    return match(s, /\047[^\047]*\047/) ? substr(s, RSTART + 1, RLENGTH - 2) : ""
}
function field(name,   s) {
    if (!match($0, "[ \t]" name "="))
        return ""
    s = substr($0, RSTART + RLENGTH)
    sub(/[^-0-9].*/, "", s)
    return s
}
function bytes(id,   n) {
    for (n = 1; id != "" ; id = of[id]) {
        if (kind[id] == "ARRAY")
            n *= nr[id]
        else if (kind[id] == "PTR")
            return 8 * n
        else if (size[id] != "")
            return size[id] * n
        if (kind[id] !~ /^(ARRAY|TYPEDEF|CONST|VOLATILE|RESTRICT|TYPE_TAG)$/)
            return -1
    }
}
# Puts every named member of a struct, those of unnamed structs inside included, into off[], type[].
function flatten(id,   todo, at, head, tail, n, sub_id) {
    split("", off)
    split("", type)
    todo[tail = 1] = id
    at[1] = 0
    for (head = 1; head <= tail; head++) {
        for (n = 1; n <= members[todo[head]]; n++) {
            sub_id = m_type[todo[head], n]
            if (m_name[todo[head], n] == "(anon)") {
                todo[++tail] = sub_id
                at[tail] = at[head] + m_off[todo[head], n]
            } else {
                off[m_name[todo[head], n]] = at[head] + m_off[todo[head], n]
                type[m_name[todo[head], n]] = sub_id
            }
        }
    }
}
function bad(text) {
    print header ": " text
    nr_bad++
}
function check_struct(id,   s, kid, m, o, t, moves) {
    s = name_of[id]
    if (!(("ks" s) in by_name)) {
        bad("the kernel has no struct " s)
        return
    }
    kid = by_name["ks" s]
    moves = s in relocated
    flatten(id)
    for (m in off) {
        o[m] = off[m]
        t[m] = type[m]
    }
    flatten(kid)
    if (!moves && size[id] > size[kid])
        bad("struct " s " has " size[id] " bytes, the kernel has " size[kid])
    for (m in o) {
        checked++
        if (!(m in off))
            bad("struct " s " has no member " m " in the kernel")
        else if (!moves && o[m] != off[m])
            bad(s "." m " is at bit " o[m] ", in the kernel at " off[m])
        else if (kind[t[m]] == "STRUCT" && name_of[t[m]] in relocated)
            continue
        else if (moves ? bytes(t[m]) != bytes(type[m]) : bytes(t[m]) > bytes(type[m]))
            bad(s "." m " has " bytes(t[m]) " bytes, in the kernel " bytes(type[m]))
    }
}
END {
    for (i = 1; i <= nr_ours; i++) {
        id = ours[i]
        if (kind[id] == "STRUCT") {
            if (name_of[id] != "(anon)")
                check_struct(id)
        } else {
            checked++
            # A typedef that a kernel does not use is not in its BTF.
            if (("kt" name_of[id]) in by_name &&
                bytes(id) != bytes(by_name["kt" name_of[id]]))
                bad("typedef " name_of[id] " has " bytes(id) " bytes, in the kernel " \
                    bytes(by_name["kt" name_of[id]]))
        }
    }
    for (e in value) {
        checked++
        if (!(e in named))
            bad("the kernel has no enumerator " e)
        else if (!((e, value[e]) in known))
            bad(e " is not " value[e] " in the kernel")
    }
    print checked " members, typedefs and enumerators compared"
    exit nr_bad || !checked
}' "$dir/facts" "$dir/ours" "$dir/kernel"
