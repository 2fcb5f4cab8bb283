#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_export.sh - `hbprof export` of the captures in tests/data, each format read by the tool that it is for.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../captures.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}

sample=$HB_SRC/tests/data/sample.hbp
stacks=$HB_SRC/tests/data/sample-stacks.hbp # the same with CPU stacks
tools=$(dirname "$HB_WORK")/tools
base=$HB_TMP/out

export_to() { # format
    "$HBPROF" export "$sample" --format "$1" -o "$base.$1"
}

py() { # SENTENCE, stdin: a script that exits with 0
    ok "$1" python3 - "$base" "$HBPROF" "$sample"
}

for format in csv json pprof speedscope openmetrics benchstat; do
    ok "the sample is exported as $format" export_to "$format"
    ok "standard output has the same $format" cmp <("$HBPROF" export --format "$format" - <"$sample") \
        "$base.$format"
done

# ---- csv, json ----

is "$("$HBPROF" report --format json "$sample")" "$(cat "$base.json")" "json is the report's"
is "$("$HBPROF" report --format csv "$sample")" "$(cat "$base.csv")" "report --format csv is the same csv"
py "csv has the figures of the JSON report, and n/a is an empty cell" <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + ".csv", newline="")))
want = json.load(open(sys.argv[1] + ".json"))["rows"]
assert len(rows) == len(want) > 3
text = lambda v: "" if v is None else str(v)
for r, w in zip(rows, want):
    for key in "codec op function library pid outcome calls errors measured_ns".split():
        assert r[key] == text(w[key]), (key, r[key], w[key])
    for dist in "latency", "exclusive":
        for key in "sum_ns min_ns p50_ns p90_ns p99_ns p999_ns max_ns in_buckets".split():
            assert r[f"{dist}_{key}"] == text(w[dist][key]), (dist, key, r, w)
    assert r["size_p50_bytes"] == text(w["size"]["p50_bytes"])
END
is "$(tr -cd '\r' <"$base.csv" | wc -c)" "$(wc -l <"$base.csv")" "every line of csv ends with CR LF"
"$HBPROF" report --by size --format csv "$sample" >"$base.bysize"
is "$("$HBPROF" report --format json "$sample" | python3 -c '
import json, sys
print(sum(len(r["by_size"]) for r in json.load(sys.stdin)["rows"]))')" \
    "$(($(wc -l <"$base.bysize") - 1))" "report --by size --format csv has a line for each size class"

# ---- pprof ----

if [ -n "${HB_GO_BIN:-}" ] || command -v go >/dev/null; then
    go=${HB_GO_BIN:-go}
    top=$(GOTOOLCHAIN=local "$go" tool pprof -top -unit=ns "$base.pprof" 2>&1)
    like "$top" '^Type: exclusive' "pprof shows exclusive time unless told otherwise"
    like "$top" '^ *1134977000ns .* encoding/json.Marshal$' "pprof adds up the exclusive time, failed calls included"
    top=$(GOTOOLCHAIN=local "$go" tool pprof -sample_index=latency -unit=ns -nodefraction=0 -top "$base.pprof" 2>&1)
    like "$top" '^ *1154196567ns .* encoding/json.Marshal$' "pprof has the inclusive time as well"
    top=$(GOTOOLCHAIN=local "$go" tool pprof -sample_index=calls -nodefraction=0 -top "$base.pprof" 2>&1)
    like "$top" '^ *101021 .* encoding/json.Marshal$' "pprof has the calls, failed ones included"
    like "$top" '^ *0 .* 101021 .* encoding/json encode$' "the operation is above the function"
    like "$(GOTOOLCHAIN=local "$go" tool pprof -sample_index=calls -tags "$base.pprof" 2>&1)" \
        ' 100000 \(.*: 128B' "the size class is a label"
    ok "a profile of the stacks is written" \
        "$HBPROF" export "$stacks" --format pprof --of stacks -o "$base.cpu"
    top=$(GOTOOLCHAIN=local "$go" tool pprof -top -unit=ms "$base.cpu" 2>&1)
    like "$top" '^Type: cpu' "pprof shows the CPU time of stacks unless told otherwise"
    like "$top" '^ *707.07ms .* 909.09ms .* encoding/json.Marshal$' \
        "pprof tells a function's own time from that of its callees"
    like "$top" '^ *0 .* 1000ms .* runtime.goexit$' "pprof has the outermost frame above all"
    like "$(GOTOOLCHAIN=local "$go" tool pprof -sample_index=samples -top "$base.cpu" 2>&1)" \
        '^ *70 .* 90 .* encoding/json.Marshal$' "pprof has the number of samples as well"
    like "$(GOTOOLCHAIN=local "$go" tool pprof -sample_index=samples -top \
        -tagfocus='codec=encoding/json encode' "$base.cpu" 2>&1)" \
        'nodes accounting for 90, 90.00%' "the call that a stack was taken in is a label"
