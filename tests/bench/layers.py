# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is won by taking probes off that are always inside of others: cJSON_Parse is three functions, each
of which jumps to the next. Most calls of a run come after the second in which that is found.
"""
from measure import ROUNDS, Bare, Probed, Sample, say, table

RATE, SECONDS = 4000, 8
LEFT_OUT = "cJSON_ParseWithOpts"


def one_size(size):
    name = f"cjson_work -mode parse -size {size} -rate {RATE} -n {RATE * SECONDS}"
    bare, every, cover = [], [], []
    for _ in range(min(ROUNDS, 5)):
        bare.append(Bare(name))
        every.append(Probed(name, "--functions"))
        cover.append(Probed(name))
    base = Sample([r.latency("cJSON_Parse")["p50"] for r in bare])
    yield [size, "none", base.text(), "", ""]
    for what, runs in (("all (`--functions`)", every), ("covering set", cover)):
        own = Sample([r.latency("cJSON_Parse")["p50"] for r in runs])
        seen = Sample([r.row("cJSON_Parse")["latency"]["p50_ns"] for r in runs])
        off = [f["off_ns"] for r in runs for f in r.report["functions"]
               if f["function"] == LEFT_OUT]
        yield [size, what, own.text(), f"{own.median - base.median:,.0f}",
               f"{seen.text()}; {min(off) / 1e9:.1f} s without `{LEFT_OUT}`"]


def rows():
    for size in ("heartbeat", "order"):
        yield from one_size(size)


def run():
    say("## Functions inside of others")
    say(f"\n`cJSON_Parse`, {RATE} calls a second for {SECONDS} s, ns: P50 that the program measures itself, "
        "and that hbprof reports.")
    table(["payload", "probes", "P50 in the program", "added", "P50 reported"], rows())
