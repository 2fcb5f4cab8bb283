# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One, ten and a hundred processes of one program: time to attach and to detach, memory, and what the
other ones' links cost a call of one of them.
"""
import contextlib
import os
import tempfile

from live import Workload
from measure import ROUNDS, Bare, Sample, Watched, ms, say, table

NAME = "cjson_work -mode parse -n 3000 -size order"
FUNCTION = "cJSON_Parse"
NUMBERS = (1, 10, 100)


class Together:
    """nr processes are measured, and one of them works."""

    def __init__(self, nr):
        with contextlib.ExitStack() as stack:
            w = [stack.enter_context(Workload(NAME)) for _ in range(nr)]
            capture = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "c.hbp")
            h = stack.enter_context(Watched(",".join(str(x.pid) for x in w), "--no-stacks",
                                            "-o", capture))
            w[0].run()
            h.stop()
            row = [r for r in h.report["rows"] if r["function"] == FUNCTION][0]
            self.p50_ns = row["latency"]["p50_ns"]
            self.raw_ns = row["raw"]["mean_ns"]
            self.cost_ns = h.report["cost"]["probe_ns"] / row["calls"]
            self.peak_mb = h.peak_kb / 1024
            self.kernel_mb = h.report["cost"]["kernel_map_bytes"] / 2**20
            self.started_ms = h.started_ms
            self.attach_ms = ms(h.said(r"attached \d+ sites in (\S+)$")[1])
            self.detach_ms = ms(h.said(r"detached in (\S+)$")[1])
            self.links = h.report["coverage"]["links"]
            self.sites = h.report["coverage"]["sites"]
            self.own_ns = float([x for x in w[0].lines.seen if x.startswith(f"LATENCY {FUNCTION} ")]
                                [0].split(" p50=")[1].split()[0])


def processes():
    rounds = max(1, ROUNDS // 3)
    bare = Sample([Bare(NAME).latency(FUNCTION)["p50"] for _ in range(rounds)])
    say("## Many processes")
    say(f"\nOf {NAME}; one of them works. Median (least..largest) of {rounds}. P50 of {FUNCTION} "
        f"without probes: {bare.text()} ns.")
    runs = {n: [Together(n) for _ in range(rounds)] for n in NUMBERS}

    def row(title, key, form="{:,.0f}"):
        return [title] + [Sample([getattr(r, key) for r in runs[n]]).text(form) for n in NUMBERS]

    table(["", *(str(n) for n in NUMBERS)], [
        row("links", "links"),
        row("exec of hbprof to measuring, ms", "started_ms"),
        row("attach, ms", "attach_ms", "{:.1f}"),
        row("detach, ms", "detach_ms", "{:.1f}"),
        row("peak resident memory, MB", "peak_mb", "{:.1f}"),
        row("kernel maps, MB", "kernel_mb", "{:.1f}"),
        row("P50 reported, ns", "p50_ns"),
        row("P50 by the program's own clock, probes included, ns", "own_ns"),
    ])