else
    skip "go tool pprof reads the profile" "no Go"
fi
ok "pprof has the calls as long as stacks are not asked for" \
    cmp <("$HBPROF" export --format pprof "$stacks") "$base.pprof"

# ---- folded ----

is "$("$HBPROF" export --format folded "$stacks")" "$("$HBPROF" flamegraph --folded "$stacks")" \
    "folded is what flamegraph --folded prints"
is "$("$HBPROF" export --format folded "$stacks" | awk '{ n += $NF } END { print n }')" 100 \
    "the counts of folded sum up to the samples"
"$HBPROF" export --format folded "$sample" >"$HB_TMP/none" 2>"$HB_TMP/err"
is "$?/$(wc -c <"$HB_TMP/none")/$(wc -l <"$HB_TMP/err")" 1/0/1 \
    "without stacks folded is exit status 1, one line, and no output"
like "$(cat "$HB_TMP/err")" 'sample.hbp holds no CPU stacks: .*--no-stacks' "that line says why"

# ---- speedscope ----

py "speedscope's samples and weights fit together and point to frames" <<'END'
import json, sys
d = json.load(open(sys.argv[1] + ".speedscope"))
assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
frames = d["shared"]["frames"]
assert all(isinstance(f["name"], str) and f["name"] for f in frames)
assert [p["unit"] for p in d["profiles"]] == ["nanoseconds", "nanoseconds", "none"]
for p in d["profiles"]:
    assert set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    assert p["type"] == "sampled" and p["startValue"] == 0
    assert len(p["samples"]) == len(p["weights"]) == 5
    assert p["endValue"] == sum(p["weights"]) > 0
    assert all(0 <= i < len(frames) for s in p["samples"] for i in s)
