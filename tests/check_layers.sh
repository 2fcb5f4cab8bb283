#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# check_layers.sh - which folder may include which, and which library belongs to which part.
#
#   tests/check_layers.sh [TREE]
#
#   util <- target <- sym <- probe <- trace <- cmd
#   util, include <- model <- trace;  model <- capture <- report <- cmd
#   util <- flamegraph <- cmd
#
# and never sideways. Each violation is a line "FILE:LINE: what is wrong"; exit status 1 if any.
set -u -o pipefail

tree=${1:-$(dirname "$0")/..}
cd "$tree" || exit 1

sources() {
    find bpf user include flamegraph vmlinux -name '*.[ch]' 2>/dev/null | sort
}

# Every include line of the sources, as FILE:LINE:text.
includes() {
    sources | xargs -r grep -nHE '^[ \t]*#[ \t]*include'
}

check_includes() {
    includes | awk '
    BEGIN {
        # What each layer may include beside itself. hbprof is include/hbprof.
        may["include"] = "hbprof"
        may["util"] = "hbprof"
        may["target"] = "hbprof util"
        may["sym"] = "hbprof util target"
        may["probe"] = "hbprof util target sym"
        may["model"] = "hbprof util"
        may["trace"] = "hbprof util target sym probe model"
        may["capture"] = "hbprof util model"
        may["report"] = "hbprof util model capture"
        may["flamegraph"] = "hbprof util"
        may["cmd"] = "hbprof util target sym probe model trace capture report flamegraph"
        may["main"] = "hbprof util cmd"
        may["bpf"] = "hbprof bpf"
        may["vmlinux"] = ""
    }
    {
        split($0, part, ":")
        file = part[1]
        where = part[1] ":" part[2] ": "
        text = $0
        sub(/^[^:]*:[^:]*:[ \t]*#[ \t]*include[ \t]*/, "", text)
        quoted = substr(text, 1, 1) == "\""
        if (!match(text, /^["<][^">]+[">]/)) {
            print where "an include that is not a plain file name"
            next
        }
        inc = substr(text, 2, RLENGTH - 2)
        from = layer_of(file)
        if (!(from in may)) {
            print where "folder " from "/ is in no layer (see tests/check_layers.sh)"
            next
        }
        library(inc, from, file)
        own(inc, from, file)
    }

    function layer_of(path,   p, n) {
        n = split(path, p, "/")
        if (p[1] != "user")
            return p[1]
        return n == 2 ? "main" : p[2]
    }

    # Includes of our own headers.
    function own(inc, from, file,   p, n, to) {
        if (inc ~ /\.\.\//) {
            print where "path with ../: name the folder"
            return
        }
        n = split(inc, p, "/")
        if (n == 1) {
            if (quoted && !generated(inc) && !exists(dirname(file) "/" inc))
                print where "\"" inc "\" is not in this folder: name the folder"
            return
        }
        to = p[1]
        if (to == from)
            return
        if (to == "bpf" || !(to in may || to == "hbprof")) {
            if (quoted)
                print where "\"" inc "\" is in no known folder"
            return # a system header
        }
        if (index(" " may[from] " ", " " to " ") == 0)
            print where from "/ must not include " to "/"
        else if (to == "hbprof" && (from == "util" || from == "flamegraph") &&
             inc != "hbprof/types.h")
            print where from "/ knows nothing of the kernel side: only hbprof/types.h"
    }

    # Libraries and kernel interfaces.
    function library(inc, from, file,   base) {
        base = file
        sub(/.*\//, "", base)
        if (from == "bpf" || from == "vmlinux")
            return
        if (inc ~ /\.skel\.h$/ && from != "trace")
            print where "only trace/ includes a skeleton"
        if (inc ~ /^bpf\// && from != "trace")
            print where "only trace/ includes libbpf"
        if ((inc == "linux/perf_event.h" || inc == "linux/bpf.h") && from != "trace")
            print where "only trace/ includes " inc
        if (inc ~ /^(Zydis|Zycore)\// && file != "user/probe/insn_x86.c")
            print where "only probe/insn_x86.c includes Zydis"
        if (inc ~ /^((libelf\/)?(libelf|gelf|nlist)\.h|elfutils\/)/ &&
            from != "target" && from != "sym")
            print where "only target/ and sym/ include libelf"
        if (inc ~ /(^|\/)cJSON(_Utils)?\.h$/ && from != "capture" &&
            !(from == "sym" && base ~ /^registry/) &&
            !(from == "report" && base ~ /json/))
            print where "cJSON is for sym/registry*, capture/ and report/*json* only"
    }

    function generated(inc) {
        return inc ~ /\.skel\.h$/ || inc == "built_with.h" || inc == "vmlinux.h"
    }
    function dirname(path) {
        sub(/\/[^\/]*$/, "", path)
        return path
    }
    function exists(path,   line, found) {
        found = (getline line < path) >= 0
        close(path)
        return found
    }'
}

# The shim stands in for headers of other projects and has to bear their names.
check_names() {
    {
        sources
        find tests/unit tests/fuzz -name '*.[ch]' -not -path 'tests/unit/shim/*' 2>/dev/null
    } | awk -F / '
        $NF in first { print $0 ": the tree has another " $NF ": " first[$NF]; next }
        { first[$NF] = $0 }'
}

found=$(check_includes; check_names)
[ -z "$found" ] && exit 0
echo "$found"
exit 1
