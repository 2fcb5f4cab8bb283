#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# t_units.sh - counters and their units in exports, as benchstat and Prometheus' own reader read them.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../captures.sh"

[ -x "$HBPROF" ] || {
    fail "hbprof was built" "$HBPROF is not there"
    done_testing
}
if ! make_captures "$HB_TMP"; then
    fail "the captures were made" "$(cat "$HB_TMP/log")"
    done_testing
fi
cd "$HB_TMP" || exit 1
tools=$(dirname "$HB_WORK")/tools

for i in 1 2; do
    ok "counted$i is exported as benchstat" "$HBPROF" export "counted$i.hbp" --format benchstat -o "$i.txt"
done
ok "counted1 is exported as openmetrics" "$HBPROF" export counted1.hbp --format openmetrics -o 1.metrics

# ---- benchstat ----

like "$(cat 1.txt)" \
    '^BenchmarkCall/.*Marshal000-16 [0-9]+ .* p99-ns 2000 cpu-cycles/op 3000 instructions/op 7 cache-misses/op 7500 on-cpu-ns/op 4 r1a8/op$' \
    "a measurement has the mean of each counter, by the names that Go's perfbench has"
is "$(grep -c 'Marshal002.*instructions' 1.txt)" 0 "calls without a counter have no value of it"
is "$(grep -c 'branches' 1.txt)" 0 "what was not counted has no unit"
if benchstat=$("$HB_SRC/tests/benchstat.sh" "$tools" 2>err); then
    table=$("$benchstat" 1.txt 2.txt 2>&1)
    like "$table" 'Marshal000-16 +3\.000k .* 3\.300k .* \+10\.00% \(p=0\.000' \
        "benchstat compares the instructions of two captures"
    for unit in cpu-cycles/op instructions/op cache-misses/op on-cpu-sec/op; do
        like "$table" "[│|] +$unit" "benchstat has a table of $unit"
    done
    like "$table" 'Marshal000-16 +7\.500[uµ]' "and takes ns for time"
else
    skip "benchstat compares the counters of two captures" "$(tail -n 1 err)"
fi

# ---- OpenMetrics ----

if python=$(prometheus_python); then
    ok "Prometheus' own reader finds counters with their units" "$python" - 1.metrics <<'END'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = {f.name: f for f in parse(open(sys.argv[1]).read())}

def of(family, **labels):
    return [s.value for s in families[family].samples
            if s.name == family + "_total" and labels.items() <= s.labels.items()]

calls = of("hbprof_calls", function="example.com/codec.Marshal000")[0]
for family, unit, per_call in (
        ("hbprof_call_cpu_cycles", "cycles", 2000), ("hbprof_call_instructions", "instructions", 3000),
        ("hbprof_call_cache_misses", "misses", 7), ("hbprof_call_on_cpu_seconds", "seconds", 7500e-9),
        ("hbprof_call_events", "events", 4)):
    f = families[family]
    assert (f.type, f.unit, bool(f.documentation)) == ("counter", unit, True), (family, f)
    got = of(family, function="example.com/codec.Marshal000")
    assert len(got) == 1 and abs(got[0] / calls - per_call) < 1e-9 * per_call, (family, got, calls)
    assert of(family, function="example.com/codec.Marshal002") == [], family
assert of("hbprof_call_events", counter="r1a8") != []
counted = of("hbprof_counted_calls", counter="instructions")
assert sorted(counted)[0] == 0 and calls in counted, counted
assert "hbprof_call_branches" not in families
END
else
    skip "Prometheus' own reader finds counters with their units" \
        "python3-prometheus-client is not installed"
fi

done_testing