stacks = [";".join(frames[i]["name"] for i in s) for s in d["profiles"][2]["samples"]]
at = stacks.index("encoding/json;encoding/json encode;encoding/json.Marshal;128 B to 255 B")
assert d["profiles"][2]["weights"][at] == 100000
assert sum(d["profiles"][0]["weights"]) == 1134970000 + 7000 + 5400 + 5000000
END
"$HBPROF" export --format speedscope "$stacks" -o "$base.speedscope4"
py "speedscope has the CPU stacks as one profile more, behind those of the calls" <<'END'
import json, sys
three = json.load(open(sys.argv[1] + ".speedscope"))
d = json.load(open(sys.argv[1] + ".speedscope4"))
frames = [f["name"] for f in d["shared"]["frames"]]
assert d["profiles"][:3] == three["profiles"]
assert frames[:len(three["shared"]["frames"])] == [f["name"] for f in three["shared"]["frames"]]
p = d["profiles"][3]
got = {";".join(frames[i] for i in s): w for s, w in zip(p["samples"], p["weights"])}
assert got["runtime.goexit;main.main;encoding/json.Marshal"] == 70 * (10**9 // 99), got
assert p["unit"] == "nanoseconds" and p["endValue"] == sum(p["weights"]) == 100 * (10**9 // 99)
END

# ---- openmetrics ----

if python=$(prometheus_python); then
    ok "Prometheus' own reader of OpenMetrics accepts it" "$python" -c '
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
seen = {(s.name, tuple(sorted(s.labels.items()))): s.value
        for f in parse(open(sys.argv[1]).read()) for s in f.samples}
value = [v for (n, l), v in seen.items() if n == "hbprof_calls_total" and ("outcome", "error") in l]
assert value == [20], value
' "$base.openmetrics"
else
    skip "Prometheus' own reader of OpenMetrics accepts it" "python3-prometheus-client is not installed"
fi
if promtool=$("$HB_SRC/tests/promtool.sh" "$tools" 2>"$HB_TMP/err"); then
    # The older text format, which promtool checks, names a counter with its _total.
    awk '$1 == "#" && NF > 1 && $2 != "EOF" {
            if ($2 == "TYPE" && $4 == "counter") counter[$3] = 1
            if ($2 == "HELP") { help = $0; next }
            if ($2 == "UNIT") next
            name = $3 (($3 in counter) ? "_total" : "")
            sub("HELP " $3, "HELP " name, help)
            print help
            $3 = name
        }
        { print }' "$base.openmetrics" >"$base.prom"
    ok "promtool check metrics has nothing to say" \
        sh -c "\"$promtool\" check metrics <\"$base.prom\""
else
    skip "promtool check metrics has nothing to say" "$(cat "$HB_TMP/err")"
fi
is "$(tail -n 1 "$base.openmetrics")" '# EOF' "the metrics end with # EOF"
py "each histogram grows, and ends with its count" <<'END'
import re, sys
last = {}
for line in open(sys.argv[1] + ".openmetrics"):
    m = re.match(r'(\w+)_bucket\{(.*),le="(.*)"\} (\d+)$', line)
    if m:
        key, n = m[2], int(m[4])
        assert n >= last.get(key, 0), line
        last[key] = n
    m = re.match(r'(\w+)_duration_seconds_count\{(.*)\} (\d+)$', line)
    if m:
        assert last[m[2]] == int(m[3]), line
assert len(last) == 4
END

# ---- benchstat ----

like "$(cat "$base.benchstat")" '^BenchmarkCall/codec=encoding_json/op=encode/func=encoding_json.Marshal/pid=4242 7 10000.0 ns/op' \
    "an interval is a measurement"
if benchstat=$("$HB_SRC/tests/benchstat.sh" "$tools" 2>"$HB_TMP/err"); then
    table=$("$benchstat" -col /op -row /codec "$base.benchstat" 2>&1)
    like "$table" 'fxamacker_cbor .* 90.00n' "benchstat reads it, and groups by the keys in the names"
    is "$(grep -c 'parse\|syntax\|error' <<<"$table")" 0 "benchstat has nothing to complain about"
else
    skip "benchstat reads it" "$(tail -n 1 "$HB_TMP/err")"
fi

# ---- usage and errors ----

ok "no file is a usage error" exits 2 "$HBPROF" export --format csv
ok "no format is a usage error" exits 2 "$HBPROF" export "$sample"
ok "an unknown format is a usage error" exits 2 "$HBPROF" export --format xml "$sample"
like "$("$HBPROF" export --format xml "$sample" 2>&1)" 'csv, json, pprof' "and the formats are named"
ok "stacks in a format that has none are a usage error" \
    exits 2 "$HBPROF" export --format csv --of stacks "$stacks"
ok "something else than calls and stacks is a usage error" \
    exits 2 "$HBPROF" export --format pprof --of heap "$stacks"
ok "two files are a usage error" exits 2 "$HBPROF" export --format csv "$sample" "$sample"
ok "a missing capture fails" exits 1 "$HBPROF" export --format csv "$HB_TMP/none.hbp"
ok "-o into a missing folder fails" exits 1 "$HBPROF" export --format csv "$sample" -o "$HB_TMP/no/out"
if [ -c /dev/full ]; then
    "$HBPROF" export --format pprof "$sample" >/dev/full 2>"$HB_TMP/err"
    is "$?/$(wc -l <"$HB_TMP/err")" 1/1 "a full disk behind stdout is exit status 1 and one line"
else
    skip "a full disk behind stdout is exit status 1 and one line" "no /dev/full"
fi

done_testing
