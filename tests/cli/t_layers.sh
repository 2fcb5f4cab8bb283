#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_layers.sh - tests/check_layers.sh finds each kind of violation in a small planted tree, and
# nothing in a tree that keeps the rules.
. "$(dirname "$0")/../tap.sh"

tree=$HB_TMP/tree

plant() { # file, include lines
    mkdir -p "$tree/$(dirname "$1")"
    printf '#include %s\n' "${@:2}" >"$tree/$1"
}

good_tree() {
    local layer
    rm -rf "$tree"
    for layer in util target sym probe model trace capture report cmd; do
        plant "user/$layer/$layer.h" '<hbprof/types.h>' '<stdio.h>'
    done
    plant include/hbprof/types.h '<stdint.h>'
    plant include/hbprof/abi.h '<hbprof/types.h>'
    plant flamegraph/svg.c '"util/util.h"' '<hbprof/types.h>'
    plant user/target/image.c '"util/util.h"' '<gelf.h>' '<hbprof/types.h>'
    plant user/sym/registry.c '"target/target.h"' '<cjson/cJSON.h>'
    plant user/probe/insn_x86.c '"sym/sym.h"' '<Zydis/Zydis.h>'
    plant user/model/model.c '"util/util.h"' '"model.h"' '<hbprof/abi.h>'
    plant user/trace/attach.c '"probe/probe.h"' '"model/model.h"' '"hbprof.skel.h"' \
        '<bpf/libbpf.h>' '<linux/bpf.h>' '<linux/perf_event.h>'
    plant user/capture/writer.c '"model/model.h"' '<cjson/cJSON.h>'
    plant user/report/report_json.c '"capture/capture.h"' '<cjson/cJSON.h>'
    plant user/cmd/record.c '"trace/trace.h"' '"report/report.h"' '<hbprof/version.h>'
    plant user/main.c '"cmd/cmd.h"' '"util/util.h"' '"built_with.h"'
    plant bpf/codec.bpf.c '"vmlinux.h"' '<bpf/bpf_helpers.h>' '"maps.bpf.h"' '<hbprof/abi.h>'
    plant bpf/maps.bpf.h '<hbprof/abi.h>'
}

finds() { # regex, sentence, file, include lines
    local out rc
    good_tree
    plant "${@:3}"
    out=$("$HB_SRC/tests/check_layers.sh" "$tree" 2>&1)
    rc=$?
    is "$rc $(grep -cE "^$3(:[0-9]+)?: .*$1" <<<"$out")" "1 1" "$2" || diag "$out"
}

good_tree
is "$("$HB_SRC/tests/check_layers.sh" "$tree" 2>&1; echo $?)" 0 "a tree that keeps the rules passes"

finds 'util/ must not include target/' "util knows nothing above it" user/util/a.c '"target/target.h"'
finds 'target/ must not include sym/' "target does not look upwards" user/target/a.c '"sym/sym.h"'
finds 'sym/ must not include probe/' "sym does not look upwards" user/sym/a.h '"probe/probe.h"'
finds 'probe/ must not include trace/' "probe does not look upwards" user/probe/a.c '"trace/trace.h"'
finds 'probe/ must not include model/' "probe does not look sideways" user/probe/a.c '"model/model.h"'
finds 'model/ must not include target/' "model does not look sideways" user/model/a.c '"target/target.h"'
finds 'capture/ must not include trace/' "capture does not look sideways" user/capture/a.c '"trace/trace.h"'
finds 'trace/ must not include capture/' "trace does not look sideways" user/trace/a.c '"capture/capture.h"'
finds 'capture/ must not include report/' "capture does not look upwards" user/capture/a.c '"report/report.h"'
finds 'report/ must not include cmd/' "report does not look upwards" user/report/a.c '"cmd/cmd.h"'
finds 'flamegraph/ must not include model/' "flamegraph uses util alone" flamegraph/a.c '"model/model.h"'
finds 'main/ must not include trace/' "main uses commands alone" user/main.c '"trace/trace.h"'
finds 'bpf/ must not include util/' "bpf does not include the user side" bpf/a.bpf.c '"util/util.h"'
finds 'must not include target/' "angle brackets hide nothing" user/util/a.c '<target/target.h>'
finds 'only hbprof/types.h' "util knows nothing of the kernel side" user/util/a.c '<hbprof/abi.h>'
finds 'only trace/ includes a skeleton' "a skeleton belongs to trace" user/cmd/a.c '"hbprof.skel.h"'
finds 'only trace/ includes libbpf' "libbpf belongs to trace" user/cmd/a.c '<bpf/libbpf.h>'
finds 'only trace/ includes linux/bpf.h' "linux/bpf.h belongs to trace" user/probe/a.c '<linux/bpf.h>'
finds 'only trace/ includes linux/perf_event.h' "perf events belong to trace" \
    user/target/a.c '<linux/perf_event.h>'
finds 'only probe/insn_x86.c includes Zydis' "Zydis belongs to one file" user/probe/a.c '<Zydis/Zydis.h>'
finds 'only target/ and sym/ include libelf' "libelf stays below probe" user/probe/a.c '<gelf.h>'
finds 'cJSON is for' "cJSON is not for all of sym" user/sym/symtab.c '<cjson/cJSON.h>'
finds 'cJSON is for' "cJSON is not for all of report" user/report/table.c '<cjson/cJSON.h>'
finds 'is in no layer' "a new folder needs a place in the order" user/extra/a.c '<stdio.h>'
finds 'in no known folder' "an include from no layer is found" user/cmd/a.c '"user/util/util.h"'
finds 'name the folder' "a header of another folder is named with it" user/cmd/a.c '"util.h"'
finds 'path with' "a path with .. is found" user/cmd/a.c '"../util/util.h"'
finds 'the tree has another' "a file name that is there twice is found" user/util/svg.c '<stdio.h>'

done_testing
