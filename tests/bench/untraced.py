# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a process pays for another one of the same file that is measured: nothing, as probes are put into
one process. The other one stands still, so that it takes no time from the CPUs.
"""
from live import Hbprof, Workload
from measure import ROUNDS, Bare, Sample, pairs, ratios, say, table

GO = "gojson_plain -mode marshal -n 40000"
FUNCTION = "encoding/json.Marshal"
C = "spin -mode cost -n 6400"


def beside(name, *options):
    """The run of a copy, while another one is at READY, with its probes on."""
    with Workload(name) as w, Hbprof(w.pid, *options) as h:
        h.wait_measuring()
        copy = Bare(name)
        h.stop()
        w.run()
        w.finish()
    return copy


def rows():
    bare, copy = pairs(lambda: Bare(GO).latency(FUNCTION), lambda: beside(GO).latency(FUNCTION))
    for what in ("mean", "p50"):
        yield [f"`{FUNCTION}`, 128 B, {what}", Sample([b[what] for b in bare]).text("{:.1f}"),
               Sample([c[what] for c in copy]).text("{:.1f}"),
               ratios([c[what] for c in copy], [b[what] for b in bare]).text("{:.3f}")]
    bare, copy = pairs(lambda: Bare(C).cost("nop_push"),
                       lambda: beside(C, "--probe=nop_push").cost("nop_push"))
    yield ["`nop_push`, which does nothing", Sample(bare).text("{:.2f}"), Sample(copy).text("{:.2f}"),
           ratios(copy, bare).text("{:.3f}")]


def run():
    say("## A copy that is not measured")
    say(f"\nns of a call of the same program, alone, and beside another process of it that is measured; "
        f"{ROUNDS} pairs. Target: a ratio of 1.0 within the noise.")
    table(["call", "alone", "beside a measured one", "ratio"], rows())
