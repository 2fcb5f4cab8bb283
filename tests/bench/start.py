# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How long it takes until hbprof measures and until its probes are gone, and what memory it needs."""
import os

from live import Broken, Workload
from measure import OWN, ROUNDS, Sample, Watched, ms, say, table


def watch(name, argv, options=(), run=True):
    """One run of hbprof on a program at READY."""
    with Workload(name, argv) as w, Watched(w.pid, *options) as h:
        if run:
            w.run()
        h.stop()
        w.finish()
    return h


def attach_runs():
    for _ in range(ROUNDS):
        h = watch("callsites", [f"{OWN}/callsites"], ["--probe=codec_hot"])
        f = h.report["functions"][0]
        if (f["entries"], f["exits"]) != (8000, 8000):
            raise Broken(f"8000 calls were made, {f['entries']} begun and {f['exits']} ended seen")
        yield h


def attaching():
    runs = list(attach_runs())
    say("## Attaching")
    say(f"\nA C program with 8,000 calls of one function; {runs[0].report['coverage']['sites']} sites, "
        f"{runs[0].report['coverage']['links']} links. ms, median (least..largest) of {ROUNDS}.")
    table(["", "ms", "target"], [
        ["attach", Sample([ms(h.said(r"attached \d+ sites in (\S+)$")[1]) for h in runs]).text("{:.1f}"),
         "50"],
        ["detach", Sample([ms(h.said(r"detached in (\S+)$")[1]) for h in runs]).text("{:.1f}"), "150"],
    ])


def starting():
    say("## Starting, and memory")
    big = f"{OWN}/bigbin"
    rows = []
    if os.path.exists(big):
        # Its calls go on, one a ms, while hbprof starts: the first one after that is measured.
        runs = [watch("bigbin", [big], run=False) for _ in range(ROUNDS)]
        loud = [watch("bigbin", [big], ["-v"], run=False) for _ in range(ROUNDS)]
        size = os.path.getsize(big)
        read = [h.said(r"bigbin: (\d+) functions read in (\S+)$") for h in loud]
        parts = [h.said(r"programs loaded in (\S+), calibrated in (\S+)$") for h in loud]
        say(f"\nThe large program: Go, {size:,} bytes, {int(read[0][1]):,} functions.")
        rows += [
            ["reading its functions, ms", Sample([ms(m[2]) for m in read]).text("{:.1f}"), "100"],
            ["loading the BPF programs, ms", Sample([ms(m[1]) for m in parts]).text("{:.1f}"), "-"],
            ["calibrating, ms", Sample([ms(m[2]) for m in parts]).text("{:.1f}"), "-"],
            ["exec of hbprof to the first measured call, ms",
             Sample([h.started_ms + 1 for h in runs]).text("{:.0f}"), "500"],
            ["peak resident memory, MB", Sample([h.peak_kb / 1024 for h in runs]).text("{:.1f}"), "48"],
        ]
    else:
        say("\nThe large program was not built: n/a.")
    small = [watch("spin -mode push -n 1000", None, ["--probe=spin_push"]) for _ in range(ROUNDS)]
    rows += [
        ["small C program: exec of hbprof to measuring, ms",
         Sample([h.started_ms for h in small]).text("{:.0f}"), "-"],
        ["small C program: peak resident memory, MB",
         Sample([h.peak_kb / 1024 for h in small]).text("{:.1f}"), "16"],
    ]
    table(["", "median (least..largest)", "target"], rows)
